"""From a configuration to the list of what has to be computed, with every mistake found before any work starts.

A case is an environment under one reading, at one budget and number of episodes; a run is a learner in a case with one
seed.
"""

import hashlib
import json
import warnings
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from nscmdp import algorithms, environments, optimum
from nscmdp.drift import DriftingCMDP
from nscmdp.kernels import sources
from nscmdp.problem import DoesNotFit, Problem
from nscmdp.randomness import format_seeds
from nscmdp.study import catalogue, errors, layout, requests, roles
from nscmdp.study.config import TUNED, Config, Experiment, Tuning, Unacceptable, environment_options, parse

DEFAULT = "default"  # the reading, or the budget, of an environment as it stands


@dataclass(frozen=True)
class Case:
    of: str  # an experiment or a tuning
    environment: str
    reading: str  # "location=current", or "default"
    budget: str  # "legs=4", or "default"
    options: dict[str, Any]
    episodes: int

    @property
    def name(self) -> str:
        reading = "" if self.reading == DEFAULT else f"{self.reading}/"
        return f"{reading}{self.budget}/K={self.episodes}"

    @cached_property
    def env(self) -> DriftingCMDP:
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
        self.experiments = [one.name for one in config.experiments]
        self.tunings = [one.name for one in config.tunings]
        self._studies: dict[str, Any] = {one.name: one for one in (*config.experiments, *config.tunings)}
        self._cases = {one.name: _cases(one) for one in config.experiments}
        self._cases |= {one.name: _tuning_cases(one) for one in config.tunings}

    @property
    def cases(self) -> list[Case]:
        """Those of all experiments."""
        return [case for name in self.experiments for case in self._cases[name]]

    @property
    def runs(self) -> int:
        """How many there are."""
        return sum(
            len(self._cases[one.name]) * len(one.seed_list) * len(one.all_learners) for one in self.config.experiments
        )

    @property
    def algorithms(self) -> list[str]:
        """All whose kernels are needed."""
        tuned = {algorithm for _, algorithm, _, _ in self.tuning_files()}
        return sorted(tuned | {learner.algorithm for one in self.config.experiments for learner in one.all_learners})

    def experiment(self, name: str) -> Experiment:
        return self._studies[name]

    def tuning(self, name: str) -> Tuning:
        return self._studies[name]

    def study(self, name: str) -> Experiment | Tuning:
        return self._studies[name]

    def cases_of(self, name: str) -> list[Case]:
        """Those of an experiment or a tuning."""
        return self._cases[name]

    def seeds_of(self, name: str) -> list[int]:
        """Of an experiment or a tuning."""
        chosen = self.study(name)
        return self.config.effort.seed_list if isinstance(chosen, Tuning) else chosen.seed_list

    @cached_property
    def roles(self) -> dict[str, list[str]]:
        """The experiments of each role that some have; "tuning" has the tunings."""
        found = {role: [one.name for one in self.config.experiments if one.role == role] for role in catalogue.ROLES}
        return {role: names for role, names in {**found, "tuning": self.tunings}.items() if names}

    @property
    def simulations(self) -> list[str]:
        """The experiments on which the simulation's claim is judged."""
        return [one.name for one in self.config.experiments if one.role in catalogue.SIMULATIONS]

    @property
    def shown(self) -> list[dict[str, Any]]:
        return [one.specification for one in self.config.shown]

    @property
    def notebooks(self) -> dict[str, list[catalogue.Figure]]:
        """The figures that each notebook draws."""
        return catalogue.drawn({*self.roles, *(["shown"] if self.config.shown else [])})

    def parameters(self, notebook: str) -> dict[str, Any]:
        """What a notebook is executed with."""
        (chosen,) = [one for one in catalogue.NOTEBOOKS if one.name == notebook]
        given: dict[str, Any] = {"folder": self.config.results}
        if chosen.roles == ("shown",):
            return given | {"shown": self.shown}
        return given | {"roles": {role: self.roles.get(role, []) for role in chosen.roles}}

    def read_by(self, notebook: str) -> list[str]:
        """The files that a notebook draws, below the results folder."""
        (chosen,) = [one for one in catalogue.NOTEBOOKS if one.name == notebook]
        found = [name for name in chosen.reads if name in self.judged()]
        for role in chosen.roles:
            if role == "tuning" and self.tunings:
                found += [layout.table("tuned.csv"), *map(layout.optima, self.tunings)]
            elif role == "shown":
                found += [layout.table("environments.csv")]
            else:
                found += self.tables_of(role)
        return found

    def optimum_spec(self, name: str) -> dict[str, Any]:
        """Of an experiment or a tuning."""
        chosen = self.study(name)
        every = chosen.evaluate_every
        return {
            "cases": {case.name: case.spec for case in self.cases_of(name)},
            "evaluate_every": every,
            "seeds": self.seeds_of(name) if every > 1 else [],  # every episode is every seed's
            "references": isinstance(chosen, Tuning) or chosen.role in catalogue.SIMULATIONS,
            "sources": sources.digest("nscmdp.optimum", "nscmdp.randomness", beside="nscmdp.runs.optima"),
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
            "sources": sources.digest("nscmdp.simulate", f"nscmdp.algorithms.{algorithm}", beside="nscmdp.runs.tuning"),
        }

    def tuning_files(self) -> list[tuple[str, str, int, str]]:
        """(tuning, algorithm, episodes, file below the results folder) of every tuning job."""
        return [
            (name, algorithm, case.episodes, layout.tuning(name, algorithm, case.episodes))
            for name in self.tunings
            for case in self._cases[name]
            for algorithm in self.tuning(name).algorithms
        ]

    def tuned_by(self, experiment: str, unit: str | None = None) -> list[str]:
        """The files that hold factors of the learners of an experiment, or of one unit, below the results folder."""
        chosen = self.experiment(experiment)
        learners = chosen.all_learners if unit is None else chosen.units[unit]
        names = {one.algorithm for one in learners if one.setting == TUNED}
        tuning = str(chosen.tuning)
        return [layout.tuning(tuning, name, self.tuning(tuning).episodes) for name in sorted(names)]

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
            "sources": {name: run_digest(name) for name in sorted({one.algorithm for one in learners})},
        }

    def _tuning_digest(self, tuning: str, algorithm: str) -> str:
        made_from = self.tuning_spec(tuning, algorithm, self.tuning(tuning).episodes)
        return hashlib.sha256(json.dumps(made_from, sort_keys=True).encode()).hexdigest()[:16]

    @cache  # noqa: B019
    def run_files(self, experiment: str) -> list[tuple[str, list[int], str]]:
        """(unit, seeds, file below the results folder) of every simulation job of an experiment."""
        chosen = self.experiment(experiment)
        return [
            (unit, seeds, layout.simulations(experiment, unit, format_seeds(seeds)))
            for unit in chosen.units
            for seeds in self._batches(chosen, unit)
        ]

    def _batches(self, experiment: Experiment, unit: str) -> list[list[int]]:
        """Seeds by job. A batch holds the seeds of one block of ``batch`` numbers, so more seeds add batches."""
        size = experiment.batch or self.config.batch
        if size == "auto":
            size = requests.batch(self, experiment.name, unit)
        blocks: dict[int, list[int]] = {}
        for seed in experiment.seed_list:
            blocks.setdefault(seed // size, []).append(seed)
        return list(blocks.values())

    def computed(self) -> list[str]:
        """The files of optima, tunings and runs, below the results folder."""
        optima = [layout.optima(name) for name in (*self.experiments, *self.tunings)]
        runs = [file for name in self.experiments for _, _, file in self.run_files(name)]
        return [*optima, *(file for *_, file in self.tuning_files()), *runs]

    def tables(self, *names: str) -> list[str]:
        """The tables of some experiments, or of all."""
        return [layout.table(table, name) for name in names or self.experiments for table in layout.TABLES]

    def tables_of(self, *roles: str) -> list[str]:
        """The tables of all experiments of some roles."""
        return [table for role in roles if role in self.roles for table in self.tables(*self.roles[role])]

    def judged(self) -> list[str]:
        """The files of verdicts and of tables over all experiments."""
        return [
            *([layout.CLAIMS, layout.ANSWER] if self.simulations else []),
            *([layout.table("tuned.csv")] if self.tunings else []),
            *(map(layout.table, layout.COMPARISON) if "growth" in self.roles else []),
            *([layout.table("environments.csv")] if self.config.shown else []),
            layout.table("deviations.csv"),
            layout.DEVIATIONS,
        ]

    def figures(self, notebook: str) -> list[str]:
        return [layout.figure(one.name, form) for one in self.notebooks[notebook] for form in ("svg", "png")]

    def drawn(self) -> list[str]:
        """The files of notebooks and figures."""
        notebooks = [layout.notebook(name, form) for name in self.notebooks for form in ("ipynb", "html")]
        return [*notebooks, *(file for name in self.notebooks for file in self.figures(name))]

    def files(self) -> list[str]:
        """Everything that a finished run has made, below the results folder."""
        pages = [layout.PAGE, layout.DEVIATIONS_PAGE]
        return [*self.computed(), *self.tables(), *self.judged(), *self.drawn(), *pages]

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
        roles.check(self)


def run_digest(algorithm: str) -> str:
    """Of the sources that decide, with the environment and the constants, the numbers of a simulation."""
    return sources.digest("nscmdp.simulate", f"nscmdp.algorithms.{algorithm}", beside="nscmdp.runs.records")


def make(raw: dict[str, Any]) -> Plan:
    return Plan(parse(raw))


def load(file: Path) -> Plan:
    import yaml

    try:
        return make(yaml.safe_load(file.read_text(encoding="utf-8")))
    except yaml.YAMLError as error:
        raise Unacceptable(f"{file} is not YAML: {error}") from None


def _cases(experiment: Experiment) -> list[Case]:
    name = experiment.environment.name
    return [
        Case(experiment.name, name, _slug(reading), _slug(budget), options, episodes)
        for i, reading in enumerate(experiment.readings)
        for j, budget in enumerate(experiment.budgets)
        for options in [environment_options(experiment, {f"readings[{i}]": reading, f"budgets[{j}]": budget})]
        for episodes in experiment.episodes
    ]


def _tuning_cases(tuning: Tuning) -> list[Case]:
    options, name = environment_options(tuning, {}), tuning.environment.name
    return [
        Case(tuning.name, name, DEFAULT, DEFAULT, options, episodes) for episodes in (tuning.episodes, *tuning.checks)
    ]


def _slug(options: dict[str, Any]) -> str:
    """legs=4,seed=1 of some options, in characters that a folder may have."""

    def text(value: Any) -> str:
        written = value if isinstance(value, str) else json.dumps(value)
        return "".join(c if c.isalnum() or c in "._-" else "_" for c in written)

    return ",".join(f"{key}={text(value)}" for key, value in options.items()) or DEFAULT


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
            raise errors.infeasible(key, case.options, error) from None


def _check_learners(case: Case, experiment: Experiment, key: str) -> None:
    known = Problem.of(case.env)
    for learner in experiment.all_learners:
        with warnings.catch_warnings():
            warnings.simplefilter("error", DoesNotFit)
            try:
                chosen = learner.specification
                assumed = {key: chosen.pop(key) for key in ("assumed_budget", "assumed_for")}
                if chosen["setting"] == TUNED:  # with which factors, only tuning will tell
                    warnings.simplefilter("ignore", DoesNotFit)
                    chosen = {"algorithm": chosen["algorithm"], "setting": "scaled", "variants": chosen["variants"]}
                algorithms.make(problem=known._replace(**assumed), **chosen)
            except DoesNotFit as error:
                where = f"config: {key}.episodes = {case.episodes} is too small for {learner.name}"
                raise Unacceptable(f"{where}: {error}") from None
            except ValueError as error:
                raise Unacceptable(f"config: {key}.learners ({learner.name}): {error}") from None
