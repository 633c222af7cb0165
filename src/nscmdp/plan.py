"""From a configuration to the list of what has to be computed, with every mistake found before any work starts.

A case is an environment at one budget and number of episodes; a run is a learner in a case with one seed.
"""

import json
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path as File
from typing import Any

from nscmdp import algorithms, environments, optimum, resources, sources
from nscmdp.config import Config, Experiment, Unacceptable, environment_options, parse
from nscmdp.path import Path
from nscmdp.problem import DoesNotFit, Problem
from nscmdp.randomness import spell


@dataclass(frozen=True)
class Case:
    experiment: Experiment
    budget: str  # "legs=4", or "default"
    options: dict[str, Any]
    episodes: int

    @property
    def name(self) -> str:
        return f"{self.budget}/K={self.episodes}"

    @cached_property
    def env(self) -> Path:
        return environments.make(self.experiment.environment.name, self.episodes, **self.options)

    @cached_property
    def spec(self) -> dict[str, Any]:
        """All that makes the environment, and a hash of what it makes."""
        named = {"name": self.experiment.environment.name, "episodes": self.episodes, "options": self.options}
        return {**named, "fingerprint": self.env.fingerprint()}


class Plan:
    """What has to be computed. One job simulates a learner in all cases of an experiment, for a batch of seeds."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.cases = [case for experiment in config.experiments for case in _cases(experiment)]

    def experiment(self, name: str) -> Experiment:
        return next(one for one in self.config.experiments if one.name == name)

    def cases_of(self, experiment: str) -> list[Case]:
        return [case for case in self.cases if case.experiment.name == experiment]

    def optimum_spec(self, experiment: str) -> dict[str, Any]:
        chosen = self.experiment(experiment)
        every = chosen.evaluate_every
        return {
            "cases": {case.name: case.spec for case in self.cases_of(experiment)},
            "evaluate_every": every,
            "seeds": chosen.seed_list if every > 1 else [],  # every episode is every seed's
            "sources": sources.optimum_digest(),
        }

    def run_spec(self, experiment: str, learner: str) -> dict[str, Any]:
        chosen = self.experiment(experiment)
        specification = next(one.specification for one in chosen.learners if one.name == learner)
        return {
            "cases": {case.name: case.spec for case in self.cases_of(experiment)},
            "learner": specification,
            "evaluate_every": chosen.evaluate_every,
            "windows": chosen.windows,
            "keep": chosen.keep,
            "sources": sources.run_digest(specification["algorithm"]),
        }

    def run_files(self, experiment: str) -> list[tuple[str, list[int], str]]:
        """(learner, seeds, file below the results folder) of every simulation job of an experiment."""
        chosen = self.experiment(experiment)
        return [
            (learner.name, seeds, f"simulations/{experiment}/{learner.name}/seeds={spell(seeds)}.parquet")
            for learner in chosen.learners
            for seeds in self._batches(chosen, learner.name)
        ]

    def _batches(self, experiment: Experiment, learner: str) -> list[list[int]]:
        """Seeds by job. A batch holds the seeds of one block of ``batch`` numbers, so more seeds add batches."""
        size = experiment.batch or self.config.batch
        if size == "auto":
            size = resources.batch(self, experiment.name, learner)
        blocks: dict[int, list[int]] = {}
        for seed in experiment.seed_list:
            blocks.setdefault(seed // size, []).append(seed)
        return list(blocks.values())

    def check(self) -> None:
        """Make every environment and learner once; raise :class:`Unacceptable` where one cannot be."""
        for number, shown in enumerate(self.config.shown):
            try:
                environments.make(**shown.specification)
            except ValueError as error:
                raise Unacceptable(f"config: shown[{number}]: {error}") from None
        for number, experiment in enumerate(self.config.experiments):
            for case in (case for case in self.cases if case.experiment is experiment):
                _check_case(case, f"experiments[{number}]")


def make(raw: dict[str, Any]) -> Plan:
    return Plan(parse(raw))


def load(file: File) -> Plan:
    import yaml

    return make(yaml.safe_load(file.read_text(encoding="utf-8")))


def _cases(experiment: Experiment) -> list[Case]:
    cases = []
    for number, budget in enumerate(experiment.budgets):
        options = environment_options(experiment, budget, f"{experiment.name}.budgets[{number}]")
        slug = ",".join(f"{key}={_slug(value)}" for key, value in budget.items()) or "default"
        cases += [Case(experiment, slug, options, episodes) for episodes in experiment.episodes]
    return cases


def _slug(value: Any) -> str:
    return "".join(
        c if c.isalnum() or c in "._-" else "_" for c in (value if isinstance(value, str) else json.dumps(value))
    )


def _check_case(case: Case, key: str) -> None:
    try:
        env = case.env
    except ValueError as error:
        named = "episodes" if str(error).startswith("episodes") else "environment"
        raise Unacceptable(f"config: {key}.{named} ({case.name}): {error}") from None
    for anchor in env.anchors:
        try:
            optimum.require_feasible(anchor)
        except optimum.Infeasible as error:
            raise Unacceptable(
                f"config: {key}.environment = {json.dumps(case.options)} is infeasible: {error}"
            ) from None
    for learner in case.experiment.learners:
        with warnings.catch_warnings():
            warnings.simplefilter("error", DoesNotFit)
            try:
                chosen = learner.specification
                problem = Problem.of(env, chosen.pop("told"), chosen.pop("told_for"))
                algorithms.make(problem=problem, **chosen)
            except DoesNotFit as error:
                where = f"config: {key}.episodes = {case.episodes} is too small for {learner.name}"
                raise Unacceptable(f"{where}: {error}") from None
            except ValueError as error:
                raise Unacceptable(f"config: {key}.learners ({learner.name}): {error}") from None
