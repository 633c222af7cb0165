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

BESIDE = ("uniform_value", "unconstrained_cost")  # where a simulation is judged
KEYS = ["experiment", "reading", "budget", "episodes", "learner", "algorithm", "setting"]


def write(plan: Plan, folder: Path, experiment: str) -> None:
    """The tables of one experiment."""
    runs = _runs(plan, experiment, folder)
    learners = _resolved(plan, experiment, folder)
    cases = [
        {"reading": case.reading, "budget": case.budget, **case.spec}
        for case in plan.cases_of(experiment)
    ]
    made_from = {"cases": cases, "learners": learners}
    output = (folder / layout.table("summary.csv", experiment)).parent
    exact = _exact(runs)
    _refuse_a_negative_gap(
        _exact(runs.assign(gap=runs["least_gap"])) if "least_gap" in runs else exact
    )
    _save(_curves(runs), output / "curves.parquet", made_from)
    _save(exact, output / "exact.parquet", made_from)
    _save(_traces(runs), output / "traces.parquet", made_from)
    write_csv(output / "summary.csv", _summary(exact, runs))


def _resolved(plan: Plan, experiment: str, folder: Path) -> dict[str, dict[str, Any]]:
    """The specifications of an experiment's learners; those of tuned ones hold the factors that were chosen."""
    chosen = simulations.chosen_factors([folder / file for file in plan.tuned_by(experiment)])
    study = plan.experiment(experiment)
    tuned_in = plan.tuned_in(experiment, study.all_learners)
    specs = {one.name: plan.learner_spec(experiment, one) for one in study.all_learners}
    return {
        name: _with_factors(spec, chosen, study.episodes, tuned_in) for name, spec in specs.items()
    }


def _with_factors(
    spec: dict[str, Any], chosen: simulations.Chosen, episodes: list[int], tuned_in: dict[str, Any]
) -> dict[str, Any]:
    """Under "factors"; those of a learner that is tuned at each number of episodes under "factors_at"."""
    made = {K: simulations.with_chosen_factors(spec, chosen, K, tuned_in) for K in episodes}
    if spec.get("tuned_at") == "each":
        return {**spec, "factors_at": {str(K): one["factors"] for K, one in made.items()}}
    return {**spec, **made[episodes[0]], "setting": spec["setting"]}


def _runs(plan: Plan, experiment: str, folder: Path) -> pd.DataFrame:
    """One row per run, arrays in its cells, the comparison with the optimum at the run's own episodes among them."""
    cases = {case.name: case for case in plan.cases_of(experiment)}
    learners = {one.name: one for one in plan.experiment(experiment).all_learners}
    tables = integrity.read_all(folder, integrity.runs(plan, experiment))
    runs = pd.concat([table.to_pandas() for table in tables], ignore_index=True)
    order = pd.DataFrame(
        {
            "case": runs["case"].map(list(cases).index),
            "learner": runs["learner"].map(list(learners).index),
        }
    )
    runs = runs.loc[
        order.assign(seed=runs["seed"]).sort_values(["case", "learner", "seed"]).index
    ].reset_index(drop=True)
    runs = runs.assign(
        experiment=experiment,
        reading=[cases[case].reading for case in runs["case"]],
        budget=[cases[case].budget for case in runs["case"]],
        episodes=[cases[case].episodes for case in runs["case"]],
        algorithm=[learners[name].algorithm for name in runs["learner"]],
        setting=[learners[name].setting for name in runs["learner"]],
    )
    if plan.experiment(experiment).keep == "windows":
        return runs
    solved = _optima(integrity.read_all(folder, [integrity.optima(plan, experiment)])[0])
    best = [
        solved[case].loc[episodes]
        for case, episodes in zip(runs["case"], runs["episode"], strict=True)
    ]
    optimal = [table[[*optima.BEST]].to_numpy() for table in best]
    rows = zip(runs["value"], runs["utility_value"], optimal, runs["rho"], strict=True)
    compared = runs.join(pd.DataFrame([metrics.compare(*row) for row in rows]))
    unconstrained = [
        horizon - table["unconstrained_utility"].to_numpy()
        for horizon, table in zip(runs["horizon"], best, strict=True)
    ]
    return compared.assign(
        uniform_value=[table["uniform"].to_numpy() for table in best],
        unconstrained_cost=unconstrained,
    )


def _optima(table: pa.Table) -> dict[str, pd.DataFrame]:
    rows = table.to_pandas().set_index("case")
    columns = [*optima.BEST, *optima.REFERENCES]
    return {
        case: pd.DataFrame(
            {name: row[name] if len(row[name]) else np.nan for name in columns},
            index=row["episode"],
        )
        for case, row in rows.iterrows()
    }


def _curves(runs: pd.DataFrame) -> pd.DataFrame:
    middle = [metrics.window_middle(length) for length in runs["window_episodes"]]
    wide = runs[[*KEYS, "B", "seed", "horizon", "rho", "reward", "utility", "dual"]].assign(
        episode=middle, window=[np.arange(len(m)) for m in middle]
    )
    return _long(wide, ["window", "episode", "reward", "utility", "dual"])


def _exact(runs: pd.DataFrame) -> pd.DataFrame:
    cells = [
        "episode",
        "weight",
        "value",
        "utility_value",
        *COMPARED,
        *(name for name in BESIDE if name in runs),
    ]
    return _long(runs[[*KEYS, "B", "seed", "horizon", "rho", *cells]], cells)


def _long(frame: pd.DataFrame, cells: list[str]) -> pd.DataFrame:
    long = frame.explode(cells, ignore_index=True)
    whole = {"episode": "float64", "window": "int64", "weight": "int64"}
    return long.astype({cell: whole.get(cell, "float64") for cell in cells})


def _traces(runs: pd.DataFrame) -> pd.DataFrame:
    """What learners remember of themselves (arms chosen, dual variables), of each one's first seed."""
    rows = []
    for _, run in (
        runs.sort_values("seed", kind="stable").groupby([*KEYS], sort=False).head(1).iterrows()
    ):
        for trace in run["traces"]:
            values = np.asarray(trace["values"], dtype=float).reshape(-1, trace["columns"])
            row, column = np.indices(values.shape)
            keys = {key: run[key] for key in (*KEYS, "seed")}
            rows.append(
                pd.DataFrame(
                    {
                        **keys,
                        "trace": trace["name"],
                        "row": row.ravel(),
                        "column": column.ravel(),
                        "value": values.ravel(),
                    }
                )
            )
    columns = [*KEYS, "seed", "trace", "row", "column", "value"]
    return (
        pd.concat(rows, ignore_index=True)
        if rows
        else pd.DataFrame(columns=columns).astype({"value": float})
    )


def _refuse_a_negative_gap(exact: pd.DataFrame) -> None:
    """No policy can beat the Lagrangian optimum of its episode: if one does, the optimum is wrong."""
    worst = exact.loc[exact["gap"].idxmin()]
    if worst["gap"] < -1e-9 * (1 + worst["optimal_multiplier"]):
        raise ValueError(
            f"{worst['learner']}, seed {worst['seed']}: a gap of {worst['gap']:.3g} in {worst['episode']:g}"
        )


def _summary(exact: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    names = {"value": "value", "utility_value": "utility"} | {
        name: name for name in metrics.MEASURES
    }
    rows = []
    for keys, group in exact.groupby([*KEYS, "B", "rho", "horizon"], sort=False):
        late = group[group["episode"] > LAST * group["episodes"]]
        row = dict(zip([*KEYS, "B", "rho", "horizon"], keys, strict=True)) | {
            "seeds": group["seed"].nunique()
        }
        for prefix, part in (("", group), ("last_", late)):
            seeds = [
                [metrics.mean(one[name], one["weight"]) for name in names]
                for _, one in part.groupby("seed")
            ]
            for column, (mean, low, high) in zip(
                names, zip(*mean_interval(np.array(seeds)), strict=True), strict=True
            ):
                name = f"{prefix}{names[column]}"
                row |= {name: mean, f"{name}_low": low, f"{name}_high": high}
        row["optimal_value"] = metrics.mean(group["optimal_value"], group["weight"])
        row["multiplier"] = metrics.mean(group["optimal_multiplier"], group["weight"])
        rows.append(row)
    return pd.DataFrame(rows).merge(
        runs.groupby(KEYS, sort=False)["state_bytes"].first().reset_index(), on=KEYS
    )


def _save(frame: pd.DataFrame, file: Path, facts: dict[str, Any]) -> None:
    files.write(
        file, pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None), facts
    )


def environment(file: Path, reading: str, budget: str, episodes: int) -> DriftingCMDP:
    """The environment behind the rows of a Parquet table."""
    for case in files.read(file)[1]["cases"]:
        if (case["reading"], case["budget"], case["episodes"]) == (reading, budget, episodes):
            return optima.environment(case)
    raise ValueError(f"{file} has no case {reading}, {budget}, K = {episodes}")


def cases(file: Path) -> list[tuple[str, str, int]]:
    """(reading, budget, K) of every case behind the rows of a Parquet table."""
    return [
        (case["reading"], case["budget"], case["episodes"]) for case in files.read(file)[1]["cases"]
    ]


def learners(file: Path) -> dict[str, dict[str, Any]]:
    """The specification of every learner behind the rows of a Parquet table."""
    return files.read(file)[1]["learners"]
