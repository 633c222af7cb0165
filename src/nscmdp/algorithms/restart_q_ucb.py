"""RestartQ-UCB (Mao, Zhang, Zhu, Simchi-Levi, Basar, ICML 2021): drift, but no constraint.

    D = ceil( (S A)^(-1/3) Delta^(2/3) H^(-2/3) T^(1/3) ) epochs of ceil(K/D) episodes,   Delta = B_r + B_p,  T = K H
    at an epoch's start:  Q_h = V_h = H-h+1,  all counts 0
    a_h = argmax_a Q_h(x_h,a)                                                             ties drawn uniformly
    stages of e_1 = H, e_{i+1} = floor((1 + 1/H) e_i) visits; at a stage's end, over its n visits,
    Q_h <- min( Q_h,  mean of r + V_{h+1}(x_{h+1})  +  sqrt(H^2 iota/n) + sqrt(iota/n)  +  2 b_Delta ),  iota = log(2/p)

b_Delta = B_r(epoch) + H B_p(epoch) needs the epoch's own budget; the version analysed without it has the same rate and
is the default here. It never looks at the utility. Reconstructed: checked against the authors' replication package,
whose clock of the environment starts again with every epoch; here nothing but the learner restarts.

Variant: the Freedman bonus, whose constants are less certain. D is without H^(-2/3), and Q_h is the least of three:

    Q_h <- min( the two above,  mean of r  +  mu_ref/N + mu/n  +  b  +  4 b_Delta )
    b = 2 sqrt(var_ref iota/N) + 2 sqrt(var iota/n) + sqrt(iota/n)
        + 5H ( iota/N + iota/n + (iota/N)^(3/4) + (iota/n)^(3/4) )

with mu_ref, var_ref sum and variance of V_ref(x_{h+1}) over the epoch's N visits, mu, var those of (V - V_ref)(x_{h+1})
over the stage's n. V_ref_h = H-h+1 at first; V_ref_h(x) <- V_h(x) once, at the N0-th visit to x, N0 = S A H^6 iota.

Variant: a fixed multiplier lambda. The learner is paid (r + lambda g)/(1 + lambda): a Lagrangian without a dual.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nscmdp import budget
from nscmdp.algorithms._greedy import greedy, tied
from nscmdp.algorithms._triple_q import frame_range, optimistic, remaining
from nscmdp.cmdp import Array
from nscmdp.kernels.jit import jit
from nscmdp.learner import (
    Factor,
    act_and_estimate,
    certain_action,
    end_of_episode,
    learn_from_estimate,
    operation,
    scalars,
)
from nscmdp.problem import Problem

TITLE = "RestartQ-UCB (no constraint)"
SWEEPS = 0  # backward inductions per episode
CONSTRAINED = False

# ``scaled`` keeps the formula of D and replaces the bonus.
FACTORS = {
    "bonus": Factor(0.01, 1e-4, 1.0),  # bonus H / sqrt(n)
    "frame": Factor(1.0, 0.1, 10.0),  # epochs of frame K/D episodes
    "initial": Factor(
        4.0, 1.0, 4.0
    ),  # Q_h = initial times a bound of V_h along the path, at most H-h+1
    "reference": Factor(50.0),  # N0 = reference H, for the Freedman bonus alone
}
CONFIDENCE = 0.05  # p

Q, N, STAGE_N, STAGE_SUM = 0, 1, 2, 3  # rows of the table of one (h,x)
REF, REF2, STAGE_R, STAGE_ADV, STAGE_ADV2 = 0, 1, 2, 3, 4  # and of its table of advantages


@dataclass(frozen=True)
class Variants:
    """Departures from the default reading."""

    local_budgets: bool = False  # add 2 b_Delta, as where each epoch's budget is known
    bonus: Literal["hoeffding", "freedman"] = "hoeffding"
    multiplier: float = 0.0  # lambda: the reward is (r + lambda g) / (1 + lambda)
    start: Literal["optimistic", "below"] = (
        "optimistic"  # Q starts at or above V, or at 0.4 of that
    )


class Constants(NamedTuple):
    epoch: int  # ceil(K/D)
    bonus: Callable[[Array], Array]  # by the n visits of a stage
    initial: Array  # (H,): what Q_h starts from
    iota: float  # the rest is for the Freedman bonus alone
    noise: float  # iota where the bonus covers noise of the rewards, else 0
    N0: float


def literal(problem: Problem, variants: Variants) -> Constants:
    S, A, H, _ = problem[:4]
    iota = float(np.log(2 / CONFIDENCE))
    return Constants(
        epoch=problem.frame(epoch_length(problem, variants)),
        bonus=lambda n: np.sqrt(H**2 * iota / n) + np.sqrt(iota / n),
        initial=remaining(H),
        iota=iota,
        noise=iota,
        N0=S * A * H**6 * iota,
    )


def authors(problem: Problem, variants: Variants) -> Constants:
    """Those of the replication package; its 50 epochs belong to its own problem, D stays."""
    S, A, H, _ = problem[:4]
    return Constants(
        epoch=problem.frame(epoch_length(problem, variants)),
        bonus=lambda n: 0.05 * np.sqrt(H**2 / n),
        initial=remaining(H),
        iota=0.05**2,
        noise=0.0,
        N0=S * A * H**6 * float(np.log(2 / CONFIDENCE)),
    )


def scaled(problem: Problem, factors: Any, variants: Variants) -> Constants:
    """The bound that Q starts from is one of V alone, so that with a multiplier it starts from H-h+1."""
    H, start = problem.H, variants.start
    return Constants(
        epoch=problem.frame(factors.frame * epoch_length(problem, variants)),
        bonus=lambda n: factors.bonus * H / np.sqrt(n),
        initial=remaining(H)
        if variants.multiplier
        else optimistic(problem, factors.initial, start),
        iota=factors.bonus**2,
        noise=0.0,
        N0=factors.reference * H,
    )


def epoch_length(problem: Problem, variants: Variants) -> float:
    """ceil(K/D) episodes"""
    on_reward, on_utility = shares(variants)
    drifting = on_reward * problem.reward_budget + on_utility * problem.utility_budget
    Delta = (drifting + problem.transition_budget) * problem.assumed_budget
    per_step = Delta if variants.bonus == "freedman" else Delta / problem.H
    T = problem.K * problem.H
    D = max(1.0, np.ceil((problem.S * problem.A) ** (-1 / 3) * per_step ** (2 / 3) * T ** (1 / 3)))
    return float(np.ceil(problem.K / D))


def shares(variants: Variants) -> tuple[float, float]:
    """Of the reward and of the utility in what the learner is paid: 1 / (1 + lambda) and lambda / (1 + lambda)."""
    on_utility = float(variants.multiplier / (1 + variants.multiplier))
    return 1 - on_utility, on_utility


def ranges(problem: Problem, frames: float) -> dict[str, tuple[float, float]]:
    """Where tuning looks: epochs as long as the frames of Triple-Q."""
    return {"frame": frame_range(problem, frames, epoch_length(problem, Variants()))}


class RestartQ(NamedTuple):
    table: Array  # (H, S, 4, A): Q, zero + visits in the epoch, visits in the stage, the stage's sum of r + V
    initial: Array  # (H,)
    stage_ends: NDArray[np.bool_]  # (epoch + 1,): is the t-th visit the last of a stage?
    bonus: Array  # (epoch + 1,): by the visits of the stage
    drift: Array  # (epochs,): 2 b_Delta of each epoch
    now: Array  # scalars: episodes so far, and a zero of counts that those of past epochs lie below
    advantage: (
        Array  # (H, S, 5, A) for the Freedman bonus: sums that it needs, of V_ref, V - V_ref and r
    )
    reference: Array  # (H+1, S) for the Freedman bonus: V_ref
    epoch: int
    on_reward: float  # the share of the reward in what the learner is paid ...
    on_utility: float  # ... and that of the utility
    freedman: bool
    iota: float
    noise: float  # iota where the bonus covers noise of the rewards, else 0
    freeze: float  # N0


def learner(problem: Problem, constants: Constants, variants: Variants) -> RestartQ:
    S, A, H, K = problem[:4]
    epoch, initial, freedman = constants.epoch, constants.initial, variants.bonus == "freedman"
    on_reward, on_utility = shares(variants)
    table = np.zeros((H, S, 4, A))
    table[:, :, Q] = initial[:, None, None]
    drift = np.zeros(-(-K // epoch))
    if variants.local_budgets:
        local = budget.frame_variations(problem.env, epoch)
        drift = 2 * (on_reward * local[:, 0] + on_utility * local[:, 1] + H * local[:, 2])
    return RestartQ(
        table=table,
        initial=initial,
        stage_ends=stage_ends(H, epoch),
        bonus=constants.bonus(np.maximum(np.arange(epoch + 1.0), 1.0)),
        drift=drift,
        now=scalars(episode=0, zero=0),
        advantage=np.zeros((H if freedman else 0, S, 5, A)),
        reference=np.append(initial, 0.0)[:, None].repeat(S if freedman else 0, axis=1),
        epoch=epoch,
        on_reward=on_reward,
        on_utility=on_utility,
        freedman=freedman,
        iota=constants.iota,
        noise=constants.noise,
        freeze=constants.N0,
    )


def stage_ends(horizon: int, visits: int) -> NDArray[np.bool_]:
    """Marks t = e_1, e_1 + e_2, ... up to ``visits``."""
    ends = np.zeros(visits + 1, dtype=bool)
    stage, total = horizon, horizon
    while total <= visits:
        ends[total] = True
        stage = stage + stage // horizon
        total += stage
    return ends


@jit
def apply_pending_resets(learner, h, x):
    """Forget what (h,x) holds of past epochs."""
    for a in range(learner.table.shape[3]):
        learner.table[h, x, Q, a] = learner.initial[h]
        learner.table[h, x, N, a] = learner.now[0].zero
        learner.table[h, x, STAGE_N, a] = 0.0
        learner.table[h, x, STAGE_SUM, a] = 0.0
    if learner.freedman:
        learner.advantage[h, x] = 0.0
        learner.reference[h, x] = learner.initial[h]


def resets_applied(learner: RestartQ) -> Array:
    """The table with past epochs forgotten and plain visits."""
    table = learner.table.copy()
    h, x = np.nonzero(table[:, :, N, 0] < learner.now[0].zero)
    table[h, x] = 0.0
    table[h, x, Q] = learner.initial[h, None]
    table[h, x, N] = learner.now[0].zero
    table[:, :, N] -= learner.now[0].zero
    return table


@operation(act_and_estimate, RestartQ)
def _(learner, h, x, u):
    if learner.table[h, x, N, 0] < learner.now[0].zero:
        apply_pending_resets(learner, h, x)
    best, ties, action = greedy(learner.table, h, x)
    if ties > 1:
        action = tied(learner.table, h, x, best, ties, int(u * ties))
    return action, best, 0.0


@operation(learn_from_estimate, RestartQ)
def _(learner, h, x, action, r, g, y, v, w):
    a = np.uint32(action)  # unsigned: a signed index is tested for counting from the end
    paid = learner.on_reward * r + learner.on_utility * g
    if learner.freedman:
        note_advantage(learner, h, x, a, paid, y, v)
    learner.table[h, x, N, a] += 1.0
    learner.table[h, x, STAGE_N, a] += 1.0
    learner.table[h, x, STAGE_SUM, a] += paid + v
    if learner.stage_ends[np.uint32(int(learner.table[h, x, N, a]) - learner.now[0].zero)]:
        end_stage(learner, h, x, a)
    if learner.freedman:
        freeze_reference(learner, h, x)


@jit
def end_stage(learner, h, x, a):
    """Q_h <- the least of itself and of what the stage's visits say"""
    n = learner.table[h, x, STAGE_N, a]
    drift = learner.drift[learner.now[0].episode // learner.epoch]
    estimate = learner.table[h, x, STAGE_SUM, a] / n + learner.bonus[int(n)] + drift
    if learner.freedman:
        estimate = min(estimate, by_advantage(learner, h, x, a) + 2.0 * drift)
    learner.table[h, x, Q, a] = min(learner.table[h, x, Q, a], estimate)
    learner.table[h, x, STAGE_N, a] = 0.0
    learner.table[h, x, STAGE_SUM, a] = 0.0


@jit
def note_advantage(learner, h, x, a, paid, y, v):
    reference, sums = learner.reference[h + 1, y], learner.advantage[h, x]
    sums[REF, a] += reference
    sums[REF2, a] += reference**2
    sums[STAGE_R, a] += paid
    sums[STAGE_ADV, a] += v - reference
    sums[STAGE_ADV2, a] += (v - reference) ** 2


@jit
def by_advantage(learner, h, x, a):
    """mean of r + mu_ref/N + mu/n + b of the stage that ends, whose sums start again"""
    sums, H, iota = learner.advantage[h, x], learner.table.shape[0], learner.iota
    n, visits = learner.table[h, x, STAGE_N, a], learner.table[h, x, N, a] - learner.now[0].zero
    ref, advantage = sums[REF, a] / visits, sums[STAGE_ADV, a] / n
    var_ref = max(sums[REF2, a] / visits - ref**2, 0.0)
    var = max(sums[STAGE_ADV2, a] / n - advantage**2, 0.0)
    bonus = (
        2.0 * np.sqrt(var_ref * iota / visits)
        + 2.0 * np.sqrt(var * iota / n)
        + np.sqrt(learner.noise / n)
    )
    bonus += 5.0 * H * (iota / visits + iota / n + (iota / visits) ** 0.75 + (iota / n) ** 0.75)
    estimate = sums[STAGE_R, a] / n + ref + advantage + bonus
    sums[STAGE_R, a] = sums[STAGE_ADV, a] = sums[STAGE_ADV2, a] = 0.0
    return estimate


@jit
def freeze_reference(learner, h, x):
    """V_ref_h(x) <- V_h(x) at the visit to x that makes N0 of them"""
    visits, best = 0.0, -np.inf
    for a in range(learner.table.shape[3]):
        visits += learner.table[h, x, N, a] - learner.now[0].zero
        best = max(best, learner.table[h, x, Q, a])
    if visits >= learner.freeze > visits - 1.0:
        learner.reference[h, x] = best


@operation(end_of_episode, RestartQ)
def _(learner):
    now = learner.now[0]
    now.episode += 1
    if now.episode % learner.epoch == 0:
        now.zero += learner.epoch + 1


@operation(certain_action, RestartQ)
def _(learner, h, x, probabilities):
    if learner.table[h, x, N, 0] < learner.now[0].zero:
        apply_pending_resets(learner, h, x)
    best, ties, action = greedy(learner.table, h, x)
    if ties == 1:
        return action
    for a in range(len(probabilities)):
        probabilities[a] = 1.0 / ties if learner.table[h, x, Q, a] == best else 0.0
    return -1
