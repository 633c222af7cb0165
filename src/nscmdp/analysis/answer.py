"""Does it replicate? The answer, made from the verdicts and tables of a run."""

import json
from pathlib import Path
from typing import Any

import pandas as pd

from nscmdp.analysis import deviations, tables
from nscmdp.analysis.claims.findings import FALSE
from nscmdp.analysis.claims.simulation.alternatives import KINDS
from nscmdp.analysis.comparison import CONSTANTS
from nscmdp.analysis.markdown import between, in_cell, table
from nscmdp.runs import files
from nscmdp.study import layout
from nscmdp.study.plan import Plan

BEGIN, END = "<!-- made by `make readme` from docs/answer.json -->\n", "<!-- end -->\n"
EXPONENTS = {"nonstationary_triple_q": ("Algorithm 1", "4/5"), "double_restart_triple_q": ("Algorithm 2", "8/9")}
FACTORS = {**CONSTANTS, ("scaled", "once"): CONSTANTS["scaled", ""]}
REACHED = ("map", "K", "constants", "reached", "cost", "limit", "")
TALLIES = ("forgiving", "mean_of_trials", "forgiving_mean_of_trials")
SLOPES = [f"{quantity}_slope_K{end}" for quantity in ("gap", "regret") for end in ("", "_low", "_high")]


def gather(folder: Path, entries: list[deviations.Entry]) -> dict[str, Any]:
    """The numbers behind the answer."""
    judged = json.loads((folder / layout.SIMULATION).read_text(encoding="utf-8"))
    growth = _growth(folder / layout.table("comparison.csv"))
    counted = {key: judged[key] for key in ("holds_in", "mixed_in", "judged", "void", "unlearnt", *TALLIES)}
    return {
        "C20": {**counted, "void_readings": len(judged["void_readings"])},
        "classes": [
            {key: row[key] for key in ("map", "says", "class", "why", "moves_with")} for row in judged["classes"]
        ],
        "claims": _claims(folder / layout.CLAIMS),
        "alternatives": judged["depends_counts"],
        "best_cases": _best_cases(folder),
        "first_reading": _first_reading(pd.DataFrame(judged["cells"])),
        "growth": growth,
        "ledger": {"places": len(entries), "switches": sum(bool(entry.switch) for entry in entries)},
    }


def _first_reading(cells: pd.DataFrame) -> list[dict[str, Any]]:
    """How far Algorithm 1 gets where the sentences are read as the figure reads them."""
    first = (cells["cost drift"] == "accumulates") & (cells["location"] == "reached") & (cells["switch"] == "none")
    mine = cells[first & (cells["part"] == "C20a")]
    columns = ["map", "episodes", "setting", "lam", "cost", "limit", "kept_without_learning"]
    return json.loads(mine[columns].to_json(orient="records", double_precision=4))


def _best_cases(folder: Path) -> list[dict[str, Any]]:
    """Were constants found under which all of what is asked holds, on how many fresh seeds, after what effort?"""
    best, regions = (folder / layout.table(name) for name in ("best_cases.csv", "best_case_regions.csv"))
    if not best.is_file():
        return []
    table, drawn = tables.load(best), tables.load(regions).drop_duplicates("best_case").set_index("best_case")
    wholes = table[table["found"].notna() & ~table["part"].eq("C20 forgiving")]
    columns = ["best_case", "asks", "says", "found", "candidate", "margin", "agree", "seeds", "tried"]
    found = json.loads(wholes[columns].to_json(orient="records", double_precision=4))
    shares = drawn[["share", "share_low", "share_high"]].to_dict("index")
    return [{**row, "found": str(row["found"]) == "True", **shares[row["best_case"]]} for row in found]


def _growth(file: Path) -> list[dict[str, Any]]:
    """The slopes of Algorithms 1 and 2 with each choice of factors; the printed constants learn nothing."""
    if not file.is_file():
        return []
    columns = ["algorithm", "factors", *SLOPES, "violation_per_episode", "largest_K", "theorem_from_K", "instances"]
    table = tables.load(file)
    at = table.reindex(columns=["tuned_at"])["tuned_at"].fillna("once")
    factors = [FACTORS.get(key) for key in zip(table["setting"], at, strict=True)]
    found = table.assign(factors=factors).reindex(columns=columns).dropna(subset=["factors", "gap_slope_K"])
    chosen = found[found["algorithm"].isin(EXPONENTS)]
    return json.loads(chosen.to_json(orient="records", double_precision=4))


def _claims(file: Path) -> list[dict[str, Any]]:
    claims = json.loads(file.read_text(encoding="utf-8"))
    told = ("id", "corrects", "where", "statement", "verdict", "class")
    return [{**{key: claim[key] for key in told}, "why": claim["evidence"]["why"]} for claim in claims]


def markdown(numbers: dict[str, Any]) -> str:
    """The answer: a sentence, and a table for every set of numbers."""
    ledger, whole = numbers["ledger"], numbers["C20"]
    parts = [
        _sentence(whole),
        *_claim_tables(numbers["claims"]),
        "What the verdicts on the simulation come to, over constants, readings, thresholds and alternatives of the "
        "tuning:",
        table(("map", "part of the claim", "class", "why", "changes with"), map(_class_cells, numbers["classes"])),
        *_alternatives(numbers["alternatives"]),
        *_best_case_tables(numbers["best_cases"]),
        "How far Algorithm 1 gets by the end of the run, from the uniform policy (0%) to the optimum (100%):",
        table(REACHED, map(_reading_cells, numbers["first_reading"])),
    ]
    if numbers["growth"]:
        head = ("algorithm", "factors", "gap grows as K to the", "regret", "bound", "violation per episode", "at K")
        parts += [
            "Growth (a negative violation: the constraint is kept on average). "
            "An exponent at such K neither proves nor refutes an upper bound.",
            table(head, map(_growth_cells, numbers["growth"])),
        ]
    parts.append(
        f"The printed text had to be completed or corrected in {ledger['places']} places; {ledger['switches']} of the "
        "choices can be switched, and what each changes is measured."
    )
    return "\n\n".join(parts) + "\n"


def _sentence(whole: dict[str, Any]) -> str:
    return (
        f"**The simulation's claim as a whole holds in {whole['holds_in']} of {whole['judged']}** combinations of "
        f"constants and readings, in {whole['forgiving']['holds_in']} where the dip after a restart is forgiven, and "
        f"on the mean of the first trials, which the paper plots, in {whole['mean_of_trials']['holds_in']} and "
        f"{whole['forgiving_mean_of_trials']['holds_in']}. Not counted: {whole['unlearnt']} in which the printed "
        f"constants learn nothing, and {whole['void'] + whole['void_readings']} in which the constraint does not bind."
    )


def _claim_tables(claims: list[dict[str, Any]]) -> list[str]:
    """What all claims come to, and those that are false as printed; of the simulation alone there is more below."""
    if len(claims) < 2:
        return []
    classes: dict[str, list[str]] = {}
    for claim in claims:
        classes.setdefault(claim["class"], []).append(f"{claim['id']} ({claim['verdict']})")
    false = [claim for claim in claims if claim["verdict"] == FALSE]
    corrected = {claim["corrects"]: claim for claim in claims if claim["corrects"]}
    rows = [
        (*(in_cell(claim[key]) for key in ("id", "where", "statement")), _corrected(corrected.get(claim["id"])))
        for claim in false
    ]
    return [
        "Every claim of the paper that numbers can check (`docs/claims.md` says what each states and what decides it):",
        table(("class", "claims"), [(f"**{name}**", ", ".join(ids)) for name, ids in classes.items()]),
        "False as printed, each by a counterexample that is computed and stands beside it in `docs/claims.md`:",
        table(("claim", "where", "says", "corrected"), rows),
    ]


def _corrected(claim: dict[str, Any] | None) -> str:
    return "-" if claim is None else f"{claim['id']}: {in_cell(claim['statement'])} **{claim['verdict']}**"


def _alternatives(counts: dict[str, dict[str, int]]) -> list[str]:
    rows = [(KINDS[kind], str(found["differ"]), str(found["of"])) for kind, found in counts.items() if found["of"]]
    said = "How many verdicts with tuned constants change where the tuning is done otherwise:"
    return [said, table(("another", "verdicts that differ", "of"), rows)] if rows else []


def _best_case_tables(rows: list[dict[str, Any]]) -> list[str]:
    if not rows:
        return []
    words = {True: "found", False: "none found"}
    cells = [
        (
            *(row[key] for key in ("best_case", "asks", "says")),
            f"**{words[row['found']]}**",
            row["candidate"],
            f"{row['margin']:.1f}",
            f"{row['agree']} of {row['seeds']}",
            str(row["tried"]),
        )
        for row in rows
    ]
    head = ("best case", "asked", "holds", "constants", "of the", "least margin", "fresh seeds that agree", "tried")
    shares = {row["best_case"]: row for row in rows}.values()
    said = "; ".join(
        f"{row['best_case']} {row['share']:.1%} [{row['share_low']:.1%}, {row['share_high']:.1%}]" for row in shares
    )
    return [
        "The best case for the paper: a search over all admissible constants for the widest margin (mean distance to "
        "the threshold in standard deviations), confirmed on fresh seeds beside the tuned choice, the better of "
        "which is shown. None found is not the same as false.",
        table(head, cells),
        f"Share of all admissible constants of Algorithm 1 at which its own parts hold: {said}.",
    ]


def _said(number: float | None, form: str) -> str:
    return "-" if number is None else form.format(number)


def _class_cells(row: dict[str, Any]) -> list[str]:
    return [row["map"], row["says"], f"**{row['class']}**", row["why"], ", ".join(row["moves_with"]) or "-"]


def _reading_cells(cell: dict[str, Any]) -> list[str]:
    reached = "-" if cell["lam"] is None else f"{round(100 * cell['lam'])}%"
    note = "feasible only by not learning" if cell["kept_without_learning"] else ""
    where = [cell["map"], f"{cell['episodes']:,}", cell["setting"]]
    return [*where, reached, f"{cell['cost']:.2f}", f"{cell['limit']:g}", note]


def _growth_cells(row: dict[str, Any]) -> list[str]:
    title, exponent = EXPONENTS[row["algorithm"]]
    slopes = [_slope(row, quantity) for quantity in ("gap", "regret")]
    violation = _said(row["violation_per_episode"], "{:.3f}")
    return [title, row["factors"], *slopes, exponent, violation, _said(row["largest_K"], "{:,.0f}")]


def _slope(row: dict[str, Any], quantity: str) -> str:
    """With its interval; a regret that is not positive has none."""
    slope, low, high = (_said(row[f"{quantity}_slope_K{end}"], "{:.2f}") for end in ("", "_low", "_high"))
    return slope if slope == "-" else f"{slope} [{low}, {high}]"


def write(plan: Plan, folder: Path) -> None:
    numbers = gather(folder, deviations.load(deviations.LEDGER))
    files.write_text(folder / layout.ANSWER, json.dumps(numbers, indent=1) + "\n")


def in_readme(text: str, numbers: dict[str, Any]) -> str:
    """The text of a README with the answer between its two marks."""
    return between(text, BEGIN, END, markdown(numbers))
