"""The experiments and tunings that a configuration makes of the suite.

Every environment becomes an experiment of the role "suite", whose readings are the reporting instances, and a tuning on
the tuning instance. An algorithm that is tuned appears with its main choice and with the best of every search, by which
the searches' own share in a ranking can be told.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nscmdp import algorithms
from nscmdp.plugins import unknown
from nscmdp.suite import definition
from nscmdp.suite.definition import FILE, ROLE, Frozen, Number, Suite, Unreadable
from wei2023.study import errors
from wei2023.study.errors import Unacceptable
from wei2023.study.models import TUNED, Frames, Strict, about


def load(file: Path) -> Suite:
    try:
        return definition.load(file)
    except Unreadable as error:
        raise Unacceptable(str(error)) from None


class Choice(Strict):
    """Which part of the suite a configuration asks for."""

    file: str = about("Its environments, learners and hypotheses.", str(FILE), min_length=1)
    environments: list[str] | None = about("Some of them; without: all.", None)
    instances: Number | None = about("So many of the reporting instances; without: all.", None)
    seeds: Number | None = about("So many of its seeds; without: all.", None)
    learners: list[str] = about("Besides those of the file, such as plug-ins.", [])
    frames: Frames | None = about("As of a tuning, in place of what holds for all tunings.", None)
    setting: str | None = about("Of learners with factors; without: that of the file.", None)


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
    chosen: Choice = errors.checked(Choice, raw["suite"], "suite")
    made = Made(load(Path(chosen.file)), chosen)
    return raw | {
        "experiments": [*experiments, *made.experiments],
        "tunings": [*tunings, *made.tunings],
    }


class Made:
    """The experiments and tunings of a choice, as the configuration writes them."""

    def __init__(self, suite: Suite, choice: Choice) -> None:
        self.suite, self.choice = suite, choice
        self.setting = choice.setting or suite.setting
        names = choice.environments or list(suite.by_name)
        also = [name for one in suite.environments for name in one.also]
        listed = [*suite.learners, *suite.references, *also]
        self._are_known("config: suite.environments", names, list(suite.by_name), "environment")
        self._are_known("config: suite.learners", choice.learners, algorithms.NAMES, "algorithm")
        self._are_known(choice.file, listed, algorithms.NAMES, "algorithm")
        self.environments = [suite.by_name[name] for name in names]

    @staticmethod
    def _are_known(where: str, names: Sequence[str], known: Sequence[str], what: str) -> None:
        for name in names:
            if name not in known:
                raise Unacceptable(f"{where}: " + unknown(name, known, f"unknown {what} {name!r}"))

    @property
    def experiments(self) -> list[dict[str, Any]]:
        return [self._experiment(one) for one in self.environments]

    @property
    def tunings(self) -> list[dict[str, Any]]:
        """One for each environment on which constants are chosen for some algorithm."""
        made = []
        for name in dict.fromkeys(one.tuned_on or one.name for one in self.environments):
            users = [one for one in self.environments if (one.tuned_on or one.name) == name]
            learners = dict.fromkeys(learner for one in users for learner in self.learners(one))
            tuned = [*filter(self._is_tuned, learners)]
            if tuned:
                made.append(self._tuning(self.suite.by_name[name], tuned))
        return made

    def learners(self, one: Frozen) -> list[str]:
        named = [*self.suite.learners, *self.choice.learners, *one.also, *self.suite.references]
        return [name for name in dict.fromkeys(named) if name not in one.without]

    def _is_tuned(self, name: str) -> bool:
        """Plug-ins have no recorded searches, and references nothing that a search should decide."""
        listed = name in self.suite.learners or any(
            name in one.also for one in self.suite.environments
        )
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
                {"algorithm": name, "setting": "scaled" if "scaled" in offered else offered[0]}
                | {"label": name}
                for name in names
                if name not in tuned
                for offered in [algorithms.settings(name)]
            ],
            "sweeps": [
                {"learner": {"algorithm": name, "setting": TUNED}, "over": {"choice": choices}}
                for name in tuned
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
