"""Lemma 2: what Exp3 loses against Bhat over the lemma's bound, by example."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from wei2023.report import style
from wei2023.report.figures.claims.data import Panel, board
from wei2023.report.results import Results

ALLOWED = "#0173b2"


def claims_bandit(results: Results) -> Figure:
    return board(results, "bandit", PANELS, columns=1, height=4.2)


def losses(ax: Axes, behind: pd.DataFrame) -> None:
    """Lines: proved; marks: simulated."""
    for number, (name, one) in enumerate(behind.groupby("example", sort=False)):
        proved, found = (one[one["how"] == how] for how in ("at least", "simulated"))
        colour, label = f"C{1 + number}", f"{one['half'].iloc[0]}, {name}"
        dashes = style.DASHES[number]
        ax.plot(proved["log10_K"], proved["share"], color=colour, dashes=dashes, label=label)
        ax.plot(found["log10_K"], found["share"], "os^D"[number], color=colour)
    ax.axhspan(0, 1, color=ALLOWED, alpha=0.2, linewidth=0, label="allowed")
    ax.set(yscale="log", xlabel="$K$", ylabel="loss over the bound (marks: simulated)")
    ax.xaxis.set_major_formatter("$10^{{{x:g}}}$")
    style.key(ax, loc="upper left")


PANELS = {"C13": Panel(r"Exp3 loses $\tilde O(\cdot)$ against a feasible $\hat B$", losses)}
