"""Learners that run another one inside.

An operation expanded inside an expanded one takes the compiler twice as long, and no less time at work: the inner
learner's are called.
"""

from typing import TypeVar

from nscmdp.kernels.jit import jit
from nscmdp.learner import distribution, dual, first_action, last_lesson, next_action, operation

Learner = TypeVar("Learner", bound=type)


@jit
def first_inside(inner, x, u, probabilities):
    return first_action(inner, x, u, probabilities)


@jit
def next_inside(inner, h, x, a, r, g, y, u, probabilities):
    return next_action(inner, h, x, a, r, g, y, u, probabilities)


@jit
def last_inside(inner, h, x, a, r, g, y):
    last_lesson(inner, h, x, a, r, g, y)


def plays_inner(learner_class: Learner) -> Learner:
    """Class decorator: what is played is the policy of the learner ``inner``."""

    @operation(first_action, learner_class)
    def _(learner, x, u, probabilities):
        return first_inside(learner.inner, x, u, probabilities)

    @operation(distribution, learner_class)
    def _(learner, h, x, probabilities):
        return distribution(learner.inner, h, x, probabilities)

    @operation(dual, learner_class)
    def _(learner):
        return dual(learner.inner)

    return learner_class
