"""For the pipeline: the commands that rules and the Makefile call, ``nscmdp job NAME``."""

import argparse
import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

# What needs a results folder alone: the module whose ``write(plan, folder)`` does it.
STEPS = {
    "tuned": ("analysis.tuned", "tabulate all candidates of all tunings"),
    "environments": ("analysis.description", "tabulate the environments that are to be shown"),
    "learning": ("analysis.learning", "follow the policies that were kept over the map"),
    "comparison": ("analysis.comparison", "make the comparison table"),
    "suite": ("analysis.suite", "compare all learners on the suite"),
    "timing": ("report.page.benchmarks", "gather from the logs how long episodes took"),
    "protocols": ("analysis.protocols", "judge the claim of the paper's simulation, protocol by protocol"),
    "claims": ("analysis.claims", "gather the verdicts on all claims"),
    "answer": ("analysis.answer", "gather the numbers behind the answer"),
    "deviations": ("analysis.deviations", "write the ledger of deviations with the effects of its switches"),
    "page": ("report.page", "write the page that shows the results"),
}


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="nscmdp job", description="A step of the pipeline, as its rules call it.")
    jobs = parser.add_subparsers(title="steps", metavar="STEP", required=True)

    def command(name: str, run: Callable, help: str) -> argparse.ArgumentParser:
        sub = jobs.add_parser(name, help=help, description=help)
        sub.set_defaults(run=run)
        return sub

    def job(name: str, run: Callable, help: str) -> argparse.ArgumentParser:
        sub = command(name, run, help)
        sub.add_argument("specification", type=_json, help="JSON, as the pipeline plans it")
        sub.add_argument("--output", type=Path, required=True)
        return sub

    sub = command("schema", _schema, "write the JSON schema of the configuration")
    sub.add_argument("--output", type=Path, required=True)

    sub = command("readme", _readme, "write the answer into a README")
    sub.add_argument("answer", type=Path)
    sub.add_argument("--readme", type=Path, default=Path("README.md"))

    sub = command("summary", _summary, "write what the suite came to into the README and docs/suite.md")
    sub.add_argument("tables", type=Path, help="the folder of its tables")
    sub.add_argument("--readme", type=Path, default=Path("README.md"))
    sub.add_argument("--docs", type=Path, default=Path("docs/suite.md"))

    sub = command("compile", _compile, "compile the kernels of some algorithms, or of all")
    sub.add_argument("algorithms", nargs="*")

    job("optimum", _optimum, "solve the optima of an environment")

    sub = job("search", _search, "search for an algorithm's factors")
    sub.add_argument("--optima", type=Path, required=True, help="of the environment")
    sub.add_argument("--progress", type=Path, required=True, help="where a search that was cut short goes on from")
    sub.add_argument("--start", type=Path, nargs="?", help="the tuning from whose choice the search begins")

    sub = job("tune", _tune, "choose an algorithm's factors among what its searches found")
    sub.add_argument("--searches", type=Path, nargs="*", default=[], help="none: those that are recorded")

    sub = command("record", _record, "record in the repository what the searches of a run found")
    sub.add_argument("results", type=Path)
    sub.add_argument("--output", type=Path, required=True, help="the folder of the records")

    sub = job("simulate", _simulate, "simulate a batch of seeds")
    sub.add_argument("--seeds", type=_seeds, required=True, help="0-4 or 0,2,7")
    sub.add_argument("--optima", type=Path, nargs="?", help="of the environment, for runs kept by windows")
    sub.add_argument("--tuned", type=Path, nargs="*", default=[], help="the tunings that chose its factors")

    sub = job("policies", _policies, "keep the policies of some episodes of a run")
    sub.add_argument("--tuned", type=Path, nargs="*", default=[], help="the tunings that chose its factors")

    sub = command("judge", _judge, "check a group of the paper's claims")
    sub.add_argument("results", type=Path)
    sub.add_argument("group")

    sub = command("tables", _tables, "make the tables of an experiment")
    sub.add_argument("results", type=Path)
    sub.add_argument("experiment")

    for name, (module, help) in STEPS.items():
        sub = command(name, _step, help)
        sub.set_defaults(module=module)
        sub.add_argument("results", type=Path)

    sub = command("notebook", _notebook, "execute a notebook")
    sub.add_argument("notebook", type=Path)
    sub.add_argument("--parameters", type=_json, default={})
    sub.add_argument("--output", type=Path, required=True)

    sub = command("render", _render, "render an executed notebook as a page that needs no network")
    sub.add_argument("notebook", type=Path)
    sub.add_argument("--output", type=Path, required=True)

    sub = command("finish", _finish, "note the checksums of a finished run")
    sub.add_argument("results", type=Path)
    return parser


def _schema(chosen: argparse.Namespace) -> None:
    from nscmdp.runs import files
    from nscmdp.study import config

    files.write_text(chosen.output, config.schema_text())


def _readme(chosen: argparse.Namespace) -> None:
    from nscmdp.analysis import answer
    from nscmdp.runs import files

    numbers = json.loads(chosen.answer.read_text(encoding="utf-8"))
    files.write_text(chosen.readme, answer.in_readme(chosen.readme.read_text(encoding="utf-8"), numbers))


def _summary(chosen: argparse.Namespace) -> None:
    from nscmdp.analysis.suite import summary
    from nscmdp.runs import files

    for file, block in ((chosen.readme, summary.short), (chosen.docs, summary.whole)):
        files.write_text(file, summary.in_text(file.read_text(encoding="utf-8"), block(chosen.tables)))


def _compile(chosen: argparse.Namespace) -> None:
    from nscmdp import algorithms
    from nscmdp.runs import kernels

    kernels.compile_for(chosen.algorithms or algorithms.NAMES)


def _optimum(chosen: argparse.Namespace) -> None:
    from nscmdp.runs import optima

    optima.solve(chosen.specification, chosen.output)


def _tune(chosen: argparse.Namespace) -> None:
    from nscmdp.runs import tuning

    tuning.tune(chosen.specification, chosen.output, chosen.searches)


def _search(chosen: argparse.Namespace) -> None:
    from nscmdp.runs import search

    search.for_tuning(chosen.specification, chosen.optima, chosen.output, chosen.progress, chosen.start)


def _record(chosen: argparse.Namespace) -> None:
    from nscmdp.runs import integrity, records_of_searches

    plan = integrity.noted_plan(chosen.results)
    records_of_searches.write(plan, chosen.results, chosen.output)


def _simulate(chosen: argparse.Namespace) -> None:
    from nscmdp.runs import simulations

    simulations.simulate_batch(chosen.specification, chosen.seeds, chosen.output, chosen.optima, chosen.tuned)


def _policies(chosen: argparse.Namespace) -> None:
    from nscmdp.runs import policies

    policies.store(chosen.specification, chosen.output, chosen.tuned)


def _judge(chosen: argparse.Namespace) -> None:
    from nscmdp.analysis import claims
    from nscmdp.runs import integrity

    claims.judge(integrity.noted_plan(chosen.results), chosen.results, chosen.group)


def _tables(chosen: argparse.Namespace) -> None:
    from nscmdp.analysis import tables
    from nscmdp.runs import integrity

    tables.write(integrity.noted_plan(chosen.results), chosen.results, chosen.experiment)


def _step(chosen: argparse.Namespace) -> None:
    from nscmdp.runs import integrity

    import_module(f"nscmdp.{chosen.module}").write(integrity.noted_plan(chosen.results), chosen.results)


def _notebook(chosen: argparse.Namespace) -> None:
    from nscmdp.report import notebooks

    notebooks.execute(chosen.notebook, chosen.parameters, chosen.output)


def _render(chosen: argparse.Namespace) -> None:
    from nscmdp.report import notebooks

    notebooks.render(chosen.notebook, chosen.output)


def _finish(chosen: argparse.Namespace) -> None:
    from nscmdp.runs import integrity

    integrity.finish(chosen.results)


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise argparse.ArgumentTypeError(f"not JSON: {error}") from None


def _seeds(text: str) -> list[int]:
    from nscmdp.randomness import parse_seeds

    try:
        return parse_seeds(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: expected 0-4 or 0,2,7") from None
