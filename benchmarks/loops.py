"""The simulator's loop beside another: same tables, same random numbers, same episodes.

Random numbers are drawn beforehand and cost neither side anything; :func:`drawing` says what share of a run they
take. In every repeat both sides must have earned the same in every episode that both played, and must have found the
same values where policies are evaluated.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import numpy as np

from benchmarks.cases import Case, Tables
from benchmarks.timing import Comparison, compared, in_turns, seconds
from nscmdp import simulate
from nscmdp.problem import Problem
from nscmdp.randomness import stream

SAME = 1e-9
WARM_UP = 10  # episodes that compile or load the kernels
CHUNKS = 8  # so many chunks of random numbers are drawn and used again and again


class Player(Protocol):
    def play(self, first: int, draws: simulate.Draws, record: simulate.Record) -> None:
        """Play the episodes first, first+1, ...; the arguments are those of :func:`nscmdp.simulate.play`."""


Players = Callable[[Tables, Any], Player]  # from the learner's first episode on


class Ours:
    """Our kernels."""

    def __init__(self, tables: Tables, learner: Any) -> None:
        env, drift, sampler = tables
        self.world, self.learner, self.episodes = (
            simulate.World(drift, sampler),
            learner,
            env.episodes,
        )
        self.room = simulate.Room.of(env)

    def play(self, first: int, draws: simulate.Draws, record: simulate.Record) -> None:
        simulate.play(self.world, self.learner, draws, record, self.room, first, self.episodes)


def streams() -> tuple[np.random.Generator, np.random.Generator]:
    """Of the environment and of the learner."""
    return stream("benchmarks", "environment"), stream("benchmarks", "learner")


class Loop:
    """A case with its tables and its random numbers."""

    def __init__(self, case: Case) -> None:
        self.case, self.env = case, case.env()
        self.problem, self.tables = Problem.of(self.env), Tables.of(self.env)
        steps = min(simulate.CHUNK_STEPS, case.episodes * self.env.H)
        self.chunk = max(1, steps // self.env.H)
        environment, learner = streams()
        environment_draws = environment.random((CHUNKS, self.chunk, 1 + 2 * self.env.H))
        learner_draws = learner.random((CHUNKS, self.chunk, 1 + self.env.H))
        self.draws = list(map(simulate.Draws, environment_draws, learner_draws))

    def turn(self, player: Players, theirs: int) -> tuple[float, float]:
        """One repeat: seconds a step of our loop and of theirs, which plays the first ``theirs`` episodes alone."""
        sides = Side(Ours, self, self.env.episodes), Side(player, self, theirs)
        taken = in_turns(sides[0].pieces, sides[1].pieces)
        for what in ("reward", "utility", "values"):
            mine, other = (getattr(side, what)[:theirs] for side in sides)
            if not np.allclose(mine, other, rtol=SAME, atol=SAME):
                where = np.unravel_index(np.abs(mine - other).argmax(), mine.shape)
                differ = f"ours is {mine[where]!r}, theirs is {other[where]!r}"
                raise AssertionError(
                    f"{self.case.name}: {what} of episode {where[0] + 1} differs: {differ}"
                )
        return taken[0] / (self.env.episodes * self.env.H), taken[1] / (theirs * self.env.H)


class Side:
    """One player's work in pieces, and what comes of it."""

    def __init__(self, player: Players, loop: Loop, episodes: int) -> None:
        asked = np.arange(1, episodes + 1 if loop.case.evaluated else 1)
        self.reward, self.utility, dual = np.zeros((3, loop.env.episodes))
        self.values = np.zeros((len(asked), 2))
        playing = player(loop.tables, loop.case.learner(loop.problem))
        self.pieces = []
        for number, start in enumerate(range(0, episodes, loop.chunk)):
            end = min(start + loop.chunk, episodes)
            draws = simulate.Draws(
                *(numbers[: end - start] for numbers in loop.draws[number % CHUNKS])
            )
            record = simulate.Record(
                self.reward, self.utility, dual, asked[start:end], self.values[start:end]
            )
            self.pieces.append(partial(playing.play, start + 1, draws, record))


def beside(
    case: Case, against: str, player: Players, repeats: int, theirs: int | None = None
) -> Comparison:
    """Our loop over a case's episodes beside theirs, over as many or over the first ``theirs`` of them."""
    for piece in Side(Ours, Loop(case._replace(episodes=WARM_UP)), 1).pieces:
        piece()
    loop = Loop(case)
    return compared(
        case.name, against, [loop.turn(player, theirs or case.episodes) for _ in range(repeats)]
    )


def drawing(case: Case, repeats: int) -> float:
    """The share of a run without evaluation that drawing random numbers takes."""
    env = case.env()
    run = partial(simulate.run, env, case.algorithm, case.setting, evaluate_every=None, solve=False)
    chunk = max(1, simulate.CHUNK_STEPS // env.H)

    def draw() -> None:
        environment, learner = streams()
        for first in range(1, env.episodes + 1, chunk):
            n = min(chunk, env.episodes + 1 - first)
            environment.random((n, 1 + 2 * env.H))
            learner.random((n, 1 + env.H))

    run()
    taken = np.array([(seconds(draw), seconds(run)) for _ in range(repeats)])
    drawn, ran = np.median(taken, axis=0)
    return float(drawn / ran)
