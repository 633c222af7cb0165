"""Random streams, each keyed by what it is for: same key, same bits, on any number of cores and in any batch.

The environment's draws depend on the environment and the run's seed alone, a fixed number of them per episode, so that
all learners face the same draws and comparisons are paired. A learner's own draws decide ties and exploration.
"""

import hashlib
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray


def stream(*key: object) -> np.random.Generator:
    """The generator for a key such as ("environment", "grid_world", 0, 3); of numpy's the fastest."""
    digest = hashlib.sha256("/".join(map(str, key)).encode()).digest()
    seed = np.random.SeedSequence(int.from_bytes(digest, "big"))
    return np.random.Generator(np.random.SFC64(seed))


def checkpoints(episodes: int, every: int, seed: int) -> NDArray[np.int64]:
    """One episode, uniform, from each stratum of ``every`` episodes (the last may be shorter)."""
    lengths = stratum_lengths(episodes, every)
    drawn = stream("checkpoints", episodes, every, seed).random(len(lengths)) * lengths
    return np.arange(1, episodes + 1, every) + np.floor(drawn).astype(np.int64)


def stratum_lengths(episodes: int, every: int) -> NDArray[np.int64]:
    """How many episodes each checkpoint stands for."""
    return np.minimum(every, episodes + 1 - np.arange(1, episodes + 1, every))


def format_seeds(seeds: list[int]) -> str:
    """0-4 for consecutive seeds, 0,2,7 for others."""
    if all(later == seed + 1 for seed, later in pairwise(seeds)):
        return f"{seeds[0]}-{seeds[-1]}"
    return ",".join(map(str, seeds))


def parse_seeds(text: str) -> list[int]:
    """The seeds that :func:`format_seeds` wrote."""
    if "-" in text:
        first, last = map(int, text.split("-"))
        return list(range(first, last + 1))
    return [int(seed) for seed in text.split(",")]
