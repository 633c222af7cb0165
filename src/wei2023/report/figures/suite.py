"""All learners on the suite: who is good where, and how often."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from wei2023.report import style, tables
from wei2023.report.results import Results, needs
from wei2023.report.tables import Table

SIZE = (13, 6.2)
LARGEST = 1.5  # a normalised gap beyond it is drawn at the edge
APART = 0.32  # of a row: how far its dots lie above and below


def suite(results: Results) -> Figure:
    """Left: the share of runs whose gap is at most tau. Right: the mean gap in every environment."""
    ranked = results.table("suite_ranking.csv")
    looks = style.look(list(ranked["learner"]))
    figure, (profiles, places) = plt.subplots(1, 2, figsize=SIZE, width_ratios=(1, 1.2))
    _profiles(profiles, results.table("suite_profile.csv"), looks)
    scores = results.table("suite_scores.csv")
    _places(places, scores[scores["learner"].isin(looks)], looks)
    style.legend(figure, ncols=3)
    return figure


def _profiles(ax: Axes, table: pd.DataFrame, looks: dict[str, dict]) -> None:
    for name, look in looks.items():
        mine = table[table["learner"] == name]
        (line,) = ax.plot(mine["tau"], mine["share"], color=look["color"], label=style.title(name))
        if look["dashes"]:
            line.set_dashes(look["dashes"])
        ax.fill_between(
            mine["tau"], mine["low"], mine["high"], color=look["color"], alpha=0.15, linewidth=0
        )
    ax.set(
        xlabel="tau, in gaps of the uniform policy",
        ylabel="share of runs with a gap of at most tau",
    )
    ax.set(xlim=(0, LARGEST), ylim=(0, 1.02))


def _places(ax: Axes, table: pd.DataFrame, looks: dict[str, dict]) -> None:
    names = list(table["environment"].unique())
    middle = (len(looks) - 1) / 2
    for number, (name, look) in enumerate(looks.items()):
        mine = table[table["learner"] == name]
        rows = np.array([names.index(one) for one in mine["environment"]]) + APART * (
            number - middle
        ) / max(middle, 1)
        gap, low, high = (
            mine[column].clip(upper=LARGEST) for column in ("gap", "gap_low", "gap_high")
        )
        ax.hlines(rows, low, high, color=look["color"], linewidth=1)
        ax.plot(gap, rows, linestyle="", marker="o", markersize=3.5, color=look["color"])
    ax.axvline(1, color=style.LIMIT, linestyle="--", linewidth=0.9)
    ax.set(xlabel="gap, in gaps of the uniform policy (dashed)", xlim=(0, LARGEST * 1.02))
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_yticks(range(len(names)), [name.replace("_", " ") for name in names])


@needs("suite")
def hypotheses(results: Results) -> Table:
    return tables.hypotheses(results.table("suite_hypotheses.csv"))


@needs("suite")
def ranking(results: Results) -> Table:
    return tables.ranking(results.table("suite_ranking.csv"))


@needs("suite")
def stability(results: Results) -> Table:
    return tables.stability(results.table("suite_stability.csv"))
