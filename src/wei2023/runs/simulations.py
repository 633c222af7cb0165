"""What a simulation job does: a batch of seeds of some learners in all cases of an experiment.

A result file has one row per run: a case of the experiment, a learner and a seed. A run that another file of the same
folder already holds, made from the same specification, is taken from there: adding seeds or changing the batch size
computes nothing twice.
"""

import hashlib
import json
import re
import sys
import time
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from nscmdp import __version__, algorithms, environments, files, simulate
from nscmdp.drift import DriftingCMDP
from nscmdp.metrics import Array
from nscmdp.problem import Problem
from nscmdp.randomness import parse_seeds
from nscmdp.suite import optima
from wei2023.runs.records import SCHEMAS, record

Chosen = dict[tuple[str, str, int], Any]  # by tuning, algorithm and K: factors by choice

# What a log says of a run that came to its end.
FINISHED = re.compile(r"(\S+) seed \d+: episode (\d+) of \2, ([\d.]+) s")


def run_key(spec: dict[str, Any], learner: dict[str, Any], case: str) -> str:
    """A hash of everything that decides a run but its seed; a tuned learner's factors are among it."""
    decisive = {
        **{key: spec[key] for key in ("evaluate_every", "windows", "keep")},
        "case": spec["cases"][case],
        "learner": learner,
        "sources": spec["sources"][learner["algorithm"]],
        "version": __version__,
    }
    return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()[:16]


def simulate_batch(
    spec: dict[str, Any],
    seeds: list[int],
    output: Path,
    solved: Path | None = None,
    tuned: Sequence[Path] = (),
) -> None:
    """Simulate some seeds of every learner of a unit in every case.

    Runs that are kept by windows need the optima of every episode (``solved``), learners of the setting "tuned" the
    files of the tunings that chose their factors.
    """
    chosen = chosen_factors(tuned)
    known = _rows_elsewhere(output, seeds)
    best = {} if solved is None else optima.by_case(solved)
    rows = []
    for case, made_from in spec["cases"].items():
        env = optima.environment(made_from)
        for name, planned in spec["learners"].items():
            learner = with_chosen_factors(planned, chosen, made_from["episodes"], spec["tuned_in"])
            key = run_key(spec, learner, case)
            for seed in seeds:
                if (key, seed) in known:
                    file, row = known[key, seed]
                    print(f"{case} {name} seed {seed}: taken from {file.name}", file=sys.stderr)
                else:
                    row = _simulate(env, spec, learner, f"{case} {name}", seed, best.get(case))
                    known[key, seed] = output, row  # another learner may have the same constants
                rows.append({**row, "case": case, "learner": name, "key": key})
    table = pa.Table.from_pylist(rows, schema=SCHEMAS[spec["keep"]])
    files.write(output, table, files.provenance(spec))


def chosen_factors(tuned: Sequence[Path]) -> Chosen:
    if not tuned:
        return {}
    from nscmdp.suite import tuning  # with pandas: most jobs do without

    return tuning.choices(tuned)


def with_chosen_factors(
    learner: dict[str, Any], chosen: Chosen, episodes: int, tuned_in: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    """A learner of the setting "tuned" as one of the setting "scaled"; any other as it is.

    Factors are those chosen for these ``episodes``, or in the case of ``tuned_in`` in which its tuning decides. A
    learner whose constants are kept has those that the factors make there, as numbers; where they are scaled, those
    that they would make there with these ``episodes``.
    """
    if learner["setting"] != "tuned":
        return learner
    case, algorithm = tuned_in[learner["tuning"]], learner["algorithm"]
    at = episodes if learner["tuned_at"] == "each" else case["episodes"]
    factors = chosen[learner["tuning"], algorithm, at][learner["choice"]]
    factors = {name: value * learner["times"].get(name, 1.0) for name, value in factors.items()}
    own = ("times", "choice", "tuned_at", "tuning")
    made = {key: value for key, value in learner.items() if key not in own}
    if learner["tuned_at"] in ("kept", "scaled"):
        there = case if learner["tuned_at"] == "kept" else case | {"episodes": episodes}
        decisive = (there, algorithm, factors, learner["variants"])
        kept = kept_constants(*map(json.dumps, decisive))
        made["constants"] = kept | learner["constants"]
    return {**made, "setting": "scaled", "factors": factors}


@cache
def kept_constants(case: str, algorithm: str, factors: str, variants: str) -> dict[str, float]:
    """The constants that factors make in a case, as numbers."""
    there, name, given, departures = map(json.loads, (case, algorithm, factors, variants))
    known = Problem.of(environments.make(there["name"], there["episodes"], **there["options"]))
    return algorithms.scalars(algorithms.constants(name, known, "scaled", given, departures))


def _simulate(
    env: DriftingCMDP,
    spec: dict[str, Any],
    learner: dict[str, Any],
    called: str,
    seed: int,
    best: Array | None,
) -> dict[str, Any]:
    began = reported = time.monotonic()

    def progress(episode: int) -> None:
        """At most one line a second, and one at the end."""
        nonlocal reported
        now = time.monotonic()
        if now - reported > 1 or episode == env.episodes:
            reported = now
            line = f"{called} seed {seed}: episode {episode} of {env.episodes}, {now - began:.2f} s"
            print(line, file=sys.stderr, flush=True)

    options = {key: spec[key] for key in ("evaluate_every", "windows")}
    run = simulate.run(env, seed=seed, solve=False, progress=progress, **options, **learner)
    return {"seed": seed, **record(run, env, spec["keep"], best)}


def finished(logs: Path) -> Iterator[tuple[str, int, float]]:
    """(learner, episodes, seconds) of every run that the logs below a folder tell of."""
    for log in sorted(logs.rglob("*.log")):
        for learner, episodes, seconds in FINISHED.findall(log.read_text(encoding="utf-8")):
            yield learner, int(episodes), float(seconds)


def _rows_elsewhere(output: Path, seeds: list[int]) -> dict[tuple[str, int], tuple[Path, Any]]:
    """The runs of these seeds in sound files beside ``output``, by their key and seed."""
    rows: dict[tuple[str, int], tuple[Path, Any]] = {}
    for file in sorted(output.parent.glob("seeds=*.parquet")):
        try:
            if not set(parse_seeds(file.stem.removeprefix("seeds="))) & set(seeds):
                continue  # of many files, few have to be read
            table, _ = files.read(file)
        except (files.Damaged, ValueError):
            continue
        if "key" in table.column_names:
            rows |= {(row["key"], row["seed"]): (file, row) for row in table.to_pylist()}
    return rows
