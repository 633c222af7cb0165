"""The configuration: what config.yaml may say.

Options of an environment and factors of an algorithm are declared once, in their own files; the models here are made
from those declarations, so a new environment or algorithm is configurable as soon as its file exists.
"""

import inspect
import itertools
import json
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    create_model,
    field_validator,
    model_validator,
)

from nscmdp import algorithms, environments
from nscmdp.study.catalogue import ROLES

TUNED = "tuned"  # the setting "scaled" with the factors that a tuning chose
STRICT = ConfigDict(extra="forbid", allow_inf_nan=False, strict=True, frozen=True)
BELONGS = {"scaled": "factors", TUNED: "times"}
NAME = r"^[A-Za-z0-9_][A-Za-z0-9_.,=-]*$"
FOLDER = r"^[^{}\x00-\x1f-][^{}\x00-\x1f]*$"  # braces are Snakemake's, and no path begins like an option


class Strict(BaseModel):
    model_config = STRICT


def _environment_model(name: str) -> type[BaseModel]:
    options = {
        p.name: (p.annotation, p.default)
        for p in inspect.signature(environments.maker(name)).parameters.values()
        if p.kind is p.KEYWORD_ONLY
    }
    return create_model(name, __config__=STRICT, name=(Literal[name], ...), **options)  # type: ignore[call-overload]


def _options_model(declared: type, title: str) -> type[BaseModel]:
    """The dataclass of an algorithm's factors or variants as a model."""
    options = {p.name: (p.annotation, p.default) for p in inspect.signature(declared).parameters.values()}
    return create_model(title, __config__=STRICT, **options)  # type: ignore[call-overload]


def _times_model(name: str) -> type[BaseModel]:
    """Multiples of the factors that tuning chooses."""
    multiples = {factor: (Annotated[float, Field(gt=0)], 1.0) for factor in algorithms.module(name).RANGES}
    return create_model(f"{name}_times", __config__=STRICT, **multiples)  # type: ignore[call-overload]


def _learner_model(name: str) -> type[BaseModel]:
    algorithm = algorithms.module(name)
    factors = _options_model(algorithm.Factors, f"{name}_factors")
    variants = _options_model(algorithm.Variants, f"{name}_variants")
    fields: dict[str, Any] = {
        "algorithm": (Literal[name], ...),
        "setting": (Literal[*algorithm.SETTINGS, TUNED], ...),
        "factors": (factors, factors()),
        "times": (_times_model(name), _times_model(name)()),
        "variants": (variants, variants()),
    }
    return create_model(name, __base__=LearnerBase, **fields)


class LearnerBase(Strict):
    label: Annotated[str, Field(pattern=NAME)] | None = None
    assumed_budget: Annotated[float, Field(gt=0)] = 1.0  # the multiple of the true budget that it assumes ...
    assumed_for: Literal["all", "frame"] = "all"  # ... for all its constants, or for its frame alone

    @property
    def name(self) -> str:
        """What the learner is called in results: its label, or algorithm.setting."""
        return self.label or f"{self.algorithm}.{self.setting}"  # type: ignore[attr-defined]

    @property
    def specification(self) -> dict[str, Any]:
        """What decides the learner; factors count in the setting "scaled" alone, times in "tuned"."""
        unused = {"label", "factors", "times"} - {BELONGS.get(self.setting)}  # type: ignore[attr-defined]
        return self.model_dump(mode="json", exclude=unused)

    @model_validator(mode="after")
    def _constants_belong_to_their_setting(self) -> "LearnerBase":
        for setting, given in BELONGS.items():
            if getattr(self, given).model_fields_set and self.setting != setting:  # type: ignore[attr-defined]
                raise ValueError(f"{given} belong to the setting {setting!r}")
        return self


ENVIRONMENTS = {name: _environment_model(name) for name in environments.NAMES}
LEARNERS = {name: _learner_model(name) for name in algorithms.NAMES}
if TYPE_CHECKING:
    Environment = Any
    Learner = Any
else:
    Environment = Annotated[Union[tuple(ENVIRONMENTS.values())], Field(discriminator="name")]  # noqa: UP007
    Learner = Annotated[Union[tuple(LEARNERS.values())], Field(discriminator="algorithm")]  # noqa: UP007
LEARNER: TypeAdapter = TypeAdapter(Learner)
Positive = Annotated[int, Field(ge=1)]


Role = Literal[tuple(ROLES)]  # type: ignore[valid-type]


class Sweep(Strict):
    """One learner many times, with other values at some of its keys, such as "setting" or "variants.reset".

    Each is called LABEL.KEY=VALUE,..., or by its algorithm where there is no label.
    """

    learner: dict[str, Any]
    over: Annotated[dict[str, Annotated[list[Any], Field(min_length=1)]], Field(min_length=1)]
    crossed: bool = True  # every combination; or each key by itself, the others left as they are

    @property
    def name(self) -> str:
        return str(self.learner.get("label") or self.learner.get("algorithm"))

    @property
    def learners(self) -> list[Any]:
        keys, values = list(self.over), list(self.over.values())
        if self.crossed:
            chosen = [dict(zip(keys, combination, strict=True)) for combination in itertools.product(*values)]
        else:
            chosen = [{key: value} for key, tried in self.over.items() for value in tried]
        return [self._with(options) for options in chosen]

    def _with(self, options: dict[str, Any]) -> Any:
        given = json.loads(json.dumps(self.learner))
        for key, value in options.items():
            *parents, last = key.split(".")
            place = given
            for parent in parents:
                place = place.setdefault(parent, {})
            place[last] = value
        if self.learner.get("label") or list(options) != ["setting"]:  # else: as one by itself would be called
            values = ",".join(f"{key.rpartition('.')[2]}={value}" for key, value in options.items())
            given["label"] = f"{self.name}.{values}"
        try:
            return LEARNER.validate_json(json.dumps(given))
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(str(part) for part in first["loc"][1:])
            raise ValueError(f"the sweep of {self.name}: {key} = {first['input']!r}: {first['msg']}") from None


class Experiment(Strict):
    """One environment at some budgets and numbers of episodes, several learners, several seeds."""

    name: Annotated[str, Field(pattern=NAME)]
    role: Role | None = None  # what a notebook draws it as
    tuning: str | None = None  # where learners of the setting "tuned" have their factors from
    environment: Environment
    readings: Annotated[list[dict[str, Any]], Field(min_length=1)] = [{}]  # options of the environment
    budgets: Annotated[list[dict[str, Any]], Field(min_length=1)] = [{}]  # options that set the variation budget
    episodes: Annotated[list[Positive], Field(min_length=1)]
    learners: list[Learner] = []
    sweeps: list[Sweep] = []  # more learners
    seeds: Positive | list[Annotated[int, Field(ge=0)]]  # how many, from 0 on; or which
    batch: Positive | Literal["auto"] | None = None  # seeds in one job, instead of what is said for all experiments
    evaluate_every: Positive = 1
    windows: Positive = 200  # means over so many stretches of a run are kept ...
    keep: Literal["episodes", "windows"] = "episodes"  # ... beside every evaluated episode, or instead

    @field_validator("seeds")
    @classmethod
    def _seeds_are_distinct(cls, seeds: int | list[int]) -> int | list[int]:
        if isinstance(seeds, list) and (not seeds or len(set(seeds)) < len(seeds)):
            raise ValueError("seeds must be a number of at least 1, or a list of distinct whole numbers")
        return seeds

    @model_validator(mode="after")
    def _somebody_learns(self) -> "Experiment":
        if not self.all_learners:
            raise ValueError("learners and sweeps are empty: expected at least one learner")
        return self

    @model_validator(mode="after")
    def _tuned_learners_name_their_tuning(self) -> "Experiment":
        if self.tuning is None and any(learner.setting == TUNED for learner in self.all_learners):
            raise ValueError("a learner has the setting 'tuned', but the experiment names no tuning")
        return self

    @model_validator(mode="after")
    def _windows_hold_every_episode(self) -> "Experiment":
        if self.keep == "windows" and self.evaluate_every > 1:
            raise ValueError(f"keep: windows needs evaluate_every: 1, not {self.evaluate_every}")
        return self

    @model_validator(mode="after")
    def _names_are_distinct(self) -> "Experiment":
        chosen: list[tuple[str, list[Any]]] = [
            ("learners", [*(one.name for one in self.learners), *(sweep.name for sweep in self.sweeps)]),
            ("learners", [learner.name for learner in self.all_learners]),
            ("episodes", self.episodes),
            ("readings", [json.dumps(reading, sort_keys=True) for reading in self.readings]),
            ("budgets", [json.dumps(budget, sort_keys=True) for budget in self.budgets]),
        ]
        for key, names in chosen:
            twice = {name for name in names if names.count(name) > 1}
            if twice:
                hint = "; give each a label of its own" if key == "learners" else ""
                raise ValueError(f"{key} has {twice.pop()!r} twice{hint}")
        return self

    @cached_property
    def units(self) -> dict[str, list[Any]]:
        """The learners that one job simulates: one, or all of a sweep."""
        alone = {learner.name: [learner] for learner in self.learners}
        return alone | {sweep.name: sweep.learners for sweep in self.sweeps}

    @property
    def all_learners(self) -> list[Any]:
        return [learner for unit in self.units.values() for learner in unit]

    @property
    def seed_list(self) -> list[int]:
        return list(range(self.seeds)) if isinstance(self.seeds, int) else self.seeds


class Tuning(Strict):
    """Where factors are chosen, for each of some algorithms: every one tries equally many candidates."""

    name: Annotated[str, Field(pattern=NAME)]
    environment: Environment
    episodes: Positive
    checks: list[Positive] = []  # other numbers of episodes at which the choice is made too, to be compared
    algorithms: Annotated[list[Literal[algorithms.NAMES]], Field(min_length=1)]  # type: ignore[valid-type]
    evaluate_every: Positive = 1

    @field_validator("algorithms")
    @classmethod
    def _something_to_tune(cls, names: list[str]) -> list[str]:
        for name in names:
            if not algorithms.module(name).RANGES:
                raise ValueError(f"{name} has no factors to choose")
        return names


class Effort(Strict):
    """How hard every tuning tries. All candidates are scored on the first seeds, the best of them on all."""

    candidates: Positive = 64
    seeds: Positive = 10
    first_seed: Annotated[int, Field(ge=0)] = 10_000  # tuning seeds are first_seed, first_seed + 1, ...
    screening_seeds: Positive = 2
    finalists: Positive = 8

    @property
    def seed_list(self) -> list[int]:
        return list(range(self.first_seed, self.first_seed + self.seeds))

    @model_validator(mode="after")
    def _screening_is_part(self) -> "Effort":
        if self.screening_seeds > self.seeds or self.finalists > self.candidates:
            raise ValueError("expected screening_seeds of at most seeds and finalists of at most candidates")
        return self


class Shown(Strict):
    """An environment to look at."""

    environment: Environment
    episodes: Positive

    @property
    def specification(self) -> dict[str, Any]:
        return {**self.environment.model_dump(mode="json", exclude_unset=True), "episodes": self.episodes}


class Config(Strict):
    results: Annotated[str, Field(pattern=FOLDER)] = "results"
    batch: Positive | Literal["auto"] = 5  # seeds in one job; auto: as many as take about five minutes
    shown: list[Shown] = []  # what notebooks/environments.ipynb draws
    effort: Effort = Effort()
    tunings: list[Tuning] = []
    experiments: Annotated[list[Experiment], Field(min_length=1)]

    @model_validator(mode="after")
    def _tunings_serve(self) -> "Config":
        chosen = {tuning.name: tuning.algorithms for tuning in self.tunings}
        names = [*chosen, *(experiment.name for experiment in self.experiments)]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise ValueError(f"a tuning and something else are called {twice.pop()!r}")
        for experiment in self.experiments:
            if experiment.tuning not in (None, *chosen):
                known = ", ".join(chosen) or "none"
                raise ValueError(f"{experiment.name} has tuning = {experiment.tuning!r}, expected one of {known}")
            for learner in experiment.all_learners:
                if learner.setting == TUNED and learner.algorithm not in chosen[str(experiment.tuning)]:
                    raise ValueError(f"{experiment.tuning} chooses nothing for {learner.algorithm}")
            shared = set(experiment.seed_list) & set(self.effort.seed_list)
            if shared and experiment.tuning is not None:
                raise ValueError(f"{experiment.name} reports the seed {min(shared)}, which tuning uses")
        return self

    @field_validator("experiments")
    @classmethod
    def _names_are_distinct(cls, experiments: list[Experiment]) -> list[Experiment]:
        if sum(experiment.role == "assumed_budget" for experiment in experiments) > 1:
            raise ValueError("two experiments have the role 'assumed_budget'")
        names = [experiment.name for experiment in experiments]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise ValueError(f"two experiments are called {twice.pop()!r}")
        return experiments


ELEMENTS: dict[str, type[BaseModel]] = {
    "experiments": Experiment,
    "tunings": Tuning,
    "shown": Shown,
    "effort": Effort,
}


class Unacceptable(ValueError):
    """A configuration that cannot be run; the message names the key, the value and what would be accepted."""


def parse(raw: dict[str, Any]) -> Config:
    try:
        return Config.model_validate_json(json.dumps(raw))
    except TypeError as error:
        raise Unacceptable(f"config: {error}: expected text, numbers, lists and mappings") from None
    except ValidationError as error:
        raise Unacceptable(_explain(error)) from None


def environment_options(study: Experiment | Tuning, replaced: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """All options of a study's environment, with some replaced, by the keys that replace them ("budgets[0]")."""
    model = ENVIRONMENTS[study.environment.name]
    given = study.environment.model_dump(mode="json")
    for key, options in replaced.items():
        budget = key.startswith("budgets")
        for option in options:
            if option in model.model_fields and (option in environments.BUDGET_OPTIONS) != budget:
                expected = "readings" if budget else "budgets"
                raise Unacceptable(f"config: {study.name}.{key}.{option}: expected under {expected}")
        given |= options
        try:
            model.model_validate_json(json.dumps(given))
        except ValidationError as error:
            raise Unacceptable(_explain(error, f"{study.name}.{key}", model)) from None
    options = model.model_validate_json(json.dumps(given)).model_dump(mode="json")
    del options["name"]
    return options


def schema() -> dict[str, Any]:
    return Config.model_json_schema()


def _explain(error: ValidationError, prefix: str = "", model: type[BaseModel] = Config) -> str:
    problems = error.errors(include_url=False, include_context=True)
    first = problems[0]
    where = prefix + _key(first["loc"])
    message = first["msg"].removeprefix("Value error, ")
    message = message[0].lower() + message[1:]
    if first["type"] == "extra_forbidden":
        known = _known_keys(first["loc"], model)
        message = f"unknown key, expected one of {', '.join(known)}" if known else "unknown key, expected none"
    elif first["type"] == "missing":
        return f"config: {where.lstrip('.')} is missing"
    value = json.dumps(first["input"], default=str)
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    shown = value if len(value) < 120 else value[:117] + "..."
    return f"config: {where.lstrip('.')} = {shown}: {message}{more}"


def _key(loc: tuple[int | str, ...]) -> str:
    """experiments[0].environment.map, without the names of the models on the way."""
    parts = [part for i, part in enumerate(loc) if not _is_tag(loc, i)]
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)


def _is_tag(loc: tuple[int | str, ...], i: int) -> bool:
    tagged = i > 0 and (loc[i - 1] == "environment" or (i > 1 and loc[i - 2] == "learners"))
    by_type = i > 0 and loc[i - 1] in ("seeds", "batch")
    return tagged or (by_type and isinstance(loc[i], str))


def _known_keys(loc: tuple[int | str, ...], model: type[BaseModel]) -> list[str]:
    here: type[BaseModel] = model
    for i, part in enumerate(loc[:-1]):
        if part in ELEMENTS:
            here = ELEMENTS[str(part)]
        elif _is_tag(loc, i):
            here = (ENVIRONMENTS if loc[i - 1] == "environment" else LEARNERS)[str(part)]
        elif part in ("factors", "variants", "times"):
            here = here.model_fields[str(part)].annotation  # type: ignore[assignment]
    return list(here.model_fields)
