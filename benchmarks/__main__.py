"""``python -m benchmarks``: our kernels beside C, plain Python and HiGHS, in one run.

Writes results/benchmarks/summary.csv: the CPU seconds that a step (loops) or a solve (optimum) takes us and
them, the ratio ours/theirs of the medians, and the interquartile range of that ratio over the repeats. A ratio
below 1 says that ours is faster.
"""

import argparse
import csv
import os
import platform
import sys
from collections.abc import Iterator
from pathlib import Path as File

from benchmarks import c_loop, cases, loops, planning, python_loop
from benchmarks.timing import Comparison

RESULTS = File(__file__).resolve().parents[1] / "results" / "benchmarks"


def processor() -> str:
    try:
        lines = File("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def measure(quick: bool) -> Iterator[Comparison]:
    repeats = 3 if quick else 7
    chosen = cases.quick if quick else list
    library = c_loop.player(c_loop.build())
    for case in chosen(cases.BESIDE_C):
        yield loops.beside(case, "C", library, repeats)
    for case in chosen(cases.BESIDE_PYTHON):
        yield loops.beside(case, "python", python_loop.play, repeats)
    for map in cases.BESIDE_HIGHS:
        yield planning.beside_highs(map, repeats)


def written(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few episodes and repeats: does it run, roughly how fast?")
    parser.add_argument("--into", type=File, default=RESULTS, help="folder for summary.csv")
    options = parser.parse_args()
    print(f"{processor()}, {os.cpu_count()} cores, Python {platform.python_version()}", flush=True)
    print(f"{'':36} {'against':8} {'ours':>9} {'theirs':>9} {'ratio':>8} {'spread':>8}")
    rows = []
    try:
        for row in measure(options.quick):
            rows.append(row)
            times = f"{written(row.ours):>9} {written(row.theirs):>9}"
            print(f"{row.name:36} {row.against:8} {times} {row.ratio:8.3g} {row.spread:8.2g}", flush=True)
    except c_loop.NoCompiler as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 1
    print("Random numbers are drawn beforehand for both sides, and no policy is evaluated.")
    for case in cases.quick(cases.DRAWING) if options.quick else cases.DRAWING:
        share = loops.drawing(case, 3)
        print(f"Drawing them takes {share:.0%} of simulate.run for {case.name}, K = {case.episodes:,}.")
    options.into.mkdir(parents=True, exist_ok=True)
    with open(options.into / "summary.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Comparison._fields)
        writer.writerows(rows)
    print(f"Written to {options.into / 'summary.csv'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
