"""The paper's comparison table, regenerated, with what is measured set beside what is claimed."""

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from nscmdp import algorithms
from nscmdp.algorithms._triple_q import TripleQ
from nscmdp.analysis import growth, tables, theory
from nscmdp.analysis.tables import write_csv
from nscmdp.problem import Problem
from nscmdp.runs import files
from nscmdp.study import layout
from nscmdp.study.config import TUNED
from nscmdp.study.plan import Plan

MEASURED = ("gap", "regret")


class Study:
    """Growth experiments in one environment: some budgets, some K, several seeds, every episode evaluated."""

    def __init__(self, folder: Path, experiments: list[str]) -> None:
        self.files = [folder / layout.table("exact.parquet", name) for name in experiments]
        self.runs = pd.concat([growth.totals(tables.load(file)) for file in self.files], ignore_index=True)
        summaries = [tables.load(file.with_name("summary.csv")) for file in self.files]
        self.summary = pd.concat(summaries, ignore_index=True)
        self.learners = {name: spec for file in self.files for name, spec in tables.learners(file).items()}
        budgets = self.runs.sort_values("B", kind="stable")["budget"].unique()
        self.middle = budgets[(len(budgets) - 1) // 2]

    def longest(self, learner: str) -> int:
        """The largest K that a learner ran with."""
        return int(self.runs.loc[self.runs["learner"] == learner, "episodes"].max())

    def problem(self, budget: str, episodes: int) -> Problem:
        for file in self.files:
            for reading, known, K in tables.cases(file):
                if (known, K) == (budget, episodes):
                    return Problem.of(tables.environment(file, reading, budget, episodes))
        raise ValueError(f"no experiment has {budget} at K = {episodes}")

    @cached_property
    def slopes(self) -> pd.DataFrame:
        """Every slope: gap, regret and positive parts along K (all, the last three) and along B."""
        parts = []
        for quantity in ("gap", "regret", "positive_regret", "positive_violation"):
            parts += [
                growth.slopes(self.runs, quantity, "episodes").assign(which="all"),
                growth.slopes(self.runs, quantity, "episodes", last=3).assign(which="last three"),
                growth.slopes(self.runs, quantity, "B").assign(which="all"),
            ]
        return pd.concat(parts, ignore_index=True)

    def bounds(self, learner: str) -> tuple[float, float]:
        """Theorem 1's explicit bound at this learner's constants and largest K, and its local exponent there."""
        values = []
        episodes = sorted(self.runs.loc[self.runs["learner"] == learner, "episodes"].unique())[-2:]
        for K in episodes:
            problem = self.problem(self.middle, int(K))
            chosen = {key: self.learners[learner][key] for key in ("algorithm", "setting", "variants")}
            if chosen["setting"] == TUNED:
                chosen["setting"] = "scaled"
            made = algorithms.make(problem=problem, factors=self.learners[learner].get("factors"), **chosen)
            if not isinstance(made, TripleQ):
                return float("nan"), float("nan")
            values.append(theory.regret_bound(problem, made))
        if len(values) < 2:
            return values[-1], float("nan")
        return values[1], float(np.log(values[1] / values[0]) / np.log(episodes[1] / episodes[0]))


def rows(study: Study | None, linear: Study | None) -> pd.DataFrame:
    """The paper's rows in the paper's order, then the others; one for each setting that was run."""
    found = []
    for claim in theory.TABLE:
        chosen = linear if claim.linear else study
        entry: dict[str, Any] = {
            "algorithm": claim.algorithm,
            "setting": "",
            "model_free": claim.model_free,
            "known_budget": claim.known_budget,
            "regret_order": claim.regret_order,
            "violation_order": claim.violation_order,
            "source": claim.source,
        }
        names = [] if chosen is None else _settings(chosen, claim.algorithm)
        if chosen is None or not names:
            found.append({**entry, "note": "not run"})
        else:
            slopes = chosen.slopes
            found += [{**entry, **_measured(chosen, slopes, name)} for name in names]
    return pd.DataFrame(found)


def _settings(study: Study, algorithm: str) -> list[str]:
    """The learners of an algorithm that run with one of its settings as it is."""
    return [
        name
        for name, spec in study.learners.items()
        if spec["algorithm"] == algorithm and name == f"{algorithm}.{spec['setting']}"
    ]


def _measured(study: Study, slopes: pd.DataFrame, learner: str) -> dict[str, Any]:
    mine = slopes[slopes["learner"] == learner]
    entry: dict[str, Any] = {"setting": study.learners[learner]["setting"]}
    notes = []
    for quantity in MEASURED:
        along = mine[(mine["quantity"] == quantity) & (mine["along"] == "episodes") & (mine["budget"] == study.middle)]
        for which, suffix in (("all", ""), ("last three", "_last3")):
            fit = along[along["which"] == which].iloc[0]
            name = f"{quantity}_slope_K{suffix}"
            entry |= {name: fit["value"], f"{name}_low": fit["low"], f"{name}_high": fit["high"]}
            if fit["why_not"] and which == "all":
                notes.append(f"no slope: {fit['why_not']} episodes")
    longest = study.longest(learner)
    in_b = mine[(mine["quantity"] == "gap") & (mine["along"] == "B") & (mine["episodes"] == longest)].iloc[0]
    entry |= {"gap_slope_B": in_b["value"], "gap_slope_B_low": in_b["low"], "gap_slope_B_high": in_b["high"]}
    entry["regret_bound"], entry["bound_slope_K"] = study.bounds(learner)
    entry["trivial_bound"] = study.problem(study.middle, longest).H * longest
    where = (study.summary["learner"] == learner) & (study.summary["budget"] == study.middle)
    last = study.summary[where & (study.summary["episodes"] == longest)].iloc[0]
    entry["largest_K"] = longest
    entry["violation_per_episode"] = last["violation"]
    entry["positive_violation_per_episode"] = last["positive_violation"]
    problem = study.problem(study.middle, longest)
    entry["theorem_from_K"] = theory.from_episodes(study.learners[learner]["algorithm"], problem)
    entry["state_bytes"] = int(last["state_bytes"])
    return {**entry, "note": "; ".join(notes)}


def write(plan: Plan, folder: Path) -> None:
    """comparison.csv, comparison.tex as the paper prints it with measured columns, and slopes.csv."""
    growth = Study(folder, plan.roles["growth"])
    table = rows(growth, Study(folder, plan.roles["linear"]) if "linear" in plan.roles else None)
    write_csv(folder / layout.table("comparison.csv"), table)
    files.write_text(folder / layout.table("comparison.tex"), tex(table))
    write_csv(folder / layout.table("slopes.csv"), growth.slopes)


def tex(table: pd.DataFrame) -> str:
    lines = [
        r"\begin{tabular}{llccccccc}",
        r"\toprule",
        r"Algorithm & Constants & Model-free & Regret & Violation & Known $B$ & Gap $\propto K^{\cdot}$"
        r" & Bound $\propto K^{\cdot}$ & Violation/episode \\",
        r"\midrule",
    ]
    for _, row in table.iterrows():
        cells = [
            algorithms.module(row["algorithm"]).TITLE if row["algorithm"] in algorithms.NAMES else row["algorithm"],
            row["setting"] or "--",
            r"yes" if row["model_free"] else "no",
            _order(row["regret_order"]),
            _order(row["violation_order"]),
            row["known_budget"].replace("-", "--"),
            _number(row, "gap_slope_K", "{:.2f}", interval=True),
            _number(row, "bound_slope_K", "{:.2f}"),
            _number(row, "violation_per_episode", "{:.3f}"),
        ]
        lines.append(
            " & ".join(str(cell).replace("_", r"\_") if i != 3 else cell for i, cell in enumerate(cells)) + r" \\"
        )
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _order(text: str) -> str:
    formula, _, remark = text.partition(" (")
    if not formula[0].isupper() or formula.startswith("T "):
        return text
    return rf"$\tilde O({formula})$" + (f" ({remark}" if remark else "")


def _number(row: pd.Series, key: str, form: str, interval: bool = False) -> str:
    if key not in row or pd.isna(row[key]):
        return "--"
    text = form.format(row[key])
    if interval and not pd.isna(row[f"{key}_low"]):
        text += f" [{form.format(row[f'{key}_low'])}, {form.format(row[f'{key}_high'])}]"
    return text
