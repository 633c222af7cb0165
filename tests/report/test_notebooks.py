"""Notebooks ask, and the package draws."""

import re
from importlib import import_module
from inspect import signature
from pathlib import Path

import nbformat
import pytest

from nscmdp.study import catalogue, plan

ROOT = Path(__file__).parents[2]
NAMES = [notebook.name for notebook in catalogue.NOTEBOOKS]


def code_of(name):
    notebook = nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4)
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def is_parameters(cell):
    return "parameters" in cell.metadata.get("tags", [])


def test_there_is_a_notebook_for_each_of_the_catalogue():
    assert {file.stem for file in (ROOT / "notebooks").glob("*.ipynb")} == {*NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_asks_for_its_figures_and_each_has_its_function(name):
    source = "\n".join(cell.source for cell in code_of(name))
    (notebook,) = [one for one in catalogue.NOTEBOOKS if one.name == name]
    figures = [figure.name for figure in notebook.figures]
    assert re.findall(r'results\.figure\("(\w+)"', source) == figures
    module = import_module(f"nscmdp.report.figures.{name}")
    for function in [*figures, *re.findall(rf"^{name}\.(\w+)\(results\)$", source, re.M)]:
        assert list(signature(getattr(module, function)).parameters) == ["results"]


@pytest.mark.parametrize("name", NAMES)
def test_no_code_stands_before_a_figure_but_calls(name):
    for cell in code_of(name):
        assert len(cell.source.splitlines()) <= 4 or is_parameters(cell), cell.source
        assert "import matplotlib" not in cell.source


@pytest.mark.parametrize("name", NAMES)
def test_the_parameters_are_those_of_the_configuration(name):
    (cell,) = [cell for cell in code_of(name) if is_parameters(cell)]
    given: dict = {}
    exec(cell.source, given)
    planned = plan.load(ROOT / "config.yaml").parameters(name)
    assert {key: given[key] for key in planned if key != "folder"} == {
        k: v for k, v in planned.items() if k != "folder"
    }
    assert {*given} - {"__builtins__"} == {*planned}
    assert [*given.get("roles", {})] == [*planned.get("roles", {})]
    assert given["folder"] == "../results"
