"""The comparison table beside what was measured: growth with K and B, a wrongly assumed budget, what Exp3 chose."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from pandas.io.formats.style import Styler

from nscmdp.analysis import tables
from nscmdp.analysis.comparison import Study, plain
from nscmdp.report import forms, style
from nscmdp.report.results import Results, needs

ASSUMED = {"all": "all constants", "frame": "frame length alone"}
KINDS = (
    "tuned at each K",
    "tuned once",
    "literal",
    "defaults",
    "tuned at each K, by regret",
    "authors",
)  # of constants: solid, dashed, dotted ...
GUIDES = {"0.8": 0.8, "1": 1.0}  # exponents in K: Theorem 1's, and that of no learning
BOUNDS = ["theorem_from_K", "regret_bound", "bound_slope_K", "trivial_bound", "why_no_bound"]


@needs("growth")
def table(results: Results) -> Styler:
    """The paper's rows, then the others: what is claimed, and what was measured."""
    found = results.table("comparison.csv")
    shown = _with_intervals(found).drop(columns=BOUNDS, errors="ignore")
    form = shown.style.hide(axis="index").format(precision=3, na_rep="")
    return form.set_caption(
        "Slopes in K at the budget that is named; violations at its largest K, and at the worst budget"
    )


@needs("growth")
def in_force(results: Results) -> Styler:
    """From which K the theorems speak, beside the largest K that ran; and what the explicit bound lacks there."""
    found = results.table("comparison.csv")
    shown = found[found["note"] != "not run"].reindex(
        columns=["algorithm", "setting", "tuned_at", "largest_K", *BOUNDS]
    )
    shown = shown.assign(algorithm=shown["algorithm"].map(style.title))
    form = shown.style.hide(axis="index").format(precision=2, na_rep="")
    form = form.format("{:,.0f}", subset=["largest_K", "trivial_bound"], na_rep="")
    return form.format("{:.0e}", subset=["theorem_from_K", "regret_bound"], na_rep="")


def _with_intervals(found: pd.DataFrame) -> pd.DataFrame:
    """Titles for names, and m [a, b] for a column with others beside it for the ends of its interval."""
    ends = [column for column in found if column.endswith(("_low", "_high"))]
    shown = found.drop(columns=ends).assign(algorithm=found["algorithm"].map(style.title))
    for column in dict.fromkeys(end.rpartition("_")[0] for end in ends):
        form = ".3f" if "violation" in column else ".2f"
        rows = found[[column, f"{column}_low", f"{column}_high"]].to_numpy()
        shown[column] = [style.interval(row, form) for row in rows]
    return shown


def growth(results: Results) -> Figure:
    """A row for each algorithm: gap, regret and local exponents against K, gap against B, violation at every budget."""
    study, looks = results.study("growth"), _looks(results.study("growth"))
    slopes, violations = (_of_growth(results.table(name)) for name in ("slopes.csv", "violations.csv"))
    budgets, names = study.budgets, study.runs["algorithm"].unique()
    size = (11 + 1.6 * len(budgets), 0.8 + 2.4 * len(names))
    widths = [1.25] * 4 + [0.8] * len(budgets)
    figure, axes = plt.subplots(len(names), len(widths), figsize=size, width_ratios=widths, squeeze=False)
    for row, algorithm in zip(axes, names, strict=True):
        runs = study.runs[study.runs["algorithm"] == algorithm]
        middle = runs[runs["budget"] == study.middle]
        _draw_sums(row[0], middle, "gap", "episodes", looks)
        _draw_sums(row[1], middle, "regret", "episodes", looks)
        mine = slopes[(slopes["algorithm"] == algorithm) & (slopes["budget"] == study.middle)]
        _draw_local(row[2], mine[(mine["which"] == "local") & (mine["quantity"] == "gap")], looks)
        _draw_sums(row[3], per_episode(at_widest(runs)), "gap per episode", "B", looks)
        for ax, budget in zip(row[4:], budgets, strict=True):
            here = (violations["algorithm"] == algorithm) & (violations["budget"] == budget)
            _draw_violation(ax, violations[here], looks)
        _share_y(row[4:])
        for ax in forms.first(row):
            ax.set_title(style.title(algorithm), loc="left")
        for ax in forms.first(row[4:]):
            ax.set_ylabel("violation per episode")
    at = [study.middle, study.middle, study.middle, "the largest K with all budgets", *budgets]
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


def _of_growth(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["role"] == "growth"]


def _looks(study: Study) -> dict[str, dict]:
    """Colour and dashes of each learner's lines by its constants; a learner with a label of its own goes by that."""
    kinds = _kinds(study)
    known = style.look([*dict.fromkeys([*KINDS, *kinds.values()])])
    return {name: {**known[kind], "label": kind} for name, kind in kinds.items()}


def _kinds(study: Study) -> dict[str, str]:
    as_they_are = {name for algorithm in study.runs["algorithm"].unique() for name in plain(study, algorithm)}
    return {name: study.constants(name) if name in as_they_are else name for name in study.learners}


def lines(study: Study) -> dict[str, dict]:
    """For all algorithms in one panel: a colour for each, or for a label of its own; dashes by the constants."""
    kinds = _kinds(study)
    called = {name: name if kind == name else _title(study, name) for name, kind in kinds.items()}
    colours, dashes = style.look([*dict.fromkeys(called.values())]), style.look([*KINDS])
    return {
        name: {
            "color": colours[called[name]]["color"],
            "dashes": dashes[study.constants(name)]["dashes"],
            "label": name if kind == name else f"{called[name]}, {kind}",
        }
        for name, kind in kinds.items()
    }


def _title(study: Study, learner: str) -> str:
    return style.title(study.learners[learner]["algorithm"])


def _draw_sums(ax: Axes, runs: pd.DataFrame, column: str, along: str, looks: dict[str, dict]) -> None:
    """Means over seeds and instances thick, of single instances thin, on logarithmic scales, with guides."""
    instances = runs.groupby(["learner", "reading", along], as_index=False, sort=False)[column].mean()
    if not (instances[column] > 0).any():
        return style.say(ax, f"{column}:\n{'nowhere positive' if len(runs) else 'not run here'}")
    for (learner, _), mine in instances.sort_values(along).groupby(["learner", "reading"], sort=False):
        thin = {**looks[str(learner)], "label": None, "linewidth": 0.5, "alpha": 0.5}
        ax.plot(mine[along], mine[column], **thin)
    style.draw_means(ax, instances, column, along, looks)
    ax.set_yscale("log", nonpositive="mask")
    _draw_guides(ax, runs[along], GUIDES if along == "episodes" else {"1/3": 1 / 3})


def _draw_local(ax: Axes, slopes: pd.DataFrame, looks: dict[str, dict]) -> None:
    """Exponents between each K and the next, with intervals; grey: the theorem's, and that of no learning."""
    for learner, mine in slopes.groupby("learner", sort=False):
        at, look = np.sqrt(mine["first"] * mine["last"]), looks[str(learner)]
        ax.plot(at, mine["value"], marker="o", markersize=3, **look)
        ax.fill_between(at, mine["low"], mine["high"], color=look["color"], alpha=0.15, linewidth=0)
    for guide in GUIDES.values():
        ax.axhline(guide, color="#999999", linewidth=0.8, zorder=1)
    ax.set_xscale("log", base=2)
    ax.set(xlabel="K", ylabel="local exponent of the gap")


def _draw_violation(ax: Axes, violations: pd.DataFrame, looks: dict[str, dict]) -> None:
    """Against K, with intervals; below 0 the constraint is kept on average."""
    for learner, mine in violations.sort_values("episodes").groupby("learner", sort=False):
        look = looks[str(learner)]
        ax.plot(mine["episodes"], mine["violation"], marker="o", markersize=2, **look)
        ends = mine["violation_low"], mine["violation_high"]
        ax.fill_between(mine["episodes"], *ends, color=look["color"], alpha=0.15, linewidth=0)
    ax.axhline(0, color=style.INK, linewidth=0.8, linestyle="--")
    ax.set_xscale("log", base=2)
    ax.set_xlabel("K")


def _share_y(axes: NDArray[np.object_]) -> None:
    """One scale, its numbers at the first."""
    for ax in axes[1:]:
        ax.sharey(axes[0])
        ax.tick_params(labelleft=False)
    axes[0].autoscale(axis="y")


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
    for name, power in powers.items() if len(x) > 1 else ():
        guide = anchor * (x / x[0]) ** power
        ax.plot(x, guide, color="#999999", linewidth=0.8, zorder=1)
        text: dict[str, Any] = {"fontsize": "x-small", "color": "#777777", "ha": "left", "va": "center"}
        ax.annotate(name, (x[-1], guide[-1]), xytext=(3, 0), textcoords="offset points", **text)


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
    """Of every learner of a role that chose among arms: first instance and seed, middle budget, largest K."""
    study, traces = results.study(role), results.tables("traces.parquet", role)
    chosen = traces[(traces["trace"] == "probabilities") & (traces["budget"] == study.middle)]
    first = chosen["reading"] == chosen.groupby("learner")["reading"].transform("first")
    return style.draw_arms(at_largest(chosen[first]), lines(study), unit)
