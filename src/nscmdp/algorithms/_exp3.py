"""Exp3 (Auer, Cesa-Bianchi, Freund, Schapire 2002): which of N arms pays best, whatever the sequence of gains in [0,1].

    p(j) = (1-gamma) s(j) / sum_i s(i) + gamma/N                                          s(j) = 1 at first
    draw A from p, see its gain x:   s(A) <- s(A) exp(gamma x / (N p(A)))

In expectation its total over n rounds falls short of the best arm's by at most 2 sqrt(e-1) sqrt(n N ln N) for
gamma = min(1, sqrt(N ln N / ((e-1) n))). Weights are kept as logarithms and never overflow.
"""

import math
from typing import NamedTuple

import numpy as np

from nscmdp.cmdp import Array
from nscmdp.kernels.jit import jit


class Exp3(NamedTuple):
    log_weights: Array  # (N,): ln s
    probabilities: Array  # (N,): p
    gamma: float


def exp3(arms: int, gamma: float) -> Exp3:
    return Exp3(np.zeros(arms), np.full(arms, 1 / arms), float(gamma))


def usual_rate(arms: int, rounds: float) -> float:
    """gamma = min(1, sqrt(N ln N / ((e-1) n)))"""
    return min(1.0, float(np.sqrt(arms * np.log(arms) / ((np.e - 1) * rounds))))


@jit
def choose(bandit, u):
    """Update p; the arm that u, uniform on [0,1), draws from it, and a number that is uniform again."""
    weights, p = bandit.log_weights, bandit.probabilities
    arms, largest, total = len(weights), weights[0], 0.0
    for j in range(1, arms):
        largest = max(largest, weights[j])
    for j in range(arms):
        p[j] = math.exp(weights[j] - largest)
        total += p[j]
    for j in range(arms):
        p[j] = (1.0 - bandit.gamma) * p[j] / total + bandit.gamma / arms
    arm, below = 0, 0.0
    while arm + 1 < arms and u >= below + p[arm]:
        below += p[arm]
        arm += 1
    return arm, min(max((u - below) / p[arm], 0.0), ALMOST_ONE)


@jit
def reinforce(bandit, arm, gain):
    """s(A) <- s(A) exp(gamma x / (N p(A)))"""
    estimate = gain / bandit.probabilities[arm]
    bandit.log_weights[arm] += bandit.gamma * estimate / len(bandit.log_weights)


ALMOST_ONE = float(np.nextafter(1.0, 0.0))
