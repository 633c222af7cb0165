"""The uniform policy, in every episode: what knowing nothing earns."""

from typing import NamedTuple

from nscmdp.learner import act, operation, policy
from nscmdp.problem import Problem

TITLE = "uniform policy"
SWEEPS = 0  # backward inductions per episode
CONSTRAINED = False


class Uniform(NamedTuple):
    actions: int


def learner(problem: Problem) -> Uniform:
    return Uniform(problem.A)


@operation(act, Uniform)
def _(learner, h, x, u):
    return int(u * learner.actions)


@operation(policy, Uniform)
def _(learner, h, x, probabilities):
    for a in range(learner.actions):
        probabilities[a] = 1.0 / learner.actions
