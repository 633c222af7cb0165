"""How the constants were chosen, and whether the searches were deep enough."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from wei2023.report import style, tables
from wei2023.report.results import Results, needs
from wei2023.report.tables import Table

COLUMNS = 3


def _panels(results: Results, name: str) -> tuple[Figure, list[tuple[Axes, pd.DataFrame]]]:
    """A panel for each tuning and algorithm, and its rows of a table at the K that decides.

    Only tunings whose searches were repeated have a panel; all where none were.
    """
    table, saturation = results.table(name), results.table("saturation.csv")
    repeated = {*saturation.loc[saturation["searches"] > 1, "tuning"]}
    tunings = results.experiments("tuning")
    tunings = [tuning for tuning in tunings if tuning in repeated] or tunings
    rows = table[table["tuning"].isin(tunings) & table["decides"]]
    groups = list(rows.groupby(["tuning", "algorithm"], sort=False))
    height = -(-len(groups) // COLUMNS)
    figure, axes = plt.subplots(height, COLUMNS, figsize=(12, 3.2 * height + 0.5), squeeze=False)
    for ax in axes.flat[len(groups) :]:
        ax.set_visible(False)
    panels = []
    for ax, ((tuning, algorithm), part) in zip(axes.flat, groups, strict=False):
        ax.set_title(f"{tuning}: {style.title(algorithm)}", fontsize="small")
        panels.append((ax, part))
    return figure, panels


def efforts(results: Results) -> Figure:
    """The loss of the best by the rule so far, on selection seeds, one line per search."""
    figure, panels = _panels(results, "efforts.csv")
    for ax, rows in panels:
        for number, (_, search) in enumerate(rows.groupby("search")):
            colour = f"C{number % 10}"
            ax.plot(search["tried"], search["loss"], color=colour, linewidth=1)
            fill = [colour if feasible else "white" for feasible in search["feasible"]]
            ax.scatter(search["tried"], search["loss"], s=22, c=fill, edgecolor=colour, zorder=3)
        low, top = min(0.0, rows["loss"].min()), max(0.0, rows["loss"].max())
        ax.set(xscale="log", ylim=(1.08 * low, 1.08 * top))
        ax.set(xlabel="candidates tried", ylabel="loss per episode")
        style.plain_ticks(ax, sorted(rows["tried"].unique()), apart=1.6)
    look: dict[str, Any] = {"linestyle": "", "marker": "o", "color": style.INK}
    fills = {"feasible": style.INK, "infeasible": "white"}
    keys = [
        Line2D([], [], markerfacecolor=fill, label=label, **look) for label, fill in fills.items()
    ]
    style.legend(figure, ncols=2, handles=keys)
    return figure


def fronts(results: Results) -> Figure:
    """Draw the violation and loss of every candidate on selection seeds; the choice is a star."""
    keys = ["tuning", "algorithm", "episodes"]
    tuned = results.table("tuned.csv")
    choices_of = tuned[tuned["chosen"]].set_index(keys)
    figure, panels = _panels(results, "candidates.csv")
    for ax, rows in panels:
        for feasible, fill in ((True, "C0"), (False, "none")):
            part = rows[rows["feasible"] == feasible]
            look: dict[str, Any] = {"facecolor": fill, "edgecolor": "C0", "linewidth": 0.8}
            ax.scatter(part["violation"], part["loss"], s=18, **look)
        choice = choices_of.loc[tuple(rows[keys].iloc[0])]
        star: dict[str, Any] = {"marker": "*", "color": "C1", "edgecolor": "black", "zorder": 4}
        ax.scatter(choice["violation"], choice["loss"], s=170, **star)
        ax.axvline(0, color=style.LIMIT, linestyle="--", linewidth=0.9)
        ax.set(xlabel="violation per episode (left: kept)", ylabel="loss per episode")
        ax.set_ylim(0, 1.3 * np.nanquantile(rows["loss"], 0.9))
    return figure


@needs("tuning")
def saturation(results: Results) -> Table:
    return tables.saturation(results.table("saturation.csv"))


@needs("tuning")
def choices(results: Results) -> Table:
    return tables.tuned(results.table("tuned.csv"))
