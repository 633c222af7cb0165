"""What the searches for the best case for the paper found, and what fresh seeds say of it.

best_cases          one row per best case, question and part, and one for all of its parts together
best_case_seeds     one row per best case, question, part and fresh seed: the distance to the thresholds
best_case_regions   one row per best case and set of parts: at which share of all admissible constants they hold
"""

import json
from pathlib import Path
from typing import Any

import pandas as pd

from nscmdp import __version__, algorithms
from nscmdp.analysis.best_case import CHOICE, QUESTIONS, Question, candidates, margin
from nscmdp.analysis.claims.simulation.parts import HOLDS, Part, clopper_pearson, together, verdict
from nscmdp.analysis.tables import write_csv
from nscmdp.runs import files, integrity, records_of_searches, tuning
from nscmdp.runs import search as searching
from nscmdp.study import layout
from nscmdp.study.catalogue import REGION
from nscmdp.study.plan import Plan

NOTED = ("margin", "loss", "violation", "violation_bound", "regret", "reward", "utility", "lam")
WORKS = {  # the parts that must hold on every seed of a point
    "C20a, C20b, C20c": ("C20a", "C20b", "C20c"),
    "C20a, C20b forgiving, C20c": ("C20a", "C20b forgiving", "C20c"),
    "C20a, C20c": ("C20a", "C20c"),
}


def entries(plan: Plan, folder: Path, name: str, question: str) -> list[dict[str, Any]]:
    """The candidates for a best case, the best first, or its region: as recorded, or from the searches of this run."""
    if plan.recorded:
        return plan.best_case_entries(name, question)
    (file,) = plan.best_case_search(name, question)
    if question == REGION:
        return [region(files.read(folder / file)[0].to_pandas())]
    return _scored(folder / file, plan.best_case_spec(name, question))


def _scored(file: Path, spec: dict[str, Any]) -> list[dict[str, Any]]:
    question, space, found = QUESTIONS[spec["question"]], searching.space_of(spec), []
    tried = spec["effort"]["population"] * spec["effort"]["generations"]
    for row in candidates(file, question).to_dict("records"):
        factors = json.loads(row["factors"])
        parts = {part.name: _digits(row[part.name]) for part in question.parts if part.name in row}
        numbers = {name: _digits(row[name]) for name in NOTED}
        head = {"generation": int(row["generation"]), "tried": tried, "feasible": bool(row["feasible"])}
        found.append({**head, **numbers, "parts": parts, "factors": factors, "edges": space.edges(factors)})
    return found


def _digits(value: float) -> float:
    return float(f"{value:.6g}")


def region(rows: pd.DataFrame) -> dict[str, Any]:
    """At how many points some parts hold on every seed."""
    least = rows.groupby("factors")[sorted({part for asked in WORKS.values() for part in asked})].min()
    works = {name: int((least[list(asked)] >= 0).all(axis=1).sum()) for name, asked in WORKS.items()}
    return {"points": len(least), "seeds": int(rows["seed"].nunique()), "works": works}


def record(plan: Plan, results: Path, output: Path) -> None:
    """What the repository keeps of the searches for best cases of a run."""
    for name in plan.best_cases:
        files.write_text(output / layout.record(name), _text(plan, results, name))


def _text(plan: Plan, results: Path, name: str) -> str:
    (case,) = plan.cases_of(name)
    found = {
        question: {str(case.episodes): entries(plan, results, name, question)} for question in (*QUESTIONS, REGION)
    }
    made_from = {question: plan.best_case_spec(name, question) for question in found} | {"version": __version__}
    return records_of_searches.one_line_each({"best_case": name, "made_from": made_from, "searches": found})


def table(plan: Plan, folder: Path, confirmed: pd.DataFrame) -> pd.DataFrame:
    """``verdict``: by the agreement of fresh seeds, as for every claim; ``found``: do all that is asked for hold?

    Of the two candidates, what the search found and the tuned choice, the one with which more seeds agree to all.
    """
    rows = []
    for keys, mine in confirmed.groupby(["best_case", "question"], sort=False):
        name, asked = map(str, keys)
        question, spec = QUESTIONS[asked], plan.confirmation_spec(name, asked)
        judged = {
            str(candidate): _judged(question, spec["thresholds"], part)
            for candidate, part in mine.groupby("candidate", sort=False)
        }
        agree = {candidate: _first_whole(question, one)["agree"] for candidate, one in judged.items()}
        better = max(agree, key=lambda candidate: agree[candidate])
        best = entries(plan, folder, name, asked)[0]
        beside = {
            "candidate": better,
            "tried": best["tried"],
            "selection_margin": best["margin"],
            **{f"{candidate.replace(' ', '_')}_agree": number for candidate, number in agree.items()},
            **_excluded(plan, folder, name, asked, best, better == CHOICE),
        }
        first = {"best_case": name, "question": asked, "asks": question.says}
        rows += [{**first, **one, "decides": one["part"] in question.decides, **beside} for one in judged[better]]
    return pd.DataFrame(rows)


def _judged(question: Question, thresholds: dict[str, float], rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Every part on the fresh seeds of one candidate, and all of some parts together."""
    judged = [_part(part, rows[rows["part"] == part.name], thresholds) for part in question.parts]
    return judged + [_whole(whole, judged, rows, thresholds["agreement"], question) for whole in question.wholes]


def _first_whole(question: Question, judged: list[dict[str, Any]]) -> dict[str, Any]:
    """What the parts that the search is for come to."""
    asked = {name for name, parts in question.wholes.items() if {*parts} == {*question.decides}}
    return next(one for one in judged if one["part"] in asked)


def _part(part: Part, rows: pd.DataFrame, thresholds: dict[str, float]) -> dict[str, Any]:
    mean, deviation = rows["distance"].mean(), rows["distance"].std(ddof=1) if len(rows) > 1 else 0.0
    held = {"distance": mean, "sd": deviation, "margin": margin(mean, deviation)}
    beside = {"lam": rows["lam"].mean(), "cost": rows["cost"].mean(), "factors": rows["factors"].iloc[0]}
    needs = " ".join(f"{name}={thresholds[name]:g}" for name in part.thresholds)
    agreed = _agreed(int((rows["distance"] >= 0).sum()), len(rows), thresholds["agreement"])
    named = {"part": part.name, "says": part.says, "algorithm": part.algorithm, "thresholds": needs}
    return {**named, **held, **agreed, **beside}


def _whole(
    name: str, judged: list[dict[str, Any]], rows: pd.DataFrame, agreement: float, question: Question
) -> dict[str, Any]:
    """All of some parts: its margin is the smallest of theirs. Where it is not found, there may be one all the same."""
    asked = question.wholes[name]
    parts = [one for one in judged if one["part"] in asked]
    least = rows[rows["part"].isin(asked)].groupby("seed")["distance"].min()
    agreed = _agreed(int((least >= 0).sum()), len(least), agreement)
    held = {"distance": least.mean(), "sd": least.std(ddof=1) if len(least) > 1 else 0.0}
    named = {"part": name, "says": f"all of {', '.join(asked)}", "margin": min(one["margin"] for one in parts)}
    whole = together([one["verdict"] for one in parts])
    return {**named, **held, **agreed, "verdict": whole, "found": whole == HOLDS}


def _agreed(agree: int, seeds: int, agreement: float) -> dict[str, Any]:
    low, high = clopper_pearson(agree, seeds)
    interval = {"agree_low": low, "agree_high": high}
    return {"agree": agree, "seeds": seeds, **interval, "verdict": verdict(agree, seeds, agreement)}


def _excluded(
    plan: Plan, folder: Path, name: str, question: str, best: dict[str, Any], is_choice: bool
) -> dict[str, Any]:
    """Which demand of the tuning's rule keeps the candidate from being the tuned choice, on the selection seeds."""
    tuned, (case,) = plan.best_case(name).tuning, plan.cases_of(name)
    algorithm = QUESTIONS[question].searched[0]
    spec = plan.tuning_spec(tuned, algorithm, case.episodes)
    wanted = integrity.Planned(layout.tuning(tuned, algorithm, case.episodes), spec)
    tried = tuning.summary(integrity.read(folder, wanted).to_pandas(), spec)
    chosen = tried[tried["chosen"]].iloc[0]
    names = ("loss", "violation_bound", "feasible")
    same = is_choice or best["factors"] == json.loads(chosen["factors"])
    numbers = {key: (chosen if same else best)[key] for key in names} | {f"chosen_{key}": chosen[key] for key in names}
    return {**numbers, "excluded_by": "it is the choice" if same else excluded_by(best, chosen, algorithm)}


def excluded_by(best: Any, chosen: Any, algorithm: str) -> str:
    """The rule: feasible first, by the bound on the violation, then the least gap."""
    if not best["feasible"] and (chosen["feasible"] or best["violation_bound"] > chosen["violation_bound"]):
        return "violation"
    if best["feasible"] and chosen["feasible"] and best["loss"] > chosen["loss"]:
        return "gap" if algorithms.constrained(algorithm) else "regret without the constraint"
    return "nothing"


def regions(plan: Plan, folder: Path) -> pd.DataFrame:
    rows = []
    for name in plan.best_cases:
        (found,) = entries(plan, folder, name, REGION)
        for asked, works in found["works"].items():
            low, high = clopper_pearson(works, found["points"])
            share = {"share": works / found["points"], "share_low": low, "share_high": high}
            drawn = {"points": found["points"], "seeds": found["seeds"]}
            rows.append({"best_case": name, "parts": asked, **drawn, "works": works, **share})
    return pd.DataFrame(rows)


def confirmed(plan: Plan, folder: Path) -> pd.DataFrame:
    """Every part of every question on every fresh seed."""
    tables = integrity.read_all(folder, integrity.confirmations(plan))
    frames = [
        found.to_pandas().assign(best_case=name, question=question)
        for (name, question, _), found in zip(plan.confirmation_files(), tables, strict=True)
    ]
    return pd.concat(frames, ignore_index=True)


def write(plan: Plan, folder: Path) -> None:
    rows = confirmed(plan, folder)
    made = table(plan, folder, rows)
    shown = rows.merge(made[["best_case", "question", "candidate"]].drop_duplicates())
    seeds = shown[["best_case", "question", "candidate", "part", "algorithm", "seed", "distance", "lam", "cost"]]
    for name, found in zip(layout.BEST_CASES, (made, seeds, regions(plan, folder)), strict=True):
        write_csv(folder / layout.table(name), found)
