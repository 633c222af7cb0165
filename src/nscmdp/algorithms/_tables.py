"""Optimistic tables (H, S, rows, A): what they start from, and the greedy action with its ties drawn uniformly.

Greedy is over row 0, or over row 0 + weight times row 1. Inlined in loops that run at every step, these functions read
the table where it is.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from nscmdp import optimum
from nscmdp.cmdp import Array
from nscmdp.kernels.jit import inlined
from nscmdp.problem import Problem

LOWER = 0.4


def tables(problem: Problem, initial_q: Array, initial_c: Array) -> dict[str, Array]:
    """``initial`` (H, 2): what Q and C start from; and ``table`` (H, S, 3, A) of Q, C and visits before the first."""
    initial = np.ascontiguousarray(np.stack([initial_q, initial_c], axis=1))
    table = np.zeros((problem.H, problem.S, 3, problem.A))
    table[:, :, :2] = initial[:, None, :, None]
    return {"table": table, "initial": initial}


def visits(most: int) -> NDArray[np.float64]:
    """t = 1..most+1 at index t, and a harmless 1 at index 0: an entry is visited at most once per episode."""
    return np.maximum(np.arange(most + 2.0), 1.0)


def remaining(horizon: int) -> Array:
    """H - h + 1 for h = 1..H: the most that the steps from h on can pay."""
    return np.arange(horizon, 0, -1.0)


def optimistic(problem: Problem, initial: float, start: str) -> Array:
    """What Q_h starts from: ``initial`` times a bound of V_h along the path, at most H - h + 1 or that bound.

    ``start`` "below": a share LOWER of it, at which a wrong action that was tried first can lock in.
    """
    if initial < 1 and start == "optimistic":
        raise ValueError(
            f"initial = {initial:g} starts Q below V: expected at least 1, or the variant start: below"
        )
    bounds = value_bounds(problem.env)
    highest = np.minimum(np.maximum(remaining(problem.H), bounds), initial * bounds)
    return highest * (LOWER if start == "below" else 1.0)


value_bounds = lru_cache(maxsize=1)(optimum.value_bounds)  # the arms of a bandit ask for the same


@inlined
def greedy(table, h, x):
    """max_a Q_h(x,a), how many actions attain it, and the first of them."""
    best, ties, action = -np.inf, 0, 0
    for a in range(table.shape[3]):
        q = table[h, x, 0, a]
        if q > best:
            best, ties, action = q, 1, a
        elif q == best:
            ties += 1
    return best, ties, action


@inlined
def tied(table, h, x, best, ties, nth):
    """The nth of the actions that attain the best, from 0."""
    action = nth
    if ties < table.shape[3]:
        for a in range(table.shape[3]):
            if table[h, x, 0, a] == best:
                if nth == 0:
                    action = a
                nth -= 1
    return action


@inlined
def greedy_of_two(table, h, x, weight):
    """max_a Q_h(x,a) + weight C_h(x,a), how many attain it, the first, and the sums of Q and of C over all of them."""
    best, ties, action, v, w = -np.inf, 0, 0, 0.0, 0.0
    for a in range(table.shape[3]):
        q, c = table[h, x, 0, a], table[h, x, 1, a]
        f = q + weight * c
        if f > best:
            best, ties, action, v, w = f, 1, a, q, c
        elif f == best:
            ties, v, w = ties + 1, v + q, w + c
    return best, ties, action, v, w


@inlined
def act_on_two(table, h, x, weight, explore, u):
    """The action that u decides, and V and W of the greedy one, their mean over ties; a share of actions explores."""
    best, ties, action, v, w = greedy_of_two(table, h, x, weight)
    if ties > 1:
        v, w = v / ties, w / ties
        nth = int((u - explore) / (1.0 - explore) * ties) if u >= explore else 0
        for a in range(table.shape[3]):
            if table[h, x, 0, a] + weight * table[h, x, 1, a] == best:
                if nth == 0:
                    action = a
                nth -= 1
    if u < explore:
        action = int(u / explore * table.shape[3])
    return action, v, w


@inlined
def policy_on_two(table, h, x, weight, explore, probabilities):
    """The distribution of :func:`act_on_two`: the action that is certain, or -1 after writing probabilities."""
    best, ties, action, _, _ = greedy_of_two(table, h, x, weight)
    if ties == 1 and explore == 0.0:
        return action
    actions = table.shape[3]
    for a in range(actions):
        f = table[h, x, 0, a] + weight * table[h, x, 1, a]
        probabilities[a] = explore / actions + ((1.0 - explore) / ties if f == best else 0.0)
    return -1
