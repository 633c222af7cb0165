"""The commands that people call print the library's own numbers, and say in one line what is wrong."""

import io
import json
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from nscmdp import algorithms, budget, cli, environments, files, optimum, simulate
from nscmdp.cli import screen
from nscmdp.problem import Problem
from nscmdp.suite import description


def printed(capsys, command):
    """What a command that succeeds prints, by lines."""
    assert cli.main(command.split()) == 0
    said = capsys.readouterr()
    assert said.err == ""
    return said.out.splitlines()


def test_describe_prints_the_numbers_of_the_environment(capsys):
    lines = printed(capsys, "describe menu --episodes 100 --option legs=2 --option seed=3")
    expected = description.describe(environments.make("menu", 100, legs=2, seed=3))
    assert [line[:20].strip() for line in lines] == list(expected)
    for line, value in zip(lines, expected.values(), strict=True):
        text = line[20:].strip()
        if isinstance(value, str):
            assert text == value
        else:
            assert float(text) == pytest.approx(value, rel=1e-5)


def test_describe_takes_options_that_are_text(capsys):
    options = "--option map=6x6 --option horizon=15 --option limit=2.0"
    lines = printed(capsys, f"describe grid_world --episodes 50 {options}")
    assert "S                    36" in lines


def means(lines):
    """{"regret": 0.1, ...} of a printed summary."""
    found = re.findall(r"^(\w+) per episode: (\S+) in the mean$", "\n".join(lines), re.M)
    return {name: float(number) for name, number in found}


@pytest.mark.parametrize(("episodes", "every"), [(300, 1), (2500, 2)])
def test_run_prints_the_means_per_episode(capsys, episodes, every):
    options = f"--episodes {episodes} --option legs=2 --setting literal --seed 3"
    lines = printed(capsys, f"run triple_q menu {options}")
    env = environments.make("menu", episodes, legs=2)
    run = simulate.run(env, "triple_q", "literal", 3, every)
    assert lines[0] == f"{env}, variation budget {budget.variation(env).total:.4g}, setting literal"
    names = ("regret", "violation", "gap")
    expected = {name: getattr(run, name)[-1] / episodes for name in names}
    assert means(lines) == pytest.approx(expected, abs=5.1e-5)
    assert means(lines)["gap"] > 0


def test_run_takes_factors_and_variants(capsys):
    call = "run nonstationary_triple_q menu --episodes 300 --evaluate-every 1"
    lines = printed(capsys, f"{call} --factor frame=0.5 --variant reset=bump")
    chosen = {"factors": {"frame": 0.5}, "variants": {"reset": "bump"}}
    run = simulate.run(environments.make("menu", 300), "nonstationary_triple_q", "scaled", **chosen)
    assert means(lines)["gap"] == pytest.approx(run.gap[-1] / 300, abs=5.1e-5)


def test_run_says_in_one_line_what_does_not_fit(capsys):
    assert cli.main(["run", "nonstationary_triple_q", "menu", "--episodes", "2"]) == 0
    (line,) = capsys.readouterr().err.splitlines()
    expected = r"nscmdp: a frame of \S+ episodes does not fit into K = 2: expected 1 to 2"
    assert re.fullmatch(expected, line)


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_run_writes_its_evaluated_episodes_and_what_decided_them(capsys, tmp_path, form):
    file = tmp_path / f"run.{form}"
    printed(capsys, f"run triple_q menu --episodes 400 --evaluate-every 4 --output {file}")
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
    expected = {"value": run.value, "utility_value": run.utility_value}
    expected |= {"optimal_value": run.optimum[:, 0], "optimal_multiplier": run.optimum[:, 2]}
    expected |= {"cumulative_regret": run.regret}
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


@pytest.mark.parametrize(("encoding", "shown"), [("ascii", "|***"), ("utf-8", "│")])
def test_where_the_terminal_knows_no_braille_curves_are_plain(monkeypatch, encoding, shown):
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding=encoding))
    assert cli.main(["run", "uniform", "menu", "--episodes", "50"]) == 0
    assert shown in written.getvalue().decode(encoding).replace(" ", "")


def test_list_names_all_there_is_without_a_compiler():
    code = "import sys; from nscmdp.cli import main; main(['list']); print('loaded', *sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    *lines, loaded = done.stdout.splitlines()
    for name in (*algorithms.OWN, *environments.OWN):
        assert [line for line in lines if line.startswith((f"  {name} ", f"  {name}: "))], name
    assert "    legs=1, switch_at=(), binds=always, seed=0" in lines
    assert {"numba", "pandas", "scipy"} & set(loaded.split()) == set()


def test_describe_prints_what_an_algorithm_is_made_of(capsys):
    options = "--environment menu --episodes 243 --setting literal"
    printed_lines = printed(capsys, f"describe nonstationary_triple_q {options}")
    lines = [line.split() for line in printed_lines]
    assert lines[0] == ["nonstationary_triple_q:", "Algorithm", "1:", "Non-stationary", "Triple-Q"]
    assert ["settings:", "literal,", "authors,", "scaled"] in lines
    assert ["bonus", "0.0013", "tuned", "within", "0.0001", "to", "0.1"] in lines
    assert ["bump", "0.01", "not", "tuned"] in lines
    assert [line for line in lines if line[:5] == ["reset", "full", "one", "of", "full,"]]
    assert ["constants", "on", "menu,", "K", "=", "243,", "setting", "literal"] in lines
    problem = Problem.of(environments.make("menu", 243))
    constants = algorithms.constants("nonstationary_triple_q", problem)
    eta = [line for line in lines if line[:1] == ["eta"]][-1]
    assert float(eta[-1]) == pytest.approx(constants.eta, rel=1e-5)


def test_describe_prints_formulas_where_no_environment_is_named(capsys):
    lines = printed(capsys, "describe nonstationary_triple_q")
    title = "constants, setting scaled (with --environment: their values)"
    formulas = [line.split()[0] for line in lines[lines.index(title) + 1 :]]
    assert formulas == [*algorithms.formulas("nonstationary_triple_q", "scaled")]


def test_optimum_prints_both_solvers(capsys):
    lines = printed(capsys, "optimum menu --episodes 100 --episode 50 --check")
    best = optimum.constrained(environments.make("menu", 100).at(50))
    numbers = {name: list(map(float, values)) for name, *values in map(str.split, lines[1:])}
    assert lines[0].split() == ["episode", "50", "optimum", "by", "HiGHS"]
    for name in ("value", "utility", "multiplier"):
        assert numbers[name] == pytest.approx([getattr(best, name)] * 2, rel=1e-5)


def test_budget_prints_every_leg_and_their_sum(capsys):
    lines = printed(capsys, "budget menu --episodes 100 --option legs=2")
    *legs, total = ([float(cell) for cell in line.split()[-4:]] for line in lines[1:])
    measured = budget.variation(environments.make("menu", 100, legs=2))
    assert total == pytest.approx([*measured, measured.total], rel=1e-5)
    assert [sum(column) for column in zip(*legs, strict=True)] == pytest.approx(total, rel=1e-5)
    assert len(legs) == 2


def test_without_a_command_the_commands_are_listed(capsys):
    text = "\n".join(printed(capsys, ""))
    for command in ("list", "describe", "optimum", "budget", "run", "new", "conform", "compare"):
        assert re.search(rf"^  {command} +\S.*\n +nscmdp {command}", text, re.M), command
    assert {"to look:", "to run:", "to extend:"} <= {*text.splitlines()}


WRONG = {
    "describe meny": "unknown environment or algorithm 'meny', did you mean menu? (expected",
    "budget nowhere": "unknown environment 'nowhere' (expected one of arrays, grid_world, ",
    "optimum menu --episodes 9 --episode 10": "episode 10 is outside 1..9",
    "describe menu --option tasty=1": "menu has no option 'tasty' (expected one of legs, switch_at",
    "describe menu --episodes 0": "--episodes 0: expected at least 1",
    "describe grid_world --option map=9x9": "map = '9x9': no such map or file, expected one of",
    "describe menu --option legs=abc": '--option legs="abc": expected int',
    "describe menu --option legs": "--option legs: expected NAME=VALUE",
    "describe menu --option legs=1.5": "--option legs=1.5: expected int",
    "describe random_tabular --option budget=NaN": "--option budget=NaN: expected float",
    "describe menu --option switch_at=1": "menu: ",
    "run tripleq menu": "unknown algorithm 'tripleq', did you mean triple_q? (expected one of ",
    "run triple_q menu --setting author": "no setting 'author', did you mean authors? (",
    "run triple_q menu --factor bonis=1": "no factor 'bonis', did you mean bonus? (expected",
    "run triple_q menu --factor bonus=x": "--factor bonus=x: expected a number",
    "run triple_q menu --variant strt=1": "no variant 'strt', did you mean start? (",
    "run triple_q menu --output run.cvs": "run.cvs: unknown format, did you mean .csv? (",
    "run triple_q menu --evaluate-every 0": "evaluate_every = 0: expected at least 1",
    "new algorithm triple_q": "is one of the package's own algorithms: expected another name",
    "conform nothing": "unknown name 'nothing' (expected one of ",
    "compare unifrm": "unknown algorithm 'unifrm', did you mean uniform?",
    "compare uniform --suite absent.yaml": "absent.yaml cannot be read",
    "--plugin=absent.py list": "plug-in absent.py: there is no such file",
}


@pytest.mark.parametrize("command", WRONG)
def test_what_is_wrong_is_said_in_one_line(capsys, command):
    assert cli.main(command.split()) == 1
    said = capsys.readouterr()
    assert said.out == ""
    (line,) = said.err.splitlines()
    assert line.startswith("nscmdp: ")
    assert WRONG[command] in line


def test_the_program_ends_as_the_command_does():
    command = [sys.executable, "-m", "nscmdp", "describe", "meny"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("nscmdp: unknown environment or algorithm 'meny'")


def test_an_unknown_command_suggests_the_nearest(capsys):
    with pytest.raises(SystemExit, match="2"):
        cli.main(["rum"])
    said = capsys.readouterr().err
    assert "unknown command 'rum', did you mean run? (expected one of list, " in said


def test_help_loads_nothing_heavy():
    command = [sys.executable, "-X", "importtime", "-m", "nscmdp", "--help"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    loaded = {line.rpartition("|")[2].strip() for line in told.splitlines()}
    assert {"numpy", "pandas", "numba", "pydantic", "yaml", "inspect"} & loaded == set()


def test_a_reader_that_has_had_enough_is_no_error():
    command = f"{sys.executable} -m nscmdp list | true"
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("command", "shown"),
    [("tasty", ""), ("describe", " describe"), ("describe menu --episodes x", " describe")],
)
def test_a_command_that_cannot_be_read_ends_with_its_usage(capsys, command, shown):
    with pytest.raises(SystemExit, match="2"):
        cli.main(command.split())
    assert f"usage: nscmdp{shown} " in capsys.readouterr().err


def test_a_mistake_of_ours_is_not_hidden(monkeypatch):
    def fail(*_, **__):
        raise KeyError("internal")

    monkeypatch.setattr(environments, "make", fail)
    with pytest.raises(KeyError, match="internal"):
        cli.main(["describe", "menu"])
