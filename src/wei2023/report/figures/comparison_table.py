"""The comparison table: growth with K and B, a wrongly assumed budget, and what Exp3 chose."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from wei2023.report import style, tables
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
    study = results.study("growth")
    kinds = _kinds(study)
    known = style.look([*dict.fromkeys([*KINDS, *kinds.values()])])
    looks = {name: {**known[kind], "label": kind} for name, kind in kinds.items()}
    slopes, violations = results.table("slopes.csv"), results.table("violations.csv")
    slopes, violations = (
        rows[(rows["role"] == "growth") & (rows["budget"] == study.middle)]
        for rows in (slopes, violations)
    )
    local = slopes[(slopes["which"] == "local") & (slopes["quantity"] == "gap")]
    local = local.assign(at=np.sqrt(local["first"] * local["last"]))
    local = local.rename(columns={"low": "value_low", "high": "value_high"})
    names = study.runs["algorithm"].unique()
    size = (15, 0.8 + 2.4 * len(names))
    figure, axes = plt.subplots(len(names), 5, figsize=size, squeeze=False)
    for row, algorithm in zip(axes, names, strict=True):
        runs = study.runs[study.runs["algorithm"] == algorithm]
        at_middle = runs[runs["budget"] == study.middle]
        _draw_sums(row[0], at_middle, "gap", "episodes", looks)
        _draw_sums(row[1], at_middle, "positive_regret", "episodes", looks)
        for learner, rows in local[local["algorithm"] == algorithm].groupby("learner", sort=False):
            _draw_points(row[2], rows, "at", "value", looks[str(learner)])
        for guide in GUIDES.values():
            row[2].axhline(guide, color="#999999", linewidth=0.8, zorder=1)
        row[2].set_ylabel("local exponent of the gap")
        _draw_sums(row[3], per_episode(at_widest(runs)), "gap per episode", "B", looks)
        mine = violations[violations["algorithm"] == algorithm].sort_values("episodes")
        for learner, rows in mine.groupby("learner", sort=False):
            _draw_points(row[4], rows, "episodes", "violation", looks[str(learner)])
        row[4].axhline(0, color=style.INK, linewidth=0.8, linestyle="--")
        row[4].set_ylabel("violation per episode")
        for ax in (row[2], row[4]):
            ax.set_xscale("log", base=2)
            ax.set_xlabel("K")
        row[0].set_title(style.title(algorithm), loc="left")
    places = [study.middle, study.middle, "the largest K with all budgets", study.middle]
    for ax, place in zip(axes[0, 1:], places, strict=True):  # the first has an algorithm's title
        ax.set_title(f"at {place}", fontsize="small", loc="right")
    style.legend(figure, ncols=5)
    return figure


def _kinds(study: Study) -> dict[str, str]:
    """The constants of each learner; one with a label of its own goes by that."""
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
    for (learner, _), rows in instances.sort_values(along).groupby(keys[:2], sort=False):
        thin = {**looks[str(learner)], "label": None, "linewidth": 0.5, "alpha": 0.3}
        ax.plot(rows[along], rows[column], **thin)
    style.draw_means(ax, instances, column, along, looks)
    ax.set_yscale("log", nonpositive="mask")
    ax.set_ylabel(name)
    x = np.array(sorted(runs.loc[runs[along] > 0, along].unique()), dtype=float)
    anchor = ax.get_ylim()[0] * 1.5
    text: dict[str, Any] = {"fontsize": "x-small", "color": "#777777", "va": "center"}
    guides = GUIDES if along == "episodes" else {"1/3": 1 / 3}
    for label, power in guides.items() if len(x) > 1 else ():
        guide = anchor * (x / x[0]) ** power
        ax.plot(x, guide, color="#999999", linewidth=0.8, zorder=1)
        ax.annotate(label, (x[-1], guide[-1]), (3, 0), textcoords="offset points", **text)


def _draw_points(ax: Axes, rows: pd.DataFrame, x: str, name: str, look: dict[str, Any]) -> None:
    """Means as points on a line with its interval, whose ends are columns of their own."""
    ends = (rows[name], rows[f"{name}_low"], rows[f"{name}_high"])
    style.draw_band(ax, rows[x], *ends, marker="o", markersize=3, **look)


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


def assumed_budget(results: Results) -> Figure:
    """Gap and violation against the multiple of the true budget that a learner assumes."""
    (name,) = results.experiments("assumed_budget")
    made_of = learners_of(results.file("exact.parquet", name))
    specs = pd.DataFrame.from_dict(made_of, orient="index")[["assumed_budget", "assumed_for"]]
    rows = results.table("summary.csv", name).join(specs, on="learner")
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.2))
    for ax, quantity in zip(axes, ("gap", "violation"), strict=True):
        for use in rows["assumed_for"].unique():
            mine = rows[(rows["assumed_for"] == use) | (rows["assumed_budget"] == 1)]
            mine = mine.drop_duplicates("assumed_budget").sort_values("assumed_budget")
            look = {**style.look([*ASSUMED])[use], "label": ASSUMED[use]}
            _draw_points(ax, mine, "assumed_budget", quantity, look)
        ax.set(xscale="log", xlabel="assumed budget / true budget")
        ax.set_ylabel(f"{quantity} per episode")
        ax.axvline(1, color=style.INK, linewidth=0.6, linestyle=":")
    axes[1].axhline(0, color=style.INK, linewidth=0.8, linestyle="--")
    axes[0].set_ylim(0, None)
    style.legend(figure, ncols=2)
    return figure


def arms(results: Results) -> Figure:
    return draw_arms(results, "growth", "epoch")


def draw_arms(results: Results, role: str, unit: str) -> Figure:
    """What bandits chose: the probabilities of their arms, stacked, for every epoch or block.

    Of every learner that chose: first instance and seed, middle budget, largest K.
    """
    study = results.study(role)
    traces, looks = study.renamed(results.tables("traces.parquet", role)), lines(study)
    traces = traces[(traces["trace"] == "probabilities") & (traces["budget"] == study.middle)]
    first = traces["reading"] == traces.groupby("learner")["reading"].transform("first")
    traces = at_largest(traces[first])
    learners = list(traces["learner"].unique())
    shape = (max(1, -(-len(learners) // 2)), min(2, max(1, len(learners))))
    figure, axes = plt.subplots(*shape, figsize=(5.5 * shape[1], 3 * shape[0]), squeeze=False)
    for ax, learner in zip(axes.flat, learners, strict=False):
        rows = traces[traces["learner"] == learner]
        wide = rows.pivot(index="row", columns="column", values="value")
        heights = np.vstack([wide, wide.tail(1)]).T
        at = np.arange(len(wide) + 1) + 0.5
        colours = plt.get_cmap("cividis")(np.linspace(0, 1, len(heights)))
        labels = [f"arm {arm}" for arm in wide.columns]
        look: dict[str, Any] = {"step": "post", "colors": colours, "rasterized": True}
        ax.stackplot(at, heights, labels=labels, **look)
        ax.set(xlabel=unit, ylabel="probability", xlim=(0.5, len(wide) + 0.5), ylim=(0, 1))
        ax.set_title(looks[learner]["label"], fontsize="small")
        right: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1, 0.5)}
        ax.legend(fontsize="x-small", reverse=True, **right)
    if not learners:
        style.say(axes[0, 0], "No learner chose among arms.")
    for ax in axes.flat[max(1, len(learners)) :]:
        ax.remove()
    return figure
