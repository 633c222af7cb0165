rule compile:
    """Kernels are compiled once, before the fan-out: simultaneous cold starts would each compile them."""
    output:
        touch(f"{RESULTS}/logs/compiled/{sources.kernel_digest()}"),
    log:
        f"{RESULTS}/logs/compile.log",
    benchmark:
        f"{RESULTS}/benchmarks/compile.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        algorithms=ALGORITHMS,
    message:
        "Compiling the kernels"
    shell:
        "nscmdp compile {params.algorithms:q} 2> {log:q}"


rule simulate:
    input:
        compiled=ancient(rules.compile.output[0]),
    output:
        f"{RESULTS}/simulations/{BATCH}.parquet",
    log:
        f"{RESULTS}/logs/simulations/{BATCH}.log",
    benchmark:
        f"{RESULTS}/benchmarks/simulations/{BATCH}.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=1000,
        runtime=60,
    params:
        specification=run_specification,
    message:
        "Simulating {wildcards.learner} on {wildcards.experiment}, {wildcards.budget}, K = {wildcards.episodes}, "
        "seeds {wildcards.seeds}"
    shell:
        "nscmdp simulate {params.specification:q} --seeds {wildcards.seeds:q} --output {output:q} 2> {log:q}"
