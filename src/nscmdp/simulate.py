"""A learner in a drifting CMDP: what it earns, and the exact value and utility of its policies.

In every episode k the learner plays H steps in the model of episode k. At the checkpoints the policy that it plays is
evaluated exactly in that model (V_k, W_k), before the first step, and compared with the optimum of the same episode
(:mod:`nscmdp.metrics`). With ``evaluate_every`` = n > 1 one episode of each stratum of n is evaluated and stands for all
of them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nscmdp import algorithms, metrics, optimum
from nscmdp.algorithms._interface import act, begin_episode, dual, end_of_episode, learn, policy
from nscmdp.cmdp import Array
from nscmdp.drift import DriftingCMDP
from nscmdp.kernels.induction import (
    drift_of,
    empty_model,
    find_leg,
    first_row,
    flat_rows,
    look_ahead,
    mix,
    reachable,
    start_values,
)
from nscmdp.kernels.jit import borrowed, expanded, inlined, jit
from nscmdp.kernels.sampling import sampler_of
from nscmdp.problem import Problem
from nscmdp.randomness import checkpoints, stratum_lengths, stream

CHUNK_STEPS = 1 << 16  # random numbers are drawn for about this many steps at a time
WINDOWS = 200


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


@jit
def value_of(model, learner, probabilities, scratch):
    """V and W of the policy that a learner plays in this episode, by backward induction."""
    return induct(*borrowed((model, learner, probabilities, scratch)))  # type: ignore[call-arg]


@expanded
def induct(model, learner, probabilities, scratch):
    _, _, actions, columns = model.successors.shape
    rows = flat_rows(model)
    scratch[model.horizon % 2] = 0.0
    for h in range(model.horizon - 1, -1, -1):
        row = first_row(model, h)
        later, now = scratch[(h + 1) % 2], scratch[h % 2]
        for x in reachable(model, h):
            sure = policy(learner, h, x, probabilities)
            if sure >= 0:
                value, utility_value = look_ahead(rows, columns, row + x * actions + sure, later)
            else:
                value, utility_value = 0.0, 0.0
                for a in range(actions):
                    if probabilities[a] > 0.0:
                        v, w = look_ahead(rows, columns, row + x * actions + a, later)
                        value += probabilities[a] * v
                        utility_value += probabilities[a] * w
            now[x, 0], now[x, 1] = value, utility_value
    return start_values(model, scratch[0])


@jit
def play(
    drift,
    sampler,
    learner,
    model,
    first,
    environment_draws,
    learner_draws,
    asked,
    episodes,
    reward,
    utility,
    duals,
    values,
    scratch,
):
    """Play the episodes first, first+1, ...: one for each row of ``environment_draws`` (n, 1+2H) and ``learner_draws`` (n, 1+H).

    Adds what episode k earns to its window of ``reward`` and ``utility``, notes in ``duals`` the learner's weight of
    the utility at the window's end; evaluates the policies of the episodes ``asked`` into ``values`` (n,2). ``model``
    and ``scratch`` (2,S,2) are room to work in.
    """
    arrays = borrowed(  # type: ignore[call-arg, var-annotated]
        (
            drift,
            sampler,
            learner,
            model,
            environment_draws,
            learner_draws,
            asked,
            reward,
            utility,
            duals,
            values,
            scratch,
        )
    )
    play_on(first, episodes, *arrays)


@expanded
def play_on(
    first,
    episodes,
    drift,
    sampler,
    learner,
    model,
    environment_draws,
    learner_draws,
    asked,
    reward,
    utility,
    duals,
    values,
    scratch,
):
    horizon, windows = learner_draws.shape[1] - 1, len(reward)
    shared, states, actions = (
        drift.successors.shape[0] == 1,
        drift.successors.shape[1],
        drift.successors.shape[2],
    )
    probabilities = np.empty(actions)
    evaluated = 0
    for i in range(len(environment_draws)):
        k = first + i
        begin_episode(learner, learner_draws[i, 0])
        if evaluated < len(asked) and asked[evaluated] == k:
            mix(drift, k, model)
            values[evaluated, 0], values[evaluated, 1] = value_of(model, learner, probabilities, scratch)
            evaluated += 1
        start, end, weight = find_leg(drift, k)
        place = environment_draws[i, 0] * states
        x = int(place)
        if place - x >= sampler.start_threshold[x]:
            x = sampler.start_alias[x]
        a, _, _ = act(learner, 0, x, learner_draws[i, 1])
        earned, useful = 0.0, 0.0
        for h in range(horizon):
            layer = 0 if shared else h
            r, g, state = draw(
                sampler,
                start,
                end,
                weight,
                layer,
                x,
                a,
                environment_draws[i, 1 + 2 * h],
                environment_draws[i, 2 + 2 * h],
            )
            y = int(state)
            earned += r
            useful += g
            if h + 1 < horizon:
                a_next, v, w = act(learner, h + 1, y, learner_draws[i, 2 + h])
                learn(learner, h, x, a, r, g, y, v, w)
                x, a = y, a_next
            else:
                learn(learner, h, x, a, r, g, y, 0.0, 0.0)
        end_of_episode(learner)
        window = (k - 1) * windows // episodes
        reward[window] += earned
        utility[window] += useful
        if k * windows // episodes > window:
            duals[window] = dual(learner)


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

    @cached_property
    def measures(self) -> dict[str, Array]:
        """Of every evaluated episode."""
        if self.optimum is None:
            raise ValueError("this run was made without the optimum")
        return metrics.compare(self.value, self.utility_value, self.optimum, self.rho)

    def _total(self, measure: str) -> Array:
        return np.cumsum(self.weight * self.measures[measure])

    @property
    def regret(self) -> Array:
        return self._total("regret")

    @property
    def violation(self) -> Array:
        return self._total("violation")

    @property
    def positive_regret(self) -> Array:
        return self._total("positive_regret")

    @property
    def positive_violation(self) -> Array:
        return self._total("positive_violation")

    @property
    def gap(self) -> Array:
        """The Lagrangian gap."""
        return self._total("gap")


def run(
    env: DriftingCMDP,
    algorithm: str,
    setting: str = "literal",
    seed: int = 0,
    evaluate_every: int | None = 1,
    *,
    factors: dict[str, Any] | None = None,
    variants: dict[str, Any] | None = None,
    assumed_budget: float = 1.0,
    assumed_for: Literal["all", "frame"] = "all",
    windows: int | None = None,
    solve: bool = True,
    progress: Callable[[int], object] | None = None,
) -> Run:
    """Run one learner over all episodes of a path.

    A learner that uses the budget assumes ``assumed_budget`` times the true one, in all its constants or in its frame alone.
    Realised returns are means over ``windows`` stretches of the run. ``evaluate_every`` None evaluates nothing;
    ``solve`` False leaves the optimum (which belongs to the environment, not to a run) to the caller; ``progress`` is
    called with the number of episodes played, now and then.
    """
    learner = algorithms.make(algorithm, Problem.of(env, assumed_budget, assumed_for), setting, factors, variants)
    every = env.episodes + 1 if evaluate_every is None else evaluate_every
    if every < 1:
        raise ValueError(f"evaluate_every = {evaluate_every}: expected at least 1")
    asked = checkpoints(env.episodes, every, seed) if evaluate_every is not None else np.empty(0, np.int64)
    weight = stratum_lengths(env.episodes, every)[: len(asked)]
    windows = min(windows or WINDOWS, env.episodes)
    reward, utility, duals = np.zeros((3, windows))
    values = np.empty((len(asked), 2))
    environment_draws = stream("environment", env.name, env.seed, seed)
    learner_draws = stream("learner", algorithm, seed)
    drift, sampler, model, scratch = drift_of(env), sampler_of(env), empty_model(env), np.empty((2, env.S, 2))
    length = np.bincount(np.arange(env.episodes) * windows // env.episodes)
    chunk = min(env.episodes, max(1, CHUNK_STEPS // env.H))
    environment_room, learner_room = np.empty((chunk, 1 + 2 * env.H)), np.empty((chunk, 1 + env.H))
    for first in range(1, env.episodes + 1, chunk):
        n = min(chunk, env.episodes + 1 - first)
        begin, end = np.searchsorted(asked, (first, first + n))
        play(
            drift,
            sampler,
            learner,
            model,
            first,
            environment_draws.random(out=environment_room[:n]),
            learner_draws.random(out=learner_room[:n]),
            asked[begin:end],
            env.episodes,
            reward,
            utility,
            duals,
            values[begin:end],
            scratch,
        )
        if progress:
            progress(first + n - 1)
    best = optimum.along(env, asked) if solve and len(asked) else None
    means = reward / length, utility / length
    return Run(learner, env.rho, length, *means, duals, asked, weight, values[:, 0], values[:, 1], best)
