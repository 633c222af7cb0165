"""Algorithm 1 with Triple-Q's frame-end rule: ``nonstationary_triple_q`` with the variant ``reset: bump``.

At a frame's end the tables stay and Q is raised, as the authors' earlier code does; the listing sets all tables back.
"""

from typing import Any

from nscmdp.algorithms import nonstationary_triple_q as algorithm_1
from nscmdp.algorithms._triple_q import Constants, TripleQ
from nscmdp.problem import Problem

TITLE = "Algorithm 1 with Triple-Q's frame-end rule"
SWEEPS = 0  # backward inductions per episode
FACTORS = algorithm_1.FACTORS
BUMP = algorithm_1.Variants(reset="bump")


def scaled(problem: Problem, factors: Any) -> Constants:
    return algorithm_1.scaled(problem, factors, BUMP)


def ranges(problem: Problem, frames: float) -> dict[str, tuple[float, float]]:
    return algorithm_1.ranges(problem, frames, BUMP)


def learner(problem: Problem, constants: Constants) -> TripleQ:
    return algorithm_1.learner(problem, constants, BUMP)
