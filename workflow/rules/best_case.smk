# The best case for the paper: constants under which its claim holds by the widest margin, on fresh seeds.
from nscmdp.study.catalogue import QUESTIONS, REGION

BEST_CASE = layout.best_case("{best_case}", "{question}")
CONFIRMATION = layout.confirmation("{best_case}", "{question}")


wildcard_constraints:
    best_case=r"[^/]+",
    question="|".join((*QUESTIONS, REGION)),


rule best_case:
    """A search, or the draw of a region. Cut short, it goes on from what it noted in its folder of logs."""
    input:
        optima=at(layout.optima("{best_case}")),
        start=lambda w: at(*plan.best_case_start(w.best_case, w.question)),
        kernels=lambda w: kernels(
            *plan.called_by(plan.best_case_spec(w.best_case, w.question))
        ),
    output:
        at(BEST_CASE),
    log:
        at(layout.log(BEST_CASE)),
    conda:
        "../envs/nscmdp.yml"
    resources:
        **asked("best_case"),
    params:
        specification=lambda w: json.dumps(plan.best_case_spec(w.best_case, w.question)),
        progress=lambda w: at(f"logs/{BEST_CASE.format(**w)}")[0],
    message:
        "Searching for the best case of {wildcards.best_case}: {wildcards.question}"
    shell:
        "nscmdp job best_case {params.specification:q} --optima {input.optima:q} --progress {params.progress:q} --output {output:q} --start {input.start:q} 2> {log:q}"


rule confirm:
    """The best candidate and the tuned choice, baselines beside them, on seeds that nothing else uses."""
    input:
        optima=at(layout.optima("{best_case}")),
        searches=lambda w: at(*plan.best_case_search(w.best_case, w.question)),
        tuned=lambda w: at(*plan.choices_beside(w.best_case, w.question)),
        kernels=lambda w: kernels(
            *plan.called_by(plan.confirmation_spec(w.best_case, w.question))
        ),
    output:
        at(CONFIRMATION),
    log:
        at(layout.log(CONFIRMATION)),
    conda:
        "../envs/nscmdp.yml"
    resources:
        **asked("confirm"),
    params:
        specification=lambda w: json.dumps(
            plan.confirmation_spec(w.best_case, w.question)
        ),
    message:
        "Confirming the best case of {wildcards.best_case} on fresh seeds: {wildcards.question}"
    shell:
        "nscmdp job confirm {params.specification:q} --optima {input.optima:q} --output {output:q} --searches {input.searches:q} --tuned {input.tuned:q} 2> {log:q}"


use rule tuned as best_cases with:
    input:
        at(*(name for *_, name in plan.confirmation_files())),
        at(*(name for *_, name in plan.best_case_files())),
        at(
            *(
                file
                for name, question, _ in plan.confirmation_files()
                for file in plan.best_case_start(name, question)
            )
        ),
    output:
        tables_of("best_cases"),
    log:
        at("logs/best_cases.log"),
    params:
        **step("best_cases", "analysis.best_cases", decisive=best_cases_config),
    message:
        "Tabulating the best cases for the paper"
