"""How it was run: what was computed, with which versions, and what is behind every figure and
table.

Nothing here depends on a clock or a machine: that is kept in results/benchmarks and only linked.
"""

from collections import Counter
from pathlib import Path
from typing import Any

import yaml

import nscmdp
from nscmdp.algorithms import title
from nscmdp.randomness import format_seeds
from wei2023.report.tables import Table, escaped, linked
from wei2023.runs.specifications import run_digest
from wei2023.study import catalogue, layout
from wei2023.study.cases import DEFAULT
from wei2023.study.config import Experiment, Tuning
from wei2023.study.plan import Plan

ENVIRONMENT = Path("workflow/envs/nscmdp.yml")  # the direct dependencies, pinned
COLUMNS = {
    "Experiments": "experiment, role, environment, K, seeds, learners (constants), tables",
    "Tunings": "tuning, environment, K, learners",
    "Sources of learners": "learner, sources",
    "Locked versions": "package, version, where",
    "Where every figure comes from": "figure, notebook, data",
    "Where every table comes from": "table, holds, rule",
}


def context(plan: Plan, folder: Path) -> dict[str, Any]:
    """Return what provenance.html.j2 shows: numbers, and tables by their names."""
    experiments = [plan.experiment(name) for name in plan.experiments]
    tunings = [plan.tuning(name) for name in plan.tunings]
    drawn = [(name, one) for name, figures in plan.notebooks.items() for one in figures]
    rows = {
        "Experiments": [_experiment(plan, one) for one in experiments],
        "Tunings": [
            [
                escaped(one.name),
                _environment(one),
                _listed([one.episodes, *one.checks]),
                "; ".join(map(title, one.algorithms)),
            ]
            for one in tunings
        ],
        "Sources of learners": [[title(one), f"`{run_digest(one)}`"] for one in plan.algorithms],
        "Locked versions": _dependencies(),
        "Where every figure comes from": [_figure(plan, name, one) for name, one in drawn],
        "Where every table comes from": _tables(plan),
    }
    return {
        "version": nscmdp.__version__,
        "runs": plan.runs,
        "experiments": len(experiments),
        "searches": _seeds(plan.config.effort.search_list),
        "selection": _seeds(plan.config.effort.selection_list),
        "tables": [
            Table(name, COLUMNS[name].split(", "), rows[name]) for name in rows if rows[name]
        ],
    }


def _experiment(plan: Plan, one: Experiment) -> list[str]:
    cases, settings = plan.cases_of(one.name), Counter[tuple[str, str]]()
    for learner in one.all_learners:
        settings[title(learner.algorithm), learner.setting] += 1
    named: dict[str, list[str]] = {}
    for (learner_title, setting), n in settings.items():
        named.setdefault(learner_title, []).append(f"{n} {setting}" if n > 1 else setting)
    varied = dict.fromkeys(name for case in cases for name in (case.reading, case.budget))
    return [
        escaped(one.name),
        escaped(one.role or ""),
        "; ".join([_environment(one), *(escaped(name) for name in varied if name != DEFAULT)]),
        _listed(one.episodes),
        _seeds(one.seed_list),
        "; ".join(f"{name} ({', '.join(found)})" for name, found in named.items()),
        " ".join(
            linked(file, file.split("/")[-1])
            for file in (*plan.tables(one.name), *plan.learning(one.name))
        ),
    ]


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
    """Return [package, version, where it is used]; nothing where the project's files are not at
    hand.
    """
    if not ENVIRONMENT.is_file():
        return []
    *_, options = yaml.safe_load(ENVIRONMENT.read_text(encoding="utf-8"))["dependencies"]
    pins = [pin.partition(";") for pin in options["pip"]]
    return [[*pin.strip().split("=="), escaped(where.strip())] for pin, _, where in pins]


def _figure(plan: Plan, notebook: str, figure: catalogue.Figure) -> list[str]:
    """Return a figure with its data: tables of some experiments, and tables over all of them."""
    (listed,) = [one for one in catalogue.NOTEBOOKS if one.name == notebook]
    data = dict.fromkeys([*plan.read_beside(listed), *plan.data_of(figure.roles)])
    shown = plan.claim_groups if figure.group is None else [figure.group]
    left_out = {layout.claims(group) for group in plan.claim_groups if group not in shown}
    files = [linked(one) for one in data if one in plan.judged() and one not in left_out]
    experiments = [escaped(one) for one in plan.experiments if {*plan.tables(one)} <= data.keys()]
    pages = [
        (layout.figure(figure.name), figure.name),
        (layout.notebook(notebook, "html"), notebook),
    ]
    return [*(linked(*one) for one in pages), ", ".join([*files, *experiments])]


def _tables(plan: Plan) -> list[list[str]]:
    judged = plan.judged()
    of_each = {
        "tables": catalogue.EXPERIMENT,
        "learning": catalogue.WATCHED if plan.watched else {},
    }
    named = [(rule, one) for rule, tables in catalogue.TABLES.items() for one in tables.items()]
    shared = [(rule, one) for rule, tables in of_each.items() for one in tables.items()]
    rows = [[linked(file), text, rule] for rule, (file, text) in named if file in judged]
    return rows + [[f"tables/EXPERIMENT/{name}", text, rule] for rule, (name, text) in shared]
