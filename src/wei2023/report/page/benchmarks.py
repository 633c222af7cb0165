"""A page of what depends on clocks and machines: seconds per episode, and all that ``make bench`` measured so far.

It is no result: benchmarks run after the page is made, and make this one again.
"""

import json
from pathlib import Path
from typing import Any

import pandas as pd

from wei2023.report.page import frame, render
from wei2023.study import layout
from wei2023.study.plan import Plan
from wei2023.verdicts import timing

DIGITS = 3
TABLES = {  # of the folder benchmarks: title, and what its numbers are
    "summary.csv": (
        "Beside others",
        "CPU seconds of a step, an evaluation or a solve, ours and theirs in turns on the same work; the ratio of the "
        "medians and the interquartile range of the repeats' own ratios. Below 1, ours is faster.",
    ),
    "profile.csv": (
        "Where the CPU time goes",
        "CPU seconds of all of config.yaml from nothing, kernels compiled anew: by the command of a job, and what "
        "simulations spend it on.",
    ),
    "pipeline.csv": ("Around the kernels", "What has no opponent."),
    "memory.csv": ("Memory", "What a worker holds at most."),
    "scaling.csv": ("Scale", "CPU seconds of a step; of a run along the number of runs."),
    layout.TIMING.rpartition("/")[2]: (
        "Seconds per episode",
        "Wall time of the simulations of this run, exact evaluation included, from their logs.",
    ),
}


def write(plan: Plan, folder: Path) -> None:
    timing.write(plan, folder)
    show(plan, folder)


def show(plan: Plan, folder: Path) -> None:
    """The page, from the tables that are there."""
    measured = folder / layout.TIMING.partition("/")[0]
    machine, drawn = measured / "machine.json", measured / "scaling.svg"
    tables = [
        _table(measured / name, *text)
        for name, text in TABLES.items()
        if (measured / name).exists()
    ]
    render.page(
        folder / layout.BENCHMARKS,
        "benchmarks.html.j2",
        **frame(plan, layout.BENCHMARKS, [(one["id"], one["title"]) for one in tables]),
        tables=tables,
        machine=list(json.loads(machine.read_text(encoding="utf-8")).items())
        if machine.exists()
        else [],
        scaling=f"{measured.name}/{drawn.name}" if drawn.exists() else None,
    )


def _table(file: Path, title: str, says: str) -> dict[str, Any]:
    table = pd.read_csv(file)
    numbers = [i for i, column in enumerate(table) if pd.api.types.is_numeric_dtype(table[column])]
    shown = [[_cell(cell) for cell in row] for row in table.itertuples(index=False)]
    head = [str(column).replace("_", " ") for column in table]
    name = f"{file.parent.name}/{file.name}"
    return {
        "id": file.stem,
        "title": title,
        "says": says,
        "file": name,
        "head": head,
        "rows": shown,
        "right": numbers,
    }


def _cell(cell: Any) -> str:
    if isinstance(cell, float):
        return "" if pd.isna(cell) else f"{cell:.{DIGITS}g}"
    return f"{cell:,}" if isinstance(cell, int) else str(cell)
