"""A page of what depends on clocks and machines: seconds per episode, and all that ``make bench``
measured so far.

It is no result: benchmarks run after the page is made, and make this one again.
"""

import json
from pathlib import Path

import pandas as pd

from wei2023.report import render, tables
from wei2023.report.page import frame
from wei2023.study import layout
from wei2023.study.plan import Plan
from wei2023.verdicts import timing

TABLES = {  # of the folder benchmarks: title, and what its numbers are
    "summary": (
        "Beside others",
        "CPU seconds of a step, an evaluation or a solve, ours and theirs in turns on the same "
        "work; the ratio of the medians and the interquartile range of the repeats' own ratios. "
        "Below 1, ours is faster.",
    ),
    "profile": (
        "Where the CPU time goes",
        "CPU seconds of all of config.yaml from nothing, kernels compiled anew: by the command "
        "of a job, and what simulations spend it on.",
    ),
    "pipeline": ("Around the kernels", "What has no opponent."),
    "memory": ("Memory", "What a worker holds at most."),
    "scaling": ("Scale", "CPU seconds of a step; of a run along the number of runs."),
    "timing": (
        "Seconds per episode",
        "Wall time of the simulations of this run, exact evaluation included, from their logs.",
    ),
}


def write(plan: Plan, folder: Path) -> None:
    timing.write(plan, folder)
    show(plan, folder)


def show(plan: Plan, folder: Path) -> None:
    """Write the page, from the tables that are there."""
    measured = (folder / layout.TIMING).parent
    machine, drawn = measured / "machine.json", measured / "scaling.svg"
    shown = {}
    for name, (title, note) in TABLES.items():
        if (file := measured / f"{name}.csv").exists():
            data = [f"{measured.name}/{file.name}"]
            shown[name] = tables.of_frame(title, pd.read_csv(file), note=note, files=data)
    render.page(
        folder / layout.BENCHMARKS,
        "benchmarks.html.j2",
        **frame(plan, layout.BENCHMARKS, [(name, one.title) for name, one in shown.items()]),
        tables=shown,
        machine=json.loads(machine.read_text(encoding="utf-8")) if machine.exists() else {},
        scaling=f"{measured.name}/{drawn.name}" if drawn.exists() else None,
    )
