"""To check: a configuration before a run, results after it."""

import argparse
from pathlib import Path

from nscmdp.cli.commands import Commands


def add(commands: Commands) -> None:
    sub = commands.add(
        "validate", validate, "is a configuration sound?", "wei2023 validate config.yaml"
    )
    sub.add_argument("file", type=Path)

    sub = commands.add(
        "check",
        check,
        "is a finished run complete, sound, as planned, by these sources?",
        "wei2023 check results",
    )
    sub.add_argument("results", type=Path)

    sub = commands.add(
        "verify", verify, "are results those that the repository states?", "wei2023 verify results"
    )
    sub.add_argument("results", type=Path)
    sub.add_argument("--reference", type=Path, default=Path("docs/reference.json"))
    sub.add_argument("--update", action="store_true", help="make the results at hand the reference")


def validate(chosen: argparse.Namespace) -> None:
    from wei2023.study import plan

    loaded = plan.load(chosen.file)
    loaded.check()
    print(f"{chosen.file}: {len(loaded.cases)} environments, {loaded.runs} simulations")


def check(chosen: argparse.Namespace) -> None:
    from wei2023.runs import integrity

    found = integrity.check(chosen.results)
    print(found)
    if not found.sound:
        raise SystemExit(1)


def verify(chosen: argparse.Namespace) -> None:
    from wei2023.report import reference

    if chosen.update:
        reference.write(chosen.results, chosen.reference)
        return
    different = reference.compare(chosen.results, chosen.reference)
    for one in different:
        print(one)
    print(
        f"{len(different)} values differ from {chosen.reference}"
        if different
        else f"as {chosen.reference} says"
    )
    if different:
        raise SystemExit(1)
