"""Every command that README and docs show works as it stands; one that no test knows how to run fails here.

Commands of the package are run, in a folder of their own; those that take minutes are planned by their own dry runs.
"""

import re
import shlex
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import yaml

from nscmdp import cli
from small_project import ROOT, command, project

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(?:sh|bash|shell|console)\n(.*?)^```", re.M | re.S)
SPAN = re.compile(r"`((?:make|nscmdp)(?:\s[^`]+)?)`")
FILE = re.compile(
    r"^```(?:python|yaml)\n# (\w+\.(?:py|yaml))\n(.*?)^```", re.M | re.S
)  # named in its first line
PLACEHOLDER = re.compile(r"\b[A-Z]{2,}\b(?!=)")  # NAME, to be replaced by the reader
PART = {"environment": {"name": "menu"}, "episodes": [64], "seeds": 8, "evaluate_every": 8}
LEARNERS = [{"algorithm": "uniform", "setting": "literal"}]
CONFIGS = {  # of the experiments of which a page speaks, where config.yaml has others
    "large_sweeps.md": {
        "batch": 1,
        "experiments": [
            {"name": name, **PART, "learners": LEARNERS} for name in ("part_1", "part_2")
        ],
    }
}


def shown():
    """(page, command) of every line of every block."""
    for page in PAGES:
        for block in BLOCK.findall(page.read_text(encoding="utf-8")):
            for line in block.splitlines():
                words = shlex.split(line, comments=True)
                if words:
                    yield page.name, shlex.join(words)


def mentioned():
    """Commands within sentences that can be typed as they stand."""
    found = {
        " ".join(span.split())
        for page in PAGES
        for span in SPAN.findall(page.read_text(encoding="utf-8"))
    }
    return sorted(span for span in found if not PLACEHOLDER.search(span))


def make(words):
    """What it would do."""
    done = subprocess.run([*words, "--dry-run"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.fixture(scope="module")
def folder_of(tmp_path_factory):
    """A copy of the project for each page, with the configuration of which it speaks and the files that it shows."""

    @cache
    def copied(page):
        copy = project(tmp_path_factory.mktemp("documented") / "project")
        shutil.copy(ROOT / "config.yaml", copy)
        shutil.copytree(ROOT / "docs/suite", copy / "docs/suite")
        if page in CONFIGS:
            (copy / "config.yaml").write_text(yaml.safe_dump(CONFIGS[page]))
        (text,) = (one.read_text(encoding="utf-8") for one in PAGES if one.name == page)
        for name, content in FILE.findall(text):
            (copy / name).write_text(content)
        return copy

    return copied


def nscmdp(words, folder):
    """In a process of its own: plug-ins are known to a process until it ends."""
    program = str(Path(sys.executable).with_name(words[0]))
    called = command(folder) | {"args": [program, *words[1:]]}
    done = subprocess.run(**called, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def snakemake(words, folder):
    """What it would do."""
    if "--report" in words:  # of a finished run
        assert '"--report"' in (ROOT / "tests/test_pipeline.py").read_text()
        return
    called = command(folder) | {
        "args": [sys.executable, "-m", *words[:1], "--dry-run", "--quiet", "rules", *words[1:]]
    }
    done = subprocess.run(**called, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "This was a dry-run" in done.stdout + done.stderr


def test_pages_show_commands():
    assert {page for page, _ in shown()} >= {"README.md", "large_sweeps.md"}
    assert {"make", "snakemake", "nscmdp"} <= {text.split()[0] for _, text in shown()}
    assert "make verify" in mentioned()


def tried():
    """The plan of the largest preset takes half a minute."""
    for page, text in dict.fromkeys(shown()):
        yield pytest.param(page, text, marks=[pytest.mark.slow] if "full.yaml" in text else [])


@pytest.mark.parametrize(("page", "text"), list(tried()))
def test_a_command_that_is_shown_works(page, text, folder_of):
    words = shlex.split(text)
    if words[0] == "make":
        make(words)
    elif words[0] == "snakemake":
        snakemake(words, folder_of(page))
    elif words[0] in ("nscmdp", "wei2023"):
        nscmdp(words, folder_of(page))
    else:
        pytest.fail(
            f"{page} shows {text!r}: expected make, snakemake, nscmdp or wei2023, or a way to try it in this test"
        )


@pytest.mark.parametrize("text", mentioned())
def test_a_command_that_is_mentioned_is_there(text):
    words = shlex.split(text)
    if words[0] == "make":
        make(words)
    elif len(words) == 2:  # `nscmdp describe`: what it takes is said elsewhere
        with pytest.raises(SystemExit, match="0"):
            cli.parse([words[1], "--help"])
    else:
        assert cli.parse(words[1:]).run
