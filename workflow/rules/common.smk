# What all rules share. None has a `benchmark:`: sampling every job's memory took more CPU than some of the jobs, and
# seconds per episode are in the jobs' logs (results/benchmarks/timing.csv).
from pathlib import Path

from nscmdp.randomness import parse_seeds
from wei2023.cli import steps
from wei2023.study import catalogue, layout, requests

RESULTS = plan.config.results
RUN = layout.simulations("{experiment}", "{unit}", "{seeds}")
POLICIES = layout.policies("{experiment}", "{unit}")
OPTIMA = layout.optima("{experiment}")
TUNING = layout.tuning("{tuning}", "{algorithm}", "{episodes}")
SEARCH = layout.search("{tuning}", "{algorithm}", "{episodes}", "{search}")
KERNELS = layout.kernels("{algorithm}")
BEHIND_THE_FIGURE = plan.behind("protocols")  # the figure that a person waits for


wildcard_constraints:
    experiment=r"[^/]+",
    unit=r"[^/]+",
    seeds=r"[\d,-]+",
    tuning=r"[^/]+",
    algorithm=r"[^/]+",
    episodes=r"\d+",
    search=r"\d+",


def at(*names):
    """Files by their names below the results folder."""
    return [f"{RESULTS}/{name}" for name in names]


def specification(name):
    """What decides a job's result, as a file: written before the run, and only where it differs."""
    return at(layout.job(name))


def reported(name, kind, category, labels):
    """A file that Snakemake's report shows, with the caption of its kind."""
    caption = f"../report/{kind}.rst"
    return report(f"{RESULTS}/{name}", caption, category, labels=labels)


def table(name, says):
    return reported(name, "table", "Tables and verdicts", {"file": name, "holds": says})


def tables_of(step):
    """The tables and verdicts over several experiments that a step makes."""
    return [table(name, says) for name, says in catalogue.TABLES[step].items()]


def figures_of(notebook):
    """The files of its figures; the report shows each figure once."""
    drawn = {layout.figure(one.name): one.name for one in plan.notebooks[notebook]}
    shown = [
        reported(file, "figure", "Figures", {"figure": name, "notebook": notebook})
        for file, name in drawn.items()
    ]
    return shown + at(*(file for file in plan.figures(notebook) if file not in drawn))


def urgency(wildcards):
    """The priority of a job: first what the grid-world figure waits for."""
    return 2 if BEHIND_THE_FIGURE.intersection(wildcards) else 0


def kernels(*algorithms):
    """What a job waits for; that they are compiled anew is no reason to run it again."""
    return ancient(at(*map(layout.kernels, sorted(algorithms))))


def learners(wildcards):
    unit = plan.experiment(wildcards.experiment).units[wildcards.unit]
    return {learner.algorithm for learner in unit}


def optima_of_windows(wildcards):
    """Runs that are kept by windows are compared with the optimum as they are made."""
    kept = plan.experiment(wildcards.experiment).keep
    name = layout.optima(plan.optima_of(wildcards.experiment))
    return at(name) if kept == "windows" else []


def exact(*roles):
    """The exact values of all experiments of some roles."""
    names = [name for role in roles for name in plan.roles.get(role, [])]
    return at(*(layout.table("exact.parquet", name) for name in names))


# What a job of a rule may need, by its wildcards and attempt; the numbers are in wei2023/study/requests.py.
REQUESTS = {
    "optimum": lambda w, attempt: requests.optimum(plan, w.experiment, attempt),
    "search": lambda w, attempt: requests.search(
        plan, w.tuning, w.algorithm, int(w.episodes), attempt
    ),
    "simulate": lambda w, attempt: requests.simulation(
        plan, w.experiment, w.unit, len(parse_seeds(w.seeds)), attempt
    ),
    "policies": lambda w, attempt: requests.policies(
        plan, w.experiment, w.unit, attempt
    ),
    "tables": lambda w, attempt: requests.tables(plan, w.experiment, attempt),
}


def asked(rule):
    """Its time and memory: Snakemake asks for one at a time."""
    request = REQUESTS[rule]
    return {
        "mem_mb": lambda wildcards, attempt: request(wildcards, attempt).megabytes,
        "runtime": lambda wildcards, attempt: request(wildcards, attempt).minutes,
    }
