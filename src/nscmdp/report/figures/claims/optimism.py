"""What the tables of Algorithm 1 hold: their range, their noise, their optimism and their error (C2, C4, C5, C6)."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from nscmdp.report import style
from nscmdp.report.figures.claims.data import FAILS, Panel, board, key, limit, part, tens
from nscmdp.report.results import Results

RANGES = {  # of C2
    "bound": "$H^2(\\sqrt{\\iota}+2\\tilde b)$\nLemma 4",
    "bound_of_step": "$H(H-h+1)(\\sqrt{\\iota}+2\\tilde b)$\nits proof",
    "bound_in_lemma_8": "$H^2\\sqrt{\\iota}+\\tilde b$\nin Lemma 8",
    "most": "$(H-h+1)(1+b_1+2H\\tilde b)$\nderived",
}
NEEDED = {  # of C4
    "azuma": ("C1", "proof's inequality, all $t$, range $2H$"),
    "hoeffding": ("C2", "Hoeffding, all $t$, range of $V$"),
    "exact": ("C0", "exact law"),
}


def claims_optimism(results: Results) -> Figure:
    panels = {
        "C2": Panel("no entry of the tables leaves its range", _ranges),
        "C4": Panel("noise stays below $b_t$, probability $1-K^{-3}$", _noise),
        "C5": Panel(r"estimates are never below: $F \geq F^\pi$", _optimism),
        "C6": Panel("error of the estimates over a frame", _error),
    }
    return board(results, "optimism", panels, height=3.7)


def _ranges(ax: Axes, rows: pd.DataFrame) -> None:
    """One point per problem and step for every version of the bound, spread in the order of the rows."""
    spread = np.linspace(0.28, -0.28, len(rows))
    chain = rows["problem"].str.startswith("ladder")
    looks = (("random CMDPs", ~chain, "C0", "o", 12), ("chains that reach the most", chain, "C1", "D", 26))
    for place, bound in enumerate(reversed(RANGES)):
        share = rows["largest"] / rows[bound]
        for says, on, colour, marker, size in looks:
            ax.scatter(
                share[on], place + spread[on], s=size, marker=marker, color=colour, alpha=0.7, linewidth=0,
                label=says if place == 0 else None,
            )  # fmt: skip
    ax.axvline(1, color=style.LIMIT, linestyle="--", linewidth=0.9)
    edge = max(1.1, 1.05 * max((rows["largest"] / rows[bound]).max() for bound in RANGES))
    ax.axvspan(1, edge, **FAILS)
    ax.set_yticks(range(len(RANGES)), reversed(RANGES.values()), fontsize="small")
    ax.set(xlim=(0, edge), ylim=(-0.5, len(RANGES) - 0.4), xlabel="largest entry of $Q_h$ and $C_h$ / bound")
    key(ax, loc="upper right", bbox_to_anchor=(0.9, 0.98))


def _noise(ax: Axes, rows: pd.DataFrame) -> None:
    """The share of b_t that the lemma's level needs, in the exact law and by two inequalities."""
    needs = part(rows, "constant")
    if needs.empty:
        style.say(ax, "Nothing was measured.")
        return
    dashes: dict[float, Any] = dict(zip(sorted(needs["K"].unique()), (":", "--", "-"), strict=False))
    for column, (colour, _) in NEEDED.items():
        for K, mine in needs.groupby("K"):
            share = mine[column] / mine["claimed"]
            ax.plot(mine["t"], share, color=colour, linestyle=dashes[float(K)], marker="o", markersize=3)
    limit(ax, 1, "$b_t$ as printed", side="right")
    edge = max(1.2, 1.05 * max((needs[column] / needs["claimed"]).max() for column in NEEDED))
    ax.axhspan(1, edge, **FAILS)
    ax.set(xscale="log", xlabel="visits $t$", ylabel="bonus needed / $b_t$", ylim=(0, edge))
    ways = [Line2D([], [], color=colour, label=says) for colour, says in NEEDED.values()]
    sizes = [Line2D([], [], color=style.INK, linestyle=dash, label=f"$K$ = {tens(K)}") for K, dash in dashes.items()]
    key(ax, handles=[*ways, *sizes], loc="upper left", bbox_to_anchor=(0, 0.61), ncols=2)


def _optimism(ax: Axes, rows: pd.DataFrame) -> None:
    """How far F stays above F^pi where visited, for smaller bonuses, with and without b~; drift and sum set in."""
    factors = part(rows, "factor")
    if factors.empty:
        style.say(ax, "Nothing was measured.")
        return
    looks = {1.0: ("C0", "o-", r"with $\tilde b$"), 0.0: ("C1", "^--", r"without $\tilde b$")}
    for on, mine in factors.sort_values("bonus").groupby("btilde", sort=False):
        colour, line, says = looks[float(on)]
        ax.plot(mine["bonus"], mine["least"], line, color=colour, markersize=4, label=says)
    ax.axhline(0, color=style.LIMIT, linestyle="--", linewidth=0.9)
    ax.set_yscale("symlog", linthresh=1)
    ax.set_xscale("symlog", linthresh=5e-4, linscale=0.5)
    style.plain_ticks(ax, [0, 0.001, 0.01, 0.1, 1])
    ax.set(xlabel="share of the printed bonus $b_t$ that is given")
    least = min(-0.6, 1.3 * factors["least"].min())
    ax.set_ylim(least, 20 * max(15, factors["least"].max()))
    ax.set_ylabel(r"least $(F - F^\pi)\,/\,(1 + Z/\eta)$, visited")
    ax.set_yticks([0, 1, 10], ["0", "1", "10"])
    ax.axhspan(least, 0, **FAILS)
    ax.set_xlim(-1e-4, 1.3)
    key(ax, loc="lower right", bbox_to_anchor=(1, 0.17))
    if not (sums := part(rows, "sum")).empty:
        worst = sums.loc[(sums["sum"] - sums["printed"]).idxmax()]
        said = f"expected sum {worst['sum']:.0f}, bound {worst['printed']:.2g} ($B$ = {worst['B']:.2g})"
        ax.text(0.98, 0.03, said, transform=ax.transAxes, ha="right", fontsize="small", gid="sum")
    if not (drift := part(rows, "drift")).empty:
        _drift(ax.inset_axes((0.08, 0.6, 0.5, 0.3)), drift)


def _drift(ax: Axes, rows: pd.DataFrame) -> None:
    """What the drift within a frame takes of F - F^pi, beside the 2 H b~ that is added."""
    ax.scatter(rows["H"], rows["needed"], s=8, color="C0", linewidth=0)
    allowed = rows.groupby("H")["allowed"].min()
    ax.plot(allowed.index, allowed, color=style.LIMIT, linestyle="--", linewidth=0.9)
    ax.set_title(r"drift in a frame / $\tilde b$, and $2H$", fontsize="small", loc="left", pad=3)
    ax.set_xlabel("steps $H$", fontsize="small", labelpad=1)
    ax.tick_params(labelsize="small", pad=1)
    ax.set(ylim=(0, None), xticks=sorted(rows["H"].unique()))


def _error(ax: Axes, rows: pd.DataFrame) -> None:
    """The error of a frame as a share of each printed bound, in runs and by the recursion of the proof."""
    looks = {"run": ("o", 14, "runs"), "recursion": ("^", 22, "recursion of the proof")}
    measured = pd.concat([part(rows, name) for name in looks])
    if measured.empty:
        style.say(ax, "Nothing was measured.")
        return
    versions = list(measured["version"].unique())
    for number, version in enumerate(versions):
        for name, (marker, size, _) in looks.items():
            mine = measured[(measured["version"] == version) & (measured["part"] == name)]
            ax.scatter(
                mine["H"] * 1.07 ** (number - 1), mine["ratio"], s=size, marker=marker, color=f"C{number}", alpha=0.7,
                linewidth=0,
            )  # fmt: skip
    limit(ax, 1, "bound as printed")
    edge = max(3, 1.3 * measured["ratio"].max())
    ax.axhspan(1, edge, **FAILS)
    ax.set(xscale="log", yscale="log", xlabel="steps $H$", ylabel="error over a frame / bound", ylim=(4e-4, edge))
    style.plain_ticks(ax, sorted(measured["H"].unique()))
    colours = [Patch(color=f"C{n}", label=_in_symbols(version)) for n, version in enumerate(versions)]
    marks = [
        Line2D([], [], linestyle="", color=style.INK, marker=m, markersize=4, label=s) for m, _, s in looks.values()
    ]
    key(ax, handles=[*colours, *marks], loc="lower left", ncols=2)


def _in_symbols(version: str) -> str:
    """2 H^3 b~ and the like, in mathematics."""
    name, _, term = version.replace("b~", r"\tilde b").partition(", ")
    return f"{name}, ${term}$" if term else name
