"""What surrounds the kernels: starting a worker, its memory, building the graph of jobs, the price of a whole run."""

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import yaml

from benchmarks.timing import seconds
from nscmdp import environments
from nscmdp import simulate as simulation
from wei2023.runs import simulations, specifications
from wei2023.study import plan

ROOT = Path(__file__).resolve().parents[1]
LEARNER = {"algorithm": "nonstationary_triple_q", "setting": "scaled"}
GRID = {"name": "grid_world", "map": "6x6", "horizon": 15, "limit": 2.0}
# A worker that says, when it is done, how much memory it had at most; getrusage would count the caller's as well.
WORKER = """
import sys
from wei2023.cli import main
failed = main(sys.argv[1:])
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
sys.exit(failed)
"""


# Stands before the command of that name on the path of a run, and notes what each call of it took.
WATCHING = """#!{python} -SE
import resource, subprocess, sys, time
begin = time.perf_counter()
failed = subprocess.call([{real!r}, *sys.argv[1:]])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
with open({notes!r}, "a") as notes:
    notes.write(f"{{sys.argv[2]}}\\t{{used.ru_utime + used.ru_stime}}\\t{{time.perf_counter() - begin}}\\n")
sys.exit(failed)
"""
NOTES = "notes.tsv"
SCIENCE = ("simulate", "tune", "optimum", "notebook")


class Figure(NamedTuple):
    name: str
    value: float
    unit: str


def run(*command: str, **variables: str) -> tuple[float, str]:
    """Wall seconds of a command that must succeed, and what it prints."""
    begin = perf_counter()
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
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
    program = [sys.executable, "-c", worker] if worker else [sys.executable, "-m", "wei2023"]
    with tempfile.TemporaryDirectory() as folder:
        job, output = (str(Path(folder) / name) for name in ("job.json", "seeds=0.parquet"))
        specification = specifications.simulation(config, "bench", learner.name)
        Path(job).write_text(json.dumps(specification), encoding="utf-8")
        seeds_of = ("--seeds", f"0-{seeds - 1}", "--output", output)
        return run(*program, "job", "simulate", job, *seeds_of)


def starts(repeats: int, cold: bool) -> Iterator[Figure]:
    """Importing, a trivial job, and compiling Algorithm 1 into an empty cache."""

    def median(*command: str) -> float:
        return float(np.median([run(*command)[0] for _ in range(repeats)]))

    python = sys.executable
    simulate(10, 1)  # compiles or finds what the next ones only load
    yield Figure("start of Python", median(python, "-c", "pass"), "s")
    yield Figure("import of nscmdp.simulate", median(python, "-c", "import nscmdp.simulate"), "s")
    yield Figure(
        "warm start: a job of 10 episodes",
        float(np.median([simulate(10, 1)[0] for _ in range(repeats)])),
        "s",
    )
    if cold:
        with tempfile.TemporaryDirectory() as folder:
            command = (python, "-m", "wei2023", "job", "compile", LEARNER["algorithm"])
            yield Figure(
                "cold start: compile Algorithm 1", run(*command, NSCMDP_CACHE=folder)[0], "s"
            )


def memory(episodes: int) -> Iterator[Figure]:
    """The most that a worker holds, over K and 16 K episodes."""
    if not Path("/proc/self/status").exists():
        return
    for number in (episodes, 16 * episodes):
        kilobytes = int(simulate(number, 1, WORKER)[1])
        yield Figure(f"peak memory of a worker, K = {number:,}", kilobytes / 1024, "MiB")


def settings(name: str) -> dict[str, Any]:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def graphs(simulations: tuple[int, ...]) -> Iterator[Figure]:
    """``snakemake -n``: the configuration checked, the graph built, nothing run."""
    for number in simulations:
        learners = [{**LEARNER, "label": f"learner_{i}"} for i in range(10)]
        with tempfile.TemporaryDirectory() as folder:
            config = experiment(400, number // len(learners), learners)
            taken = snakemake(
                Path(folder), config | {"protocols": None}, "--cores", "1", "--dry-run"
            )
        yield Figure(f"snakemake -n, {number:,} simulations", taken, "s")


def sweep(simulations: int) -> Iterator[Figure]:
    """So many simulations of the paper's length on its larger map, planned; their time, from what one takes here."""
    episodes, learners = 80_000, [{**LEARNER, "label": f"learner_{i}"} for i in range(10)]
    config = experiment(episodes, simulations // len(learners), learners)
    config["experiments"][0] |= {
        "environment": {"name": "grid_world", "map": "18x18"},
        "batch": "auto",
    }
    name = f"sweep of {simulations:,} simulations"
    planned = plan.make(config)
    jobs = len(planned.run_files("bench"))
    yield Figure(f"{name}, jobs", jobs, "")
    with tempfile.TemporaryDirectory() as folder:
        yield Figure(
            f"{name}, snakemake -n",
            snakemake(Path(folder), config | {"protocols": None}, "--dry-run"),
            "s",
        )
    env = environments.make("grid_world", episodes, map="18x18")
    one = partial(simulation.run, env, **LEARNER, evaluate_every=episodes // 1000, solve=False)
    one()
    taken, (start, _) = seconds(one), simulate(10, 1)
    yield Figure(f"{name}, CPU of one", taken, "s")
    yield Figure(f"{name}, CPU in all", (simulations * taken + jobs * start) / 3600, "h")


def snakemake(folder: Path, config: dict[str, Any], *options: str, **variables: str) -> float:
    """Wall seconds of Snakemake with a configuration of its own, results in ``folder``; its jobs are noted there."""
    file = folder / "config.json"
    file.write_text(json.dumps({**config, "results": str(folder / "results")}))
    here = Path(sys.executable).parent
    watching = folder / "bin" / "wei2023"
    watching.parent.mkdir()
    watching.write_text(
        WATCHING.format(
            python=sys.executable, real=str(here / "wei2023"), notes=str(folder / NOTES)
        )
    )
    watching.chmod(0o755)
    command = (
        sys.executable,
        "-m",
        "snakemake",
        "--scheduler",
        "greedy",
        "--quiet",
        "all",
        "--configfile",
        str(file),
    )
    path = os.pathsep.join([str(watching.parent), str(here), os.environ["PATH"]])
    return run(*command, *options, PATH=path, **variables)[0]


def noted(folder: Path) -> dict[str, tuple[int, float, float]]:
    """By command: how often it was called, its CPU seconds and its wall seconds."""
    found: dict[str, tuple[int, float, float]] = {}
    for line in (folder / NOTES).read_text().splitlines():
        command, cpu, wall = line.split("\t")
        calls, before, spent = found.get(command, (0, 0.0, 0.0))
        found[command] = calls + 1, before + float(cpu), spent + float(wall)
    return found


def whole_run(name: str, config: dict[str, Any], cores: int) -> Iterator[Figure]:
    """Where the CPU time of a whole run goes, in a warm environment: by command, and what is Snakemake's own."""
    with tempfile.TemporaryDirectory() as folder:
        before = cpu_of_children()
        taken = snakemake(Path(folder), config, "--cores", str(cores))
        total, commands = cpu_of_children() - before, noted(Path(folder))
    science = sum(cpu for command, (_, cpu, _) in commands.items() if command in SCIENCE)
    in_commands = sum(cpu for _, cpu, _ in commands.values())
    yield Figure(f"{name} on {cores} cores", taken, "s")
    yield Figure(f"{name}, CPU", total, "s")
    yield Figure(f"{name}, CPU in {', '.join(SCIENCE)}", science / total, "of all")
    for command, (calls, cpu, _) in sorted(commands.items(), key=lambda item: -item[1][1]):
        yield Figure(f"{name}, CPU in {calls} x {command}", cpu, "s")
    yield Figure(f"{name}, CPU of Snakemake and what it starts", total - in_commands, "s")


def cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def batches(seconds: float, number: int, cores: int) -> Iterator[Figure]:
    """The share of wall time outside simulations where a job's batch lasts about so many seconds."""
    trial, episodes = 0.0, 20_000
    while trial < 2.0:  # long enough to tell how long one takes
        episodes *= 2
        config = plan.make(experiment(episodes, 1, [LEARNER]))
        env = config.cases[0].env
        begin = perf_counter()
        simulation.run(
            env,
            LEARNER["algorithm"],
            LEARNER["setting"],
            evaluate_every=episodes // 1000,
            solve=False,
        )
        trial = perf_counter() - begin
    size = max(1, round(seconds / trial))
    config = experiment(episodes, size * number * cores, [LEARNER])
    config |= {"protocols": None, "batch": size}
    with tempfile.TemporaryDirectory() as folder:
        wanted = [f"{folder}/results/{name}" for *_, name in plan.make(config).run_files("bench")]
        taken = snakemake(Path(folder), config, "--cores", str(cores), *wanted)
        inside = sum(
            spent for *_, spent in simulations.finished(Path(folder) / "results/logs/simulations")
        )
    name = f"{number * cores} batches of {inside / number / cores:.0f} s on {cores} cores"
    yield Figure(f"{name}, wall", taken, "s")
    yield Figure(f"{name}, wall outside simulations", 1 - inside / cores / taken, "of all")
