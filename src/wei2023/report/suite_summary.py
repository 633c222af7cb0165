"""What the suite came to, in Markdown: from the tables that the repository keeps into the README and docs/suite.md."""

from pathlib import Path

import pandas as pd

from nscmdp import algorithms
from nscmdp.suite import scores
from wei2023.verdicts import tables
from wei2023.verdicts.markdown import between, in_cell, table

BEGIN, END = "<!-- made by `make suite` from docs/suite -->\n", "<!-- end of the suite -->\n"
LONGER = "frames"  # the folder of the same with frames as long as the run
WORDS = {"holds": "hold", "contradicted": "are contradicted", "undecided": "are undecided"}
TALLY = (
    "in how many environments the interval of the paired difference lies below 0 (better), "
    "and in which above (worse)."
)


def short(folder: Path) -> str:
    """Who is best, and which hypotheses hold."""
    return "\n\n".join([_ranking(folder), _hypotheses(folder)])


def whole(folder: Path) -> str:
    """Besides: how stable that is, and where each does better or worse than Algorithm 1."""
    return "\n\n".join([short(folder), _stability(folder), _beside_the_first(folder)])


def in_text(text: str, block: str) -> str:
    """A text with the block between its two marks."""
    return between(text, BEGIN, END, block)


def _load(folder: Path, name: str) -> pd.DataFrame:
    return tables.load(folder / f"suite_{name}.csv")


def _interval(row: dict, measured: str) -> str:
    return f"{row[measured]:.3f} [{row['low']:.3f}, {row['high']:.3f}]"


def _ranking(folder: Path) -> str:
    rows, longer = (_load(one, "ranking") for one in (folder, folder / LONGER))
    beside = longer.set_index("learner").to_dict("index")
    cells = [
        (
            str(row["rank"]),
            algorithms.title(row["learner"]),
            _interval(row, "gap"),
            f"{row['same_rank']:.0%}",
            f"{row['same_rank_searches']:.0%}",
            str(beside[row["learner"]]["rank"]),
            _interval(beside[row["learner"]], "gap"),
        )
        for row in rows.to_dict("records")
    ]
    head = (
        "rank",
        "learner",
        "gap",
        "keeps its rank",
        "under other searches",
        "rank, longer frames",
        "gap, longer frames",
    )
    return "\n\n".join(
        [
            f"The mean gap over {rows['environments'].iloc[0]} environments, in units of the uniform policy's (0: the "
            "optimum, 1: what needs no learning), with 95% intervals over instances and seeds. As in all tunings, at "
            "least ten frames end within a run; beside it, with constants searched for anew, frames may be as long as "
            "the run.",
            table(head, cells),
        ]
    )


def _hypotheses(folder: Path) -> str:
    rows = _load(folder, "hypotheses")
    longer = _load(folder / LONGER, "hypotheses").set_index("id")["verdict"]
    counts = rows["verdict"].value_counts()
    cells = [
        (
            in_cell(row["says"]),
            row["measure"].replace("_", " "),
            _interval(row, "difference") if pd.notna(row["difference"]) else "-",
            f"**{row['verdict']}**",
            f"{row['agree']} of {row['searches']}",
            longer[row["id"]],
        )
        for row in rows.to_dict("records")
    ]
    head = (
        "hypothesis",
        "measure",
        "difference",
        "verdict",
        "searches that agree",
        "longer frames",
    )
    said = ", ".join(
        f"{number} {WORDS.get(verdict, verdict)}" for verdict, number in counts.items()
    )
    return "\n\n".join(
        [
            f"Hypotheses, committed before the first results: {said}. A negative difference is as expected; verdicts "
            "by signs of instances, with Holm's correction.",
            table(head, cells),
        ]
    )


def _stability(folder: Path) -> str:
    rows = _load(folder, "stability").to_dict("records")
    cells = [
        (row["resampled"], f"{row['order_differs']:.1%}", f"{row['first_differs']:.1%}")
        for row in rows
    ]
    head = ("resampled", "the order changes", "the first place changes")
    return "\n\n".join(["How often the ranking changes:", table(head, cells)])


def _beside_the_first(folder: Path) -> str:
    cells = [
        (
            algorithms.title(row.learner),
            row.measure.replace("_", " "),
            f"{row.better} of {row.environments}",
            f"{row.worse} of {row.environments}",
            in_cell(row.namely) or "-",
        )
        for row in scores.tallied(_load(folder, "paired")).itertuples()
    ]
    head = ("learner", "measure", "better in", "worse in", "namely")
    return "\n\n".join([f"Every learner beside Algorithm 1: {TALLY}", table(head, cells)])
