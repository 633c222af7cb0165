"""Searching for a learner's factors, generation by generation: resumable, and the same on any machine.

The first generations are a low-discrepancy draw (Sobol, scrambled by the number of the search) over the algorithm's
ranges, on a logarithmic scale; from the best of them CMA-ES goes on. It is told ranks alone, by the tuning's
objective (:mod:`nscmdp.suite.scoring`):

    gap      feasible: mean violation + t s / sqrt(n) <= 0      s: the generation's median deviation between seeds,
                                                                n: the number of selection seeds, t: Student's 95% point
             first the feasible candidates by their loss, then the others by that bound
    margin   the smallest of the margins mean / s of the parts

Where who learns breaks the constraint first, such a ranking prefers not learning, and few points of the draw can do
both. There, half of the generations begin at the longest frames and the strictest dual (:meth:`Space.strict`).

Every generation is scored on seeds of its own from the pool of search seeds, so that no candidate is bred for one
seed. After 4, 8, 16, ... generations the best newcomers and the mean of the search distribution enter the selection:
they are scored on the selection seeds, which the search itself never sees.
"""

import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from nscmdp import algorithms, files
from nscmdp.metrics import Array
from nscmdp.problem import DoesNotFit, Problem
from nscmdp.suite import optima, scoring, tuning

SPREAD = 4  # generations of Sobol points
# Of the first search distribution, in shares of the ranges; NEAR: around a given start.
WIDTH, NEAR = 0.2, 0.1
NEWCOMERS = 3  # the best candidates since the last selection enter the next
MEAN = -1  # the "candidate" that is the mean of the search distribution

COLUMNS = {
    "stage": pa.string(),  # search, or selection
    "generation": pa.int64(),  # in which the candidate was tried, or entered the selection
    "candidate": pa.int64(),
    "factors": pa.string(),
    "seed": pa.int64(),
}


class Space:
    """Factors on a logarithmic scale as points of the unit cube."""

    def __init__(self, ranges: dict[str, tuple[float, float]]) -> None:
        self.names = list(ranges)
        self.low, self.high = np.log(list(ranges.values())).T

    def factors(self, point: Array) -> dict[str, float]:
        """To four digits: what is written is what was tried."""
        values = np.exp(self.low + point * (self.high - self.low))
        return {name: float(f"{value:.4g}") for name, value in zip(self.names, values, strict=True)}

    def point(self, factors: dict[str, float]) -> Array:
        values = np.log([max(factors[name], 1e-300) for name in self.names])
        return np.clip((values - self.low) / (self.high - self.low), 0.0, 1.0)

    def strict(self) -> Array:
        """The longest frames and the strictest dual that are admissible, the rest in the middle of its range.

        What can both learn and keep the constraint does it here, if little else; few points of a draw lie here.
        """
        ends = {"frame": 1.0, "epsilon": 1.0, "eta": 0.0, "btilde": 0.0}
        return np.array([ends.get(name, 0.5) for name in self.names])

    def edges(self, factors: dict[str, float], near: float = 0.1) -> list[str]:
        """The factors within a tenth of an end of their range."""
        places = zip(self.names, self.point(factors), strict=True)
        return [name for name, at in places if not near < at < 1 - near]


class Descent(NamedTuple):
    """Some generations of a search: from where, and which."""

    start: Array | None  # None: from the best of a low-discrepancy draw
    first: int
    until: int

    def is_level(self, generation: int) -> bool:
        """Do candidates enter the selection then? After a draw, when the effort has doubled, and at the end."""
        first = SPREAD if self.start is None else 1
        levels = [self.first + first * 2**i for i in range(30)]
        return generation in levels or generation == self.until


def evolve(
    dimension: int,
    effort: dict[str, Any],
    search: int,
    rank: Callable[[int, Array], list[int]],
    descent: Descent,
) -> Iterator[tuple[int, Array]]:
    """Try generations of points; ``rank`` orders them, the best first. Yields each one's number and the mean so far."""
    from cmaes import CMA  # which no other job needs
    from scipy.stats import qmc  # slow to import, and few jobs need it

    size, generation = effort["population"], descent.first
    if descent.start is None:
        sobol = qmc.Sobol(dimension, scramble=True, rng=np.random.default_rng([search, 7]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # any number will do, not only powers of 2
            drawn = sobol.random(min(SPREAD, descent.until - generation) * size)
        best, width = drawn[rank(generation, drawn)[0]], WIDTH
        generation += len(drawn) // size
        yield generation, best
    else:
        best, width = descent.start, NEAR
    unit = np.tile([0.0, 1.0], (dimension, 1))
    inside = np.clip(best, 0.02, 0.98)  # a mean on the border would waste half of its draws
    strategy = CMA(mean=inside, sigma=width, bounds=unit, seed=1000 + search, population_size=size)
    for number in range(generation, descent.until):
        points = np.array([strategy.ask() for _ in range(size)])
        order = rank(number, points)
        strategy.tell([(points[i], float(place)) for place, i in enumerate(order)])
        yield number + 1, np.clip(strategy.mean, 0.0, 1.0)


class Search:
    """One search for one learner's factors; ``known``: rows of an earlier attempt at it."""

    def __init__(
        self,
        effort: dict[str, Any],
        space: Space,
        objective: scoring.Scorer,
        known: list[dict[str, Any]],
    ) -> None:
        self.effort, self.space, self.objective = effort, space, objective
        self.rows: list[dict[str, Any]] = []
        self.selected: set[str] = set()  # factors as text
        self.known = {(row["stage"], row["factors"], row["seed"]): row for row in known}

    def seeds(self, generation: int) -> list[int]:
        """Those of the pool that a generation is scored on."""
        number, pool = self.effort["seeds"], self.effort["search_seeds"]
        return [pool[(generation * number + i) % len(pool)] for i in range(number)]

    def score(
        self, stage: str, generation: int, candidate: int, text: str, seeds: list[int]
    ) -> None:
        keys = {"stage": stage, "generation": generation, "candidate": candidate, "factors": text}
        for seed in seeds:
            known = self.known.get((stage, text, seed))
            row = known or self.objective.score(json.loads(text), seed)
            measured = {name: row[name] for name in self.objective.measures}
            self.rows.append({**keys, "seed": seed, **measured})

    def rank(self, generation: int, points: Array) -> list[int]:
        """The places of a generation's points, the best first."""
        seeds, first = self.seeds(generation), len(self.rows)
        for candidate, point in enumerate(points):
            text = json.dumps(self.space.factors(point))
            self.score("search", generation, candidate, text, seeds)
        return list(self.objective.ordered(pd.DataFrame(self.rows[first:])).index)

    def tried(self, since: int = 0) -> list[dict[str, Any]]:
        """What the search itself has scored, from some generation on."""
        return [r for r in self.rows if r["stage"] == "search" and r["generation"] >= since]

    def enter(self, generation: int, since: int, mean: Array | None) -> None:
        """The best candidates since the last selection, and the mean of the distribution, are scored on new seeds."""
        generations = pd.DataFrame(self.tried(since)).groupby("generation")
        best = pd.concat([self.objective.ordered(part) for _, part in generations])
        best = best.sort_values(["infeasible", "key"], kind="stable")[: NEWCOMERS + (mean is None)]
        for candidate, text in best["factors"].items():
            self.select(generation, int(candidate), text)
        if mean is not None:
            self.enter_point(generation, mean)

    def enter_point(self, generation: int, point: Array) -> None:
        self.select(generation, MEAN, json.dumps(self.space.factors(point)))

    def select(self, generation: int, candidate: int, text: str) -> None:
        if text not in self.selected:
            self.selected.add(text)
            self.score("selection", generation, candidate, text, self.effort["selection_seeds"])

    def table(self) -> pa.Table:
        schema = COLUMNS | dict.fromkeys(self.objective.measures, pa.float64())
        return pa.Table.from_pylist(self.rows, schema=pa.schema(schema))


def run(
    spec: dict[str, Any],
    output: Path,
    progress: Path,
    space: Space,
    objective: scoring.Scorer,
    starts: Sequence[Array | None] = (None,),
) -> None:
    """Search from every start, and write all that was tried. What ``progress`` has of an earlier attempt is kept."""
    effort, began, since = spec["effort"], time.monotonic(), 0
    try:
        known = files.read_expected(progress, files.provenance(spec)).to_pylist()
    except files.Damaged:
        known = []
    search = Search(effort, space, objective, known)
    for start in starts:
        if start is not None:
            search.enter_point(0, start)
    ends = [effort["generations"] * i // len(starts) for i in range(len(starts) + 1)]
    for part in map(Descent, starts, ends[:-1], ends[1:]):
        for generation, mean in evolve(len(space.names), effort, spec["search"], search.rank, part):
            if part.is_level(generation):
                drawn = part.start is None and generation <= part.first + SPREAD
                search.enter(generation, since, None if drawn else mean)
                since = generation
            files.write(progress, search.table(), files.provenance(spec))
            done = f"{len(search.tried()) // effort['seeds']} candidates"
            seconds = time.monotonic() - began
            print(f"{done}, {seconds:.1f} s", file=sys.stderr, flush=True)
    files.write(output, search.table(), files.provenance(spec))
    progress.unlink(missing_ok=True)


def for_tuning(
    spec: dict[str, Any],
    solved: Path,
    output: Path,
    progress: Path,
    start: Path | None = None,
    margins: scoring.Margins | None = None,
) -> None:
    """Search for the factors of a learner, by its objective; ``start``: the tuning from whose choice it begins."""
    warnings.simplefilter("ignore", DoesNotFit)  # a frame longer than the run is one frame
    scorer, space = scoring.Scorer(spec, solved, margins), space_of(spec)
    begun = None if start is None else space.point(tuning.main_choice(start))
    starts = [begun, space.strict()] if spec["strict"] else [begun]
    run(spec, output, progress, space, scorer, starts)


def space_of(spec: dict[str, Any]) -> Space:
    problem = Problem.of(optima.environment(spec["case"]))
    return Space(algorithms.ranges(spec["algorithm"], problem, spec["frames"], spec["variants"]))
