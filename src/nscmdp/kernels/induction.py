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
from nscmdp.kernels.jit import borrowed, borrowing, inlined, jit

TIE = 1e-12  # action values closer than this are the same
GRID = (4, 4, 4)  # the shape of a map, known to the compiler: actions, how many at once, columns


class Reach(NamedTuple):
    """Where a start from mu0 can lead, under any policy and any model of a path."""

    states: NDArray[np.uint32]  # of step 0, of step 1, ...
    steps: NDArray[np.int64]  # (H+1,): the states of step h are those from steps[h] to steps[h+1]
    spans: NDArray[np.int64]  # (n,2): stretches from one (layer,x) up to another that hold these
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
    flat = len(env.anchors), -1
    probability, reward = env.probability.reshape(flat), env.reward.reshape(flat)
    utility = env.utility.reshape(flat)
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


@borrowing
def mix(drift, k, model):
    """Write the model of episode k, where it can be reached."""
    start, end, weight = find_leg(drift, k)
    _, _, actions, columns = model.successors.shape
    _, probability, reward, utility = flat_rows(model)
    for span in model.reach.spans:
        first, last = span[0] * actions, span[1] * actions
        blend(drift.reward, start, end, weight, first, last, reward)
        blend(drift.utility, start, end, weight, first, last, utility)
        first, last = first * columns, last * columns
        blend(drift.probability, start, end, weight, first, last, probability)


@jit
def blend(anchors, start, end, weight, first, last, out):
    here, there, mixed = anchors[start, first:last], anchors[end, first:last], out[first:last]
    for i in range(len(mixed)):
        mixed[i] = (1.0 - weight) * here[i] + weight * there[i]


@inlined
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
    # Unsigned: a signed index is tested for counting from the end.
    first, width = np.uint64(row), np.uint64(columns)
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


@inlined
def is_grid(model):
    """Do four actions share four successors? Inductions are compiled for these numbers, and once more for any."""
    return model.reach.shared and model.successors.shape[2] == 4 and model.successors.shape[3] == 4


@inlined
def any_shape(model):
    return model.successors.shape[2], 0, model.successors.shape[3]


@inlined
def induction(back_up, model, values, arguments):
    """V and W at the start, by ``back_up`` of every state that a step can be in, from the last step to the first.

    ``back_up(shape, rows, row, later, h, i, x, arguments)`` gives V and W of one state: ``row`` is its first row, i
    its place in :class:`Reach`, ``arguments`` are its own. ``values`` (2,S,2) is room to work in.
    """
    if is_grid(model):
        return sweep(GRID, back_up, model, values, arguments)
    return sweep(any_shape(model), back_up, model, values, arguments)


@inlined
def sweep(shape, back_up, model, values, arguments):
    rows, steps = borrowed(flat_rows(model)), model.reach.steps
    values[model.horizon % 2] = 0.0
    for h in range(model.horizon - 1, -1, -1):
        first, later, now = first_row(model, h), values[(h + 1) % 2], values[h % 2]
        for i in range(steps[h], steps[h + 1]):
            x = model.reach.states[i]
            now[x, 0], now[x, 1] = back_up(
                shape, rows, first + x * shape[0], later, h, i, x, arguments
            )
    return start_values(model, values[0])


@borrowing
def greedy(model, on_reward, on_utility, choice, values):
    """Maximise on_reward V + on_utility W; ties go to the utility, or to the reward where on_reward is 0.

    Writes the deterministic policy ``choice`` (H,S) and uses ``values`` (2,S,2); returns its V and W.
    """
    return induction(maximum, model, values, (on_reward, on_utility, choice))


@inlined
def maximum(shape, rows, row, later, h, i, x, arguments):
    actions, fours, columns = shape
    on_reward, on_utility, choice = arguments
    kept = (-np.inf, -np.inf, 0, 0.0, 0.0)
    for a in range(0, fours, 4):
        one, two, three, four = look_ahead_four(rows, columns, row + a, later)
        kept = preferred(on_reward, on_utility, kept, a, one)
        kept = preferred(on_reward, on_utility, kept, a + 1, two)
        kept = preferred(on_reward, on_utility, kept, a + 2, three)
        kept = preferred(on_reward, on_utility, kept, a + 3, four)
    for a in range(fours, actions):
        ahead = look_ahead(rows, columns, row + a, later)
        kept = preferred(on_reward, on_utility, kept, a, ahead)
    _, _, choice[h, x], value, utility_value = kept
    return value, utility_value


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


@borrowing
def follow(model, one, other, values, others):
    """V and W of two deterministic policies (H,S): v, w, v', w'; uses ``values`` and ``others`` (2,S,2)."""
    return *induction(followed, model, values, one), *induction(followed, model, others, other)


@inlined
def followed(shape, rows, row, later, h, i, x, choice):
    return look_ahead(rows, shape[2], row + choice[h, x], later)


def empty_policy(model: Model) -> Array:
    """(n,A): what is played in the n reachable (h,x), in the order of :class:`Reach`, yet to be filled."""
    return np.empty((len(model.reach.states), model.successors.shape[2]))


@borrowing
def expect(model, policy, values):
    """V and W of a policy, as :func:`empty_policy` has it; uses ``values`` (2,S,2)."""
    return induction(expected, model, values, policy)


@inlined
def expected(shape, rows, row, later, h, i, x, policy):
    return mean_ahead(shape, rows, row, later, policy[i])


@inlined
def mean_ahead(shape, rows, row, later, probabilities):
    """A probability of 0 adds 0 to a sum that is never -0.0: the result does not depend on whether it is left out."""
    actions, fours, columns = shape
    value, utility_value = 0.0, 0.0
    for a in range(0, fours, 4):
        (v1, w1), (v2, w2), (v3, w3), (v4, w4) = look_ahead_four(rows, columns, row + a, later)
        p1, p2 = probabilities[a], probabilities[a + 1]
        p3, p4 = probabilities[a + 2], probabilities[a + 3]
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
