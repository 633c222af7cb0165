"""The ledger of claims, where the constants of Theorem 1 come from, and pictures of what contradicts the text.

A group's figure is drawn in the file of its name, from the rows that its checks wrote (claims/GROUP.json).
"""

import textwrap
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from wei2023.report import forms, style, tables
from wei2023.report.figures.claims.bandit import claims_bandit as claims_bandit
from wei2023.report.figures.claims.data import by_group, claims
from wei2023.report.figures.claims.linear import claims_linear as claims_linear
from wei2023.report.figures.claims.theorems import claims_theorems as claims_theorems
from wei2023.report.results import Results, needs
from wei2023.report.tables import Table

WIDTH = 64  # letters of a label in the figure of looseness


@needs("claims")
def ledger(results: Results) -> Table:
    return tables.claims(claims(results))


def looseness(results: Results) -> Figure:
    """Every inequality of the proof of Theorem 1 that was looked at: how much more it allows than was needed."""
    steps = pd.DataFrame(
        [
            {"group": group, "claim": name, **step}
            for group, found in by_group(results).items()
            for name, finding in found.items()
            for step in finding["inequalities"]
        ]
    )
    figure, ax = plt.subplots(
        figsize=(9.5, (0.9 if forms.is_narrow() else 0.3) * max(len(steps), 4) + 1.2)
    )
    if steps.empty:
        style.say(ax, "No inequality was measured.")
        return figure
    colours = {group: f"C{i}" for i, group in enumerate(steps["group"].unique())}
    steps = steps.astype({"looseness": float}).sort_values(
        "looseness", na_position="last", ignore_index=True
    )
    widest = (
        max(1.0, 1.3 * steps["looseness"].max(skipna=True))
        if steps["looseness"].notna().any()
        else 1.0
    )
    for place, step in enumerate(steps.itertuples()):
        _bar(
            ax, place - 0.3 * forms.is_narrow(), step, colours[step.group], widest
        )  # its label beside it, or above
    labels = [f"{one.claim}  {one.says}" for one in steps.itertuples()]
    if forms.is_narrow():
        ax.set_yticks([])
        for place, label in enumerate(labels):
            ax.annotate(label, (0, place - 0.1), (4, 0), textcoords="offset points", va="bottom")
    else:
        ax.set_yticks(
            range(len(steps)), [textwrap.fill(label, WIDTH) for label in labels], fontsize="x-small"
        )
    ax.axvline(0, color=style.LIMIT, linewidth=0.9)
    ax.set_xscale("symlog", linthresh=1)
    style.plain_ticks(ax, [at for at in (0, 0.5, 1, 2, 5, 10, 20, 50) if at <= widest])
    ax.set(
        xlabel="orders of magnitude between allowed and needed (linear up to 1, then logarithmic)",
        ylim=(-0.6, len(steps) - 0.4),
    )
    ax.set_xlim(right=(400 if forms.is_narrow() else 15) * widest)  # the text beside a bar
    handles = [
        Patch(color=colour, label=group.replace("_", " ")) for group, colour in colours.items()
    ]
    if forms.is_narrow():  # a long list: its key comes first
        style.legend(figure, ncols=2, handles=handles, title="checks of")
    else:
        style.key(ax, handles=handles, title="checks of", loc="lower right", fontsize=None)
    return figure


def _bar(ax: Axes, place: float, step: Any, colour: str, widest: float) -> None:
    """As long as a step is loose; hollow, and to the end, where nothing at all was needed."""
    bounded = pd.notna(step.looseness)
    length = step.looseness if bounded else widest
    height = 0.36 if forms.is_narrow() else 0.7
    ax.barh(place, length, height=height, facecolor=colour if bounded else "none", edgecolor=colour)
    said = (
        f"{_short(step.claimed)} allowed, {_short(step.measured)} needed"
        if bounded
        else "nothing was needed"
    )
    ax.annotate(
        said,
        (max(length, 0), place),
        (4, 0),
        textcoords="offset points",
        va="center",
        fontsize="x-small",
    )


def _short(number: float) -> str:
    return f"{float(f'{number:.2g}'):,g}" if 0.001 <= abs(number) < 1e5 else f"{number:.2g}"
