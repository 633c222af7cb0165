# The whole replication: config.yaml -> simulations and optima -> tables -> verdicts -> notebooks -> figures -> page.
from nscmdp.study import plan as planning
from nscmdp.study.config import Unacceptable


configfile: "config.yaml"


report: "workflow/report/workflow.rst"


try:
    plan = planning.make(config)
    if workflow.is_main_process:
        plan.check()
except Unacceptable as error:
    raise WorkflowError(str(error))


include: "workflow/rules/common.smk"
include: "workflow/rules/recovery.smk"
include: "workflow/rules/progress.smk"
include: "workflow/rules/kernels.smk"
include: "workflow/rules/runs.smk"
include: "workflow/rules/analysis.smk"
include: "workflow/rules/report.smk"


onstart:
    begin()
    watch()


onsuccess:
    end_watch()


onerror:
    end_watch()


rule all:
    default_target: True
    input:
        at(layout.PAGE, layout.CHECKSUMS, layout.TIMING),
