"""Environments, learners and sweeps as the configuration writes them.

Options of an environment and factors of an algorithm are declared once, in their own files; the models here are made
from those declarations, so a new environment or algorithm is configurable as soon as its file exists, or as soon as its
plug-in is loaded.
"""

import inspect
import itertools
import json
import math
import re
from collections.abc import Iterable
from functools import cache, cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Union

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    create_model,
    model_validator,
)

from nscmdp import algorithms, environments
from wei2023.study import errors

TUNED = "tuned"  # the setting "scaled" with the factors that a tuning chose
OF_TUNED = {"choice", "tuned_at", "tuning"}
BELONGS = {"scaled": "factors", TUNED: "times"}
NAME = r"^[A-Za-z0-9_][A-Za-z0-9_.,=-]*$"
REPEATED = re.compile(r"(.+)\1{19}$")  # Snakemake takes it for a rule that feeds itself
LOOP = "it ends in twenty times the same, expected a name that Snakemake can tell from a loop"


def _not_repeated(name: str) -> str:
    if REPEATED.search(name):
        raise ValueError(LOOP)
    return name


NotRepeated = AfterValidator(_not_repeated)

# Beyond these nothing is meant that could be run.
MOST_ENTRIES = 20_000_000  # H S A successors of a model, of about 400 bytes each
MOST_LEARNERS = 1000  # of a sweep
Seed = Annotated[int, Field(ge=0, le=2**62)]
Frames = Annotated[float, Field(ge=1, le=1e6)]  # the least number of them that end within a run
Factor = Annotated[float, Field(ge=0, le=1e9)]
Multiple = Annotated[float, Field(ge=1e-9, le=1e9)]
Label = Annotated[str, NotRepeated, Field(pattern=NAME, max_length=200)]
Constants = dict[str, Factor | str]
Search = Annotated[str, Field(pattern=r"^(main|search_[0-9]+)$")]
Swept = dict[str, Annotated[list[Any], Field(min_length=1)]]
OPTIONS = {int: Annotated[int, Field(le=100_000)], float: Annotated[float, Field(ge=-1e5, le=1e5)]}


class Strict(BaseModel):
    """A part of the configuration."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, strict=True, frozen=True)


def about(text: str, *default: Any, **rules: Any) -> Any:
    """A field with its description in the schema; without a default it has to be given."""
    return Field(*default, description=text, **rules)


class Sized(Strict):
    """An environment whose tables can be held."""

    @model_validator(mode="after")
    def _can_be_held(self) -> "Sized":
        """A map whose size is not given is taken to be as large as the authors'."""
        given = self.model_dump()
        states = max(1, given.get("states", (given.get("size") or 18) ** 2))
        successors = max(min(given.get("branching", 4), states), given.get("dimension", 1))
        entries = given.get("horizon", 1) * states * given.get("actions", 4) * successors
        if entries > MOST_ENTRIES:
            needs = f"horizon x states x actions x successors of at most {MOST_ENTRIES:,}"
            raise ValueError(f"too large: expected {needs}, not {entries:,}")
        return self


@cache
def environment_model(name: str) -> type[BaseModel]:
    """The options of an environment, from the keywords of the function that makes it."""
    options: dict[str, Any] = {"name": (Literal[name], Field(description="Which environment."))}
    options |= {
        p.name: (Seed if p.name == "seed" else OPTIONS.get(p.annotation, p.annotation), p.default)
        for p in inspect.signature(environments.maker(name)).parameters.values()
        if p.kind is p.KEYWORD_ONLY
    }
    about = f"Options of {name}: see src/nscmdp/environments/{name}.py."
    return create_model(name, __base__=Sized, __doc__=about, **options)


class LearnerBase(Strict):
    label: Label | None = about("Its name in results, in place of algorithm.setting.", None)
    assumed_budget: Multiple = about("The multiple of the true budget that it assumes.", 1.0)
    assumed_for: Literal["all", "frame"] = about("By all constants, or the frame alone.", "all")
    constants: Constants = about("In place of the setting's: numbers, or names of settings.", {})
    choice: Search = about("For the setting tuned: the best of all searches, or of one.", "main")
    tuned_at: Literal["once", "each", "kept", "scaled"] = about(
        "For the setting tuned: factors chosen at the tuning's K, or at each; kept: the numbers that"
        " factors make where the tuning is; scaled: those that they would make there at the run's K.",
        "once",
    )
    tuning: str | None = about("For the setting tuned: in place of the experiment's.", None)

    if TYPE_CHECKING:  # fields of every learner's own model
        algorithm: str
        setting: str
        variants: Any

    @property
    def name(self) -> str:
        """What the learner is called in results: its label, or algorithm.setting."""
        return self.label or f"{self.algorithm}.{self.setting}"

    @property
    def specification(self) -> dict[str, Any]:
        """What decides the learner; factors count in the setting "scaled" alone, times in "tuned"."""
        unused = {"label", "factors", "times", *OF_TUNED} - {BELONGS.get(self.setting)}
        if self.setting == TUNED:
            unused -= OF_TUNED
        return self.model_dump(mode="json", exclude=unused)

    @model_validator(mode="after")
    def _constants_belong_to_their_setting(self) -> "LearnerBase":
        for setting, given in BELONGS.items():
            if getattr(self, given).model_fields_set and self.setting != setting:
                found = getattr(self, given).model_dump(exclude_unset=True)
                raise errors.below(given, found, f"{given} belong to the setting {setting!r}")
        for given in sorted(OF_TUNED & self.model_fields_set):
            if self.setting != TUNED:
                what = f"{given} belongs to the setting {TUNED!r}"
                raise errors.below(given, getattr(self, given), what)
        return self


@cache
def learner_model(name: str) -> type[BaseModel]:
    """The keys of a learner, with the factors and variants that its algorithm declares."""

    def options(kind: str, about: str, fields: dict[str, Any], says: str) -> Any:
        about = f"{about} of {name}: see src/nscmdp/algorithms/{name}.py."
        model = create_model(f"{name}_{kind}", __base__=Strict, __doc__=about, **fields)
        return model, Field(default=model(), description=says)

    declared = inspect.signature(algorithms.variants(name)).parameters.values()
    factors = {key: (Factor, one.default) for key, one in algorithms.factors(name).items()}
    times = dict.fromkeys(algorithms.ranges(name), (Multiple, 1.0))
    variants = {
        p.name: (Factor if p.annotation is float else p.annotation, p.default) for p in declared
    }
    setting = Literal[*algorithms.settings(name), TUNED]  # type: ignore[valid-type]
    constants = (
        "Its constants: as printed, those of the authors' code, scaled by factors, or tuned."
    )
    scaled, tuned = (
        "For the setting scaled: what stands in for constants.",
        "For the setting tuned: ",
    )
    fields: dict[str, Any] = {
        "algorithm": (Literal[name], Field(description="Which algorithm.")),
        "setting": (setting, Field(description=constants)),
        "factors": options("factors", "Factors", factors, scaled),
        "times": options(
            "times",
            "Multiples of the tuned factors",
            times,
            f"{tuned}multiples of the chosen factors.",
        ),
        "variants": options(
            "variants", "Variants", variants, "Departures from the printed listing."
        ),
    }
    about = f"{algorithms.title(name)}: see src/nscmdp/algorithms/{name}.py."
    return create_model(name, __base__=LearnerBase, __doc__=about, **fields)


def one_environment(names: Iterable[str]) -> Any:
    """The type of any of these."""
    return Annotated[Union[tuple(map(environment_model, names))], Field(discriminator="name")]  # noqa: UP007


def one_learner(names: Iterable[str]) -> Any:
    return Annotated[Union[tuple(map(learner_model, names))], Field(discriminator="algorithm")]  # noqa: UP007


if TYPE_CHECKING:
    Environment = Any
    Learner = Any
else:
    Environment = one_environment(environments.OWN)
    Learner = one_learner(algorithms.OWN)


class Sweep(Strict):
    """One learner many times. Each is called LABEL.KEY=VALUE,..., or by its algorithm where there is no label."""

    kinds: ClassVar[Any] = Learner

    learner: dict[str, Any] = about("The learner, but for what is swept.")
    over: Swept = about(
        "Keys of the learner, such as variants.reset, and their values.", min_length=1
    )
    crossed: bool = about("Every combination of values; or each key by itself.", True)

    @property
    def name(self) -> str:
        return str(self.learner.get("label") or self.learner.get("algorithm"))

    @cached_property
    def learners(self) -> list[Any]:
        if not self.crossed:
            return [self._with({key: one}) for key, tried in self.over.items() for one in tried]
        combinations = itertools.product(*self.over.values())
        return [self._with(dict(zip(self.over, one, strict=True))) for one in combinations]

    @model_validator(mode="after")
    def _learners_can_be_made(self) -> "Sweep":
        lengths = [len(tried) for tried in self.over.values()]
        number = math.prod(lengths) if self.crossed else sum(lengths)
        if number > MOST_LEARNERS:
            what = f"{number:,} learners, expected at most {MOST_LEARNERS:,}"
            raise errors.below("over", self.over, what)
        _ = self.learners
        if REPEATED.search(self.name):  # it names a folder, as those of its learners do not
            raise errors.below("learner.label", self.name, LOOP)
        return self

    def _with(self, options: dict[str, Any]) -> Any:
        given = json.loads(json.dumps(self.learner))
        for key, value in options.items():
            *parents, last = key.split(".")
            place = given
            for parent in parents:
                place = place.setdefault(parent, {})
                if not isinstance(place, dict):
                    found = f"unknown key: {parent} is {errors.shown(place)}, which has none"
                    problem = errors.Problem(f"over.{key}", errors.shown(value), found, True)
                    raise errors.raised(problem)
            place[last] = value
        if self.learner.get("label") or [*options] != [
            "setting"
        ]:  # else: as one by itself is called
            values = ",".join(f"{key.rpartition('.')[2]}={value}" for key, value in options.items())
            given["label"] = f"{self.name}.{values}"
        try:
            return _adapter(self.kinds).validate_json(json.dumps(given))
        except ValidationError as error:
            problem = errors.foremost(error, given, self.kinds)
            if problem.key == "label" and "label" in given:
                what = f"a learner would be called {given['label']}: {problem.message}"
                raise errors.below("over", options, what) from None
            swept = any(f"{problem.key}.".startswith(f"{key}.") for key in options)
            raise errors.raised(problem.below("over" if swept else "learner")) from None


@cache
def _adapter(kinds: Any) -> TypeAdapter:
    return TypeAdapter(kinds)
