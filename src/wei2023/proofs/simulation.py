"""C20 as one claim among the others: in how many protocols of the paper's simulation all of it holds."""

from pathlib import Path

from wei2023.proofs.findings import DEPENDS, FALSE, HOLDS, Finding, exactly
from wei2023.study import layout
from wei2023.verdicts import protocols, tables, thresholds

WHOLE = "all forgiving"


def finding(folder: Path) -> Finding:
    """From the table of protocols; the value: the share of those under which it all holds, dips allowed."""
    agreement = thresholds.load().agreement
    rows = tables.load(folder / layout.table("protocols.csv")).to_dict("records")
    verdicts = [
        protocols.verdict(row[f"{WHOLE} agree"], row[f"{WHOLE} of"], agreement) for row in rows
    ]
    held = [
        row["name"] for row, said in zip(rows, verdicts, strict=True) if said == protocols.HOLDS
    ]
    share = len(held) / len(rows)
    return Finding(
        {0.0: FALSE, 1.0: HOLDS}.get(share, DEPENDS),
        {"under which": "; ".join(map(str, held)) or "none"},
        **exactly(share),
        bound=1.0,
        slack=share - 1.0,
        slack_in="share of protocols",
        samples=len(rows),
        rows=rows,
        says={"held": len(held), "all": len(rows)},
    )
