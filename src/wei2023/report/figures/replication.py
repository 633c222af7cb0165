"""Which unstated choice makes the paper's figure appear: eta, the length of a frame, the number of episodes."""

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
    """Share and cost over the last fifth against eta, a row for each eps; the values of the formulas are marked."""
    (name,) = results.experiments("eta")[:1]
    file = results.file("exact.parquet", name)
    rows = _named(protocols.swept(results.folder, name))
    problem = Problem.of(environment(file, *cases(file)[0]))
    tightenings = list(dict.fromkeys(rows["eps"])) if "eps" in rows else [None]
    figure, axes = plt.subplots(
        len(tightenings), 2, figsize=(11, 3.8 * len(tightenings)), squeeze=False
    )
    for pair, eps in zip(axes, tightenings, strict=True):
        here = rows if eps is None else rows[rows["eps"] == eps]
        for ax, column in zip(pair, ("share", "late_cost"), strict=True):
            _draw_against_eta(ax, here, column, problem)
            ax.set(xscale="log", xlabel="eta", ylabel=f"{QUANTITIES[column]}, last fifth")
            ax.set_title("" if eps is None else f"eps = {eps:g}")
        pair[1].axhline(
            rows["limit"].iloc[0], color=style.LIMIT, linestyle=":", linewidth=1.2, label="limit"
        )
    keys = [
        Line2D(
            [],
            [],
            linestyle="",
            marker=mark,
            color="white",
            markeredgecolor="black",
            markersize=9,
            label=said,
        )
        for said, mark in MARKS.values()
    ]
    drawn = {
        handle.get_label(): handle
        for ax in axes[:, 1]
        for handle in ax.get_legend_handles_labels()[0]
    }
    style.legend(figure, ncols=4, handles=[*drawn.values(), *keys])
    return figure


def _draw_against_eta(ax: Axes, rows: pd.DataFrame, column: str, problem: Problem) -> None:
    for key, (text, colour, dashes) in SWEEPS.items():
        mine = rows[(rows["algorithm"] == key[0]) & (rows["frame_end"] == key[1])].sort_values(
            "eta"
        )
        if mine.empty:
            continue
        ax.plot(
            mine["eta"], mine[column], dashes, color=colour, marker="o", markersize=3, label=text
        )
        for setting, (_, mark) in MARKS.items() if key[1] in ("full", "bump") else ():
            at = algorithms.constants(key[0], problem, setting).eta
            height = np.interp(np.log(at), np.log(mine["eta"]), mine[column])
            ax.plot(
                at, height, mark, color=colour, markersize=11, markeredgecolor="black", zorder=4
            )


def _named(rows: pd.DataFrame) -> pd.DataFrame:
    """Triple-Q that resets all its tables is Algorithm 1 with Triple-Q's frame; a given frame has a line of its own."""
    reset = rows["learner"].str.startswith("triple_q_reset")
    framed = (rows["algorithm"] == TRIPLE_Q) & (rows["frame"].notna() if "frame" in rows else False)
    frame_end = rows["frame_end"].mask(reset, "full").mask(framed, SAME_FRAME)
    return rows.assign(algorithm=rows["algorithm"].mask(reset, TRIPLE_Q), frame_end=frame_end)


def frames(results: Results) -> Figure:
    """Share of the optimum against the length of a frame, one line for each K; filled where the limit is kept."""
    figure, (share, cost) = plt.subplots(1, 2, figsize=(11, 4.2))
    rows = pd.concat(
        [protocols.swept(results.folder, name) for name in results.experiments("frames")]
    )
    for number, (K, mine) in enumerate(rows.sort_values("frame").groupby("K")):
        colour = f"C{number}"
        for ax, column in ((share, "share"), (cost, "late_cost")):
            ax.plot(mine["frame"], mine[column], color=colour, label=f"K = {K:,}")
            fill = [colour if kept > 0.5 else "white" for kept in mine["keeps"] / mine["of"]]
            ax.scatter(mine["frame"], mine[column], c=fill, edgecolor=colour, zorder=3)
    share.set(xscale="log", xlabel="episodes of a frame", ylabel="share of the optimum, last fifth")
    cost.set(xscale="log", xlabel="episodes of a frame", ylabel="cost per episode, last fifth")
    cost.axhline(
        rows["limit"].iloc[0], color=style.LIMIT, linestyle=":", linewidth=1.2, label="limit"
    )
    note = Line2D(
        [],
        [],
        linestyle="",
        marker="o",
        color="black",
        label="filled: keeps the limit in most runs",
    )
    style.legend(figure, ncols=4, handles=[*cost.get_legend_handles_labels()[0], note])
    return figure


def margins(results: Results) -> Figure:
    """The margin of every part against K, for either rule at a frame's end; a cross: recorded by `make long`."""
    rows = tuned_by_an_author(_answer(results))
    rules = [
        frame_end for frame_end in FRAME_ENDS if any(row["frame_end"] == frame_end for row in rows)
    ]
    figure, axes = plt.subplots(
        1, max(1, len(rules)), figsize=(5.5 * max(1, len(rules)), 4.2), squeeze=False, sharey=True
    )
    for ax, frame_end in zip(axes[0], rules, strict=False):
        mine = [row for row in rows if row["frame_end"] == frame_end]
        for number, part in enumerate(PARTS.values()):
            points = [
                (row["K"], row["margins"][part.name])
                for row in mine
                if row["margins"][part.name] is not None
            ]
            ax.plot(
                *zip(*points, strict=True), marker="o", color=f"C{number}", label=part.says
            ) if points else None
        ax.axhline(0, color=style.LIMIT, linewidth=0.9)
        ax.set(xscale="log", yscale="symlog", xlabel="K", title=FRAME_ENDS[frame_end])
    axes[0][0].set_ylabel("margin: mean distance in standard deviations")
    if rules:
        style.legend(figure, ncols=3)
    else:
        style.say(axes[0][0], "No protocol tunes Algorithm 1 alone.")
    return figure
