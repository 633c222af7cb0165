"""The configuration: what config.yaml may say, once its shorthand is written out."""

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

STUDY = r"^[A-Za-z0-9_][A-Za-z0-9_,=-]*$"  # a folder that lies beside tables must not look like one
FOLDER = r"^[^{}\x00-\x1f-][^{}\x00-\x1f]*$"  # braces are Snakemake's, no path looks like an option

Episodes = Annotated[int, Field(ge=1, le=10**9)]
Number = Annotated[int, Field(ge=1, le=1_000_000)]
Population = Annotated[int, Field(ge=4, le=10_000)]
Generations = Annotated[int, Field(ge=1, le=10_000)]
Independent = Annotated[int, Field(ge=1, le=100)]
Options = Annotated[list[dict[str, Any]], Field(min_length=1)]
if TYPE_CHECKING:
    Role = str
    Algorithm = str
else:
    Role = Literal[tuple(ROLES)]
    Algorithm = Literal[algorithms.OWN]


class Study(Strict):
    """An experiment or a tuning."""

    name: Annotated[str, NotRepeated] = Field(pattern=STUDY, max_length=100)
    """Names its folders and its rows in tables."""
    environment: Environment
    """What is learnt."""
    evaluate_every: Episodes = 1
    """One policy of so many episodes is evaluated exactly, and stands for the others."""


class Experiment(Study):
    """One environment under some readings, at some budgets and numbers of episodes, several learners and seeds."""

    role: Role | None = Field(None, description="; ".join(f"{k}: {v}" for k, v in ROLES.items()))
    tuning: str | None = None
    """Where learners of the setting tuned have their factors from."""
    readings: Options = Field([{}])
    """Other options of the environment, one environment for each."""
    budgets: Options = Field(
        [{}], description=f"Options that set the variation budget: {' or '.join(BUDGET_OPTIONS)}."
    )
    episodes: list[Episodes] = Field(min_length=1)
    """K; readings, budgets and these are all crossed."""
    learners: list[Learner] = Field([])
    """Who learns."""
    sweeps: list[Sweep] = Field([])
    """More learners, many at a time."""
    seeds: Number | list[Seed]
    """How many, from first_seed on; or a list of them."""
    first_seed: Seed = 0
    """The first of so many seeds."""
    batch: Number | Literal["auto"] | None = None
    """Seeds in one job, in place of what is said for all experiments."""
    windows: Number = 200
    """Means over so many stretches of a run are kept."""
    keep: Literal["episodes", "windows"] = "episodes"
    """Beside the windows every evaluated episode, or the windows alone."""
    watch: bool = False
    """Show on the map what is learnt."""

    @field_validator("seeds")
    @classmethod
    def _seeds_are_distinct(cls, seeds: int | list[int]) -> int | list[int]:
        if isinstance(seeds, list) and (not seeds or len(set(seeds)) < len(seeds)):
            raise ValueError("expected a number of at least 1, or a list of distinct whole numbers")
        return seeds

    @model_validator(mode="after")
    def _can_be_run(self) -> "Experiment":
        learners = self.all_learners
        if not learners:
            raise errors.below("learners", [], "expected at least one learner, here or in sweeps")
        if any(one.setting == TUNED and not self.tuning_of(one) for one in learners):
            what = "a learner has the setting tuned, expected the name of a tuning"
            raise errors.below("tuning", None, what)
        if self.keep == "windows" and self.evaluate_every > 1:
            needs = "expected 1, as keep: windows needs every episode"
            raise errors.below("evaluate_every", self.evaluate_every, needs)
        for names in ([one.name for one in (*self.learners, *self.sweeps)], learners):
            names = [getattr(one, "name", one) for one in names]
            _distinct("learners", names, "; give each a label of its own")
        _distinct("episodes", self.episodes)
        for key in ("readings", "budgets"):
            _distinct(key, [json.dumps(one, sort_keys=True) for one in getattr(self, key)])
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

    episodes: Episodes
    """K, at which the choice is made."""
    checks: list[Episodes] = Field([])
    """Other numbers of episodes at which the choice is made too, to be compared."""
    algorithms: list[Algorithm] = Field(min_length=1)
    """Whose factors are chosen."""
    objective: Literal["gap", "margin"] = "gap"
    """gap: feasible first, then the least Lagrangian gap; margin: the widest smallest margin of
    what the paper's simulation says of Algorithm 1, whoever it is asked of."""
    variants: dict[str, Any] = Field({})
    """Departures from the printed listing."""
    frames: Frames = 10.0
    """At least so many frames end within a run; 1: frames may be as long as the run."""
    start: str | None = None
    """Another tuning, from whose choices the searches begin."""
    strict: bool = False
    """Half of the generations begin from the longest frames and the strictest dual that are admissible."""
    population: Population | None = None
    """Candidates of a generation, in place of what is said for all."""
    generations: Generations | None = None
    """Of one search, in place of what is said for all."""
    seeds: Number | None = None
    """That a generation is scored on, in place of what is said for all."""
    searches: Independent | None = None
    """Independent ones, in place of what is said for all."""

    @model_validator(mode="after")
    def _chosen_once(self) -> "Tuning":
        _distinct("checks", [self.episodes, *self.checks])
        _distinct("algorithms", self.algorithms)
        for name in self.algorithms:
            ignored = self.objective == "margin" and not algorithms.constrained(name)
            if ignored or not algorithms.ranges(name):
                what = "ignores the constraint: it has no margin" if ignored else "has no factors"
                raise errors.below("algorithms", self.algorithms, f"{name} {what} to choose")
        return self


class Effort(Strict):
    """How hard every learner is searched for. Search, selection and reporting use seeds of their own."""

    population: Population = 16
    """Candidates of a generation."""
    generations: Generations = 32
    """Of one search."""
    searches: Independent = 5
    """Independent ones, for their spread."""
    seeds: Number = 2
    """That a generation is scored on, of the pool."""
    pool: Number = 32
    """Search seeds, taken in turn by the generations."""
    first_seed: Seed = 10_000
    """Search seeds are this one and those after it."""
    selection_seeds: Number = 12
    """That candidates are chosen by."""
    first_selection_seed: Seed = 20_000
    """Selection seeds are this one and those after it."""

    @property
    def search_list(self) -> list[int]:
        return list(range(self.first_seed, self.first_seed + self.pool))

    @property
    def selection_list(self) -> list[int]:
        first = self.first_selection_seed
        return list(range(first, first + self.selection_seeds))

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

    problems: Annotated[int, Field(ge=1, le=100_000)] = 40
    """Random problems that an exact statement is tried on."""
    samples: Annotated[int, Field(ge=2, le=10_000_000)] = 400
    """Runs that a statement on means or probabilities is tried on."""


class Shown(Strict):
    """An environment to look at."""

    environment: Environment
    """Which."""
    episodes: Episodes
    """K."""

    @property
    def specification(self) -> dict[str, Any]:
        options = self.environment.model_dump(mode="json", exclude_unset=True)
        return {**options, "episodes": self.episodes}


class Config(Strict):
    """What is computed, and where it is kept."""

    results: str = Field("results", pattern=FOLDER)
    """The folder of all results."""
    batch: Number | Literal["auto"] = 5
    """Seeds in one job; auto: as many as take about five minutes. Results do not depend on it."""
    plugins: list[Annotated[str, Field(pattern=FOLDER)]] = Field([])
    """Files with algorithms and environments from outside the package."""
    shown: list[Shown] = Field([])
    """Environments that notebooks/environments.ipynb draws."""
    effort: Effort = Effort()
    """How hard every tuning tries."""
    searches: str | None = Field(None, pattern=FOLDER)
    """The folder where searches are recorded: what they kept is scored again. Without: they are run."""
    tunings: list[Tuning] = Field([])
    """Where factors of the setting tuned are chosen; or a file of tunings that learners name."""
    protocols: Protocols | None = None
    """The paper's simulation: its experiments join those that stand here."""
    claims: Checks | None = None
    """Check all claims of the paper; without, its simulation's alone."""
    suite: Choice | None = None
    """A part of the suite: its experiments and tunings join those that stand here."""
    experiments: list[Experiment]
    """What is simulated; `study: NAME` is all that the file NAME.yaml of workflow/studies asks for."""

    @model_validator(mode="after")
    def _names_are_distinct(self) -> "Config":
        experiments = [one.name for one in self.experiments]
        _distinct("experiments", experiments)
        _distinct("experiments and tunings", experiments + [one.name for one in self.tunings])
        return self

    @model_validator(mode="after")
    def _tunings_can_be_made(self) -> "Config":
        before: dict[str, list[str]] = {}
        for number, tuning in enumerate(self.tunings):
            generations = tuning.generations or self.effort.generations
            algorithms_there, key = before.get(tuning.start or ""), f"tunings[{number}]"
            if tuning.start is not None and algorithms_there is None:
                what = f"expected a tuning that stands before {tuning.name}"
                raise errors.below(f"{key}.start", tuning.start, what)
            for name in tuning.algorithms if tuning.start is not None else []:
                if name not in (algorithms_there or []):
                    raise errors.below(
                        f"{key}.start", tuning.start, f"it chooses nothing for {name}"
                    )
            before[tuning.name] = tuning.algorithms
            if tuning.strict and generations < 2:
                what = f"half of generations = {generations} begin elsewhere, expected at least 2"
                raise errors.below(f"{key}.strict", tuning.strict, what)
            if (tuning.seeds or 1) > self.effort.pool:
                what = f"expected at most effort.pool = {self.effort.pool}"
                raise errors.below(f"{key}.seeds", tuning.seeds, what)
        return self

    @model_validator(mode="after")
    def _tunings_serve(self) -> "Config":
        """Factors are chosen for each algorithm, K and search that is asked for, on seeds that nothing reports."""
        known = {tuning.name: tuning for tuning in self.tunings}
        for number, experiment in enumerate(self.experiments):
            key = f"experiments[{number}]"
            tuned = [one for one in experiment.all_learners if one.setting == TUNED]
            for name in filter(None, (experiment.tuning, *map(experiment.tuning_of, tuned))):
                if name not in known:
                    raise errors.below(f"{key}.tuning", name, errors.unknown(name, known))
            for learner in tuned:
                tuning = known[str(experiment.tuning_of(learner))]
                missing = sorted({*experiment.episodes} - {tuning.episodes, *tuning.checks})
                searches = tuning.searches or self.effort.searches
                if learner.algorithm not in tuning.algorithms:
                    what = f"it chooses nothing for {learner.algorithm}"
                    raise errors.below(f"{key}.tuning", tuning.name, what)
                if learner.tuned_at == "each" and missing:
                    what = f"{learner.name} is tuned at each number of episodes, and {missing[0]}"
                    raise errors.below(f"{key}.tuning", tuning.name, f"{what} is not in its checks")
                if learner.choice not in ("main", *(f"search_{i}" for i in range(searches))):
                    what = f"there are {searches} searches, from 0"
                    raise errors.below(f"{key}.learners", learner.choice, what)
            shared = {*experiment.seed_list} & {*self.effort.seed_list} if tuned else set()
            if shared:
                what = f"{experiment.name} reports the seed {min(shared)}, which tuning uses"
                raise errors.below(f"{key}.seeds", experiment.seeds, what)
        return self


def _distinct(key: str, names: list[Any], hint: str = "") -> None:
    for name, number in Counter(names).items():
        if number > 1:
            raise errors.below(key, names, f"{name!r} stands there twice{hint}")


def parse(raw: Any, part: str = "Config") -> Any:
    """A whole configuration, or a part of one, with the plug-ins that it names."""
    named = raw.get("plugins", []) if isinstance(raw, dict) else []
    if isinstance(named, list) and all(isinstance(one, str) for one in named):
        try:
            plugins.load(named)
        except plugins.Unusable as error:
            raise Unacceptable(f"config: plugins: {error}") from None
    if part == "Config":
        raw = with_suite(with_protocols(written_out(raw)))
    models = extended(plugins.names("algorithms"), plugins.names("environments"))
    return errors.checked(models[part], raw)


@cache
def extended(learners: tuple[str, ...], worlds: tuple[str, ...]) -> dict[str, type[BaseModel]]:
    """The models of a configuration by name, with plug-ins among the algorithms and environments."""
    if not learners and not worlds:
        return {"Config": Config, "Shown": Shown}

    def with_types(model: type[BaseModel], **types: Any) -> Any:
        fields: Any = {key: (kind, copy(model.model_fields[key])) for key, kind in types.items()}
        return create_model(model.__name__, __base__=model, __doc__=model.__doc__, **fields)

    names = (*algorithms.OWN, *learners)
    learner, chosen_for = one_learner(names), Literal[names]  # type: ignore[valid-type]
    environment = one_environment((*environments.OWN, *worlds))
    sweep: Any = type("Sweep", (Sweep,), {"kinds": learner})
    experiment = with_types(
        Experiment, environment=environment, learners=list[learner], sweeps=list[sweep]
    )
    tuning = with_types(Tuning, environment=environment, algorithms=list[chosen_for])
    shown = with_types(Shown, environment=environment)
    whole = with_types(
        Config, shown=list[shown], tunings=list[tuning], experiments=list[experiment]
    )
    return {"Config": whole, "Shown": shown}


def environment_options(study: Study, replaced: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """All options of a study's environment, with some replaced, by the keys that replace them ("budgets[0]").

    Options of budgets set the variation budget, those of readings do not.
    """
    model = environment_model(study.environment.name)
    given = study.environment.model_dump(mode="json")
    for key, options in replaced.items():
        ours = key.startswith("budgets")
        known = [name for name in model.model_fields if (name in BUDGET_OPTIONS) == ours]
        for name, value in options.items():
            if name not in known or name == "name":
                message = errors.unknown(name, sorted({*known} - {"name"}), "unknown key")
                if name in model.model_fields and name != "name":
                    message = f"expected under {'readings' if ours else 'budgets'}"
                problem = errors.Problem(f"{key}.{name}", errors.shown(value), message, True)
                raise errors.raised(problem)
        given |= options
        try:
            model.model_validate_json(json.dumps(given))
        except ValidationError as error:
            raise errors.raised(errors.foremost(error, given, model).below(key)) from None
    del given["name"]
    return given


class _Untitled(GenerateJsonSchema):
    def field_title_should_be_set(self, schema: Any) -> bool:
        """The title of a field would repeat its key."""
        return False


def schema() -> dict[str, Any]:
    """The schema of what config.yaml may say, its shorthand included."""
    made = Config.model_json_schema(schema_generator=_Untitled)
    fields, experiment = made["properties"], made["$defs"]["Experiment"]
    study = {"type": "object", "required": ["study"], "additionalProperties": False}
    study["properties"] = {
        "study": {"type": "string", "description": "A file of workflow/studies."}
    }
    fields["experiments"]["items"] = {"anyOf": [fields["experiments"]["items"], study]}
    fields["tunings"] = {
        "anyOf": [fields["tunings"], {"type": "string"}],
        "description": fields["tunings"].pop("description"),
    }
    fields["scale"] = {
        "type": "integer",
        "description": "So many times the seeds of every experiment and protocol.",
    }
    draws = "Seeds of the environment: in place of readings, one for each."
    seeds = {"type": "array", "items": {"type": "integer"}, "description": draws}
    experiment["properties"]["draws"] = seeds
    for owner in ("Experiment", "Protocol"):
        learners = made["$defs"][owner]["properties"]["learners"]
        learners["items"] = {"anyOf": [learners["items"], {"type": "string"}]}
    return made


def schema_text() -> str:
    """The schema as a file: a definition in a line."""
    made = schema()
    parts = {"$defs": made.pop("$defs"), "properties": made.pop("properties")}
    lines = [
        f"{json.dumps(name)}: {{\n"
        + ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in part.items())
        + "\n}"
        for name, part in parts.items()
    ]
    return ",\n".join([json.dumps(made)[:-1], *lines]) + "\n}\n"
