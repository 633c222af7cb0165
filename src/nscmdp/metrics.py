"""What a policy is measured by, beside the optimum of its own episode: the one place where these formulas stand.

With V_k and W_k the exact value and utility of the policy of episode k, V*_k and lambda*_k the constrained optimum and
its multiplier, per episode:

    regret      V*_k - V_k                                  signed, as in the paper
    violation   rho - W_k                                   signed, as in the paper
    gap         (V*_k - V_k) + lambda*_k (rho - W_k)        the Lagrangian gap, never negative
    positive_regret, positive_violation                     [V*_k - V_k]_+ and [rho - W_k]_+: nothing cancels

An evaluated episode stands for ``weight`` episodes. Intervals are over seeds, the unit of replication.
"""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

WINDOWS = 200  # stretches of a run by which realised returns are kept
RESAMPLES = 2000
OPTIMAL = ("optimal_value", "optimal_utility", "optimal_multiplier")
MEASURES = ("regret", "positive_regret", "violation", "positive_violation", "gap")


def cost(horizon: Any, utility: Any) -> Any:
    """The cost H - W of an episode, as g = 1 - cost in every step; of rho, the limit on the cost."""
    return horizon - utility


def violation(utility_value: Array, rho: float) -> Array:
    """Of every episode; the only measure that needs no optimum."""
    return rho - utility_value


def compare(value: Array, utility_value: Array, optimum: Array, rho: float) -> dict[str, Array]:
    """The measures of policies of value V and utility W, and the optima (n,3) of their episodes beside them."""
    regret, violated = optimum[:, 0] - value, violation(utility_value, rho)
    gap = regret + optimum[:, 2] * violated
    measures = (regret, np.maximum(regret, 0.0), violated, np.maximum(violated, 0.0), gap)
    return dict(zip(OPTIMAL, optimum.T, strict=True)) | dict(zip(MEASURES, measures, strict=True))


def mean(values: Any, weight: Any) -> float:
    """Per episode, over a run or a part of it."""
    return float(np.average(values, weights=weight))


def window_means(episodes: NDArray[np.int64], columns: dict[str, Array]) -> dict[str, Array]:
    """Means per episode over windows of so many ``episodes``, of columns that hold every episode."""
    starts = _starts(episodes)
    return {name: np.add.reduceat(column, starts) / episodes for name, column in columns.items()}


def window_least(episodes: NDArray[np.int64], column: Array) -> Array:
    return np.minimum.reduceat(column, _starts(episodes))


def window_middle(episodes: NDArray[np.int64]) -> Array:
    """The episode in the middle of each window."""
    return _starts(episodes) + (episodes + 1) / 2


def _starts(episodes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(episodes)[:-1]])


def mean_interval(values: Array, level: float = 0.95) -> tuple[Array, Array, Array]:
    """Mean over the first axis (seeds) with a percentile bootstrap interval; one seed has no interval."""
    from scipy import stats  # slow to import, and planning a study does without

    mean = values.mean(axis=0)
    if len(values) < 2:
        return mean, np.full_like(mean, np.nan), np.full_like(mean, np.nan)
    options = {"confidence_level": level, "n_resamples": RESAMPLES, "batch": 200}
    with warnings.catch_warnings():  # seeds that agree have a point for an interval
        warnings.simplefilter("ignore", stats.DegenerateDataWarning)
        found = stats.bootstrap(
            (values,), np.mean, method="percentile", rng=np.random.default_rng(0), **options
        )
    return mean, found.confidence_interval.low, found.confidence_interval.high
