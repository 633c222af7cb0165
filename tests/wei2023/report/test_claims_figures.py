"""Pictures of what contradicts the paper's text, from rows of the checks; and how loose its proofs are."""

import json
from functools import cache
from importlib import import_module

import numpy as np
import pytest

from wei2023.proofs import plain
from wei2023.proofs.findings import CHECKS, VERDICTS, Given
from wei2023.report import style
from wei2023.report.figures import claims
from wei2023.report.results import Results
from wei2023.study.catalogue import DRAWN

GIVEN = Given(problems=4, samples=20)


def panels_of(group):
    return claims.PANELS[group]


@pytest.fixture(name="found", scope="module")
def _found():
    return checked()


@cache
def checked():
    """By group and claim: what the checks that are drawn find."""
    for group in DRAWN:
        import_module(f"wei2023.proofs.{group}")
    return {
        group: {claim: plain(CHECKS[claim](GIVEN)) for claim in panels_of(group)} for group in DRAWN
    }


def results(folder, found, **changes):
    (folder / "claims").mkdir(exist_ok=True)
    for group, claims_ in found.items():
        written = {claim: {**one, **changes} for claim, one in claims_.items()}
        (folder / f"claims/{group}.json").write_text(json.dumps(written), encoding="utf-8")
    return Results(folder, {"claims": list(found)})


def panels(folder, found, group, **changes):
    """By claim."""
    figure = getattr(claims, f"claims_{group}")(results(folder, found, **changes))
    return {ax.get_title(loc="left").split(":")[0]: ax for ax in figure.axes}


def points(ax):
    return {
        tuple(map(float, point))
        for line in ax.lines
        for point in zip(*line.get_data(), strict=True)
    }


@pytest.mark.parametrize("group", DRAWN)
def test_every_claim_has_a_panel_that_says_its_verdict_in_its_colour(tmp_path, found, group):
    drawn = panels(tmp_path, found, group)
    assert list(drawn) == list(panels_of(group))
    for claim, ax in drawn.items():
        (said,) = [text for text in ax.texts if text.get_gid() == "verdict"]
        verdict = found[group][claim]["verdict"]
        assert (said.get_text(), said.get_color()) == (verdict, claims.COLOURS[verdict])
        assert ax.lines or ax.patches or ax.collections


def test_every_verdict_has_a_colour():
    assert {*claims.COLOURS} == {*VERDICTS}


@pytest.mark.parametrize("group", DRAWN)
def test_a_panel_without_rows_says_so(tmp_path, found, group):
    for ax in panels(tmp_path, found, group, rows=[]).values():
        assert "Nothing was measured." in [text.get_text() for text in ax.texts]


def test_what_is_drawn_is_what_the_checks_found(tmp_path, found):
    linear, theorems = panels(tmp_path, found, "linear"), panels(tmp_path, found, "theorems")
    copied = {(row["c"], row["violation"]) for row in found["linear"]["C15f"]["rows"]}
    assert copied <= points(linear["C15f"])
    powers = [row["power"] for row in found["linear"]["C16"]["rows"]]
    assert [bar.get_width() for bar in linear["C16"].patches] == pytest.approx(powers)
    proved = [row for row in found["theorems"]["C12"]["rows"] if row["simulated"] is None]
    assert {(row["log10_K"], row["at_least"]) for row in proved} <= points(theorems["C12"])
    dots = np.asarray(theorems["C22"].collections[-1].get_offsets())
    assert dots[:, 0] == pytest.approx(
        [row["least_over_B"] for row in found["theorems"]["C22"]["rows"]]
    )


def test_the_same_rows_give_the_same_bytes(tmp_path, found):
    given = results(tmp_path, found)
    for name in (*(f"claims_{group}" for group in DRAWN), "looseness"):
        for stem in ("first", "second"):
            style.save(
                getattr(claims, name)(given),
                *(tmp_path / f"{stem}.{kind}" for kind in ("svg", "png")),
            )
        for kind in ("svg", "png"):
            assert (tmp_path / f"first.{kind}").read_bytes() == (
                tmp_path / f"second.{kind}"
            ).read_bytes()


def test_looseness_sorts_the_steps_and_leaves_hollow_what_needed_nothing(tmp_path, found):
    says = {"where": "Lemma 1", "claimed": 100.0}
    steps = [
        {"says": "endless", **says, "measured": 0.0, "looseness": None},
        {"says": "loose", **says, "measured": 1.0, "looseness": 2.0},
        {"says": "tight", **says, "measured": 100.0, "looseness": 0.0},
    ]
    (ax,) = claims.looseness(results(tmp_path, found, inequalities=steps)).axes
    each = sum(map(len, found.values()))
    lengths = [bar.get_width() for bar in ax.patches]
    assert lengths[: 2 * each] == [0.0] * each + [2.0] * each
    assert min(lengths[2 * each :]) > 2
    assert [bar.get_facecolor()[3] for bar in ax.patches] == [1.0] * (2 * each) + [0.0] * each
    words = [text.get_text() for text in ax.texts]
    assert "100 allowed, 1 needed" in words
    assert "nothing was needed" in words


def test_looseness_without_steps_says_so(tmp_path, found):
    (ax,) = claims.looseness(results(tmp_path, found, inequalities=[])).axes
    assert [text.get_text() for text in ax.texts] == ["No inequality was measured."]
