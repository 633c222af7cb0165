"""What the checks of claims wrote, as figures read it, and the frame of a group's figure: one panel per claim."""

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from wei2023.proofs import findings
from wei2023.report import style
from wei2023.report.results import Results
from wei2023.study import layout

COLOURS = {  # of verdicts, colour-blind safe
    findings.HOLDS: "#0173b2",
    findings.MISPRINT: "#4a9cc9",
    findings.ASSUMPTION: "#8a6d00",
    findings.DEPENDS: "#8a6d00",
    findings.FALSE: "#b3460b",
    **dict.fromkeys(
        (findings.OPEN, findings.ASYMPTOTIC, findings.IDENTITY, findings.NO_SOURCE), "#6b6b6b"
    ),
}


def claims(results: Results) -> list[dict[str, Any]]:
    return json.loads((results.folder / layout.CLAIMS).read_text(encoding="utf-8"))


def by_group(results: Results) -> dict[str, dict[str, dict[str, Any]]]:
    """By group and claim: what the check found, with its rows."""
    return {group: of_group(results, group) for group in results.experiments("claims")}


def of_group(results: Results, group: str) -> dict[str, dict[str, Any]]:
    return json.loads((results.folder / layout.claims(group)).read_text(encoding="utf-8"))


class Panel(NamedTuple):
    says: str  # the claim in a few words
    draw: Callable[
        [Axes, pd.DataFrame], None
    ]  # of the rows behind the verdict, never called without any


def board(
    results: Results, group: str, panels: dict[str, Panel], columns: int = 2, height: float = 3.4
) -> Figure:
    """The figure of a group: one titled panel per claim, in this order; the last takes what is left of its line."""
    found = of_group(results, group)
    lines = -(-len(panels) // columns)
    figure = plt.figure(figsize=(5 * columns, height * lines))
    grid = figure.add_gridspec(lines, columns)
    for place, (claim, panel) in enumerate(panels.items()):
        line, column = divmod(place, columns)
        last = columns if place == len(panels) - 1 else column + 1
        ax = figure.add_subplot(grid[line, column:last])
        entitle(ax, claim, found[claim], panel.says)
        behind = pd.DataFrame(found[claim]["rows"])
        if behind.empty:
            style.say(ax, "Nothing was measured.")
        else:
            panel.draw(ax, behind)
    return figure


def entitle(ax: Axes, claim: str, finding: dict[str, Any], says: str) -> None:
    """Above a panel: the claim in a few words, and below these its verdict in its colour."""
    ax.set_title(f"{claim}: {says}", loc="left", pad=19, color=style.INK)
    ax.annotate(
        finding["verdict"],
        (0, 1),
        (0, 5),
        xycoords="axes fraction",
        textcoords="offset points",
        weight="bold",
        color=COLOURS[finding["verdict"]],
        gid="verdict",
        annotation_clip=False,
    )
