"""One run in a file of its own: its evaluated episodes, and what decided them."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv

from nscmdp import budget, files, metrics
from nscmdp.drift import DriftingCMDP
from nscmdp.plugins import unknown
from nscmdp.simulate import Run

FORMATS = (".parquet", ".csv")


def check_format(file: Path) -> None:
    if file.suffix not in FORMATS:
        raise ValueError(f"{file}: {unknown(file.suffix, FORMATS, 'unknown format')}")


def write(file: Path, run: Run, env: DriftingCMDP, specification: dict[str, Any]) -> None:
    """Parquet with its provenance inside, or CSV with its provenance in a first line that begins with "#"."""
    check_format(file)
    made = {
        "fingerprint": env.fingerprint(),
        "budgets": budget.variation(env)._asdict(),
        "rho": env.rho,
    }
    facts = files.provenance(specification) | made
    if file.suffix == ".parquet":
        files.write(file, table(run), facts)
    else:
        files.in_one_piece(file, lambda temporary: _write_csv(temporary, table(run), facts))


def table(run: Run) -> pa.Table:
    """One row per evaluated episode; it stands for ``weight`` episodes."""
    exact = {
        "episode": run.episode,
        "weight": run.weight,
        "value": run.value,
        "utility_value": run.utility_value,
    }
    sums = {"regret": run.regret, "violation": run.violation, "gap": run.gap}
    optimal = {name: run.measures[name] for name in metrics.OPTIMAL}
    return pa.table(
        exact | optimal | {f"cumulative_{name}": column for name, column in sums.items()}
    )


def _write_csv(file: Path, rows: pa.Table, facts: dict[str, Any]) -> None:
    with open(file, "wb") as out:
        out.write(f"# {json.dumps(facts, sort_keys=True)}\n".encode())
        csv.write_csv(rows, out)
