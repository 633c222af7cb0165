"""What the README shows can be typed as it stands."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest

from nscmdp import algorithms, environments

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
FEWER = 400  # in place of the episodes that are printed


def shorter(block):
    """The block with fewer episodes; each expression that stands by itself is kept in ``shown``."""
    tree = ast.parse(block)
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "episodes":
            node.value = ast.Constant(FEWER)
    for i, node in enumerate(tree.body):
        if isinstance(node, ast.Expr):
            call = ast.Call(
                ast.Attribute(ast.Name("shown", ast.Load()), "append", ast.Load()), [node.value], []
            )
            tree.body[i] = ast.Expr(call)
    return compile(ast.fix_missing_locations(tree), "README.md", "exec")


def test_there_is_python_in_it():
    assert BLOCKS


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_python_runs_and_shows_numbers(number):
    names = {"shown": []}
    exec(shorter(BLOCKS[number]), names)
    shown = [
        value for one in names["shown"] for value in (one if isinstance(one, tuple) else (one,))
    ]
    assert shown
    for value in shown:
        assert isinstance(value, float | np.floating), value
        assert np.isfinite(value)


def test_its_tables_name_every_algorithm_and_environment():
    for name in (*algorithms.OWN, *environments.OWN):
        assert f"`{name}`" in README


def test_the_files_and_folders_that_it_names_are_there():
    named = set(re.findall(r"`((?:src|docs|workflow|notebooks)/[\w./]*)`", README))
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []
