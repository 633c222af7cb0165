# Kernels are compiled before the jobs that call them, each algorithm's by itself: work starts with the first of them.
NEEDED_FIRST = {
    one.algorithm
    for name in plan.simulations
    for one in plan.experiment(name).all_learners
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
        plugins=PLUGINS,
    message:
        "Compiling the kernels of {wildcards.algorithm}"
    shell:
        "nscmdp {params.plugins:q} job compile {wildcards.algorithm:q} 2> {log:q}"
