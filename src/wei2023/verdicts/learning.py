"""What the policies of some episodes do on the map: exact, by induction in the model of their episode.

    q_h(x,a)       the probability of being at x and playing a at step h
    V, W           sum q r, sum q g: expected reward and utility
    visit(y)       the probability that the episode visits y, at its start or after any of its H moves: the mean over
                   mu0 of f_1, where f_h(y) = 1, elsewhere f_h(x) = sum_a pi_h(a|x) sum_x' P_h(x'|x,a) f_{h+1}(x'), and
                   f_{H+1} is 1 at y alone
    arrow(x,a)     sum_h q_h(x,a) / sum_{h,a} q_h(x,a): how the actions played at x are distributed

learning.parquet   all of these        one row per learner and episode; the optimum's rows have no learner
learning.csv       reward and cost     one row per learner and episode, beside the optimum's
"""

from bisect import bisect
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import scipy.sparse
from numpy.typing import NDArray

from nscmdp import files, optimum
from nscmdp.cmdp import CMDP, Array
from nscmdp.drift import DriftingCMDP
from nscmdp.environments.grid_world import mirrored, timetable
from nscmdp.files import write_csv
from wei2023.runs import integrity
from wei2023.study import layout
from wei2023.study.cases import Case
from wei2023.study.plan import Plan

OPTIMUM = ""  # in place of a learner's name, which is never empty
FLOATS = pa.list_(pa.float64())
SCHEMA = pa.schema(
    {
        "learner": pa.string(),
        "seed": pa.int64(),
        "episode": pa.int64(),
        "value": pa.float64(),
        "utility_value": pa.float64(),
        "visits": FLOATS,  # (S,)
        "arrows": FLOATS,  # (S,A), row by row
    }
)


class Followed(NamedTuple):
    """What a policy does in an episode."""

    value: float
    utility_value: float
    visits: Array  # (S,)
    arrows: Array  # (S,A); 0 where it never is


def write(plan: Plan, folder: Path) -> None:
    """The tables of all experiments that are watched."""
    for experiment in plan.watched:
        _write(plan, folder, experiment)


def _write(plan: Plan, folder: Path, experiment: str) -> None:
    case = plan.watched_case(experiment)
    tables = integrity.read_all(folder, integrity.policies(plan, experiment))
    rows = [*_optima(case.env, plan.watched_episodes(experiment)), *_learners(case.env, tables)]
    made_from = {
        "case": case.spec,
        "learners": {row["learner"]: row["seed"] for row in rows if row["learner"]},
    }
    parquet, csv = (folder / layout.table(name, experiment) for name in layout.LEARNING)
    files.write(parquet, pa.Table.from_pylist(rows, schema=SCHEMA), made_from)
    write_csv(csv, _summary(pd.DataFrame(rows), experiment, case.env))


def _optima(env: DriftingCMDP, episodes: list[int]) -> Iterator[dict[str, Any]]:
    for k in episodes:
        cmdp = env.at(k)
        yield {
            "learner": OPTIMUM,
            "seed": None,
            "episode": k,
            **_row(cmdp, optimum.constrained(cmdp).policy),
        }


def _learners(env: DriftingCMDP, tables: list[pa.Table]) -> Iterator[dict[str, Any]]:
    for table in tables:
        keys = table.select(["learner", "seed", "episode"]).to_pylist()
        for key, policy in zip(keys, files.cells(table, "policy"), strict=True):
            yield {**key, **_row(env.at(key["episode"]), policy.reshape(env.H, env.S, env.A))}


def _row(cmdp: CMDP, policy: Array) -> dict[str, Any]:
    found = follow(cmdp, policy)
    return {**found._asdict(), "arrows": found.arrows.ravel()}


def follow(cmdp: CMDP, policy: Array) -> Followed:
    """A policy (H,S,A) through an episode."""
    q = optimum.occupancy(cmdp, policy)
    played = q.sum(axis=0)
    there = played.sum(axis=1, keepdims=True)
    arrows = np.divide(played, there, out=np.zeros_like(played), where=there > 0)
    return Followed(
        float((q * cmdp.r).sum()), float((q * cmdp.g).sum()), visits(cmdp, policy), arrows
    )


def visits(cmdp: CMDP, policy: Array) -> Array:
    """(S,): the probability that an episode visits each state; backwards for all of them at once."""
    found = np.eye(cmdp.S)  # [x,y]: that y is visited from here on, being at x
    for h in reversed(range(cmdp.H)):
        found = _moves(cmdp, policy[h], h) @ found
        np.fill_diagonal(found, 1.0)
    return (cmdp.mu0[:, None] * found).sum(axis=0)


def _moves(cmdp: CMDP, policy: Array, h: int) -> scipy.sparse.csr_array:
    """(S,S): from each state to the next under the policy of step h."""
    layer = h if cmdp.layers > 1 else 0
    probability = (policy[:, :, None] * cmdp.probability[layer]).ravel()
    rows = np.arange(cmdp.S + 1) * cmdp.A * cmdp.columns
    parts = probability, cmdp.successors[layer].ravel().astype(np.int64), rows
    moves = scipy.sparse.csr_array(parts, shape=(cmdp.S, cmdp.S))
    moves.eliminate_zeros()
    moves.sum_duplicates()
    return moves


def _summary(rows: pd.DataFrame, experiment: str, env: DriftingCMDP) -> pd.DataFrame:
    """Reward and cost of each learner by episode, the optimum's beside them."""
    paid = rows.assign(reward=rows["value"], cost=env.H - rows["utility_value"])
    best = (
        paid[paid["learner"] == OPTIMUM]
        .set_index("episode")[["reward", "cost"]]
        .add_prefix("optimal_")
    )
    mine = paid.loc[paid["learner"] != OPTIMUM, ["learner", "seed", "episode", "reward", "cost"]]
    table = mine.join(best, on="episode").assign(limit=env.H - env.rho)
    table.insert(0, "experiment", experiment)
    return table


def maps(case: Case, episodes: list[int]) -> list[NDArray[np.str_]]:
    """The map of each of these episodes: a switch moves the goal, the obstacles or both to and fro."""
    grid, options = case.env.picture, case.options
    assert grid is not None
    switch = options.get("switch", "none")
    if switch == "none":
        return [grid] * len(episodes)
    knots, stops = timetable(
        [0.0, 1.0], options.get("legs", 1), tuple(options["switch_at"]), case.episodes
    )
    worlds = (grid, mirrored(grid, switch))
    return [worlds[stops[bisect(knots, k) - 1][1]] for k in episodes]
