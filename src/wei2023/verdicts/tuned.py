"""What the searches found and what was chosen.

tuned        one row per search: what it kept, its scores on the selection seeds, and the choices that it is
candidates   one row per candidate that was scored on the selection seeds
efforts      one row per search and doubling of its effort: the best by the rule so far
saturation   one row per algorithm and tuning: what the last doubling gained, and how far apart the searches end
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from nscmdp import algorithms
from nscmdp.files import write_csv
from nscmdp.suite import scoring, tuning
from wei2023.runs import integrity, specifications
from wei2023.study import layout
from wei2023.study.plan import Plan
from wei2023.verdicts import thresholds

KEYS = ["tuning", "algorithm", "episodes", "decides"]
# A search is done where doubling gains less, and searches agree where they end closer.
GAINED, APART = 0.05, 0.1


def write(plan: Plan, folder: Path) -> None:
    scored = candidates(plan, folder)
    curves = efforts(scored)
    made = (table(plan, folder), scored, curves, saturation(curves))
    for name, found in zip(layout.TUNED, made, strict=True):
        write_csv(folder / layout.table(name), found)


def table(plan: Plan, folder: Path) -> pd.DataFrame:
    """``decides``: at the number of episodes whose choice is used where factors are chosen once."""
    frames, learnt = [], thresholds.load().unlearnt
    found = integrity.read_all(folder, integrity.tunings(plan))
    for (keys, entries), kept in zip(_entries(plan, folder), found, strict=True):
        chosen = tuning.summary(kept.to_pandas())
        edges = {json.dumps(one["factors"]): " ".join(one["edges"]) for one in entries}
        idle = chosen["feasible"] & (chosen["lam"] < learnt)
        idle &= algorithms.constrained(keys["algorithm"])
        rows = chosen.assign(edges=chosen["factors"].map(edges), only_by_not_learning=idle)
        frames.append(pd.DataFrame(keys, index=rows.index).join(rows))
    return pd.concat(frames, ignore_index=True)


def candidates(plan: Plan, folder: Path) -> pd.DataFrame:
    frames = []
    for keys, entries in _entries(plan, folder):
        rows = pd.DataFrame(entries).drop(columns="edges")
        tried = rows["generation"].clip(lower=1) * plan.effort_of(keys["tuning"])["population"]
        rows = rows.assign(factors=rows["factors"].map(json.dumps), tried=tried)
        frames.append(pd.DataFrame(keys, index=rows.index).join(rows))
    return pd.concat(frames, ignore_index=True)


def efforts(scored: pd.DataFrame) -> pd.DataFrame:
    """From the table of candidates."""
    measured = ["loss", "violation", "violation_bound", "feasible", "lam"]
    best = [
        scoring.ranked(mine[mine["tried"] <= tried]).head(1).assign(tried=tried)
        for _, mine in scored.groupby([*KEYS, "search"], sort=False)
        for tried in sorted(mine["tried"].unique())
    ]
    return pd.concat(best, ignore_index=True)[[*KEYS, "search", "tried", *measured]]


def saturation(curves: pd.DataFrame) -> pd.DataFrame:
    """``gained``: by which share the last doubling lowers the loss, median over searches; ``apart``: the worst end
    above the best one, relative. A doubling that turns an infeasible choice into a feasible one has gained all."""
    rows = []
    for keys, mine in curves.groupby(KEYS, sort=False):
        searches = [one for _, one in mine.sort_values("tried").groupby("search")]
        last = pd.concat([one.tail(1) for one in searches], ignore_index=True)
        before = pd.concat([one.tail(2).head(1) for one in searches], ignore_index=True)
        gains = (1 - last["loss"] / before["loss"]).where(last["feasible"] == before["feasible"], 1)
        feasible = last["feasible"]
        losses = last.loc[feasible | (not feasible.any()), "loss"]
        gained, apart = float(gains.median()), float(losses.max() / losses.min() - 1)
        row = {
            "searches": len(searches),
            "tried": int(mine["tried"].max()),
            "feasible_searches": int(feasible.sum()),
            "gained": gained,
            "apart": apart,
            "done": gained < GAINED,
            "agree": apart <= APART and feasible.nunique() == 1,
        }
        rows.append(dict(zip(KEYS, keys, strict=True)) | row)
    return pd.DataFrame(rows)


def _entries(plan: Plan, folder: Path) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Of every choice: its keys, and the candidates that were scored on the selection seeds.

    These are as recorded, or from the searches of this run.
    """
    for name, algorithm, episodes, _ in plan.tuning_files():
        decides = episodes == plan.tuning(name).episodes
        keys = dict(zip(KEYS, (name, algorithm, episodes, decides), strict=True))
        if plan.recorded:
            yield keys, plan.record(name)[algorithm][str(episodes)]
        else:
            searches = [folder / file for file in plan.searched_by(name, algorithm, episodes)]
            spec = specifications.tuning(plan, name, algorithm, episodes)
            yield keys, tuning.entries(searches, spec)
