"""What the suite's file expected, tested: paired differences with intervals, and p-values by Holm's correction.

The unit is an instance of an environment: the mean over its seeds of the difference between two learners, or between
two environments. If the two are the same, its sign is as likely either way; p is the share of all signs, drawn where
they are too many, for which the mean is as small as the one found.
"""

from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from nscmdp.cmdp import Array
from nscmdp.suite.definition import Hypothesis
from nscmdp.suite.runs import UNTUNED, searches
from nscmdp.suite.scores import cube, improvement, interval

LEVEL = 0.05
SIGNS = 9999
HOLDS, CONTRADICTED, UNDECIDED = "holds", "contradicted", "undecided"
COLUMNS = ["id", "says", "learner", "than", "measure", "environments"]
COLUMNS += ["pairs", "difference", "low", "high", "better", "p", "p_holm", "verdict"]


def table(runs: pd.DataFrame, expected: list[Hypothesis]) -> pd.DataFrame:
    rows = [{**_named(one), **_found(runs, one)} for one in expected]
    found = pd.DataFrame(rows, columns=COLUMNS).astype({"verdict": object})
    tested = found["p"].notna()
    found.loc[tested, "p_holm"] = holm(found.loc[tested, "p"].to_numpy(dtype=float))
    found.loc[tested, "verdict"] = [_verdict(row) for row in found[tested].to_dict("records")]
    return found


def with_searches(
    found: pd.DataFrame, runs: pd.DataFrame, expected: list[Hypothesis]
) -> pd.DataFrame:
    """A table with the number of searches, and how many of them come to the same verdict by their own constants.

    Learners that are not tuned stay as they are.
    """
    choices = searches(runs)
    single = [
        table(runs[runs["choice"].isin((UNTUNED, choice))], expected)["verdict"]
        for choice in choices
    ]
    return found.assign(
        searches=len(choices), agree=sum((one == found["verdict"]).astype(int) for one in single)
    )


def _named(one: Hypothesis) -> dict[str, str]:
    places = " ".join(one.environments) + (
        f" (than in {' '.join(one.than_in)})" if one.than_in else ""
    )
    beside = {
        "learner": one.learner,
        "than": one.other,
        "measure": one.measure,
        "environments": places,
    }
    return {"id": one.id, "says": one.says, **beside}


def _found(runs: pd.DataFrame, one: Hypothesis) -> dict[str, Any]:
    why = lacking(runs, one)
    return {"verdict": why} if why else _tested(runs, one)


def lacking(runs: pd.DataFrame, one: Hypothesis) -> str:
    """Why a hypothesis cannot be tested, in words; nothing where it can."""
    for learner, places in ((one.learner, one.environments), (one.other, one.other_environments)):
        there = runs.loc[runs["learner"] == learner, "environment"].unique()
        if not len(there):
            return f"not tested: {learner} did not run"
        missing = [name for name in places if name not in there]
        if missing:
            return f"not tested: {learner} did not run in {missing[0]}"
    return ""


def _tested(runs: pd.DataFrame, one: Hypothesis) -> dict[str, float]:
    here = cube(runs, [one.learner], one.environments, one.measure)[0]
    there = cube(runs, [one.other], one.other_environments, one.measure)[0]
    difference, low, high = interval(here - there)
    return {
        "pairs": here.size,
        "difference": difference,
        "low": low,
        "high": high,
        "better": float(improvement(here, there).mean()),
        "p": sign_flips((here - there).mean(axis=2).ravel()),
    }


def sign_flips(differences: Array) -> float:
    """One-sided: how probable is so small a mean if every difference may as well have the other sign?"""
    found = stats.permutation_test(
        (differences,),
        lambda values, axis: values.mean(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=SIGNS,
        alternative="less",
        rng=np.random.default_rng(0),
    )
    return float(found.pvalue)


def holm(p: Array) -> Array:
    """Holm's correction for several hypotheses."""
    order = np.argsort(p)
    raised = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(raised, 1.0)
    return corrected


def _verdict(row: dict[str, float]) -> str:
    if row["p_holm"] < LEVEL:
        return HOLDS
    return CONTRADICTED if row["low"] > 0 else UNDECIDED
