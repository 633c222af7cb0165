"""How it was run: what was computed, with which versions, and what is behind every figure and table.

Nothing here depends on a clock or a machine: that is kept in results/benchmarks and only linked.
"""

from collections import Counter
from pathlib import Path
from typing import Any

import yaml

import nscmdp
from nscmdp.algorithms import title
from nscmdp.randomness import format_seeds
from wei2023.report.tables import Table, escaped, linked, made
from wei2023.runs.specifications import run_digest
from wei2023.study import catalogue, layout
from wei2023.study.cases import DEFAULT
from wei2023.study.config import Experiment, Tuning
from wei2023.study.plan import Plan

# The direct dependencies, as the lock file pins them.
ENVIRONMENT = Path("workflow/envs/nscmdp.yml")


def context(plan: Plan, folder: Path) -> dict[str, Any]:
    """Return what provenance.html.j2 shows: numbers, and folded tables by their summary."""
    effort = plan.config.effort
    experiments = [plan.experiment(name) for name in plan.experiments]
    tunings = [plan.tuning(name) for name in plan.tunings]
    drawn = [(name, one) for name, figures in plan.notebooks.items() for one in figures]
    folded = {
        "Experiments": _experiments(plan, experiments),
        "Tunings": made(
            "Tunings",
            tunings,
            {
                "tuning": lambda one: escaped(one.name),
                "environment": _environment,
                "K": lambda one: _listed([one.episodes, *one.checks]),
                "learners": lambda one: "; ".join(map(title, one.algorithms)),
            },
            note=f"Searches draw on {_seeds(effort.search_list)}; the choice among what they found is made on "
            f"{_seeds(effort.selection_list)}. Experiments use neither.",
        ),
        "Sources of learners": Table(
            "Sources of learners",
            ["learner", "sources"],
            [[title(name), f"`{run_digest(name)}`"] for name in plan.algorithms],
            "A hash of the sources that decide a learner's runs is in each of its result files:",
        ),
        "Locked versions": Table(
            "Locked versions",
            ["package", "version", "where"],
            _dependencies(),
            "Direct dependencies, as the lock file pins them:",
        ),
        "Where every figure comes from": Table(
            "Where figures come from",
            ["figure", "notebook", "data"],
            [_figure(plan, name, one) for name, one in drawn],
            "A notebook is executed by the rule `notebook_NAME`; it draws from the tables of some experiments, and "
            "from tables over all of them.",
        ),
        "Where every table comes from": Table(
            "Where tables come from", ["table", "holds", "rule"], _tables(plan)
        ),
    }
    return {
        "version": nscmdp.__version__,
        "runs": plan.runs,
        "experiments": len(experiments),
        "folded": {summary: table for summary, table in folded.items() if table.rows},
    }


def _experiments(plan: Plan, experiments: list[Experiment]) -> Table:
    def environment(one: Experiment) -> str:
        names = [name for case in plan.cases_of(one.name) for name in (case.reading, case.budget)]
        varied = [escaped(name) for name in dict.fromkeys(names) if name != DEFAULT]
        return "; ".join([_environment(one), *varied])

    def learners(one: Experiment) -> str:
        """Return "Algorithm 1 (literal, 16 tuned)" for every learner."""
        settings: dict[str, Counter[str]] = {}
        for learner in one.all_learners:
            settings.setdefault(learner.algorithm, Counter())[learner.setting] += 1
        return "; ".join(
            f"{title(name)} ({', '.join(f'{n} {setting}' if n > 1 else setting for setting, n in found.items())})"
            for name, found in settings.items()
        )

    def files(one: Experiment) -> str:
        made_of = [*plan.tables(one.name), *plan.learning(one.name)]
        return " ".join(linked(file, file.split("/")[-1]) for file in made_of)

    return made(
        "Experiments",
        experiments,
        {
            "experiment": lambda one: escaped(one.name),
            "role": lambda one: escaped(one.role or ""),
            "environment": environment,
            "K": lambda one: _listed(one.episodes),
            "seeds": lambda one: _seeds(one.seed_list),
            "learners (constants)": learners,
            "tables": files,
        },
    )


def _listed(episodes: list[int]) -> str:
    """Return all, or the first and the last where there are many."""
    shown = [f"{K:,}" for K in sorted(episodes)]
    return ", ".join(shown) if len(shown) < 4 else f"{shown[0]}, {shown[1]}, ..., {shown[-1]}"


def _seeds(seeds: list[int]) -> str:
    return f"seed {seeds[0]}" if len(seeds) == 1 else f"{len(seeds)} seeds, {format_seeds(seeds)}"


def _environment(chosen: Experiment | Tuning) -> str:
    """Return the name of an environment, and the options that the configuration sets."""
    given = chosen.environment.model_dump(mode="json", exclude_unset=True)
    options = [f"{key} {value}" for key, value in given.items() if key != "name"]
    return escaped(", ".join([given["name"], *options]))


def _dependencies() -> list[list[str]]:
    """Return [package, version, where it is used]; nothing where the project's files are not at hand."""
    if not ENVIRONMENT.is_file():
        return []
    *_, options = yaml.safe_load(ENVIRONMENT.read_text(encoding="utf-8"))["dependencies"]
    pins = [pin.partition(";") for pin in options["pip"]]
    return [
        [*map(escaped, pin.strip().split("==")), escaped(where.strip())] for pin, _, where in pins
    ]


def _figure(plan: Plan, notebook: str, figure: catalogue.Figure) -> list[str]:
    """Return a figure with its data: the tables of some experiments, and tables over all of them."""
    (listed,) = [one for one in catalogue.NOTEBOOKS if one.name == notebook]
    data = dict.fromkeys([*plan.read_beside(listed), *plan.data_of(figure.roles)])
    group = figure.name.removeprefix("claims_")  # the figure of a group of claims shows that group
    others = {*map(layout.claims, plan.claim_groups)} - {layout.claims(group)}
    left_out = others if group in plan.claim_groups else set()
    files = [linked(one) for one in data if one in plan.judged() and one not in left_out]
    experiments = [escaped(one) for one in plan.experiments if {*plan.tables(one)} <= data.keys()]
    return [
        linked(layout.figure(figure.name), figure.name),
        linked(layout.notebook(notebook, "html"), notebook),
        ", ".join([*files, *experiments]),
    ]


def _tables(plan: Plan) -> list[list[str]]:
    judged = plan.judged()
    rows = [
        [linked(file), text, rule]
        for rule, tables in catalogue.TABLES.items()
        for file, text in tables.items()
        if file in judged
    ]
    of_each = {
        "tables": catalogue.EXPERIMENT,
        "learning": catalogue.WATCHED if plan.watched else {},
    }
    return rows + [
        [f"tables/EXPERIMENT/{name}", text, rule]
        for rule, tables in of_each.items()
        for name, text in tables.items()
    ]
