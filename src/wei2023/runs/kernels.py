"""Kernels are compiled before the jobs that call them, and kept for other runs.

A note beside them says that all of an algorithm's are there. The pipeline waits for kernels where none of the
algorithm's results stands yet; else whoever lacks one compiles it, as a node of a cluster with another processor does.
"""

import sys
import time
import warnings
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from nscmdp import algorithms, environments, files, simulate
from nscmdp.kernels.cache import folder as kept_in
from nscmdp.problem import DoesNotFit
from wei2023.runs import integrity
from wei2023.study import layout
from wei2023.study.plan import Plan


def compile_for(names: Iterable[str]) -> None:
    """Run every learner for a few episodes, with features and without, so that what it needs is compiled and kept."""
    warnings.simplefilter("ignore", DoesNotFit)
    tabular = environments.make("grid_world", 3, map="6x6", horizon=2, limit=2.0)
    featured = environments.make("linear", 10, states=12, horizon=2)
    for name in names:
        began = time.monotonic()
        for env in (tabular, featured):
            simulate.run(env, name, algorithms.settings(name)[0])
        with suppress(OSError):  # what cannot be kept is compiled again
            note(name).parent.mkdir(parents=True, exist_ok=True)
            note(name).touch()
        print(f"{name}: ready in {time.monotonic() - began:.1f} s", file=sys.stderr, flush=True)


def note(algorithm: str) -> Path:
    """Is there where an algorithm's kernels are."""
    return kept_in(algorithms.module(algorithm).__name__) / f"{algorithm}.ready"


def announce(plan: Plan, folder: Path) -> None:
    """Tell the pipeline, at its start, of which algorithms it need not compile the kernels.

    Where some result of an algorithm stands, its kernels are announced even if they are not there: Snakemake would
    otherwise make this result again along with them.
    """
    lacking = {name for name in plan.algorithms if not note(name).exists()}
    for one in integrity.planned(plan) if lacking else []:
        called = {*one.specification["sources"], one.specification.get("algorithm")}.intersection(
            plan.algorithms
        )
        if lacking & called and files.was_made_from(
            folder / one.name, files.provenance(one.specification)
        ):
            lacking -= called
    for name in plan.algorithms:
        announced = folder / layout.kernels(name)
        if name in lacking:
            announced.unlink(missing_ok=True)
        else:
            announced.parent.mkdir(parents=True, exist_ok=True)
            announced.touch()
