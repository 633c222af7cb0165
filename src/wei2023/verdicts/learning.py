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
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import scipy.sparse
from numpy.typing import NDArray

from nscmdp import files, metrics, optimum
from nscmdp.cmdp import CMDP, Array
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


def write(plan: Plan, folder: Path, experiment: str) -> None:
    """The tables of an experiment that is watched: the optimum's policies, then the learners'."""
    case = plan.watched_case(experiment)
    env, rows = case.env, []

    def add(learner: str, seed: int | None, k: int, policy: Array) -> None:
        keys = {"learner": learner, "seed": seed, "episode": k}
        rows.append({**keys, **follow(env.at(k), policy)})

    for k in plan.watched_episodes(experiment):
        add(OPTIMUM, None, k, optimum.constrained(env.at(k)).policy)
    for table in integrity.read_all(folder, integrity.policies(plan, experiment)):
        keys = (table[name].to_pylist() for name in ("learner", "seed", "episode"))
        for learner, seed, k, policy in zip(*keys, files.cells(table, "policy"), strict=True):
            add(learner, seed, k, policy.reshape(env.H, env.S, env.A))
    seeds = {row["learner"]: row["seed"] for row in rows if row["learner"]}
    parquet, csv = (folder / layout.table(name, experiment) for name in layout.LEARNING)
    made_from = {"case": case.spec, "learners": seeds}
    files.write(parquet, pa.Table.from_pylist(rows, schema=SCHEMA), made_from)

    paid = pd.DataFrame(rows)
    paid = paid.assign(reward=paid["value"], cost=metrics.cost(env.H, paid["utility_value"]))
    best = paid[paid["learner"] == OPTIMUM].set_index("episode")[["reward", "cost"]]
    mine = paid.loc[paid["learner"] != OPTIMUM, ["learner", "seed", "episode", "reward", "cost"]]
    summary = mine.join(best.add_prefix("optimal_"), on="episode").assign(
        limit=metrics.cost(env.H, env.rho)
    )
    summary.insert(0, "experiment", experiment)
    write_csv(csv, summary)


def follow(cmdp: CMDP, policy: Array) -> dict[str, Any]:
    """What a policy (H,S,A) does in an episode; arrows are 0 where it never is."""
    q = optimum.occupancy(cmdp, policy)
    played = q.sum(axis=0)
    there = played.sum(axis=1, keepdims=True)
    arrows = np.divide(played, there, out=np.zeros_like(played), where=there > 0)
    values = {"value": float((q * cmdp.r).sum()), "utility_value": float((q * cmdp.g).sum())}
    return {**values, "visits": visits(cmdp, policy), "arrows": arrows.ravel()}


def visits(cmdp: CMDP, policy: Array) -> Array:
    """(S,): the probability that an episode visits each state; backwards for all of them at once."""
    found = np.eye(cmdp.S)  # [x,y]: that y is visited from here on, being at x
    for h in reversed(range(cmdp.H)):
        layer = h if cmdp.layers > 1 else 0
        rows = np.arange(cmdp.S + 1) * cmdp.A * cmdp.columns
        probability = (policy[h][:, :, None] * cmdp.probability[layer]).ravel()
        successors = cmdp.successors[layer].ravel().astype(np.int64)
        moves = scipy.sparse.csr_array((probability, successors, rows), shape=(cmdp.S, cmdp.S))
        moves.eliminate_zeros()
        moves.sum_duplicates()
        found = moves @ found
        np.fill_diagonal(found, 1.0)
    return (cmdp.mu0[:, None] * found).sum(axis=0)


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
