"""Learners that are plain Python objects.

Any object will do that has some of the operations of :mod:`nscmdp.learner` as methods: ``act``, ``learn`` and so on,
without their first argument. ``policy(h, x)`` returns the probabilities of the actions. One of ``act``,
``act_and_estimate`` and ``policy`` it must have, the others are what they are there.

    class Greedy:
        \"\"\"Epsilon-greedy Q-learning: Q_h(x,a) <- Q_h(x,a) + alpha (r + max_a' Q_{h+1}(x',a') - Q_h(x,a))\"\"\"

        def __init__(self, env, epsilon=0.1, alpha=0.2):
            self.Q = np.zeros((env.H + 1, env.S, env.A))
            self.epsilon, self.alpha = epsilon, alpha

        def policy(self, h, x):
            best = self.Q[h, x] == self.Q[h, x].max()
            return self.epsilon / len(best) + (1 - self.epsilon) * best / best.sum()

        def learn(self, h, x, a, r, g, y):
            self.Q[h, x, a] += self.alpha * (r + self.Q[h + 1, y].max() - self.Q[h, x, a])

    run = simulate.run(env, Greedy(env), seed=0)

It meets the same environment draws as every other learner. Its own draws are keyed by its ``name``, or by the name of
its class where it has none. Without ``policy`` nothing can be evaluated exactly: V_k and W_k are then estimated by what
the episodes of a stratum earned, and ``run.exact`` is False.
"""

from collections.abc import Callable
from contextlib import nullcontext
from operator import index
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nscmdp import learner as operations
from nscmdp.cmdp import Array
from nscmdp.drift import DriftingCMDP
from nscmdp.kernels.induction import DriftArrays, empty_policy, expect, mix
from nscmdp.kernels.jit import in_python
from nscmdp.kernels.sampling import Sampler
from nscmdp.learner import drawn, find

TOLERANCE = 1e-9  # by which probabilities may miss a sum of 1
KEPT_ROWS = 100_000  # of the sampler's tables, as tuples: about 150 MB where rows have five columns


class Calls(NamedTuple):
    """What the loop calls: the operations of one learner."""

    begin_episode: Callable[[float], object]
    first_action: Callable[[int, float], Any]
    next_action: Callable[..., Any]  # (h, x, a, r, g, y, u)
    last_lesson: Callable[..., object]  # (h, x, a, r, g, y)
    end_of_episode: Callable[[], object]
    dual: Callable[[], float]
    policy: Callable[[int, int], Any] | None


def nothing(*_: Any) -> None:
    pass


def calls_of(learner: Any, actions: int) -> Calls:
    return (calls_of_operations if has_operations(learner) else calls_of_methods)(learner, actions)


def has_operations(learner: Any) -> bool:
    """Is it a compiled learner?"""
    return find(operations.distribution, type(learner)) is not None


def calls_of_methods(learner: Any, actions: int) -> Calls:
    names = ("policy", "act", "act_and_estimate", "learn_from_estimate")
    methods: list[Any] = [getattr(learner, name, None) for name in names]
    policy, act, estimate, lesson = methods
    learn = getattr(learner, "learn", nothing)
    if isinstance(learner, type) or not (policy or act or estimate):
        raise TypeError(
            f"{learner!r} is no learner: expected an object with act(h, x, u) or policy(h, x)"
        )
    if lesson and not estimate:
        raise TypeError(
            f"{learner!r} has learn_from_estimate: expected act_and_estimate(h, x, u) as well"
        )

    def draw(h, x, u):
        return drawn.py_func(-1, distribution(policy(h, x), h, x, actions), u)

    def estimate_then_learn(h, x, a, r, g, y, u):
        action, v, w = estimate(h + 1, y, u)
        lesson(h, x, a, r, g, y, v, w)
        return action

    def learn_then_act(h, x, a, r, g, y, u):
        learn(h, x, a, r, g, y)
        return choose(h + 1, y, u)

    choose = (lambda h, x, u: estimate(h, x, u)[0]) if estimate else act or draw
    return Calls(
        getattr(learner, "begin_episode", nothing),
        lambda x, u: choose(0, x, u),
        estimate_then_learn if lesson else learn_then_act,
        (lambda *step: lesson(*step, 0.0, 0.0)) if lesson else learn,
        getattr(learner, "end_of_episode", nothing),
        getattr(learner, "dual", lambda: np.nan),
        policy,
    )


def calls_of_operations(learner: Any, actions: int) -> Calls:
    """The operations of a compiled learner, in Python."""
    probabilities = np.empty(actions)

    def written(which: operations.Operation, *last: Any) -> Callable[..., Any]:
        operation: Any = find(which, type(learner))
        return lambda *arguments: operation(learner, *arguments, *last)

    def policy(h: int, x: int) -> Array:
        certain = distribution_of(h, x)
        return np.eye(actions)[certain] if certain >= 0 else probabilities

    distribution_of = written(operations.distribution, probabilities)
    return Calls(
        written(operations.begin_episode),
        written(operations.first_action, probabilities),
        written(operations.next_action, probabilities),
        written(operations.last_lesson),
        written(operations.end_of_episode),
        written(operations.dual),
        policy,
    )


def distribution(row: Any, h: int, x: int, actions: int) -> Any:
    if len(row) != actions or not (min(row) >= 0.0 and abs(sum(row) - 1.0) <= TOLERANCE):
        raise ValueError(
            f"policy({h}, {x}) = {row}: expected {actions} probabilities, from 0 on, of sum 1"
        )
    return row


class Rows(dict[tuple[int, ...], list[tuple]]):
    """Rows (anchor, layer, x, a) of the sampler's outcomes as Python reads them fastest, made when first asked for."""

    def __init__(self, sampler: Sampler) -> None:
        super().__init__()
        self.outcomes = sampler.outcomes

    def __missing__(self, place: tuple[int, ...]) -> list[tuple]:
        if len(self) >= KEPT_ROWS:
            self.clear()
        self[place] = self.outcomes[place].tolist()
        return self[place]


class Player:
    """Plays a learner's episodes, from the first on: :func:`nscmdp.simulate.play` in Python."""

    def __init__(self, env: DriftingCMDP, sampler: Sampler, learner: Any) -> None:
        self.env, self.sampler, self.rows = env, sampler, Rows(sampler)
        self.calls = calls_of(learner, env.A)
        self.exact = self.calls.policy is not None
        self.returns = np.zeros((0 if self.exact else env.episodes, 2))  # of every episode

    def __call__(self, world, learner, draws, record, room, first, episodes) -> None:
        windows = len(record.reward)
        asked = dict(zip(record.asked.tolist(), record.values, strict=True))
        with in_python() if has_operations(learner) else nullcontext():
            for i, k in enumerate(range(first, first + len(draws.learner))):
                learner_draws = draws.learner[i].tolist()
                self.calls.begin_episode(learner_draws[0])
                if self.exact and k in asked:
                    asked[k][:] = self.evaluate(world.drift, room, k)
                earned = self.episode(k, draws.environment[i].tolist(), learner_draws)
                self.calls.end_of_episode()
                window = (k - 1) * windows // episodes
                record.reward[window] += earned[0]
                record.utility[window] += earned[1]
                if k * windows // episodes > window:
                    record.dual[window] = self.calls.dual()
                if not self.exact:
                    self.returns[k - 1] = earned

    def episode(
        self, k: int, environment_draws: list[float], learner_draws: list[float]
    ) -> tuple[float, float]:
        """The reward and utility of episode k."""
        (start, end, weight), rows, H, A = self.env.leg(k), self.rows, self.env.H, self.env.A
        columns, next_action = self.sampler.outcomes.shape[-1], self.calls.next_action
        x, reward, utility = self.first_state(environment_draws[0]), 0.0, 0.0
        a = self.calls.first_action(x, learner_draws[1])
        for h in range(H):
            if type(a) is not int or not 0 <= a < A:
                a = self.action(a, h, x)
            anchor = end if environment_draws[1 + 2 * h] < weight else start
            place = environment_draws[2 + 2 * h] * columns
            column = int(place)
            outcome = rows[anchor, h if self.env.layers > 1 else 0, x, a][column]
            threshold, r, g, alias_r, alias_g, y, alias_y = outcome
            if place - column >= threshold:
                r, g, y = alias_r, alias_g, alias_y
            reward += r
            utility += g
            if h + 1 < H:
                a = next_action(h, x, a, r, g, y, learner_draws[2 + h])
                x = y
            else:
                self.calls.last_lesson(h, x, a, r, g, y)
        return reward, utility

    def first_state(self, u: float) -> int:
        place = u * self.env.S
        x = int(place)
        return (
            x if place - x < self.sampler.start_threshold[x] else int(self.sampler.start_alias[x])
        )

    def action(self, a: Any, h: int, x: int) -> int:
        """An action that is an integer of another type, as numpy's are."""
        if isinstance(a, bool | np.bool_) or not hasattr(a, "__index__") or not 0 <= a < self.env.A:
            raise ValueError(
                f"the action at h = {h}, x = {x} is {a!r}: expected an integer from 0 to {self.env.A - 1}"
            )
        return index(a)

    def evaluate(self, drift: DriftArrays, room: Any, k: int) -> tuple[float, float]:
        """V and W of the policy of episode k, by compiled backward induction."""
        assert self.calls.policy is not None
        reach, policy = room.model.reach, empty_policy(room.model)
        states, steps = reach.states.tolist(), reach.steps.tolist()
        for h in reversed(range(self.env.H)):
            for i in range(steps[h], steps[h + 1]):
                x = states[i]
                policy[i] = distribution(self.calls.policy(h, x), h, x, self.env.A)
        mix.dispatcher(drift, k, room.model)
        return expect.dispatcher(room.model, policy, room.values)

    def estimates(self, weight: NDArray[np.int64]) -> Array:
        """Mean return and utility of the episodes of every stratum, for V and W."""
        return np.add.reduceat(self.returns, np.cumsum(weight) - weight) / weight[:, None]
