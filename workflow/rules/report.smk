# Notebooks, the page, and the checksums of it all.
for NAME in plan.notebooks:

    rule:
        # papermill writes the executed notebook only when it ran to its end; a crash leaves no output
        name:
            f"notebook_{NAME}"
        input:
            specification=specification(f"notebooks/{NAME}"),
            notebook=f"notebooks/{NAME}.ipynb",
            tables=at(*plan.read_by(NAME)),
        output:
            notebook=at(layout.notebook(NAME)),
            figures=figures_of(NAME),
        log:
            at(f"logs/notebooks/{NAME}.log"),
        priority: 2 if NAME == "grid_world" else 0
        localrule: True
        conda:
            "../envs/nscmdp.yml"
        resources:
            mem_mb=2000,
            runtime=20,
        message:
            "Executing {input.notebook}"
        shell:
            "wei2023 job notebook {input.specification:q} --notebook {input.notebook:q} --output {output.notebook:q} 2> {log:q}"


rule html:
    input:
        at(layout.notebook("{name}")),
    output:
        reported(
            layout.notebook("{name}", "html"),
            "notebook",
            "Notebooks",
            {"notebook": "{name}"},
        ),
    log:
        at("logs/notebooks/{name}_html.log"),
    localrule: True
    conda:
        "../envs/nscmdp.yml"
    resources:
        mem_mb=1000,
        runtime=10,
    message:
        "Rendering {input}"
    shell:
        "wei2023 job render {input:q} --output {output:q} 2> {log:q}"


# The last steps: what each of them reads and writes.
LAST = {
    "timing": (at(*plan.tables()), at(layout.TIMING, layout.BENCHMARKS)),
    "page": (
        [
            *at(*plan.tables(), *plan.learning(), *plan.judged(), *plan.drawn()),
            *map(str, plan.kept_of_the_suite.values()),
        ],
        [
            reported(layout.PAGE, "page", "Pages", {"page": layout.PAGE}),
            *at(*(name for name in plan.pages if name != layout.PAGE)),
        ],
    ),
    "checksums": (at(*plan.files()), at(layout.CHECKSUMS)),
}

for STEP, (READ, WRITTEN) in LAST.items():

    rule:
        name:
            STEP
        input:
            specification=specification(f"steps/{STEP}"),
            read=READ,
        output:
            WRITTEN,
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
