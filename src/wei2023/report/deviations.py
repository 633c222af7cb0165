"""deviations.csv and the ledger of deviations as a text."""

from pathlib import Path

from nscmdp import files
from wei2023.report import render
from wei2023.study import layout
from wei2023.study.plan import Plan
from wei2023.verdicts import deviations


def write(plan: Plan, folder: Path) -> None:
    """Write the effects of the switches, and the ledger with them."""
    names, written = plan.roles.get("switches", []), folder / layout.table("deviations.csv")
    exact = [folder / layout.table("exact.parquet", name) for name in names]
    effects = deviations.effects(deviations.load(deviations.LEDGER), exact)
    files.write_csv(written, effects)
    text(folder / layout.DEVIATIONS, written)


def text(file: Path, measured: Path, ledger: Path = deviations.LEDGER) -> None:
    """Write the ledger with the effects that a CSV file holds."""
    render.page(
        file,
        "deviations.md.j2",
        entries=deviations.load(ledger),
        kinds=deviations.KINDS,
        measured=deviations.load_effects(measured),
    )
