"""Theorem 1's explicit bounds, term by term, as exact monomials of S, A, H, K, B, iota and delta.

With the printed constants chi = K^(1/5), eta = K^(1/5) B^(1/3), L = K^(3/5) B^(-2/3),
b~ = B^(1/3) K^(-2/5) and eps = 8 (S A H^6 iota^3)^(1/2) B^(1/3) K^(-1/5), the regret is at most

    K H eps/delta
    + H^2 S A K/L + 2 (H^3 sqrt(iota) + 2 H^4 b~) K/chi + sqrt(H^4 S A iota K^2 (chi+1)/L)
    + 2 b~ H^2 K + K (2 H^4 iota + 4 H^4 b~^2 + eps^2)/eta + (eta + K^(2/5)) H^2 B^(2/3)/(eta K)

and the violation at most  - K eps + L E[Z] + the terms from H^2 S A K/L to 2 b~ H^2 K,

    E[Z] <= 100 (H^4 iota + b~^2 H^2) l/delta + 4 H^2 B^(2/3)/(K delta)
            + 4 H^2 B^(2/3)/(eta delta K^(3/5)) + 4 eta (H^2 sqrt(iota) + 2 H^2 b~)/delta,
    l = log(16 (H^2 sqrt(iota) + b~ H^2)/delta).

Main text and appendix differ in powers of H, and have sqrt(H^2 iota) in E[Z] where the bound of the
tables gives H^2 sqrt(iota): each term is here the largest of its versions, with 2 chi for chi + 1.

The condition says  K^(1/5) = 16 (S A H^6 iota^3)^(1/2) B^inside t/delta  for some t >= 1. With that
put in for K, the theorem needs two things of what is left, for B >= 1 (and a power of B that is 0
where B may be smaller):

* of a term of the regret over H^4 S^(1/2) A^(1/2) B^(1/3) K^(4/5): no positive power of S, A, H, B
  or t, while iota and delta are hidden in O~;
* of a loss over K eps, where delta <= H, 1/delta <= log K <= iota/128 and log x <= 4 x^(1/4): no
  positive power of these and of iota. It is then largest where all of them are least, at
  S = A = H = B = t = 1 and iota = 128 log 16^5, and V(K) <= 0 where the sum is below 1 there.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction

import numpy as np

from nscmdp import optimum
from nscmdp.drift import DriftingCMDP
from nscmdp.problem import Problem
from wei2023.proofs.arithmetic import Monomial, symbols
from wei2023.proofs.findings import Inequality
from wei2023.proofs.instrumented import tightened
from wei2023.verdicts import theory

S, A, H, K, B, IOTA, DELTA, T = symbols("S A H K B iota delta t")
THIRD, FIFTH, HALF = Fraction(1, 3), Fraction(1, 5), Fraction(1, 2)


SIZE = (S * A * H**6 * IOTA**3) ** HALF
RATE = H**4 * (S * A) ** HALF * B**THIRD * K ** (4 * FIFTH)
CHI, ETA = K**FIFTH, K**FIFTH * B**THIRD
FRAME, BTILDE = K ** (3 * FIFTH) * B ** (-2 * THIRD), B**THIRD * K ** (-2 * FIFTH)
EPS = 8 * SIZE * B**THIRD * K**-FIFTH
LEAST_IOTA = 128 * 5 * math.log(16)
LOG = 4 * (32 * H**2 * IOTA**HALF / DELTA) ** Fraction(1, 4)  # at least l


def estimation() -> dict[str, Monomial]:
    """How much Q or C over-estimates in all frames."""
    return {
        "first visits": H**2 * S * A * K / FRAME,
        "learning rate": 2 * H**3 * IOTA**HALF * K / CHI,
        "learning rate, b~": 4 * H**4 * BTILDE * K / CHI,
        "bonus": (2 * H**4 * S * A * IOTA * K**2 * CHI / FRAME) ** HALF,
        "b~": 2 * BTILDE * H**2 * K,
    }


def regret() -> dict[str, Monomial]:
    return {
        "tightening": K * H * EPS / DELTA,
        **estimation(),
        "drift of the queue, iota": 2 * H**4 * IOTA * K / ETA,
        "drift of the queue, b~": 4 * H**4 * BTILDE**2 * K / ETA,
        "drift of the queue, eps": EPS**2 * K / ETA,
        "failed optimism": H**2 * B ** (2 * THIRD) / K,
        "failed optimism, per frame": H**2 * B ** (2 * THIRD) * K ** (-3 * FIFTH) / ETA,
    }


def losses(log: Monomial) -> dict[str, Monomial]:
    """What K eps has to make up for: estimation and L E[Z], with its logarithm."""
    failed = 4 * H**2 * B ** (2 * THIRD) / DELTA
    queue = {
        "queue, iota": 100 * log * H**4 * IOTA / DELTA,
        "queue, b~": 100 * log * BTILDE**2 * H**2 / DELTA,
        "queue, failed optimism": failed / K,
        "queue, failed optimism, per frame": failed / (ETA * K ** (3 * FIFTH)),
        "queue, eta": 4 * ETA * H**2 * IOTA**HALF / DELTA,
        "queue, eta b~": 8 * ETA * H**2 * BTILDE / DELTA,
    }
    return {**estimation(), **{name: FRAME * term for name, term in queue.items()}}


def at_condition(ratio: Monomial, inside: Fraction) -> Monomial:
    """The ratio with the K of the condition put in."""
    return ratio.substitute("K", (16 * SIZE * B**inside * T / DELTA) ** 5)


def bounded(ratio: Monomial, least_B: float, names: str) -> bool:
    """Does no size of at least 1 make it larger, nor any B of at least ``least_B`` (0 or 1)?"""
    in_B = ratio.power("B") <= 0 if least_B >= 1 else ratio.power("B") == 0
    return in_B and all(ratio.power(name) <= 0 for name in names.split())


def exceeding(inside: Fraction, least_B: float) -> list[str]:
    """The terms of the regret that are not of the claimed order."""
    ratios = {name: at_condition(term / RATE, inside) for name, term in regret().items()}
    return [name for name, ratio in ratios.items() if not bounded(ratio, least_B, "S A H t")]


def largest_share(inside: Fraction, least_B: float) -> float:
    """The most that the losses can be of K eps, over all sizes; perhaps infinite."""
    most = 0.0
    for loss in losses(LOG).values():
        share = at_condition(loss / (K * EPS), inside)
        share = share.substitute("delta", H if share.power("delta") > 0 else 128 * IOTA**-1)
        if not bounded(share, least_B, "S A H t iota"):
            return math.inf
        most += share.coefficient * LEAST_IOTA ** float(share.power("iota"))
    return most


def logs_of(problem: Problem, log10_K: float) -> dict[str, float]:
    """Logarithms of all symbols, at another K."""
    logs = {name: math.log10(getattr(problem, name)) for name in ("S", "A", "H", "B", "delta")}
    iota = theory.iota(problem, log10_K * math.log(10))
    return {**logs, "K": log10_K, "iota": math.log10(iota)}


def total(terms: Iterable[Monomial], logs: Mapping[str, float]) -> float:
    """log10 of the sum."""
    orders = [term.log10(logs) for term in terms]
    largest = max(orders)
    return largest + math.log10(sum(10 ** (one - largest) for one in orders))


def needed_eps(problem: Problem, log10_K: float) -> float:
    """log10 of the least eps with which these bounds show that V(K) <= 0."""
    logs = logs_of(problem, log10_K)
    inside = total([H**2 * IOTA**HALF, H**2 * BTILDE], logs) - logs["delta"]
    log = math.log(16) + inside * math.log(10)
    return total(losses(Monomial({}, log)).values(), logs) - log10_K


def least(enough: Callable[[float], bool], low: float, high: float) -> float:
    """The least number that is enough, where all larger ones up to ``high`` are."""
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def inequalities(env: DriftingCMDP, problem: Problem, at: float) -> list[Inequality]:
    """The choices behind the K = 10^at of Theorem 1, and what they would have to be."""
    eps, most = EPS.log10(logs_of(problem, at)), math.log10(problem.delta / 2)
    first = least(lambda log10_K: needed_eps(problem, log10_K) <= most, 0.0, 2 * at)
    models = [env.at(int(k)) for k in np.linspace(1, env.episodes, 9)]
    values = [optimum.constrained(one).value for one in models]
    tighter = [optimum.constrained(tightened(one, problem.delta / 2)).value for one in models]
    steps = {
        "loss per episode for eps = delta/2": (problem.H / 2, max(np.subtract(values, tighter))),
        "eps, and what the proof's own bounds need": (10**eps, 10 ** needed_eps(problem, at)),
        "K, and that at which this least eps is delta/2": (10**at, 10**first),
    }
    return [Inequality(says, "Theorem 1, proof", *numbers) for says, numbers in steps.items()]
