"""Theorems 1 and 2: the counterexamples, where the K of the corrected statements come from, and the local budgets."""

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from nscmdp.analysis.claims import counterexamples
from nscmdp.report import style
from nscmdp.report.figures.claims.lines import (
    AGAINST,
    CLAIMED,
    Line,
    Picture,
    lines,
    of_part,
    powers_of_ten,
    where,
)
from nscmdp.report.results import Results

SYMBOLS = {  # of the factors of the condition on K
    "iota^(3/2)": r"$\iota^{3/2}$",
    "H^3": r"$H^3$",
    "constant": "constant",
    "sqrt(S A)": r"$\sqrt{SA}$",
    "B^(1/3)": r"$B^{1/3}$",
    "1/delta": r"$1/\delta$",
}
CONSTANTS = {  # of learners in the growth study, in a few words
    "tuned_each": "tuned at\neach K",
    "tuned": "tuned once",
    "scaled": "defaults",
    "literal": "printed",
}
LOWEST = -32  # the smallest share of H K that is drawn in its place, as a power of ten
Finding = dict[str, Any]


def claims_theorems(results: Results) -> Figure:
    """Theorems 1 and 2 as printed and corrected, and the assumption on local budgets."""
    return lines(results, "theorems", LINES)


# ---------------------------------------------------------------------------------------------- the counterexamples


def violation(ax: Axes, mine: pd.DataFrame, _: Finding) -> None:
    """Per episode against K, in closed form and simulated; shaded: what the theorem allows, where it begins."""
    powers = (mine["log10_B"] / mine["log10_K"]).round(2)
    for number, (power, one) in enumerate(mine.groupby(powers, sort=False)):
        looks: dict[str, Any] = {"color": f"C{1 + number}", "marker": "so"[number % 2], "markersize": 9 - 4 * number}
        closed, seen = (one[one["how"] == how] for how in ("closed form", "simulated"))
        found, ends = seen["violation_per_episode"].to_numpy(), seen[["low", "high"]].to_numpy().T
        ax.plot(closed["log10_K"], closed["violation_per_episode"], fillstyle="none", linestyle=":", **looks)
        looks |= {"linestyle": "", "zorder": 3, "label": f"$B = K^{{{power:g}}}$"}
        ax.errorbar(seen["log10_K"], found, abs(ends - found), **looks)
    case = counterexamples.first_admitted(3, counterexamples.PRINTED)
    start, end = 10 * np.log10(case.n) if case else 0.0, 1.25 * mine["log10_K"].max()
    ax.fill_between([start, end], -1, 0, color=CLAIMED, alpha=0.25, linewidth=0)
    ax.annotate(f"claimed from\n$10^{{{start:.1f}}}$ on", (start + 1, -0.08), va="center", fontsize="small")
    ax.axhline(0, color=style.LIMIT, linewidth=0.9)
    ax.set(xlabel="$K$", ylabel="violation per episode, $V(K)/K$", ylim=(-0.16, 0.5), xlim=(0, end))
    powers_of_ten(ax.xaxis)
    keys = [*ax.get_legend_handles_labels()[0]]
    for label, fill in (("simulated", "full"), ("closed form", "none")):
        keys.append(Line2D([], [], linestyle="", marker="o", color=style.INK, fillstyle=fill, label=label))  # type: ignore[arg-type]
    style.key(ax, handles=keys, loc="upper left", ncols=2)


def budgets(ax: Axes, mine: pd.DataFrame, _: Finding) -> None:
    """For which B = K^b frames keep their first arm, and for which the condition with B^(1/3) in it holds."""
    K, allowed = mine["log10_K"], mine["condition_up_to"].clip(lower=0)
    ax.fill_between(K, mine["stuck_from"], 1, color=AGAINST, alpha=0.35, linewidth=0)
    ax.fill_between(K, 0, allowed, color=CLAIMED, alpha=0.35, linewidth=0)
    for text, height in (("violation of $K/4$", 0.8), ("condition holds\nwith $B^{1/3}$ in it", 0.17)):
        ax.annotate(text, (0.62, height), xycoords="axes fraction", ha="center", va="center")
    ax.set(xscale="log", xlabel="$K$", ylabel="$b$, where $B = K^b$", ylim=(0, 1), xlim=(K.min(), K.max()))
    ax.minorticks_off()
    powers_of_ten(ax.xaxis, tuple(at for at in (40, 100, 200, 400, 1000) if K.min() <= at <= K.max()))


def frames(ax: Axes, mine: pd.DataFrame, _: Finding) -> None:
    """In units of K^0.9: a lower bound on every path, what was simulated, and what the theorem allows."""
    closed, seen = (mine[mine["how"] == how] for how in ("closed form", "simulated"))
    ax.plot(closed["log10_K"], closed["violation"], color=AGAINST, label="at least, on every path")
    ax.plot(seen["log10_K"], seen["violation"], "o", color="C1", label=r"simulated, small $\iota$")
    ax.plot(seen["log10_K"], seen["at_least"], "_", color=AGAINST, markersize=11, markeredgewidth=1.6)
    start, end = closed.loc[closed["admitted"].astype(bool), "log10_K"].min(), 1.05 * mine["log10_K"].max()
    if np.isfinite(start):
        ax.fill_between([start, end], -1, 0, color=CLAIMED, alpha=0.25, linewidth=0)
        ax.annotate("claimed", (start + 1, -0.17), va="center", fontsize="small")
    ax.axhline(0, color=style.LIMIT, linewidth=0.9)
    ax.set(xlabel="$K$, with $B = K^{-0.3}$", ylabel="violation $V(K)/K^{0.9}$", xlim=(0, end))
    ax.set_ylim(-0.35, 1.75 * max(mine["violation"].max(), 0.5))
    powers_of_ten(ax.xaxis)
    style.key(ax, loc="upper right")


def regret(ax: Axes, mine: pd.DataFrame, _: Finding) -> None:
    """The claimed order falls with B, what the ties cost does not; and what was simulated."""
    by = dict(tuple(mine.groupby("how")))
    claimed, least = by["claimed"], by["a tie in every epoch"]["log10_regret"].iloc[0]
    B, order = claimed["log10_B"], claimed["log10_regret"]
    ax.plot(B, order, color=CLAIMED, label=f"claimed order, $K = 10^{{{claimed['log10_K'].iloc[0]:.1f}}}$")
    ax.axhline(least, color=AGAINST, linestyle="--", label=f"a tie in every epoch: $10^{{{least:.1f}}}$")
    looks: dict[str, Any] = {"color": AGAINST, "alpha": 0.35, "linewidth": 0, "label": "claimed, and not kept"}
    ax.fill_between(B, order, least, where=order < least, interpolate=True, **looks)
    if "simulated" in by:
        seen, there = by["simulated"], by["claimed, constant taken as 1"]["log10_regret"].iloc[0]
        said = f"simulated, $K = {10 ** seen['log10_K'].iloc[0]:.0f}$, $B = 10^{{{seen['log10_B'].iloc[0]:.1f}}}$:\n"
        said += f"{10 ** seen['log10_regret'].max():.0f}, order with constant 1: {10**there:.2f}"
        ax.annotate(said, (0.02, 0.03), xycoords="axes fraction", fontsize="small")
    ax.set(xlabel="$B$ (falls to the right)", ylabel="regret $R(K)$", xlim=(B.max(), B.min()))
    ax.set_ylim(order.min() - 0.45 * np.ptp(order), None)
    ax.xaxis.set_major_locator(MaxNLocator(5))
    powers_of_ten(ax.xaxis)
    powers_of_ten(ax.yaxis)
    style.key(ax, loc="upper right")


# ------------------------------------------------------------------------------------------ the corrected statements


def factors(ax: Axes, mine: pd.DataFrame, finding: Finding) -> None:
    """The powers of ten of the K from which the theorem promises something, stacked by factor of its condition."""
    wide = mine.pivot(index="environment", columns="factor", values="orders").loc[mine["environment"].unique()]
    wide = wide[[name for name in SYMBOLS if name in wide]]
    places = np.arange(len(wide))
    above, below = np.zeros(len(wide)), np.zeros(len(wide))
    for number, (name, orders) in enumerate(wide.items()):
        start = np.where(orders >= 0, above, below)
        ax.barh(places, orders, left=start, color=f"C{number}", height=0.72, label=SYMBOLS[str(name)])
        above, below = above + orders.clip(lower=0).to_numpy(), below + orders.clip(upper=0).to_numpy()
    for place, total, end in zip(places, wide.sum(axis=1), above, strict=True):
        ax.annotate(f"$10^{{{total:.0f}}}$", (end, place), (3, 0), textcoords="offset points", va="center")
    run = np.log10(finding["bound"])
    ax.axvline(run, color=style.LIMIT, linestyle="--", linewidth=1.1)
    said = f"largest $K$ run: $10^{{{run:.0f}}}$"
    ax.annotate(said, (run, len(wide)), (4, 0), textcoords="offset points", va="center", fontsize="small")
    ax.set_yticks(places, wide.index, fontsize="small")
    ax.set(xlabel="powers of ten of $K$, by factor of the condition", xlim=(1.1 * below.min() - 1, 1.6 * above.max()))
    ax.set_ylim(len(wide) + 0.6, -0.6)
    style.key(ax, loc="lower right", handlelength=1.2, labelspacing=0.25)


def terms(ax: Axes, mine: pd.DataFrame, _: Finding) -> None:
    """Of the explicit regret bound, in units of H K: at the largest K that was run, and where the theorem begins."""
    wide = mine.pivot(index="term", columns="log10_K", values="log10_share_of_HK").loc[mine["term"].unique()]
    places, ends = np.arange(len(wide)), wide.clip(lower=LOWEST)
    ax.hlines(places, ends.min(axis=1), ends.max(axis=1), color="#bbbbbb", linewidth=1, zorder=1)
    for number, log10_K in enumerate(sorted(wide)):
        looks: dict[str, Any] = {"color": f"C{number}", "linestyle": ""}
        shown = wide[log10_K] >= LOWEST
        ax.plot(wide.loc[shown, log10_K], places[shown], "o", label=f"$K = 10^{{{log10_K:.0f}}}$", **looks)
        ax.plot(np.full((~shown).sum(), LOWEST), places[~shown], marker="<", **looks)
    ax.axvline(0, color=style.LIMIT, linewidth=0.9)
    names = (
        wide.index.str.replace("b~", r"$\tilde b$").str.replace("iota", r"$\iota$").str.replace("eps", r"$\epsilon$")
    )
    ax.set_yticks(places, names, fontsize="small")
    ax.set(xlim=(LOWEST - 2, 26), xlabel=f"multiple of $HK$ (triangles: below $10^{{{LOWEST}}}$)")
    ax.invert_yaxis()
    powers_of_ten(ax.xaxis, (-30, -20, -10, 0, 10))
    style.key(ax, loc="lower right")


def exponents(claimed: Fraction) -> Any:
    """Measured exponents of the gap in K beside the claimed one, by choice of constants."""

    def draw(ax: Axes, mine: pd.DataFrame, _: Finding) -> None:
        places = np.arange(len(mine))
        ends = ["gap_slope_K_low", "gap_slope_K_high"]
        numbers = mine.reindex(columns=["gap_slope_K", *ends, "violation_per_episode"]).astype(float)
        ax.hlines(places, *numbers[ends].to_numpy().T, color="C0", linewidth=1.6)
        fill = np.where(numbers["violation_per_episode"] <= 0, "C0", "white")
        ax.scatter(numbers["gap_slope_K"], places, s=40, c=fill, edgecolor="C0", zorder=3)
        ax.axvline(float(claimed), color=style.LIMIT, linestyle="--", linewidth=1.1)
        said = f"claimed: {claimed}"
        ax.annotate(said, (float(claimed), len(mine) - 0.4), (4, 0), textcoords="offset points", fontsize="small")
        settings = [name.partition(".")[2].removeprefix("setting=") or name for name in mine["learner"]]
        names = [CONSTANTS.get(setting, setting) for setting in settings]
        ax.set_yticks(places, names, fontsize="small")
        ax.set(xlabel="exponent of $K$ in the gap\n(filled: no violation)", ylim=(len(mine) - 0.3, -0.6))
        ax.margins(x=0.15)

    return draw


# -------------------------------------------------------------------------------------------------------- Theorem 2


def balance(ax: Axes, mine: pd.DataFrame, finding: Finding) -> None:
    """The largest of the three exponents against zeta, with the lambda that is the best for it."""
    zeta = np.linspace(0, 1, 2)
    ax.plot(zeta, 1 - zeta / 5, color="C1", linestyle="--", label=r"$1-\zeta/5 = 1-\lambda$")
    ax.plot(zeta, zeta / 5 + (1 + zeta) / 2, color="C2", linestyle="-.", label=r"$\lambda+(1+\zeta)/2$")
    ax.plot(mine["zeta"], mine["largest"], "o", color="C0", markersize=4.5, label="the largest")
    best = mine.loc[mine["largest"].idxmin()]
    ax.plot(best["zeta"], best["largest"], "*", color="C3", markersize=15, zorder=4)
    ax.axhline(8 / 9, color=style.LIMIT, linewidth=0.9)
    ax.annotate("claimed: 8/9", (0.02, 8 / 9), (0, -4), textcoords="offset points", va="top", fontsize="small")
    held = [row["holds"] for row in finding["rows"] if row.get("part") == "exponent"]
    said = f"{sum(held)} of {len(held)} statements\non exponents hold"
    ax.annotate(said, (0.02, 0.04), xycoords="axes fraction", fontsize="small")
    ax.set(
        xlabel=r"$\zeta$, where $W = K^\zeta$ and $\lambda = \zeta/5$",
        ylabel="exponent of $K$",
        xlim=(0, 1),
        ylim=(0.8, 1.2),
    )
    style.key(ax, loc="upper left")


# ------------------------------------------------------------------------------------ the assumption on local budgets


def unevenness(ax: Axes, mine: pd.DataFrame, _: Finding) -> None:
    """The largest local budget over the even share, of every environment; at most 1 where the assumption can be met."""
    places = np.arange(len(mine))
    colours = [CLAIMED if factor <= 1 + 1e-9 else AGAINST for factor in mine["inside"]]
    ax.axvspan(0.5, 1, color=CLAIMED, alpha=0.2, linewidth=0)
    ax.hlines(places, 1, mine["inside"], color=colours, linewidth=2)
    ax.scatter(mine["inside"], places, s=34, c=colours, zorder=3)
    for place, factor, colour in zip(places, mine["inside"], colours, strict=True):
        ax.annotate(
            f"{factor:.3g}", (max(factor, 1), place), (7, 0), textcoords="offset points", va="center", color=colour,
            fontsize="small",
        )  # fmt: skip
    ax.axvline(1, color=style.LIMIT, linewidth=0.9)
    ax.set_yticks(places, mine["environment"], fontsize="small")
    ax.set(
        xscale="log",
        xlim=(0.5, 4 * mine["inside"].max()),
        xlabel=r"$\max_T B^{(T)}$ over the even share $B^{1/3} K^{-0.4}$",
    )
    ax.invert_yaxis()
    keys = [Patch(color=CLAIMED, alpha=0.25, label=r"a $\tilde b$ exists")]
    style.key(ax, handles=keys, loc="lower right")


def local(ax: Axes, mine: pd.DataFrame, _: Finding) -> None:
    """Local budgets along a run."""
    for number, (label, one) in enumerate(mine.groupby("environment", sort=False)):
        looks = {"color": f"C{number + 1}", "dashes": style.DASHES[number], "linewidth": 1.8}
        ax.step(
            [*one["share_of_run"], 1.0],
            [*one["times_even"], one["times_even"].iloc[-1]],
            where="post",
            label=label,
            **looks,
        )
    low, high = mine["times_even"].min(), mine["times_even"].max()
    ax.axhspan(0.5 * low, 1, color=CLAIMED, alpha=0.2, linewidth=0)
    ax.axhline(1, color=style.LIMIT, linewidth=0.9)
    ax.set(
        yscale="log",
        xlim=(0, 1),
        ylim=(0.5 * low, 20 * high),
        xlabel="share of the run",
        ylabel="$B^{(T)}$ over the even share",
    )
    style.key(ax, loc="upper left")


NO_GROWTH = "No growth experiment\nin this configuration."
LINES = (
    Line(
        "C12",
        r"Theorem 1: $V(K) \leq 0$ and $R(K) = \tilde O(B^{1/3} K^{4/5})$ from a $K$ on without $B$ in it",
        (
            Picture(violation, of_part("violation")),
            Picture(budgets, of_part("B as a power of K"), "fast drift: which budgets"),
            Picture(frames, of_part("many frames"), "slow drift over many frames"),
        ),
    ),
    Line(
        "C12'",
        r"Theorem 1 with $B^{1/3}$ in the condition on $K$, $B \geq 1$",
        (
            Picture(factors, of_part("factor"), width=1.5),
            Picture(terms, of_part("term"), "terms of the explicit regret bound", 1.1),
            Picture(exponents(Fraction(4, 5)), of_part("measured"), "measured", 0.9, NO_GROWTH),
        ),
        4.0,
    ),
    Line(
        "C14",
        r"Theorem 2: $R(K) = \tilde O(B^{1/3} K^{8/9})$ without knowing $B$",
        (Picture(balance, of_part("balance")), Picture(regret, of_part("regret"), "hardly any drift: regret")),
    ),
    Line(
        "C14'",
        r"Theorem 2 for $B \geq 1$",
        (
            Picture(factors, of_part("factor"), width=1.6),
            Picture(exponents(Fraction(8, 9)), of_part("measured"), "measured", 0.9, NO_GROWTH),
        ),
        4.0,
    ),
    Line(
        "C22",
        r"Some $\tilde b \geq B^{(T)}$ for all frames $T$ has (number of frames) $\tilde b \leq B$",
        (Picture(unevenness, where("inside")), Picture(local, where("times_even"), "along a run")),
    ),
)
