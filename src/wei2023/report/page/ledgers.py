"""The ledgers: every claim of the paper with its verdict, and every place where the printed text
was not followed.
"""

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

from wei2023.proofs import ledger
from wei2023.study import catalogue, layout
from wei2023.study.plan import Plan
from wei2023.verdicts import deviations

SUBJECTS = {**catalogue.SUBJECTS, "simulation": "the simulation"}


def judged(plan: Plan, folder: Path) -> list[dict[str, Any]]:
    """Return the claims with their verdicts; none where none was checked."""
    file = folder / layout.CLAIMS
    return json.loads(file.read_text(encoding="utf-8")) if plan.claim_groups else []


def links(claims: list[dict[str, Any]]) -> dict[str, str]:
    """Return where each claim and deviation is, by its id."""
    entries = deviations.load(deviations.LEDGER)
    found = {entry.id: f"{layout.DEVIATIONS_PAGE}#{entry.id}" for entry in entries}
    for claim in claims:
        address = f"{layout.CLAIMS_PAGE}#{quote(claim['id'])}"
        found |= dict.fromkeys([claim["id"], *claim["covers"]], address)
    return found


def context(plan: Plan, folder: Path) -> dict[str, dict[str, Any]]:
    """Return what claims.html.j2 and deviations.html.j2 show, with a title for each of their
    groups.
    """
    claims, entries = judged(plan, folder), deviations.load(deviations.LEDGER)
    groups = {claim["group"] for claim in claims}
    titles = {name: SUBJECTS[name][0].upper() + SUBJECTS[name][1:] for name in SUBJECTS}
    measured = deviations.load_effects(folder / layout.table("deviations.csv"))
    shared = {"claims": claims, "links": links(claims)}
    pages = {
        "deviations": {
            **shared,
            "groups": deviations.KINDS,
            "entries": entries,
            "measured": measured,
        }
    }
    if claims:
        drawn = {figure.name for figures in plan.notebooks.values() for figure in figures}
        shown = {name: titles[name] for name in ledger.GROUPS if name in groups}
        figures = {layout.figure(name) for name in drawn}
        pages["claims"] = {**shared, "groups": shown, "figures": figures}
    return pages
