"""A case: an environment under one reading, at one budget and number of episodes."""

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from nscmdp import environments
from nscmdp.drift import DriftingCMDP
from wei2023.study.config import Experiment, Tuning, environment_options

DEFAULT = "default"  # the reading, or the budget, of an environment as it stands


@dataclass(frozen=True)
class Case:
    of: str  # an experiment or a tuning
    environment: str
    reading: str  # "location=current", or "default"
    budget: str  # "legs=4", or "default"
    options: dict[str, Any]
    episodes: int

    @property
    def name(self) -> str:
        reading = "" if self.reading == DEFAULT else f"{self.reading}/"
        return f"{reading}{self.budget}/K={self.episodes}"

    @cached_property
    def env(self) -> DriftingCMDP:
        return environments.make(self.environment, self.episodes, **self.options)

    @cached_property
    def spec(self) -> dict[str, Any]:
        """All that makes the environment, and a hash of what it makes."""
        named = {"name": self.environment, "episodes": self.episodes, "options": self.options}
        return {**named, "fingerprint": self.env.fingerprint()}


def of_experiment(experiment: Experiment) -> list[Case]:
    name = experiment.environment.name
    return [
        Case(experiment.name, name, _slug(reading), _slug(budget), options, episodes)
        for i, reading in enumerate(experiment.readings)
        for j, budget in enumerate(experiment.budgets)
        for options in [
            environment_options(experiment, {f"readings[{i}]": reading, f"budgets[{j}]": budget})
        ]
        for episodes in experiment.episodes
    ]


def of_tuning(tuning: Tuning) -> list[Case]:
    options, name = environment_options(tuning, {}), tuning.environment.name
    return [
        Case(tuning.name, name, DEFAULT, DEFAULT, options, episodes)
        for episodes in (tuning.episodes, *tuning.checks)
    ]


def _slug(options: dict[str, Any]) -> str:
    """legs=4,seed=1 of some options, in characters that a folder may have."""

    def text(value: Any) -> str:
        written = value if isinstance(value, str) else json.dumps(value)
        return "".join(c if c.isalnum() or c in "._-" else "_" for c in written)

    return ",".join(f"{key}={text(value)}" for key, value in options.items()) or DEFAULT
