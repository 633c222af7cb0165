"""PROPD-PPO (Ding, Lavaei, AAAI 2023), tabular: the model-based competitor. Reconstructed: its body was not at hand.

    every L episodes:     pi^{k-1} uniform,  Q_r^{k-1} = Q_g^{k-1} = 0                                  policy restart
    pi_h^k(a|x) ~ pi_h^{k-1}(a|x) exp( alpha (Q_{r,h}^{k-1}(x,a) + Y^{k-1} Q_{g,h}^{k-1}(x,a)) )        improvement
    Y^k = clip_[0,chi]( (1 - eta xi) Y^{k-1} + eta (rho - V_{g,1}^{k-1}(x_1)) )                         dual
    from the visits n of the current window of W episodes, backwards from V_{H+1} = 0, pi = pi^k:
    Q_{r,h}^k = clip_[0,H-h+1]( sum r/(n+1) + sum_y n(x,a,y)/(n+1) V_{r,h+1}^k(y) + 2 beta/sqrt(n+1) ),    Q_g likewise
    V_{r,h}^k(x) = sum_a pi_h^k(a|x) Q_{r,h}^k(x,a)                                                     evaluation

    alpha = K^-1/2 B^(1/3) / H,   L = K^(3/4) B^(-2/3),   eta = K^-1/2,   chi = 2H/delta
    beta = H sqrt(S log(S A T/p)),   W = S^(2/3) A^(1/3) (K/B)^(2/3),   T = K H

Only abstracts were available: the structure is that of its stationary ancestor (OPDOP) with restarts, the exponents of
K and B are those that balance its bounds, and those of H are uncertain. Its step sizes ask for the variation B_* of the
optimal policies as well, which no environment here declares: B stands for B + B_*. x_1 is the first state of episode k,
V^0 = 0, and V_g^{k-1} survives a restart of the policy. It keeps the counts n(h,x,a,y), H S^2 A numbers, where the
paper's learners keep H S A, and walks all successors seen so far in every episode.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nscmdp.cmdp import Array
from nscmdp.kernels.jit import inlined, jit
from nscmdp.learner import Factor, act, begin_episode, dual, end_of_episode, learn, operation, policy, scalars
from nscmdp.problem import Problem

TITLE = "PROPD-PPO (model-based, reconstructed)"

# ``scaled`` keeps the formulas and multiplies each by one of these.
FACTORS = {
    "alpha": Factor(30.0, 1.0, 1000.0),  # alpha K^-1/2 B^(1/3) / H
    "beta": Factor(0.005, 1e-4, 0.1),  # beta H sqrt(S log(S A T/p))
    "window": Factor(1.0, 0.1, 10.0),  # W = window S^(2/3) A^(1/3) (K/B)^(2/3)
    "restart": Factor(1.0, 0.1, 10.0),  # L = restart K^(3/4) B^(-2/3)
    "eta": Factor(1.0, 0.1, 10.0),  # eta K^-1/2
    "most": Factor(1.0, 0.1, 1.0),  # chi = most 2H/delta
    "regularization": Factor(0.0),  # xi = regularization K^-1/2
}
CONFIDENCE = 0.05  # p
RIDGE = 1.0  # what is added to every count


class Constants(NamedTuple):
    alpha: float
    beta: float
    eta: float
    shrink: float  # 1 - eta xi
    chi: float
    W: int
    L: int


def literal(problem: Problem) -> Constants:
    S, A, H, K = problem[:4]
    B, frame_B, delta = problem.B, problem.frame_B, problem.slater_gap
    return Constants(
        alpha=K**-0.5 * B ** (1 / 3) / H,
        beta=H * np.sqrt(S * np.log(S * A * K * H / CONFIDENCE)),
        eta=K**-0.5,
        shrink=1.0,
        chi=2 * H / delta,
        W=problem.frame(S ** (2 / 3) * A ** (1 / 3) * (K / frame_B) ** (2 / 3)),
        L=problem.frame(K**0.75 / frame_B ** (2 / 3)),
    )


def scaled(problem: Problem, factors: Any) -> Constants:
    S, A, H, K = problem[:4]
    B, frame_B, delta = problem.B, problem.frame_B, problem.slater_gap
    eta = factors.eta * K**-0.5
    return Constants(
        alpha=factors.alpha * K**-0.5 * B ** (1 / 3) / H,
        beta=factors.beta * H * np.sqrt(S * np.log(S * A * K * H / CONFIDENCE)),
        eta=eta,
        shrink=1.0 - eta * factors.regularization * K**-0.5,
        chi=factors.most * 2 * H / delta,
        W=problem.frame(factors.window * S ** (2 / 3) * A ** (1 / 3) * (K / frame_B) ** (2 / 3)),
        L=problem.frame(factors.restart * K**0.75 / frame_B ** (2 / 3)),
    )


class Propd(NamedTuple):
    visits: Array  # (H, S, A, S): n(h,x,a,y), column i is of the i-th successor seen
    seen: NDArray[np.int32]  # (H, S, A, S): that successor
    known: NDArray[np.int64]  # (H, S, A): how many there are
    paid: Array  # (H, S, A, 2): sums of r and g
    preference: Array  # (H, S, A): log pi, up to a constant in each (h,x)
    chance: Array  # (H, S, A): pi
    q: Array  # (H, S, A, 2): Q_r and Q_g
    v: Array  # (H+1, S, 2): V_r and V_g
    now: Array  # scalars: episodes so far, Y, the first state of the episode
    alpha: float
    beta: float
    eta: float
    shrink: float  # 1 - eta xi
    most: float  # chi
    window: int  # W
    restart: int  # L
    rho: float


def learner(problem: Problem, constants: Constants) -> Propd:
    S, A, H, _ = problem[:4]
    return Propd(
        visits=np.zeros((H, S, A, S)),
        seen=np.zeros((H, S, A, S), np.int32),
        known=np.zeros((H, S, A), np.int64),
        paid=np.zeros((H, S, A, 2)),
        preference=np.zeros((H, S, A)),
        chance=np.full((H, S, A), 1 / A),
        q=np.zeros((H, S, A, 2)),
        v=np.zeros((H + 1, S, 2)),
        now=scalars(episode=0, Y=0.0, start=0),
        alpha=constants.alpha,
        beta=constants.beta,
        eta=constants.eta,
        shrink=constants.shrink,
        most=constants.chi,
        window=constants.W,
        restart=constants.L,
        rho=problem.rho,
    )


@jit
def begin(learner):
    """Restart the policy and the window where they are due, then improve the policy."""
    k = learner.now[0].episode
    if k % learner.window == 0:
        learner.known[:] = 0
        learner.paid[:] = 0.0
    restart = k % learner.restart == 0
    horizon, states, actions = learner.chance.shape
    for h in range(horizon):
        for x in range(states):
            if restart:
                for a in range(actions):
                    learner.preference[h, x, a] = 0.0
                    learner.chance[h, x, a] = 1.0 / actions
            else:
                improve(learner, h, x)


@jit
def improve(learner, h, x):
    """pi ~ pi exp(alpha (Q_r + Y Q_g))"""
    logs, chance = learner.preference[h, x], learner.chance[h, x]
    largest, total = -np.inf, 0.0
    for a in range(len(logs)):
        logs[a] += learner.alpha * (learner.q[h, x, a, 0] + learner.now[0].Y * learner.q[h, x, a, 1])
        largest = max(largest, logs[a])
    for a in range(len(logs)):
        chance[a] = math.exp(logs[a] - largest)
        total += chance[a]
    for a in range(len(logs)):
        chance[a] /= total


@jit
def record(learner, h, x, a, r, g, y):
    learner.paid[h, x, a, 0] += r
    learner.paid[h, x, a, 1] += g
    seen, visits, known = learner.seen[h, x, a], learner.visits[h, x, a], learner.known[h, x, a]
    for i in range(known):
        if seen[i] == y:
            visits[i] += 1.0
            return
    seen[known] = y
    visits[known] = 1.0
    learner.known[h, x, a] = known + 1


@jit
def finish(learner):
    """The dual step with the evaluation of before, then the evaluation of this episode's policy."""
    now = learner.now[0]
    # Y <- clip_[0,chi]( (1 - eta xi) Y + eta (rho - V_g) )
    step = learner.eta * (learner.rho - learner.v[0, now.start, 1])
    now.Y = min(max(learner.shrink * now.Y + step, 0.0), learner.most)
    now.episode += 1
    horizon, states, actions = learner.chance.shape
    for h in range(horizon - 1, -1, -1):
        for x in range(states):
            v_r, v_g = 0.0, 0.0
            for a in range(actions):
                q_r, q_g = look_ahead(learner, h, x, a)
                learner.q[h, x, a, 0], learner.q[h, x, a, 1] = q_r, q_g
                v_r += learner.chance[h, x, a] * q_r
                v_g += learner.chance[h, x, a] * q_g
            learner.v[h, x, 0], learner.v[h, x, 1] = v_r, v_g


@jit
def look_ahead(learner, h, x, a):
    """Q_r and Q_g of (h,x,a)"""
    n, q_r, q_g = RIDGE, learner.paid[h, x, a, 0], learner.paid[h, x, a, 1]
    for i in range(learner.known[h, x, a]):
        y, visits = learner.seen[h, x, a, i], learner.visits[h, x, a, i]
        n += visits
        q_r += visits * learner.v[h + 1, y, 0]
        q_g += visits * learner.v[h + 1, y, 1]
    bonus, most = 2.0 * learner.beta / np.sqrt(n), float(learner.chance.shape[0] - h)
    return clipped(q_r / n + bonus, most), clipped(q_g / n + bonus, most)


@inlined
def clipped(value, most):
    """To [0, most]; comparisons, since min and max would look for nan."""
    return most if value > most else (0.0 if value < 0.0 else value)


@operation(begin_episode, Propd)
def _(learner, u):
    begin(learner)


@operation(act, Propd)
def _(learner, h, x, u):
    if h == 0:
        learner.now[0].start = x
    action, below = 0, learner.chance[h, x, 0]
    while action + 1 < learner.chance.shape[2] and u >= below:
        action += 1
        below += learner.chance[h, x, action]
    return action


@operation(learn, Propd)
def _(learner, h, x, a, r, g, y):
    record(learner, h, x, a, r, g, y)


@operation(end_of_episode, Propd)
def _(learner):
    finish(learner)


@operation(policy, Propd)
def _(learner, h, x, probabilities):
    for a in range(learner.chance.shape[2]):
        probabilities[a] = learner.chance[h, x, a]


@operation(dual, Propd)
def _(learner):
    return learner.now[0].Y
