"""What figures and tables share: a style, names and colours of learners, maps, curves, files equal byte by byte."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

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
    return algorithms.title(algorithm)


def interval(values: Iterable[Any], form: str = ".2f") -> str:
    """m [a, b] of a mean and its interval; one seed has none, and nothing is said where there is no mean."""
    mean, low, high = values
    if pd.isna(mean):
        return ""
    return f"{mean:{form}}" if pd.isna(low) else f"{mean:{form}} [{low:{form}}, {high:{form}}]"


def intervals(table: pd.DataFrame, column: str) -> list[str]:
    """Of a column that has others beside it for the ends of its interval."""
    return [interval(row) for row in table[[column, f"{column}_low", f"{column}_high"]].to_numpy()]


def plain_ticks(ax: Axes, at: Iterable[float]) -> None:
    """On a logarithmic x axis: at these places and no others, as plain numbers."""
    ax.set_xticks(list(at))
    ax.xaxis.set_major_formatter("{x:g}")
    ax.minorticks_off()


def say(ax: Axes, text: str) -> None:
    """In place of a drawing, where there is nothing to draw."""
    ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center", wrap=True)
    ax.set_axis_off()


def legend(figure: Figure, ncols: int) -> None:
    """Below the figure, every label of its panels once."""
    panels = (zip(*ax.get_legend_handles_labels(), strict=True) for ax in figure.axes)
    handles = {label: handle for panel in panels for handle, label in panel}
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=ncols, fontsize="small")


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


def draw_curve(ax: Axes, curves: pd.DataFrame, column: str, **line: Any) -> None:
    """Mean over seeds with its 95% bootstrap band, against episodes in thousands."""
    wide = curves.pivot(index="seed", columns="episode", values=column)
    episode = wide.columns.to_numpy() / 1000
    mean, low, high = mean_interval(wide.to_numpy())
    ax.plot(episode, mean, linewidth=1.3, **line)
    ax.fill_between(episode, low, high, color=line["color"], alpha=0.25, linewidth=0)


def draw_means(ax: Axes, runs: pd.DataFrame, column: str, along: str, looks: dict[str, dict]) -> None:
    """The mean over seeds of each learner against K ("episodes") or the budget ("B"), on a logarithmic scale."""
    for learner, mine in runs.groupby("learner", sort=False):
        mean = mine.groupby(along)[column].mean()
        ax.plot(mean.index, mean, marker="o", markersize=3, **looks[str(learner)])
    if (runs[along] > 0).any():
        ax.set_xscale("log", base=2 if along == "episodes" else 10)
    ax.set(xlabel="K" if along == "episodes" else "B", ylabel=column)


def draw_arms(traces: pd.DataFrame, looks: dict[str, dict], unit: str) -> Figure:
    """What a bandit chose: the probabilities of each learner's arms, stacked, for every epoch or block."""
    learners = list(traces["learner"].unique())
    shape = (max(1, -(-len(learners) // 2)), min(2, max(1, len(learners))))
    figure, axes = plt.subplots(*shape, figsize=(5.5 * shape[1], 3 * shape[0]), squeeze=False)
    for ax, learner in zip(axes.flat, learners, strict=False):
        wide = traces[traces["learner"] == learner].pivot(index="row", columns="column", values="value")
        shown = np.vstack([wide, wide.tail(1)]).T
        colours = plt.get_cmap("cividis")(np.linspace(0, 1, len(shown)))
        labels = [f"arm {arm}" for arm in wide.columns]
        ax.stackplot(np.arange(len(wide) + 1) + 0.5, shown, step="post", colors=colours, labels=labels)
        ax.set(xlabel=unit, ylabel="probability", xlim=(0.5, len(wide) + 0.5), ylim=(0, 1))
        ax.set_title(looks[learner]["label"], fontsize="small")
        ax.legend(fontsize="x-small", loc="center left", bbox_to_anchor=(1, 0.5), reverse=True)
    for ax in axes.flat[len(learners) :]:
        say(ax, "" if learners else "No learner chose among arms.")
    return figure


def steady(figure: Figure) -> Figure:
    """Lay out now, and round: the solver's last digits differ between runs, and with them the bytes of a file."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for ax in figure.axes:
        left, bottom, width, height = np.round(ax.get_position().bounds, 4)
        ax.set_position((left, bottom, width, height))
    return figure


def save(figure: Figure, stem: Path) -> None:
    """SVG and PNG, without a date in them."""
    in_one_piece(stem.with_suffix(".svg"), lambda file: figure.savefig(file, metadata={"Date": None}))
    in_one_piece(stem.with_suffix(".png"), lambda file: figure.savefig(file, dpi=160))
    plt.close(figure)
