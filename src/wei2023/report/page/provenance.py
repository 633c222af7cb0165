"""How it was run: what was computed, with which versions, and what is behind every figure and table.

Nothing here depends on a clock or a machine: that is kept in results/benchmarks and only linked.
"""

from collections import Counter
from pathlib import Path
from typing import Any

import yaml

import nscmdp
from nscmdp.randomness import format_seeds
from wei2023.report.style import title
from wei2023.runs.specifications import run_digest
from wei2023.study import catalogue, layout
from wei2023.study.cases import DEFAULT
from wei2023.study.config import Experiment, Tuning
from wei2023.study.plan import Plan

ENVIRONMENT = Path(
    "workflow/envs/nscmdp.yml"
)  # the direct dependencies, as the lock file pins them


def context(plan: Plan, folder: Path) -> dict[str, Any]:
    return {
        "version": nscmdp.__version__,
        "runs": plan.runs,
        "experiments": [_experiment(plan, plan.experiment(name)) for name in plan.experiments],
        "tunings": [_tuning(plan.tuning(name)) for name in plan.tunings],
        "seeds": {
            "search": _seeds(plan.config.effort.search_list),
            "selection": _seeds(plan.config.effort.selection_list),
        },
        "sources": [[title(name), run_digest(name)] for name in plan.algorithms],
        "dependencies": _dependencies(),
        "figures": [
            _figure(plan, name, one) for name, drawn in plan.notebooks.items() for one in drawn
        ],
        "tables": _tables(plan),
        "of_each": {
            "tables": catalogue.EXPERIMENT,
            **({"learning": catalogue.WATCHED} if plan.watched else {}),
        },
    }


def _experiment(plan: Plan, chosen: Experiment) -> dict[str, Any]:
    cases = plan.cases_of(chosen.name)
    varied = dict.fromkeys(name for case in cases for name in (case.reading, case.budget))
    return {
        "name": chosen.name,
        "role": chosen.role or "",
        "environment": _environment(chosen),
        "varied": [name for name in varied if name != DEFAULT],
        "episodes": _listed(chosen.episodes),
        "learners": _learners(chosen),
        "seeds": _seeds(chosen.seed_list),
        "files": [*plan.tables(chosen.name), *plan.learning(chosen.name)],
    }


def _tuning(chosen: Tuning) -> dict[str, Any]:
    return {
        "name": chosen.name,
        "environment": _environment(chosen),
        "episodes": _listed([chosen.episodes, *chosen.checks]),
        "learners": [title(name) for name in chosen.algorithms],
    }


def _listed(episodes: list[int]) -> str:
    """The first and the last, where there are many."""
    shown = [f"{K:,}" for K in sorted(episodes)]
    return ", ".join(shown) if len(shown) < 4 else f"{shown[0]}, {shown[1]}, ..., {shown[-1]}"


def _seeds(seeds: list[int]) -> str:
    return f"seed {seeds[0]}" if len(seeds) == 1 else f"{len(seeds)} seeds, {format_seeds(seeds)}"


def _environment(chosen: Experiment | Tuning) -> str:
    """Its name, and the options that the configuration sets."""
    given = chosen.environment.model_dump(mode="json", exclude_unset=True)
    options = [f"{key} {value}" for key, value in given.items() if key != "name"]
    return ", ".join([given["name"], *options])


def _learners(chosen: Experiment) -> list[str]:
    """Algorithm 1 (literal, 16 tuned)"""
    found: dict[str, Counter[str]] = {}
    for one in chosen.all_learners:
        found.setdefault(one.algorithm, Counter())[one.setting] += 1
    return [
        f"{title(name)} ({', '.join(f'{n} {one}' if n > 1 else one for one, n in settings.items())})"
        for name, settings in found.items()
    ]


def _dependencies() -> list[list[str]]:
    """[package, version, where it is used] of the project at hand; none where the package is used by itself."""
    if not ENVIRONMENT.is_file():
        return []
    *_, options = yaml.safe_load(ENVIRONMENT.read_text(encoding="utf-8"))["dependencies"]
    pins = [pin.partition(";") for pin in options["pip"]]
    return [[*pin.strip().split("=="), marker.strip()] for pin, _, marker in pins]


def _figure(plan: Plan, name: str, figure: catalogue.Figure) -> dict[str, Any]:
    """Its data are the tables of some experiments, and tables over all of them."""
    (notebook,) = [one for one in catalogue.NOTEBOOKS if one.name == name]
    data = dict.fromkeys([*plan.read_beside(notebook), *plan.data_of(figure.roles)])
    shown = plan.claim_groups if figure.group is None else [figure.group]
    others = {layout.claims(group) for group in plan.claim_groups if group not in shown}
    return {
        "name": figure.name,
        "notebook": name,
        "files": [file for file in data if file in plan.judged() and file not in others],
        "experiments": [one for one in plan.experiments if {*plan.tables(one)} <= data.keys()],
    }


def _tables(plan: Plan) -> list[dict[str, str]]:
    made = plan.judged()
    return [
        {"file": file, "holds": text, "rule": rule}
        for rule, tables in catalogue.TABLES.items()
        for file, text in tables.items()
        if file in made
    ]
