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
        results=lambda wildcards, output: os.path.dirname(output[0]),
        simulations=SIMULATIONS,
        sources=sources.digest("nscmdp.claims"),
    message:
        "Judging the claims"
    shell:
        "nscmdp claims {params.results:q} --simulations {params.simulations:q} --output {output:q} 2> {log:q}"


rule answer:
    input:
        claims=f"{RESULTS}/claims.json",
        ledger="workflow/deviations.yaml",
        comparison=(
            f"{RESULTS}/tables/comparison.csv" if "comparison_table" in FIGURES else []
        ),
    output:
        f"{RESULTS}/answer.json",
    log:
        f"{RESULTS}/logs/answer.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        results=lambda wildcards, output: os.path.dirname(output[0]),
        sources=sources.digest("nscmdp.answer"),
    message:
        "Answering"
    shell:
        "nscmdp answer {params.results:q} --ledger {input.ledger:q} --output {output:q} 2> {log:q}"
