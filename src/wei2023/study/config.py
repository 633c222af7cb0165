"""The configuration: what config.yaml may say."""

import json
from collections import Counter
from copy import copy
from functools import cache, cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    BaseModel,
    Field,
    ValidationError,
    create_model,
    field_validator,
    model_validator,
)
from pydantic.json_schema import GenerateJsonSchema

from nscmdp import algorithms, environments, plugins
from nscmdp.environments import BUDGET_OPTIONS
from wei2023.study import errors
from wei2023.study.catalogue import ROLES
from wei2023.study.errors import Unacceptable
from wei2023.study.models import (
    TUNED,
    Environment,
    Frames,
    Learner,
    NotRepeated,
    Seed,
    Strict,
    Sweep,
    environment_model,
    one_environment,
    one_learner,
)
from wei2023.study.protocols import Protocols, with_protocols
from wei2023.study.shorthand import written_out
from wei2023.study.suite import Choice, with_suite

STUDY = r"^[A-Za-z0-9_][A-Za-z0-9_,=-]*$"  # the name of a folder that lies beside tables: it must not look like one
FOLDER = (
    r"^[^{}\x00-\x1f-][^{}\x00-\x1f]*$"  # braces are Snakemake's, and no path begins like an option
)
WIDTH = 120  # of a line of the exported schema

Episodes = Annotated[int, Field(ge=1, le=10**9)]
Number = Annotated[int, Field(ge=1, le=1_000_000)]
if TYPE_CHECKING:
    Role = str
    Algorithm = str
else:
    Role = Literal[tuple(ROLES)]
    Algorithm = Literal[algorithms.OWN]


class Study(Strict):
    """An experiment or a tuning."""

    name: Annotated[str, NotRepeated] = Field(
        pattern=STUDY, max_length=100, description="Of its folders and of its rows in tables."
    )
    environment: Environment = Field(description="What is learnt.")
    evaluate_every: Episodes = Field(
        default=1,
        description="One policy of so many episodes is evaluated exactly, and stands for the others.",
    )


class Experiment(Study):
    """One environment under some readings, at some budgets and numbers of episodes, several learners and seeds."""

    role: Role | None = Field(
        default=None, description="; ".join(f"{role}: {what}" for role, what in ROLES.items())
    )
    tuning: str | None = Field(
        default=None, description="Where learners of the setting tuned have their factors from."
    )
    readings: list[dict[str, Any]] = Field(
        default=[{}],
        min_length=1,
        description="Other options of the environment, one environment for each.",
    )
    budgets: list[dict[str, Any]] = Field(
        default=[{}],
        min_length=1,
        description=f"Options that set the variation budget: {' or '.join(BUDGET_OPTIONS)}.",
    )
    episodes: list[Episodes] = Field(
        min_length=1, description="K; readings, budgets and these are all crossed."
    )
    learners: list[Learner] = Field(default=[], description="Who learns.")
    sweeps: list[Sweep] = Field(default=[], description="More learners, many at a time.")
    seeds: Number | list[Seed] = Field(
        description="How many, from first_seed on; or a list of them."
    )
    first_seed: Seed = Field(default=0, description="The first of so many seeds.")
    batch: Number | Literal["auto"] | None = Field(
        default=None, description="Seeds in one job, in place of what is said for all experiments."
    )
    windows: Number = Field(
        default=200, description="Means over so many stretches of a run are kept."
    )
    keep: Literal["episodes", "windows"] = Field(
        default="episodes",
        description="Beside the windows every evaluated episode, or the windows alone.",
    )
    watch: bool = Field(default=False, description="Show on the map what is learnt.")

    @field_validator("seeds")
    @classmethod
    def _seeds_are_distinct(cls, seeds: int | list[int]) -> int | list[int]:
        if isinstance(seeds, list) and (not seeds or len(set(seeds)) < len(seeds)):
            raise ValueError(
                "seeds must be a number of at least 1, or a list of distinct whole numbers"
            )
        return seeds

    @model_validator(mode="after")
    def _somebody_learns(self) -> "Experiment":
        if not self.all_learners:
            raise errors.below("learners", [], "expected at least one learner, here or in sweeps")
        return self

    @model_validator(mode="after")
    def _tuned_learners_name_their_tuning(self) -> "Experiment":
        if any(
            self.tuning_of(learner) is None
            for learner in self.all_learners
            if learner.setting == TUNED
        ):
            raise errors.below(
                "tuning", None, "a learner has the setting tuned, expected the name of a tuning"
            )
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

    def tuning_of(self, learner: Any) -> str | None:
        """Where a learner of the setting tuned has its factors from."""
        return learner.tuning or self.tuning

    @property
    def seed_list(self) -> list[int]:
        first = self.first_seed
        return list(range(first, first + self.seeds)) if isinstance(self.seeds, int) else self.seeds


class Tuning(Study):
    """Where factors are chosen, for each of some algorithms: every one is searched for equally hard."""

    episodes: Episodes = Field(description="K, at which the choice is made.")
    checks: list[Episodes] = Field(
        default=[],
        description="Other numbers of episodes at which the choice is made too, to be compared.",
    )
    algorithms: list[Algorithm] = Field(min_length=1, description="Whose factors are chosen.")
    objective: Literal["gap", "margin"] = Field(
        default="gap",
        description="gap: feasible first, then the least Lagrangian gap; margin: the widest smallest margin of what "
        "the paper's simulation says of Algorithm 1, whoever it is asked of.",
    )
    variants: dict[str, Any] = Field(default={}, description="Departures from the printed listing.")
    frames: Frames = Field(
        default=10.0,
        description="At least so many frames end within a run; 1: frames may be as long as the run.",
    )
    start: str | None = Field(
        default=None, description="Another tuning, from whose choices the searches begin."
    )
    strict: bool = Field(
        default=False,
        description="Half of the generations begin from the longest frames and the strictest dual that are admissible.",
    )
    population: Annotated[int, Field(ge=4, le=10_000)] | None = Field(
        default=None, description="Candidates of a generation, in place of what is said for all."
    )
    generations: Annotated[int, Field(ge=1, le=10_000)] | None = Field(
        default=None, description="Of one search, in place of what is said for all."
    )
    seeds: Number | None = Field(
        default=None,
        description="That a generation is scored on, in place of what is said for all.",
    )
    searches: Annotated[int, Field(ge=1, le=100)] | None = Field(
        default=None, description="Independent ones, in place of what is said for all."
    )

    @model_validator(mode="after")
    def _chosen_once(self) -> "Tuning":
        _distinct("checks", [self.episodes, *self.checks])
        _distinct("algorithms", self.algorithms)
        for name in self.algorithms:
            if not algorithms.ranges(name):
                raise errors.below(
                    "algorithms", self.algorithms, f"{name} has no factors to choose"
                )
        ignoring = [name for name in self.algorithms if not algorithms.constrained(name)]
        if self.objective == "margin" and ignoring:
            raise errors.below(
                "algorithms",
                self.algorithms,
                f"{ignoring[0]} ignores the constraint: it has no margin",
            )
        return self


class Effort(Strict):
    """How hard every learner is searched for. Search, selection and reporting use seeds of their own."""

    population: Annotated[int, Field(ge=4, le=10_000)] = Field(
        default=16, description="Candidates of a generation."
    )
    generations: Annotated[int, Field(ge=1, le=10_000)] = Field(
        default=32, description="Of one search."
    )
    searches: Annotated[int, Field(ge=1, le=100)] = Field(
        default=5, description="Independent ones, for their spread."
    )
    seeds: Number = Field(default=2, description="That a generation is scored on, of the pool.")
    pool: Number = Field(default=32, description="Search seeds, taken in turn by the generations.")
    first_seed: Seed = Field(
        default=10_000, description="Search seeds are this one and those after it."
    )
    selection_seeds: Number = Field(default=12, description="That candidates are chosen by.")
    first_selection_seed: Seed = Field(
        default=20_000, description="Selection seeds are this one and those after it."
    )

    @property
    def search_list(self) -> list[int]:
        return list(range(self.first_seed, self.first_seed + self.pool))

    @property
    def selection_list(self) -> list[int]:
        return list(
            range(self.first_selection_seed, self.first_selection_seed + self.selection_seeds)
        )

    @property
    def seed_list(self) -> list[int]:
        """All that tuning uses."""
        return [*self.search_list, *self.selection_list]

    @model_validator(mode="after")
    def _seeds_are_apart(self) -> "Effort":
        if self.seeds > self.pool:
            raise errors.below("seeds", self.seeds, f"expected at most pool = {self.pool}")
        shared = set(self.search_list) & set(self.selection_list)
        if shared:
            what = f"the search uses the seed {min(shared)} too"
            raise errors.below("first_selection_seed", self.first_selection_seed, what)
        return self


class Checks(Strict):
    """How hard the paper's claims are tried."""

    problems: Annotated[int, Field(ge=1, le=100_000)] = Field(
        default=40, description="Random problems that an exact statement is tried on."
    )
    samples: Annotated[int, Field(ge=2, le=10_000_000)] = Field(
        default=400, description="Runs that a statement on means or probabilities is tried on."
    )


class Shown(Strict):
    """An environment to look at."""

    environment: Environment = Field(description="Which.")
    episodes: Episodes = Field(description="K.")

    @property
    def specification(self) -> dict[str, Any]:
        return {
            **self.environment.model_dump(mode="json", exclude_unset=True),
            "episodes": self.episodes,
        }


class Config(Strict):
    """What is computed, and where it is kept."""

    results: str = Field(
        default="results", pattern=FOLDER, description="The folder of all results."
    )
    batch: Number | Literal["auto"] = Field(
        default=5,
        description="Seeds in one job; auto: as many as take about five minutes. Results do not depend on it.",
    )
    plugins: list[Annotated[str, Field(pattern=FOLDER)]] = Field(
        default=[], description="Files with algorithms and environments from outside the package."
    )
    shown: list[Shown] = Field(
        default=[], description="Environments that notebooks/environments.ipynb draws."
    )
    effort: Effort = Field(default=Effort(), description="How hard every tuning tries.")
    searches: str | None = Field(
        default=None,
        pattern=FOLDER,
        description="The folder where searches are recorded: what they kept is scored again. Without: they are run.",
    )
    tunings: list[Tuning] = Field(
        default=[], description="Where factors of the setting tuned are chosen."
    )
    protocols: Protocols | None = Field(
        default=None,
        description="The paper's simulation: its experiments join those that stand here.",
    )
    claims: Checks | None = Field(
        default=None, description="Check all claims of the paper; without, its simulation's alone."
    )
    suite: Choice | None = Field(
        default=None,
        description="A part of the suite: its experiments and tunings join those that stand here.",
    )
    experiments: list[Experiment] = Field(description="What is simulated.")

    @model_validator(mode="after")
    def _names_are_distinct(self) -> "Config":
        experiments, tunings = (
            [one.name for one in named] for named in (self.experiments, self.tunings)
        )
        _distinct("experiments", experiments)
        _distinct("experiments and tunings", [*experiments, *tunings])
        return self

    @model_validator(mode="after")
    def _tunings_serve(self) -> "Config":
        known = {tuning.name: tuning for tuning in self.tunings}
        self._starts_lead_somewhere()
        for number, experiment in enumerate(self.experiments):
            key = f"experiments[{number}]"
            tuned = [
                (one, str(experiment.tuning_of(one)))
                for one in experiment.all_learners
                if one.setting == TUNED
            ]
            for name in dict.fromkeys(
                [*filter(None, [experiment.tuning]), *(name for _, name in tuned)]
            ):
                if name not in known:
                    raise errors.below(f"{key}.tuning", name, errors.unknown(name, known))
            for learner, name in tuned:
                _chosen_where_asked(key, experiment, learner, known[name], self.effort)
            shared = set(experiment.seed_list) & set(self.effort.seed_list) if tuned else set()
            if shared:
                what = f"{experiment.name} reports the seed {min(shared)}, which tuning uses"
                raise errors.below(f"{key}.seeds", experiment.seeds, what)
        return self

    @model_validator(mode="after")
    def _tunings_have_room(self) -> "Config":
        for number, tuning in enumerate(self.tunings):
            generations = tuning.generations or self.effort.generations
            if tuning.strict and generations < 2:
                what = f"half of generations = {generations} begin elsewhere, expected at least 2"
                raise errors.below(f"tunings[{number}].strict", tuning.strict, what)
            if (tuning.seeds or 1) > self.effort.pool:
                what = f"expected at most effort.pool = {self.effort.pool}"
                raise errors.below(f"tunings[{number}].seeds", tuning.seeds, what)
        return self

    def _starts_lead_somewhere(self) -> None:
        """A tuning starts from one that stands before it and chooses for the same algorithms."""
        before: dict[str, list[str]] = {}
        for number, tuning in enumerate(self.tunings):
            if tuning.start is not None:
                key = f"tunings[{number}].start"
                if tuning.start not in before:
                    raise errors.below(
                        key, tuning.start, f"expected a tuning that stands before {tuning.name}"
                    )
                missing = [name for name in tuning.algorithms if name not in before[tuning.start]]
                if missing:
                    raise errors.below(key, tuning.start, f"it chooses nothing for {missing[0]}")
            before[tuning.name] = tuning.algorithms


def _chosen_where_asked(
    key: str, experiment: Experiment, learner: Any, tuning: Tuning, effort: Effort
) -> None:
    """Factors are chosen for the algorithm, at each number of episodes where that is asked for, by so many searches."""
    if learner.algorithm not in tuning.algorithms:
        raise errors.below(
            f"{key}.tuning", tuning.name, f"it chooses nothing for {learner.algorithm}"
        )
    missing = sorted({*experiment.episodes} - {tuning.episodes, *tuning.checks})
    if learner.tuned_at == "each" and missing:
        what = f"{learner.name} is tuned at each number of episodes, and {missing[0]} is not among its checks"
        raise errors.below(f"{key}.tuning", tuning.name, what)
    searches = tuning.searches or effort.searches
    if learner.choice != "main" and int(learner.choice.removeprefix("search_")) >= searches:
        raise errors.below(
            f"{key}.learners", learner.choice, f"there are {searches} searches, from 0"
        )


def _distinct(key: str, names: list[Any], hint: str = "") -> None:
    for name, number in Counter(names).items():
        if number > 1:
            raise errors.below(key, names, f"{name!r} stands there twice{hint}")


def parse(raw: Any, part: str = "Config") -> Any:
    """A whole configuration, or a part of one, with the plug-ins that it names."""
    _load_plugins(raw)
    if part == "Config":
        raw = with_suite(with_protocols(written_out(raw)))
    model = extended(plugins.names("algorithms"), plugins.names("environments"))[part]
    try:
        return model.model_validate_json(json.dumps(raw))
    except ValidationError as error:
        raise errors.explain(error, model) from None
    except (TypeError, ValueError, RecursionError) as error:
        raise Unacceptable(f"config: {error}: expected text, numbers, lists and mappings") from None


def _load_plugins(raw: Any) -> None:
    named = raw.get("plugins", []) if isinstance(raw, dict) else []
    if isinstance(named, list) and all(isinstance(one, str) for one in named):
        try:
            plugins.load(named)
        except plugins.Unusable as error:
            raise Unacceptable(f"config: plugins: {error}") from None


@cache
def extended(learners: tuple[str, ...], worlds: tuple[str, ...]) -> dict[str, type[BaseModel]]:
    """The models of a configuration by name, with plug-ins among the algorithms and environments."""
    if not learners and not worlds:
        return {"Config": Config, "Shown": Shown}
    names = (*algorithms.OWN, *learners)
    learner = one_learner(names)
    environment = one_environment((*environments.OWN, *worlds))
    sweep = type("Sweep", (Sweep,), {"kinds": learner})
    learners_given: Any = {"learners": list[learner], "sweeps": list[sweep]}  # type: ignore[valid-type]
    experiment: Any = _with_types(Experiment, environment=environment, **learners_given)
    chosen_for: Any = list[Literal[names]]  # type: ignore[valid-type]
    tuning: Any = _with_types(Tuning, environment=environment, algorithms=chosen_for)
    shown: Any = _with_types(Shown, environment=environment)
    lists: Any = {"shown": list[shown], "tunings": list[tuning], "experiments": list[experiment]}
    whole = _with_types(Config, **lists)
    return {"Config": whole, "Shown": shown}


def _with_types(model: type[BaseModel], **types: Any) -> type[BaseModel]:
    fields: dict[str, Any] = {
        name: (kind, copy(model.model_fields[name])) for name, kind in types.items()
    }
    return create_model(model.__name__, __base__=model, __doc__=model.__doc__, **fields)


def environment_options(study: Study, replaced: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """All options of a study's environment, with some replaced, by the keys that replace them ("budgets[0]")."""
    model = environment_model(study.environment.name)
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
    here, elsewhere = (
        ("budgets", "readings") if key.startswith("budgets") else ("readings", "budgets")
    )
    known: dict[str, list[str]] = {"budgets": [], "readings": []}
    for name in model.model_fields.keys() - {"name"}:
        known["budgets" if name in BUDGET_OPTIONS else "readings"].append(name)
    for name, value in options.items():
        if name not in known[here]:
            message = errors.unknown(name, sorted(known[here]), "unknown key")
            if name in known[elsewhere]:
                message = f"expected under {elsewhere}"
            raise errors.raised(
                errors.Problem(f"{key}.{name}", errors.shown(value), message, unknown=True)
            )


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
