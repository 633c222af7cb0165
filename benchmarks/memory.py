"""The memory that learners need, against the number of states, episodes and features: that of a process of its own."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks import pipeline
from benchmarks.cases import EPISODES, ONE, SMALL, World
from benchmarks.scaling import LSVI, linear, square

FEW = 10  # episodes: what is allocated is allocated before the first

# Says what it held at most; getrusage would count the caller's as well.
WORKER = """
import json, sys, warnings
from nscmdp import algorithms, environments, simulate
warnings.simplefilter("ignore")
work = json.loads(sys.argv[1])
env = environments.make(work["environment"], work["episodes"], **work["options"])
name = work["algorithm"]
simulate.run(env, name, algorithms.settings(name)[0], solve=False, evaluate_every=None)
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


class Memory(NamedTuple):
    axis: str
    value: int
    algorithm: str
    mebibytes: float


def measured(quick: bool) -> Iterator[Memory]:
    """Nothing where the system does not tell."""
    if not Path("/proc/self/status").exists():
        return
    for algorithm in [ONE] if quick else EPISODES:
        for side in (10, 32) if quick else (10, 32, 100, 316):
            yield of("S", side**2, square(side), algorithm, FEW)
    if quick:
        return
    for episodes in (10_000, 100_000, 1_000_000):
        for algorithm in (ONE, "restart_q_ucb", "double_restart_triple_q"):
            yield of("K", episodes, SMALL, algorithm, episodes)
    for dimension in (4, 8, 16, 32, 64):
        yield of("d", dimension, linear(dimension), LSVI, FEW)


def of(axis: str, value: int, world: World, algorithm: str, episodes: int) -> Memory:
    work = {
        "environment": world.environment,
        "options": world.options,
        "episodes": episodes,
        "algorithm": algorithm,
    }
    kilobytes = int(pipeline.run(sys.executable, "-c", WORKER, json.dumps(work))[1])
    return Memory(axis, value, algorithm, kilobytes / 1024)
