"""What the figures share: a style, the learners' colours, maps, curves with bands, files equal byte by byte."""

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from numpy.typing import NDArray

from nscmdp import algorithms
from nscmdp.analysis.statistics import mean_interval
from nscmdp.runs.files import in_one_piece

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
    return {name: {"color": palette[i % 10], "dashes": DASHES[i % len(DASHES)]} for i, name in enumerate(names)}


def title(algorithm: str) -> str:
    return algorithms.module(algorithm).TITLE


def draw_map(ax: Axes, grid: NDArray[np.str_]) -> None:
    """Walls dark, obstacles shaded, start and destination lettered."""
    kinds = {"#": 0, ".": 1, "S": 1, "G": 1, "o": 2}
    shades = ListedColormap(["#4d4d4d", "#ffffff", "#e8a87c"])
    ax.pcolormesh(np.vectorize(kinds.get)(grid), cmap=shades, vmin=0, vmax=2, edgecolors="#bbbbbb", linewidth=0.3)
    for mark, text in (("S", "start"), ("G", "goal")):
        row, column = np.argwhere(grid == mark)[0]
        ax.text(column + 0.5, row + 0.5, mark, ha="center", va="center", fontsize="small", weight="bold", gid=text)
    ax.invert_yaxis()
    ax.set_aspect("equal")
    ax.set_axis_off()


def draw_curve(ax: Axes, curves: pd.DataFrame, column: str, color, dashes, label: str | None = None) -> None:
    """Mean over seeds with its 95% bootstrap band, against episodes in thousands."""
    wide = curves.pivot(index="seed", columns="episode", values=column)
    episode = wide.columns.to_numpy() / 1000
    mean, low, high = mean_interval(wide.to_numpy())
    (line,) = ax.plot(episode, mean, color=color, linewidth=1.3, label=label)
    if dashes:
        line.set_dashes(dashes)
    ax.fill_between(episode, low, high, color=color, alpha=0.25, linewidth=0)


def save(figure: Figure, stem: Path) -> None:
    """SVG and PNG, without a date in them."""
    in_one_piece(stem.with_suffix(".svg"), lambda file: figure.savefig(file, metadata={"Date": None}))
    in_one_piece(stem.with_suffix(".png"), lambda file: figure.savefig(file, dpi=160))
    plt.close(figure)
