"""To look: what there is, what it is like, and exact answers about it."""

import argparse
import sys
from types import ModuleType
from typing import Any, get_args, get_type_hints

from nscmdp.cli import screen
from nscmdp.cli.commands import Commands, add_drift, environment, setting_of
from nscmdp.plugins import unknown


def add(commands: Commands) -> None:
    about = "algorithms and environments, with settings and options"
    commands.add("list", list_all, about, "nscmdp list")

    about = "what an environment is like, or an algorithm with its constants"
    example = "nscmdp describe triple_q --environment menu --setting literal"
    option = commands.add("describe", describe, about, example).add_argument
    option("name", help="of an environment or an algorithm")
    add_drift(option)
    option("--environment", help="for the constants of an algorithm")
    option("--setting", help="of an algorithm; default: scaled, where there is one")

    about = "value, utility and multiplier of an episode's constrained optimum"
    example = "nscmdp optimum menu --episode 500 --check"
    option = commands.add("optimum", optimum, about, example).add_argument
    option("environment")
    option("--episode", type=int, default=1, metavar="k", help="default: 1")
    add_drift(option)
    option("--check", action="store_true", help="the linear program by HiGHS beside it")

    about, example = (
        "variation budgets, in all and by leg",
        "nscmdp budget grid_world --option legs=3",
    )
    option = commands.add("budget", budget, about, example).add_argument
    option("environment")
    add_drift(option)


def list_all(chosen: argparse.Namespace) -> None:
    import inspect

    from nscmdp import algorithms, environments

    print("algorithms (name, title, settings)")
    titles = [(name, algorithms.title(name)) for name in algorithms.NAMES]
    rows = [(*row, ", ".join(algorithms.settings(row[0]))) for row in titles]
    print(screen.columns(rows, "  "))
    print("\nenvironments (name, options with their defaults)")
    for name in environments.NAMES:
        maker = environments.maker(name)
        parameters = inspect.signature(maker).parameters.values()
        options = [f"{p.name}={p.default}" for p in parameters if p.kind is p.KEYWORD_ONLY]
        print(f"  {name}: {_paragraph(sys.modules[maker.__module__])}\n    {', '.join(options)}")


def describe(chosen: argparse.Namespace) -> None:
    from nscmdp import algorithms, environments

    if chosen.name in environments.NAMES:
        from nscmdp.suite import description

        for name, value in description.describe(environment(chosen.name, chosen)).items():
            print(f"{name:20} {value:.6g}" if isinstance(value, float) else f"{name:20} {value}")
    elif chosen.name in algorithms.NAMES:
        _describe_algorithm(chosen.name, chosen)
    else:
        known = (*environments.NAMES, *algorithms.NAMES)
        what = f"unknown environment or algorithm {chosen.name!r}"
        raise ValueError(unknown(chosen.name, known, what))


def _describe_algorithm(name: str, chosen: argparse.Namespace) -> None:
    from dataclasses import fields

    from nscmdp import algorithms
    from nscmdp.problem import Problem

    print(f"{name}: {algorithms.title(name)}\n{_paragraph(algorithms.module(name))}\n")
    print(f"settings: {', '.join(algorithms.settings(name))}")
    tuned = {
        factor: f"tuned within {low:g} to {high:g}"
        for factor, (low, high) in algorithms.ranges(name).items()
    }
    factors = [
        (factor, f"{one.default:g}", tuned.get(factor, "not tuned"))
        for factor, one in algorithms.factors(name).items()
    ]
    declared = algorithms.variants(name)
    hints, variants = get_type_hints(declared), []
    for one in fields(declared):
        choices = ", ".join(map(str, get_args(hints[one.name])))
        accepted = f"one of {choices}" if choices else f"a {hints[one.name].__name__}"
        variants.append((one.name, str(one.default), accepted))
    for title, rows in (("factors of the setting scaled", factors), ("variants", variants)):
        if rows:
            print(f"\n{title}\n{screen.columns(rows, '  ')}")
    setting = setting_of(name, chosen)
    formulas = algorithms.formulas(name, setting)
    if not formulas:
        return
    constants: list[tuple[Any, ...]] = [*formulas.items()]
    title = f"constants, setting {setting} (with --environment: their values)"
    if chosen.environment is not None:
        problem = Problem.of(environment(chosen.environment, chosen))
        values = algorithms.constants(name, problem, setting, None, None)._asdict()
        constants = [(key, formulas.get(key, ""), value) for key, value in values.items()]
        where = f"{chosen.environment}, K = {chosen.episodes:,}"
        title = f"constants on {where}, setting {setting}"
    print(f"\n{title}\n{screen.columns(constants, '  ')}")


def optimum(chosen: argparse.Namespace) -> None:
    from nscmdp import optimum

    cmdp = environment(chosen.environment, chosen).at(chosen.episode)
    found = {"optimum": optimum.constrained(cmdp)}
    if chosen.check:
        found["by HiGHS"] = optimum.linear_program(cmdp)
    rows: list[tuple[object, ...]] = [(f"episode {chosen.episode:,}", *found)]
    for name in optimum.Optimum._fields[:3]:
        rows.append((name, *(float(getattr(one, name)) for one in found.values())))
    print(screen.columns([*rows, ("rho", *[cmdp.rho] * len(found))]))


def budget(chosen: argparse.Namespace) -> None:
    from nscmdp import budget

    env = environment(chosen.environment, chosen)
    rows = [("episodes", "B_r (reward)", "B_g (utility)", "B_p (transition)", "B")]
    legs = zip(env.knots, env.knots[1:], budget.between(env, env.knots), strict=False)
    rows += [(f"{first:,} to {last:,}", *parts, parts.sum()) for first, last, parts in legs]
    total = budget.variation(env)
    print(screen.columns([*rows, ("all", *total, total.total)]))


def _paragraph(module: ModuleType) -> str:
    """The first of its docstring."""
    return (module.__doc__ or "").partition("\n\n")[0]
