"""The suite: frozen environments and the hypotheses on them, read from its own file, and the experiments made of it.

Every environment becomes an experiment of the role "suite", whose readings are the reporting instances, and a tuning on
the tuning instance. An algorithm that is tuned appears with its main choice and with the best of every search, by which
the searches' own share in a ranking can be told.
"""

import hashlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import yaml
from pydantic import Field, TypeAdapter, ValidationError, model_validator

from nscmdp import algorithms, metrics
from nscmdp.drift import DriftingCMDP
from nscmdp.names import unknown
from nscmdp.study import errors
from nscmdp.study.errors import Unacceptable
from nscmdp.study.models import TUNED, Frames, Seed, Strict

FILE = Path("workflow/suite.yaml")
KEPT = Path("docs/suite")  # the tables of the whole suite that the repository keeps
ROLE = "suite"
SCALE = "uniform"  # whose gap is the unit of all others'
DIGITS = 6  # of a model that its fingerprint holds: what another machine rounds otherwise is no other environment
MEASURES = (*metrics.MEASURES, "adaptation")

Name = Annotated[str, Field(pattern=r"^[a-z0-9_]+$", max_length=60)]
Number = Annotated[int, Field(ge=1, le=1000)]


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
        return f"tuning_{ROLE}_{self.tuned_on or self.name}" + (f"_frames_{frames:g}" if frames else "")


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
        names = [one.name for one in self.environments]
        for what, found in (("environments", names), ("hypotheses", [one.id for one in self.hypotheses])):
            twice = {one for one in found if found.count(one) > 1}
            if twice:
                raise ValueError(f"{what}: {twice.pop()!r} stands there twice")
        if self.tuning_instance in self.instances:
            raise ValueError(f"tuning_instance = {self.tuning_instance} is reported too, expected another seed")
        if SCALE not in self.references:
            raise ValueError(f"references: expected {SCALE!r} among them, whose gap is the unit")
        for one in self.hypotheses:
            if one.measure not in MEASURES:
                raise ValueError(f"{one.id}: " + unknown(one.measure, MEASURES, f"unknown measure {one.measure!r}"))
            if len(one.environments) != len(one.other_environments):
                raise ValueError(f"{one.id}: expected as many environments in than_in as in environments")
            for name in (*one.environments, *one.other_environments):
                if name not in names:
                    raise ValueError(f"{one.id}: " + unknown(name, names, f"unknown environment {name!r}"))
        for frozen in self.environments:
            if frozen.tuned_on is not None and frozen.tuned_on not in names:
                raise ValueError(f"{frozen.name}: tuned_on = {frozen.tuned_on!r}, expected an environment")
        return self

    @cached_property
    def by_name(self) -> dict[str, Frozen]:
        return {one.name: one for one in self.environments}


class Choice(Strict):
    """Which part of the suite a configuration asks for."""

    file: str = Field(default=str(FILE), min_length=1, description="Its environments, learners and hypotheses.")
    environments: list[str] | None = Field(default=None, description="Some of them; without: all.")
    instances: Number | None = Field(default=None, description="So many of the reporting instances; without: all.")
    seeds: Number | None = Field(default=None, description="So many of its seeds; without: all.")
    learners: list[str] = Field(default=[], description="Besides those of the file, such as plug-ins.")
    frames: Frames | None = Field(default=None, description="As of a tuning, in place of what holds for all tunings.")
    setting: str | None = Field(default=None, description="Of learners with factors; without: that of the file.")


def load(file: Path) -> Suite:
    try:
        return TypeAdapter(Suite).validate_python(yaml.safe_load(file.read_text(encoding="utf-8")))
    except OSError as error:
        raise Unacceptable(f"{file} cannot be read: {error}") from None
    except yaml.YAMLError as error:
        raise Unacceptable(f"{file} is not YAML: {error}") from None
    except ValidationError as error:
        raise Unacceptable(f"{file}: {error}") from None


def fingerprint(env: DriftingCMDP) -> str:
    """A hash of all that makes the path: anchors, knots, route and rho."""
    content = hashlib.sha256(f"{env.episodes} {env.H} {env.rho:.{DIGITS}f}".encode())
    for whole in (env.knots, env.route, env.successors.astype(np.int64)):
        content.update(np.ascontiguousarray(whole).tobytes())
    paid = [part for anchor in env.anchors for part in (anchor.reward_of, anchor.utility_of)]
    for part in (env.mu0, env.probability, *paid, *([] if env.features is None else [env.features])):
        content.update(np.ascontiguousarray(np.round(part, DIGITS) + 0.0).tobytes())
    return content.hexdigest()[:16]


def with_suite(raw: Any) -> Any:
    """A raw configuration with the experiments and tunings of the suite that it asks for.

    One that was noted by a run has them already.
    """
    if not isinstance(raw, dict) or raw.get("suite") is None:
        return raw
    experiments, tunings = (raw.get(key) or [] for key in ("experiments", "tunings"))
    if not isinstance(experiments, list) or not isinstance(tunings, list):
        return raw  # which is refused
    if any(isinstance(one, dict) and one.get("role") == ROLE for one in experiments):
        return raw
    chosen = _choice(raw["suite"])
    suite = load(Path(chosen.file))
    made = Made(suite, chosen)
    return raw | {"experiments": [*experiments, *made.experiments], "tunings": [*tunings, *made.tunings]}


def _choice(raw: Any) -> Choice:
    try:
        return Choice.model_validate(raw)
    except ValidationError as error:
        problem, _ = errors.foremost(error, Choice)
        where = ".".join(filter(None, ("suite", problem.key)))
        raise Unacceptable(f"config: {where} = {problem.value}: {problem.message}") from None


class Made:
    """The experiments and tunings of a choice, as the configuration writes them."""

    def __init__(self, suite: Suite, choice: Choice) -> None:
        self.suite, self.choice = suite, choice
        self.setting = choice.setting or suite.setting
        names = choice.environments or list(suite.by_name)
        _known("config: suite.environments", names, list(suite.by_name), "environment")
        _known("config: suite.learners", choice.learners, algorithms.NAMES, "algorithm")
        listed = [*suite.learners, *suite.references, *(name for one in suite.environments for name in one.also)]
        _known(choice.file, listed, algorithms.NAMES, "algorithm")
        self.environments = [suite.by_name[name] for name in names]

    @property
    def experiments(self) -> list[dict[str, Any]]:
        return [self._experiment(one) for one in self.environments]

    @property
    def tunings(self) -> list[dict[str, Any]]:
        """One for each environment on which constants are chosen for some algorithm."""
        made = []
        for name in dict.fromkeys(one.tuned_on or one.name for one in self.environments):
            here = self.suite.by_name[name]
            users = [one for one in self.environments if (one.tuned_on or one.name) == name]
            tuned = dict.fromkeys(learner for one in users for learner in self.learners(one) if self._is_tuned(learner))
            if tuned:
                made.append(self._tuning(here, list(tuned)))
        return made

    def learners(self, one: Frozen) -> list[str]:
        named = [*self.suite.learners, *self.choice.learners, *one.also, *self.suite.references]
        return [name for name in dict.fromkeys(named) if name not in one.without]

    def _is_tuned(self, name: str) -> bool:
        """Plug-ins have no recorded searches, and references nothing that a search should decide."""
        listed = name in self.suite.learners or any(name in one.also for one in self.suite.environments)
        return self.setting == TUNED and listed and bool(algorithms.ranges(name))

    def _experiment(self, one: Frozen) -> dict[str, Any]:
        names = self.learners(one)
        tuned = [name for name in names if self._is_tuned(name)]
        choices = ["main", *(f"search_{number}" for number in range(self.suite.effort.searches))]
        return {
            "name": one.experiment,
            "role": ROLE,
            "environment": one.environment,
            "readings": [{"seed": seed} for seed in self.suite.instances[: self.choice.instances]],
            "episodes": [one.episodes],
            "seeds": min(self.suite.seeds, self.choice.seeds or self.suite.seeds),
            "first_seed": self.suite.first_seed,
            "evaluate_every": one.evaluate_every,
            "windows": 1,
            "tuning": one.tuning(self.choice.frames) if tuned else None,
            "learners": [
                {"algorithm": name, "setting": _untuned(name), "label": name} for name in names if name not in tuned
            ],
            "sweeps": [
                {"learner": {"algorithm": name, "setting": TUNED}, "over": {"choice": choices}} for name in tuned
            ],
        }

    def _tuning(self, one: Frozen, tuned: list[str]) -> dict[str, Any]:
        return {
            "name": one.tuning(self.choice.frames),
            "environment": {**one.environment, "seed": self.suite.tuning_instance},
            "episodes": one.episodes,
            "evaluate_every": 2 * one.evaluate_every,
            "strict": one.strict,
            "algorithms": tuned,
            **({"frames": self.choice.frames} if self.choice.frames else {}),
            **self.suite.effort.model_dump(),
        }


def _known(where: str, names: Sequence[str], known: Sequence[str], what: str) -> None:
    for name in names:
        if name not in known:
            raise Unacceptable(f"{where}: " + unknown(name, known, f"unknown {what} {name!r}"))


def _untuned(name: str) -> str:
    """The setting of a learner that is not tuned."""
    offered = algorithms.settings(name)
    return "scaled" if "scaled" in offered else offered[0]
