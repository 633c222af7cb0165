rule page:
    input:
        summaries=expand(
            f"{RESULTS}/tables/{{experiment}}/summary.csv", experiment=[e.name for e in plan.config.experiments]
        ),
        figure=rules.grid_world.output.svg,
        notebook=f"{RESULTS}/notebooks/grid_world.html",
    output:
        f"{RESULTS}/index.html",
    params:
        results=RESULTS,
        sources=sources.digest("nscmdp.page"),
    log:
        f"{RESULTS}/logs/page.log",
    benchmark:
        f"{RESULTS}/benchmarks/page.tsv"
    resources:
        mem_mb=1000,
        runtime=5,
    message:
        "Writing {output}"
    shell:
        "nscmdp page {params.results:q} 2> {log:q}"
