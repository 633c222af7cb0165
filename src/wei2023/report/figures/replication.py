"""Which unstated choice makes the paper's figure appear: eta, frame length, episodes."""

import json
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import Markdown
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from nscmdp import algorithms
from nscmdp.problem import Problem
from wei2023.report import style, tables
from wei2023.report.results import Results, needs
from wei2023.report.tables import Table
from wei2023.runs.parts import FIRST, PARTS, TRIPLE_Q
from wei2023.study import layout
from wei2023.verdicts import protocols
from wei2023.verdicts.answer import tuned_by_an_author
from wei2023.verdicts.tables import cases, environment

SAME_FRAME = "bump, same frame"
QUANTITIES = {"share": "share of the optimum", "late_cost": "cost per episode"}
SWEEPS = {  # algorithm and rule at a frame's end: label, colour, dashes
    (FIRST, "full"): ("Algorithm 1, all tables reset", "C0", "--"),
    (FIRST, "bump"): ("Algorithm 1, bump", "C0", "-"),
    (TRIPLE_Q, "full"): ("Triple-Q, all tables reset", "C1", "--"),
    (TRIPLE_Q, "bump"): ("Triple-Q, bump", "C1", "-"),
    (TRIPLE_Q, SAME_FRAME): ("Triple-Q, bump, Algorithm 1's frame", "C1", ":"),
}
MARKS = {"literal": ("printed", "s"), "authors": ("released", "*")}
FRAME_ENDS = {"full": "all tables reset", "bump": "bump"}


def _answer(results: Results) -> dict[str, Any]:
    return json.loads((results.folder / layout.ANSWER).read_text(encoding="utf-8"))


def answer(results: Results) -> Markdown:
    """Five sentences."""
    return Markdown(
        "\n".join(
            f"{i}. {sentence}" for i, sentence in enumerate(_answer(results)["sentences"], start=1)
        )
    )


@needs("protocols")
def verdicts(results: Results) -> Table:
    return tables.protocols(_answer(results)["protocols"])


@needs("protocols")
def choices(results: Results) -> Table:
    return tables.choices(_answer(results))


@needs("protocols")
def thresholds(results: Results) -> Table:
    return tables.thresholds(results.table("thresholds.csv"))


def eta(results: Results) -> Figure:
    """Draw share and cost against eta, a row for each eps, with the formulas' values marked."""
    (name,) = results.experiments("eta")[:1]
    file = results.file("exact.parquet", name)
    problem = Problem.of(environment(file, *cases(file)[0]))
    rows = protocols.swept(results.folder, name)
    # Triple-Q that resets all its tables is Algorithm 1 with Triple-Q's frame.
    reset = rows["learner"].str.startswith("triple_q_reset")
    framed = (rows["algorithm"] == TRIPLE_Q) & (rows["frame"].notna() if "frame" in rows else False)
    frame_end = rows["frame_end"].mask(reset, "full").mask(framed, SAME_FRAME)
    rows = rows.assign(algorithm=rows["algorithm"].mask(reset, TRIPLE_Q), frame_end=frame_end)
    tightenings = [*dict.fromkeys(rows["eps"])] if "eps" in rows else [None]
    size = (11, 3.8 * len(tightenings))
    figure, axes = plt.subplots(len(tightenings), 2, figsize=size, squeeze=False)
    for pair, eps in zip(axes, tightenings, strict=True):
        shown = rows if eps is None else rows[rows["eps"] == eps]
        for ax, column in zip(pair, QUANTITIES, strict=True):
            _draw_against_eta(ax, shown, column, problem)
            ax.set(xscale="log", xlabel="eta", ylabel=f"{QUANTITIES[column]}, last fifth")
            ax.set_title("" if eps is None else f"eps = {eps:g}")
        _draw_limit(pair[1], rows)
    hollow: dict[str, Any] = {"linestyle": "", "color": "white", "markeredgecolor": "black"}
    keys = [
        Line2D([], [], marker=mark, markersize=9, label=label, **hollow)
        for label, mark in MARKS.values()
    ]
    lines = [line for ax in axes[:, 1] for line in ax.get_legend_handles_labels()[0]]
    style.legend(figure, ncols=4, handles=[*lines, *keys])
    return figure


def _draw_against_eta(ax: Axes, rows: pd.DataFrame, column: str, problem: Problem) -> None:
    for (algorithm, frame_end), (label, colour, dashes) in SWEEPS.items():
        swept = rows[(rows["algorithm"] == algorithm) & (rows["frame_end"] == frame_end)]
        swept = swept.sort_values("eta")
        if swept.empty:
            continue
        x, y = swept["eta"], swept[column]
        ax.plot(x, y, dashes, color=colour, marker="o", markersize=3, label=label)
        for setting, (_, mark) in MARKS.items() if frame_end in FRAME_ENDS else ():
            at = algorithms.constants(algorithm, problem, setting).eta
            height = np.interp(np.log(at), np.log(x), y)
            look: dict[str, Any] = {"color": colour, "markeredgecolor": "black"}
            ax.plot(at, height, mark, markersize=11, zorder=4, **look)


def _draw_limit(ax: Axes, rows: pd.DataFrame) -> None:
    limit = rows["limit"].iloc[0]
    ax.axhline(limit, color=style.LIMIT, linestyle=":", linewidth=1.2, label="limit")


def frames(results: Results) -> Figure:
    """Draw share and cost against the frame length for each K; filled: the limit is kept."""
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.2))
    names = results.experiments("frames")
    rows = pd.concat([protocols.swept(results.folder, name) for name in names])
    for ax, column in zip(axes, QUANTITIES, strict=True):
        for number, (K, swept) in enumerate(rows.sort_values("frame").groupby("K")):
            colour = f"C{number}"
            ax.plot(swept["frame"], swept[column], color=colour, label=f"K = {K:,}")
            fill = [colour if kept > 0.5 else "white" for kept in swept["keeps"] / swept["of"]]
            ax.scatter(swept["frame"], swept[column], c=fill, edgecolor=colour, zorder=3)
        label = f"{QUANTITIES[column]}, last fifth"
        ax.set(xscale="log", xlabel="episodes of a frame", ylabel=label)
    _draw_limit(axes[1], rows)
    filled = "filled: keeps the limit in most runs"
    note = Line2D([], [], linestyle="", marker="o", color="black", label=filled)
    style.legend(figure, ncols=4, handles=[*axes[1].get_legend_handles_labels()[0], note])
    return figure


def margins(results: Results) -> Figure:
    """The margin of every part against K, for either rule at a frame's end."""
    rows = tuned_by_an_author(_answer(results))
    rules = [rule for rule in FRAME_ENDS if any(row["frame_end"] == rule for row in rows)]
    columns = max(1, len(rules))
    size = (5.5 * columns, 4.2)
    figure, axes = plt.subplots(1, columns, figsize=size, squeeze=False, sharey=True)
    for ax, rule in zip(axes[0], rules, strict=False):
        for number, part in enumerate(PARTS.values()):
            points = [
                (row["K"], row["margins"][part.name])
                for row in rows
                if row["frame_end"] == rule and row["margins"][part.name] is not None
            ]
            if points:
                x, y = zip(*points, strict=True)
                ax.plot(x, y, marker="o", color=f"C{number}", label=part.says)
        ax.axhline(0, color=style.LIMIT, linewidth=0.9)
        ax.set(xscale="log", yscale="symlog", xlabel="K", title=FRAME_ENDS[rule])
    axes[0][0].set_ylabel("margin: mean distance in standard deviations")
    if rules:
        style.legend(figure, ncols=3)
    else:
        style.say(axes[0][0], "No protocol tunes Algorithm 1 alone.")
    return figure
