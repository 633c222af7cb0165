"""The optima of an environment, at every episode that some seed evaluates: solved once, shared by all runs."""

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from nscmdp import environments, files, optimum
from nscmdp.drift import DriftingCMDP
from nscmdp.metrics import Array
from nscmdp.randomness import checkpoints

BEST = ("value", "utility", "multiplier")  # of the constrained optimum
# Of the best policy without the constraint, and of the uniform policy.
REFERENCES = ("unconstrained", "unconstrained_utility", "uniform")
FLOATS = dict.fromkeys((*BEST, *REFERENCES), pa.list_(pa.float64()))
SCHEMA = pa.schema({"case": pa.string(), "episode": pa.list_(pa.int64())} | FLOATS)


class Mismatch(ValueError):
    """The environment that was made is not the one that was planned."""


def environment(case: dict[str, Any]) -> DriftingCMDP:
    """The environment of a planned case."""
    env = environments.make(case["name"], case["episodes"], **case["options"])
    if env.fingerprint() != case["fingerprint"]:
        changed = f"{case['name']} has changed since the run was planned"
        raise Mismatch(f"{changed}: start the pipeline again")
    return env


def solve(spec: dict[str, Any], output: Path) -> None:
    """Write the optima of all cases."""
    every, seeds = spec["evaluate_every"], spec["seeds"] or [0]
    rows = []
    for case, made_from in spec["cases"].items():
        began = time.monotonic()
        env = environment(made_from)
        drawn = [checkpoints(env.episodes, every, seed) for seed in seeds]
        asked = np.unique(np.concatenate(drawn))
        best = dict(zip(BEST, optimum.along(env, asked).T, strict=True))
        beside = optimum.references(env, asked) if spec["references"] else np.empty((0, 3))
        best |= dict(zip(REFERENCES, beside.T, strict=True))
        rows.append({"case": case, "episode": asked, **best})
        done = f"{case}: {len(asked)} optima, {time.monotonic() - began:.1f} s"
        print(done, file=sys.stderr, flush=True)
    files.write(output, pa.Table.from_pylist(rows, schema=SCHEMA), files.provenance(spec))


def by_case(file: Path) -> dict[str, Array]:
    """Case -> (n,3): value, utility and multiplier."""
    table, _ = files.read(file)
    cases = zip(*(files.cells(table, name) for name in BEST), strict=True)
    return dict(zip(table["case"].to_pylist(), map(np.column_stack, cases), strict=True))
