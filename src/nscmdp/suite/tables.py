"""All learners on the suite: scores, profiles, pairs, hypotheses and the ranking, with how stable it is.

suite_runs         one row per run: its measures per episode
suite_searches     the gap of every run with the constants that one search found
suite_scores       one row per environment and learner: means over instances and seeds, with intervals
suite_profile      the share of runs whose normalised gap is at most tau, by learner
suite_pairs        how probable it is that one learner has the smaller gap than another in the same run
suite_paired       by environment and measure, how far every learner is from Algorithm 1 in the same runs
suite_hypotheses   what the suite's file expected, beside what was found, and how many searches agree
suite_ranking      learners by their mean normalised gap
suite_stability    how often that ranking changes under other seeds, instances or searches
"""

import pandas as pd

from nscmdp.suite import hypotheses, runs, scores
from nscmdp.suite.definition import Hypothesis


def tables(
    found: pd.DataFrame, ranked: list[str], expected: list[Hypothesis], first: str
) -> dict[str, pd.DataFrame]:
    """All tables but that of the runs, by their names; paired differences are those from the learner ``first``."""
    normalised = scores.normalised(found)
    main = normalised[normalised["choice"].isin(runs.REPORTED)]
    compared, tested = scores.Cube.of(main, ranked), hypotheses.table(main, expected)
    return {
        "suite_scores.csv": scores.table(main),
        "suite_profile.csv": scores.profile(compared),
        "suite_pairs.csv": scores.pairs(compared),
        "suite_paired.csv": scores.paired(main, ranked, first),
        "suite_hypotheses.csv": hypotheses.with_searches(tested, normalised, expected),
        "suite_ranking.csv": scores.ranking(compared, normalised),
        "suite_stability.csv": scores.stability(compared, normalised),
    }
