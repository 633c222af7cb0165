"""What makes kernels harder to read, beside the same without it: each has to earn a tenth of the time on the 18x18 map.

references   a learner's arrays with the handles that count references to them     (``kernels.jit.borrowing``)
any shape    an induction that does not know the numbers of actions and successors (``kernels.induction.GRID``)
reset        every table reset at a frame's end, not where it is visited next      (``algorithms/_frame_ends.py``)
"""

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from benchmarks.cases import MIDDLE, ONE, Case, Tables
from benchmarks.loops import Ours, beside
from benchmarks.timing import Comparison, compared, in_turns
from nscmdp import learner as operations
from nscmdp import simulate
from nscmdp.algorithms._frame_ends import apply_frame_ends
from nscmdp.algorithms._triple_q import TripleQ
from nscmdp.kernels.induction import any_shape, drift_of, greedy, maximum, mix, sweep
from nscmdp.kernels.jit import inlined, jit

counting = jit(simulate.play.py_func)
EagerTripleQ: Any = NamedTuple("EagerTripleQ", list(TripleQ.__annotations__.items()))  # type: ignore[misc]

for each in list(vars(operations).values()):
    if isinstance(each, operations.Operation) and TripleQ in each.written:
        operations.operation(each, EagerTripleQ)(each.written[TripleQ])
end_of_episode = inlined(operations.end_of_episode.written[TripleQ])


@operations.operation(operations.end_of_episode, EagerTripleQ)
def _(learner):
    before = learner.now[0].zero
    end_of_episode(learner)
    if learner.now[0].zero > before:
        for h in range(learner.table.shape[0]):
            for x in range(learner.table.shape[1]):
                apply_frame_ends(learner, h, x)


class Counting(Ours):
    def play(self, first: int, draws: simulate.Draws, record: simulate.Record) -> None:
        counting(self.world, self.learner, draws, record, self.room, first, self.episodes)


class Eager(Ours):
    def __init__(self, tables: Tables, learner: TripleQ) -> None:
        super().__init__(tables, EagerTripleQ(*learner))


@jit
def greedy_of_any_shape(model, on_reward, on_utility, choice, values):
    return sweep(any_shape(model), maximum, model, values, (on_reward, on_utility, choice))


def inductions(repeats: int, number: int = 500) -> Comparison:
    env = MIDDLE.env(number)
    room, choice = simulate.Room.of(env), np.zeros((env.H, env.S), np.int32)
    mix(drift_of(env), 1, room.model)
    sides = [
        [partial(kernel, room.model, 1.0, 0.5, choice, room.values)] * number
        for kernel in (greedy, greedy_of_any_shape)
    ]
    if sides[0][0]() != sides[1][0]():
        raise AssertionError("the inductions differ")
    turns = [np.array(in_turns(*sides)) / number for _ in range(repeats)]
    return compared(f"induction {MIDDLE.name}", "any shape", turns)


def comparisons(quick: bool) -> Iterator[Comparison]:
    """``quick``: a tenth of the episodes."""
    repeats, part = (3, 10) if quick else (7, 1)
    for frame in (None, 0.1):
        setting = "literal" if frame is None else "scaled"
        case = Case(MIDDLE, ONE, setting, 60_000 // part, frame)
        yield beside(case, "reset", Eager, repeats)
    case = Case(MIDDLE, ONE, "scaled", 20_000 // part)
    yield beside(case, "references", Counting, repeats)
    yield inductions(repeats)
