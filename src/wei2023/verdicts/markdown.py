"""Tables and formulas in Markdown, as the README and the ledgers have them."""

import re
from collections.abc import Iterable, Sequence


def in_cell(text: str) -> str:
    """In a cell of a table, to the letter."""
    return re.sub(r"([\\*_<>|`\[\]])", r"\\\1", text)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows))


def between(text: str, begin: str, end: str, block: str) -> str:
    """A text with a block in place of what stands between two lines of it."""
    if text.count(begin) != 1 or text.count(end) != 1:
        raise ValueError(f"the text must have one line {begin.strip()} and one line {end.strip()}")
    return re.sub(
        re.escape(begin) + ".*?" + re.escape(end),
        lambda _: f"{begin}\n{block}\n{end}",
        text,
        flags=re.DOTALL,
    )


def displayed(formula: str) -> str:
    """LaTeX as GitHub typesets it, every line of it on a line of its own."""
    lines = formula.splitlines()
    if len(lines) > 1:
        lines = [r"\begin{aligned}", *(rf"& {line} \\" for line in lines), r"\end{aligned}"]
    return "\n".join(["```math", *lines, "```"])
