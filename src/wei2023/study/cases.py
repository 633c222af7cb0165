"""A case: an environment under one reading, at one budget and number of episodes."""

import json
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from nscmdp import environments
from nscmdp.drift import DriftingCMDP
from wei2023.study.config import Experiment, Tuning, environment_options

UNUSUAL = re.compile(r"[^\w.-]")
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


def of_study(study: Experiment | Tuning) -> list[Case]:
    """Readings, budgets and numbers of episodes of an experiment, or the episodes of a tuning."""
    of, name = study.name, study.environment.name
    if isinstance(study, Tuning):
        options = environment_options(study, {})
        numbers = (study.episodes, *study.checks)
        return [Case(of, name, DEFAULT, DEFAULT, options, episodes) for episodes in numbers]
    return [
        Case(of, name, _slug(reading), _slug(budget), options, episodes)
        for i, reading in enumerate(study.readings)
        for j, budget in enumerate(study.budgets)
        for options in [
            environment_options(study, {f"readings[{i}]": reading, f"budgets[{j}]": budget})
        ]
        for episodes in study.episodes
    ]


def _slug(options: dict[str, Any]) -> str:
    """legs=4,seed=1 of some options, in characters that a folder may have."""
    texts = {k: v if isinstance(v, str) else json.dumps(v) for k, v in options.items()}
    return ",".join(f"{k}={UNUSUAL.sub('_', text)}" for k, text in texts.items()) or DEFAULT
