"""C20 as one claim among the others: in how many protocols of the paper's simulation all of it holds."""

from pathlib import Path

from nscmdp.analysis import tables, thresholds
from nscmdp.analysis.claims.findings import DEPENDS, FAILS, HOLDS, Finding
from nscmdp.analysis.protocols import verdict
from nscmdp.study import layout

WHOLE = "all forgiving"


def finding(folder: Path) -> Finding:
    """From the table of protocols; the value: the share of those under which it all holds, dips allowed."""
    agreement = thresholds.load().agreement
    rows = tables.load(folder / layout.table("protocols.csv")).to_dict("records")
    held = [str(row["name"]) for row in rows if verdict(row[f"{WHOLE} agree"], row[f"{WHOLE} of"], agreement) == HOLDS]
    share = len(held) / len(rows)
    where = f"under {'; '.join(held)}" if held else "under no protocol"
    why = f"all of it holds, dips allowed, {where}; {len(rows)} protocols were judged"
    answer = {0.0: FAILS, 1.0: HOLDS}.get(share, DEPENDS)
    return Finding(answer, why, share, share, share, 1.0, share - 1.0, "share of protocols", len(rows), (), rows)
