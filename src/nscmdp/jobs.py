"""What one job of the pipeline does: simulate a batch of seeds, solve an environment's optima, compile the kernels.

A result file has one row a run: a case of the experiment, a learner and a seed. A run that another file of the same
folder already holds, made from the same specification, is taken from there: adding seeds or changing the batch size
computes nothing twice.
"""

import hashlib
import json
import re
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path as File
from typing import Any

import numpy as np
import pyarrow as pa

from nscmdp import __version__, algorithms, budget, environments, optimum, results, simulate
from nscmdp.cmdp import Array
from nscmdp.path import Path
from nscmdp.problem import DoesNotFit
from nscmdp.randomness import checkpoints, unspell

TUNED = "tuned"  # the setting "scaled" with the factors that a tuning chose
FLOATS = pa.list_(pa.float64())
WHOLE = pa.list_(pa.int64())
TRACES = pa.list_(pa.struct({"name": pa.string(), "columns": pa.int64(), "values": FLOATS}))
EVERY_RUN = {
    "case": pa.string(),
    "learner": pa.string(),
    "seed": pa.int64(),
    "key": pa.string(),  # a hash of everything that decides this run but its seed
    "B": pa.float64(),
    "horizon": pa.int64(),
    "rho": pa.float64(),
    "window_episodes": WHOLE,
    "reward": FLOATS,
    "utility": FLOATS,
    "dual": FLOATS,
    "state_bytes": pa.int64(),
    "traces": TRACES,
    "weight": WHOLE,
    "value": FLOATS,
    "worth": FLOATS,
}
OPTIMAL = ("optimal_value", "optimal_utility", "optimal_multiplier")
COMPARED = (*OPTIMAL, "shortfall", "positive_shortfall", "lack", "positive_lack", "gap")
SCHEMAS = {
    "episodes": pa.schema({**EVERY_RUN, "episode": WHOLE}),
    "windows": pa.schema({**EVERY_RUN, "episode": FLOATS, "least_gap": FLOATS} | dict.fromkeys(COMPARED, FLOATS)),
}


BEST = ("value", "utility", "multiplier")  # of the constrained optimum
REFERENCES = ("free", "uniform")  # the value of the best policy without a constraint, and of the uniform one
OPTIMA = pa.schema({"case": pa.string(), "episode": WHOLE} | dict.fromkeys((*BEST, *REFERENCES), FLOATS))


# What a log says of a run that came to its end.
FINISHED = re.compile(r"(\S+) seed \d+: episode (\d+) of \2, ([\d.]+) s")


class Mismatch(ValueError):
    """The environment that was made is not the one that was planned."""


def environment(case: dict[str, Any]) -> Path:
    env = environments.make(case["name"], case["episodes"], **case["options"])
    if env.fingerprint() != case["fingerprint"]:
        raise Mismatch(f"{case['name']} has changed since the run was planned: start the pipeline again")
    return env


def run_key(spec: dict[str, Any], learner: dict[str, Any], case: str) -> str:
    """A hash of everything that decides a run but its seed; a tuned learner's factors are among it."""
    shared = {key: spec[key] for key in ("evaluate_every", "windows", "keep")}
    sources = spec["sources"][learner["algorithm"]]
    decisive = {**shared, "case": spec["cases"][case], "learner": learner, "sources": sources, "version": __version__}
    return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()[:16]


def facts(spec: dict[str, Any]) -> dict[str, Any]:
    """The provenance of a result."""
    return {"specification": spec, "version": __version__}


def simulate_batch(
    spec: dict[str, Any], seeds: list[int], output: File, optima: File | None = None, tuned: Sequence[File] = ()
) -> None:
    """Simulate some seeds of every learner of a unit in every case.

    Runs that are kept by windows need the ``optima`` of every episode, learners of the setting "tuned" the file of the
    tuning that chose their algorithm's factors.
    """
    chosen = chosen_factors(tuned)
    known = _rows_elsewhere(output, seeds)
    best = {} if optima is None else by_case(results.read(optima)[0])
    rows = []
    for case, made_from in spec["cases"].items():
        env = environment(made_from)
        for name, planned in spec["learners"].items():
            learner = with_chosen_factors(planned, chosen)
            key = run_key(spec, learner, case)
            for seed in seeds:
                if (key, seed) in known:
                    file, row = known[key, seed]
                    print(f"{case} {name} seed {seed}: taken from {file.name}", file=sys.stderr)
                else:
                    row = _simulate(env, spec, learner, f"{case} {name}", seed, best.get(case))
                rows.append({**row, "case": case, "learner": name, "key": key})
    results.write(output, pa.Table.from_pylist(rows, schema=SCHEMAS[spec["keep"]]), facts(spec))


def chosen_factors(tuned: Sequence[File]) -> dict[str, dict[str, float]]:
    """By algorithm."""
    if not tuned:
        return {}
    from nscmdp import tuning  # with pandas: most jobs do without

    return tuning.choices(tuned)


def with_chosen_factors(learner: dict[str, Any], chosen: dict[str, dict[str, float]]) -> dict[str, Any]:
    """A learner of the setting "tuned" as one of the setting "scaled"; any other as it is."""
    if learner["setting"] != TUNED:
        return learner
    factors = {name: value * learner["times"][name] for name, value in chosen[learner["algorithm"]].items()}
    rest = {key: value for key, value in learner.items() if key != "times"}
    return {**rest, "setting": "scaled", "factors": factors}


def _simulate(
    env: Path, spec: dict[str, Any], learner: dict[str, Any], called: str, seed: int, best: Array | None
) -> dict[str, Any]:
    began = time.monotonic()
    told = [began]

    def progress(episode: int) -> None:
        """At most one line a second, and one at the end."""
        now = time.monotonic()
        if now - told[0] > 1 or episode == env.episodes:
            told[0] = now
            line = f"{called} seed {seed}: episode {episode} of {env.episodes}, {now - began:.2f} s"
            print(line, file=sys.stderr, flush=True)

    run = simulate.run(
        env,
        seed=seed,
        evaluate_every=spec["evaluate_every"],
        windows=spec["windows"],
        solve=False,
        progress=progress,
        **learner,
    )
    row = {
        "seed": seed,
        "B": budget.variation(env).total,
        "horizon": env.H,
        "rho": env.rho,
        "window_episodes": run.window_episodes,
        "reward": run.reward,
        "utility": run.utility,
        "dual": run.dual,
        "state_bytes": algorithms.state_bytes(run.learner),
        "traces": [
            {"name": name, "columns": trace.shape[1], "values": trace.ravel()}
            for name, trace in getattr(run.learner, "traces", {}).items()
        ],
    }
    if spec["keep"] == "windows":
        if best is None:
            raise ValueError("a run that is kept by windows needs the optimum of every episode")
        return row | by_window(run, best)
    return row | {"episode": run.episode, "weight": run.weight, "value": run.value, "worth": run.worth}


def finished(logs: File) -> Iterator[tuple[str, int, float]]:
    """(learner, episodes, seconds) of every run that the logs below a folder tell of."""
    for log in sorted(logs.rglob("*.log")):
        for learner, episodes, seconds in FINISHED.findall(log.read_text(encoding="utf-8")):
            yield learner, int(episodes), float(seconds)


def compare(value: Array, worth: Array, best: Array, rho: float) -> dict[str, Array]:
    """What policies of value V and utility W lack beside the optima (n,3) of their episodes."""
    shortfall, lack = best[:, 0] - value, rho - worth
    columns = (best[:, 0], best[:, 1], best[:, 2], shortfall, np.maximum(shortfall, 0), lack, np.maximum(lack, 0))
    return dict(zip(COMPARED, (*columns, shortfall + best[:, 2] * lack), strict=True))


def by_window(run: simulate.Run, best: Array) -> dict[str, Array]:
    """Means over windows of what a run that was evaluated in every episode is worth."""
    starts = np.concatenate([[0], np.cumsum(run.window_episodes)[:-1]])
    compared = compare(run.value, run.worth, best, run.rho)
    exact = {"value": run.value, "worth": run.worth, **compared}
    means = {name: np.add.reduceat(column, starts) / run.window_episodes for name, column in exact.items()}
    middle = starts + (run.window_episodes + 1) / 2
    least = np.minimum.reduceat(compared["gap"], starts)
    return {"episode": middle, "weight": run.window_episodes, "least_gap": least, **means}


def _rows_elsewhere(output: File, seeds: list[int]) -> dict[tuple[str, int], tuple[File, dict[str, Any]]]:
    """The runs of these seeds in sound files beside ``output``, by their key and seed."""
    rows: dict[tuple[str, int], tuple[File, dict[str, Any]]] = {}
    for file in sorted(output.parent.glob("seeds=*.parquet")):
        try:
            if not set(unspell(file.stem.removeprefix("seeds="))) & set(seeds):
                continue  # of many files, few are worth reading
            table, _ = results.read(file)
        except (results.Damaged, ValueError):
            continue
        if "key" in table.column_names:
            rows |= {(row["key"], row["seed"]): (file, row) for row in table.to_pylist()}
    return rows


def solve_optimum(spec: dict[str, Any], output: File) -> None:
    """For every case, the optimum at every episode that some seed evaluates."""
    every, seeds = spec["evaluate_every"], spec["seeds"] or [0]
    rows = []
    for case, made_from in spec["cases"].items():
        began = time.monotonic()
        env = environment(made_from)
        asked = np.unique(np.concatenate([checkpoints(env.episodes, every, seed) for seed in seeds]))
        best = dict(zip(BEST, optimum.along(env, asked).T, strict=True))
        beside = optimum.references(env, asked) if spec["references"] else np.empty((0, 2))
        rows.append({"case": case, "episode": asked, **best, **dict(zip(REFERENCES, beside.T, strict=True))})
        print(f"{case}: {len(asked)} optima, {time.monotonic() - began:.1f} s", file=sys.stderr, flush=True)
    results.write(output, pa.Table.from_pylist(rows, schema=OPTIMA), facts(spec))


def by_case(table: pa.Table) -> dict[str, Array]:
    """A table of optima as case -> (n,3): value, utility and multiplier."""
    columns = [results.cells(table, name) for name in BEST]
    return {case: np.column_stack(best) for case, *best in zip(table["case"].to_pylist(), *columns, strict=True)}


def compile_kernels(names: list[str]) -> None:
    """Run every learner for a few episodes, with features and without, so that what it needs is compiled and kept."""
    warnings.simplefilter("ignore", DoesNotFit)
    tabular = environments.make("grid_world", 3, map="6x6", horizon=2, limit=2.0)
    featured = environments.make("linear", 10, states=12, horizon=2)
    for name in names:
        began = time.monotonic()
        for env in (tabular, featured):
            simulate.run(env, name, algorithms.module(name).SETTINGS[0])
        print(f"{name}: ready in {time.monotonic() - began:.1f} s", file=sys.stderr, flush=True)
