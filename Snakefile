# The whole replication: config.yaml -> simulations and optima -> tables -> verdicts -> notebooks -> figures -> page.
from wei2023.study import plan as planning
from wei2023.study.config import Unacceptable


configfile: "config.yaml"


report: "workflow/report/workflow.rst"


try:
    plan = planning.make(config)
    if workflow.is_main_process:
        plan.check()
except Unacceptable as error:
    raise WorkflowError(str(error))


include: "workflow/rules/common.smk"
include: "workflow/rules/progress.smk"
include: "workflow/rules/recovery.smk"
include: "workflow/rules/kernels.smk"
include: "workflow/rules/runs.smk"
include: "workflow/rules/analysis.smk"
include: "workflow/rules/report.smk"


onstart:
    begin()


rule all:
    default_target: True
    input:
        at(layout.PAGE, layout.CHECKSUMS, layout.TIMING),
