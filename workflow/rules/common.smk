# What all rules share. None has a `benchmark:`: sampling every job's memory took more CPU than some of the jobs, and
# seconds per episode are in the jobs' logs (results/benchmarks/timing.csv).
import json
from functools import cache
from pathlib import Path

from nscmdp.kernels import sources
from nscmdp.randomness import parse_seeds
from nscmdp.study import catalogue, layout, requests

RESULTS = plan.config.results
PLUGINS = [f"--plugin={file}" for file in plan.config.plugins]
RUN = layout.simulations("{experiment}", "{unit}", "{seeds}")
POLICIES = layout.policies("{experiment}", "{unit}")
OPTIMA = layout.optima("{experiment}")
TUNING = layout.tuning("{tuning}", "{algorithm}", "{episodes}")
SEARCH = layout.search("{tuning}", "{algorithm}", "{episodes}", "{search}")
KERNELS = layout.kernels("{algorithm}")
FIRST = plan.behind("protocols")  # the figure that a person waits for


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


def reported(name, kind, category, labels):
    """A file that Snakemake's report shows, with the caption of its kind."""
    caption = f"../report/{kind}.rst"
    return report(f"{RESULTS}/{name}", caption, category, labels=labels)


def tables_of(rule):
    """The tables and verdicts over all experiments that a rule makes."""
    return [
        reported(name, "table", "Tables and verdicts", {"file": name, "holds": text})
        for name, text in catalogue.TABLES[rule].items()
    ]


def tables_of_policies():
    """Of every experiment that is watched; the report shows those that a person can read."""
    readable = [name for name in plan.learning() if name.endswith(".csv")]
    shown = [
        reported(
            name,
            "table",
            "Tables and verdicts",
            {"file": name, "holds": catalogue.WATCHED[Path(name).name]},
        )
        for name in readable
    ]
    return shown + at(*(name for name in plan.learning() if name not in readable))


def figures_of(notebook):
    """The files of its figures; the report shows each figure once."""
    drawn = {layout.figure(one.name): one.name for one in plan.notebooks[notebook]}
    shown = [
        reported(file, "figure", "Figures", {"figure": name, "notebook": notebook})
        for file, name in drawn.items()
    ]
    return shown + at(*(file for file in plan.figures(notebook) if file not in drawn))


def folder(wildcards):
    return RESULTS


def first(wildcards):
    """A priority."""
    return 2 if FIRST.intersection(wildcards) else 0


def kernels(*algorithms):
    """What a job waits for; that they are compiled anew is no reason to run it again."""
    return ancient(at(*map(layout.kernels, sorted(algorithms))))


# What a job of a rule may need, by its wildcards and attempt.
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


@cache
def run_specification(experiment, unit):
    """The same text for all batches of a unit: it is put together once."""
    return json.dumps(plan.run_spec(experiment, unit))


def learners(wildcards):
    return {
        one.algorithm
        for one in plan.experiment(wildcards.experiment).units[wildcards.unit]
    }


def tuning_specification(wildcards):
    episodes = int(wildcards.episodes)
    spec = plan.tuning_spec(wildcards.tuning, wildcards.algorithm, episodes)
    return json.dumps(spec)


def search_specification(wildcards):
    episodes, search = int(wildcards.episodes), int(wildcards.search)
    spec = plan.search_spec(wildcards.tuning, wildcards.algorithm, episodes, search)
    return json.dumps(spec)


def optima_of_windows(wildcards):
    """Runs that are kept by windows are compared with the optimum as they are made."""
    kept = plan.experiment(wildcards.experiment).keep
    name = layout.optima(plan.optima_of(wildcards.experiment))
    return at(name) if kept == "windows" else []


def experiment_config(wildcards):
    """What decides the tables of an experiment: others may change without touching them."""
    chosen = plan.experiment(wildcards.experiment)
    used = [*plan.tuned_in(wildcards.experiment, chosen.all_learners)]
    names = {name for one in used for name in (one, *plan.started_from(one))}
    tunings = [one for one in plan.config.tunings if one.name in names]
    alone = {
        "experiments": [chosen],
        "tunings": tunings,
        "shown": [],
        "protocols": None,
    }
    return plan.config.model_copy(update=alone).model_dump_json(exclude_unset=True)


def tunings_config(wildcards):
    """What decides the tables of all tunings."""
    return json.dumps([plan.tuning_spec(*keys) for *keys, _ in plan.tuning_files()])


def protocols_config(wildcards):
    """What decides the tables of all protocols."""
    return plan.config.protocols.model_dump_json() if plan.config.protocols else ""


def policies_config(wildcards):
    """What decides the tables of all policies."""
    files = [(name, *keys) for name in plan.watched for keys in plan.policy_files(name)]
    return json.dumps([plan.policy_spec(name, unit) for name, unit, _ in files])


def exact(*names):
    return at(*(layout.table("exact.parquet", name) for name in names))


def step(command, module, **decisive):
    """Parameters of a rule whose command needs the results folder alone; the others decide when it runs again."""
    digest = sources.digest(f"nscmdp.{module}")
    return {"command": command, "results": folder, "sources": digest, **decisive}
