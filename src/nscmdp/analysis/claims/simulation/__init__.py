"""Verdicts on the paper's simulation (C20), computed from the tables.

rules          what workflow/claims.yaml says: thresholds and their ranges, names of classes
parts          the simulation's claim in parts, and what a run must show for each
cells          verdicts in every environment and under every choice of constants, and over the ranges of the thresholds
alternatives   verdicts under other searches, finalists, rules of tuning and bounds on frames
classes        what the verdicts on a part come to
"""

import json
import math
from pathlib import Path
from typing import Any

import pandas as pd

from nscmdp.analysis import tables
from nscmdp.analysis.claims.simulation import alternatives, classes
from nscmdp.analysis.claims.simulation.cells import CASE, combined, simulation, whole_range
from nscmdp.analysis.claims.simulation.parts import FAILS, FORGIVING, HOLDS, MIXED, PARTS, VOID, WHOLE
from nscmdp.analysis.claims.simulation.rules import Rules, load
from nscmdp.runs import files
from nscmdp.study import layout
from nscmdp.study.plan import Plan

__all__ = ["CASE", "FAILS", "FORGIVING", "HOLDS", "MIXED", "PARTS", "VOID", "WHOLE", "tally", "write"]
CLAIM = (
    "Algorithm 1 quickly learns a well-performing policy and keeps the limit, while Triple-Q and RestartQ-UCB break it"
)


def tally(whole: pd.DataFrame, column: str = "verdict") -> dict[str, int]:
    """In how many combinations of constants and reading it holds; void and unlearnt ones are counted apart."""
    void = whole["verdict"] == VOID
    apart = whole["apart"].astype(bool) & ~void
    judged = whole[~void & ~apart]
    counts = judged[column].value_counts()
    return {
        "holds_in": int(counts.get(HOLDS, 0)),
        "mixed_in": int(counts.get(MIXED, 0)),
        "judged": len(judged),
        "void": int(void.sum()),
        "unlearnt": int(apart.sum()),
    }


def write(plan: Plan, folder: Path) -> None:
    """claims/simulation.json: every verdict with what it rests on."""
    rules, found = load(), alternatives.feasible(folder)
    cells, others = simulation(folder, plan.simulations, rules), alternatives.judge(plan, folder, rules, found)
    cells = cells.assign(kept_without_learning=alternatives.best_kept(cells, others, rules))
    cells = alternatives.with_tuning(cells, plan, found)
    whole = combined(cells, [*CASE, "setting"])
    rows = pd.concat([cells, whole], ignore_index=True)
    depends = alternatives.dependence(rows, others)
    strict, forgiving = (whole[whole["part"] == part] for part in (WHOLE, FORGIVING))
    judged = {
        "claim": CLAIM,
        **tally(strict),
        "forgiving": tally(forgiving),
        "mean_of_trials": tally(strict, "mean_of_trials"),
        "forgiving_mean_of_trials": tally(forgiving, "mean_of_trials"),
        "parts": {part.name: part.says for part in PARTS},
        "thresholds": rules.thresholds.model_dump(),
        "classes": classes.table(rows, depends, rules, alternatives.best_cases(plan, folder)),
        "class_names": rules.classes.model_dump(),
        "depends": depends,
        "depends_counts": alternatives.counts(depends),
        "void_readings": void_readings(folder, rules),
        "whole": _records(whole),
        "cells": _records(cells),
        "alternatives": _records(others.drop(columns="moved", errors="ignore")),
    }
    files.write_text(folder / layout.SIMULATION, json.dumps(judged, indent=1) + "\n")
    ranges = [whole_range(row) for row in rows.to_dict("records")]
    tables.write_csv(folder / layout.VERDICTS, rows.drop(columns="moved").assign(whole_range=ranges))


def void_readings(folder: Path, rules: Rules) -> list[dict[str, Any]]:
    """Grid worlds that are shown by their optimum alone, as the constraint does not bind in them."""
    file = folder / layout.table("environments.csv")
    if not file.is_file():
        return []
    shown = tables.load(file)
    slack = shown[(shown["environment"] == "grid_world") & (shown["mean multiplier"] < rules.binding)]
    rows = zip(slack["options"].fillna("default"), slack["mean multiplier"], strict=True)
    return [{"reading": options, "multiplier": float(multiplier)} for options, multiplier in rows]


def _records(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows as JSON has them: null where there is no number. What holds over all thresholds is said beside them."""
    found = [{key: _plain(value) for key, value in row.items()} for row in rows.to_dict("records")]
    return [{**row, "whole_range": whole_range(row)} if "moved" in row else row for row in found]


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
