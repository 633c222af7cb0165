# Kernels are compiled before the jobs that call them, each algorithm's by itself: work starts with the first of them.
NEEDED_FIRST = {
    learner.algorithm
    for name in plan.simulations
    for learner in plan.experiment(name).all_learners
}


rule kernels:
    """Beside Snakemake, also on a cluster: a node that lacks some compiles them for itself."""
    output:
        touch(at(KERNELS)),
    log:
        at("logs/kernels/{algorithm}.log"),
    priority: lambda w: 3 if w.algorithm in NEEDED_FIRST else 1
    localrule: True
    conda:
        "../envs/nscmdp.yml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        plugins=[f"--plugin={file}" for file in plan.config.plugins],
    message:
        "Compiling the kernels of {wildcards.algorithm}"
    shell:
        "wei2023 {params.plugins:q} job compile {wildcards.algorithm:q} 2> {log:q}"
