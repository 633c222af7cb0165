"""The jobs of the pipeline, ``wei2023 job NAME``: each reads a specification and files, and writes files."""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nscmdp import files
from wei2023.cli.steps import STEPS

STEPS_OF_ONE = {
    "tables": "make the tables of an experiment",
    "learning": "follow the policies that were kept over the map",
    "judge": "check a group of the paper's claims",
}


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="wei2023 job", description="A step of the pipeline, as its rules call it."
    )
    jobs = parser.add_subparsers(title="steps", metavar="STEP", required=True)

    def command(name: str, run: Callable, help: str) -> argparse.ArgumentParser:
        sub = jobs.add_parser(name, help=help, description=help)
        sub.set_defaults(run=run, name=name)
        return sub

    def job(name: str, run: Callable, help: str) -> argparse.ArgumentParser:
        sub = command(name, run, help)
        sub.add_argument(
            "specification", type=_specification, help="what decides the result, as JSON in a file"
        )
        sub.add_argument("--output", type=Path, nargs="+", required=True)
        return sub

    job("optimum", _optimum, "solve the optima of an environment")

    sub = job("search", _search, "search for an algorithm's factors")
    sub.add_argument("--optima", type=Path, required=True, help="of the environment")
    sub.add_argument(
        "--progress",
        type=Path,
        required=True,
        help="where a search that was cut short goes on from",
    )
    sub.add_argument(
        "--start", type=Path, nargs="?", help="the tuning from whose choice the search begins"
    )

    sub = job("tune", _tune, "choose an algorithm's factors among what its searches found")
    sub.add_argument(
        "--searches", type=Path, nargs="*", default=[], help="none: those that are recorded"
    )

    sub = job("simulate", _simulate, "simulate a batch of seeds")
    sub.add_argument("--seeds", type=_seeds, required=True, help="0-4 or 0,2,7")
    sub.add_argument(
        "--optima", type=Path, nargs="?", help="of the environment, for runs kept by windows"
    )
    sub.add_argument(
        "--tuned", type=Path, nargs="*", default=[], help="the tunings that chose its factors"
    )

    sub = job("policies", _policies, "keep the policies of some episodes of a run")
    sub.add_argument(
        "--tuned", type=Path, nargs="*", default=[], help="the tunings that chose its factors"
    )

    for name, help in (STEPS_OF_ONE | {name: step.says for name, step in STEPS.items()}).items():
        job(name, _step, help)

    sub = job("notebook", _notebook, "execute a notebook")
    sub.add_argument("--notebook", type=Path, required=True)

    sub = command("render", _render, "render an executed notebook as a page that needs no network")
    sub.add_argument("notebook", type=Path)
    sub.add_argument("--output", type=Path, required=True)

    sub = command("compile", _compile, "compile the kernels of some algorithms, or of all")
    sub.add_argument("algorithms", nargs="*")

    sub = command("record", _record, "record in the repository what the searches of a run found")
    sub.add_argument("results", type=Path)
    sub.add_argument("--output", type=Path, required=True, help="the folder of the records")

    sub = command("schema", _schema, "write the JSON schema of the configuration")
    sub.add_argument("--output", type=Path, required=True)

    sub = command("readme", _readme, "write the answer into a README")
    sub.add_argument("answer", type=Path)
    sub.add_argument("--readme", type=Path, default=Path("README.md"))

    sub = command(
        "summary", _summary, "write what the suite came to into the README and docs/suite.md"
    )
    sub.add_argument("tables", type=Path, help="the folder of its tables")
    sub.add_argument("--readme", type=Path, default=Path("README.md"))
    sub.add_argument("--docs", type=Path, default=Path("docs/suite.md"))
    return parser


def _optimum(chosen: argparse.Namespace) -> None:
    from nscmdp.suite import optima

    optima.solve(chosen.specification, chosen.output[0])


def _search(chosen: argparse.Namespace) -> None:
    from nscmdp.suite import search
    from wei2023.runs import parts

    spec, margins = chosen.specification, parts.margins_of(chosen.specification)
    search.for_tuning(spec, chosen.optima, chosen.output[0], chosen.progress, chosen.start, margins)


def _tune(chosen: argparse.Namespace) -> None:
    from nscmdp.suite import tuning
    from wei2023.runs import parts

    spec, margins = chosen.specification, parts.margins_of(chosen.specification)
    tuning.tune(spec, chosen.output[0], chosen.searches, margins)


def _simulate(chosen: argparse.Namespace) -> None:
    from wei2023.runs import simulations

    simulations.simulate_batch(
        chosen.specification, chosen.seeds, chosen.output[0], chosen.optima, chosen.tuned
    )


def _policies(chosen: argparse.Namespace) -> None:
    from wei2023.runs import policies

    policies.store(chosen.specification, chosen.output[0], chosen.tuned)


def _step(chosen: argparse.Namespace) -> None:
    from wei2023.cli import steps

    steps.run(chosen.name, chosen.specification, chosen.output)


def _notebook(chosen: argparse.Namespace) -> None:
    from wei2023.cli import steps
    from wei2023.report import notebooks

    folder = steps.folder_of(chosen.specification, chosen.output)
    parameters = {"folder": str(folder), **chosen.specification["parameters"]}
    notebooks.execute(chosen.notebook, parameters, chosen.output[0])


def _render(chosen: argparse.Namespace) -> None:
    from wei2023.report import notebooks

    notebooks.render(chosen.notebook, chosen.output)


def _compile(chosen: argparse.Namespace) -> None:
    from nscmdp import algorithms
    from wei2023.runs import kernels

    kernels.compile_for(chosen.algorithms or algorithms.NAMES)


def _record(chosen: argparse.Namespace) -> None:
    from wei2023.runs import integrity, records_of_searches

    records_of_searches.write(integrity.noted_plan(chosen.results), chosen.results, chosen.output)


def _schema(chosen: argparse.Namespace) -> None:
    from wei2023.study import config

    files.write_text(chosen.output, config.schema_text())


def _readme(chosen: argparse.Namespace) -> None:
    from wei2023.report import readme

    numbers = json.loads(chosen.answer.read_text(encoding="utf-8"))
    text = chosen.readme.read_text(encoding="utf-8")
    files.write_text(chosen.readme, readme.between(text, readme.ANSWER, readme.answer(numbers)))


def _summary(chosen: argparse.Namespace) -> None:
    from wei2023.report import readme

    for file, whole in ((chosen.readme, False), (chosen.docs, True)):
        block = readme.suite(chosen.tables, whole)
        text = file.read_text(encoding="utf-8")
        files.write_text(file, readme.between(text, readme.SUITE, block))


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
