"""The policies that a learner plays in some episodes of a run.

The run is the one that :func:`nscmdp.simulate.run` makes of the same draws. The episodes that are asked for are played
in plain Python, to the same bits, where a policy can be read between the beginning of an episode and its first step;
those between them are played as always.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from nscmdp.cmdp import Array
from nscmdp.drift import DriftingCMDP
from nscmdp.kernels.induction import drift_of
from nscmdp.kernels.sampling import sampler_of
from nscmdp.learner import distribution, find
from nscmdp.plain import Player
from nscmdp.plain import distribution as checked
from nscmdp.simulate import Draws, Record, Room, World, all_draws, play


class Reader(Player):
    """Plays episodes, and notes the policies of those that are asked for."""

    def __init__(self, *known: Any) -> None:
        super().__init__(*known)
        self.found: list[Array] = []

    def evaluate(self, drift: Any, room: Any, k: int) -> tuple[float, float]:
        """The policy is asked for where it leads, step by step; V and W are left to others."""
        assert self.calls.policy is not None
        model = self.env.at(k)
        policy, here = np.zeros((model.H, model.S, model.A)), model.mu0
        for h in range(model.H):
            layer = h if model.layers > 1 else 0
            for x in np.flatnonzero(here).tolist():
                policy[h, x] = checked(self.calls.policy(h, x), h, x, model.A)
            flow = (here[:, None] * policy[h])[:, :, None] * model.probability[layer]
            here = np.bincount(model.successors[layer].ravel(), flow.ravel(), minlength=model.S)
        self.found.append(policy)
        return np.nan, np.nan


def played(
    env: DriftingCMDP, learner: Any, name: str, episodes: Sequence[int], seed: int
) -> Array | None:
    """(n,H,S,A): the policies of increasing ``episodes``; None of a learner that has no ``policy``.

    ``learner`` is one before its first episode, its own draws are keyed by ``name``. Rows of states where a policy
    never is at step h are 0.
    """
    world, room = World(drift_of(env), sampler_of(env)), Room.of(env)
    reader = Reader(env, world.sampler, learner)
    if not reader.exact:
        return None
    otherwise: Any = play if find(distribution, type(learner)) else reader
    reward, utility, dual = np.zeros((3, 1))
    for first, draws in all_draws(env, name, seed):
        for k, part in _cut(first, draws, episodes):
            asked = np.array([k] if k in episodes else [], dtype=np.int64)
            record = Record(reward, utility, dual, asked, np.empty((len(asked), 2)))
            player = reader if len(asked) else otherwise
            player(world, learner, part, record, room, k, env.episodes)
    return np.array(reader.found)


def _cut(first: int, draws: Draws, episodes: Sequence[int]) -> Iterator[tuple[int, Draws]]:
    """The draws from episode ``first`` on in parts, each with its first episode; those asked for by themselves."""
    number = len(draws.learner)
    ends = {k - first + after for k in episodes for after in (0, 1)}
    for begin, end in pairwise(sorted({0, number} | {cut for cut in ends if 0 < cut < number})):
        yield first + begin, Draws(draws.environment[begin:end], draws.learner[begin:end])
