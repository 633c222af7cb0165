"""C22, the assumption on local budgets: which drift does it exclude?

Section 4 asks for a b~ with

    b~ >= B^(T) for every frame T,      (number of frames) b~ <= B.

Section 6 lets an upper bound B' be the input. Frames move with it: they have L = K^(3/5)/B'^(2/3)
episodes, and there is such a b~ exactly where

    max_T B^(T) <= B'/(K^(2/5) B'^(2/3)) = B'^(1/3) K^(-2/5)    <=>    kappa B <= B',

with the unevenness kappa = max_T B^(T) over the even share, B/(number of frames). So

* B' = B serves drift that is even over frames, and, as local budgets add up to B, no other;
* drift of at most D in any episode has kappa B <= K D: B' = K D serves it, whatever the frames are.
  As a regret of order B'^(1/3) K^(4/5) has to be below K, B' is to be below K^(3/5);
* a single change of size J needs J <= B'^(1/3) K^(-2/5), B' >= J^3 K^(6/5). With B' <= K^(3/5) none
  larger than K^(-1/5) is allowed, so no switch of a fixed size, though the abstract lets models
  "vary arbitrarily".

B^(T) contains the step into the next frame, as in the paper; a switch just there would do no harm.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from nscmdp import budget, environments
from nscmdp.drift import DriftingCMDP
from wei2023.proofs import bounds
from wei2023.proofs.findings import ASSUMPTION, Finding, Given, Notice, check, verdict, within

SMALL: dict[str, Any] = {"map": "6x6", "horizon": 15, "limit": 2.0}
SWITCH: dict[str, Any] = {"switch": "goal", "switch_at": (0.5,)}
OWN, GROWTH = "grid world 18x18", "menu, 4 legs"
STUDY: dict[str, tuple[str, int, dict[str, Any]]] = {  # the environments that are run, and their K
    OWN: ("grid_world", 80_000, {}),
    f"{OWN}, current location": ("grid_world", 80_000, {"location": "current"}),
    f"{OWN}, success falls": ("grid_world", 80_000, {"success_drift": -0.5}),
    f"{OWN}, goal switches": ("grid_world", 80_000, SWITCH),
    "grid world 6x6": ("grid_world", 320_000, SMALL),
    "grid world 6x6, cost rests": ("grid_world", 320_000, {**SMALL, "cost_drift": 0.0}),
    "grid world 6x6, goal switches": ("grid_world", 320_000, {**SMALL, **SWITCH}),
    "menu, 1 leg": ("menu", 262_144, {"legs": 1}),
    GROWTH: ("menu", 1_048_576, {"legs": 4}),
    "menu, 100 legs": ("menu", 262_144, {"legs": 100}),
    "random tabular": ("random_tabular", 65_536, {}),
}


def study(label: str) -> DriftingCMDP:
    name, K, options = STUDY[label]
    return environments.make(name, K, **options)


def needed(env: DriftingCMDP, assumed: float) -> float:
    """kappa B, with the frames of the input B' = ``assumed``"""
    K = env.episodes
    L = int(min(max(K**0.6 / assumed ** (2 / 3), 1), K))
    ends = np.minimum(np.arange(1, K + L, L), K)
    return float(budget.between(env, ends).sum(axis=1).max() * K**0.4 * assumed ** (2 / 3))


def least_input(env: DriftingCMDP) -> float:
    """The least B' >= max(B, 1) that meets the assumption."""
    low = max(budget.variation(env).total, 1.0)
    if needed(env, low) <= low:
        return low
    high = low**3 * env.episodes**1.2  # serves even one step that is all of B
    logs = np.log([low, high])
    return float(np.exp(bounds.least(lambda log: needed(env, np.exp(log)) <= np.exp(log), *logs)))


def has_btilde(parts: Sequence[Fraction | int], total: Fraction | int) -> bool:
    """Some b~ bounds all parts and has len(parts) b~ <= total; their largest is the least b~."""
    return len(parts) * max(parts) <= total


def framed(steps: Sequence[Fraction], n: int, m: int) -> list[Fraction]:
    """B^(T), with K = n^10 and B' = n^(3m), so that L = n^(6-2m)"""
    L = n ** (6 - 2 * m)
    return [sum(steps[i : i + L], Fraction(0)) for i in range(0, n**10, L)]


def characterised(rng: np.random.Generator, n: int = 2) -> bool:
    """The three statements of the module, in whole fractions, for frames of 64, 16, 4 and 1."""
    spreads = [parts for parts in product(range(9), repeat=4) if sum(parts) == 8]
    found = [[parts for parts in spreads if has_btilde(parts, 8)] == [(2, 2, 2, 2)]]
    for m in range(4):
        assumed, allowed = Fraction(n ** (3 * m)), Fraction(n) ** (m - 4)
        units = [int(one) for one in rng.integers(0, 4, n**10)]
        slow = [assumed / n**10 * Fraction(one, max(units)) for one in units]
        found.append(has_btilde(framed(slow, n, m), assumed))
        at = int(rng.integers(n**10))
        for size, served in ((allowed, True), (allowed * Fraction(1001, 1000), False)):
            switch = [size if k == at else Fraction(0) for k in range(n**10)]
            found.append(has_btilde(framed(switch, n, m), assumed) == served)
    return all(found)


@check("C22")
def even_drift(given: Given) -> Finding:
    rows: list[dict[str, Any]] = []
    for label in STUDY:
        env = study(label)
        B = budget.variation(env).total
        inputs = {"least_over_B": least_input(env) / B, "limit_over_B": env.episodes**0.6 / B}
        rows.append({"environment": label, "unevenness": needed(env, max(B, 1.0)) / B, **inputs})
    own = next(row for row in rows if row["environment"] == OWN)
    excluded = [row for row in rows if row["least_over_B"] > row["limit_over_B"]]
    admitted = [row["least_over_B"] for row in rows if row not in excluded]
    serves = characterised(given.rng("C22")) and own not in excluded
    return Finding(
        verdict(refuted=bool(excluded), repair=ASSUMPTION if serves else None),
        {
            "kappa of the paper's own simulation, B' = B": own["unevenness"],
            "B'/B there with which the regret bound is K": own["limit_over_B"],
            **{f"least B'/B, {row['environment']}": row["least_over_B"] for row in excluded},
        },
        Notice("B for kappa B in the paper's simulation, a factor of", own["unevenness"]),
        **within(own["least_over_B"], own["limit_over_B"], "orders of magnitude"),
        samples=len(rows),
        rows=rows,
        says=own | {"admitted": len(admitted), "all": len(rows), "most": max(admitted, default=1)},
    )
