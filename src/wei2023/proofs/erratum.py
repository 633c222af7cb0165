"""The letter about the paper's errors: workflow/erratum.md, with numbers from the claims in the places it has for them.

[[C16|value]]              a field of the claim
[[C13|V/(HK) at K = 1e10]]  a row of the table of numbers below its verdict
"""

import re
from typing import Any

from wei2023.study.catalogue import ERRATUM

PLACE = re.compile(r"\[\[(C\d+[a-z]?)\|([^\]]+)\]\]")


def letter(claims: list[dict[str, Any]]) -> str:
    """The letter; a number that no claim has is refused by name."""
    known = {claim["id"]: claim for claim in claims}

    def filled(place: re.Match[str]) -> str:
        name, what = place.groups()
        claim = known.get(name, {"evidence": {"numbers": []}})
        found = {**claim, **dict(claim["evidence"]["numbers"])}.get(what)
        if found is None:
            raise ValueError(f"{ERRATUM}: {place[0]} asks for what claim {name} does not have")
        return found if isinstance(found, str) else f"{found:.3g}"

    return PLACE.sub(filled, ERRATUM.read_text(encoding="utf-8"))
