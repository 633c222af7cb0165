"""What figures and tables share: a style, names and colours of learners, maps, curves, files equal byte by byte."""

from collections.abc import Iterable
from io import StringIO
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
from numpy.typing import NDArray

from nscmdp import algorithms
from nscmdp.files import in_one_piece, write_text
from nscmdp.statistics import mean_interval
from wei2023.report import forms, svg

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
    """On a logarithmic x axis: at these places and no others, as plain numbers; each so many times the one before."""
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


def legend(figure: Figure, ncols: int, handles: Iterable[Artist] = (), **options: Any) -> None:
    """Below the figure: these handles, or every label of its panels once."""
    panels = (zip(*ax.get_legend_handles_labels(), strict=True) for ax in figure.axes)
    labelled = {label: handle for panel in panels for handle, label in panel}
    listed = {handle.get_label(): handle for handle in handles} or labelled
    options = {"loc": "outside lower center", "fontsize": "small", **options}
    forms.legend(figure, ncols, handles=listed.values(), labels=listed.keys(), **options)


def key(ax: Axes, **options: Any) -> None:
    """The legend of one panel."""
    forms.legend(ax, **{"fontsize": "small", **options})


def draw_map(ax: Axes, grid: NDArray[np.str_]) -> None:
    """Walls dark, obstacles shaded, start and destination lettered."""
    for marks, shade in {"#": "#4d4d4d", ".SG": "#ffffff", "o": "#e8a87c"}.items():
        corners = np.argwhere(np.isin(grid, [*marks]))[:, None, ::-1] + [
            (0, 0),
            (1, 0),
            (1, 1),
            (0, 1),
        ]
        cells = mpl.path.Path.make_compound_path_from_polys(corners)
        ax.add_patch(PathPatch(cells, facecolor=shade, edgecolor="#bbbbbb", linewidth=0.3))
    for mark, text in (("S", "start"), ("G", "goal")):
        row, column = np.argwhere(grid == mark)[0]
        ax.text(
            column + 0.5,
            row + 0.5,
            mark,
            ha="center",
            va="center",
            fontsize="small",
            weight="bold",
            gid=text,
        )
    ax.set(xlim=(0, grid.shape[1]), ylim=(grid.shape[0], 0), aspect="equal")
    ax.set_axis_off()


def draw_curve(ax: Axes, curves: pd.DataFrame, column: str, **line: Any) -> None:
    """Mean over seeds with its 95% bootstrap band, against episodes in thousands."""
    wide = curves.pivot(index="seed", columns="episode", values=column)
    episode = wide.columns.to_numpy() / 1000
    mean, low, high = mean_interval(wide.to_numpy())
    ax.plot(episode, mean, linewidth=1.3, **line)
    ax.fill_between(episode, low, high, color=line["color"], alpha=0.25, linewidth=0)


def draw_means(
    ax: Axes, runs: pd.DataFrame, column: str, along: str, looks: dict[str, dict]
) -> None:
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
        wide = traces[traces["learner"] == learner].pivot(
            index="row", columns="column", values="value"
        )
        shown = np.vstack([wide, wide.tail(1)]).T
        colours = plt.get_cmap("cividis")(np.linspace(0, 1, len(shown)))
        labels = [f"arm {arm}" for arm in wide.columns]
        ax.stackplot(
            np.arange(len(wide) + 1) + 0.5, shown, step="post", colors=colours, labels=labels
        )
        ax.set(xlabel=unit, ylabel="probability", xlim=(0.5, len(wide) + 0.5), ylim=(0, 1))
        ax.set_title(looks[learner]["label"], fontsize="small")
        key(ax, fontsize="x-small", loc="center left", bbox_to_anchor=(1, 0.5), reverse=True)
    if not learners:
        say(axes[0, 0], "No learner chose among arms.")
    for ax in axes.flat[max(1, len(learners)) :]:
        ax.remove()
    return figure


def save(figure: Figure, *files: Path) -> None:
    """In the formats that the names of the files end in, without a date in them."""
    forms.finish(figure)
    for file in files:
        if file.suffix == ".svg":
            drawing = StringIO()
            figure.savefig(drawing, format="svg", metadata={"Date": None})
            write_text(file, svg.slim(drawing.getvalue()))
        else:
            in_one_piece(file, lambda temporary: figure.savefig(temporary, dpi=160))
    plt.close(figure)
