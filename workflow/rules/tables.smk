from nscmdp import sources

TABLES = ["curves.parquet", "exact.parquet", "summary.csv"]


def experiment_files(wildcards):
    cases = [case for case in plan.cases if case.experiment.name == wildcards.experiment]
    return {
        "optima": [f"{RESULTS}/environments/{case.id}.parquet" for case in cases],
        "runs": [f"{RESULTS}/{name}" for case in cases for _, _, name in plan.run_files(case)],
    }


def experiment_config(wildcards):
    """The configuration with this one experiment alone: others may change without touching these tables."""
    chosen = next(one for one in plan.config.experiments if one.name == wildcards.experiment)
    return plan.config.model_copy(update={"experiments": [chosen]}).model_dump_json(exclude_unset=True)


rule tables:
    input:
        unpack(experiment_files),
    output:
        expand(f"{RESULTS}/tables/{{{{experiment}}}}/{{table}}", table=TABLES),
    params:
        config=experiment_config,
        folder=lambda wildcards, output: output[0].rpartition("/")[0],
        sources=sources.digest("nscmdp.tables"),
    log:
        f"{RESULTS}/logs/tables/{{experiment}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/tables/{{experiment}}.tsv"
    resources:
        mem_mb=4000,
        runtime=30,
    message:
        "Tabulating {wildcards.experiment}"
    shell:
        "nscmdp tables {params.config:q} --experiment {wildcards.experiment:q} --output {params.folder:q} 2> {log:q}"
