"""A learner in a drifting CMDP: what it earns, and the exact value and utility of its policies.

In every episode k the learner plays H steps in the model of episode k. At the checkpoints the policy that it plays is
evaluated exactly in that model (V_k, W_k), before the first step, and compared with the optimum of the same episode
(:mod:`nscmdp.metrics`). With ``evaluate_every`` = n > 1 one episode of each stratum of n is evaluated and stands for
all of them. A learner is one of :mod:`nscmdp.algorithms`, a compiled one of your own (:mod:`nscmdp.learner`) or any
object with such methods (:mod:`nscmdp.plain`).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nscmdp import algorithms, metrics, optimum
from nscmdp.cmdp import Array
from nscmdp.drift import DriftingCMDP
from nscmdp.kernels.induction import (
    GRID,
    DriftArrays,
    Model,
    any_shape,
    drift_of,
    empty_model,
    find_leg,
    first_row,
    flat_rows,
    is_grid,
    look_ahead,
    mean_ahead,
    mix,
    reachable,
    start_values,
)
from nscmdp.kernels.jit import borrowed, borrowing, inlined
from nscmdp.kernels.sampling import Sampler, sampler_of
from nscmdp.learner import (
    begin_episode,
    distribution,
    dual,
    end_of_episode,
    find,
    first_action,
    last_lesson,
    next_action,
)
from nscmdp.problem import Problem
from nscmdp.randomness import checkpoints, stratum_lengths, stream

CHUNK_STEPS = 1 << 16  # random numbers are drawn for about this many steps at a time


@inlined
def draw(sampler, start, end, weight, layer, x, a, u_anchor, u_column):
    """Reward, utility and successor of one step: an anchor by its weight, then a column of its row."""
    anchor = end if u_anchor < weight else start
    place = u_column * sampler.outcomes.shape[4]
    column = np.uint32(int(place))
    outcome = sampler.outcomes[np.uint32(anchor), layer, x, np.uint32(a), column]
    if place - column < outcome.threshold:
        return outcome.reward, outcome.utility, outcome.state
    return outcome.alias_reward, outcome.alias_utility, outcome.alias_state


@borrowing
def value_of(model, learner, probabilities, values):
    """V and W of the policy that a learner plays now; works in ``probabilities`` (A,) and ``values`` (2,S,2)."""
    if is_grid(model):
        return ask_along(GRID, model, learner, probabilities, values)
    return ask_along(any_shape(model), model, learner, probabilities, values)


@inlined
def ask_along(shape, model, learner, probabilities, values):
    """As in :func:`nscmdp.kernels.induction.expect`, but in one pass: to write the policy down takes a tenth longer."""
    rows, (actions, _, columns) = borrowed(flat_rows(model)), shape
    values[model.horizon % 2] = 0.0
    for h in range(model.horizon - 1, -1, -1):
        first, later, now = first_row(model, h), values[(h + 1) % 2], values[h % 2]
        for x in reachable(model, h):
            row, certain = first + x * actions, distribution(learner, h, x, probabilities)
            if certain >= 0:
                now[x, 0], now[x, 1] = look_ahead(rows, columns, row + certain, later)
            else:
                now[x, 0], now[x, 1] = mean_ahead(shape, rows, row, later, probabilities)
    return start_values(model, values[0])


class World(NamedTuple):
    """The environment, as the loop sees it."""

    drift: DriftArrays
    sampler: Sampler


class Draws(NamedTuple):
    """Uniform numbers for n episodes."""

    environment: Array  # (n, 1+2H): the first state, then an anchor and a column for each step
    learner: Array  # (n, 1+H): begin_episode's, then one for each action


class Record(NamedTuple):
    """What the loop writes."""

    reward: Array  # (windows,): what the episodes of a window earn is added
    utility: Array
    dual: Array  # (windows,): the learner's weight of the utility at the window's end
    asked: NDArray[np.int64]  # (m,): the episodes whose policies are evaluated ...
    values: Array  # (m,2): ... and their V and W


class Room(NamedTuple):
    """To work in."""

    model: Model
    values: Array  # (2, S, 2)

    @classmethod
    def of(cls, env: DriftingCMDP) -> "Room":
        return cls(empty_model(env), np.empty((2, env.S, 2)))


@borrowing
def play(world, learner, draws, record, room, first, episodes):
    """Play the episodes first, first+1, ... of ``episodes``: one for each row of ``draws``."""
    drift, sampler = world
    horizon, windows = draws.learner.shape[1] - 1, len(record.reward)
    layers, states, actions, _ = drift.successors.shape
    probabilities = np.empty(actions)
    evaluated = 0
    for i in range(len(draws.learner)):
        k = first + i
        begin_episode(learner, draws.learner[i, 0])
        if evaluated < len(record.asked) and record.asked[evaluated] == k:
            mix(drift, k, room.model)
            value, utility_value = value_of(room.model, learner, probabilities, room.values)
            record.values[evaluated, 0], record.values[evaluated, 1] = value, utility_value
            evaluated += 1
        start, end, weight = find_leg(drift, k)
        place = draws.environment[i, 0] * states
        x = int(place)
        if place - x >= sampler.start_threshold[x]:
            x = sampler.start_alias[x]
        a = first_action(learner, x, draws.learner[i, 1], probabilities)
        reward, utility = 0.0, 0.0
        for h in range(horizon):
            layer = 0 if layers == 1 else h
            u_anchor, u_column = draws.environment[i, 1 + 2 * h], draws.environment[i, 2 + 2 * h]
            r, g, state = draw(sampler, start, end, weight, layer, x, a, u_anchor, u_column)
            y = int(state)
            reward += r
            utility += g
            if h + 1 < horizon:
                a = next_action(learner, h, x, a, r, g, y, draws.learner[i, 2 + h], probabilities)
                x = y
            else:
                last_lesson(learner, h, x, a, r, g, y)
        end_of_episode(learner)
        window = (k - 1) * windows // episodes
        record.reward[window] += reward
        record.utility[window] += utility
        if k * windows // episodes > window:
            record.dual[window] = dual(learner)


@dataclass(frozen=True)
class Run:
    """One learner, one seed. Cumulative arrays run over the evaluated episodes ``episode``."""

    learner: Any  # its state after the last episode
    rho: float
    window_episodes: NDArray[np.int64]  # how many episodes each window has
    reward: Array  # realised reward per episode, by window
    utility: Array
    dual: Array  # the learner's weight of the utility at the end of each window; nan where it has none
    episode: NDArray[np.int64]  # the evaluated episodes ...
    weight: NDArray[np.int64]  # ... and how many each stands for
    value: Array  # V_k
    utility_value: Array  # W_k
    optimum: Array | None  # (n,3): V*_k, its utility, lambda*_k
    exact: bool = True  # else V_k and W_k are estimates: means over the episodes of a stratum

    @cached_property
    def measures(self) -> dict[str, Array]:
        """Of every evaluated episode."""
        if self.optimum is None:
            raise ValueError("this run was made without the optimum")
        return metrics.compare(self.value, self.utility_value, self.optimum, self.rho)

    @property
    def violation(self) -> Array:
        return np.cumsum(self.weight * metrics.violation(self.utility_value, self.rho))

    regret = property(lambda self: self._sums("regret"))
    positive_regret = property(lambda self: self._sums("positive_regret"))
    positive_violation = property(lambda self: self._sums("positive_violation"))
    gap = property(lambda self: self._sums("gap"))  # the Lagrangian gap

    def _sums(self, measure: str) -> Array:
        return np.cumsum(self.weight * self.measures[measure])


def run(
    env: DriftingCMDP,
    algorithm: Any,
    setting: str = "literal",
    seed: int = 0,
    evaluate_every: int | None = 1,
    *,
    factors: dict[str, Any] | None = None,
    variants: dict[str, Any] | None = None,
    constants: dict[str, float | str] | None = None,
    assumed_budget: float = 1.0,
    assumed_for: Literal["all", "frame"] = "all",
    windows: int | None = None,
    solve: bool = True,
    progress: Callable[[int], object] | None = None,
    compiled: bool = True,
) -> Run:
    """Run one learner over all episodes of a path.

    ``algorithm`` is a name, or a learner before its first episode. A named one that uses the budget assumes
    ``assumed_budget`` times the true one, in all its constants or in its frame; ``constants`` replaces some of these
    (:func:`nscmdp.algorithms.constants`). Realised returns are means over ``windows`` stretches of the run.
    ``evaluate_every`` None evaluates nothing; ``solve`` False leaves the optimum (which belongs to the environment,
    not to a run) to the caller; ``progress`` is called with the number of episodes played, now and then.
    ``compiled`` False runs a compiled learner in plain Python, for a debugger to step through.
    """
    if isinstance(algorithm, str):
        problem, name = Problem.of(env, assumed_budget, assumed_for), algorithm
        learner = algorithms.make(algorithm, problem, setting, factors, variants, constants)
    elif setting == "literal" and assumed_budget == 1.0 and not (factors or variants or constants):
        learner, name = algorithm, getattr(algorithm, "name", type(algorithm).__name__)
    else:
        raise ValueError(
            f"settings, factors, variants and budgets are for algorithms by name, not for {algorithm!r}"
        )
    every = env.episodes + 1 if evaluate_every is None else evaluate_every
    if every < 1:
        raise ValueError(f"evaluate_every = {evaluate_every}: expected at least 1")
    asked = np.empty(0, np.int64)
    if evaluate_every is not None:
        asked = checkpoints(env.episodes, every, seed)
    weight = stratum_lengths(env.episodes, every)[: len(asked)]
    windows = min(windows or metrics.WINDOWS, env.episodes)
    reward, utility, duals = np.zeros((3, windows))
    values = np.empty((len(asked), 2))
    world, room = World(drift_of(env), sampler_of(env)), Room.of(env)
    is_compiled = compiled and find(distribution, type(learner))
    in_python = None if is_compiled else python_player(env, world, learner)
    for first, draws in all_draws(env, name, seed):
        n = len(draws.learner)
        begin, end = np.searchsorted(asked, (first, first + n))
        record = Record(reward, utility, duals, asked[begin:end], values[begin:end])
        (in_python or play)(world, learner, draws, record, room, first, env.episodes)
        if progress:
            progress(first + n - 1)
    exact = in_python is None or in_python.exact
    if in_python and not exact and len(asked):
        values = in_python.estimates(weight)
    best = optimum.along(env, asked) if solve and len(asked) else None
    length = np.bincount(np.arange(env.episodes) * windows // env.episodes)
    means, (V, W) = (reward / length, utility / length, duals), values.T
    return Run(learner, env.rho, length, *means, asked, weight, V, W, best, exact)


def python_player(env: DriftingCMDP, world: World, learner: Any) -> Any:
    """Found by name, not imported: an edit of the loop in Python reruns no compiled run."""
    return import_module("nscmdp.plain").Player(env, world.sampler, learner)


def all_draws(env: DriftingCMDP, name: str, seed: int) -> Iterator[tuple[int, Draws]]:
    """The random numbers of all episodes, a chunk at a time: its first episode, and numbers good until the next."""
    streams = stream("environment", env.name, env.seed, seed), stream("learner", name, seed)
    chunk = min(env.episodes, max(1, CHUNK_STEPS // env.H))
    room = np.empty((chunk, 1 + 2 * env.H)), np.empty((chunk, 1 + env.H))
    for first in range(1, env.episodes + 1, chunk):
        n = min(chunk, env.episodes + 1 - first)
        drawn = (source.random(out=out[:n]) for source, out in zip(streams, room, strict=True))
        yield first, Draws(*drawn)
