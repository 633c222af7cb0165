"""The exponential moment of a walk with negative drift (C11), which bounds the virtual queue.

C11, Lemma 12. If |L_{t+1} - L_t| <= v and E[L_{t+1} - L_t | S_t] <= -gamma where L_t >= theta_t,

    E e^{r L_t} <= e^{r L_0} + 2 e^{r (v + theta_t)} / (r gamma),    r = gamma / (v^2 + v gamma/3).

To the letter theta_t may change with t, and nothing keeps gamma below v, as the lemma bounds a
delta by v that it does not use. In its only use theta_t is one number and gamma = delta/4 <= v. So
read, it is tried on the walk that leans up as far as it may, in units of v: up below theta; from
theta on up or down with probabilities (1 -+ gamma)/2, which of all steps of mean -gamma has the
largest E e^{r step}. Its moments are exact: by its transition matrix, and for t to infinity by its
stationary law, which is geometric above theta.
"""

import math
from collections.abc import Iterator
from itertools import product

import numpy as np

from nscmdp.cmdp import Array
from wei2023.proofs.findings import MISPRINT, Finding, Given, bounded, check, verdict

STEPS = 300
GAMMAS = (1.0, 0.5, 0.2, 0.05, 0.01, 1e-3, 1e-4)
THETAS, STARTS = (0.1, 1.0, 2.5, 7.0), (0, 5)
PATHS = {  # up by one step a time to L_t = t; gamma, t, theta_t
    "theta_t falls": (1.0, 3, 0.25),  # above the path before t = 3, when it turns
    "gamma exceeds v": (100.0, 2, 2.01),  # above the path for ever: any gamma will do
}


def exponent(gamma: float, v: float) -> float:
    """r = gamma / (v^2 + v gamma/3)"""
    return gamma / (v * v + v * gamma / 3)


def bound(r: float, gamma: float, v: float, theta: float, start: float) -> float:
    return math.exp(r * start) + 2 * math.exp(r * (v + theta)) / (r * gamma)


def mean_bound(r: float, gamma: float, v: float, theta: float) -> float:
    """E L_t <= (1/r) log(1 + 2 e^{r(v+theta)} / (r gamma)) from L_0 = 0, by Jensen; no overflow."""
    return float(np.logaddexp(0.0, math.log(2 / (r * gamma)) + r * (v + theta))) / r


def distributions(gamma: float, theta: float, start: int) -> Iterator[tuple[Array, Array]]:
    """The levels that the walk can reach and their probabilities, for t = 0, ..., STEPS."""
    lowest = min(start, math.ceil(theta) - 1) - 1
    level = np.arange(lowest, start + STEPS + 2, dtype=float)
    up = np.where(level < theta, 1.0, (1 - gamma) / 2)
    probability = (level == start).astype(float)
    yield level, probability
    for _ in range(STEPS):
        rising, falling = probability * up, probability * (1 - up)
        probability = np.append(0.0, rising[:-1]) + np.append(falling[1:], 0.0)
        yield level, probability


def moment(level: Array, probability: Array, r: float) -> float:
    can = probability > 0  # e^{rL} may overflow where it cannot be
    return float(np.exp(r * level[can] + np.log(probability[can])).sum())


def limit(gamma: float, theta: float, r: float) -> float:
    """The larger of the limits over even and over odd t of E e^{rL_t}.

    The level at theta has the stationary weight w, those above it w ratio, w ratio^2, ..., the one
    below it w down.
    """
    top, down = math.ceil(theta), (1 + gamma) / 2
    ratio = (1 - down) / down
    if ratio * math.exp(r) >= 1:
        return math.inf
    tail = math.exp(r * top) / (1 - (ratio * math.exp(r)) ** 2)
    other = down * math.exp(r * (top - 1)) + ratio * math.exp(r) * tail
    return 2 * max(tail, other) / (down + 1 / (1 - ratio))


def share(gamma: float, theta: float, start: int) -> float:
    """The largest E e^{rL_t} over the bound."""
    r = exponent(gamma, 1.0)
    moments = [moment(*law, r) for law in distributions(gamma, theta, start)]
    return max(limit(gamma, theta, r), *moments) / bound(r, gamma, 1.0, theta, start)


def sides(gamma: float, climbed: int, theta: float) -> tuple[float, float]:
    """e^{r L_t} on a path without randomness, and the bound."""
    r = exponent(gamma, 1.0)
    return math.exp(r * climbed), bound(r, gamma, 1.0, theta, 0.0)


@check("C11")
def moment_bound(given: Given) -> Finding:
    walks = [*product(GAMMAS, THETAS, STARTS)]
    nearest = max(share(*walk) for walk in walks)
    found = {case: sides(*path) for case, path in PATHS.items()}
    broken = any(left > right for left, right in found.values())
    repair = MISPRINT if nearest <= 1 else None
    answer = verdict(refuted=broken or nearest > 1, repair=repair)
    numbers = {f"moment > bound, {case}": f"{a:.2f} > {b:.2f}" for case, (a, b) in found.items()}
    return bounded(answer, numbers, nearest, "the bound divided by", len(walks))
