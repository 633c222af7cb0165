"""The ledgers: every claim of the paper with its verdict, and every place where the printed text was not followed."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

from wei2023.proofs import ledger
from wei2023.report import tables
from wei2023.report.formulas import typeset
from wei2023.study import catalogue, layout
from wei2023.study.plan import Plan
from wei2023.verdicts import deviations

SUBJECTS = {**catalogue.SUBJECTS, "simulation": "the simulation"}


def judged(plan: Plan, folder: Path) -> list[dict[str, Any]]:
    """Return the claims with their verdicts; none where none was checked."""
    if not plan.claim_groups:
        return []
    return json.loads((folder / layout.CLAIMS).read_text(encoding="utf-8"))


def links(claims: list[dict[str, Any]]) -> dict[str, str]:
    """Return where each claim and deviation is, by its id."""
    entries = deviations.load(deviations.LEDGER)
    found = {entry.id: f"{layout.DEVIATIONS_PAGE}#{entry.id}" for entry in entries}
    for claim in claims:
        address = f"{layout.CLAIMS_PAGE}#{quote(claim['id'])}"
        found |= dict.fromkeys([claim["id"], *claim["covers"]], address)
    return found


def context(plan: Plan, folder: Path) -> dict[str, Any]:
    """Return what claims.html.j2 and deviations.html.j2 show."""
    claims = judged(plan, folder)
    linked = links(claims)
    return {"claims": _claims(plan, claims, linked), "deviations": _deviations(folder, linked)}


def _claims(
    plan: Plan, claims: list[dict[str, Any]], linked: dict[str, str]
) -> dict[str, Any] | None:
    if not claims:
        return None
    drawn = {layout.figure(one.name) for figures in plan.notebooks.values() for one in figures}
    groups = []
    for group in ledger.GROUPS:
        mine = [claim for claim in claims if claim["group"] == group]
        evidence = mine[0]["evidence"] if mine else {}
        files = [evidence["data"], *({evidence["figure"]} & drawn)] if mine else []
        title = SUBJECTS[group][0].upper() + SUBJECTS[group][1:]
        entries = [_claim(claim, linked) for claim in mine]
        groups.append({"id": group, "title": title, "files": files, "entries": entries})
    verdicts = tables.verdicts(tables.by_verdict(claims))
    shown = [group for group in groups if group["entries"]]
    return {"number": len(claims), "groups": shown, "verdicts": verdicts.html(linked)}


def _claim(claim: dict[str, Any], linked: dict[str, str]) -> dict[str, Any]:
    evidence, numbers = claim["evidence"], []
    if claim["value"] is not None:
        low, high = claim["low"], claim["high"]
        ends = "" if None in (low, high) or low == high else f" [{low:.4g}, {high:.4g}]"
        numbers.append(f"value {claim['value']:.4g}{ends}")
    if evidence["bound"] is not None:
        numbers.append(f"bound {evidence['bound']:.4g}")
    if claim["slack"] is not None:
        numbers.append(
            f"slack {claim['slack']:.3g} ({evidence['slack_in']}; below 0 where it fails)"
        )
    numbers.append(f"looked at {evidence['samples']:,} problems, runs or steps")
    why = evidence["why"].rstrip(".")
    texts = {key: claim[key] for key in ("where", "statement", "corrected", "measured", "test")}
    texts |= {"why": f"{why[0].upper()}{why[1:]}.", "formula": claim["formula"]}
    return {
        "id": claim["id"],
        "covers": claim["covers"],
        "verdict": tables.html(f"**{claim['verdict']}**"),
        "numbers": "; ".join(numbers),
        "evidence": tables.evidence(claim),
        **_typeset(f"claim {claim['id']}", texts, linked),
    }


def _deviations(folder: Path, linked: dict[str, str]) -> dict[str, Any]:
    entries = deviations.load(deviations.LEDGER)
    measured = deviations.load_effects(folder / layout.table("deviations.csv"))
    groups = []
    for kind, meaning in deviations.KINDS.items():
        made = []
        for entry in [entry for entry in entries if entry.kind == kind]:
            texts = {key: getattr(entry, key) for key in ("where", "printed", "chosen", "evidence")}
            made.append(
                {
                    **entry.model_dump(include={"id", "kind", "certainty", "switch"}),
                    "options": [deviations.as_text(value) for value in entry.values],
                    "effects": tables.effects(
                        measured[measured["switch"].isin(entry.switch)], entry.id
                    ),
                    **_typeset(
                        f"deviation {entry.id}", {**texts, "formula": entry.formula or ""}, linked
                    ),
                }
            )
        groups.append({"id": kind, "title": meaning, "entries": made})
    switches = sum(bool(entry.switch) for entry in entries)
    return {"number": len(entries), "switches": switches, "groups": groups}


def _typeset(entry: str, texts: dict[str, str | None], linked: dict[str, str]) -> dict[str, Any]:
    """Return the fields of an entry as HTML, a formula line by line; one that cannot be typeset is named."""
    made: dict[str, Any] = {}
    for field, text in texts.items():
        try:
            made[field] = (
                [typeset(line, display=True) for line in (text or "").splitlines()]
                if field == "formula"
                else tables.html(text or "", linked)
            )
        except ValueError as error:
            raise ValueError(f"{entry}, {field}: {error}") from None
    return made
