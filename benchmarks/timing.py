"""Two sides that do the same work, timed in turns.

A machine may be shared and its clock may drift, so that times taken one after the other say little. Both
sides therefore take turns within every repeat, what counts is the time of the processor, and what is reported is
the ratio of the medians over the repeats; ``spread`` is the interquartile range of the repeats' own ratios. Such
interleaved ratios are what pytest-benchmark and asv do not offer: both time one function after the other.
"""

from collections.abc import Callable, Sequence
from time import process_time
from typing import NamedTuple

import numpy as np


class Comparison(NamedTuple):
    """CPU seconds a unit of work (a step, an evaluation, a solve) takes us and them."""

    name: str
    against: str
    ours: float
    theirs: float
    ratio: float
    spread: float


def seconds(work: Callable[[], object]) -> float:
    begin = process_time()
    work()
    return process_time() - begin


def in_turns(
    ours: Sequence[Callable[[], object]], theirs: Sequence[Callable[[], object]]
) -> tuple[float, float]:
    """CPU seconds that each side's pieces of work take in all; the two change places after every piece."""
    total = [0.0, 0.0]
    for number in range(max(len(ours), len(theirs))):
        for side in (0, 1) if number % 2 == 0 else (1, 0):
            pieces = (ours, theirs)[side]
            if number < len(pieces):
                total[side] += seconds(pieces[number])
    return total[0], total[1]


def compared(name: str, against: str, repeats: Sequence[tuple[float, float]]) -> Comparison:
    """From the seconds (ours, theirs) that a unit of work took in each repeat."""
    times = np.array(repeats)
    ours, theirs = np.median(times, axis=0)
    low, high = np.quantile(times[:, 0] / times[:, 1], (0.25, 0.75))
    return Comparison(
        name, against, float(ours), float(theirs), float(ours / theirs), float(high - low)
    )
