"""The blocks of the README and of docs/suite.md that are made from what the repository keeps of its
runs.
"""

import re
from pathlib import Path
from typing import Any

from wei2023.report import tables
from wei2023.report.render import environment
from wei2023.verdicts.tables import load

ANSWER = ("<!-- made by `make readme` from docs/answer.json -->\n", "<!-- end -->\n")
SUITE = ("<!-- made by `make suite` from docs/suite -->\n", "<!-- end of the suite -->\n")
LONGER = "frames"  # the folder of the same with frames as long as the run
ABOUT_LONGER = (
    " As in all tunings, at least ten frames end within a run; beside it, with constants "
    "searched for anew, frames may be as long as the run."
)


def answer(numbers: dict[str, Any]) -> str:
    """Return five sentences, the table of protocols, and what the other claims come to."""
    return environment().get_template("answer.md.j2").render(numbers=numbers) + "\n"


def suite(folder: Path, whole: bool = False) -> str:
    """Return who is best and which hypotheses hold; the whole: how stable that is and where."""
    files = ("suite_ranking.csv", "suite_hypotheses.csv")
    ranking, hypotheses = (
        made(load(folder / name), load(folder / LONGER / name), "longer frames")
        for name, made in zip(files, (tables.ranking, tables.hypotheses), strict=True)
    )
    shown = [(ranking.note + ABOUT_LONGER, ranking), (hypotheses.note, hypotheses.without("p"))]
    if whole:
        stability = tables.stability(load(folder / "suite_stability.csv"))
        tally = tables.tally(load(folder / "suite_paired.csv"))
        shown += [(one.note, one) for one in (stability, tally)]
    return "\n\n".join(f"{note}\n\n{table.markdown()}" for note, table in shown)


def between(text: str, marks: tuple[str, str], block: str) -> str:
    """Return a text with a block in place of what is between two lines of it."""
    begin, end = marks
    if text.count(begin) != 1 or text.count(end) != 1:
        raise ValueError(f"the text must have one line {begin.strip()} and one line {end.strip()}")
    pattern = re.escape(begin) + ".*?" + re.escape(end)
    return re.sub(pattern, lambda _: f"{begin}\n{block}\n{end}", text, flags=re.DOTALL)
