"""Where the CPU time of a whole run goes: by job, and inside the simulations.

What a job takes is noted by a program that stands before the command line's on the path of the run, so that runs which
nobody watches pay nothing. Kernels are compiled anew, as on a fresh machine. Inside the simulations the first seed of
every unit is played again, with and without its evaluation, and stands for all others.
"""

import tempfile
from collections import Counter, deque
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import pipeline
from benchmarks.timing import seconds
from nscmdp import simulate
from nscmdp.suite import optima
from wei2023.runs import kernels, simulations, specifications
from wei2023.study import plan


class Part(NamedTuple):
    name: str
    calls: int
    cpu: float  # seconds
    share: float  # of all


def parts(config: dict[str, Any], cores: int) -> Iterator[Part]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        before = pipeline.cpu_of_children()
        wall = pipeline.snakemake(
            folder, config, "--cores", str(cores), NSCMDP_CACHE=str(folder / "cache")
        )
        total, commands = pipeline.cpu_of_children() - before, pipeline.noted(folder)
        inside = of_simulations(plan.make(config), folder / "results")
    before = pipeline.cpu_of_children()
    pipeline.simulate(10, 1)
    calls, simulated, _ = commands["simulate"]
    inside["start of the workers"] = calls * (pipeline.cpu_of_children() - before)
    inside["files and all else"] = simulated - inside.total()
    own = total - sum(cpu for _, cpu, _ in commands.values())
    yield Part(
        f"all, in {wall:.0f} s on {cores} cores",
        sum(calls for calls, *_ in commands.values()),
        total,
        1.0,
    )
    for command, (calls, cpu, _) in sorted(commands.items(), key=lambda item: -item[1][1]):
        yield Part(command, calls, cpu, cpu / total)
    yield Part("Snakemake, and starting its jobs", 1, own, own / total)
    for what, cpu in inside.items():
        yield Part(f"simulate: {what}", commands["simulate"][0], cpu, cpu / total)


def of_simulations(chosen: plan.Plan, results: Path) -> Counter[str]:
    """CPU seconds of all simulations of a run, by what they do."""
    kernels.compile_for(chosen.algorithms)
    taken: Counter[str] = Counter()
    for experiment in chosen.config.experiments:
        for unit in experiment.units:
            files = [results / name for name in chosen.tuned_by(experiment.name, unit)]
            of_one = of_unit(
                specifications.simulation(chosen, experiment.name, unit),
                experiment.seed_list[0],
                files,
            )
            taken.update({what: len(experiment.seed_list) * cpu for what, cpu in of_one.items()})
    return taken


def of_unit(spec: dict[str, Any], seed: int, tuned: list[Path]) -> Counter[str]:
    """Of one seed; learners with the same constants are simulated once, as the job does it."""
    factors = simulations.chosen_factors(tuned)
    taken: Counter[str] = Counter()
    for case, made_from in spec["cases"].items():
        env = optima.environment(made_from)
        runs = {}
        for planned in spec["learners"].values():
            learner = simulations.with_chosen_factors(
                planned, factors, env.episodes, spec.get("tuned_once")
            )
            runs[simulations.run_key(spec, learner, case)] = learner
        for learner in runs.values():
            play = partial(
                simulate.run, env, seed=seed, windows=spec["windows"], solve=False, **learner
            )
            draws = simulate.all_draws(env, learner["algorithm"], seed)
            drawn = seconds(partial(deque, draws, maxlen=0))
            alone = seconds(partial(play, evaluate_every=None))
            evaluated = seconds(partial(play, evaluate_every=spec["evaluate_every"]))
            taken.update(
                {
                    "steps": alone - drawn,
                    "exact evaluation": evaluated - alone,
                    "random numbers": drawn,
                }
            )
    return taken
