"""What an experiment must have so that all that is made of it can be made: checked before any job runs.

every experiment     an evaluated episode in the last fifth of a run; files that can be named after its seeds; the grid
                     world, if it is to be watched
protocols, choices   the key protocols, which makes such experiments; the grid world, every evaluated episode, one in
                     each tenth of a run from the third on
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
from nscmdp.drift import DriftingCMDP
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
            role, learners = self.experiment.role, self.experiment.all_learners
            why = f"the role {role} needs {needs}" if role else f"expected {needs}"
            found = self.experiment.model_dump(mode="json")[key]
            found = [one.name for one in learners] if key == "learners" else found
            raise Unacceptable(f"config: {self.key}.{key} = {errors.shown(found)}: {why}")


def check(plan: "Plan") -> None:
    """Raise :class:`Unacceptable` where an experiment, a tuning or an environment to be shown lacks what it needs."""
    places = [Place(f"experiments[{i}]", one) for i, one in enumerate(plan.config.experiments)]
    for place in places:
        _can_be_tabulated(plan, place)
    for role, needs in NEEDS.items():
        found = [place for place in places if place.experiment.role == role]
        if found:
            needs(plan, found)
    _tunings(plan)
    for number, shown in enumerate(plan.shown):
        require_feasible(environments.make(**shown), f"shown[{number}]", shown)


def require_feasible(env: DriftingCMDP, key: str, options: dict[str, Any]) -> None:
    """Some policy keeps the constraint in every episode: else its limit is named, where there is one."""
    for anchor in env.anchors:
        try:
            optimum.require_feasible(anchor)
        except optimum.Infeasible as error:
            limit = f".limit = {options['limit']}" if "limit" in options else ""
            what = f"config: {key}.environment{limit} is infeasible: {error}"
            raise Unacceptable(what) from None


def _can_be_tabulated(plan: "Plan", place: Place) -> None:
    experiment = place.experiment
    names = [case.name for case in plan.cases_of(experiment.name)]
    needs = f"names that differ, not {' and '.join(names[:2])}"
    place.require(len(set(names)) == len(names), "readings", needs)
    for episodes in experiment.episodes:
        if experiment.keep == "windows":
            holds = _last_window(episodes, experiment.windows) > 0.8 * episodes
            needs = f"more windows, so that the last lies in the last fifth of {episodes} episodes"
            place.require(holds, "windows", needs)
        else:
            holds = _evaluated(episodes, experiment.evaluate_every, 8, 10)
            needs = f"an evaluated episode in the last fifth of {episodes}"
            place.require(holds, "evaluate_every", needs)
    on_a_map = not experiment.watch or experiment.environment.name == "grid_world"
    place.require(on_a_map, "watch", "the grid world's map")
    if isinstance(experiment.seeds, list):
        files = plan.run_files(experiment.name)
        fits = all(len(PurePosixPath(file).name) <= LONGEST_NAME for *_, file in files)
        place.require(fits, "seeds", "fewer in one batch, as a file is named after them")


def _last_window(episodes: int, windows: int) -> float:
    """The middle of the last of so many windows: episode k is in the window (k-1) number // episodes."""
    number = min(windows, episodes)
    return (-(-(number - 1) * episodes // number) + 1 + episodes) / 2


def _evaluated(episodes: int, every: int, after: int, until: int) -> bool:
    """Is an episode of the tenths ``after`` to ``until`` sure to be evaluated: one is drawn of every ``every``."""
    low, high = after * episodes // 10, until * episodes // 10
    first = -(-low // every) * every + 1
    return first <= high and min(first + every - 1, episodes) <= high


def _protocols(plan: "Plan", places: list[Place]) -> None:
    there = plan.config.protocols is not None
    places[0].require(there, "role", f"the key {protocols.ROLE}, which makes such experiments")
    for place in places:
        experiment = place.experiment
        on_a_map = experiment.environment.name == "grid_world"
        place.require(on_a_map, "environment", "the environment grid_world")
        place.require(experiment.keep == "episodes", "keep", "every evaluated episode")
        for K in experiment.episodes:
            every = experiment.evaluate_every
            holds = all(_evaluated(K, every, i, i + 1) for i in range(2, 10))
            needs = f"an evaluated episode in each tenth of {K} from the third on"
            place.require(holds, "evaluate_every", needs)


def _studies_of_growth(plan: "Plan", places: list[Place]) -> None:
    first = places[0]
    for number, place in enumerate(places):
        mine = place.experiment
        besides = [{k: v for k, v in one.items() if k != "seed"} for one in mine.readings]
        alike = len({*_as_text(besides)}) == 1
        place.require(alike, "readings", "readings that differ in seed alone")
        for case in plan.cases_of(mine.name):
            gap = min(map(optimum.best_utility, case.env.anchors)) - case.env.rho
            needs = f"a positive Slater gap, and in {case.name} it is {gap:.3g}"
            place.require(gap > 0, "environment", needs)
        same = mine.environment.model_dump() == first.experiment.environment.model_dump()
        place.require(same, "environment", f"the same as in {first.key}")
        for key in ("readings", "budgets"):
            known, asked = (_as_text(getattr(one.experiment, key)) for one in (first, place))
            place.require({*asked} <= {*known}, key, f"some of those of {first.key}")
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
            same = mine == known[learner.name]
            other.require(same, "learners", f"the same as {named}, or another name")
            same = _as_text(other.experiment.readings) == _as_text(one.experiment.readings)
            other.require(same, "readings", f"the same as for {named}")
            free = learner.setting != "tuned" or mine.get("tuned_at") == "each"
            same = other.experiment.tuning == one.experiment.tuning
            other.require(free or same, "tuning", f"the same as for {named}, which is tuned once")


def _as_text(options: list[dict[str, Any]]) -> list[str]:
    return sorted(json.dumps(one, sort_keys=True) for one in options)


def _assumed_budget(plan: "Plan", places: list[Place]) -> None:
    place, learners = places[-1], places[-1].experiment.all_learners
    place.require(len(places) == 1, "role", "one experiment, not two")
    for key in ("readings", "budgets", "episodes"):
        one = len(getattr(place.experiment, key)) == 1
        place.require(one, key, "one of them, to compare learners in one case")
    assumed = {"assumed_budget": 1.0, "assumed_for": "all"}
    alike = len({*_as_text([one.specification | assumed for one in learners])}) == 1
    differ = "those that differ in assumed_budget and assumed_for alone"
    place.require(alike, "learners", differ)
    true = any(one.assumed_budget == 1.0 for one in learners)
    place.require(true, "learners", "one with assumed_budget: 1.0")


def _sweeps_of_a_constant(plan: "Plan", places: list[Place]) -> None:
    for place in places:
        constant = catalogue.SWEPT[str(place.experiment.role)]
        given = all(constant in one.constants for one in place.experiment.all_learners)
        place.require(given, "learners", f"those that say constants.{constant}")
        place.require(place.experiment.keep == "episodes", "keep", "every evaluated episode")


def _suite(plan: "Plan", places: list[Place]) -> None:
    """Every instance, also the one that constants are chosen on, is what it was when the suite was written."""
    chosen, frozen = plan.config.suite, {one.experiment: one for one in plan.suite.environments}
    needs = "the key suite, which makes such experiments"
    places[0].require(chosen is not None, "role", needs)
    for place in places:
        known = place.experiment.name in frozen
        place.require(known, "name", f"an environment of {plan.suite_file}")
    tuned = [one for one in plan.suite.environments if one.tuned_on is None]
    frozen |= {one.tuning(chosen.frames if chosen else None): one for one in tuned}
    for name in (*plan.experiments, *plan.tunings):
        for case in plan.cases_of(name) if name in frozen else []:
            seed, found = case.options["seed"], definition.fingerprint(case.env)
            if found != frozen[name].fingerprints.get(seed):
                what = f"the instance {seed} of {frozen[name].name}"
                what = f"{what} is not what {plan.suite_file} has frozen"
                raise Unacceptable(f"{what}: its fingerprint is {found}")


NEEDS = {
    "protocols": _protocols,
    "choices": _protocols,
    "eta": _sweeps_of_a_constant,
    "frames": _sweeps_of_a_constant,
    "growth": _studies_of_growth,
    "linear": _studies_of_growth,
    "assumed_budget": _assumed_budget,
    "suite": _suite,
}


def _tunings(plan: "Plan") -> None:
    for number, tuning in enumerate(plan.config.tunings):
        for case in plan.cases_of(tuning.name):
            problem = Problem.of(case.env)
            for name in tuning.algorithms:
                try:
                    with warnings.catch_warnings():  # a frame longer than the run is one frame
                        warnings.simplefilter("ignore", DoesNotFit)
                        algorithms.make(name, problem, "scaled", variants=tuning.variants)
                except ValueError as error:
                    found = f"tunings[{number}].algorithms = {errors.shown(tuning.algorithms)}"
                    raise Unacceptable(f"config: {found}: {error}") from None
                if plan.recorded:
                    plan.recorded_searches(tuning.name, name, case.episodes)
