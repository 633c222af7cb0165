"""Algorithm 2 with a repaired gain: ``double_restart_triple_q`` with the variant ``gain: repaired``.

It is not in the paper; docs/repaired_algorithm_2.md has the argument for it and its gaps.
"""

from typing import Any

from nscmdp.algorithms import double_restart_triple_q as algorithm_2
from nscmdp.algorithms._bandit_over_bandit import BanditOverBandit
from nscmdp.problem import Problem

TITLE = "Algorithm 2 with the repaired gain"
SWEEPS = 0  # backward inductions per episode
FACTORS = algorithm_2.FACTORS
REPAIRED = algorithm_2.Variants(gain="repaired")


def scaled(problem: Problem, factors: Any) -> algorithm_2.Constants:
    return algorithm_2.scaled(problem, factors, REPAIRED)


def learner(problem: Problem, constants: algorithm_2.Constants) -> BanditOverBandit:
    return algorithm_2.learner(problem, constants, REPAIRED)
