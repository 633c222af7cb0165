"""Verdicts by cell: a part of the claim, in one environment, under one choice of constants."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from nscmdp import algorithms, metrics
from nscmdp.analysis import tables
from nscmdp.analysis.claims.simulation.parts import (
    ASKS,
    FAILS,
    HOLDS,
    PARTS,
    VOID,
    Part,
    Seed,
    breaks_the_limit,
    clopper_pearson,
    mean_run,
    seeds_of,
    together,
    verdict,
)
from nscmdp.analysis.claims.simulation.rules import At, Rules
from nscmdp.runs import files
from nscmdp.study import layout

CASE = ["experiment", "reading", "budget", "episodes"]
WORDS = ["map", "cost drift", "location", "switch"]  # how an environment reads the paper's sentences


def judge(exact: pd.DataFrame, rules: Rules) -> list[dict[str, Any]]:
    """A row for every part, from the exact table of learners that are judged together in one environment."""
    multiplier = metrics.mean(exact["optimal_multiplier"], exact["weight"])
    runs = dict(list(exact.groupby("algorithm", sort=False)))
    seeds = {name: seeds_of(mine) for name, mine in runs.items()}
    return [
        {
            **_cell(part, seeds[part.algorithm], multiplier, rules),
            "unconstrained_cost": _unconstrained_cost(part, runs[part.algorithm]),
        }
        for part in PARTS
        if part.algorithm in seeds
    ]


def _cell(part: Part, seeds: list[Seed], multiplier: float, rules: Rules) -> dict[str, Any]:
    agree = _agree(part, seeds, rules.default)
    low, high = clopper_pearson(agree, len(seeds))
    lam = float(np.mean([seed.lam(after=tables.LAST) for seed in seeds]))
    kept = bool(np.mean([seed.mean_cost() for seed in seeds]) <= seeds[0].limit)
    shown = part.judge(mean_run(seeds[: rules.trials]), rules.default)
    void = multiplier < rules.binding
    return {
        "part": part.name,
        "algorithm": part.algorithm,
        "verdict": VOID if void else verdict(agree, len(seeds), rules.default.agreement),
        "agree": agree,
        "seeds": len(seeds),
        "low": low,
        "high": high,
        "mean_of_trials": VOID if void else HOLDS if shown else FAILS,
        "moved": _moved(part, seeds, rules, void),
        "without_learning": part.judge is breaks_the_limit and lam < rules.unlearnt,
        "kept": kept,
        "kept_without_learning": kept and lam < rules.unlearnt,
        "lam": lam,
        "cost": float(np.mean([seed.mean_cost(after=tables.LAST) for seed in seeds])),
        "limit": seeds[0].limit,
        "multiplier": multiplier,
    }


def _agree(part: Part, seeds: list[Seed], at: At) -> int:
    return sum(part.judge(seed, at) for seed in seeds)


def _moved(part: Part, seeds: list[Seed], rules: Rules, void: bool) -> dict[str, list[str]]:
    """The verdict for every value in the range of each threshold that the part has."""
    return {
        name: [VOID if void else verdict(_agree(part, seeds, at), len(seeds), at.agreement) for at in rules.moved(name)]
        for name in (*part.thresholds, "agreement")
    }


def _unconstrained_cost(part: Part, runs: pd.DataFrame) -> float | None:
    """What the best policy without a constraint costs, beside a learner that ignores the constraint."""
    if algorithms.constrained(part.algorithm) or "unconstrained_cost" not in runs:
        return None
    return metrics.mean(runs["unconstrained_cost"], runs["weight"])


def reading_of(options: dict[str, Any]) -> dict[str, str]:
    """How an environment reads the paper's ambiguous sentences, and what it adds to the paper."""
    return {
        "map": options["map"],
        "cost drift": "accumulates" if options["cost_drift"] else "off",
        "location": options["location"],
        "switch": options["switch"],
    }


def read(folder: Path, experiment: str) -> tuple[pd.DataFrame, dict[str, Any]]:
    """The exact values of an experiment, and what they were made from: its cases and learners."""
    table, facts = files.read(folder / layout.table("exact.parquet", experiment))
    return table.to_pandas(), facts


def within(exact: pd.DataFrame, case: dict[str, Any]) -> pd.DataFrame:
    return exact[np.logical_and.reduce([exact[key] == case[key] for key in CASE[1:]])]


def simulation(folder: Path, experiments: list[str], rules: Rules) -> pd.DataFrame:
    """C20 in every environment: one row per part, reading and choice of constants."""
    rows = []
    for name in experiments:
        exact, facts = read(folder, name)
        for case in facts["cases"]:
            place = {"experiment": name, **{key: case[key] for key in CASE[1:]}, **reading_of(case["options"])}
            for setting, chosen in within(exact, case).groupby("setting", sort=False):
                rows += [{**place, "setting": setting, **row} for row in judge(chosen, rules)]
    cells = pd.DataFrame(rows)
    return cells.assign(apart=(cells["setting"] == "literal") & (cells["lam"] < rules.unlearnt))


def combined(cells: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """C20 as a whole, with "quickly" in either reading, for all cells that share ``keys`` and have all parts."""
    rows = []
    named = [*keys, *(word for word in WORDS if word in cells)]
    for _, group in cells.groupby(keys, sort=False):
        found = {row["part"]: row for row in group.to_dict("records")}
        for whole, asked in ASKS.items():
            if {*asked} <= {*found}:
                parts = [found[name] for name in asked]
                rows.append(
                    {
                        **{key: parts[0][key] for key in named},
                        "part": whole,
                        "verdict": together([part["verdict"] for part in parts]),
                        "mean_of_trials": together([part["mean_of_trials"] for part in parts]),
                        "moved": _together_moved(parts),
                        "apart": parts[0]["apart"],
                    }
                )
    return pd.DataFrame(rows, columns=[*named, "part", "verdict", "mean_of_trials", "moved", "apart"])


def _together_moved(parts: list[dict[str, Any]]) -> dict[str, list[str]]:
    """A threshold moves in all parts that have it; the others stay as they are."""
    length = {name: len(verdicts) for part in parts for name, verdicts in part["moved"].items()}
    return {
        name: [together([part["moved"].get(name, [part["verdict"]] * n)[i] for part in parts]) for i in range(n)]
        for name, n in length.items()
    }


def whole_range(row: dict[str, Any]) -> str | None:
    """The verdict, where it is the same for every threshold over its range."""
    found = {one for verdicts in row["moved"].values() for one in verdicts}
    return row["verdict"] if found == {row["verdict"]} else None
