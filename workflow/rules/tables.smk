rule tables:
    input:
        unpack(experiment_files),
    output:
        expand(f"{RESULTS}/tables/{{{{experiment}}}}/{{table}}", table=TABLES),
    log:
        f"{RESULTS}/logs/tables/{{experiment}}.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=lambda wildcards, attempt: tables_request(wildcards, attempt).megabytes,
        runtime=lambda wildcards, attempt: tables_request(wildcards, attempt).minutes,
    params:
        config=experiment_config,
        folder=lambda wildcards, output: os.path.dirname(output[0]),
        sources=sources.digest("nscmdp.tables"),
    message:
        "Tabulating {wildcards.experiment}"
    shell:
        "nscmdp tables {params.config:q} --experiment {wildcards.experiment:q} --output {params.folder:q} 2> {log:q}"
