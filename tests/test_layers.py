"""Two packages with one arrow between them, and rooms that look down only: also in strings that name modules."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import nscmdp
import wei2023

LIBRARY, REPLICATION = Path(nscmdp.__file__).parent, Path(wei2023.__file__).parent
ROOMS = ("study", "runs", "verdicts", "proofs", "report", "cli")
OUTSIDE_THE_CORE = ("__main__", "suite", "cli", "files", "gymnasium_envs", "_registration")
MODULE = re.compile(r"(?:nscmdp|wei2023)(?:\.\w+)+")
PLANNING = """
import sys
from pathlib import Path
from wei2023.study import plan
planned = plan.load(Path("config.yaml"))
planned.files()
print(*sys.modules)
"""


def named(file):
    """The modules that a file imports, wherever in it, and those that its strings name; docstrings may name any."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    documented = {
        ast.get_docstring(node, clean=False)
        for node in ast.walk(tree)
        if hasattr(node, "body") and isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and node.value not in documented
        ):
            yield from MODULE.findall(node.value)


def test_the_library_does_not_know_the_replication():
    for file in LIBRARY.rglob("*.py"):
        assert [name for name in named(file) if name.startswith("wei2023")] == [], file


def test_the_core_of_the_library_imports_numpy_scipy_and_numba_alone():
    allowed = {"nscmdp", "numpy", "scipy", "numba", "llvmlite", *sys.stdlib_module_names}
    for file in LIBRARY.rglob("*.py"):
        if file.relative_to(LIBRARY).with_suffix("").parts[0] in OUTSIDE_THE_CORE:
            continue
        others = {name.partition(".")[0] for name in named(file)} - allowed
        assert others == set(), file


def test_the_core_of_the_library_does_not_know_what_is_built_on_it():
    above = tuple(f"nscmdp.{room}" for room in OUTSIDE_THE_CORE if room != "_registration")
    for file in LIBRARY.rglob("*.py"):
        if file.relative_to(LIBRARY).with_suffix("").parts[0] not in OUTSIDE_THE_CORE:
            assert [name for name in named(file) if name.startswith(above)] == [], file


def test_the_rooms_of_the_replication_look_down_only():
    for file in REPLICATION.rglob("*.py"):
        here = file.relative_to(REPLICATION).parts[0]
        if here in ROOMS:
            above = {f"wei2023.{room}" for room in ROOMS[ROOMS.index(here) + 1 :]}
            assert [name for name in named(file) if ".".join(name.split(".")[:2]) in above] == [], (
                file
            )


def test_planning_a_study_loads_neither_numba_nor_pandas():
    done = subprocess.run(
        [sys.executable, "-c", PLANNING], capture_output=True, text=True, check=True
    )
    assert {"numba", "pandas", "pyarrow", "scipy"} & set(done.stdout.split()) == set()
