rule page:
    input:
        summaries=expand(
            f"{RESULTS}/tables/{{experiment}}/summary.csv", experiment=EXPERIMENTS
        ),
        judged=JUDGED,
        notebooks=expand(f"{RESULTS}/notebooks/{{name}}.html", name=FIGURES),
        figures=expand(
            f"{RESULTS}/figures/{{name}}.svg", name=sum(FIGURES.values(), [])
        ),
    output:
        f"{RESULTS}/index.html",
        f"{RESULTS}/deviations.html",
    log:
        f"{RESULTS}/logs/page.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        results=lambda wildcards, output: os.path.dirname(output[0]),
        sources=sources.digest("nscmdp.page"),
    message:
        "Writing {output}"
    shell:
        "nscmdp page {params.results:q} 2> {log:q}"
