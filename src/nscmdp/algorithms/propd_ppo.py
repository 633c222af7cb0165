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

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nscmdp.cmdp import Array
from nscmdp.kernels.jit import inlined, jit
from nscmdp.learner import act, begin_episode, dual, end_of_episode, learn, operation, policy
from nscmdp.problem import Problem

TITLE = "PROPD-PPO (model-based, reconstructed)"
SETTINGS = ("literal", "scaled")
RANGES = {  # where tuning looks, on a logarithmic scale
    "alpha": (1.0, 1000.0),
    "beta": (1e-4, 0.1),
    "window": (0.1, 10.0),
    "restart": (0.1, 10.0),
    "eta": (0.1, 10.0),
    "most": (0.1, 1.0),
}
CONFIDENCE = 0.05  # p
RIDGE = 1.0  # what is added to every count

EPISODE, Y, START = 0, 1, 2  # slots of the memory


@dataclass(frozen=True)
class Factors:
    """``scaled`` keeps the formulas and multiplies each by one of these."""

    alpha: float = 30.0  # alpha K^-1/2 B^(1/3) / H
    beta: float = 0.005  # beta H sqrt(S log(S A T/p))
    window: float = 1.0  # W = window S^(2/3) A^(1/3) (K/B)^(2/3)
    restart: float = 1.0  # L = restart K^(3/4) B^(-2/3)
    eta: float = 1.0  # eta K^-1/2
    most: float = 1.0  # chi = most 2H/delta
    regularization: float = 0.0  # xi = regularization K^-1/2


@dataclass(frozen=True)
class Variants:
    pass


class Propd(NamedTuple):
    visits: Array  # (H, S, A, S): n(h,x,a,y), column i is of the i-th successor seen
    seen: NDArray[np.int32]  # (H, S, A, S): that successor
    known: NDArray[np.int64]  # (H, S, A): how many there are
    paid: Array  # (H, S, A, 2): sums of r and g
    preference: Array  # (H, S, A): log pi, up to a constant in each (h,x)
    chance: Array  # (H, S, A): pi
    q: Array  # (H, S, A, 2): Q_r and Q_g
    v: Array  # (H+1, S, 2): V_r and V_g
    memory: Array  # episodes so far, Y, the first state of the episode
    alpha: float
    beta: float
    eta: float
    shrink: float  # 1 - eta xi
    most: float  # chi
    window: int  # W
    restart: int  # L
    rho: float


def learner(problem: Problem, setting: str, factors: Factors, variants: Variants) -> Propd:
    H, S, A, K, B = problem.H, problem.S, problem.A, problem.K, problem.B
    f = factors if setting == "scaled" else Factors(alpha=1.0, beta=1.0)
    if problem.delta <= 0:
        raise ValueError(f"the best utility exceeds rho by {problem.delta:g}: a positive Slater gap is needed")
    eta = f.eta * K**-0.5
    return Propd(
        np.zeros((H, S, A, S)),
        np.zeros((H, S, A, S), np.int32),
        np.zeros((H, S, A), np.int64),
        np.zeros((H, S, A, 2)),
        np.zeros((H, S, A)),
        np.full((H, S, A), 1 / A),
        np.zeros((H, S, A, 2)),
        np.zeros((H + 1, S, 2)),
        np.zeros(3),
        f.alpha * K**-0.5 * B ** (1 / 3) / H,
        f.beta * H * np.sqrt(S * np.log(S * A * K * H / CONFIDENCE)),
        eta,
        1.0 - eta * f.regularization * K**-0.5,
        f.most * 2 * H / problem.delta,
        problem.frame(f.window * S ** (2 / 3) * A ** (1 / 3) * (K / problem.frame_B) ** (2 / 3)),
        problem.frame(f.restart * K**0.75 / problem.frame_B ** (2 / 3)),
        problem.rho,
    )


@jit
def begin(learner):
    """Restart the policy and the window where they are due, then improve the policy."""
    k = int(learner.memory[EPISODE])
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
        logs[a] += learner.alpha * (learner.q[h, x, a, 0] + learner.memory[Y] * learner.q[h, x, a, 1])
        largest = max(largest, logs[a])
    for a in range(len(logs)):
        chance[a] = np.exp(logs[a] - largest)
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
    step = learner.eta * (learner.rho - learner.v[0, int(learner.memory[START]), 1])
    learner.memory[Y] = min(max(learner.shrink * learner.memory[Y] + step, 0.0), learner.most)
    learner.memory[EPISODE] += 1.0
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
        learner.memory[START] = x
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
    return learner.memory[Y]
