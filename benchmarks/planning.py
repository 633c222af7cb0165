"""The exact optimum beside HiGHS on the linear program of occupancy measures, alone and along a path."""

from functools import partial

import numpy as np

from benchmarks.cases import World
from benchmarks.timing import Comparison, compared, seconds
from nscmdp import optimum
from nscmdp.induction import drift_of, empty_model
from nscmdp.path import Path

SAME = 1e-9  # times 1 + the multiplier
EPISODES = 100_000  # of the paths


def beside_highs(world: World, repeats: int) -> Comparison:
    """The optimum of the path's first episode."""
    env = world.env(EPISODES)
    cmdp = env.at(1)
    best = optimum.constrained(cmdp)
    check(world, env, 1, best.value, best.multiplier)
    ours, theirs = partial(optimum.constrained, cmdp), partial(optimum.linear_program, cmdp)
    return compared(f"optimum {world.name}", "HiGHS", [(seconds(ours), seconds(theirs)) for _ in range(repeats)])


def inductions(world: World, checkpoints: int, checked: int) -> float:
    """Inductions that a checkpoint takes on average; the values at ``checked`` of them must be those of HiGHS."""
    env = world.env(EPISODES)
    asked = np.linspace(1, env.episodes, checkpoints).astype(np.int64)
    best, pair = np.empty((checkpoints, 3)), optimum.mixture(env.H, env.S)
    took = optimum.solve_along(drift_of(env), empty_model(env), env.rho, asked, pair, best)
    for i in np.linspace(0, checkpoints - 1, checked).astype(int):
        check(world, env, int(asked[i]), best[i, 0], best[i, 2])
    return took / checkpoints


def check(world: World, env: Path, k: int, value: float, multiplier: float) -> None:
    other = optimum.linear_program(env.at(k)).value
    if abs(value - other) > SAME * (1 + multiplier):
        raise AssertionError(f"optimum {world.name}, episode {k}: ours is {value!r}, that of HiGHS is {other!r}")
