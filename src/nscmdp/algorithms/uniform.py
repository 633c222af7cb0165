"""The uniform policy, in every episode: what knowing nothing earns."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from nscmdp.algorithms._interface import act, begin_episode, dual, end_of_episode, implements, learn, policy
from nscmdp.problem import Problem

TITLE = "uniform policy"
SETTINGS = ("literal",)
RANGES: dict[str, tuple[float, float]] = {}
CONSTRAINED = False


@dataclass(frozen=True)
class Factors:
    pass


@dataclass(frozen=True)
class Variants:
    pass


class Uniform(NamedTuple):
    actions: int


def learner(problem: Problem, setting: str, factors: Factors, variants: Variants) -> Uniform:
    return Uniform(problem.A)


@implements(begin_episode, Uniform)
def _(learner, u):
    pass


@implements(act, Uniform)
def _(learner, h, x, u):
    return int(u * learner.actions), 0.0, 0.0


@implements(learn, Uniform)
def _(learner, h, x, a, r, g, y, v, w):
    pass


@implements(end_of_episode, Uniform)
def _(learner):
    pass


@implements(policy, Uniform)
def _(learner, h, x, probabilities):
    for a in range(learner.actions):
        probabilities[a] = 1.0 / learner.actions
    return -1


@implements(dual, Uniform)
def _(learner):
    return np.nan
