"""Intervals: the seed is the unit of replication."""

import warnings

import numpy as np
from scipy import stats

from nscmdp.cmdp import Array

RESAMPLES = 2000


def mean_interval(values: Array, level: float = 0.95) -> tuple[Array, Array, Array]:
    """Mean over the first axis (seeds) with a percentile bootstrap interval; one seed has no interval."""
    mean = values.mean(axis=0)
    if len(values) < 2:
        return mean, np.full_like(mean, np.nan), np.full_like(mean, np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", stats.DegenerateDataWarning
        )  # seeds that agree have a point for an interval
        interval = stats.bootstrap(
            (values,),
            np.mean,
            axis=0,
            confidence_level=level,
            n_resamples=RESAMPLES,
            batch=200,
            method="percentile",
            rng=np.random.default_rng(0),
        ).confidence_interval
    return mean, interval.low, interval.high
