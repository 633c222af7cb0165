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
from typing import Any, NamedTuple

import numpy as np

from nscmdp import learner as operations
from nscmdp.cmdp import Array
from nscmdp.learner import drawn, find

TOLERANCE = 1e-9  # by which probabilities may miss a sum of 1


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

    def written(which: Callable[..., Any], *last: Any) -> Callable[..., Any]:
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
