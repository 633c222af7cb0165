"""To extend: an algorithm or an environment of one's own."""

import argparse
import sys
from pathlib import Path
from typing import Any

from nscmdp.cli import screen
from nscmdp.cli.commands import Commands, setting_of
from nscmdp.progress import Line


def add(commands: Commands) -> None:
    sub = commands.add(
        "new",
        new,
        "write a starting file, with comments, and its test",
        "nscmdp new algorithm my_learner",
    )
    sub.add_argument("kind", choices=("algorithm", "environment"))
    sub.add_argument(
        "name", help="in small letters: that of the file, and of the algorithm or environment"
    )
    sub.add_argument("--folder", type=Path, default=Path(), help="default: this one")

    sub = commands.add(
        "conform",
        conform,
        "does it do what every algorithm or environment must do?",
        "nscmdp conform my_learner.py",
    )
    sub.add_argument("what", help="a file, or the name of an algorithm or environment")

    sub = commands.add(
        "compare",
        compare,
        "a learner of one's own beside all others on the suite",
        "nscmdp compare my_learner.py --instances 2 --seeds 1",
    )
    sub.add_argument("what", help="a file, or the name of an algorithm")
    sub.add_argument("--setting", help="of its constants; default: scaled, where there is one")
    sub.add_argument("--environments", nargs="+", metavar="NAME", help="default: all of the suite")
    sub.add_argument("--instances", type=int, metavar="N", help="the first N of each; default: all")
    sub.add_argument("--seeds", type=int, metavar="N", help="the first N; default: all")
    sub.add_argument("--suite", type=Path, default=Path("workflow/suite.yaml"), metavar="FILE")
    sub.add_argument(
        "--beside",
        type=Path,
        metavar="FILE",
        help="suite_runs.csv of a run; default: that of the repository",
    )
    sub.add_argument(
        "--output", type=Path, metavar="FILE", help="its runs, as a table like that one"
    )


def new(chosen: argparse.Namespace) -> None:
    from nscmdp import scaffold

    file, test = scaffold.write(chosen.kind, chosen.name, chosen.folder)
    print(f"{file} and {test}. Next: nscmdp conform {file}")


def conform(chosen: argparse.Namespace) -> None:
    from nscmdp import algorithms, conformance, environments
    from nscmdp.plugins import unknown

    name = _loaded(chosen.what)
    kinds = {"algorithms": algorithms.NAMES, "environments": environments.NAMES}
    kind = next((kind for kind, names in kinds.items() if name in names), None)
    if kind is None:
        raise ValueError(
            unknown(name, (*algorithms.NAMES, *environments.NAMES), f"unknown name {name!r}")
        )
    failed = 0
    for one in conformance.check(kind, name):
        failed += not one.passed
        print(f"{'ok  ' if one.passed else 'FAIL'}  {one.of}: {one.check}: {one.says}", flush=True)
    if failed:
        print(f"{failed} checks failed")
        raise SystemExit(1)


def compare(chosen: argparse.Namespace) -> None:
    from nscmdp import algorithms
    from nscmdp.files import write_csv
    from nscmdp.plugins import unknown
    from nscmdp.suite import compare
    from nscmdp.suite import definition as suite

    name = _loaded(chosen.what)
    if name not in algorithms.NAMES:
        raise ValueError(unknown(name, algorithms.NAMES, f"unknown algorithm {name!r}"))
    setting, loaded = setting_of(name, chosen), suite.load(chosen.suite)
    file = chosen.beside or compare.REFERENCE
    beside = compare.reference(file, chosen.environments, chosen.instances, chosen.seeds)
    line = Line(sys.stderr)

    def progress(done: int, of: int) -> None:
        if line.on_terminal:
            line.show(f"run {done + 1} of {of}")

    try:
        mine = compare.simulated(loaded, name, setting, beside, progress)
    finally:
        line.clear()
    ranked, by_environment = compare.joined(loaded, name, mine, beside)
    print(f"suite {loaded.version}, {len(mine)} runs of {name}, setting {setting}, beside {file}\n")
    print(_ranking(ranked, name))
    print(f"\n{_scores(by_environment, name)}")
    if chosen.output:
        write_csv(chosen.output, mine)


def _ranking(ranked: Any, name: str) -> str:
    rows = [("rank", "learner", "gap", "95% interval", "keeps its rank")]
    for row in ranked.itertuples():
        marked = f"{row.learner} *" if row.learner == name else row.learner
        rows.append(
            (
                row.rank,
                marked,
                f"{row.gap:.3f}",
                f"{row.low:.3f} to {row.high:.3f}",
                f"{row.same_rank:.0%}",
            )
        )
    about = "mean gap over environments; 0: the optimum, 1: the uniform policy"
    return f"{screen.columns(rows)}\n{about}"


def _scores(by_environment: Any, name: str) -> str:
    mine = by_environment[by_environment["learner"] == name]
    rows = [("environment", "gap", "regret", "positive", "violation", "positive", "adaptation")]
    for row in mine.itertuples():
        measured = (row.gap, row.regret, row.positive_regret, row.violation, row.positive_violation)
        adapted = "-" if row.adaptation != row.adaptation else f"{row.adaptation:.0f}"
        rows.append((row.environment, *(f"{value:.3f}" for value in measured), adapted))
    return screen.columns(rows)


def _loaded(what: str) -> str:
    """The name of an algorithm or environment, whose file is loaded if it is one."""
    from nscmdp import plugins

    if not what.endswith(".py"):
        return what
    plugins.load([what])
    return Path(what).stem
