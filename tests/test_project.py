"""The files around the package agree with each other."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import nscmdp
from wei2023.runs import specifications
from wei2023.study import plan

ROOT = Path(__file__).parent.parent
DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT, GROUPS = DECLARED["project"], DECLARED["dependency-groups"]
LOCKS = {  # what each must have
    "requirements.lock": PROJECT["dependencies"] + PROJECT["optional-dependencies"]["dev"],
    "tests/page/requirements.lock": GROUPS["page"],
}


def locked(lock="requirements.lock"):
    """Package -> the versions that a lock file allows."""
    pins: dict[str, set[str]] = {}
    for name, version in re.findall(
        r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", (ROOT / lock).read_text(), re.M
    ):
        pins.setdefault(name.lower(), set()).add(version)
    return pins


def names(requirements):
    return {re.match(r"[A-Za-z0-9._-]+", text).group().lower() for text in requirements}


@pytest.mark.parametrize("lock", LOCKS)
def test_every_dependency_is_locked_with_hashes(lock):
    assert names(LOCKS[lock]) <= set(locked(lock))
    text = (ROOT / lock).read_text()
    entries = re.split(r"^(?=[A-Za-z0-9])", text, flags=re.M)[1:]
    assert all("--hash=sha256:" in entry for entry in entries)


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_address(lock):
    assert not re.search(r"https?://|--index|--find-links|file:", (ROOT / lock).read_text())


def test_what_drives_a_browser_fits_into_the_same_environment():
    first, second = (locked(lock) for lock in LOCKS)
    assert all(versions <= first.get(name, versions) for name, versions in second.items())
    assert not {"playwright", "axe-playwright-python"} & set(first)


@pytest.mark.parametrize(
    ("file", "extra", "package"),
    [
        ("environment.yml", PROJECT["optional-dependencies"]["dev"], ["--editable ."]),
        (
            "workflow/envs/nscmdp.yml",
            [],
            [],
        ),  # Snakemake copies it elsewhere: its script installs the package
    ],
)
def test_the_conda_environments_have_the_pins_of_the_lock(file, extra, package):
    python, pip, options = yaml.safe_load((ROOT / file).read_text())["dependencies"]
    pins = [re.match(r"([^=]+)==([^ ;]+)", pin) for pin in options["pip"]]
    assert (python, pip) == (f"python {PROJECT['requires-python']}", "pip")
    assert [text for text, pin in zip(options["pip"], pins, strict=True) if pin is None] == package
    found = [pin.groups() for pin in pins if pin]
    assert {name.lower() for name, _ in found} == names(PROJECT["dependencies"]) | names(extra)
    assert all(version in locked()[name.lower()] for name, version in found)


def test_every_rule_has_the_environment_that_snakemake_can_make():
    assert (ROOT / "workflow/envs/nscmdp.post-deploy.sh").is_file()
    for file in (ROOT / "workflow/rules").glob("*.smk"):
        text = file.read_text()
        assert set(re.findall(r"conda:\s+(\S+)", text)) <= {'"../envs/nscmdp.yml"'}


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


def test_the_packages_know_nothing_of_snakemake():
    for package in ("nscmdp", "wei2023"):
        for file in (ROOT / "src" / package).rglob("*.py"):
            assert not re.search(r"^\s*(import|from) snakemake", file.read_text(), re.M), file


def test_a_worker_imports_no_heavy_packages(tmp_path):
    heavy = ["pydantic", "matplotlib", "scipy.optimize", "scipy.stats", "snakemake"]
    learner = {"algorithm": "uniform", "setting": "literal"}
    experiment = {
        "name": "one",
        "environment": {"name": "menu"},
        "episodes": [50],
        "seeds": 1,
        "learners": [learner],
    }
    planned = plan.make({"experiments": [experiment]})
    spec = tmp_path / "job.json"
    spec.write_text(json.dumps(specifications.simulation(planned, "one", "uniform.literal")))
    code = "import sys; from wei2023.cli import main; main(sys.argv[1:]); print(*sys.modules)"
    job = (
        "job",
        "simulate",
        str(spec),
        "--seeds",
        "0",
        "--output",
        str(tmp_path / "seeds=0.parquet"),
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *job], capture_output=True, text=True, check=True
    )
    assert (tmp_path / "seeds=0.parquet").exists()
    assert [name for name in heavy if name in done.stdout.split()] == []


def test_the_command_line_is_there_both_ways():
    for command in (
        [str(Path(sys.executable).with_name("nscmdp"))],
        [sys.executable, "-m", "nscmdp"],
    ):
        done = subprocess.run([*command, "--help"], capture_output=True, text=True, check=True)
        assert "nscmdp run triple_q" in done.stdout
