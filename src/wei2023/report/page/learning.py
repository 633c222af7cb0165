"""What each learner's policy does on the map, in some episodes of its first run, beside the optimum
of that episode.

What the browser gets is rounded to percent, and leaves out cells that hardly any episode visits.
"""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from nscmdp import metrics
from nscmdp.algorithms import title
from nscmdp.drift import DriftingCMDP
from wei2023.report.tables import Table, escaped
from wei2023.study import layout, protocols
from wei2023.study.cases import DEFAULT
from wei2023.study.config import TUNED
from wei2023.study.plan import Plan
from wei2023.study.protocols import FIRST
from wei2023.verdicts import learning, tables
from wei2023.verdicts.learning import OPTIMUM

SHOWN = 0.005  # the least probability of a visit for a cell to be drawn
BEST = "The constrained optimum"


def context(plan: Plan, folder: Path) -> dict[str, Any] | None:
    """Return the maps to choose from, and the tables that are there without a script."""
    if not plan.watched:
        return None
    texts = {name: _map_in_words(plan, name) for name in plan.watched}
    often = Counter(texts.values())
    maps = [
        {
            "experiment": name,
            "text": texts[name] + (f" ({name})" if often[texts[name]] > 1 else ""),
            "script": script,
        }
        for script, (section, name) in plan.scripts.items()
        if section == "learning"
    ]
    return {
        "maps": maps,
        "tables": [_in_numbers(plan, folder, name, text) for name, text in texts.items()],
    }


def _map_in_words(plan: Plan, experiment: str) -> str:
    case = plan.watched_case(experiment)
    assert case.env.picture is not None
    size = " x ".join(str(length - 2) for length in case.env.picture.shape)  # walls around it
    words = [one for one in (case.reading, case.budget) if one != DEFAULT]
    return ", ".join([size, f"K = {case.episodes:,}", *words])


def _in_numbers(plan: Plan, folder: Path, experiment: str, text: str) -> Table:
    """Return reward and cost in the first of the episodes, one in the middle, and the last."""
    file, env = layout.table("learning.csv", experiment), plan.watched_case(experiment).env
    episodes, limit = plan.watched_episodes(experiment), _limit(env)
    middle = min(episodes, key=lambda k: abs(2 * k - env.episodes))
    shown = sorted({episodes[0], middle, episodes[-1]})
    found, texts = tables.load(folder / file), _texts(plan, experiment)
    best = found.drop_duplicates("episode")
    policies = {BEST: best.assign(reward=best["optimal_reward"], cost=best["optimal_cost"])}
    policies |= {texts[str(name)]: mine for name, mine in found.groupby("learner", sort=False)}
    rows = []
    for name, mine in policies.items():
        row = [escaped(name)]
        for k in shown:
            ((reward, cost),) = mine.loc[mine["episode"] == k, ["reward", "cost"]].to_numpy()
            row += [f"{reward:.2f}", ("↑ " if cost > limit + 0.005 else "") + f"{cost:.2f}"]
        rows.append(row)
    columns = [f"episode {k:,} / {what}" for k in shown for what in ("reward", "cost")]
    seed = plan.experiment(experiment).seed_list[0]
    return Table(
        f"{text}: expected reward and cost of an episode, limit {limit:g}",
        ["policy", *columns],
        rows,
        f"Seed {seed}, the first that is reported. All episodes:",
        [file],
    )


def _limit(env: DriftingCMDP) -> float:
    return round(metrics.cost(env.H, env.rho), 9)


def _texts(plan: Plan, experiment: str) -> dict[str, str]:
    """Return what learners are called: algorithm, and the protocol or the constants."""
    words = protocols.called(plan.config.protocols) if plan.config.protocols else {}
    learners = plan.experiment(experiment).all_learners
    return {OPTIMUM: BEST} | {
        one.name: f"{title(one.algorithm)}, {words.get(one.name, one.label or one.setting)}"
        for one in learners
    }


def data(plan: Plan, folder: Path, experiment: str) -> dict[str, Any]:
    """Return maps, episodes, and what every learner and the optimum do in each."""
    case, episodes = plan.watched_case(experiment), plan.watched_episodes(experiment)
    drawn = ["\n".join(map("".join, grid)) for grid in learning.maps(case, episodes)]
    maps, texts = list(dict.fromkeys(drawn)), _texts(plan, experiment)
    found = tables.load(folder / layout.table("learning.parquet", experiment))
    frames: dict[str, list[dict[str, Any]]] = {str(name): [] for name in found["learner"]}
    for _, row in found.iterrows():
        frames[row["learner"]].append(_frame(row, case.env.H))
    return {
        "episodes": episodes,
        "limit": _limit(case.env),
        "maps": maps,
        "map": [maps.index(one) for one in drawn],
        "first": _default(plan, experiment, {*frames}),
        "learners": [
            {"name": name, "text": texts[name], "frames": mine} for name, mine in frames.items()
        ],
    }


def _default(plan: Plan, experiment: str, there: set[str]) -> str:
    """Return Algorithm 1, tuned where it is."""
    learners = [one for one in plan.experiment(experiment).all_learners if one.name in there]
    learners.sort(key=lambda one: (one.algorithm == FIRST, one.setting == TUNED), reverse=True)
    return learners[0].name if learners else OPTIMUM


def _frame(row: pd.Series, horizon: int) -> dict[str, Any]:
    visits = row["visits"]
    cells = np.flatnonzero(visits >= SHOWN)
    arrows = row["arrows"].reshape(len(visits), -1)[cells].ravel()
    visited, moved = (np.rint(100 * shares).astype(int) for shares in (visits[cells], arrows))
    return {
        "reward": round(row["value"], 4),
        "cost": round(metrics.cost(horizon, row["utility_value"]), 4),
        "cells": cells.tolist(),
        "visits": np.maximum(visited, 1).tolist(),
        "arrows": moved.tolist(),
    }
