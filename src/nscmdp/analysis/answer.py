"""Does it replicate? The answer in five lines, made from the verdicts and tables of a run."""

import json
import re
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
    found = chosen[[*columns, "theorem_from_K"]].dropna(subset=["gap_slope_K"])
    return json.loads(found.to_json(orient="records", double_precision=4))


def lines(numbers: dict[str, Any]) -> list[str]:
    """The answer, as Markdown."""
    whole = numbers["C20"]
    said = [
        f"**The simulation's claim as a whole holds in {whole['holds_in']} of {whole['judged']}** combinations of "
        f"constants and readings, and is mixed in {whole['mixed_in']}; "
        f"{whole['void']} more are void, because the constraint does not bind there.",
        "Part by part: " + "; ".join(map(_said_part, numbers["parts"])) + ".",
        "From the uniform policy (0%) to the optimum (100%) Algorithm 1 comes, at the end, " + _said_far(numbers) + ".",
    ]
    if numbers["growth"]:
        said.append("Growth, factors tuned once and frozen: " + "; ".join(map(_said_growth, numbers["growth"])) + ".")
    ledger = numbers["ledger"]
    said.append(
        f"The printed text had to be completed or corrected in {ledger['places']} places; {ledger['switches']} of the "
        "choices can be switched, and what each changes is measured."
    )
    return said


def _said_part(part: dict[str, Any]) -> str:
    unlearnt = f", {part['without_learning']} times without having learnt" if part["without_learning"] else ""
    return f"{part['says']} in {part['holds']} of {part['judged']}{unlearnt}"


def _said_far(numbers: dict[str, Any]) -> str:
    by_map: dict[str, list[str]] = {}
    for cell in numbers["first_reading"]:
        text = f"{cell['lam']:.0%} with {cell['setting']} constants at a cost of {cell['cost']:.2f}"
        by_map.setdefault(f"{cell['map']} map (limit {cell['limit']:g})", []).append(text)
    return "; ".join(f"on the {name} {', '.join(texts)}" for name, texts in by_map.items())


def _said_growth(row: dict[str, Any]) -> str:
    title, exponent = EXPONENTS[row["algorithm"]]
    kept = "keeps" if row["violation_per_episode"] <= 0 else "breaks"
    return (
        f"{title}'s gap grows as K^{row['gap_slope_K']:.2f} [{row['gap_slope_K_low']:.2f}, "
        f"{row['gap_slope_K_high']:.2f}] (bound: K^({exponent})), and it {kept} the constraint on average at "
        f"K = {row['largest_K']:,}, where the theorem speaks from K = {row['theorem_from_K']:.0e} on"
    )


def write(plan: Plan, folder: Path) -> None:
    numbers = gather(folder, deviations.load(deviations.LEDGER))
    files.write_text(folder / layout.ANSWER, json.dumps(numbers, indent=1) + "\n")


def in_readme(text: str, numbers: dict[str, Any]) -> str:
    """The text of a README with the answer between its two marks."""
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise ValueError(f"the README must have one line {BEGIN.strip()} and one line {END.strip()}")
    block = BEGIN + "".join(f"- {line}\n" for line in lines(numbers)) + END
    return re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: block, text, flags=re.DOTALL)
