"""Detecting Triple-Q: a restart when a test says that the model has moved, not by a schedule. Not in the paper.

    every step:                   the base learns and acts;  the test of _detection.py is given (h,x,a), r, g and y
    at the end of an episode:     if the test raised an alarm, the base's tables and the test start afresh

The base is stationary Triple-Q or Tracking Triple-Q, each with the constants that it would have if B were 1: neither
the budget nor any power of it is known, as for Algorithm 2, whose rival this is. What a test says, at which level and
with what power, is in ``_detection.py``. The queue Z is carried over: utility that is owed stays owed.

With ``pool`` "steps" the learner is told that the model is the same at every step, and tests (x,a) in place of (h,x,a):
fewer entries, each with H times the visits. Where that is not so, the level does not hold.
"""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from nscmdp.algorithms import tracking_triple_q, triple_q
from nscmdp.algorithms._bandit_over_bandit import first_inside, last_inside, next_inside
from nscmdp.algorithms._detection import Detection, begin_anew, detection, observe
from nscmdp.cmdp import Array
from nscmdp.kernels.jit import jit
from nscmdp.learner import (
    Factor,
    begin_episode,
    chosen,
    distribution,
    dual,
    end_of_episode,
    first_action,
    last_lesson,
    next_action,
    operation,
    scalars,
)
from nscmdp.problem import Problem

TITLE = "Detecting Triple-Q"
SWEEPS = 0  # backward inductions per episode

FACTORS = {
    **triple_q.FACTORS,
    "btilde": Factor(0.0),  # of Tracking Triple-Q alone, and so is
    "memory": Factor(0.1),
    "level": Factor(0.05),  # delta: the probability of a false alarm between two restarts
}
ranges = triple_q.ranges
BASES = {"triple_q": triple_q, "tracking_triple_q": tracking_triple_q}
KEPT = 1000  # alarms whose episodes are kept


@dataclass(frozen=True)
class Variants:
    """What is restarted, and what is tested."""

    base: Literal["triple_q", "tracking_triple_q"] = "triple_q"
    pool: Literal["none", "steps"] = (
        "none"  # entries (h,x,a), or (x,a) where the model is said to be the same at all h
    )


class Constants(NamedTuple):
    base: Any  # the base's own
    level: float  # delta


class DetectingTripleQ(NamedTuple):
    inner: Any
    test: Detection
    now: Array  # scalars: episodes and alarms so far
    alarms: Array  # (KEPT,): the episodes at whose ends the first of them were raised
    actions: int
    states: int  # of one step; 0 if steps are pooled

    @property
    def traces(self) -> dict[str, Array]:
        """The episodes with an alarm."""
        return {"alarm": self.alarms[: min(self.now[0].alarms, KEPT), None]}


def scaled(problem: Problem, factors: Any, variants: Variants) -> Constants:
    base, unknown = BASES[variants.base], problem._replace(candidate_B=1.0)
    return Constants(
        base=base.scaled(unknown, chosen(base.FACTORS, **vars(factors)), base.Variants()),
        level=factors.level,
    )


def learner(problem: Problem, constants: Constants, variants: Variants) -> DetectingTripleQ:
    base, pooled = BASES[variants.base], variants.pool == "steps"
    entries = (1 if pooled else problem.H) * problem.S * problem.A
    return DetectingTripleQ(
        inner=base.learner(problem, constants.base, base.Variants()),
        test=detection(entries, problem.S, constants.level),
        now=scalars(episode=0, alarms=0),
        alarms=np.zeros(KEPT),
        actions=problem.A,
        states=0 if pooled else problem.S,
    )


@jit
def see(learner, h, x, a, r, g, y):
    observe(learner.test, (h * learner.states + x) * learner.actions + a, r, g, y)


@jit
def forget(learner):
    """Every entry of the base holds its initial values, as if never visited; so does the test."""
    inner = learner.inner
    for h in range(inner.table.shape[0]):
        inner.table[h, :, 0] = inner.initial[h, 0]
        inner.table[h, :, 1] = inner.initial[h, 1]
    inner.table[:, :, 2] = inner.now[0].zero
    begin_anew(learner.test)


@jit
def finish_episode(learner):
    end_of_episode(learner.inner)
    now = learner.now[0]
    now.episode += 1
    if learner.test.now[0].alarm:
        if now.alarms < len(learner.alarms):
            learner.alarms[now.alarms] = now.episode
        now.alarms += 1
        forget(learner)


@operation(begin_episode, DetectingTripleQ)
def _(learner, u):
    begin_episode(learner.inner, u)


@operation(first_action, DetectingTripleQ)
def _(learner, x, u, probabilities):
    return first_inside(learner.inner, x, u, probabilities)


@operation(next_action, DetectingTripleQ)
def _(learner, h, x, a, r, g, y, u, probabilities):
    see(learner, h, x, a, r, g, y)
    return next_inside(learner.inner, h, x, a, r, g, y, u, probabilities)


@operation(last_lesson, DetectingTripleQ)
def _(learner, h, x, a, r, g, y):
    see(learner, h, x, a, r, g, y)
    last_inside(learner.inner, h, x, a, r, g, y)


@operation(end_of_episode, DetectingTripleQ)
def _(learner):
    finish_episode(learner)


@operation(distribution, DetectingTripleQ)
def _(learner, h, x, probabilities):
    return distribution(learner.inner, h, x, probabilities)


@operation(dual, DetectingTripleQ)
def _(learner):
    return dual(learner.inner)
