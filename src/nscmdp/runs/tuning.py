"""Choosing a learner's factors: the same effort for every learner, on seeds that are never reported.

The candidates are a low-discrepancy draw (Sobol, scrambled with a fixed seed) over the algorithm's own RANGES, on a
logarithmic scale. All are scored on the first tuning seeds; the best of them, the finalists, on all. The choice is the
finalist of the smallest mean score, over the whole run

    [V*_k - V_k]_+  +  2 max_k(lambda*_k) [rho - W_k]_+            learners that know of the constraint
    V_k(best without the constraint) - V_k                         learners that ignore it
"""

import json
import sys
import time
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from nscmdp import algorithms, metrics, simulate
from nscmdp.metrics import Array
from nscmdp.problem import DoesNotFit
from nscmdp.runs import files, optima

TABLE = pa.schema(
    {
        "candidate": pa.int64(),
        "factors": pa.string(),
        "seed": pa.int64(),
        "score": pa.float64(),
        "reward": pa.float64(),  # means over the run: V, ...
        "utility": pa.float64(),  # ... W, ...
        "positive_regret": pa.float64(),  # ... [V* - V]_+ ...
        "positive_violation": pa.float64(),  # ... and [rho - W]_+
        "keeps_the_limit": pa.bool_(),  # is the mean of W at least rho?
    }
)


def candidates(algorithm: str, number: int) -> list[dict[str, float]]:
    """The same for every environment, and the first n of them for every smaller effort n."""
    from scipy.stats import qmc  # slow to import, and no other job needs it

    ranges = algorithms.module(algorithm).RANGES
    low, high = np.log(list(ranges.values())).T
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # any number will do, not only powers of 2
        points = qmc.Sobol(len(ranges), scramble=True, rng=np.random.default_rng(0)).random(number)
    drawn = np.exp(low + points * (high - low))
    return [{name: float(f"{value:.4g}") for name, value in zip(ranges, row, strict=True)} for row in drawn]


def tune(spec: dict[str, Any], solved: Path, output: Path) -> None:
    """Score the candidates of one algorithm."""
    warnings.simplefilter("ignore", DoesNotFit)  # a frame longer than the run is one frame
    env, effort = optima.environment(spec["case"]), spec["effort"]
    tried = candidates(spec["algorithm"], effort["candidates"])
    best = references(solved, spec["case"]["episodes"])
    first, rest = spec["seeds"][: effort["screening_seeds"]], spec["seeds"][effort["screening_seeds"] :]
    began = time.monotonic()

    def score(candidate: int, seed: int) -> dict[str, Any]:
        run = simulate.run(
            env,
            spec["algorithm"],
            "scaled",
            seed,
            spec["evaluate_every"],
            factors=tried[candidate],
            windows=1,
            solve=False,
        )
        row = scored(run, best.loc[run.episode], algorithms.constrained(spec["algorithm"]))
        return {"candidate": candidate, "factors": json.dumps(tried[candidate]), "seed": seed, **row}

    rows = []
    for candidate in range(len(tried)):
        rows += [score(candidate, seed) for seed in first]
        if candidate % 8 == 7:
            print(f"{candidate + 1} candidates, {time.monotonic() - began:.1f} s", file=sys.stderr, flush=True)
    for candidate in ranking(pd.DataFrame(rows))[: effort["finalists"]]:
        rows += [score(candidate, seed) for seed in rest]
    files.write(output, pa.Table.from_pylist(rows, schema=TABLE), files.provenance(spec))


def references(solved: Path, episodes: int) -> pd.DataFrame:
    """By episode: the optimum, its multiplier and the best value without the constraint."""
    table = files.read(solved)[0].to_pandas().set_index("case")
    case = table.loc[f"default/K={episodes}"]
    return pd.DataFrame({name: case[name] for name in (*optima.BEST, "unconstrained")}, index=case["episode"])


def scored(run: simulate.Run, best: pd.DataFrame, constrained: bool) -> dict[str, Any]:
    def mean(of: Array) -> float:
        return metrics.mean(of, run.weight)

    compared = metrics.compare(run.value, run.utility_value, best[list(optima.BEST)].to_numpy(), run.rho)
    regret, violation = mean(compared["positive_regret"]), mean(compared["positive_violation"])
    price = 2 * float(best["multiplier"].max())
    return {
        "score": regret + price * violation if constrained else mean(best["unconstrained"].to_numpy() - run.value),
        "reward": mean(run.value),
        "utility": mean(run.utility_value),
        "positive_regret": regret,
        "positive_violation": violation,
        "keeps_the_limit": mean(run.utility_value) >= run.rho,
    }


def ranking(rows: pd.DataFrame) -> list[int]:
    """Candidates, the best first; ties go to the one that was drawn first."""
    means = rows.groupby("candidate")["score"].mean()
    return [int(candidate) for candidate in means.sort_values(kind="stable").index]


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """One row per candidate: means over its seeds, which of them are finalists and which one is chosen."""
    numbers = ["score", "reward", "utility", "positive_regret", "positive_violation"]
    grouped = rows.groupby("candidate")
    held = grouped.agg(seeds=("seed", "size"), keeps_the_limit=("keeps_the_limit", "mean"))
    table = grouped[numbers].mean().join(held)
    finalist = table["seeds"] == table["seeds"].max()
    chosen = table.index == ranking(rows[rows["candidate"].isin(table.index[finalist])])[0]
    return table.assign(finalist=finalist, chosen=chosen, factors=grouped["factors"].first()).reset_index()


def choices(chosen_by: Iterable[Path]) -> dict[str, dict[str, float]]:
    """The factors that some tunings chose, by algorithm."""
    found = {}
    for file in chosen_by:
        rows, facts = files.read(file)
        table = summary(rows.to_pandas())
        found[facts["specification"]["algorithm"]] = json.loads(table.loc[table["chosen"], "factors"].iloc[0])
    return found
