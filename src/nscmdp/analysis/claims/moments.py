"""The exponential moment of a walk with negative drift (C11), which bounds the virtual queue.

C11, Lemma 12. If |L_{t+1} - L_t| <= v and E[L_{t+1} - L_t | S_t] <= -gamma wherever L_t >= theta_t, then

    E e^{r L_t} <= e^{r L_0} + 2 e^{r (v + theta_t)} / (r gamma),        r = gamma / (v^2 + v gamma/3).

Declared: the lemma bounds a delta by v that it does not use, which is read as gamma, 0 < gamma <= v, and theta_t as one
number for all t, as in the only use of it, with gamma = delta/4 and a theta_T that does not depend on T (ledger:
mgf-lemma). Read to the letter, theta_t may change with t and nothing keeps gamma below v: two paths break it.

The walk that leans up as far as the conditions allow, in units of v: up below theta; from theta on up or down with
probabilities (1 -+ gamma)/2, which among all steps of mean -gamma has the largest E e^{r step}. Its moments are exact,
by its transition matrix and, for t to infinity, by its stationary law, which is geometric above theta.
"""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from nscmdp.analysis.claims.findings import FALSE, HOLDS, HOLDS_DEVIATING, Finding, Given, Inequality, check
from nscmdp.cmdp import Array

STEPS = 300
GAMMAS = (1.0, 0.5, 0.2, 0.05, 0.01, 1e-3, 1e-4)
THETAS = (0.1, 1.0, 2.5, 7.0)
STARTS = (0, 5)
ROUNDING = 1e-9

Rate = Callable[[Any, Any], Any]


def exponent(gamma: Any, v: Any) -> Any:
    """r = gamma / (v^2 + v gamma/3)"""
    return gamma / (v * v + v * gamma / 3)


class Walk(NamedTuple):
    """Steps of +-1 from a whole number ``start``: up below theta, of mean -gamma from theta on."""

    gamma: float
    theta: float
    start: int = 0

    @property
    def up(self) -> float:
        return (1 - self.gamma) / 2


def distributions(walk: Walk, steps: int) -> Iterator[tuple[Array, Array]]:
    """The levels that can be reached and their probabilities, for t = 0, ..., steps."""
    lowest = min(walk.start, math.ceil(walk.theta) - 1) - 1
    level = np.arange(lowest, walk.start + steps + 2, dtype=float)
    up = np.where(level < walk.theta, 1.0, walk.up)
    probability = (level == walk.start).astype(float)
    yield level, probability
    for _ in range(steps):
        rising, falling = probability * up, probability * (1 - up)
        probability = np.zeros_like(probability)
        probability[1:] += rising[:-1]
        probability[:-1] += falling[1:]
        yield level, probability


def moment(level: Array, probability: Array, r: float) -> float:
    """E e^{rL}; levels that cannot be reached count for nothing, however large e^{rL} is."""
    reached = probability > 0
    return float(np.exp(r * level[reached] + np.log(probability[reached])).sum())


def limit(walk: Walk, r: float) -> tuple[float, float]:
    """The larger of the limits over even and over odd t of E e^{rL_t} (perhaps infinite), and of E L_t.

    The level ``top`` at theta has the stationary weight w, those above w ratio, w ratio^2, ..., the one below w down.
    """
    top, down = math.ceil(walk.theta), 1 - walk.up
    ratio = walk.up / down
    weight, every_other = 1 / (down + 1 / (1 - ratio)), ratio**2

    def from_level(level: int) -> float:
        """sum_m ratio^(2m) (level + 2m)"""
        return level / (1 - every_other) + 2 * every_other / (1 - every_other) ** 2

    mean = 2 * weight * max(from_level(top), down * (top - 1) + ratio * from_level(top + 1))
    if ratio * math.exp(r) >= 1:
        return math.inf, mean
    tail = math.exp(r * top) / (1 - every_other * math.exp(2 * r))
    return 2 * weight * max(tail, down * math.exp(r * (top - 1)) + ratio * math.exp(r) * tail), mean


def bound(r: float, gamma: float, v: float, theta: float, start: float) -> float:
    return math.exp(r * start) + 2 * math.exp(r * (v + theta)) / (r * gamma)


def mean_bound(r: float, gamma: float, v: float, theta: float) -> float:
    """E L_t <= (1/r) log(1 + 2 e^{r(v+theta)} / (r gamma)) from L_0 = 0, by Jensen; no overflow."""
    return float(np.logaddexp(0.0, math.log(2 / (r * gamma)) + r * (v + theta))) / r


def exp_between(x: Fraction, terms: int = 40) -> tuple[Fraction, Fraction]:
    """e^x from below and above for 0 <= x < 20, by its series."""
    term, total = Fraction(1), Fraction(1)
    for n in range(1, terms):
        term *= x / n
        total += term
    return total, total + term  # the ratio of later terms is below 1/2


class Path(NamedTuple):
    """A path without randomness: it climbs one step a time, and its next step goes down by gamma, or none is asked."""

    reading: str
    gamma: Fraction
    climbed: int  # L_t at t = climbed, from L_0 = 0, with v = 1
    theta: Fraction  # theta_t there

    def moment(self) -> Fraction:
        """e^{r L_t}, from below"""
        return exp_between(exponent(self.gamma, Fraction(1)) * self.climbed)[0]

    def bound(self) -> Fraction:
        """The lemma's bound, from above"""
        r = exponent(self.gamma, Fraction(1))
        return 1 + 2 * exp_between(r * (1 + self.theta))[1] / (r * self.gamma)


# Before t = 3 theta_t lies above the path, so nothing is asked of its drift; at t = 3 it is 1/4, and the path turns.
FALLING = Path("theta_t falls", Fraction(1), 3, Fraction(1, 4))
# The path climbs to 2 and stays below theta: nothing is asked of its drift, so gamma can be any number.
STEEP = Path("gamma is above v", Fraction(100), 2, Fraction(201, 100))


@check("C11")
def moment_bound(given: Given, rate: Rate = exponent, paths: tuple[Path, ...] = (FALLING, STEEP)) -> Finding:
    """On walks, as declared; and on two paths without randomness, to the letter, within bounds in whole fractions."""
    walks = [Walk(gamma, theta, start) for gamma in GAMMAS for theta in THETAS for start in STARTS]
    rows = [_row(walk, rate(walk.gamma, 1.0)) for walk in walks]
    nearest, tight = max(row["share"] for row in rows), max(row["of_mean"] for row in rows if row["start"] == 0)
    slow = next(row for row in rows if row["gamma"] == GAMMAS[-1] and row["theta"] == 1.0 and row["start"] == 0)
    literal = [_literal(path) for path in paths]
    broken = [row for row in literal if row["share"] > 1]
    why = (
        f"with delta read as gamma and one theta (ledger: mgf-lemma), over {len(walks)} walks E e^(rL_t) is at most "
        f"{nearest:.3g} of the bound, and E L_t at most {tight:.3g} of what Jensen makes of it"
    )
    if broken:
        said = (f"{row['reading']} ({row['moment']:.2f} > {row['bound']:.2f})" for row in broken)
        why += f"; to the letter it fails where {' and where '.join(said)}"
    return Finding(
        FALSE if nearest > 1 + ROUNDING else HOLDS_DEVIATING if broken else HOLDS, why,
        value=nearest, low=nearest, high=nearest, bound=1.0, slack=1 - nearest, slack_in="share of the bound",
        samples=len(walks) * STEPS + len(paths),
        inequalities=(
            Inequality("E L_t <= (1/r) log(1 + 2 e^(r(v+theta))/(r gamma)), steepest walk, gamma = v/1e4",
                       "Lemma 12 and Jensen", slow["mean_bound"], slow["mean"]),
        ),
        rows=[*rows, *literal],
    )  # fmt: skip


def _literal(path: Path) -> dict[str, Any]:
    return {
        "part": "path", "reading": path.reading, "gamma": float(path.gamma), "t": path.climbed,
        "theta": float(path.theta), "moment": float(path.moment()), "bound": float(path.bound()),
        "share": float(path.moment() / path.bound()),
    }  # fmt: skip


def _row(walk: Walk, r: float) -> dict[str, Any]:
    edge = bound(r, walk.gamma, 1.0, walk.theta, walk.start)
    moments, means = zip(
        *((moment(level, p, r), float(p @ level)) for level, p in distributions(walk, STEPS)), strict=True
    )
    latest, mean = limit(walk, r)
    highest, allowed = max(*means, mean), mean_bound(r, walk.gamma, 1.0, walk.theta)
    return {
        "part": "walk", "gamma": walk.gamma, "theta": walk.theta, "start": walk.start, "r": r,
        "moment": max(*moments, latest), "bound": edge, "share": max(*moments, latest) / edge,
        "mean": highest, "mean_bound": allowed, "of_mean": highest / allowed,
    }  # fmt: skip
