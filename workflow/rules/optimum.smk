rule optimum:
    """The optimum belongs to an environment: computed once, shared by all runs."""
    input:
        compiled=ancient(rules.compile.output[0]),
    output:
        f"{RESULTS}/environments/{{experiment}}/{{budget}}/K={{episodes}}.parquet",
    params:
        specification=lambda wildcards: json.dumps(
            plan.case(wildcards.experiment, wildcards.budget, wildcards.episodes).optimum_spec(), sort_keys=True
        ),
    log:
        f"{RESULTS}/logs/environments/{{experiment}}/{{budget}}/K={{episodes}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/environments/{{experiment}}/{{budget}}/K={{episodes}}.tsv"
    resources:
        mem_mb=1000,
        runtime=60,
    message:
        "Solving the optima of {wildcards.experiment} {wildcards.budget} K={wildcards.episodes}"
    shell:
        "nscmdp optimum {params.specification:q} --output {output:q} 2> {log:q}"
