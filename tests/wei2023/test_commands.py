"""The commands of the replication print what was asked for, and say in one line what is wrong."""

import re
import subprocess
import sys

import pytest
import yaml

from wei2023 import cli

MENU = {"environment": {"name": "menu"}}
LEARNERS = [{"algorithm": name, "setting": "literal"} for name in ("uniform", "oracle")]
SMALL = {"name": "small", **MENU, "budgets": [{"legs": 1}, {"legs": 3}], "seeds": 5}
SMALL |= {"episodes": [200, 400], "learners": LEARNERS}
SHORT = {"name": "short", **MENU, "episodes": [2], "seeds": 1}
SHORT["learners"] = [{"algorithm": "nonstationary_triple_q", "setting": "scaled"}]
FILES = {
    "config.yaml": yaml.safe_dump({"experiments": [SMALL]}).encode(),
    "empty.yaml": b"",
    "list.yaml": b"- 1\n- 2\n",
    "bytes.yaml": b"\xff\xfe\x00",
    "key.yaml": yaml.safe_dump({"experiments": [SMALL], "tasty": 1}).encode(),
    "short.yaml": yaml.safe_dump({"experiments": [SHORT]}).encode(),
    "unfinished.yaml": b"experiments: [\n",
}
WRONG = {
    "validate absent.yaml": "No such file or directory: 'absent.yaml'",
    "validate .": "Is a directory",
    "validate empty.yaml": "config: ",
    "validate list.yaml": "config: ",
    "validate bytes.yaml": "'utf-8' codec can't decode",
    "validate key.yaml": "config: tasty = 1: unknown key",
    "validate short.yaml": "config: experiments[0].episodes = 2 is too small for ",
    "validate unfinished.yaml": "unfinished.yaml",
    "check .": "config.json does not exist: no run has been started in ",
    "job readme absent.json": "No such file or directory: 'absent.json'",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("folder")
def test_validate_counts_what_a_configuration_asks_for(capsys):
    assert cli.main(["validate", "config.yaml"]) == 0
    assert "40 simulations" in capsys.readouterr().out


def test_without_a_command_the_commands_are_listed_with_an_example(capsys):
    assert cli.main([]) == 0
    text = capsys.readouterr().out
    for command in ("validate", "check", "verify", "job"):
        assert re.search(rf"^  {command} +\S.*\n +wei2023 {command}", text, re.M), command


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("command", WRONG)
def test_what_is_wrong_is_said_in_one_line(capsys, command):
    assert cli.main(command.split()) == 1
    said = capsys.readouterr()
    assert said.out == ""
    (line,) = said.err.splitlines()
    assert line.startswith("wei2023: ")
    assert WRONG[command] in line


@pytest.mark.parametrize(("given", "shown"), [(["tasty"], []), (["job"], ["job"])])
def test_a_command_that_cannot_be_read_ends_with_its_usage(capsys, given, shown):
    with pytest.raises(SystemExit, match="2"):
        cli.main(given)
    assert f"usage: {' '.join(['wei2023', *shown])} " in capsys.readouterr().err


def test_help_loads_nothing_heavy():
    code = "from wei2023.cli import main; main()"
    command = [sys.executable, "-X", "importtime", "-c", code, "--help"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    loaded = {line.rpartition("|")[2].strip() for line in told.splitlines()}
    assert {"numpy", "pandas", "numba", "pydantic", "yaml", "inspect"} & loaded == set()
