"""What a learner does: operations, each written for the learner's class or left as it is here.

A learner is a NamedTuple of arrays and constants. The simulator calls these operations on it; which code runs is chosen
by the learner's class when the simulator is compiled, so a call costs what a hand-written one would. In plain Python
the same calls find the same code, for a debugger to step through. Steps h count from 0 in code, from 1 in the paper.

    policy(learner, h, x, probabilities)    write the distribution of the action at (h, x); every learner has this one

    begin_episode(learner, u)               before the first action; u is uniform on [0, 1)              else: nothing
    act(learner, h, x, u)                   -> the action, decided by u                       else: drawn from policy
    learn(learner, h, x, a, r, g, y)        after the move to y, before the next action                  else: nothing
    end_of_episode(learner)                                                                              else: nothing
    dual(learner)                           -> the weight of the utility                                     else: nan

Where two of these would compute the same twice, one stands for both:

    certain_action(learner, h, x, probabilities)
                                            for policy: -> the action that is certain, or -1 after writing probabilities
    act_and_estimate(learner, h, x, u)      for act: -> the action, and the learner's own estimates of V_h(x), W_h(x)
    learn_from_estimate(learner, h, x, a, r, g, y, v, w)
                                            for learn, after the action at y was chosen, with the estimates at y (0, 0
                                            after the last step)

What the simulator calls is made of these: ``first_action``, ``next_action``, ``last_lesson``, ``distribution``. A
learner that runs another one inside hands these four on. The inner one then has one more, for the outer one to call:

    restart(learner, arm)                   forget everything, go on with the constants of ``arm``
"""

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from nscmdp.kernels.jit import OPERATIONS, inlined, overloaded


class Factor(NamedTuple):
    """What stands in for a constant in the setting "scaled", and where tuning looks for it, on a logarithmic scale."""

    default: float
    low: float | None = None  # None: tuning leaves it alone
    high: float | None = None


def chosen(declared: dict[str, Factor], **given: float) -> SimpleNamespace:
    """Factors by name: those given, the others at their defaults."""
    return SimpleNamespace(**{name: factor.default for name, factor in declared.items()} | given)


def scalars(**values: float) -> Any:
    """Numbers that a learner changes: ``learner.now[0].Z += 1`` for ``now = scalars(Z=0.0)``."""
    for name in values:
        if hasattr(np.record, name):  # in plain Python now.size would be numpy's, not the learner's
            raise ValueError(
                f"scalar {name!r}: numpy's records have an attribute of this name, expected another"
            )
    kinds = [(name, np.asarray(value).dtype) for name, value in values.items()]
    return np.array([tuple(values.values())], dtype=np.dtype((np.record, kinds)))


# What learners implement.


def begin_episode(learner, u):
    return _python(begin_episode, learner)(learner, u)


def policy(learner, h, x, probabilities):
    return _python(policy, learner)(learner, h, x, probabilities)


def certain_action(learner, h, x, probabilities):
    return _python(certain_action, learner)(learner, h, x, probabilities)


def act(learner, h, x, u):
    return _python(act, learner)(learner, h, x, u)


def act_and_estimate(learner, h, x, u):
    return _python(act_and_estimate, learner)(learner, h, x, u)


def learn(learner, h, x, a, r, g, y):
    return _python(learn, learner)(learner, h, x, a, r, g, y)


def learn_from_estimate(learner, h, x, a, r, g, y, v, w):
    return _python(learn_from_estimate, learner)(learner, h, x, a, r, g, y, v, w)


def end_of_episode(learner):
    return _python(end_of_episode, learner)(learner)


def dual(learner):
    return _python(dual, learner)(learner)


def restart(learner, arm):
    return _python(restart, learner)(learner, arm)


# What the simulator calls beside them: made of the above, by default.


def first_action(learner, x, u, probabilities):
    return _python(first_action, learner)(learner, x, u, probabilities)


def next_action(learner, h, x, a, r, g, y, u, probabilities):
    """Learn from step h, and act at step h+1."""
    return _python(next_action, learner)(learner, h, x, a, r, g, y, u, probabilities)


def last_lesson(learner, h, x, a, r, g, y):
    return _python(last_lesson, learner)(learner, h, x, a, r, g, y)


def distribution(learner, h, x, probabilities):
    """The action that is certain, or -1 after writing its distribution."""
    return _python(distribution, learner)(learner, h, x, probabilities)


Implementation = Callable[..., Any]
ALL = (
    *(
        begin_episode,
        policy,
        certain_action,
        act,
        act_and_estimate,
        learn,
        learn_from_estimate,
        end_of_episode,
    ),
    *(dual, restart, first_action, next_action, last_lesson, distribution),
)
_CLASSES: dict[str, type] = {}
_WRITTEN: dict[Callable, dict[type, Implementation]] = {which: {} for which in ALL}
_DEFAULTS: dict[Callable, list[tuple[Callable | None, Implementation]]] = {
    which: [] for which in ALL
}


def operation(which: Callable, learner_class: type) -> Callable[[Implementation], Implementation]:
    """Declare the decorated function to be the operation ``which`` of learners of ``learner_class``."""
    # Numba tells NamedTuples apart by class name and field types alone: two classes of one name would share code.
    if _CLASSES.setdefault(learner_class.__name__, learner_class) is not learner_class:
        raise TypeError(f"two learner classes are called {learner_class.__name__}")

    def register(function: Implementation) -> Implementation:
        _WRITTEN[which][learner_class] = function
        return function

    return register


def default(
    which: Callable, needs: Callable | None = None
) -> Callable[[Implementation], Implementation]:
    """The decorated function is ``which`` for classes without one of their own that have the one it ``needs``."""

    def register(function: Implementation) -> Implementation:
        _DEFAULTS[which].append((needs, function))
        return function

    return register


def find(which: Callable, learner_class: type | None) -> Implementation | None:
    """The code of an operation for a class; None for what is no learner."""
    if learner_class is None or not any(learner_class in written for written in _WRITTEN.values()):
        return None
    defaults = (
        function
        for needs, function in _DEFAULTS[which]
        if needs is None or learner_class in _WRITTEN[needs]
    )
    return _WRITTEN[which].get(learner_class) or next(defaults, None)


def _python(which: Callable, learner: Any) -> Implementation:
    found = find(which, type(learner))
    if found is None:
        raise NotImplementedError(f"{type(learner).__name__} has no {which.__name__}")
    return found


@default(begin_episode)
def _(learner, u):
    pass


@default(end_of_episode)
def _(learner):
    pass


@default(dual)
def _(learner):
    return np.nan


@default(learn)
def _(learner, h, x, a, r, g, y):
    pass


@default(distribution, certain_action)
def _(learner, h, x, probabilities):
    return certain_action(learner, h, x, probabilities)


@default(distribution, policy)
def _(learner, h, x, probabilities):
    policy(learner, h, x, probabilities)
    return -1


@default(first_action, act_and_estimate)
def _(learner, x, u, probabilities):
    a, _, _ = act_and_estimate(learner, 0, x, u)
    return a


@default(first_action, act)
def _(learner, x, u, probabilities):
    return act(learner, 0, x, u)


@default(first_action)
def _(learner, x, u, probabilities):
    return drawn(distribution(learner, 0, x, probabilities), probabilities, u)


@default(next_action, learn_from_estimate)
def _(learner, h, x, a, r, g, y, u, probabilities):
    action, v, w = act_and_estimate(learner, h + 1, y, u)
    learn_from_estimate(learner, h, x, a, r, g, y, v, w)
    return action


@default(next_action, act)
def _(learner, h, x, a, r, g, y, u, probabilities):
    learn(learner, h, x, a, r, g, y)
    return act(learner, h + 1, y, u)


@default(next_action)
def _(learner, h, x, a, r, g, y, u, probabilities):
    learn(learner, h, x, a, r, g, y)
    return drawn(distribution(learner, h + 1, y, probabilities), probabilities, u)


@default(last_lesson, learn_from_estimate)
def _(learner, h, x, a, r, g, y):
    learn_from_estimate(learner, h, x, a, r, g, y, 0.0, 0.0)


@default(last_lesson)
def _(learner, h, x, a, r, g, y):
    learn(learner, h, x, a, r, g, y)


@inlined
def drawn(certain, probabilities, u):
    """The action that is certain, or, where that is -1, the one that u draws from a distribution."""
    if certain >= 0:
        return certain
    action, below = 0, probabilities[0]
    while action + 1 < len(probabilities) and u >= below:
        action += 1
        below += probabilities[action]
    return action


OPERATIONS += [partial(overloaded, which, partial(find, which)) for which in ALL]
