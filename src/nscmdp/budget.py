"""Variation budgets by the paper's definitions, exact along a path.

    B_r = sum_{k<K} sum_h max_{x,a} |r_{k+1,h}(x,a) - r_{k,h}(x,a)|,      B_g likewise for the utility,
    B_p = sum_{k<K} sum_h max_{x,a} || P_{k+1,h}(.|x,a) - P_{k,h}(.|x,a) ||_1,      B = B_r + B_g + B_p.

On a leg between two knots every step moves the model by the same fraction of the leg, so a budget is a sum over legs
of (share of the leg walked) x (variation between its two anchors). The local budget of a frame sums over the steps
inside it.

A linear CMDP, P_h(x'|x,a) = <phi(x,a), mu_h(x')>, r_h = <phi, theta^r_h>, g_h = <phi, theta^g_h>, has its own budgets,

    B_r = sum_{k<K} sum_h || theta^r_{k+1,h} - theta^r_{k,h} ||_2,      B_g likewise,
    B_p = sum_{k<K} sum_h || mu_{k+1,h} - mu_{k,h} ||_F.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from nscmdp.cmdp import Array, densify
from nscmdp.drift import DriftingCMDP

LINEAR = 1e-9  # a table this close to phi times its parameters is linear in phi


class Variation(NamedTuple):
    reward: float
    utility: float
    transition: float

    @property
    def total(self) -> float:
        return self.reward + self.utility + self.transition


def variation(env: DriftingCMDP) -> Variation:
    """B_r, B_g, B_p over all episodes of a path."""
    return local_variation(env, 1, env.episodes)


def local_variation(env: DriftingCMDP, first: int, last: int) -> Variation:
    """B_r, B_g, B_p over the steps between the episodes first..last of one frame."""
    return Variation(*(float(b) for b in between(env, np.array([first, last]))[0]))


def frame_variations(env: DriftingCMDP, frame: int) -> Array:
    """(frames, 3): the local budgets of frames of ``frame`` episodes, the last one perhaps shorter."""
    starts = np.arange(1, env.episodes + 1, frame)
    ends = np.minimum(starts + frame - 1, env.episodes)
    return walked(env, ends) - walked(env, starts)


def between(env: DriftingCMDP, episodes: ArrayLike) -> Array:
    """(n-1, 3): the variation from each of n increasing episodes to the next."""
    return np.diff(walked(env, episodes), axis=0)


def linear_variation(env: DriftingCMDP) -> Variation:
    """B_r, B_g, B_p of the parameters of a linear CMDP over all episodes of a path."""
    first, last = walked(env, [1, env.episodes], _linear_leg_variation)
    return Variation(*(float(b) for b in last - first))


def walked(env: DriftingCMDP, episodes: ArrayLike, of_leg: Callable | None = None) -> Array:
    """(n, 3): the variation from episode 1 up to each of the given episodes."""
    k = np.asarray(episodes, dtype=float)
    if len(env.knots) == 1:
        return np.zeros((len(k), 3))
    pairs = [(min(i, j), max(i, j)) for i, j in zip(env.route[:-1], env.route[1:], strict=True)]
    measured = {pair: (of_leg or _leg_variation)(env, *pair) for pair in set(pairs)}
    at_knots = np.vstack([np.zeros(3), np.cumsum([measured[pair] for pair in pairs], axis=0)])
    return np.stack([np.interp(k, env.knots, at_knots[:, part]) for part in range(3)], axis=1)


def _leg_variation(env: DriftingCMDP, i: int, j: int) -> list[float]:
    moves = (
        np.abs(env.reward[j] - env.reward[i]),
        np.abs(env.utility[j] - env.utility[i]),
        np.abs(env.probability[j] - env.probability[i]).sum(axis=3),
    )
    return [env.H // env.layers * float(move.max(axis=(1, 2)).sum()) for move in moves]


def _linear_leg_variation(env: DriftingCMDP, i: int, j: int) -> list[float]:
    # P, r and g are phi times their parameters, so a difference of models is phi times the parameters' difference.
    kernel = densify(env.successors, env.probability[j] - env.probability[i])
    moves = (env.reward[j] - env.reward[i], env.utility[j] - env.utility[i], kernel)
    norms = (np.linalg.norm(parameters(env, move), axis=(1, 2)).sum() for move in moves)
    return [env.H // env.layers * float(norm) for norm in norms]


def parameters(env: DriftingCMDP, table: Array) -> Array:
    """(layers, d, n): what phi must be multiplied by to give ``table`` (layers, S, A) or (layers, S, A, n)."""
    if env.features is None:
        raise ValueError(f"{env.name} has no features: expected a linear CMDP")
    phi = env.features.reshape(env.S * env.A, -1)
    rows = table.reshape(len(table), env.S * env.A, -1)
    found = np.linalg.pinv(phi) @ rows
    off = float(np.abs(phi @ found - rows).max())
    if off > LINEAR:
        raise ValueError(f"{env.name} is not linear in its features: it is off by {off:.3g}")
    return found
