# `snakemake --cores 8` starts here.
include: "workflow/Snakefile"


rule default:
    default_target: True
    input:
        rules.all.input,
