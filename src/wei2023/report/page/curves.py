"""Learning curves of the paper's simulation, for every learner, protocol, draw of the environment
and seed.

What the browser gets are means over blocks of episodes, as many as a screen can show, of exact
expectations: V_k and the cost H - W_k of the policies played, the Lagrangian gap, and the dual
variable. Regret and violation follow from these, as V*_k and the limit are there too.
"""

import base64
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from nscmdp import algorithms, files, metrics
from nscmdp.algorithms import title
from nscmdp.cmdp import Array
from nscmdp.problem import Problem
from nscmdp.suite import optima
from wei2023.report.tables import Table, escaped, interval, made
from wei2023.study import layout, protocols
from wei2023.study.cases import DEFAULT
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
ENDS, REVERSED = ("", "_low", "_high"), ("", "_high", "_low")


def context(plan: Plan, folder: Path) -> dict[str, Any] | None:
    """Return what there is to choose from, and the numbers behind it."""
    if plan.config.protocols is None:
        return None
    learners = [one for name in plan.simulations for one in plan.experiment(name).all_learners]
    words = protocols.called(plan.config.protocols)
    drawn = {figure.name for figures in plan.notebooks.values() for figure in figures}
    return {
        "measures": MEASURES,
        "cases": [case for name in plan.simulations for case in _cases(folder, name)],
        "constants": {_key(text): text for text in (words[one.name] for one in learners)},
        "learners": {one.algorithm: title(one.algorithm) for one in learners},
        "static": "grid_world" in drawn,
        "summaries": [_summary(folder, name, words) for name in plan.simulations],
    }


def _cases(folder: Path, experiment: str) -> list[dict[str, Any]]:
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


def _in_words(case: dict[str, Any]) -> str:
    """Return K, and the draw of the environment."""
    draw = [case[key] for key in ("reading", "budget") if case[key] != DEFAULT]
    return ", ".join([f"K = {case['episodes']:,}", *draw])


def _key(words: str) -> str:
    """Return a choice of constants as an address can have it."""
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")


def _summary(folder: Path, experiment: str, words: dict[str, str]) -> Table:
    """Return means over the last fifth with their intervals."""
    file = layout.table("summary.csv", experiment)

    def cost(row: dict[str, Any]) -> str:
        values = [metrics.cost(row["horizon"], row[f"last_utility{end}"]) for end in REVERSED]
        return ("↑ " if values[1] > metrics.cost(row["horizon"], row["rho"]) else "") + interval(
            values
        )

    def mean(name: str) -> Any:
        return lambda row: interval([row[f"last_{name}{end}"] for end in ENDS])

    return made(
        experiment,
        tables.load(folder / file).to_dict("records"),
        {
            "case": lambda row: escaped(_in_words(row)),
            "learner": lambda row: title(row["algorithm"]),
            "constants": lambda row: escaped(words[row["learner"]]),
            "reward": mean("value"),
            "cost": cost,
            "limit": lambda row: f"{row['horizon'] - row['rho']:g}",
            **{name: mean(name) for name in ("regret", "violation", "gap")},
        },
        files=[file],
    )


def data(plan: Plan, folder: Path, experiment: str) -> list[dict[str, Any]]:
    """Return the curves of every case of an experiment, in the order of :func:`context`."""
    exact, facts = files.read(folder / layout.table("exact.parquet", experiment))
    curves = tables.load(folder / layout.table("curves.parquet", experiment))
    assert plan.config.protocols is not None
    words = protocols.called(plan.config.protocols)
    return [
        _of_case(case, facts["learners"], words, _in(exact.to_pandas(), case), _in(curves, case))
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
    horizon, best = first["horizon"], exact[exact["learner"] == first["learner"]]
    seeds = sorted(int(seed) for seed in exact["seed"].unique())
    problem, blocks = Problem.of(optima.environment(case)), _Blocks(best)
    shown = []
    for name, mine in exact.groupby("learner", sort=False):
        spec = learners[str(name)]
        duals = curves[curves["learner"] == name].pivot(
            index="seed", columns="episode", values="dual"
        )
        shown.append(
            {
                "name": str(name),
                "algorithm": spec["algorithm"],
                "setting": _key(words[str(name)]),
                "restart": _restart(spec, problem),
                "reward": _packed(blocks.means(mine, "value")),
                "cost": _packed(horizon - blocks.means(mine, "utility_value")),
                "gap": _packed(blocks.means(mine, "gap")),
                "dual": _packed(blocks.ends(duals.to_numpy())),
            }
        )
    return {
        "episodes": case["episodes"],
        "limit": float(metrics.cost(horizon, first["rho"])),
        "seeds": seeds,
        "t": float(stats.t.ppf(0.975, len(seeds) - 1)) if len(seeds) > 1 else 0.0,
        "ends": np.cumsum(blocks.length).tolist(),
        "optimum": {
            "reward": _packed(blocks.means(best, "optimal_value")),
            "cost": _packed(horizon - blocks.means(best, "optimal_utility")),
        },
        "learners": shown,
    }


class _Blocks:
    """Stretches of a run with equally many evaluated episodes, for all its learners and seeds."""

    def __init__(self, runs: pd.DataFrame) -> None:
        weight = runs[runs["seed"] == runs["seed"].iloc[0]]["weight"].to_numpy()
        number = min(BLOCKS, len(weight))
        self.of = np.arange(len(weight)) * number // len(weight)
        self.length = np.bincount(self.of, weight).astype(int)

    def means(self, runs: pd.DataFrame, column: str) -> Array:
        """Return (seeds, blocks)."""
        by_seed = runs.sort_values(["seed", "episode"]).groupby("seed")
        sums = [
            np.bincount(self.of, mine[column].to_numpy() * mine["weight"].to_numpy())
            for _, mine in by_seed
        ]
        return np.array(sums) / self.length

    def ends(self, windows: Array) -> Array:
        """Return (seeds, blocks): the value of the window that ends a block."""
        blocks, number = len(self.length), windows.shape[1]
        at = np.arange(1, blocks + 1) * number // blocks - 1
        return windows[:, at] if number >= blocks else windows


def _packed(values: Array) -> dict[str, Any] | None:
    """Return sixteen bits for each number between the least and the largest; None where there are
    no numbers.
    """
    if np.isnan(values).any():
        return None
    low, high = float(values.min()), float(values.max())
    step = (high - low) / 65535 or 1.0
    codes = np.rint((values - low) / step).astype("<u2")
    return {"low": low, "step": step, "codes": base64.b64encode(codes.tobytes()).decode()}


def _restart(spec: dict[str, Any], problem: Problem) -> int | None:
    """Return every how many episodes a learner of a table starts afresh."""
    restarts = algorithms.fact(spec["algorithm"], "RESTARTS")
    if restarts is None:
        return None
    setting = "scaled" if spec["setting"] == "tuned" else spec["setting"]
    known = problem._replace(assumed_budget=spec["assumed_budget"], assumed_for=spec["assumed_for"])
    factors = spec.get("factors") if setting == "scaled" else None
    given = (setting, factors, spec["variants"], spec["constants"])
    constants = algorithms.constants(spec["algorithm"], known, *given)
    return int(getattr(constants, restarts))
