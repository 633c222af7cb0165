"""Linear CMDPs: how much of their bounds the lemmas use, the counterexample to every rate, and the K of the others."""

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from nscmdp.analysis.claims.linear_lemmas import ROUNDING, clipped_from_above_alone
from nscmdp.analysis.claims.linear_theorems import LONGEST
from nscmdp.report import forms, style
from nscmdp.report.figures.claims.data import Panel, board, part
from nscmdp.report.figures.claims.lines import AGAINST, CLAIMED, powers_of_ten, where
from nscmdp.report.results import Results

MARKS = "os^Dv"
SHARE = "used, over what is allowed"


def claims_linear(results: Results) -> Figure:
    """The lemmas on Algorithm 3, then every rate as printed beside the corrected one."""
    return board(results, "linear", PANELS, height=2.8)


# ------------------------------------------------------------------------------------------------------- the lemmas


def allowed(ax: Axes, most: float) -> None:
    """What a bound allows, of an x axis that shows shares of it up to ``most``; to its right is room for a legend."""
    ax.axvspan(-0.08, 1, color=CLAIMED, alpha=0.15, linewidth=0)
    ax.axvline(1, color=CLAIMED, linewidth=1.8)
    ax.set(xlabel=SHARE, xlim=(-0.08, max(1.5, 1.15 * most)))


def rungs(ax: Axes, labels: list[str]) -> None:
    ax.set_yticks(range(len(labels)), labels, fontsize="small")
    ax.set_ylim(len(labels) - 0.5, -0.5)


def runs(ax: Axes, mine: pd.DataFrame) -> None:
    """The largest share in the runs of every size, by how much of the printed bonus they have; then made-up data."""
    labels, others = by_bonus(ax, where("bonus")(mine)), where("made_up")(mine)
    if len(others):
        ax.plot(others["share"], np.full(len(others), len(labels)), "D", color="C4")
        labels.append("made-up data")
    allowed(ax, mine["share"].max())
    rungs(ax, labels)


def clip(ax: Axes, mine: pd.DataFrame) -> None:
    """The runs, and an exact example that the clip from above does not rule out."""
    x, squares = clipped_from_above_alone()
    labels, share = by_bonus(ax, mine), float(squares) / len(x)
    ax.plot(share, len(labels), "*", color=AGAINST, markersize=12)
    allowed(ax, max(mine["share"].max(), share))
    rungs(ax, [*labels, "$V_g = -3/2, 1, 1, 1$"])


def by_bonus(ax: Axes, mine: pd.DataFrame) -> list[str]:
    bonuses = sorted(mine["bonus"].unique(), reverse=True) if len(mine) else []
    for number, ((H, d), one) in enumerate(mine.groupby(["H", "d"]) if len(mine) else ()):
        places = one["bonus"].map(bonuses.index) + 0.18 * (number - 1)
        looks: dict[str, Any] = {"color": f"C{1 + number}", "label": f"$H = {H:.0f}$, $d = {d:.0f}$"}
        ax.plot(one["share"], places, MARKS[number % 5], **looks)
    style.key(ax, loc="upper right")
    return [rf"bonus $\times$ {bonus:g}" for bonus in bonuses]


def softmax(ax: Axes, mine: pd.DataFrame) -> None:
    ax.plot(mine["share"], np.arange(len(mine)), "o", color="C1")
    allowed(ax, mine["share"].max())
    rungs(ax, [f"$A = {A}$" for A in mine["A"]])


def potential(ax: Axes, mine: pd.DataFrame) -> None:
    """Of the lemma on log det, by the ridge; below 1 it says nothing."""
    ridges = sorted(mine["ridge"].unique(), reverse=True)
    for number, (d, one) in enumerate(mine.groupby("d")):
        places = one["ridge"].map(ridges.index) + 0.18 * (number - 1)
        ax.plot(one["share"], places, MARKS[number % 5], color=f"C{1 + number}", label=f"$d = {d}$")
    allowed(ax, mine["share"].max())
    names = [rf"$\lambda = {ridge:g}$" + (" (not covered)" if ridge < 1 else "") for ridge in ridges]
    rungs(ax, names)
    style.key(ax, loc="upper right")


def estimates(ax: Axes, mine: pd.DataFrame) -> None:
    """Of every part of the lemma on estimates, at the printed bonus."""
    parts = {"at_rest": "error at rest", "residual": "error under drift", "optimism": "optimism", "T2": "$T_2$"}
    for number, row in enumerate(mine.sort_values("H").to_dict("records")):
        places = np.arange(len(parts)) + 0.18 * (number - 1)
        label = f"$H = {row['H']:.0f}$, $d = {row['d']:.0f}$"
        ax.plot([row[name] for name in parts], places, MARKS[number % 5], color=f"C{1 + number}", label=label)
    allowed(ax, mine["share"].max())
    rungs(ax, list(parts.values()))
    style.key(ax, loc="upper right")


def copied(ax: Axes, mine: pd.DataFrame) -> None:
    """The violation of the example beside what the conclusion allows, for every coefficient of the premise."""
    shown = where("violation")(mine)
    places = np.arange(len(shown))
    ax.barh(places, shown["violation"], color=AGAINST, height=0.5, label="violation in the example")
    ax.plot(shown["claimed"], places, "|", color=CLAIMED, markersize=24, markeredgewidth=3, label="claimed at most")
    names = shown["version"].str.replace("xi = 2H/delta", r"$\xi = 2H/\delta$").str.replace("2 C", "$2C$")
    ax.set_yticks(places, names.str.replace(r"^C,", "$C$,", regex=True), fontsize="small")
    most = max(shown["violation"].max(), shown["claimed"].max())
    ax.set(xlabel="sum of violations", xlim=(-0.08 * most, 1.15 * most), ylim=(len(shown) + 0.4, -0.5))
    style.key(ax, loc="lower right", ncols=2)


def replaced(ax: Axes, mine: pd.DataFrame) -> None:
    """By how much the left-hand side exceeds the right-hand one, at the most, in every set of cases."""
    names = ["positive parts", "sum of x_k", "each episode"]
    for place, name in enumerate(names):
        one = part(mine, name)
        excess = one["excess"].where(one["excess"].abs() > ROUNDING, 0.0)
        inside = excess <= 0
        spread = place + 0.4 * (np.arange(len(one)) / max(len(one) - 1, 1) - 0.5) * (len(one) > 1)
        ax.scatter(excess, spread, s=26, c=np.where(inside, "C0", AGAINST), zorder=3)
    ax.set_xscale("symlog", linthresh=1e-6, linscale=0.5)
    low = min(-1.0, 10 * mine["excess"].min())
    ax.axvspan(low, 0, color=CLAIMED, alpha=0.15, linewidth=0)
    ax.axvline(0, color=CLAIMED, linewidth=1.8)
    ax.set_xlim(low, max(1e-5, 10 * mine["excess"].max()))
    ax.set_xticks([at for at in (-1e3, -1, -1e-3, 0, 1e-3, 1) if low <= at <= ax.get_xlim()[1]])
    ax.set_xlabel("left-hand side less right-hand side")
    rungs(ax, ["(i) positive parts", "(ii) sum of $x_k$", "(ii) each episode"])


# --------------------------------------------------------------------------------------------------------- the rates


def contradiction(ax: Axes, mine: pd.DataFrame) -> None:
    """In the counterexample, where B = 1: the regret of any learner beside the claimed bound, per episode."""
    curve, known = where("what", "curve")(mine), where("what", "counterexample")(mine)
    if curve.empty or known.empty:
        style.say(ax, "Nothing contradicts it.")
        return
    K, bound = curve["log10_K"], curve["log10_bound"] - curve["log10_K"]
    least = (curve["log10_regret"] - K).iloc[0]
    row = known.iloc[0]
    ax.plot(
        K,
        bound,
        color=CLAIMED,
        label=rf"claimed: $K^{{{Fraction(row['claimed_exponent']).limit_denominator(99)}}}$, constants 1",
    )
    ax.axhline(least, color=AGAINST, linestyle="--", label=f"any learner, in the mean: {10**least:g}")
    ax.fill_between(K, bound, least, where=bound < least, interpolate=True, color=AGAINST, alpha=0.35, linewidth=0)
    said = f"Algorithm 3 simulated: $R/K = {row['simulated_regret']:.2f}$, $V/K = {row['simulated_violation']:.2f}$"
    for small in where("what", "two actions, B = K^-4")(mine).to_dict("records"):
        claimed = Fraction(small["claimed_exponent"]).limit_denominator(99)
        said += f"\nat $B = K^{{-4}}$: $R = K^{{{claimed}}}$ claimed, any learner loses {small['regret']:g}"
    ax.annotate(said, (0.02, 0.04), xycoords="axes fraction", fontsize="small")
    low, high = min(bound.min(), least), bound.max()
    below = 0.45 + 0.2 * said.count("\n") if forms.is_narrow() else 0.3  # room for what is said
    ax.set(xlabel="$K$", ylabel="$R(K)/K$", ylim=(low - below * (high - low), high + 0.4 * (high - low)))
    ax.yaxis.set_major_locator(MaxNLocator(5, integer=True))
    powers_of_ten(ax.xaxis)
    powers_of_ten(ax.yaxis)
    style.key(ax, loc="upper right")


def violated(ax: Axes, mine: pd.DataFrame) -> None:
    """In the counterexample: no violation is claimed."""
    known = where("what", "counterexample")(mine)
    if known.empty:
        style.say(ax, "Nothing contradicts it.")
        return
    row = known.iloc[0]
    found = [row["violation_per_episode"], row["simulated_violation"]]
    ax.barh([0, 1], found, color=AGAINST, height=0.5)
    for place, value in enumerate(found):
        ax.annotate(f"{value:.3f}", (value, place), (5, 0), textcoords="offset points", va="center")
    ax.axvspan(-0.08, 0, color=CLAIMED, alpha=0.25, linewidth=0)
    ax.axvline(0, color=CLAIMED, linewidth=1.8)
    ax.annotate(r"claimed: $V \leq 0$", (-0.04, 0.5), ha="center", va="center", rotation=90, fontsize="small")
    ax.set(xlabel="violation per episode, $V(K)/K$", xlim=(-0.08, 0.4))
    rungs(ax, ["any learner,\nin the mean", "Algorithm 3\nsimulated"])


def promise(exponent: Fraction) -> Any:
    """From which K on the corrected rate says anything, beside the K and the exponents that were measured."""

    def draw(ax: Axes, mine: pd.DataFrame) -> None:
        start, seen = where("what", "from")(mine), where("what", "measured")(mine)
        seen = where("gap_slope_K")(seen)
        if start.empty:
            style.say(ax, "No K was computed.")
            return
        first = start["log10_K"].iloc[0]
        ax.plot([first, 1.5 * first], 2 * [float(exponent)], color=CLAIMED, linewidth=2.5)
        ax.axvspan(first, 1.5 * first, color=CLAIMED, alpha=0.15, linewidth=0)
        run = np.log10(seen["largest_K"].max() if len(seen) else LONGEST)
        ax.axvline(run, color=style.LIMIT, linestyle="--", linewidth=1.1)
        said = f"largest $K$ {'run' if len(seen) else 'of the study'}: $10^{{{run:.1f}}}$"
        ax.annotate(
            said, (run, 0.05), (5, 0), xycoords=("data", "axes fraction"),
            textcoords="offset points", fontsize="small",
        )  # fmt: skip
        for number, row in enumerate(seen.to_dict("records")):
            apart = 0.02 * first * (number - (len(seen) - 1) / 2)  # side by side, as most have the same K
            place, colour = np.log10(row["largest_K"]) + apart, f"C{1 + number % 9}"
            ends = [row.get("gap_slope_K_low", np.nan), row.get("gap_slope_K_high", np.nan)]
            ax.vlines(place, *ends, color=colour, linewidth=1.5)
            name = row["learner"].partition(".")[2].removeprefix("setting=") or row["learner"]
            ax.plot(place, row["gap_slope_K"], MARKS[number % 5], color=colour, label=name)
        ax.set(xlabel="$K$", ylabel="exponent of $K$ in the gap", xlim=(0, 1.5 * first))
        if len(seen):
            style.key(ax, loc="upper center", title="measured", title_fontsize="small")
        else:
            ax.set_ylim(float(exponent) - 0.3, 1.1)
            ax.annotate("nothing was measured", (run, 0.8), (5, 0), xycoords=("data", "axes fraction"),
                        textcoords="offset points", fontsize="small")  # fmt: skip
        said = f"claimed: {exponent}\nfrom $10^{{{first:.1f}}}$ on"
        offset, side = (-5, "top") if exponent > sum(ax.get_ylim()) / 2 else (5, "bottom")  # where there is room
        ax.annotate(
            said, (first, float(exponent)), (5, offset), textcoords="offset points", va=side, fontsize="small"
        )  # fmt: skip
        ax.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        powers_of_ten(ax.xaxis)

    return draw


THREE_QUARTERS, SEVEN_EIGHTHS, TWO_THIRDS = Fraction(3, 4), Fraction(7, 8), Fraction(2, 3)
NORM = r"total variation, $B \geq 1$"
PANELS = {
    "C15": Panel(r"$\Sigma_k (Y-Y_k)\, x_k \leq Y^2/2\eta + \eta H^2 K/2$", clip),
    "C15'": Panel(r"the same with $\Sigma_k\, x_k^2$ for $H^2 K$", runs),
    "C15a": Panel(r"regret plus $Y$ times violation, by $T_1$ and $T_2$", runs),
    "C15b": Panel(r"softmax loses at most $\log(A)/\alpha$", softmax),
    "C15c": Panel(r"$\Sigma\, \phi^T \Lambda^{-1} \phi$ is within $[1, 2] \log\det$", potential),
    "C15d": Panel(r"$|w_h^k| \leq 2H\sqrt{dk/\lambda}$", runs),
    "C15e": Panel(r"$T_1 + T_2$ is of order $K^{3/4}$, Frobenius norms", contradiction),
    "C15e'": Panel("errors of estimates, by total variation", estimates),
    "C15f": Panel(r"if $R + 2CV \leq x$ then $V \leq 2x/C$", copied),
    "C15f'": Panel("the step that replaces it", replaced),
    "C16": Panel("Theorem 3, $K^{3/4}$", contradiction),
    "C16'": Panel(f"Theorem 3, {NORM}", promise(THREE_QUARTERS)),
    "C17": Panel("Theorem 4, $K^{7/8}$ without knowing $B$", contradiction),
    "C17'": Panel(f"Theorem 4, {NORM}", promise(SEVEN_EIGHTHS)),
    "C18": Panel("the other approach, $K^{3/4}$ without knowing $B$", contradiction),
    "C18'": Panel(f"the other approach, {NORM}", promise(THREE_QUARTERS)),
    "C23": Panel("$T^{2/3}$ with local budgets known", contradiction),
    "C23'": Panel(f"the same, {NORM}", promise(TWO_THIRDS)),
    "C24": Panel(r"$V(K) \leq 0$ with a tightened constraint", violated),
    "C24'": Panel(f"the same, {NORM}", promise(THREE_QUARTERS)),
}
