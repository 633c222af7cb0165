"""What is false of linear CMDPs: the copied lemma; by their norms, Theorem 3 and Lemma 24."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from wei2023.report import style
from wei2023.report.figures.claims.data import Panel, board
from wei2023.report.results import Results

ALLOWED, EXCEEDS = "#0173b2", "#b3460b"


def claims_linear(results: Results) -> Figure:
    return board(results, "linear", PANELS)


def copied(ax: Axes, behind: pd.DataFrame) -> None:
    """The violation of the example by the premise's coefficient; what is allowed is 0."""
    ax.plot(behind["c"], behind["violation"], "o", color=EXCEEDS, label="violation in the example")
    said = f"claimed at most: {behind['claimed'].max():g}"
    ax.annotate(said, (0.05, 0.05), xycoords="axes fraction")
    ax.set(xscale="log", yscale="log", xlabel="coefficient $c$", ylabel="sum of violations")
    style.key(ax, loc="upper right")


def powers(ax: Axes, behind: pd.DataFrame) -> None:
    """The power of K in the claimed regret, and in that of any learner, at the counterexample."""
    colours = [EXCEEDS if what.startswith("of") else ALLOWED for what in behind["what"]]
    ax.barh(behind["what"], behind["power"], color=colours, height=0.5)
    ax.invert_yaxis()
    ax.set(xlabel="power of $K$ in $R(K)$", xlim=(0, 1.1))


def weights(ax: Axes, behind: pd.DataFrame) -> None:
    """The length of w over its bound, by the mass of mu; below 1 the lemma holds."""
    names = {"spectral": r"$\|\mu\|_2$, spread mass", "mass": r"$\|\mu(S)\|$, opposite signs"}
    for mark, (reading, one) in zip("os", behind.groupby("reading", sort=False), strict=True):
        ax.plot(one["c"], one["share"], mark + "-", color=EXCEEDS, label=names[str(reading)])
    ax.axhspan(0, 1, color=ALLOWED, alpha=0.2, linewidth=0, label="allowed")
    ax.set(xscale="log", yscale="log", xlabel="mass $c$", ylabel=r"$|w^\pi| / (2H\sqrt{d})$")
    style.key(ax, loc="upper left")


PANELS = {
    "C15f": Panel("if $R + cV \\leq x$, then $V \\leq 4x/c$", copied),
    "C16": Panel("Theorem 3, $R = \\tilde O(K^{3/4} B^{1/4})$", powers),
    "C29": Panel(r"$|w^\pi| \leq 2H\sqrt{d}$", weights),
}
