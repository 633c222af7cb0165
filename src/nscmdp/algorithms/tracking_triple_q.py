"""Tracking Triple-Q: Algorithm 1 repaired, with a learning rate that never dies in place of restarts. Not in the paper.

    a_h = argmax_a Q_h(x_h,a) + (Z/eta) C_h(x_h,a)                                        ties drawn uniformly
    t = min(N_h(x_h,a_h) + 1, max(1, memory L)),   alpha_t = (chi+1)/(chi+t),   b_t = bonus H sqrt((chi+1)/(chi+t))
    Q_h(x_h,a_h) <- (1-alpha_t) Q_h + alpha_t (r + V_{h+1}(x_{h+1}) + b_t + 2 H b~)
    C_h(x_h,a_h) <- (1-alpha_t) C_h + alpha_t (g + W_{h+1}(x_{h+1}) + b_t + 2 H b~)
    V_h(x) = Q_h(x,a'),  W_h(x) = C_h(x,a'),   a' = argmax_a Q_h(x,a) + (Z/eta) C_h(x,a)  their mean over ties
    every episode:  Z <- (Z + (rho + eps - G_k)/L)^+,   G_k = g_1 + ... + g_H of episode k

Three edits of Algorithm 1, each a variant that can be undone by itself; without all of them it is Algorithm 1:

    reset    none: what was learnt is kept; L is the time scale of the queue and of the memory. An action that was given
             up is then never tried again, even if it becomes the best one; "bump" tries it again, as Triple-Q does:
             at a frame's end every Q_h(x,a) grows by bump H / eta, up to its initial value
    rate     floored: the rate ends at (chi+1)/(chi + memory L), so that about the last memory L / (chi+1) visits count
    queue    realised: Z follows the utility that was collected, not the optimistic estimate C_1 of it

There is no setting ``literal``: the printed eps exceeds every utility, so that Z, moved every episode, would grow for
ever, and the printed b_t exceeds H.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from nscmdp.algorithms import nonstationary_triple_q as algorithm_1
from nscmdp.algorithms._greedy import greedy_of_two, tied_of_two
from nscmdp.algorithms._triple_q import check_eta, optimistic, remaining, visits
from nscmdp.cmdp import Array
from nscmdp.kernels.jit import jit
from nscmdp.learner import (
    Factor,
    act_and_estimate,
    certain_action,
    dual,
    end_of_episode,
    learn_from_estimate,
    operation,
    scalars,
)
from nscmdp.problem import Problem

TITLE = "Tracking Triple-Q (Algorithm 1 repaired)"
SWEEPS = 0  # backward inductions per episode

# The powers of K and B are Algorithm 1's.
FACTORS = {
    "bonus": Factor(0.0013, 1e-4, 0.1),  # b_t = bonus H sqrt((chi+1)/(chi+t))
    "btilde": Factor(0.0, 1e-4, 1.0),  # b~ = btilde B^(1/3) K^-0.4
    "epsilon": Factor(4.0, 0.03, 30.0),  # eps = epsilon B^(1/3) K^-0.2
    "eta": Factor(0.5, 0.01, 300.0),  # eta = eta K^0.2 B^(1/3)
    "frame": Factor(4.0, 0.1, 30.0),  # L = frame K^0.6 B^(-2/3)
    "initial": Factor(
        4.0, 1.0, 4.0
    ),  # Q_h = initial times a bound of V_h along the path, at most H-h+1; C_h = H-h+1
    "memory": Factor(0.1, 0.01, 1.0),  # t is at most memory L
    "bump": Factor(0.01),  # Q + bump H / eta at a frame's end, for the variant reset = "bump" alone
}
ranges = algorithm_1.ranges

Q, C, N = 0, 1, 2  # rows of the table of one (h,x)


@dataclass(frozen=True)
class Variants:
    """Each edit of Algorithm 1, and what it replaces."""

    reset: Literal["none", "bump", "full"] = (
        "none"  # at a frame's end: nothing, a higher Q, or all tables and counts
    )
    rate: Literal["floored", "printed"] = "floored"  # t at most memory L, or as it is
    queue: Literal["realised", "realised_at_frames", "estimated"] = (
        "realised"  # Z by G_k, every episode or at a frame's end by their mean; or at a frame's end by that of C_1
    )


class Constants(NamedTuple):
    frame: int  # L
    chi: float
    eta: float
    eps: float
    btilde: float
    bonus: Callable[[Array], Array]  # b_t
    initial_q: Array  # (H,): what Q_h starts from
    initial_c: Array
    longest: float  # the largest t
    bump: float


class TrackingTripleQ(NamedTuple):
    table: Array  # (H, S, 3, A): Q, C and zero + the visits N
    initial: Array  # (H, 2): what Q and C start from
    rate: Array  # (T+2,): alpha_t, the same for all later t
    bonus: Array  # (T+2,): b_t + 2 H b~, likewise
    now: Array  # scalars: Z, weight = Z/eta, utility collected or estimated since Z moved, episodes, zero
    frame: int
    eta: float
    target: float  # rho + eps
    stride: float  # zero grows by this at a frame's end, if that changes tables: more than an entry's visits
    keeps: bool  # a frame's end changes no table
    forgets: bool  # it resets all of them; else
    bump: float  # Q grows by this
    every_episode: bool  # Z moves every episode
    realised: bool  # Z moves by what was collected


def scaled(problem: Problem, factors: Any, variants: Variants) -> Constants:
    H, K, B, chi = problem.H, problem.K, problem.B, problem.K**0.2
    eta = factors.eta * K**0.2 * B ** (1 / 3)
    L = problem.frame(factors.frame * K**0.6 / problem.frame_B ** (2 / 3))
    return Constants(
        frame=L,
        chi=K**0.2,
        eta=eta,
        eps=factors.epsilon * B ** (1 / 3) / K**0.2,
        btilde=factors.btilde * (B ** (1 / 3) * K**-0.4),
        bonus=lambda t: factors.bonus * H * np.sqrt((chi + 1) / (chi + t)),
        initial_q=optimistic(problem, factors.initial, "optimistic"),
        initial_c=remaining(H),
        longest=max(1.0, factors.memory * L) if variants.rate == "floored" else np.inf,
        bump=factors.bump * H / eta,
    )


def learner(problem: Problem, constants: Constants, variants: Variants) -> TrackingTripleQ:
    check_eta(constants.eta)
    forgets = variants.reset == "full"
    most = constants.frame if forgets else problem.K  # visits of an entry until it is forgotten
    initial = np.ascontiguousarray(np.stack([constants.initial_q, constants.initial_c], axis=1))
    table = np.zeros((problem.H, problem.S, 3, problem.A))
    table[:, :, :N] = initial[:, None, :, None]
    t = np.minimum(visits(int(min(most, np.ceil(constants.longest)))), constants.longest)
    return TrackingTripleQ(
        table=table,
        initial=initial,
        rate=(constants.chi + 1) / (constants.chi + t),
        bonus=constants.bonus(t) + 2 * problem.H * constants.btilde,
        now=scalars(Z=0.0, weight=0.0, utility=0.0, episode=0, zero=0.0),
        frame=constants.frame,
        eta=constants.eta,
        target=problem.rho + constants.eps,
        stride=most + 2.0,
        keeps=variants.reset == "none",
        forgets=forgets,
        bump=constants.bump,
        every_episode=variants.queue == "realised",
        realised=variants.queue != "estimated",
    )


@jit
def apply_frame_ends(learner, h, x):
    """What frames that ended since the last visit of (h,x) do to it; zero, which N is counted from, tells how many."""
    zero, table = learner.now[0].zero, learner.table[h, x]
    ended = int(zero / learner.stride) - int(table[N, 0] / learner.stride)
    for a in range(table.shape[1] if ended > 0 else 0):
        if learner.forgets:
            table[Q, a], table[C, a], table[N, a] = (
                learner.initial[h, 0],
                learner.initial[h, 1],
                zero,
            )
        else:
            table[Q, a] = max(
                table[Q, a], min(table[Q, a] + ended * learner.bump, learner.initial[h, 0])
            )
            table[N, a] += ended * learner.stride


@operation(act_and_estimate, TrackingTripleQ)
def _(learner, h, x, u):
    if learner.table[h, x, N, 0] < learner.now[0].zero:
        apply_frame_ends(learner, h, x)
    # argmax_a Q + (Z/eta) C
    weight = learner.now[0].weight
    best, ties, action, v, w = greedy_of_two(learner.table, h, x, weight)
    if ties > 1:
        v, w = v / ties, w / ties
        action = tied_of_two(learner.table, h, x, weight, best, int(u * ties))
    return action, v, w


@operation(learn_from_estimate, TrackingTripleQ)
def _(learner, h, x, action, r, g, y, v, w):
    now = learner.now[0]
    a = np.uint32(action)
    learner.table[h, x, N, a] += 1.0
    t = np.uint32(min(int(learner.table[h, x, N, a] - now.zero), len(learner.rate) - 1))
    alpha, more = learner.rate[t], learner.bonus[t]
    # Q <- (1-alpha_t) Q + alpha_t (r + V + b_t + 2 H b~), and C likewise
    learner.table[h, x, Q, a] = (1.0 - alpha) * learner.table[h, x, Q, a] + alpha * (r + v + more)
    learner.table[h, x, C, a] = (1.0 - alpha) * learner.table[h, x, C, a] + alpha * (g + w + more)
    if learner.realised:
        now.utility += g
    elif h == 0:
        now.utility += learner.table[h, x, C, a]


@operation(end_of_episode, TrackingTripleQ)
def _(learner):
    now = learner.now[0]
    now.episode += 1
    ends = now.episode % learner.frame == 0
    if learner.every_episode:
        # Z <- (Z + (rho + eps - G_k)/L)^+
        now.Z = max(0.0, now.Z + (learner.target - now.utility) / learner.frame)
    elif ends:
        # Z <- (Z + rho + eps - their mean)^+
        now.Z = max(0.0, now.Z + learner.target - now.utility / learner.frame)
    if learner.every_episode or ends:
        now.utility = 0.0
        now.weight = now.Z / learner.eta
    if ends and not learner.keeps:
        now.zero += learner.stride


@operation(certain_action, TrackingTripleQ)
def _(learner, h, x, probabilities):
    if learner.table[h, x, N, 0] < learner.now[0].zero:
        apply_frame_ends(learner, h, x)
    weight = learner.now[0].weight
    best, ties, action, _, _ = greedy_of_two(learner.table, h, x, weight)
    if ties == 1:
        return action
    for a in range(learner.table.shape[3]):
        tied = learner.table[h, x, Q, a] + weight * learner.table[h, x, C, a] == best
        probabilities[a] = 1.0 / ties if tied else 0.0
    return -1


@operation(dual, TrackingTripleQ)
def _(learner):
    return learner.now[0].weight
