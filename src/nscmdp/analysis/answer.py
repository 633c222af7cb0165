"""Does it replicate? The answer, made from the verdicts and tables of a run."""

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from nscmdp.analysis import claims, deviations, tables
from nscmdp.runs import files
from nscmdp.study import layout
from nscmdp.study.plan import Plan

BEGIN, END = "<!-- made by `make readme` from docs/answer.json -->\n", "<!-- end -->\n"
EXPONENTS = {"nonstationary_triple_q": ("Algorithm 1", "4/5"), "double_restart_triple_q": ("Algorithm 2", "8/9")}


def gather(folder: Path, entries: list[deviations.Entry]) -> dict[str, Any]:
    """The numbers behind the answer."""
    judged = json.loads((folder / layout.CLAIMS).read_text(encoding="utf-8"))["C20"]
    cells = pd.DataFrame(judged["cells"])
    return {
        "C20": {key: judged[key] for key in ("holds_in", "mixed_in", "judged", "void")},
        "parts": [_part(cells[cells["part"] == part.name], part) for part in claims.PARTS],
        "first_reading": _first_reading(cells),
        "growth": _growth(folder / layout.table("comparison.csv")),
        "ledger": {"places": len(entries), "switches": sum(bool(entry.switch) for entry in entries)},
    }


def _part(cells: pd.DataFrame, part: claims.Part) -> dict[str, Any]:
    binding = cells[cells["verdict"] != claims.VOID]
    holds = binding["verdict"] == claims.HOLDS
    unlearnt = int((holds & binding["without_learning"]).sum())
    return {"says": part.says, "holds": int(holds.sum()), "judged": len(binding), "without_learning": unlearnt}


def _first_reading(cells: pd.DataFrame) -> list[dict[str, Any]]:
    """How far Algorithm 1 gets where the sentences are read as the figure reads them."""
    first = (cells["cost drift"] == "accumulates") & (cells["location"] == "reached") & (cells["switch"] == "none")
    mine = cells[first & (cells["part"] == "C20a")]
    return json.loads(mine[["map", "setting", "lam", "cost", "limit"]].to_json(orient="records", double_precision=4))


def _growth(file: Path) -> list[dict[str, Any]]:
    if not file.is_file():
        return []
    table = tables.load(file)
    chosen = table[table["algorithm"].isin(EXPONENTS) & (table["setting"] == "tuned")]
    columns = ["algorithm", "gap_slope_K", "gap_slope_K_low", "gap_slope_K_high", "violation_per_episode", "largest_K"]
    found = chosen.reindex(columns=[*columns, "theorem_from_K"]).dropna(subset=["gap_slope_K"])
    return json.loads(found.to_json(orient="records", double_precision=4))


def markdown(numbers: dict[str, Any]) -> str:
    """The answer: a sentence, and a table for every set of numbers."""
    whole, ledger = numbers["C20"], numbers["ledger"]
    parts = [
        f"**The simulation's claim as a whole holds in {whole['holds_in']} of {whole['judged']}** combinations of "
        f"constants and readings, and is mixed in {whole['mixed_in']}. "
        f"{whole['void']} more are void: the constraint does not bind there.",
        _table(("part of the claim", "holds in", "of", "without having learnt"), map(_part_cells, numbers["parts"])),
        "How far Algorithm 1 gets by the end of the run, from the uniform policy (0%) to the optimum (100%):",
        _table(("map", "constants", "reached", "cost", "limit"), map(_reading_cells, numbers["first_reading"])),
    ]
    if numbers["growth"]:
        head = ("algorithm", "gap grows as K to the", "bound", "violation per episode", "at K", "theorem from K")
        parts += [
            "Growth, with factors tuned once and frozen (a negative violation: the constraint is kept on average):",
            _table(head, map(_growth_cells, numbers["growth"])),
        ]
    parts.append(
        f"The printed text had to be completed or corrected in {ledger['places']} places; {ledger['switches']} of the "
        "choices can be switched, and what each changes is measured."
    )
    return "\n\n".join(parts) + "\n"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows))


def _said(number: float | None, form: str) -> str:
    return "-" if number is None else form.format(number)


def _part_cells(part: dict[str, Any]) -> list[str]:
    return [part["says"], *(str(part[key]) for key in ("holds", "judged", "without_learning"))]


def _reading_cells(cell: dict[str, Any]) -> list[str]:
    return [cell["map"], cell["setting"], _said(cell["lam"], "{:.0%}"), f"{cell['cost']:.2f}", f"{cell['limit']:g}"]


def _growth_cells(row: dict[str, Any]) -> list[str]:
    title, exponent = EXPONENTS[row["algorithm"]]
    low, high = (_said(row[f"gap_slope_K_{end}"], "{:.2f}") for end in ("low", "high"))
    slope = f"{row['gap_slope_K']:.2f} [{low}, {high}]"
    violation, from_K = f"{row['violation_per_episode']:.3f}", f"{row['theorem_from_K']:.0e}"
    return [title, slope, exponent, violation, f"{row['largest_K']:,}", from_K]


def write(plan: Plan, folder: Path) -> None:
    numbers = gather(folder, deviations.load(deviations.LEDGER))
    files.write_text(folder / layout.ANSWER, json.dumps(numbers, indent=1) + "\n")


def in_readme(text: str, numbers: dict[str, Any]) -> str:
    """The text of a README with the answer between its two marks."""
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise ValueError(f"the README must have one line {BEGIN.strip()} and one line {END.strip()}")
    block = f"{BEGIN}\n{markdown(numbers)}\n{END}"
    return re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: block, text, flags=re.DOTALL)
