"""From a configuration to the list of what has to be computed, with every mistake found before any work starts.

A case is an environment under one reading, at one budget and number of episodes; a run is a learner in a case with one
seed. One job simulates a unit in all cases of an experiment, for a batch of seeds.
"""

import json
import warnings
from collections.abc import Iterable
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import yaml

from nscmdp import algorithms, environments
from nscmdp.problem import DoesNotFit, Problem
from nscmdp.randomness import format_seeds
from nscmdp.suite import definition
from wei2023.study import cases, catalogue, layout, protocols, requests, roles, suite
from wei2023.study.cases import Case
from wei2023.study.config import TUNED, Config, Experiment, Tuning, Unacceptable, parse

STRETCHES = 16  # of a run: at the end of each its policy is kept


class Plan:
    """What has to be computed; all files are named below the results folder."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.experiments = [one.name for one in config.experiments]
        self.tunings = [one.name for one in config.tunings]
        self._studies: dict[str, Any] = {
            one.name: one for one in (*config.experiments, *config.tunings)
        }
        self._cases = {name: cases.of_study(one) for name, one in self._studies.items()}

    def study(self, name: str) -> Any:
        """The experiment or tuning of a name."""
        return self._studies[name]

    def experiment(self, name: str) -> Experiment:
        return self._studies[name]

    def tuning(self, name: str) -> Tuning:
        return self._studies[name]

    def cases_of(self, name: str) -> list[Case]:
        """Those of an experiment or a tuning."""
        return self._cases[name]

    @property
    def cases(self) -> list[Case]:
        """Those of all experiments."""
        return [case for name in self.experiments for case in self._cases[name]]

    @property
    def runs(self) -> int:
        """How many there are."""
        return sum(
            len(self._cases[one.name]) * len(one.seed_list) * len(one.all_learners)
            for one in self.config.experiments
        )

    @cached_property
    def algorithms(self) -> list[str]:
        """All whose kernels are needed."""
        learners = {one.algorithm for each in self.config.experiments for one in each.all_learners}
        return sorted(learners | {algorithm for _, algorithm, *_ in self.search_files()})

    @cached_property
    def roles(self) -> dict[str, list[str]]:
        """The experiments of each role; "tuning" has the tunings but the suite's, which are not drawn."""
        found = {
            role: [one.name for one in self.config.experiments if one.role == role]
            for role in catalogue.ROLES
        }
        of_suite = {self.experiment(one).tuning for one in found[definition.ROLE]}
        found["tuning"] = [name for name in self.tunings if name not in of_suite]
        return {role: names for role, names in found.items() if names}

    def behind(self, role: str) -> set[str]:
        """The experiments of a role, those whose optima they use, and the tunings that choose their factors."""
        names = self.roles.get(role, [])
        tunings = {keys[0] for name in names for keys in self.tuned_at(name)}
        return {*names, *map(self.optima_of, names), *tunings}

    # What is shown.

    @property
    def simulations(self) -> list[str]:
        """The experiments on which the simulation's claim is judged, but for those of choices that are switched."""
        return self.roles.get(protocols.ROLE, [])

    @property
    def claim_groups(self) -> list[str]:
        """The files of checks that are run."""
        return [] if self.config.claims is None else list(catalogue.CLAIM_GROUPS)

    @property
    def shown(self) -> list[dict[str, Any]]:
        return [one.specification for one in self.config.shown]

    @property
    def suite_file(self) -> Path:
        return Path(self.config.suite.file if self.config.suite else definition.FILE)

    @cached_property
    def suite(self) -> definition.Suite:
        """The environments and hypotheses of the suite, of which the configuration asks for a part."""
        return suite.load(self.suite_file)

    @property
    def kept_of_the_suite(self) -> dict[str, Path]:
        """By name: the tables of the whole suite that the repository keeps, where this run has a part of it."""
        names = ("suite_ranking.csv", "suite_hypotheses.csv")
        part = 0 < len(self.roles.get(definition.ROLE, [])) < len(self.suite.environments)
        kept = {name: definition.KEPT / name for name in names if part}
        return {name: file for name, file in kept.items() if file.is_file()}

    @property
    def notebooks(self) -> dict[str, list[catalogue.Figure]]:
        """The figures that each notebook draws."""
        lists = {"shown": self.config.shown, "claims": self.claim_groups}
        return catalogue.drawn({*self.roles, *(name for name, found in lists.items() if found)})

    def parameters(self, notebook: str) -> dict[str, Any]:
        """What a notebook is executed with."""
        (chosen,) = [one for one in catalogue.NOTEBOOKS if one.name == notebook]
        given: dict[str, Any] = {"folder": self.config.results}
        if chosen.roles == ("shown",):
            return given | {"shown": self.shown}
        found = self.roles | {"claims": self.claim_groups}
        return given | {"roles": {role: found.get(role, []) for role in chosen.roles}}

    def read_by(self, notebook: str) -> list[str]:
        """The files that a notebook draws."""
        (chosen,) = [one for one in catalogue.NOTEBOOKS if one.name == notebook]
        return [*self.read_beside(chosen), *self.data_of(chosen.roles)]

    def read_beside(self, notebook: catalogue.Notebook) -> list[str]:
        """The tables over all experiments that it reads where they are there."""
        return [name for name in notebook.reads if name in self.judged()]

    def data_of(self, roles: Iterable[str]) -> list[str]:
        """The tables that are drawn where some roles are."""
        found: list[str] = []
        for role in roles:
            if role == "tuning" and self.tunings:
                found += map(layout.table, layout.TUNED)
            elif role == "shown":
                found += map(layout.table, layout.SHOWN)
            elif role == "claims":
                found += map(layout.claims, self.claim_groups)
            else:
                found += self.tables_of(role)
        return found

    def read_by_checks(self, group: str) -> list[str]:
        """The tables that a group of checks reads."""
        made = self.judged()
        return [name for name in map(layout.table, catalogue.CLAIM_GROUPS[group]) if name in made]

    # Optima.

    def seeds_of(self, name: str) -> list[int]:
        """Of all runs of an experiment or a tuning."""
        chosen = self.study(name)
        return self.config.effort.seed_list if isinstance(chosen, Tuning) else chosen.seed_list

    @cache  # noqa: B019
    def solved_in(self, name: str) -> dict[str, Any]:
        """The environments of an experiment or a tuning, and the episodes whose optima are solved."""
        chosen = self.study(name)
        every = chosen.evaluate_every
        return {
            "cases": {case.name: case.spec for case in self.cases_of(name)},
            "evaluate_every": every,
            "seeds": self.seeds_of(name) if every > 1 else [],  # every episode is every seed's
            "references": isinstance(chosen, Tuning) or chosen.role in catalogue.JUDGED,
        }

    @cache  # noqa: B019
    def optima_of(self, experiment: str) -> str:
        """The experiment whose optima serve this one: the first that has its environments at the same episodes."""
        mine = self.solved_in(experiment)
        for other in self.experiments:
            theirs = self.solved_in(other)
            if other == experiment or (
                theirs["evaluate_every"] == mine["evaluate_every"]
                and {*mine["seeds"]} <= {*theirs["seeds"]}
                and theirs["references"] >= mine["references"]
                and mine["cases"].items() <= theirs["cases"].items()
            ):
                return other
        raise KeyError(experiment)

    @property
    def solved(self) -> list[str]:
        """The experiments that have a file of optima, and the tunings whose searches are part of the run."""
        tunings = () if self.recorded else self.tunings
        return [*dict.fromkeys(map(self.optima_of, self.experiments)), *tunings]

    # Searches and tunings.

    @property
    def recorded(self) -> bool:
        """Are searches recorded, or part of the run?"""
        return self.config.searches is not None

    @cache  # noqa: B019
    def record(self, tuning: str) -> dict[str, Any]:
        """What is recorded of a tuning's searches: entries by algorithm and number of episodes."""
        file = Path(str(self.config.searches)) / layout.record(tuning)
        try:
            return json.loads(file.read_text(encoding="utf-8"))["searches"]
        except (OSError, ValueError) as error:
            raise Unacceptable(f"{file} cannot be read ({error}): make search makes it") from None

    def recorded_searches(self, tuning: str, algorithm: str, episodes: int) -> list[dict[str, Any]]:
        """What the searches for an algorithm kept."""
        found = self.record(tuning).get(algorithm, {}).get(str(episodes))
        if found is None:
            what = f"has no search for {algorithm} at {episodes} episodes: make search makes it"
            raise Unacceptable(f"{self.config.searches}/{layout.record(tuning)} {what}")
        return [entry for entry in found if entry["kept"]]

    def effort_of(self, tuning: str) -> dict[str, Any]:
        """How hard a tuning tries, and on which seeds."""
        chosen, effort = self.tuning(tuning), self.config.effort
        return {
            "population": chosen.population or effort.population,
            "generations": chosen.generations or effort.generations,
            "seeds": chosen.seeds or effort.seeds,
            "search_seeds": effort.search_list,
            "selection_seeds": effort.selection_list,
        }

    def searches_of(self, tuning: str) -> int:
        return self.tuning(tuning).searches or self.config.effort.searches

    @cached_property
    def thresholds(self) -> dict[str, float]:
        """The defaults of the thresholds that the parts of the simulation's claim are judged by."""
        found = yaml.safe_load(catalogue.CLAIMS.read_text(encoding="utf-8"))["thresholds"]
        return {name: threshold["default"] for name, threshold in found.items()}

    def started_from(self, tuning: str) -> list[str]:
        """The tunings that a tuning's searches go back to, the nearest first."""
        other = self.tuning(tuning).start
        return [] if other is None else [other, *self.started_from(other)]

    def started_by(self, tuning: str, algorithm: str) -> list[str]:
        """The file whose choice the searches for an algorithm begin from, or none."""
        nearest = self.started_from(tuning)[:1]
        return [layout.tuning(one, algorithm, self.tuning(one).episodes) for one in nearest]

    def tuning_files(self) -> list[tuple[str, str, int, str]]:
        """(tuning, algorithm, episodes, file) of every tuning job."""
        return [
            (name, algorithm, case.episodes, layout.tuning(name, algorithm, case.episodes))
            for name in self.tunings
            for case in self._cases[name]
            for algorithm in self.tuning(name).algorithms
        ]

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
        return [file for *keys, _, file in self.search_files() if (*keys,) == asked]

    # Learners and their runs.

    def tuned_at(
        self, experiment: str, learners: list[Any] | None = None
    ) -> list[tuple[str, str, int]]:
        """(tuning, algorithm, episodes) of all choices that learners of an experiment are made with."""
        chosen, found = self.experiment(experiment), set()
        for one in chosen.all_learners if learners is None else learners:
            if one.setting == TUNED:
                name = str(chosen.tuning_of(one))
                once = [self.tuning(name).episodes]
                for K in chosen.episodes if one.tuned_at == "each" else once:
                    found.add((name, one.algorithm, K))
        return sorted(found)

    def tuned_by(self, experiment: str, unit: str | None = None) -> list[str]:
        """The files that hold factors of the learners of an experiment, or of one unit."""
        learners = None if unit is None else self.experiment(experiment).units[unit]
        return [layout.tuning(*keys) for keys in self.tuned_at(experiment, learners)]

    def tuned_in(self, experiment: str, learners: list[Any]) -> dict[str, dict[str, Any]]:
        """By tuning of some learners: the case in which it decides."""
        names = [name for name, _, _ in self.tuned_at(experiment, learners)]
        return {name: self.cases_of(name)[0].spec for name in names}

    def learner_spec(self, experiment: str, learner: Any) -> dict[str, Any]:
        """What decides a learner of an experiment; of a tuned one, with the tuning that it is tuned by."""
        if learner.setting != TUNED:
            return learner.specification
        return learner.specification | {"tuning": self.experiment(experiment).tuning_of(learner)}

    @cache  # noqa: B019
    def run_files(self, experiment: str) -> list[tuple[str, list[int], str]]:
        """(unit, seeds, file) of every simulation job: seeds of one block of ``batch`` numbers, so more add batches."""
        chosen, files = self.experiment(experiment), []
        for unit in chosen.units:
            size = chosen.batch or self.config.batch
            if size == "auto":
                size = requests.batch(self, experiment, unit)
            blocks: dict[int, list[int]] = {}
            for seed in chosen.seed_list:
                blocks.setdefault(seed // size, []).append(seed)
            for seeds in blocks.values():
                file = layout.simulations(experiment, unit, format_seeds(seeds))
                files.append((unit, seeds, file))
        return files

    @property
    def watched(self) -> list[str]:
        """The experiments whose policies are kept, to be watched on the map."""
        return [one.name for one in self.config.experiments if one.watch]

    def watched_case(self, experiment: str) -> Case:
        """Of its first reading and budget the one with most episodes."""
        first = self.cases_of(experiment)[0]
        alike = [
            case
            for case in self.cases_of(experiment)
            if (case.reading, case.budget) == (first.reading, first.budget)
        ]
        return max(alike, key=lambda case: case.episodes)

    def watched_episodes(self, experiment: str) -> list[int]:
        """About twenty, the first and the last among them: 1, 10, 100, ... of the first stretch, the end of each."""
        episodes = self.watched_case(experiment).episodes
        decades = [10**i for i in range(10) if 10**i * STRETCHES <= episodes]
        ends = [episodes * i // STRETCHES for i in range(1, STRETCHES + 1)]
        return sorted({1, *decades, *ends} - {0})

    def policy_files(self, experiment: str) -> list[tuple[str, str]]:
        """(unit, file) of every job that keeps policies of an experiment."""
        units = self.experiment(experiment).units
        return [(unit, layout.policies(experiment, unit)) for unit in units]

    # All files.

    def computed(self) -> list[str]:
        """The files of optima, searches, tunings, runs and policies."""
        return [
            *map(layout.optima, self.solved),
            *(file for *_, file in self.search_files()),
            *(file for *_, file in self.tuning_files()),
            *(file for name in self.experiments for *_, file in self.run_files(name)),
            *(file for name in self.watched for _, file in self.policy_files(name)),
        ]

    def tables(self, *names: str) -> list[str]:
        """The tables of some experiments, or of all."""
        chosen = names or self.experiments
        return [layout.table(table, name) for name in chosen for table in layout.TABLES]

    def tables_of(self, *roles: str) -> list[str]:
        """The tables of all experiments of some roles."""
        names = [name for role in roles for name in self.roles.get(role, [])]
        return self.tables(*names) if names else []

    def learning(self, *names: str) -> list[str]:
        """The tables of what policies do, of some experiments or all: those that are watched."""
        watched = [name for name in self.watched if name in names or not names]
        return [layout.table(table, name) for name in watched for table in layout.LEARNING]

    def judged(self) -> list[str]:
        """The files of verdicts and of tables over all experiments."""
        claims = [layout.CLAIMS, layout.CLAIMS_TEXT, layout.ERRATUM]
        return [
            *([*map(layout.table, layout.PROTOCOLS), layout.ANSWER] if self.simulations else []),
            *map(layout.claims, self.claim_groups),
            *(claims if self.simulations or self.claim_groups else []),
            *(map(layout.table, layout.TUNED) if self.tunings else []),
            *(map(layout.table, layout.COMPARISON) if "growth" in self.roles else []),
            *(map(layout.table, layout.SUITE) if definition.ROLE in self.roles else []),
            *(map(layout.table, layout.SHOWN) if self.config.shown else []),
            layout.table("deviations.csv"),
            layout.DEVIATIONS,
        ]

    def figures(self, notebook: str) -> list[str]:
        return [
            layout.figure(one.name, form)
            for one in self.notebooks[notebook]
            for form in layout.FIGURE
        ]

    def drawn(self) -> list[str]:
        """The files of notebooks and figures."""
        notebooks = [
            layout.notebook(name, form) for name in self.notebooks for form in ("ipynb", "html")
        ]
        return [*notebooks, *(file for name in self.notebooks for file in self.figures(name))]

    @property
    def scripts(self) -> dict[str, tuple[str, str]]:
        """The data of the page by name: the section that shows them, and the experiment."""
        curves, learning = ("curves", self.simulations), ("learning", self.watched)
        return {f"{key}_{one}": (key, one) for key, names in (curves, learning) for one in names}

    @property
    def pages(self) -> list[str]:
        """The page with its ledgers, and what they load."""
        ledgers = [layout.DEVIATIONS_PAGE, *([layout.CLAIMS_PAGE] if self.claim_groups else [])]
        data = (*map(layout.asset, layout.ASSETS), *map(layout.script, self.scripts))
        return [layout.PAGE, *ledgers, *data]

    def files(self) -> list[str]:
        """Everything that a finished run has made."""
        tables = (*self.tables(), *self.learning(), *self.judged())
        return [*self.computed(), *tables, *self.drawn(), *self.pages]

    def jobs(self) -> int:
        """How many jobs Snakemake has where nothing has been made yet, `all` among them."""
        steps = {rule for rule, tables in catalogue.TABLES.items() if {*tables} <= {*self.judged()}}
        return (
            len(self.computed())
            + len({*self.algorithms})
            + len(self.experiments)
            + len(self.watched)
            + len(steps - {"judge"})
            + len(self.claim_groups)
            + 2 * len(self.notebooks)
            + len(("timing", "page", "checksums", "all"))
        )

    def check(self) -> None:
        """Make every environment and learner once; raise :class:`Unacceptable` where one cannot be."""
        if not (self.experiments or self.tunings or self.shown or self.claim_groups):
            raise Unacceptable("config: experiments = []: expected at least one")
        for number, shown in enumerate(self.shown):
            try:
                environments.make(**shown)
            except ValueError as error:
                raise Unacceptable(f"config: shown[{number}]: {error}") from None
        for key, studies in (
            ("tunings", self.config.tunings),
            ("experiments", self.config.experiments),
        ):
            for number, study in enumerate(studies):
                for case in self.cases_of(study.name):
                    _check_environment(case, f"{key}[{number}]")
                    known = Problem.of(case.env)
                    for learner in getattr(study, "all_learners", ()):
                        _check_learner(case, known, learner, f"{key}[{number}]")
        roles.check(self)


def make(raw: dict[str, Any]) -> Plan:
    return Plan(parse(raw))


def load(*files: Path, settings: Iterable[str] = ()) -> Plan:
    """What Snakemake would run of config files and ``--config``: mappings are merged, all else replaced."""
    raw: dict[str, Any] = {}
    try:
        for file in files:
            raw = _updated(raw, yaml.safe_load(file.read_text(encoding="utf-8")))
        for setting in settings:
            key, _, value = setting.partition("=")
            raw = _updated(raw, {key: yaml.safe_load(value)})
    except yaml.YAMLError as error:
        raise Unacceptable(f"{file} is not YAML: {error}") from None
    return make(raw)


def _updated(old: Any, new: Any) -> Any:
    if not isinstance(old, dict) or not isinstance(new, dict):
        return new
    return old | {key: _updated(old.get(key), value) for key, value in new.items()}


def _check_environment(case: Case, key: str) -> None:
    try:
        env = case.env
    except ValueError as error:
        named = "episodes" if str(error).startswith("episodes") else "environment"
        raise Unacceptable(f"config: {key}.{named} ({case.name}): {error}") from None
    roles.require_feasible(env, key, case.options)


def _check_learner(case: Case, known: Problem, learner: Any, key: str) -> None:
    chosen = learner.specification
    assumed = {key: chosen.pop(key) for key in ("assumed_budget", "assumed_for")}
    tuned = chosen["setting"] == TUNED  # with which factors, only tuning will tell
    if tuned:
        chosen = {key: chosen[key] for key in ("algorithm", "variants", "constants")}
        chosen["setting"] = "scaled"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if tuned else "error", DoesNotFit)
        try:
            algorithms.make(problem=known._replace(**assumed), **chosen)
        except DoesNotFit as error:
            where = f"config: {key}.episodes = {case.episodes} is too small for {learner.name}"
            raise Unacceptable(f"{where}: {error}") from None
        except ValueError as error:
            raise Unacceptable(f"config: {key}.learners ({learner.name}): {error}") from None
