"""To extend: an algorithm or an environment of one's own."""

import argparse
import sys
from pathlib import Path
from typing import Any

from nscmdp.cli import screen
from nscmdp.cli.commands import Commands, setting_of
from nscmdp.plugins import unknown
from nscmdp.progress import Line

KINDS = {"algorithm": "algorithms", "environment": "environments"}


def add(commands: Commands) -> None:
    about = "write a starting file, with comments, and its test"
    option = commands.add("new", new, about, "nscmdp new algorithm my_learner").add_argument
    option("kind", choices=tuple(KINDS))
    about = "in small letters: that of the file, and of the algorithm or environment"
    option("name", help=about)
    option("--folder", type=Path, default=Path(), help="default: this one")

    about = "does it do what every algorithm or environment must do?"
    option = commands.add("conform", conform, about, "nscmdp conform my_learner.py").add_argument
    option("what", help="a file, or the name of an algorithm or environment")

    about = "a learner of one's own beside all others on the suite"
    example = "nscmdp compare my_learner.py --instances 2 --seeds 1"
    option = commands.add("compare", compare, about, example).add_argument
    option("what", help="a file, or the name of an algorithm")
    option("--setting", help="of its constants; default: scaled, where there is one")
    option("--environments", nargs="+", metavar="NAME", help="default: all of the suite")
    option("--instances", type=int, metavar="N", help="the first N of each; default: all")
    option("--seeds", type=int, metavar="N", help="the first N; default: all")
    option("--suite", type=Path, default=Path("workflow/suite.yaml"), metavar="FILE")
    about = "suite_runs.csv of a run; default: that of the repository"
    option("--beside", type=Path, metavar="FILE", help=about)
    option("--output", type=Path, metavar="FILE", help="its runs, as a table like that one")


def new(chosen: argparse.Namespace) -> None:
    file, test = write(chosen.kind, chosen.name, chosen.folder)
    print(f"{file} and {test}. Next: nscmdp conform {file}")


def write(kind: str, name: str, folder: Path) -> list[Path]:
    """``NAME.py`` and ``test_NAME.py`` in a folder; nothing that is there is written over."""
    from importlib import resources
    from string import Template

    from nscmdp.kernels import sources

    if not name.isidentifier() or name != name.lower():
        raise ValueError(f"{name!r}: expected a name in small letters, such as my_learner")
    if (sources.PACKAGE / KINDS[kind] / f"{name}.py").is_file():
        own = f"{name!r} is one of the package's own {KINDS[kind]}"
        raise ValueError(f"{own}: expected another name")
    words = {"name": name, "kind": KINDS[kind], "title": name.replace("_", " ").capitalize()}
    words["class_name"] = "".join(part.capitalize() for part in name.split("_"))
    files = {folder / f"{name}.py": f"{kind}.py.txt", folder / f"test_{name}.py": "test.py.txt"}
    for file in files:
        if file.exists():
            raise ValueError(f"{file} is there already")
    for file, template in files.items():
        text = resources.files("nscmdp").joinpath("templates", template).read_text(encoding="utf-8")
        file.write_text(Template(text).substitute(words), encoding="utf-8")
    return list(files)


def conform(chosen: argparse.Namespace) -> None:
    from nscmdp import algorithms, conformance, environments

    name = _loaded(chosen.what)
    known = {"algorithms": algorithms.NAMES, "environments": environments.NAMES}
    kind = next((kind for kind, names in known.items() if name in names), None)
    if kind is None:
        names = (*algorithms.NAMES, *environments.NAMES)
        raise ValueError(unknown(name, names, f"unknown name {name!r}"))
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
    from nscmdp.suite import compare, definition

    name = _loaded(chosen.what)
    if name not in algorithms.NAMES:
        raise ValueError(unknown(name, algorithms.NAMES, f"unknown algorithm {name!r}"))
    setting, suite = setting_of(name, chosen), definition.load(chosen.suite)
    file = chosen.beside or compare.REFERENCE
    beside = compare.reference(file, chosen.environments, chosen.instances, chosen.seeds)
    line = Line(sys.stderr)

    def progress(done: int, of: int) -> None:
        if line.on_terminal:
            line.show(f"run {done + 1} of {of}")

    try:
        mine = compare.simulated(suite, name, setting, beside, progress)
    finally:
        line.clear()
    ranked, by_environment = compare.joined(suite, name, mine, beside)
    print(f"suite {suite.version}, {len(mine)} runs of {name}, setting {setting}, beside {file}\n")
    print(_rankings(ranked, by_environment[by_environment["learner"] == name], name))
    if chosen.output:
        write_csv(chosen.output, mine)


def _rankings(ranked: Any, scores: Any, name: str) -> str:
    ranking = [("rank", "learner", "gap", "95% interval", "keeps its rank")]
    for row in ranked.itertuples():
        learner = f"{row.learner} *" if row.learner == name else row.learner
        interval = f"{row.low:.3f} to {row.high:.3f}"
        ranking.append((row.rank, learner, f"{row.gap:.3f}", interval, f"{row.same_rank:.0%}"))
    about = "mean gap over environments; 0: the optimum, 1: the uniform policy"
    rows = [("environment", "gap", "regret", "positive", "violation", "positive", "adaptation")]
    for row in scores.itertuples():
        measured = (row.gap, row.regret, row.positive_regret, row.violation, row.positive_violation)
        adapted = "-" if row.adaptation != row.adaptation else f"{row.adaptation:.0f}"
        rows.append((row.environment, *(f"{value:.3f}" for value in measured), adapted))
    return f"{screen.columns(ranking)}\n{about}\n\n{screen.columns(rows)}"


def _loaded(what: str) -> str:
    """The name of an algorithm or environment, whose file is loaded if it is one."""
    from nscmdp import plugins

    if not what.endswith(".py"):
        return what
    plugins.load([what])
    return Path(what).stem
