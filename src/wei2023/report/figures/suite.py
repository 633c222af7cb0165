"""All learners on the suite: who is good where, and how often."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from wei2023.report import style, tables
from wei2023.report.results import Results, needs
from wei2023.report.tables import Table

LARGEST = 1.5  # a normalised gap beyond it is drawn at the edge
APART = 0.32  # of a row: how far its dots lie above and below


def suite(results: Results) -> Figure:
    """Draw the share of runs with a gap of at most tau, and the mean gap by environment."""
    looks = style.look(list(results.table("suite_ranking.csv")["learner"]))
    profiles, scores = results.table("suite_profile.csv"), results.table("suite_scores.csv")
    scores = scores[scores["learner"].isin(looks)]
    names = list(scores["environment"].unique())
    middle = (len(looks) - 1) / 2
    figure, (left, right) = plt.subplots(1, 2, figsize=(13, 6.2), width_ratios=(1, 1.2))
    for number, (name, look) in enumerate(looks.items()):
        colour = look["color"]
        rows = profiles[profiles["learner"] == name]
        share = (rows["share"], rows["low"], rows["high"])
        style.draw_band(left, rows["tau"], *share, **look, label=style.title(name))
        rows = scores[scores["learner"] == name]
        columns = ("gap", "gap_low", "gap_high")
        gap, low, high = (rows[column].clip(upper=LARGEST) for column in columns)
        offset = APART * (number - middle) / max(middle, 1)
        y = np.array([names.index(environment) for environment in rows["environment"]]) + offset
        right.hlines(y, low, high, color=colour, linewidth=1)
        right.plot(gap, y, linestyle="", marker="o", markersize=3.5, color=colour)
    left.set(xlabel="tau, in gaps of the uniform policy", xlim=(0, LARGEST), ylim=(0, 1.02))
    left.set_ylabel("share of runs with a gap of at most tau")
    right.axvline(1, color=style.LIMIT, linestyle="--", linewidth=0.9)
    right.set(xlabel="gap, in gaps of the uniform policy (dashed)", xlim=(0, LARGEST * 1.02))
    right.set_ylim(len(names) - 0.5, -0.5)
    right.set_yticks(range(len(names)), [name.replace("_", " ") for name in names])
    style.legend(figure, ncols=3)
    return figure


@needs("suite")
def hypotheses(results: Results) -> Table:
    return tables.hypotheses(results.table("suite_hypotheses.csv"))


@needs("suite")
def ranking(results: Results) -> Table:
    return tables.ranking(results.table("suite_ranking.csv"))


@needs("suite")
def stability(results: Results) -> Table:
    return tables.stability(results.table("suite_stability.csv"))
