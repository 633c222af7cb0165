"""From a configuration to the list of what has to be computed, with every mistake found before any work starts.

A case is an environment at one budget and number of episodes; a run is a learner in a case, over batches of seeds.
"""

import json
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path as File
from typing import Any

from nscmdp import algorithms, environments, optimum, sources
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
    def id(self) -> str:
        return f"{self.experiment.name}/{self.budget}/K={self.episodes}"

    @property
    def spec(self) -> dict[str, Any]:
        """All that makes the environment."""
        return {"name": self.experiment.environment.name, "episodes": self.episodes, "options": self.options}

    @cached_property
    def env(self) -> Path:
        return environments.make(self.spec["name"], self.episodes, **self.options)

    @cached_property
    def fingerprint(self) -> str:
        return self.env.fingerprint()

    def optimum_spec(self) -> dict[str, Any]:
        return {
            "environment": self.spec,
            "fingerprint": self.fingerprint,
            "evaluate_every": self.experiment.evaluate_every,
            "seeds": self.experiment.seed_list,
            "sources": sources.optimum_digest(),
        }

    def run_spec(self, learner: str) -> dict[str, Any]:
        chosen = next(one for one in self.experiment.learners if one.name == learner)
        return {
            "environment": self.spec,
            "fingerprint": self.fingerprint,
            "learner": chosen.specification,
            "evaluate_every": self.experiment.evaluate_every,
            "sources": sources.run_digest(chosen.algorithm),
        }


class Plan:
    def __init__(self, config: Config) -> None:
        self.config = config
        self.cases = [case for experiment in config.experiments for case in _cases(experiment)]
        self._by_id = {case.id: case for case in self.cases}

    def case(self, experiment: str, budget: str, episodes: str) -> Case:
        return self._by_id[f"{experiment}/{budget}/K={episodes}"]

    def batches(self, experiment: Experiment) -> list[list[int]]:
        """Seeds by job. A batch holds the seeds of one block of ``batch`` numbers, so more seeds add batches."""
        size = self.config.batch
        blocks: dict[int, list[int]] = {}
        for seed in experiment.seed_list:
            blocks.setdefault(seed // size, []).append(seed)
        return list(blocks.values())

    def run_files(self, case: Case) -> list[tuple[str, list[int], str]]:
        """(learner, seeds, file below the results folder) of every job of a case."""
        return [
            (learner.name, seeds, f"simulations/{case.id}/{learner.name}/seeds={spell(seeds)}.parquet")
            for learner in case.experiment.learners
            for seeds in self.batches(case.experiment)
        ]

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
        raise Unacceptable(f"config: {key}.{named} ({case.id}): {error}") from None
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
