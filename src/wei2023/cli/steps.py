"""The steps from the runs' files to tables, verdicts and pages: what each depends on, and what it writes first."""

import hashlib
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from nscmdp.kernels import sources
from wei2023.runs import specifications
from wei2023.runs.specifications import Specification
from wei2023.study import layout
from wei2023.study import plan as planning
from wei2023.study.plan import Plan

SIMULATED = ("protocols", "choices", "eta", "frames")
ALL = ("protocols", "claims", "shown", "suite", "tunings")


class Step(NamedTuple):
    """A step over several experiments: its module has the function ``write(plan, folder)``."""

    module: str
    says: str
    output: str  # the first file that it writes
    roles: (
        tuple[str, ...] | None
    ) = ()  # of the experiments that it depends on; None: all experiments
    keys: tuple[str, ...] = ()  # of the configuration, besides experiments and their tunings


STEPS = {
    "tuned": Step(
        "verdicts.tuned",
        "tabulate all candidates of all tunings",
        layout.table("tuned.csv"),
        (),
        ("tunings",),
    ),
    "environments": Step(
        "verdicts.description",
        "tabulate the environments to be shown",
        layout.table("environments.csv"),
        (),
        ("shown",),
    ),
    "comparison": Step(
        "verdicts.comparison",
        "make the comparison table",
        layout.table("comparison.csv"),
        ("growth", "linear"),
    ),
    "suite": Step(
        "verdicts.suite",
        "compare all learners on the suite",
        layout.table("suite_scores.csv"),
        ("suite",),
        ("suite",),
    ),
    "protocols": Step(
        "verdicts.protocols",
        "judge the claim of the paper's simulation, protocol by protocol",
        layout.table("protocols.csv"),
        SIMULATED,
        ("protocols",),
    ),
    "claims": Step(
        "report.claims",
        "gather the verdicts on all claims",
        layout.CLAIMS,
        SIMULATED,
        ("protocols", "claims"),
    ),
    "answer": Step(
        "verdicts.answer",
        "gather the numbers behind the answer",
        layout.ANSWER,
        (*SIMULATED, "growth", "linear"),
        ("protocols", "claims"),
    ),
    "deviations": Step(
        "report.deviations",
        "write the ledger of deviations with the effects of its switches",
        layout.table("deviations.csv"),
        ("switches",),
    ),
    "timing": Step(
        "report.page.benchmarks",
        "gather from the logs how long episodes took",
        layout.TIMING,
        None,
        ALL,
    ),
    "page": Step("report.page", "write the page that shows the results", layout.PAGE, None, ALL),
    "checksums": Step(
        "runs.integrity", "note the checksums of a finished run", layout.CHECKSUMS, None, ALL
    ),
}


def specification(plan: Plan, step: Step) -> Specification:
    experiments = (
        plan.experiments
        if step.roles is None
        else [name for role in step.roles for name in plan.roles.get(role, [])]
    )
    return _specified(plan, step.module, step.output, experiments, step.keys)


def of_experiments(plan: Plan) -> dict[str, Specification]:
    """The steps that one experiment has by itself."""
    found = {}
    for name in plan.experiments:
        output = layout.table(layout.TABLES[0], name)
        made = _specified(plan, "verdicts.tables", output, [name])
        found[layout.job(f"tables/{name}")] = made | {"experiment": name}
    for name in plan.watched:
        output = layout.table(layout.LEARNING[0], name)
        made = _specified(plan, "verdicts.learning", output, [name])
        found[layout.job(f"learning/{name}")] = made | {"experiment": name}
    return found


def of_claims(plan: Plan) -> dict[str, Specification]:
    """The checks of the claims, group by group."""
    found = {}
    for group in plan.claim_groups:
        reads = [name for role in ("growth", "linear") for name in plan.roles.get(role, [])]
        experiments = reads if plan.read_by_checks(group) else []
        made = _specified(plan, f"proofs.{group}", layout.claims(group), experiments, ("claims",))
        found[layout.job(f"claims/{group}")] = made | {"group": group}
    return found


def of_notebooks(plan: Plan) -> dict[str, Specification]:
    return {
        layout.job(f"notebooks/{name}"): {
            "parameters": {
                key: value for key, value in plan.parameters(name).items() if key != "folder"
            },
            "figures": {one.name: one.caption for one in figures},
            "output": layout.notebook(name),
            "sources": sources.digest(f"wei2023.report.figures.{name}", "wei2023.report.notebooks"),
            "plugins": plan.config.plugins,
        }
        for name, figures in plan.notebooks.items()
    }


def write(plan: Plan, folder: Path) -> None:
    """The specifications of all jobs and steps of a run."""
    made = {layout.job(f"steps/{name}"): specification(plan, step) for name, step in STEPS.items()}
    planned = {
        **specifications.of_runs(plan),
        **of_experiments(plan),
        **of_claims(plan),
        **of_notebooks(plan),
        **made,
    }
    specifications.write(folder, planned)


def run(name: str, spec: Specification, outputs: list[Path]) -> None:
    """Make a step's files, beside the first of which lies everything that it reads."""
    plan, folder = planned(spec), folder_of(spec, outputs)
    if name == "judge":
        import_module("wei2023.proofs").judge(plan, folder, spec["group"])
    elif name in ("tables", "learning"):
        import_module(f"wei2023.verdicts.{name}").write(plan, folder, spec["experiment"])
    else:
        import_module(f"wei2023.{STEPS[name].module}").write(plan, folder)


def planned(spec: Specification) -> Plan:
    return planning.make(spec["config"])


def folder_of(spec: Specification, outputs: list[Path]) -> Path:
    """The folder of the results, wherever it is on this machine: the names of all files begin there."""
    return outputs[0].parents[len(PurePosixPath(spec["output"]).parts) - 1]


def _specified(
    plan: Plan, module: str, output: str, experiments: list[str], keys: tuple[str, ...] = ()
) -> Specification:
    return {
        "config": specifications.part(plan, experiments, keys),
        "output": output,
        "sources": sources.digest(
            f"wei2023.{module}", *(["wei2023.proofs"] if module.startswith("proofs.") else [])
        ),
        "templates": _templates() if module.startswith("report.") else "",
        "plugins": plan.config.plugins,
    }


def _templates() -> str:
    """A hash of what the page is made of beside modules."""
    page = sources.OTHERS["wei2023"] / "report" / "page"
    made_of = sorted([*page.glob("static/*"), *page.glob("templates/*")])
    return hashlib.sha256(b"".join(file.read_bytes() for file in made_of)).hexdigest()[:16]
