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
from nscmdp.suite.scores import UNTUNED, cube, improvement, interval, searches

LEVEL = 0.05
SIGNS = 9999
HOLDS, CONTRADICTED, UNDECIDED = "holds", "contradicted", "undecided"
COLUMNS = ["id", "says", "learner", "than", "measure", "environments"]
COLUMNS += ["pairs", "difference", "low", "high", "better", "p", "p_holm", "verdict"]


def table(runs: pd.DataFrame, expected: list[Hypothesis]) -> pd.DataFrame:
    """One row per hypothesis: what it says, what was found, and the verdict or why it cannot be tested."""
    rows = [_tested(runs, one) for one in expected]
    found = pd.DataFrame(rows, columns=COLUMNS).astype({"verdict": object})
    tested = found["p"].notna()
    found.loc[tested, "p_holm"] = holm(found.loc[tested, "p"].to_numpy(dtype=float))
    other = np.where(found["low"] > 0, CONTRADICTED, UNDECIDED)
    verdict = np.where(found["p_holm"] < LEVEL, HOLDS, other)
    return found.assign(verdict=found["verdict"].where(~tested, verdict))


def with_searches(
    found: pd.DataFrame, runs: pd.DataFrame, expected: list[Hypothesis]
) -> pd.DataFrame:
    """A table with the number of searches, and how many of them come to the same verdict by their own constants.

    Learners that are not tuned stay as they are.
    """
    choices, agree = searches(runs), 0
    for choice in choices:
        verdicts = table(runs[runs["choice"].isin((UNTUNED, choice))], expected)["verdict"]
        agree = agree + (verdicts == found["verdict"]).astype(int)
    return found.assign(searches=len(choices), agree=agree)


def _tested(runs: pd.DataFrame, one: Hypothesis) -> dict[str, Any]:
    places = " ".join(one.environments)
    if one.than_in:
        places += f" (than in {' '.join(one.than_in)})"
    row: dict[str, Any] = {"id": one.id, "says": one.says, "learner": one.learner}
    row |= {"than": one.other, "measure": one.measure, "environments": places}
    for learner, names in ((one.learner, one.environments), (one.other, one.other_environments)):
        there = runs.loc[runs["learner"] == learner, "environment"].unique()
        missing = [f" in {name}" for name in names if name not in there] if len(there) else [""]
        if missing:
            return row | {"verdict": f"not tested: {learner} did not run{missing[0]}"}
    here = cube(runs, [one.learner], one.environments, one.measure)[0]
    there = cube(runs, [one.other], one.other_environments, one.measure)[0]
    difference, low, high = interval(here - there)
    row |= {"pairs": here.size, "difference": difference, "low": low, "high": high}
    p = sign_flips((here - there).mean(axis=2).ravel())
    return row | {"better": float(improvement(here, there).mean()), "p": p}


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
