"""The commands that people call print the library's own numbers, and say in one line what is wrong."""

import json
import os
import re
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
import yaml

from nscmdp import algorithms, budget, cli, environments, files, optimum, simulate
from nscmdp.cli import screen
from wei2023.verdicts import description

CONFIG = {
    "experiments": [
        {
            "name": "small",
            "environment": {"name": "menu"},
            "budgets": [{"legs": 1}, {"legs": 3}],
            "episodes": [200, 400],
            "seeds": 5,
            "learners": [
                {"algorithm": "uniform", "setting": "literal"},
                {"algorithm": "oracle", "setting": "literal"},
            ],
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
    lines = printed(
        capsys, "describe", "menu", "--episodes", "100", "--option", "legs=2", "--option", "seed=3"
    )
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
    assert "S                    36" in printed(
        capsys, "describe", "grid_world", "--episodes", "50", *options
    )


def means(lines):
    """{"regret": 0.1, ...} of a printed summary."""
    found = re.findall(r"^(\w+) per episode: (\S+) in the mean$", "\n".join(lines), re.M)
    return {name: float(number) for name, number in found}


@pytest.mark.parametrize(("episodes", "every"), [(300, 1), (2500, 2)])
def test_run_prints_the_means_per_episode(capsys, episodes, every):
    choices = [
        "--episodes",
        str(episodes),
        "--option",
        "legs=2",
        "--setting",
        "literal",
        "--seed",
        "3",
    ]
    lines = printed(capsys, "run", "triple_q", "menu", *choices)
    env = environments.make("menu", episodes, legs=2)
    run = simulate.run(env, "triple_q", "literal", 3, every)
    assert lines[0] == f"{env}, variation budget {budget.variation(env).total:.4g}, setting literal"
    expected = {"regret": run.regret[-1], "violation": run.violation[-1], "gap": run.gap[-1]}
    assert means(lines) == pytest.approx(
        {name: value / episodes for name, value in expected.items()}, abs=5.1e-5
    )
    assert means(lines)["gap"] > 0


def test_run_takes_factors_and_variants(capsys):
    call = ["run", "nonstationary_triple_q", "menu", "--episodes", "300", "--evaluate-every", "1"]
    lines = printed(capsys, *call, "--factor", "frame=0.5", "--variant", "reset=bump")
    chosen = {"factors": {"frame": 0.5}, "variants": {"reset": "bump"}}
    run = simulate.run(environments.make("menu", 300), "nonstationary_triple_q", "scaled", **chosen)
    assert means(lines)["gap"] == pytest.approx(run.gap[-1] / 300, abs=5.1e-5)


def test_run_says_in_one_line_what_does_not_fit(capsys):
    assert cli.main(["run", "nonstationary_triple_q", "menu", "--episodes", "2"]) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert re.fullmatch(
        r"nscmdp: a frame of \S+ episodes does not fit into K = 2: expected 1 to 2", line
    )


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_run_writes_its_evaluated_episodes_and_what_decided_them(capsys, tmp_path, form):
    file = tmp_path / f"run.{form}"
    printed(
        capsys,
        "run",
        "triple_q",
        "menu",
        "--episodes",
        "400",
        "--evaluate-every",
        "4",
        "--output",
        str(file),
    )
    run = simulate.run(environments.make("menu", 400), "triple_q", "scaled", 0, 4)
    if form == "parquet":
        rows, facts = files.read(file)
        rows = rows.to_pandas()
    else:
        rows = pd.read_csv(file, comment="#")
        facts = json.loads(file.read_text().splitlines()[0].removeprefix("# "))
    assert facts["specification"]["algorithm"] == "triple_q"
    assert facts["specification"]["sources"]
    assert facts["fingerprint"] == environments.make("menu", 400).fingerprint()
    np.testing.assert_array_equal(rows["episode"], run.episode)
    expected = {
        "value": run.value,
        "utility_value": run.utility_value,
        "optimal_value": run.optimum[:, 0],
    }
    expected |= {"optimal_multiplier": run.optimum[:, 2], "cumulative_regret": run.regret}
    expected |= {"cumulative_violation": run.violation, "cumulative_gap": run.gap}
    for name, column in expected.items():
        np.testing.assert_allclose(rows[name], column, rtol=1e-12, err_msg=name)


def test_a_curve_shows_where_values_are():
    rising = screen.curve([0.0, 0.0, 1.0, 1.0], braille=False).splitlines()
    half = screen.WIDTH // 2
    assert rising[0] == f"{'1':>10} |{' ' * half}{'*' * half}"
    assert rising[-1] == f"{'0':>10} |{'*' * half}*"  # up to where it rises
    finer = screen.curve(range(8), braille=True)
    assert set(finer) - set("0123456789 \n│") <= {chr(code) for code in range(0x2800, 0x2900)}


def test_where_the_terminal_knows_no_braille_curves_are_plain():
    call = [sys.executable, "-m", "nscmdp", "run", "uniform", "menu", "--episodes", "50"]
    done = subprocess.run(
        call, capture_output=True, env=os.environ | {"PYTHONIOENCODING": "ascii"}, check=True
    )
    assert "|***" in done.stdout.decode("ascii").replace(" ", "")
    done = subprocess.run(
        call, capture_output=True, env=os.environ | {"PYTHONIOENCODING": "utf-8"}, check=True
    )
    assert "│" in done.stdout.decode("utf-8")


def test_list_names_all_there_is_without_a_compiler():
    code = "import sys; from nscmdp.cli import main; main(['list']); print('loaded', *sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    *lines, loaded = done.stdout.splitlines()
    for name in (*algorithms.OWN, *environments.OWN):
        assert [line for line in lines if line.startswith((f"  {name} ", f"  {name}: "))], name
    assert "    legs=1, switch_at=(), binds=always, seed=0" in lines
    assert {"numba", "pandas", "scipy"} & set(loaded.split()) == set()


class Constants(NamedTuple):
    eta: float
    frame: int


@pytest.fixture
def constants(monkeypatch):
    """A stand-in for what an algorithm says of its constants."""
    formulas = {"eta": "K^0.2 B^(1/3)", "frame": "K^0.6 B^(-2/3)"}
    monkeypatch.setattr(algorithms, "formulas", lambda name, setting: formulas, raising=False)
    made = lambda name, problem, setting, factors, variants: Constants(problem.K**0.2, 7)  # noqa: E731
    monkeypatch.setattr(algorithms, "constants", made, raising=False)


@pytest.mark.usefixtures("constants")
def test_describe_prints_what_an_algorithm_is_made_of(capsys):
    call = [
        "describe",
        "nonstationary_triple_q",
        "--environment",
        "menu",
        "--episodes",
        "243",
        "--setting",
        "literal",
    ]
    lines = [line.split() for line in printed(capsys, *call)]
    assert lines[0] == ["nonstationary_triple_q:", "Algorithm", "1:", "Non-stationary", "Triple-Q"]
    assert ["settings:", "literal,", "authors,", "scaled"] in lines
    assert ["bonus", "0.0013", "tuned", "within", "0.0001", "to", "0.1"] in lines
    assert ["bump", "0.01", "not", "tuned"] in lines
    assert [line for line in lines if line[:5] == ["reset", "full", "one", "of", "full,"]]
    assert ["constants", "on", "menu,", "K", "=", "243,", "setting", "literal"] in lines
    assert ["eta", "K^0.2", "B^(1/3)", "3"] in lines
    assert ["frame", "K^0.6", "B^(-2/3)", "7"] in lines


@pytest.mark.usefixtures("constants")
def test_describe_prints_formulas_where_no_environment_is_named(capsys):
    lines = printed(capsys, "describe", "nonstationary_triple_q")
    assert "constants, setting scaled (with --environment: their values)" in lines
    assert "  eta    K^0.2 B^(1/3)" in lines


def test_optimum_prints_both_solvers(capsys):
    lines = printed(capsys, "optimum", "menu", "--episodes", "100", "--episode", "50", "--check")
    best = optimum.constrained(environments.make("menu", 100).at(50))
    numbers = {name: list(map(float, values)) for name, *values in map(str.split, lines[1:])}
    assert lines[0].split() == ["episode", "50", "optimum", "by", "HiGHS"]
    for name in ("value", "utility", "multiplier"):
        assert numbers[name] == pytest.approx([getattr(best, name)] * 2, rel=1e-5)


def test_budget_prints_every_leg_and_their_sum(capsys):
    lines = printed(capsys, "budget", "menu", "--episodes", "100", "--option", "legs=2")
    *legs, total = ([float(cell) for cell in line.split()[-4:]] for line in lines[1:])
    measured = budget.variation(environments.make("menu", 100, legs=2))
    assert total == pytest.approx([*measured, measured.total], rel=1e-5)
    assert [sum(column) for column in zip(*legs, strict=True)] == pytest.approx(total, rel=1e-5)
    assert len(legs) == 2


def test_validate_counts_what_a_configuration_asks_for(capsys, tmp_path):
    file = tmp_path / "config.yaml"
    file.write_text(yaml.safe_dump(CONFIG))
    assert printed(capsys, "validate", str(file)) == [f"{file}: 4 environments, 40 simulations"]


def test_without_a_command_the_commands_are_listed(capsys):
    text = "\n".join(printed(capsys))
    for command in (
        "list",
        "describe",
        "optimum",
        "budget",
        "run",
        "validate",
        "check",
        "verify",
        "job",
    ):
        assert re.search(rf"^  {command} +\S.*\n +nscmdp {command}", text, re.M), (
            command
        )  # with an example
    assert [
        line
        for line in text.splitlines()
        if line in ("to look:", "to run:", "to check:", "for the pipeline:")
    ]


WRONG = {
    "what to describe": (
        ["describe", "meny"],
        "unknown environment or algorithm 'meny', did you mean menu? (expected",
    ),
    "an environment": (
        ["budget", "nowhere"],
        'environment.name = "nowhere": unknown (expected one of arrays, grid_world, ',
    ),
    "an episode": (
        ["optimum", "menu", "--episodes", "9", "--episode", "10"],
        "episode 10 is outside 1..9",
    ),
    "an option": (
        ["describe", "menu", "--option", "tasty=1"],
        "environment.tasty = 1: unknown key (expected one of name, legs, switch_at, binds, seed)",
    ),
    "a number of episodes": (
        ["describe", "menu", "--episodes", "0"],
        "episodes = 0: input should be greater than or equal to 1",
    ),
    "a map": (
        ["describe", "grid_world", "--option", "map=9x9"],
        "map = '9x9': no such map or file, expected one of",
    ),
    "an algorithm": (
        ["run", "tripleq", "menu"],
        "unknown algorithm 'tripleq', did you mean triple_q? (expected one of ",
    ),
    "a setting": (
        ["run", "triple_q", "menu", "--setting", "author"],
        "no setting 'author', did you mean authors? (",
    ),
    "a factor": (
        ["run", "triple_q", "menu", "--factor", "bonis=1"],
        "no factor 'bonis', did you mean bonus? (expected",
    ),
    "text for a factor": (
        ["run", "triple_q", "menu", "--factor", "bonus=x"],
        "--factor bonus=x: expected a number",
    ),
    "a variant": (
        ["run", "triple_q", "menu", "--variant", "strt=1"],
        "no variant 'strt', did you mean start? (",
    ),
    "a format": (
        ["run", "triple_q", "menu", "--output", "run.cvs"],
        "run.cvs: unknown format, did you mean .csv? (",
    ),
    "evaluations": (
        ["run", "triple_q", "menu", "--evaluate-every", "0"],
        "evaluate_every = 0: expected at least 1",
    ),
    "a file that is not there": (
        ["validate", "absent.yaml"],
        "No such file or directory: 'absent.yaml'",
    ),
    "a folder": (["validate", "."], "Is a directory"),
    "an empty file": (["validate", "empty.yaml"], "config: "),
    "a list": (["validate", "list.yaml"], "config: "),
    "bytes": (["validate", "bytes.yaml"], "'utf-8' codec can't decode"),
    "a key": (["validate", "key.yaml"], "config: tasty = 1: unknown key"),
    "a frame that does not fit": (
        ["validate", "short.yaml"],
        "config: experiments[0].episodes = 2 is too small for ",
    ),
    "a folder without a run": (
        ["check", "."],
        "config.json does not exist: no run has been started in ",
    ),
    "an answer that is not there": (
        ["job", "readme", "absent.json"],
        "No such file or directory: 'absent.json'",
    ),
    "text for a number": (["describe", "menu", "--option", "legs=abc"], "legs"),
    "no value": (["describe", "menu", "--option", "legs"], "--option legs: expected NAME=VALUE"),
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
        {
            "experiments": [
                {
                    **SHORT,
                    "learners": [{"algorithm": "nonstationary_triple_q", "setting": "scaled"}],
                }
            ]
        }
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
    done = subprocess.run(
        [sys.executable, "-m", "nscmdp", "validate", "absent.yaml"], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "nscmdp: [Errno 2] No such file or directory: 'absent.yaml'\n"


def test_an_unknown_command_suggests_the_nearest(capsys):
    with pytest.raises(SystemExit, match="2"):
        cli.main(["rum"])
    assert (
        "unknown command 'rum', did you mean run? (expected one of list, "
        in capsys.readouterr().err
    )


def test_help_loads_nothing_heavy():
    for arguments in (["--help"], ["job", "simulate", "--help"]):
        command = [sys.executable, "-X", "importtime", "-m", "nscmdp", *arguments]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stderr
        loaded = {line.rpartition("|")[2].strip() for line in told.splitlines()}
        assert {"numpy", "pandas", "numba", "pydantic", "yaml", "inspect"} & loaded == set()


def test_a_reader_that_has_had_enough_is_no_error():
    done = subprocess.run(
        f"{sys.executable} -m nscmdp list | true", shell=True, capture_output=True, text=True
    )
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["tasty"], []),
        (["describe"], ["describe"]),
        (["job"], ["job"]),
        (["describe", "menu", "--episodes", "x"], ["describe"]),
    ],
)
def test_a_command_that_cannot_be_read_ends_with_its_usage(capsys, arguments, shown):
    with pytest.raises(SystemExit, match="2"):
        cli.main(arguments)
    assert f"usage: {' '.join(['nscmdp', *shown])} " in capsys.readouterr().err


def test_a_mistake_of_ours_is_not_hidden(monkeypatch):
    def fail(**_):
        raise KeyError("internal")

    monkeypatch.setattr(environments, "make", fail)
    with pytest.raises(KeyError, match="internal"):
        cli.main(["describe", "menu"])
