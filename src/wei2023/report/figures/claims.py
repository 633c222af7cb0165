"""The ledger of claims, how loose the proof of Theorem 1 is, and what contradicts the text.

A group's figure is drawn from the rows that its checks wrote (claims/GROUP.json).
"""

import json
import textwrap
from collections.abc import Callable
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from wei2023.proofs import findings
from wei2023.report import style, tables
from wei2023.report.results import Results, needs
from wei2023.report.tables import Table
from wei2023.study import layout

ALLOWED, EXCEEDS = "#0173b2", "#b3460b"
COLOURS = {  # of verdicts, colour-blind safe
    findings.HOLDS: ALLOWED,
    findings.MISPRINT: "#4a9cc9",
    findings.ASSUMPTION: "#8a6d00",
    findings.DEPENDS: "#8a6d00",
    findings.FALSE: EXCEEDS,
    **dict.fromkeys(
        (findings.OPEN, findings.ASYMPTOTIC, findings.IDENTITY, findings.NO_SOURCE), "#6b6b6b"
    ),
}


@needs("claims")
def ledger(results: Results) -> Table:
    """Return every claim with its verdict and what it rests on."""
    claims = json.loads((results.folder / layout.CLAIMS).read_text(encoding="utf-8"))
    return tables.claims(claims)


def _found(results: Results, group: str) -> dict[str, dict[str, Any]]:
    """What the checks of a group found, by claim."""
    return json.loads((results.folder / layout.claims(group)).read_text(encoding="utf-8"))


def looseness(results: Results) -> Figure:
    """Draw how much more each inequality of the proof of Theorem 1 allows than was needed.

    A bar is as long as its step is loose; hollow, and to the end, where nothing at all was needed.
    """
    steps = pd.DataFrame(
        [
            {"group": group, "label": textwrap.fill(f"{claim}  {step['says']}", 64), **step}
            for group in results.experiments("claims")
            for claim, finding in _found(results, group).items()
            for step in finding["inequalities"]
        ]
    )
    figure, ax = plt.subplots(figsize=(9.5, 0.3 * max(len(steps), 4) + 1.2))
    if steps.empty:
        style.say(ax, "No inequality was measured.")
        return figure
    colours = {group: f"C{i}" for i, group in enumerate(steps["group"].unique())}
    steps = steps.astype({"looseness": float})
    steps = steps.sort_values("looseness", na_position="last", ignore_index=True)
    bounded, edges = steps["looseness"].notna(), steps["group"].map(colours)
    widest = float(np.fmax(1.0, 1.3 * steps["looseness"].max()))
    lengths, faces = steps["looseness"].fillna(widest), edges.where(bounded, "none")
    ax.barh(steps.index, lengths, height=0.7, facecolor=faces, edgecolor=edges)
    look: dict[str, Any] = {"textcoords": "offset points", "va": "center", "fontsize": "x-small"}
    for place, step in steps.iterrows():
        text = "nothing was needed"
        if bounded[place]:
            text = f"{_short(step['claimed'])} allowed, {_short(step['measured'])} needed"
        ax.annotate(text, (max(lengths[place], 0), place), (4, 0), **look)
    ax.set_yticks(steps.index, steps["label"], fontsize="x-small")
    ax.axvline(0, color=style.LIMIT, linewidth=0.9)
    ax.set_xscale("symlog", linthresh=1)
    style.plain_ticks(ax, [at for at in (0, 0.5, 1, 2, 5, 10, 20, 50) if at <= widest])
    ax.set(
        xlabel="orders of magnitude between allowed and needed (linear up to 1, then logarithmic)",
        ylim=(-0.6, len(steps) - 0.4),
    )
    ax.set_xlim(right=15 * widest)  # the text beside a bar
    keys = [Patch(color=colour, label=name.replace("_", " ")) for name, colour in colours.items()]
    ax.legend(handles=keys, title="checks of", loc="lower right")
    return figure


def _short(number: float) -> str:
    return f"{float(f'{number:.2g}'):,g}" if 0.001 <= abs(number) < 1e5 else f"{number:.2g}"


def claims_theorems(results: Results) -> Figure:
    """Theorem 1 without B >= 1, and the drift that the assumption on local budgets excludes."""
    return _board(results, "theorems")


def claims_bandit(results: Results) -> Figure:
    """Lemma 2: what Exp3 loses against Bhat over the lemma's bound, by example."""
    return _board(results, "bandit")


def claims_linear(results: Results) -> Figure:
    """What is false of linear CMDPs: the copied lemma; by their norms, Theorem 3 and Lemma 24."""
    return _board(results, "linear")


def _board(results: Results, group: str) -> Figure:
    """One titled panel per claim, in two columns; the last takes what is left of its line."""
    found, panels = _found(results, group), PANELS[group]
    columns = min(2, len(panels))
    lines = -(-len(panels) // columns)
    figure = plt.figure(figsize=(5 * columns, (3.4 if columns > 1 else 4.2) * lines))
    grid = figure.add_gridspec(lines, columns)
    for place, (claim, (says, draw)) in enumerate(panels.items()):
        line, column = divmod(place, columns)
        last = columns if place == len(panels) - 1 else column + 1
        ax = figure.add_subplot(grid[line, column:last])
        ax.set_title(f"{claim}: {says}", loc="left", pad=19, color=style.INK)
        verdict = found[claim]["verdict"]
        look: dict[str, Any] = {"color": COLOURS[verdict], "weight": "bold", "gid": "verdict"}
        at: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points"}
        ax.annotate(verdict, (0, 1), (0, 5), annotation_clip=False, **at, **look)
        rows = pd.DataFrame(found[claim]["rows"])
        if rows.empty:
            style.say(ax, "Nothing was measured.")
        else:
            draw(ax, rows)
    return figure


def _slow_drift(ax: Axes, rows: pd.DataFrame) -> None:
    """V(K)/K^0.9 for B = K^-0.3: its lower bound on every path, runs, and what is claimed."""
    runs, proved = rows.dropna(subset="simulated"), rows[rows["simulated"].isna()]
    simulated = runs["simulated"].astype(float)
    ax.plot(proved["log10_K"], proved["at_least"], color=EXCEEDS, label="at least, on every path")
    ax.plot(runs["log10_K"], simulated, "o", color="C1", label=r"simulated, small $\iota$")
    ax.plot(runs["log10_K"], runs["at_least"], "_", color=EXCEEDS, markersize=11)
    start = rows.loc[rows["admitted"].astype(bool), "log10_K"].min()
    end = 1.05 * rows["log10_K"].max()
    ax.fill_between([start, end], -1, 0, color=ALLOWED, alpha=0.25, linewidth=0, label="claimed")
    ax.axhline(0, color=style.LIMIT, linewidth=0.9)
    ax.set(xlabel="$K$", ylabel="$V(K)/K^{0.9}$", xlim=(0, end), ylim=(-0.35, 1.9))
    ax.xaxis.set_major_formatter("$10^{{{x:g}}}$")
    ax.legend(loc="upper right", fontsize="small")


def _inputs(ax: Axes, rows: pd.DataFrame) -> None:
    """The least B' that meets the assumption, and that with which the regret bound is K, over B."""
    places, least, limit = range(len(rows)), rows["least_over_B"], rows["limit_over_B"]
    colours = np.where(least <= limit, ALLOWED, EXCEEDS)
    ax.hlines(places, 1, least, color=colours, linewidth=2)
    ax.scatter(least, places, s=34, c=colours, zorder=3)
    ax.plot(limit, places, "k|", markersize=10, label="$K^{3/5}/B$: the regret bound is $K$")
    for place, factor, colour in zip(places, least, colours, strict=True):
        ax.text(1.5 * factor, place, f"{factor:.3g}", color=colour, va="center", fontsize="small")
    ax.set_yticks(places, rows["environment"], fontsize="small")
    ax.set(xscale="log", xlim=(0.7, 500 * least.max()), xlabel="least $B'/B$")
    ax.set_ylim(len(rows) + 0.8, -0.6)
    ax.legend(loc="lower right", fontsize="small")


def _losses(ax: Axes, rows: pd.DataFrame) -> None:
    """Lines: proved; marks: simulated."""
    for number, (name, example) in enumerate(rows.groupby("example", sort=False)):
        proved, simulated = (example[example["how"] == how] for how in ("at least", "simulated"))
        look: dict[str, Any] = {"color": f"C{1 + number}", "dashes": style.DASHES[number]}
        label = f"{example['half'].iloc[0]}, {name}"
        ax.plot(proved["log10_K"], proved["share"], label=label, **look)
        ax.plot(simulated["log10_K"], simulated["share"], "os^D"[number], color=look["color"])
    ax.axhspan(0, 1, color=ALLOWED, alpha=0.2, linewidth=0, label="allowed")
    ax.set(yscale="log", xlabel="$K$", ylabel="loss over the bound (marks: simulated)")
    ax.xaxis.set_major_formatter("$10^{{{x:g}}}$")
    ax.legend(loc="upper left", fontsize="small")


def _copied(ax: Axes, rows: pd.DataFrame) -> None:
    """The violation of the example by the premise's coefficient; what is allowed is 0."""
    ax.plot(rows["c"], rows["violation"], "o", color=EXCEEDS, label="violation in the example")
    text = f"claimed at most: {rows['claimed'].max():g}"
    ax.annotate(text, (0.05, 0.05), xycoords="axes fraction")
    ax.set(xscale="log", yscale="log", xlabel="coefficient $c$", ylabel="sum of violations")
    ax.legend(loc="upper right", fontsize="small")


def _powers(ax: Axes, rows: pd.DataFrame) -> None:
    """The power of K in the claimed regret, and in that of any learner, at the counterexample."""
    colours = [EXCEEDS if what.startswith("of") else ALLOWED for what in rows["what"]]
    ax.barh(rows["what"], rows["power"], color=colours, height=0.5)
    ax.invert_yaxis()
    ax.set(xlabel="power of $K$ in $R(K)$", xlim=(0, 1.1))


def _weights(ax: Axes, rows: pd.DataFrame) -> None:
    """The length of w over its bound, by the mass of mu; below 1 the lemma holds."""
    names = {"spectral": r"$\|\mu\|_2$, spread mass", "mass": r"$\|\mu(S)\|$, opposite signs"}
    for mark, (reading, norm) in zip("os", rows.groupby("reading", sort=False), strict=True):
        ax.plot(norm["c"], norm["share"], mark + "-", color=EXCEEDS, label=names[str(reading)])
    ax.axhspan(0, 1, color=ALLOWED, alpha=0.2, linewidth=0, label="allowed")
    ax.set(xscale="log", yscale="log", xlabel="mass $c$", ylabel=r"$|w^\pi| / (2H\sqrt{d})$")
    ax.legend(loc="upper left", fontsize="small")


PANELS: dict[str, dict[str, tuple[str, Callable[[Axes, pd.DataFrame], None]]]] = {
    "theorems": {
        "C12": (r"$V(K) \leq 0$ for $B = K^{-0.3}$, slow drift", _slow_drift),
        "C22": (r"an input $B' \geq B$ with some $\tilde b$", _inputs),
    },
    "bandit": {"C13": (r"Exp3 loses $\tilde O(\cdot)$ against a feasible $\hat B$", _losses)},
    "linear": {
        "C15f": (r"if $R + cV \leq x$, then $V \leq 4x/c$", _copied),
        "C16": (r"Theorem 3, $R = \tilde O(K^{3/4} B^{1/4})$", _powers),
        "C29": (r"$|w^\pi| \leq 2H\sqrt{d}$", _weights),
    },
}
