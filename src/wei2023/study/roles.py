"""What an experiment must have so that all that is made of it can be made: checked before any job runs.

every experiment     an evaluated episode in the last fifth of a run; files that can be named after its seeds; the grid
                     world, if it is to be watched
protocols, choices   the key protocols, which makes such experiments; the grid world, every evaluated episode, an
evaluated
                     episode in each tenth of a run from the third on
eta, frames          one case for each seed of the environment, learners that differ in one constant
growth, linear       one environment, readings that differ in their seed alone, budgets and readings among those of the
                     role's first experiment, no case twice for a learner, which is the same and in the same readings
                     wherever its name stands, a Slater gap, which the theorems divide by
assumed_budget       one experiment, one case, learners that differ in what they assume alone, one with the true budget
suite                the instances that are frozen in the suite's file
tunings              algorithms that can be made in their environment
shown                environments in which some policy keeps the constraint

Here every need stands once; what draws and judges relies on it.
"""

import json
import warnings
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from nscmdp import algorithms, environments, optimum
from nscmdp.problem import DoesNotFit, Problem
from nscmdp.suite import definition
from wei2023.study import catalogue, errors, protocols
from wei2023.study.errors import Unacceptable

if TYPE_CHECKING:
    from wei2023.study.config import Experiment
    from wei2023.study.plan import Plan

LONGEST_NAME = 200  # of a file, with room for what is put before it while it is written


class Place(NamedTuple):
    """An experiment, and where it stands in the configuration."""

    key: str
    experiment: "Experiment"

    def require(self, holds: bool, key: str, needs: str) -> None:
        if not holds:
            role = self.experiment.role
            why = f"the role {role} needs {needs}" if role else f"expected {needs}"
            found = (
                self.names if key == "learners" else self.experiment.model_dump(mode="json")[key]
            )
            raise Unacceptable(f"config: {self.key}.{key} = {errors.shown(found)}: {why}")

    @property
    def names(self) -> list[str]:
        return [learner.name for learner in self.experiment.all_learners]


def check(plan: "Plan") -> None:
    """Raise :class:`Unacceptable` where an experiment, a tuning or an environment to be shown lacks what it needs."""
    places = [
        Place(f"experiments[{number}]", one) for number, one in enumerate(plan.config.experiments)
    ]
    for place in places:
        _can_be_tabulated(plan, place)
    for role in catalogue.ROLES:
        found = [place for place in places if place.experiment.role == role]
        if found:
            NEEDS[role](plan, found)
    _tunings(plan)
    _shown(plan)


def _can_be_tabulated(plan: "Plan", place: Place) -> None:
    experiment = place.experiment
    names = [case.name for case in plan.cases_of(experiment.name)]
    place.require(
        len(set(names)) == len(names),
        "readings",
        f"names that differ, not {' and '.join(names[:2])}",
    )
    for episodes in experiment.episodes:
        if experiment.keep == "windows":
            needs = f"more windows, so that the last lies in the last fifth of {episodes} episodes"
            place.require(
                _last_window(episodes, experiment.windows) > 0.8 * episodes, "windows", needs
            )
        else:
            needs = f"an evaluated episode in the last fifth of {episodes}"
            place.require(
                _evaluated(episodes, experiment.evaluate_every, 8, 10), "evaluate_every", needs
            )
    place.require(
        not experiment.watch or experiment.environment.name == "grid_world",
        "watch",
        "the grid world's map",
    )
    if isinstance(experiment.seeds, list):
        longest = max(
            (PurePosixPath(file).name for *_, file in plan.run_files(experiment.name)), key=len
        )
        needs = "fewer in one batch, as a file is named after them"
        place.require(len(longest) <= LONGEST_NAME, "seeds", needs)


def _last_window(episodes: int, windows: int) -> float:
    """The middle of the last of so many windows."""
    number = min(windows, episodes)
    first = (
        -(-(number - 1) * episodes // number) + 1
    )  # episode k is in the window (k-1) number // episodes
    return (first + episodes) / 2


def _evaluated(episodes: int, every: int, after: int, until: int) -> bool:
    """Is an episode of the tenths ``after`` to ``until`` sure to be evaluated: one is drawn of every ``every``."""
    low, high = after * episodes // 10, until * episodes // 10
    first = -(-low // every) * every + 1
    return first <= high and min(first + every - 1, episodes) <= high


def _protocols(plan: "Plan", places: list[Place]) -> None:
    places[0].require(
        plan.config.protocols is not None,
        "role",
        f"the key {protocols.ROLE}, which makes such experiments",
    )
    for place in places:
        experiment = place.experiment
        place.require(
            experiment.environment.name == "grid_world", "environment", "the environment grid_world"
        )
        place.require(
            experiment.keep == "episodes", "keep", "every evaluated episode, for the verdicts"
        )
        for episodes in experiment.episodes:
            tenths = [
                _evaluated(episodes, experiment.evaluate_every, i, i + 1) for i in range(2, 10)
            ]
            needs = f"an evaluated episode in each tenth of {episodes} from the third on"
            place.require(all(tenths), "evaluate_every", needs)


def _studies_of_growth(plan: "Plan", places: list[Place]) -> None:
    first, *others = places
    for place in places:
        besides = {
            _as_text([{k: v for k, v in one.items() if k != "seed"}])[0]
            for one in place.experiment.readings
        }
        place.require(len(besides) == 1, "readings", "readings that differ in seed alone")
        for case in plan.cases_of(place.experiment.name):
            gap = min(map(optimum.best_utility, case.env.anchors)) - case.env.rho
            place.require(
                gap > 0, "environment", f"a positive Slater gap, and in {case.name} it is {gap:.3g}"
            )
    for place in others:
        same = _as_text(place.experiment.environment) == _as_text(first.experiment.environment)
        place.require(same, "environment", f"the same as in {first.key}")
        for key in ("readings", "budgets"):
            known, mine = (_as_text(getattr(one.experiment, key)) for one in (first, place))
            place.require(set(mine) <= set(known), key, f"some of those of {first.key}")
    for number, place in enumerate(places):
        for other in places[:number]:
            _go_together(plan, other, place)


def _go_together(plan: "Plan", one: Place, other: Place) -> None:
    """A learner in two experiments of a role is one learner, and runs in a case once."""
    met = {case.name for case in plan.cases_of(one.experiment.name)}
    apart = met.isdisjoint(case.name for case in plan.cases_of(other.experiment.name))
    known = {learner.name: learner.specification for learner in one.experiment.all_learners}
    for learner in other.experiment.all_learners:
        if learner.name in known:
            mine, named = learner.specification, f"{learner.name} in {one.key}"
            other.require(apart, "learners", f"cases other than those of {named}, or another name")
            other.require(
                mine == known[learner.name], "learners", f"the same as {named}, or another name"
            )
            same = _as_text(other.experiment.readings) == _as_text(one.experiment.readings)
            other.require(same, "readings", f"the same as for {named}")
            free = learner.setting != "tuned" or mine.get("tuned_at") == "each"
            same = other.experiment.tuning == one.experiment.tuning
            other.require(free or same, "tuning", f"the same as for {named}, which is tuned once")


def _as_text(value: Any) -> list[str]:
    """An environment, with its defaults filled in, or options in any order."""
    return sorted(
        json.dumps(one, sort_keys=True)
        for one in (value if isinstance(value, list) else [value.model_dump()])
    )


def _assumed_budget(plan: "Plan", places: list[Place]) -> None:
    places[-1].require(len(places) == 1, "role", "one experiment, not two")
    _one_case(plan, places)
    (place,) = places
    learners = place.experiment.all_learners
    made_of = [
        {
            key: value
            for key, value in one.specification.items()
            if key not in ("assumed_budget", "assumed_for")
        }
        for one in learners
    ]
    differ = "those that differ in assumed_budget and assumed_for alone"
    place.require(all(one == made_of[0] for one in made_of), "learners", differ)
    place.require(
        any(one.assumed_budget == 1.0 for one in learners),
        "learners",
        "one with assumed_budget: 1.0",
    )


def _one_case(plan: "Plan", places: list[Place]) -> None:
    for place in places:
        for key in ("readings", "budgets", "episodes"):
            place.require(
                len(getattr(place.experiment, key)) == 1,
                key,
                "one of them, to compare learners in one case",
            )


def _sweeps_of_a_constant(plan: "Plan", places: list[Place]) -> None:
    for place in places:
        constant = catalogue.SWEPT[str(place.experiment.role)]
        given = all(constant in one.constants for one in place.experiment.all_learners)
        place.require(given, "learners", f"those that say constants.{constant}")
        place.require(place.experiment.keep == "episodes", "keep", "every evaluated episode")


def _nothing(plan: "Plan", places: list[Place]) -> None:
    pass


def _suite(plan: "Plan", places: list[Place]) -> None:
    """Every instance, also the one that constants are chosen on, is what it was when the suite was written."""
    frames = plan.config.suite.frames if plan.config.suite else None
    places[0].require(
        plan.config.suite is not None, "role", "the key suite, which makes such experiments"
    )
    frozen = {one.experiment: one for one in plan.suite.environments}
    tuned = {one.tuning(frames): one for one in plan.suite.environments if one.tuned_on is None}
    for place in places:
        place.require(
            place.experiment.name in frozen, "name", f"an environment of {plan.suite_file}"
        )
    found = frozen | {name: one for name, one in tuned.items() if name in plan.tunings}
    for name, one in found.items():
        for case in plan.cases_of(name) if name in (*plan.experiments, *plan.tunings) else []:
            seed = case.options["seed"]
            found_here = definition.fingerprint(case.env)
            if found_here != one.fingerprints.get(seed):
                what = f"the instance {seed} of {one.name} is not what {plan.suite_file} has frozen"
                raise Unacceptable(f"{what}: its fingerprint is {found_here}")


NEEDS = {
    "protocols": _protocols,
    "choices": _protocols,
    "eta": _sweeps_of_a_constant,
    "frames": _sweeps_of_a_constant,
    "growth": _studies_of_growth,
    "linear": _studies_of_growth,
    "assumed_budget": _assumed_budget,
    "switches": _nothing,
    "suite": _suite,
}


def _tunings(plan: "Plan") -> None:
    for number, tuning in enumerate(plan.config.tunings):
        for case in plan.cases_of(tuning.name):
            for name in tuning.algorithms:
                with warnings.catch_warnings():
                    warnings.simplefilter(
                        "ignore", DoesNotFit
                    )  # a frame longer than the run is one frame
                    try:
                        algorithms.make(
                            name, Problem.of(case.env), "scaled", variants=tuning.variants
                        )
                    except ValueError as error:
                        key = f"tunings[{number}].algorithms"
                        raise Unacceptable(
                            f"config: {key} = {errors.shown(tuning.algorithms)}: {error}"
                        ) from None
                if plan.recorded:
                    plan.recorded_searches(tuning.name, name, case.episodes)


def _shown(plan: "Plan") -> None:
    for number, shown in enumerate(plan.shown):
        for anchor in environments.make(**shown).anchors:
            try:
                optimum.require_feasible(anchor)
            except optimum.Infeasible as error:
                raise errors.infeasible(f"shown[{number}]", shown, error) from None
