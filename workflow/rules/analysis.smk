# From result files to tables and verdicts.


rule tables:
    input:
        optima=lambda w: at(layout.optima(plan.optima_of(w.experiment))),
        runs=lambda w: at(*(name for _, _, name in plan.run_files(w.experiment))),
        tuned=lambda w: at(*plan.tuned_by(w.experiment)),
    output:
        at(
            *(
                layout.table(name, "{experiment}")
                for name in layout.TABLES
                if name != "summary.csv"
            )
        ),
        summary=reported(
            layout.table("summary.csv", "{experiment}"),
            "summary",
            "Experiments",
            {"experiment": "{experiment}"},
        ),
    log:
        at("logs/tables/{experiment}.log"),
    priority: first
    conda:
        "../envs/nscmdp.yml"
    resources:
        **asked("tables"),
    params:
        results=folder,
        config=experiment_config,
        sources=sources.digest("nscmdp.analysis.tables"),
    message:
        "Tabulating {wildcards.experiment}"
    shell:
        "nscmdp job tables {params.results:q} {wildcards.experiment:q} 2> {log:q}"


rule tuned:
    """The first of the steps that take seconds: on a cluster they run beside Snakemake, not as jobs of their own."""
    input:
        at(*(name for *_, name in (*plan.tuning_files(), *plan.search_files()))),
    output:
        tables_of("tuned"),
    log:
        at("logs/tuned.log"),
    localrule: True
    conda:
        "../envs/nscmdp.yml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        **step("tuned", "analysis.tuned", tunings=tunings_config),
    message:
        "Tabulating what tuning tried"
    shell:
        "nscmdp job {params.command:q} {params.results:q} 2> {log:q}"


use rule tuned as environments with:
    input:
        [],
    output:
        tables_of("environments"),
    log:
        at("logs/environments.log"),
    params:
        **step("environments", "analysis.description", shown=plan.shown),
    message:
        "Describing the environments"


use rule tuned as learning with:
    input:
        at(*plan.policies()),
    output:
        tables_of_policies(),
    log:
        at("logs/learning.log"),
    params:
        **step("learning", "analysis.learning", policies=policies_config),
    message:
        "Following policies over the map"


use rule tuned as comparison with:
    input:
        at(*plan.tables_of("growth", "linear")),
    output:
        tables_of("comparison"),
    log:
        at("logs/comparison.log"),
    params:
        **step("comparison", "analysis.comparison"),
    message:
        "Comparing what is measured with what is claimed"


use rule tuned as suite with:
    input:
        at(*plan.tables_of("suite")),
        suite=str(plan.suite_file),
    output:
        tables_of("suite"),
    log:
        at("logs/suite.log"),
    params:
        **step("suite", "analysis.suite"),
    message:
        "Comparing all learners on the suite"


use rule tuned as protocols with:
    input:
        exact(*plan.roles.get("protocols", []), *plan.roles.get("choices", [])),
        thresholds="workflow/claims.yaml",
        recorded=sorted(map(str, Path("docs/long").glob("*.csv"))),
    output:
        tables_of("protocols"),
    log:
        at("logs/protocols.log"),
    params:
        **step("protocols", "analysis.protocols", decisive=protocols_config),
    message:
        "Judging the simulation's claim, protocol by protocol"


rule judge:
    """The checks of a group of claims: exact mathematics, small runs of their own, and what the tables say."""
    input:
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
    params:
        results=folder,
        effort=str(plan.config.claims),
        sources=lambda w: sources.digest(
            "nscmdp.analysis.claims", f"nscmdp.analysis.claims.{w.group}"
        ),
    message:
        "Checking the claims of {wildcards.group}"
    shell:
        "nscmdp job judge {params.results:q} {wildcards.group:q} > {log:q} 2>&1"


use rule tuned as claims with:
    input:
        at(*map(layout.claims, plan.claim_groups)),
        at(layout.table("protocols.csv")) if plan.simulations else [],
        ledger="workflow/claims.yaml",
        erratum="workflow/erratum.md",
    output:
        tables_of("claims"),
    log:
        at("logs/claims.log"),
    params:
        **step("claims", "analysis.claims"),
    message:
        "Gathering the verdicts on all claims"


use rule tuned as answer with:
    input:
        at(layout.CLAIMS, *map(layout.table, layout.PROTOCOLS)),
        at(
            *(
                name
                for name in plan.judged()
                if name in map(layout.table, layout.COMPARISON)
            )
        ),
        exact(*plan.roles.get("eta", [])),
        ledger="workflow/deviations.yaml",
    output:
        tables_of("answer"),
    log:
        at("logs/answer.log"),
    params:
        **step("answer", "analysis.answer"),
    message:
        "Answering"


use rule tuned as deviations with:
    input:
        exact(*plan.roles.get("switches", [])),
        ledger="workflow/deviations.yaml",
    output:
        tables_of("deviations"),
    log:
        at("logs/deviations.log"),
    params:
        **step("deviations", "analysis.deviations"),
    message:
        "Writing the ledger of deviations"
