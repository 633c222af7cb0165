"""What is searched for, what the searches start from, and what the repository keeps of them."""

import hashlib
import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from nscmdp import algorithms, plugins
from nscmdp.kernels import sources
from nscmdp.study import cases, catalogue, layout
from nscmdp.study.cases import Case
from nscmdp.study.config import Config, Experiment, Tuning, Unacceptable


class Searches:
    """The studies of a configuration by name, and the jobs of its tunings."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.experiments = [one.name for one in config.experiments]
        self.tunings = [one.name for one in config.tunings]
        self._studies: dict[str, Any] = {one.name: one for one in (*config.experiments, *config.tunings)}
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

    def _recorded(self, tuning: str, algorithm: str, episodes: int) -> list[dict[str, Any]]:
        """What the searches for an algorithm kept."""
        try:
            return [entry for entry in self.record(tuning)[algorithm][str(episodes)] if entry["kept"]]
        except KeyError:
            file = f"{self.config.searches}/{layout.record(tuning)}"
            what = f"{file} has no search for {algorithm} at {episodes} episodes: make search makes it"
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

    def search_spec(self, tuning: str, algorithm: str, episodes: int, search: int) -> dict[str, Any]:
        return {
            **self._what_is_tuned(tuning, algorithm, episodes),
            "search": search,
            "start": self._start(tuning, algorithm),
            "strict": self.tuning(tuning).strict,
            "sources": _tuning_sources(algorithm, "nscmdp.runs.search"),
        }

    def tuning_spec(self, tuning: str, algorithm: str, episodes: int) -> dict[str, Any]:
        spec = self._what_is_tuned(tuning, algorithm, episodes)
        if self.recorded:
            kept = self._recorded(tuning, algorithm, episodes)
            found: dict[str, Any] = {"recorded": kept}
        else:
            searches = range(self.searches_of(tuning))
            found = {"searches": [_digest(self.search_spec(tuning, algorithm, episodes, i)) for i in searches]}
        return {**spec, **found, "sources": _tuning_sources(algorithm, "nscmdp.runs.tuning")}

    def _what_is_tuned(self, tuning: str, algorithm: str, episodes: int) -> dict[str, Any]:
        chosen = self.tuning(tuning)
        (case,) = [one for one in self.cases_of(tuning) if one.episodes == episodes]
        return {
            "case": case.spec,
            "algorithm": algorithm,
            "objective": chosen.objective,
            "variants": chosen.variants,
            "effort": self.effort_of(tuning),
            "frames": chosen.frames,
            "evaluate_every": chosen.evaluate_every,
            **({"thresholds": thresholds()} if chosen.objective == "margin" else {}),
            **used_plugins([case.environment, algorithm]),
        }

    def _start(self, tuning: str, algorithm: str) -> str | None:
        """A digest of what the searches begin from."""
        other = self.tuning(tuning).start
        return None if other is None else self._tuning_digest(other, algorithm, self.tuning(other).episodes)

    def started_by(self, tuning: str, algorithm: str) -> list[str]:
        """The file whose choice the searches for an algorithm begin from, below the results folder; or none."""
        other = self.tuning(tuning).start
        return [] if other is None else [layout.tuning(other, algorithm, self.tuning(other).episodes)]

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
        return [file for name, learner, K, _, file in self.search_files() if (name, learner, K) == asked]

    def tuning_files(self) -> list[tuple[str, str, int, str]]:
        """(tuning, algorithm, episodes, file below the results folder) of every tuning job."""
        return [
            (name, algorithm, case.episodes, layout.tuning(name, algorithm, case.episodes))
            for name in self.tunings
            for case in self._cases[name]
            for algorithm in self.tuning(name).algorithms
        ]

    @cache  # noqa: B019
    def _tuning_digest(self, tuning: str, algorithm: str, episodes: int) -> str:
        return _digest(self.tuning_spec(tuning, algorithm, episodes))


def _digest(spec: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest()[:16]


def thresholds() -> dict[str, float]:
    """Of the parts of the simulation's claim, at their defaults."""
    import yaml

    found = yaml.safe_load(catalogue.CLAIMS.read_text(encoding="utf-8"))["thresholds"]
    return {name: threshold["default"] for name, threshold in found.items()}


def _tuning_sources(algorithm: str, job: str) -> str:
    beside = (job, "nscmdp.runs.scoring", "nscmdp.runs.parts")
    return sources.digest("nscmdp.simulate", algorithms.module(algorithm).__name__, beside=beside)


def used_plugins(names: Iterable[str]) -> dict[str, list[str]]:
    """What a job has to load first: the files behind names of environments and algorithms, if there are any."""
    files = plugins.files_of(names)
    return {"plugins": files} if files else {}


def run_digest(algorithm: str) -> str:
    """Of the sources that decide, with the environment and the constants, the numbers of a simulation."""
    return sources.digest("nscmdp.simulate", algorithms.module(algorithm).__name__, beside="nscmdp.runs.records")


def policy_digest(algorithm: str) -> str:
    """Of the sources that decide the policies that are read from a simulation."""
    return sources.digest("nscmdp.policies", algorithms.module(algorithm).__name__, beside="nscmdp.runs.policies")
