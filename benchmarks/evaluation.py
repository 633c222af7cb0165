"""The exact evaluation of policies beside the plain one: an induction over all states, whether reachable or not."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.cases import Case
from benchmarks.timing import Comparison, compared, in_turns
from nscmdp import simulate
from nscmdp.kernels.induction import drift_of, find_leg, first_row, flat_rows, look_ahead, mix
from nscmdp.kernels.jit import jit
from nscmdp.learner import distribution

SAME = 1e-9


@jit
def evaluate_along(drift, learner, room, episodes, values):
    """V and W of the learner's policy in the models of ``episodes``, as the simulator evaluates it."""
    probabilities = np.empty(room.model.successors.shape[2])
    for i in range(len(episodes)):
        mix(drift, episodes[i], room.model)
        values[i] = simulate.value_of(room.model, learner, probabilities, room.values)


@jit
def evaluate_plainly(drift, learner, room, episodes, values):
    """The same by plain induction: all entries of the model are mixed, all (h,x) are visited."""
    model, probabilities = room.model, np.empty(room.model.successors.shape[2])
    for i in range(len(episodes)):
        start, end, weight = find_leg(drift, episodes[i])
        blend(drift.probability[start], drift.probability[end], weight, model.probability.ravel())
        blend(drift.reward[start], drift.reward[end], weight, model.reward.ravel())
        blend(drift.utility[start], drift.utility[end], weight, model.utility.ravel())
        values[i] = plain_value_of(model, learner, probabilities, room.values)


@jit
def blend(first, last, weight, out):
    for i in range(len(out)):
        out[i] = (1.0 - weight) * first[i] + weight * last[i]


@jit
def plain_value_of(model, learner, probabilities, scratch):
    _, states, actions, columns = model.successors.shape
    rows = flat_rows(model)
    scratch[model.horizon % 2] = 0.0
    for h in range(model.horizon - 1, -1, -1):
        row = first_row(model, h)
        later, now = scratch[(h + 1) % 2], scratch[h % 2]
        for x in range(states):
            sure = distribution(learner, h, x, probabilities)
            if sure >= 0:
                for a in range(actions):
                    probabilities[a] = 1.0 if a == sure else 0.0
            value, utility_value = 0.0, 0.0
            for a in range(actions):
                if probabilities[a] > 0.0:
                    v, w = look_ahead(rows, columns, row + x * actions + a, later)
                    value += probabilities[a] * v
                    utility_value += probabilities[a] * w
            now[x, 0], now[x, 1] = value, utility_value
    value, utility_value = 0.0, 0.0
    for x in range(states):
        value += model.mu0[x] * scratch[0, x, 0]
        utility_value += model.mu0[x] * scratch[0, x, 1]
    return value, utility_value


def beside_plain(case: Case, episodes: int, repeats: int) -> Comparison:
    """Seconds an evaluation of what the learner plays after its last episode, in ``episodes`` models of the path."""
    env = case.env()
    learner: Any = simulate.run(
        env, case.algorithm, case.setting, evaluate_every=None, solve=False
    ).learner
    asked = np.linspace(1, env.episodes, episodes).astype(np.int64)

    def work(
        evaluate: Callable[..., None], at: np.ndarray
    ) -> tuple[Callable[[], None], np.ndarray]:
        values = np.empty((len(at), 2))
        return partial(evaluate, drift_of(env), learner, simulate.Room.of(env), at, values), values

    def turn(at: np.ndarray) -> tuple[float, float]:
        (ours, mine), (plain, others) = work(evaluate_along, at), work(evaluate_plainly, at)
        taken = in_turns([ours], [plain])
        if not np.allclose(mine, others, rtol=SAME, atol=SAME):
            raise AssertionError(
                f"evaluation {case.name}: values differ by {np.abs(mine - others).max()}"
            )
        return taken[0] / len(at), taken[1] / len(at)

    turn(asked[:1])
    return compared(f"evaluation {case.name}", "direct", [turn(asked) for _ in range(repeats)])
