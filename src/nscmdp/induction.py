"""Backward induction in the model of one episode.

    V_h(x) = sum_a pi_h(a|x) ( r_h(x,a) + sum_x' P_h(x'|x,a) V_{h+1}(x') ),        W_h(x) likewise with g,

from V_{H+1} = W_{H+1} = 0 down to h = 1, then the mean over mu0. All kernels read a :class:`Model` and write into
arrays of the caller.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nscmdp._compile import inlined, jit
from nscmdp.cmdp import CMDP, Array
from nscmdp.path import Path

TIE = 1e-12  # action values closer than this are the same


class Model(NamedTuple):
    """A CMDP as the kernels see it; ``layers`` is 1 where all steps share one layer."""

    successors: NDArray[np.uint32]  # (layers, S, A, M)
    probability: Array  # (layers, S, A, M)
    reward: Array  # (layers, S, A)
    utility: Array  # (layers, S, A)
    mu0: Array  # (S,)
    horizon: int


class Drift(NamedTuple):
    """A path as the kernels see it."""

    successors: NDArray[np.uint32]  # (layers, S, A, M)
    probability: Array  # (anchors, layers S A M)
    reward: Array  # (anchors, layers S A)
    utility: Array  # (anchors, layers S A)
    knots: NDArray[np.int64]
    route: NDArray[np.int64]


def model_of(cmdp: CMDP) -> Model:
    return Model(cmdp.successors, cmdp.probability, cmdp.reward, cmdp.utility, cmdp.mu0, cmdp.H)


def empty_model(env: Path) -> Model:
    """Room for the model of any episode of a path."""
    return Model(
        env.successors,
        np.empty(env.probability.shape[1:]),
        np.empty(env.reward.shape[1:]),
        np.empty(env.utility.shape[1:]),
        env.mu0,
        env.H,
    )


def drift_of(env: Path) -> Drift:
    probability, reward, utility = (
        values.reshape(len(env.anchors), -1) for values in (env.probability, env.reward, env.utility)
    )
    return Drift(env.successors, probability, reward, utility, env.knots, env.route)


@jit
def find_leg(drift, k):
    """(anchor at the start, anchor at the end, weight of the end) for episode k; :meth:`Path.leg`, compiled."""
    knots = drift.knots
    if len(knots) == 1:
        return drift.route[0], drift.route[0], 0.0
    here = min(max(np.searchsorted(knots, k, side="right") - 1, 0), len(knots) - 2)
    weight = (k - knots[here]) / (knots[here + 1] - knots[here])
    return drift.route[here], drift.route[here + 1], min(max(weight, 0.0), 1.0)


@jit
def mix(drift, k, model):
    """Write the model of episode k."""
    start, end, weight = find_leg(drift, k)
    blend(drift.probability[start], drift.probability[end], weight, model.probability.ravel())
    blend(drift.reward[start], drift.reward[end], weight, model.reward.ravel())
    blend(drift.utility[start], drift.utility[end], weight, model.utility.ravel())


@inlined
def blend(first, last, weight, out):
    for i in range(len(out)):
        out[i] = (1.0 - weight) * first[i] + weight * last[i]


@jit
def flat_rows(model):
    """Successors, probabilities, rewards and utilities of all rows; see :func:`first_row` for their numbers."""
    return model.successors.ravel(), model.probability.ravel(), model.reward.ravel(), model.utility.ravel()


@inlined
def first_row(model, h):
    """The number of step h's first row; row (h,x,a) follows it by x A + a."""
    layers, states, actions, _ = model.successors.shape
    return 0 if layers == 1 else h * states * actions


@inlined
def look_ahead(rows, columns, row, later):
    """Reward and utility of one row (h,x,a) and all that follows; ``later`` (S,2) holds V and W of the next step."""
    successors, probability, reward, utility = rows
    value, worth = reward[row], utility[row]
    for i in range(row * columns, (row + 1) * columns):
        y = successors[i]
        value += probability[i] * later[y, 0]
        worth += probability[i] * later[y, 1]
    return value, worth


@jit
def start_values(model, values):
    value, utility = 0.0, 0.0
    for x in range(len(model.mu0)):
        value += model.mu0[x] * values[x, 0]
        utility += model.mu0[x] * values[x, 1]
    return value, utility


@jit
def greedy(model, on_reward, on_utility, choice, values):
    """Maximise on_reward V + on_utility W; ties go to the utility, or to the reward where on_reward is 0.

    Writes the deterministic policy ``choice`` (H,S) and uses ``values`` (2,S,2); returns its V and W.
    """
    _, states, actions, columns = model.successors.shape
    rows = flat_rows(model)
    values[model.horizon % 2] = 0.0
    for h in range(model.horizon - 1, -1, -1):
        row = first_row(model, h)
        later, now = values[(h + 1) % 2], values[h % 2]
        for x in range(states):
            best, second, picked, value, worth = -np.inf, -np.inf, 0, 0.0, 0.0
            for a in range(actions):
                v, w = look_ahead(rows, columns, row + x * actions + a, later)
                score = on_reward * v + on_utility * w
                tiebreak = w if on_reward > 0.0 else v
                if score > best + TIE or (score > best - TIE and tiebreak > second):
                    best, second, picked, value, worth = max(score, best), tiebreak, a, v, w
            choice[h, x] = picked
            now[x, 0], now[x, 1] = value, worth
    return start_values(model, values[0])


@jit
def follow(model, choice, values):
    """V and W of the deterministic policy ``choice`` (H,S)."""
    _, states, actions, columns = model.successors.shape
    rows = flat_rows(model)
    values[model.horizon % 2] = 0.0
    for h in range(model.horizon - 1, -1, -1):
        row = first_row(model, h)
        later, now = values[(h + 1) % 2], values[h % 2]
        for x in range(states):
            now[x, 0], now[x, 1] = look_ahead(rows, columns, row + x * actions + choice[h, x], later)
    return start_values(model, values[0])


@jit
def expect(model, policy, values):
    """V and W of the stochastic policy ``policy`` (H,S,A)."""
    _, states, actions, columns = model.successors.shape
    rows = flat_rows(model)
    values[model.horizon % 2] = 0.0
    for h in range(model.horizon - 1, -1, -1):
        row = first_row(model, h)
        later, now = values[(h + 1) % 2], values[h % 2]
        for x in range(states):
            value, worth = 0.0, 0.0
            for a in range(actions):
                if policy[h, x, a] > 0.0:
                    v, w = look_ahead(rows, columns, row + x * actions + a, later)
                    value += policy[h, x, a] * v
                    worth += policy[h, x, a] * w
            now[x, 0], now[x, 1] = value, worth
    return start_values(model, values[0])


def evaluate(cmdp: CMDP, policy: Array) -> tuple[float, float]:
    """Exact expected reward V and utility W of an episode under a policy (H,S,A)."""
    expected = (cmdp.H, cmdp.S, cmdp.A)
    if policy.shape != expected:
        raise ValueError(f"the policy has shape {policy.shape}, expected (H, S, A) = {expected}")
    return expect(model_of(cmdp), np.ascontiguousarray(policy, dtype=float), np.empty((2, cmdp.S, 2)))
