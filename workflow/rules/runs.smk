# What takes time: optima, tuning and simulations, jobs of their own on a cluster.


rule optimum:
    """The optimum belongs to an environment: computed once, shared by all runs."""
    output:
        at(OPTIMA),
    log:
        at(layout.log(OPTIMA)),
    conda:
        "../envs/nscmdp.yml"
    resources:
        **OPTIMUM_REQUEST,
    params:
        specification=lambda w: json.dumps(plan.optimum_spec(w.experiment)),
    message:
        "Solving the optima of {wildcards.experiment}"
    shell:
        "nscmdp optimum {params.specification:q} --output {output:q} 2> {log:q}"


rule tune:
    """Scores candidates for one algorithm's factors on the tuning seeds."""
    input:
        optima=at(layout.optima("{tuning}")),
    output:
        at(TUNING),
    log:
        at(layout.log(TUNING)),
    conda:
        "../envs/nscmdp.yml"
    resources:
        **TUNING_REQUEST,
    params:
        specification=tuning_specification,
    message:
        "Tuning {wildcards.algorithm} on {wildcards.tuning}, K = {wildcards.episodes}"
    shell:
        "nscmdp tune {params.specification:q} --optima {input.optima:q} --output {output:q} 2> {log:q}"


rule simulate:
    input:
        optima=optima_of_windows,
        tuned=lambda w: at(*plan.tuned_by(w.experiment, w.unit)),
    output:
        at(RUN),
    log:
        at(layout.log(RUN)),
    conda:
        "../envs/nscmdp.yml"
    resources:
        **RUN_REQUEST,
    params:
        specification=lambda w: run_specification(w.experiment, w.unit),
    message:
        "Simulating {wildcards.unit} on {wildcards.experiment}, seeds {wildcards.seeds}"
    shell:
        "nscmdp simulate {params.specification:q} --seeds {wildcards.seeds:q} --output {output:q} --optima {input.optima:q} --tuned {input.tuned:q} 2> {log:q}"
