"""Does the paper's simulation replicate, and what decides it? What notebooks/replication.ipynb asks.

verdicts     those of claims/simulation.json, each with its reading in words; how they move with the thresholds
crossings    Algorithm 1 crossed with Triple-Q, choice by choice; contrasts: controls in which one thing is taken away
multiples    one run of a tuned learner for every multiple of a chosen factor
"""

from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from nscmdp import algorithms, metrics
from nscmdp.analysis import tables
from nscmdp.analysis.claims import simulation as claims
from nscmdp.analysis.statistics import mean_interval

ANSWERS = (claims.HOLDS, claims.MIXED, claims.FAILS)
FIRST = "nonstationary_triple_q"
# Algorithm 1's choice, then Triple-Q's
CROSSED = {"reset": ("full", "bump")} | dict.fromkeys(("frame", "eta", "epsilon"), ("own", "triple_q"))
# Algorithm 1 with one thing taken away
CONTRASTED = {
    "no_btilde": (True, "Algorithm 1 without b~"),
    "start": ("below", "Algorithm 1, Q starts below V"),
}
RUN = ["learner", "seed", "reward", "cost", "gap"]


def verdicts(c20: dict[str, Any]) -> pd.DataFrame:
    """One row for each verdict, on all parts and on the whole, with its place: the reading in words."""
    rows = pd.DataFrame([*c20["cells"], *c20["whole"]])
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


def judged(rows: pd.DataFrame) -> pd.DataFrame:
    """Without the places in which the constraint does not bind, or the printed constants learn nothing."""
    return rows[(rows["verdict"] != claims.VOID) & ~rows["apart"].astype(bool)]


def tally(rows: pd.DataFrame, column: str = "verdict") -> pd.DataFrame:
    """In how many of the places in which it can be judged each part holds, by choice of constants."""
    counts = {}
    for keys, found in rows.groupby(["part", "setting"], sort=False):
        binding = found[found["verdict"] != claims.VOID]
        here = judged(binding)
        unlearnt = len(binding) - len(here)
        text = f"{(here[column] == claims.HOLDS).sum()} of {len(here)}" if len(here) or unlearnt else claims.VOID
        counts[keys] = text + (f", {unlearnt} unlearnt" if unlearnt else "")
    return pd.Series(counts).unstack(fill_value="not run").loc[in_order(rows["part"]), rows["setting"].unique()]


def in_order(parts: pd.Series) -> list[str]:
    """The parts, and the whole after them."""
    return sorted(parts.unique(), key=lambda part: (part in (claims.WHOLE, claims.FORGIVING), part))


def over_thresholds(c20: dict[str, Any]) -> pd.DataFrame:
    """In how many places of each map each part holds, for every value of each threshold that it has."""
    counts = []
    for (name, part), mine in judged(verdicts(c20)).groupby(["map", "part"], sort=False):
        for threshold in dict.fromkeys(key for moved in mine["moved"] for key in moved):
            by_value = zip(*(moved[threshold] for moved in mine["moved"]), strict=True)
            for value, found in zip(c20["thresholds"][threshold]["range"], by_value, strict=True):
                row = {"map": name, "part": part, "threshold": threshold, "value": value}
                counts.append({**row, "holds": found.count(claims.HOLDS), "of": len(mine)})
    return pd.DataFrame(counts, columns=["map", "part", "threshold", "value", "holds", "of"])


def whole_ranges(c20: dict[str, Any]) -> pd.DataFrame:
    """Of each map and part: how many verdicts are the same over the whole range of every threshold, and which."""
    rows = judged(verdicts(c20))
    grouped = rows.groupby(["map", "part"], sort=False)["whole_range"]
    found = {answer: grouped.agg(lambda same, answer=answer: (same == answer).sum()) for answer in ANSWERS}
    return pd.DataFrame({**found, "of": grouped.size()}).reset_index()


def alternatives(c20: dict[str, Any]) -> pd.DataFrame:
    """The verdicts on tuned learners where there are alternatives, the main choice first; ``called``: which it is."""
    others = pd.DataFrame(c20["alternatives"])
    others["called"] = [
        row.alternative.split(f"{row.map}_")[-1] if row.kind == "frames" else row.choice for row in others.itertuples()
    ]
    main = verdicts(c20)
    main = main[(main["setting"] == "tuned") & main["experiment"].isin(others["experiment"])].assign(called="main")
    return pd.concat([main, others[others["kind"] != "main"]], ignore_index=True)


def means(exact: pd.DataFrame) -> pd.DataFrame:
    """One row per run in one environment: reward, cost and the Lagrangian gap, means over all episodes."""
    cost = exact["horizon"] - exact["utility_value"]
    each = pd.DataFrame({"reward": exact["value"], "cost": cost, "gap": exact["gap"]})
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
    chosen = chosen.reindex(columns=list(dict.fromkeys([*chosen.columns, *CROSSED, *CONTRASTED])))
    limit = float(exact["horizon"].iloc[0] - exact["rho"].iloc[0])
    optimum = metrics.mean(exact["optimal_value"], exact["weight"])
    return Control(file.parent.name, means(exact).join(chosen, on="learner"), limit, optimum)


def crossings(runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """By setting: Algorithm 1 with either choice of everything that is crossed, where all combinations were run."""
    contrasted = np.logical_or.reduce([runs[key].eq(value) for key, (value, _) in CONTRASTED.items()])
    mine = runs[(runs["algorithm"] == FIRST) & ~contrasted]
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
    label = kept["algorithm"].map(lambda name: algorithms.title(name))
    for key, (value, says) in CONTRASTED.items():
        label = label.mask((kept["algorithm"] == FIRST) & kept[key].eq(value), says)
    shared = kept["learner"].groupby(label).transform("nunique") > 1
    kept = kept.assign(label=label.mask(shared, label + ", " + kept["learner"]))
    first = algorithms.title(FIRST)
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
