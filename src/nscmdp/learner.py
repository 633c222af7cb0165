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
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from nscmdp.kernels.jit import inlined, known_to_numba


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


Implementation = Callable[..., Any]
_CLASSES: dict[str, type] = {}


class Operation:
    """One of the things that learners do: a call runs the code that the learner's class has for it.

    ``default``, if any, is the code for classes that have none of their own.
    """

    def __init__(self, name: str, default: Implementation | None = None) -> None:
        self.__name__ = name
        self.written: dict[type, Implementation] = {}
        self.defaults: list[tuple[Operation | None, Implementation]] = []  # where that is written
        if default:
            self.defaults.append((None, default))
        known_to_numba(self, lambda learner_class: find(self, learner_class))

    def __call__(self, learner: Any, *arguments: Any) -> Any:
        code = find(self, type(learner))
        if code is None:
            raise NotImplementedError(f"{type(learner).__name__} has no {self.__name__}")
        return code(learner, *arguments)

    def default(
        self, needs: "Operation | None" = None
    ) -> Callable[[Implementation], Implementation]:
        """Make the decorated function the default for classes that have what it ``needs``; the first fits."""

        def register(function: Implementation) -> Implementation:
            self.defaults.append((needs, function))
            return function

        return register


# What learners implement.
policy = Operation("policy")
begin_episode = Operation("begin_episode", lambda learner, u: None)
act = Operation("act")
learn = Operation("learn", lambda learner, h, x, a, r, g, y: None)
end_of_episode = Operation("end_of_episode", lambda learner: None)
dual = Operation("dual", lambda learner: np.nan)
certain_action = Operation("certain_action")
act_and_estimate = Operation("act_and_estimate")
learn_from_estimate = Operation("learn_from_estimate")
restart = Operation("restart")
# What the simulator calls beside them; made of the above, by default.
first_action = Operation("first_action")  # (learner, x, u, probabilities)
next_action = Operation("next_action")  # (learner, h, x, a, r, g, y, u, probabilities)
last_lesson = Operation("last_lesson")  # (learner, h, x, a, r, g, y)
distribution = Operation("distribution")  # (learner, h, x, probabilities)


def operation(
    which: Operation, *learner_classes: type
) -> Callable[[Implementation], Implementation]:
    """Declare the decorated function to be the operation ``which`` of learners of these classes."""
    for each in learner_classes:
        # Numba tells NamedTuples apart by class name and field types: two classes of one name would share code.
        if _CLASSES.setdefault(each.__name__, each) is not each:
            raise TypeError(f"two learner classes are called {each.__name__}")

    def register(function: Implementation) -> Implementation:
        which.written.update(dict.fromkeys(learner_classes, function))
        return function

    return register


def find(which: Operation, learner_class: type | None) -> Implementation | None:
    """The code of an operation for a class; None for what is no learner."""
    if learner_class is None or _CLASSES.get(learner_class.__name__) is not learner_class:
        return None
    if learner_class in which.written:
        return which.written[learner_class]
    for needed, code in which.defaults:
        if needed is None or learner_class in needed.written:
            return code
    return None


@distribution.default(certain_action)
def _(learner, h, x, probabilities):
    return certain_action(learner, h, x, probabilities)


@distribution.default(policy)
def _(learner, h, x, probabilities):
    policy(learner, h, x, probabilities)
    return -1


@first_action.default(act_and_estimate)
def _(learner, x, u, probabilities):
    a, _, _ = act_and_estimate(learner, 0, x, u)
    return a


@first_action.default(act)
def _(learner, x, u, probabilities):
    return act(learner, 0, x, u)


@first_action.default()
def _(learner, x, u, probabilities):
    return drawn(distribution(learner, 0, x, probabilities), probabilities, u)


@next_action.default(learn_from_estimate)
def _(learner, h, x, a, r, g, y, u, probabilities):
    action, v, w = act_and_estimate(learner, h + 1, y, u)
    learn_from_estimate(learner, h, x, a, r, g, y, v, w)
    return action


@next_action.default(act)
def _(learner, h, x, a, r, g, y, u, probabilities):
    learn(learner, h, x, a, r, g, y)
    return act(learner, h + 1, y, u)


@next_action.default()
def _(learner, h, x, a, r, g, y, u, probabilities):
    learn(learner, h, x, a, r, g, y)
    return drawn(distribution(learner, h + 1, y, probabilities), probabilities, u)


@last_lesson.default(learn_from_estimate)
def _(learner, h, x, a, r, g, y):
    learn_from_estimate(learner, h, x, a, r, g, y, 0.0, 0.0)


@last_lesson.default()
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
