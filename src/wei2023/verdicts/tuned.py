"""What the searches found and what was chosen.

tuned        one row per search: what it kept, its scores on the selection seeds, and the choices that it is
candidates   one row per candidate that was scored on the selection seeds
efforts      one row per search and doubling of its effort: the best by the rule so far
saturation   one row per algorithm and tuning: what the last doubling gained, and how far apart the searches end
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from nscmdp import algorithms
from nscmdp.files import write_csv
from nscmdp.suite import scoring, tuning
from wei2023.runs import integrity, specifications
from wei2023.study import layout
from wei2023.study.plan import Plan
from wei2023.verdicts import thresholds

FIRST = ["tuning", "algorithm", "episodes", "decides"]
GAINED, APART = (
    0.05,
    0.1,
)  # a search is done where doubling gains less, and searches agree where they end closer


def table(plan: Plan, folder: Path) -> pd.DataFrame:
    """``decides``: at the number of episodes whose choice is used where factors are chosen once."""
    frames, learnt = [], thresholds.load().unlearnt
    found = integrity.read_all(folder, integrity.tunings(plan))
    for keys, rows in zip(_keys(plan), found, strict=True):
        chosen = tuning.summary(rows.to_pandas())
        edges = {
            json.dumps(entry["factors"]): " ".join(entry["edges"])
            for entry in _entries(plan, folder, *keys[:3])
        }
        unlearnt = chosen["feasible"] & (chosen["lam"] < learnt) & algorithms.constrained(keys[1])
        chosen = chosen.assign(edges=chosen["factors"].map(edges), only_by_not_learning=unlearnt)
        frames.append(chosen.assign(**dict(zip(FIRST, keys, strict=True))))
    return _ordered(frames)


def candidates(plan: Plan, folder: Path) -> pd.DataFrame:
    frames = []
    for keys in _keys(plan):
        entries = pd.DataFrame(_entries(plan, folder, *keys[:3])).drop(columns="edges")
        entries["factors"] = entries["factors"].map(json.dumps)
        tried = entries["generation"].clip(lower=1) * plan.effort_of(keys[0])["population"]
        frames.append(entries.assign(tried=tried, **dict(zip(FIRST, keys, strict=True))))
    return _ordered(frames)


def efforts(scored: pd.DataFrame) -> pd.DataFrame:
    """From the table of candidates."""
    rows = []
    for keys, mine in scored.groupby([*FIRST, "search"], sort=False):
        for tried in sorted(mine["tried"].unique()):
            best = scoring.ranked(mine[mine["tried"] <= tried]).iloc[0]
            found = {
                name: best[name]
                for name in ("loss", "violation", "violation_bound", "feasible", "lam")
            }
            rows.append(
                {**dict(zip([*FIRST, "search"], keys, strict=True)), "tried": tried, **found}
            )
    return pd.DataFrame(rows)


def saturation(curves: pd.DataFrame) -> pd.DataFrame:
    """``gained``: by which share the last doubling lowers the loss, median over searches; ``apart``: the worst end
    above the best one, relative. A doubling that turns an infeasible choice into a feasible one has gained all."""
    rows = []
    for keys, mine in curves.groupby(FIRST, sort=False):
        gains, ends = [], []
        for _, one in mine.sort_values("tried").groupby("search"):
            last, before = one.iloc[-1], one.iloc[max(len(one) - 2, 0)]
            gains.append(
                1 - last["loss"] / before["loss"] if last["feasible"] == before["feasible"] else 1.0
            )
            ends.append((last["loss"], last["feasible"]))
        losses = np.array(
            [loss for loss, feasible in ends if feasible] or [loss for loss, _ in ends]
        )
        gained, apart = float(np.median(gains)), float(losses.max() / losses.min() - 1)
        rows.append(
            {
                **dict(zip(FIRST, keys, strict=True)),
                "searches": len(ends),
                "tried": int(mine["tried"].max()),
                "feasible_searches": sum(feasible for _, feasible in ends),
                "gained": gained,
                "apart": apart,
                "done": gained < GAINED,
                "agree": apart <= APART and len({feasible for _, feasible in ends}) == 1,
            }
        )
    return pd.DataFrame(rows)


def _keys(plan: Plan) -> list[tuple[str, str, int, bool]]:
    return [
        (name, algorithm, episodes, episodes == plan.tuning(name).episodes)
        for name, algorithm, episodes, _ in plan.tuning_files()
    ]


def _entries(
    plan: Plan, folder: Path, name: str, algorithm: str, episodes: int
) -> list[dict[str, Any]]:
    """Every candidate that was scored on the selection seeds: as recorded, or from the searches of this run."""
    if plan.recorded:
        return plan.record(name)[algorithm][str(episodes)]
    searches = [folder / file for file in plan.searched_by(name, algorithm, episodes)]
    return tuning.entries(searches, specifications.tuning(plan, name, algorithm, episodes))


def _ordered(frames: list[pd.DataFrame]) -> pd.DataFrame:
    whole = pd.concat(frames, ignore_index=True)
    return whole[[*FIRST, *whole.columns.drop(FIRST)]]


def write(plan: Plan, folder: Path) -> None:
    scored = candidates(plan, folder)
    curves = efforts(scored)
    made = {
        "tuned": table(plan, folder),
        "candidates": scored,
        "efforts": curves,
        "saturation": saturation(curves),
    }
    for name, found in made.items():
        write_csv(folder / layout.table(f"{name}.csv"), found)
