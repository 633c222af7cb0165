"""From a configuration to the list of what has to be computed, with every mistake found before any work starts.

A case is an environment at one budget and number of episodes; a run is a learner in a case with one seed.
"""

import hashlib
import json
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path as File
from typing import Any

from nscmdp import algorithms, environments, optimum, resources, sources
from nscmdp.config import TUNED, Config, Experiment, Tuning, Unacceptable, environment_options, parse
from nscmdp.path import Path
from nscmdp.problem import DoesNotFit, Problem
from nscmdp.randomness import spell


@dataclass(frozen=True)
class Case:
    of: str  # an experiment or a tuning
    environment: str
    budget: str  # "legs=4", or "default"
    options: dict[str, Any]
    episodes: int

    @property
    def name(self) -> str:
        return f"{self.budget}/K={self.episodes}"

    @cached_property
    def env(self) -> Path:
        return environments.make(self.environment, self.episodes, **self.options)

    @cached_property
    def spec(self) -> dict[str, Any]:
        """All that makes the environment, and a hash of what it makes."""
        named = {"name": self.environment, "episodes": self.episodes, "options": self.options}
        return {**named, "fingerprint": self.env.fingerprint()}


class Plan:
    """What has to be computed. One job simulates a unit in all cases of an experiment, for a batch of seeds."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.cases = [case for experiment in config.experiments for case in _cases(experiment)]
        self.runs = sum(
            len(one.budgets) * len(one.episodes) * len(one.seed_list) * len(one.all_learners)
            for one in config.experiments
        )
        self.tuning_cases = [case for tuning in config.tunings for case in _tuning_cases(tuning)]

    def experiment(self, name: str) -> Experiment:
        return next(one for one in self.config.experiments if one.name == name)

    def tuning(self, name: str) -> Tuning:
        return next(one for one in self.config.tunings if one.name == name)

    def study(self, name: str) -> Experiment | Tuning:
        studies: list[Experiment | Tuning] = [*self.config.experiments, *self.config.tunings]
        return next(one for one in studies if one.name == name)

    def seeds_of(self, name: str) -> list[int]:
        """Of an experiment or a tuning."""
        chosen = self.study(name)
        return self.config.effort.seed_list if isinstance(chosen, Tuning) else chosen.seed_list

    def cases_of(self, name: str) -> list[Case]:
        """Those of an experiment or a tuning."""
        return [case for case in (*self.cases, *self.tuning_cases) if case.of == name]

    def optimum_spec(self, name: str) -> dict[str, Any]:
        """Of an experiment or a tuning."""
        chosen = self.study(name)
        every = chosen.evaluate_every
        return {
            "cases": {case.name: case.spec for case in self.cases_of(name)},
            "evaluate_every": every,
            "seeds": self.seeds_of(name) if every > 1 else [],  # every episode is every seed's
            "references": isinstance(chosen, Tuning) or chosen.role in ("grid_world", "reading"),
            "sources": sources.optimum_digest(),
        }

    def tuning_spec(self, tuning: str, algorithm: str, episodes: int) -> dict[str, Any]:
        effort = self.config.effort
        (case,) = [one for one in self.cases_of(tuning) if one.episodes == episodes]
        return {
            "case": case.spec,
            "algorithm": algorithm,
            "effort": effort.model_dump(mode="json"),
            "seeds": effort.seed_list,
            "evaluate_every": self.tuning(tuning).evaluate_every,
            "sources": sources.tuning_digest(algorithm),
        }

    def tuning_files(self) -> list[tuple[str, str, int, str]]:
        """(tuning, algorithm, episodes, file below the results folder) of every tuning job."""
        return [
            (case.of, algorithm, case.episodes, tuning_file(case.of, algorithm, case.episodes))
            for case in self.tuning_cases
            for algorithm in self.tuning(case.of).algorithms
        ]

    def tuned_by(self, experiment: str, unit: str) -> list[str]:
        """The files that hold factors of a unit's learners, below the results folder."""
        chosen = self.experiment(experiment)
        algorithms = {one.algorithm for one in chosen.units[unit] if one.setting == TUNED}
        return [self._deciding_file(str(chosen.tuning), algorithm) for algorithm in sorted(algorithms)]

    def all_tuned_by(self, experiment: str) -> list[str]:
        """The files that hold factors of an experiment's learners, below the results folder."""
        units = self.experiment(experiment).units
        return sorted({file for unit in units for file in self.tuned_by(experiment, unit)})

    def _deciding_file(self, tuning: str, algorithm: str) -> str:
        return tuning_file(tuning, algorithm, self.tuning(tuning).episodes)

    def run_spec(self, experiment: str, unit: str) -> dict[str, Any]:
        """What decides the runs of a unit: learners that one job simulates."""
        chosen = self.experiment(experiment)
        learners = chosen.units[unit]
        tuned = {one.algorithm for one in learners if one.setting == TUNED}
        return {
            "cases": {case.name: case.spec for case in self.cases_of(experiment)},
            "learners": {one.name: one.specification for one in learners},
            "tuning": {algorithm: self._tuning_digest(str(chosen.tuning), algorithm) for algorithm in sorted(tuned)},
            "evaluate_every": chosen.evaluate_every,
            "windows": chosen.windows,
            "keep": chosen.keep,
            "sources": {name: sources.run_digest(name) for name in sorted({one.algorithm for one in learners})},
        }

    def _tuning_digest(self, tuning: str, algorithm: str) -> str:
        made_from = self.tuning_spec(tuning, algorithm, self.tuning(tuning).episodes)
        return hashlib.sha256(json.dumps(made_from, sort_keys=True).encode()).hexdigest()[:16]

    def run_files(self, experiment: str) -> list[tuple[str, list[int], str]]:
        """(unit, seeds, file below the results folder) of every simulation job of an experiment."""
        chosen = self.experiment(experiment)
        return [
            (unit, seeds, f"simulations/{experiment}/{unit}/seeds={spell(seeds)}.parquet")
            for unit in chosen.units
            for seeds in self._batches(chosen, unit)
        ]

    def _batches(self, experiment: Experiment, unit: str) -> list[list[int]]:
        """Seeds by job. A batch holds the seeds of one block of ``batch`` numbers, so more seeds add batches."""
        size = experiment.batch or self.config.batch
        if size == "auto":
            size = resources.batch(self, experiment.name, unit)
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
        for number, tuning in enumerate(self.config.tunings):
            for case in self.cases_of(tuning.name):
                _check_environment(case, f"tunings[{number}]")
        for number, experiment in enumerate(self.config.experiments):
            for case in self.cases_of(experiment.name):
                _check_environment(case, f"experiments[{number}]")
                _check_learners(case, experiment, f"experiments[{number}]")


def tuning_file(tuning: str, algorithm: str, episodes: int) -> str:
    return f"tuning/{tuning}/{algorithm}/K={episodes}.parquet"


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
        cases += [
            Case(experiment.name, experiment.environment.name, slug, options, episodes)
            for episodes in experiment.episodes
        ]
    return cases


def _tuning_cases(tuning: Tuning) -> list[Case]:
    options = environment_options(tuning, {}, f"{tuning.name}.environment")
    name = tuning.environment.name
    return [Case(tuning.name, name, "default", options, episodes) for episodes in (tuning.episodes, *tuning.checks)]


def _slug(value: Any) -> str:
    return "".join(
        c if c.isalnum() or c in "._-" else "_" for c in (value if isinstance(value, str) else json.dumps(value))
    )


def _check_environment(case: Case, key: str) -> None:
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


def _check_learners(case: Case, experiment: Experiment, key: str) -> None:
    env = case.env
    for learner in experiment.all_learners:
        with warnings.catch_warnings():
            warnings.simplefilter("error", DoesNotFit)
            try:
                chosen = learner.specification
                problem = Problem.of(env, chosen.pop("told"), chosen.pop("told_for"))
                if chosen["setting"] == TUNED:  # with which factors, only tuning will tell
                    warnings.simplefilter("ignore", DoesNotFit)
                    chosen = {"algorithm": chosen["algorithm"], "setting": "scaled", "variants": chosen["variants"]}
                algorithms.make(problem=problem, **chosen)
            except DoesNotFit as error:
                where = f"config: {key}.episodes = {case.episodes} is too small for {learner.name}"
                raise Unacceptable(f"{where}: {error}") from None
            except ValueError as error:
                raise Unacceptable(f"config: {key}.learners ({learner.name}): {error}") from None
