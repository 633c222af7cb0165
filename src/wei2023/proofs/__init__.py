"""Verdicts on the paper's claims, computed: from exact mathematics, from runs of their own, and from the tables.

ledger           what workflow/claims.yaml says of each claim
findings         what a check finds, and the one standard of verdicts
instrumented     Algorithm 1 as printed with all its tables in sight, many runs at once, and the paths that it runs on
learning_rates   the learning rates, the drift of values, the tightened problem
optimism         ranges, noise, over-estimation, errors of the estimates
queue            the virtual queue: drift, negative drift, its bound; its moments are in moments
theorems         Theorems 1 and 2, the assumption on b~
bandit           the bandit over bandits
linear           Theorems 3 and 4; linear_lemmas, linear_runs, linear_counterexample
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
EDGES = ("verdict", "value", "low", "high", "slack")
EVIDENCE = ("why", "numbers", "notices", "bound", "slack_in", "samples")
UNEXPECTED = "The computation contradicts what was found here before: see the numbers."


def judge(plan: Plan, folder: Path, group: str) -> None:
    """Run the checks of a group, and write what they find."""
    if group not in catalogue.CLAIM_GROUPS:
        raise ValueError(f"group = {group!r}: expected one of {', '.join(catalogue.CLAIM_GROUPS)}")
    import_module(f"wei2023.proofs.{group}")
    if plan.config.claims is None:
        raise ValueError(
            "the configuration asks for no claims: expected claims: {problems: ..., samples: ...}"
        )
    given = Given(plan.config.claims.problems, plan.config.claims.samples)
    found = {}
    for entry in ledger.load().claims:
        if entry.group == group:
            found[entry.id] = plain(CHECKS[entry.id](given), entry)
            print(f"{entry.id}: {found[entry.id]['verdict']}", flush=True)
    files.write_text(folder / layout.claims(group), json.dumps(found, indent=1) + "\n")


def plain(finding: Finding, entry: Entry | None = None) -> dict[str, Any]:
    """The finding as JSON has it, with the ledger's reason: numbers to six digits, else null."""
    why = entry.why.get(finding.verdict, UNEXPECTED).format(**finding.says) if entry else ""
    rest = finding._asdict() | {
        "numbers": [*finding.numbers.items()],
        "notices": finding.notices and finding.notices._asdict(),
        "inequalities": [{**s._asdict(), "looseness": s.looseness} for s in finding.inequalities],
    }
    del rest["says"]
    return _rounded({"verdict": rest.pop("verdict"), "why": why, **rest})


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
        (entry,) = (entry for entry in known.claims if entry.group == SIMULATION)
        found[entry.id] = plain(simulation.finding(folder), entry)
    claims = []
    for entry in (entry for entry in known.claims if entry.id in found):
        one, data, figure = found[entry.id], layout.claims(entry.group), f"claims_{entry.group}"
        if entry.group == SIMULATION:
            data, figure = layout.table("protocols.csv"), "margins"
        drawn = entry.group in (*catalogue.DRAWN, SIMULATION)
        evidence = {key: one[key] for key in EVIDENCE} | {"data": data, "rows": len(one["rows"])}
        evidence["figure"] = layout.figure(figure) if drawn else None
        edges = {name: one[name] for name in EDGES}
        claims.append({**entry.model_dump(exclude={"why"}), **edges, "evidence": evidence})
    return claims
