"""The configuration: what config.yaml may say."""

import json
from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, Field, ValidationError, field_validator, model_validator
from pydantic.json_schema import GenerateJsonSchema

from nscmdp import algorithms
from nscmdp.environments import BUDGET_OPTIONS
from nscmdp.study import errors
from nscmdp.study.catalogue import ROLES
from nscmdp.study.errors import Unacceptable
from nscmdp.study.models import ENVIRONMENTS, TUNED, Environment, Learner, NotRepeated, Seed, Strict, Sweep
from nscmdp.study.models import LEARNERS as LEARNERS

STUDY = r"^[A-Za-z0-9_][A-Za-z0-9_,=-]*$"  # the name of a folder that lies beside tables: it must not look like one
FOLDER = r"^[^{}\x00-\x1f-][^{}\x00-\x1f]*$"  # braces are Snakemake's, and no path begins like an option
WIDTH = 120  # of a line of the exported schema

Episodes = Annotated[int, Field(ge=1, le=10**9)]
Number = Annotated[int, Field(ge=1, le=1_000_000)]
if TYPE_CHECKING:
    Role = str
    Algorithm = str
else:
    Role = Literal[tuple(ROLES)]
    Algorithm = Literal[algorithms.NAMES]


class Study(Strict):
    """An experiment or a tuning."""

    name: Annotated[str, NotRepeated] = Field(
        pattern=STUDY, max_length=100, description="Of its folders and of its rows in tables."
    )
    environment: Environment = Field(description="What is learnt.")
    evaluate_every: Episodes = Field(
        default=1, description="One policy of so many episodes is evaluated exactly, and stands for the others."
    )


class Experiment(Study):
    """One environment under some readings, at some budgets and numbers of episodes, several learners and seeds."""

    role: Role | None = Field(default=None, description="; ".join(f"{role}: {what}" for role, what in ROLES.items()))
    tuning: str | None = Field(default=None, description="Where learners of the setting tuned have their factors from.")
    readings: list[dict[str, Any]] = Field(
        default=[{}], min_length=1, description="Other options of the environment, one environment for each."
    )
    budgets: list[dict[str, Any]] = Field(
        default=[{}], min_length=1, description=f"Options that set the variation budget: {' or '.join(BUDGET_OPTIONS)}."
    )
    episodes: list[Episodes] = Field(min_length=1, description="K; readings, budgets and these are all crossed.")
    learners: list[Learner] = Field(default=[], description="Who learns.")
    sweeps: list[Sweep] = Field(default=[], description="More learners, many at a time.")
    seeds: Number | list[Seed] = Field(description="How many, from 0 on; or a list of them.")
    batch: Number | Literal["auto"] | None = Field(
        default=None, description="Seeds in one job, in place of what is said for all experiments."
    )
    windows: Number = Field(default=200, description="Means over so many stretches of a run are kept.")
    keep: Literal["episodes", "windows"] = Field(
        default="episodes", description="Beside the windows every evaluated episode, or the windows alone."
    )

    @field_validator("seeds")
    @classmethod
    def _seeds_are_distinct(cls, seeds: int | list[int]) -> int | list[int]:
        if isinstance(seeds, list) and (not seeds or len(set(seeds)) < len(seeds)):
            raise ValueError("seeds must be a number of at least 1, or a list of distinct whole numbers")
        return seeds

    @model_validator(mode="after")
    def _somebody_learns(self) -> "Experiment":
        if not self.all_learners:
            raise errors.below("learners", [], "expected at least one learner, here or in sweeps")
        return self

    @model_validator(mode="after")
    def _tuned_learners_name_their_tuning(self) -> "Experiment":
        if self.tuning is None and any(learner.setting == TUNED for learner in self.all_learners):
            raise errors.below("tuning", None, "a learner has the setting tuned, expected the name of a tuning")
        return self

    @model_validator(mode="after")
    def _windows_hold_every_episode(self) -> "Experiment":
        if self.keep == "windows" and self.evaluate_every > 1:
            needs = "expected 1, as keep: windows needs every episode"
            raise errors.below("evaluate_every", self.evaluate_every, needs)
        return self

    @model_validator(mode="after")
    def _names_are_distinct(self) -> "Experiment":
        units = [*(one.name for one in self.learners), *(sweep.name for sweep in self.sweeps)]
        for names in (units, [learner.name for learner in self.all_learners]):
            _distinct("learners", names, "; give each a label of its own")
        _distinct("episodes", self.episodes)
        _distinct("readings", [json.dumps(reading, sort_keys=True) for reading in self.readings])
        _distinct("budgets", [json.dumps(budget, sort_keys=True) for budget in self.budgets])
        return self

    @model_validator(mode="after")
    def _readings_and_budgets_are_options(self) -> "Experiment":
        for i, reading in enumerate(self.readings):
            for j, budget in enumerate(self.budgets):
                environment_options(self, {f"readings[{i}]": reading, f"budgets[{j}]": budget})
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


class Tuning(Study):
    """Where factors are chosen, for each of some algorithms: every one tries equally many candidates."""

    episodes: Episodes = Field(description="K, at which the choice is made.")
    checks: list[Episodes] = Field(
        default=[], description="Other numbers of episodes at which the choice is made too, to be compared."
    )
    algorithms: list[Algorithm] = Field(min_length=1, description="Whose factors are chosen.")

    @model_validator(mode="after")
    def _chosen_once(self) -> "Tuning":
        _distinct("checks", [self.episodes, *self.checks])
        _distinct("algorithms", self.algorithms)
        for name in self.algorithms:
            if not algorithms.module(name).RANGES:
                raise errors.below("algorithms", self.algorithms, f"{name} has no factors to choose")
        return self


class Effort(Strict):
    """How hard every tuning tries. All candidates are scored on the first seeds, the best of them on all."""

    candidates: Annotated[int, Field(ge=1, le=100_000)] = Field(
        default=64, description="Sets of factors that are tried."
    )
    seeds: Number = Field(default=10, description="That finalists are scored on.")
    first_seed: Seed = Field(default=10_000, description="Tuning seeds are this one and those after it.")
    screening_seeds: Number = Field(default=2, description="That all candidates are scored on: the first of the seeds.")
    finalists: Number = Field(default=8, description="The best candidates after screening.")

    @property
    def seed_list(self) -> list[int]:
        return list(range(self.first_seed, self.first_seed + self.seeds))

    @model_validator(mode="after")
    def _screening_is_part(self) -> "Effort":
        for part, whole in (("screening_seeds", self.seeds), ("finalists", self.candidates)):
            if getattr(self, part) > whole:
                of = "seeds" if part == "screening_seeds" else "candidates"
                raise errors.below(part, getattr(self, part), f"expected at most {of} = {whole}")
        return self


class Shown(Strict):
    """An environment to look at."""

    environment: Environment = Field(description="Which.")
    episodes: Episodes = Field(description="K.")

    @property
    def specification(self) -> dict[str, Any]:
        return {**self.environment.model_dump(mode="json", exclude_unset=True), "episodes": self.episodes}


class Config(Strict):
    """What is computed, and where it is kept."""

    results: str = Field(default="results", pattern=FOLDER, description="The folder of all results.")
    batch: Number | Literal["auto"] = Field(
        default=5,
        description="Seeds in one job; auto: as many as take about five minutes. Results do not depend on it.",
    )
    shown: list[Shown] = Field(default=[], description="Environments that notebooks/environments.ipynb draws.")
    effort: Effort = Field(default=Effort(), description="How hard every tuning tries.")
    tunings: list[Tuning] = Field(default=[], description="Where factors of the setting tuned are chosen.")
    experiments: list[Experiment] = Field(min_length=1, description="What is simulated.")

    @model_validator(mode="after")
    def _names_are_distinct(self) -> "Config":
        _distinct("experiments", [one.name for one in self.experiments])
        _distinct("experiments and tunings", [one.name for one in (*self.experiments, *self.tunings)])
        return self

    @model_validator(mode="after")
    def _tunings_serve(self) -> "Config":
        chosen = {tuning.name: tuning.algorithms for tuning in self.tunings}
        for number, experiment in enumerate(self.experiments):
            if experiment.tuning is None:
                continue
            key = f"experiments[{number}]"
            if experiment.tuning not in chosen:
                raise errors.below(f"{key}.tuning", experiment.tuning, errors.unknown(experiment.tuning, chosen))
            for learner in experiment.all_learners:
                if learner.setting == TUNED and learner.algorithm not in chosen[experiment.tuning]:
                    what = f"it chooses nothing for {learner.algorithm}"
                    raise errors.below(f"{key}.tuning", experiment.tuning, what)
            shared = set(experiment.seed_list) & set(self.effort.seed_list)
            if shared:
                what = f"{experiment.name} reports the seed {min(shared)}, which tuning uses"
                raise errors.below(f"{key}.seeds", experiment.seeds, what)
        return self


def _distinct(key: str, names: list[Any], hint: str = "") -> None:
    for name, number in Counter(names).items():
        if number > 1:
            raise errors.below(key, names, f"{name!r} stands there twice{hint}")


def parse(raw: Any, model: Any = Config) -> Any:
    """A whole configuration, or a part of one."""
    try:
        return model.model_validate_json(json.dumps(raw))
    except ValidationError as error:
        raise errors.explain(error, model) from None
    except (TypeError, ValueError, RecursionError) as error:
        raise Unacceptable(f"config: {error}: expected text, numbers, lists and mappings") from None


def environment_options(study: Study, replaced: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """All options of a study's environment, with some replaced, by the keys that replace them ("budgets[0]")."""
    model = ENVIRONMENTS[study.environment.name]
    given = study.environment.model_dump(mode="json")
    for key, options in replaced.items():
        _known_options(model, key, options)
        given |= options
        try:
            model.model_validate_json(json.dumps(given))
        except ValidationError as error:
            problem, _ = errors.foremost(error, model)
            raise errors.raised(problem._replace(key=f"{key}.{problem.key}".rstrip("."))) from None
    del given["name"]
    return given


def _known_options(model: type[BaseModel], key: str, options: dict[str, Any]) -> None:
    """Those of budgets set the variation budget, those of readings do not."""
    here, elsewhere = ("budgets", "readings") if key.startswith("budgets") else ("readings", "budgets")
    known: dict[str, list[str]] = {"budgets": [], "readings": []}
    for name in model.model_fields.keys() - {"name"}:
        known["budgets" if name in BUDGET_OPTIONS else "readings"].append(name)
    for name, value in options.items():
        if name not in known[here]:
            message = errors.unknown(name, sorted(known[here]), "unknown key")
            if name in known[elsewhere]:
                message = f"expected under {elsewhere}"
            raise errors.raised(errors.Problem(f"{key}.{name}", errors.shown(value), message, unknown=True))


class _Untitled(GenerateJsonSchema):
    def field_title_should_be_set(self, schema: Any) -> bool:
        """The title of a field would repeat its key."""
        return False


def schema() -> dict[str, Any]:
    return Config.model_json_schema(schema_generator=_Untitled)


def schema_text() -> str:
    """The schema as a file: what fits into a line stands in one."""
    return _folded(schema()) + "\n"


def _folded(value: Any, indent: str = "", used: int = 0) -> str:
    line = json.dumps(value)
    if not isinstance(value, dict | list) or len(indent) + used + len(line) < WIDTH:
        return line
    inner, lines, plain = indent + "  ", [""], False
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        name = f"{json.dumps(key)}: " if isinstance(value, dict) else ""
        text, was_plain = name + _folded(item, inner, len(name)), plain
        plain = not isinstance(item, dict | list)
        if plain and was_plain and len(inner) + len(lines[-1]) + len(text) + 2 < WIDTH:
            lines[-1] += f", {text}"
        else:
            lines.append(text)
    begin, end = "{}" if isinstance(value, dict) else "[]"
    body = ",\n".join(inner + text for text in lines[1:])
    return f"{begin}\n{body}\n{indent}{end}"
