"""Linear CMDPs: how Algorithm 3 and its relatives grow with K and B, and what the bandits chose."""

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from wei2023.report import style
from wei2023.report.figures.comparison_table import (
    at_largest,
    at_widest,
    draw_arms,
    lines,
    per_episode,
)
from wei2023.report.results import Results


def linear(results: Results) -> Figure:
    """Draw gap, regret and violation against K; gap against B; dual and violation in training."""
    study = results.study("linear")
    runs, curves = per_episode(study.runs), results.tables("curves.parquet", "linear")
    looks = lines(study)
    figure, axes = plt.subplots(2, 3, figsize=(14, 7.5))
    middle = runs[runs["budget"] == study.middle]
    for ax, quantity in zip(axes[0], ("gap", "regret", "violation"), strict=True):
        style.draw_means(ax, middle, f"{quantity} per episode", "episodes", looks)
    style.draw_means(axes[1, 0], at_widest(runs), "gap per episode", "B", looks)
    axes[1, 0].set(xlabel="B (tabular)", ylabel="gap per episode, at the largest K", ylim=(0, None))
    # A seed in another instance is another run.
    runs_of_curves = curves.groupby(["reading", "seed"], sort=False).ngroup()
    curves = curves.assign(seed=runs_of_curves, violation=curves["rho"] - curves["utility"])
    curves = curves[curves["budget"] == study.middle]
    for learner, rows in at_largest(curves).groupby("learner", sort=False):
        if rows["dual"].notna().any():
            style.draw_curve(axes[1, 1], rows, "dual", **looks[str(learner)])
        style.draw_curve(axes[1, 2], rows, "violation", **looks[str(learner)])
    axes[1, 1].set(xlabel="episode (thousands)", ylabel="dual variable")
    axes[1, 2].set(xlabel="episode (thousands)", ylabel="realised violation per episode")
    for ax in axes[:, 2]:
        ax.axhline(0, color=style.INK, linewidth=0.8, linestyle="--")
    style.legend(figure, ncols=3)
    return figure


def linear_arms(results: Results) -> Figure:
    return draw_arms(results, "linear", "block")
