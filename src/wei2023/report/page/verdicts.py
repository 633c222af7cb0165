"""Does it replicate? Five sentences, the table of protocols, and what each unstated choice decides."""

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from wei2023.proofs.findings import VERDICTS
from wei2023.report.page.ledgers import MARKS
from wei2023.runs.parts import PARTS
from wei2023.study import layout
from wei2023.study.plan import Plan
from wei2023.verdicts import tables, thresholds
from wei2023.verdicts.answer import GROWING, LABELS, cells, growing, number, tuned_by_an_author


def context(plan: Plan, folder: Path) -> dict[str, Any] | None:
    if not plan.simulations or plan.config.protocols is None:
        return None
    answer, claims = (
        json.loads((folder / name).read_text(encoding="utf-8"))
        for name in (layout.ANSWER, layout.CLAIMS)
    )
    reasons = {one.name: one.reason for one in plan.config.protocols.protocols}
    others = [claim for claim in claims if claim["group"] != "simulation"]
    return {
        "sentences": answer["sentences"],
        "protocols": [_protocol(row, reasons[row["name"]]) for row in answer["protocols"]],
        "parts": list(LABELS.values()),
        "rules": thresholds.load(),
        "restart_q_shares": _range(
            row["numbers"].get("restart_q_ucb_share") for row in answer["protocols"]
        ),
        "growing": {"head": GROWING, "rows": [*map(growing, tuned_by_an_author(answer))]},
        **_choices(answer),
        "walk": answer["walk"],
        "thresholds": _thresholds(folder),
        "others": _sentence(Counter(claim["verdict"] for claim in others)) if others else None,
        "verdicts": [
            {
                "mark": MARKS[name],
                "text": name,
                "claims": [claim for claim in others if claim["verdict"] == name],
            }
            for name in VERDICTS
        ],
    }


def _protocol(row: dict[str, Any], reason: str) -> dict[str, Any]:
    name, K, *shown = cells(row)
    return {
        **{key: row[key] for key in ("frame_end", "constants", "baselines")},
        "name": name,
        "K": K,
        "cells": [
            *shown[:-1],
            number(row, "triple_q_late_cost", "{:.2f}"),
            number(row, "restart_q_ucb_late_cost", "{:.2f}"),
        ],
        "reason": reason,
        "runs": f"{len(row['draws'])} x {len(row['seeds'])}",
        "searched": ", ".join(map(str, row["searched_on"])) or "no search",
    }


def _range(shares: Iterable[float | None]) -> str:
    known = [share for share in shares if share is not None]
    return f"{min(known):.0%} to {max(known):.0%}" if known else ""


def _choices(answer: dict[str, Any]) -> dict[str, Any]:
    """A row per option: the parts that it decides, by the protocol from which it is switched."""
    bases = [base for base, _ in Counter(row["base"] for row in answer["choices"]).most_common(2)]
    made = []
    for choice in answer["unstated"]:
        rows = [row for row in answer["choices"] if row["choice"] == choice["name"]]
        options = [
            {
                "option": option,
                "decides": [_decides(rows, option, base) for base in bases],
                "elsewhere": [
                    f"{row['base']}: {_parts(row)}"
                    for row in rows
                    if row["option"] == option and row["base"] not in bases
                ],
            }
            for option in dict.fromkeys(row["option"] for row in rows)
        ]
        made.append({**choice, "options": options})
    return {"bases": bases, "choices": made}


def _decides(rows: list[dict[str, Any]], option: str, base: str) -> str:
    """Empty where the option is not switched from that protocol."""
    return next((_parts(row) for row in rows if (row["option"], row["base"]) == (option, base)), "")


def _parts(row: dict[str, Any]) -> str:
    return ", ".join(LABELS[name.replace("_", " ")] for name in row["decides"]) or "nothing"


def _thresholds(folder: Path) -> list[dict[str, Any]]:
    """How many runs agree as one threshold moves."""
    moved = tables.load(folder / layout.table("thresholds.csv"))
    return [
        {
            "name": str(name),
            "part": PARTS[str(part)].says,
            "threshold": str(threshold),
            "values": ", ".join(f"{row.agree} at {row.value:g}" for row in mine.itertuples()),
            "of": int(mine["of"].iloc[0]),
        }
        for (name, part, threshold), mine in moved[moved["of"] > 0].groupby(
            ["name", "part", "threshold"], sort=False
        )
    ]


def _sentence(verdicts: Counter) -> str:
    counted = ", ".join(f"{name}: {number}" for name, number in verdicts.most_common())
    return (
        f"The paper's theory in {verdicts.total()} claims, all judged by one standard: {counted}."
    )
