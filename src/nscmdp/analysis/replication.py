"""Does the paper's simulation replicate, and what decides it? What notebooks/replication.ipynb asks.

verdicts     those of claims.json, each with its reading in words
landscape    every candidate that tuning tried, and what a smaller effort would have found
crossings    Algorithm 1 crossed with Triple-Q, choice by choice; contrasts: controls in which one thing is taken away
multiples    one run of a tuned learner for every multiple of a chosen factor
"""

from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from nscmdp import algorithms, metrics
from nscmdp.analysis import claims, tables
from nscmdp.analysis.statistics import mean_interval
from nscmdp.runs import files, optima
from nscmdp.study import layout

WHOLE = "C20"
FIRST = "nonstationary_triple_q"
# Algorithm 1's choice, then Triple-Q's
CROSSED = {"reset": ("full", "bump")} | dict.fromkeys(("frame", "eta", "epsilon"), ("own", "triple_q"))
RUN = ["learner", "seed", "reward", "cost", "score"]


def verdicts(c20: dict[str, Any]) -> pd.DataFrame:
    """One row for each verdict, on all parts and on the whole, with its place: the reading in words."""
    rows = pd.DataFrame([*c20["cells"], *({**row, "part": WHOLE} for row in c20["whole"])])
    case = rows[claims.CASE].apply(tuple, axis=1)
    first = rows.assign(case=case).drop_duplicates("case").set_index("case")
    words = {case: _words(row) for case, row in first.iterrows()}
    shared = {text for text, number in Counter(words.values()).items() if number > 1}
    places = {
        case: f"{text} ({row['experiment']}, {row['reading']}, K = {row['episodes']:,})" if text in shared else text
        for (case, text), (_, row) in zip(words.items(), first.iterrows(), strict=True)
    }
    return rows.assign(place=case.map(places), map=case.map(first["map"]))


def _words(row: pd.Series) -> str:
    switch = "" if row["switch"] == "none" else f", {row['switch']} moves"
    budget = "" if row["budget"] == "default" else f", {row['budget']}"
    return f"{row['map']}: cost drift {row['cost drift']}, location {row['location']}{switch}{budget}"


def tally(rows: pd.DataFrame) -> pd.DataFrame:
    """In how many of the places in which it can be judged each part holds, by choice of constants."""

    def count(found: pd.Series) -> str:
        judged = found[found != claims.VOID]
        return f"{(judged == claims.HOLDS).sum()} of {len(judged)}" if len(judged) else claims.VOID

    counts = rows.groupby(["part", "setting"], sort=False)["verdict"].agg(count).unstack(fill_value="not run")
    return counts.sort_index(key=lambda part: part.where(part != WHOLE, "~"))


class Reference(NamedTuple):
    """What the candidates of a tuning are set beside: means per episode."""

    horizon: int
    limit: float
    reward: float  # of the constrained optimum
    cost: float
    uniform: float  # the reward of the uniform policy


def reference(folder: Path, name: str, episodes: int) -> Reference:
    """Of a tuning's environment."""
    table, facts = files.read(folder / layout.optima(name))
    case = f"default/K={episodes}"
    env = optima.environment(facts["specification"]["cases"][case])
    best = table.to_pandas().set_index("case").loc[case]
    reward, utility, uniform = (float(np.mean(best[key])) for key in ("value", "utility", "uniform"))
    return Reference(env.H, env.H - env.rho, reward, env.H - utility, uniform)


def efforts(tried: pd.DataFrame) -> pd.Series:
    """The expected smallest score among n candidates drawn without replacement, by n, for one algorithm and tuning."""
    score = np.sort(tried["score"].to_numpy())
    number = np.arange(1, len(score) + 1)
    drawn = np.minimum(1.0, number[:, None] / number[::-1])  # P(a candidate is drawn, if none of the better ones is)
    none_better = np.cumprod(np.column_stack([np.ones(len(score)), 1 - drawn[:, :-1]]), axis=1)
    return pd.Series((none_better * drawn) @ score, index=number)


def landscape(tried: pd.DataFrame, beside: Reference) -> pd.DataFrame:
    """One row per algorithm of a tuning: how many candidates meet the limit, what was chosen, how soon it is found."""
    rows = []
    for algorithm, mine in tried.groupby("algorithm", sort=False):
        best, curve = mine[mine["chosen"]].iloc[0], efforts(mine)
        cost, meet = beside.horizon - best["utility"], (beside.horizon - mine["utility"] <= beside.limit).mean()
        enough = curve.index[curve <= 1.1 * curve.min()][0]
        rows.append([algorithm, len(mine), meet, best["reward"], cost, beside.limit, best["score"], enough])
    columns = ["algorithm", "candidates", "meet the limit", "reward", "cost", "limit", "score", "within 10% after"]
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
    """One row per run in one environment: reward, cost and the score of tuning, means over all episodes."""
    price = 2 * exact["optimal_multiplier"].max()
    score = exact["positive_regret"] + price * exact["positive_violation"]
    each = pd.DataFrame({"reward": exact["value"], "cost": exact["horizon"] - exact["utility_value"], "score": score})
    run = [exact["learner"], exact["seed"]]
    total = each.mul(exact["weight"], axis=0).groupby(run, sort=False).sum()
    return total.div(exact["weight"].groupby(run, sort=False).sum(), axis=0).reset_index()


class Control(NamedTuple):
    """An experiment in one environment whose learners are compared."""

    name: str
    runs: pd.DataFrame  # one row per run, with the learner's algorithm, setting, variants and multiples
    limit: float
    optimum: float


def control(file: Path) -> Control:
    """From an experiment's table of exact values."""
    exact = tables.load(file)
    options = {
        learner: {"algorithm": spec["algorithm"], "setting": spec["setting"], **spec["variants"]}
        | {f"times {factor}": multiple for factor, multiple in spec.get("times", {}).items()}
        for learner, spec in tables.learners(file).items()
    }
    chosen = pd.DataFrame.from_dict(options, orient="index")
    chosen = chosen.reindex(columns=list(dict.fromkeys([*chosen.columns, *CROSSED, "no_btilde"])))
    limit = float(exact["horizon"].iloc[0] - exact["rho"].iloc[0])
    optimum = metrics.mean(exact["optimal_value"], exact["weight"])
    return Control(file.parent.name, means(exact).join(chosen, on="learner"), limit, optimum)


def crossings(runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """By setting: Algorithm 1 with either choice of everything that is crossed, where all combinations were run."""
    mine = runs[(runs["algorithm"] == FIRST) & ~runs["no_btilde"].eq(True)]
    mine = mine[np.logical_and.reduce([mine[factor].isin(levels) for factor, levels in CROSSED.items()])]
    found = {}
    for setting, part in mine.groupby("setting", sort=False):
        learners = part.drop_duplicates([*CROSSED])["learner"]
        if len(learners) == 2 ** len(CROSSED):
            found[str(setting)] = part[part["learner"].isin(learners)]
    return found


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
    """The learners beside the crossings, and Algorithm 1 with its own choices, each with a label of its own."""
    crossed = {learner for found in crossings(runs).values() for learner in found["learner"]}
    own = np.logical_and.reduce([runs[factor] == own for factor, (own, _) in CROSSED.items()])
    kept = runs[~runs["learner"].isin(crossed) | own]
    label = kept["algorithm"].map(lambda name: algorithms.module(name).TITLE)
    label = label.mask(kept["no_btilde"].eq(True), "Algorithm 1 without b~")
    shared = kept["learner"].groupby(label).transform("nunique") > 1
    kept = kept.assign(label=label.mask(shared, label + ", " + kept["learner"]))
    first = algorithms.module(FIRST).TITLE
    return kept.sort_values("label", key=lambda label: ~label.str.startswith(first), kind="stable")


def multiples(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs of tuned learners with the multiples of chosen factors: a column for each that some run changes."""
    times = runs.filter(regex="^times ").rename(columns=lambda name: name.removeprefix("times "))
    return runs[RUN].join(times.loc[:, (times != 1).any()])


def factors(times: pd.DataFrame) -> list[str]:
    """Those that some run of :func:`multiples` changes."""
    return [name for name in times if name not in RUN]


def only(times: pd.DataFrame, changed: list[str]) -> pd.DataFrame:
    """The runs in which no other factor is changed; none where nobody changes these."""
    others = [name for name in factors(times) if name not in changed]
    kept = times[(times[others] == 1).all(axis=1)]
    return kept if (kept[changed] != 1).any(axis=None) else kept.iloc[:0]


def pair(times: pd.DataFrame) -> list[str]:
    """The first two factors that a run changes together and alone; none where no run does."""
    differs = times[factors(times)] != 1
    both = differs[differs.sum(axis=1) == 2]
    return [] if both.empty else list(both.columns[both.iloc[0]])
