rule claims:
    input:
        expand(f"{RESULTS}/tables/{{name}}/exact.parquet", name=SIMULATIONS),
    output:
        f"{RESULTS}/claims.json",
    log:
        f"{RESULTS}/logs/claims.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        results=RESULTS,
        simulations=SIMULATIONS,
        sources=sources.digest("nscmdp.claims"),
    message:
        "Judging the claims"
    shell:
        "nscmdp claims {params.results:q} --simulations {params.simulations:q} --output {output:q} 2> {log:q}"
