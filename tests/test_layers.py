"""Two packages with one arrow between them, and rooms that look down only: also in strings that name modules."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

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
BY_ITSELF = """
import sys
absent = ("pandas", "pyarrow", "cmaes", "pydantic", "yaml", "matplotlib", "gymnasium", "wei2023")
sys.modules.update(dict.fromkeys(absent))  # importing one of them fails
from nscmdp import algorithms, environments, optimum, simulate
env = environments.make("menu", 30)
assert simulate.run(env, "uniform", evaluate_every=10).gap[-1] > 0
assert optimum.linear_program(env.at(1)).value > 0
assert all(algorithms.title(name) for name in algorithms.NAMES)
"""


def named(file):
    """The modules that a file imports, wherever in it, and those that its strings name; docstrings may name any."""
    tree, found = ast.parse(file.read_text(encoding="utf-8")), []
    documented = {
        ast.get_docstring(node, clean=False)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found += MODULE.findall(node.value) if node.value not in documented else []
    return found


@pytest.fixture(scope="module")
def imports():
    """By package and file within it: what it names."""
    return {
        package.name: {
            file.relative_to(package).as_posix(): named(file) for file in package.rglob("*.py")
        }
        for package in (LIBRARY, REPLICATION)
    }


def test_the_core_of_the_library_knows_numpy_scipy_and_numba_alone(imports):
    above = tuple(f"nscmdp.{room}" for room in OUTSIDE_THE_CORE if room != "_registration")
    allowed = {"nscmdp", "numpy", "scipy", "numba", "llvmlite", *sys.stdlib_module_names}
    for file, names in imports["nscmdp"].items():
        assert [name for name in names if name.startswith("wei2023")] == [], file
        if file.removesuffix(".py").partition("/")[0] not in OUTSIDE_THE_CORE:
            extra = {"gymnasium"} if file == "environments/toy_text.py" else set()
            assert {name.partition(".")[0] for name in names} <= allowed | extra, file
            assert [name for name in names if name.startswith(above)] == [], file


def test_the_library_runs_without_what_only_its_suite_and_commands_need():
    done = subprocess.run([sys.executable, "-c", BY_ITSELF], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_replication_imports_what_the_library_lists_as_public(imports):
    public = tuple(f"nscmdp.{one}." for one in (*nscmdp.MODULES, *nscmdp.__all__, "__version__"))
    known = {file.relative_to(LIBRARY).parts[0].removesuffix(".py") for file in LIBRARY.iterdir()}
    for file, names in imports["wei2023"].items():
        for name in names:
            _, _, within = name.partition("nscmdp.")
            if within.partition(".")[0] in known:
                assert f"{name}.".startswith(public), (file, name)
                assert not within.rpartition(".")[2].startswith("_"), (file, name)


def test_the_rooms_of_the_replication_look_down_only(imports):
    for file, names in imports["wei2023"].items():
        here = file.partition("/")[0]
        if here in ROOMS:
            above = {f"wei2023.{room}" for room in ROOMS[ROOMS.index(here) + 1 :]}
            assert [name for name in names if ".".join(name.split(".")[:2]) in above] == [], file


def test_planning_a_study_loads_neither_numba_nor_pandas():
    done = subprocess.run(
        [sys.executable, "-c", PLANNING], capture_output=True, text=True, check=True
    )
    assert {"numba", "pandas", "pyarrow", "scipy"} & set(done.stdout.split()) == set()
