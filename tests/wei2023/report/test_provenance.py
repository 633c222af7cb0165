"""Everything that the page shows says where it comes from."""

import re

import pytest
import yaml

import nscmdp
from nscmdp.kernels import sources
from small_project import ROOT, TINY
from wei2023.report.page import provenance, render
from wei2023.runs import specifications
from wei2023.study import catalogue, layout
from wei2023.study import plan as planning


@pytest.fixture(scope="module")
def full():
    return planning.load(ROOT / "config.yaml")


@pytest.fixture(scope="module")
def shown(full):
    return provenance.context(full, ROOT / "nothing is read here")


def test_every_figure_names_its_notebook_and_its_data(full, shown):
    drawn = [(one.name, name) for name, figures in full.notebooks.items() for one in figures]
    assert [(one["name"], one["notebook"]) for one in shown["figures"]] == drawn
    for one in shown["figures"]:
        read = [
            *one["files"],
            *(table for name in one["experiments"] for table in full.tables(name)),
        ]
        assert read
        assert {*read} <= {*full.read_by(one["notebook"])}


def test_together_the_figures_of_a_notebook_show_all_that_it_reads(full, shown):
    for notebook in full.notebooks:
        mine = [one for one in shown["figures"] if one["notebook"] == notebook]
        read = {file for one in mine for file in one["files"]}
        read |= {
            table for one in mine for name in one["experiments"] for table in full.tables(name)
        }
        assert read == {*full.read_by(notebook)}


def test_every_table_says_what_it_holds(full, shown):
    assert {one["file"] for one in shown["tables"]} == {*full.judged()}
    assert {*catalogue.EXPERIMENT} == {*layout.TABLES}
    assert {*catalogue.WATCHED} == {*layout.LEARNING}
    (one,) = [one for one in shown["experiments"] if one["name"] == "protocols_80000"]
    assert {*one["files"]} == {*full.tables("protocols_80000"), *full.learning("protocols_80000")}
    assert full.learning("growth") == []


def test_experiments_are_told_in_words(shown):
    (one,) = [one for one in shown["experiments"] if one["name"] == "protocols_80000"]
    assert one["environment"] == "grid_world, map 18x18, horizon 25, limit 5.0"
    assert (one["episodes"], one["seeds"]) == ("80,000", "4 seeds, 1000-1003")
    assert (
        one["learners"][0] == "Algorithm 1: Non-stationary Triple-Q (literal, 2 authors, 3 tuned)"
    )


def test_the_hash_of_a_learner_is_the_one_in_its_result_files(full, shown):
    spec = specifications.simulation(full, "protocols_80000", "triple_q.authors")
    assert dict(shown["sources"])["Triple-Q (stationary)"] == spec["sources"]["triple_q"]
    assert shown["version"] == nscmdp.__version__
    assert re.fullmatch(r"[0-9a-f]{16}", sources.digest("nscmdp.simulate"))


def test_versions_are_those_of_the_lock(shown, monkeypatch, tmp_path):
    lock = (ROOT / "requirements.lock").read_text()
    assert {"numpy", "snakemake"} <= {name for name, _, _ in shown["dependencies"]}
    for name, version, where in shown["dependencies"]:
        assert f"{name}=={version}" + (f" ; {where}" if where else "") in lock
    monkeypatch.chdir(tmp_path)
    assert provenance.context(planning.make(TINY), tmp_path)["dependencies"] == []


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
