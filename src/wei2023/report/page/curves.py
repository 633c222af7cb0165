"""Learning curves of the paper's simulation, for every learner, protocol, draw of the environment and seed.

What the browser gets are means over blocks of episodes, as many as a screen can show, of exact expectations: V_k and
the cost H - W_k of the policies played, the Lagrangian gap, and the dual variable. Regret and violation follow from
these, as V*_k and the limit are there too.
"""

import base64
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from nscmdp import algorithms, files
from nscmdp.cmdp import Array
from nscmdp.problem import Problem
from nscmdp.suite import optima
from wei2023.report.page.render import interval
from wei2023.report.style import title
from wei2023.study import layout, protocols
from wei2023.study.plan import Plan
from wei2023.verdicts import tables

BLOCKS = 100
MEASURES = {
    "reward": "Reward per episode",
    "cost": "Cost per episode",
    "regret": "Regret per episode",
    "violation": "Violation per episode",
    "gap": "Lagrangian gap per episode",
    "total_regret": "Regret, added up",
    "total_violation": "Violation, added up",
    "total_gap": "Lagrangian gap, added up",
    "dual": "Dual variable",
}
CASE = ["reading", "budget", "episodes"]


def context(plan: Plan, folder: Path) -> dict[str, Any] | None:
    """What there is to choose from, and the numbers behind it."""
    if plan.config.protocols is None:
        return None
    cases = [case for name in plan.simulations for case in _cases(folder, name)]
    learners = [one for name in plan.simulations for one in plan.experiment(name).all_learners]
    words, names = protocols.called(plan.config.protocols), [one.algorithm for one in learners]
    constants = dict.fromkeys(words[one.name] for one in learners)
    drawn = {figure.name for figures in plan.notebooks.values() for figure in figures}
    return {
        "measures": MEASURES,
        "cases": cases,
        "constants": {_key(text): text for text in constants},
        "learners": {one: title(one) for one in dict.fromkeys(names)},
        "static": "grid_world" if "grid_world" in drawn else None,
        "summaries": [_summary(folder, name, words) for name in plan.simulations],
    }


def _cases(folder: Path, experiment: str) -> list[dict[str, Any]]:
    """The environments of an experiment, in words."""
    _, facts = files.read(folder / layout.table("exact.parquet", experiment))
    return [
        {
            "experiment": experiment,
            "number": number,
            "map": case["options"].get("map", case["name"]),
            "reading": _in_words(case),
        }
        for number, case in enumerate(facts["cases"])
    ]


def _key(words: str) -> str:
    """Of a choice of constants, as an address can have it."""
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")


def _in_words(case: dict[str, Any]) -> str:
    """K, and the draw of the environment."""
    return ", ".join(
        [
            f"K = {case['episodes']:,}",
            *(case[key] for key in ("reading", "budget") if case[key] != "default"),
        ]
    )


def data(plan: Plan, folder: Path, experiment: str) -> list[dict[str, Any]]:
    """Of every case of an experiment, in the order of :func:`context`."""
    exact, facts = files.read(folder / layout.table("exact.parquet", experiment))
    rows, curves = (
        exact.to_pandas(),
        tables.load(folder / layout.table("curves.parquet", experiment)),
    )
    assert plan.config.protocols is not None
    words = protocols.called(plan.config.protocols)
    return [
        _of_case(case, facts["learners"], words, _in(rows, case), _in(curves, case))
        for case in facts["cases"]
    ]


def _in(table: pd.DataFrame, case: dict[str, Any]) -> pd.DataFrame:
    return table[np.logical_and.reduce([table[key] == case[key] for key in CASE])]


def _of_case(
    case: dict[str, Any],
    learners: dict[str, dict[str, Any]],
    words: dict[str, str],
    exact: pd.DataFrame,
    curves: pd.DataFrame,
) -> dict[str, Any]:
    first = exact.iloc[0]
    seeds = sorted(int(seed) for seed in exact["seed"].unique())
    problem = Problem.of(optima.environment(case))
    blocks = _Blocks(exact[exact["learner"] == first["learner"]])
    made = []
    for name, mine in exact.groupby("learner", sort=False):
        spec = learners[str(name)]
        made.append(
            {
                "name": str(name),
                "algorithm": spec["algorithm"],
                "setting": _key(words[str(name)]),
                "restart": _restart(spec, problem),
                "reward": _packed(blocks.means(mine, "value")),
                "cost": _packed(first["horizon"] - blocks.means(mine, "utility_value")),
                "gap": _packed(blocks.means(mine, "gap")),
                "dual": _packed(_duals(curves[curves["learner"] == name], len(blocks.length))),
            }
        )
    one = exact[exact["learner"] == first["learner"]]
    return {
        "episodes": case["episodes"],
        "limit": float(first["horizon"] - first["rho"]),
        "seeds": seeds,
        "t": float(stats.t.ppf(0.975, len(seeds) - 1)) if len(seeds) > 1 else 0.0,
        "ends": np.cumsum(blocks.length).tolist(),
        "optimum": {
            "reward": _packed(blocks.means(one, "optimal_value")),
            "cost": _packed(first["horizon"] - blocks.means(one, "optimal_utility")),
        },
        "learners": made,
    }


class _Blocks:
    """Stretches of a run with as many evaluated episodes each as the next; the same for all its learners and seeds."""

    def __init__(self, runs: pd.DataFrame) -> None:
        weight = runs[runs["seed"] == runs["seed"].iloc[0]]["weight"].to_numpy()
        self.number = min(BLOCKS, len(weight))
        self.of = np.arange(len(weight)) * self.number // len(weight)
        self.length = np.bincount(self.of, weight).astype(int)

    def means(self, runs: pd.DataFrame, column: str) -> Array:
        """(seeds, blocks)"""
        return np.array(
            [
                np.bincount(self.of, one[column].to_numpy() * one["weight"].to_numpy())
                / self.length
                for _, one in runs.sort_values(["seed", "episode"]).groupby("seed")
            ]
        )


def _duals(curves: pd.DataFrame, blocks: int) -> Array:
    """(seeds, blocks): at the end of the window that ends a block."""
    wide = curves.pivot(index="seed", columns="episode", values="dual").to_numpy()
    return (
        wide[:, np.arange(1, blocks + 1) * wide.shape[1] // blocks - 1]
        if wide.shape[1] >= blocks
        else wide
    )


def _packed(values: Array) -> dict[str, Any] | None:
    """Sixteen bits for each number between the least and the largest; None where there are no numbers."""
    if np.isnan(values).any():
        return None
    low, high = float(values.min()), float(values.max())
    step = (high - low) / 65535 or 1.0
    codes = np.rint((values - low) / step).astype("<u2")
    return {"low": low, "step": step, "codes": base64.b64encode(codes.tobytes()).decode()}


def constants_of(spec: dict[str, Any], problem: Problem) -> Any:
    """What a learner of a table was made with."""
    setting = "scaled" if spec["setting"] == "tuned" else spec["setting"]
    known = problem._replace(assumed_budget=spec["assumed_budget"], assumed_for=spec["assumed_for"])
    factors = spec.get("factors") if setting == "scaled" else None
    return algorithms.constants(
        spec["algorithm"], known, setting, factors, spec["variants"], spec["constants"]
    )


def _restart(spec: dict[str, Any], problem: Problem) -> int | None:
    """Every how many episodes a learner starts afresh."""
    constant = algorithms.fact(spec["algorithm"], "RESTARTS")
    return None if constant is None else int(getattr(constants_of(spec, problem), constant))


def _summary(folder: Path, experiment: str, words: dict[str, str]) -> dict[str, Any]:
    """Means over the last fifth with their intervals."""
    name = layout.table("summary.csv", experiment)
    rows = []
    for row in tables.load(folder / name).to_dict("records"):
        limit, cost = (
            row["horizon"] - row["rho"],
            [row["horizon"] - row[f"last_utility{end}"] for end in _REVERSED],
        )
        rows.append(
            {
                "case": _in_words_of_row(row),
                "learner": title(row["algorithm"]),
                "constants": words[row["learner"]],
                "reward": interval(row[f"last_value{end}"] for end in _ENDS),
                "cost": interval(cost),
                "over": cost[1] > limit,
                "rest": [
                    interval(row[f"last_{key}{end}"] for end in _ENDS)
                    for key in ("regret", "violation", "gap")
                ],
                "limit": f"{limit:g}",
            }
        )
    return {"experiment": experiment, "rows": rows, "file": name}


def _in_words_of_row(row: dict[str, Any]) -> str:
    return ", ".join(
        [
            *(row[key] for key in ("reading", "budget") if row[key] != "default"),
            f"K = {row['episodes']:,}",
        ]
    )


_ENDS, _REVERSED = ("", "_low", "_high"), ("", "_high", "_low")
