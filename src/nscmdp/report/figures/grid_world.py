"""The paper's simulation: reward and cost during training, and in numbers."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pandas.io.formats.style import Styler

from nscmdp.analysis import tables
from nscmdp.report import forms, style
from nscmdp.report.results import Results, first_case, needs


def grid_world(results: Results) -> Figure:
    """Of each experiment the map, and a row of reward and cost for each choice of constants."""
    experiments = results.experiments("grid_world")
    curves = {name: first_case(results.table("curves.parquet", name)) for name in experiments}
    listed = pd.concat(curves.values())
    settings, looks = list(listed["setting"].unique()), style.look(list(listed["algorithm"].unique()))
    rows, columns = 1 + len(settings), 2 * len(experiments)
    figure = plt.figure(figsize=(2.8 * columns, 2.3 * rows))
    grid = figure.add_gridspec(rows, columns, height_ratios=[1.25] + [1] * len(settings))
    for left, (name, table) in zip(range(0, columns, 2), curves.items(), strict=True):
        best = first_case(results.table("exact.parquet", name)).drop_duplicates("episode").sort_values("episode")
        _draw_environment(figure.add_subplot(grid[0, left : left + 2]), results, name, table.iloc[0])
        for row, setting in enumerate(settings, start=1):
            pair = (figure.add_subplot(grid[row, left]), figure.add_subplot(grid[row, left + 1]))
            _draw_training(pair, table[table["setting"] == setting], best, looks)
            for ax, title in zip(pair, ("(b) average reward", "(c) average cost"), strict=True):
                if forms.is_narrow():
                    ax.set(title=f"{title}, {setting}", xlabel="episode (thousands)")
                else:
                    ax.set_title(title if row == 1 else "")
                    ax.set_xlabel("episode (thousands)" if row == len(settings) else "")
            if left == 0 and not forms.is_narrow():
                pair[0].set_ylabel(f"{setting}\nreward per episode")
    style.legend(figure, ncols=max(2, columns + 1))
    return figure


def _draw_environment(ax: Axes, results: Results, name: str, first: pd.Series) -> None:
    env = tables.environment(results.file("exact.parquet", name), *first[["reading", "budget", "episodes"]])
    assert env.picture is not None, "the role needs the grid world"
    style.draw_map(ax, env.picture)
    case = [f"H = {env.H}", f"limit {env.H - env.rho:g}", f"K = {env.episodes:,}", f"B = {first['B']:.2f}"]
    case += [first[key] for key in ("reading", "budget") if first[key] != "default"]
    ax.set_title(f"(a) {' x '.join(str(n - 2) for n in env.picture.shape)} map: {', '.join(case)}")


def _draw_training(pair: tuple[Axes, Axes], table: pd.DataFrame, best: pd.DataFrame, looks: dict[str, dict]) -> None:
    """Reward and cost, each beside the optimum of its episode; the limit is dashed."""
    first = best.iloc[0]
    table = table.assign(cost=table["horizon"] - table["utility"])
    optimal = {"reward": best["optimal_value"], "cost": best["horizon"] - best["optimal_utility"]}
    for ax, (quantity, optimum) in zip(pair, optimal.items(), strict=True):
        for algorithm, mine in table.groupby("algorithm", sort=False):
            style.draw_curve(ax, mine, quantity, **looks[str(algorithm)], label=style.title(str(algorithm)))
        ax.plot(best["episode"] / 1000, optimum, ":", color=style.INK, label="constrained optimum")
        ax.set(ylim=(0, None), xlim=(0, first["episodes"] / 1000), ylabel=f"{quantity} per episode")
    pair[1].axhline(first["horizon"] - first["rho"], color=style.LIMIT, linestyle="--", linewidth=0.9, label="limit")


@needs("grid_world")
def numbers(results: Results) -> Styler:
    """Exact means over the last fifth, one row per experiment, case and learner."""
    rows = results.tables("summary.csv", "grid_world")
    for cost, utility in (("", ""), ("_low", "_high"), ("_high", "_low")):
        rows[f"last_cost{cost}"] = rows["horizon"] - rows[f"last_utility{utility}"]
    cases = [key for key in ("reading", "budget", "episodes") if rows[key].nunique() > 1]
    shown = rows[["experiment", *cases, "setting"]].rename(columns={"episodes": "K", "setting": "constants"})
    shown = shown.assign(learner=rows["algorithm"].map(style.title), limit=rows["horizon"] - rows["rho"])
    titles = {"value": "reward", "cost": "cost", "regret": "regret", "gap": "Lagrangian gap"}
    shown = shown.assign(**{text: style.intervals(rows, f"last_{key}") for key, text in titles.items()})
    return shown.style.hide(axis="index").format({"limit": "{:g}"})
