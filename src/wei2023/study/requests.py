"""How long a job may take and how much memory it may need, for a scheduler that wants to know beforehand.

A backward induction sweeps the model's tables once: H S A rows of N successors. A run costs its steps, the sweeps of
its learner, if it plans, and one sweep for every evaluated episode; an optimum costs about ten sweeps. The constants
were measured on one core of 2026; a scheduler is asked for three times as much, and for more at every retry.
"""

import math
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from wei2023.study.cases import Case
    from wei2023.study.config import Experiment, Tuning
    from wei2023.study.plan import Plan

STEP = 500e-9  # seconds per step
ROW, SUCCESSOR = 10e-9, 4e-9  # seconds per row of a sweep, and per successor of a row
SWEEPS = {  # a learner's own sweeps per episode; one that is not named here is taken to do one
    "nonstationary_triple_q": 0,
    "double_restart_triple_q": 0,
    "triple_q": 0,
    "bump_triple_q": 0,
    "repaired_double_restart_triple_q": 0,
    "tracking_triple_q": 0,
    "detecting_triple_q": 0,
    "restart_q_ucb": 0,
    "uniform": 0,
    "oracle": 3,
    "sliding_window_opt_cmdp": 8,
}
OPTIMUM_SWEEPS = 10
READ = 10e-6  # seconds per state and step of a policy that is asked for
MARGIN = 3
START = 10  # minutes: Python thrice from a slow disk, and the kernels again where a node's processor is another
BASE = 1000  # megabytes: Snakemake, the job and their libraries
ENTRY = 150  # bytes per successor in all copies of the model's tables
OWN_ROW, OWN_SUCCESSOR = (
    100,
    16,
)  # bytes per row of a learner's own model, and per successor of a row
ROW_KEPT = 100  # bytes per state and step of a policy that is kept
POINT = 300  # bytes per evaluated episode, while it is compared and written
JOB = 300  # seconds that a job in a batch of its own choosing aims at


class Request(NamedTuple):
    minutes: int
    megabytes: int
    seconds: float  # the estimate, without margin and the time to start


def simulation(plan: "Plan", experiment: str, unit: str, seeds: int, attempt: int = 1) -> Request:
    """What to ask for a batch of so many seeds."""
    need = _simulation(plan, experiment, unit)
    return _request(need.seconds * seeds, need.model + need.kept * seeds + need.compared, attempt)


def policies(plan: "Plan", experiment: str, unit: str, attempt: int = 1) -> Request:
    """For one run of each learner of a unit, in the case that is watched, and its policies."""
    chosen, case = plan.experiment(experiment), plan.watched_case(experiment)
    names = [one.algorithm for one in chosen.units[unit]]
    rows = len(plan.watched_episodes(experiment)) * case.env.H * case.env.S
    seconds = sum(_seconds(case, name, chosen) + rows * READ for name in names)
    return _request(
        seconds, max(_held(case, name) for name in names) + ROW_KEPT * rows * len(names), attempt
    )


def optimum(plan: "Plan", name: str, attempt: int = 1) -> Request:
    """For the environments of an experiment or a tuning."""
    cases, seeds = plan.cases_of(name), len(plan.seeds_of(name))
    asked = [min(case.episodes, seeds * _evaluated(case, plan.study(name))) for case in cases]
    seconds = sum(
        number * OPTIMUM_SWEEPS * _sweep(case) for number, case in zip(asked, cases, strict=True)
    )
    return _request(seconds, max(map(_model, cases)) + POINT * sum(asked), attempt)


def tables(plan: "Plan", experiment: str, attempt: int = 1) -> Request:
    """All runs of an experiment are read at once."""
    chosen = plan.experiment(experiment)
    runs = len(chosen.all_learners) * len(chosen.seed_list)
    points = runs * sum(_points(case, chosen) for case in plan.cases_of(experiment))
    return _request(points * 50e-6, points * POINT, attempt)


def search(plan: "Plan", name: str, algorithm: str, episodes: int, attempt: int = 1) -> Request:
    """For all candidates of a search on its seeds, and about five entrants on the selection seeds at every doubling."""
    return _tried(plan, name, algorithm, episodes, _searched(plan.effort_of(name)), attempt)


def _searched(effort: dict[str, Any]) -> int:
    """The runs of a search."""
    entrants = 5 * (2 + effort["generations"].bit_length())
    return effort["population"] * effort["generations"] * effort["seeds"] + entrants * len(
        effort["selection_seeds"]
    )


def _tried(
    plan: "Plan", name: str, algorithm: str, episodes: int, runs: int, attempt: int
) -> Request:
    (case,) = [one for one in plan.cases_of(name) if one.episodes == episodes]
    return _request(
        runs * _seconds(case, algorithm, plan.study(name)), _held(case, algorithm), attempt
    )


def batch(plan: "Plan", experiment: str, unit: str) -> int:
    """So many seeds that a job lasts about five minutes."""
    return max(1, round(JOB / max(_simulation(plan, experiment, unit).seconds, 1e-9)))


class _Need(NamedTuple):
    seconds: float  # per seed
    model: float  # bytes of the largest model, and of what its learner keeps of it
    kept: float  # bytes per seed
    compared: float  # bytes of the optima that a run is compared with, and of its own episodes beside them


@cache
def _simulation(plan: "Plan", experiment: str, unit: str) -> _Need:
    chosen = plan.experiment(experiment)
    names = [one.algorithm for one in chosen.units[unit]]
    cases = plan.cases_of(experiment)
    return _Need(
        seconds=sum(_seconds(case, algorithm, chosen) for case in cases for algorithm in names),
        model=max(_held(case, algorithm) for case in cases for algorithm in names),
        kept=POINT * len(names) * sum(_points(case, chosen) for case in cases),
        compared=POINT * sum(_evaluated(case, chosen) for case in cases)
        if chosen.keep == "windows"
        else 0.0,
    )


def _seconds(case: "Case", algorithm: str, study: "Experiment | Tuning") -> float:
    """Of one run."""
    planning = SWEEPS.get(algorithm, 1) * _sweep(case)
    return case.episodes * (case.env.H * STEP + planning) + _evaluated(case, study) * _sweep(case)


def _held(case: "Case", algorithm: str) -> float:
    """Bytes of the model, and of what a learner that plans keeps of it."""
    env = case.env
    own = env.H * env.S * env.A * (OWN_ROW + OWN_SUCCESSOR * env.successors.shape[-1])
    return _model(case) + (SWEEPS.get(algorithm, 1) > 0) * own


def _sweep(case: "Case") -> float:
    env = case.env
    return env.H * env.S * env.A * (ROW + SUCCESSOR * env.successors.shape[-1])


def _model(case: "Case") -> float:
    return ENTRY * case.env.probability.size


def _evaluated(case: "Case", study: "Experiment | Tuning") -> int:
    return math.ceil(case.episodes / study.evaluate_every)


def _points(case: "Case", experiment: "Experiment") -> int:
    """How many points of a run are kept."""
    return experiment.windows if experiment.keep == "windows" else _evaluated(case, experiment)


def _request(seconds: float, size: float, attempt: int) -> Request:
    minutes = START + MARGIN * seconds / 60
    return Request(math.ceil(attempt * minutes), math.ceil(attempt * (BASE + size / 1e6)), seconds)
