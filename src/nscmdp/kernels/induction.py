"""Backward induction in the model of one episode.

    V_h(x) = sum_a pi_h(a|x) ( r_h(x,a) + sum_x' P_h(x'|x,a) V_{h+1}(x') ),        W_h(x) likewise with g,

from V_{H+1} = W_{H+1} = 0 down to h = 1, then the mean over mu0. All kernels read a :class:`Model` and write into
arrays of the caller. They visit only the states that some policy can be in at step h: nothing else can matter.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nscmdp.cmdp import CMDP, Array
from nscmdp.drift import DriftingCMDP
from nscmdp.kernels.jit import borrowed, expanded, inlined, jit

TIE = 1e-12  # action values closer than this are the same


class Reach(NamedTuple):
    """Where a start from mu0 can lead, under any policy and any model of a path."""

    states: NDArray[np.uint32]  # of step 0, of step 1, ...
    steps: NDArray[np.int64]  # (H+1,): the states of step h are those from steps[h] to steps[h+1]
    spans: NDArray[
        np.int64
    ]  # (n,2): the stretches from one (layer,x) up to another that hold all of these
    shared: bool  # do all actions of a state have the same successors, in the same columns?


class Model(NamedTuple):
    """A CMDP as the kernels see it; ``layers`` is 1 where all steps share one layer, else H."""

    successors: NDArray[np.uint32]  # (layers, S, A, M)
    probability: Array  # (layers, S, A, M)
    reward: Array  # (layers, S, A)
    utility: Array  # (layers, S, A)
    mu0: Array  # (S,)
    horizon: int
    reach: Reach


class DriftArrays(NamedTuple):
    """A path as the kernels see it."""

    successors: NDArray[np.uint32]  # (layers, S, A, M)
    probability: Array  # (anchors, layers S A M)
    reward: Array  # (anchors, layers S A)
    utility: Array  # (anchors, layers S A)
    knots: NDArray[np.int64]
    route: NDArray[np.int64]


def model_of(cmdp: CMDP) -> Model:
    reach = reach_of(cmdp.successors, cmdp.mu0, cmdp.H)
    return Model(
        cmdp.successors, cmdp.probability, cmdp.reward, cmdp.utility, cmdp.mu0, cmdp.H, reach
    )


def empty_model(env: DriftingCMDP) -> Model:
    """Room for the model of any episode of a path."""
    return Model(
        env.successors,
        np.empty(env.probability.shape[1:]),
        np.empty(env.reward.shape[1:]),
        np.empty(env.utility.shape[1:]),
        env.mu0,
        env.H,
        reach_of(env.successors, env.mu0, env.H),
    )


def reach_of(successors: NDArray[np.uint32], mu0: Array, horizon: int) -> Reach:
    """A successor counts whatever its probability: so does the induction, which multiplies by it."""
    layers, states = successors.shape[:2]
    reached, steps = np.empty(horizon * states, np.uint32), np.zeros(horizon + 1, np.int64)
    found = np.zeros(layers * states + 2, np.bool_)
    shared = follow_all(successors, mu0, reached, steps, found[1:-1])
    spans = np.flatnonzero(found[1:] != found[:-1]).reshape(-1, 2)
    return Reach(reached[: steps[-1]], steps, spans, shared)


def everywhere(horizon: int, states: int) -> Reach:
    """Every state at every step, for a model that is yet to be filled: a layer per step, a column per next state."""
    return Reach(
        np.tile(np.arange(states, dtype=np.uint32), horizon),
        np.arange(horizon + 1) * states,
        np.array([[0, horizon * states]]),
        True,
    )


@jit
def follow_all(successors, mu0, reached, steps, found):
    """Write the states of every step, and which (layer,x) are ``found`` among them; do actions share successors?"""
    layers, states, actions, columns = successors.shape
    here, shared = mu0 > 0.0, True
    for h in range(len(steps) - 1):
        layer, end = h % layers, steps[h]
        there = np.zeros(states, np.bool_)
        for x in range(states):
            if here[x]:
                reached[end] = x
                end += 1
                found[layer * states + x] = True
                for a in range(actions):
                    for i in range(columns):
                        y = successors[layer, x, a, i]
                        there[y] = True
                        shared &= y == successors[layer, x, 0, i]
        steps[h + 1], here = end, there
    return shared


def drift_of(env: DriftingCMDP) -> DriftArrays:
    probability, reward, utility = (
        values.reshape(len(env.anchors), -1)
        for values in (env.probability, env.reward, env.utility)
    )
    return DriftArrays(env.successors, probability, reward, utility, env.knots, env.route)


@jit
def find_leg(drift, k):
    """(anchor at the start, anchor at the end, weight of the end) for episode k; :meth:`DriftingCMDP.leg`, compiled."""
    knots = drift.knots
    if len(knots) == 1:
        return drift.route[0], drift.route[0], 0.0
    here = min(max(np.searchsorted(knots, k, side="right") - 1, 0), len(knots) - 2)
    weight = (k - knots[here]) / (knots[here + 1] - knots[here])
    return drift.route[here], drift.route[here + 1], min(max(weight, 0.0), 1.0)


@jit
def mix(drift, k, model):
    """Write the model of episode k, where it can be reached."""
    mix_in(k, *borrowed((drift, model)))


@expanded
def mix_in(k, drift, model):
    start, end, weight = find_leg(drift, k)
    _, _, actions, columns = model.successors.shape
    _, probability, reward, utility = flat_rows(model)
    for first, last in model.reach.spans:
        blend(
            drift.probability,
            start,
            end,
            weight,
            first * actions * columns,
            last * actions * columns,
            probability,
        )
        blend(drift.reward, start, end, weight, first * actions, last * actions, reward)
        blend(drift.utility, start, end, weight, first * actions, last * actions, utility)


@jit
def blend(anchors, start, end, weight, first, last, out):
    here, there, mixed = anchors[start, first:last], anchors[end, first:last], out[first:last]
    for i in range(len(mixed)):
        mixed[i] = (1.0 - weight) * here[i] + weight * there[i]


@jit
def flat_rows(model):
    """Successors, probabilities, rewards and utilities of all rows; see :func:`first_row` for their numbers."""
    return (
        model.successors.ravel(),
        model.probability.ravel(),
        model.reward.ravel(),
        model.utility.ravel(),
    )


@inlined
def first_row(model, h):
    """The number of step h's first row; row (h,x,a) follows it by x A + a."""
    layers, states, actions, _ = model.successors.shape
    return 0 if layers == 1 else h * states * actions


@inlined
def look_ahead(rows, columns, row, later):
    """Reward and utility of one row (h,x,a) and all that follows; ``later`` (S,2) holds V and W of the next step."""
    successors, probability, reward, utility = rows
    first, width = (
        np.uint64(row),
        np.uint64(columns),
    )  # unsigned: a signed index is tested for counting from the end
    value, utility_value = reward[first], utility[first]
    for i in range(width):
        y, p = successors[first * width + i], probability[first * width + i]
        value += p * later[y, 0]
        utility_value += p * later[y, 1]
    return value, utility_value


@inlined
def look_ahead_four(rows, columns, row, later):
    """The same for four rows from ``row`` on that share successors: V and W of these are read once for all four."""
    successors, probability, reward, utility = rows
    first, width = np.uint64(row), np.uint64(columns)
    second, third, fourth = first + np.uint64(1), first + np.uint64(2), first + np.uint64(3)
    v1, v2, v3, v4 = reward[first], reward[second], reward[third], reward[fourth]
    w1, w2, w3, w4 = utility[first], utility[second], utility[third], utility[fourth]
    for i in range(width):
        y = successors[first * width + i]
        v, w = later[y, 0], later[y, 1]
        p1, p2 = probability[first * width + i], probability[second * width + i]
        p3, p4 = probability[third * width + i], probability[fourth * width + i]
        v1, w1, v2, w2 = v1 + p1 * v, w1 + p1 * w, v2 + p2 * v, w2 + p2 * w
        v3, w3, v4, w4 = v3 + p3 * v, w3 + p3 * w, v4 + p4 * v, w4 + p4 * w
    return (v1, w1), (v2, w2), (v3, w3), (v4, w4)


@inlined
def in_fours(model):
    """How many of a state's actions :func:`look_ahead_four` can take."""
    actions = model.successors.shape[2]
    return actions // 4 * 4 if model.reach.shared else 0


@inlined
def is_grid(model):
    """Do four actions share four successors? Inductions are compiled for these numbers, and once more for any."""
    _, _, actions, columns = model.successors.shape
    return model.reach.shared and actions == 4 and columns == 4


@inlined
def reachable(model, h):
    """The states that step h can be in."""
    return model.reach.states[model.reach.steps[h] : model.reach.steps[h + 1]]


@jit
def start_values(model, values):
    value, utility = 0.0, 0.0
    for x in reachable(model, 0):
        value += model.mu0[x] * values[x, 0]
        utility += model.mu0[x] * values[x, 1]
    return value, utility


@jit
def greedy(model, on_reward, on_utility, choice, values):
    """Maximise on_reward V + on_utility W; ties go to the utility, or to the reward where on_reward is 0.

    Writes the deterministic policy ``choice`` (H,S) and uses ``values`` (2,S,2); returns its V and W.
    """
    return choose(on_reward, on_utility, *borrowed((model, choice, values)))


@expanded
def choose(on_reward, on_utility, model, choice, values):
    if is_grid(model):
        return choose_among(4, 4, 4, on_reward, on_utility, model, choice, values)
    _, _, actions, columns = model.successors.shape
    return choose_among(
        actions, in_fours(model), columns, on_reward, on_utility, model, choice, values
    )


@inlined
def choose_among(actions, fours, columns, on_reward, on_utility, model, choice, values):
    rows = borrowed(flat_rows(model))
    values[model.horizon % 2] = 0.0
    for h in range(model.horizon - 1, -1, -1):
        first = first_row(model, h)
        later, now = values[(h + 1) % 2], values[h % 2]
        for x in reachable(model, h):
            row, kept = first + x * actions, (-np.inf, -np.inf, 0, 0.0, 0.0)
            for a in range(0, fours, 4):
                one, two, three, four = look_ahead_four(rows, columns, row + a, later)
                kept = preferred(on_reward, on_utility, kept, a, one)
                kept = preferred(on_reward, on_utility, kept, a + 1, two)
                kept = preferred(on_reward, on_utility, kept, a + 2, three)
                kept = preferred(on_reward, on_utility, kept, a + 3, four)
            for a in range(fours, actions):
                kept = preferred(
                    on_reward, on_utility, kept, a, look_ahead(rows, columns, row + a, later)
                )
            _, _, choice[h, x], now[x, 0], now[x, 1] = kept
    return start_values(model, values[0])


@inlined
def preferred(on_reward, on_utility, kept, a, ahead):
    """The better of the action kept so far and action a: its score, its tiebreak, its number, its V and W."""
    best, second, picked, value, utility_value = kept
    v, w = ahead
    score = on_reward * v + on_utility * w
    tiebreak = w if on_reward > 0.0 else v
    if score > best + TIE or (score > best - TIE and tiebreak > second):
        return max(score, best), tiebreak, a, v, w
    return best, second, picked, value, utility_value


@jit
def follow(model, one, other, values, others):
    """V and W of two deterministic policies (H,S), in one pass over the model: v, w, v', w'."""
    return walk(*borrowed((model, one, other, values, others)))


@expanded
def walk(model, one, other, values, others):
    if is_grid(model):
        return walk_on(4, 4, model, one, other, values, others)
    _, _, actions, columns = model.successors.shape
    return walk_on(actions, columns, model, one, other, values, others)


@inlined
def walk_on(actions, columns, model, one, other, values, others):
    rows = borrowed(flat_rows(model))
    values[model.horizon % 2] = 0.0
    others[model.horizon % 2] = 0.0
    for h in range(model.horizon - 1, -1, -1):
        row = first_row(model, h)
        later, now = values[(h + 1) % 2], values[h % 2]
        later_other, now_other = others[(h + 1) % 2], others[h % 2]
        for x in reachable(model, h):
            now[x, 0], now[x, 1] = look_ahead(rows, columns, row + x * actions + one[h, x], later)
            now_other[x, 0], now_other[x, 1] = look_ahead(
                rows, columns, row + x * actions + other[h, x], later_other
            )
    v, w = start_values(model, values[0])
    v_other, w_other = start_values(model, others[0])
    return v, w, v_other, w_other


def empty_policy(model: Model) -> Array:
    """(n,A): what is played in the n reachable (h,x), in the order of :class:`Reach`, yet to be filled."""
    return np.empty((len(model.reach.states), model.successors.shape[2]))


@jit
def expect(model, policy, values):
    """V and W of a policy, as :func:`empty_policy` has it; uses ``values`` (2,S,2)."""
    return average(*borrowed((model, policy, values)))


@expanded
def average(model, policy, values):
    if is_grid(model):
        return average_among(4, 4, 4, model, policy, values)
    _, _, actions, columns = model.successors.shape
    return average_among(actions, in_fours(model), columns, model, policy, values)


@inlined
def average_among(actions, fours, columns, model, policy, values):
    rows = borrowed(flat_rows(model))
    values[model.horizon % 2] = 0.0
    for h in range(model.horizon - 1, -1, -1):
        first = first_row(model, h)
        later, now = values[(h + 1) % 2], values[h % 2]
        states, here = reachable(model, h), policy[model.reach.steps[h] :]
        for i in range(len(states)):
            x = states[i]
            now[x, 0], now[x, 1] = average_of(
                actions, fours, columns, rows, first + x * actions, here[i], later
            )
    return start_values(model, values[0])


@inlined
def average_of(actions, fours, columns, rows, row, probabilities, later):
    """A probability of 0 adds 0 to a sum that is never -0.0: the result does not depend on whether it is left out."""
    value, utility_value = 0.0, 0.0
    for a in range(0, fours, 4):
        (v1, w1), (v2, w2), (v3, w3), (v4, w4) = look_ahead_four(rows, columns, row + a, later)
        p1, p2, p3, p4 = (
            probabilities[a],
            probabilities[a + 1],
            probabilities[a + 2],
            probabilities[a + 3],
        )
        value = value + p1 * v1 + p2 * v2 + p3 * v3 + p4 * v4
        utility_value = utility_value + p1 * w1 + p2 * w2 + p3 * w3 + p4 * w4
    for a in range(fours, actions):
        if probabilities[a] > 0.0:
            v, w = look_ahead(rows, columns, row + a, later)
            value += probabilities[a] * v
            utility_value += probabilities[a] * w
    return value, utility_value


def evaluate(cmdp: CMDP, policy: Array) -> tuple[float, float]:
    """Exact expected reward V and utility W of an episode under a policy (H,S,A)."""
    expected = (cmdp.H, cmdp.S, cmdp.A)
    if policy.shape != expected:
        raise ValueError(f"the policy has shape {policy.shape}, expected (H, S, A) = {expected}")
    model = model_of(cmdp)
    played, steps = empty_policy(model), np.repeat(np.arange(cmdp.H), np.diff(model.reach.steps))
    played[:] = policy[steps, model.reach.states]
    return expect(model, played, np.empty((2, cmdp.S, 2)))
