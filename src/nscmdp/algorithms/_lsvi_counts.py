"""LSVI without features: phi(x,a) is the unit vector of (x,a), d = S A, and Lambda_h is diagonal and counts visits.

    w_{j,h}(x,a) = sum_tau (j + V_{j,h+1}(x')) / (n + lambda),      u(x,a) = 1 / (n + lambda)

An episode costs as much as the frame has met: states, their actions, and the successors seen after each. Elsewhere all
actions are alike, at any Y. The equations of which this is a case are in ``_lsvi.py``.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nscmdp.algorithms._lsvi_dual import at_most, primal_dual, since_restart, soften
from nscmdp.cmdp import Array
from nscmdp.kernels.jit import jit
from nscmdp.learner import begin_episode, learn, operation


@primal_dual
class CountingLSVI(NamedTuple):
    met: NDArray[np.uint32]  # (H, S): the states met at step h in this frame ...
    known: NDArray[np.int64]  # (H,): ... and how many they are
    visits: Array  # (H, S, A): n
    sums: Array  # (H, S, A, 2): of r and g
    reached: NDArray[np.int64]  # (H, S, A): how many different successors were seen
    successors: NDArray[np.uint32]  # (H, S, A, M): which ones ...
    counts: Array  # (H, S, A, M): ... how often
    q: Array
    chances: Array
    values: Array
    now: Array
    arms: Array
    alpha: float
    beta: float
    eta: float
    xi: float
    ridge: float
    realised: bool
    carry: bool


@jit
def forget(learner):
    """In the states that were met; before the first frame these are all."""
    horizon = len(learner.chances)
    unknown = at_most(learner.beta / np.sqrt(learner.ridge), float(horizon))
    for h in range(horizon):
        for x in learner.met[h, : learner.known[h]]:
            learner.visits[h, x] = 0.0
            learner.sums[h, x] = 0.0
            learner.reached[h, x] = 0
            learner.q[:, x] = unknown
            soften(learner, h, x)
    learner.known[:] = 0


@jit
def estimate(learner):
    """Q, pi and V of this episode in the states met; elsewhere they stay as they were when the frame began."""
    horizon, _, actions = learner.chances.shape
    for h in range(horizon - 1, -1, -1):
        later = learner.values[h + 1]
        for x in learner.met[h, : learner.known[h]]:
            for a in range(actions):
                q_r, q_g = learner.sums[h, x, a, 0], learner.sums[h, x, a, 1]
                if h + 1 < horizon:
                    successors, counts = learner.successors[h, x, a], learner.counts[h, x, a]
                    for i in range(learner.reached[h, x, a]):
                        q_r += counts[i] * later[successors[i], 0]
                        q_g += counts[i] * later[successors[i], 1]
                # Q = min( w + beta / sqrt(n + lambda), H )
                n = learner.visits[h, x, a] + learner.ridge
                bonus = learner.beta / np.sqrt(n)
                learner.q[0, x, a] = at_most(q_r / n + bonus, float(horizon))
                learner.q[1, x, a] = at_most(q_g / n + bonus, float(horizon))
            soften(learner, h, x)


@jit
def absorb(learner, h, x, a, r, g, y):
    if learner.visits[h, x].sum() == 0.0:
        learner.met[h, learner.known[h]] = x
        learner.known[h] += 1
    learner.visits[h, x, a] += 1.0
    learner.sums[h, x, a, 0] += r
    learner.sums[h, x, a, 1] += g
    reached = learner.reached[h, x, a]
    for i in range(reached):
        if learner.successors[h, x, a, i] == y:
            learner.counts[h, x, a, i] += 1.0
            return
    learner.successors[h, x, a, reached] = y
    learner.counts[h, x, a, reached] = 1.0
    learner.reached[h, x, a] = reached + 1


@operation(begin_episode, CountingLSVI)
def _(learner, u):
    if since_restart(learner) == 0:
        forget(learner)
    estimate(learner)
    learner.now[0].drive = 0.0


@operation(learn, CountingLSVI)
def _(learner, h, x, a, r, g, y):
    if learner.realised:
        learner.now[0].drive += g
    absorb(learner, h, x, a, r, g, y)
