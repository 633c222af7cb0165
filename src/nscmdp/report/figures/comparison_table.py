"""The comparison table beside what was measured: growth with K and B, a wrongly assumed budget, what Exp3 chose."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pandas.io.formats.style import Styler

from nscmdp.analysis import tables
from nscmdp.report import style
from nscmdp.report.results import Results, needs

ASSUMED = {"all": "all constants", "frame": "frame length alone"}


@needs("growth")
def table(results: Results) -> Styler:
    """The paper's rows, then the others: what is claimed, and what was measured."""
    found = results.table("comparison.csv")
    ends = [column for column in found if column.endswith(("_low", "_high"))]
    shown = found.drop(columns=ends).assign(algorithm=found["algorithm"].map(style.title))
    for column in dict.fromkeys(end.rpartition("_")[0] for end in ends):
        shown[column] = style.intervals(found, column)
    large = [column for column in ("regret_bound", "theorem_from_K") if column in shown]
    at = f"At the budget {results.study('growth').middle}; the violation is that at the largest K"
    form = shown.style.hide(axis="index").format(precision=3, na_rep="")
    return form.format("{:.0e}", subset=large, na_rep="").set_caption(at)


def growth(results: Results) -> Figure:
    """Gap, regret and violation against K at the middle budget, and gap against B at each learner's largest K."""
    study = results.study("growth")
    runs = per_episode(study.runs)
    middle, largest = runs[runs["budget"] == study.middle], at_largest(runs)
    looks = style.lines(runs)
    figure, axes = plt.subplots(1, 4, figsize=(15, 4.8))
    panels = [(middle, "gap", "episodes"), (middle, "regret", "episodes"), (largest, "gap per episode", "B")]
    for ax, (part, column, along) in zip(axes[[0, 1, 3]], panels, strict=True):
        style.draw_means(ax, part, column, along, looks)
        ax.set_yscale("log", nonpositive="mask")
        _draw_guides(ax, part[along], {"0.5": 0.5, "0.8": 0.8} if along == "episodes" else {"1/3": 1 / 3})
        ax.set_ylabel(f"{column}, at the largest K" if along == "B" else f"{column}, summed over K episodes")
    style.draw_means(axes[2], middle, "violation per episode", "episodes", looks)
    axes[2].axhline(0, color=style.INK, linewidth=0.8, linestyle="--")
    style.legend(figure, ncols=3)
    return figure


def per_episode(runs: pd.DataFrame) -> pd.DataFrame:
    """With the means per episode beside the sums."""
    sums = ("gap", "regret", "violation")
    return runs.assign(**{f"{name} per episode": runs[name] / runs["episodes"] for name in sums})


def at_largest(rows: pd.DataFrame) -> pd.DataFrame:
    """At each learner's largest K."""
    return rows[rows["episodes"] == rows.groupby("learner")["episodes"].transform("max")]


def _draw_guides(ax: Axes, along: pd.Series, powers: dict[str, float]) -> None:
    x = np.array(sorted(along[along > 0].unique()), dtype=float)
    anchor = ax.get_ylim()[0] * 1.5
    for name, power in powers.items() if len(x) > 1 else ():
        guide = anchor * (x / x[0]) ** power
        ax.plot(x, guide, color="#999999", linewidth=0.8, zorder=1)
        text: dict[str, Any] = {"fontsize": "x-small", "color": "#777777", "ha": "left", "va": "center"}
        ax.annotate(f"slope\n{name}", (x[-1], guide[-1]), xytext=(5, 0), textcoords="offset points", **text)


def assumed_budget(results: Results) -> Figure:
    """Gap and violation against the multiple of the true budget that a learner assumes; the true one belongs to all."""
    (name,) = results.experiments("assumed_budget")
    specs = pd.DataFrame.from_dict(tables.learners(results.file("exact.parquet", name)), orient="index")
    rows = results.table("summary.csv", name).join(specs[["assumed_budget", "assumed_for"]], on="learner")
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.2))
    for ax, quantity in zip(axes, ("gap", "violation"), strict=True):
        for use in rows["assumed_for"].unique():
            mine = rows[(rows["assumed_for"] == use) | (rows["assumed_budget"] == 1)]
            mine = mine.drop_duplicates("assumed_budget").set_index("assumed_budget").sort_index()
            look = {**style.look([*ASSUMED])[use], "label": ASSUMED[use]}
            ax.plot(mine.index, mine[quantity], marker="o", markersize=3, **look)
            ends = (mine[f"{quantity}_low"], mine[f"{quantity}_high"])
            ax.fill_between(mine.index, *ends, alpha=0.2, linewidth=0, color=look["color"])
        ax.set(xscale="log", xlabel="assumed budget / true budget", ylabel=f"{quantity} per episode")
        ax.axvline(1, color=style.INK, linewidth=0.6, linestyle=":")
    axes[1].axhline(0, color=style.INK, linewidth=0.8, linestyle="--")
    axes[0].set_ylim(0, None)
    style.legend(figure, ncols=2)
    return figure


def arms(results: Results) -> Figure:
    return draw_arms(results, "growth", "epoch")


def draw_arms(results: Results, role: str, unit: str) -> Figure:
    """Of every learner of a role that chose among arms: first seed, middle budget, largest K."""
    study, traces = results.study(role), results.tables("traces.parquet", role)
    chosen = traces[(traces["trace"] == "probabilities") & (traces["budget"] == study.middle)]
    return style.draw_arms(at_largest(chosen), style.lines(study.runs), unit)
