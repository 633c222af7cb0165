"""The exact optimum beside HiGHS on the linear program of occupancy measures, alone and along a path."""

from functools import partial

import numpy as np

from benchmarks.cases import World
from benchmarks.timing import Comparison, compared, seconds
from nscmdp import optimum
from nscmdp.drift import DriftingCMDP
from nscmdp.kernels.induction import drift_of, empty_model, greedy, mix
from nscmdp.kernels.jit import jit

SAME = 1e-9  # times 1 + the multiplier
EPISODES = 100_000  # of the paths


def beside_highs(world: World, repeats: int) -> Comparison:
    """The optimum of the path's first episode."""
    env = world.env(EPISODES)
    cmdp = env.at(1)
    best = optimum.constrained(cmdp)
    check(world, env, 1, best.value, best.multiplier)
    ours, theirs = partial(optimum.constrained, cmdp), partial(optimum.linear_program, cmdp)
    return compared(
        f"optimum {world.name}", "HiGHS", [(seconds(ours), seconds(theirs)) for _ in range(repeats)]
    )


@jit
def maximise_along(drift, model, multiplier, episodes, choice, values):
    """One induction that maximises V + multiplier W in the model of each of the episodes."""
    for k in episodes:
        mix(drift, k, model)
        greedy(model, 1.0, multiplier, choice, values)


def inductions(world: World, checkpoints: int, checked: int) -> tuple[float, float]:
    """What a checkpoint takes on average: inductions as the solver counts them, and time in units of a maximising one.

    The second does not depend on what is counted as one: following two policies costs less than maximising over all
    actions, but not nothing. The values at ``checked`` of the checkpoints must be those of HiGHS.
    """
    env = world.env(EPISODES)
    asked = np.linspace(1, env.episodes, checkpoints).astype(np.int64)
    best, pair, path = (
        np.empty((checkpoints, 3)),
        optimum.mixture(env.H, env.S),
        (drift_of(env), empty_model(env)),
    )
    solve = partial(optimum.solve_along, *path, env.rho, asked, pair, best)
    took = solve()
    for i in np.linspace(0, checkpoints - 1, checked).astype(int):
        check(world, env, int(asked[i]), best[i, 0], best[i, 2])
    maximise = partial(
        maximise_along, *path, float(np.median(best[:, 2])), asked, pair.trial, pair.values
    )
    maximise()
    taken = np.array([(seconds(solve), seconds(maximise)) for _ in range(3)])
    spent, one = np.median(taken, axis=0)
    return took / checkpoints, float(spent / one)


def check(world: World, env: DriftingCMDP, k: int, value: float, multiplier: float) -> None:
    other = optimum.linear_program(env.at(k)).value
    if abs(value - other) > SAME * (1 + multiplier):
        raise AssertionError(
            f"optimum {world.name}, episode {k}: ours is {value!r}, that of HiGHS is {other!r}"
        )
