"""The pictures of claims on theorems, arithmetic, the bandit and linear CMDPs show the numbers behind the verdicts."""

import json

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.colors import same_color

from nscmdp.report import forms
from nscmdp.report.figures.claims.arithmetic import PANELS as ARITHMETIC
from nscmdp.report.figures.claims.arithmetic import claims_arithmetic
from nscmdp.report.figures.claims.bandit import LINES as BANDIT
from nscmdp.report.figures.claims.bandit import claims_bandit
from nscmdp.report.figures.claims.data import COLOURS
from nscmdp.report.figures.claims.linear import PANELS as LINEAR
from nscmdp.report.figures.claims.linear import claims_linear
from nscmdp.report.figures.claims.theorems import LINES as THEOREMS
from nscmdp.report.figures.claims.theorems import claims_theorems
from nscmdp.report.results import Results
from nscmdp.study import layout

GROUPS = {
    "theorems": (claims_theorems, [line.claim for line in THEOREMS]),
    "arithmetic": (claims_arithmetic, list(ARITHMETIC)),
    "bandit": (claims_bandit, [line.claim for line in BANDIT]),
    "linear": (claims_linear, list(LINEAR)),
}
VERDICTS = list(COLOURS)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def written(folder, group, rows):
    """Results with these rows; verdicts in turn, and 10^6 episodes as the edge."""
    _, names = GROUPS[group]
    found = {
        name: {"verdict": VERDICTS[i % len(VERDICTS)], "rows": rows.get(name, []), "bound": 1e6}
        for i, name in enumerate(names)
    }
    file = folder / layout.claims(group)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(found), encoding="utf-8")
    return Results(folder, {"claims": [group]})


def drawn(folder, group, claim, *rows):
    """The pictures of a claim: from its titled panel to the next titled one."""
    axes = GROUPS[group][0](written(folder, group, {claim: list(rows)})).axes
    titled = [i for i, ax in enumerate(axes) if ax.get_title("left").startswith("C")]
    first = next(i for i in titled if axes[i].get_title("left").startswith(f"{claim}:"))
    return axes[first : next((i for i in titled if i > first), None)]


def points(ax):
    """Every point of every line of more than a rule, and of every scatter."""
    lines = [
        np.column_stack(line.get_data()).astype(float) for line in ax.lines if line.get_transform() == ax.transData
    ]
    scatters = [np.asarray(dots.get_offsets()) for dots in ax.collections if len(dots.get_offsets())]
    return np.vstack([np.empty((0, 2)), *lines, *scatters])


def shows(ax, x, y):
    return any(np.allclose(point, (x, y), rtol=1e-6) for point in points(ax))


def rules(ax):
    """Where vertical and horizontal lines across the axes are."""
    at = [line.get_xdata() if line.get_transform() == ax.get_xaxis_transform("grid") else line.get_ydata() for line in
          ax.lines if line.get_transform() != ax.transData]  # fmt: skip
    return [float(ends[0]) for ends in at]


def texts(ax):
    return [text.get_text() for text in ax.texts]


@pytest.mark.parametrize("group", GROUPS)
def test_without_rows_every_claim_is_titled_with_its_verdict_and_says_that_there_is_nothing(tmp_path, group):
    draw, names = GROUPS[group]
    figure = draw(written(tmp_path, group, {}))
    titles = [ax.get_title("left") for ax in figure.axes]
    for name, verdict in zip(names, np.resize(VERDICTS, len(names)), strict=True):
        (ax,) = [one for one, title in zip(figure.axes, titles, strict=True) if title.startswith(f"{name}:")]
        (said,) = [text for text in ax.texts if text.get_gid() == "verdict"]
        assert said.get_text() == verdict
        assert same_color(said.get_color(), COLOURS[verdict])
        assert "Nothing was measured." in texts(ax)


def test_the_growth_experiments_are_missed_by_name(tmp_path):
    pictures = drawn(tmp_path, "theorems", "C14'")
    assert "No growth experiment" in texts(pictures[-1])[0]


class TestTheorems:
    def test_violation_per_K_beside_none_from_the_condition_on(self, tmp_path):
        known = {"part": "violation", "low": 0.24, "high": 0.27, "frame": 1}
        rows = [
            {**known, "how": "simulated", "log10_K": 3.0, "log10_B": 2.7, "violation_per_episode": 0.26},
            {**known, "how": "closed form", "log10_K": 50.0, "log10_B": 45.0, "violation_per_episode": 0.25},
        ]
        ax = drawn(tmp_path, "theorems", "C12", *rows)[0]
        assert shows(ax, 3.0, 0.26)
        assert shows(ax, 50.0, 0.25)
        assert rules(ax) == [0.0]
        (shade,) = [one for one in ax.collections if isinstance(one, PolyCollection)]
        claimed = shade.get_paths()[0].get_extents()
        assert claimed.x0 == pytest.approx(40.3743, abs=1e-3)
        assert claimed.ymax == 0

    def test_violation_over_many_frames_beside_none_from_the_condition_on(self, tmp_path):
        known = {"part": "many frames", "frames": 16, "log10_B": -1.0}
        seen = {**known, "how": "simulated", "log10_K": 6.0, "violation": 0.9, "at_least": 0.2, "admitted": False}
        closed = {**known, "how": "closed form"}
        rows = [
            {**closed, "log10_K": k, "violation": v, "at_least": v, "admitted": k > 39}
            for k, v in ((38.0, 0.1), (40.0, 0.35), (50.0, 0.5))
        ]
        ax = drawn(tmp_path, "theorems", "C12", seen, *rows)[2]
        for x, y in ((6.0, 0.9), (6.0, 0.2), (40.0, 0.35), (50.0, 0.5)):
            assert shows(ax, x, y)
        assert rules(ax) == [0.0]
        (shade,) = [one for one in ax.collections if isinstance(one, PolyCollection)]
        assert (shade.get_paths()[0].get_extents().x0, shade.get_paths()[0].get_extents().ymax) == (40.0, 0.0)

    def test_the_claimed_regret_falls_below_what_the_ties_cost(self, tmp_path):
        known = {"part": "regret", "log10_K": 38.0}
        rows = [{**known, "how": "claimed", "log10_B": -30.0 * i, "log10_regret": 20 - 10.0 * i} for i in range(4)]
        rows.append({**known, "how": "a tie in every epoch", "log10_regret": -0.5})
        small = {"part": "regret", "log10_K": 2.0, "log10_B": -7.0}
        rows += [{**small, "how": "claimed, constant taken as 1", "log10_regret": -1.0}]
        rows += [{**small, "how": "simulated", "log10_regret": 1.6}]
        ax = drawn(tmp_path, "theorems", "C14", *rows)[1]
        assert shows(ax, -90.0, -10.0)
        assert rules(ax) == [-0.5]
        assert "40, order with constant 1: 0.10" in " ".join(texts(ax))

    def test_bars_are_the_powers_of_ten_of_every_factor(self, tmp_path):
        orders = {"iota^(3/2)": 30.0, "H^3": 9.0, "constant": 6.0, "sqrt(S A)": 3.0, "B^(1/3)": 1.0, "1/delta": -2.0}
        rows = [{"part": "factor", "environment": "menu", "factor": n, "orders": o} for n, o in orders.items()]
        ax = drawn(tmp_path, "theorems", "C12'", *rows)[0]
        assert [bar.get_width() for bar in ax.patches] == list(orders.values())
        assert ax.patches[4].get_x() == 48.0  # B^(1/3) after those above it
        assert ax.patches[5].get_x() == 0.0  # what makes K smaller is to the left of nothing
        assert "$10^{47}$" in texts(ax)
        assert rules(ax) == [6.0]

    def test_terms_below_the_scale_are_triangles_at_its_end(self, tmp_path):
        known = {"part": "term", "environment": "menu"}
        rows = [
            {**known, "term": "bonus", "log10_K": 6.0, "log10_share_of_HK": 2.0},
            {**known, "term": "bonus", "log10_K": 50.0, "log10_share_of_HK": -90.0},
        ]
        ax = drawn(tmp_path, "theorems", "C12'", *rows)[1]
        assert shows(ax, 2.0, 0)
        assert shows(ax, -32.0, 0)
        assert rules(ax) == [0.0]

    @pytest.mark.parametrize(("claim", "claimed"), [("C12'", 4 / 5), ("C14'", 8 / 9)])
    def test_measured_exponents_beside_the_claimed_one(self, tmp_path, claim, claimed):
        known = {"part": "measured", "algorithm": "triple_q", "largest_K": 1000, "gap_slope_K_low": 0.6}
        rows = [
            {**known, "learner": "triple_q.literal", "gap_slope_K": 0.7, "violation_per_episode": 0.1},
            {**known, "learner": "triple_q.setting=tuned", "gap_slope_K": 0.9, "violation_per_episode": -0.1},
        ]
        ax = drawn(tmp_path, "theorems", claim, *rows)[-1]
        assert shows(ax, 0.7, 0)
        assert shows(ax, 0.9, 1)
        assert rules(ax) == pytest.approx([claimed])
        assert [label.get_text() for label in ax.get_yticklabels()] == ["printed", "tuned once"]

    def test_the_best_exponent_is_marked_at_the_claimed_one(self, tmp_path):
        rows = [{"part": "balance", "zeta": z, "largest": y} for z, y in ((0.5, 0.9), (5 / 9, 8 / 9), (0.6, 0.92))]
        ax = drawn(tmp_path, "theorems", "C14", *rows, {"part": "exponent", "says": "so", "holds": True})[0]
        assert shows(ax, 0.5, 0.9)
        (star,) = [line for line in ax.lines if line.get_marker() == "*"]
        assert star.get_ydata()[0] == pytest.approx(8 / 9)
        assert rules(ax) == pytest.approx([8 / 9])
        assert "1 of 1 statements" in " ".join(texts(ax))

    def test_unevenness_of_every_environment_beside_one(self, tmp_path):
        rows = [
            {"environment": "even", "inside": 0.9, "printed": 1.0},
            {"environment": "not", "inside": 50.0, "printed": 51},
        ]
        rows += [{"environment": "not", "share_of_run": s, "times_even": t} for s, t in ((0.0, 0.5), (0.5, 50.0))]
        bars, along = drawn(tmp_path, "theorems", "C22", *rows)
        assert shows(bars, 0.9, 0)
        assert shows(bars, 50.0, 1)
        assert rules(bars) == [1.0]
        assert shows(along, 0.5, 50.0)
        assert rules(along) == [1.0]


class TestArithmetic:
    def test_bytes_and_their_degree(self, tmp_path):
        sizes = (8, 16, 24, 32)
        rows = [
            {"algorithm": name, "along": "S", "S": S, "A": 3, "H": 4, "bytes": 10 * S**power}
            for name, power in (("nonstationary_triple_q", 1), ("lsvi_primal_dual", 2))
            for S in sizes
        ]
        (ax,) = drawn(tmp_path, "arithmetic", "C19", *rows)
        assert shows(ax, 16, 160)
        assert shows(ax, 16, 2560)
        ends = [text.get_text().rpartition(" ")[2] for text in ax.get_legend().get_texts()]
        assert ends == ["1", "2"]

    def test_orders_over_the_trivial_one(self, tmp_path):
        rows = [{"kind": "order", "algorithm": "propd_ppo", "log10_K": k, "log10_order": k} for k in (2, 4)]
        rows += [{"kind": "statement", "says": "", "where": "", "claimed": "4", "found": found} for found in ("4", "3")]
        (ax,) = drawn(tmp_path, "arithmetic", "C21", *rows)
        assert shows(ax, 2, -np.log10(4))  # of H K, where H = 4
        assert rules(ax) == [0.0]
        assert any(text.startswith("1 of 2 statements") for text in texts(ax))

    def test_gains_beside_what_is_said_of_them(self, tmp_path):
        rows = [
            {"size": "H", "said": "by H^(1/4)", "improvement": "-7/12"},
            {"size": "B", "said": "-", "improvement": "1/12"},
        ]
        (ax,) = drawn(tmp_path, "arithmetic", "C25", *rows)
        assert [bar.get_width() for bar in ax.patches[:2]] == pytest.approx([-7 / 12, 1 / 12])
        assert shows(ax, 0.25, 0)

    def test_the_orders_cross_where_the_gains_cancel(self, tmp_path):
        gains = {"H": "-7/12", "B": "1/12", "S": "-7/12", "A": "-11/12"}
        (ax,) = drawn(tmp_path, "arithmetic", "C25a", *({"size": n, "improvement": p} for n, p in gains.items()))
        assert shows(ax, 7 * np.log10(4) + 7 * np.log10(3) + 11 * np.log10(4), 0)  # H = 4, S = 3, A = 4


class TestBandit:
    def test_the_loss_per_K_beside_the_bound_per_K(self, tmp_path):
        rows = []
        for K, lost, bound in ((1e4, 0.4, 2.0), (1e8, 0.5, 0.3)):
            row = {"instance": "one", "outer": "Algorithm 2", "rate": "usual", "K": K, "how": "simulated"}
            for quantity in ("reward", "utility"):
                row |= {quantity: lost, f"{quantity}_low": lost - 0.1, f"{quantity}_high": lost + 0.1}
                row[f"{quantity}_bound"] = bound
            rows.append(row)
        reward, utility, _ = drawn(tmp_path, "bandit", "C13", *rows)
        for ax in (reward, utility):
            assert ax.lines[0].get_label() == "the lemma's bound"
            assert list(ax.lines[0].get_ydata()) == [2.0, 0.3]
            assert shows(ax, 1e4, 0.4)
            assert shows(ax, 1e8, 0.5)

    def test_closed_forms_cross_the_bound_where_they_say(self, tmp_path):
        row = {"instance": "one", "outer": "Algorithm 2", "how": "closed form", "quantity": "reward"}
        row |= {"log10_K_1_times": 12.0, "log10_K_10_times": 15.0, "log10_K_100_times": None, "ratio_at_1e50": 1e5}
        ax = drawn(tmp_path, "bandit", "C13", row)[2]
        assert shows(ax, 12.0, 0)
        assert shows(ax, 15.0, 1)
        assert shows(ax, 50.0, 5)
        assert rules(ax) == [0.0]

    def test_shares_of_the_corrected_bound(self, tmp_path):
        known = {"problem": 0, "kind": "random", "lost": 1.0, "bound": 2.0}
        rows = [{**known, "arms": 2, "quantity": q, "share": s} for q, s in (("reward", 0.7), ("utility", -0.2))]
        for ax, share in zip(drawn(tmp_path, "bandit", "C13'", *rows), (0.7, -0.2), strict=True):
            assert points(ax)[:, 0] == pytest.approx([share])
            assert rules(ax) == [1.0]


class TestLinear:
    SIZES = {"S": 4, "A": 2, "d": 2, "H": 2, "K": 100, "D": 10}  # noqa: RUF012

    def test_shares_by_bonus_beside_one(self, tmp_path):
        rows = [{**self.SIZES, "bonus": bonus, "share": share} for bonus, share in ((1.0, 0.2), (0.1, 0.6))]
        (ax,) = drawn(tmp_path, "linear", "C15a", *rows)
        assert sorted(points(ax)[:, 0]) == [0.2, 0.6]
        assert rules(ax) == [1.0]

    def test_the_example_that_the_clip_allows_is_beyond_the_bound(self, tmp_path):
        (ax,) = drawn(tmp_path, "linear", "C15", {**self.SIZES, "bonus": 1.0, "share": 0.2})
        assert shows(ax, 19 / 16, 1)

    def test_made_up_data_have_a_line_of_their_own(self, tmp_path):
        rows = [{**self.SIZES, "bonus": 1.0, "share": 0.2}, {"d": 1, "H": 3, "K": 40, "made_up": True, "share": 0.4}]
        (ax,) = drawn(tmp_path, "linear", "C15d", *rows)
        assert shows(ax, 0.4, 1)

    @pytest.mark.parametrize("claim", ["C15e", "C16", "C17", "C18", "C23"])
    def test_the_claimed_order_falls_below_the_least_regret(self, tmp_path, claim):
        known = {"what": "counterexample", "norm": "frobenius", "claimed_exponent": 0.75}
        known |= {"simulated_regret": 0.51, "simulated_violation": 0.26}
        curve = [
            {"what": "curve", "log10_K": k, "log10_regret": k + np.log10(0.5), "log10_bound": 3 + 0.75 * k}
            for k in (4.0, 40.0)
        ]
        (ax,) = drawn(tmp_path, "linear", claim, known, *curve)
        assert shows(ax, 40.0, -7.0)
        assert rules(ax) == pytest.approx([np.log10(0.5)])
        assert "$R/K = 0.51$, $V/K = 0.26$" in " ".join(texts(ax))

    def test_violation_of_the_counterexample(self, tmp_path):
        known = {"what": "counterexample", "violation_per_episode": 0.25, "simulated_violation": 0.26}
        (ax,) = drawn(tmp_path, "linear", "C24", known)
        assert [bar.get_width() for bar in ax.patches[:2]] == [0.25, 0.26]
        assert rules(ax) == [0.0]

    def test_the_promise_begins_where_it_does_and_measured_exponents_are_at_their_K(self, tmp_path):
        seen = {"what": "measured", "learner": "lsvi_primal_dual.literal", "largest_K": 1000, "gap_slope_K": 0.9}
        (ax,) = drawn(tmp_path, "linear", "C16'", {"what": "from", "log10_K": 17.0}, seen)
        assert shows(ax, 17.0, 0.75)
        assert shows(ax, 3.0, 0.9)
        assert rules(ax) == [3.0]

    def test_without_a_run_the_promise_says_so(self, tmp_path):
        (ax,) = drawn(tmp_path, "linear", "C17'", {"what": "from", "log10_K": 37.0})
        assert "nothing was measured" in texts(ax)
        assert shows(ax, 37.0, 7 / 8)


@pytest.mark.parametrize("group", GROUPS)
def test_figures_are_equal_byte_by_byte(tmp_path, group):
    files = []
    for name in ("one", "two"):
        written(tmp_path / name, group, {"C22": [{"environment": "even", "inside": 0.9}]}).figure(f"claims_{group}")
        files.append(
            [(tmp_path / name / layout.figure(f"claims_{group}", form)).read_bytes() for form in layout.FIGURE]
        )
    assert files[0] == files[1]


@pytest.mark.parametrize("group", GROUPS)
def test_places_are_rounded_as_the_last_digits_of_the_layout_differ_between_runs(tmp_path, group):
    figure = forms.finish(GROUPS[group][0](written(tmp_path, group, {})))
    figure.draw_without_rendering()
    for ax in figure.axes:
        bounds = np.array(ax.get_position(original=True).bounds)
        assert np.abs(bounds - bounds.round(4)).max() < 1e-12
