"""Does it replicate? Five sentences, the table of protocols, and what each unstated choice decides."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from wei2023.report import tables
from wei2023.report.page import ledgers
from wei2023.study import layout
from wei2023.study.plan import Plan
from wei2023.verdicts import thresholds
from wei2023.verdicts.tables import load


def context(plan: Plan, folder: Path) -> dict[str, Any] | None:
    if not plan.simulations or plan.config.protocols is None:
        return None
    numbers = json.loads((folder / layout.ANSWER).read_text(encoding="utf-8"))
    reasons = {one.name: one.reason for one in plan.config.protocols.protocols}
    claims = [one for one in ledgers.judged(plan, folder) if one["group"] != "simulation"]
    counts = Counter(claim["verdict"] for claim in claims).most_common()
    rows = numbers["protocols"]
    shares = [
        row["numbers"]["restart_q_ucb_share"]
        for row in rows
        if "restart_q_ucb_share" in row["numbers"]
    ]
    return {
        "sentences": numbers["sentences"],
        "protocols": tables.protocols(rows),
        "rules": thresholds.load(),
        "restart_q_shares": f"{min(shares):.0%} to {max(shares):.0%}" if shares else "",
        "reasons": [
            {
                "name": row["name"] + " (recorded)" * row["recorded"],
                "reason": reasons[row["name"]],
                "runs": f"{len(row['draws'])} x {len(row['seeds'])}",
                "searched": ", ".join(map(str, row["searched_on"])) or "no search",
            }
            for row in rows
        ],
        "growing": tables.growing(numbers),
        "choices": tables.choices(numbers),
        "walk": numbers["walk"],
        "thresholds": tables.thresholds(load(folder / layout.table("thresholds.csv"))),
        "claims": len(claims),
        "counts": ", ".join(f"{name}: {number}" for name, number in counts),
        "verdicts": tables.verdicts(tables.by_verdict(claims)).html(ledgers.links(claims)),
    }
