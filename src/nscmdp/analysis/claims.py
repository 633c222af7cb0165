"""Verdicts on the paper's claims, computed from the tables.

C20, the paper's simulation: "Algorithm 1 quickly learns a well-performing policy and keeps the limit, while Triple-Q
and RestartQ-UCB break it." In parts, with thresholds fixed before any run, from the exact V_k and W_k of one seed:

    Lam = sum (V - V_uniform) / sum (V* - V_uniform)  over a stretch of episodes: 0 is the uniform policy, 1 the optimum
    C20a  well-performing   Lam >= 0.8 over the last fifth
    C20b  quickly           Lam over K/50 episodes reaches 0.8 by K/4 and stays above 0.7 from then on
    C20c  keeps the limit   mean cost <= limit over all episodes, <= 1.01 limit in each tenth from the third on
    C20d  Triple-Q breaks it          mean cost > 1.01 limit over the last fifth
    C20e  RestartQ-UCB breaks it      likewise

A part holds where at least nine in ten seeds agree, does not where at most one in ten does, and is mixed in between.
All of it is void where the constraint does not bind: where the mean multiplier of the optimum is below 0.05. C20 is all
parts under one choice of constants and one reading of the paper's sentences.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from nscmdp import metrics
from nscmdp.analysis import tables
from nscmdp.runs import files
from nscmdp.study import layout
from nscmdp.study.plan import Plan

CASE = ["experiment", "reading", "budget", "episodes"]
LEARNT, KEPT_LEARNING, UNLEARNT = 0.8, 0.7, 0.2
SLACK = 1.01
BINDING = 0.05
AGREE = 0.9
HOLDS, FAILS, MIXED, VOID = "holds", "does not hold", "mixed", "void"


class Seed(NamedTuple):
    """What a part is judged by: one learner, one seed."""

    share: np.ndarray  # k/K of the evaluated episodes
    weight: np.ndarray
    gain: np.ndarray  # V - V_uniform
    room: np.ndarray  # V* - V_uniform
    cost: np.ndarray
    limit: float

    def lam(self, after: float = 0.0) -> float:
        late = self.share > after
        return float((self.weight * self.gain)[late].sum() / (self.weight * self.room)[late].sum())

    def mean_cost(self, after: float = 0.0, until: float = 1.0) -> float:
        within = (self.share > after) & (self.share <= until)
        return metrics.mean(self.cost[within], self.weight[within])


def performs_well(seed: Seed) -> bool:
    return seed.lam(after=0.8) >= LEARNT


def learns_quickly(seed: Seed) -> bool:
    """The moving Lam, at the end of each window."""
    width = max(1, round(len(seed.share) / 50))
    window = np.ones(width)
    moving = np.convolve(seed.weight * seed.gain, window, "valid") / np.convolve(
        seed.weight * seed.room, window, "valid"
    )
    reached = np.flatnonzero(moving >= LEARNT)
    in_time = len(reached) > 0 and seed.share[reached[0] + width - 1] <= 0.25
    return bool(in_time and (moving[reached[0] :] >= KEPT_LEARNING).all())


def keeps_the_limit(seed: Seed) -> bool:
    tenths = [seed.mean_cost(i / 10, (i + 1) / 10) for i in range(2, 10)]
    return seed.mean_cost() <= seed.limit and max(tenths) <= SLACK * seed.limit


def breaks_the_limit(seed: Seed) -> bool:
    return seed.mean_cost(after=0.8) > SLACK * seed.limit


class Part(NamedTuple):
    name: str
    says: str
    algorithm: str
    judge: Callable[[Seed], bool]


PARTS = (
    Part("C20a", "Algorithm 1 performs well", "nonstationary_triple_q", performs_well),
    Part("C20b", "Algorithm 1 learns quickly", "nonstationary_triple_q", learns_quickly),
    Part("C20c", "Algorithm 1 keeps the limit", "nonstationary_triple_q", keeps_the_limit),
    Part("C20d", "Triple-Q breaks the limit", "triple_q", breaks_the_limit),
    Part("C20e", "RestartQ-UCB breaks the limit", "restart_q_ucb", breaks_the_limit),
)


def verdict(agree: int, seeds: int) -> str:
    if agree >= AGREE * seeds:
        return HOLDS
    return FAILS if agree <= (1 - AGREE) * seeds + 1e-9 else MIXED


def clopper_pearson(agree: int, seeds: int) -> tuple[float, float]:
    interval = stats.binomtest(agree, seeds).proportion_ci(0.95, method="exact")
    return float(interval.low), float(interval.high)


def together(verdicts: list[str]) -> str:
    """Of a claim that asks for all of its parts."""
    for answer in (VOID, FAILS, MIXED):
        if answer in verdicts:
            return answer
    return HOLDS


def seeds_of(exact: pd.DataFrame) -> list[Seed]:
    return [
        Seed(
            (one["episode"] / one["episodes"]).to_numpy(),
            one["weight"].to_numpy(),
            (one["value"] - one["uniform_value"]).to_numpy(),
            (one["optimal_value"] - one["uniform_value"]).to_numpy(),
            (one["horizon"] - one["utility_value"]).to_numpy(),
            float(one["horizon"].iloc[0] - one["rho"].iloc[0]),
        )
        for _, one in exact.groupby("seed", sort=True)
    ]


def judge(exact: pd.DataFrame) -> list[dict[str, Any]]:
    """A row for every part and choice of constants, from the exact table of one experiment in one environment."""
    multiplier = metrics.mean(exact["optimal_multiplier"], exact["weight"])
    rows = []
    for setting, chosen in exact.groupby("setting", sort=False):
        for part in PARTS:
            seeds = seeds_of(chosen[chosen["algorithm"] == part.algorithm])
            if not seeds:
                continue
            agree = sum(part.judge(seed) for seed in seeds)
            low, high = clopper_pearson(agree, len(seeds))
            learnt = float(np.mean([seed.lam(after=0.8) for seed in seeds]))
            rows.append(
                {
                    "setting": setting,
                    "part": part.name,
                    "verdict": VOID if multiplier < BINDING else verdict(agree, len(seeds)),
                    "agree": agree,
                    "seeds": len(seeds),
                    "low": low,
                    "high": high,
                    "without_learning": part.judge is breaks_the_limit and learnt < UNLEARNT,
                    "lam": learnt,
                    "cost": float(np.mean([seed.mean_cost(after=0.8) for seed in seeds])),
                    "limit": seeds[0].limit,
                    "multiplier": multiplier,
                }
            )
    return rows


def reading_of(options: dict[str, Any]) -> dict[str, str]:
    """How an environment reads the paper's ambiguous sentences, and what it adds to the paper."""
    return {
        "map": options["map"],
        "cost drift": "accumulates" if options["cost_drift"] else "off",
        "location": options["location"],
        "switch": options["switch"],
    }


def simulation(folder: Path, experiments: list[str]) -> pd.DataFrame:
    """C20 in every environment: one row per part, reading and choice of constants."""
    frames = []
    for name in experiments:
        file = folder / layout.table("exact.parquet", name)
        exact = tables.load(file)
        for case in files.read(file)[1]["cases"]:
            keys = {key: case[key] for key in CASE[1:]}
            here = exact[np.logical_and.reduce([exact[key] == value for key, value in keys.items()])]
            frames.append(pd.DataFrame(judge(here)).assign(experiment=name, **keys, **reading_of(case["options"])))
    return pd.concat(frames, ignore_index=True)


def combined(cells: pd.DataFrame) -> pd.DataFrame:
    """C20 as a whole, for every environment and choice of constants."""
    keys = [*CASE, "setting"]
    complete = cells.groupby(keys, sort=False).filter(lambda one: len(one) == len(PARTS))
    grouped = complete.groupby(keys, sort=False)
    return grouped["verdict"].agg(lambda parts: together(list(parts))).reset_index()


def write(plan: Plan, folder: Path) -> None:
    """claims.json: every verdict with what it rests on."""
    cells = simulation(folder, plan.simulations)
    whole = combined(cells)
    counts = whole["verdict"].value_counts()
    judged = len(whole) - int(counts.get(VOID, 0))
    claims = {
        "C20": {
            "claim": "Algorithm 1 quickly learns a well-performing policy and keeps the limit, "
            "while Triple-Q and RestartQ-UCB break it",
            "holds_in": int(counts.get(HOLDS, 0)),
            "mixed_in": int(counts.get(MIXED, 0)),
            "judged": judged,
            "void": int(counts.get(VOID, 0)),
            "parts": {part.name: part.says for part in PARTS},
            "whole": whole.to_dict("records"),
            "cells": cells.to_dict("records"),
        }
    }
    files.write_text(folder / layout.CLAIMS, json.dumps(claims, indent=1) + "\n")
