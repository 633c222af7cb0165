"""The commands that people call print the library's own numbers, and say in one line what is wrong."""

import subprocess
import sys

import pytest
import yaml

from nscmdp import budget, cli, environments, simulate
from nscmdp.analysis import description

CONFIG = {
    "experiments": [
        {
            "name": "small",
            "environment": {"name": "menu"},
            "budgets": [{"legs": 1}, {"legs": 3}],
            "episodes": [200, 400],
            "seeds": 5,
            "learners": [{"algorithm": "uniform", "setting": "literal"}, {"algorithm": "oracle", "setting": "literal"}],
        }
    ]
}


def printed(capsys, *arguments):
    """What a command that succeeds prints, by lines."""
    assert cli.main(list(arguments)) == 0
    said = capsys.readouterr()
    assert said.err == ""
    return said.out.splitlines()


def test_describe_prints_the_numbers_of_the_environment(capsys):
    lines = printed(capsys, "describe", "menu", "--episodes", "100", "--option", "legs=2", "--option", "seed=3")
    expected = description.describe(environments.make("menu", 100, legs=2, seed=3))
    assert [line[:20].strip() for line in lines] == list(expected)
    for line, value in zip(lines, expected.values(), strict=True):
        text = line[20:].strip()
        if isinstance(value, str):
            assert text == value
        else:
            assert float(text) == pytest.approx(value, rel=1e-5)


def test_describe_takes_options_that_are_text(capsys):
    options = ["--option", "map=6x6", "--option", "horizon=15", "--option", "limit=2.0"]
    assert "S                    36" in printed(capsys, "describe", "grid_world", "--episodes", "50", *options)


@pytest.mark.parametrize(("episodes", "every"), [(300, 1), (2500, 2)])
def test_try_prints_the_means_per_episode_of_a_run(capsys, episodes, every):
    choices = ["--episodes", str(episodes), "--option", "legs=2", "--setting", "literal", "--seed", "3"]
    lines = printed(capsys, "try", "menu", "triple_q", *choices)
    env = environments.make("menu", episodes, legs=2)
    run = simulate.run(env, "triple_q", "literal", 3, every)
    assert lines[0] == str(env)
    numbers = dict(line.rsplit(maxsplit=1) for line in lines[1:])
    assert float(numbers.pop("variation budget")) == pytest.approx(budget.variation(env).total, rel=1e-3)
    found = {name: float(number) for name, number in numbers.items()}
    assert found == pytest.approx(
        {
            "regret per episode": run.regret[-1] / episodes,
            "violation per episode": run.violation[-1] / episodes,
            "gap per episode": run.gap[-1] / episodes,
        },
        abs=5.1e-5,
    )
    assert found["gap per episode"] > 0


def test_validate_counts_what_a_configuration_asks_for(capsys, tmp_path):
    file = tmp_path / "config.yaml"
    file.write_text(yaml.safe_dump(CONFIG))
    assert printed(capsys, "validate", str(file)) == [f"{file}: 4 environments, 40 simulations"]


def test_without_a_command_the_commands_are_listed(capsys):
    text = "\n".join(printed(capsys))
    for command in ("describe", "try", "validate", "check", "simulate"):
        assert f"\n    {command} " in text


WRONG = {
    "an environment": (["describe", "nowhere"], 'environment.name = "nowhere": unknown (expected one of grid_world, '),
    "an option": (
        ["describe", "menu", "--option", "tasty=1"],
        "environment.tasty = 1: unknown key (expected one of name, legs, seed)",
    ),
    "a number of episodes": (
        ["describe", "menu", "--episodes", "0"],
        "episodes = 0: input should be greater than or equal to 1",
    ),
    "a map": (["describe", "grid_world", "--option", "map=9x9"], "map = '9x9': no such map or file, expected one of"),
    "an algorithm": (["try", "menu", "nobody"], "unknown algorithm 'nobody', expected one of "),
    "a setting": (["try", "menu", "uniform", "--setting", "tasty"], "uniform has no setting 'tasty', expected one of "),
    "a file that is not there": (["validate", "absent.yaml"], "No such file or directory: 'absent.yaml'"),
    "a folder": (["validate", "."], "Is a directory"),
    "an empty file": (["validate", "empty.yaml"], "config: "),
    "a list": (["validate", "list.yaml"], "config: "),
    "bytes": (["validate", "bytes.yaml"], "'utf-8' codec can't decode"),
    "a key": (["validate", "key.yaml"], "config: tasty = 1: unknown key"),
    "a frame that does not fit": (["validate", "short.yaml"], "config: experiments[0].episodes = 2 is too small for "),
    "a folder without a run": (["check", "."], "config.json does not exist: no run has been started in "),
    "an answer that is not there": (["readme", "absent.json"], "No such file or directory: 'absent.json'"),
    "text for a number": (["describe", "menu", "--option", "legs=abc"], "legs"),
    "no value": (["describe", "menu", "--option", "legs"], "legs"),
    "a part of a leg": (["describe", "menu", "--option", "legs=1.5"], "legs"),
    "YAML": (["validate", "unfinished.yaml"], "unfinished.yaml"),
}
SHORT = {**CONFIG["experiments"][0], "budgets": [{"legs": 1}], "episodes": [2]}
FILES = {
    "empty.yaml": b"",
    "list.yaml": b"- 1\n- 2\n",
    "bytes.yaml": b"\xff\xfe\x00",
    "key.yaml": yaml.safe_dump({**CONFIG, "tasty": 1}).encode(),
    "short.yaml": yaml.safe_dump(
        {"experiments": [{**SHORT, "learners": [{"algorithm": "nonstationary_triple_q", "setting": "scaled"}]}]}
    ).encode(),
    "unfinished.yaml": b"experiments: [\n",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_said_in_one_line(capsys, what):
    arguments, message = WRONG[what]
    assert cli.main(arguments) == 1
    said = capsys.readouterr()
    assert said.out == ""
    (line,) = said.err.splitlines()
    assert line.startswith("nscmdp: ")
    assert message in line


@pytest.mark.usefixtures("folder")
def test_the_program_ends_as_the_command_does():
    done = subprocess.run([sys.executable, "-m", "nscmdp", "validate", "absent.yaml"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "nscmdp: [Errno 2] No such file or directory: 'absent.yaml'\n"


@pytest.mark.parametrize("arguments", [["tasty"], ["describe"], ["describe", "menu", "--episodes", "x"]])
def test_a_command_that_cannot_be_read_ends_with_its_usage(capsys, arguments):
    with pytest.raises(SystemExit, match="2"):
        cli.main(arguments)
    assert "usage: nscmdp" in capsys.readouterr().err


def test_a_mistake_of_ours_is_not_hidden(monkeypatch):
    def fail(**_):
        raise KeyError("internal")

    monkeypatch.setattr(environments, "make", fail)
    with pytest.raises(KeyError, match="internal"):
        cli.main(["describe", "menu"])
