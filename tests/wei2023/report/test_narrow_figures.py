"""The narrow form of every figure can be read on a small screen."""

import itertools
from importlib import import_module
from xml.etree import ElementTree

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
import test_claims_figures as proofs
import test_figures as studies
import test_suite_section as suites
import test_tuning_figures as searches
from matplotlib.text import Text

from wei2023.report import forms
from wei2023.report.results import Results
from wei2023.study import catalogue, layout

PHONE = 340  # pixels
STEP = {
    "says": "a long inequality " * 5,
    "where": "Lemma 1",
    "claimed": 2.0,
    "measured": 1.0,
    "looseness": 0.3,
}


def grown(folder):
    return studies.grown(
        folder, studies.instances([64, 128]), traces=["double_restart_triple_q.tuned"]
    )


def assumed(folder):
    studies.draw_assumed(folder, [(1.0, "all"), (0.1, "all"), (0.5, "frame")])
    return Results(folder, {"assumed_budget": ["assumed"]})


def linear(folder):
    learners = {"lsvi_primal_dual.scaled": studies.learner("lsvi_primal_dual", "scaled", cost=3.0)}
    studies.experiment(
        folder, "linear", learners, [studies.case(K) for K in (64, 128)], traces=[*learners]
    )
    return Results(folder, {"linear": ["linear"]})


DRAWABLE = {
    "grid_world": studies.simulated,
    "eta": studies.etas,
    "frames": studies.lengths,
    "margins": studies.answered,
    **dict.fromkeys(("efforts", "fronts"), searches.results),
    **dict.fromkeys(("growth", "arms"), grown),
    "assumed_budget": assumed,
    **dict.fromkeys(("linear", "linear_arms"), linear),
    "suite": suites.results,
    "looseness": lambda folder: proofs.results(folder, proofs.checked(), inequalities=[STEP]),
    **{
        f"claims_{name}": lambda folder: proofs.results(folder, proofs.checked())
        for name in catalogue.DRAWN
    },
    "environments": lambda folder: Results(folder, shown=studies.SHOWN),
}


def draw(results, name):
    return getattr(import_module(f"wei2023.report.figures.{catalogue.find(name)[0]}"), name)(
        results
    )


def stacked(folder, name):
    results = DRAWABLE[name](folder)
    with forms.narrow():
        figure = forms.finish(draw(results, name))
        figure.draw_without_rendering()
    return figure


def panels(figure):
    return [ax for ax in figure.axes if ax.get_subplotspec() and ax.get_visible()]


def words(figure):
    return [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]


def test_every_figure_of_the_catalogue_is_tried():
    assert set(DRAWABLE) == {
        figure.name for notebook in catalogue.NOTEBOOKS for figure in notebook.figures
    }


@pytest.mark.parametrize("name", DRAWABLE)
def test_panels_stand_in_one_column_and_no_label_is_cut_or_small(tmp_path, name):
    figure = stacked(tmp_path, name)
    assert figure.get_figwidth() == forms.WIDTH
    boxes = [ax.get_tightbbox() for ax in panels(figure)]
    for upper, lower in itertools.pairwise(boxes):
        assert lower.y1 <= upper.y0
    for box in [*boxes, *(key.get_window_extent() for key in figure.legends)]:
        assert box.x0 >= 0
        assert box.x1 <= figure.bbox.width
        assert box.y0 >= 0
        assert box.y1 <= figure.bbox.height
    smallest = min(text.get_fontsize() for text in words(figure))
    assert smallest * PHONE / (72 * forms.WIDTH) >= 11


@pytest.mark.parametrize(
    "name", ["grid_world", "eta", "margins", "growth", "environments", "linear"]
)
def test_every_panel_has_its_own_labels(tmp_path, name):
    for ax in panels(stacked(tmp_path, name)):
        if ax.axison:
            assert ax.get_xlabel()
            assert ax.get_ylabel() or name == "margins"
            assert ax.get_title("left") or name in ("linear", "eta", "frames")


def test_keys_leave_the_panels(tmp_path):
    for ax in panels(stacked(tmp_path, "claims_theorems")):
        if key := ax.get_legend():
            assert key.get_window_extent().y1 <= ax.xaxis.get_tightbbox().y0


def test_verdicts_stand_at_the_edge_below_titles(tmp_path):
    results = proofs.results(tmp_path, proofs.checked())
    with forms.narrow():
        figure = forms.finish(draw(results, "claims_linear"))
    for ax in panels(figure):
        (verdict,) = [text for text in ax.texts if text.get_gid() == "verdict"]
        (title,) = [text for text in words(figure) if text.get_text() == ax.get_title("left")]
        assert verdict.get_window_extent().x0 == pytest.approx(title.get_window_extent().x0, abs=2)
        assert verdict.get_window_extent().y1 < title.get_window_extent().y0 + 2
        assert "\n" not in verdict.get_text()


def test_formulas_are_not_broken():
    figure, ax = plt.subplots(figsize=(3, 1))
    text = ax.set_title(r"a title with $R(K) = \tilde O(B^{1/3} K^{4/5})$ and more words behind it")
    with forms.narrow():
        forms.finish(figure)
    (title,) = [one.get_text() for one in words(figure) if "title" in one.get_text()]
    assert r"$R(K) = \tilde O(B^{1/3} K^{4/5})$" in title
    assert title.count("\n") == 1
    assert (
        title.replace("\n", " ")
        == r"a title with $R(K) = \tilde O(B^{1/3} K^{4/5})$ and more words behind it"
    )
    assert text.get_text() == ""  # it begins at the edge


def test_the_narrow_form_ends_with_its_block(tmp_path):
    results = DRAWABLE["assumed_budget"](tmp_path)
    before, size = dict(mpl.rcParams), draw(results, "assumed_budget").get_size_inches()
    with forms.narrow():
        assert forms.is_narrow()
        assert mpl.rcParams["font.size"] == forms.SMALLEST
    assert not forms.is_narrow()
    assert dict(mpl.rcParams) == before
    np.testing.assert_array_equal(
        forms.finish(draw(results, "assumed_budget")).get_size_inches(), size
    )


def test_all_forms_are_kept_on_a_white_ground(tmp_path):
    DRAWABLE["assumed_budget"](tmp_path).figure("assumed_budget")
    for form in ("svg", "narrow.svg"):
        root = ElementTree.parse(tmp_path / layout.figure("assumed_budget", form)).getroot()
        ground = root.find("{http://www.w3.org/2000/svg}path")
        sheet = next(root.iter("{http://www.w3.org/2000/svg}style")).text
        assert f".{ground.get('class')}{{fill: #ffffff}}" in sheet
    assert (tmp_path / layout.figure("assumed_budget", "png")).stat().st_size > 0
