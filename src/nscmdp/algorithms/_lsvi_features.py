"""LSVI with features, in O(H S A d) an episode; the equations are in ``_lsvi.py``.

A sum over episodes is not needed anew in each: sum phi V(x') = M V with M = sum phi e_x'^T, and Lambda_h^-1 and
u(x,a) = phi^T Lambda_h^-1 phi follow a new phi by a rank-one update (Sherman and Morrison). These are the same numbers.
Rounding would add up in the two updates: every 4096 episodes of a frame they are computed afresh from Lambda_h.
"""

from typing import NamedTuple

import numpy as np

from nscmdp.algorithms._lsvi_dual import at_most, primal_dual, since_restart, soften
from nscmdp.cmdp import Array
from nscmdp.kernels.jit import jit
from nscmdp.learner import begin_episode, learn, operation

REFRESH = 4096  # episodes between two factorisations of Lambda


@primal_dual
class LSVI(NamedTuple):
    phi: Array  # (d, S A): column x A + a is phi(x,a)
    gram: Array  # (H, d, d): Lambda
    inverse: Array  # (H, d, d)
    sums: Array  # (H, 2, d): sum of phi r and of phi g
    moves: Array  # (H, S, d): row x' is the sum of phi over the moves to x'
    uncertainty: Array  # (H, S A): phi^T Lambda^-1 phi
    q: Array  # (2, S, A): Q_r and Q_g of one step
    weights: Array  # (H, 2, d): w_r and w_g
    room: Array  # to work in
    chances: Array  # (H, S, A): pi
    values: Array  # (H+1, S, 2): V_r and V_g
    now: Array  # scalars: Y; what drives it; episodes; D and rho + eps in use; sums for the dual inequality
    arms: Array  # (n, 2): D and rho + eps to choose from
    alpha: float
    beta: float
    eta: float
    xi: float
    ridge: float  # lambda
    realised: bool  # the utility earned, in place of its estimate, drives Y
    carry: bool  # Y survives a restart by another learner


@jit
def forget(learner):
    """A frame begins: no data."""
    phi, d = learner.phi, len(learner.phi)
    learner.gram[:] = 0.0
    learner.inverse[:] = 0.0
    learner.sums[:] = 0.0
    learner.moves[:] = 0.0
    learner.uncertainty[:] = 0.0
    for h in range(len(learner.gram)):
        for i in range(d):
            learner.gram[h, i, i] = learner.ridge
            learner.inverse[h, i, i] = 1.0 / learner.ridge
            for row in range(phi.shape[1]):
                learner.uncertainty[h, row] += phi[i, row] * phi[i, row] / learner.ridge


@jit
def estimate(learner):
    """Q, pi and V of this episode, backwards."""
    d, rows = learner.phi.shape
    horizon, states, _ = learner.chances.shape
    right_r, right_g = learner.room[:d], learner.room[d : 2 * d]
    q_r, q_g = learner.q[0].ravel(), learner.q[1].ravel()
    for h in range(horizon - 1, -1, -1):
        weights_r, weights_g = learner.weights[h, 0], learner.weights[h, 1]
        later = learner.values[h + 1]
        for i in range(d):
            right_r[i], right_g[i] = learner.sums[h, 0, i], learner.sums[h, 1, i]
        if h + 1 < horizon:
            for y in range(states):
                moves, v, w = learner.moves[h, y], later[y, 0], later[y, 1]
                for i in range(d):
                    right_r[i] += moves[i] * v
                    right_g[i] += moves[i] * w
        # w = Lambda^-1 sum phi (j + V)
        multiply(learner.inverse[h], right_r, weights_r)
        multiply(learner.inverse[h], right_g, weights_g)
        learner.q[:] = 0.0
        for i in range(d):
            phi, on_reward, on_utility = learner.phi[i], weights_r[i], weights_g[i]
            for row in range(rows):
                q_r[row] += on_reward * phi[row]
                q_g[row] += on_utility * phi[row]
        # Q = min( <w, phi> + beta (phi^T Lambda^-1 phi)^(1/2), H )
        uncertainty = learner.uncertainty[h]
        for row in range(rows):
            bonus = learner.beta * np.sqrt(uncertainty[row])
            q_r[row] = at_most(q_r[row] + bonus, float(horizon))
            q_g[row] = at_most(q_g[row] + bonus, float(horizon))
        for x in range(states):
            soften(learner, h, x)


@jit
def absorb(learner, h, row, r, g, y):
    """One more phi at step h: Lambda + phi phi^T, its inverse and all that is kept with it."""
    d, rows = learner.phi.shape
    own, turned = learner.room[:d], learner.room[d : 2 * d]
    along = learner.room[2 * d : 2 * d + rows]
    sums_r, sums_g, moves = learner.sums[h, 0], learner.sums[h, 1], learner.moves[h, y]
    for i in range(d):
        own[i] = learner.phi[i, row]
    multiply(learner.inverse[h], own, turned)  # Lambda^-1 phi
    squared = 0.0  # phi^T Lambda^-1 phi
    for i in range(d):
        squared += turned[i] * own[i]
    shrink = 1.0 / (1.0 + squared)
    along[:] = 0.0
    for i in range(d):
        gram, inverse, phi = learner.gram[h, i], learner.inverse[h, i], learner.phi[i]
        p, t = own[i], turned[i]
        sums_r[i] += p * r
        sums_g[i] += p * g
        moves[i] += p
        for l in range(d):
            gram[l] += p * own[l]
        for l in range(d):
            inverse[l] -= t * turned[l] * shrink
        for other in range(rows):
            along[other] += t * phi[other]  # <Lambda^-1 phi, phi(x,a)>
    uncertainty = learner.uncertainty[h]
    for other in range(rows):
        left = uncertainty[other] - along[other] * along[other] * shrink
        uncertainty[other] = left if left > 0.0 else 0.0


@jit
def multiply(inverse, vector, out):
    """Lambda^-1 times a vector, a column at a time: the inverse is symmetric to the last bit."""
    out[:] = 0.0
    for l in range(len(out)):
        column, factor = inverse[l], vector[l]
        for i in range(len(out)):
            out[i] += column[i] * factor


@jit
def refresh(learner):
    """Lambda^-1 = L^-T L^-1 and phi^T Lambda^-1 phi = |L^-1 phi|^2 from Lambda = L L^T."""
    d, rows = learner.phi.shape
    lower = learner.room[: d * d].reshape(d, d)
    for h in range(len(learner.gram)):
        gram, inverse, uncertainty = learner.gram[h], learner.inverse[h], learner.uncertainty[h]
        for i in range(d):
            for j in range(i + 1):
                left = gram[i, j]
                for l in range(j):
                    left -= lower[i, l] * lower[j, l]
                lower[i, j] = left / lower[j, j] if j < i else np.sqrt(left)
        for j in range(d):  # L^-1 in place of L, column by column
            lower[j, j] = 1.0 / lower[j, j]
            for i in range(j + 1, d):
                left = 0.0
                for l in range(j, i):
                    left -= lower[i, l] * lower[l, j]
                lower[i, j] = left / lower[i, i]
        for i in range(d):
            for j in range(d):
                inverse[i, j] = 0.0
                for l in range(max(i, j), d):
                    inverse[i, j] += lower[l, i] * lower[l, j]
        for row in range(rows):
            uncertainty[row] = 0.0
            for i in range(d):
                part = 0.0
                for l in range(i + 1):
                    part += lower[i, l] * learner.phi[l, row]
                uncertainty[row] += part * part


@operation(begin_episode, LSVI)
def _(learner, u):
    done = since_restart(learner)
    if done == 0:
        forget(learner)
    elif done % REFRESH == 0:
        refresh(learner)
    estimate(learner)
    learner.now[0].drive = 0.0


@operation(learn, LSVI)
def _(learner, h, x, a, r, g, y):
    if learner.realised:
        learner.now[0].drive += g
    absorb(learner, h, x * learner.chances.shape[2] + a, r, g, y)
