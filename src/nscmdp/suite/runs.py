"""One row per run on the suite: exact means per episode, memory, and how long it took to adapt to switches.

After a switch a learner has adapted when the mean gap of three evaluated episodes in a row is at most a quarter of what
the uniform policy's gap is in this instance. Who does not before the next switch, or the end, has taken all that time.
"""

from typing import Any

import numpy as np
import pandas as pd

from nscmdp import algorithms, environments, metrics, optimum, simulate
from nscmdp.cmdp import Array
from nscmdp.drift import DriftingCMDP
from nscmdp.suite.definition import Frozen

KEYS = ["environment", "instance", "seed", "learner", "choice"]
UNTUNED, MAIN = "", "main"
REPORTED = (
    UNTUNED,
    MAIN,
)  # the choices that are reported; those of single searches tell what searching decides
ADAPTED, IN_A_ROW = 0.25, 3


def of_learner(
    learner: str, setting: str, one: Frozen, instance: int, seed: int, unit: float
) -> dict[str, Any]:
    """The row of one run that is made here and now; ``unit`` is the uniform policy's gap in this instance."""
    env = environments.make(**one.environment, episodes=one.episodes, seed=instance)
    run = simulate.run(env, learner, setting, seed, one.evaluate_every, windows=1, solve=False)
    compared = metrics.compare(
        run.value, run.utility_value, optimum.along(env, run.episode), run.rho
    )
    exact = pd.DataFrame({"episode": run.episode, "weight": run.weight, **compared})
    return {
        "environment": one.name,
        "instance": instance,
        "seed": seed,
        "learner": learner,
        **measures(exact),
        "adaptation": adaptation(
            exact["episode"], exact["gap"] / unit, switches(env), env.episodes
        ),
        "rho": run.rho,
        "state_bytes": algorithms.state_bytes(run.learner),
    }


def searches(table: pd.DataFrame) -> list[str]:
    """The choices among runs that single searches made."""
    return sorted(choice for choice in table["choice"].unique() if choice.startswith("search_"))


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
    ends = [*switched[1:], episodes]
    return float(
        np.mean(
            [_until_adapted(episode, gap, *stretch) for stretch in zip(switched, ends, strict=True)]
        )
    )


def _until_adapted(episode: pd.Series, gap: pd.Series, first: int, last: int) -> float:
    inside = ((episode > first) & (episode <= last)).to_numpy()
    values: Array = gap.to_numpy()[inside]
    if len(values) >= IN_A_ROW:
        means = np.lib.stride_tricks.sliding_window_view(values, IN_A_ROW).mean(axis=1)
        adapted = np.flatnonzero(means <= ADAPTED)
        if len(adapted):
            return float(episode.to_numpy()[inside][adapted[0]] - first)
    return float(last - first)
