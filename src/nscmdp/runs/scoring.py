"""What a set of factors is scored by, and the rules that choose among candidates. All are means per episode of a run.

The rule: feasible is a candidate whose violation, signed, has a one-sided 95% upper bound over the seeds of at most 0.
Among the feasible ones the least Lagrangian gap, which is never negative in any episode, so that nothing cancels; the
others follow, ranked by that bound. A learner that ignores the constraint is scored by what it loses against the best
value without the constraint, and every candidate of it counts as feasible.

Other rules, to see what the rule itself decides:

    least_gap   the least gap, whatever the violation
    regret      feasible first, then the least signed regret
    positive    [V* - V]_+ + 2 max(lambda*) [rho - W]_+ : nothing has to be feasible, violation has a price
    tenths      feasible in every tenth of the run from the third on, then the least gap
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from nscmdp import algorithms, metrics, simulate
from nscmdp.metrics import Array
from nscmdp.runs import files, optima

MEASURES = ("loss", "violation", "regret", "positive", "worst_tenth", "reward", "utility", "lam")
MAIN = "main"
OTHERS = ("least_gap", "regret", "positive", "tenths")
CONFIDENCE = 0.95


class Scorer:
    """Scores factors of one algorithm in one environment."""

    def __init__(self, spec: dict[str, Any], solved: Path) -> None:
        self.env = optima.environment(spec["case"])
        self.algorithm, self.every = spec["algorithm"], spec["evaluate_every"]
        self.constrained = algorithms.constrained(self.algorithm)
        self.best = references(solved, spec["case"]["episodes"])
        self.measures, self.selection_seeds = MEASURES, len(spec["effort"]["selection_seeds"])

    def ordered(self, rows: pd.DataFrame) -> pd.DataFrame:
        return provisional(rows, self.selection_seeds, self.constrained)

    def others(self, rows: pd.DataFrame) -> list[tuple[int, str]]:
        return best_by_other_rules(rows, self.constrained)

    def score(self, factors: dict[str, float], seed: int) -> dict[str, float]:
        run = simulate.run(
            self.env, self.algorithm, "scaled", seed, self.every, factors=factors, windows=1, solve=False
        )
        return scored(run, self.best.loc[run.episode], self.env.episodes, self.constrained)


def references(solved: Path, episodes: int) -> pd.DataFrame:
    """By episode: the optimum, its multiplier, the best value without the constraint and the uniform policy's."""
    table = files.read(solved)[0].to_pandas().set_index("case")
    case = table.loc[f"default/K={episodes}"]
    return pd.DataFrame({name: case[name] for name in (*optima.BEST, *optima.REFERENCES)}, index=case["episode"])


def scored(run: simulate.Run, best: pd.DataFrame, episodes: int, constrained: bool) -> dict[str, float]:
    def mean(of: Array) -> float:
        return metrics.mean(of, run.weight)

    def mean_of(of: Array, part: Any) -> float:
        return metrics.mean(of[part], run.weight[part])

    compared = metrics.compare(run.value, run.utility_value, best[list(optima.BEST)].to_numpy(), run.rho)
    price = 2 * float(best["multiplier"].max())
    tenth = np.minimum((run.episode - 1) * 10 // episodes, 9)
    late = [mean_of(compared["violation"], tenth == i) for i in np.unique(tenth[tenth > 1])]
    gain, room = run.value - best["uniform"].to_numpy(), (best["value"] - best["uniform"]).to_numpy()
    return {
        "loss": mean(compared["gap"] if constrained else best["unconstrained"].to_numpy() - run.value),
        "violation": mean(compared["violation"]),
        "regret": mean(compared["regret"]),
        "positive": mean(compared["positive_regret"] + price * compared["positive_violation"]),
        "worst_tenth": max(late, default=mean(compared["violation"])),
        "reward": mean(run.value),
        "utility": mean(run.utility_value),
        "lam": mean(gain) / mean(room),
    }


def upper_bound(mean: Any, deviation: Any, seeds: Any) -> Any:
    """One-sided, at 95%, of the mean over so many seeds."""
    from scipy.special import stdtrit  # scipy.stats takes half a second to import

    return mean + stdtrit(np.maximum(seeds - 1, 1), CONFIDENCE) * deviation / np.sqrt(seeds)


def provisional(rows: pd.DataFrame, selection_seeds: int, constrained: bool) -> pd.DataFrame:
    """Candidates of one generation, the best first: too few seeds for a bound of each one's own, so s is shared."""
    grouped = rows.groupby("candidate")
    means = grouped[list(MEASURES)].mean()
    spread = grouped["violation"].std(ddof=1).fillna(0.0).median()
    bound = upper_bound(means["violation"], spread, selection_seeds)
    infeasible = (bound > 0) & constrained
    table = means.assign(
        factors=grouped["factors"].first(), infeasible=infeasible, key=means["loss"].where(~infeasible, bound)
    )
    return table.sort_values(["infeasible", "key"], kind="stable")


def best_by_other_rules(rows: pd.DataFrame, constrained: bool) -> list[tuple[int, str]]:
    """(candidate, factors) of the best of each other rule by the means over its few seeds; none where all are one."""
    if not constrained:
        return []
    grouped = rows.groupby("factors", sort=False)
    means = grouped[list(MEASURES)].mean().assign(candidate=grouped["candidate"].first())
    feasible, tenths = means[means["violation"] <= 0], means[means["worst_tenth"] <= 0]
    picks = [(means, "loss"), (feasible, "regret"), (means, "positive"), (tenths, "loss")]
    found = [part[key].idxmin() for part, key in picks if len(part)]
    return [(int(means.loc[text, "candidate"]), str(text)) for text in dict.fromkeys(found)]


def summary(rows: pd.DataFrame, constrained: bool) -> pd.DataFrame:
    """One row per candidate (``factors``): means over the selection seeds, bounds, and whether it is feasible."""
    grouped = rows.groupby("factors", sort=False)
    means, seeds = grouped[list(MEASURES)].mean(), grouped["seed"].size()
    deviation = grouped[list(MEASURES)].std(ddof=1).fillna(0.0)
    bounds = {
        f"{name}_bound": upper_bound(means[name], deviation[name], seeds) for name in ("violation", "worst_tenth")
    }
    table = means.assign(**bounds, seeds=seeds, loss_sd=deviation["loss"]).reset_index()
    return table.assign(feasible=(table["violation_bound"] <= 0) | (not constrained))


def ranked(table: pd.DataFrame, rule: str = MAIN) -> pd.DataFrame:
    """The rows of :func:`summary`, the best by a rule first; ties go to the one that came first."""
    feasible = table["feasible"]
    if rule == "tenths":
        feasible = table["worst_tenth_bound"] <= 0
        key = table["loss"].where(feasible, table["worst_tenth_bound"])
    elif rule in ("least_gap", "positive"):
        feasible = pd.Series(True, index=table.index)
        key = table["loss" if rule == "least_gap" else "positive"]
    else:
        key = table["loss" if rule == MAIN else rule].where(feasible, table["violation_bound"])
    order = pd.DataFrame({"infeasible": ~feasible, "key": key}).sort_values(["infeasible", "key"], kind="stable").index
    return table.loc[order]
