# From result files to tables and verdicts.


rule tables:
    input:
        specification=specification("tables/{experiment}"),
        optima=lambda w: at(layout.optima(plan.optima_of(w.experiment))),
        runs=lambda w: at(*(name for _, _, name in plan.run_files(w.experiment))),
        tuned=lambda w: at(*plan.tuned_by(w.experiment)),
    output:
        at(*(layout.table(name, "{experiment}") for name in layout.PARQUET)),
        summary=reported(
            layout.table("summary.csv", "{experiment}"),
            "summary",
            "Experiments",
            {"experiment": "{experiment}"},
        ),
    log:
        at("logs/tables/{experiment}.log"),
    priority: urgency
    conda:
        "../envs/nscmdp.yml"
    resources:
        **asked("tables"),
    message:
        "Tabulating {wildcards.experiment}"
    shell:
        "wei2023 job tables {input.specification:q} --output {output:q} 2> {log:q}"


rule learning:
    """What the policies that were kept do on the map."""
    input:
        specification=specification("learning/{experiment}"),
        policies=lambda w: at(*(name for _, name in plan.policy_files(w.experiment))),
    output:
        at(layout.table("learning.parquet", "{experiment}")),
        summary=table(
            layout.table("learning.csv", "{experiment}"),
            catalogue.WATCHED["learning.csv"],
        ),
    log:
        at("logs/learning/{experiment}.log"),
    localrule: True
    conda:
        "../envs/nscmdp.yml"
    resources:
        mem_mb=2000,
        runtime=10,
    message:
        "Following the policies of {wildcards.experiment} over the map"
    shell:
        "wei2023 job learning {input.specification:q} --output {output:q} 2> {log:q}"


rule judge:
    """The checks of a group of claims: exact mathematics, small runs of their own, and what the tables say."""
    input:
        specification=specification("claims/{group}"),
        tables=lambda w: at(*plan.read_by_checks(w.group)),
        ledger="workflow/claims.yaml",
    output:
        reported(
            layout.claims("{group}"),
            "table",
            "Tables and verdicts",
            lambda w: {
                "file": layout.claims(w.group),
                "holds": catalogue.TABLES["judge"][layout.claims(w.group)],
            },
        ),
    log:
        at("logs/claims/{group}.log"),
    wildcard_constraints:
        group="|".join(catalogue.CLAIM_GROUPS),
    conda:
        "../envs/nscmdp.yml"
    resources:
        mem_mb=lambda w, attempt: 2000 * attempt,
        runtime=lambda w, attempt: 30 * attempt,
    message:
        "Checking the claims of {wildcards.group}"
    shell:
        "wei2023 job judge {input.specification:q} --output {output:q} > {log:q} 2>&1"


# The steps over several experiments, and what each of them reads. They take seconds: on a cluster they run beside
# Snakemake, not as jobs of their own.
READS = {
    "tuned": at(*(name for *_, name in (*plan.tuning_files(), *plan.search_files()))),
    "environments": [],
    "comparison": at(*plan.tables_of("growth", "linear")),
    "suite": [*at(*plan.tables_of("suite")), str(plan.suite_file)],
    "protocols": [
        *exact("protocols", "choices"),
        "workflow/claims.yaml",
        *sorted(map(str, Path("docs/long").glob("*.csv"))),
    ],
    "claims": [
        *at(*map(layout.claims, plan.claim_groups)),
        *(at(layout.table("protocols.csv")) if plan.simulations else []),
        "workflow/claims.yaml",
        "workflow/erratum.md",
    ],
    "answer": [
        *at(layout.CLAIMS, *map(layout.table, layout.PROTOCOLS)),
        *at(*map(layout.table, layout.COMPARISON if "growth" in plan.roles else ())),
        *exact("eta"),
        "workflow/deviations.yaml",
    ],
    "deviations": [*exact("switches"), "workflow/deviations.yaml"],
}

for STEP, FILES in READS.items():

    rule:
        name:
            STEP
        input:
            specification=specification(f"steps/{STEP}"),
            read=FILES,
        output:
            tables_of(STEP),
        log:
            at(f"logs/{STEP}.log"),
        localrule: True
        conda:
            "../envs/nscmdp.yml"
        resources:
            mem_mb=2000,
            runtime=10,
        params:
            step=STEP,
        message:
            steps.STEPS[STEP].says.capitalize()
        shell:
            "wei2023 job {params.step:q} {input.specification:q} --output {output:q} 2> {log:q}"
