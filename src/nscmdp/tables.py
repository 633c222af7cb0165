"""From result files to tables: every run of an experiment beside the optimum of its environment.

curves     realised reward and utility an episode, by window           one row a (learner, seed, window)
exact      V, W and the optimum at the evaluated episodes              one row a (learner, seed, episode)
summary    means over the run and over its last fifth, with intervals  one row a learner
"""

from pathlib import Path as File
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from nscmdp import environments, results
from nscmdp.path import Path
from nscmdp.plan import Case, Plan
from nscmdp.statistics import mean_interval

LAST = 0.8  # "the end" of a run is its last fifth
KEYS = ["experiment", "budget", "episodes", "learner", "algorithm", "setting"]


class Foreign(results.Damaged):
    """A sound file that belongs to another plan."""


def make(plan: Plan, experiment: str, folder: File, output: File) -> None:
    """Write the three tables of one experiment below ``output``."""
    cases = [case for case in plan.cases if case.experiment.name == experiment]
    runs = pd.concat([_runs(plan, case, folder) for case in cases], ignore_index=True)
    made_from = {"cases": [{"budget": case.budget, **case.spec} for case in cases]}
    exact = _exact(runs)
    _save(_curves(runs), output / "curves.parquet", made_from)
    _save(exact, output / "exact.parquet", made_from)
    results.write_text(output / "summary.csv", _summary(exact, runs).to_csv(index=False, float_format="%.6g"))


def _runs(plan: Plan, case: Case, folder: File) -> pd.DataFrame:
    """One row a seed, arrays in its cells, the optimum at the run's own episodes among them."""
    best, _ = read_expected(folder / f"environments/{case.id}.parquet", case.optimum_spec())
    optimum = best.to_pandas().set_index("episode")
    frames = []
    for learner, seeds, name in plan.run_files(case):
        table, facts = read_expected(folder / name, case.run_spec(learner))
        frame = table.to_pandas()
        if frame["seed"].tolist() != seeds:
            raise Foreign(folder / name, f"it holds the seeds {frame['seed'].tolist()}, expected {seeds}")
        spec = facts["specification"]["learner"]
        keys = (case.experiment.name, case.budget, case.episodes, learner, spec["algorithm"], spec["setting"])
        frame.insert(0, "B", facts["budget"]["total"])
        for key, value in reversed(list(zip(KEYS, keys, strict=True))):
            frame.insert(0, key, value)
        frame["horizon"], frame["rho"] = facts["horizon"], facts["rho"]
        frames.append(frame)
    runs = pd.concat(frames, ignore_index=True)
    for column in ("value", "utility", "multiplier"):
        runs[f"optimal_{column}"] = [optimum[column].loc[episodes].to_numpy() for episodes in runs["episode"]]
    return runs


def read_expected(file: File, spec: dict[str, Any]) -> tuple[pa.Table, dict[str, Any]]:
    """A sound file that was made from ``spec``."""
    table, facts = results.read(file)
    if facts["specification"] != spec:
        differing = [key for key in spec if facts["specification"].get(key) != spec[key]]
        raise Foreign(file, f"it was made from another specification ({', '.join(differing)})")
    return table, facts


def _curves(runs: pd.DataFrame) -> pd.DataFrame:
    ends = runs["window_episodes"].map(np.cumsum)
    middle = [end - (length - 1) / 2 for end, length in zip(ends, runs["window_episodes"], strict=True)]
    wide = runs[[*KEYS, "B", "seed", "horizon", "rho", "reward", "utility"]].assign(
        episode=middle, window=[np.arange(len(m)) for m in middle]
    )
    return _long(wide, ["window", "episode", "reward", "utility"])


def _exact(runs: pd.DataFrame) -> pd.DataFrame:
    cells = ["episode", "weight", "value", "worth", "optimal_value", "optimal_utility", "optimal_multiplier"]
    return _long(runs[[*KEYS, "B", "seed", "horizon", "rho", *cells]], cells)


def _long(frame: pd.DataFrame, cells: list[str]) -> pd.DataFrame:
    long = frame.explode(cells, ignore_index=True)
    whole = {"episode": "float64", "window": "int64", "weight": "int64"}
    return long.astype({cell: whole.get(cell, "float64") for cell in cells})


def _summary(exact: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    by_seed = exact.assign(
        shortfall=exact["optimal_value"] - exact["value"],
        lack=exact["rho"] - exact["worth"],
    )
    by_seed["gap"] = by_seed["shortfall"] + by_seed["optimal_multiplier"] * by_seed["lack"]
    by_seed["positive_lack"] = by_seed["lack"].clip(lower=0)
    names = {
        "value": "value",
        "worth": "utility",
        "shortfall": "regret",
        "lack": "violation",
        "positive_lack": "positive_violation",
        "gap": "gap",
    }
    rows = []
    for keys, group in by_seed.groupby([*KEYS, "B", "rho", "horizon"], sort=False):
        late = group[group["episode"] > LAST * group["episodes"]]
        row = dict(zip([*KEYS, "B", "rho", "horizon"], keys, strict=True)) | {"seeds": group["seed"].nunique()}
        for prefix, part in (("", group), ("last_", late)):
            seeds = [_weighted(one, list(names)) for _, one in part.groupby("seed")]
            for column, (mean, low, high) in zip(names, zip(*mean_interval(np.array(seeds)), strict=True), strict=True):
                name = f"{prefix}{names[column]}"
                row |= {name: mean, f"{name}_low": low, f"{name}_high": high}
        row["optimal_value"] = np.average(group["optimal_value"], weights=group["weight"])
        row["multiplier"] = np.average(group["optimal_multiplier"], weights=group["weight"])
        rows.append(row)
    return pd.DataFrame(rows).merge(runs.groupby(KEYS, sort=False)["state_bytes"].first().reset_index(), on=KEYS)


def _weighted(frame: pd.DataFrame, columns: list[str]) -> list[float]:
    """Means an episode, each evaluated episode standing for its stratum."""
    return [float(np.average(frame[column], weights=frame["weight"])) for column in columns]


def _save(frame: pd.DataFrame, file: File, facts: dict[str, Any]) -> None:
    results.write(file, pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None), facts)


def load(file: File) -> pd.DataFrame:
    """A table written by :func:`make`."""
    return pd.read_csv(file) if file.suffix == ".csv" else results.read(file)[0].to_pandas()


def environment(file: File, budget: str, episodes: int) -> Path:
    """The environment behind the rows of a Parquet table."""
    _, facts = results.read(file)
    for case in facts["cases"]:
        if (case["budget"], case["episodes"]) == (budget, episodes):
            return environments.make(case["name"], episodes, **case["options"])
    raise ValueError(f"{file} has no case {budget}, K = {episodes}")
