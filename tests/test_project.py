"""The files around the package agree with each other."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import yaml

import nscmdp
from nscmdp.kernels import sources
from nscmdp.study import plan

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def locked():
    """Package -> the versions that the lock file allows."""
    pins: dict[str, set[str]] = {}
    for name, version in re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", (ROOT / "requirements.lock").read_text(), re.M):
        pins.setdefault(name.lower(), set()).add(version)
    return pins


def names(requirements):
    return {re.match(r"[A-Za-z0-9._-]+", text).group().lower() for text in requirements}


def test_every_dependency_is_locked_with_hashes():
    wanted = names(PROJECT["dependencies"]) | names(PROJECT["optional-dependencies"]["dev"])
    assert wanted <= set(locked())
    text = (ROOT / "requirements.lock").read_text()
    entries = re.split(r"^(?=[A-Za-z0-9])", text, flags=re.M)[1:]
    assert all("--hash=sha256:" in entry for entry in entries)


def test_the_lock_names_no_address():
    assert not re.search(r"https?://|--index|--find-links|file:", (ROOT / "requirements.lock").read_text())


def test_the_conda_environment_has_the_pins_of_the_lock():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    python, pip, options = environment["dependencies"]
    *pins, package = options["pip"]
    assert (python, pip, package) == (f"python {PROJECT['requires-python']}", "pip", "--editable .")
    found = [re.match(r"([^=]+)==([^ ;]+)", pin).groups() for pin in pins]
    assert {name.lower() for name, _ in found} == names(PROJECT["dependencies"]) | names(
        PROJECT["optional-dependencies"]["dev"]
    )
    assert all(version in locked()[name.lower()] for name, version in found)


def test_the_version_is_said_once():
    assert nscmdp.__version__ == PROJECT["version"]
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == PROJECT["version"]


def test_notebooks_are_stored_without_outputs():
    import nbformat

    for file in (ROOT / "notebooks").glob("*.ipynb"):
        notebook = nbformat.read(file, as_version=4)
        nbformat.validate(notebook)
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        assert all(not cell.outputs and cell.execution_count is None for cell in code), file
        assert any("parameters" in cell.metadata.get("tags", []) for cell in code), file


def test_the_package_knows_nothing_of_snakemake():
    for file in (ROOT / "src").rglob("*.py"):
        assert not re.search(r"^\s*(import|from) snakemake", file.read_text(), re.M), file


def test_a_worker_imports_no_heavy_packages(tmp_path):
    heavy = ["pydantic", "matplotlib", "scipy.optimize", "scipy.stats", "snakemake"]
    learner = {"algorithm": "uniform", "setting": "literal"}
    experiment = {"name": "one", "environment": {"name": "menu"}, "episodes": [50], "seeds": 1, "learners": [learner]}
    planned = plan.make({"experiments": [experiment]})
    spec = json.dumps(planned.run_spec("one", "uniform.literal"))
    code = "import sys; from nscmdp.cli import main; main(sys.argv[1:]); print(*sys.modules)"
    job = ("simulate", spec, "--seeds", "0", "--output", str(tmp_path / "seeds=0.parquet"))
    done = subprocess.run([sys.executable, "-c", code, *job], capture_output=True, text=True, check=True)
    assert (tmp_path / "seeds=0.parquet").exists()
    assert [name for name in heavy if name in done.stdout.split()] == []


def test_the_command_line_is_there_both_ways():
    for command in ([str(Path(sys.executable).with_name("nscmdp"))], [sys.executable, "-m", "nscmdp"]):
        done = subprocess.run([*command, "--help"], capture_output=True, text=True, check=True)
        assert "simulate" in done.stdout


def test_the_pattern_for_imports_finds_what_a_parser_finds():
    """Results are made anew when a source that they depend on changes: no import may be overlooked."""
    for file in sources.PACKAGE.rglob("*.py"):
        names = set()
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        assert set(sources._imports(file)) == {name for name in names if name.startswith("nscmdp")}, file
