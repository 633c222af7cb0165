"""The best case for the paper: constants under which the parts of C20 hold by the widest margin.

The distance of a run to a part's thresholds is at least 0 exactly where the part holds for that run:

    C20a              Lam over the last fifth - learnt
    C20b              the lesser of  max Lam until the deadline - learnt  and  least Lam from there on - floor
    C20b forgiving    the lesser of  max Lam until the deadline - learnt  and  Lam after the deadline - learnt
    C20c              the lesser of  limit - cost  over all episodes and  slack limit - cost  in the worst tenth
    C20d, C20e        cost over the last fifth - slack limit

with costs in shares of the limit. The margin of a part is the mean distance over seeds in standard deviations between
seeds: the larger it is, the more seeds agree. A search maximises the smallest margin of the parts that it is asked for:

    own             Algorithm 1's constants, its own three parts; the baselines stay at their own tuned choices
    shared          Algorithm 1's constants, and the baselines run with the same; all five parts
    triple_q, restart_q_ucb     that baseline's constants: can it both perform well and keep the limit?

That none is found says how close the search came and after what effort, never that there is none.
"""

import json
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from nscmdp import algorithms, simulate
from nscmdp.analysis.claims.simulation import parts
from nscmdp.analysis.claims.simulation.parts import ASKS, FIRST, PARTS, WHOLE, Part, Seed
from nscmdp.analysis.claims.simulation.rules import At
from nscmdp.analysis.tables import LAST
from nscmdp.metrics import Array
from nscmdp.problem import DoesNotFit
from nscmdp.runs import files, optima, scoring, tuning
from nscmdp.runs import search as searching
from nscmdp.study.catalogue import REGION

LEAST = 0.01  # a standard deviation counts as at least so much: seeds that agree to a percent are equally sure
BLOCK = 64  # points of the region between two notes of progress
BOTH = "both"
SEARCHED, CHOICE = "search", "tuned choice"  # candidates that are confirmed: the search's best, and what tuning chose
CONFIRMED = pa.schema(
    {
        "candidate": pa.string(),
        "part": pa.string(),
        "algorithm": pa.string(),
        "factors": pa.string(),
        "seed": pa.int64(),
        "distance": pa.float64(),
        "lam": pa.float64(),  # over the last fifth
        "cost": pa.float64(),  # over all episodes
    }
)


def performs_well(seed: Seed, at: At) -> float:
    return seed.lam(after=LAST) - at.learnt


def learns_quickly(seed: Seed, at: At) -> float:
    moving, share = seed.moving_lam()
    early = moving[share <= at.deadline]
    if not len(early):
        return -1.0
    reached = np.flatnonzero(early >= at.learnt)
    begin = reached[0] if len(reached) else early.argmax()
    return float(min(early.max() - at.learnt, moving[begin:].min() - min(at.floor, at.learnt)))


def learns_quickly_but_for_dips(seed: Seed, at: At) -> float:
    moving, share = seed.moving_lam()
    early = moving[share <= at.deadline]
    return float(min(early.max(initial=-1.0), seed.lam(after=at.deadline)) - at.learnt)


def keeps_the_limit(seed: Seed, at: At) -> float:
    worst = max(seed.mean_cost(i / 10, (i + 1) / 10) for i in range(2, 10))
    return min(seed.limit - seed.mean_cost(), at.slack * seed.limit - worst) / (seed.limit or 1.0)


def breaks_the_limit(seed: Seed, at: At) -> float:
    """A cost of exactly so much does not break it yet."""
    above = (seed.mean_cost(after=LAST) - at.slack * seed.limit) / (seed.limit or 1.0)
    return above or -sys.float_info.min


DISTANCES: dict[Callable[[Seed, At], bool], Callable[[Seed, At], float]] = {
    parts.performs_well: performs_well,
    parts.learns_quickly: learns_quickly,
    parts.learns_quickly_but_for_dips: learns_quickly_but_for_dips,
    parts.keeps_the_limit: keeps_the_limit,
    parts.breaks_the_limit: breaks_the_limit,
}


def distance(part: Part, seed: Seed, at: At) -> float:
    return DISTANCES[part.judge](seed, at)


class Question(NamedTuple):
    says: str
    parts: tuple[Part, ...]  # that are confirmed
    searched: tuple[str, ...]  # the algorithms that a candidate's factors are given to; the first is searched for
    decides: tuple[str, ...]  # the parts whose smallest margin is maximised
    wholes: dict[str, tuple[str, ...]]  # what all of some parts come to


def _of_baseline(algorithm: str) -> Question:
    title = algorithms.title(algorithm)
    asked = (
        Part("performs well", f"{title} performs well", algorithm, parts.performs_well, ("learnt",)),
        Part("keeps the limit", f"{title} keeps the limit", algorithm, parts.keeps_the_limit, ("slack",)),
    )
    names = tuple(part.name for part in asked)
    return Question(f"{title} performs well and keeps the limit", asked, (algorithm,), names, {BOTH: names})


BASELINES = ("triple_q", "restart_q_ucb")
ALONE = ("C20a", "C20b", "C20c")  # what the claim says of Algorithm 1
WHOLES = ASKS | {"Algorithm 1": ALONE}
QUESTIONS = {
    "own": Question("baselines at their own tuned constants", PARTS, (FIRST,), ALONE, WHOLES),
    "shared": Question("all learners at the same constants", PARTS, (FIRST, *BASELINES), ASKS[WHOLE], ASKS),
} | {name: _of_baseline(name) for name in BASELINES}


def shared_factors(algorithm: str, factors: dict[str, float]) -> dict[str, float]:
    """Those that the algorithm has by the same name; its others stay at their defaults."""
    known = algorithms.factors(algorithm)
    return {name: value for name, value in factors.items() if name in known}


class Runner:
    """One run of an algorithm at some factors, and what the parts are judged by."""

    def __init__(self, spec: dict[str, Any], solved: Path) -> None:
        self.env, self.every = optima.environment(spec["case"]), spec["evaluate_every"]
        self.best = scoring.references(solved, self.env.episodes)
        self.at = At(**spec["thresholds"])

    def run(self, algorithm: str, factors: dict[str, float], seed: int) -> simulate.Run:
        return simulate.run(self.env, algorithm, "scaled", seed, self.every, factors=factors, windows=1, solve=False)

    def seed(self, run: simulate.Run) -> Seed:
        best, horizon = self.best.loc[run.episode], self.env.H
        uniform, optimal = best["uniform"].to_numpy(), best["value"].to_numpy()
        share, cost = run.episode / self.env.episodes, horizon - run.utility_value
        return Seed(share, run.weight, run.value - uniform, optimal - uniform, cost, horizon - run.rho)


class Margins:
    """What a search for a best case maximises."""

    def __init__(self, spec: dict[str, Any], solved: Path) -> None:
        self.question = QUESTIONS["own" if spec["question"] == REGION else spec["question"]]
        self.parts = [part for part in self.question.parts if part.algorithm in self.question.searched]
        self.measures: Sequence[str] = (*scoring.MEASURES, *(part.name for part in self.parts))
        self.runner = Runner(spec, solved)

    def score(self, factors: dict[str, float], seed: int) -> dict[str, float]:
        found: dict[str, float] = {}
        for algorithm in self.question.searched:
            run = self.runner.run(algorithm, shared_factors(algorithm, factors), seed)
            if algorithm == self.question.searched[0]:
                best, episodes = self.runner.best.loc[run.episode], self.runner.env.episodes
                found |= scoring.scored(run, best, episodes, algorithms.constrained(algorithm))
            judged = self.runner.seed(run)
            mine = [part for part in self.parts if part.algorithm == algorithm]
            found |= {part.name: distance(part, judged, self.runner.at) for part in mine}
        return found

    def ordered(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Too few seeds for a deviation of each candidate's own, so the generation's median is shared."""
        grouped = rows.groupby("candidate")
        names = list(self.question.decides)
        deviation = grouped[names].std(ddof=1).median().fillna(0.0)
        smallest = margin(grouped[names].mean(), deviation).min(axis=1)
        return _in_order(pd.DataFrame({"factors": grouped["factors"].first(), "key": -smallest}))

    def others(self, rows: pd.DataFrame) -> list[tuple[int, str]]:
        return []


def _in_order(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(infeasible=False).sort_values("key", kind="stable")


def margin(mean: Any, deviation: Any) -> Any:
    return mean / np.maximum(deviation, LEAST)


def margins(rows: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """One row per candidate (``factors``): the margin of every part over its seeds."""
    grouped = rows.groupby("factors", sort=False)[list(names)]
    return margin(grouped.mean(), grouped.std(ddof=1).fillna(0.0))


def search(spec: dict[str, Any], solved: Path, output: Path, progress: Path, start: Path | None = None) -> None:
    """Search for a best case, from the choice of a tuning and from anywhere; or draw its region."""
    warnings.simplefilter("ignore", DoesNotFit)
    space, objective = searching.space_of(spec), Margins(spec, solved)
    if spec["question"] == REGION:
        draw_region(spec, output, progress, space, objective)
    else:
        begun = [] if start is None else [space.point(tuning.main_choice(start))]
        searching.run(spec, output, progress, space, objective, [*begun, None])


def draw_region(
    spec: dict[str, Any], output: Path, progress: Path, space: searching.Space, objective: searching.Objective
) -> None:
    """Score low-discrepancy points of all admissible constants, on the same seeds."""
    began, drawn = time.monotonic(), region_points(len(space.names), spec["points"])
    draw = searching.Search(spec["effort"], space, objective, searching.noted(progress, spec))
    for number, point in enumerate(drawn, start=1):
        draw.score(REGION, 0, number - 1, json.dumps(space.factors(point)), draw.seeds(0))
        if number % BLOCK == 0:
            files.write(progress, draw.table(), files.provenance(spec))
            print(f"{number} points, {time.monotonic() - began:.1f} s", file=sys.stderr, flush=True)
    files.write(output, draw.table(), files.provenance(spec))
    progress.unlink(missing_ok=True)


def region_points(dimension: int, points: int) -> Array:
    return searching.sobol(dimension, points, [0, 11])


def candidates(file: Path, question: Question) -> pd.DataFrame:
    """What a search scored on the selection seeds, the candidate of the widest smallest margin first."""
    rows = tuning.selection(file)
    each = margins(rows, [part.name for part in question.parts if part.name in rows])
    table = scoring.summary(rows, algorithms.constrained(question.searched[0])).set_index("factors")
    smallest = each[list(question.decides)].min(axis=1)
    generation = rows.drop_duplicates("factors").set_index("factors")["generation"]
    found = table.join(each).assign(generation=generation, margin=smallest, key=-smallest)
    return _in_order(found).reset_index()


def confirm(spec: dict[str, Any], solved: Path, output: Path, searched: Sequence[Path], tuned: Sequence[Path]) -> None:
    """Score the best candidate of a search, and the tuned choice, on fresh seeds; baselines beside at their choices."""
    warnings.simplefilter("ignore", DoesNotFit)
    question, runner, began = QUESTIONS[spec["question"]], Runner(spec, solved), time.monotonic()
    choices = {algorithm: choice[scoring.MAIN] for (algorithm, _), choice in tuning.choices(tuned).items()}
    best = spec["recorded"] if not searched else json.loads(candidates(searched[0], question)["factors"].iloc[0])
    rows: list[dict[str, Any]] = []
    runs: dict[tuple[str, str, int], Seed] = {}  # the candidates share those of baselines at their own choices
    for candidate, factors in {SEARCHED: best, CHOICE: choices[question.searched[0]]}.items():
        given = choices | {algorithm: shared_factors(algorithm, factors) for algorithm in question.searched}
        for algorithm in dict.fromkeys(part.algorithm for part in question.parts):
            text = json.dumps(given[algorithm])
            for number in spec["seeds"]:
                if (algorithm, text, number) not in runs:
                    runs[algorithm, text, number] = runner.seed(runner.run(algorithm, given[algorithm], number))
                seed = runs[algorithm, text, number]
                keys = {"candidate": candidate, "algorithm": algorithm, "factors": text, "seed": number}
                measured = keys | {"lam": seed.lam(after=LAST), "cost": seed.mean_cost()}
                mine = [part for part in question.parts if part.algorithm == algorithm]
                rows += [measured | {"part": part.name, "distance": distance(part, seed, runner.at)} for part in mine]
            print(f"{candidate}, {algorithm}: {time.monotonic() - began:.1f} s", file=sys.stderr, flush=True)
    files.write(output, pa.Table.from_pylist(rows, schema=CONFIRMED), files.provenance(spec))
