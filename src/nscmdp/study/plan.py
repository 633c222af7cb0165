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
from nscmdp.study.config import TUNED, BestCase, Config, Experiment, Tuning, Unacceptable, environment_options, parse

DEFAULT = "default"  # the reading, or the budget, of an environment as it stands
CLAIMS = Path("workflow/claims.yaml")  # where the thresholds of verdicts stand
MARGINS = ("runs.search", "runs.scoring", "analysis.best_case", "analysis.claims.simulation.parts")  # what a best case is found by


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
        self.best_cases = [one.name for one in config.best_cases]
        for one in config.best_cases:
            every = one.evaluate_every or self.tuning(one.tuning).evaluate_every
            self._studies[one.name] = one.model_copy(update={"evaluate_every": every})
            self._cases[one.name] = self._cases[one.tuning][:1]

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

    def best_case(self, name: str) -> BestCase:
        return self._studies[name]

    def study(self, name: str) -> Experiment | Tuning | BestCase:
        return self._studies[name]

    def cases_of(self, name: str) -> list[Case]:
        """Those of an experiment or a tuning."""
        return self._cases[name]

    def seeds_of(self, name: str) -> list[int]:
        """Of an experiment or a tuning; where searches are recorded, a tuning needs its selection seeds alone."""
        chosen, effort = self.study(name), self.config.effort
        if isinstance(chosen, Tuning):
            return effort.selection_list if self.recorded else effort.seed_list
        return chosen.seed_list

    @property
    def recorded(self) -> bool:
        """Are searches recorded, or part of the run?"""
        return self.config.searches is not None

    @cache  # noqa: B019
    def record(self, tuning: str) -> dict[str, Any]:
        """What is recorded of a tuning's searches: entries by algorithm and number of episodes."""
        file = Path(str(self.config.searches)) / layout.record(tuning)
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise Unacceptable(f"{file} cannot be read ({error}): make search makes it") from None
        return found["searches"]

    def _recorded(self, tuning: str, algorithm: str, episodes: int) -> list[dict[str, Any]]:
        """The candidates that the searches for an algorithm kept."""
        return [entry for entry in self._entries(tuning, algorithm, episodes) if entry["kept"]]

    def _entries(self, tuning: str, algorithm: str, episodes: int) -> list[dict[str, Any]]:
        """All that is recorded of the searches for an algorithm, or for a question of a best case."""
        try:
            return self.record(tuning)[algorithm][str(episodes)]
        except KeyError:
            file = f"{self.config.searches}/{layout.record(tuning)}"
            what = f"{file} has no search for {algorithm} at {episodes} episodes: make search makes it"
            raise Unacceptable(what) from None

    def effort_of(self, tuning: str) -> dict[str, Any]:
        """How hard a tuning tries, and on which seeds."""
        chosen, effort = self.tuning(tuning), self.config.effort
        return {
            "population": effort.population,
            "generations": chosen.generations or effort.generations,
            "seeds": effort.seeds,
            "search_seeds": effort.search_list,
            "selection_seeds": effort.selection_list,
            "finalists": chosen.finalists or effort.finalists,
        }

    def searches_of(self, tuning: str) -> int:
        return self.tuning(tuning).searches or self.config.effort.searches

    @cached_property
    def roles(self) -> dict[str, list[str]]:
        """The experiments of each role that some have; "tuning" has the tunings, "best_case" the best cases."""
        found = {role: [one.name for one in self.config.experiments if one.role == role] for role in catalogue.ROLES}
        found |= {"tuning": self.tunings, "best_case": self.best_cases}
        return {role: names for role, names in found.items() if names}

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
                found += map(layout.table, layout.TUNED)
            elif role == "best_case" and self.best_cases:
                found += map(layout.table, layout.BEST_CASES)
            elif role == "shown":
                found += [layout.table("environments.csv")]
            else:
                found += self.tables_of(role)
        return found

    @cache  # noqa: B019
    def optima_of(self, experiment: str) -> str:
        """The experiment whose optima serve this one: the first that has its environments at the same episodes."""
        mine = self.optimum_spec(experiment)

        def serves(other: str) -> bool:
            theirs = self.optimum_spec(other)
            alike = all(theirs[key] == mine[key] for key in ("evaluate_every", "seeds"))
            enough = theirs["references"] or not mine["references"]
            return alike and enough and mine["cases"].items() <= theirs["cases"].items()

        return next(other for other in self.experiments if other == experiment or serves(other))

    @property
    def solved(self) -> list[str]:
        """The experiments, tunings and best cases that have a file of optima."""
        return [*dict.fromkeys(map(self.optima_of, self.experiments)), *self.tunings, *self.best_cases]

    @cache  # noqa: B019
    def optimum_spec(self, name: str) -> dict[str, Any]:
        """Of an experiment or a tuning."""
        chosen = self.study(name)
        every = chosen.evaluate_every
        return {
            "cases": {case.name: case.spec for case in self.cases_of(name)},
            "evaluate_every": every,
            "seeds": self.seeds_of(name) if every > 1 else [],  # every episode is every seed's
            "references": isinstance(chosen, Tuning | BestCase) or chosen.role in catalogue.JUDGED,
            "sources": sources.digest("nscmdp.optimum", "nscmdp.randomness", beside="nscmdp.runs.optima"),
        }

    def search_spec(self, tuning: str, algorithm: str, episodes: int, search: int) -> dict[str, Any]:
        return {
            **self._what_is_tuned(tuning, algorithm, episodes),
            "search": search,
            "start": self._start(tuning, algorithm),
            "sources": _tuning_sources(algorithm, "nscmdp.runs.search"),
        }

    def tuning_spec(self, tuning: str, algorithm: str, episodes: int) -> dict[str, Any]:
        spec = self._what_is_tuned(tuning, algorithm, episodes)
        if self.recorded:
            kept = self._recorded(tuning, algorithm, episodes)
            found: dict[str, Any] = {"recorded": kept, "seeds": self.config.effort.selection_list}
        else:
            searches = range(self.searches_of(tuning))
            found = {"searches": [_digest(self.search_spec(tuning, algorithm, episodes, i)) for i in searches]}
        return {**spec, **found, "sources": _tuning_sources(algorithm, "nscmdp.runs.tuning")}

    def _what_is_tuned(self, tuning: str, algorithm: str, episodes: int) -> dict[str, Any]:
        chosen = self.tuning(tuning)
        (case,) = [one for one in self.cases_of(tuning) if one.episodes == episodes]
        named = {"case": case.spec, "algorithm": algorithm, "effort": self.effort_of(tuning), "frames": chosen.frames}
        return {**named, "evaluate_every": chosen.evaluate_every}

    def _start(self, tuning: str, algorithm: str) -> str | None:
        """A digest of what the searches begin from."""
        other = self.tuning(tuning).start
        return None if other is None else self._tuning_digest(other, algorithm, self.tuning(other).episodes)

    def started_by(self, tuning: str, algorithm: str) -> list[str]:
        """The file whose choice the searches for an algorithm begin from, below the results folder; or none."""
        other = self.tuning(tuning).start
        return [] if other is None else [layout.tuning(other, algorithm, self.tuning(other).episodes)]

    def started_from(self, tuning: str | None) -> list[str]:
        """The tunings that a tuning's searches go back to."""
        other = self.tuning(tuning).start if tuning else None
        return [] if other is None else [other, *self.started_from(other)]

    def search_files(self) -> list[tuple[str, str, int, int, str]]:
        """(tuning, algorithm, episodes, search, file) of every search of this run: none where they are recorded."""
        return [
            (name, algorithm, episodes, search, layout.search(name, algorithm, episodes, search))
            for name, algorithm, episodes, _ in self.tuning_files()
            for search in range(0 if self.recorded else self.searches_of(name))
        ]

    def searched_by(self, tuning: str, algorithm: str, episodes: int) -> list[str]:
        """The files of the searches behind a tuning."""
        asked = (tuning, algorithm, episodes)
        return [file for name, learner, K, _, file in self.search_files() if (name, learner, K) == asked]

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
        return [layout.tuning(str(chosen.tuning), name, at) for name, at in self._tuned_at(chosen, learners)]

    def _tuned_at(self, experiment: Experiment, learners: list[Any]) -> list[tuple[str, int]]:
        """(algorithm, episodes) of all choices that some learners of an experiment are made with."""
        found = set()
        for one in learners:
            if one.setting == TUNED:
                once = [self.tuning(str(experiment.tuning)).episodes]
                found |= {(one.algorithm, at) for at in (experiment.episodes if one.tuned_at == "each" else once)}
        return sorted(found)

    def run_spec(self, experiment: str, unit: str) -> dict[str, Any]:
        """What decides the runs of a unit: learners that one job simulates."""
        chosen = self.experiment(experiment)
        learners = chosen.units[unit]
        tuned = self._tuned_at(chosen, learners)
        once = {"tuned_once": self.tuning(str(chosen.tuning)).episodes} if tuned else {}
        return once | {
            "cases": {case.name: case.spec for case in self.cases_of(experiment)},
            "learners": {one.name: one.specification for one in learners},
            "tuning": {f"{name} at {K}": self._tuning_digest(str(chosen.tuning), name, K) for name, K in tuned},
            "evaluate_every": chosen.evaluate_every,
            "windows": chosen.windows,
            "keep": chosen.keep,
            "sources": {name: run_digest(name) for name in sorted({one.algorithm for one in learners})},
        }

    @cache  # noqa: B019
    def _tuning_digest(self, tuning: str, algorithm: str, episodes: int) -> str:
        return _digest(self.tuning_spec(tuning, algorithm, episodes))

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

    def best_case_spec(self, name: str, question: str) -> dict[str, Any]:
        """Of the search for a best case, or of the draw of its region."""
        chosen = self.best_case(name)
        tuning, episodes = chosen.tuning, self.tuning(chosen.tuning).episodes
        algorithm = catalogue.QUESTIONS.get(question, roles.FIRST)
        spec = self._what_is_tuned(tuning, algorithm, episodes)
        drawn: dict[str, Any] = {"points": chosen.points}
        searched = {"search": 0, "start": self._tuning_digest(tuning, algorithm, episodes)}
        return {
            **spec,
            **(drawn if question == catalogue.REGION else searched),
            "effort": spec["effort"] | {"generations": chosen.generations},
            "question": question,
            "thresholds": _thresholds(),
            "sources": _margin_sources(question),
        }

    def confirmation_spec(self, name: str, question: str) -> dict[str, Any]:
        """Of what the search for a best case found, on fresh seeds."""
        chosen = self.best_case(name)
        (case,) = self.cases_of(name)
        if self.recorded:
            found: dict[str, Any] = {"recorded": self.best_case_entries(name, question)[0]["factors"]}
        else:
            found = {"search": _digest(self.best_case_spec(name, question))}
        beside = {one: self._tuning_digest(chosen.tuning, one, case.episodes) for one in _baselines(question)}
        return {
            **found,
            "case": case.spec,
            "question": question,
            "algorithm": catalogue.QUESTIONS[question],
            "tuning": beside,
            "thresholds": _thresholds(),
            "evaluate_every": chosen.evaluate_every,
            "seeds": chosen.seed_list,
            "sources": _margin_sources(question) | {one: run_digest(one) for one in beside},
        }

    def best_case_entries(self, name: str, question: str) -> list[dict[str, Any]]:
        """The recorded candidates for a best case, the best first; or what is recorded of its region, alone."""
        (case,) = self.cases_of(name)
        return self._entries(name, question, case.episodes)

    def best_case_files(self) -> list[tuple[str, str, str]]:
        """(best case, question or region, file) of every search of this run: none where they are recorded."""
        names = [] if self.recorded else self.best_cases
        asked = (*catalogue.QUESTIONS, catalogue.REGION)
        return [(name, question, layout.best_case(name, question)) for name in names for question in asked]

    def best_case_search(self, name: str, question: str) -> list[str]:
        """The file of the search behind a confirmation, if it is part of this run."""
        return [file for one, asked, file in self.best_case_files() if (one, asked) == (name, question)]

    def best_case_start(self, name: str, question: str) -> list[str]:
        """The file of the tuning from whose choice a search begins; the draw of a region begins nowhere."""
        return self._chosen_for(name, [catalogue.QUESTIONS[question]] if question in catalogue.QUESTIONS else [])

    def baselines_beside(self, name: str, question: str) -> list[str]:
        """The files that hold the factors of baselines at their own tuned choices."""
        return self._chosen_for(name, _baselines(question))

    def _chosen_for(self, best_case: str, names: list[str]) -> list[str]:
        tuning = self.best_case(best_case).tuning
        return [layout.tuning(tuning, algorithm, self.tuning(tuning).episodes) for algorithm in names]

    def confirmation_files(self) -> list[tuple[str, str, str]]:
        """(best case, question, file) of every confirmation."""
        return [
            (name, question, layout.confirmation(name, question))
            for name in self.best_cases
            for question in catalogue.QUESTIONS
        ]

    def computed(self) -> list[str]:
        """The files of optima, searches, tunings, best cases and runs, below the results folder."""
        optima = [layout.optima(name) for name in self.solved]
        runs = [file for name in self.experiments for _, _, file in self.run_files(name)]
        searched, tuned = ([file for *_, file in files] for files in (self.search_files(), self.tuning_files()))
        best = [file for *_, file in (*self.best_case_files(), *self.confirmation_files())]
        return [*optima, *searched, *tuned, *best, *runs]

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
            *(map(layout.table, layout.TUNED) if self.tunings else []),
            *(map(layout.table, layout.BEST_CASES) if self.best_cases else []),
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


def _digest(spec: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest()[:16]


def _thresholds() -> dict[str, float]:
    """Of the verdicts, at their defaults."""
    import yaml

    found = yaml.safe_load(CLAIMS.read_text(encoding="utf-8"))["thresholds"]
    return {name: threshold["default"] for name, threshold in found.items()}


def _baselines(question: str) -> list[str]:
    """Those that are judged beside Algorithm 1 at their own tuned choices."""
    return sorted({*catalogue.QUESTIONS.values()} - {roles.FIRST}) if question == "own" else []


def _margin_sources(question: str) -> dict[str, str]:
    used = {catalogue.QUESTIONS.get(question, roles.FIRST)}
    if question == "shared":
        used = {*catalogue.QUESTIONS.values()}
    code = {module: sources.digest(beside=f"nscmdp.{module}") for module in MARGINS}
    return code | {algorithm: run_digest(algorithm) for algorithm in sorted(used)}


def _tuning_sources(algorithm: str, job: str) -> str:
    beside = (job, "nscmdp.runs.scoring")
    return sources.digest("nscmdp.simulate", f"nscmdp.algorithms.{algorithm}", beside=beside)


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
