"""Is there a b~ that bounds every frame's local budget and has (number of frames) b~ <= B?

    b~ >= B^(T) for all T,      K^(1-alpha) B^c b~ <= B      <=>      max_T B^(T) <= B/(K^0.4 B^(2/3)) = B^(1/3) K^-0.4

``unevenness`` is max_T B^(T) K^0.4 B^(2/3)/B: at most 1 where there is one. As the local budgets add up to B, or to a
little less where a frame's last step is not its own, this is so for drift that is spread evenly over the frames, and
for no other. A single change of size B in all has an unevenness of K^0.4 B^(2/3), the number of frames.

Two readings of B^(T): the steps between episodes of the frame ("inside"), which is what the lemma on drift needs, or,
as printed, also the step into the next frame ("printed"). L = floor(K^0.6/B^(2/3)), and B counts as at least 1.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from nscmdp import budget
from nscmdp.cmdp import Array
from nscmdp.drift import DriftingCMDP

READINGS = ("inside", "printed")


def frame_length(K: int, B: float) -> float:
    """K^alpha / B^c"""
    return K**0.6 / max(B, 1.0) ** (2 / 3)


def local_budgets(env: DriftingCMDP, reading: str) -> Array:
    """B^(T) of every frame."""
    K = env.episodes
    L = int(min(max(frame_length(K, budget.variation(env).total), 1), K))
    if reading == "inside":
        return budget.frame_variations(env, L).sum(axis=1)
    ends = np.minimum(np.arange(1, K + L, L), K)
    return budget.between(env, ends).sum(axis=1)


def unevenness(env: DriftingCMDP, reading: str = "inside") -> float:
    """At most 1 where both conditions on b~ can be met; nan where nothing drifts."""
    B, K = budget.variation(env).total, env.episodes
    return float(local_budgets(env, reading).max() * K / frame_length(K, B) / B) if B > 0 else float("nan")


def has_btilde(parts: Sequence[Fraction], total: Fraction) -> bool:
    """Some b~ bounds all parts and has len(parts) b~ <= total; the largest part is the least b~ there can be."""
    return len(parts) * max(parts) <= total


def spreads(total: int, frames: int) -> Iterator[tuple[int, ...]]:
    """All ways to share out ``total`` units of drift among frames."""
    if frames == 1:
        yield (total,)
        return
    for first in range(total + 1):
        yield from ((first, *rest) for rest in spreads(total - first, frames - 1))


def enumerated(total: int, frames: int) -> tuple[int, int, bool]:
    """How many spreads have a b~, of how many; and are these the even ones?"""
    found = [(parts, has_btilde([Fraction(one) for one in parts], Fraction(total))) for parts in spreads(total, frames)]
    agrees = all(holds == (len(set(parts)) == 1) for parts, holds in found)
    return sum(holds for _, holds in found), len(found), agrees


def rows_of(label: str, env: DriftingCMDP, most: int = 60) -> list[dict[str, Any]]:
    """The local budgets along a run, each as a multiple of the even share, thinned to the largest of each group."""
    parts = local_budgets(env, "inside")
    share = budget.variation(env).total * frame_length(env.episodes, budget.variation(env).total) / env.episodes
    groups = np.array_split(np.arange(len(parts)), min(most, len(parts)))
    return [
        {
            "environment": label,
            "share_of_run": float(group[0] / len(parts)),
            "times_even": float(parts[group].max() / share),
        }
        for group in groups
    ]
