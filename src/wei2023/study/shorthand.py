"""What config.yaml may write shorter, written out: after this a configuration is what its models say.

- ``study: NAME`` in the list of experiments is the file NAME.yaml of workflow/studies. Its experiments take its place,
  its tunings, choices of the protocols and environments to be shown join those of the configuration, and the keys of
  ``claims`` and ``suite`` apply where the configuration has none of its own.
- ``tunings: FILE`` are those of a file that some learner names.
- ``scale: N`` multiplies the seeds of every experiment and protocol.
- ``draws: [1, 2]`` of an experiment are the readings ``[{seed: 1}, {seed: 2}]``.
- ``triple_q.literal`` among learners is ``{algorithm: triple_q, setting: literal}``.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field

from nscmdp.plugins import unknown
from wei2023.study import errors
from wei2023.study.errors import Unacceptable
from wei2023.study.models import Strict

FOLDER = Path("workflow/studies")
Entry = dict[str, Any]
Entries = list[Entry]


class Included(Strict):
    """A study: the keys of a file of workflow/studies."""

    experiments: Entries = Field([])
    tunings: Entries = Field([])
    choices: Entries = Field([])
    shown: Entries = Field([])
    claims: Entry | None = None
    suite: Entry | None = None


def written_out(raw: Any) -> Any:
    """A raw configuration without shorthand; what cannot be read as one is left for the models to refuse."""
    if not isinstance(raw, dict) or not isinstance(raw.get("experiments", []), list):
        return raw
    made, tunings = _with_studies(raw)
    if "experiments" in made:
        made["experiments"] = [_experiment(one) for one in made["experiments"]]
    protocols = made.get("protocols")
    if isinstance(protocols, dict) and isinstance(protocols.get("protocols"), list):
        listed = [_with_learners(one) for one in protocols["protocols"]]
        made["protocols"] = {**protocols, "protocols": listed}
    if isinstance(made.get("tunings"), str):
        made["tunings"] = _named_tunings(load(Path(made["tunings"])).tunings, made)
    if tunings and isinstance(made.get("tunings", []), list):
        made["tunings"] = [*made.get("tunings", []), *tunings]
    return _scaled(made)


def load(file: Path) -> Included:
    """A file of studies."""
    try:
        return errors.checked(Included, yaml.safe_load(file.read_text(encoding="utf-8")), str(file))
    except OSError:
        known = sorted(one.stem for one in FOLDER.glob("*.yaml"))
        raise Unacceptable(f"config: {file}: {unknown(file.stem, known, 'no such file')}") from None
    except yaml.YAMLError as error:
        raise Unacceptable(f"config: {file} is not YAML: {error}") from None


def _with_studies(raw: Entry) -> tuple[Entry, Entries]:
    """A configuration whose list of experiments names no study, and the tunings of those that it named."""
    made, tunings, experiments = dict(raw), [], []
    for number, entry in enumerate(raw.get("experiments", [])):
        if not isinstance(entry, dict) or "study" not in entry:
            experiments.append(entry)
            continue
        name, where = entry["study"], f"config: experiments[{number}]"
        if len(entry) > 1 or not isinstance(name, str) or not name.isidentifier():
            raise Unacceptable(
                f"{where} = {errors.shown(entry)}: expected the name of a study alone"
            )
        study = load(FOLDER / f"{name}.yaml")
        experiments += study.experiments
        tunings += study.tunings
        if study.choices:
            if not isinstance(made.get("protocols"), dict):
                raise Unacceptable(f"{where}.study = {errors.shown(name)}: there are no protocols")
            choices = [*(made["protocols"].get("choices") or []), *study.choices]
            made["protocols"] = {**made["protocols"], "choices": choices}
        if study.shown:
            made["shown"] = [*(made.get("shown") or []), *study.shown]
        for key in ("claims", "suite"):
            theirs, mine = getattr(study, key), made.get(key, {})
            if theirs is not None and isinstance(mine, dict):
                made[key] = {**theirs, **mine}
    return made | ({"experiments": experiments} if "experiments" in raw else {}), tunings


def _experiment(raw: Any) -> Any:
    if isinstance(raw, dict) and isinstance(raw.get("draws"), list) and "readings" not in raw:
        raw = {
            key: [{"seed": draw} for draw in value] if key == "draws" else value
            for key, value in raw.items()
        }
        raw["readings"] = raw.pop("draws")
    return _with_learners(raw)


def _with_learners(raw: Any) -> Any:
    """An experiment or a protocol whose learners are mappings."""
    if not isinstance(raw, dict) or not isinstance(raw.get("learners"), list):
        return raw
    learners = [
        dict(zip(("algorithm", "setting"), one.split("."), strict=True))
        if isinstance(one, str) and one.count(".") == 1
        else one
        for one in raw["learners"]
    ]
    return {**raw, "learners": learners}


def _named_tunings(tunings: Entries, raw: Entry) -> Entries:
    """The tunings that some learner names, and those that they start from."""
    names = {*_under("tuning", raw.get("experiments")), *_under("tuning", raw.get("protocols"))}
    for one in reversed(tunings):
        if one.get("name") in names:
            names.add(str(one.get("start")))
    return [one for one in tunings if one.get("name") in names]


def _under(key: str, value: Any) -> Iterator[str]:
    """All texts that stand under a key, at whatever depth."""
    for name, item in value.items() if isinstance(value, dict) else enumerate(value or ()):
        if name == key and isinstance(item, str):
            yield item
        elif isinstance(item, dict | list):
            yield from _under(key, item)


def _scaled(raw: Entry) -> Entry:
    """With so many times the seeds."""
    times = raw.pop("scale", None)
    if times is None:
        return raw
    if type(times) is not int or not 1 <= times <= 1000:
        raise Unacceptable(
            f"config: scale = {errors.shown(times)}: expected a number from 1 to 1000"
        )

    def more(one: Any, *keys: str) -> Any:
        seeds = {key: times * one[key] for key in keys if type(one.get(key)) is int}
        return {**one, **seeds}

    if isinstance(raw.get("protocols"), dict):
        raw["protocols"] = more({"choice_seeds": 2, **raw["protocols"]}, "seeds", "choice_seeds")
    experiments = raw.get("experiments", [])
    return raw | {
        "experiments": [more(one, "seeds") for one in experiments if isinstance(one, dict)]
    }
