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

from nscmdp import algorithms, environments, metrics, plugins
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
    about,
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
StudyName = Annotated[str, NotRepeated, Field(pattern=STUDY, max_length=100)]
Folder = Annotated[str, Field(pattern=FOLDER)]
Batch = Number | Literal["auto"]
Kept = Literal["episodes", "windows"]
Problems = Annotated[int, Field(ge=1, le=100_000)]
Samples = Annotated[int, Field(ge=2, le=10_000_000)]
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

    name: StudyName = about("Names its folders and its rows in tables.")
    environment: Environment = about("What is learnt.")
    evaluate_every: Episodes = about("Of so many episodes the policy of one is evaluated.", 1)


class Experiment(Study):
    """One environment under some readings, at some budgets and numbers of episodes, several learners and seeds."""

    role: Role | None = Field(None, description="; ".join(f"{k}: {v}" for k, v in ROLES.items()))
    tuning: str | None = about("Where learners of the setting tuned have their factors from.", None)
    readings: Options = about("Other options of the environment, one environment for each.", [{}])
    budgets: Options = about(f"Options that set the budget: {' or '.join(BUDGET_OPTIONS)}.", [{}])
    episodes: list[Episodes] = about("K: crossed with readings and budgets.", min_length=1)
    learners: list[Learner] = about("Who learns.", [])
    sweeps: list[Sweep] = about("More learners, many at a time.", [])
    seeds: Number | list[Seed] = about("How many, from first_seed on; or a list of them.")
    first_seed: Seed = about("The first of so many seeds.", 0)
    batch: Batch | None = about("Seeds in one job, in place of the common number.", None)
    windows: Number = about("Means over so many stretches of a run are kept.", metrics.WINDOWS)
    keep: Kept = about("Every evaluated episode and the windows, or windows alone.", "episodes")
    watch: bool = about("Show on the map what is learnt.", False)

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

    episodes: Episodes = about("K, at which the choice is made.")
    checks: list[Episodes] = about("Other K at which the choice is made, to be compared.", [])
    algorithms: list[Algorithm] = about("Whose factors are chosen.", min_length=1)
    objective: Literal["gap", "margin"] = about(
        "gap: feasible first, then the least Lagrangian gap; margin: the widest smallest margin of"
        " what the paper's simulation says of Algorithm 1.",
        "gap",
    )
    variants: dict[str, Any] = about("Departures from the printed listing.", {})
    frames: Frames = about("So many end within a run; 1: as long as the run.", 10.0)
    start: str | None = about("Another tuning, from whose choices the searches begin.", None)
    strict: bool = about("Begin half of the generations at the strictest constants.", False)
    population: Population | None = about("Candidates of a generation, if not the effort's.", None)
    generations: Generations | None = about("Of one search, if not the effort's.", None)
    seeds: Number | None = about("That score a generation, if not the effort's.", None)
    searches: Independent | None = about("Independent ones, if not the effort's.", None)

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

    population: Population = about("Candidates of a generation.", 16)
    generations: Generations = about("Of one search.", 32)
    searches: Independent = about("Independent ones, for their spread.", 5)
    seeds: Number = about("That a generation is scored on, of the pool.", 2)
    pool: Number = about("Search seeds, taken in turn by the generations.", 32)
    first_seed: Seed = about("Search seeds are this one and those after it.", 10_000)
    selection_seeds: Number = about("That candidates are chosen by.", 12)
    first_selection_seed: Seed = about("As first_seed, of the selection.", 20_000)

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

    problems: Problems = about("Random problems for an exact statement.", 40)
    samples: Samples = about("Runs for a statement on means or probabilities.", 400)


class Shown(Strict):
    """An environment to look at."""

    environment: Environment = about("Which.")
    episodes: Episodes = about("K.")

    @property
    def specification(self) -> dict[str, Any]:
        options = self.environment.model_dump(mode="json", exclude_unset=True)
        return {**options, "episodes": self.episodes}


class Config(Strict):
    """What is computed, and where it is kept."""

    results: Folder = about("The folder of all results.", "results")
    batch: Batch = about(
        "Seeds in one job, which results do not depend on; auto: five minutes' worth.", 5
    )
    plugins: list[Folder] = about("Files with algorithms and environments from outside.", [])
    shown: list[Shown] = about("Environments that notebooks/environments.ipynb draws.", [])
    effort: Effort = about("How hard every tuning tries.", Effort())
    searches: Folder | None = about("Records of searches; without, they are run.", None)
    tunings: list[Tuning] = about("Where factors are chosen; or a file of these.", [])
    protocols: Protocols | None = about("The paper's simulation: it adds experiments.", None)
    claims: Checks | None = about("Check all claims; without, the simulation's alone.", None)
    suite: Choice | None = about("A part of the suite: it adds experiments and tunings.", None)
    experiments: list[Experiment] = about("What is simulated, and names of studies.")

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
            key, generations = f"tunings[{number}]", tuning.generations or self.effort.generations
            if tuning.start is not None:
                chosen = before.get(tuning.start)
                missing = [name for name in tuning.algorithms if name not in (chosen or ())]
                what = f"it chooses nothing for {missing[0]}" if missing else ""
                if chosen is None:
                    what = f"expected a tuning that stands before {tuning.name}"
                if what:
                    raise errors.below(f"{key}.start", tuning.start, what)
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
                    what = f"{learner.name} is tuned at each K, and {missing[0]} is not among its"
                    raise errors.below(f"{key}.tuning", tuning.name, f"{what} checks")
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
    learner: Any = one_learner(names)
    chosen_for: Any = Literal[names]
    environment: Any = one_environment((*environments.OWN, *worlds))
    sweep: Any = type("Sweep", (Sweep,), {"kinds": learner})
    given: Any = {"learners": list[learner], "sweeps": list[sweep]}
    experiment: Any = with_types(Experiment, environment=environment, **given)
    tuning: Any = with_types(Tuning, environment=environment, algorithms=list[chosen_for])
    shown: Any = with_types(Shown, environment=environment)
    lists: Any = {"shown": list[shown], "tunings": list[tuning], "experiments": list[experiment]}
    whole = with_types(Config, **lists)
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
    fields, text, whole = made["properties"], {"type": "string"}, {"type": "integer"}
    experiment, protocol = (
        made["$defs"][name]["properties"] for name in ("Experiment", "Protocol")
    )
    study = {"type": "object", "properties": {"study": text}, "required": ["study"]}
    for short, field in (
        (text, experiment["learners"]),
        (text, protocol["learners"]),
        (study | {"additionalProperties": False}, fields["experiments"]),
    ):
        field["items"] = {"anyOf": [field["items"], short]}
    says = {"description": fields["tunings"].pop("description")}
    fields["tunings"] = {"anyOf": [fields["tunings"], text], **says}
    fields["scale"] = whole | {"description": "So many times the seeds of every study."}
    draws = "Seeds of the environment: one reading for each."
    experiment["draws"] = {"type": "array", "items": whole, "description": draws}
    return made


def schema_text() -> str:
    """The schema as a file: what follows a mapping begins a line."""
    return json.dumps(schema()).replace('}, "', '},\n"') + "\n"
