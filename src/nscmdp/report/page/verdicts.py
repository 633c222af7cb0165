"""Does it replicate? Five sentences, the table of protocols, and what each unstated choice decides."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from nscmdp.analysis import tables
from nscmdp.analysis.answer import cells, count
from nscmdp.analysis.claims import ledger
from nscmdp.runs.parts import PARTS
from nscmdp.study import layout
from nscmdp.study.plan import Plan


def context(plan: Plan, folder: Path) -> dict[str, Any] | None:
    if not plan.simulations or plan.config.protocols is None:
        return None
    answer, claims = (
        json.loads((folder / name).read_text(encoding="utf-8")) for name in (layout.ANSWER, layout.CLAIMS)
    )
    reasons = {one.name: one.reason for one in plan.config.protocols.protocols}
    known, others = ledger.load(), [claim for claim in claims if claim["group"] != "simulation"]
    return {
        "sentences": answer["sentences"],
        "protocols": [_protocol(row, reasons[row["name"]]) for row in answer["protocols"]],
        "parts": [part.says for part in PARTS.values()],
        "choices": _choices(answer),
        "walk": answer["walk"],
        "thresholds": _thresholds(folder),
        "others": _sentence(Counter(claim["class"] for claim in others)) if others else None,
        "classes": [
            {"mark": mark, "text": text, "claims": [claim for claim in others if claim["class"] == text]}
            for mark, text in known.classes.model_dump().items()
        ],
    }


def _protocol(row: dict[str, Any], reason: str) -> dict[str, Any]:
    name, K, *rest = cells(row)
    numbers = row["numbers"]
    costs = [numbers.get(f"{learner}_late_cost") for learner in ("triple_q", "restart_q_ucb")]
    own = {key: row[key] for key in ("frame_end", "constants", "baselines", "recorded")}
    searched = ", ".join(map(str, row["searched_on"])) or "no search"
    runs = f"{len(row['draws'])} x {len(row['seeds'])}"
    beside = ["-" if cost is None else f"{cost:.2f}" for cost in costs]
    return {
        **own,
        "name": name,
        "K": K,
        "cells": [*rest, *beside],
        "reason": reason,
        "runs": runs,
        "searched": searched,
    }


def _choices(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """By unstated choice: what the text says, and what each option decides from each protocol."""
    found = []
    for choice in answer["unstated"]:
        rows = [row for row in answer["choices"] if row["choice"] == choice["name"]]
        options = [
            {
                "option": row["option"],
                "base": row["base"],
                "decides": ", ".join(_part(name) for name in row["decides"]) or "nothing",
                "cells": [*map(count, row["parts"].values()), *cells(row)[-3:]],
            }
            for row in rows
        ]
        found.append({**choice, "options": options})
    return found


def _part(name: str) -> str:
    return name.replace("_", " ").removeprefix("C20")


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
        for (name, part, threshold), mine in moved[moved["of"] > 0].groupby(["name", "part", "threshold"], sort=False)
    ]


def _sentence(classes: Counter) -> str:
    counted = ", ".join(f"{name}: {number}" for name, number in classes.most_common())
    return f"The paper's {classes.total()} other claims that numbers can check: {counted}."
