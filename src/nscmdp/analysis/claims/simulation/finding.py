"""C20 as one claim among the others: what the classes of its parts come to."""

from typing import Any

from nscmdp.analysis.claims.findings import DEPENDS, FAILS, HOLDS, MIXED, Finding
from nscmdp.analysis.claims.simulation.parts import WHOLE, clopper_pearson


def of(judged: dict[str, Any]) -> Finding:
    """From claims/simulation.json. The value is the share of combinations of constants and readings where all holds."""
    names, holds, number = judged["class_names"], judged["holds_in"], judged["judged"]
    found = {row["class"] for row in judged["classes"] if row["part"] == WHOLE} - {names["unjudged"]}
    verdict = {frozenset([names["holds"]]): HOLDS, frozenset([names["fails"]]): FAILS}.get(frozenset(found), DEPENDS)
    if not number:
        return Finding(MIXED, "nothing could be judged: the constraint does not bind, or nothing is learnt")
    low, high = clopper_pearson(holds, number)
    parts = "; ".join(f"{row['map']}, {row['says']}: {row['class']}" for row in judged["classes"])
    why = f"all of it holds in {holds} of {number} combinations of constants and readings. {parts}"
    value, rows = holds / number, judged["classes"]
    return Finding(verdict, why, value, low, high, 1.0, value - 1.0, "share of combinations", number, (), rows)
