"""The oracle: knows every episode's model and plays its constrained optimum. Its regret and violation are zero.

The optimum mixes two deterministic policies (see ``optimum.py``). One coin per episode would have the right mean;
played step by step the mixture is the Markov policy with the same occupancy measure,

    pi_h(a|x) = sum_i share_i q^i_h(x) 1{a = a^i_h(x)} / sum_i share_i q^i_h(x),    q^i_h(x): policy i is at x at h.
"""

from typing import NamedTuple

import numpy as np

from nscmdp.cmdp import Array
from nscmdp.kernels.induction import DriftArrays, Model, drift_of, empty_model, mix
from nscmdp.learner import act, begin_episode, certain_action, operation, scalars
from nscmdp.optimum import Mixture, mixture, share_by_state, solve
from nscmdp.problem import Problem

TITLE = "oracle"
SWEEPS = 3  # backward inductions per episode


class Oracle(NamedTuple):
    drift: DriftArrays
    model: Model
    mixture: Mixture
    rising: Array  # (H, S): probability of following the policy of higher utility at x
    occupancy: Array  # (2, 2, S): of both policies at two consecutive steps
    now: Array  # scalars: the episode, and whether the mixture solves the one before (1 or 0)
    rho: float


def learner(problem: Problem) -> Oracle:
    env = problem.env
    return Oracle(
        drift=drift_of(env),
        model=empty_model(env),
        mixture=mixture(env.H, env.S),
        rising=np.zeros((env.H, env.S)),
        occupancy=np.zeros((2, 2, env.S)),
        now=scalars(episode=0, warm=0),
        rho=env.rho,
    )


@operation(begin_episode, Oracle)
def _(learner, u):
    now = learner.now[0]
    now.episode += 1
    mix(learner.drift, now.episode, learner.model)
    value, _, multiplier, share, _ = solve(
        learner.model, learner.rho, learner.mixture, now.warm > 0
    )
    if np.isnan(value):
        raise ValueError("the oracle met an episode in which no policy keeps the constraint")
    now.warm = 1 if multiplier > 0.0 else 0
    share_by_state(learner.model, learner.mixture, share, learner.occupancy, learner.rising)


@operation(act, Oracle)
def _(learner, h, x, u):
    choice = (
        learner.mixture.rising[h, x] if u < learner.rising[h, x] else learner.mixture.falling[h, x]
    )
    return int(choice)


@operation(certain_action, Oracle)
def _(learner, h, x, probabilities):
    rising, falling, share = (
        learner.mixture.rising[h, x],
        learner.mixture.falling[h, x],
        learner.rising[h, x],
    )
    if rising == falling or share == 0.0 or share == 1.0:
        return int(rising if share == 1.0 else falling)
    probabilities[:] = 0.0
    probabilities[rising] += share
    probabilities[falling] += 1.0 - share
    return -1
