"""Scores and their intervals, profiles, pairs and the ranking, with how stable it is.

The unit of regret and gap is the uniform policy's mean gap in the same instance, that of violation is rho: 0 is the
optimum, and a gap of 1 is what needs no learning. Runs are paired: the same instance and seed have the same draws for
all learners. Intervals come from resampling instances, and of each drawn instance its seeds; environments are not
resampled, as the suite is these and no others.

Learners are ranked by their mean normalised gap over the environments in which all of them ran. The order is made again
from resampled seeds, from resampled instances, and from constants that another search found: every learner then has, in
every environment, those of a search that is drawn for it.
"""

from functools import cache
from itertools import permutations
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nscmdp.cmdp import Array
from nscmdp.suite.definition import MEASURES, SCALE

PLACE = ["environment", "instance"]
BY_UNIFORM, BY_RHO = ("regret", "positive_regret", "gap"), ("violation", "positive_violation")
TALLIED = ("gap", "regret", "positive_violation")
RESAMPLES = 2000
ENDS = (2.5, 97.5)
UNTUNED = ""  # the choice of a learner that is not tuned
TAUS = np.round(np.linspace(0, 1.5, 76), 2)


def normalised(runs: pd.DataFrame) -> pd.DataFrame:
    """The same runs in units in which environments can be added up; adaptation stays in episodes."""
    uniform = runs[runs["learner"] == SCALE].groupby(PLACE)["gap"].mean()
    unit = uniform.loc[pd.MultiIndex.from_frame(runs[PLACE])].to_numpy()
    by_uniform = {name: runs[name] / unit for name in BY_UNIFORM}
    return runs.assign(**by_uniform, **{name: runs[name] / runs["rho"] for name in BY_RHO})


class Cube(NamedTuple):
    """A measure of some learners where all of them ran: values (L, E, I, S)."""

    learners: list[str]
    environments: list[str]
    values: Array

    @classmethod
    def of(cls, runs: pd.DataFrame, learners: list[str], measure: str = "gap") -> "Cube":
        """Of the learners that are there, in the environments in which each of them ran."""
        there = [name for name in learners if (runs["learner"] == name).any()]
        mine = runs[runs["learner"].isin(there)]
        ran = mine.groupby("environment", sort=False)["learner"].nunique()
        environments = [str(name) for name in ran.index[ran == len(there)]]
        return cls(there, environments, cube(runs, there, environments, measure))

    def resampled(self, instances: bool = True, seeds: bool = True) -> Array:
        """(R, L): the mean over all environments of every learner, in every resample."""
        shares = weights(*self.values.shape[1:], instances=instances, seeds=seeds)
        return shares @ self.values.reshape(len(self.learners), -1).T


def cube(runs: pd.DataFrame, learners: list[str], environments: list[str], measure: str) -> Array:
    """(L, E, I, S); every learner has the same instances and seeds in all these environments."""
    keys = ["learner", "environment", "instance", "seed"]
    values = runs.set_index(keys)[measure]
    instances, seeds = (sorted(runs[key].unique()) for key in ("instance", "seed"))
    index = pd.MultiIndex.from_product([learners, environments, instances, seeds], names=keys)
    shape = (len(learners), len(environments), len(instances), len(seeds))
    return values.reindex(index).to_numpy(dtype=float).reshape(shape)


@cache
def weights(E: int, I: int, S: int, *, instances: bool = True, seeds: bool = True) -> Array:
    """(R, E I S): the share of every run in a mean over environments, in every resample."""
    rng, drawn = np.random.default_rng(0), np.ones((RESAMPLES, E, I), int)
    if instances:
        drawn = rng.multinomial(I, np.full(I, 1 / I), size=(RESAMPLES, E))
    within = np.repeat(drawn[..., None], S, axis=3)
    if seeds:
        within = rng.multinomial(drawn * S, np.full(S, 1 / S))
    return within.reshape(RESAMPLES, -1) / (E * I * S)


def interval(values: Array) -> tuple[float, float, float]:
    """The mean of values (E, I, S) over all environments, with its interval; one run of each has none."""
    E, I, S = values.shape
    mean = float(values.mean())
    if I * S < 2:
        return mean, np.nan, np.nan
    low, high = np.percentile(weights(E, I, S) @ values.ravel(), ENDS)
    return mean, float(low), float(high)


def table(runs: pd.DataFrame) -> pd.DataFrame:
    """One row per environment and learner."""
    rows = []
    for (environment, learner), mine in runs.groupby(["environment", "learner"], sort=False):
        row = {"environment": environment, "learner": learner}
        for name in MEASURES:
            mean, low, high = interval(cube(mine, [learner], [environment], name)[0])
            row |= {name: mean, f"{name}_low": low, f"{name}_high": high}
        rows.append(row | {"state_bytes": mine["state_bytes"].max()})
    return pd.DataFrame(rows)


def profile(compared: Cube) -> pd.DataFrame:
    """The share of runs whose normalised gap is at most tau."""
    rows = []
    for name, values in zip(compared.learners, compared.values, strict=True):
        rows += [[name, tau, *interval((values <= tau).astype(float))] for tau in TAUS]
    return pd.DataFrame(rows, columns=["learner", "tau", "share", "low", "high"])


def pairs(compared: Cube) -> pd.DataFrame:
    """How often the first of two learners has the smaller gap; ties count half."""
    values = zip(compared.learners, compared.values, strict=True)
    rows = [[a, b, *interval(improvement(x, y))] for (a, x), (b, y) in permutations(values, 2)]
    return pd.DataFrame(rows, columns=["learner", "than", "probability", "low", "high"])


def paired(runs: pd.DataFrame, learners: list[str], first: str) -> pd.DataFrame:
    """By environment and measure: how much larger the measure of every learner is than that of the first one."""
    rows = []
    for environment, mine in runs.groupby("environment", sort=False):
        there = set(mine["learner"])
        for name in [one for one in learners if {one, first} <= there and one != first]:
            for measure in MEASURES:
                here, other = cube(mine, [name, first], [environment], measure)
                rows.append([environment, name, first, measure, *interval(here - other)])
    named = ["environment", "learner", "than", "measure", "difference", "low", "high"]
    return pd.DataFrame(rows, columns=named).dropna(subset="difference", ignore_index=True)


def tallied(differences: pd.DataFrame) -> pd.DataFrame:
    """Of :func:`paired`, by learner and measure: where the interval lies below 0, and where above, by name."""
    rows, shown = [], differences[differences["measure"].isin(TALLIED)]
    for keys, mine in shown.groupby(["learner", "measure"], sort=False):
        above = mine[mine["low"] > 0].itertuples()
        worse = [f"{row.environment} {row.difference:+.3f}" for row in above]
        rows.append([*keys, len(mine), (mine["high"] < 0).sum(), len(worse), ", ".join(worse)])
    named = ["learner", "measure", "environments", "better", "worse", "namely"]
    return pd.DataFrame(rows, columns=named)


def improvement(here: Array, there: Array) -> Array:
    return (here < there) + 0.5 * (here == there)


def ranking(compared: Cube, runs: pd.DataFrame | None = None) -> pd.DataFrame:
    """The best first, and how often a learner keeps its rank where instances and seeds are resampled.

    With ``runs`` of several searches, also how often it does under the constants of other searches.
    """
    means, drawn = compared.values.mean(axis=(1, 2, 3)), compared.resampled()
    low, high = np.percentile(drawn, ENDS, axis=0)
    rank, ranks = ranked(means), ranked(drawn)
    rows = {"rank": rank, "learner": compared.learners, "gap": means, "low": low, "high": high}
    rows |= {"same_rank": (ranks == rank).mean(axis=0), "first": (ranks == 1).mean(axis=0)}
    rows |= {"environments": len(compared.environments)}
    if runs is not None:
        under_others = ranked(_of_drawn_searches(compared, runs)) == rank
        rows |= {"same_rank_searches": under_others.mean(axis=0)}
    return pd.DataFrame(rows).sort_values("rank", kind="stable", ignore_index=True)


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


def searches(runs: pd.DataFrame) -> list[str]:
    """The choices among runs that single searches made."""
    return sorted(choice for choice in runs["choice"].unique() if choice.startswith("search_"))


def _of_drawn_searches(compared: Cube, runs: pd.DataFrame) -> Array:
    """(R, L): mean gaps with the constants of searches drawn for every learner and environment.

    A learner that was not tuned keeps its constants.
    """
    main, means = compared.values.mean(axis=(2, 3)), []
    for choice in searches(runs):
        mine = runs[runs["choice"] == choice]
        gaps = cube(mine, compared.learners, compared.environments, "gap").mean(axis=(2, 3))
        means.append(np.where(np.isnan(gaps), main, gaps))
    found = np.stack(means or [main])  # (searches, L, E)
    picked = np.random.default_rng(0).integers(len(found), size=(RESAMPLES, *main.shape))
    learner, environment = np.indices(main.shape)
    return found[picked, learner, environment].mean(axis=2)
