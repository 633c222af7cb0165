"""How regret, violation and gap grow with K and B: log-log slopes with bootstrap intervals.

An instance of the environment (a reading with a seed of its own) is a unit of replication as a seed is: the bootstrap
draws instances, the same for every K and B, and then seeds within each. A slope means something only where the quantity
is positive throughout; elsewhere it is left out and the reason given.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nscmdp import metrics
from nscmdp.analysis.statistics import RESAMPLES
from nscmdp.metrics import Array

RUN = ["experiment", "reading", "budget", "B", "episodes", "learner", "algorithm", "setting"]
LEARNER = ["learner", "algorithm", "setting"]
GROWING = ("gap", "regret", "positive_regret", "positive_violation")
POOLED = "all"  # in place of an instance
ENDS = [0.025, 0.975]


class Slope(NamedTuple):
    value: float
    low: float
    high: float
    why_not: str = ""


class Means(NamedTuple):
    """Of the sums over K episodes, in one case."""

    value: Array  # (measures,): over the seeds of an instance, then over instances
    drawn: Array  # (RESAMPLES, measures): with instances and seeds drawn anew; nan where there is one run alone


def totals(exact: pd.DataFrame) -> pd.DataFrame:
    """One row per run: the sums over its episodes."""
    weighted = exact[[*RUN, "seed"]].join(exact[list(metrics.MEASURES)].mul(exact["weight"], axis=0))
    return weighted.groupby([*RUN, "seed"], sort=False, as_index=False).sum()


def means(runs: pd.DataFrame) -> dict[tuple[str, int], Means]:
    """Of one learner's runs, by budget and K."""
    rng = np.random.default_rng(0)
    instances = runs["reading"].unique()
    copies = rng.multinomial(len(instances), np.full(len(instances), 1 / len(instances)), size=RESAMPLES)
    found = {}
    for case, mine in runs.groupby(["budget", "episodes"], sort=False):
        samples = [mine.loc[mine["reading"] == one, [*metrics.MEASURES]].to_numpy() for one in instances]
        value = np.mean([sample.mean(axis=0) for sample in samples], axis=0)
        drawn = np.mean([_drawn(rng, *pair) for pair in zip(samples, copies.T, strict=True)], axis=0)
        found[case] = Means(value, drawn if len(mine) > 1 else np.full_like(drawn, np.nan))
    return found


def _drawn(rng: np.random.Generator, sample: Array, copies: NDArray[np.int64]) -> Array:
    """(RESAMPLES, measures): the mean over an instance's seeds (n, measures), added up over so many copies of it."""
    n = len(sample)
    return rng.multinomial(copies * n, np.full(n, 1 / n)) @ sample / n


def slope(x: Array, value: Array, drawn: Array, name: str) -> Slope:
    """The slope of log value[i] against log x[i]; its interval from drawn (RESAMPLES, points)."""
    if len(x) < 2:
        return Slope(np.nan, np.nan, np.nan, "fewer than two points")
    if (value <= 0).any():
        return Slope(np.nan, np.nan, np.nan, f"{name} is not positive at {x[value <= 0][0]:g}")
    place = np.log(x) - np.log(x).mean()
    with np.errstate(invalid="ignore", divide="ignore"):
        fitted = np.log(np.vstack([value, drawn])) @ place / (place @ place)
    low, high = np.quantile(fitted[1:], ENDS) if np.isfinite(fitted).all() else (np.nan, np.nan)
    return Slope(float(fitted[0]), float(low), float(high))


def slopes(runs: pd.DataFrame) -> pd.DataFrame:
    """Every slope, pooled over instances ("all") and of each instance.

    Along K at every budget: over all K, the last three, and ("local", pooled alone) each K and the next. Along B at
    every K, pooled alone. ``first`` and ``last`` are the ends of what is fitted, in K or B.
    """
    rows = []
    for keys, mine in runs.groupby(LEARNER, sort=False):
        known = dict(zip(LEARNER, keys, strict=True))
        instances = mine["reading"].unique()
        pooled = means(mine)
        fits = [{"instance": POOLED, **row} for row in (*_along_K(pooled, local=True), *_along_B(pooled, mine))]
        for one in instances:
            alone = means(mine[mine["reading"] == one])
            fits += [{"instance": one, **row} for row in _along_K(alone, local=False)]
        rows += [{**known, "instances": len(instances) if row["instance"] == POOLED else 1, **row} for row in fits]
    return pd.DataFrame(rows)


def _along_K(cases: dict[tuple[str, int], Means], local: bool) -> Iterator[dict[str, Any]]:
    for budget in dict.fromkeys(budget for budget, _ in cases):
        points = {K: cases[budget, K] for K in sorted(K for known, K in cases if known == budget)}
        every = [*points]
        wanted = [("all", every), ("last three", every[-3:])]
        wanted += [("local", [*pair]) for pair in pairwise(every)] if local else []
        for which, chosen in wanted:
            fits = _fits(np.array(chosen, dtype=float), [points[K] for K in chosen])
            yield from ({"budget": budget, "along": "episodes", "which": which, **row} for row in fits)


def _along_B(cases: dict[tuple[str, int], Means], runs: pd.DataFrame) -> Iterator[dict[str, Any]]:
    for K, mine in runs.groupby("episodes"):
        budgets = mine.groupby("budget", sort=False)["B"].mean().sort_values(kind="stable")
        budgets = budgets[budgets > 0]  # where nothing drifts, B has no logarithm
        fits = _fits(budgets.to_numpy(), [cases[budget, K] for budget in budgets.index])
        yield from ({"episodes": K, "along": "B", "which": "all", **row} for row in fits)


def _fits(x: Array, points: list[Means]) -> Iterator[dict[str, Any]]:
    first, last = (x[0], x[-1]) if len(x) else (np.nan, np.nan)
    for quantity in GROWING:
        i = metrics.MEASURES.index(quantity)
        value, drawn = np.array([one.value[i] for one in points]), np.array([one.drawn[:, i] for one in points]).T
        found = slope(x, value, drawn, quantity)
        yield {"quantity": quantity, "points": len(x), "first": first, "last": last, **found._asdict()}


def violations(runs: pd.DataFrame) -> pd.DataFrame:
    """Violation per episode at every K and budget, with intervals, and that of the instance where it is most."""
    rows = []
    for keys, mine in runs.groupby(LEARNER, sort=False):
        of_instance = mine.groupby(["budget", "episodes", "reading"])["violation"].mean()
        for (budget, K), found in means(mine).items():
            here = mine[(mine["budget"] == budget) & (mine["episodes"] == K)]
            row = dict(zip(LEARNER, keys, strict=True))
            row |= {"budget": budget, "B": here["B"].iloc[0], "episodes": K}
            row |= {"instances": here["reading"].nunique(), "runs": len(here)}
            for name in ("violation", "positive_violation"):
                i = metrics.MEASURES.index(name)
                low, high = np.quantile(found.drawn[:, i], ENDS)
                row |= {name: found.value[i] / K, f"{name}_low": low / K, f"{name}_high": high / K}
            rows.append({**row, "violation_most": of_instance[budget, K].max() / K})
    return pd.DataFrame(rows)
