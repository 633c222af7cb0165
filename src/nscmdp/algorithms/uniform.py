"""The uniform policy, in every episode: what knowing nothing earns."""

from dataclasses import dataclass
from typing import NamedTuple

from nscmdp.learner import act, operation, policy
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


@operation(act, Uniform)
def _(learner, h, x, u):
    return int(u * learner.actions)


@operation(policy, Uniform)
def _(learner, h, x, probabilities):
    for a in range(learner.actions):
        probabilities[a] = 1.0 / learner.actions
