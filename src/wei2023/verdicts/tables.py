"""From result files to tables: every run of an experiment beside the optimum of its environment.

curves     realised reward and utility per episode, by window          one row per (learner, seed, window)
exact      V, W and the optimum at the evaluated episodes              one row per (learner, seed, episode)
summary    means over the run and over its last fifth, with intervals  one row per learner
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from nscmdp import files, metrics
from nscmdp.drift import DriftingCMDP
from nscmdp.files import load as load
from nscmdp.files import write_csv as write_csv
from nscmdp.metrics import mean_interval
from nscmdp.suite import optima
from wei2023.runs import integrity, simulations
from wei2023.runs.parts import LAST
from wei2023.runs.records import COMPARED
from wei2023.study import layout
from wei2023.study.plan import Plan

KEYS = ["experiment", "reading", "budget", "episodes", "learner", "algorithm", "setting"]
RUN = [*KEYS, "B", "seed", "horizon", "rho"]


def write(plan: Plan, folder: Path, experiment: str) -> None:
    """The tables of one experiment."""
    runs = _runs(plan, experiment, folder)
    curves = runs.assign(
        episode=runs["window_episodes"].map(metrics.window_middle),
        window=runs["window_episodes"].map(lambda lengths: np.arange(len(lengths))),
    )
    values = ["episode", "weight", "value", "utility_value", *COMPARED]
    exact = _long(runs, [*values, "uniform_value", "unconstrained_cost"])
    least = _long(runs.assign(gap=runs["least_gap"]), values) if "least_gap" in runs else exact
    _refuse_a_negative_gap(least)
    made = {
        "curves": _long(curves, ["reward", "utility", "dual", "episode", "window"]),
        "exact": exact,
        "traces": _traces(runs),
    }
    cases = [
        {"reading": case.reading, "budget": case.budget, **case.spec}
        for case in plan.cases_of(experiment)
    ]
    facts = {"cases": cases, "learners": _learners(plan, experiment, folder)}
    for name, frame in made.items():
        table = pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)
        files.write(folder / layout.table(f"{name}.parquet", experiment), table, facts)
    bytes_of = runs.groupby(KEYS, sort=False)["state_bytes"].first().reset_index()
    summary = _summary(exact).merge(bytes_of, on=KEYS)
    write_csv(folder / layout.table("summary.csv", experiment), summary)


def _learners(plan: Plan, experiment: str, folder: Path) -> dict[str, dict[str, Any]]:
    """The specification of every learner, a tuned one's with the factors that were chosen.

    They are under "factors"; of a learner that is tuned at each number of episodes, under "factors_at".
    """
    chosen = simulations.chosen_factors([folder / file for file in plan.tuned_by(experiment)])
    study = plan.experiment(experiment)
    tuned_in = plan.tuned_in(experiment, study.all_learners)
    found = {}
    for one in study.all_learners:
        spec = plan.learner_spec(experiment, one)
        made = {
            K: simulations.with_chosen_factors(spec, chosen, K, tuned_in) for K in study.episodes
        }
        if spec.get("tuned_at") == "each":
            more = {"factors_at": {str(K): learner["factors"] for K, learner in made.items()}}
        else:
            more = made[study.episodes[0]] | {"setting": spec["setting"]}
        found[one.name] = spec | more
    return found


def _runs(plan: Plan, experiment: str, folder: Path) -> pd.DataFrame:
    """One row per run, arrays in its cells, the comparison with the optimum at the run's own episodes among them."""
    study = plan.experiment(experiment)
    cases = {case.name: case for case in plan.cases_of(experiment)}
    learners = {one.name: one for one in study.all_learners}
    order = {"case": [*cases], "learner": [*learners]}
    found = integrity.read_all(folder, integrity.runs(plan, experiment))
    runs = pd.concat([table.to_pandas() for table in found]).sort_values(
        ["case", "learner", "seed"],
        key=lambda keys: keys.map(order[keys.name].index) if keys.name in order else keys,
        ignore_index=True,
    )
    runs = runs.assign(
        experiment=experiment,
        reading=runs["case"].map(lambda case: cases[case].reading),
        budget=runs["case"].map(lambda case: cases[case].budget),
        episodes=runs["case"].map(lambda case: cases[case].episodes),
        algorithm=runs["learner"].map(lambda name: learners[name].algorithm),
        setting=runs["learner"].map(lambda name: learners[name].setting),
    )
    if study.keep == "windows":
        return runs
    (solved,) = integrity.read_all(folder, [integrity.optima(plan, experiment)])
    names = [*optima.BEST, *optima.REFERENCES]
    best = {
        row["case"]: pd.DataFrame(
            {name: row[name] if len(row[name]) else np.nan for name in names}, index=row["episode"]
        )
        for row in solved.to_pandas().to_dict("records")
    }
    rows = []
    for run in runs.itertuples():
        beside = best[run.case].loc[run.episode]
        optimal = beside[[*optima.BEST]].to_numpy()
        row = metrics.compare(run.value, run.utility_value, optimal, run.rho)
        row["uniform_value"] = beside["uniform"].to_numpy()
        row["unconstrained_cost"] = metrics.cost(
            run.horizon, beside["unconstrained_utility"].to_numpy()
        )
        rows.append(row)
    return runs.join(pd.DataFrame(rows))


def _long(runs: pd.DataFrame, cells: list[str]) -> pd.DataFrame:
    """One row for each entry of the arrays in some cells, as far as the runs have these."""
    cells = [name for name in cells if name in runs]
    whole = {"episode": "float64", "window": "int64", "weight": "int64"}
    long = runs[[*RUN, *cells]].explode(cells, ignore_index=True)
    return long.astype({cell: whole.get(cell, "float64") for cell in cells})


def _traces(runs: pd.DataFrame) -> pd.DataFrame:
    """What learners remember of themselves (arms chosen, dual variables), of each one's first seed."""
    keys = [*KEYS, "seed"]
    frames = [pd.DataFrame(columns=[*keys, "trace", "row", "column", "value"])]
    first = runs.sort_values("seed", kind="stable").groupby(KEYS, sort=False).head(1)
    for run in first.to_dict("records"):
        for trace in run["traces"]:
            values = np.asarray(trace["values"], dtype=float)
            row, column = np.divmod(np.arange(len(values)), trace["columns"])
            cells = {"trace": trace["name"], "row": row, "column": column, "value": values}
            frames.append(pd.DataFrame({**{key: run[key] for key in keys}, **cells}))
    return pd.concat(frames[1:] or frames, ignore_index=True).astype({"value": float})


def _refuse_a_negative_gap(exact: pd.DataFrame) -> None:
    """No policy can beat the Lagrangian optimum of its episode: if one does, the optimum is wrong."""
    worst = exact.loc[exact["gap"].idxmin()]
    if worst["gap"] < -1e-9 * (1 + worst["optimal_multiplier"]):
        run = f"{worst['learner']}, seed {worst['seed']}"
        raise ValueError(f"{run}: a gap of {worst['gap']:.3g} in {worst['episode']:g}")


def _summary(exact: pd.DataFrame) -> pd.DataFrame:
    names = {"value": "value", "utility_value": "utility"}
    names |= {name: name for name in metrics.MEASURES}
    rows, keys = [], [*KEYS, "B", "rho", "horizon"]
    for found, runs in exact.groupby(keys, sort=False):
        row = dict(zip(keys, found, strict=True)) | {"seeds": runs["seed"].nunique()}
        late = runs[runs["episode"] > LAST * runs["episodes"]]
        for prefix, part in (("", runs), ("last_", late)):
            seeds = [
                [metrics.mean(run[name], run["weight"]) for name in names]
                for _, run in part.groupby("seed")
            ]
            for name, *ends in zip(names.values(), *mean_interval(np.array(seeds)), strict=True):
                columns = (f"{prefix}{name}{end}" for end in ("", "_low", "_high"))
                row |= zip(columns, ends, strict=True)
        row["optimal_value"] = metrics.mean(runs["optimal_value"], runs["weight"])
        row["multiplier"] = metrics.mean(runs["optimal_multiplier"], runs["weight"])
        rows.append(row)
    return pd.DataFrame(rows)


def environment(file: Path, reading: str, budget: str, episodes: int) -> DriftingCMDP:
    """The environment behind the rows of a Parquet table."""
    for case in files.read(file)[1]["cases"]:
        if (case["reading"], case["budget"], case["episodes"]) == (reading, budget, episodes):
            return optima.environment(case)
    raise ValueError(f"{file} has no case {reading}, {budget}, K = {episodes}")


def cases(file: Path) -> list[tuple[str, str, int]]:
    """(reading, budget, K) of every case behind the rows of a Parquet table."""
    found = files.read(file)[1]["cases"]
    return [(case["reading"], case["budget"], case["episodes"]) for case in found]


def learners(file: Path) -> dict[str, dict[str, Any]]:
    """The specification of every learner behind the rows of a Parquet table."""
    return files.read(file)[1]["learners"]
