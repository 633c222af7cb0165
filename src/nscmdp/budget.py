"""Variation budgets by the paper's definitions, exact along a path.

    B_r = sum_{k<K} sum_h max_{x,a} |r_{k+1,h}(x,a) - r_{k,h}(x,a)|,      B_g likewise for the utility,
    B_p = sum_{k<K} sum_h max_{x,a} || P_{k+1,h}(.|x,a) - P_{k,h}(.|x,a) ||_1,      B = B_r + B_g + B_p.

On a leg between two knots every step moves the model by the same fraction of the leg, so a budget is a sum over legs
of (share of the leg walked) x (variation between its two anchors). The local budget of a frame sums over the steps
inside it.

A linear CMDP, P_h(x'|x,a) = <phi(x,a), mu_h(x')>, r_h = <phi, theta^r_h>, g_h = <phi, theta^g_h>, has budgets of its own:

    B_r = sum_{k<K} sum_h || theta^r_{k+1,h} - theta^r_{k,h} ||_2,  B_g likewise,  B_p the same of mu in Frobenius' norm.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from nscmdp.cmdp import Array
from nscmdp.path import Path


class Variation(NamedTuple):
    reward: float
    utility: float
    transition: float

    @property
    def total(self) -> float:
        return self.reward + self.utility + self.transition


def variation(env: Path) -> Variation:
    """B_r, B_g, B_p over all episodes of a path."""
    return local_variation(env, 1, env.episodes)


def local_variation(env: Path, first: int, last: int) -> Variation:
    """B_r, B_g, B_p over the steps between the episodes first..last of one frame."""
    return Variation(*(float(b) for b in between(env, np.array([first, last]))[0]))


def frame_variations(env: Path, frame: int) -> Array:
    """(frames, 3): the local budgets of frames of ``frame`` episodes, the last one perhaps shorter."""
    starts = np.arange(1, env.episodes + 1, frame)
    ends = np.minimum(starts + frame - 1, env.episodes)
    return walked(env, ends) - walked(env, starts)


def between(env: Path, episodes: ArrayLike) -> Array:
    """(n-1, 3): the variation from each of n increasing episodes to the next."""
    return np.diff(walked(env, episodes), axis=0)


def walked(env: Path, episodes: ArrayLike) -> Array:
    """(n, 3): the variation from episode 1 up to each of the given episodes."""
    k = np.asarray(episodes, dtype=float)
    if len(env.knots) == 1:
        return np.zeros((len(k), 3))
    pairs = [(min(i, j), max(i, j)) for i, j in zip(env.route[:-1], env.route[1:], strict=True)]
    measured = {pair: _leg_variation(env, *pair) for pair in set(pairs)}
    legs = np.array([measured[pair] for pair in pairs])
    at_knots = np.vstack([np.zeros(3), np.cumsum(legs, axis=0)])
    return np.stack([np.interp(k, env.knots, at_knots[:, part]) for part in range(3)], axis=1)


def _leg_variation(env: Path, i: int, j: int) -> tuple[float, float, float]:
    steps = env.H // env.layers

    def sum_over_steps(difference: Array) -> float:
        return steps * float(difference.max(axis=(1, 2)).sum())

    return (
        sum_over_steps(np.abs(env.reward[j] - env.reward[i])),
        sum_over_steps(np.abs(env.utility[j] - env.utility[i])),
        sum_over_steps(np.abs(env.probability[j] - env.probability[i]).sum(axis=3)),
    )


def linear_variation(env: Path) -> Variation:
    """B_r, B_g, B_p of a linear CMDP over all episodes of a path, from the parameters that its anchors have."""
    legs = np.zeros(3)
    first, last = walked_in_part(env)
    for start, end, share in zip(env.route[:-1], env.route[1:], last - first, strict=True):
        if share > 0:
            legs += share * _linear_leg_variation(env, int(start), int(end))
    return Variation(*(float(b) for b in legs))
