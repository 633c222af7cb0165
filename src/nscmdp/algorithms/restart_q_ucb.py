"""RestartQ-UCB (Mao, Zhang, Zhu, Simchi-Levi, Basar, ICML 2021), Hoeffding bonus: drift, but no constraint.

    D = ceil( (S A)^(-1/3) Delta^(2/3) H^(-2/3) T^(1/3) ) epochs of ceil(K/D) episodes,   Delta = B_r + B_p,  T = K H
    at an epoch's start:  Q_h = V_h = H-h+1,  all counts 0
    a_h = argmax_a Q_h(x_h,a)                                                             ties drawn uniformly
    stages of e_1 = H, e_{i+1} = floor((1 + 1/H) e_i) visits; at a stage's end, over its n visits,
    Q_h <- min( Q_h,  mean of r + V_{h+1}(x_{h+1})  +  sqrt(H^2 iota/n) + sqrt(iota/n)  +  2 b_Delta ),  iota = log(2/p)

b_Delta = B_r(epoch) + H B_p(epoch) needs the epoch's own budget; the version analysed without it has the same rate and
is the default here. It never looks at the utility. Reconstructed: checked against the authors' replication package,
whose clock of the environment starts again with every epoch; here nothing but the learner restarts.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nscmdp import budget
from nscmdp.algorithms._triple_q import remaining
from nscmdp.cmdp import Array
from nscmdp.operations import act, begin_episode, end_of_episode, implements, learn, policy
from nscmdp.problem import Problem

TITLE = "RestartQ-UCB (no constraint)"
SETTINGS = ("literal", "authors", "scaled")
CONFIDENCE = 0.05  # p

Q, N, STAGE_N, STAGE_SUM = 0, 1, 2, 3  # rows of the table of one (h,x)


@dataclass(frozen=True)
class Factors:
    """``scaled`` keeps the formula of D and replaces the bonus."""

    bonus: float = 0.01  # bonus H / sqrt(n)
    frame: float = 1.0  # epochs of frame K/D episodes
    initial: float = 1.0  # Q_h = initial (H-h+1)


@dataclass(frozen=True)
class Variants:
    """Departures from the default reading."""

    local_budgets: bool = False  # add 2 b_Delta, as where each epoch's budget is known


class RestartQ(NamedTuple):
    table: Array  # (H, S, 4, A): Q, visits in the epoch, visits in the stage, the stage's sum of r + V
    initial: Array  # (H,)
    stage_ends: NDArray[np.bool_]  # (epoch + 1,): is the t-th visit the last of a stage?
    bonus: Array  # (epoch + 1,): by the visits of the stage
    drift: Array  # (epochs,): 2 b_Delta of each epoch
    clock: NDArray[np.int64]  # episodes so far
    epoch: int


def learner(problem: Problem, setting: str, factors: Factors, variants: Variants) -> RestartQ:
    H, K = problem.H, problem.K
    Delta = problem.reward_budget + problem.transition_budget
    D = max(1.0, np.ceil((problem.S * problem.A) ** (-1 / 3) * (Delta / H) ** (2 / 3) * (K * H) ** (1 / 3)))
    length = np.ceil(K / D)
    epoch = problem.frame(factors.frame * length if setting == "scaled" else length)
    n = np.maximum(np.arange(epoch + 1.0), 1.0)
    if setting == "literal":
        iota = np.log(2 / CONFIDENCE)
        bonus = np.sqrt(H**2 * iota / n) + np.sqrt(iota / n)
    elif setting == "authors":
        bonus = 0.05 * np.sqrt(H**2 / n)  # the replication package; its 50 epochs belong to its own problem, D stays
    else:
        bonus = factors.bonus * H / np.sqrt(n)
    scale = factors.initial if setting == "scaled" else 1.0
    initial = scale * remaining(H)
    table = np.zeros((H, problem.S, 4, problem.A))
    table[:, :, Q] = initial[:, None, None]
    drift = np.zeros(-(-K // epoch))
    if variants.local_budgets:
        local = budget.frame_variations(problem.env, epoch)
        drift = 2 * (local[:, 0] + H * local[:, 2])
    return RestartQ(table, initial, stage_ends(H, epoch), bonus, drift, np.zeros(1, np.int64), epoch)


def stage_ends(horizon: int, visits: int) -> NDArray[np.bool_]:
    """Marks t = e_1, e_1 + e_2, ... up to ``visits``."""
    ends = np.zeros(visits + 1, dtype=bool)
    stage, total = horizon, horizon
    while total <= visits:
        ends[total] = True
        stage = stage + stage // horizon
        total += stage
    return ends


@implements(begin_episode, RestartQ)
def _(learner, u):
    pass


@implements(act, RestartQ)
def _(learner, h, x, u):
    actions = learner.table.shape[3]
    best, ties, action = -np.inf, 0, 0
    for a in range(actions):
        q = learner.table[h, x, Q, a]
        if q > best:
            best, ties, action = q, 1, a
        elif q == best:
            ties += 1
    if ties > 1:
        nth = int(u * ties)
        for a in range(actions):
            if learner.table[h, x, Q, a] == best:
                if nth == 0:
                    action = a
                nth -= 1
    return action, best, 0.0


@implements(learn, RestartQ)
def _(learner, h, x, a, r, g, y, v, w):
    learner.table[h, x, N, a] += 1.0
    learner.table[h, x, STAGE_N, a] += 1.0
    learner.table[h, x, STAGE_SUM, a] += r + v
    if learner.stage_ends[int(learner.table[h, x, N, a])]:
        n = learner.table[h, x, STAGE_N, a]
        drift = learner.drift[learner.clock[0] // learner.epoch]
        estimate = learner.table[h, x, STAGE_SUM, a] / n + learner.bonus[int(n)] + drift
        learner.table[h, x, Q, a] = min(learner.table[h, x, Q, a], estimate)
        learner.table[h, x, STAGE_N, a] = 0.0
        learner.table[h, x, STAGE_SUM, a] = 0.0


@implements(end_of_episode, RestartQ)
def _(learner):
    learner.clock[0] += 1
    if learner.clock[0] % learner.epoch == 0:
        horizon, states, _, actions = learner.table.shape
        for h in range(horizon):
            for x in range(states):
                for a in range(actions):
                    learner.table[h, x, Q, a] = learner.initial[h]
                    learner.table[h, x, N, a] = 0.0
                    learner.table[h, x, STAGE_N, a] = 0.0
                    learner.table[h, x, STAGE_SUM, a] = 0.0


@implements(policy, RestartQ)
def _(learner, h, x, probabilities):
    actions = learner.table.shape[3]
    best, ties = -np.inf, 0
    for a in range(actions):
        q = learner.table[h, x, Q, a]
        if q > best:
            best, ties = q, 1
        elif q == best:
            ties += 1
    for a in range(actions):
        probabilities[a] = 1.0 / ties if learner.table[h, x, Q, a] == best else 0.0
