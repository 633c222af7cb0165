"""The suite: frozen environments, the learners that are compared on them, and what is expected of these.

An environment never changes within a version: a fingerprint of every instance is checked before a run.
"""

import hashlib
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from nscmdp import metrics
from nscmdp.drift import DriftingCMDP
from nscmdp.plugins import unknown

FILE = Path("workflow/suite.yaml")
KEPT = Path("docs/suite")  # the tables of the whole suite that the repository keeps
ROLE = "suite"
SCALE = "uniform"  # whose gap is the unit of all others'
DIGITS = 6  # of a model in its fingerprint, as another machine may round otherwise
MEASURES = (*metrics.MEASURES, "adaptation")

Name = Annotated[str, Field(pattern=r"^[a-z0-9_]+$", max_length=60)]
Number = Annotated[int, Field(ge=1, le=1000)]
Seed = Annotated[int, Field(ge=0, le=2**62)]


class Unreadable(ValueError):
    """A file of a suite that cannot be used; the message names the file and is one line."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.splitlines()))


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, strict=True, frozen=True)


class Frozen(Strict):
    """An environment of the suite."""

    name: Name
    reason: str
    environment: dict[str, Any]  # as the configuration has it, without a seed
    episodes: Annotated[int, Field(ge=1, le=10**9)]
    also: list[str] = Field(default=[])  # learners of this environment alone
    without: list[str] = Field(default=[])  # learners that sit it out
    tuned_on: Name | None = Field(default=None)  # another environment, where constants are chosen
    strict: bool = Field(default=False)  # as of a tuning
    evaluate_every: Annotated[int, Field(ge=1)]
    fingerprints: dict[int, str] = Field(default={})  # by the seed of the instance

    @property
    def experiment(self) -> str:
        return f"{ROLE}_{self.name}"

    def tuning(self, frames: float | None) -> str:
        """Its name; ``frames``: the least number of them within a run, if another than usual."""
        name = f"tuning_{ROLE}_{self.tuned_on or self.name}"
        return f"{name}_frames_{frames:g}" if frames else name


class Hypothesis(Strict):
    """``learner`` has a smaller ``measure`` than another one, or than itself in other environments."""

    id: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
    says: str
    learner: str
    than: str | None = Field(default=None)  # without: the same learner
    measure: str
    environments: list[Name] = Field(min_length=1)
    than_in: list[Name] | None = Field(default=None)  # without: the same environments

    @property
    def other(self) -> str:
        return self.than or self.learner

    @property
    def other_environments(self) -> list[str]:
        return self.than_in or self.environments


class Effort(Strict):
    """Of every search; what all tunings share stands in the configuration."""

    population: Annotated[int, Field(ge=4)]
    generations: Number
    seeds: Number
    searches: Number


class Suite(Strict):
    version: Number
    learners: list[str] = Field(min_length=1)
    references: list[str]
    setting: str
    tuning_instance: Seed
    instances: list[Seed] = Field(min_length=1)
    seeds: Number
    first_seed: Seed
    effort: Effort
    environments: list[Frozen] = Field(min_length=1)
    hypotheses: list[Hypothesis]

    @model_validator(mode="after")
    def _is_whole(self) -> "Suite":
        names, ids = [one.name for one in self.environments], [one.id for one in self.hypotheses]
        for what, given in (("environments", names), ("hypotheses", ids)):
            if twice := {one for one in given if given.count(one) > 1}:
                raise ValueError(f"{what}: {twice.pop()!r} stands there twice")
        if self.tuning_instance in self.instances:
            found = f"tuning_instance = {self.tuning_instance}"
            raise ValueError(f"{found} is reported too, expected another seed")
        if SCALE not in self.references:
            raise ValueError(f"references: expected {SCALE!r} among them, whose gap is the unit")
        for one in self.hypotheses:
            if len(one.environments) != len(one.other_environments):
                expected = "as many environments in than_in as in environments"
                raise ValueError(f"{one.id}: expected {expected}")
            words = [("environment", n, names) for n in one.environments + one.other_environments]
            for what, word, known in (("measure", one.measure, [*MEASURES]), *words):
                if word not in known:
                    nearest = unknown(word, known, f"unknown {what} {word!r}")
                    raise ValueError(f"{one.id}: {nearest}")
        for frozen in self.environments:
            if frozen.tuned_on not in (None, *names):
                found = f"{frozen.name}: tuned_on = {frozen.tuned_on!r}"
                raise ValueError(f"{found}, expected an environment")
        return self

    @cached_property
    def by_name(self) -> dict[str, Frozen]:
        return {one.name: one for one in self.environments}


def load(file: Path) -> Suite:
    try:
        return TypeAdapter(Suite).validate_python(yaml.safe_load(file.read_text(encoding="utf-8")))
    except OSError as error:
        raise Unreadable(f"{file} cannot be read: {error}") from None
    except yaml.YAMLError as error:
        raise Unreadable(f"{file} is not YAML: {error}") from None
    except ValidationError as error:
        raise Unreadable(f"{file}: {error}") from None


def fingerprint(env: DriftingCMDP) -> str:
    """A hash of all that makes the path: anchors, knots, route and rho."""
    content = hashlib.sha256(f"{env.episodes} {env.H} {env.rho:.{DIGITS}f}".encode())
    for whole in (env.knots, env.route, env.successors.astype(np.int64)):
        content.update(np.ascontiguousarray(whole).tobytes())
    parts = [env.mu0, env.probability]
    parts += [part for anchor in env.anchors for part in (anchor.reward_of, anchor.utility_of)]
    for part in parts if env.features is None else [*parts, env.features]:
        content.update(np.ascontiguousarray(np.round(part, DIGITS) + 0.0).tobytes())
    return content.hexdigest()[:16]
