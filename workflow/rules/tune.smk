rule tune:
    """Scores candidates for one algorithm's factors on the tuning seeds."""
    input:
        optima=f"{RESULTS}/environments/{{tuning}}.parquet",
    output:
        f"{RESULTS}/tuning/{{tuning}}/{{algorithm}}/K={{episodes}}.parquet",
    log:
        f"{RESULTS}/logs/tuning/{{tuning}}/{{algorithm}}/K={{episodes}}.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=lambda wildcards, attempt: tuning_request(wildcards, attempt).megabytes,
        runtime=lambda wildcards, attempt: tuning_request(wildcards, attempt).minutes,
    params:
        specification=tuning_specification,
    message:
        "Tuning {wildcards.algorithm} on {wildcards.tuning}, K = {wildcards.episodes}"
    shell:
        "nscmdp tune {params.specification:q} --optima {input.optima:q} --output {output:q} 2> {log:q}"


rule tuned:
    input:
        [f"{RESULTS}/{name}" for *_, name in plan.tuning_files()],
    output:
        f"{RESULTS}/tables/tuned.csv",
    log:
        f"{RESULTS}/logs/tables/tuned.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        config=plan.config.model_dump_json(
            exclude_unset=True, exclude={"shown", "batch"}
        ),
        sources=sources.digest("nscmdp.tuning"),
    message:
        "Tabulating what tuning tried"
    shell:
        "nscmdp tuned {params.config:q} --output {output:q} 2> {log:q}"
