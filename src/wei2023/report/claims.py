"""claims.json, claims.md and the letter about what needs correction."""

import json
import re
from pathlib import Path
from typing import Any

from nscmdp import files
from wei2023.proofs import gather, ledger
from wei2023.report import render
from wei2023.study import layout
from wei2023.study.catalogue import ERRATUM
from wei2023.study.plan import Plan

PLACE = re.compile(r"\[\[(C\d+[a-z]?)\|([^\]]+)\]\]")  # of a number in the letter: [[C16|value]]


def write(plan: Plan, folder: Path) -> None:
    """Write the verdicts as data and as text, and the letter where the theory was checked."""
    claims = gather(plan, folder, ledger.load())
    files.write_text(folder / layout.CLAIMS, json.dumps(claims, indent=1) + "\n")
    render.page(folder / layout.CLAIMS_TEXT, "claims.md.j2", claims=claims)
    none = "No claim on the theory was checked in this run.\n"
    files.write_text(folder / layout.ERRATUM, letter(claims) if plan.claim_groups else none)


def letter(claims: list[dict[str, Any]]) -> str:
    """Return workflow/erratum.md with the numbers of claims in its places.

    ``[[C16|value]]`` is a field of a claim, ``[[C13|V/(HK) at K = 1e10]]`` a row of its numbers. A
    number that no claim has is refused by name.
    """
    known = {claim["id"]: claim for claim in claims}

    def filled(place: re.Match[str]) -> str:
        name, what = place.groups()
        claim = known.get(name, {"evidence": {"numbers": []}})
        found = {**claim, **dict(claim["evidence"]["numbers"])}.get(what)
        if found is None:
            raise ValueError(f"{ERRATUM}: {place[0]} asks for what claim {name} does not have")
        return found if isinstance(found, str) else f"{found:.3g}"

    return PLACE.sub(filled, ERRATUM.read_text(encoding="utf-8"))
