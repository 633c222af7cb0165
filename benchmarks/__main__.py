"""``python -m benchmarks``: our kernels beside C, plain Python, HiGHS, direct forms and peers, and what surrounds them.

Writes into results/benchmarks/:

    summary.csv      CPU seconds that a step (loops), an evaluation or a solve takes us and them, the ratio ours/theirs
                     of the medians, and the interquartile range of that ratio over the repeats; below 1, ours is faster
    pipeline.csv     what has no opponent: start of a worker, its memory, Snakemake's share, inductions a checkpoint
    scaling.csv      the cost of a step against S, A, H, K, d and frames, that of a run against their number
    profile.csv      with --whole: where the CPU time of all of config.yaml goes, by job and inside the simulations
    memory.csv       the memory of a worker against S, K and d
    misses.csv       cache misses against S, where valgrind is at hand
    scaling.svg      the last three drawn (and .png)
    machine.json     where all this was measured
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeVar

from benchmarks import (
    cases,
    evaluation,
    loops,
    machine,
    memory,
    misses,
    peers,
    pipeline,
    planning,
    profile,
    scaling,
    without,
)
from benchmarks.c_loop import InC, NoCompiler
from benchmarks.pipeline import Figure
from benchmarks.python_loop import InPython, beside_a_loop_of_ones_own
from benchmarks.timing import Comparison
from nscmdp.problem import DoesNotFit
from wei2023.report.page import benchmarks
from wei2023.study import layout, plan

RESULTS = Path(__file__).resolve().parents[1] / "results" / "benchmarks"
Row = TypeVar("Row", bound=NamedTuple)


def comparisons(quick: bool) -> Iterator[Comparison]:
    """``quick`` plays fewer episodes, leaves out what takes longest, and shows Python on the smallest map alone."""
    repeats = 3 if quick else 5
    worlds = (cases.SMALL, cases.LINEAR) if quick else cases.OPTIMA
    for case in cases.BESIDE_C:
        if not quick:
            yield loops.beside(case, "C", InC, repeats)
        elif case.episodes > 20:
            yield loops.beside(
                case._replace(episodes=max(10, case.episodes // 20)), "C", InC, repeats
            )
    for case, played in cases.BESIDE_PYTHON:
        if case.world in worlds:
            yield loops.beside(
                case, "python", InPython, 3, max(1, played // 5) if quick else played
            )
    for case, played in cases.BESIDE_DIRECT:
        yield loops.beside(case, "direct", InPython, 3, played // 10 if quick else played)
    for world, episodes in cases.PLAIN:
        yield beside_a_loop_of_ones_own(world, episodes, repeats)
    for case, evaluated in cases.EVALUATION:
        yield evaluation.beside_plain(case, evaluated // 10 if quick else evaluated, repeats)
    yield from without.comparisons(quick)
    for world in worlds:
        if world != cases.LARGE:
            yield planning.beside_highs(world, 3)
    yield from peers.comparisons(quick)


def surroundings(quick: bool) -> Iterator[Figure]:
    yield from pipeline.starts(1 if quick else 3, cold=not quick)
    yield from pipeline.memory(10_000 if quick else 100_000)
    yield from pipeline.graphs((1_000,) if quick else (1_000, 10_000))
    yield from pipeline.sweep(10_000 if quick else 1_000_000)
    if not quick:
        yield from pipeline.whole_run(
            "tiny preset", pipeline.settings("workflow/presets/tiny.yaml"), 1
        )
        yield from pipeline.batches(60, 4, os.cpu_count() or 1)
    for case in cases.DRAWING:
        yield Figure(
            f"random numbers, {case.name}", loops.drawing(case, 3), "of a run without evaluation"
        )
    for world in (cases.SMALL,) if quick else cases.OPTIMA:
        large = world == cases.LARGE
        counted, spent = planning.inductions(world, 50 if large else 1_000, 0 if large else 3)
        yield Figure(f"optimum along {world.name}", counted, "inductions a checkpoint")
        yield Figure(f"optimum along {world.name}, time", spent, "times one maximising induction")


def curves(quick: bool, into: Path) -> None:
    counted = []
    if misses.available():
        chosen = scaling.of_states()
        try:
            counted = kept(misses.count(chosen[::5] if quick else chosen), into / "misses.csv")
        except subprocess.CalledProcessError as error:
            print(
                f"No cache misses are counted: valgrind stopped with {error.returncode} (-4: unknown instruction)."
            )
    else:
        print("No cache misses are counted: valgrind is not installed.")
    held = kept(memory.measured(quick), into / "memory.csv")
    points = kept(scaling.measure(quick, 3), into / "scaling.csv")
    scaling.draw(points, counted, held, into / "scaling")


def kept(rows: Iterable[Row], file: Path) -> list[Row]:
    """Print the rows as they come, write them as a table, and return them."""
    found = []
    for row in rows:
        found.append(row)
        print(
            "  ".join(f"{cell:<44}" if i == 0 else shown(cell) for i, cell in enumerate(row)),
            flush=True,
        )
    if not found:
        return found
    with open(file, "w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(found[0]._fields)
        writer.writerows(found)
    return found


def shown(cell: object) -> str:
    return f"{cell:>10.4g}" if isinstance(cell, float) else f"{cell!s:>8}"


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="few episodes and repeats: does it run, roughly how fast?",
    )
    parser.add_argument(
        "--whole",
        action="store_true",
        help="also the whole of config.yaml: where its CPU time goes",
    )
    parser.add_argument("--into", type=Path, default=RESULTS, help="folder for the results")
    options = parser.parse_args()
    warnings.simplefilter("ignore", DoesNotFit)
    options.into.mkdir(parents=True, exist_ok=True)
    try:
        described = machine.describe()
    except NoCompiler as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 1
    text = json.dumps(described, indent=2)
    (options.into / "machine.json").write_text(text + "\n")
    print(text)
    kept(comparisons(options.quick), options.into / "summary.csv")
    kept(surroundings(options.quick), options.into / "pipeline.csv")
    if options.whole:
        kept(
            profile.parts(pipeline.settings("config.yaml"), os.cpu_count() or 1),
            options.into / "profile.csv",
        )
    curves(options.quick, options.into)
    print(f"Written to {options.into}")
    run = options.into.parent / layout.CONFIG
    if options.into == RESULTS and run.exists():
        benchmarks.show(plan.make(json.loads(run.read_text(encoding="utf-8"))), RESULTS.parent)
    return 0


if __name__ == "__main__":
    sys.exit(main())
