import json

from nscmdp import sources

RUN = f"{RESULTS}/simulations/{{experiment}}/{{budget}}/K={{episodes}}/{{learner}}"
ALGORITHMS = sorted({learner.algorithm for case in plan.cases for learner in case.experiment.learners})


wildcard_constraints:
    experiment=r"[^/]+",
    budget=r"[^/]+",
    learner=r"[^/]+",
    episodes=r"\d+",
    seeds=r"[\d,-]+",


rule compile:
    """Kernels are compiled once, before the fan-out: simultaneous cold starts would each compile them."""
    output:
        touch(f"{RESULTS}/logs/compiled/{sources.kernel_digest()}"),
    params:
        algorithms=ALGORITHMS,
    log:
        f"{RESULTS}/logs/compile.log",
    benchmark:
        f"{RESULTS}/benchmarks/compile.tsv"
    resources:
        mem_mb=1000,
        runtime=10,
    message:
        "Compiling the kernels"
    shell:
        "nscmdp compile {params.algorithms:q} 2> {log:q}"


rule simulate:
    input:
        compiled=ancient(rules.compile.output[0]),
    output:
        f"{RUN}/seeds={{seeds}}.parquet",
    params:
        specification=lambda wildcards: json.dumps(
            plan.case(wildcards.experiment, wildcards.budget, wildcards.episodes).run_spec(wildcards.learner),
            sort_keys=True,
        ),
    log:
        RUN.replace("/simulations/", "/logs/simulations/") + "/seeds={seeds}.log",
    benchmark:
        RUN.replace("/simulations/", "/benchmarks/simulations/") + "/seeds={seeds}.tsv"
    resources:
        mem_mb=1000,
        runtime=60,
    message:
        "Simulating {wildcards.experiment} {wildcards.budget} K={wildcards.episodes} {wildcards.learner}, seeds {wildcards.seeds}"
    shell:
        "nscmdp simulate {params.specification:q} --seeds {wildcards.seeds:q} --output {output:q} 2> {log:q}"
