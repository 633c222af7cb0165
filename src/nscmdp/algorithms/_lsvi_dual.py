"""What the two forms of LSVI have in common: the softmax policy, the dual variable and their operations."""

import math
from typing import TypeVar

import numpy as np

from nscmdp.kernels.jit import inlined, jit
from nscmdp.learner import act, dual, end_of_episode, operation, policy, restart

Learner = TypeVar("Learner", bound=type)


@jit
def since_restart(learner):
    """Episodes of the frame so far."""
    now = learner.now[0]
    return now.episode % now.frame if now.frame > 0 else now.episode


@inlined
def at_most(value, most):
    """A comparison, since min would look for nan."""
    return value if value < most else most


@inlined
def soften(learner, h, x):
    """pi ~ exp(alpha (Q_r + Y Q_g)) and V = sum_a pi Q in one state."""
    q_r, q_g, chances, Y = learner.q[0, x], learner.q[1, x], learner.chances[h, x], learner.now[0].Y
    best, total, value, utility_value = -np.inf, 0.0, 0.0, 0.0
    for a in range(len(chances)):
        score = q_r[a] + Y * q_g[a]
        chances[a] = score
        best = score if score > best else best
    for a in range(len(chances)):
        below = chances[a] - best
        chance = math.exp(learner.alpha * below) if below < 0.0 else 1.0
        chances[a] = chance
        total += chance
    for a in range(len(chances)):
        chance = chances[a] / total
        chances[a] = chance
        value += chance * q_r[a]
        utility_value += chance * q_g[a]
    learner.values[h, x, 0], learner.values[h, x, 1] = value, utility_value


def primal_dual(learner_class: Learner) -> Learner:
    """Class decorator: what learners with ``chances``, ``values``, ``arms`` and such scalars do alike."""

    @operation(act, learner_class)
    def _(learner, h, x, u):
        if h == 0 and not learner.realised:
            learner.now[0].drive = learner.values[0, x, 1]
        action, left = -1, u
        for a in range(learner.chances.shape[2]):
            if left >= 0.0 and learner.chances[h, x, a] > 0.0:
                action = a
                left -= learner.chances[h, x, a]
        return action

    @operation(end_of_episode, learner_class)
    def _(learner):
        # Y <- min( max( Y + eta (rho - V_g), 0 ), xi )
        now = learner.now[0]
        violation = now.target - now.drive
        now.violations += violation
        now.violations_Y += now.Y * violation
        now.violations_squared += violation * violation
        now.Y = min(max(now.Y + learner.eta * violation, 0.0), learner.xi)
        now.episode += 1

    @operation(policy, learner_class)
    def _(learner, h, x, probabilities):
        for a in range(len(probabilities)):
            probabilities[a] = learner.chances[h, x, a]

    @operation(dual, learner_class)
    def _(learner):
        return learner.now[0].Y

    @operation(restart, learner_class)
    def _(learner, arm):
        now = learner.now[0]
        now.episode = 0  # a frame begins with the next episode
        now.frame, now.target = int(learner.arms[arm, 0]), learner.arms[arm, 1]
        if not learner.carry:
            now.Y = now.violations = now.violations_Y = now.violations_squared = 0.0

    return learner_class
