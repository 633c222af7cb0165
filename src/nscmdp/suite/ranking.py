"""Learners by their mean normalised gap over the environments in which all of them ran, and how stable the order is.

The order is made anew from resampled seeds, from resampled instances, and from constants that another search found:
every learner then has, in every environment, those of a search that is drawn for it.
"""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nscmdp.cmdp import Array
from nscmdp.suite.runs import searches
from nscmdp.suite.scores import ENDS, RESAMPLES, Cube, cube


def table(compared: Cube) -> pd.DataFrame:
    """The best first; ``same_rank`` is how often a learner keeps its rank where instances and seeds are resampled."""
    means, drawn = compared.values.mean(axis=(1, 2, 3)), compared.resampled()
    low, high = np.percentile(drawn, ENDS, axis=0)
    rank, ranks = ranked(means), ranked(drawn)
    rows = {
        "rank": rank,
        "learner": compared.learners,
        "gap": means,
        "low": low,
        "high": high,
        "same_rank": (ranks == rank).mean(axis=0),
        "first": (ranks == 1).mean(axis=0),
        "environments": len(compared.environments),
    }
    return pd.DataFrame(rows).sort_values("rank", kind="stable", ignore_index=True)


def with_searches(found: pd.DataFrame, compared: Cube, runs: pd.DataFrame) -> pd.DataFrame:
    """The ranking, with how often a learner keeps its rank under the constants of other searches."""
    rank = ranked(compared.values.mean(axis=(1, 2, 3)))
    kept = (ranked(_of_drawn_searches(compared, runs)) == rank).mean(axis=0)
    shares = dict(zip(compared.learners, kept, strict=True))
    return found.assign(same_rank_searches=found["learner"].map(shares))


def ranked(means: Array) -> NDArray[np.int64]:
    """From 1 on, along the last axis."""
    return means.argsort(axis=-1, kind="stable").argsort(axis=-1, kind="stable") + 1


def stability(compared: Cube, runs: pd.DataFrame) -> pd.DataFrame:
    """How often the whole order, and its first place, differ from the ranking's."""
    rank = ranked(compared.values.mean(axis=(1, 2, 3)))
    drawn = {
        "seeds": compared.resampled(instances=False),
        "instances": compared.resampled(seeds=False),
        "instances and seeds": compared.resampled(),
        "searches": _of_drawn_searches(compared, runs),
    }
    rows = []
    for what, means in drawn.items():
        differs = ranked(means) != rank
        first = (ranked(means) == 1)[:, rank.argmin()]
        rows.append([what, len(means), differs.any(axis=1).mean(), 1 - first.mean()])
    return pd.DataFrame(rows, columns=["resampled", "resamples", "order_differs", "first_differs"])


def _of_drawn_searches(compared: Cube, runs: pd.DataFrame) -> Array:
    """(R, L): mean gaps with the constants of searches drawn for every learner and environment.

    A learner that was not tuned keeps its constants.
    """
    main = compared.values.mean(axis=(2, 3))
    means = [main]
    for choice in searches(runs):
        mine = cube(
            runs[runs["choice"] == choice], compared.learners, compared.environments, "gap"
        ).mean(axis=(2, 3))
        means.append(np.where(np.isnan(mine), main, mine))
    found = np.stack(means[1:] or means)  # (searches, L, E)
    picked = np.random.default_rng(0).integers(len(found), size=(RESAMPLES, *main.shape))
    learner, environment = np.indices(main.shape)
    return found[picked, learner, environment].mean(axis=2)
