"""The simulator's loop beside another with the same signature: same tables, same luck, same episodes.

Random numbers are drawn beforehand and cost neither side anything; :func:`drawing` says what share of a run they
take. No policy is evaluated. In every repeat both sides must have earned the same in every window.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.cases import Case
from benchmarks.timing import Comparison, compared, in_turns, seconds
from nscmdp import simulate
from nscmdp.induction import drift_of, empty_model
from nscmdp.randomness import stream
from nscmdp.sampling import sampler_of

SAME = 1e-9
CHUNKS = 8  # so many chunks of random numbers are drawn and used again and again


class Side:
    """One player, from the learner's first episode on."""

    def __init__(self, play: Callable[..., None], loop: "Loop") -> None:
        learner, windows = loop.learner, min(simulate.WINDOWS, loop.env.episodes)
        self.learner = type(learner)(*(part.copy() if isinstance(part, np.ndarray) else part for part in learner))
        self.reward, self.utility = np.zeros(windows), np.zeros(windows)
        self.pieces = [
            partial(
                play,
                loop.drift,
                loop.sampler,
                self.learner,
                loop.model,
                first,
                luck,
                whims,
                np.empty(0, np.int64),
                loop.env.episodes,
                self.reward,
                self.utility,
                np.empty((0, 2)),
                loop.scratch,
            )
            for first, luck, whims in loop.chunks()
        ]


class Loop:
    """A case with its tables and its random numbers."""

    def __init__(self, case: Case) -> None:
        self.case, self.env = case, case.env()
        self.learner: Any = case.learner(self.env)
        self.drift, self.sampler = drift_of(self.env), sampler_of(self.env)
        self.model, self.scratch = empty_model(self.env), np.empty((2, self.env.S, 2))
        self.chunk = max(1, simulate.CHUNK_STEPS // self.env.H)
        luck, whims = stream("benchmarks", "luck"), stream("benchmarks", "whims")
        self.luck = luck.random((CHUNKS, self.chunk, 1 + 2 * self.env.H))
        self.whims = whims.random((CHUNKS, self.chunk, 1 + self.env.H))

    @property
    def steps(self) -> int:
        return self.env.episodes * self.env.H

    def chunks(self):
        for number, first in enumerate(range(1, self.env.episodes + 1, self.chunk)):
            n = min(self.chunk, self.env.episodes + 1 - first)
            yield first, self.luck[number % CHUNKS, :n], self.whims[number % CHUNKS, :n]

    def turn(self, play: Callable[..., None]) -> tuple[float, float]:
        """One repeat: seconds of our loop and of theirs, which must have earned the same."""
        ours, theirs = Side(simulate.play, self), Side(play, self)
        taken = in_turns(ours.pieces, theirs.pieces)
        for what in ("reward", "utility"):
            mine, other = getattr(ours, what), getattr(theirs, what)
            if not np.allclose(mine, other, rtol=SAME, atol=SAME):
                worst = int(np.abs(mine - other).argmax())
                differ = f"ours is {mine[worst]!r}, theirs is {other[worst]!r}"
                raise AssertionError(f"{self.case.name}: {what} of window {worst} differs: {differ}")
        return taken


def beside(case: Case, against: str, play: Callable[..., None], repeats: int) -> Comparison:
    loop = Loop(case)
    warm_up = Loop(case._replace(episodes=100))
    warm_up.turn(play)
    return compared(case.name, against, [loop.turn(play) for _ in range(repeats)], loop.steps)


def drawing(case: Case, repeats: int) -> float:
    """The share of a run without evaluation that drawing random numbers takes."""
    env = case.env()
    run = partial(simulate.run, env, case.algorithm, case.setting, evaluate_every=None, solve=False)
    chunk = max(1, simulate.CHUNK_STEPS // env.H)

    def draw() -> None:
        luck, whims = stream("benchmarks", "luck"), stream("benchmarks", "whims")
        for first in range(1, env.episodes + 1, chunk):
            n = min(chunk, env.episodes + 1 - first)
            luck.random((n, 1 + 2 * env.H))
            whims.random((n, 1 + env.H))

    run()
    taken = np.array([(seconds(draw), seconds(run)) for _ in range(repeats)])
    drawn, ran = np.median(taken, axis=0)
    return float(drawn / ran)
