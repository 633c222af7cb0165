rule optimum:
    """The optimum belongs to an environment: computed once, shared by all runs."""
    output:
        f"{RESULTS}/environments/{{experiment}}.parquet",
    log:
        f"{RESULTS}/logs/environments/{{experiment}}.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=lambda wildcards, attempt: optimum_request(wildcards, attempt).megabytes,
        runtime=lambda wildcards, attempt: optimum_request(wildcards, attempt).minutes,
    params:
        specification=optimum_specification,
    message:
        "Solving the optima of {wildcards.experiment}"
    shell:
        "nscmdp optimum {params.specification:q} --output {output:q} 2> {log:q}"
