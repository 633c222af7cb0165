"""What surrounds the kernels: starting a worker, its memory, building the graph of jobs, the price of a whole run."""

import csv
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path as File
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import yaml

from nscmdp import plan

ROOT = File(__file__).resolve().parents[1]
LEARNER = {"algorithm": "nonstationary_triple_q", "setting": "scaled"}
GRID = {"name": "grid_world", "map": "6x6", "horizon": 15, "limit": 2.0}
# A worker that says, when it is done, how much memory it had at most; getrusage would count the caller's as well.
WORKER = """
import sys
from nscmdp.cli import main
failed = main(sys.argv[1:])
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
sys.exit(failed)
"""


class Figure(NamedTuple):
    name: str
    value: float
    unit: str


def run(*command: str, **variables: str) -> tuple[float, str]:
    """Wall seconds of a command that must succeed, and what it prints."""
    begin = perf_counter()
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )
    taken = perf_counter() - begin
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)[:200]} failed:\n{done.stderr[-2000:]}")
    return taken, done.stdout


def experiment(episodes: int, seeds: int, learners: list[dict[str, Any]]) -> dict[str, Any]:
    """A configuration of one experiment in which a thousand episodes are evaluated."""
    every = max(1, episodes // 1000)
    chosen = {"environment": GRID, "episodes": [episodes], "seeds": seeds, "evaluate_every": every}
    return {"experiments": [{"name": "bench", "learners": learners, **chosen}]}


def simulate(episodes: int, seeds: int, worker: str | None = None) -> tuple[float, str]:
    """Wall seconds of one job of the pipeline, and what ``worker`` (a program; by default the command line) prints."""
    config = plan.make(experiment(episodes, seeds, [LEARNER]))
    (learner,) = config.experiment("bench").learners
    specification = json.dumps(config.run_spec("bench", learner.name))
    program = [sys.executable, "-c", worker] if worker else [sys.executable, "-m", "nscmdp"]
    with tempfile.TemporaryDirectory() as folder:
        output = str(File(folder) / f"seeds=0-{seeds - 1}.parquet")
        return run(*program, "simulate", specification, "--seeds", f"0-{seeds - 1}", "--output", output)


def starts(repeats: int, cold: bool) -> Iterator[Figure]:
    """Importing, a trivial job, and compiling Algorithm 1 into an empty cache."""

    def median(*command: str) -> float:
        return float(np.median([run(*command)[0] for _ in range(repeats)]))

    python = sys.executable
    simulate(10, 1)  # compiles or finds what the next ones only load
    yield Figure("start of Python", median(python, "-c", "pass"), "s")
    yield Figure("import of nscmdp.simulate", median(python, "-c", "import nscmdp.simulate"), "s")
    yield Figure(
        "warm start: a job of 10 episodes", float(np.median([simulate(10, 1)[0] for _ in range(repeats)])), "s"
    )
    if cold:
        with tempfile.TemporaryDirectory() as folder:
            command = (python, "-m", "nscmdp", "compile", LEARNER["algorithm"])
            yield Figure("cold start: compile Algorithm 1", run(*command, NSCMDP_CACHE=folder)[0], "s")


def memory(episodes: int) -> Iterator[Figure]:
    """The most that a worker holds, over K and 16 K episodes."""
    if not File("/proc/self/status").exists():
        return
    for number in (episodes, 16 * episodes):
        kilobytes = int(simulate(number, 1, WORKER)[1])
        yield Figure(f"peak memory of a worker, K = {number:,}", kilobytes / 1024, "MiB")


def no_lists() -> dict[str, Any]:
    """Nothing of what config.yaml lists: Snakemake replaces a list by that of a second file, and keeps the others."""
    usual = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    return {key: [] for key, value in usual.items() if isinstance(value, list)}


def graphs(simulations: tuple[int, ...]) -> Iterator[Figure]:
    """``snakemake -n``: the configuration checked, the graph built, nothing run."""
    for number in simulations:
        learners = [{**LEARNER, "label": f"learner_{i}"} for i in range(10)]
        with tempfile.TemporaryDirectory() as folder:
            config = experiment(400, number // len(learners), learners)
            taken = snakemake(File(folder), {**no_lists(), **config}, "--dry-run")
        yield Figure(f"snakemake -n, {number:,} simulations", taken, "s")


def snakemake(folder: File, config: dict[str, Any], *options: str) -> float:
    """Wall seconds of Snakemake on one core with a configuration of its own, results in ``folder``."""
    file = folder / "config.json"
    file.write_text(json.dumps({**config, "results": str(folder / "results")}))
    command = (sys.executable, "-m", "snakemake", "--cores", "1", "--quiet", "all", "--configfile", str(file))
    path = f"{File(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # its rules call nscmdp
    return run(*command, *options, PATH=path)[0]


def whole_run() -> Iterator[Figure]:
    """The smallest preset on one core: the time of its jobs, and what Snakemake adds."""
    preset = yaml.safe_load((ROOT / "workflow/presets/tiny.yaml").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        taken = snakemake(File(folder), preset)
        jobs = list((File(folder) / "results" / "benchmarks").rglob("*.tsv"))
        inside = sum(float(next(csv.DictReader(file.open(), delimiter="\t"))["s"]) for file in jobs)
    yield Figure("tiny preset on one core", taken, "s")
    yield Figure("tiny preset, outside its jobs", taken - inside, "s")
    yield Figure("tiny preset, outside its jobs, a job", (taken - inside) / len(jobs), "s")
