"""How long a job may take and how much memory it may need, for a scheduler that wants to know beforehand.

A backward induction sweeps the model's tables once: H S A rows of N successors. A run costs its steps, the sweeps of
its learner (``SWEEPS`` of its file, else one per episode), and one sweep for every evaluated episode; an optimum costs
about ten sweeps. The constants were measured on one core of 2026; a scheduler is asked for three times as much, and for
more at every retry.
"""

import math
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from nscmdp import algorithms

if TYPE_CHECKING:
    from wei2023.study.cases import Case
    from wei2023.study.plan import Plan

STEP = 500e-9  # seconds per step
ROW, SUCCESSOR = 10e-9, 4e-9  # seconds per row of a sweep, and per successor of a row
OPTIMUM_SWEEPS = 10
READ = 10e-6  # seconds per state and step of a policy that is asked for
MARGIN = 3
START = 10  # minutes: Python thrice from a slow disk, and the kernels again on another processor
BASE = 1000  # megabytes: Snakemake, the job and their libraries
ENTRY = 150  # bytes per successor in all copies of the model's tables
OWN_ROW, OWN_SUCCESSOR = 100, 16  # bytes of a planning learner's model per row, per successor
ROW_KEPT = 100  # bytes per state and step of a policy that is kept
POINT = 300  # bytes per evaluated episode, while it is compared and written
JOB = 300  # seconds that a job in a batch of its own choosing aims at


class Request(NamedTuple):
    minutes: int
    megabytes: int
    seconds: float  # the estimate, without margin and the time to start


class Size(NamedTuple):
    """The model of a case, and one run of a learner in it."""

    sweep: float  # seconds
    model: float  # bytes
    evaluated: int  # episodes
    seconds: float  # of the run
    held: float  # bytes: the model, and what a learner that plans keeps of it


def size(case: "Case", every: int, algorithm: str = "uniform") -> Size:
    env, sweeps = case.env, getattr(algorithms.module(algorithm), "SWEEPS", 1)
    rows, successors = env.H * env.S * env.A, env.successors.shape[-1]
    sweep, model = rows * (ROW + SUCCESSOR * successors), ENTRY * env.probability.size
    evaluated = math.ceil(case.episodes / every)
    seconds = case.episodes * (env.H * STEP + sweeps * sweep) + evaluated * sweep
    own = rows * (OWN_ROW + OWN_SUCCESSOR * successors) if sweeps else 0
    return Size(sweep, model, evaluated, seconds, model + own)


@cache
def _per_seed(plan: "Plan", experiment: str, unit: str) -> tuple[float, float, float]:
    """Seconds and bytes of the runs of a unit with one seed, and bytes that all seeds share."""
    chosen, windows = plan.experiment(experiment), plan.experiment(experiment).keep == "windows"
    sizes = [
        size(case, chosen.evaluate_every, one.algorithm)
        for case in plan.cases_of(experiment)
        for one in chosen.units[unit]
    ]
    points = sum(chosen.windows if windows else one.evaluated for one in sizes)
    compared = sum(one.evaluated for one in sizes[:: len(chosen.units[unit])]) if windows else 0
    shared = max(one.held for one in sizes) + POINT * compared
    return sum(one.seconds for one in sizes), POINT * points, shared


def simulation(plan: "Plan", experiment: str, unit: str, seeds: int, attempt: int = 1) -> Request:
    """What to ask for a batch of so many seeds."""
    seconds, kept, shared = _per_seed(plan, experiment, unit)
    return _request(seconds * seeds, shared + kept * seeds, attempt)


def batch(plan: "Plan", experiment: str, unit: str) -> int:
    """So many seeds that a job lasts about five minutes."""
    return max(1, round(JOB / max(_per_seed(plan, experiment, unit)[0], 1e-9)))


def policies(plan: "Plan", experiment: str, unit: str, attempt: int = 1) -> Request:
    """For one run of each learner of a unit, in the case that is watched, and its policies."""
    chosen, case = plan.experiment(experiment), plan.watched_case(experiment)
    sizes = [size(case, chosen.evaluate_every, one.algorithm) for one in chosen.units[unit]]
    rows = len(plan.watched_episodes(experiment)) * case.env.H * case.env.S * len(sizes)
    seconds = sum(one.seconds for one in sizes) + rows * READ
    return _request(seconds, max(one.held for one in sizes) + ROW_KEPT * rows, attempt)


def optimum(plan: "Plan", name: str, attempt: int = 1) -> Request:
    """For the environments of an experiment or a tuning."""
    seeds, every, seconds, asked = len(plan.seeds_of(name)), plan.study(name).evaluate_every, 0.0, 0
    sizes = [(case, size(case, every)) for case in plan.cases_of(name)]
    for case, one in sizes:
        solved = min(case.episodes, seeds * one.evaluated)
        asked += solved
        seconds += solved * OPTIMUM_SWEEPS * one.sweep
    return _request(seconds, max(one.model for _, one in sizes) + POINT * asked, attempt)


def tables(plan: "Plan", experiment: str, attempt: int = 1) -> Request:
    """All runs of an experiment are read at once."""
    chosen = plan.experiment(experiment)
    of_units = [_per_seed(plan, experiment, unit)[1] for unit in chosen.units]
    points = len(chosen.seed_list) * sum(of_units) / POINT
    return _request(points * 50e-6, points * POINT, attempt)


def search(plan: "Plan", name: str, algorithm: str, episodes: int, attempt: int = 1) -> Request:
    """For all candidates of a search on its seeds, and about five entrants on the selection seeds at every doubling."""
    effort: dict[str, Any] = plan.effort_of(name)
    entrants = 5 * (2 + effort["generations"].bit_length())
    runs = effort["population"] * effort["generations"] * effort["seeds"]
    runs += entrants * len(effort["selection_seeds"])
    (case,) = [one for one in plan.cases_of(name) if one.episodes == episodes]
    one = size(case, plan.tuning(name).evaluate_every, algorithm)
    return _request(runs * one.seconds, one.held, attempt)


def _request(seconds: float, size: float, attempt: int) -> Request:
    minutes = START + MARGIN * seconds / 60
    return Request(math.ceil(attempt * minutes), math.ceil(attempt * (BASE + size / 1e6)), seconds)
