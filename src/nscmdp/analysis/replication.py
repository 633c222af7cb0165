"""Does the paper's simulation replicate, and what decides it? What notebooks/replication.ipynb computes and draws.

claims       the verdicts of claims.json, laid out so that all can be seen at once
landscape    every candidate that tuning tried, and what a smaller effort would have found
causes       Algorithm 1 crossed with Triple-Q, choice by choice, and controls in which one thing is taken away
sensitivity  one run of Algorithm 1 for every multiple of a chosen factor
"""

from pathlib import Path
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from nscmdp.analysis import claims, tables
from nscmdp.analysis.statistics import mean_interval
from nscmdp.report import style
from nscmdp.runs import files, simulations

WHOLE = "C20"
CASE = ["experiment", "budget", "episodes"]
READING = ["map", "cost drift", "location", "switch"]
COLOURS = {claims.HOLDS: "#2f7fb8", claims.MIXED: "#f4e3a3", claims.FAILS: "#dd7f2b", claims.VOID: "#e4e4e4"}
WORDS = {claims.HOLDS: "yes", claims.MIXED: "mixed", claims.FAILS: "no", claims.VOID: "void"}
# Algorithm 1's choice, then Triple-Q's
CROSSED = {"reset": ("full", "bump")} | dict.fromkeys(("frame", "eta", "epsilon"), ("own", "triple_q"))
RESETS = {"full": "#2f7fb8", "bump": "#dd7f2b"}
QUANTITIES = ["reward", "cost", "score"]


def grid(c20: dict[str, Any]) -> pd.DataFrame:
    """The verdicts on all parts and on the whole, each with its reading in words."""
    cells = pd.DataFrame(c20["cells"])
    whole = pd.DataFrame(c20["whole"], columns=[*CASE, "setting", "verdict"]).assign(part=WHOLE)
    whole = whole.merge(cells[[*CASE, *READING]].drop_duplicates(), on=CASE)
    rows = pd.concat([cells, whole], ignore_index=True)
    return rows.assign(reading=[_words(row) for row in rows.to_dict("records")])


def _words(row: dict[str, Any]) -> str:
    switch = "" if row["switch"] == "none" else f", {row['switch']} moves"
    budget = "" if row["budget"] == "default" else f", {row['budget']}"
    return f"{row['map']}: cost drift {row['cost drift']}, location {row['location']}{switch}{budget}"


def tally(rows: pd.DataFrame) -> pd.DataFrame:
    """In how many of the cells in which it can be judged each part holds, by choice of constants."""
    judged = rows[rows["verdict"] != claims.VOID]
    counts = judged.groupby(["part", "setting"], sort=False)["verdict"].agg(
        lambda found: f"{(found == claims.HOLDS).sum()} of {len(found)}"
    )
    return counts.unstack(fill_value="void").sort_index(key=lambda part: part.where(part != WHOLE, "~"))


def _box(verdict: str) -> dict[str, Any]:
    hatch = "////" if verdict == claims.VOID else None
    return {"facecolor": COLOURS[verdict], "edgecolor": "white", "hatch": hatch, "linewidth": 1}


def draw_claims(rows: pd.DataFrame, says: dict[str, str]) -> Figure:
    """Readings down, constants and parts across: colour is the verdict, a number the seeds that agree."""
    settings, listed = rows["setting"].unique(), rows.drop_duplicates("reading")
    parts = [*says, WHOLE]
    names = [f"{part}: {text}" for part, text in says.items()] + [f"{WHOLE}: all of it"]
    down: dict[str, float] = {}
    for gaps, (_, mapped) in enumerate(listed.groupby("map", sort=False)):
        down |= {reading: len(down) + i + 0.3 * gaps for i, reading in enumerate(mapped["reading"])}
    left = {setting: i * (len(parts) + 0.4) for i, setting in enumerate(settings)}
    figure, ax = plt.subplots(figsize=(3.6 + 0.47 * len(parts) * len(settings), 3.0 + 0.33 * len(down)))
    for row in rows.to_dict("records"):
        x, y, verdict = left[row["setting"]] + parts.index(row["part"]), down[row["reading"]], row["verdict"]
        ax.add_patch(Rectangle((x, y), 1, 1, **_box(verdict)))
        text = WORDS[verdict] if row["part"] == WHOLE else f"{row['agree']:.0f}{'†' if row['without_learning'] else ''}"
        ink = "white" if verdict == claims.HOLDS else style.INK
        weight = "bold" if row["part"] == WHOLE else "normal"
        ax.text(x + 0.5, y + 0.5, text, ha="center", va="center", color=ink, fontsize="small", weight=weight)
    ax.set_xticks([at + i + 0.5 for at in left.values() for i in range(len(parts))], names * len(left), rotation=90)
    ax.set_yticks([y + 0.5 for y in down.values()], list(down))
    ax.set(xlim=(0, max(left.values()) + len(parts)), ylim=(max(down.values()) + 1, 0))
    ax.tick_params(length=0, labelsize="small")
    ax.spines[:].set_visible(False)
    for setting, at in left.items():
        ax.text(at + len(parts) / 2, -0.25, setting, ha="center", va="bottom", weight="bold")
    keys: list[Any] = [Patch(**_box(verdict), label=verdict) for verdict in COLOURS]
    counts = "/".join(f"{number:.0f}" for number in sorted(rows["seeds"].dropna().unique()))
    notes = (f"number: seeds of {counts} that agree", "†: has not learnt")
    keys += [Line2D([], [], linestyle="", label=note) for note in notes]
    figure.legend(handles=keys, loc="outside lower center", ncols=len(keys), handlelength=1.2, fontsize="small")
    return figure


class Reference(NamedTuple):
    """What the candidates of a tuning are set beside: means an episode."""

    horizon: int
    limit: float
    reward: float  # of the constrained optimum
    cost: float
    uniform: float  # the reward of the uniform policy


def reference(folder: Path, name: str, episodes: int) -> Reference:
    """Of a tuning's environment."""
    table, facts = files.read(folder / "environments" / f"{name}.parquet")
    case = f"default/K={episodes}"
    env = simulations.environment(facts["specification"]["cases"][case])
    best = table.to_pandas().set_index("case").loc[case]
    reward, utility, uniform = (float(np.mean(best[key])) for key in ("value", "utility", "uniform"))
    return Reference(env.H, env.H - env.rho, reward, env.H - utility, uniform)


def best_of(scores: Array, efforts: list[int]) -> Array:
    """The expected smallest score among n candidates drawn at random without replacement, for each n."""
    ordered = np.sort(scores)
    expected = []
    for n in efforts:
        left, share = 1.0, 0.0  # P(the first i are not drawn), then P(the i-th is the best of those drawn)
        for i, score in enumerate(ordered[: len(ordered) - n + 1]):
            drawn = n / (len(ordered) - i)
            share += left * drawn * score
            left *= 1 - drawn
        expected.append(share)
    return np.array(expected)


def efforts(tried: pd.DataFrame) -> pd.Series:
    """The expected best score of n candidates, by n, for one algorithm of one tuning."""
    number = list(range(1, len(tried) + 1))
    return pd.Series(best_of(tried["score"].to_numpy(), number), index=number)


def landscape(tried: pd.DataFrame, beside: Reference) -> pd.DataFrame:
    """One row an algorithm of one tuning: how many candidates meet the limit, what was chosen, how soon it is found."""
    rows = []
    for algorithm, mine in tried.groupby("algorithm", sort=False):
        best, curve = mine[mine["chosen"]].iloc[0], efforts(mine)
        cost, meet = beside.horizon - best["utility"], (beside.horizon - mine["utility"] <= beside.limit).mean()
        enough = curve.index[curve <= 1.1 * curve.min()][0]
        rows.append([algorithm, len(mine), meet, best["reward"], cost, best["score"], enough])
    columns = ["algorithm", "candidates", "meet the limit", "reward", "cost", "score", "within 10% after"]
    return pd.DataFrame(rows, columns=columns)


def frozen(tried: pd.DataFrame) -> pd.DataFrame:
    """For every K at which a choice was made: which it is, and how much worse the one that decides scores there."""
    rows = []
    for (name, algorithm), mine in tried.groupby(["tuning", "algorithm"], sort=False):
        decided = mine.loc[mine["decides"] & mine["chosen"], "candidate"].iloc[0]
        for episodes, here in mine.groupby("episodes"):
            score = here.set_index("candidate")["score"]
            chosen = here.loc[here["chosen"], "candidate"].iloc[0]
            row = {"tuning": name, "algorithm": algorithm, "episodes": episodes, "chosen": chosen, "frozen": decided}
            rows.append({**row, "ratio": score[decided] / score[chosen]})
    return pd.DataFrame(rows)


def means(exact: pd.DataFrame) -> pd.DataFrame:
    """One row a run in one environment: reward, cost and the score of tuning, means over all episodes."""
    price = 2 * exact["optimal_multiplier"].max()
    score = exact["positive_regret"] + price * exact["positive_violation"]
    each = pd.DataFrame({"reward": exact["value"], "cost": exact["horizon"] - exact["utility_value"], "score": score})
    run = [exact["learner"], exact["seed"]]
    total = each.mul(exact["weight"], axis=0).groupby(run, sort=False).sum()
    return total.div(exact["weight"].groupby(run, sort=False).sum(), axis=0).reset_index()


class Control(NamedTuple):
    """An experiment whose learners are to be compared."""

    name: str
    runs: pd.DataFrame  # one row a run, with the learner's algorithm, variants and factors
    limit: float
    optimum: float


def control(folder: Path, name: str) -> Control:
    file = folder / "tables" / name / "exact.parquet"
    if len(tables.cases(file)) > 1:
        raise ValueError(f"{name} has several budgets or K: expected one of each, to compare learners in one place")
    exact, specs = tables.load(file), tables.learners(file)
    options = {
        learner: {"algorithm": spec["algorithm"], "setting": spec["setting"], **spec["variants"]}
        | {f"factor {key}": value for key, value in spec.get("factors", {}).items()}
        for learner, spec in specs.items()
    }
    runs = means(exact).join(pd.DataFrame.from_dict(options, orient="index"), on="learner")
    optimum = float(np.average(exact["optimal_value"], weights=exact["weight"]))
    return Control(name, runs, float(exact["horizon"].iloc[0] - exact["rho"].iloc[0]), optimum)


def crossings(runs: pd.DataFrame) -> pd.DataFrame:
    """Algorithm 1 with either choice of everything that is crossed; empty where nothing is."""
    mine = runs[(runs["algorithm"] == "nonstationary_triple_q") & ~runs["no_btilde"].eq(True)]
    return mine if all(mine[factor].nunique() == 2 for factor in CROSSED) else mine.iloc[:0]


def effects(crossed: pd.DataFrame) -> pd.DataFrame:
    """What Triple-Q's choice adds to Algorithm 1's, averaged over all other choices; the interval is over seeds."""
    rows = []
    for factor, (own, other) in CROSSED.items():
        for quantity in ("reward", "cost"):
            level = crossed.groupby(["seed", factor])[quantity].mean().unstack()
            mean, low, high = mean_interval((level[other] - level[own]).to_numpy())
            rows.append({"factor": factor, "quantity": quantity, "mean": mean, "low": low, "high": high})
    return pd.DataFrame(rows)


def contrasts(runs: pd.DataFrame) -> pd.DataFrame:
    """The learners beside the crossings, and Algorithm 1 with its own choices."""
    own = np.logical_and.reduce([runs[factor] == own for factor, (own, _) in CROSSED.items()])
    crossed = runs["learner"].isin(crossings(runs)["learner"])
    kept = runs[~crossed | own]
    label = kept["algorithm"].map(style.title).mask(kept["no_btilde"].eq(True), "Algorithm 1 without b~")
    first = style.title("nonstationary_triple_q")
    return kept.assign(label=label).sort_values("label", key=lambda name: name != first, kind="stable")


def draw_crossings(ax: Axes, crossed: pd.DataFrame, quantity: str) -> None:
    """For every choice, lines between runs that differ in it alone; in black the mean, with an interval over seeds."""
    for place, (factor, levels) in enumerate(CROSSED.items()):
        x, rest = [2.2 * place, 2.2 * place + 1], [name for name in CROSSED if name != factor]
        ax.text(x[0] + 0.5, 1.01, factor, transform=ax.get_xaxis_transform(), ha="center", weight="bold")
        for keys, pair in crossed.groupby([*rest, factor])[quantity].mean().unstack()[list(levels)].iterrows():
            reset = None if factor == "reset" else dict(zip(rest, keys, strict=True))["reset"]
            colour = "#999999" if reset is None else RESETS[reset]
            ax.plot(x, pair, "o-", color=colour, linewidth=0.8, markersize=3, alpha=0.75)
        by_seed = crossed.groupby(["seed", factor])[quantity].mean().unstack()[list(levels)].to_numpy()
        mean, low, high = mean_interval(by_seed)
        ax.errorbar(x, mean, [mean - low, high - mean], color="black", linewidth=1.8, capsize=3, zorder=4)
    ends = [(2.2 * i + j, level) for i, levels in enumerate(CROSSED.values()) for j, level in enumerate(levels)]
    ax.set_xticks([x for x, _ in ends], [label for _, label in ends], fontsize="small")


def multiples(runs: pd.DataFrame) -> pd.DataFrame:
    """The factors of every run as multiples of the chosen ones, which most of the runs have."""
    factors = runs.filter(regex="^factor ").rename(columns=lambda name: name.removeprefix("factor ")).astype(float)
    times = factors.div(factors.mode().iloc[0]).round(6)
    return runs[["learner", "seed", *QUANTITIES]].join(times.loc[:, times.nunique() > 1])


def changed(times: pd.DataFrame) -> pd.DataFrame:
    """Which factors of which run are not the chosen ones."""
    return times.drop(columns=["learner", "seed", *QUANTITIES]) != 1


def alone(times: pd.DataFrame) -> pd.DataFrame:
    """One row a factor and run in which no other factor is changed."""
    differs = changed(times)
    parts = [
        times[~differs.drop(columns=factor).any(axis=1)].assign(factor=factor, multiple=times[factor])
        for factor in differs
    ]
    return pd.concat(parts, ignore_index=True)


def pair(times: pd.DataFrame) -> list[str]:
    """The two factors that are changed together; none where no run changes two."""
    differs = changed(times)
    both = differs[differs.sum(axis=1) == 2]
    return [] if both.empty else list(both.columns[both.iloc[0]])
