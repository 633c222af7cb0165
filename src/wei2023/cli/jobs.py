"""The jobs of the pipeline, ``wei2023 job NAME``: each reads a specification and files, and writes files.

This module imports nothing heavy, as every job begins with it.
"""

import argparse
import json
from pathlib import Path
from typing import Any, NamedTuple

SIMULATED = ("protocols", "choices", "eta", "frames")
GROWING = ("growth", "linear")
ALL = ("protocols", "claims", "shown", "suite", "tunings")


class Step(NamedTuple):
    """A step over several experiments: its module has the function ``write(plan, folder)``."""

    module: str
    says: str
    roles: tuple[str, ...] | None = ()  # of the experiments that it depends on; None: all of them
    keys: tuple[str, ...] = ()  # of the configuration, besides experiments and their tunings


STEPS = {
    "tuned": Step("verdicts.tuned", "tabulate all candidates of all tunings", (), ("tunings",)),
    "environments": Step(
        "verdicts.description", "tabulate the environments to be shown", (), ("shown",)
    ),
    "comparison": Step("verdicts.comparison", "make the comparison table", GROWING),
    "suite": Step("verdicts.suite", "compare all learners on the suite", ("suite",), ("suite",)),
    "protocols": Step(
        "verdicts.protocols",
        "judge the claim of the paper's simulation, protocol by protocol",
        SIMULATED,
        ("protocols",),
    ),
    "claims": Step(
        "report.claims", "gather the verdicts on all claims", SIMULATED, ("protocols", "claims")
    ),
    "answer": Step(
        "verdicts.answer",
        "gather the numbers behind the answer",
        (*SIMULATED, *GROWING),
        ("protocols", "claims"),
    ),
    "deviations": Step(
        "report.deviations",
        "write the ledger of deviations with the effects of its switches",
        ("switches",),
    ),
    "timing": Step(
        "report.page.benchmarks", "gather from the logs how long episodes took", None, ALL
    ),
    "page": Step("report.page", "write the page that shows the results", None, ALL),
    "checksums": Step("runs.integrity", "note the checksums of a finished run", None, ALL),
}
JOBS = {  # of the pipeline, with the files that they read beside their specification
    "optimum": ("solve the optima of an environment", ()),
    "search": ("search for an algorithm's factors", ("--optima", "--progress", "--start")),
    "tune": ("choose an algorithm's factors among what its searches found", ("--searches",)),
    "simulate": ("simulate a batch of seeds", ("--seeds", "--optima", "--tuned")),
    "policies": ("keep the policies of some episodes of a run", ("--tuned",)),
    "tables": ("make the tables of an experiment", ()),
    "learning": ("follow the policies that were kept over the map", ()),
    "judge": ("check a group of the paper's claims", ()),
    "notebook": ("execute a notebook", ("--notebook",)),
    **{name: (step.says, ()) for name, step in STEPS.items()},
}
BY_HAND = {  # without a specification
    "render": ("render an executed notebook as a page that needs no network", "notebook"),
    "compile": ("compile the kernels of some algorithms, or of all", "algorithms"),
    "record": ("record in the repository what the searches of a run found", "results"),
    "schema": ("write the JSON schema of the configuration", None),
    "readme": ("write the answer into a README", "answer"),
    "summary": ("write what the suite came to into the README and docs/suite.md", "tables"),
}


def parser() -> argparse.ArgumentParser:
    options: dict[str, dict[str, Any]] = {
        "--optima": {"type": Path, "nargs": "?", "help": "of the environment"},
        "--progress": {"type": Path, "help": "where a search that was cut short goes on from"},
        "--start": {"type": Path, "nargs": "?", "help": "the tuning that the search begins from"},
        "--searches": {"type": Path, "nargs": "*", "default": [], "help": "none: those recorded"},
        "--seeds": {"type": _seeds, "required": True, "help": "0-4 or 0,2,7"},
        "--tuned": {"type": Path, "nargs": "*", "default": [], "help": "that chose its factors"},
        "--notebook": {"type": Path, "required": True},
    }
    parser = argparse.ArgumentParser(
        prog="wei2023 job", description="A step of the pipeline, as its rules call it."
    )
    parser.set_defaults(run=run)
    jobs = parser.add_subparsers(title="steps", metavar="STEP", required=True, dest="name")
    for name, (says, reads) in JOBS.items():
        sub = jobs.add_parser(name, help=says, description=says)
        sub.add_argument("specification", type=_specification, help="JSON in a file")
        sub.add_argument("--output", type=Path, nargs="+", required=True)
        for option in reads:
            sub.add_argument(option, **options[option])
    for name, (says, given) in BY_HAND.items():
        sub = jobs.add_parser(name, help=says, description=says)
        if given == "algorithms":
            sub.add_argument(given, nargs="*")
        elif given:
            sub.add_argument(given, type=Path)
        if name in ("render", "record", "schema"):
            sub.add_argument("--output", type=Path, required=True)
        if name in ("readme", "summary"):
            sub.add_argument("--readme", type=Path, default=Path("README.md"))
            sub.add_argument("--docs", type=Path, default=Path("docs/suite.md"))
    return parser


def run(chosen: argparse.Namespace) -> None:
    """Do what was chosen; what is heavy is imported where it is needed."""
    spec: dict[str, Any] = getattr(chosen, "specification", {})
    output: Any = getattr(chosen, "output", None)
    match chosen.name:
        case "optimum":
            from nscmdp.suite import optima

            optima.solve(spec, output[0])
        case "search":
            from nscmdp.suite import search
            from wei2023.runs import parts

            read = (chosen.optima, output[0], chosen.progress, chosen.start)
            search.for_tuning(spec, *read, parts.margins_of(spec))
        case "tune":
            from nscmdp.suite import tuning
            from wei2023.runs import parts

            tuning.tune(spec, output[0], chosen.searches, parts.margins_of(spec))
        case "simulate":
            from wei2023.runs import simulations

            solved, tuned = chosen.optima, chosen.tuned
            simulations.simulate_batch(spec, chosen.seeds, output[0], solved, tuned)
        case "policies":
            from wei2023.runs import policies

            policies.store(spec, output[0], chosen.tuned)
        case "notebook":
            from wei2023.cli import steps
            from wei2023.report import notebooks

            folder = {"folder": str(steps.folder_of(spec, output))}
            notebooks.execute(chosen.notebook, folder | spec["parameters"], output[0])
        case "render":
            from wei2023.report import notebooks

            notebooks.render(chosen.notebook, output)
        case "compile":
            from nscmdp import algorithms
            from wei2023.runs import kernels

            kernels.compile_for(chosen.algorithms or algorithms.NAMES)
        case "record":
            from wei2023.runs import integrity, records_of_searches

            plan = integrity.noted_plan(chosen.results)
            records_of_searches.write(plan, chosen.results, output)
        case "schema":
            from wei2023.study import config

            _rewrite(output, lambda _: config.schema_text())
        case "readme":
            from wei2023.report import readme

            answer = readme.answer(json.loads(chosen.answer.read_text(encoding="utf-8")))
            _rewrite(chosen.readme, lambda text: readme.between(text, readme.ANSWER, answer))
        case "summary":
            from wei2023.report import readme

            short, whole = (readme.suite(chosen.tables, whole) for whole in (False, True))
            _rewrite(chosen.readme, lambda text: readme.between(text, readme.SUITE, short))
            _rewrite(chosen.docs, lambda text: readme.between(text, readme.SUITE, whole))
        case _:
            from wei2023.cli import steps

            steps.run(chosen.name, spec, output)


def _rewrite(file: Path, change: Any) -> None:
    from nscmdp import files

    files.write_text(file, change(file.read_text(encoding="utf-8") if file.exists() else ""))


def _specification(file: str) -> dict[str, Any]:
    try:
        return json.loads(Path(file).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise argparse.ArgumentTypeError(f"{file} is no specification: {error}") from None


def _seeds(text: str) -> list[int]:
    from nscmdp.randomness import parse_seeds

    try:
        return parse_seeds(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: expected 0-4 or 0,2,7") from None
