rule grid_world:
    """papermill writes the executed notebook only when it ran to its end; a crash leaves no output."""
    input:
        notebook="notebooks/grid_world.ipynb",
        tables=expand(
            f"{RESULTS}/tables/{{experiment}}/{{table}}",
            experiment=GRID_WORLDS,
            table=TABLES,
        ),
    output:
        notebook=f"{RESULTS}/notebooks/grid_world.ipynb",
        svg=report(f"{RESULTS}/figures/grid_world.svg", category="Figures"),
        png=f"{RESULTS}/figures/grid_world.png",
    log:
        f"{RESULTS}/logs/notebooks/grid_world.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        parameters=json.dumps({"results": RESULTS, "experiments": GRID_WORLDS}),
        sources=sources.digest("nscmdp.figures"),
    message:
        "Executing {input.notebook}"
    shell:
        "nscmdp notebook {input.notebook:q} --parameters {params.parameters:q} --output {output.notebook:q} 2> {log:q}"


rule environments:
    input:
        notebook="notebooks/environments.ipynb",
    output:
        notebook=f"{RESULTS}/notebooks/environments.ipynb",
        svg=report(f"{RESULTS}/figures/environments.svg", category="Figures"),
        png=f"{RESULTS}/figures/environments.png",
        table=f"{RESULTS}/tables/environments.csv",
    log:
        f"{RESULTS}/logs/notebooks/environments.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        parameters=json.dumps({"results": RESULTS, "shown": SHOWN}),
        sources=sources.digest(
            "nscmdp.report",
            "nscmdp.figures",
            *(f"nscmdp.environments.{e}" for e in environments.NAMES),
        ),
    message:
        "Executing {input.notebook}"
    shell:
        "nscmdp notebook {input.notebook:q} --parameters {params.parameters:q} --output {output.notebook:q} 2> {log:q}"


rule comparison_table:
    input:
        notebook="notebooks/comparison_table.ipynb",
        tables=role_tables("growth", "assumed_budget", "linear"),
    output:
        notebook=f"{RESULTS}/notebooks/comparison_table.ipynb",
        figures=expand(
            f"{RESULTS}/figures/{{name}}.{{form}}",
            name=["growth", "assumed_budget", "arms"],
            form=["svg", "png"],
        ),
        tables=expand(
            f"{RESULTS}/tables/{{name}}",
            name=["comparison.csv", "comparison.tex", "slopes.csv"],
        ),
    log:
        f"{RESULTS}/logs/notebooks/comparison_table.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        parameters=json.dumps({"results": RESULTS, **STUDIES}),
        sources=sources.digest("nscmdp.comparison", "nscmdp.figures"),
    message:
        "Executing {input.notebook}"
    shell:
        "nscmdp notebook {input.notebook:q} --parameters {params.parameters:q} --output {output.notebook:q} 2> {log:q}"


rule replication:
    input:
        notebook="notebooks/replication.ipynb",
        claims=f"{RESULTS}/claims.json",
        tuned=f"{RESULTS}/tables/tuned.csv",
        optima=expand(
            f"{RESULTS}/environments/{{name}}.parquet",
            name=[tuning.name for tuning in plan.config.tunings],
        ),
        tables=expand(
            f"{RESULTS}/tables/{{name}}/exact.parquet",
            name=[*ROLES["controls"], *ROLES["sensitivity"]],
        ),
    output:
        notebook=f"{RESULTS}/notebooks/replication.ipynb",
        figures=expand(
            f"{RESULTS}/figures/{{name}}.{{form}}",
            name=["claims", "landscape", "causes", "sensitivity"],
            form=["svg", "png"],
        ),
    log:
        f"{RESULTS}/logs/notebooks/replication.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        parameters=json.dumps(
            {
                "results": RESULTS,
                "tunings": [tuning.name for tuning in plan.config.tunings],
                "controls": ROLES["controls"],
                "sensitivity": ROLES["sensitivity"],
            }
        ),
        sources=sources.digest("nscmdp.replication", "nscmdp.figures"),
    message:
        "Executing {input.notebook}"
    shell:
        "nscmdp notebook {input.notebook:q} --parameters {params.parameters:q} --output {output.notebook:q} 2> {log:q}"


rule linear:
    input:
        notebook="notebooks/linear.ipynb",
        tables=role_tables("linear"),
    output:
        notebook=f"{RESULTS}/notebooks/linear.ipynb",
        figures=expand(
            f"{RESULTS}/figures/{{name}}.{{form}}",
            name=["linear", "linear_arms"],
            form=["svg", "png"],
        ),
    log:
        f"{RESULTS}/logs/notebooks/linear.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        parameters=json.dumps({"results": RESULTS, **STUDIES}),
        sources=sources.digest("nscmdp.comparison", "nscmdp.figures"),
    message:
        "Executing {input.notebook}"
    shell:
        "nscmdp notebook {input.notebook:q} --parameters {params.parameters:q} --output {output.notebook:q} 2> {log:q}"


rule html:
    input:
        f"{RESULTS}/notebooks/{{name}}.ipynb",
    output:
        f"{RESULTS}/notebooks/{{name}}.html",
    log:
        f"{RESULTS}/logs/notebooks/{{name}}_html.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=1000,
        runtime=10,
    message:
        "Rendering {input}"
    shell:
        "nscmdp render {input:q} --output {output:q} 2> {log:q}"
