"""What is searched for, what the searches start from, and what the repository keeps of them."""

import json
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from wei2023.study import cases, catalogue, layout
from wei2023.study.cases import Case
from wei2023.study.config import Config, Experiment, Tuning, Unacceptable


class Searches:
    """The studies of a configuration by name, and the jobs of its tunings."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.experiments = [one.name for one in config.experiments]
        self.tunings = [one.name for one in config.tunings]
        self._studies: dict[str, Any] = {
            one.name: one for one in (*config.experiments, *config.tunings)
        }
        self._cases = {one.name: cases.of_experiment(one) for one in config.experiments}
        self._cases |= {one.name: cases.of_tuning(one) for one in config.tunings}

    def experiment(self, name: str) -> Experiment:
        return self._studies[name]

    def tuning(self, name: str) -> Tuning:
        return self._studies[name]

    def study(self, name: str) -> Experiment | Tuning:
        return self._studies[name]

    def cases_of(self, name: str) -> list[Case]:
        """Those of an experiment or a tuning."""
        return self._cases[name]

    @property
    def recorded(self) -> bool:
        """Are searches recorded, or part of the run?"""
        return self.config.searches is not None

    @cache  # noqa: B019
    def record(self, tuning: str) -> dict[str, Any]:
        """What is recorded of a tuning's searches: entries by algorithm and number of episodes."""
        file = Path(str(self.config.searches)) / layout.record(tuning)
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise Unacceptable(f"{file} cannot be read ({error}): make search makes it") from None
        return found["searches"]

    def recorded_searches(self, tuning: str, algorithm: str, episodes: int) -> list[dict[str, Any]]:
        """What the searches for an algorithm kept."""
        try:
            return [
                entry for entry in self.record(tuning)[algorithm][str(episodes)] if entry["kept"]
            ]
        except KeyError:
            file = f"{self.config.searches}/{layout.record(tuning)}"
            what = (
                f"{file} has no search for {algorithm} at {episodes} episodes: make search makes it"
            )
            raise Unacceptable(what) from None

    def effort_of(self, tuning: str) -> dict[str, Any]:
        """How hard a tuning tries, and on which seeds."""
        chosen, effort = self.tuning(tuning), self.config.effort
        return {
            "population": chosen.population or effort.population,
            "generations": chosen.generations or effort.generations,
            "seeds": chosen.seeds or effort.seeds,
            "search_seeds": effort.search_list,
            "selection_seeds": effort.selection_list,
        }

    def searches_of(self, tuning: str) -> int:
        return self.tuning(tuning).searches or self.config.effort.searches

    @cached_property
    def thresholds(self) -> dict[str, float]:
        """The defaults of the thresholds that the parts of the simulation's claim are judged by."""
        import yaml

        found = yaml.safe_load(catalogue.CLAIMS.read_text(encoding="utf-8"))["thresholds"]
        return {name: threshold["default"] for name, threshold in found.items()}

    def started_by(self, tuning: str, algorithm: str) -> list[str]:
        """The file whose choice the searches for an algorithm begin from, below the results folder; or none."""
        other = self.tuning(tuning).start
        return (
            [] if other is None else [layout.tuning(other, algorithm, self.tuning(other).episodes)]
        )

    def started_from(self, tuning: str | None) -> list[str]:
        """The tunings that a tuning's searches go back to."""
        other = self.tuning(tuning).start if tuning else None
        return [] if other is None else [other, *self.started_from(other)]

    def search_files(self) -> list[tuple[str, str, int, int, str]]:
        """(tuning, algorithm, episodes, search, file) of every search of this run: none where they are recorded."""
        return [
            (name, algorithm, episodes, search, layout.search(name, algorithm, episodes, search))
            for name, algorithm, episodes, _ in self.tuning_files()
            for search in range(0 if self.recorded else self.searches_of(name))
        ]

    def searched_by(self, tuning: str, algorithm: str, episodes: int) -> list[str]:
        """The files of the searches behind a tuning."""
        asked = (tuning, algorithm, episodes)
        return [
            file for name, learner, K, _, file in self.search_files() if (name, learner, K) == asked
        ]

    def tuning_files(self) -> list[tuple[str, str, int, str]]:
        """(tuning, algorithm, episodes, file below the results folder) of every tuning job."""
        return [
            (name, algorithm, case.episodes, layout.tuning(name, algorithm, case.episodes))
            for name in self.tunings
            for case in self._cases[name]
            for algorithm in self.tuning(name).algorithms
        ]
