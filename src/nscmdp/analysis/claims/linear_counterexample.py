"""A counterexample to every rate for linear CMDPs as printed, where B_p sums Frobenius norms.

One step leads from the start to one of two sets of m states each, spread evenly; in episode k action s_k leads to the
first set and the other action to the second one; there, r = g = 1 in the first set and 0 in the second. H = 2, A = 2,
d = 4 (unit vectors for the two actions and the two sets), rho = 3/4, delta = 1/4. A change of s moves mu by 2/sqrt(m)
in the Frobenius norm: with m = (2K)^2, B <= 1 whatever s is. For s drawn at random, V* = 1 in every episode and no
learner has more than 1/2 in the mean:

    R(K) = K/2,      V(K) = K/4,      against an order of K^(3/4), K^(7/8) or K^(2/3) without any S in it.

In the norm of total variation the same change has size 2 sqrt(2), B is of order K, and nothing is contradicted.
Besides, no rate with a power of B holds as B goes to 0: of two actions of unknown order one must be tried, which costs
1/2 in the mean over the two orders, and at B = K^-4 the orders above go to 0.
"""

import math
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from nscmdp.analysis.claims import linear_runs
from nscmdp.analysis.claims.arithmetic import Monomial
from nscmdp.analysis.claims.findings import Given
from nscmdp.analysis.claims.linear_runs import LISTED, Constants, Listing, Problems

MULTIPLES = (1, 10, 100)
SIZES = {"H": 2.0, "d": 4.0}
RHO, DELTA = Fraction(3, 4), Fraction(1, 4)
REGRET, VIOLATION = Fraction(1, 2), RHO - Fraction(1, 2)  # per episode


class Statement(NamedTuple):
    """A rate, by the algorithm that is said to have it."""

    algorithm: str
    rate: Monomial
    terms: tuple[Monomial, ...]  # what the proof adds up, which must be of that order


def change(norm: str, m: float) -> float:
    """||mu - mu'|| where two components move from an even spread over m states to one over m others."""
    if norm == "frobenius":
        return math.sqrt(2 * 2 * m * (1 / m) ** 2)
    return math.sqrt(2 * 2.0**2)


def growth_of_budget(norm: str) -> Fraction:
    """The exponent of K in (K-1) changes at m = (2K)^2, the most that B can be."""
    small, large = ((k - 1) * change(norm, (2 * k) ** 2) for k in (10.0**6, 10.0**12))
    return Fraction(round(math.log10(large / small)), 6)


def contradicted(statement: Statement, norm: str) -> bool:
    """The claimed order, with B of the counterexample put in, grows more slowly than K."""
    return statement.rate.power("K") + statement.rate.power("B") * growth_of_budget(norm) < 1


def log_iota(log10_K: float, A: float, d: float, H: float) -> float:
    """log10 of iota = log(2 log(A) d T/p), T = K H"""
    inside = math.log(2 * math.log(A) * d * H / linear_runs.CONFIDENCE) + log10_K * math.log(10)
    return math.log10(inside)


def log_bound(statement: Statement, log10_K: float) -> float:
    """log10 of (1+delta)/delta rate iota at B = 1, in the counterexample."""
    logs = {name: math.log10(value) for name, value in SIZES.items()} | {"K": log10_K, "B": 0.0}
    return statement.rate.log10(logs) + log_iota(log10_K, 2, 4, 2) + math.log10((1 + DELTA) / DELTA)


def exceeds_from(statement: Statement, multiple: float) -> float:
    """log10 of the K from which K/2 exceeds that multiple of the bound."""
    for log10_K in np.arange(1, 400, 0.1):
        if log10_K + math.log10(REGRET) > log_bound(statement, log10_K) + math.log10(multiple):
            return float(log10_K)
    return math.inf


def blurred(runs: int, episodes: int, rng: np.random.Generator, states: int = 1) -> Problems:
    """The counterexample with s at random; with one state for each set, which no learner can tell from m of them."""
    first, second = np.arange(1, 1 + states), np.arange(1 + states, 1 + 2 * states)
    phi = np.zeros((runs, 1 + 2 * states, 2, 4))
    phi[:, 0, [0, 1], [0, 1]] = 1.0
    phi[:, first, :, 2] = 1.0
    phi[:, second, :, 3] = 1.0
    mu = np.zeros((runs, 2, 2, 4, 1 + 2 * states))
    mu[:, :, 1, :, 0] = mu[:, :, 0, 2:, 0] = 1.0  # what follows the second step is of no account
    for s in (0, 1):
        mu[:, s, 0, s, first] = mu[:, s, 0, 1 - s, second] = 1 / states
    theta = np.zeros((runs, 2, 2, 2, 4))
    theta[:, :, :, 1, 2] = 1.0
    return Problems(phi, mu, theta, rng.integers(0, 2, size=(runs, episodes)), np.full(runs, float(RHO)))


@cache
def simulated(runs: int, listing: Listing = LISTED, bonus: float = 0.02, episodes: int = 300) -> tuple[float, float]:
    """Regret and violation per episode of Algorithm 3 there, with a bonus small enough to learn with."""
    rng = Given().rng("C16", "blurred")
    problems = blurred(runs, episodes, rng)
    constants: Constants = linear_runs.printed(problems, np.full(runs, float(DELTA)))
    trace = linear_runs.run(problems, constants._replace(beta=bonus * constants.beta), rng, listing)
    mean_r, mean_g = trace.value.mean(axis=(0, 1))
    return float(1 - mean_r), float(RHO) - float(mean_g)


def rows_of(statement: Statement, norm: str, given: Given) -> list[dict[str, Any]]:
    regret, violation = simulated(max(4, given.problems // 2))
    row: dict[str, Any] = {
        "what": "counterexample", "norm": norm,
        "regret_per_episode": float(REGRET), "violation_per_episode": float(VIOLATION),
        "claimed_exponent": float(statement.rate.power("K") + statement.rate.power("B") * growth_of_budget(norm)),
        "simulated_regret": regret, "simulated_violation": violation,
    }  # fmt: skip
    row |= {f"log10_K_{m}_times": exceeds_from(statement, m) for m in MULTIPLES} if norm == "frobenius" else {}
    tiny_budget = float(statement.rate.power("K") - 4 * statement.rate.power("B"))
    tiny = {"what": "two actions, B = K^-4", "regret": 0.5, "claimed_exponent": tiny_budget}
    curve = [
        {"what": "curve", "log10_K": e, "log10_regret": e + math.log10(REGRET), "log10_bound": log_bound(statement, e)}
        for e in range(2, 61, 2)
    ]
    return [row, tiny, *curve] if norm == "frobenius" else [row]
