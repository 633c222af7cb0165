"""What the choice of factors decides: the verdicts on other searches, finalists, rules and bounds on frames.

An alternative is judged like the main choice: the learners of one experiment that have the same choice, together.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from nscmdp import algorithms
from nscmdp.analysis import tables
from nscmdp.analysis.claims.simulation import cells as verdicts
from nscmdp.analysis.claims.simulation.cells import CASE
from nscmdp.analysis.claims.simulation.parts import FAILS, HOLDS
from nscmdp.analysis.claims.simulation.rules import Rules
from nscmdp.study import layout
from nscmdp.study.plan import Plan

MAIN = "main"
KINDS = {"search": "search", "finalist": "finalist", "rule": "rule of tuning", "frames": "bound on frames"}
FINALIST = re.compile(r"search_(\d+)_(\d+)")
COLUMNS = [*CASE, "map", "alternative", "kind", "choice", "part", "verdict", "apart"]
Feasible = dict[tuple[str, str, int, str], bool]


def feasible(folder: Path) -> Feasible:
    """By tuning, algorithm, K and choice: does the rule call the candidate feasible; nothing where none is said to."""
    file = folder / layout.table("tuned.csv")
    table = tables.load(file) if file.is_file() else pd.DataFrame()
    if not {"choice", "feasible"} <= {*table.columns}:
        return {}
    return {
        (row["tuning"], row["algorithm"], int(row["episodes"]), choice): str(row["feasible"]) == "True"
        for row in table[table["choice"].notna()].to_dict("records")
        for choice in row["choice"].split()
    }


def with_tuning(cells: pd.DataFrame, plan: Plan, found: Feasible) -> pd.DataFrame:
    """The cells, with what tuning found for the learner of each that is tuned and minds the constraint."""
    known = [
        _known(plan, found, row["experiment"], row["algorithm"], MAIN) if row["setting"] == "tuned" else None
        for row in cells.to_dict("records")
    ]
    named = cells.assign(tuning_feasible=pd.Series(known, index=cells.index, dtype=object))
    return named.assign(says=[_says(row) for row in named.to_dict("records")])


def _known(plan: Plan, found: Feasible, experiment: str, algorithm: str, choice: str) -> bool | None:
    tuning = plan.experiment(experiment).tuning
    if tuning is None or not algorithms.constrained(algorithm):
        return None
    return found.get((tuning, algorithm, plan.tuning(tuning).episodes, choice))


def _says(row: dict[str, Any]) -> str:
    """The verdict in words: a limit broken with tuned factors, or kept by not learning, is said to be."""
    part, verdict, only = row["part"], row["verdict"], row["kept_without_learning"]
    if part == "C20c" and verdict == HOLDS and only:
        return "holds only by not learning"
    if part == "C20d" and verdict == FAILS and only:
        return "feasible only by not learning"
    if part == "C20d" and verdict == HOLDS and row["tuning_feasible"] is not None:
        feasible = "the feasible choice breaks the limit on new seeds"
        return feasible if row["tuning_feasible"] else "no feasible Triple-Q was found"
    return str(verdict)


def judge(plan: Plan, folder: Path, rules: Rules, found: Feasible) -> pd.DataFrame:
    """One row per alternative and part, and for the whole; the place is that of the cell that it is set beside."""
    names = plan.roles.get("alternatives", [])
    mains = {
        (case["fingerprint"], case["episodes"]): {"experiment": name, **{key: case[key] for key in CASE[1:]}}
        for name in (plan.simulations if names else [])
        for case in verdicts.read(folder, name)[1]["cases"]
    }
    rows = [row for name in names for row in _of_experiment(plan, folder, name, mains, rules, found)]
    if not rows:
        return pd.DataFrame(columns=COLUMNS)
    judged = pd.DataFrame(rows)
    whole = verdicts.combined(judged, [*CASE, "alternative", "kind", "choice"])
    return pd.concat([judged, whole], ignore_index=True)


def _of_experiment(
    plan: Plan, folder: Path, name: str, mains: dict[Any, dict[str, Any]], rules: Rules, found: Feasible
) -> Iterator[dict[str, Any]]:
    exact, facts = verdicts.read(folder, name)
    choices = {
        learner: spec.get("choice", MAIN)
        for learner, spec in facts["learners"].items()
        if _admitted(spec.get("choice", MAIN), _known(plan, found, name, spec["algorithm"], spec.get("choice", MAIN)))
    }
    for case in facts["cases"]:
        place = {**mains[case["fingerprint"], case["episodes"]], "map": case["options"]["map"]}
        other = plan.experiment(name).tuning != plan.experiment(place["experiment"]).tuning
        here = verdicts.within(exact, case)
        for choice, mine in here.groupby(here["learner"].map(choices), sort=False):
            label = {"alternative": name, "kind": _kind(str(choice), other), "choice": choice, "apart": False}
            for row in verdicts.judge(mine, rules):
                yield {**place, **label, **row}


def _admitted(choice: str, is_feasible: bool | None) -> bool:
    """The first of a search is its choice, whatever it is; another finalist counts where it is feasible."""
    finalist = FINALIST.fullmatch(choice)
    return finalist is None or finalist[2] == "0" or is_feasible is not False


def _kind(choice: str, other_tuning: bool) -> str:
    if other_tuning:
        return "frames"
    finalist = FINALIST.fullmatch(choice)
    if finalist:
        return "search" if finalist[2] == "0" else "finalist"
    return MAIN if choice == MAIN else "rule"


def dependence(main: pd.DataFrame, others: pd.DataFrame) -> list[dict[str, Any]]:
    """For each verdict on tuned learners that has alternatives: does another choice of each kind change it?"""
    if others.empty:
        return []
    tuned = main[main["setting"] == "tuned"].set_index([*CASE, "part"])["verdict"]
    rows = []
    keys = [*CASE, "map", "part"]
    for _, group in others.groupby(keys, sort=False):
        place = group[keys].to_dict("records")[0]
        verdict = tuned.get(tuple(place[key] for key in (*CASE, "part")))
        if verdict is not None:
            rows.append({**place, "verdict": verdict, **{kind: _differs(kind, verdict, group) for kind in KINDS}})
    return rows


def _differs(kind: str, verdict: str, group: pd.DataFrame) -> bool | None:
    """None where there is nothing to compare with. Searches differ among themselves, finalists from their search's."""
    same = group[group["kind"] == kind]
    if same.empty:
        return None
    if kind == "search":
        return same["verdict"].nunique() > 1
    if kind == "finalist":
        ranked = group[group["kind"].isin(["search", "finalist"])]
        return bool((ranked.groupby(ranked["choice"].str.rpartition("_")[0])["verdict"].nunique() > 1).any())
    return bool((same["verdict"] != verdict).any())


def counts(rows: list[dict[str, Any]]) -> dict[str, dict[str, int]]:
    """By kind: how many verdicts an alternative changes, of how many that have one."""
    found = {kind: [row[kind] for row in rows if row[kind] is not None] for kind in KINDS}
    return {kind: {"differ": sum(differ), "of": len(differ)} for kind, differ in found.items()}


def best_cases(plan: Plan, folder: Path) -> dict[tuple[str, str], set[str]]:
    """By map and part: the verdicts under the constants that were found to favour the paper, or a baseline, most."""
    file = folder / layout.table("best_cases.csv")
    if not plan.best_cases or not file.is_file():
        return {}
    maps = {name: plan.tuning(plan.best_case(name).tuning).environment.map for name in plan.best_cases}
    found: dict[tuple[str, str], set[str]] = {}
    for row in tables.load(file).to_dict("records"):
        if row["question"] in ("own", "shared"):
            found.setdefault((maps[row["best_case"]], row["part"]), set()).add(row["verdict"])
        elif row["part"] == "both" and row["verdict"] == HOLDS:  # a baseline that learns and keeps the limit
            part = {"triple_q": "C20d", "restart_q_ucb": "C20e"}[row["question"]]
            found.setdefault((maps[row["best_case"]], part), set()).add(FAILS)
    return found


def best_kept(cells: pd.DataFrame, others: pd.DataFrame, rules: Rules) -> pd.Series:
    """Is the limit kept only by not learning: is the best Lam of the choices that keep it that of one unlearnt?"""
    if others.empty:
        return cells["kept_without_learning"]
    learnt = others[others["kept"].eq(True) & (others["lam"] >= rules.unlearnt)]
    better = {*learnt[[*CASE, "part"]].itertuples(index=False, name=None)}
    place = [*cells[[*CASE, "part"]].itertuples(index=False, name=None)]
    refuted = (cells["setting"] == "tuned") & pd.Series([key in better for key in place], index=cells.index)
    return cells["kept_without_learning"] & ~refuted
