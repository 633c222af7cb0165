"""The whole pipeline on a configuration of a few seconds, with the compiled kernels of the project itself."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).parent.parent
SMALL = {"name": "small", "environment": {"name": "menu"}, "episodes": [64], "seeds": 3}
SMALL |= {"windows": 4, "keep": "windows", "learners": ["uniform.literal"]}
TINY = {"results": "results", "batch": 1, "experiments": [SMALL]}


def project(folder, **changed):
    """The project without its package, which stays where its kernels are compiled."""
    folder.mkdir()
    for name in ("workflow", "notebooks"):
        shutil.copytree(ROOT / name, folder / name)
    for name in ("Snakefile", "environment.yml"):
        shutil.copy(ROOT / name, folder / name)
    (folder / "profiles").symlink_to("workflow/profiles")
    (folder / "config.yaml").write_text(yaml.safe_dump(TINY | changed))
    return folder


def command(folder, *arguments, source=ROOT / "src"):
    """Plain ``snakemake``, which finds the default profile, for subprocess.Popen."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    called = [sys.executable, "-m", "snakemake", "--cores", "2", *arguments]
    environment = os.environ | {"PYTHONPATH": str(source), "PATH": path}
    return {"args": called, "cwd": folder, "env": environment}


def start(folder, *arguments):
    """Start the pipeline. What it says goes to a file, which an orphan cannot keep open for us."""
    with open(folder / "said.txt", "a") as said:
        return subprocess.Popen(
            **command(folder, *arguments), stdout=said, stderr=said, start_new_session=True
        )


def said(folder):
    return (folder / "said.txt").read_text()


def to_the_end(folder, *arguments):
    """Run the pipeline; what it and those before it said."""
    assert start(folder, *arguments).wait() == 0, said(folder)
    return said(folder)


def hashes(folder, parts=("simulations", "environments", "tables")):
    """By name: what the files of some folders hold, and the page."""
    files = [file for part in parts for file in sorted((folder / part).rglob("*"))]
    files = [file for file in files if file.is_file()]
    files += [folder / "index.html", folder / "checksums.txt"]
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in files
    }
