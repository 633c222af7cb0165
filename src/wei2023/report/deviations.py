"""deviations.csv and the ledger of deviations as a text."""

from pathlib import Path

import pandas as pd

from nscmdp import files
from wei2023.report import formulas, tables
from wei2023.study import layout
from wei2023.study.plan import Plan
from wei2023.verdicts import deviations
from wei2023.verdicts.deviations import KINDS, LEDGER, Entry


def write(plan: Plan, folder: Path) -> None:
    """Write the effects of the switches, and the ledger with them."""
    entries, names = deviations.load(LEDGER), plan.roles.get("switches", [])
    exact = [folder / layout.table("exact.parquet", name) for name in names]
    written = folder / layout.table("deviations.csv")
    files.write_csv(written, deviations.effects(entries, exact))
    files.write_text(
        folder / layout.DEVIATIONS, markdown(entries, deviations.load_effects(written))
    )


def markdown(entries: list[Entry], measured: pd.DataFrame) -> str:
    """Return the ledger as a page, with the measured effects."""
    switched = sum(bool(entry.switch) for entry in entries)
    lines = [
        "# Deviations from the printed text",
        "",
        "Made by the rule `deviations` from `workflow/deviations.yaml` and measured effects; not written by hand.",
        f"{len(entries)} places, {switched} of which can be switched in `config.yaml`. An effect compares two runs",
        "over the same seeds that differ in the switch alone, by exact means per episode; gap is the Lagrangian gap",
        "(V* - V) + multiplier x (rho - W). Intervals are 95%, over seeds.",
        "",
    ]
    for kind, meaning in KINDS.items():
        chosen = [entry.id for entry in entries if entry.kind == kind]
        links = ", ".join(f"[{name}](#{name})" for name in chosen)
        lines.append(f"- {meaning} ({kind}, {len(chosen)}): {links}")
    for kind, meaning in KINDS.items():
        lines += ["", f"## {meaning}"]
        for entry in entries:
            if entry.kind == kind:
                effects = tables.effects(measured[measured["switch"].isin(entry.switch)], entry.id)
                lines += ["", *_section(entry), *(["", effects.markdown()] if effects.rows else [])]
    return "\n".join(lines) + "\n"


def _section(entry: Entry) -> list[str]:
    lines = [f"### {entry.id}", "", f"*{entry.where}.* {entry.printed}", ""]
    if entry.formula:
        lines += [formulas.markdown(entry.formula), ""]
    lines += [f"**Chosen** (certainty {entry.certainty}): {entry.chosen} **Why:** {entry.evidence}"]
    if entry.switch:
        keys = ", ".join(f"`{key}`" for key in entry.switch)
        values = ", ".join(f"`{deviations.as_text(value)}`" for value in entry.values)
        lines += ["", f"**Switch:** {keys}; values {values}."]
    return lines
