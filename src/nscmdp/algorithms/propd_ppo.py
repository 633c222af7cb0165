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
V^0 = 0, and V_g^{k-1} survives a restart of the policy. It keeps the counts n(h,x,a,y), H S^2 A numbers where every
state may follow every other, and the paper's learners H S A.

States that step h has not met all have the same policy and values, so an episode costs as much as has been met: states,
their actions, and the successors seen after each.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nscmdp import learner as operations
from nscmdp.cmdp import Array
from nscmdp.kernels.jit import inlined, jit
from nscmdp.learner import Factor, operation, scalars
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


ENTRY = np.dtype(
    (
        np.record,
        [
            ("reward", np.float64),  # sum of r in the window
            ("utility", np.float64),  # sum of g
            ("n", np.float64),  # visits, and RIDGE
            ("bonus", np.float64),  # 2 beta / sqrt(n)
            ("known", np.int64),  # how many different successors were seen
            ("Q_r", np.float64),
            ("Q_g", np.float64),
            ("preference", np.float64),  # log pi, up to a constant in each (h,x)
            ("chance", np.float64),  # pi
        ],
    )
)
SUCCESSOR = np.dtype((np.record, [("visits", np.float64), ("row", np.uint32)]))
VALUE = np.dtype((np.record, [("V_r", np.float64), ("V_g", np.float64)]))


class Propd(NamedTuple):
    """Tables have one row for each state met at step h, and row 0 for all others, whose policy and values are alike."""

    rows: NDArray[np.uint32]  # (H+1, S): the row of x at step h
    used: NDArray[np.int64]  # (H+1,): how many rows there are
    entries: Any  # (H, rows, A) of ENTRY
    successors: Any  # (H, rows, A, M) of SUCCESSOR: n(h,x,a,y), y by its row, in the order in which it was first seen
    values: Any  # (H+1, rows) of VALUE
    now: Array  # scalars: episodes so far, Y, the row of the episode's first state
    alpha: float
    beta: float
    eta: float
    shrink: float  # 1 - eta xi
    most: float  # chi
    window: int  # W
    restart: int  # L
    rho: float


def learner(problem: Problem, constants: Constants) -> Propd:
    S, A, H, K = problem[:4]
    rows = 1 + min(S, K)
    # Room alone: which successors there are, and how many, is learnt.
    columns = problem.env.successors.shape[3]
    entries = np.zeros((H, rows, A), ENTRY)
    entries["chance"][:, 0] = 1 / A
    return Propd(
        rows=np.zeros((H + 1, S), np.uint32),
        used=np.ones(H + 1, np.int64),
        entries=entries,
        successors=np.zeros((H, rows, A, columns), SUCCESSOR),
        values=np.zeros((H + 1, rows), VALUE),
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


@inlined
def improve(entries, alpha, Y):
    """pi ~ pi exp(alpha (Q_r + Y Q_g))"""
    largest, total = -np.inf, 0.0
    for a in range(len(entries)):
        entry = entries[a]
        entry.preference += alpha * (entry.Q_r + Y * entry.Q_g)
        if entry.preference > largest:
            largest = entry.preference
    for a in range(len(entries)):
        entry = entries[a]
        entry.chance = math.exp(entry.preference - largest) if entry.preference < largest else 1.0
        total += entry.chance
    for a in range(len(entries)):
        entries[a].chance /= total


@jit
def row_of(learner, h, x):
    """The row of a state that is met, which begins as a copy of row 0."""
    row = learner.rows[h, x]
    if row == 0:
        row = learner.used[h]
        learner.rows[h, x] = row
        learner.used[h] += 1
        learner.values[h, row] = learner.values[h, 0]
        if h < len(learner.entries):
            for a in range(learner.entries.shape[2]):
                learner.entries[h, row, a] = learner.entries[h, 0, a]
    return row


@inlined
def clipped(value, most):
    """To [0, most]; comparisons, since min and max would look for nan."""
    value = value if value > 0.0 else 0.0
    return value if value < most else most


@operation(operations.begin_episode, Propd)
def _(learner, u):
    """Restart the policy and the window where they are due, then improve the policy."""
    k = learner.now[0].episode
    forget, restart = k % learner.window == 0, k % learner.restart == 0
    horizon, _, actions = learner.entries.shape
    for h in range(horizon):
        for row in range(learner.used[h]):
            entries = learner.entries[h, row]
            for a in range(actions):
                entry = entries[a]
                if forget:
                    entry.reward, entry.utility, entry.known, entry.n = 0.0, 0.0, 0, RIDGE
                    entry.bonus = 2.0 * learner.beta / np.sqrt(RIDGE)
                if restart:
                    entry.preference, entry.chance = 0.0, 1.0 / actions
            if not restart:
                improve(entries, learner.alpha, learner.now[0].Y)


@operation(operations.act, Propd)
def _(learner, h, x, u):
    if h == 0:
        learner.now[0].start = x
    entries = learner.entries[h, learner.rows[h, x]]
    action, below = 0, entries[0].chance
    while action + 1 < len(entries) and u >= below:
        action += 1
        below += entries[action].chance
    return action


@operation(operations.learn, Propd)
def _(learner, h, x, a, r, g, y):
    row, later = row_of(learner, h, x), row_of(learner, h + 1, y)
    entry, successors = learner.entries[h, row, a], learner.successors[h, row, a]
    entry.reward += r
    entry.utility += g
    entry.n += 1.0
    entry.bonus = 2.0 * learner.beta / np.sqrt(entry.n)
    for i in range(entry.known):
        if successors[i].row == later:
            successors[i].visits += 1.0
            return
    successors[entry.known].row, successors[entry.known].visits = later, 1.0
    entry.known += 1


@operation(operations.end_of_episode, Propd)
def _(learner):
    """The dual step with the evaluation of before, then the evaluation of this episode's policy."""
    now = learner.now[0]
    # Y <- clip_[0,chi]( (1 - eta xi) Y + eta (rho - V_g) )
    step = learner.eta * (learner.rho - learner.values[0, learner.rows[0, now.start]].V_g)
    now.Y = min(max(learner.shrink * now.Y + step, 0.0), learner.most)
    now.episode += 1
    horizon, _, actions = learner.entries.shape
    for h in range(horizon - 1, -1, -1):
        most, later = float(horizon - h), learner.values[h + 1]
        for row in range(learner.used[h]):
            v_r, v_g = 0.0, 0.0
            for a in range(actions):
                entry, successors = learner.entries[h, row, a], learner.successors[h, row, a]
                q_r, q_g = entry.reward, entry.utility
                for i in range(entry.known):
                    visits, ahead = successors[i].visits, later[successors[i].row]
                    q_r += visits * ahead.V_r
                    q_g += visits * ahead.V_g
                entry.Q_r = clipped(q_r / entry.n + entry.bonus, most)
                entry.Q_g = clipped(q_g / entry.n + entry.bonus, most)
                v_r += entry.chance * entry.Q_r
                v_g += entry.chance * entry.Q_g
            learner.values[h, row].V_r, learner.values[h, row].V_g = v_r, v_g


@operation(operations.policy, Propd)
def _(learner, h, x, probabilities):
    entries = learner.entries[h, learner.rows[h, x]]
    for a in range(len(entries)):
        probabilities[a] = entries[a].chance


@operation(operations.dual, Propd)
def _(learner):
    return learner.now[0].Y
