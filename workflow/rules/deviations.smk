rule deviations:
    input:
        ledger="workflow/deviations.yaml",
        tables=expand(
            f"{RESULTS}/tables/{{name}}/exact.parquet", name=ROLES["switches"]
        ),
    output:
        effects=f"{RESULTS}/tables/deviations.csv",
        page=f"{RESULTS}/deviations.md",
    log:
        f"{RESULTS}/logs/deviations.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        sources=sources.digest("nscmdp.deviations"),
    message:
        "Writing {output.page}"
    shell:
        "nscmdp effects {input.tables:q} --ledger {input.ledger:q} --output {output.effects:q} 2> {log:q} && "
        "nscmdp deviations --ledger {input.ledger:q} --effects {output.effects:q} --output {output.page:q} 2>> {log:q}"
