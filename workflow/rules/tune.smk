rule tune:
    """Scores candidates for one algorithm's factors on the tuning seeds."""
    input:
        optima=f"{RESULTS}/environments/{{tuning}}.parquet",
    output:
        f"{RESULTS}/tuning/{{tuning}}/{{algorithm}}/K={{episodes}}.parquet",
    log:
        f"{RESULTS}/logs/tuning/{{tuning}}/{{algorithm}}/K={{episodes}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/tuning/{{tuning}}/{{algorithm}}/K={{episodes}}.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=1000,
        runtime=120,
    params:
        specification=tuning_specification,
    message:
        "Tuning {wildcards.algorithm} on {wildcards.tuning}, K = {wildcards.episodes}"
    shell:
        "nscmdp tune {params.specification:q} --optima {input.optima:q} --output {output:q} 2> {log:q}"
