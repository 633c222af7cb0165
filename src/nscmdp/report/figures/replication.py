"""Does the paper's simulation replicate, and why: verdicts, tuning, crossings and controls, multiples of factors."""

import json
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import Markdown
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import SubplotSpec
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from pandas.io.formats.style import Styler

from nscmdp.analysis import replication
from nscmdp.analysis.claims.simulation import CASE, FAILS, FORGIVING, HOLDS, MIXED, VOID, WHOLE
from nscmdp.analysis.claims.simulation.alternatives import KINDS
from nscmdp.analysis.replication import CROSSED, Control
from nscmdp.analysis.statistics import mean_interval
from nscmdp.report import forms, style
from nscmdp.report.figures.best_case import best_case as best_case
from nscmdp.report.figures.best_case import best_case_answer as best_case_answer
from nscmdp.report.figures.best_case import best_case_constants as best_case_constants
from nscmdp.report.figures.best_case import best_case_parts as best_case_parts
from nscmdp.report.figures.best_case import best_case_regions as best_case_regions
from nscmdp.report.results import Results, needs
from nscmdp.study import layout

COLOURS = {HOLDS: "#2f7fb8", MIXED: "#f4e3a3", FAILS: "#dd7f2b", VOID: "#e4e4e4"}
WORDS = {HOLDS: "yes", MIXED: "mixed", FAILS: "no", VOID: "void"}
WHOLES = {WHOLE: "all of it", FORGIVING: "all of it, dips forgiven"}
ABREAST = 8  # choices of the tuning side by side in a narrow figure
RESETS = {"full": "#2f7fb8", "bump": "#dd7f2b"}


def _c20(results: Results) -> dict[str, Any]:
    return json.loads((results.folder / layout.SIMULATION).read_text(encoding="utf-8"))


def _wide(rows: pd.DataFrame, index: list[str], columns: str, values: str = "text") -> pd.DataFrame:
    """One column for each value of ``columns``; everything in the order in which it came."""
    wide = rows.pivot(index=index, columns=columns, values=values).rename_axis(columns=None)
    return wide.loc[pd.MultiIndex.from_frame(rows[index].drop_duplicates()), rows[columns].unique()].fillna("")


def claims(results: Results) -> Figure:
    """Readings down, constants and parts across: colour is the verdict, a number the seeds that agree."""
    c20 = _c20(results)
    rows, says = replication.verdicts(c20), c20["parts"] | WHOLES
    if forms.is_narrow():
        settings = [str(setting) for setting in rows["setting"].unique()]
        blocks = [(str(place), mine, settings) for place, mine in rows.groupby("place", sort=False)]
        figure = _blocks(blocks, "setting", says)
    else:
        figure = _grid(rows, says)
    counts = "/".join(f"{number:.0f}" for number in sorted(rows["seeds"].dropna().unique()))
    notes = (f"number: seeds of {counts} that agree", "†: has not learnt", "‡: keeps the limit by not learning")
    style.legend(figure, ncols=3, handlelength=1.2, handles=[*_keys(), *(Patch(alpha=0, label=note) for note in notes)])
    return figure


def _grid(rows: pd.DataFrame, says: dict[str, str]) -> Figure:
    """Readings down, by map; constants and parts across."""
    down: dict[str, float] = {}
    ends: list[tuple[str, float, float]] = []
    for gaps, (_, mapped) in enumerate(rows.drop_duplicates("place").groupby("map", sort=False)):
        down |= {place: len(down) + i + 0.3 * gaps for i, place in enumerate(mapped["place"])}
    across: dict[tuple[str, str], float] = {}  # where a setting's parts stand: those that it was judged by
    for gaps, (setting, mine) in enumerate(rows.groupby("setting", sort=False)):
        judged = [part for part in says if part in {*mine["part"]}]
        first = len(across) + 0.4 * gaps
        across |= {(str(setting), part): first + i for i, part in enumerate(judged)}
        ends.append((str(setting), first, first + len(judged)))
    figure, ax = plt.subplots(figsize=(3.6 + 0.47 * len(across), 3.3 + 0.33 * len(down)))
    for row in rows.to_dict("records"):
        _draw_verdict(ax, across[row["setting"], row["part"]], down[row["place"]], row)
    for setting, first, last in ends:
        ax.text((first + last) / 2, -0.25, setting, ha="center", va="bottom", weight="bold")
    names = [says[part] if part in WHOLES else f"{part[:4]}: {says[part]}" for _, part in across]
    ax.set_xticks([at + 0.5 for at in across.values()], names, rotation=90)
    ax.set_yticks([y + 0.5 for y in down.values()], list(down))
    ax.set(xlim=(0, max(across.values()) + 1), ylim=(max(down.values()) + 1, 0))
    ax.tick_params(length=0, labelsize="small")
    ax.spines[:].set_visible(False)
    return figure


def _blocks(blocks: list[tuple[str, pd.DataFrame, list[str]]], column: str, says: dict[str, str]) -> Figure:
    """One below the other, each with a title, its rows and the values of a column across; parts down."""
    size = (3.2 + 0.42 * max(len(across) for _, _, across in blocks), 0.8 + (0.3 * len(says) + 1.2) * len(blocks))
    figure, axes = plt.subplots(len(blocks), 1, figsize=size, squeeze=False)
    for ax, (title, rows, across) in zip(axes[:, 0], blocks, strict=True):
        for row in rows[rows[column].isin(across)].to_dict("records"):
            _draw_verdict(ax, across.index(row[column]), [*says].index(row["part"]), row)
        ax.set_xticks(np.arange(len(across)) + 0.5, across, rotation=0 if forms.is_narrow() else 90)
        ax.set_yticks(np.arange(len(says)) + 0.5, says.values())
        ax.set(xlim=(0, len(across)), ylim=(len(says), 0))
        ax.set_title(title)
        ax.tick_params(length=0, labelsize="small")
        ax.spines[:].set_visible(False)
    return figure


def _keys() -> list[Patch]:
    return [Patch(**_box(verdict), label=verdict) for verdict in COLOURS]


def _draw_verdict(ax: Axes, x: float, y: float, row: dict[str, Any]) -> None:
    verdict, whole = row["verdict"], row["part"] in WHOLES
    text = WORDS[verdict] if whole else f"{row['agree']:.0f}{_marks(row)}"
    ink, weight = "white" if verdict == HOLDS else style.INK, "bold" if whole else "normal"
    ax.add_patch(Rectangle((x, y), 1, 1, **_box(verdict)))
    ax.text(x + 0.5, y + 0.5, text, ha="center", va="center", color=ink, fontsize="small", weight=weight)


def _box(verdict: str) -> dict[str, Any]:
    hatch = "////" if verdict == VOID else None
    return {"facecolor": COLOURS[verdict], "edgecolor": "white", "hatch": hatch, "linewidth": 1}


def _marks(row: dict[str, Any]) -> str:
    return "†" * bool(row["without_learning"]) + "‡" * bool(row["kept_without_learning"])


def thresholds(results: Results) -> Figure:
    """Maps down, thresholds across: in how many cells each part holds as one threshold moves."""
    c20 = _c20(results)
    rows, says = replication.over_thresholds(c20), c20["parts"] | WHOLES
    maps, names = rows["map"].unique(), [name for name in c20["thresholds"] if (rows["threshold"] == name).any()]
    if rows.empty:
        return _nothing("No cell can be judged.")
    looks = style.look([*says])
    shape = (len(maps), len(names))
    figure, axes = plt.subplots(*shape, figsize=(2.9 * shape[1], 2.6 * shape[0] + 1), squeeze=False, sharex="col")
    for (i, j), ax in np.ndenumerate(axes):
        here = rows[(rows["map"] == maps[i]) & (rows["threshold"] == names[j])]
        for number, (part, mine) in enumerate(here.groupby("part", sort=False)):
            apart = 0.06 * (number - 3)  # lines of equal height stay visible
            ax.plot(mine["value"], mine["holds"] + apart, label=says[part], marker="o", markersize=3, **looks[part])
        default = c20["thresholds"][names[j]]["default"]
        ax.axvline(default, color=style.LIMIT, linestyle="--", linewidth=0.9, label="default")
        ax.set_ylim(-0.4, rows.loc[rows["map"] == maps[i], "of"].max() + 0.4)
        ax.yaxis.get_major_locator().set_params(integer=True)
    for ax, name in ((ax, name) for row in forms.last(axes) for ax, name in zip(row, names, strict=True)):
        ax.set_xlabel(f"{name}:\n{c20['thresholds'][name]['says']}", fontsize="small")
    for ax, name in ((ax, name) for column in forms.first(axes.T) for ax, name in zip(column, maps, strict=True)):
        ax.set_ylabel(f"{name}\ncells that hold")
    style.legend(figure, ncols=3)
    return figure


def _nothing(text: str) -> Figure:
    figure, ax = plt.subplots(figsize=(6, 1.5))
    style.say(ax, text)
    return figure


@needs("grid_world")
def answer(results: Results) -> Markdown:
    """On the claim as a whole."""
    c20 = _c20(results)
    return Markdown(
        f"**The claim as a whole holds in {c20['holds_in']} of the {c20['judged']} combinations of constants and "
        f"reading in which it can be judged,** and in {c20['forgiving']['holds_in']} where the dip after a restart is "
        f"forgiven; on the mean of the first trials in {c20['mean_of_trials']['holds_in']} and "
        f"{c20['forgiving_mean_of_trials']['holds_in']}. In {c20['unlearnt']} more the printed constants learn "
        f"nothing, and {c20['void'] + len(c20['void_readings'])} are void, for the limit does not bind there."
    )


@needs("grid_world")
def classes(results: Results) -> Styler:
    """What the verdicts on each part come to, on each map, and what they change with."""
    rows = pd.DataFrame(_c20(results)["classes"])
    shown = rows.assign(moves=rows["moves_with"].map(", ".join))
    columns = {"map": "map", "says": "part", "class": "class", "why": "why", "moves": "changes with"}
    return _small(shown[[*columns]].rename(columns=columns).style.hide(axis="index"))


@needs("grid_world")
def tally(results: Results) -> Styler:
    """In how many readings each part holds, by choice of constants: by seed, and on the mean of the first trials."""
    c20 = _c20(results)
    rows, says = replication.verdicts(c20), c20["parts"] | WHOLES
    by = {"by seed": "verdict", "mean of trials": "mean_of_trials"}
    counts = pd.concat({name: replication.tally(rows, column) for name, column in by.items()}, axis=1)
    counts.index = pd.Index([says[part] for part in counts.index])
    return counts.rename_axis(index=None, columns=(None, None)).style


@needs("grid_world")
def whole_ranges(results: Results) -> Styler:
    """How many verdicts are the same over the whole range of every threshold."""
    c20 = _c20(results)
    rows = replication.whole_ranges(c20)
    return rows.assign(part=rows["part"].map(c20["parts"] | WHOLES)).style.hide(axis="index")


@needs("grid_world")
def verdicts(results: Results) -> Styler:
    """Every part in every reading: verdict, seeds that agree, and the interval of their share."""
    rows = replication.verdicts(_c20(results))
    cells = rows[~rows["part"].isin(WHOLES)]
    text = [
        f"{row['says']}, {row['agree']:.0f}/{row['seeds']:.0f} [{row['low']:.2f}, {row['high']:.2f}]{_marks(row)}"
        + (f"; the unconstrained optimum costs {row['unconstrained_cost']:.2f}" if _has_cost(row) else "")
        for row in cells.to_dict("records")
    ]
    wide = _wide(cells.assign(text=text), ["place", "setting"], "part")
    return _small(wide.rename_axis(index=["reading", "setting"]).style)


def _has_cost(row: dict[str, Any]) -> bool:
    return row["verdict"] == HOLDS and pd.notna(row.get("unconstrained_cost"))


def _small(table: Styler) -> Styler:
    return table.set_table_styles([{"selector": "td, th", "props": "font-size: 80%; text-align: left"}])


def alternatives(results: Results) -> Figure:
    """Of each map the parts down and the choices of the tuning across: colours and numbers as in the other grid."""
    c20 = _c20(results)
    rows, says = replication.alternatives(c20), c20["parts"] | WHOLES
    across, blocks = list(rows["called"].unique()), []
    for (_, reading, budget, K, name), mine in rows.groupby([*CASE, "map"], sort=False):
        title = ", ".join([name, *(text for text in (reading, budget) if text != "default"), f"K = {K:,}"])
        if forms.is_narrow():
            run = [called for called in across if called in {*mine["called"]}]
            blocks += [(title, mine, [*some]) for some in np.array_split(run, -(-len(run) // ABREAST))]
        else:
            blocks.append((title, mine, across))
    figure = _blocks(blocks, "called", says)
    style.legend(figure, ncols=4, handlelength=1.2, handles=_keys())
    return figure


@needs("alternatives")
def dependence(results: Results) -> Styler:
    """The verdicts on tuned learners that another search, finalist, rule or bound on frames changes."""
    c20 = _c20(results)
    rows = pd.DataFrame(c20["depends"]).assign(part=lambda rows: rows["part"].map(c20["parts"] | WHOLES))
    words = {None: "-", False: "no", True: "yes"}
    shown = rows[["map", "part", "verdict"]].assign(
        **{kind: [words[one] for one in rows[kind].astype(object).where(rows[kind].notna(), None)] for kind in KINDS}
    )
    total = [f"{count['differ']} of {count['of']}" for count in c20["depends_counts"].values()]
    shown.loc[len(shown)] = ["", "verdicts that differ", "", *total]
    return _small(shown.rename(columns=KINDS).style.hide(axis="index"))


def _controls(results: Results, role: str) -> list[Control]:
    return [replication.control(results.file("exact.parquet", name)) for name in results.experiments(role)]


def _crossed(studies: list[Control]) -> dict[str, tuple[Control, pd.DataFrame]]:
    """All full crossings; those of an experiment that has several are named with their setting."""
    found = {}
    for study in studies:
        crossings = replication.crossings(study.runs)
        for setting, runs in crossings.items():
            found[study.name if len(crossings) == 1 else f"{study.name}, {setting}"] = (study, runs)
    return found


def _beside(studies: list[Control]) -> dict[str, tuple[Control, pd.DataFrame]]:
    """Every learner beside the crossings, where there is one besides Algorithm 1."""
    found = {}
    for study in studies:
        runs = replication.contrasts(study.runs)
        if runs["learner"].nunique() > 1 or not replication.crossings(study.runs):
            for label, mine in runs.groupby("label", sort=False):
                found[f"{study.name}: {label}"] = (study, mine)
    return found


def causes(results: Results) -> Figure:
    """Above: every choice that is crossed, on reward and on cost. Below: learners from which one thing is taken."""
    studies = _controls(results, "controls")
    crossed, beside = _crossed(studies), _beside(studies)
    parts = [(_draw_crossed, crossed, 3.3 * len(crossed)), (_draw_beside, beside, 0.35 * len(beside) + 0.9)]
    parts = [part for part in parts if part[1]]
    heights = [height for _, _, height in parts]
    figure = plt.figure(figsize=(12, sum(heights)))
    grid = figure.add_gridspec(len(parts), 1, height_ratios=heights)
    for row, (draw, found, _) in enumerate(parts):
        draw(figure, grid[row], found)
    return figure


def _draw_crossed(figure: Figure, place: SubplotSpec, crossed: dict[str, tuple[Control, pd.DataFrame]]) -> None:
    grid = place.subgridspec(len(crossed), 2)
    axes = [(figure.add_subplot(grid[row, 0]), figure.add_subplot(grid[row, 1])) for row in range(len(crossed))]
    for (reward, cost), (name, (study, runs)) in zip(axes, crossed.items(), strict=True):
        _draw_crossing(reward, runs, "reward")
        _draw_crossing(cost, runs, "cost")
        reward.axhline(study.optimum, color=style.INK, linestyle=":")
        cost.axhline(study.limit, color=style.LIMIT, linestyle="--", linewidth=0.9)
        for ax in forms.first(np.array([reward, cost])):
            ax.set_title(name, loc="left", pad=18, weight="bold")
    keys = [Line2D([], [], color=colour, marker="o", label=f"reset: {name}") for name, colour in RESETS.items()]
    style.legend(figure, ncols=len(keys), handles=keys)


def _draw_crossing(ax: Axes, crossed: pd.DataFrame, quantity: str) -> None:
    """For every choice, lines between runs that differ in it alone; in black the mean, with an interval over seeds."""
    for place, (factor, levels) in enumerate(CROSSED.items()):
        x, rest = [2.2 * place, 2.2 * place + 1], [name for name in CROSSED if name != factor]
        ax.text(x[0] + 0.5, 1.01, factor, transform=ax.get_xaxis_transform(), ha="center", weight="bold")
        pairs = crossed.groupby([*rest, factor])[quantity].mean().unstack()[list(levels)]
        for keys, ends in pairs.iterrows():
            reset = dict(zip(rest, keys, strict=True)).get("reset", "")
            ax.plot(x, ends, "o-", color=RESETS.get(reset, "#999999"), linewidth=0.8, markersize=3, alpha=0.75)
        by_seed = crossed.groupby(["seed", factor])[quantity].mean().unstack()[list(levels)]
        mean, low, high = mean_interval(by_seed.to_numpy())
        ax.errorbar(x, mean, [mean - low, high - mean], color="black", linewidth=1.8, capsize=3, zorder=4)
    ticks = {2.2 * i + j: level for i, levels in enumerate(CROSSED.values()) for j, level in enumerate(levels)}
    ax.set_xticks([*ticks], [*ticks.values()], fontsize="small")
    ax.set_ylabel(f"{quantity} per episode")


def _draw_beside(figure: Figure, place: SubplotSpec, beside: dict[str, tuple[Control, pd.DataFrame]]) -> None:
    grid = place.subgridspec(1, 2)
    reward = figure.add_subplot(grid[0])
    cost = figure.add_subplot(grid[1], sharey=reward)
    cost.tick_params(labelleft=False)
    for y, (study, runs) in enumerate(beside.values()):
        for ax, quantity, line in ((reward, "reward", study.optimum), (cost, "cost", study.limit)):
            mean, low, high = mean_interval(runs[quantity].to_numpy())
            ax.errorbar(mean, y, xerr=[[mean - low], [high - mean]], fmt="o", color="black", capsize=3)
            ax.plot(line, y, "|", color="#dd7f2b", markersize=16, markeredgewidth=2)
    reward.set(xlabel="reward per episode (bar: the optimum)", ylim=(len(beside) - 0.5, -0.5))
    reward.set_yticks(range(len(beside)), [*beside])
    cost.set_xlabel("cost per episode (bar: the limit)")


@needs("controls")
def effects(results: Results) -> Styler | Markdown:
    """What Triple-Q's choice changes; in bold the choice that matters most."""
    found = {name: replication.effects(runs) for name, (_, runs) in _crossed(_controls(results, "controls")).items()}
    if not found:
        return Markdown("No experiment crosses all choices of Algorithm 1 with those of Triple-Q.")
    rows = pd.concat(found, names=["experiment"]).reset_index("experiment")
    rows["text"] = [style.interval(row, "+.2f") for row in rows[["mean", "low", "high"]].to_numpy()]
    text, mean = (_wide(rows, ["experiment", "factor"], "quantity", values) for values in ("text", "mean"))
    largest = mean.abs().groupby("experiment").transform("max") == mean.abs()
    return text.style.apply(lambda _: largest.replace({True: "font-weight: bold", False: ""}), axis=None)


@needs("controls")
def contrasts(results: Results) -> Styler | Markdown:
    """The learners beside the crossings."""
    rows = []
    for name, (study, runs) in _beside(_controls(results, "controls")).items():
        reward, cost = (style.interval(mean_interval(runs[key].to_numpy())) for key in ("reward", "cost"))
        rows.append([name, reward, study.optimum, cost, study.limit])
    if not rows:
        return Markdown("No experiment has a learner beside the crossing.")
    table = pd.DataFrame(rows, columns=["learner", "reward", "optimum", "cost", "limit"])
    return table.style.hide(axis="index").format(precision=2)


def _sweeps(results: Results) -> dict[str, tuple[Control, pd.DataFrame]]:
    """Every experiment, and its runs with their multiples."""
    return {study.name: (study, replication.multiples(study.runs)) for study in _controls(results, "sensitivity")}


def sensitivity(results: Results) -> Figure:
    """Of each experiment reward and cost against the multiple of one factor, and the gap against those of two."""
    sweeps = _sweeps(results)
    looks = style.look(sorted({factor for _, times in sweeps.values() for factor in replication.factors(times)}))
    height = len(sweeps)
    figure, axes = plt.subplots(height, 3, figsize=(14, 4.2 * height), squeeze=False, width_ratios=[1, 1, 1.1])
    for (reward, cost, gap), (name, (study, times)) in zip(axes, sweeps.items(), strict=True):
        _draw_multiples(reward, times, "reward", looks)
        reward.axhline(study.optimum, color=style.INK, linestyle=":", linewidth=0.9, label="optimum")
        for ax in forms.first(np.array([reward, cost])):
            ax.set_title(name)
        _draw_multiples(cost, times, "cost", looks)
        cost.axhline(study.limit, color=style.LIMIT, linestyle="--", linewidth=0.9, label="limit")
        _draw_pair(gap, times, study.limit)
    style.legend(figure, ncols=8)
    return figure


def _draw_multiples(ax: Axes, times: pd.DataFrame, quantity: str, looks: dict[str, dict]) -> None:
    ticks: set[float] = set()
    for factor in replication.factors(times):
        mean = replication.only(times, [factor]).groupby(factor)[quantity].mean()
        ticks |= {*mean.index}
        if len(mean):
            ax.plot(mean.index, mean, marker="o", markersize=4, label=factor, **looks[factor])
    ax.set(xscale="log", xlabel="multiple of the chosen factor, alone", ylabel=f"{quantity} per episode")
    style.plain_ticks(ax, sorted(ticks))


def _draw_pair(ax: Axes, times: pd.DataFrame, limit: float) -> None:
    """The gap at every pair of multiples; hatched over the limit, framed where both are as chosen."""
    pair = replication.pair(times)
    if not pair:
        return style.say(ax, "No run changes two factors together.")
    both = replication.only(times, pair).groupby(pair)[["gap", "cost"]].mean().unstack()
    gap, cost = both["gap"], both["cost"]
    mesh = ax.pcolormesh(gap, cmap="cividis_r", edgecolors="white")
    for (i, j), value in np.ndenumerate(gap.to_numpy()):
        if cost.iat[i, j] > limit:
            ax.add_patch(Rectangle((j, i), 1, 1, fill=False, hatch="//", edgecolor="#999999", linewidth=0))
        if gap.index[i] == gap.columns[j] == 1:
            ax.add_patch(Rectangle((j, i), 1, 1, fill=False, edgecolor="black", linewidth=2))
        ink = "white" if value > (gap.min(axis=None) + gap.max(axis=None)) / 2 else "black"
        ax.text(j + 0.5, i + 0.5, "" if np.isnan(value) else f"{value:.2f}", ha="center", va="center", color=ink)
    ax.set_xticks(np.arange(gap.shape[1]) + 0.5, [f"{x:g}" for x in gap.columns])
    ax.set_yticks(np.arange(gap.shape[0]) + 0.5, [f"{x:g}" for x in gap.index])
    ax.set(xlabel=f"multiple of {pair[1]}", ylabel=f"multiple of {pair[0]}", title="gap (hatched: over the limit)")
    ax.figure.colorbar(mesh, ax=ax)


@needs("sensitivity")
def multiples(results: Results) -> Styler | Markdown:
    """One row per factor changed alone, and one for the two that are changed together."""
    rows = []
    for name, (study, times) in _sweeps(results).items():
        pair = replication.pair(times)
        for changed in [[factor] for factor in replication.factors(times)] + [pair] * bool(pair):
            mean = replication.only(times, changed).groupby(changed)[["gap", "cost"]].mean()
            if len(mean):
                kept = f"{(mean['cost'] <= study.limit).sum()} of {len(mean)}"
                rows.append([name, " and ".join(changed), kept, *_gaps(mean["gap"])])
    if not rows:
        return Markdown("No learner runs with a multiple of a chosen factor.")
    columns = ["experiment", "changed", "keep the limit", "gap as chosen", "best gap", "worst gap"]
    return pd.DataFrame(rows, columns=columns).style.hide(axis="index")


def _gaps(gap: pd.Series) -> list[str]:
    """As chosen, the best and the worst, each with the multiples at which it is."""
    at = pd.Series({" and ".join(f"{x:g}" for x in np.atleast_1d(place)): value for place, value in gap.items()})
    chosen = at[at.index.isin(["1", "1 and 1"])]
    ends = [f"{at[place]:.2f} at {place}" for place in (at.idxmin(), at.idxmax())]
    return [f"{chosen.iloc[0]:.2f}" if len(chosen) else "not run", *ends]
