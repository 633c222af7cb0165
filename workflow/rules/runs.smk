# What takes time: optima, tuning and simulations, jobs of their own on a cluster.


rule optimum:
    """The optimum belongs to an environment: computed once, shared by all runs."""
    output:
        at(OPTIMA),
    log:
        at(layout.log(OPTIMA)),
    priority: first
    conda:
        "../envs/nscmdp.yml"
    resources:
        **asked("optimum"),
    params:
        specification=lambda w: json.dumps(plan.optimum_spec(w.experiment)),
    message:
        "Solving the optima of {wildcards.experiment}"
    shell:
        "nscmdp job optimum {params.specification:q} --output {output:q} 2> {log:q}"


rule search:
    """One search for one algorithm's factors. Cut short, it goes on from what it noted in its folder of logs."""
    input:
        optima=at(layout.optima("{tuning}")),
        start=lambda w: at(*plan.started_by(w.tuning, w.algorithm)),
        kernels=lambda w: kernels(w.algorithm),
    output:
        at(SEARCH),
    log:
        at(layout.log(SEARCH)),
    priority: first
    conda:
        "../envs/nscmdp.yml"
    resources:
        **asked("search"),
    params:
        specification=search_specification,
        progress=lambda w: at(f"logs/{SEARCH.format(**w)}")[0],
    message:
        "Searching for {wildcards.algorithm} on {wildcards.tuning}, K = {wildcards.episodes}, search {wildcards.search}"
    shell:
        "nscmdp job search {params.specification:q} --optima {input.optima:q} --progress {params.progress:q} --output {output:q} --start {input.start:q} 2> {log:q}"


rule tune:
    """Chooses one algorithm's factors among what its searches kept, on the selection seeds."""
    input:
        searches=lambda w: at(*plan.searched_by(w.tuning, w.algorithm, int(w.episodes))),
    output:
        at(TUNING),
    log:
        at(layout.log(TUNING)),
    priority: first
    localrule: True
    conda:
        "../envs/nscmdp.yml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        specification=tuning_specification,
    message:
        "Tuning {wildcards.algorithm} on {wildcards.tuning}, K = {wildcards.episodes}"
    shell:
        "nscmdp job tune {params.specification:q} --output {output:q} --searches {input.searches:q} 2> {log:q}"


rule searched:
    """All searches, for the records in the repository: `make search`."""
    input:
        at(*(name for *_, name in plan.search_files())),
        at(*(name for *_, name in plan.tuning_files())),


rule simulate:
    input:
        optima=optima_of_windows,
        tuned=lambda w: at(*plan.tuned_by(w.experiment, w.unit)),
        kernels=lambda w: kernels(*learners(w)),
    output:
        at(RUN),
    log:
        at(layout.log(RUN)),
    priority: first
    conda:
        "../envs/nscmdp.yml"
    resources:
        **asked("simulate"),
    params:
        specification=lambda w: run_specification(w.experiment, w.unit),
    message:
        "Simulating {wildcards.unit} on {wildcards.experiment}, seeds {wildcards.seeds}"
    shell:
        "nscmdp job simulate {params.specification:q} --seeds {wildcards.seeds:q} --output {output:q} --optima {input.optima:q} --tuned {input.tuned:q} 2> {log:q}"


rule policies:
    """What each learner plays in some episodes of its first run, to be watched on the map."""
    input:
        tuned=lambda w: at(*plan.tuned_by(w.experiment, w.unit)),
        kernels=lambda w: kernels(*learners(w)),
    output:
        at(POLICIES),
    log:
        at(layout.log(POLICIES)),
    conda:
        "../envs/nscmdp.yml"
    resources:
        **asked("policies"),
    params:
        specification=lambda w: json.dumps(plan.policy_spec(w.experiment, w.unit)),
    message:
        "Keeping policies of {wildcards.unit} on {wildcards.experiment}"
    shell:
        "nscmdp job policies {params.specification:q} --output {output:q} --tuned {input.tuned:q} 2> {log:q}"
