# The whole replication: config.yaml -> simulations and optima -> tables -> notebooks -> figures -> page.
from nscmdp.study import plan as planning
from nscmdp.study.config import Unacceptable


configfile: "config.yaml"


try:
    plan = planning.make(config)
    if workflow.is_main_process:
        plan.check()
except Unacceptable as error:
    raise WorkflowError(str(error))

RESULTS = plan.config.results


include: "workflow/rules/common.smk"
include: "workflow/rules/recovery.smk"
include: "workflow/rules/simulate.smk"
include: "workflow/rules/optimum.smk"
include: "workflow/rules/tune.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/claims.smk"
include: "workflow/rules/notebooks.smk"
include: "workflow/rules/deviations.smk"
include: "workflow/rules/page.smk"
include: "workflow/rules/checksums.smk"


onstart:
    begin()
    # Kernels are compiled once, before the fan-out: simultaneous cold starts would each compile them.
    shell("nscmdp compile {ALGORITHMS:q}")


rule all:
    default_target: True
    input:
        f"{RESULTS}/index.html",
        f"{RESULTS}/checksums.txt",
