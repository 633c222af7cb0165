"""The steps from the runs' files to tables, verdicts and pages: what each depends on, and what it writes first."""

import hashlib
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import Any

from nscmdp.kernels import sources
from wei2023.cli.jobs import GROWING, STEPS
from wei2023.runs import specifications
from wei2023.runs.specifications import Specification
from wei2023.study import catalogue, layout
from wei2023.study import plan as planning
from wei2023.study.plan import Plan

LAST = {"timing": layout.TIMING, "page": layout.PAGE, "checksums": layout.CHECKSUMS}


def specified(plan: Plan) -> dict[str, Specification]:
    """What decides the result of each step, by the name of the file that says it."""
    page = sources.OTHERS["wei2023"] / "report" / "page"  # made of more than modules
    made_of = sorted([*page.glob("static/*"), *page.glob("templates/*")])
    templates = hashlib.sha256(b"".join(file.read_bytes() for file in made_of)).hexdigest()[:16]
    found: dict[str, Specification] = {}

    def add(
        name: str, modules: list[str], output: str, experiments: list[str], *keys: str, **more: Any
    ) -> None:
        found[layout.job(name)] = {
            "config": specifications.part(plan, experiments, keys),
            "output": output,
            "sources": sources.digest(*(f"wei2023.{module}" for module in modules)),
            "templates": templates if modules[0].startswith("report.") else "",
            "plugins": plan.config.plugins,
            **more,
        }

    def of_roles(*roles: str) -> list[str]:
        return [name for role in roles for name in plan.roles.get(role, [])]

    for name in plan.experiments:
        output = layout.table(layout.TABLES[0], name)
        add(f"tables/{name}", ["verdicts.tables"], output, [name], experiment=name)
    for name in plan.watched:
        output = layout.table(layout.LEARNING[0], name)
        add(f"learning/{name}", ["verdicts.learning"], output, [name], experiment=name)
    for group in plan.claim_groups:
        read = of_roles(*GROWING) if plan.read_by_checks(group) else []
        modules = [f"proofs.{group}", "proofs"]
        add(f"claims/{group}", modules, layout.claims(group), read, "claims", group=group)
    for name, figures in plan.notebooks.items():
        drawing = (f"wei2023.report.figures.{name}", "wei2023.report.notebooks")
        parameters = {k: v for k, v in plan.parameters(name).items() if k != "folder"}
        found[layout.job(f"notebooks/{name}")] = {
            "parameters": parameters,
            "figures": {one.name: one.caption for one in figures},
            "output": layout.notebook(name),
            "sources": sources.digest(*drawing),
            "plugins": plan.config.plugins,
        }
    for name, step in STEPS.items():
        experiments = plan.experiments if step.roles is None else of_roles(*step.roles)
        output = LAST.get(name) or next(iter(catalogue.TABLES[name]))
        add(f"steps/{name}", [step.module], output, experiments, *step.keys)
    return found


def write(plan: Plan, folder: Path) -> None:
    """The specifications of all jobs and steps of a run."""
    specifications.write(folder, specifications.of_runs(plan) | specified(plan))


def run(name: str, spec: Specification, outputs: list[Path]) -> None:
    """Make a step's files, beside the first of which lies everything that it reads."""
    plan, folder = planning.make(spec["config"]), folder_of(spec, outputs)
    if name == "judge":
        import_module("wei2023.proofs").judge(plan, folder, spec["group"])
    elif name in ("tables", "learning"):
        import_module(f"wei2023.verdicts.{name}").write(plan, folder, spec["experiment"])
    else:
        import_module(f"wei2023.{STEPS[name].module}").write(plan, folder)


def folder_of(spec: Specification, outputs: list[Path]) -> Path:
    """The folder of the results, wherever it is on this machine: the names of all files begin there."""
    return outputs[0].parents[len(PurePosixPath(spec["output"]).parts) - 1]
