"""What the checks of claims wrote, as figures read it, and the frame of a group's figure: one panel per claim."""

import json
import math
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from nscmdp.report import style
from nscmdp.report.results import Results
from nscmdp.study import layout

COLOURS = {  # of verdicts, colour-blind safe
    "holds": "#0173b2",
    "holds with declared deviations": "#4a9cc9",
    "depends on unstated choices": "#8a6d00",
    "mixed": "#8a6d00",
    "out of reach": "#6b6b6b",
    "does not hold": "#b3460b",
    "false as printed": "#b3460b",
}

FAILS: dict[str, Any] = {"color": COLOURS["false as printed"], "alpha": 0.09, "linewidth": 0}  # where a claim would


def claims(results: Results) -> list[dict[str, Any]]:
    return json.loads((results.folder / layout.CLAIMS).read_text(encoding="utf-8"))


def findings(results: Results) -> dict[str, dict[str, dict[str, Any]]]:
    """By group and claim: what the check found, with its rows."""
    return {group: of_group(results, group) for group in results.experiments("claims")}


def of_group(results: Results, group: str) -> dict[str, dict[str, Any]]:
    return json.loads((results.folder / layout.claims(group)).read_text(encoding="utf-8"))


def rows(found: dict[str, dict[str, Any]], claim: str) -> pd.DataFrame:
    return pd.DataFrame(found[claim]["rows"])


class Panel(NamedTuple):
    says: str  # the claim in a few words
    draw: Callable[[Axes, pd.DataFrame], None]  # of the rows behind the verdict, never called without any


def board(results: Results, group: str, panels: dict[str, Panel], columns: int = 2, height: float = 3.4) -> Figure:
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
        behind = rows(found, claim)
        if behind.empty:
            style.say(ax, "Nothing was measured.")
        else:
            panel.draw(ax, behind)
    return figure


def entitle(ax: Axes, claim: str, finding: dict[str, Any], says: str) -> None:
    """Above a panel: the claim in a few words, and below these its verdict in its colour."""
    ax.set_title(f"{claim}: {says}", loc="left", pad=19, color=style.INK)
    ax.annotate(
        finding["verdict"], (0, 1), (0, 5), xycoords="axes fraction", textcoords="offset points", weight="bold",
        color=COLOURS[finding["verdict"]], gid="verdict", annotation_clip=False,
    )  # fmt: skip


def part(behind: pd.DataFrame, name: str) -> pd.DataFrame:
    """The rows of one part of a check that has several, with the columns that they use."""
    if "part" not in behind:
        return behind.iloc[:0]
    return behind[behind["part"] == name].dropna(axis="columns", how="all")


def limit(ax: Axes, at: float, says: str, side: Literal["left", "right"] = "left") -> None:
    """What is claimed, as a line across the panel, labelled at one end."""
    ax.axhline(at, color=style.LIMIT, linestyle="--", linewidth=0.9)
    ax.annotate(
        says, (0.015 if side == "left" else 0.985, at), (0, 3), xycoords=("axes fraction", "data"), ha=side,
        textcoords="offset points", fontsize="small", va="bottom",
    )  # fmt: skip


def tens(number: float) -> str:
    """As a power of ten where it is a large one, else plain."""
    power = math.log10(number) if number > 0 else 0.0
    return f"$10^{{{power:.0f}}}$" if power >= 4 and math.isclose(power, round(power)) else f"{number:g}"


def key(ax: Axes, **place: Any) -> None:
    """A legend inside the panel, framed so that its marks are not taken for data."""
    style.key(ax, frameon=True, framealpha=0.9, edgecolor="#cccccc", **place)
