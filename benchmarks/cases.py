"""What is measured. A new map, size or algorithm is one more line here."""

from typing import Any, NamedTuple

from nscmdp import algorithms, environments
from nscmdp.path import Path
from nscmdp.problem import Problem

MAPS: dict[str, dict[str, Any]] = {
    "18x18": {"map": "18x18"},
    "6x6": {"map": "6x6", "horizon": 15, "limit": 2},
}


class Case(NamedTuple):
    map: str
    algorithm: str
    setting: str
    episodes: int

    @property
    def name(self) -> str:
        return f"{self.algorithm}.{self.setting} {self.map}"

    def env(self) -> Path:
        return environments.make("grid_world", self.episodes, **MAPS[self.map])

    def learner(self, env: Path) -> Any:
        return algorithms.make(self.algorithm, Problem.of(env), self.setting)


# Literal constants mean short frames (tables are often reset), scaled ones frames four times as long.
BESIDE_C = [
    Case(map, algorithm, setting, episodes)
    for map, episodes in (("18x18", 500_000), ("6x6", 1_200_000))
    for algorithm in ("nonstationary_triple_q", "triple_q", "restart_q_ucb")
    for setting in ("literal", "scaled")
]
BESIDE_PYTHON = [
    Case(map, algorithm, "scaled", 1_000)
    for map in ("18x18", "6x6")
    for algorithm in ("nonstationary_triple_q", "triple_q", "restart_q_ucb")
]
DRAWING = [Case("18x18", "nonstationary_triple_q", "scaled", 200_000)]
BESIDE_HIGHS = list(MAPS)


def quick(cases: list[Case]) -> list[Case]:
    """The same cases over a fiftieth of the episodes."""
    return [case._replace(episodes=max(100, case.episodes // 50)) for case in cases]
