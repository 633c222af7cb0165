"""The bandit over bandits: the lemma's counterexamples, and what is left of it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from nscmdp.report import style
from nscmdp.report.figures.claims.lines import AGAINST, CLAIMED, Line, Picture, lines, powers_of_ten, where
from nscmdp.report.results import Results

Finding = dict[str, Any]
Draw = Callable[[Axes, pd.DataFrame, Finding], None]
MARKS = "os^D"


def claims_bandit(results: Results) -> Figure:
    """What Exp3 loses against the best arm, beside the lemma's bound, as printed and corrected."""
    return lines(results, "bandit", LINES)


def lost(quantity: str) -> Draw:
    """What Exp3 loses against Bhat, over H K, beside the bound, per K."""

    def draw(ax: Axes, mine: pd.DataFrame, finding: Finding) -> None:
        bound = mine.groupby("K")[f"{quantity}_bound"].first()
        ax.fill_between(bound.index, bound, -2, color=CLAIMED, alpha=0.15, linewidth=0)
        ax.plot(bound.index, bound, color=CLAIMED, linewidth=1.8, label="the lemma's bound")
        for number, (name, arm) in enumerate(mine.groupby("instance", sort=False)):
            for rate, one in arm.groupby("rate", sort=False):
                ends = abs(one[[f"{quantity}_low", f"{quantity}_high"]].to_numpy().T - one[quantity].to_numpy())
                looks: dict[str, Any] = {"color": f"C{1 + number}", "marker": MARKS[number % 4]}
                usual = rate == "usual"
                looks |= {"linestyle": "-" if usual else "", "fillstyle": "full" if usual else "none"}
                looks |= {"markersize": 5 if usual else 9, "label": f"arm {name}" if usual else None}
                ax.errorbar(one["K"], one[quantity], ends, **looks)
        least = min(mine[quantity].min(), 0)
        ax.set(xscale="log", xlabel="$K$", ylabel=f"lost {quantity}, over $HK$", ylim=(1.1 * least - 0.1, None))
        ax.axhline(0, color=style.LIMIT, linewidth=0.9)
        if quantity == "reward":
            keys, labels = ax.get_legend_handles_labels()
            keys.append(Line2D([], [], linestyle="", marker="o", color=style.INK, fillstyle="none", markersize=8))
            style.key(ax, handles=keys, labels=[*labels, r"with the printed $\gamma_0$"], loc="upper right")

    return draw


def exceeds(ax: Axes, mine: pd.DataFrame, _: Finding) -> None:
    """The least that Exp3 loses by its own guarantee over the bound, out to a K of 10^100."""
    columns = {name: float(name.removeprefix("ratio_at_1e")) for name in mine if name.startswith("ratio_at_1e")}
    arms = {name: number for number, name in enumerate(mine["instance"].unique())}
    for row in mine.to_dict("records"):
        points = [(at, np.log10(row[name])) for name, at in columns.items() if row[name] > 0]
        for times in (1, 10, 100):
            points.append((row.get(f"log10_K_{times}_times", np.nan), np.log10(times)))
        K, ratio = np.array(sorted(point for point in points if point[0] <= 100)).reshape(-1, 2).T
        dashes = style.DASHES[int(row["quantity"] == "utility") * 2]
        looks: dict[str, Any] = {"color": f"C{1 + arms[row['instance']]}", "dashes": dashes}
        ax.plot(K, ratio, linewidth=2.0 if row["outer"] == "Algorithm 2" else 1.0, **looks)
    ax.axhspan(-1, 0, color=CLAIMED, alpha=0.15, linewidth=0)
    ax.axhline(0, color=CLAIMED, linewidth=1.8)
    ax.set(xlabel="$K$", ylabel="loss by Exp3's guarantee, over the bound", xlim=(5, 60), ylim=(-1, 6))
    powers_of_ten(ax.xaxis)
    powers_of_ten(ax.yaxis)
    keys = [
        Line2D([], [], color=style.INK, linewidth=2, label="reward, Algorithm 2"),
        Line2D([], [], color=style.INK, linewidth=2, dashes=style.DASHES[2], label="utility, Algorithm 2"),
        Line2D([], [], color=style.INK, linewidth=1, label="Algorithm 4"),
    ]
    style.key(ax, handles=keys, loc="upper left")


def shares(ax: Axes, mine: pd.DataFrame, _: Finding) -> None:
    """What Exp3 loses over the bound on random bandits, by kind and number of arms."""
    kinds = list(mine["kind"].unique())
    for number, (arms, one) in enumerate(mine.groupby("arms")):
        order = one.groupby("kind").cumcount() / one.groupby("kind")["kind"].transform("size")
        places = one["kind"].map(kinds.index) + 0.36 * (number - 0.5) + 0.24 * (order - 0.5)
        ax.plot(one["share"], places, MARKS[number], color=f"C{1 + number}", markersize=4.5, label=f"{arms} arms")
    ax.axvspan(-2, 1, color=CLAIMED, alpha=0.15, linewidth=0)
    ax.axvline(1, color=CLAIMED, linewidth=1.8, label="the bound")
    if (mine["share"] > 1).any():
        ax.axvspan(1, 1.05 * mine["share"].max(), color=AGAINST, alpha=0.15, linewidth=0)
    ax.set_yticks(range(len(kinds)), kinds)
    ax.set(
        xlabel=f"lost {mine['quantity'].iloc[0]}, over the bound",
        xlim=(min(mine["share"].min(), 0) - 0.08, max(1.12, 1.05 * mine["share"].max())),
    )
    ax.invert_yaxis()
    style.key(ax, loc="upper left")


SIMULATED, CLOSED = where("how", "simulated"), where("how", "closed form")
LINES = (
    Line(
        "C13",
        r"if $\hat B$ is feasible in the mean, Exp3 loses $\tilde O(H\sqrt{KW} + HK^{1-\lambda})$ of reward and "
        r"$\tilde O(HK^\lambda\sqrt{KW})$ of utility",
        (
            Picture(lost("reward"), SIMULATED, width=1.3),
            Picture(lost("utility"), SIMULATED),
            Picture(exceeds, CLOSED, "closed form, larger $K$"),
        ),
        4.2,
    ),
    Line(
        "C13'",
        r"the same where $\hat B$ is feasible and pays the most in every block",
        (
            Picture(shares, where("quantity", "reward")),
            Picture(shares, where("quantity", "utility")),
        ),
        3.6,
    ),
)
