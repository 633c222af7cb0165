"""From a configuration to the list of what has to be computed, with every mistake found before any work starts.

A case is an environment under one reading, at one budget and number of episodes; a run is a learner in a case with one
seed.
"""

import warnings
from collections.abc import Iterable
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from nscmdp import algorithms, environments, optimum
from nscmdp.problem import DoesNotFit, Problem
from nscmdp.randomness import format_seeds
from nscmdp.suite import definition
from wei2023.study import catalogue, errors, layout, protocols, requests, roles, suite
from wei2023.study.cases import Case
from wei2023.study.config import TUNED, Experiment, Tuning, Unacceptable, parse
from wei2023.study.searches import Searches

STRETCHES = 16  # of a run: at the end of each its policy is kept


class Plan(Searches):
    """What has to be computed. One job simulates a unit in all cases of an experiment, for a batch of seeds."""

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
        tuned = {algorithm for _, algorithm, *_ in self.search_files()}
        return sorted(
            tuned
            | {learner.algorithm for one in self.config.experiments for learner in one.all_learners}
        )

    def behind(self, role: str) -> set[str]:
        """The experiments of a role, those whose optima they use, and the tunings that choose their factors."""
        names = self.roles.get(role, [])
        tunings = {
            name
            for one in map(self.experiment, names)
            for name, _, _ in self.tuned_at(one, one.all_learners)
        }
        return {*names, *map(self.optima_of, names), *tunings}

    def seeds_of(self, name: str) -> list[int]:
        """Of all its runs."""
        chosen = self.study(name)
        return self.config.effort.seed_list if isinstance(chosen, Tuning) else chosen.seed_list

    @cached_property
    def roles(self) -> dict[str, list[str]]:
        """The experiments of each role that some have; "tuning" has the tunings but the suite's.

        The suite's tunings are many, and are not drawn.
        """
        found = {
            role: [one.name for one in self.config.experiments if one.role == role]
            for role in catalogue.ROLES
        }
        of_suite = {self.experiment(one).tuning for one in found[definition.ROLE]}
        found["tuning"] = [name for name in self.tunings if name not in of_suite]
        return {role: names for role, names in found.items() if names}

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
        return {
            name: definition.KEPT / name
            for name in names
            if part and (definition.KEPT / name).is_file()
        }

    @property
    def simulations(self) -> list[str]:
        """The experiments on which the simulation's claim is judged, but for those of choices that are switched."""
        return self.roles.get(protocols.ROLE, [])

    @property
    def shown(self) -> list[dict[str, Any]]:
        return [one.specification for one in self.config.shown]

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
        """The files that a notebook draws, below the results folder."""
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

    @cache  # noqa: B019
    def optima_of(self, experiment: str) -> str:
        """The experiment whose optima serve this one: the first that has its environments at the same episodes."""
        mine = self.solved_in(experiment)

        def serves(other: str) -> bool:
            theirs = self.solved_in(other)
            alike = theirs["evaluate_every"] == mine["evaluate_every"] and {*mine["seeds"]} <= {
                *theirs["seeds"]
            }
            enough = theirs["references"] or not mine["references"]
            return alike and enough and mine["cases"].items() <= theirs["cases"].items()

        return next(other for other in self.experiments if other == experiment or serves(other))

    @property
    def solved(self) -> list[str]:
        """The experiments that have a file of optima, and the tunings whose searches are part of the run."""
        return [
            *dict.fromkeys(map(self.optima_of, self.experiments)),
            *(() if self.recorded else self.tunings),
        ]

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

    def tuned_by(self, experiment: str, unit: str | None = None) -> list[str]:
        """The files that hold factors of the learners of an experiment, or of one unit, below the results folder."""
        chosen = self.experiment(experiment)
        learners = chosen.all_learners if unit is None else chosen.units[unit]
        return [layout.tuning(*keys) for keys in self.tuned_at(chosen, learners)]

    def tuned_at(self, experiment: Experiment, learners: list[Any]) -> list[tuple[str, str, int]]:
        """(tuning, algorithm, episodes) of all choices that some learners of an experiment are made with."""
        found = set()
        for one in learners:
            if one.setting == TUNED:
                name = str(experiment.tuning_of(one))
                once = [self.tuning(name).episodes]
                found |= {
                    (name, one.algorithm, at)
                    for at in (experiment.episodes if one.tuned_at == "each" else once)
                }
        return sorted(found)

    def tunings_behind(self, experiment: Experiment) -> set[str]:
        """The tunings that choose factors of an experiment's learners, and those that these start from."""
        used = {name for name, _, _ in self.tuned_at(experiment, experiment.all_learners)}
        return {name for one in used for name in (one, *self.started_from(one))}

    def learner_spec(self, experiment: str, learner: Any) -> dict[str, Any]:
        """What decides a learner of an experiment; of a tuned one, with the tuning that it is tuned by."""
        tuned = (
            {"tuning": self.experiment(experiment).tuning_of(learner)}
            if learner.setting == TUNED
            else {}
        )
        return {**learner.specification, **tuned}

    def tuned_in(self, experiment: str, learners: list[Any]) -> dict[str, dict[str, Any]]:
        """By tuning of some learners: the case in which it decides."""
        tuned = self.tuned_at(self.experiment(experiment), learners)
        return {name: self.cases_of(name)[0].spec for name, _, _ in tuned}

    @cache  # noqa: B019
    def run_files(self, experiment: str) -> list[tuple[str, list[int], str]]:
        """(unit, seeds, file below the results folder) of every simulation job of an experiment."""
        chosen = self.experiment(experiment)
        return [
            (unit, seeds, layout.simulations(experiment, unit, format_seeds(seeds)))
            for unit in chosen.units
            for seeds in self._batches(chosen, unit)
        ]

    @property
    def watched(self) -> list[str]:
        """The experiments whose policies are kept, to be watched on the map."""
        return [one.name for one in self.config.experiments if one.watch]

    def watched_case(self, experiment: str) -> Case:
        """Of its first reading and budget the one with most episodes."""
        first, *others = self.cases_of(experiment)
        alike = [
            case for case in others if (case.reading, case.budget) == (first.reading, first.budget)
        ]
        return max([first, *alike], key=lambda case: case.episodes)

    def watched_episodes(self, experiment: str) -> list[int]:
        """About twenty, the first and the last among them: 1, 10, 100, ... of the first stretch, the end of each."""
        episodes = self.watched_case(experiment).episodes
        decades = [10**i for i in range(10) if 10**i * STRETCHES <= episodes]
        ends = [episodes * i // STRETCHES for i in range(1, STRETCHES + 1)]
        return sorted({1, *decades, *ends} - {0})

    def policy_files(self, experiment: str) -> list[tuple[str, str]]:
        """(unit, file below the results folder) of every job that keeps policies of an experiment."""
        return [
            (unit, layout.policies(experiment, unit)) for unit in self.experiment(experiment).units
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
        """The files of optima, searches, tunings, runs and policies, below the results folder."""
        optima = [layout.optima(name) for name in self.solved]
        runs = [file for name in self.experiments for _, _, file in self.run_files(name)]
        searched, tuned = (
            [file for *_, file in files] for files in (self.search_files(), self.tuning_files())
        )
        return [*optima, *searched, *tuned, *runs, *self.policies()]

    def policies(self) -> list[str]:
        """The files of the policies of all experiments that are watched."""
        return [file for name in self.watched for _, file in self.policy_files(name)]

    def tables(self, *names: str) -> list[str]:
        """The tables of some experiments, or of all."""
        return [
            layout.table(table, name)
            for name in names or self.experiments
            for table in layout.TABLES
        ]

    def tables_of(self, *roles: str) -> list[str]:
        """The tables of all experiments of some roles."""
        return [
            table
            for role in roles
            if role in self.roles
            for table in self.tables(*self.roles[role])
        ]

    def learning(self, *names: str) -> list[str]:
        """The tables of what policies do, of some experiments or all: those that are watched."""
        watched = [name for name in self.watched if name in names or not names]
        return [layout.table(table, name) for name in watched for table in layout.LEARNING]

    def judged(self) -> list[str]:
        """The files of verdicts and of tables over all experiments."""
        return [
            *([*map(layout.table, layout.PROTOCOLS), layout.ANSWER] if self.simulations else []),
            *map(layout.claims, self.claim_groups),
            *(
                [layout.CLAIMS, layout.CLAIMS_TEXT, layout.ERRATUM]
                if self.simulations or self.claim_groups
                else []
            ),
            *(map(layout.table, layout.TUNED) if self.tunings else []),
            *(map(layout.table, layout.COMPARISON) if "growth" in self.roles else []),
            *(map(layout.table, layout.SUITE) if definition.ROLE in self.roles else []),
            *(map(layout.table, layout.SHOWN) if self.config.shown else []),
            layout.table("deviations.csv"),
            layout.DEVIATIONS,
        ]

    @property
    def claim_groups(self) -> list[str]:
        """The files of checks that are run."""
        return [] if self.config.claims is None else list(catalogue.CLAIM_GROUPS)

    def read_by_checks(self, group: str) -> list[str]:
        """The tables that a group of checks reads."""
        made = self.judged()
        return [name for name in map(layout.table, catalogue.CLAIM_GROUPS[group]) if name in made]

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

    def files(self) -> list[str]:
        """Everything that a finished run has made, below the results folder."""
        return [
            *self.computed(),
            *self.tables(),
            *self.learning(),
            *self.judged(),
            *self.drawn(),
            *self.pages,
        ]

    @property
    def pages(self) -> list[str]:
        """The page with its ledgers, and what they load."""
        ledgers = [layout.DEVIATIONS_PAGE, *([layout.CLAIMS_PAGE] if self.claim_groups else [])]
        return [
            layout.PAGE,
            *ledgers,
            *map(layout.asset, layout.ASSETS),
            *map(layout.script, self.scripts),
        ]

    @property
    def scripts(self) -> dict[str, tuple[str, str]]:
        """The data of the page by name: the section that shows them, and the experiment."""
        shown = [
            *(("curves", name) for name in self.simulations),
            *(("learning", name) for name in self.watched),
        ]
        return {f"{section}_{experiment}": (section, experiment) for section, experiment in shown}

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


def make(raw: dict[str, Any]) -> Plan:
    return Plan(parse(raw))


def load(file: Path) -> Plan:
    import yaml

    try:
        return make(yaml.safe_load(file.read_text(encoding="utf-8")))
    except yaml.YAMLError as error:
        raise Unacceptable(f"{file} is not YAML: {error}") from None


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
                    chosen = {
                        key: chosen[key] for key in ("algorithm", "variants", "constants")
                    } | {"setting": "scaled"}
                algorithms.make(problem=known._replace(**assumed), **chosen)
            except DoesNotFit as error:
                where = f"config: {key}.episodes = {case.episodes} is too small for {learner.name}"
                raise Unacceptable(f"{where}: {error}") from None
            except ValueError as error:
                raise Unacceptable(f"config: {key}.learners ({learner.name}): {error}") from None
