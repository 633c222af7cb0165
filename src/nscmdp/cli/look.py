"""To look: what there is, what it is like, and exact answers about it."""

import argparse
import sys
from types import ModuleType
from typing import Any, get_args, get_type_hints

from nscmdp.cli import screen
from nscmdp.cli.commands import Commands, add_drift, environment, setting_of
from nscmdp.plugins import unknown


def add(commands: Commands) -> None:
    commands.add(
        "list", list_all, "algorithms and environments, with settings and options", "nscmdp list"
    )

    sub = commands.add(
        "describe",
        describe,
        "what an environment is like, or an algorithm with its constants",
        "nscmdp describe triple_q --environment menu --setting literal",
    )
    sub.add_argument("name", help="of an environment or an algorithm")
    add_drift(sub)
    sub.add_argument("--environment", help="for the constants of an algorithm")
    sub.add_argument("--setting", help="of an algorithm; default: scaled, where there is one")

    sub = commands.add(
        "optimum",
        optimum,
        "value, utility and multiplier of an episode's constrained optimum",
        "nscmdp optimum menu --episode 500 --check",
    )
    sub.add_argument("environment")
    sub.add_argument("--episode", type=int, default=1, metavar="k", help="default: 1")
    add_drift(sub)
    sub.add_argument("--check", action="store_true", help="the linear program by HiGHS beside it")

    sub = commands.add(
        "budget",
        budget,
        "variation budgets, in all and by leg",
        "nscmdp budget grid_world --option legs=3",
    )
    sub.add_argument("environment")
    add_drift(sub)


def list_all(chosen: argparse.Namespace) -> None:
    from nscmdp import algorithms, environments

    print("algorithms (name, title, settings)")
    rows = [
        (name, algorithms.title(name), ", ".join(algorithms.settings(name)))
        for name in algorithms.NAMES
    ]
    print(screen.columns(rows, "  "))
    print("\nenvironments (name, options with their defaults)")
    for name in environments.NAMES:
        maker = environments.maker(name)
        print(f"  {name}: {_paragraph(sys.modules[maker.__module__])}")
        print(f"    {', '.join(f'{option}={value}' for option, value in _options(maker).items())}")


def describe(chosen: argparse.Namespace) -> None:
    from nscmdp import algorithms, environments

    if chosen.name in environments.NAMES:
        _describe_environment(chosen)
    elif chosen.name in algorithms.NAMES:
        _describe_algorithm(chosen)
    else:
        known = (*environments.NAMES, *algorithms.NAMES)
        raise ValueError(
            unknown(chosen.name, known, f"unknown environment or algorithm {chosen.name!r}")
        )


def _describe_environment(chosen: argparse.Namespace) -> None:
    from nscmdp.suite import description

    for name, value in description.describe(environment(chosen.name, chosen)).items():
        print(f"{name:20} {value:.6g}" if isinstance(value, float) else f"{name:20} {value}")


def _describe_algorithm(chosen: argparse.Namespace) -> None:
    from nscmdp import algorithms

    name = chosen.name
    print(f"{name}: {algorithms.title(name)}\n{_paragraph(algorithms.module(name))}\n")
    print(f"settings: {', '.join(algorithms.settings(name))}")
    for title, rows in (
        ("factors of the setting scaled", _factors(name)),
        ("variants", _variants(name)),
    ):
        if rows:
            print(f"\n{title}\n{screen.columns(rows, '  ')}")
    setting = setting_of(chosen.name, chosen)
    formulas = algorithms.formulas(chosen.name, setting)
    if not formulas:
        return
    if chosen.environment is None:
        print(f"\nconstants, setting {setting} (with --environment: their values)")
        print(screen.columns(formulas.items(), "  "))
        return
    values = _constants(chosen, setting)
    print(f"\nconstants on {chosen.environment}, K = {chosen.episodes:,}, setting {setting}")
    print(
        screen.columns(
            [(name, formulas.get(name, ""), value) for name, value in values.items()], "  "
        )
    )


def _constants(chosen: argparse.Namespace, setting: str) -> dict[str, Any]:
    from nscmdp import algorithms
    from nscmdp.problem import Problem

    problem = Problem.of(environment(chosen.environment, chosen))
    return algorithms.constants(chosen.name, problem, setting, None, None)._asdict()


def _factors(algorithm: str) -> list[tuple[str, ...]]:
    """Name, default, and where tuning looks."""
    from nscmdp import algorithms

    ranges = {
        name: f"tuned within {low:g} to {high:g}"
        for name, (low, high) in algorithms.ranges(algorithm).items()
    }
    declared = algorithms.factors(algorithm)
    return [
        (name, f"{one.default:g}", ranges.get(name, "not tuned")) for name, one in declared.items()
    ]


def _variants(algorithm: str) -> list[tuple[str, ...]]:
    """Name, default, and what is accepted."""
    from dataclasses import fields

    from nscmdp import algorithms

    declared = algorithms.variants(algorithm)
    hints = get_type_hints(declared)
    return [(one.name, str(one.default), _accepted(hints[one.name])) for one in fields(declared)]


def _accepted(hint: Any) -> str:
    return (
        f"one of {', '.join(map(str, get_args(hint)))}" if get_args(hint) else f"a {hint.__name__}"
    )


def optimum(chosen: argparse.Namespace) -> None:
    from nscmdp import optimum

    cmdp = environment(chosen.environment, chosen).at(chosen.episode)
    found = {"optimum": optimum.constrained(cmdp)}
    if chosen.check:
        found["by HiGHS"] = optimum.linear_program(cmdp)
    rows = [
        (name, *(float(getattr(one, name)) for one in found.values()))
        for name in optimum.Optimum._fields[:3]
    ]
    print(
        screen.columns(
            [(f"episode {chosen.episode:,}", *found), *rows, ("rho", *[cmdp.rho] * len(found))]
        )
    )


def budget(chosen: argparse.Namespace) -> None:
    from nscmdp import budget

    env = environment(chosen.environment, chosen)
    rows = [("episodes", "B_r (reward)", "B_g (utility)", "B_p (transition)", "B")]
    for first, last, parts in zip(
        env.knots, env.knots[1:], budget.between(env, env.knots), strict=False
    ):
        rows.append((f"{first:,} to {last:,}", *parts, parts.sum()))
    total = budget.variation(env)
    print(screen.columns([*rows, ("all", *total, total.total)]))


def _options(maker: Any) -> dict[str, Any]:
    """An environment's options and their defaults."""
    import inspect

    parameters = inspect.signature(maker).parameters.values()
    return {one.name: one.default for one in parameters if one.kind is one.KEYWORD_ONLY}


def _paragraph(module: ModuleType) -> str:
    """The first of its docstring."""
    return (module.__doc__ or "").partition("\n\n")[0]
