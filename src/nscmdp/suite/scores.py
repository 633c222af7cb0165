"""Scores and their intervals, profiles and pairs.

The unit of regret and gap is the uniform policy's mean gap in the same instance, that of violation is rho: 0 is the
optimum, and a gap of 1 is what needs no learning. Runs are paired: the same instance and seed have the same draws for
all learners. Intervals come from resampling instances, and of each drawn instance its seeds; environments are not
resampled, as the suite is these and no others.
"""

from functools import cache
from itertools import permutations
from typing import NamedTuple

import numpy as np
import pandas as pd

from nscmdp.cmdp import Array
from nscmdp.suite.definition import MEASURES, SCALE

PLACE = ["environment", "instance"]
BY_UNIFORM, BY_RHO = ("regret", "positive_regret", "gap"), ("violation", "positive_violation")
TALLIED = ("gap", "regret", "positive_violation")
RESAMPLES = 2000
ENDS = (2.5, 97.5)
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
        ran = (
            runs[runs["learner"].isin(there)]
            .groupby("environment", sort=False)["learner"]
            .nunique()
        )
        environments = [str(name) for name in ran.index[ran == len(there)]]
        return cls(there, environments, cube(runs, there, environments, measure))

    def resampled(self, instances: bool = True, seeds: bool = True) -> Array:
        """(R, L): the mean over all environments of every learner, in every resample."""
        _, E, I, S = self.values.shape
        return (
            weights(E, I, S, instances=instances, seeds=seeds)
            @ self.values.reshape(len(self.learners), -1).T
        )


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
    rng = np.random.default_rng(0)
    drawn = (
        rng.multinomial(I, np.full(I, 1 / I), size=(RESAMPLES, E))
        if instances
        else np.ones((RESAMPLES, E, I), int)
    )
    within = (
        rng.multinomial(drawn * S, np.full(S, 1 / S))
        if seeds
        else np.repeat(drawn[..., None], S, axis=3)
    )
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
    return pd.DataFrame(
        [
            [name, tau, *interval((values <= tau).astype(float))]
            for name, values in zip(compared.learners, compared.values, strict=True)
            for tau in TAUS
        ],
        columns=["learner", "tau", "share", "low", "high"],
    )


def pairs(compared: Cube) -> pd.DataFrame:
    """How often the first of two learners has the smaller gap; ties count half."""
    by_name = dict(zip(compared.learners, compared.values, strict=True))
    return pd.DataFrame(
        [
            [a, b, *interval(improvement(by_name[a], by_name[b]))]
            for a, b in permutations(compared.learners, 2)
        ],
        columns=["learner", "than", "probability", "low", "high"],
    )


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
    rows = []
    for keys, mine in differences[differences["measure"].isin(TALLIED)].groupby(
        ["learner", "measure"], sort=False
    ):
        worse = [
            f"{row.environment} {row.difference:+.3f}" for row in mine[mine["low"] > 0].itertuples()
        ]
        rows.append([*keys, len(mine), (mine["high"] < 0).sum(), len(worse), ", ".join(worse)])
    return pd.DataFrame(
        rows, columns=["learner", "measure", "environments", "better", "worse", "namely"]
    )


def improvement(here: Array, there: Array) -> Array:
    return (here < there) + 0.5 * (here == there)
