"""C20 as one claim among the others: in how many protocols of the paper's simulation all of it holds."""

from pathlib import Path

from wei2023.proofs.findings import DEPENDS, FALSE, HOLDS, Finding
from wei2023.study import layout
from wei2023.verdicts import protocols, tables, thresholds

WHOLE = "all forgiving"


def finding(folder: Path) -> Finding:
    """From the table of protocols; the value: the share of those under which it all holds, dips allowed."""
    agreement = thresholds.load().agreement
    rows = tables.load(folder / layout.table("protocols.csv")).to_dict("records")
    held = [
        str(row["name"])
        for row in rows
        if protocols.verdict(row[f"{WHOLE} agree"], row[f"{WHOLE} of"], agreement)
        == protocols.HOLDS
    ]
    share = len(held) / len(rows)
    why = f"All of it holds, dips allowed, under {len(held)} of {len(rows)} protocols."
    answer = {0.0: FALSE, 1.0: HOLDS}.get(share, DEPENDS)
    return Finding(
        verdict=answer,
        why=why,
        numbers=[("under which", "; ".join(held) or "none")],
        value=share,
        low=share,
        high=share,
        bound=1.0,
        slack=share - 1.0,
        slack_in="share of protocols",
        samples=len(rows),
        rows=rows,
    )
