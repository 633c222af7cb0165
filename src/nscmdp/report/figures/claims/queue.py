"""The virtual queue: its drift, its size and the moments behind them (C8 to C11)."""

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from nscmdp.report import style
from nscmdp.report.figures.claims.data import FAILS, Panel, board, key, limit, part
from nscmdp.report.results import Results


def claims_queue(results: Results) -> Figure:
    panels = {
        "C8": Panel("beyond its first terms, drift of $Z^2/2$ is at most $D$", _constants),
        "C9": Panel(r"drift of $Z^2/2$ is at most $-(\delta/2)Z$ + constant", _negative_drift),
        "C10": Panel("the expected queue is bounded", _queue),
        "C11": Panel(r"moments under drift $-\gamma \geq -v$ above a threshold $\theta$", _moments),
    }
    return board(results, "queue", panels)


def _constants(ax: Axes, rows: pd.DataFrame) -> None:
    """The printed constants beside what the runs need, and the b~ at which each becomes too small."""
    place = np.arange(len(rows))[::-1]
    ax.barh(place, rows["D"], height=0.55, color=["C0" if kept else "C1" for kept in rows["holds"]])
    for at, D, times in zip(place, rows["D"], rows["times_largest_btilde"], strict=True):
        until = "for every" if pd.isna(times) else rf"up to {times:.1f} $\times$ largest"
        ax.annotate(f"{D:.1f}", (D, at), (-4, 0), textcoords="offset points", ha="right", va="center", color="white")
        ax.annotate(
            rf"enough {until} $\tilde b$", (D, at), (4, 0), textcoords="offset points", va="center", fontsize="small"
        )
    most = rows["needed"].max()
    ax.axvline(most, color="C3", linewidth=1.5, label=f"runs need {most:.2f}")
    ax.set_yticks(place, rows["version"])
    ax.set(xlabel="$D$, printed in four places (scaled constants)", ylim=(-1.1, len(rows) - 0.5))
    ax.set_xlim(min(0, most) - 2, 1.95 * max(most, rows["D"].max()))
    key(ax, loc="lower right")


def _negative_drift(ax: Axes, rows: pd.DataFrame) -> None:
    rows = rows.sort_values("z")
    top = 1.6 * rows[["bound", "high"]].max().max()
    ax.plot(rows["z"], rows["bound"], color=style.LIMIT, linestyle="--", label=r"claimed: $-(\delta/2)\,Z$ + constant")
    ax.fill_between(rows["z"], rows["bound"], top, **FAILS)
    spread = [np.zeros(len(rows)), rows["high"] - rows["drift"]]
    ax.errorbar(
        rows["z"], rows["drift"], yerr=spread, fmt="o-", markersize=4, linewidth=1, color="C0", capsize=2,
        label="mean, and four standard errors above it",
    )  # fmt: skip
    ax.set_xscale("symlog", linthresh=1, linscale=0.7)
    style.plain_ticks(ax, [0, 0.5, 1, 2, 5, 10, 30, 100])
    ax.set(xlabel="queue $Z_T$ at the frame's start", ylabel=r"$E[Z_{T+1}^2 - Z_T^2 \mid Z_T]\,/\,2$")
    ax.set_ylim(min(rows["drift"].min(), 0) * 1.1 - 5, top)
    key(ax, loc="lower left")


def _queue(ax: Axes, rows: pd.DataFrame) -> None:
    """E Z_T over frames for constants that the claim covers and for the printed ones, which it does not."""
    looks = {True: ("C0", style.LIMIT, r"runs, scaled constants: $\epsilon \leq \delta/2$"),
             False: ("C7", "C7", r"runs, printed constants: $\epsilon > \delta/2$, not covered")}  # fmt: skip
    for applies, mine in rows.groupby("applies", sort=False):
        colour, edge, says = looks[bool(applies)]
        shown = mine[mine["Z"] > 0]
        ax.plot(shown["T"], shown["Z"], "o-", markersize=3, color=colour)
        for name, dash in (("Lemma 11", "--"), ("Section 5.2", ":")):
            ax.plot(mine["T"], mine[name], color=edge, linestyle=dash, linewidth=1.2)
        _note(ax, mine["Lemma 11"].iloc[0], "bounds of Lemma 11 and Section 5.2", edge, above=True)
        if not shown.empty:
            _note(ax, shown["Z"].iloc[0] if not applies else shown["Z"].max(), says, colour, above=bool(applies))
    ax.set(yscale="log", xlabel="frame $T$", ylabel="$E[Z_T]$")
    ax.set_ylim(top=60 * rows[["Z", "Lemma 11"]].max().max())


def _note(ax: Axes, height: float, says: str, colour: str, above: bool) -> None:
    """Beside the line that it names."""
    ax.annotate(
        says, (0.04, height), (0, 4 if above else -4), xycoords=("axes fraction", "data"), textcoords="offset points",
        va="bottom" if above else "top", color=colour, fontsize="small",
    )  # fmt: skip


def _in_symbols(reading: str) -> str:
    for word, symbol in (("theta_t", r"$\theta_t$"), ("gamma is above v", r"$\gamma > v$")):
        reading = reading.replace(word, symbol)
    return reading


def _moments(ax: Axes, rows: pd.DataFrame) -> None:
    """The largest moment over all t as a share of the bound: of walks, and of paths that the letter would allow."""
    walks, paths = part(rows, "walk"), part(rows, "path")
    colours = sns.color_palette("crest", max(walks["theta"].nunique(), 1))
    for colour, (theta, mine) in zip(colours, walks.groupby("theta"), strict=False):
        for (start, one), (dash, marker) in zip(mine.groupby("start"), (("-", "o"), ("--", "^")), strict=False):
            one = one.sort_values("gamma")
            ax.plot(
                one["gamma"], one["share"], color=colour, linestyle=dash, marker=marker, markersize=4,
                label=rf"$\theta$ = {theta:g} $v$, $L_0$ = {start:g} $v$",
            )  # fmt: skip
    for marker, path in zip("XD", paths.to_dict("records"), strict=False):
        says = f"to the letter, {_in_symbols(path['reading'])}"
        ax.plot(path["gamma"], path["share"], marker, color=FAILS["color"], markersize=7, linestyle="", label=says)
    limit(ax, 1, "bound")
    ax.axhspan(1, max(4, 3 * rows["share"].max()), **FAILS)
    ax.set(xscale="log", yscale="log", xlabel=r"drift $\gamma$ / largest step $v$")
    ax.set(ylabel=r"$\max_t\,E[e^{rL_t}]$ / bound")
    key(ax, loc="lower right", ncols=2)
