"""Nothing that is read can run: no pickle, no eval, nothing unquoted in a shell, nothing unescaped on a page."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

from wei2023.study import config, plan

ROOT = Path(__file__).parent.parent
PYTHON = sorted((ROOT / "src").rglob("*.py")) + sorted((ROOT / "workflow").rglob("*.py"))
RULES = [ROOT / "Snakefile", *sorted((ROOT / "workflow").rglob("*.smk"))]
PICKLERS = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
HOSTILE = [
    "a b",
    "a;b",
    "$(touch pwned)",
    "`touch pwned`",
    "a'b",
    'a"b',
    "..",
    "../a",
    "/a",
    "a/b",
    "{a}",
    "-a",
    "a\nb",
    "",
]


def calls(tree):
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


def imports(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.split(".")[0]


@pytest.mark.parametrize("file", PYTHON, ids=lambda file: file.stem)
def test_sources_unpickle_evaluate_and_spawn_nothing(file):
    tree = ast.parse(file.read_text())
    assert not PICKLERS & set(imports(tree))
    called = {ast.unparse(call.func) for call in calls(tree)}
    assert not called & {
        "eval",
        "exec",
        "compile",
        "__import__",
        "os.system",
        "os.popen",
        "yaml.load",
        "yaml.unsafe_load",
    }
    assert not any(name.startswith("subprocess.") for name in called)
    assert not any(
        keyword.arg == "allow_pickle" for call in calls(tree) for keyword in call.keywords
    )
    assert "read_pickle" not in file.read_text()


@pytest.mark.parametrize("file", RULES, ids=lambda file: file.stem)
def test_rules_evaluate_nothing_and_quote_all_that_reaches_a_shell(file):
    text = file.read_text()
    assert not re.search(
        r"\b(pickle|marshal|eval\(|exec\(|os\.system|subprocess|yaml\.load\b)", text
    )
    commands = re.findall(r'\bshell(?::|\()\s*((?:"[^"]*"\s*)+)', text)
    assert len(commands) == len(re.findall(r"\bshell\b[:(]", text))
    for command in commands:
        assert all(name.endswith(":q") for name in re.findall(r"\{(.*?)\}", command)), command


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("place", ["experiment", "label"])
def test_hostile_names_are_refused_by_key_and_value(place, name):
    learner = {
        "algorithm": "uniform",
        "setting": "literal",
        **({"label": name} if place == "label" else {}),
    }
    experiment = {
        "name": name if place == "experiment" else "small",
        "environment": {"name": "menu"},
        "episodes": [8],
        "seeds": 1,
        "learners": [learner],
    }
    key = {
        "experiment": r"experiments\[0\]\.name",
        "label": r"experiments\[0\]\.learners\[0\]\.label",
    }[place]
    with pytest.raises(config.Unacceptable, match=f"config: {key} = "):
        plan.make({"experiments": [experiment]})


@pytest.mark.parametrize("folder", ["a{b}", "a}", "-a", "a\nb", ""])
def test_folders_that_snakemake_or_a_command_line_would_misread_are_refused(folder):
    """Others are carried quoted: tests/test_faults.py runs the pipeline in one full of quotes and commands."""
    with pytest.raises(config.Unacceptable, match="config: results = "):
        plan.make({"results": folder, "experiments": []})


def test_options_cannot_leave_their_place_in_a_name():
    chosen = {
        "name": "small",
        "environment": {"name": "grid_world", "map": "6x6"},
        "readings": [{"map": "../../$(touch pwned)'"}],
        "episodes": [8],
        "seeds": 1,
        "learners": [{"algorithm": "uniform", "setting": "literal"}],
    }
    (case,) = plan.make({"experiments": [chosen]}).cases
    assert re.fullmatch(r"[\w.=-]+/default/K=8", case.name)
    assert "/../" not in f"/{case.name}/"


def test_nothing_secret_is_kept_with_the_sources():
    """Among the files that git keeps, none looks like a key or a password."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout")
    secret = re.compile(
        r"-----BEGIN [A-Z ]*PRIVATE KEY|\bAKIA[0-9A-Z]{16}\b|\bgh[pousr]_\w{36}|"
        r"(?i:(password|passwd|secret|api_?key|token)\s*[=:]\s*['\"][^'\"]{8,}['\"])"
    )
    for name in filter(None, listed.stdout.split("\0")):
        file = ROOT / name
        if file.is_file():
            assert not secret.search(file.read_text(encoding="utf-8", errors="ignore")), name
