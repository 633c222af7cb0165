"""What a learner does, each operation declared once here and implemented in the learner's own file.

A learner is a NamedTuple of arrays and constants. The compiled simulator calls these operations on it; which code
runs is chosen by the learner's class when the simulator is compiled, so a call costs what a hand-written one would.

    begin_episode(learner, u)                        before the first action; u is uniform on [0, 1)
    act(learner, h, x, u)                            -> action, and the learner's own estimates of V_h(x), W_h(x)
    learn(learner, h, x, a, r, g, y, v, w)           after the move to y, with estimates v, w (0, 0 after the last)
    end_of_episode(learner)
    policy(learner, h, x, probabilities)             -> the action that act is sure to take in this episode, or -1 after
                                                     writing the distribution that it draws from
    dual(learner)                                    -> the weight of the utility, nan where it has none
    restart(learner, arm)                            forget everything, go on with the constants of ``arm``

The last is for learners that another one runs inside (a bandit over bandits); the simulator does not call it.

Steps h count from 0 in code, from 1 in the paper.
"""

from collections.abc import Callable
from functools import partial

from nscmdp.kernels.jit import OPERATIONS, overloaded


def begin_episode(learner, u):
    raise NotImplementedError


def act(learner, h, x, u):
    raise NotImplementedError


def learn(learner, h, x, a, r, g, y, v, w):
    raise NotImplementedError


def end_of_episode(learner):
    raise NotImplementedError


def policy(learner, h, x, probabilities):
    raise NotImplementedError


def dual(learner):
    raise NotImplementedError


def restart(learner, arm):
    raise NotImplementedError


_CLASSES: dict[str, type] = {}
_IMPLEMENTED: dict[Callable, dict[type | None, Callable]] = {
    operation: {} for operation in (begin_episode, act, learn, end_of_episode, policy, dual, restart)
}
OPERATIONS += [partial(overloaded, operation, known.get) for operation, known in _IMPLEMENTED.items()]


def implements(operation: Callable, learner_class: type) -> Callable[[Callable], Callable]:
    """Declare the decorated function to be ``operation`` for learners of ``learner_class``."""
    # Numba tells NamedTuples apart by class name and field types alone: two classes of one name would share code.
    if _CLASSES.setdefault(learner_class.__name__, learner_class) is not learner_class:
        raise TypeError(f"two learner classes are called {learner_class.__name__}")

    def register(function: Callable) -> Callable:
        _IMPLEMENTED[operation][learner_class] = function
        return function

    return register
