"""The learning rates, the drift of values within a frame, and the price of tightening (C1, C3, C3', C7)."""

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from nscmdp.report import style
from nscmdp.report.figures.claims.data import FAILS, Panel, board, key, limit, tens
from nscmdp.report.results import Results

CHI = (1.0, 10.0, 100.0, 1e4)  # of C1's many


def claims_learning_rates(results: Results) -> Figure:
    panels = {
        "C1": Panel("sums of the weights of past targets", _weights),
        "C3": Panel(r"two policies' $Q$ differ by $H\tilde b$ at most", _two_policies),
        "C3'": Panel(r"one policy's $Q$ moves by $H\tilde b$ at most", _one_policy),
        "C7": Panel(r"tightening by $\epsilon$ costs at most $H\epsilon/\delta$", _tightening),
    }
    return board(results, "learning_rates", panels)


def _weights(ax: Axes, rows: pd.DataFrame) -> None:
    """Parts (c) and (e), both times what makes their bounds numbers."""
    shown = rows[rows["chi"].isin(CHI)]
    colours = sns.color_palette("crest", shown["chi"].nunique())
    for colour, (chi, mine) in zip(colours, shown.groupby("chi"), strict=True):
        ax.plot(mine["t"], mine["c"], color=colour, label=rf"$\chi$ = {tens(chi)}")
        ax.plot(mine["t"], mine["e"], color=colour, linestyle="--")
    limit(ax, 2, "(c) at most 2")
    ax.axhline(1, color=style.LIMIT, linestyle="--", linewidth=0.9)
    edge = max(2.2, 1.05 * shown["c"].max())
    ax.axhspan(2, edge, **FAILS)
    parts = {1.42: r"(c) $\sqrt{\chi+t}\,\Sigma_i\, \alpha_t^i/\sqrt{\chi+i}$, at least 1",
             0.27: r"(e), dashed: $\frac{\chi+t}{\chi+1}\,\Sigma_i\,(\alpha_t^i)^2$, at most 1"}  # fmt: skip
    for height, says in parts.items():
        ax.text(0.98, height, says, ha="right", transform=ax.get_yaxis_transform())
    ax.set(xscale="log", xlabel="visits $t$", ylabel="sum of weights, normalised", ylim=(0.15, edge))
    key(ax, ncols=2, loc="upper left", bbox_to_anchor=(0, 0.87))


def _two_policies(ax: Axes, rows: pd.DataFrame) -> None:
    """Without any drift: what two policies differ by at every H, beside H b~ at several K."""
    for (K, mine), dash in zip(rows.groupby("K"), ("--", "-.", ":", (0, (1, 4))), strict=False):
        ax.plot(mine["H"], mine["bound"], color=style.LIMIT, linestyle=dash, label=rf"$H\tilde b$, $K$ = {tens(K)}")
    most = rows.groupby("H")["bound"].max()
    ax.fill_between(most.index, most, 2 * max(most.max(), rows["difference"].max()), **FAILS)
    one = rows.drop_duplicates("H")
    ax.plot(one["H"], one["difference"], "o", color="C1", markersize=7, label="two policies, no drift")
    ax.set(xlabel="steps $H$", ylabel=r"$\max\,|Q^{\pi}_{k,h} - Q^{\pi'}_{k,h}|$", xticks=sorted(one["H"]))
    ax.set_ylim(top=1.12 * max(most.max(), rows["difference"].max()))
    ax.margins(x=0.03)
    key(ax, loc="upper left")


def _one_policy(ax: Axes, rows: pd.DataFrame) -> None:
    """Every frame twice: against the printed bound, and against the sharper sum over steps."""
    names = {"bound": r"$H\tilde b$", "sharper": r"$\Sigma_h (B^r_h + \frac{H-h}{2} B^p_h)$"}
    for (bound, says), colour, marker in zip(names.items(), ("C0", "C2"), "o^", strict=True):
        ax.scatter(rows[bound], rows["moved"], s=20, marker=marker, color=colour, alpha=0.75, label=says, linewidth=0)
    equal = rows[np.isclose(rows["moved"], rows["bound"], rtol=1e-6, atol=0)]
    ax.scatter(
        equal["bound"], equal["moved"], s=90, marker="*", color="C1", edgecolor="black", zorder=4, linewidth=0.6,
        label="$H$ = 1, one move: equality",
    )  # fmt: skip
    positive = rows.loc[rows["moved"] > 0, ["moved", "bound", "sharper"]]
    ends = np.array([0.5 * positive.min().min(), 2 * positive.max().max()])
    ax.plot(ends, ends, color=style.LIMIT, linestyle="--", linewidth=0.9)
    ax.fill_between(ends, ends, ends[1], **FAILS)
    ax.set(xscale="log", yscale="log", xlim=ends, ylim=ends, xlabel="bound")
    ax.set_ylabel(r"$\max\,|Q^\pi_{k_1,h} - Q^\pi_{k_2,h}|$")
    key(ax, loc="upper left")


def _tightening(ax: Axes, rows: pd.DataFrame) -> None:
    """One line per problem, from no tightening on; on this scale the bound is the diagonal for every H and delta."""
    rows = rows.assign(share=rows["eps"] / rows["delta"], price=rows["loss"] / rows["H"])
    tight = np.isclose(rows["loss"], rows["bound"], rtol=1e-6)
    reached = rows["problem"].isin(rows.loc[tight, "problem"])
    looks = ((~reached, "C0", 0.9, "random CMDPs"), (reached, "C1", 2.5, "the bound is reached"))
    for on, colour, width, label in looks:
        for number, (_, mine) in enumerate(rows[on].groupby("problem")):
            ax.plot(
                [0, *mine["share"]], [0, *mine["price"]], color=colour, linewidth=width, marker=".", markersize=3,
                alpha=0.7, label=label if number == 0 else None,
            )  # fmt: skip
    ax.plot([0, 1], [0, 1], color=style.LIMIT, linestyle="--", linewidth=0.9, label=r"$H\epsilon/\delta$")
    edge = max(1.05, 1.05 * rows["price"].max())
    ax.fill_between([0, 1], [0, 1], edge, **FAILS)
    ax.set(xlim=(0, 1.02), ylim=(0, edge), xlabel=r"tightening $\epsilon$ / Slater gap $\delta$")
    ax.set_ylabel(r"loss $(V^* - V^{\epsilon,*})\,/\,H$")
    key(ax, loc="upper left")
