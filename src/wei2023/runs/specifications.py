"""What decides the result of each job, as the specification file that the job reads.

A specification has everything that decides a result and nothing else: the environments, the learners, the effort, and a
hash of the sources that compute it. Its file is written before the run starts, and only where it differs from the one
that is there, so a job runs again exactly when something that decides its result has changed.
"""

import hashlib
import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from nscmdp import algorithms, files, plugins
from nscmdp.kernels import sources
from wei2023.study import layout
from wei2023.study.plan import Plan

Specification = dict[str, Any]


def optimum(plan: Plan, name: str) -> Specification:
    """For the optima of an experiment or a tuning."""
    digest = sources.digest("nscmdp.optimum", "nscmdp.randomness", beside="nscmdp.suite.optima")
    used = _plugins(case.environment for case in plan.cases_of(name))
    return {**plan.solved_in(name), "sources": digest, **used}


def search(plan: Plan, tuning: str, algorithm: str, episodes: int, number: int) -> Specification:
    chosen, start = plan.tuning(tuning), plan.tuning(tuning).start
    return {
        **_tuned(plan, tuning, algorithm, episodes),
        "search": number,
        "start": None
        if start is None
        else tuning_digest(plan, start, algorithm, plan.tuning(start).episodes),
        "strict": chosen.strict,
        "sources": _tuning_sources(algorithm, "nscmdp.suite.search"),
    }


def tuning(plan: Plan, name: str, algorithm: str, episodes: int) -> Specification:
    if plan.recorded:
        found: Specification = {"recorded": plan.recorded_searches(name, algorithm, episodes)}
    else:
        numbers = range(plan.searches_of(name))
        found = {"searches": [_digest(search(plan, name, algorithm, episodes, i)) for i in numbers]}
    decided = _tuned(plan, name, algorithm, episodes)
    return {**decided, **found, "sources": _tuning_sources(algorithm, "nscmdp.suite.tuning")}


@cache
def tuning_digest(plan: Plan, name: str, algorithm: str, episodes: int) -> str:
    return _digest(tuning(plan, name, algorithm, episodes))


def _tuned(plan: Plan, name: str, algorithm: str, episodes: int) -> Specification:
    chosen = plan.tuning(name)
    (case,) = [one for one in plan.cases_of(name) if one.episodes == episodes]
    return {
        "case": case.spec,
        "algorithm": algorithm,
        "objective": chosen.objective,
        "variants": chosen.variants,
        "effort": plan.effort_of(name),
        "frames": chosen.frames,
        "evaluate_every": chosen.evaluate_every,
        **({"thresholds": plan.thresholds} if chosen.objective == "margin" else {}),
        **_plugins([case.environment, algorithm]),
    }


@cache
def simulation(plan: Plan, experiment: str, unit: str) -> Specification:
    """For the runs of a unit: learners that one job simulates, whatever the seeds."""
    chosen = plan.experiment(experiment)
    learners = chosen.units[unit]
    tuned = plan.tuned_at(experiment, learners)
    return {
        "cases": {case.name: case.spec for case in plan.cases_of(experiment)},
        "learners": {one.name: plan.learner_spec(experiment, one) for one in learners},
        "tuned_in": plan.tuned_in(experiment, learners),
        "tuning": {
            f"{name} {of} at {K}": tuning_digest(plan, name, of, K) for name, of, K in tuned
        },
        "evaluate_every": chosen.evaluate_every,
        "windows": chosen.windows,
        "keep": chosen.keep,
        "sources": {name: run_digest(name) for name in sorted({one.algorithm for one in learners})},
        **_plugins([chosen.environment.name, *(one.algorithm for one in learners)]),
    }


def policies(plan: Plan, experiment: str, unit: str) -> Specification:
    """For the policies of a unit: one run of each learner, with the first seed that is reported."""
    runs, case = simulation(plan, experiment, unit), plan.watched_case(experiment)
    kept = {key: runs[key] for key in ("learners", "tuning", "tuned_in", "plugins") if key in runs}
    return kept | {
        "case": case.spec,
        "seed": plan.experiment(experiment).seed_list[0],
        "episodes": plan.watched_episodes(experiment),
        "sources": {name: policy_digest(name) for name in runs["sources"]},
    }


def of_runs(plan: Plan) -> dict[str, Specification]:
    """Of all jobs that compute something, by the name of the specification's file."""
    found = {layout.job(f"environments/{name}"): optimum(plan, name) for name in plan.solved}
    for name, algorithm, episodes, number, file in plan.search_files():
        found[layout.job_of(file)] = search(plan, name, algorithm, episodes, number)
    for name, algorithm, episodes, file in plan.tuning_files():
        found[layout.job_of(file)] = tuning(plan, name, algorithm, episodes)
    for name in plan.experiments:
        for unit in plan.experiment(name).units:
            found[layout.job(f"simulations/{name}/{unit}")] = simulation(plan, name, unit)
    for name in plan.watched:
        for unit in plan.experiment(name).units:
            found[layout.job(f"policies/{name}/{unit}")] = policies(plan, name, unit)
    return found


def part(plan: Plan, experiments: Iterable[str], kept: Iterable[str] = ()) -> Specification:
    """A part of the configuration: some experiments, what they are made with, and the keys ``kept``.

    They are made with the tunings that choose their constants, and with the experiments whose optima they share.
    """
    asked = {*experiments}
    names = {*asked, *map(plan.optima_of, asked)}
    shared = [one for one in plan.config.experiments if one.name in names]
    tuned = {keys[0] for one in shared for keys in plan.tuned_at(one.name)}
    chosen = [
        one if one.tuning in tuned else one.model_copy(update={"tuning": None}) for one in shared
    ]
    used = {name for one in tuned for name in (one, *plan.started_from(one))}
    tunings = [one for one in plan.config.tunings if one.name in used]
    nothing = {"shown": [], "protocols": None, "claims": None, "suite": None, "tunings": tunings}
    left_out = {key: value for key, value in nothing.items() if key not in kept}
    config = plan.config.model_copy(update={**left_out, "experiments": chosen})
    return config.model_dump(mode="json", exclude_unset=True, exclude={"results"})


def write(folder: Path, planned: dict[str, Specification]) -> None:
    """The files of specifications: each is written only where it differs from the one that is there."""
    for name, specification in planned.items():
        text, file = json.dumps(specification) + "\n", folder / name
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            files.write_text(file, text)


def run_digest(algorithm: str) -> str:
    """Of the sources that decide, with the environment and the constants, the numbers of a simulation."""
    return sources.digest(
        "nscmdp.simulate", algorithms.module(algorithm).__name__, beside="wei2023.runs.records"
    )


def policy_digest(algorithm: str) -> str:
    """Of the sources that decide the policies that are read from a simulation."""
    return sources.digest(
        "nscmdp.policies", algorithms.module(algorithm).__name__, beside="wei2023.runs.policies"
    )


def _tuning_sources(algorithm: str, job: str) -> str:
    beside = (job, "nscmdp.suite.scoring", "wei2023.runs.parts")
    return sources.digest("nscmdp.simulate", algorithms.module(algorithm).__name__, beside=beside)


def _plugins(names: Iterable[str]) -> dict[str, list[str]]:
    """What a job has to load first: the files behind names of environments and algorithms, if there are any."""
    used = plugins.files_of(names)
    return {"plugins": used} if used else {}


def _digest(spec: Specification) -> str:
    return hashlib.sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest()[:16]
