"""Pictures of the claims on learning rates, optimism and the queue, from rows of known content."""

import json

import numpy as np
import pytest

from nscmdp.report import style
from nscmdp.report.figures import claims
from nscmdp.report.figures.claims.data import COLOURS, tens
from nscmdp.report.results import Results

VERSION = "Lemma 8, 2 H^3 b~"
LEARNING_RATES = {
    "C1": [{"chi": 10.0, "t": t, "c": 1.0 + 0.1 * t, "c_limit": 1.3, "e": 1 - 0.1 * t} for t in (1, 2, 3)],
    "C3": [
        {"K": K, "H": H, "difference": H - 1.0, "bound": H * b}
        for K, b in ((32.0, 0.25), (1e5, 0.01)) for H in (1, 2)
    ],
    "C3'": [
        {"moved": 0.3, "bound": 0.3, "sharper": 0.3, "of_sharper": 1.0},
        {"moved": 0.1, "bound": 4.0, "sharper": 0.5, "of_sharper": 0.2},
    ],
    "C7": [
        {"problem": n, "H": 2, "delta": 0.5, "eps": share / 2, "loss": price * share, "bound": 2 * share}
        for n, price in enumerate((2.0, 0.5)) for share in (0.5, 1.0)
    ],
}  # fmt: skip
RANGE = {"bound": 10.0, "bound_of_step": 5.0, "bound_in_lemma_8": 8.0, "most": 4.0}
OPTIMISM = {
    "C2": [{"problem": "ladder 1", "largest": 4.0, **RANGE}, {"problem": "random 0", "largest": 2.0, **RANGE}],
    "C4": [
        *({"part": "constant", "K": 100, "t": t, "claimed": 8.0, "azuma": 8.8, "hoeffding": 4.0, "exact": float(t)}
          for t in (1, 2)),
        {"part": "union", "K": 10.0, "log_failure": -20.0, "allowed": -3.0},
    ],
    "C5": [
        *({"part": "factor", "bonus": s, "btilde": b, "least": 10 * s - 0.5 + b}
          for s in (0.0, 1.0) for b in (1.0, 0.0)),
        *({"part": "drift", "H": H, "needed": H / 2, "allowed": 2.0 * H} for H in (1, 2)),
        {"part": "sum", "B": 2.0, "sum": -70.0, "printed": 0.5},
        {"part": "sum", "B": 1.0, "sum": -90.0, "printed": 0.1},
    ],
    "C6": [
        {"part": "run", "version": VERSION, "H": 2.0, "ratio": 0.1},
        {"part": "recursion", "version": VERSION, "H": 10.0, "ratio": 0.4},
        {"part": "display", "version": "half the square root", "K": 100, "ratio": 6.0},
    ],
}  # fmt: skip
QUEUE = {
    "C8": [
        {"version": "Lemma 10", "D": 36.9, "needed": -1.1, "times_largest_btilde": 3.9, "holds": True},
        {"version": "appendix E.1", "D": 30.0, "needed": -1.1, "times_largest_btilde": None, "holds": True},
    ],
    "C9": [{"z": z, "drift": -z, "high": 1 - z, "bound": 24 - z / 5} for z in (10.0, 0.0, 1.0)],
    "C10": [
        {"setting": name, "T": T, "applies": applies, "Z": Z, "high": Z, "Section 5.2": 200.0, "Lemma 11": 300.0}
        for name, applies in (("scaled", True), ("printed", False)) for T, Z in ((1, 0.0), (2, 0.5), (3, 0.75))
    ],
    "C11": [
        {"part": "path", "reading": "theta_t falls", "gamma": 1.0, "share": 1.2},
        {"part": "path", "reading": "gamma is above v", "gamma": 100.0, "share": 7.5},
        *({"part": "walk", "gamma": gamma, "theta": theta, "start": start, "share": gamma / (1 + theta)}
        for gamma in (1.0, 0.1) for theta in (1.0, 2.5) for start in (0, 5)),
    ],
}  # fmt: skip
GROUPS = {"learning_rates": LEARNING_RATES, "optimism": OPTIMISM, "queue": QUEUE}


def results(folder, verdict="holds", change=lambda rows: rows, steps=()):
    """What checks with these rows have written."""
    (folder / "claims").mkdir()
    for group, rows in GROUPS.items():
        found = {
            claim: {"verdict": verdict, "rows": change(mine), "inequalities": list(steps)}
            for claim, mine in rows.items()
        }
        (folder / f"claims/{group}.json").write_text(json.dumps(found), encoding="utf-8")
    return Results(folder, {"claims": list(GROUPS)})


def panels(folder, group, **given):
    """By claim."""
    figure = getattr(claims, f"claims_{group}")(results(folder, **given))
    return {ax.get_title(loc="left").split(":")[0]: ax for ax in figure.axes}


def drawn(ax):
    """What lines go through."""
    return [tuple(zip(*line.get_data(), strict=True)) for line in ax.lines]


def dots(ax):
    return sorted(tuple(map(float, point)) for group in ax.collections for point in np.asarray(group.get_offsets()))


def words(ax):
    return [text.get_text() for text in ax.texts]


def across(ax):
    """Heights of lines that go from edge to edge."""
    return [
        line.get_ydata()[0] for line in ax.lines if list(line.get_xdata()) == [0, 1] and len({*line.get_ydata()}) == 1
    ]


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("verdict", ["holds", "false as printed"])
def test_every_claim_has_a_panel_that_says_its_verdict_in_its_colour(tmp_path, group, verdict):
    found = panels(tmp_path, group, verdict=verdict)
    assert list(found) == list(GROUPS[group])
    for ax in found.values():
        (said,) = [text for text in ax.texts if text.get_gid() == "verdict"]
        assert (said.get_text(), said.get_color()) == (verdict, COLOURS[verdict])


@pytest.mark.parametrize("group", GROUPS)
def test_a_panel_without_rows_says_so(tmp_path, group):
    for ax in panels(tmp_path, group, change=lambda rows: []).values():
        assert "Nothing was measured." in words(ax)


@pytest.mark.parametrize(("claim", "left"), [("C4", "union"), ("C5", "sum"), ("C6", "display")])
def test_a_panel_whose_main_part_was_not_measured_says_so(tmp_path, claim, left):
    found = panels(tmp_path, "optimism", change=lambda rows: [row for row in rows if row.get("part", left) == left])
    assert "Nothing was measured." in words(found[claim])


@pytest.mark.parametrize("name", [*(f"claims_{group}" for group in GROUPS), "looseness"])
def test_the_same_rows_give_the_same_bytes(tmp_path, name):
    step = {"says": "a <= b", "where": "Lemma 1", "claimed": 2.0, "measured": 1.0, "looseness": 0.3}
    given = results(tmp_path, steps=[step])
    for stem in ("first", "second"):
        style.save(getattr(claims, name)(given), *(tmp_path / f"{stem}.{kind}" for kind in ("svg", "png")))
    for kind in ("svg", "png"):
        assert (tmp_path / f"first.{kind}").read_bytes() == (tmp_path / f"second.{kind}").read_bytes()


def test_learning_rates_show_sums_differences_and_prices_beside_their_bounds(tmp_path):
    found = panels(tmp_path, "learning_rates")
    assert ((1, 1.1), (2, 1.2), (3, 1.3)) in drawn(found["C1"])
    assert {1, 2} <= {*across(found["C1"])}
    assert {((1, 0.25), (2, 0.5)), ((1, 0.01), (2, 0.02)), ((1, 0.0), (2, 1.0))} <= {*drawn(found["C3"])}
    assert {(0.3, 0.3), (4.0, 0.1), (0.5, 0.1)} <= {*dots(found["C3'"])}
    assert {((0, 0), (0.5, 0.5), (1, 1)), ((0, 0), (0.5, 0.125), (1, 0.25))} <= {*drawn(found["C7"])}


def test_optimism_shows_shares_of_the_bounds(tmp_path):
    found = panels(tmp_path, "optimism")
    assert sorted(round(x, 3) for x, _ in dots(found["C2"])) == [0.2, 0.25, 0.4, 0.4, 0.5, 0.5, 0.8, 1.0]
    assert ((1, 0.125), (2, 0.25)) in drawn(found["C4"])
    assert 1 in across(found["C4"])
    assert {((0, 0.5), (1, 10.5)), ((0, -0.5), (1, 9.5))} <= {*drawn(found["C5"])}
    assert 0 in across(found["C5"])
    (drift,) = found["C5"].child_axes
    assert dots(drift) == [(1, 0.5), (2, 1)]
    assert drawn(drift) == [((1, 2), (2, 4))]
    assert "expected sum -70, bound 0.5 ($B$ = 2)" in words(found["C5"])
    assert sorted(y for _, y in dots(found["C6"])) == [0.1, 0.4]
    assert 1 in across(found["C6"])


def test_queue_shows_constants_drift_and_moments_beside_what_is_allowed(tmp_path):
    found = panels(tmp_path, "queue")
    assert [bar.get_width() for bar in found["C8"].patches] == [36.9, 30.0]
    assert found["C8"].lines[0].get_xdata()[0] == -1.1
    assert any("3.9" in said for said in words(found["C8"]))
    assert any("every" in said for said in words(found["C8"]))
    assert {((0, 24), (1, 23.8), (10, 22)), ((0, 0), (1, -1), (10, -10))} <= {*drawn(found["C9"])}
    assert drawn(found["C10"]).count(((2, 0.5), (3, 0.75))) == 2  # a queue of 0 has no place on this scale
    assert ((1, 300), (2, 300), (3, 300)) in drawn(found["C10"])
    assert {((1, 1.2),), ((100, 7.5),)} <= {*drawn(found["C11"])}
    assert ((0.1, 0.05), (1, 0.5)) in drawn(found["C11"])
    assert 1 in across(found["C11"])


@pytest.mark.parametrize(
    ("group", "claim", "column"),
    [("learning_rates", "C1", "c"), ("optimism", "C2", "largest"), ("optimism", "C4", "exact")],
)
def test_what_breaks_a_bound_stays_in_the_picture(tmp_path, group, claim, column):
    change = lambda rows: [{**row, column: 50.0} if column in row else row for row in rows]  # noqa: E731
    ax = panels(tmp_path, group, change=change)[claim]
    most = max([y for line in drawn(ax) for _, y in line] if claim != "C2" else [x for x, _ in dots(ax)])
    assert most > 2
    assert (ax.get_xlim() if claim == "C2" else ax.get_ylim())[1] > most


def test_looseness_sorts_the_steps_and_leaves_hollow_what_needed_nothing(tmp_path):
    says = {"where": "Lemma 1", "claimed": 100.0}
    steps = [
        {"says": "endless", **says, "measured": 0.0, "looseness": None},
        {"says": "loose", **says, "measured": 1.0, "looseness": 2.0},
        {"says": "tight", **says, "measured": 100.0, "looseness": 0.0},
    ]
    (ax,) = claims.looseness(results(tmp_path, steps=steps)).axes
    each = sum(map(len, GROUPS.values()))
    lengths = [bar.get_width() for bar in ax.patches]
    assert lengths[: 2 * each] == [0.0] * each + [2.0] * each
    assert min(lengths[2 * each :]) > 2
    assert [bar.get_facecolor()[3] for bar in ax.patches] == [1.0] * (2 * each) + [0.0] * each
    assert "100 allowed, 1 needed" in words(ax)
    assert "nothing was needed" in words(ax)


def test_looseness_without_steps_says_so(tmp_path):
    (ax,) = claims.looseness(results(tmp_path)).axes
    assert words(ax) == ["No inequality was measured."]


def test_only_large_powers_of_ten_are_written_as_such():
    assert [tens(number) for number in (32.0, 100.0, 1e5, 2e5, 1e30)] == [
        "32",
        "100",
        "$10^{5}$",
        "200000",
        "$10^{30}$",
    ]
