"""The comparison table: growth with K and B, a wrongly assumed budget, and what Exp3 chose."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from wei2023.report import forms, style, tables
from wei2023.report.results import Results, needs
from wei2023.report.tables import Table
from wei2023.verdicts.comparison import Study, plain
from wei2023.verdicts.tables import learners as learners_of

ASSUMED = {"all": "all constants", "frame": "frame length alone"}
# Of constants: solid, dashed, dotted ...
KINDS = ("tuned at each K", "tuned once", "literal", "defaults", "authors")
# Exponents in K: what no algorithm can beat, Theorem 1's, and where nothing is learnt.
GUIDES = {"2/3": 2 / 3, "0.8": 0.8, "1": 1.0}


@needs("growth")
def table(results: Results) -> Table:
    return tables.comparison(results.table("comparison.csv"))


@needs("growth")
def violation(results: Results) -> Table:
    return tables.violations(results.table("comparison.csv"))


def growth(results: Results) -> Figure:
    """A row for each algorithm: gap, [regret]+, local exponents; gap against B; violation."""
    study, looks = results.study("growth"), _looks(results.study("growth"))
    slopes, violations = (_middle(study, results.table(f"{one}.csv")) for one in DRAWN)
    local = slopes[(slopes["which"] == "local") & (slopes["quantity"] == "gap")]
    names = study.runs["algorithm"].unique()
    size = (15, 0.8 + 2.4 * len(names))
    figure, axes = plt.subplots(len(names), 5, figsize=size, squeeze=False)
    for row, algorithm in zip(axes, names, strict=True):
        runs = study.runs[study.runs["algorithm"] == algorithm]
        middle = runs[runs["budget"] == study.middle]
        _draw_sums(row[0], middle, "gap", "episodes", looks)
        _draw_sums(row[1], middle, "positive_regret", "episodes", looks)
        _draw_local(row[2], local[local["algorithm"] == algorithm], looks)
        _draw_sums(row[3], per_episode(at_widest(runs)), "gap per episode", "B", looks)
        _draw_violation(row[4], violations[violations["algorithm"] == algorithm], looks)
        row[0].set_title(style.title(algorithm), loc="left")
    at = [study.middle] * 3 + ["the largest K with all budgets", study.middle]
    for row in forms.first(axes):
        for ax, place in zip(row, at, strict=True):
            if forms.is_narrow() or ax is not row[0]:  # the title of an algorithm takes its line
                ax.set_title(f"at {place}", fontsize="small", loc="right")
    if forms.is_narrow():
        for row in axes:
            style.key(row[0])
    else:
        style.legend(figure, ncols=5)
    return figure


DRAWN = ("slopes", "violations")


def _middle(study: Study, rows: pd.DataFrame) -> pd.DataFrame:
    return rows[(rows["role"] == "growth") & (rows["budget"] == study.middle)]


def _looks(study: Study) -> dict[str, dict]:
    """Colour and dashes of lines by constants; a learner with a label of its own goes by that."""
    kinds = _kinds(study)
    known = style.look([*dict.fromkeys([*KINDS, *kinds.values()])])
    return {name: {**known[kind], "label": kind} for name, kind in kinds.items()}


def _kinds(study: Study) -> dict[str, str]:
    named = (plain(study, algorithm) for algorithm in study.runs["algorithm"].unique())
    known = {name: study.constants(name) for names in named for name in names}
    return {name: known.get(name, name) for name in study.learners}


def lines(study: Study) -> dict[str, dict]:
    """For all algorithms in one panel: a colour for each, or for a label; dashes by constants."""
    kinds = _kinds(study)
    titles = {name: style.title(spec["algorithm"]) for name, spec in study.learners.items()}
    called = {name: name if kind == name else titles[name] for name, kind in kinds.items()}
    colours, dashes = style.look([*dict.fromkeys(called.values())]), style.look([*KINDS])
    return {
        name: {
            "color": colours[called[name]]["color"],
            "dashes": dashes[study.constants(name)]["dashes"],
            "label": name if kind == name else f"{called[name]}, {kind}",
        }
        for name, kind in kinds.items()
    }


def _draw_sums(ax: Axes, runs: pd.DataFrame, column: str, along: str, looks: dict) -> None:
    """Means over seeds and instances thick, of single instances thin, logarithmic, with guides."""
    keys, name = ["learner", "reading", along], column.replace("_", " ")
    instances = runs.groupby(keys, as_index=False, sort=False)[column].mean()
    if not (instances[column] > 0).any():
        return style.say(ax, f"{name}:\n{'nowhere positive' if len(runs) else 'not run here'}")
    for (learner, _), mine in instances.sort_values(along).groupby(keys[:2], sort=False):
        thin = {**looks[str(learner)], "label": None, "linewidth": 0.5, "alpha": 0.3}
        ax.plot(mine[along], mine[column], **thin)
    style.draw_means(ax, instances, column, along, looks)
    ax.set_yscale("log", nonpositive="mask")
    ax.set_ylabel(name)
    _draw_guides(ax, runs[along], GUIDES if along == "episodes" else {"1/3": 1 / 3})


def _draw_local(ax: Axes, slopes: pd.DataFrame, looks: dict[str, dict]) -> None:
    """Exponents between each K and the next, with intervals; grey: those of the guides."""
    for learner, mine in slopes.groupby("learner", sort=False):
        look, at = looks[str(learner)], np.sqrt(mine["first"] * mine["last"])
        _draw_band(ax, at, mine[["value", "low", "high"]], look)
    for guide in GUIDES.values():
        ax.axhline(guide, color="#999999", linewidth=0.8, zorder=1)
    ax.set_xscale("log", base=2)
    ax.set(xlabel="K", ylabel="local exponent of the gap")


def _draw_violation(ax: Axes, violations: pd.DataFrame, looks: dict[str, dict]) -> None:
    """Against K, with intervals; below 0 the constraint is kept on average."""
    columns = ["violation", "violation_low", "violation_high"]
    for learner, mine in violations.sort_values("episodes").groupby("learner", sort=False):
        _draw_band(ax, mine["episodes"], mine[columns], looks[str(learner)])
    ax.axhline(0, color=style.INK, linewidth=0.8, linestyle="--")
    ax.set_xscale("log", base=2)
    ax.set(xlabel="K", ylabel="violation per episode")


def _draw_band(ax: Axes, x: pd.Series, y: pd.DataFrame, look: dict[str, Any]) -> None:
    """A line with its interval; the columns of y are means and ends."""
    mean, low, high = (y[column] for column in y)
    ax.plot(x, mean, marker="o", markersize=3, **look)
    ax.fill_between(x, low, high, color=look["color"], alpha=0.15, linewidth=0)


def per_episode(runs: pd.DataFrame) -> pd.DataFrame:
    """With the means per episode beside the sums."""
    sums = ("gap", "regret", "violation")
    return runs.assign(**{f"{name} per episode": runs[name] / runs["episodes"] for name in sums})


def at_largest(rows: pd.DataFrame) -> pd.DataFrame:
    """At each learner's largest K."""
    return rows[rows["episodes"] == rows.groupby("learner")["episodes"].transform("max")]


def at_widest(runs: pd.DataFrame) -> pd.DataFrame:
    """At the largest K at which each learner ran at the most budgets."""
    budgets = runs.groupby(["learner", "episodes"])["budget"].transform("nunique")
    return at_largest(runs[budgets == budgets.groupby(runs["learner"]).transform("max")])


def _draw_guides(ax: Axes, along: pd.Series, powers: dict[str, float]) -> None:
    x = np.array(sorted(along[along > 0].unique()), dtype=float)
    anchor = ax.get_ylim()[0] * 1.5
    text: dict[str, Any] = {"fontsize": "x-small", "color": "#777777", "ha": "left", "va": "center"}
    for name, power in powers.items() if len(x) > 1 else ():
        guide = anchor * (x / x[0]) ** power
        ax.plot(x, guide, color="#999999", linewidth=0.8, zorder=1)
        ax.annotate(name, (x[-1], guide[-1]), (3, 0), textcoords="offset points", **text)


def assumed_budget(results: Results) -> Figure:
    """Gap and violation against the multiple of the true budget that a learner assumes."""
    (name,) = results.experiments("assumed_budget")
    made_of = learners_of(results.file("exact.parquet", name))
    specs = pd.DataFrame.from_dict(made_of, orient="index")
    rows = results.table("summary.csv", name)
    rows = rows.join(specs[["assumed_budget", "assumed_for"]], on="learner")
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.2))
    for ax, quantity in zip(axes, ("gap", "violation"), strict=True):
        for use in rows["assumed_for"].unique():
            mine = rows[(rows["assumed_for"] == use) | (rows["assumed_budget"] == 1)]
            mine = mine.drop_duplicates("assumed_budget").sort_values("assumed_budget")
            look = {**style.look([*ASSUMED])[use], "label": ASSUMED[use]}
            columns = [quantity, f"{quantity}_low", f"{quantity}_high"]
            _draw_band(ax, mine["assumed_budget"], mine[columns], look)
        label = {"xlabel": "assumed budget / true budget", "ylabel": f"{quantity} per episode"}
        ax.set(xscale="log", **label)
        ax.axvline(1, color=style.INK, linewidth=0.6, linestyle=":")
    axes[1].axhline(0, color=style.INK, linewidth=0.8, linestyle="--")
    axes[0].set_ylim(0, None)
    style.legend(figure, ncols=2)
    return figure


def arms(results: Results) -> Figure:
    return draw_arms(results, "growth", "epoch")


def draw_arms(results: Results, role: str, unit: str) -> Figure:
    """Of every learner that chose among arms: first instance and seed, middle budget, largest K."""
    study = results.study(role)
    traces = study.renamed(results.tables("traces.parquet", role))
    chosen = traces[(traces["trace"] == "probabilities") & (traces["budget"] == study.middle)]
    first = chosen["reading"] == chosen.groupby("learner")["reading"].transform("first")
    return style.draw_arms(at_largest(chosen[first]), lines(study), unit)
