# What takes time: optima, tuning and simulations, jobs of their own on a cluster.


rule optimum:
    """The optimum belongs to an environment: computed once, shared by all runs."""
    input:
        specification=specification("environments/{experiment}"),
    output:
        at(OPTIMA),
    log:
        at(layout.log(OPTIMA)),
    priority: urgency
    conda:
        "../envs/nscmdp.yml"
    resources:
        **asked("optimum"),
    message:
        "Solving the optima of {wildcards.experiment}"
    shell:
        "wei2023 job optimum {input.specification:q} --output {output:q} 2> {log:q}"


rule search:
    """One search for one algorithm's factors. Cut short, it goes on from what it noted in its folder of logs."""
    input:
        specification=at(layout.job_of(SEARCH)),
        optima=at(layout.optima("{tuning}")),
        start=lambda w: at(*plan.started_by(w.tuning, w.algorithm)),
        kernels=lambda w: kernels(w.algorithm),
    output:
        at(SEARCH),
    log:
        at(layout.log(SEARCH)),
    priority: urgency
    conda:
        "../envs/nscmdp.yml"
    resources:
        **asked("search"),
    params:
        progress=lambda w: at(f"logs/{SEARCH.format(**w)}"),
    message:
        "Searching for {wildcards.algorithm} on {wildcards.tuning}, K = {wildcards.episodes}, search {wildcards.search}"
    shell:
        "wei2023 job search {input.specification:q} --optima {input.optima:q} --start {input.start:q}"
        " --progress {params.progress:q} --output {output:q} 2> {log:q}"


rule tune:
    """Chooses one algorithm's factors among what its searches kept, on the selection seeds."""
    input:
        specification=at(layout.job_of(TUNING)),
        searches=lambda w: at(*plan.searched_by(w.tuning, w.algorithm, int(w.episodes))),
    output:
        at(TUNING),
    log:
        at(layout.log(TUNING)),
    priority: urgency
    localrule: True
    conda:
        "../envs/nscmdp.yml"
    resources:
        mem_mb=1000,
        runtime=10,
    message:
        "Tuning {wildcards.algorithm} on {wildcards.tuning}, K = {wildcards.episodes}"
    shell:
        "wei2023 job tune {input.specification:q} --searches {input.searches:q} --output {output:q} 2> {log:q}"


rule searched:
    """All searches, for the records in the repository: `make search`."""
    input:
        at(*(name for *_, name in plan.search_files())),
        at(*(name for *_, name in plan.tuning_files())),


rule simulate:
    input:
        specification=specification("simulations/{experiment}/{unit}"),
        optima=optima_of_windows,
        tuned=lambda w: at(*plan.tuned_by(w.experiment, w.unit)),
        kernels=lambda w: kernels(*learners(w)),
    output:
        at(RUN),
    log:
        at(layout.log(RUN)),
    priority: urgency
    conda:
        "../envs/nscmdp.yml"
    resources:
        **asked("simulate"),
    message:
        "Simulating {wildcards.unit} on {wildcards.experiment}, seeds {wildcards.seeds}"
    shell:
        "wei2023 job simulate {input.specification:q} --seeds {wildcards.seeds:q} --optima {input.optima:q}"
        " --tuned {input.tuned:q} --output {output:q} 2> {log:q}"


rule policies:
    """What each learner plays in some episodes of its first run, to be watched on the map."""
    input:
        specification=at(layout.job_of(POLICIES)),
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
    message:
        "Keeping policies of {wildcards.unit} on {wildcards.experiment}"
    shell:
        "wei2023 job policies {input.specification:q} --tuned {input.tuned:q} --output {output:q} 2> {log:q}"
