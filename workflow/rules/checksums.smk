rule checksums:
    """The last of a run: what nscmdp check compares the results with."""
    input:
        optima=expand(
            f"{RESULTS}/environments/{{experiment}}.parquet",
            experiment=[*EXPERIMENTS, *(one.name for one in plan.config.tunings)],
        ),
        tunings=[f"{RESULTS}/{name}" for *_, name in plan.tuning_files()],
        runs=[
            f"{RESULTS}/{name}"
            for experiment in EXPERIMENTS
            for _, _, name in plan.run_files(experiment)
        ],
        others=[
            *rules.page.output,
            *JUDGED,
            *expand(
                f"{RESULTS}/tables/{{experiment}}/{{table}}",
                experiment=EXPERIMENTS,
                table=TABLES,
            ),
            *expand(f"{RESULTS}/notebooks/{{name}}.html", name=FIGURES),
            *(file for name in FIGURES for file in getattr(rules, name).output),
        ],
    output:
        f"{RESULTS}/checksums.txt",
    log:
        f"{RESULTS}/logs/checksums.log",
    localrule: True
    conda:
        "../../environment.yml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        results=lambda wildcards, output: os.path.dirname(output[0]),
    message:
        "Noting the checksums of all results"
    shell:
        "nscmdp finish {params.results:q} {input.others:q} 2> {log:q}"
