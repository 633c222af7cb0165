"""To extend: an algorithm or an environment of one's own."""

import argparse
from pathlib import Path

from nscmdp.cli.commands import Commands


def add(commands: Commands) -> None:
    sub = commands.add(
        "new",
        new,
        "write a starting file, with comments, and its test",
        "nscmdp new algorithm my_learner",
    )
    sub.add_argument("kind", choices=("algorithm", "environment"))
    sub.add_argument("name", help="in small letters: that of the file, and of the algorithm or environment")
    sub.add_argument("--folder", type=Path, default=Path(), help="default: this one")

    sub = commands.add(
        "conform",
        conform,
        "does it do what every algorithm or environment must do?",
        "nscmdp conform my_learner.py",
    )
    sub.add_argument("what", help="a file, or the name of an algorithm or environment")


def new(chosen: argparse.Namespace) -> None:
    from nscmdp import scaffold

    file, test = scaffold.write(chosen.kind, chosen.name, chosen.folder)
    print(f"{file} and {test}. Next: nscmdp conform {file}")


def conform(chosen: argparse.Namespace) -> None:
    from nscmdp import algorithms, conformance, environments, plugins
    from nscmdp.names import unknown

    name = chosen.what
    if name.endswith(".py"):
        plugins.load([name])
        name = Path(name).stem
    kinds = {"algorithms": algorithms.NAMES, "environments": environments.NAMES}
    kind = next((kind for kind, names in kinds.items() if name in names), None)
    if kind is None:
        raise ValueError(unknown(name, (*algorithms.NAMES, *environments.NAMES), f"unknown name {name!r}"))
    failed = 0
    for one in conformance.check(kind, name):
        failed += not one.passed
        print(f"{'ok  ' if one.passed else 'FAIL'}  {one.of}: {one.check}: {one.says}", flush=True)
    if failed:
        print(f"{failed} checks failed")
        raise SystemExit(1)
