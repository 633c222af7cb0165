"""What a candidate of a tuning is scored by, and how candidates are ordered. All are means per episode of a run.

Two objectives:

    gap      equal treatment. Feasible is a candidate whose signed violation has a one-sided 95% upper bound over the
             seeds of at most 0. Among the feasible ones the least Lagrangian gap, which is never negative in any
             episode, so that nothing cancels; the others follow, ranked by that bound. A learner that ignores the
             constraint is scored by what it loses against the best value without it, and every candidate of it
             counts as feasible.
    margin   what an author does for her own method: the widest smallest margin of some statements about a run, each a
             distance that is at least 0 where the statement holds (:class:`Margins`). A margin is the mean distance in
             standard deviations between seeds. The loss is minus the smallest one, and every candidate is feasible.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from nscmdp import algorithms, files, metrics, simulate
from nscmdp.drift import DriftingCMDP
from nscmdp.metrics import Array
from nscmdp.suite import optima

MEASURES = ("loss", "violation", "reward", "utility", "lam")
CONFIDENCE = 0.95
LEAST = 0.01  # a standard deviation counts as at least so much: runs that agree to a percent are equally sure


class Margins(NamedTuple):
    """Statements about a run, for the objective "margin"."""

    parts: tuple[str, ...]
    # Of a run, the references of its episodes, and the environment.
    distances: Callable[[simulate.Run, pd.DataFrame, DriftingCMDP], dict[str, float]]


class Objective(NamedTuple):
    """How candidates are ordered."""

    constrained: bool
    parts: tuple[str, ...] = ()  # whose smallest margin is maximised; none: equal treatment

    @classmethod
    def of(cls, spec: dict[str, Any], margins: Margins | None = None) -> "Objective":
        return cls(algorithms.constrained(spec["algorithm"]), margins.parts if margins else ())

    @property
    def measures(self) -> tuple[str, ...]:
        return (*MEASURES, *self.parts)

    def provisional(self, rows: pd.DataFrame, selection_seeds: int) -> pd.DataFrame:
        """Candidates of one generation, the best first: on too few seeds for each one's own s, which is shared."""
        grouped = rows.groupby("candidate")
        means = grouped[list(self.measures)].mean().assign(factors=grouped["factors"].first())
        spread = grouped[list(self.measures)].std(ddof=1).fillna(0.0).median()
        if names := list(self.parts):
            key, infeasible = -margin(means[names], spread[names]).min(axis=1), False
        else:
            bound = upper_bound(means["violation"], spread["violation"], selection_seeds)
            infeasible = (bound > 0) & self.constrained
            key = means["loss"].where(~infeasible, bound)
        return _in_order(means.assign(infeasible=infeasible, key=key))

    def summary(self, rows: pd.DataFrame) -> pd.DataFrame:
        """One row per candidate (``factors``): means over the selection seeds, and whether it is feasible."""
        grouped = rows.groupby("factors", sort=False)
        table = grouped[list(self.measures)].mean()
        deviation, seeds = grouped["violation"].std(ddof=1).fillna(0.0), grouped["seed"].size()
        table["violation_bound"] = upper_bound(table["violation"], deviation, seeds)
        if self.parts:
            table["loss"] = -smallest_margin(grouped[list(self.parts)])
        feasible = (table["violation_bound"] <= 0) | (not self.constrained) | bool(self.parts)
        return table.assign(feasible=feasible, seeds=seeds).reset_index()


def _in_order(table: pd.DataFrame) -> pd.DataFrame:
    return table.sort_values(["infeasible", "key"], kind="stable")


def ranked(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of :meth:`Objective.summary`, the best first; ties go to the one that came first."""
    key = table["loss"].where(table["feasible"], table["violation_bound"])
    return table.loc[_in_order(pd.DataFrame({"infeasible": ~table["feasible"], "key": key})).index]


def margin(mean: Any, deviation: Any) -> Any:
    return mean / np.maximum(deviation, LEAST)


def smallest_margin(distances: Any) -> pd.Series:
    """The smallest margin of the parts by group, of grouped rows with a column of distances for each part."""
    return margin(distances.mean(), distances.std(ddof=1).fillna(0.0)).min(axis=1)


def upper_bound(mean: Any, deviation: Any, seeds: Any) -> Any:
    """One-sided, at 95%, of the mean over so many seeds."""
    from scipy.special import stdtrit  # scipy.stats takes half a second to import

    return mean + stdtrit(np.maximum(seeds - 1, 1), CONFIDENCE) * deviation / np.sqrt(seeds)


class Scorer:
    """Scores factors of one algorithm in one environment."""

    def __init__(self, spec: dict[str, Any], solved: Path, margins: Margins | None = None) -> None:
        self.env, self.margins = optima.environment(spec["case"]), margins
        self.objective, self.algorithm = Objective.of(spec, margins), spec["algorithm"]
        self.variants, self.every = spec["variants"], spec["evaluate_every"]
        self.best = references(solved, spec["case"]["episodes"])
        self.selection_seeds = len(spec["effort"]["selection_seeds"])

    @property
    def measures(self) -> Sequence[str]:
        return self.objective.measures

    def ordered(self, rows: pd.DataFrame) -> pd.DataFrame:
        return self.objective.provisional(rows, self.selection_seeds)

    def score(self, factors: dict[str, float], seed: int) -> dict[str, float]:
        given: dict[str, Any] = {"factors": factors, "variants": self.variants, "windows": 1}
        run = simulate.run(
            self.env, self.algorithm, "scaled", seed, self.every, **given, solve=False
        )
        best = self.best.loc[run.episode]
        found = scored(run, best, self.objective.constrained)
        return found | (self.margins.distances(run, best, self.env) if self.margins else {})


def references(solved: Path, episodes: int) -> pd.DataFrame:
    """By episode: the optimum, its multiplier, the best value without the constraint and the uniform policy's."""
    table = files.read(solved)[0].to_pandas().set_index("case")
    case, names = table.loc[f"default/K={episodes}"], (*optima.BEST, *optima.REFERENCES)
    return pd.DataFrame({name: case[name] for name in names}, index=case["episode"])


def scored(run: simulate.Run, best: pd.DataFrame, constrained: bool) -> dict[str, float]:
    def mean(of: Array) -> float:
        return metrics.mean(of, run.weight)

    optimal, uniform = best[list(optima.BEST)].to_numpy(), best["uniform"].to_numpy()
    compared = metrics.compare(run.value, run.utility_value, optimal, run.rho)
    loss = compared["gap"] if constrained else best["unconstrained"].to_numpy() - run.value
    found = {"loss": mean(loss), "violation": mean(compared["violation"])}
    found |= {"reward": mean(run.value), "utility": mean(run.utility_value)}
    return found | {"lam": mean(run.value - uniform) / mean(optimal[:, 0] - uniform)}
