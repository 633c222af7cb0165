import json
from functools import cache

from nscmdp import environments
from nscmdp.kernels import sources
from nscmdp.study import requests as needs
from nscmdp.randomness import parse_seeds

BATCH = "{experiment}/{unit}/seeds={seeds}"
TABLES = ["curves.parquet", "exact.parquet", "traces.parquet", "summary.csv"]
ALGORITHMS = sorted(
    {learner.algorithm for e in plan.config.experiments for learner in e.all_learners}
    | {algorithm for _, algorithm, _, _ in plan.tuning_files()}
)
EXPERIMENTS = [experiment.name for experiment in plan.config.experiments]
GRID_WORLDS = [e.name for e in plan.config.experiments if e.role == "grid_world"]
SIMULATIONS = [
    e.name for e in plan.config.experiments if e.role in ("grid_world", "reading")
]
ROLES = {
    role: [e.name for e in plan.config.experiments if e.role == role]
    for role in ("growth", "assumed_budget", "linear", "controls", "sensitivity", "switches")
}
STUDIES = {role: ROLES[role] for role in ("growth", "assumed_budget", "linear")}
SHOWN = [one.specification for one in plan.config.shown]
FIGURES = {
    **({"grid_world": ["grid_world"]} if GRID_WORLDS else {}),
    **(
        {"comparison_table": ["growth", "assumed_budget", "arms"]}
        if ROLES["growth"] and ROLES["assumed_budget"]
        else {}
    ),
    **(
        {"replication": ["claims", "landscape", "causes", "sensitivity"]}
        if SIMULATIONS
        and plan.config.tunings
        and ROLES["controls"]
        and ROLES["sensitivity"]
        else {}
    ),
    **({"linear": ["linear", "linear_arms"]} if ROLES["linear"] else {}),
    **({"environments": ["environments"]} if SHOWN else {}),
}  # what each notebook that can be executed draws
JUDGED = [
    *([f"{RESULTS}/claims.json", f"{RESULTS}/answer.json"] if SIMULATIONS else []),
    *([f"{RESULTS}/tables/tuned.csv"] if plan.config.tunings else []),
    f"{RESULTS}/tables/deviations.csv",
    f"{RESULTS}/deviations.md",
]


wildcard_constraints:
    experiment=r"[^/]+",
    unit=r"[^/]+",
    seeds=r"[\d,-]+",
    tuning=r"[^/]+",
    algorithm=r"[^/]+",
    episodes=r"\d+",


@cache
def run_of(experiment, unit):
    return json.dumps(plan.run_spec(experiment, unit))


# Seconds each: on a cluster they run beside Snakemake, not as jobs of their own.
localrules:
    grid_world,
    environments,
    comparison_table,
    linear,
    replication,
    claims,
    answer,
    deviations,
    tuned,
    html,
    page,


def run_specification(wildcards):
    """The same text for all batches of a unit: it is put together once."""
    return run_of(wildcards.experiment, wildcards.unit)


def optimum_specification(wildcards):
    return json.dumps(plan.optimum_spec(wildcards.experiment))


def simulation_request(wildcards, attempt):
    seeds = len(parse_seeds(wildcards.seeds))
    chosen = (wildcards.experiment, wildcards.unit, seeds)
    return needs.simulation(plan, *chosen, attempt)


def optimum_request(wildcards, attempt):
    return needs.optimum(plan, wildcards.experiment, attempt)


def tuning_request(wildcards, attempt):
    chosen = (wildcards.tuning, wildcards.algorithm, int(wildcards.episodes))
    return needs.tuning(plan, *chosen, attempt)


def tables_request(wildcards, attempt):
    return needs.tables(plan, wildcards.experiment, attempt)


def optima_of_windows(wildcards):
    """Runs that are kept by windows are compared with the optimum as they are made."""
    kept = plan.experiment(wildcards.experiment).keep
    return (
        f"{RESULTS}/environments/{wildcards.experiment}.parquet"
        if kept == "windows"
        else []
    )


def tuned_by(wildcards):
    """Learners of the setting "tuned" wait for the tuning that chooses their factors."""
    files = plan.tuned_by(wildcards.experiment, wildcards.unit)
    return [f"{RESULTS}/{file}" for file in files]


def tuning_specification(wildcards):
    return json.dumps(
        plan.tuning_spec(wildcards.tuning, wildcards.algorithm, int(wildcards.episodes))
    )


def experiment_files(wildcards):
    return {
        "optima": f"{RESULTS}/environments/{wildcards.experiment}.parquet",
        "runs": [
            f"{RESULTS}/{name}" for _, _, name in plan.run_files(wildcards.experiment)
        ],
        "tuned": [
            f"{RESULTS}/{file}" for file in plan.all_tuned_by(wildcards.experiment)
        ],
    }


def role_tables(*roles):
    names = [name for role in roles for name in ROLES[role]]
    return expand(f"{RESULTS}/tables/{{name}}/{{table}}", name=names, table=TABLES)


def experiment_config(wildcards):
    """The configuration with this one experiment alone: others may change without touching its tables."""
    chosen = plan.experiment(wildcards.experiment)
    tunings = [one for one in plan.config.tunings if one.name == chosen.tuning]
    alone = {"experiments": [chosen], "tunings": tunings, "shown": []}
    return plan.config.model_copy(update=alone).model_dump_json(exclude_unset=True)
