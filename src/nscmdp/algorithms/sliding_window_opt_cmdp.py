"""Sliding-window OptCMDP: plans in the optimistic empirical model of the last w episodes. Not in the paper.

    n, Phat, rhat, ghat from the last w ~ (K/B)^(2/3) episodes;   b(h,x,a) = c H sqrt( log(S A H K/p) / max(n,1) )
    play a policy that solves   max V_{rhat + b}  s.t.  V_{ghat + b} >= rho   under Phat,
    or, where none keeps that constraint, one of largest V_{ghat + b}

The stationary OptCMDP with bonus (Efroni, Mannor, Pirotta 2020), with a window. An entry without a visit in the window
pays 1 and leads anywhere, uniformly; the first state is distributed as in the window. The problem is solved again when
some entry has been visited as often since the last solution as it had been before (at least once), and when the window
has moved on by a share of its length. The window's trajectories are kept: w H steps, and H S^2 A numbers for the model.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nscmdp.cmdp import Array
from nscmdp.kernels.induction import Model, everywhere
from nscmdp.kernels.jit import jit
from nscmdp.learner import Factor, act, begin_episode, certain_action, end_of_episode, learn, operation, scalars
from nscmdp.optimum import Mixture, mixture, share_by_state, solve
from nscmdp.problem import Problem

TITLE = "sliding-window OptCMDP (model-based, not in the paper)"

# There is no printed version to be literal about.
FACTORS = {
    "bonus": Factor(0.005, 1e-4, 0.1),  # c
    "window": Factor(4.0, 0.3, 30.0),  # w = window (K/B)^(2/3)
    "refresh": Factor(0.1, 0.1, 1.0),  # solve again when the window has moved on by refresh w episodes
}
CONFIDENCE = 0.05  # p


class Constants(NamedTuple):
    w: int
    bonus: float  # b = bonus / sqrt(max(n,1))
    refresh: int  # episodes by which the window moves on at most


def scaled(problem: Problem, factors: Any) -> Constants:
    S, A, H, K = problem[:4]
    w = problem.frame(factors.window * (K / problem.frame_B) ** (2 / 3))
    return Constants(
        w=w,
        bonus=factors.bonus * H * np.sqrt(np.log(S * A * H * K / CONFIDENCE)),
        refresh=max(1, int(factors.refresh * w)),
    )


class OptCMDP(NamedTuple):
    states: NDArray[np.int32]  # (w, H+1): the trajectories of the window, episode k in row k mod w
    actions: NDArray[np.int32]  # (w, H)
    paid: Array  # (w, H, 2): r and g
    model: Model  # (H, S, A, S): the optimistic empirical model
    counts: Array  # (H, S, A, 2): n when the problem was last solved, and the visits since
    mixture: Mixture
    rising: Array  # (H, S): probability of following the policy of higher utility at x
    occupancy: Array  # (2, 2, S)
    now: Array  # scalars: episodes so far, the episode before which it was last solved, is it due (1 or 0)?
    bonus: float  # c H sqrt(log(S A H K/p))
    refresh: int
    rho: float


def learner(problem: Problem, constants: Constants) -> OptCMDP:
    S, A, H, _ = problem[:4]
    every_state = np.broadcast_to(np.arange(S, dtype=np.uint32), (H, S, A, S))
    return OptCMDP(
        states=np.zeros((constants.w, H + 1), np.int32),
        actions=np.zeros((constants.w, H), np.int32),
        paid=np.zeros((constants.w, H, 2)),
        model=Model(
            np.ascontiguousarray(every_state),
            np.zeros((H, S, A, S)),
            np.zeros((H, S, A)),
            np.zeros((H, S, A)),
            np.zeros(S),
            H,
            everywhere(H, S),
        ),
        counts=np.zeros((H, S, A, 2)),
        mixture=mixture(H, S),
        rising=np.zeros((H, S)),
        occupancy=np.zeros((2, 2, S)),
        now=scalars(episode=0, solved=0, due=1),
        bonus=constants.bonus,
        refresh=constants.refresh,
        rho=problem.rho,
    )


@jit
def estimate(learner):
    """The model of the episodes in the window, with the bonus on what it pays."""
    model, counts = learner.model, learner.counts
    add_up(learner)
    horizon, states, actions, _ = counts.shape
    for h in range(horizon):
        for x in range(states):
            for a in range(actions):
                n = counts[h, x, a, 0]
                bonus = learner.bonus / np.sqrt(max(n, 1.0))
                for y in range(states):
                    model.probability[h, x, a, y] = model.probability[h, x, a, y] / n if n > 0.0 else 1.0 / states
                model.reward[h, x, a] = (model.reward[h, x, a] / n if n > 0.0 else 1.0) + bonus
                model.utility[h, x, a] = (model.utility[h, x, a] / n if n > 0.0 else 1.0) + bonus


@jit
def add_up(learner):
    """Counts, sums of what was paid, and the distribution of first states, over the window."""
    model, counts = learner.model, learner.counts
    counts[:] = 0.0
    model.probability[:] = 0.0
    model.reward[:] = 0.0
    model.utility[:] = 0.0
    model.mu0[:] = 0.0
    episodes, horizon = min(learner.now[0].episode, len(learner.states)), model.horizon
    for i in range(episodes):
        model.mu0[learner.states[i, 0]] += 1.0 / episodes
        for h in range(horizon):
            x, a, y = learner.states[i, h], learner.actions[i, h], learner.states[i, h + 1]
            counts[h, x, a, 0] += 1.0
            model.probability[h, x, a, y] += 1.0
            model.reward[h, x, a] += learner.paid[i, h, 0]
            model.utility[h, x, a] += learner.paid[i, h, 1]
    if episodes == 0:
        model.mu0[:] = 1.0 / len(model.mu0)


@jit
def plan(learner):
    """Solve the problem anew where that is due."""
    now = learner.now[0]
    if now.due == 0 and now.episode - now.solved < learner.refresh:
        return
    now.solved, now.due = now.episode, 0
    estimate(learner)
    value, _, _, share, _ = solve(learner.model, learner.rho, learner.mixture, False)
    if np.isnan(value):
        learner.rising[:] = 1.0
    else:
        share_by_state(learner.model, learner.mixture, share, learner.occupancy, learner.rising)


@jit
def record(learner, h, x, a, r, g, y):
    row = learner.now[0].episode % len(learner.states)
    learner.states[row, h], learner.states[row, h + 1], learner.actions[row, h] = x, y, a
    learner.paid[row, h, 0], learner.paid[row, h, 1] = r, g
    counts = learner.counts[h, x, a]
    counts[1] += 1.0
    if counts[1] >= max(counts[0], 1.0):
        learner.now[0].due = 1


@operation(begin_episode, OptCMDP)
def _(learner, u):
    plan(learner)


@operation(act, OptCMDP)
def _(learner, h, x, u):
    choice = learner.mixture.rising[h, x] if u < learner.rising[h, x] else learner.mixture.falling[h, x]
    return int(choice)


@operation(learn, OptCMDP)
def _(learner, h, x, a, r, g, y):
    record(learner, h, x, a, r, g, y)


@operation(end_of_episode, OptCMDP)
def _(learner):
    learner.now[0].episode += 1


@operation(certain_action, OptCMDP)
def _(learner, h, x, probabilities):
    rising, falling, share = learner.mixture.rising[h, x], learner.mixture.falling[h, x], learner.rising[h, x]
    if rising == falling or share == 0.0 or share == 1.0:
        return int(rising if share == 1.0 else falling)
    probabilities[:] = 0.0
    probabilities[rising] += share
    probabilities[falling] += 1.0 - share
    return -1
