"""What figures share: a style, colours of learners, maps, curves, files equal byte by byte."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.transforms import Bbox
from numpy.typing import NDArray

from nscmdp import algorithms
from nscmdp.files import in_one_piece
from nscmdp.metrics import mean_interval

INK, LIMIT = "#333333", "#000000"
DASHES: list = ["", (4, 1.5), (1, 1), (3, 1.25, 1, 1.25), (5, 1, 1, 1, 1, 1), (2, 2)]


def apply() -> None:
    """Colour-blind safe, legible in print, and the same bytes in every run."""
    sns.set_theme(context="paper", style="ticks", palette="colorblind", font_scale=1.05)
    mpl.rcParams.update(
        {
            "svg.hashsalt": "nscmdp",
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.titlesize": "medium",
            "figure.constrained_layout.use": True,
            "legend.frameon": False,
        }
    )


def look(names: list[str]) -> dict[str, dict]:
    """Colour and dashes of each algorithm, the same in every panel."""
    palette = sns.color_palette("colorblind")
    return {
        name: {"color": palette[i % 10], "dashes": DASHES[i % len(DASHES)]}
        for i, name in enumerate(names)
    }


def title(algorithm: str) -> str:
    return algorithms.title(algorithm)


def plain_ticks(ax: Axes, at: Iterable[float], apart: float = 1.0) -> None:
    """Put plain numbers on a logarithmic x axis, each ``apart`` times the one before or more."""
    kept: list[float] = []
    for place in at:
        if not kept or place >= apart * kept[-1]:
            kept.append(place)
    ax.set_xticks(kept)
    ax.xaxis.set_major_formatter("{x:g}")
    ax.minorticks_off()


def say(ax: Axes, text: str) -> None:
    """In place of a drawing, where there is nothing to draw."""
    ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center", wrap=True)
    ax.set_axis_off()


def legend(figure: Figure, ncols: int, handles: Iterable[Artist] = ()) -> None:
    """Below the figure: these handles, or every label of its panels once."""
    panels = (zip(*ax.get_legend_handles_labels(), strict=True) for ax in figure.axes)
    labelled = {label: handle for panel in panels for handle, label in panel}
    listed = {handle.get_label(): handle for handle in handles} or labelled
    figure.legend(
        handles=listed.values(),
        labels=listed.keys(),
        ncols=ncols,
        loc="outside lower center",
        fontsize="small",
    )


def draw_map(ax: Axes, grid: NDArray[np.str_]) -> None:
    """Walls dark, obstacles shaded, start and destination lettered."""
    square = [(0, 0), (1, 0), (1, 1), (0, 1)]
    for marks, shade in {"#": "#4d4d4d", ".SG": "#ffffff", "o": "#e8a87c"}.items():
        corners = np.argwhere(np.isin(grid, [*marks]))[:, None, ::-1] + square
        cells = mpl.path.Path.make_compound_path_from_polys(corners)
        ax.add_patch(PathPatch(cells, facecolor=shade, edgecolor="#bbbbbb", linewidth=0.3))
    text: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": "small", "weight": "bold"}
    for mark in "SG":
        row, column = np.argwhere(grid == mark)[0]
        ax.text(column + 0.5, row + 0.5, mark, **text)
    ax.set(xlim=(0, grid.shape[1]), ylim=(grid.shape[0], 0), aspect="equal")
    ax.set_axis_off()


def draw_curve(ax: Axes, curves: pd.DataFrame, column: str, **line: Any) -> None:
    """Mean over seeds with its 95% bootstrap band, against episodes in thousands."""
    wide = curves.pivot(index="seed", columns="episode", values=column)
    episode = wide.columns.to_numpy() / 1000
    mean, low, high = mean_interval(wide.to_numpy())
    draw_band(ax, episode, mean, low, high, alpha=0.25, linewidth=1.3, **line)


def draw_band(
    ax: Axes, x: Any, mean: Any, low: Any, high: Any, alpha: float = 0.15, **line: Any
) -> None:
    """Draw a line with its interval."""
    ax.plot(x, mean, **line)
    ax.fill_between(x, low, high, color=line["color"], alpha=alpha, linewidth=0)


def draw_means(
    ax: Axes, runs: pd.DataFrame, column: str, along: str, looks: dict[str, dict]
) -> None:
    """Draw each learner's mean over seeds against K ("episodes") or the budget ("B")."""
    for learner, mine in runs.groupby("learner", sort=False):
        mean = mine.groupby(along)[column].mean()
        ax.plot(mean.index, mean, marker="o", markersize=3, **looks[str(learner)])
    if (runs[along] > 0).any():
        ax.set_xscale("log", base=2 if along == "episodes" else 10)
    ax.set(xlabel="K" if along == "episodes" else "B", ylabel=column)


def save(figure: Figure, *files: Path) -> None:
    """In the formats that the names of the files end in, without a date in them."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for ax in figure.axes:  # the last digits of the layout differ between runs
        ax.set_position(Bbox.from_bounds(*np.round(ax.get_position().bounds, 4)))
    for file in files:
        in_one_piece(file, lambda path: figure.savefig(path, dpi=160, metadata={"Date": None}))
    plt.close(figure)
