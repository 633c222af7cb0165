"""Everything that the page shows says where it comes from."""

import pytest
import yaml

from small_project import ROOT, TINY
from wei2023.report import render
from wei2023.report.page import provenance
from wei2023.report.tables import html, linked
from wei2023.runs import specifications
from wei2023.study import layout
from wei2023.study import plan as planning


@pytest.fixture(scope="module")
def full():
    return planning.load(ROOT / "config.yaml")


@pytest.fixture(scope="module")
def shown(full):
    context = provenance.context(full, ROOT / "nothing is read here")
    return {one.title: one.rows for one in context["tables"]}


def test_every_figure_names_its_notebook_and_its_data(full, shown):
    """Together the figures of a notebook show all that it reads."""
    drawn = [(one.name, name) for name, figures in full.notebooks.items() for one in figures]
    rows = shown["Where every figure comes from"]
    assert [(html(figure).striptags(), notebook) for figure, notebook, _ in rows] == [
        (figure, linked(layout.notebook(name, "html"), name)) for figure, name in drawn
    ]
    read = {name: set() for name in full.notebooks}
    for (_, notebook), (_, _, data) in zip(drawn, rows, strict=True):
        names = html(data).striptags().split(", ")
        assert names != [""]
        for name in names:
            read[notebook] |= {*full.tables(name)} if name in full.experiments else {name}
    assert read == {name: {*full.read_by(name)} for name in full.notebooks}


def test_every_table_says_what_it_holds(full, shown):
    files = {html(row[0]).striptags() for row in shown["Where every table comes from"]}
    of_each = {f"tables/EXPERIMENT/{name}" for name in (*layout.TABLES, *layout.LEARNING)}
    assert files == {*full.judged()} | of_each


def test_experiments_are_told_in_words(full, shown):
    (one,) = [row for row in shown["Experiments"] if row[0] == r"protocols\_80000"]
    learners = "Algorithm 1: Non-stationary Triple-Q (literal, 2 authors, 3 tuned); "
    assert html(one[2]).startswith("grid_world, map 18x18, horizon 25, limit 5.0")
    assert one[3:5] == ["80,000", "4 seeds, 1000-1003"]
    assert one[5].startswith(learners)
    files = [*full.tables("protocols_80000"), *full.learning("protocols_80000")]
    assert all(f"]({file})" in one[6] for file in files)


def test_the_hash_of_a_learner_is_the_one_in_its_result_files(full, shown):
    spec = specifications.simulation(full, "protocols_80000", "triple_q.authors")
    hashes = dict(shown["Sources of learners"])
    assert hashes["Triple-Q (stationary)"] == f"`{spec['sources']['triple_q']}`"


def test_versions_are_those_of_the_lock(shown, monkeypatch, tmp_path):
    lock = (ROOT / "requirements.lock").read_text()
    rows = shown["Locked versions"]
    assert {"numpy", "snakemake"} <= {name for name, _, _ in rows}
    for name, version, where in rows:
        marker = f" ; {html(where).unescape()}" if where else ""
        assert f"{name}=={version}{marker}" in lock
    monkeypatch.chdir(tmp_path)
    titles = {one.title for one in provenance.context(planning.make(TINY), tmp_path)["tables"]}
    assert "Locked versions" not in titles


def test_the_same_configuration_elsewhere_gives_the_same_text():
    def text(**changed):
        plan = planning.make(TINY | changed)
        return (
            render.environment()
            .get_template("provenance.html.j2")
            .render(provenance=provenance.context(plan, ROOT))
        )

    assert text(results="elsewhere", batch=5) == text()


def test_hostile_options_stay_text(tmp_path):
    experiment = TINY["experiments"][0] | {
        "environment": {"name": "arrays", "file": "<script>'\".npz"}
    }
    shown = provenance.context(_without_making(TINY | {"experiments": [experiment]}), tmp_path)
    text = render.environment().get_template("provenance.html.j2").render(provenance=shown)
    assert "<script" not in text
    assert "&lt;script&gt;&#39;&#34;.npz" in text


def _without_making(raw):
    """A plan whose environments are not there."""
    return planning.make(yaml.safe_load(yaml.safe_dump(raw)))
