"""How often Detecting Triple-Q raises an alarm, and how long after the model has moved.

>>> from nscmdp import environments
>>> menu = environments.make("menu", 2000)
>>> still = environments.path([menu.at(1), menu.at(1)], [1, 2000])
>>> alarms(still, range(5)).false
0
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from nscmdp import simulate
from nscmdp.cmdp import Array
from nscmdp.drift import DriftingCMDP


class Alarms(NamedTuple):
    runs: int
    false: int  # runs with an alarm up to the last episode before the model moves
    per_run: float  # alarms, of either kind
    delays: Array  # episodes from the move to the first alarm after it, of the runs that have one


def alarms(
    env: DriftingCMDP, seeds: Iterable[int], moves_after: int | None = None, **options: Any
) -> Alarms:
    """Of one run per seed in a path that stands still but for one move, if any; ``options`` are those of a run."""
    last = env.episodes if moves_after is None else moves_after
    found = [
        simulate.run(env, "detecting_triple_q", "scaled", seed, None, **options).learner.traces[
            "alarm"
        ][:, 0]
        for seed in seeds
    ]
    return Alarms(
        runs=len(found),
        false=sum(bool((raised <= last).any()) for raised in found),
        per_run=float(np.mean([len(raised) for raised in found])),
        delays=np.array(
            [raised[raised > last][0] - last for raised in found if (raised > last).any()]
        ),
    )
