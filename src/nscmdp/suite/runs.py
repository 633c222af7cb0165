"""One row per run on the suite: exact means per episode, memory, and how long it took to adapt to switches.

After a switch a learner has adapted when the mean gap of three evaluated episodes in a row is at most a quarter of what
the uniform policy's gap is in this instance. Who does not before the next switch, or the end, has taken all that time.
"""

from typing import Any

import numpy as np
import pandas as pd

from nscmdp import algorithms, environments, metrics, optimum, simulate
from nscmdp.drift import DriftingCMDP
from nscmdp.suite.definition import Frozen
from nscmdp.suite.scores import UNTUNED

KEYS = ["environment", "instance", "seed", "learner", "choice"]
MAIN = "main"
# The choices that are reported; those of single searches tell what searching decides.
REPORTED = (UNTUNED, MAIN)
ADAPTED, IN_A_ROW = 0.25, 3


def of_learner(
    learner: str, setting: str, one: Frozen, instance: int, seed: int, unit: float
) -> dict[str, Any]:
    """The row of one run that is made here and now; ``unit`` is the uniform policy's gap in this instance."""
    env = environments.make(**one.environment, episodes=one.episodes, seed=instance)
    run = simulate.run(env, learner, setting, seed, one.evaluate_every, windows=1, solve=False)
    best = optimum.along(env, run.episode)
    compared = metrics.compare(run.value, run.utility_value, best, run.rho)
    exact = pd.DataFrame({"episode": run.episode, "weight": run.weight, **compared})
    gaps = exact["gap"] / unit
    row: dict[str, Any] = {"environment": one.name, "instance": instance, "seed": seed}
    row |= {"learner": learner, **measures(exact)}
    row["adaptation"] = adaptation(exact["episode"], gaps, switches(env), env.episodes)
    return row | {"rho": run.rho, "state_bytes": algorithms.state_bytes(run.learner)}


def measures(run: pd.DataFrame) -> dict[str, float]:
    return {name: metrics.mean(run[name], run["weight"]) for name in metrics.MEASURES}


def switches(env: DriftingCMDP) -> list[int]:
    """The last episodes before abrupt switches: a whole leg in one episode."""
    jumps = (np.diff(env.knots) == 1) & (np.diff(env.route) != 0)
    return [int(knot) for knot in env.knots[:-1][jumps]]


def adaptation(episode: pd.Series, gap: pd.Series, switched: list[int], episodes: int) -> float:
    """Episodes from a switch until a learner has adapted, in the mean over all switches; none where there are none.

    ``gap`` is in units of the uniform policy's.
    """
    if not switched:
        return np.nan
    taken = []
    for first, last in zip(switched, [*switched[1:], episodes], strict=True):
        inside = ((episode > first) & (episode <= last)).to_numpy()
        values, times = gap.to_numpy()[inside], [float(last - first)]
        if len(values) >= IN_A_ROW:
            means = np.lib.stride_tricks.sliding_window_view(values, IN_A_ROW).mean(axis=1)
            adapted = np.flatnonzero(means <= ADAPTED)
            times = [*(episode.to_numpy()[inside][adapted[:1]] - first), *times]
        taken.append(times[0])
    return float(np.mean(taken))
