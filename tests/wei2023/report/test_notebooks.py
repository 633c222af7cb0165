"""Notebooks ask, and the package draws."""

import re
from importlib import import_module
from inspect import signature
from pathlib import Path

import matplotlib.pyplot as plt
import nbformat
import pytest

from wei2023.report import notebooks
from wei2023.report.results import Results
from wei2023.study import catalogue, plan

ROOT = Path(__file__).parents[3]
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
    module = import_module(f"wei2023.report.figures.{name}")
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


def page_of(tmp_path, *cells):
    file = tmp_path / "a_notebook.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=list(cells)), file)
    notebooks.render(file, tmp_path / "a_notebook.html")
    return (tmp_path / "a_notebook.html").read_text()


def test_formulas_of_a_notebook_are_typeset_and_code_is_not(tmp_path):
    output = nbformat.v4.new_output("execute_result", data={"text/markdown": r"so $\tilde b$"})
    page = page_of(
        tmp_path,
        nbformat.v4.new_markdown_cell("Here $\\lambda^*_k < 1$, `$PATH$`, and\n\n$$\\sum_k x_k$$"),
        nbformat.v4.new_code_cell("1", outputs=[output]),
    )
    body = page.split("<body")[1]
    assert body.count("<math") == 3
    assert body.count('display="block"') == 1
    assert "<code>$PATH$</code>" in body
    assert "$" not in re.sub(r'alttext="[^"]*"|<code>.*?</code>', "", body)


def test_the_page_of_a_notebook_needs_no_network_and_leads_back(tmp_path):
    page = page_of(tmp_path, nbformat.v4.new_markdown_cell("Words alone."))
    assert not re.search(r"<(script|link|img)[^>]+(src|href)=.?https?:", page)
    assert "<script" not in page
    assert '<html lang="en">' in page
    assert 'name="viewport"' in page
    assert "<title>a notebook</title>" in page
    assert '<a href="../index.html">' in page


def test_a_formula_that_cannot_be_typeset_is_named_with_its_notebook(tmp_path):
    with pytest.raises(ValueError, match=r"a_notebook\.ipynb: the formula .*nonsense"):
        page_of(tmp_path, nbformat.v4.new_markdown_cell(r"$\nonsense$"))


def test_a_figure_in_a_notebook_has_its_caption_as_alternative_text(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "wei2023.report.figures.environments.environments", lambda results: plt.figure()
    )
    image = Results(tmp_path, shown=["one"]).figure("environments")
    assert image.alt == catalogue.find("environments")[1].caption
