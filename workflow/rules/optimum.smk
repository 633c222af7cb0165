rule optimum:
    """The optimum belongs to an environment: computed once, shared by all runs."""
    input:
        compiled=ancient(rules.compile.output[0]),
    output:
        f"{RESULTS}/environments/{CASE}.parquet",
    log:
        f"{RESULTS}/logs/environments/{CASE}.log",
    benchmark:
        f"{RESULTS}/benchmarks/environments/{CASE}.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=1000,
        runtime=60,
    params:
        specification=optimum_specification,
    message:
        "Solving the optima of {wildcards.experiment}, {wildcards.budget}, K = {wildcards.episodes}"
    shell:
        "nscmdp optimum {params.specification:q} --output {output:q} 2> {log:q}"
