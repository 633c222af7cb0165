"""Figures of claims that take more than one picture each: a line of pictures per claim, titled by it."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure

from nscmdp.report import style
from nscmdp.report.figures.claims.data import COLOURS, entitle, of_group, part, rows
from nscmdp.report.results import Results

CLAIMED, AGAINST = COLOURS["holds"], COLOURS["does not hold"]  # what is allowed, and what exceeds it
Pick = Callable[[pd.DataFrame], pd.DataFrame]


class Picture(NamedTuple):
    draw: Callable[[Axes, pd.DataFrame, dict[str, Any]], None]  # of its rows and the whole finding, never without rows
    of: Pick  # its rows among all of the claim
    title: str = ""  # beside the verdict, from the second picture of a line on
    width: float = 1.0
    lacking: str = "Nothing was measured."


class Line(NamedTuple):
    claim: str
    says: str  # in a few words
    pictures: tuple[Picture, ...]
    height: float = 3.4


def lines(results: Results, group: str, wanted: tuple[Line, ...], width: float = 12.0) -> Figure:
    """The figure of a group, one line below the other."""
    found = of_group(results, group)
    heights = [line.height for line in wanted]
    figure = plt.figure(figsize=(width, sum(heights)), layout="constrained")
    grid = figure.add_gridspec(len(wanted), 1, height_ratios=heights)
    for number, line in enumerate(wanted):
        finding, behind = found[line.claim], rows(found, line.claim)
        widths = [picture.width for picture in line.pictures]
        cells = grid[number].subgridspec(1, len(widths), width_ratios=widths)
        axes = [figure.add_subplot(cells[0, column]) for column in range(len(widths))]
        for ax, picture in zip(axes, line.pictures, strict=True):
            ax.set_title(picture.title, loc="left", fontsize="small")
            mine = picture.of(behind)
            if mine.empty:
                style.say(ax, picture.lacking)
            else:
                picture.draw(ax, mine, finding)
        entitle(axes[0], line.claim, finding, line.says)
    return figure


def of_part(name: str) -> Pick:
    return partial(part, name=name)


def where(column: str, value: Any = None) -> Pick:
    """The rows that have this value in a column, or any value at all; with the columns that they use."""

    def pick(behind: pd.DataFrame) -> pd.DataFrame:
        if column not in behind:
            return behind.iloc[:0]
        kept = behind[column].notna() if value is None else behind[column] == value
        return behind[kept].dropna(axis="columns", how="all")

    return pick


def powers_of_ten(axis: Axis, at: tuple[float, ...] | None = None) -> None:
    """Of an axis that shows decimal logarithms, as numbers may be too large or too small for a computer's."""
    if at is not None:
        axis.set_ticks(at)
    axis.set_major_formatter(lambda value, _: f"$10^{{{value:g}}}$")
