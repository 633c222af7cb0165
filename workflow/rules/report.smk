# Notebooks, the page, and the checksums of it all.
import hashlib

PAGE_FILES = sorted((sources.PACKAGE / "report/page").glob("[ts]*/*"))
TEMPLATES = hashlib.sha256(b"".join(map(Path.read_bytes, PAGE_FILES))).hexdigest()[:16]

for NAME in plan.notebooks:

    rule:
        # papermill writes the executed notebook only when it ran to its end; a crash leaves no output
        name:
            f"notebook_{NAME}"
        input:
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
        params:
            parameters=json.dumps(plan.parameters(NAME)),
            captions={one.name: one.caption for one in plan.notebooks[NAME]},
            sources=sources.digest(
                f"nscmdp.report.figures.{NAME}", "nscmdp.report.results"
            ),
        message:
            "Executing {input.notebook}"
        shell:
            "nscmdp job notebook {input.notebook:q} --parameters {params.parameters:q} --output {output.notebook:q} 2> {log:q}"


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
    params:
        sources=sources.digest("nscmdp.report.notebooks"),
    message:
        "Rendering {input}"
    shell:
        "nscmdp job render {input:q} --output {output:q} 2> {log:q}"


use rule tuned as timing with:
    input:
        at(*plan.tables()),
    output:
        at(layout.TIMING, layout.BENCHMARKS),
    log:
        at("logs/timing.log"),
    params:
        **step("timing", "report.page.benchmarks"),
        templates=TEMPLATES,
    message:
        "Gathering how long episodes took"


use rule tuned as page with:
    input:
        at(*plan.tables(), *plan.learning(), *plan.judged(), *plan.drawn()),
        kept=[str(file) for file in plan.kept_of_the_suite.values()],
    output:
        reported(layout.PAGE, "page", "Pages", {"page": layout.PAGE}),
        at(*(name for name in plan.pages if name != layout.PAGE)),
    log:
        at("logs/page.log"),
    params:
        **step("page", "report.page"),
        templates=TEMPLATES,
    message:
        "Writing the page"


use rule tuned as checksums with:
    input:
        at(*plan.files()),
    output:
        at(layout.CHECKSUMS),
    log:
        at("logs/checksums.log"),
    params:
        **step("finish", "runs.integrity"),
    message:
        "Noting the checksums of all results"
