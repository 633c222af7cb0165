import json

from nscmdp import environments, sources

CASE = "{experiment}/{budget}/K={episodes}"
BATCH = f"{CASE}/{{learner}}/seeds={{seeds}}"
TABLES = ["curves.parquet", "exact.parquet", "summary.csv"]
ALGORITHMS = sorted(
    {learner.algorithm for case in plan.cases for learner in case.experiment.learners}
)
EXPERIMENTS = [experiment.name for experiment in plan.config.experiments]
GRID_WORLDS = [
    e.name for e in plan.config.experiments if e.environment.name == "grid_world"
]
SHOWN = [one.specification for one in plan.config.shown]
NOTEBOOKS = [
    *(["grid_world"] if GRID_WORLDS else []),
    *(["environments"] if SHOWN else []),
]


wildcard_constraints:
    experiment=r"[^/]+",
    budget=r"[^/]+",
    learner=r"[^/]+",
    episodes=r"\d+",
    seeds=r"[\d,-]+",


def case_of(wildcards):
    return plan.case(wildcards.experiment, wildcards.budget, wildcards.episodes)


def run_specification(wildcards):
    return json.dumps(case_of(wildcards).run_spec(wildcards.learner), sort_keys=True)


def optimum_specification(wildcards):
    return json.dumps(case_of(wildcards).optimum_spec(), sort_keys=True)


def experiment_files(wildcards):
    cases = [
        case for case in plan.cases if case.experiment.name == wildcards.experiment
    ]
    return {
        "optima": [f"{RESULTS}/environments/{case.id}.parquet" for case in cases],
        "runs": [
            f"{RESULTS}/{name}" for case in cases for _, _, name in plan.run_files(case)
        ],
    }


def experiment_config(wildcards):
    """The configuration with this one experiment alone: others may change without touching its tables."""
    chosen = next(
        one for one in plan.config.experiments if one.name == wildcards.experiment
    )
    return plan.config.model_copy(update={"experiments": [chosen]}).model_dump_json(
        exclude_unset=True
    )
