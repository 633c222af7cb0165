"""The paper's simulation as protocols: each answers all that its text leaves open, in a way that a reader could mean.

A protocol says K, what happens at a frame's end, which constants Algorithm 1 and its baselines have, and how the
drift is read. An unstated choice is switched one option at a time from some protocols: every option of it makes one
protocol more. All of them together become experiments of the roles "protocols" and "choices": one for each K and
reading of the environment, in which every learner runs once, however many protocols it belongs to.
"""

import re
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, Field, model_validator

from nscmdp.plugins import unknown
from wei2023.study import errors
from wei2023.study.catalogue import FIRST
from wei2023.study.models import Seed, Strict, about

ROLE, CHOICES = "protocols", "choices"  # of experiments: whole protocols, and options by themselves
Name = Annotated[str, Field(min_length=1, max_length=80)]
Few = Annotated[int, Field(ge=1, le=1000)]
Episodes = Annotated[int, Field(ge=1, le=10**9)]
Options = dict[str, Any]


def _has_mappings(given: Options) -> Options:
    """As far as protocols look into a learner; the rest is checked as of any other."""
    for key in ("variants", "constants", "factors", "times"):
        if not isinstance(given.get(key, {}), dict):
            raise ValueError(f"{key}: expected a mapping")
    return given


def _is_a_learner(given: Options) -> Options:
    if not isinstance(given.get("algorithm"), str):
        raise ValueError("expected learners with an algorithm")
    return _has_mappings(given)


Learner = Annotated[Options, AfterValidator(_is_a_learner)]
Other = Annotated[Options, AfterValidator(_has_mappings)]


class Protocol(Strict):
    """A way to run the paper's simulation."""

    name: Name = about("What tables call it.")
    reason: str = about("Why a reader could mean this.", "")
    episodes: Episodes = about("K.")
    frame_end: Literal["full", "bump", "counts"] = about(
        "Algorithm 1's tables at a frame's end.", "full"
    )
    constants: str = about("Algorithm 1's constants, in words.", "")
    baselines: Literal["released", "tuned", "same eta"] = about(
        "The baselines' constants.", "released"
    )
    learners: list[Learner] = about("One for each algorithm.", min_length=1, max_length=20)
    reading: Options = about("Options of the environment in place of the default ones.", {})
    long: bool = about("It takes long, and is run by `make long` alone.", False)
    figure: bool = about("It is drawn in the grid-world figure.", False)
    base: str | None = about("The protocol from which a choice is switched.", None)
    choice: str | None = about("The unstated choice that is switched.", None)
    option: str | None = about("To what it is switched.", None)

    @model_validator(mode="after")
    def _algorithms_are_distinct(self) -> "Protocol":
        names = [learner["algorithm"] for learner in self.learners]
        if len({*names}) < len(names):
            raise ValueError(f"learners: expected one for each algorithm, not {', '.join(names)}")
        return self


class Option(Strict):
    """One of the answers to a question that the paper leaves open."""

    says: Name = about("What tables call it.")
    episodes: Episodes | None = about("Another K.", None)
    reading: Options = about("Other options of the environment.", {})
    learners: dict[str, Other] = about("By algorithm: other keys of its learner.", {})
    long: bool = about("It takes long, and is run by `make long` alone.", False)
    bases: list[str] | None = about("The protocols from which it is switched, if others.", None)


class Unstated(Strict):
    """A question that the paper leaves open."""

    name: Name = about("What tables call it.")
    text: str = about("What the paper says of it.")
    stated: bool = about("The text does not leave it open; it is switched all the same.", False)
    options: list[Option] = about("Each is switched by itself.", min_length=1)
    bases: list[str] = about("The protocols from which its options are switched.", [])


class Protocols(Strict):
    """All protocols, and the unstated choices that are switched one at a time from some of them."""

    environment: Options = about("Of all protocols, but for their readings.")
    draws: list[Seed] = about("Seeds of the environment; no search sees them.", min_length=1)
    seeds: Few = about("Runs of each protocol in each draw.")
    choice_seeds: Few = about("Runs of each option in each draw.", 2)
    first_seed: Seed = about("The first of so many seeds.", 1000)
    points: Few = about("Evaluated policies of a run.", 200)
    long: bool = about("Run what takes long, and nothing else.", False)
    protocols: list[Protocol] = about("In the order of the tables.", min_length=1)
    choices: list[Unstated] = about("What the text leaves open.", [])

    @model_validator(mode="after")
    def _names_are_known(self) -> "Protocols":
        names = [one.name for one in self.protocols]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"protocols: {name!r} stands there twice")
        for choice in self.choices:
            for base in (one for option in choice.options for one in option.bases or choice.bases):
                if base not in names:
                    what = unknown(base, names, f"unknown protocol {base!r}")
                    raise ValueError(f"choices: {choice.name}: {what}")
        return self

    @property
    def switched(self) -> list[Protocol]:
        """A protocol for every option of every unstated choice, from every base."""
        by_name, made = {one.name: one for one in self.protocols}, []
        for choice in self.choices:
            for option in choice.options:
                for base in map(by_name.__getitem__, option.bases or choice.bases):
                    one = _switched(base, choice.name, option)
                    if any(getattr(one, key) != getattr(base, key) for key in DECISIVE):
                        made.append(one)
        return made

    @property
    def every(self) -> list[Protocol]:
        return [*self.protocols, *self.switched]

    @property
    def run(self) -> list[Protocol]:
        """Those that this configuration runs."""
        return [one for one in self.every if one.long == self.long]


DECISIVE = ("episodes", "reading", "learners")


def _switched(base: Protocol, choice: str, option: Option) -> Protocol:
    """A base with one option; mappings of a learner are merged, and what becomes null is left out."""
    learners = []
    for learner in base.learners:
        merged = dict(learner)
        for key, value in option.learners.get(learner["algorithm"], {}).items():
            merged[key] = {**merged.get(key, {}), **value} if isinstance(value, dict) else value
        learners.append({key: value for key, value in merged.items() if value is not None})
    own = next((one for one in learners if one["algorithm"] == FIRST), {})
    changed = {
        "name": f"{base.name}; {choice}: {option.says}",
        "episodes": option.episodes or base.episodes,
        "reading": {**base.reading, **option.reading},
        "frame_end": own.get("variants", {}).get("reset") or "full",
        "learners": learners,
        "long": base.long or option.long,
        "figure": False,
        "base": base.name,
        "choice": choice,
        "option": option.says,
    }
    return base.model_copy(update=changed)


class Place(NamedTuple):
    """Where the runs of one learner of a protocol are."""

    experiment: str
    learner: str


def experiment_name(protocol: Protocol, short: bool) -> str:
    """Of the experiment that has a protocol's learners; those that are switched alone have fewer seeds."""
    reading = "".join(f"_{key}={value}" for key, value in sorted(protocol.reading.items()))
    kind = CHOICES if short else ROLE
    return re.sub(r"[^A-Za-z0-9_=,-]", "_", f"{kind}_{protocol.episodes}{reading}")


def learner_name(learner: Options) -> str:
    """The same for the same learner, whatever protocol it belongs to."""
    parts = [f"{learner['algorithm']}.{learner.get('setting')}"]
    for key, value in sorted(learner.items()):
        if key not in ("algorithm", "setting"):
            each = value.items() if isinstance(value, dict) else [(key, value)]
            parts += [f"{name}={text}" for name, text in each]
    return re.sub(r"[^A-Za-z0-9_.,=-]", "_", ",".join(parts))


def called(study: Protocols) -> dict[str, str]:
    """By name of a learner: the first protocol that it belongs to, or "released" where many share it."""
    words: dict[str, str] = {}
    for one in study.every:
        released = one.baselines == "released" and one.base is None
        for learner in one.learners:
            shared = released and learner["algorithm"] != FIRST
            words.setdefault(learner_name(learner), "released" if shared else one.name)
    return words


def places(study: Protocols) -> dict[str, dict[str, Place]]:
    """By protocol and algorithm: where its runs are. A switched one shares those of learners that are not switched."""
    whole = {
        (experiment_name(one, False), learner_name(learner))
        for one in study.run
        if one.base is None
        for learner in one.learners
    }
    found: dict[str, dict[str, Place]] = {}
    for one in study.run:
        for learner in one.learners:
            name = learner_name(learner)
            short = (experiment_name(one, False), name) not in whole
            place = Place(experiment_name(one, short), name)
            found.setdefault(one.name, {})[learner["algorithm"]] = place
    return found


def experiments(study: Protocols) -> list[dict[str, Any]]:
    """As the configuration writes them."""
    made: dict[str, dict[str, Any]] = {}
    found = places(study)
    for one in study.run:
        for learner in one.learners:
            name, label = found[one.name][learner["algorithm"]]
            switched = name.startswith(CHOICES)
            experiment = made.setdefault(
                name,
                {
                    "name": name,
                    "role": CHOICES if switched else ROLE,
                    "watch": not (switched or one.reading or study.long),
                    "environment": {**study.environment, **one.reading},
                    "readings": [{"seed": draw} for draw in study.draws],
                    "episodes": [one.episodes],
                    "seeds": study.choice_seeds if switched else study.seeds,
                    "first_seed": study.first_seed,
                    "evaluate_every": max(1, one.episodes // study.points),
                    "learners": [],
                },
            )
            if label not in [known["label"] for known in experiment["learners"]]:
                experiment["learners"].append({**learner, "label": label})
    return sorted(made.values(), key=lambda experiment: experiment["episodes"])


def with_protocols(raw: Any) -> Any:
    """A raw configuration with the experiments of its protocols; one that was noted by a run has them already."""
    if not isinstance(raw, dict) or raw.get("protocols") is None:
        return raw
    known = raw.get("experiments") or []
    if not isinstance(known, list) or any(
        isinstance(one, dict) and one.get("role") in (ROLE, CHOICES) for one in known
    ):
        return raw
    return raw | {"experiments": [*known, *experiments(study_of(raw["protocols"]))]}


def study_of(raw: Any) -> Protocols:
    return errors.checked(Protocols, raw, "protocols")
