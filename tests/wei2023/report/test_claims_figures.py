"""Pictures of what contradicts the paper's text, from rows of the checks; and how loose its proofs are."""

import json

import numpy as np
import pytest

from wei2023.proofs import findings
from wei2023.report.figures import claims
from wei2023.report.results import Results
from wei2023.study.catalogue import DRAWN


def rows(names, *values):
    return [dict(zip(names.split(), row, strict=True)) for row in values]


SIMULATED, PROVED = (4.77, 1.16, 0.15, False), (37.5, None, 0.07, True)
ROWS = {  # as the checks write them
    "C12": rows("log10_K simulated at_least admitted", SIMULATED, PROVED, (40.0, None, 0.4, True)),
    "C22": rows("environment least_over_B limit_over_B", ("menu", 1.4, 100.0), ("map", 1e8, 26.0)),
    "C13": rows(
        "example half how log10_K share",
        ("as in Theorem 2", "utility", "at least", 5, 0.02),
        ("as in Theorem 2", "utility", "at least", 9, 2.0),
        ("as in Theorem 2", "utility", "simulated", 5, 0.03),
    ),
    "C15f": rows("c violation claimed", (4, 0.125, 0.0), (100, 0.005, 0.0)),
    "C16": rows("what power", ("claimed, S ~ K^2", 0.75), ("of any learner", 1.0)),
    "C29": rows(
        "reading c share",
        *(("spectral", 1, 0.18), ("spectral", 10, 1.8), ("mass", 1, 0.5), ("mass", 10, 5.0)),
    ),
}


def results(folder, **changes):
    """What the checks of the groups that are drawn found."""
    (folder / "claims").mkdir(exist_ok=True)
    for group in DRAWN:
        found = {
            claim: {"verdict": findings.FALSE, "rows": ROWS[claim], "inequalities": []} | changes
            for claim in claims.PANELS[group]
        }
        (folder / f"claims/{group}.json").write_text(json.dumps(found), encoding="utf-8")
    return Results(folder, {"claims": list(DRAWN)})


def panels(folder, **changes):
    """All panels, by claim."""
    given = results(folder, **changes)
    figures = [getattr(claims, f"claims_{group}")(given) for group in DRAWN]
    axes = [ax for figure in figures for ax in figure.axes]
    return {ax.get_title(loc="left").split(":")[0]: ax for ax in axes}


def test_every_claim_has_a_panel_that_draws_its_rows_and_says_its_verdict_in_its_colour(tmp_path):
    drawn = panels(tmp_path)
    assert {*drawn} == {*ROWS}
    for ax in drawn.values():
        (said,) = [text for text in ax.texts if text.get_gid() == "verdict"]
        assert (said.get_text(), said.get_color()) == ("false", claims.COLOURS["false"])
    points = {
        claim: {tuple(point) for line in ax.lines for point in zip(*line.get_data(), strict=True)}
        for claim, ax in drawn.items()
    }
    assert {(37.5, 0.07), (40.0, 0.4), (4.77, 1.16)} <= points["C12"]
    assert {(5, 0.02), (9, 2.0), (5, 0.03)} == points["C13"]
    assert {(4, 0.125), (100, 0.005)} == points["C15f"]
    assert {(1, 0.18), (10, 1.8), (1, 0.5), (10, 5.0)} == points["C29"]
    assert [bar.get_width() for bar in drawn["C16"].patches] == [0.75, 1.0]
    assert np.asarray(drawn["C22"].collections[-1].get_offsets())[:, 0].tolist() == [1.4, 1e8]


def test_every_verdict_has_a_colour():
    assert {*claims.COLOURS} == {*findings.VERDICTS}


def test_a_panel_without_rows_says_so(tmp_path):
    for ax in panels(tmp_path, rows=[]).values():
        assert "Nothing was measured." in [text.get_text() for text in ax.texts]


def test_looseness_sorts_the_steps_and_leaves_hollow_what_needed_nothing(tmp_path):
    steps = rows(
        "says claimed measured looseness",
        ("endless", 100.0, 0.0, None),
        ("loose", 100.0, 1.0, 2.0),
        ("tight", 100.0, 100.0, 0.0),
    )
    (ax,) = claims.looseness(results(tmp_path, inequalities=steps)).axes
    each = len(ROWS)
    lengths = [bar.get_width() for bar in ax.patches]
    assert lengths == [0.0] * each + [2.0] * each + [pytest.approx(2.6)] * each
    assert [bar.get_facecolor()[3] for bar in ax.patches] == [1.0] * (2 * each) + [0.0] * each
    words = [text.get_text() for text in ax.texts]
    assert words[each] == "100 allowed, 1 needed"
    assert words[-1] == "nothing was needed"


def test_looseness_without_steps_says_so(tmp_path):
    (ax,) = claims.looseness(results(tmp_path)).axes
    assert [text.get_text() for text in ax.texts] == ["No inequality was measured."]
