"""The one mapping from verdicts to what is said of a part on a map: four classes, and why.

A class is robust where the verdict is the same with every choice of constants, reading, threshold over its range,
alternative of the tuning and constants that were searched for to favour one side, by seed and on the mean of the
trials, and for "quickly" in both readings. Cells are left out where the constraint does not bind, and where the printed
constants learn nothing.
"""

from itertools import combinations
from typing import Any

import pandas as pd

from nscmdp.analysis.claims.simulation.alternatives import KINDS
from nscmdp.analysis.claims.simulation.cells import CASE, WORDS
from nscmdp.analysis.claims.simulation.parts import FAILS, FORGIVING, HOLDS, PARTS, VOID, WHOLE
from nscmdp.analysis.claims.simulation.rules import Classes, Rules

CONSTANTS = {
    "literal": "the printed constants",
    "authors": "the authors' constants",
    "tuned": "tuned constants",
}
FORGIVEN = {"C20b": "C20b forgiving", WHOLE: FORGIVING}  # "quickly" in its second reading


def table(
    rows: pd.DataFrame, dependence: list[dict[str, Any]], rules: Rules, best: dict[tuple[str, str], set[str]]
) -> list[dict[str, Any]]:
    """One row per map and part, the whole last; ``rows`` are all cells and the verdicts on the whole.

    ``best``: the verdicts, by map and part, under constants that were searched for to favour one side.
    """
    says = {part.name: part.says for part in PARTS} | {WHOLE: "all of it"}
    found = []
    for name, mine in rows.groupby("map", sort=False):
        for part in [part for part in says if part not in FORGIVEN.values()]:
            group = mine[mine["part"].isin([part, FORGIVEN.get(part)])]
            if len(group):
                others = [row for row in dependence if row["map"] == name and row["part"] in {*group["part"]}]
                favoured = set().union(*(best.get((str(name), one), set()) for one in group["part"].unique()))
                judged = _class(group, part, others, rules, favoured)
                found.append({"map": name, "part": part, "says": says[part], **judged})
    return found


def _class(
    group: pd.DataFrame, part: str, others: list[dict[str, Any]], rules: Rules, favoured: set[str]
) -> dict[str, Any]:
    binding = group[group["verdict"] != VOID]
    judged, apart = binding[~binding["apart"].astype(bool)], binding[binding["apart"].astype(bool)]
    moves = _moves(judged, part, others)
    if (favoured & {HOLDS, FAILS}) - {*judged["verdict"]}:
        moves.append("best case")
    return {
        "class": _name(judged, moves, rules.classes),
        "why": _why(judged, apart, part),
        "moves_with": moves,
        "judged": int((judged["part"] == part).sum()),
        "unlearnt": int((apart["part"] == part).sum()),
        "void": int(((group["verdict"] == VOID) & (group["part"] == part)).sum()),
    }


def _name(judged: pd.DataFrame, moves: list[str], names: Classes) -> str:
    if judged.empty:
        return names.unjudged
    found = {*judged["verdict"]}
    if not moves and found in ({HOLDS}, {FAILS}):
        return names.holds if found == {HOLDS} else names.fails
    return names.depends


def _why(judged: pd.DataFrame, apart: pd.DataFrame, part: str) -> str:
    """holds with tuned constants; does not hold with the authors' constants"""
    said: dict[str, list[str]] = {}
    several = judged["episodes"].nunique() > 1
    for setting, mine in judged.groupby("setting", sort=False):
        for status, at in _by_episodes(mine, part, several):
            said.setdefault(status, []).append(CONSTANTS.get(str(setting), str(setting)) + at)
    unlearnt = [CONSTANTS.get(str(setting), str(setting)) for setting in apart["setting"].unique()]
    if unlearnt:
        said["nothing is learnt"] = unlearnt
    phrases = [f"{status} with {' and '.join(names)}" for status, names in said.items()]
    return "; ".join([*phrases, *_unconstrained(judged)]) or "the constraint does not bind"


def _by_episodes(mine: pd.DataFrame, part: str, several: bool) -> list[tuple[str, str]]:
    """(status, at which K): K is named where it makes a difference."""
    found = {K: _status(each, part) for K, each in mine.groupby("episodes")}
    if not several or (len(found) > 1 and len({*found.values()}) == 1):
        return [(_status(mine, part), "")]
    return [(status, f" at K = {K:,}") for K, status in found.items()]


def _unconstrained(judged: pd.DataFrame) -> list[str]:
    """Of learners that ignore the constraint: what they strive for costs so much."""
    if "unconstrained_cost" not in judged or judged["unconstrained_cost"].isna().all():
        return []
    least, most = judged["unconstrained_cost"].min(), judged["unconstrained_cost"].max()
    costs = f"{least:.2f}" if most - least < 0.005 else f"{least:.2f} to {most:.2f}"
    return [f"the unconstrained optimum costs {costs}, the limit is {judged['limit'].iloc[0]:g}"]


def _status(mine: pd.DataFrame, part: str) -> str:
    """Over the readings of the paper's sentences; what a dip costs in parentheses."""
    strict, forgiving = (_count(mine[mine["part"] == name]) for name in (part, FORGIVEN.get(part)))
    return strict if forgiving in ("", strict) else f"{strict} ({forgiving} where dips are forgiven)"


def _count(mine: pd.DataFrame) -> str:
    if mine.empty:
        return ""
    said = mine["says"].where(mine["says"].notna(), mine["verdict"]) if "says" in mine else mine["verdict"]
    for words in (said, mine["verdict"]):
        if words.nunique() == 1:
            return str(words.iloc[0])
    return f"holds in {(mine['verdict'] == HOLDS).sum()} of {len(mine)} readings"


def _moves(judged: pd.DataFrame, part: str, others: list[dict[str, Any]]) -> list[str]:
    """What the verdict changes with."""
    if judged.empty:
        return []
    first = judged[judged["part"] == part]
    by_setting = _verdicts(first, ["setting"])
    place = ["reading", "budget", *(word for word in WORDS if word in first)]
    by_episodes = _verdicts(first, ["setting", *place, "episodes"]).groupby(level=["setting", *place]).nunique()
    disjoint = _verdicts(first, [*place, "episodes"]).groupby(level=place).agg(_have_nothing_in_common)
    by_reading = first.groupby(["setting", "episodes"])["verdict"].nunique()
    moved = [
        name
        for name in dict.fromkeys(name for row in judged["moved"] for name in row)
        if any(
            {*row.get(name, [])} - {verdict} for row, verdict in zip(judged["moved"], judged["verdict"], strict=True)
        )
    ]
    across = judged.groupby([*CASE, "setting"])["verdict"].nunique()
    found = {
        "constants": by_setting.nunique() > 1,
        "reading": (by_reading > 1).any(),
        "number of episodes": (by_episodes > 1).any() or disjoint.any(),
        "dips": (across > 1).any(),
        f"thresholds ({', '.join(moved)})": bool(moved),
        "mean of trials": (judged["mean_of_trials"] != judged["verdict"]).any(),
        **{words: any(row[kind] for row in others) for kind, words in KINDS.items()},
    }
    return [words for words, moves in found.items() if moves]


def _verdicts(rows: pd.DataFrame, keys: list[str]) -> pd.Series:
    """All that were given, by some keys."""
    return rows.groupby(keys)["verdict"].agg(lambda found: tuple(sorted({*found})))


def _have_nothing_in_common(found: pd.Series) -> bool:
    """Are there two sets of verdicts without one in both?"""
    return any(not {*one} & {*other} for one, other in combinations(found, 2))
