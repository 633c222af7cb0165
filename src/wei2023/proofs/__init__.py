"""Verdicts on the paper's claims, computed: from exact mathematics, from runs of their own, and from the tables.

ledger           what workflow/claims.yaml says of each claim
findings         what a check finds, and the one standard of verdicts
instrumented     Algorithm 1 as printed with all its tables in sight, many runs at once; cases: the paths it runs on
learning_rates   the learning rates, the drift of values, the tightened problem
optimism         ranges and what follows; by concentration, estimation
queue            the virtual queue: drift, negative drift, its bound; by queue_runs, moments
theorems         Theorems 1 and 2, the assumption on b~
bandit           the bandit over bandits
linear           Theorems 3 and 4, and the lemmas of linear CMDPs
arithmetic       memory, computation, Table 1 and the remarks on orders
simulation       the paper's simulation (C20), by its protocols

A group's findings are a file of their own (claims/GROUP.json, with the data behind them); claims.json is the list of
all verdicts (:func:`gather`).
"""

import json
import math
from importlib import import_module
from pathlib import Path
from typing import Any

from nscmdp import files
from wei2023.proofs import ledger, simulation
from wei2023.proofs.findings import CHECKS, Finding, Given
from wei2023.proofs.ledger import Entry, Ledger
from wei2023.study import catalogue, layout
from wei2023.study.plan import Plan

SIMULATION = "simulation"
DIGITS = 6
EDGES = ("value", "low", "high", "slack")


def judge(plan: Plan, folder: Path, group: str) -> None:
    """Run the checks of a group, and write what they find."""
    if group not in catalogue.CLAIM_GROUPS:
        raise ValueError(f"group = {group!r}: expected one of {', '.join(catalogue.CLAIM_GROUPS)}")
    import_module(f"wei2023.proofs.{group}")
    if plan.config.claims is None:
        raise ValueError(
            "the configuration asks for no claims: expected claims: {problems: ..., samples: ...}"
        )
    given = Given(plan.config.claims.problems, plan.config.claims.samples, folder, plan.roles)
    found = {}
    for entry in ledger.load().claims:
        if entry.group == group:
            found[entry.id] = plain(CHECKS[entry.id](given).checked())
            print(f"{entry.id}: {found[entry.id]['verdict']}", flush=True)
    files.write_text(folder / layout.claims(group), json.dumps(found, indent=1) + "\n")


def plain(finding: Finding) -> dict[str, Any]:
    """As JSON has it: numbers to six digits, null where there is none."""
    steps = [{**step._asdict(), "looseness": step.looseness} for step in finding.inequalities]
    notices = finding.notices and finding.notices._asdict()
    return _rounded({**finding._asdict(), "inequalities": steps, "notices": notices})


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    if isinstance(value, bool | str | int) or value is None:
        return value
    number = float(value)
    return float(f"{number:.{DIGITS}g}") if math.isfinite(number) else None


def gather(plan: Plan, folder: Path, known: Ledger) -> list[dict[str, Any]]:
    """One object per claim: what it says, the verdict on it and what that rests on."""
    found: dict[str, dict[str, Any]] = {}
    for group in plan.claim_groups:
        found |= json.loads((folder / layout.claims(group)).read_text(encoding="utf-8"))
    if plan.simulations:
        found |= {"C20": plain(simulation.finding(folder))}
    return [_object(entry, found[entry.id]) for entry in known.claims if entry.id in found]


def _object(entry: Entry, found: dict[str, Any]) -> dict[str, Any]:
    evidence = {
        key: found[key] for key in ("why", "numbers", "notices", "bound", "slack_in", "samples")
    }
    evidence |= {
        "data": data_of(entry.group),
        "rows": len(found["rows"]),
        "figure": figure_of(entry.group),
    }
    edges = {name: found[name] for name in EDGES}
    return {**entry.model_dump(), "verdict": found["verdict"], **edges, "evidence": evidence}


def data_of(group: str) -> str:
    return layout.table("protocols.csv") if group == SIMULATION else layout.claims(group)


def figure_of(group: str) -> str | None:
    if group == SIMULATION:
        return layout.figure("margins")
    return layout.figure(f"claims_{group}") if group in catalogue.DRAWN else None
