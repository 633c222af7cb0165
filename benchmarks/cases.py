"""What is measured. A new world, size or algorithm is one more line here.

In Python, model-based learners and LSVI by counts keep H S^2 A numbers: on the 100x100 map these are 10^10, so they are
not run there. Nor is the oracle, which would take a minute for an episode.
"""

from typing import Any, NamedTuple

import numpy as np

from nscmdp import algorithms, environments
from nscmdp.cmdp import CMDP
from nscmdp.drift import DriftingCMDP
from nscmdp.kernels.induction import DriftArrays, drift_of
from nscmdp.kernels.sampling import Sampler, sampler_of
from nscmdp.problem import Problem


class World(NamedTuple):
    name: str
    options: dict[str, Any]
    environment: str = "grid_world"

    def env(self, episodes: int) -> DriftingCMDP:
        return environments.make(self.environment, episodes, **self.options)


class Scattered(NamedTuple):
    """Every move leads to one of four states from anywhere: no part of the tables is left alone, or near another."""

    states: int
    actions: int = 4
    horizon: int = 25

    @property
    def name(self) -> str:
        return f"scattered S={self.states} A={self.actions}"

    def env(self, episodes: int) -> DriftingCMDP:
        rng = np.random.default_rng(self.states)
        first = rng.integers(self.states, size=(1, self.states, self.actions, 1))
        successors = ((first + np.arange(4) * self.states // 4) % self.states).astype(np.uint32)

        def model() -> CMDP:
            probability = rng.dirichlet(np.ones(4), size=successors.shape[:3])
            reward, utility = rng.random((2, *successors.shape))
            start = np.full(self.states, 1 / self.states)
            return CMDP.sparse(
                successors, probability, reward, utility, self.horizon, self.horizon / 4, start
            )

        return DriftingCMDP([model(), model()], [1, episodes])


class Case(NamedTuple):
    world: World | Scattered
    algorithm: str
    setting: str
    episodes: int
    frame: float | None = None  # the factor of the frame's length, for the setting "scaled"
    evaluated: bool = False  # is every episode's policy evaluated?

    @property
    def name(self) -> str:
        frame = "" if self.frame is None else f" frame={self.frame:g}"
        return f"{self.algorithm}.{self.setting} {self.world.name}{frame}{' evaluated' if self.evaluated else ''}"

    def env(self) -> DriftingCMDP:
        return self.world.env(self.episodes)

    def learner(self, problem: Problem) -> Any:
        factors = None if self.frame is None else {"frame": self.frame}
        return algorithms.make(self.algorithm, problem, self.setting, factors)


class Tables(NamedTuple):
    """A path as the loops read it."""

    env: DriftingCMDP
    drift: DriftArrays
    sampler: Sampler

    @classmethod
    def of(cls, env: DriftingCMDP) -> "Tables":
        return cls(env, drift_of(env), sampler_of(env))


MIDDLE = World("18x18", {"map": "18x18"})
SMALL = World("6x6", {"map": "6x6", "horizon": 15, "limit": 2})
LARGE = World("100x100", {"map": "random", "size": 100})
WORLDS = (MIDDLE, SMALL, LARGE)
LINEAR = World("linear", {}, "linear")
ONE = "nonstationary_triple_q"

# Episodes for 18x18, 6x6 and 100x100: about a third of a second each.
LIGHT = (200_000, 500_000, 60_000)
LSVI = (5_000, 20_000, 500)
EPISODES: dict[str, tuple[int, ...]] = {
    "nonstationary_triple_q": LIGHT,
    "triple_q": LIGHT,
    "restart_q_ucb": LIGHT,
    "double_restart_triple_q": LIGHT,
    "uniform": LIGHT,
    "exact_model_primal_dual": (600, 10_000, 20),
    "oracle": (200, 3_000, 10),
    "lsvi_primal_dual": LSVI,
    "double_restart_lsvi_primal_dual": LSVI,
    "dual_restart_lsvi_primal_dual": LSVI,
    "propd_ppo": (10_000, 40_000, 2_000),
    "sliding_window_opt_cmdp": (500, 4_000, 100),
}
WITH_FEATURES = (
    "lsvi_primal_dual",
    "double_restart_lsvi_primal_dual",
    "dual_restart_lsvi_primal_dual",
)
# Episodes that plain Python plays of these; None where there is not the memory or the time.
LIGHT_IN_PYTHON = (100, 200, 100)
IN_PYTHON: dict[str, tuple[int | None, ...]] = {
    "nonstationary_triple_q": LIGHT_IN_PYTHON,
    "triple_q": LIGHT_IN_PYTHON,
    "restart_q_ucb": LIGHT_IN_PYTHON,
    "double_restart_triple_q": LIGHT_IN_PYTHON,
    "uniform": LIGHT_IN_PYTHON,
    "exact_model_primal_dual": (2, 20, 1),
    "oracle": (1, 5, None),
    "lsvi_primal_dual": (2, 20, None),
    "propd_ppo": (2, 20, None),
    "sliding_window_opt_cmdp": (2, 5, None),
}


def settings(algorithm: str) -> tuple[str, ...]:
    """Literal constants mean short frames, scaled ones frames four times as long."""
    return tuple(
        setting for setting in algorithms.settings(algorithm) if setting in ("literal", "scaled")
    )


def everywhere() -> list[tuple[World, str, int]]:
    """Every algorithm on every map, with the number of episodes."""
    return [
        (world, algorithm, number)
        for algorithm, numbers in EPISODES.items()
        for world, number in zip(WORLDS, numbers, strict=True)
    ]


BESIDE_C = [
    *(
        Case(world, algorithm, setting, episodes)
        for world, algorithm, episodes in everywhere()
        for setting in settings(algorithm)
    ),
    *(
        Case(world, ONE, "scaled", episodes, frame=0.1)
        for world, episodes in zip(WORLDS, LIGHT, strict=True)
    ),
    *(
        Case(world, algorithm, settings(algorithm)[-1], min(episodes, most), evaluated=True)
        for world, algorithm, episodes in everywhere()
        for most in [{"18x18": 2_000, "6x6": 20_000, "100x100": 20}[world.name]]
    ),
    *(
        Case(LINEAR, algorithm, setting, 4_000, evaluated=evaluated)
        for algorithm in WITH_FEATURES
        for setting in settings(algorithm)
        for evaluated in (False, True)
    ),
]
# Ours plays as many episodes as beside C, so that what a call costs is spread over them.
BESIDE_PYTHON = [
    (Case(world, algorithm, settings(algorithm)[-1], episodes), played)
    for world, algorithm, episodes in everywhere()
    if algorithm in IN_PYTHON
    for played in [IN_PYTHON[algorithm][WORLDS.index(world)]]
    if played is not None
]
BESIDE_DIRECT = [
    (Case(LINEAR, "lsvi_primal_dual", setting, 4_000), 300) for setting in ("literal", "scaled")
]
PLAIN = [
    (SMALL, 2_000),
    (MIDDLE, 1_000),
]  # a plain learner beside a loop of one's own: world and episodes
EVALUATION = [
    (Case(world, ONE, setting, 5_000), evaluated)
    for setting in ("literal", "scaled")
    for world, evaluated in zip(WORLDS, (1_000, 10_000, 30), strict=True)
]
DRAWING = [Case(MIDDLE, ONE, "scaled", 200_000)]
OPTIMA = [
    *WORLDS,
    World("6x6 with a switch", {**SMALL.options, "switch": "both", "switch_at": (0.5,)}),
    World("menu", {"legs": 4}, "menu"),
    World("random_tabular", {}, "random_tabular"),
    LINEAR,
]
