"""How regret, violation and gap grow with K and B: log-log slopes with bootstrap intervals over seeds.

A slope means something only where the quantity is positive throughout; elsewhere it is left out and the reason given.
"""

import warnings
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from nscmdp import metrics
from nscmdp.analysis.statistics import RESAMPLES
from nscmdp.metrics import Array

RUN = ["experiment", "reading", "budget", "B", "episodes", "learner", "algorithm", "setting"]


class Slope(NamedTuple):
    value: float
    low: float
    high: float
    why_not: str = ""


def totals(exact: pd.DataFrame) -> pd.DataFrame:
    """One row per run: the sums over its episodes."""
    weighted = exact[[*RUN, "seed"]].join(exact[list(metrics.MEASURES)].mul(exact["weight"], axis=0))
    return weighted.groupby([*RUN, "seed"], sort=False, as_index=False).sum()


def slope(x: Array, samples: list[Array], name: str) -> Slope:
    """The slope of log mean(samples[i]) against log x[i], the seeds of each i resampled."""
    if len(x) < 2:
        return Slope(np.nan, np.nan, np.nan, "fewer than two points")
    means = np.array([sample.mean() for sample in samples])
    if (means <= 0).any():
        return Slope(np.nan, np.nan, np.nan, f"{name} is not positive at {x[means <= 0][0]:g}")
    place = np.log(x) - np.log(x).mean()

    def fitted(*resampled: Array, axis: int = -1) -> Array:
        mean = np.stack([sample.mean(axis=axis) for sample in resampled], axis=-1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.log(mean) @ place / (place @ place)

    value = float(fitted(*samples))
    if min(len(sample) for sample in samples) < 2:
        return Slope(value, np.nan, np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stats.DegenerateDataWarning)  # seeds that agree have a point for an interval
        interval = stats.bootstrap(
            tuple(samples),
            fitted,
            vectorized=True,
            n_resamples=RESAMPLES,
            method="percentile",
            rng=np.random.default_rng(0),
        ).confidence_interval
    return Slope(value, float(interval.low), float(interval.high))


def slopes(runs: pd.DataFrame, quantity: str, along: str, last: int | None = None) -> pd.DataFrame:
    """Slopes of a quantity along "episodes" or "B", one row a learner and value of the other axis."""
    other = "budget" if along == "episodes" else "episodes"
    rows = []
    for keys, group in runs.groupby(["learner", "algorithm", "setting", other], sort=False):
        points = sorted(group[along].unique())[-last if last else None :]
        samples = [group.loc[group[along] == point, quantity].to_numpy() for point in points]
        found = slope(np.array(points, dtype=float), samples, quantity)
        named = zip(("learner", "algorithm", "setting", other), keys, strict=True)
        rows.append({**dict(named), "quantity": quantity, "along": along, "points": len(points), **found._asdict()})
    return pd.DataFrame(rows)
