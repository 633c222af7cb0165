"""What one job of the pipeline does: simulate a batch of seeds, solve an environment's optima, compile the kernels.

A result file of a batch has one row a seed. A seed that another file of the same folder already holds, made from the
same specification, is taken from there: changing the batch size or adding seeds computes nothing twice.
"""

import sys
import time
from pathlib import Path as File
from typing import Any

import numpy as np
import pyarrow as pa

from nscmdp import __version__, algorithms, budget, environments, optimum, results, simulate
from nscmdp.path import Path
from nscmdp.randomness import checkpoints

FLOATS = pa.list_(pa.float64())
WHOLE = pa.list_(pa.int64())
RUN_SCHEMA = pa.schema(
    {
        "seed": pa.int64(),
        "window_episodes": WHOLE,
        "reward": FLOATS,
        "utility": FLOATS,
        "episode": WHOLE,
        "weight": WHOLE,
        "value": FLOATS,
        "worth": FLOATS,
        "state_bytes": pa.int64(),
    }
)


class Mismatch(ValueError):
    """The environment that was made is not the one that was planned."""


def environment(spec: dict[str, Any]) -> Path:
    made = spec["environment"]
    env = environments.make(made["name"], made["episodes"], **made["options"])
    if env.fingerprint() != spec["fingerprint"]:
        raise Mismatch(f"{made['name']} has changed since the run was planned: start the pipeline again")
    return env


def facts(spec: dict[str, Any], env: Path) -> dict[str, Any]:
    """The provenance of a result."""
    measured = budget.variation(env)
    return {
        "specification": spec,
        "budget": {**measured._asdict(), "total": measured.total},
        "horizon": env.H,
        "rho": env.rho,
        "version": __version__,
    }


def simulate_batch(spec: dict[str, Any], seeds: list[int], output: File) -> None:
    env = environment(spec)
    provenance = facts(spec, env)
    known = _rows_elsewhere(output, provenance)
    rows = []
    for seed in seeds:
        if seed in known:
            print(f"seed {seed}: taken from {known[seed][0].name}", file=sys.stderr)
            rows.append(known[seed][1])
        else:
            rows.append(_simulate(env, spec, seed))
    results.write(output, pa.Table.from_pylist(rows, schema=RUN_SCHEMA), provenance)


def _simulate(env: Path, spec: dict[str, Any], seed: int) -> dict[str, Any]:
    began = time.monotonic()

    def progress(episode: int) -> None:
        took = time.monotonic() - began
        print(f"seed {seed}: episode {episode} of {env.episodes}, {took:.1f} s", file=sys.stderr, flush=True)

    run = simulate.run(
        env, seed=seed, evaluate_every=spec["evaluate_every"], solve=False, progress=progress, **spec["learner"]
    )
    return {
        "seed": seed,
        "window_episodes": run.window_episodes,
        "reward": run.reward,
        "utility": run.utility,
        "episode": run.episode,
        "weight": run.weight,
        "value": run.value,
        "worth": run.worth,
        "state_bytes": algorithms.state_bytes(run.learner),
    }


def _rows_elsewhere(output: File, provenance: dict[str, Any]) -> dict[int, tuple[File, dict[str, Any]]]:
    """Seeds that sound files beside ``output`` hold for the same provenance."""
    rows: dict[int, tuple[File, dict[str, Any]]] = {}
    for file in sorted(output.parent.glob("seeds=*.parquet")):
        try:
            table, found = results.read(file)
        except results.Damaged:
            continue
        if found == provenance:
            rows |= {row["seed"]: (file, row) for row in table.to_pylist()}
    return rows


def solve_optimum(spec: dict[str, Any], output: File) -> None:
    """The optimum at every episode that some seed evaluates."""
    env = environment(spec)
    every = spec["evaluate_every"]
    asked = np.unique(np.concatenate([checkpoints(env.episodes, every, seed) for seed in spec["seeds"]]))
    best = optimum.along(env, asked)
    table = pa.table({"episode": asked, "value": best[:, 0], "utility": best[:, 1], "multiplier": best[:, 2]})
    results.write(output, table, facts(spec, env))


def compile_kernels(names: list[str]) -> None:
    """Run every learner for a few episodes, so that what it needs is compiled and kept."""
    env = environments.make("grid_world", 3, map="6x6", horizon=2, limit=2.0)
    for name in names:
        began = time.monotonic()
        simulate.run(env, name, algorithms.module(name).SETTINGS[0])
        print(f"{name}: ready in {time.monotonic() - began:.1f} s", file=sys.stderr, flush=True)
