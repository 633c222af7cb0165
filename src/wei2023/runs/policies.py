"""What a job that keeps policies does: each learner of a unit once more, with the first seed that is reported.

A result file has one row per learner and episode: the policy (H,S,A) that is played there, row by row. A learner that
cannot say what it plays has no rows.
"""

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from nscmdp import algorithms, files, policies
from nscmdp.cmdp import Array
from nscmdp.drift import DriftingCMDP
from nscmdp.problem import Problem
from nscmdp.suite import optima
from wei2023.runs import simulations

SCHEMA = pa.schema(
    {
        "learner": pa.string(),
        "seed": pa.int64(),
        "episode": pa.int64(),
        "policy": pa.list_(pa.float64()),
    }
)


def store(spec: dict[str, Any], output: Path, tuned: Sequence[Path] = ()) -> None:
    """Write the policies of every learner of a unit."""
    chosen = simulations.chosen_factors(tuned)
    env, seed, episodes = optima.environment(spec["case"]), spec["seed"], spec["episodes"]
    rows: list[dict[str, Any]] = []
    for name, planned in spec["learners"].items():
        began = time.monotonic()
        learner = simulations.with_chosen_factors(planned, chosen, env.episodes, spec["tuned_in"])
        found = played(env, learner, episodes, seed)
        if found is not None:
            keys = {"learner": name, "seed": seed}
            rows += [
                {**keys, "episode": k, "policy": one.ravel()}
                for k, one in zip(episodes, found, strict=True)
            ]
        said = "no policy to ask for" if found is None else f"{len(found)} policies"
        print(f"{name}: {said}, {time.monotonic() - began:.2f} s", file=sys.stderr, flush=True)
    files.write(output, pa.Table.from_pylist(rows, schema=SCHEMA), files.provenance(spec))


def played(
    env: DriftingCMDP, learner: dict[str, Any], episodes: list[int], seed: int
) -> Array | None:
    """By a learner as a specification has it."""
    made_from = dict(learner)
    known = Problem.of(env, made_from.pop("assumed_budget"), made_from.pop("assumed_for"))
    return policies.played(
        env, algorithms.make(problem=known, **made_from), learner["algorithm"], episodes, seed
    )
