"""The paper's simulation under some protocols: reward and cost during training, and in numbers."""

import json

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from nscmdp import metrics
from nscmdp.metrics import mean_interval
from wei2023.report import style
from wei2023.report.results import Results, needs
from wei2023.report.tables import Table, interval
from wei2023.runs.parts import LAST
from wei2023.study import layout, protocols
from wei2023.study.protocols import Protocol, Protocols
from wei2023.verdicts import tables
from wei2023.verdicts.protocols import trials


def _study(results: Results) -> Protocols:
    noted = json.loads((results.folder / layout.CONFIG).read_text(encoding="utf-8"))
    return protocols.study_of(noted["protocols"])


def _drawn(study: Protocols) -> list[Protocol]:
    """Those that are marked for the figure; the first where none is."""
    return [one for one in study.run if one.figure] or study.run[:1]


def grid_world(results: Results) -> Figure:
    """The map, and a row of reward and cost for each protocol."""
    study = _study(results)
    drawn, places = _drawn(study), protocols.places(study)
    looks = style.look([learner["algorithm"] for learner in drawn[0].learners])
    figure = plt.figure(figsize=(9.5, 2.3 * (len(drawn) + 1.3)))
    grid = figure.add_gridspec(len(drawn) + 1, 2, height_ratios=[1.3] + [1] * len(drawn))
    for row, protocol in enumerate(drawn, start=1):
        place_of = places[protocol.name]
        experiment = next(iter(place_of.values())).experiment
        if row == 1:
            file = results.file("exact.parquet", experiment)
            env = tables.environment(file, *tables.cases(file)[0])
            assert env.picture is not None, "the role needs the grid world"
            ax = figure.add_subplot(grid[0, :])
            style.draw_map(ax, env.picture)
            size = " x ".join(str(n - 2) for n in env.picture.shape)
            ax.set_title(f"{size} map, H = {env.H}, limit {metrics.cost(env.H, env.rho):g}")
        curves = []
        for place in place_of.values():
            table = results.table("curves.parquet", place.experiment)
            curves.append(table[table["learner"] == place.learner])
        pair = (figure.add_subplot(grid[row, 0]), figure.add_subplot(grid[row, 1]))
        _draw_training(pair, pd.concat(curves), results.table("exact.parquet", experiment), looks)
        for ax in pair:
            ax.set_title(protocol.name, fontsize="small")
            ax.set_xlabel("episode (thousands)" if row == len(drawn) else "")
    style.legend(figure, ncols=5)
    return figure


def _draw_training(
    pair: tuple[Axes, Axes], table: pd.DataFrame, exact: pd.DataFrame, looks: dict[str, dict]
) -> None:
    """Draw reward and cost, each with the mean of the optimum over draws; the limit is dashed."""
    first = exact.iloc[0]
    columns = ["optimal_value", "optimal_utility", "horizon"]
    best = exact.groupby("episode")[columns].mean().reset_index()
    optimal = {
        "reward": best["optimal_value"],
        "cost": metrics.cost(best["horizon"], best["optimal_utility"]),
    }
    seeds = table["reading"] + table["seed"].astype(str)
    table = table.assign(cost=metrics.cost(table["horizon"], table["utility"]), seed=seeds)
    for ax, (quantity, optimum) in zip(pair, optimal.items(), strict=True):
        for algorithm, rows in table.groupby("algorithm", sort=False):
            name = str(algorithm)
            style.draw_curve(ax, rows, quantity, **looks[name], label=style.title(name))
        smooth = optimum.rolling(20, min_periods=1, center=True).mean()
        ax.plot(best["episode"] / 1000, smooth, ":", color=style.INK, label="constrained optimum")
        ax.set(ylim=(0, None), xlim=(0, first["episodes"] / 1000), ylabel=f"{quantity} per episode")
    limit = metrics.cost(first["horizon"], first["rho"])
    pair[1].axhline(limit, color=style.LIMIT, linestyle="--", linewidth=0.9, label="limit")


@needs("protocols")
def numbers(results: Results) -> Table:
    """Shares of the optimum and costs over the last fifth, one row per protocol that is drawn and learner."""
    study = _study(results)
    places, rows = protocols.places(study), []
    for one in _drawn(study):
        for algorithm, place in places[one.name].items():
            runs = [*trials(results.folder, place.experiment)[place.learner].values()]
            share, cost = (
                [getattr(run, name)(after=LAST) for run in runs] for name in ("lam", "mean_cost")
            )
            said = [interval(mean_interval(np.array(values))) for values in (share, cost)]
            rows.append([one.name, style.title(algorithm), *said, f"{runs[0].limit:g}"])
    columns = ["protocol", "learner", "share of the optimum", "cost", "limit"]
    return Table("Shares of the optimum and costs", columns, rows)
