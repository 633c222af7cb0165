rule simulate:
    input:
        optima=optima_of_windows,
        tuned=tuned_by,
    output:
        f"{RESULTS}/simulations/{BATCH}.parquet",
    log:
        f"{RESULTS}/logs/simulations/{BATCH}.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=lambda wildcards, attempt: simulation_request(
            wildcards, attempt
        ).megabytes,
        runtime=lambda wildcards, attempt: simulation_request(
            wildcards, attempt
        ).minutes,
    params:
        specification=run_specification,
    message:
        "Simulating {wildcards.unit} on {wildcards.experiment}, seeds {wildcards.seeds}"
    shell:
        "nscmdp simulate {params.specification:q} --seeds {wildcards.seeds:q} --output {output:q} --optima {input.optima:q} --tuned {input.tuned:q} 2> {log:q}"
