"""The command line: what a person may call by hand, and what the pipeline's rules call."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

# What needs a results folder alone: the module whose ``write(plan, folder)`` does it.
STEPS = {
    "tuned": ("analysis.tuned", "tabulate all candidates of all tunings"),
    "best_cases": ("analysis.best_cases", "tabulate the best cases for the paper"),
    "environments": ("analysis.description", "tabulate the environments that are to be shown"),
    "comparison": ("analysis.comparison", "make the comparison table"),
    "timing": ("analysis.timing", "gather from the logs how long episodes took"),
    "simulation": ("analysis.claims.simulation", "judge the claim of the paper's simulation"),
    "claims": ("analysis.claims", "gather the verdicts on all claims"),
    "answer": ("analysis.answer", "gather the numbers behind the answer"),
    "deviations": ("analysis.deviations", "write the ledger of deviations with the effects of its switches"),
    "page": ("report.page", "write the page that shows the results"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = _parser()
    chosen = parser.parse_args(arguments)
    if not hasattr(chosen, "run"):
        parser.print_help()
        return 0
    try:
        _load_plugins(chosen)
        chosen.run(chosen)
    except Exception as error:
        if not _expected(error):
            raise
        _say(f"nscmdp: {error}")
        return 1
    return 0


def _load_plugins(chosen: argparse.Namespace) -> None:
    """Those named on the command line, and those that a job's specification names."""
    named = [*chosen.plugin, *getattr(chosen, "specification", {}).get("plugins", [])]
    if named:
        from nscmdp import plugins

        plugins.load(named)


def _say(message: str) -> None:
    """To the log; to the terminal if the log's disk is full."""
    try:
        print(message, file=sys.stderr, flush=True)
    except OSError:
        print(message)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="nscmdp", description="Non-stationary constrained MDPs: simulate, solve, tabulate."
    )
    parser.add_argument("--plugin", action="append", default=[], metavar="FILE", help="an algorithm or an environment")
    commands = parser.add_subparsers(title="commands", metavar="")

    def command(name: str, run: Callable, help: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=help, description=help)
        sub.set_defaults(run=run)
        return sub

    def environment(sub: argparse.ArgumentParser) -> None:
        sub.add_argument("environment")
        sub.add_argument("--episodes", type=int, default=10_000)
        sub.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="of the environment")

    def job(name: str, run: Callable, help: str) -> argparse.ArgumentParser:
        sub = command(name, run, help)
        sub.add_argument("specification", type=_json, help="JSON, as the pipeline plans it")
        sub.add_argument("--output", type=Path, required=True)
        return sub

    sub = command("describe", _describe, "print an environment's sizes, budgets and how much its constraint binds")
    environment(sub)

    sub = command("try", _try, "run one learner on one environment and print its regret, violation and gap")
    environment(sub)
    sub.add_argument("algorithm")
    sub.add_argument("--setting", default="scaled")
    sub.add_argument("--seed", type=int, default=0)

    sub = command("validate", _validate, "check a configuration file")
    sub.add_argument("file", type=Path)

    sub = command("check", _check, "audit a finished run: is all there, sound, as planned, by these sources?")
    sub.add_argument("results", type=Path)

    sub = command("schema", _schema, "write the JSON schema of the configuration")
    sub.add_argument("--output", type=Path, required=True)

    sub = command("readme", _readme, "write the answer into a README")
    sub.add_argument("answer", type=Path)
    sub.add_argument("--readme", type=Path, default=Path("README.md"))

    sub = command("verify", _verify, "compare the results of a run with the reference in the repository")
    sub.add_argument("results", type=Path)
    sub.add_argument("--reference", type=Path, default=Path("docs/reference.json"))
    sub.add_argument("--update", action="store_true", help="make the results at hand the reference")

    sub = command("compile", _compile, "compile the kernels of some algorithms, or of all")
    sub.add_argument("algorithms", nargs="*")

    job("optimum", _optimum, "solve the optima of an environment")

    search = job("search", _search, "search for an algorithm's factors")
    sub = job("tune", _tune, "choose an algorithm's factors among what its searches found")
    sub.add_argument("--optima", type=Path, required=True, help="of the environment")
    sub.add_argument("--searches", type=Path, nargs="*", default=[], help="none: those that are recorded")

    best_case = job("best_case", _best_case, "search for a best case for the paper, or draw the region where it lies")
    for sub in (search, best_case):
        sub.add_argument("--optima", type=Path, required=True, help="of the environment")
        sub.add_argument("--progress", type=Path, required=True, help="where a search that was cut short goes on from")
        sub.add_argument("--start", type=Path, nargs="?", help="the tuning from whose choice the search begins")

    sub = job("confirm", _confirm, "score on fresh seeds what the search for a best case found")
    sub.add_argument("--optima", type=Path, required=True, help="of the environment")
    sub.add_argument("--searches", type=Path, nargs="*", default=[], help="none: what is recorded")
    sub.add_argument("--tuned", type=Path, nargs="*", default=[], help="the tunings that chose the baselines' factors")

    sub = command("record", _record, "record in the repository what the searches of a run found")
    sub.add_argument("results", type=Path)
    sub.add_argument("--output", type=Path, required=True, help="the folder of the records")

    sub = job("simulate", _simulate, "simulate a batch of seeds")
    sub.add_argument("--seeds", type=_seeds, required=True, help="0-4 or 0,2,7")
    sub.add_argument("--optima", type=Path, nargs="?", help="of the environment, for runs kept by windows")
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


def _environment(chosen: argparse.Namespace):
    from nscmdp import environments
    from nscmdp.study import config

    named = {"name": chosen.environment, **dict(_option(text) for text in chosen.option)}
    shown = config.parse({"environment": named, "episodes": chosen.episodes}, "Shown")
    return environments.make(**shown.specification)


def _describe(chosen: argparse.Namespace) -> None:
    from nscmdp.analysis import description

    for name, value in description.describe(_environment(chosen)).items():
        print(f"{name:20} {value:.6g}" if isinstance(value, float) else f"{name:20} {value}")


def _try(chosen: argparse.Namespace) -> None:
    from nscmdp import budget, simulate

    env = _environment(chosen)
    every = max(1, chosen.episodes // 1000)
    run = simulate.run(env, chosen.algorithm, chosen.setting, chosen.seed, every)
    print(f"{env}\nvariation budget {budget.variation(env).total:.4g}")
    for name, total in (("regret", run.regret), ("violation", run.violation), ("gap", run.gap)):
        print(f"{name + ' per episode':22}{total[-1] / env.episodes:10.4f}")


def _validate(chosen: argparse.Namespace) -> None:
    from nscmdp.study import plan

    loaded = plan.load(chosen.file)
    loaded.check()
    print(f"{chosen.file}: {len(loaded.cases)} environments, {loaded.runs} simulations")


def _check(chosen: argparse.Namespace) -> None:
    from nscmdp.runs import integrity

    found = integrity.check(chosen.results)
    print(found)
    if not found.sound:
        raise SystemExit(1)


def _schema(chosen: argparse.Namespace) -> None:
    from nscmdp.runs import files
    from nscmdp.study import config

    files.write_text(chosen.output, config.schema_text())


def _readme(chosen: argparse.Namespace) -> None:
    from nscmdp.analysis import answer
    from nscmdp.runs import files

    numbers = json.loads(chosen.answer.read_text(encoding="utf-8"))
    files.write_text(chosen.readme, answer.in_readme(chosen.readme.read_text(encoding="utf-8"), numbers))


def _verify(chosen: argparse.Namespace) -> None:
    from nscmdp.analysis import reference

    if chosen.update:
        reference.write(chosen.results, chosen.reference)
        return
    different = reference.compare(chosen.results, chosen.reference)
    for one in different:
        print(one)
    print(f"{len(different)} values differ from {chosen.reference}" if different else f"as {chosen.reference} says")
    if different:
        raise SystemExit(1)


def _compile(chosen: argparse.Namespace) -> None:
    from nscmdp import algorithms
    from nscmdp.runs import simulations

    simulations.compile_kernels(chosen.algorithms or list(algorithms.NAMES))


def _optimum(chosen: argparse.Namespace) -> None:
    from nscmdp.runs import optima

    optima.solve(chosen.specification, chosen.output)


def _tune(chosen: argparse.Namespace) -> None:
    from nscmdp.runs import tuning

    tuning.tune(chosen.specification, chosen.optima, chosen.output, chosen.searches)


def _search(chosen: argparse.Namespace) -> None:
    from nscmdp.runs import search

    search.for_tuning(chosen.specification, chosen.optima, chosen.output, chosen.progress, chosen.start)


def _best_case(chosen: argparse.Namespace) -> None:
    from nscmdp.analysis import best_case

    best_case.search(chosen.specification, chosen.optima, chosen.output, chosen.progress, chosen.start)


def _confirm(chosen: argparse.Namespace) -> None:
    from nscmdp.analysis import best_case

    best_case.confirm(chosen.specification, chosen.optima, chosen.output, chosen.searches, chosen.tuned)


def _record(chosen: argparse.Namespace) -> None:
    from nscmdp.analysis import best_cases
    from nscmdp.runs import integrity, records_of_searches

    plan = integrity.noted_plan(chosen.results)
    records_of_searches.write(plan, chosen.results, chosen.output)
    best_cases.record(plan, chosen.results, chosen.output)


def _simulate(chosen: argparse.Namespace) -> None:
    from nscmdp.runs import simulations

    simulations.simulate_batch(chosen.specification, chosen.seeds, chosen.output, chosen.optima, chosen.tuned)


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


def _option(text: str) -> tuple[str, object]:
    name, _, value = text.partition("=")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value


def _expected(error: Exception) -> bool:
    """Is this a mistake that the message alone explains?"""
    from nscmdp.runs import files

    return isinstance(error, ValueError | files.Damaged | files.Refused | OSError)
