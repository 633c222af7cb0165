"""How gap, [regret]_+ and [violation]_+ grow with K and B: exponents with Student's intervals.

An exponent is the slope of log y against log x. Each unit of replication has its own, and the table
has their mean with its t-interval. The unit is the largest part that was drawn independently:

    search     of the searches whose constants a learner has; each serves instances of its own, so
               that what differs between units is the noise of searches, instances and seeds
    reading    of the instances of the environment, where one choice of constants serves them all
    seed       of the runs, where there is one instance

Sums of gap, [V* - V]_+ and [rho - W]_+ do not cancel; a signed sum has no exponent. Where a sum is
zero there is no exponent either, and the reason is given.
"""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from nscmdp import metrics
from nscmdp.metrics import Array

RUN = ["experiment", "reading", "budget", "B", "episodes", "learner", "algorithm", "setting"]
LEARNER = ["learner", "algorithm", "setting"]
GROWING = ("gap", "positive_regret", "positive_violation")
UNITS = {"search": "searches", "reading": "instances", "seed": "seeds"}
LATE = 4  # the last two octaves: K from a quarter of the largest on
LEVEL = 0.95


class Estimate(NamedTuple):
    """A mean over units with its interval, or why there is none."""

    value: float
    low: float
    high: float
    why_not: str = ""


def totals(exact: pd.DataFrame) -> pd.DataFrame:
    """One row per run: the sums over its episodes."""
    sums = exact[[*metrics.MEASURES]].mul(exact["weight"], axis=0)
    runs = exact[[*RUN, "seed"]].join(sums).groupby([*RUN, "seed"], sort=False, as_index=False)
    return runs.sum()


def unit_of(runs: pd.DataFrame) -> str:
    """The unit of replication of one learner's runs."""
    return next((unit for unit in UNITS if unit in runs and runs[unit].nunique() > 1), "seed")


def mean_over_units(values: Array) -> Estimate:
    """With Student's interval; one unit has none."""
    mean, n = float(np.mean(values)), len(values)
    if n < 2:
        return Estimate(mean, np.nan, np.nan)
    error = np.std(values, ddof=1) / np.sqrt(n)
    half = float(stats.t.ppf((1 + LEVEL) / 2, n - 1) * error)
    return Estimate(mean, mean - half, mean + half)


def exponent(x: Array, y: Array, name: str) -> Estimate:
    """The mean over units of the slopes of log y[unit] against log x; y (units, points)."""
    nothing = (np.nan, np.nan, np.nan)
    if len(x) < 2:
        return Estimate(*nothing, "fewer than two points")
    lacking = (y <= 0).sum(axis=0)
    if lacking.any():
        at = np.argmax(lacking > 0)
        return Estimate(*nothing, f"no {name} at {x[at]:g} in {lacking[at]} of {len(y)}")
    place = np.log(x) - np.log(x).mean()
    return mean_over_units(np.log(y) @ place / (place @ place))


def slopes(runs: pd.DataFrame) -> pd.DataFrame:
    """Every exponent of every learner.

    Along K at every budget: over all K, over the last two octaves ("late"), and ("local") from each
    K to the next. Along B at every K, but where nothing drifts: 0 has no logarithm. ``first`` and
    ``last`` are the ends of what is fitted.
    """
    rows = []
    for keys, mine in runs.groupby(LEARNER, sort=False):
        unit = unit_of(mine)
        known = dict(zip(LEARNER, keys, strict=True))
        known |= {"unit": unit, "units": mine[unit].nunique()}
        fits = []
        for budget, found in mine.groupby("budget", sort=False):
            every = sorted(found["episodes"].unique())
            late = [K for K in every if every[-1] <= LATE * K]
            local = [("local", [*pair]) for pair in pairwise(every)]
            for which, chosen in [("all", every), ("late", late), *local]:
                fit = {"budget": budget, "along": "episodes", "which": which}
                fits.append((fit, found[found["episodes"].isin(chosen)]))
        for K, found in mine[mine["B"] > 0].groupby("episodes"):
            fits.append(({"episodes": K, "along": "B", "which": "all"}, found))
        for fit, found in fits:
            for quantity in GROWING:
                means = found.groupby([unit, fit["along"]])[quantity].mean().unstack()
                means = means.dropna(axis=1)
                x = means.columns.to_numpy(dtype=float)
                first, last = (x[0], x[-1]) if len(x) else (np.nan, np.nan)
                value = exponent(x, means.to_numpy(), quantity.replace("_", " "))
                ends = {"quantity": quantity, "points": len(x), "first": first, "last": last}
                rows.append({**known, **fit, **ends, **value._asdict()})
    return pd.DataFrame(rows)


def violations(runs: pd.DataFrame) -> pd.DataFrame:
    """Violation per episode at every K and budget, and that of the unit where it is most."""
    rows, by = [], [*LEARNER, "budget", "episodes"]
    for keys, here in runs.groupby(by, sort=False):
        row: dict[str, Any] = dict(zip(by, keys, strict=True))
        unit = unit_of(runs[runs["learner"] == row["learner"]])
        row |= {"B": here["B"].iloc[0], "units": here[unit].nunique(), "runs": len(here)}
        means = here.groupby(unit)[["violation", "positive_violation"]].mean() / row["episodes"]
        for name in means:
            value, low, high, _ = mean_over_units(means[name].to_numpy())
            row |= {name: value, f"{name}_low": low, f"{name}_high": high}
        rows.append({**row, "violation_most": means["violation"].max()})
    return pd.DataFrame(rows)
