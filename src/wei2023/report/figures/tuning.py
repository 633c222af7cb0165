"""How the constants were chosen, and whether the searches were deep enough."""

import json
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from pandas.io.formats.style import Styler

from wei2023.report import style
from wei2023.report.results import Results, needs

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
def saturation(results: Results) -> Styler:
    """Did doubling the effort still gain, and do independent searches end alike?"""
    table = results.table("saturation.csv")
    words = {True: "yes", False: "no"}
    shown = pd.DataFrame(
        {
            "tuning": table["tuning"],
            "algorithm": table["algorithm"].map(style.title),
            "K": table["episodes"],
            "searches": table["searches"],
            "with a feasible choice": table["feasible_searches"],
            "candidates each": table["tried"],
            "last doubling gained": table["gained"],
            "searches end apart by": table["apart"],
            "done": table["done"].map(words),
            "agree": table["agree"].map(words),
        }
    )
    shares = ["last doubling gained", "searches end apart by"]
    return (
        shown.style.hide(axis="index").format("{:.0%}", subset=shares).format("{:,}", subset=["K"])
    )


@needs("tuning")
def choices(results: Results) -> Styler:
    """What was chosen."""
    tuned = results.table("tuned.csv")
    rows = []
    for keys, mine in tuned[tuned["decides"]].groupby(["tuning", "algorithm"], sort=False):
        best = mine[mine["chosen"]].iloc[0]
        said = "yes" if best["feasible"] else "none found"
        said = "only by not learning" if best["only_by_not_learning"] else said
        factors = ", ".join(
            f"{name} {value:.3g}" for name, value in json.loads(best["factors"]).items()
        )
        edges = best["edges"] if isinstance(best["edges"], str) else ""
        row = [
            keys[0],
            style.title(keys[1]),
            said,
            best["loss"],
            best["violation_bound"],
            best["lam"],
        ]
        rows.append([*row, factors, edges])
    columns = ["tuning", "algorithm", "feasible", "loss", "violation, upper bound", "Lam"]
    columns += ["factors", "near an end of their range"]
    small = [{"selector": "td, th", "props": "font-size: 80%; text-align: left"}]
    shown = pd.DataFrame(rows, columns=columns).style.hide(axis="index").format(precision=3)
    return shown.set_table_styles(small)
