"""To check: a configuration before a run, results after it."""

import argparse
from pathlib import Path

from nscmdp.cli.commands import Commands


def add(commands: Commands) -> None:
    about = "is a configuration sound, and how many jobs does it ask for?"
    sub = commands.add("validate", validate, about, "wei2023 validate --configfile mine.yaml")
    sub.add_argument("file", type=Path, nargs="?", default=Path("config.yaml"))
    sub.add_argument("--configfile", type=Path, nargs="*", default=[], help="as of Snakemake")
    sub.add_argument("--config", nargs="*", default=[], metavar="KEY=VALUE", help="likewise")

    about = "is a finished run complete, sound, as planned, by these sources?"
    sub = commands.add("check", check, about, "wei2023 check results")
    sub.add_argument("results", type=Path)

    about = "are results those that the repository states?"
    sub = commands.add("verify", verify, about, "wei2023 verify results")
    sub.add_argument("results", type=Path)
    sub.add_argument("--reference", type=Path, default=Path("docs/reference.json"))
    sub.add_argument("--update", action="store_true", help="make the results at hand the reference")


def validate(chosen: argparse.Namespace) -> None:
    from wei2023.study import plan

    loaded = plan.load(chosen.file, *chosen.configfile, settings=chosen.config)
    loaded.check()
    environments, runs, jobs = len(loaded.cases), loaded.runs, loaded.jobs()
    names = ", ".join(map(str, (chosen.file, *chosen.configfile)))
    print(f"{names}: {environments} environments, {runs} simulations, {jobs} jobs")


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
    print(*different, sep="\n", end="\n" if different else "")
    if different:
        print(f"{len(different)} values differ from {chosen.reference}")
        raise SystemExit(1)
    print(f"as {chosen.reference} says")
