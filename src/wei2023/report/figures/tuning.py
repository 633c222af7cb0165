"""How the constants were chosen, and whether the searches were deep enough."""

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


def _deciding(results: Results, name: str) -> pd.DataFrame:
    """The rows of a table at the K that decides, of tunings whose searches were repeated; of all where none were."""
    table = results.table(name)
    saturation = results.table("saturation.csv")
    repeated = saturation.loc[saturation["searches"] > 1, "tuning"].unique()
    drawn = results.experiments("tuning")
    names = [name for name in drawn if name in repeated] or drawn
    return table[table["tuning"].isin(names) & table["decides"]]


def _panels(rows: pd.DataFrame) -> tuple[Figure, list[tuple[Axes, str, pd.DataFrame]]]:
    """One panel for each tuning and algorithm."""
    groups = list(rows.groupby(["tuning", "algorithm"], sort=False))
    height = -(-len(groups) // COLUMNS)
    figure, axes = plt.subplots(height, COLUMNS, figsize=(12, 3.2 * height + 0.5), squeeze=False)
    for ax in axes.ravel()[len(groups) :]:
        ax.set_visible(False)
    titled = [(f"{keys[0]}: {style.title(keys[1])}", part) for keys, part in groups]
    return figure, [
        (ax, title, part) for ax, (title, part) in zip(axes.ravel(), titled, strict=False)
    ]


def efforts(results: Results) -> Figure:
    """The loss of the best by the rule so far, on selection seeds, one line per search."""
    figure, panels = _panels(_deciding(results, "efforts.csv"))
    for ax, title, mine in panels:
        for number, (_, one) in enumerate(mine.groupby("search")):
            colour = f"C{number % 10}"
            ax.plot(one["tried"], one["loss"], color=colour, linewidth=1)
            fill = [colour if feasible else "white" for feasible in one["feasible"]]
            ax.scatter(one["tried"], one["loss"], s=22, c=fill, edgecolor=colour, zorder=3)
        low, top = min(0.0, mine["loss"].min()), 1.08 * mine["loss"].max()
        ax.set(
            xscale="log",
            ylim=(1.08 * low, max(top, 0.0)),
            xlabel="candidates tried",
            ylabel="loss per episode",
        )
        ax.set_title(title, fontsize="small")
        style.plain_ticks(ax, sorted(mine["tried"].unique()), apart=1.6)
    fills = {"feasible": style.INK, "infeasible": "white"}
    keys = [
        Line2D([], [], linestyle="", marker="o", color=style.INK, markerfacecolor=fill, label=label)
        for label, fill in fills.items()
    ]
    style.legend(figure, ncols=2, handles=keys)
    return figure


def fronts(results: Results) -> Figure:
    """Violation against loss of every candidate that was scored on the selection seeds; the choice is a star."""
    scored, tuned = _deciding(results, "candidates.csv"), results.table("tuned.csv")
    chosen = tuned[tuned["chosen"]].set_index(["tuning", "algorithm", "episodes"])
    figure, panels = _panels(scored)
    for ax, title, mine in panels:
        feasible = mine["feasible"]
        for part, fill in ((mine[feasible], "C0"), (mine[~feasible], "none")):
            ax.scatter(
                part["violation"], part["loss"], s=18, facecolor=fill, edgecolor="C0", linewidth=0.8
            )
        star = chosen.loc[tuple(mine[["tuning", "algorithm", "episodes"]].iloc[0])]
        ax.scatter(
            star["violation"],
            star["loss"],
            s=170,
            marker="*",
            color="C1",
            edgecolor="black",
            zorder=4,
        )
        ax.axvline(0, color=style.LIMIT, linestyle="--", linewidth=0.9)
        top = np.nanquantile(mine["loss"], 0.9) * 1.3
        ax.set(
            xlabel="violation per episode (left: kept)", ylabel="loss per episode", ylim=(0, top)
        )
        ax.set_title(title, fontsize="small")
    return figure


@needs("tuning")
def saturation(results: Results) -> Table:
    return tables.saturation(results.table("saturation.csv"))


@needs("tuning")
def choices(results: Results) -> Table:
    return tables.tuned(results.table("tuned.csv"))
