"""A control: Algorithm 1's queue over the exact model. What is left of its error is the dual's.

    in episode k:  play  argmax_a Q_h(x,a) + (Z/eta) C_h(x,a)  with the true Q and C of episode k's own model
    every L episodes:  Z <- (Z + rho + eps - Cbar/L)^+,   Cbar the sum of C_1(x_1,a_1) over the frame

with the L, eta and eps of Algorithm 1. It learns nothing, so nothing is estimated, forgotten or explored; of actions
of the same value, one with the highest utility is played.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nscmdp.algorithms import nonstationary_triple_q
from nscmdp.cmdp import Array
from nscmdp.kernels.induction import DriftArrays, Model, drift_of, empty_model, greedy, mix
from nscmdp.kernels.jit import jit
from nscmdp.learner import act, begin_episode, certain_action, dual, end_of_episode, learn, operation
from nscmdp.problem import Problem

TITLE = "Algorithm 1's queue with the exact model (control)"
SETTINGS = ("literal", "authors", "scaled")
RANGES = {"epsilon": (0.03, 30.0), "eta": (0.01, 300.0), "frame": (0.1, 30.0)}  # where tuning looks, logarithmic

EPISODE, Z, CBAR = 0, 1, 2  # slots of the memory


@dataclass(frozen=True)
class Factors:
    """Those of Algorithm 1's that concern the queue."""

    epsilon: float = 4.0  # eps = epsilon B^(1/3) K^-0.2
    eta: float = 0.5  # eta = eta K^0.2 B^(1/3)
    frame: float = 4.0  # L = frame K^0.6 B^(-2/3)


@dataclass(frozen=True)
class Variants:
    """Those of Algorithm 1 that concern the queue."""

    frame: Literal["own", "triple_q"] = "own"  # L = K^0.6 / B^(2/3), or K^0.6
    eta: Literal["own", "triple_q"] = "own"  # K^0.2 B^(1/3), or K^0.2
    queue: Literal["carried", "reset"] = "carried"  # Z over frames


class ExactModelQueue(NamedTuple):
    drift: DriftArrays
    model: Model
    choice: NDArray[np.int32]  # (H, S): this episode's policy
    values: Array  # (2, S, 2): its V and W, at h = 1 in the first of the two
    memory: Array  # episodes so far, Z, Cbar
    frame: int
    eta: float
    target: float  # rho + eps
    forget: bool


def learner(problem: Problem, setting: str, factors: Factors, variants: Variants) -> ExactModelQueue:
    theirs = nonstationary_triple_q.Factors(epsilon=factors.epsilon, eta=factors.eta, frame=factors.frame)
    chosen = nonstationary_triple_q.Variants(frame=variants.frame, eta=variants.eta)
    queue = nonstationary_triple_q.learner(problem, setting, theirs, chosen)
    env = problem.env
    return ExactModelQueue(
        drift_of(env),
        empty_model(env),
        np.zeros((env.H, env.S), np.int32),
        np.zeros((2, env.S, 2)),
        np.zeros(3),
        queue.frame,
        queue.eta,
        queue.target,
        variants.queue == "reset",
    )


@jit
def plan(learner):
    memory = learner.memory
    memory[EPISODE] += 1.0
    mix(learner.drift, int(memory[EPISODE]), learner.model)
    greedy(learner.model, 1.0, memory[Z] / learner.eta, learner.choice, learner.values)


@operation(begin_episode, ExactModelQueue)
def _(learner, u):
    plan(learner)


@operation(act, ExactModelQueue)
def _(learner, h, x, u):
    return int(learner.choice[h, x])


@operation(learn, ExactModelQueue)
def _(learner, h, x, a, r, g, y):
    if h == 0:
        learner.memory[CBAR] += learner.values[0, x, 1]


@operation(end_of_episode, ExactModelQueue)
def _(learner):
    memory = learner.memory
    if int(memory[EPISODE]) % learner.frame == 0:
        z = 0.0 if learner.forget else memory[Z]
        memory[Z] = max(0.0, z + learner.target - memory[CBAR] / learner.frame)
        memory[CBAR] = 0.0


@operation(certain_action, ExactModelQueue)
def _(learner, h, x, probabilities):
    return int(learner.choice[h, x])


@operation(dual, ExactModelQueue)
def _(learner):
    return learner.memory[Z] / learner.eta
