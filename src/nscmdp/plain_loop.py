"""The simulator's loop in plain Python: for learners that are plain objects, and for a debugger."""

from contextlib import nullcontext
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nscmdp.cmdp import Array
from nscmdp.drift import DriftingCMDP
from nscmdp.kernels.induction import DriftArrays, empty_policy, expect, mix
from nscmdp.kernels.jit import in_python
from nscmdp.kernels.sampling import Sampler
from nscmdp.plain import calls_of, distribution, has_operations

KEPT_ROWS = 100_000  # of the sampler's tables, as tuples: about 150 MB where rows have five columns


class Rows(dict[tuple[int, ...], list[tuple]]):
    """Rows (anchor, layer, x, a) of the sampler's outcomes as Python reads them fastest, made when first asked for."""

    def __init__(self, sampler: Sampler) -> None:
        super().__init__()
        self.outcomes = sampler.outcomes

    def __missing__(self, place: tuple[int, ...]) -> list[tuple]:
        if len(self) >= KEPT_ROWS:
            self.clear()
        self[place] = self.outcomes[place].tolist()
        return self[place]


class Player:
    """Plays a learner's episodes, from the first on: :func:`nscmdp.simulate.play` in Python."""

    def __init__(self, env: DriftingCMDP, sampler: Sampler, learner: Any) -> None:
        self.env, self.sampler, self.rows = env, sampler, Rows(sampler)
        self.calls = calls_of(learner, env.A)
        self.exact = self.calls.policy is not None
        self.returns = np.zeros((0 if self.exact else env.episodes, 2))  # of every episode

    def __call__(self, world, learner, draws, record, room, first, episodes) -> None:
        windows, asked = (
            len(record.reward),
            dict(zip(record.asked.tolist(), record.values, strict=True)),
        )
        with in_python() if has_operations(learner) else nullcontext():
            for i, k in enumerate(range(first, first + len(draws.learner))):
                learner_draws = draws.learner[i].tolist()
                self.calls.begin_episode(learner_draws[0])
                if self.exact and k in asked:
                    asked[k][:] = self.evaluate(world.drift, room, k)
                earned = self.episode(k, draws.environment[i].tolist(), learner_draws)
                self.calls.end_of_episode()
                window = (k - 1) * windows // episodes
                record.reward[window] += earned[0]
                record.utility[window] += earned[1]
                if k * windows // episodes > window:
                    record.dual[window] = self.calls.dual()
                if not self.exact:
                    self.returns[k - 1] = earned

    def episode(
        self, k: int, environment_draws: list[float], learner_draws: list[float]
    ) -> tuple[float, float]:
        """The reward and utility of episode k."""
        (start, end, weight), rows, H, A = self.env.leg(k), self.rows, self.env.H, self.env.A
        columns, layers, next_action = (
            self.sampler.outcomes.shape[-1],
            self.env.layers,
            self.calls.next_action,
        )
        x, reward, utility = self.first_state(environment_draws[0]), 0.0, 0.0
        a = self.calls.first_action(x, learner_draws[1])
        for h in range(H):
            if type(a) is not int or not 0 <= a < A:
                a = self.action(a, h, x)
            anchor = end if environment_draws[1 + 2 * h] < weight else start
            place = environment_draws[2 + 2 * h] * columns
            column = int(place)
            outcome = rows[anchor, h if layers > 1 else 0, x, a][column]
            threshold, r, g, alias_r, alias_g, y, alias_y = outcome
            if place - column >= threshold:
                r, g, y = alias_r, alias_g, alias_y
            reward += r
            utility += g
            if h + 1 < H:
                a = next_action(h, x, a, r, g, y, learner_draws[2 + h])
                x = y
            else:
                self.calls.last_lesson(h, x, a, r, g, y)
        return reward, utility

    def first_state(self, u: float) -> int:
        place = u * self.env.S
        x = int(place)
        return (
            x if place - x < self.sampler.start_threshold[x] else int(self.sampler.start_alias[x])
        )

    def action(self, a: Any, h: int, x: int) -> int:
        """An action that is an integer of another type, as numpy's are."""
        if isinstance(a, bool | np.bool_) or not hasattr(a, "__index__") or not 0 <= a < self.env.A:
            raise ValueError(
                f"the action at h = {h}, x = {x} is {a!r}: expected an integer from 0 to {self.env.A - 1}"
            )
        return index(a)

    def evaluate(self, drift: DriftArrays, room: Any, k: int) -> tuple[float, float]:
        """V and W of the policy of episode k, by compiled backward induction."""
        assert self.calls.policy is not None
        reach, policy = room.model.reach, empty_policy(room.model)
        states, steps = reach.states.tolist(), reach.steps.tolist()
        for h in reversed(range(self.env.H)):
            for i in range(steps[h], steps[h + 1]):
                x = states[i]
                policy[i] = distribution(self.calls.policy(h, x), h, x, self.env.A)
        mix.dispatcher(drift, k, room.model)
        return expect.dispatcher(room.model, policy, room.values)

    def estimates(self, weight: NDArray[np.int64]) -> Array:
        """Mean return and utility of the episodes of every stratum, for V and W."""
        return np.add.reduceat(self.returns, np.cumsum(weight) - weight) / weight[:, None]
