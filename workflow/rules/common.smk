import json

from nscmdp import environments, resources as needs, sources
from nscmdp.randomness import unspell

BATCH = "{experiment}/{learner}/seeds={seeds}"
TABLES = ["curves.parquet", "exact.parquet", "traces.parquet", "summary.csv"]
ALGORITHMS = sorted(
    {learner.algorithm for case in plan.cases for learner in case.experiment.learners}
)
EXPERIMENTS = [experiment.name for experiment in plan.config.experiments]
GRID_WORLDS = [e.name for e in plan.config.experiments if e.role == "grid_world"]
ROLES = {
    role: [e.name for e in plan.config.experiments if e.role == role]
    for role in ("growth", "told", "linear")
}
SHOWN = [one.specification for one in plan.config.shown]
FIGURES = {
    **({"grid_world": ["grid_world"]} if GRID_WORLDS else {}),
    **(
        {"comparison_table": ["growth", "told", "arms"]}
        if ROLES["growth"] and ROLES["told"]
        else {}
    ),
    **({"linear": ["linear", "linear_arms"]} if ROLES["linear"] else {}),
    **({"environments": ["environments"]} if SHOWN else {}),
}  # what each notebook that can be executed draws


wildcard_constraints:
    experiment=r"[^/]+",
    learner=r"[^/]+",
    seeds=r"[\d,-]+",


# Seconds each: on a cluster they run beside Snakemake, not as jobs of their own.
localrules:
    grid_world,
    environments,
    comparison_table,
    linear,
    html,
    page,


def run_specification(wildcards):
    return json.dumps(plan.run_spec(wildcards.experiment, wildcards.learner))


def optimum_specification(wildcards):
    return json.dumps(plan.optimum_spec(wildcards.experiment))


def simulation_request(wildcards, attempt):
    seeds = len(unspell(wildcards.seeds))
    chosen = (wildcards.experiment, wildcards.learner, seeds)
    return needs.simulation(plan, *chosen, attempt)


def optimum_request(wildcards, attempt):
    return needs.optimum(plan, wildcards.experiment, attempt)


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


def experiment_files(wildcards):
    return {
        "optima": f"{RESULTS}/environments/{wildcards.experiment}.parquet",
        "runs": [
            f"{RESULTS}/{name}" for _, _, name in plan.run_files(wildcards.experiment)
        ],
    }


def role_tables(*roles):
    names = [name for role in roles for name in ROLES[role]]
    return expand(f"{RESULTS}/tables/{{name}}/{{table}}", name=names, table=TABLES)


def experiment_config(wildcards):
    """The configuration with this one experiment alone: others may change without touching its tables."""
    chosen = plan.experiment(wildcards.experiment)
    return plan.config.model_copy(update={"experiments": [chosen]}).model_dump_json(
        exclude_unset=True
    )
