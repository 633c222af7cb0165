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
erratum          the letter about what needs correction
simulation       the paper's simulation (C20), by its protocols

A group's findings are a file of their own (claims/GROUP.json, with the data behind them); claims.json is the list of
all verdicts, and claims.md the same for a person.
"""

import json
import math
from importlib import import_module
from pathlib import Path
from typing import Any

from nscmdp import files
from wei2023.proofs import ledger, simulation
from wei2023.proofs.erratum import letter
from wei2023.proofs.findings import CHECKS, VERDICTS, Finding, Given
from wei2023.proofs.ledger import Entry, Ledger
from wei2023.study import catalogue, layout
from wei2023.study.plan import Plan
from wei2023.verdicts.markdown import displayed, in_cell, table

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


def markdown(claims: list[dict[str, Any]]) -> str:
    """The ledger of claims for a person: what they come to, then the equation of each and what decides it."""
    found = [claim["verdict"] for claim in claims]
    counts = [(f"**{n}**", str(found.count(n)), says) for n, says in VERDICTS.items() if n in found]
    rows = []
    for claim in claims:
        cells = [in_cell(claim[key]) for key in ("id", "where", "statement")]
        rows.append((*cells, f"**{claim['verdict']}**", in_cell(claim["evidence"]["why"])))
    parts = [
        "# The paper's claims, and what they come to",
        "Verdicts are computed, by one standard for all; `workflow/claims.yaml` says what decides each.",
        table(("verdict", "claims", "what it means"), counts),
        table(("claim", "where", "says", "verdict", "why"), rows),
    ]
    for claim in claims:
        evidence = claim["evidence"]
        parts += [f"### {claim['id']}", displayed(claim["formula"])]
        if claim["covers"]:
            parts.append(f"Stands for {', '.join(claim['covers'])}, too.")
        if claim["corrected"]:
            parts.append(f"**As it holds:** {in_cell(claim['corrected'])}")
        measured, test = in_cell(claim["measured"]), in_cell(claim["test"])
        parts.append(f"**Measured:** {measured} **Test:** {test}")
        numbers = [
            (in_cell(what), in_cell(number if isinstance(number, str) else f"{number:.4g}"))
            for what, number in evidence["numbers"]
        ]
        if evidence["notices"]:
            numbers.append(("smallest error noticed", in_cell(noticed(evidence["notices"]))))
        if numbers:
            parts.append(table(("number", "value"), numbers))
    return "\n\n".join(parts) + "\n"


def noticed(notices: dict[str, Any]) -> str:
    """The smallest error that a check notices, in words."""
    factor = notices["factor"]
    return notices["error"] + ("" if factor is None else f" {factor:.3g}")


def write(plan: Plan, folder: Path) -> None:
    """claims.json, claims.md and, where all of the theory was checked, the erratum."""
    claims = gather(plan, folder, ledger.load())
    files.write_text(folder / layout.CLAIMS, json.dumps(claims, indent=1) + "\n")
    files.write_text(folder / layout.CLAIMS_TEXT, markdown(claims))
    none = "No claim on the theory was checked in this run.\n"
    files.write_text(folder / layout.ERRATUM, letter(claims) if plan.claim_groups else none)
