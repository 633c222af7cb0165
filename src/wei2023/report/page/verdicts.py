"""Does it replicate? The answer, the protocols, and what each unstated choice decides."""

import json
from pathlib import Path
from typing import Any

from wei2023.report.page import ledgers
from wei2023.study import layout
from wei2023.study.plan import Plan
from wei2023.verdicts import thresholds
from wei2023.verdicts.tables import load


def context(plan: Plan, folder: Path) -> dict[str, Any] | None:
    """Return the answer with its numbers, and what verdicts.html.j2 shows besides."""
    if not plan.simulations or plan.config.protocols is None:
        return None
    numbers = json.loads((folder / layout.ANSWER).read_text(encoding="utf-8"))
    found = [row["numbers"].get("restart_q_ucb_share") for row in numbers["protocols"]]
    shares = [share for share in found if share is not None]
    claims = ledgers.judged(plan, folder)
    return {
        **numbers,
        "rules": thresholds.load(),
        "restart_q_shares": f"{min(shares):.0%} to {max(shares):.0%}" if shares else "",
        "reasons": {one.name: one.reason for one in plan.config.protocols.protocols},
        "thresholds": load(folder / layout.table("thresholds.csv")),
        "judged": claims,
        "links": ledgers.links(claims),
    }
