"""Memory, Table 1 and the remarks on it."""

from fractions import Fraction

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from nscmdp.analysis.claims.arithmetic import CLAIMED as DEGREES
from nscmdp.analysis.claims.arithmetic import MENU, degree
from nscmdp.report import forms, style
from nscmdp.report.figures.claims.data import Panel, board
from nscmdp.report.figures.claims.lines import AGAINST, CLAIMED, powers_of_ten, where
from nscmdp.report.results import Results

MARKS = "os^Dv"
TABULAR = {"S": "$S$, at $d = SA$", "A": "$A$, at $d = SA$"}
SAID = {"by H^(1/4)": 0.25}  # of improvements: how large; those that are only said to be one have no number


def claims_arithmetic(results: Results) -> Figure:
    """What is said of orders, beside what follows from them."""
    return board(results, "arithmetic", PANELS)


def short(algorithm: str) -> str:
    return style.title(algorithm).partition(" (")[0]


def memory(ax: Axes, mine: pd.DataFrame) -> None:
    """Bytes against S; dashed: the claimed power of S, through the last of them."""
    along = mine[mine["along"] == "S"]
    for number, (name, one) in enumerate(along.groupby("algorithm", sort=False)):
        power = DEGREES[str(name)]["S"]
        sizes, kept = one["S"].to_numpy(), one["bytes"].to_numpy()
        found = degree([int(number) for number in kept])
        label = f"{short(str(name))}: degree {found}"
        ax.plot(sizes, kept, linestyle="", marker=MARKS[number % 5], color=f"C{number}", label=label)
        ax.plot(sizes, kept[-1] * (sizes / sizes[-1]) ** float(power), "--", color=f"C{number}", linewidth=1.2)
        said = f"$S^{power}$" if power > 1 else "$S$"
        if said not in {text.get_text() for text in ax.texts}:
            ax.annotate(said, (sizes[-1], kept[-1]), (8, 0), textcoords="offset points", va="center")
    ax.set(xscale="log", yscale="log", xlabel="states $S$ ($A = 3$, $H = 4$)", ylabel="bytes kept")
    ax.set_ylim(top=30 * along["bytes"].max())
    style.plain_ticks(ax, sorted(along["S"].unique()))
    style.key(ax, loc="upper left")


def orders(ax: Axes, mine: pd.DataFrame) -> None:
    """Table 1's orders of regret over H K, in the sizes of the growth study; above 1 an order says nothing."""
    for number, (name, one) in enumerate(where("kind", "order")(mine).groupby("algorithm", sort=False)):
        share = one["log10_order"] - one["log10_K"] - np.log10(MENU["H"])
        label = short(str(name))
        ax.plot(one["log10_K"], share, color=f"C{number}", dashes=style.DASHES[number], linewidth=1.6, label=label)
    said = where("kind", "statement")(mine)
    agree = (said["claimed"] == said["found"]).sum() if len(said) else 0
    ax.axhline(0, color=style.LIMIT, linewidth=0.9)
    ax.annotate("$HK$, which no regret exceeds", (1, 0), (0, 3), xycoords=("axes fraction", "data"), ha="right",
                textcoords="offset points", fontsize="small")  # fmt: skip
    text = f"{agree} of {len(said)} statements on the table follow from its rows"
    ax.annotate(text, (1, 1), xycoords="axes fraction", ha="right", va="top", fontsize="small")
    ax.set(xlabel="$K$", ylabel="order of regret over $HK$, constants 1")
    ax.set_ylim(bottom=1.8 * ax.get_ylim()[0], top=1.7 * ax.get_ylim()[1])
    powers_of_ten(ax.xaxis)
    powers_of_ten(ax.yaxis)
    style.key(ax, loc="lower left")


def improvements(ax: Axes, mine: pd.DataFrame) -> None:
    """By what power of each size Algorithm 3's row is the smaller one; diamonds and arrows: what is said."""
    powers = np.array([float(Fraction(one)) for one in mine["improvement"]])
    places = np.arange(len(mine))
    ax.barh(places, powers, color=np.where(powers >= 0, CLAIMED, AGAINST), height=0.6)
    for place, power, text, said in zip(places, powers, mine["improvement"], mine["said"], strict=True):
        side = -1 if power < 0 else 1
        ax.annotate(
            text, (power, place), (5 * side, 0), textcoords="offset points", va="center",
            ha="left" if side > 0 else "right",
        )  # fmt: skip
        if said in SAID:
            ax.plot(SAID[said], place, "D", color=style.INK, fillstyle="none", markersize=7)
        elif said != "-":
            ax.annotate(
                "", (0.25, place - 0.36), (0, place - 0.36), arrowprops={"arrowstyle": "->", "color": style.INK}
            )
    ax.axvline(0, color=style.LIMIT, linewidth=0.9)
    ax.set_yticks(places, [TABULAR.get(size, f"${size}$") for size in mine["size"]])
    ax.set(
        xlabel="power by which Algorithm 3's order is below the tabular row",
        xlim=(min(powers.min(), 0) - (0.45 if forms.is_narrow() else 0.25), 0.75),  # the number beside a bar
    )
    ax.invert_yaxis()
    keys = [
        Line2D([], [], linestyle="", marker="D", color=style.INK, fillstyle="none", label="said: by $H^{1/4}$"),
        Line2D([], [], linestyle="", marker=r"$\rightarrow$", color=style.INK, markersize=11, label="said: improved"),
    ]
    style.key(ax, handles=keys, loc="lower right")


def crossing(ax: Axes, mine: pd.DataFrame) -> None:
    """Algorithm 3's order over Ding and Lavaei's with d = S A, in the sizes of the growth study, as B grows."""
    gains = {size: float(Fraction(one)) for size, one in zip(mine["size"], mine["improvement"], strict=True)}
    rest = sum(gains[size] * np.log10(MENU[size]) for size in ("H", "S", "A"))
    cross = -rest / gains["B"]
    B = np.linspace(0, 1.5 * cross, 2)
    ax.axhspan(-10, 0, color=CLAIMED, alpha=0.2, linewidth=0)
    ax.plot(B, -rest - gains["B"] * B, color="C1", label="order of Algorithm 3 over PROPD-PPO's")
    ax.plot(np.log10(MENU["B"]), -rest - gains["B"] * np.log10(MENU["B"]), "o", color="C3", label="the growth study")
    ax.plot(cross, 0, "*", color="C2", markersize=14, label=f"$B = H^7 S^7 A^{{11}} = 10^{{{cross:.1f}}}$")
    ax.axhline(0, color=style.LIMIT, linewidth=0.9)
    ax.annotate("Algorithm 3 is better", (0.03, 0.05), xycoords="axes fraction", fontsize="small")
    ax.set(xlabel="$B$", ylabel="ratio of orders", xlim=(0, B[-1]), ylim=(0.6 * rest, -1.9 * rest))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(5, integer=True))
    powers_of_ten(ax.xaxis)
    powers_of_ten(ax.yaxis)
    style.key(ax, loc="upper right")


PANELS = {
    "C19": Panel("Algorithm 1 keeps $O(HSA)$ numbers, others $O(HS^2A)$", memory),
    "C21": Panel("Table 1 has the theorems' orders", orders),
    "C25": Panel(r"better than Ding and Lavaei by $H^{1/4}$, and in $B$ and $d$", improvements),
    "C25a": Panel(r"by Table 1 better by $B^{1/12}$, worse by $H^{7/12}$", crossing),
}
