"""Does the paper's simulation replicate, and why: verdicts, tuning, crossings and controls, multiples of factors."""

import json
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import Markdown
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from pandas.io.formats.style import Styler

from nscmdp.analysis import replication
from nscmdp.analysis.claims import FAILS, HOLDS, MIXED, VOID
from nscmdp.analysis.replication import CROSSED, WHOLE, Control
from nscmdp.analysis.statistics import mean_interval
from nscmdp.report import style
from nscmdp.report.results import Results, needs
from nscmdp.study import layout

COLOURS = {HOLDS: "#2f7fb8", MIXED: "#f4e3a3", FAILS: "#dd7f2b", VOID: "#e4e4e4"}
WORDS = {HOLDS: "yes", MIXED: "mixed", FAILS: "no", VOID: "void"}
RESETS = {"full": "#2f7fb8", "bump": "#dd7f2b"}


def _c20(results: Results) -> dict[str, Any]:
    return json.loads((results.folder / layout.CLAIMS).read_text(encoding="utf-8"))["C20"]


def _wide(rows: pd.DataFrame, index: list[str], columns: str, values: str = "text") -> pd.DataFrame:
    """One column for each value of ``columns``; everything in the order in which it came."""
    wide = rows.pivot(index=index, columns=columns, values=values).rename_axis(columns=None)
    return wide.loc[pd.MultiIndex.from_frame(rows[index].drop_duplicates()), rows[columns].unique()].fillna("")


def claims(results: Results) -> Figure:
    """Readings down, constants and parts across: colour is the verdict, a number the seeds that agree."""
    c20 = _c20(results)
    rows, says = replication.verdicts(c20), c20["parts"] | {WHOLE: "all of it"}
    down: dict[str, float] = {}
    for gaps, (_, mapped) in enumerate(rows.drop_duplicates("place").groupby("map", sort=False)):
        down |= {place: len(down) + i + 0.3 * gaps for i, place in enumerate(mapped["place"])}
    left = {setting: i * (len(says) + 0.4) for i, setting in enumerate(rows["setting"].unique())}
    figure, ax = plt.subplots(figsize=(3.6 + 0.47 * len(says) * len(left), 3.0 + 0.33 * len(down)))
    for row in rows.to_dict("records"):
        _draw_verdict(ax, left[row["setting"]] + [*says].index(row["part"]), down[row["place"]], row)
    for setting, at in left.items():
        ax.text(at + len(says) / 2, -0.25, setting, ha="center", va="bottom", weight="bold")
    names = [f"{part}: {text}" for part, text in says.items()] * len(left)
    ax.set_xticks([at + i + 0.5 for at in left.values() for i in range(len(says))], names, rotation=90)
    ax.set_yticks([y + 0.5 for y in down.values()], list(down))
    ax.set(xlim=(0, max(left.values()) + len(says)), ylim=(max(down.values()) + 1, 0))
    ax.tick_params(length=0, labelsize="small")
    ax.spines[:].set_visible(False)
    counts = "/".join(f"{number:.0f}" for number in sorted(rows["seeds"].dropna().unique()))
    notes = (f"number: seeds of {counts} that agree", "†: has not learnt")
    keys = [Patch(**_box(verdict), label=verdict) for verdict in COLOURS]
    keys += [Patch(alpha=0, label=note) for note in notes]
    figure.legend(handles=keys, loc="outside lower center", ncols=3, handlelength=1.2, fontsize="small")
    return figure


def _draw_verdict(ax: Axes, x: float, y: float, row: dict[str, Any]) -> None:
    verdict, whole = row["verdict"], row["part"] == WHOLE
    text = WORDS[verdict] if whole else f"{row['agree']:.0f}{'†' if row['without_learning'] else ''}"
    ink, weight = "white" if verdict == HOLDS else style.INK, "bold" if whole else "normal"
    ax.add_patch(Rectangle((x, y), 1, 1, **_box(verdict)))
    ax.text(x + 0.5, y + 0.5, text, ha="center", va="center", color=ink, fontsize="small", weight=weight)


def _box(verdict: str) -> dict[str, Any]:
    hatch = "////" if verdict == VOID else None
    return {"facecolor": COLOURS[verdict], "edgecolor": "white", "hatch": hatch, "linewidth": 1}


@needs("grid_world")
def answer(results: Results) -> Markdown:
    """On the claim as a whole."""
    c20 = _c20(results)
    fails = c20["judged"] - c20["holds_in"] - c20["mixed_in"]
    return Markdown(
        f"**The claim as a whole holds in {c20['holds_in']} of the {c20['judged']} combinations of constants and "
        f"reading in which it can be judged,** is mixed in {c20['mixed_in']} and does not hold in {fails}; "
        f"{c20['void']} more are void, for the limit does not bind there."
    )


@needs("grid_world")
def tally(results: Results) -> Styler:
    """In how many readings each part holds, by choice of constants."""
    c20 = _c20(results)
    counts = replication.tally(replication.verdicts(c20))
    counts.insert(0, "claim", [c20["parts"].get(part, "all of it together") for part in counts.index])
    return counts.rename_axis(index=None, columns=None).style


@needs("grid_world")
def verdicts(results: Results) -> Styler:
    """Every part in every reading: verdict, seeds that agree, and the interval of their share."""
    rows = replication.verdicts(_c20(results))
    cells = rows[rows["part"] != WHOLE]
    text = [
        f"{row.verdict}, {row.agree:.0f}/{row.seeds:.0f} [{row.low:.2f}, {row.high:.2f}]" + "†" * row.without_learning
        for row in cells.itertuples()
    ]
    small = [{"selector": "td, th", "props": "font-size: 80%; text-align: left"}]
    wide = _wide(cells.assign(text=text), ["place", "setting"], "part")
    return wide.rename_axis(index=["reading", "setting"]).style.set_table_styles(small)


def _tunings(results: Results) -> dict[str, tuple[pd.DataFrame, replication.Reference]]:
    """The candidates of each tuning at the K that decides, and what they are set beside."""
    tuned = results.table("tuned.csv")
    deciding = {name: tuned[(tuned["tuning"] == name) & tuned["decides"]] for name in results.experiments("tuning")}
    return {
        name: (tried, replication.reference(results.folder, name, int(tried["episodes"].iloc[0])))
        for name, tried in deciding.items()
    }


def landscape(results: Results) -> Figure:
    """Above: reward against cost of every candidate. Below: the expected best score of n candidates."""
    tunings = _tunings(results)
    looks = style.look(list(pd.concat([tried for tried, _ in tunings.values()])["algorithm"].unique()))
    figure, axes = plt.subplots(2, len(tunings), figsize=(max(9, 4.6 * len(tunings)), 7), squeeze=False)
    for (above, below), (name, (tried, at)) in zip(axes.T, tunings.items(), strict=True):
        for algorithm, mine in tried.assign(cost=at.horizon - tried["utility"]).groupby("algorithm", sort=False):
            _draw_candidates(above, mine, looks[str(algorithm)]["color"])
            curve = replication.efforts(mine)
            below.plot(curve.index, curve, **looks[str(algorithm)], label=style.title(str(algorithm)))
        above.axvline(at.limit, color=style.LIMIT, linestyle="--", linewidth=0.9, label="limit")
        above.axhline(at.uniform, color=style.INK, linestyle=":", linewidth=0.9, label="reward of the uniform policy")
        optimum = {"marker": "P", "s": 80, "color": "white", "edgecolor": "black", "zorder": 5}
        above.scatter(at.cost, at.reward, **optimum, label="constrained optimum")
        title = f"{name}, K = {tried['episodes'].iloc[0]:,}"
        above.set(xlabel="cost per episode", ylabel="reward per episode", title=title)
        below.set(xscale="log", ylim=(0, None), xlabel="candidates tried", ylabel="expected best score")
        style.plain_ticks(below, 2 ** np.arange(int(np.log2(len(curve))) + 1))
    style.legend(figure, ncols=3)
    return figure


def _draw_candidates(ax: Axes, mine: pd.DataFrame, colour: Any) -> None:
    """Finalists are ringed, the chosen one is a star."""
    last, best = mine[mine["finalist"]], mine[mine["chosen"]]
    ax.scatter(mine["cost"], mine["reward"], s=11, color=colour, alpha=0.7, linewidth=0)
    ax.scatter(last["cost"], last["reward"], s=42, facecolor="none", edgecolor=colour, linewidth=0.9)
    ax.scatter(best["cost"], best["reward"], s=150, marker="*", color=colour, edgecolor="black", zorder=4)


@needs("tuning")
def candidates(results: Results) -> Styler:
    """One row per tuning and algorithm."""
    found = {name: replication.landscape(*tuning) for name, tuning in _tunings(results).items()}
    table = pd.concat(found, names=["tuning"]).reset_index("tuning")
    shown = table.assign(algorithm=table["algorithm"].map(style.title)).style.hide(axis="index")
    return shown.format(precision=2).format("{:.0%}", subset=["meet the limit"])


@needs("tuning")
def frozen(results: Results) -> pd.DataFrame | Markdown:
    """The ratio of the frozen candidate's score to that of the one chosen at each K."""
    tuned = results.table("tuned.csv")
    checked = tuned.groupby("tuning").filter(lambda part: part["episodes"].nunique() > 1)
    if checked.empty:
        return Markdown("No tuning was repeated at another K.")
    rows = replication.frozen(checked.assign(algorithm=checked["algorithm"].map(style.title)))
    text = [f"{row.ratio:.2f}" + " (same)" * (row.chosen == row.frozen) for row in rows.itertuples()]
    at = [f"K = {episodes:,}" for episodes in rows["episodes"]]
    return _wide(rows.assign(text=text, at=at), ["tuning", "algorithm"], "at")


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
    places = figure.subfigures(len(parts), 1, height_ratios=heights, squeeze=False)
    for place, (draw, found, _) in zip(places[:, 0], parts, strict=True):
        draw(place, found)
    return figure


def _draw_crossed(place: Any, crossed: dict[str, tuple[Control, pd.DataFrame]]) -> None:
    axes = place.subplots(len(crossed), 2, squeeze=False)
    for (reward, cost), (name, (study, runs)) in zip(axes, crossed.items(), strict=True):
        _draw_crossing(reward, runs, "reward")
        _draw_crossing(cost, runs, "cost")
        reward.axhline(study.optimum, color=style.INK, linestyle=":")
        cost.axhline(study.limit, color=style.LIMIT, linestyle="--", linewidth=0.9)
        reward.set_title(name, loc="left", pad=18, weight="bold")
    keys = [Line2D([], [], color=colour, marker="o", label=f"reset: {name}") for name, colour in RESETS.items()]
    place.legend(handles=keys, loc="outside lower center", ncols=len(keys))


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


def _draw_beside(place: Any, beside: dict[str, tuple[Control, pd.DataFrame]]) -> None:
    reward, cost = place.subplots(1, 2, sharey=True)
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
    """Of each experiment reward and cost against the multiple of one factor, and the score against those of two."""
    sweeps = _sweeps(results)
    looks = style.look(sorted({factor for _, times in sweeps.values() for factor in replication.factors(times)}))
    height = len(sweeps)
    figure, axes = plt.subplots(height, 3, figsize=(14, 4.2 * height), squeeze=False, width_ratios=[1, 1, 1.1])
    for (reward, cost, score), (name, (study, times)) in zip(axes, sweeps.items(), strict=True):
        _draw_multiples(reward, times, "reward", looks)
        reward.axhline(study.optimum, color=style.INK, linestyle=":", linewidth=0.9, label="optimum")
        reward.set_title(name)
        _draw_multiples(cost, times, "cost", looks)
        cost.axhline(study.limit, color=style.LIMIT, linestyle="--", linewidth=0.9, label="limit")
        _draw_pair(score, times, study.limit)
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
    """The score at every pair of multiples; hatched over the limit, framed where both are as chosen."""
    pair = replication.pair(times)
    if not pair:
        return style.say(ax, "No run changes two factors together.")
    both = replication.only(times, pair).groupby(pair)[["score", "cost"]].mean().unstack()
    score, cost = both["score"], both["cost"]
    mesh = ax.pcolormesh(score, cmap="cividis_r", edgecolors="white")
    for (i, j), value in np.ndenumerate(score.to_numpy()):
        if cost.iat[i, j] > limit:
            ax.add_patch(Rectangle((j, i), 1, 1, fill=False, hatch="//", edgecolor="#999999", linewidth=0))
        if score.index[i] == score.columns[j] == 1:
            ax.add_patch(Rectangle((j, i), 1, 1, fill=False, edgecolor="black", linewidth=2))
        ink = "white" if value > (score.min(axis=None) + score.max(axis=None)) / 2 else "black"
        ax.text(j + 0.5, i + 0.5, "" if np.isnan(value) else f"{value:.2f}", ha="center", va="center", color=ink)
    ax.set_xticks(np.arange(score.shape[1]) + 0.5, [f"{x:g}" for x in score.columns])
    ax.set_yticks(np.arange(score.shape[0]) + 0.5, [f"{x:g}" for x in score.index])
    ax.set(xlabel=f"multiple of {pair[1]}", ylabel=f"multiple of {pair[0]}", title="score (hatched: over the limit)")
    ax.figure.colorbar(mesh, ax=ax)


@needs("sensitivity")
def multiples(results: Results) -> Styler | Markdown:
    """One row per factor changed alone, and one for the two that are changed together."""
    rows = []
    for name, (study, times) in _sweeps(results).items():
        pair = replication.pair(times)
        for changed in [[factor] for factor in replication.factors(times)] + [pair] * bool(pair):
            mean = replication.only(times, changed).groupby(changed)[["score", "cost"]].mean()
            if len(mean):
                kept = f"{(mean['cost'] <= study.limit).sum()} of {len(mean)}"
                rows.append([name, " and ".join(changed), kept, *_scores(mean["score"])])
    if not rows:
        return Markdown("No learner runs with a multiple of a chosen factor.")
    columns = ["experiment", "changed", "keep the limit", "score as chosen", "best score", "worst score"]
    return pd.DataFrame(rows, columns=columns).style.hide(axis="index")


def _scores(score: pd.Series) -> list[str]:
    """As chosen, the best and the worst, each with the multiples at which it is."""
    at = pd.Series({" and ".join(f"{x:g}" for x in np.atleast_1d(place)): value for place, value in score.items()})
    chosen = at[at.index.isin(["1", "1 and 1"])]
    ends = [f"{at[place]:.2f} at {place}" for place in (at.idxmin(), at.idxmax())]
    return [f"{chosen.iloc[0]:.2f}" if len(chosen) else "not run", *ends]
