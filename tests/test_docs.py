"""What docs/ show can be typed as it stands, block after block, and gives the numbers that they say."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest

from nscmdp import environments
from nscmdp.environments import arrays

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/environments.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)


@pytest.fixture(scope="module")
def typed(tmp_path_factory):
    """The names after all blocks; every expression that stands by itself with the number in the comment beside it."""
    names, shown = {}, []
    folder = tmp_path_factory.mktemp("typed")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for block in BLOCKS:
            for node in ast.parse(block).body:
                source = (
                    ast.Module([node], [])
                    if not isinstance(node, ast.Expr)
                    else ast.Expression(node.value)
                )
                result = eval(
                    compile(
                        source, "environments.md", "eval" if isinstance(node, ast.Expr) else "exec"
                    ),
                    names,
                )
                comment = block.splitlines()[node.end_lineno - 1].partition("# ")[2]
                if isinstance(node, ast.Expr):
                    shown.append((result, comment))
    return names, shown, folder


def test_every_number_that_it_says_is_found(typed):
    said = [(result, re.match(r"[\d.]*\d", comment)) for result, comment in typed[1]]
    checked = [(result, said.group()) for result, said in said if said]
    assert len(checked) >= 4
    for result, number in checked:
        decimals = len(number.partition(".")[2])
        assert float(number) == pytest.approx(result, abs=0.51 * 10**-decimals)


def test_the_file_that_it_writes_is_the_example_of_the_package(typed):
    shipped = environments.make("arrays", 100)
    for file in ("machine.npz", "same.npz"):
        written = environments.make("arrays", 100, file=str(typed[2] / file))
        for k in (1, 30, 100):
            for name in ("P", "r", "g", "mu0", "rho"):
                np.testing.assert_array_equal(
                    getattr(written.at(k), name), getattr(shipped.at(k), name)
                )
    assert arrays.read(typed[2] / "machine.npz").keys() == arrays.read(arrays.EXAMPLE).keys()


def test_it_names_every_environment_that_gymnasium_can_make():
    for name in environments.OWN:
        assert f"`{name.title().replace('_', '')}-v0`" in PAGE


def test_the_files_that_it_names_are_there():
    assert [
        name for name in re.findall(r"`(src/[\w./]*)`", PAGE) if not (ROOT / name).exists()
    ] == []


def test_the_plain_learner_of_the_guide_runs_as_printed():
    """The plug-in beside it is run by its commands: tests/test_documented_commands.py."""
    guide = (ROOT / "docs/extending.md").read_text(encoding="utf-8")
    (block,) = [
        one
        for one in re.findall(r"```python\n(.*?)```", guide, flags=re.DOTALL)
        if not one.startswith("# ")
    ]
    names = {}
    exec(block, names)
    assert names["run"].exact
    assert len(names["run"].regret) == 200
    assert names["run"].gap[-1] > 0


def test_the_tutorial_runs_and_is_stored_without_outputs(monkeypatch):
    import matplotlib.pyplot as plt
    import nbformat

    monkeypatch.setattr(plt, "show", lambda: plt.close("all"))
    notebook = nbformat.read(ROOT / "docs/tutorial.ipynb", as_version=4)
    names = {}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert not cell.outputs
            exec(cell.source, names)
    assert names["mine"].exact
    assert names["paper"].gap[-1] > 0
