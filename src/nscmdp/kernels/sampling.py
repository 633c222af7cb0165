"""Drawing from a path of models at a cost that does not depend on S.

Alias tables (Walker 1974, Vose 1991): cut [0, 1) into as many equal parts as a row has columns; part i belongs to
column i up to its threshold and to one other column, its alias, from there on. One uniform number gives the part and
the place in it. A step reads one record: both columns' successors with what they pay.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nscmdp.cmdp import Array
from nscmdp.drift import DriftingCMDP
from nscmdp.kernels.jit import jit

PAID = ("threshold", "reward", "utility", "alias_reward", "alias_utility")
OUTCOME = np.dtype(
    [*((name, np.float64) for name in PAID), ("state", np.uint32), ("alias_state", np.uint32)]
)


class Sampler(NamedTuple):
    outcomes: NDArray[np.void]  # (anchors, layers, S, A, M)
    start_threshold: Array  # (S,)
    start_alias: NDArray[np.int64]  # (S,)


def sampler_of(env: DriftingCMDP) -> Sampler:
    columns = env.probability.shape[-1]
    threshold, alias = alias_tables(env.probability.reshape(-1, columns))
    shape = env.probability.shape
    threshold, alias = threshold.reshape(shape), alias.reshape(shape)
    outcomes = np.empty(shape, OUTCOME)
    outcomes["threshold"] = threshold
    outcomes["state"] = env.successors
    outcomes["alias_state"] = np.take_along_axis(
        np.broadcast_to(env.successors, alias.shape), alias, axis=-1
    )
    for name in ("reward", "utility"):
        for number, anchor in enumerate(env.anchors):
            paid = np.asarray(getattr(anchor, f"{name}_of"))
            outcomes[name][number] = paid
            outcomes[f"alias_{name}"][number] = np.take_along_axis(paid, alias[number], axis=-1)
    start_threshold, start_alias = alias_tables(env.mu0[None])
    return Sampler(outcomes, start_threshold[0], start_alias[0])


def alias_tables(probability: Array) -> tuple[Array, NDArray[np.int64]]:
    """Thresholds and aliases of rows (n, M) of probabilities."""
    threshold, alias = np.empty(probability.shape), np.empty(probability.shape, np.int64)
    fill_alias_tables(np.ascontiguousarray(probability), threshold, alias)
    return threshold, alias


@jit
def fill_alias_tables(probability, threshold, alias):
    rows, columns = probability.shape
    poor, rich = np.empty(columns, np.int64), np.empty(columns, np.int64)
    for row in range(rows):
        poors, riches = 0, 0
        total = probability[row].sum()
        for i in range(columns):
            threshold[row, i] = probability[row, i] / total * columns
            alias[row, i] = i
            if threshold[row, i] < 1.0:
                poor[poors] = i
                poors += 1
            else:
                rich[riches] = i
                riches += 1
        while poors > 0 and riches > 0:
            poors -= 1
            small, large = poor[poors], rich[riches - 1]
            alias[row, small] = large
            threshold[row, large] -= 1.0 - threshold[row, small]
            if threshold[row, large] < 1.0:
                riches -= 1
                poor[poors] = large
                poors += 1
        while riches > 0:
            riches -= 1
            threshold[row, rich[riches]] = 1.0
        # Only rounding leaves any: a column of probability 0 always found a rich one.
        while poors > 0:
            poors -= 1
            if probability[row, poor[poors]] > 0.0:
                threshold[row, poor[poors]] = 1.0
