"""The environments of the package as Gymnasium environments: ``gymnasium.make("nscmdp:GridWorld-v0", episodes=1000)``.

One Gymnasium environment is one run: K episodes of H steps, in each the model of that episode.

- ``reset(seed=s)`` begins a run at episode 1, with the draws that ``simulate.run(..., seed=s)`` has: an agent from
  elsewhere and the package's learners meet the same chances. A plain ``reset()`` begins the next episode, whether the
  last one was played to its end or not; the clock never goes back. After episode K it raises :class:`RunIsOver`.
- An observation is (h, x), the step (from 0) and the state. P_h, r_h and g_h may depend on h, and the best action
  always depends on how many steps are left: x alone is not Markov. The final observation has h = H. The episode is no
  part of it, as a learner is not told how the model drifts.
- After H steps an episode is *terminated*, not truncated: the horizon belongs to the problem, nothing comes after it,
  and to bootstrap from a value beyond it would be wrong.
- ``info`` has the "cost" and the "utility" = 1 - cost of a step, and the episode "k". Over an episode the expected cost
  must be at most ``env.unwrapped.limit``, or the expected utility at least ``env.unwrapped.rho`` = H - limit.

``env.unwrapped.path`` is the drifting CMDP itself: ``path.at(k)`` is the model of episode k, for exact evaluation.
"""

from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import InvalidAction, ResetNeeded
from gymnasium.spaces import Discrete, MultiDiscrete
from numpy.typing import NDArray

from nscmdp import environments, metrics
from nscmdp.drift import DriftingCMDP
from nscmdp.kernels.sampling import sampler_of
from nscmdp.randomness import stream
from nscmdp.simulate import draw

EPISODES = 80_000  # of a run, where none are given: as many as the paper's grid world has
Observation = NDArray[np.int64]


class RunIsOver(RuntimeError):
    """All episodes of a run are played."""


class DriftingEnv(gymnasium.Env[Observation, np.int64]):
    """A run in the environment ``environment`` with its options, or along a path of your own."""

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012

    def __init__(
        self, environment: str | DriftingCMDP, episodes: int | None = None, **options: Any
    ) -> None:
        if isinstance(environment, str):
            number = EPISODES if episodes is None else episodes
            environment = environments.make(environment, number, **options)
        elif episodes is not None or options:
            given = {"episodes": episodes, **options}
            raise ValueError(
                f"{environment} has its episodes and options already, expected none and found {given}"
            )
        self.path = environment
        self.rho, self.limit = self.path.rho, metrics.cost(self.path.H, self.path.rho)
        self.observation_space = MultiDiscrete([self.path.H + 1, self.path.S])
        self.action_space = Discrete(self.path.A)
        self.render_mode = None
        self._sampler = sampler_of(self.path)
        # Of a run with a seed; one without has Gymnasium's generator.
        self._source: np.random.Generator | None = None
        self._k, self._h, self._x = 0, self.path.H, 0

    @property
    def episode(self) -> int:
        """k, from 1; 0 before the first reset."""
        return self._k

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        super().reset(seed=seed)
        if seed is not None:
            self._k, self._source = 0, stream("environment", self.path.name, self.path.seed, seed)
        if self._k == self.path.episodes:
            raise RunIsOver(f"all {self._k} episodes are played: reset(seed=...) begins a new run")
        self._k, self._h = self._k + 1, 0
        self._leg = self.path.leg(self._k)
        source = self.np_random if self._source is None else self._source
        start, *self._draws = source.random(1 + 2 * self.path.H).tolist()
        place = start * self.path.S
        self._x, sampler = int(place), self._sampler
        if place - self._x >= sampler.start_threshold[self._x]:
            self._x = int(sampler.start_alias[self._x])
        return self._observation(), {"k": self._k}

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        h, H = self._h, self.path.H
        if h == H:
            raise ResetNeeded("the episode is over, or none has begun: call reset()")
        if action not in self.action_space:
            raise InvalidAction(f"action = {action}: expected 0 to {self.path.A - 1}")
        layer = h if self.path.layers > 1 else 0
        u = self._draws[2 * h : 2 * h + 2]
        reward, utility, state = draw(self._sampler, *self._leg, layer, self._x, int(action), *u)
        self._h, self._x = h + 1, int(state)
        info = {"cost": metrics.cost(1.0, utility), "utility": utility, "k": self._k}
        return self._observation(), reward, self._h == H, False, info

    def _observation(self) -> Observation:
        return np.array([self._h, self._x])
