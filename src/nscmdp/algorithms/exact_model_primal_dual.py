"""A control: Algorithm 1's queue over the exact model. What is left of its error is the dual's.

    in episode k:  play  argmax_a Q_h(x,a) + (Z/eta) C_h(x,a)  with the true Q and C of episode k's own model
    every L episodes:  Z <- (Z + rho + eps - Cbar/L)^+,   Cbar the sum of C_1(x_1,a_1) over the frame

with the L, eta and eps of Algorithm 1. It learns nothing, so nothing is estimated, forgotten or explored; of actions
of the same value, one with the highest utility is played.
"""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nscmdp import learner as operations
from nscmdp.algorithms import _triple_q
from nscmdp.algorithms import nonstationary_triple_q as algorithm_1
from nscmdp.cmdp import Array
from nscmdp.kernels.induction import DriftArrays, Model, drift_of, empty_model, greedy, mix
from nscmdp.learner import Factor, chosen, operation, scalars
from nscmdp.problem import Problem

TITLE = "Algorithm 1's queue with the exact model (control)"

# Those of Algorithm 1's that concern the queue.
FACTORS = {
    "epsilon": Factor(4.0, 0.03, 30.0),  # eps = epsilon B^(1/3) K^-0.2
    "eta": Factor(0.5, 0.01, 300.0),  # eta = eta K^0.2 B^(1/3)
    "frame": Factor(4.0, 0.1, 30.0),  # L = frame K^0.6 B^(-2/3)
}


@dataclass(frozen=True)
class Variants:
    """Those of Algorithm 1 that concern the queue."""

    frame: Literal["own", "triple_q"] = "own"  # L = K^0.6 / B^(2/3), or K^0.6
    eta: Literal["own", "triple_q"] = "own"  # K^0.2 B^(1/3), or K^0.2
    queue: Literal["carried", "reset"] = "carried"  # Z over frames


class Constants(NamedTuple):
    frame: int  # L
    eta: float
    eps: float


def literal(problem: Problem, variants: Variants) -> Constants:
    theirs = algorithm_1.literal(problem, listing(variants))
    return Constants(frame=theirs.frame, eta=theirs.eta, eps=theirs.eps)


def authors(problem: Problem, variants: Variants) -> Constants:
    theirs = algorithm_1.authors(problem, listing(variants))
    return Constants(frame=theirs.frame, eta=theirs.eta, eps=theirs.eps)


def scaled(problem: Problem, factors: Any, variants: Variants) -> Constants:
    theirs = algorithm_1.scaled(
        problem, chosen(algorithm_1.FACTORS, **vars(factors)), listing(variants)
    )
    return Constants(frame=theirs.frame, eta=theirs.eta, eps=theirs.eps)


def listing(variants: Variants) -> algorithm_1.Variants:
    return algorithm_1.Variants(frame=variants.frame, eta=variants.eta)


class ExactModelQueue(NamedTuple):
    drift: DriftArrays
    model: Model
    choice: NDArray[np.int32]  # (H, S): this episode's policy
    values: Array  # (2, S, 2): its V and W, at h = 1 in the first of the two
    now: Array  # scalars: episodes so far, Z, Cbar
    frame: int
    eta: float
    target: float  # rho + eps
    forget: bool


def learner(problem: Problem, constants: Constants, variants: Variants) -> ExactModelQueue:
    _triple_q.check_eta(constants.eta)
    env = problem.env
    return ExactModelQueue(
        drift=drift_of(env),
        model=empty_model(env),
        choice=np.zeros((env.H, env.S), np.int32),
        values=np.zeros((2, env.S, 2)),
        now=scalars(episode=0, Z=0.0, Cbar=0.0),
        frame=constants.frame,
        eta=constants.eta,
        target=problem.rho + constants.eps,
        forget=variants.queue == "reset",
    )


@operation(operations.begin_episode, ExactModelQueue)
def _(learner, u):
    now = learner.now[0]
    now.episode += 1
    mix(learner.drift, now.episode, learner.model)
    greedy(learner.model, 1.0, now.Z / learner.eta, learner.choice, learner.values)


@operation(operations.act, ExactModelQueue)
def _(learner, h, x, u):
    return int(learner.choice[h, x])


@operation(operations.learn, ExactModelQueue)
def _(learner, h, x, a, r, g, y):
    if h == 0:
        learner.now[0].Cbar += learner.values[0, x, 1]


@operation(operations.end_of_episode, ExactModelQueue)
def _(learner):
    now = learner.now[0]
    if now.episode % learner.frame == 0:
        # Z <- (Z + rho + eps - Cbar/L)^+
        now.Z = max(
            0.0, (0.0 if learner.forget else now.Z) + learner.target - now.Cbar / learner.frame
        )
        now.Cbar = 0.0


@operation(operations.certain_action, ExactModelQueue)
def _(learner, h, x, probabilities):
    return int(learner.choice[h, x])


@operation(operations.dual, ExactModelQueue)
def _(learner):
    return learner.now[0].Z / learner.eta
