"""Theorem 1 without B >= 1, and the drift that the assumption on local budgets excludes."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from wei2023.report import style
from wei2023.report.figures.claims.data import Panel, board
from wei2023.report.results import Results

ALLOWED, EXCLUDED = "#0173b2", "#b3460b"


def claims_theorems(results: Results) -> Figure:
    return board(results, "theorems", PANELS)


def slow_drift(ax: Axes, behind: pd.DataFrame) -> None:
    """V(K)/K^0.9 for B = K^-0.3: its lower bound on every path, runs, and what is claimed."""
    runs = behind.dropna(subset="simulated")
    proved, found = behind[behind["simulated"].isna()], runs["simulated"].astype(float)
    ax.plot(proved["log10_K"], proved["at_least"], color=EXCLUDED, label="at least, on every path")
    ax.plot(runs["log10_K"], found, "o", color="C1", label=r"simulated, small $\iota$")
    ax.plot(runs["log10_K"], runs["at_least"], "_", color=EXCLUDED, markersize=11)
    start = behind.loc[behind["admitted"].astype(bool), "log10_K"].min()
    end = 1.05 * behind["log10_K"].max()
    ax.fill_between([start, end], -1, 0, color=ALLOWED, alpha=0.25, linewidth=0, label="claimed")
    ax.axhline(0, color=style.LIMIT, linewidth=0.9)
    ax.set(xlabel="$K$", ylabel="$V(K)/K^{0.9}$", xlim=(0, end), ylim=(-0.35, 1.9))
    ax.xaxis.set_major_formatter("$10^{{{x:g}}}$")
    style.key(ax, loc="upper right")


def inputs(ax: Axes, behind: pd.DataFrame) -> None:
    """The least B' that meets the assumption, and that with which the regret bound is K, over B."""
    places = range(len(behind))
    least, limit = behind["least_over_B"], behind["limit_over_B"]
    colours = np.where(least <= limit, ALLOWED, EXCLUDED)
    ax.hlines(places, 1, least, color=colours, linewidth=2)
    ax.scatter(least, places, s=34, c=colours, zorder=3)
    ax.plot(limit, places, "k|", markersize=10, label="$K^{3/5}/B$: the regret bound is $K$")
    for place, factor, colour in zip(places, least, colours, strict=True):
        ax.text(1.5 * factor, place, f"{factor:.3g}", color=colour, va="center", fontsize="small")
    ax.set_yticks(places, behind["environment"], fontsize="small")
    ax.set(xscale="log", xlim=(0.7, 500 * least.max()), xlabel="least $B'/B$")
    ax.set_ylim(len(behind) + 0.8, -0.6)
    style.key(ax, loc="lower right")


PANELS = {
    "C12": Panel(r"$V(K) \leq 0$ for $B = K^{-0.3}$, slow drift", slow_drift),
    "C22": Panel(r"an input $B' \geq B$ with some $\tilde b$", inputs),
}
