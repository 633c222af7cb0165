"""Sliding-window OptCMDP: plans in the optimistic empirical model of the last w episodes. Not in the paper.

    n, Phat, rhat, ghat from the last w ~ (K/B)^(2/3) episodes;   b(h,x,a) = c H sqrt( log(S A H K/p) / max(n,1) )
    play a policy that solves   max V_{rhat + b}  s.t.  V_{ghat + b} >= rho   under Phat,
    or, where none keeps that constraint, one of largest V_{ghat + b}

The stationary OptCMDP with bonus (Efroni, Mannor, Pirotta 2020), with a window. An entry without a visit in the window
pays 1 and leads anywhere, uniformly; the first state is distributed as in the window. The problem is solved again when
some entry has been visited as often since the last solution as it had been before (at least once), and when the window
has moved on by a share of its length. The window's trajectories are kept, w H steps, and a model: H S^2 A numbers where
every state may follow every other.

States that step h has not met all lead anywhere, so that one row of a table stands for them all. Solving costs as much
as was met, and H S additions for what anywhere is worth; where two policies are mixed and lead anywhere, up to as many
for every state met.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nscmdp.cmdp import Array
from nscmdp.kernels.induction import TIE
from nscmdp.kernels.jit import jit
from nscmdp.learner import (
    Factor,
    act,
    begin_episode,
    certain_action,
    end_of_episode,
    learn,
    operation,
    scalars,
)
from nscmdp.optimum import CLOSED, FEASIBLE, MOST_CUTS, Mixture, mixture
from nscmdp.problem import Problem

TITLE = "sliding-window OptCMDP (model-based, not in the paper)"
SWEEPS = 8  # backward inductions per episode

# There is no printed version to be literal about.
FACTORS = {
    "bonus": Factor(0.005, 1e-4, 0.1),  # c
    "window": Factor(4.0, 0.3, 30.0),  # w = window (K/B)^(2/3)
    "refresh": Factor(
        0.1, 0.1, 1.0
    ),  # solve again when the window has moved on by refresh w episodes
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


ENTRY = np.dtype(
    (
        np.record,
        [
            ("n", np.float64),  # visits in the window when the problem was last solved
            ("since", np.float64),  # visits since then
            ("reward", np.float64),  # rhat + b
            ("utility", np.float64),  # ghat + b
            ("known", np.int64),  # how many different successors were seen in the window
        ],
    )
)
SUCCESSOR = np.dtype((np.record, [("probability", np.float64), ("row", np.uint32)]))


class OptCMDP(NamedTuple):
    """Tables have one row for each state met at step h, and row 0 for all others."""

    rows: NDArray[np.uint32]  # (H+1, S): the row of x at step h
    used: NDArray[np.int64]  # (H+1,): how many rows there are
    states: NDArray[np.uint32]  # (H+1, rows): the state of a row ...
    order: NDArray[np.uint32]  # (H+1, rows): ... and all rows but row 0, by their states
    path: NDArray[
        np.uint32
    ]  # (w, H+1): the rows that an episode of the window was in, episode k at k mod w
    actions: NDArray[np.uint32]  # (w, H)
    paid: Array  # (w, H, 2): r and g
    entries: Any  # (H, rows, A) of ENTRY
    successors: Any  # (H, rows, A, M) of SUCCESSOR: Phat, in the order of states
    mu0: Array  # (rows,)
    mixture: Mixture  # of policies (H, rows)
    rising: Array  # (H, rows): probability of following the policy of higher utility
    occupancy: Array  # (2, 2, rows)
    now: Array  # scalars: episodes so far, the episode before which it was last solved, is it due (1 or 0)?
    bonus: float  # c H sqrt(log(S A H K/p))
    refresh: int
    rho: float


def learner(problem: Problem, constants: Constants) -> OptCMDP:
    S, A, H, K = problem[:4]
    rows = 1 + min(S, K)
    columns = problem.env.successors.shape[
        3
    ]  # room alone: which successors there are, and how many, is learnt
    return OptCMDP(
        rows=np.zeros((H + 1, S), np.uint32),
        used=np.ones(H + 1, np.int64),
        states=np.zeros((H + 1, rows), np.uint32),
        order=np.zeros((H + 1, rows), np.uint32),
        path=np.zeros((constants.w, H + 1), np.uint32),
        actions=np.zeros((constants.w, H), np.uint32),
        paid=np.zeros((constants.w, H, 2)),
        entries=np.zeros((H, rows, A), ENTRY),
        successors=np.zeros((H, rows, A, columns), SUCCESSOR),
        mu0=np.zeros(rows),
        mixture=mixture(H, rows),
        rising=np.zeros((H, rows)),
        occupancy=np.zeros((2, 2, rows)),
        now=scalars(episode=0, solved=0, due=0),
        bonus=constants.bonus,
        refresh=constants.refresh,
        rho=problem.rho,
    )


@jit
def plan(learner):
    """Solve the problem anew where that is due."""
    now = learner.now[0]
    if now.due == 0 and now.episode - now.solved < learner.refresh:
        return
    now.solved, now.due = now.episode, 0
    estimate(learner)
    share = solve(learner)
    if share > 0.0:
        share_by_row(learner, share)
    else:
        learner.rising[:] = 0.0 if share == 0.0 else 1.0


@jit
def estimate(learner):
    """The model of the episodes in the window, with the bonus on what it pays."""
    add_up(learner)
    horizon, _, actions = learner.entries.shape
    for h in range(horizon):
        for row in range(1, learner.used[h]):
            for a in range(actions):
                entry, successors = learner.entries[h, row, a], learner.successors[h, row, a]
                if entry.n > 0.0:
                    bonus = learner.bonus / np.sqrt(entry.n)
                    entry.reward = entry.reward / entry.n + bonus
                    entry.utility = entry.utility / entry.n + bonus
                    for i in range(entry.known):
                        successors[i].probability /= entry.n


@jit
def add_up(learner):
    """Counts, sums of what was paid, and the distribution of first states, over the window."""
    horizon, _, actions = learner.entries.shape
    learner.mu0[:] = 0.0
    for h in range(horizon):
        for row in range(1, learner.used[h]):
            for a in range(actions):
                entry = learner.entries[h, row, a]
                entry.n, entry.since, entry.reward, entry.utility, entry.known = (
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0,
                )
    episodes = min(learner.now[0].episode, len(learner.path))
    for i in range(episodes):
        learner.mu0[learner.path[i, 0]] += 1.0 / episodes
        for h in range(horizon):
            row, a = learner.path[i, h], learner.actions[i, h]
            entry = learner.entries[h, row, a]
            entry.n += 1.0
            entry.reward += learner.paid[i, h, 0]
            entry.utility += learner.paid[i, h, 1]
            count(
                entry, learner.successors[h, row, a], learner.path[i, h + 1], learner.states[h + 1]
            )


@jit
def count(entry, successors, row, states):
    """One more visit to the successor in a row; successors are kept in the order of states."""
    i = 0
    while i < entry.known and states[successors[i].row] < states[row]:
        i += 1
    if i == entry.known or successors[i].row != row:
        for j in range(entry.known, i, -1):
            successors[j] = successors[j - 1]
        successors[i].row, successors[i].probability = row, 0.0
        entry.known += 1
    successors[i].probability += 1.0


@jit
def solve(learner):
    """The share of the rising policy in the optimum, by cuts as in ``optimum.py``; nan where none is feasible."""
    rho, pair = learner.rho, learner.mixture
    v0, w0 = maximise(learner, 1.0, 0.0, pair.falling)
    if w0 >= rho:
        return 0.0
    v1, w1 = maximise(learner, 0.0, 1.0, pair.rising)
    if w1 < rho - FEASIBLE * (1.0 + abs(rho)):
        return np.nan
    w1 = max(w1, rho)
    for _ in range(MOST_CUTS):
        multiplier = (v0 - v1) / (w1 - w0)
        crossing = v0 + multiplier * (w0 - rho)
        v, w = maximise(learner, 1.0, multiplier, pair.trial)
        if v + multiplier * (w - rho) <= crossing + CLOSED * (1.0 + abs(crossing) + multiplier):
            break
        if w < rho:
            v0, w0 = v, w
            pair.falling[:] = pair.trial
        else:
            v1, w1 = v, w
            pair.rising[:] = pair.trial
    return (rho - w0) / (w1 - w0)


@jit
def maximise(learner, on_reward, on_utility, choice):
    """The policy (H, rows) that maximises on_reward V + on_utility W, ties as in ``induction.py``; returns V and W."""
    horizon, _, actions = learner.entries.shape
    values = learner.mixture.values
    values[horizon % 2, : learner.used[horizon]] = 0.0
    for h in range(horizon - 1, -1, -1):
        later, now = values[(h + 1) % 2], values[h % 2]
        now[0, 0], now[0, 1] = anywhere(learner, h + 1, later)
        for row in range(1, learner.used[h]):
            best, second, picked, value, utility_value = -np.inf, -np.inf, 0, 0.0, 0.0
            for a in range(actions):
                entry, successors = learner.entries[h, row, a], learner.successors[h, row, a]
                if entry.n > 0.0:
                    v, w = entry.reward, entry.utility
                else:
                    v, w = now[0, 0], now[0, 1]
                for i in range(entry.known):
                    v += successors[i].probability * later[successors[i].row, 0]
                    w += successors[i].probability * later[successors[i].row, 1]
                score = on_reward * v + on_utility * w
                tiebreak = w if on_reward > 0.0 else v
                if score > best + TIE or (score > best - TIE and tiebreak > second):
                    best, second, picked, value, utility_value = max(score, best), tiebreak, a, v, w
            choice[h, row] = picked
            now[row, 0], now[row, 1] = value, utility_value
    value, utility_value = 0.0, 0.0
    for i in range(learner.used[0] - 1):
        row = learner.order[0, i]
        value += learner.mu0[row] * values[0, row, 0]
        utility_value += learner.mu0[row] * values[0, row, 1]
    return value, utility_value


@jit
def anywhere(learner, h, values):
    """1 + b, and the mean of V_h and of W_h: what an entry without a visit promises."""
    states = learner.rows.shape[1]
    chance, passed = 1.0 / states, 0
    v, w = 1.0 + learner.bonus, 1.0 + learner.bonus
    for i in range(learner.used[h] - 1):
        row = learner.order[h, i]
        for _ in range(learner.states[h, row] - passed):
            v += chance * values[0, 0]
            w += chance * values[0, 1]
        v += chance * values[row, 0]
        w += chance * values[row, 1]
        passed = learner.states[h, row] + 1
    for _ in range(states - passed):
        v += chance * values[0, 0]
        w += chance * values[0, 1]
    return v, w


@jit
def share_by_row(learner, share):
    """The Markov policy of the mixed occupancy measure, as the probability of the rising policy's action."""
    for row in range(learner.used[0]):
        learner.occupancy[0, 0, row] = (1.0 - share) * learner.mu0[row]
        learner.occupancy[0, 1, row] = share * learner.mu0[row]
    for h in range(len(learner.rising)):
        here, there = (
            learner.occupancy[h % 2],
            learner.occupancy[(h + 1) % 2, :, : learner.used[h + 1]],
        )
        for row in range(learner.used[h]):
            total = here[0, row] + here[1, row]
            learner.rising[h, row] = here[1, row] / total if total > 0.0 else 0.0
        there[:] = 0.0
        follow(learner, h, learner.mixture.falling[h], here[0], there[0])
        follow(learner, h, learner.mixture.rising[h], here[1], there[1])


@jit
def follow(learner, h, choice, here, there):
    """Where a policy leads from step h, from the first state to the last."""
    states, passed = learner.rows.shape[1], 0
    chance = 1.0 / states
    for i in range(learner.used[h] - 1):
        row = learner.order[h, i]
        scatter(here[0] * chance, learner.states[h, row] - passed, there)
        entry, successors = (
            learner.entries[h, row, choice[row]],
            learner.successors[h, row, choice[row]],
        )
        for j in range(entry.known):
            there[successors[j].row] += here[row] * successors[j].probability
        if entry.n == 0.0:
            scatter(here[row] * chance, 1, there)
        passed = learner.states[h, row] + 1
    scatter(here[0] * chance, states - passed, there)


@jit
def scatter(flow, times, there):
    """From so many states to every other."""
    if flow > 0.0:
        for _ in range(times):
            for row in range(len(there)):
                there[row] += flow


@jit
def record(learner, h, x, a, r, g, y):
    at = learner.now[0].episode % len(learner.path)
    row = row_of(learner, h, x)
    learner.path[at, h], learner.path[at, h + 1], learner.actions[at, h] = (
        row,
        row_of(learner, h + 1, y),
        a,
    )
    learner.paid[at, h, 0], learner.paid[at, h, 1] = r, g
    entry = learner.entries[h, row, a]
    entry.since += 1.0
    if entry.since >= max(entry.n, 1.0):
        learner.now[0].due = 1


@jit
def row_of(learner, h, x):
    """The row of a state that is met."""
    row = learner.rows[h, x]
    if row == 0:
        states, order, row = learner.states[h], learner.order[h], learner.used[h]
        i = row - 1
        while i > 0 and states[order[i - 1]] > x:
            order[i] = order[i - 1]
            i -= 1
        order[i], states[row], learner.rows[h, x] = row, x, row
        learner.used[h] += 1
    return row


@operation(begin_episode, OptCMDP)
def _(learner, u):
    plan(learner)


@operation(act, OptCMDP)
def _(learner, h, x, u):
    row = learner.rows[h, x]
    choice = (
        learner.mixture.rising[h, row]
        if u < learner.rising[h, row]
        else learner.mixture.falling[h, row]
    )
    return int(choice)


@operation(learn, OptCMDP)
def _(learner, h, x, a, r, g, y):
    record(learner, h, x, a, r, g, y)


@operation(end_of_episode, OptCMDP)
def _(learner):
    learner.now[0].episode += 1


@operation(certain_action, OptCMDP)
def _(learner, h, x, probabilities):
    row = learner.rows[h, x]
    rising, falling, share = (
        learner.mixture.rising[h, row],
        learner.mixture.falling[h, row],
        learner.rising[h, row],
    )
    if rising == falling or share == 0.0 or share == 1.0:
        return int(rising if share == 1.0 else falling)
    probabilities[:] = 0.0
    probabilities[rising] += share
    probabilities[falling] += 1.0 - share
    return -1
