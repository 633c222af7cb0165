"""Ranges, concentration, over-estimation and estimation error: verdicts beside brute force, and planted faults."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from helpers import evaluate as evaluate_slowly
from helpers import random_arrays
from nscmdp import budget
from nscmdp.analysis.claims import optimism
from nscmdp.analysis.claims.cases import case, drifting, falling, ladder
from nscmdp.analysis.claims.concentration import (
    accumulated,
    accumulated_bonus,
    distances,
    log_failure,
    noise,
    rates,
    trivial_until,
    weights,
)
from nscmdp.analysis.claims.estimation import error_bound, estimation_error, recursion_needs
from nscmdp.analysis.claims.findings import FAILS, HOLDS, HOLDS_DEVIATING, MIXED, Given
from nscmdp.analysis.claims.instrumented import (
    Constants,
    Listing,
    Model,
    Path,
    Sizes,
    bonus,
    episodes,
    literal,
)
from nscmdp.analysis.claims.overestimation import drift_needed, expected_sum
from nscmdp.analysis.claims.overestimation import optimism as optimism_of
from nscmdp.cmdp import CMDP
from nscmdp.drift import DriftingCMDP

FEW = Given(problems=8, samples=80)
CHECKS = {
    "C2": optimism.q_range,
    "C4": optimism.concentration,
    "C5": optimism.over_estimation,
    "C6": optimism.estimation_error_per_frame,
}
AS_PRINTED = {"C2": HOLDS, "C4": HOLDS, "C5": HOLDS_DEVIATING, "C6": HOLDS_DEVIATING}
REVERSED = Listing(rate=lambda t, chi: (chi + t) / (chi + 1))
ALPHA = st.floats(1.0, 30.0).map(lambda chi: (chi, rates(Listing(), chi, 9)))


@pytest.fixture(scope="module")
def found():
    return {claim: check(FEW) for claim, check in CHECKS.items()}


@pytest.mark.parametrize("claim", CHECKS)
def test_a_claim_holds_with_room_to_spare(claim, found):
    finding = found[claim]
    assert finding.verdict == AS_PRINTED[claim], finding.why
    assert finding.slack >= 0
    assert all(isinstance(value, int | float | str) for row in finding.rows for value in row.values())
    assert all(one.claimed >= one.measured * (1 - 1e-9) for one in finding.inequalities)
    assert len(finding.rows) < 400


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid")
@pytest.mark.parametrize(
    ("claim", "fault", "verdict", "part"),
    [
        ("C2", REVERSED, FAILS, "at least 0"),
        ("C2", Listing(bonus=5), MIXED, "H^2 (sqrt(iota) + 2 b~)"),
        ("C4", REVERSED, MIXED, "sum_i (alpha_t^i)^2"),
        ("C4", Listing(bonus=0.5), MIXED, "Hoeffding's bound"),
        ("C4", Listing(bonus=0.1), MIXED, "exact tails"),
        ("C5", REVERSED, MIXED, "F >= F^pi in every run"),
        ("C5", Listing(rate=lambda t, chi: 1 - (chi + 1) / (chi + t)), MIXED, "sum_i alpha_t^i b_i >= b_t"),
        ("C5", Listing(bonus=0.5), MIXED, "sum_i alpha_t^i b_i >= b_t"),
        ("C5", Listing(btilde=0.0), MIXED, "2 H b~ >= drift"),
        ("C5", Listing(btilde=0.45), MIXED, "2 H b~ >= drift"),
        ("C5", Listing(restarts=False), MIXED, "2 H b~ >= drift"),
        ("C6", Listing(bonus=8.0), FAILS, "Lemma 8, 2 H^3 b~, runs"),
    ],
)
def test_a_planted_fault_changes_the_verdict(claim, fault, verdict, part):
    finding = CHECKS[claim](FEW._replace(problems=4), listing=fault)
    assert finding.verdict == verdict, finding.why
    assert f"not so: {part}" in finding.why


def test_the_same_given_gives_the_same_finding(found):
    assert optimism.q_range(FEW) == found["C2"]


@given(ALPHA, st.lists(st.floats(-5, 5), min_size=9, max_size=9))
def test_updates_make_weighted_sums(chi_alpha, terms):
    """sum_i alpha_t^i v_i by products, beside the recursion; the weights are nonnegative and add up to 1."""
    _, alpha = chi_alpha
    direct = [
        sum(alpha[i] * math.prod(1 - alpha[j] for j in range(i + 1, t)) * terms[i] for i in range(t))
        for t in range(1, 10)
    ]
    np.testing.assert_allclose(accumulated(alpha, np.array(terms)), direct, atol=1e-12)
    assert weights(alpha) @ np.array(terms) == pytest.approx(direct[-1], abs=1e-12)
    assert weights(alpha).sum() == pytest.approx(1)


def enumerated(weight, p):
    """|sum_i w_i (xi_i - p)| and its probability, outcome by outcome."""
    for outcome in product((0, 1), repeat=len(weight)):
        ones = sum(outcome)
        yield abs(float(weight @ (np.array(outcome) - p))), p**ones * (1 - p) ** (len(weight) - ones)


@settings(max_examples=25)
@given(ALPHA, st.integers(1, 8), st.floats(0.01, 0.9), st.floats(1e-8, 0.3))
def test_the_law_on_a_lattice_encloses_the_enumerated_one(chi_alpha, t, p, level):
    weight = weights(chi_alpha[1][:t])
    law, outcomes = distances(weight, np.array([p]), 4000), sorted(enumerated(weight, p), reverse=True)
    beyond = np.cumsum([probability for _, probability in outcomes])
    assume((abs(beyond / level - 1) > 1e-6).all())  # else rounding decides on which side of the level an outcome is
    edge = outcomes[int(np.searchsorted(beyond, level))][0]
    low, high = law.edges(level)
    assert low - 1e-9 <= edge <= high + 1e-9
    assert high - low <= t / 4000 + 1e-9
    true = sum(probability for distance, probability in outcomes if distance > edge / 2)
    square = float((weight**2).sum())
    assert true <= law.tail(edge / 2) * (1 + 1e-9)
    assert true <= 2 * math.exp(-2 * (edge / 2) ** 2 / square) + 1e-12  # Hoeffding, range 1


@given(st.integers(1, 6), st.integers(1, 6), st.integers(1, 8), st.integers(2, 10**9), st.sampled_from((1.0, 7.0)))
def test_the_union_over_counts_is_allowed_at_every_size(S, A, H, K, B):
    """4 S A H K L (2 S A H K^2)^-8 <= K^-3; with the range 2H it is L / (S A H K^3)."""
    sizes = Sizes(S, A, H, K, B)
    c = literal(sizes)
    closed = math.log(4 * S * A * H * K * c.frame) - 8 * math.log(2 * S * A * H * K**2)
    assert log_failure(sizes, c, Listing()) == pytest.approx(closed, rel=1e-9)
    assert closed <= -3 * math.log(K)
    skipped = math.log(c.frame) - math.log(S * A * H) - 3 * math.log(K)
    assert log_failure(sizes, c, Listing(), 2) == pytest.approx(skipped, rel=1e-9)


def test_up_to_where_the_bonus_exceeds_every_value():
    edge = trivial_until(Sizes(2, 2, 3, 1, 1.0))
    for K, trivial in ((0.99 * edge, True), (1.01 * edge, False)):
        c = literal(Sizes(2, 2, 3, K, 1.0))
        assert (float(bonus(np.array(K**0.6), 3, c)) >= 3) == trivial


def a_case(H=3, S=3, A=2, K=40, seed=0, share=0.7):
    rng = np.random.default_rng(seed)
    return case("test", drifting(rng, H, S, A, K, share), rng)


def test_noise_is_the_weighted_sum_over_the_visits():
    """Beside lists of the visits of every entry in one run and sums with explicit weights."""
    one = a_case(H=2, S=2, K=25)
    c, path, visits, largest = one.constants, Path(one.env), {}, 0.0
    assert c.frame < 12
    for state in episodes(one.env, c, 1, np.random.default_rng(5)):
        k = state.k
        if state.last is not None:
            for h in range(2):
                x, a, y = state.last.x[h, 0], state.last.a[h, 0], state.last.x[h + 1, 0]
                visits.setdefault((h, x, a), []).append(np.eye(2)[y] - path.at(k - 1).P[h, x, a])
        if k > 25:
            break
        if (k - 1) % c.frame == 0:
            visits = {}
        for (h, x, a), steps in visits.items():
            assert len(steps) == state.N[0, h, x, a]
            if h == 1:
                continue  # V_3 = 0
            weight = weights(rates(Listing(), c.chi, len(steps)))
            b_t = 0.25 * math.sqrt(4 * c.iota * (c.chi + 1) / (c.chi + len(steps)))
            cmdp = one.env.at(k)
            for policy in one.policies:
                for paid in (cmdp.r, cmdp.g):
                    V = (policy[1] * paid[1]).sum(axis=1)
                    total = sum(w * (step @ V) for w, step in zip(weight, steps, strict=True))
                    largest = max(largest, abs(total) / b_t)
    assert noise(one, 1, np.random.default_rng(5), Listing()) == pytest.approx(largest)


@pytest.mark.parametrize("H", [1, 2, 3])
def test_the_ladder_reaches_the_most_there_can_be(H):
    c = literal(Sizes(H + 1, 1, H, 60, 1.0))
    b_1 = H * math.sqrt(c.iota) / 4
    most = max(state.Q[:, 0].max() for state in episodes(ladder(H, 60), c, 300, np.random.default_rng(0)))
    assert most == pytest.approx(H * (1 + b_1 + 2 * H * c.btilde))
    assert most <= H**2 * (math.sqrt(c.iota) + 2 * c.btilde)


@settings(max_examples=15)
@given(st.integers(1, 4), st.integers(1, 3), st.integers(1, 3), st.integers(0, 10**6))
def test_no_entry_leaves_its_range(H, S, A, seed):
    one = a_case(H, S, A, 30, seed)
    c = one.constants
    for state in episodes(one.env, c, 3, np.random.default_rng(seed)):
        for h in range(H):
            most = H * (H - h) * (math.sqrt(c.iota) + 2 * c.btilde)
            assert min(state.Q[:, h].min(), state.C[:, h].min()) >= 0
            assert max(state.Q[:, h].max(), state.C[:, h].max()) <= most


def test_optimism_counts_entries_below():
    """One run of one action at one state: Q after t visits of reward r is r + sum_i alpha_t^i b_i + 2 b~."""
    env = DriftingCMDP([CMDP(np.ones((1, 1, 1, 1)), [[[0.5]]], [[[0.25]]], 0.1, [1.0])], [1], episodes=10)
    one = case("one", env, np.random.default_rng(0))
    c = Constants(chi=2.0, eta=1.0, eps=0.1, btilde=0.01, frame=5, iota=0.5)
    b = accumulated_bonus(Listing(), 1, c, 4)
    found = optimism_of(one, c, 1, np.random.default_rng(0), Listing())
    assert found.visited == pytest.approx(b.min() + 0.02)
    assert found.least == pytest.approx(min(b.min() + 0.02, 0.5))
    assert (found.negative, found.runs) == (0, 0)
    lowered = optimism_of(one, c, 1, np.random.default_rng(0), Listing(bonus=-1.0))
    assert lowered.visited == pytest.approx(0.02 - b.max())
    assert (lowered.negative, lowered.runs) == (1, 1)


def test_scaled_bonuses_lose_optimism_and_more_of_it_the_smaller_they_are(found):
    rows = [row for row in found["C5"].rows if row["part"] == "factor" and row["btilde"] == 0]
    shares = [row["negative"] for row in sorted(rows, key=lambda row: -row["bonus"])]
    assert shares[0] == 0
    assert shares[-1] > 0.05
    assert shares[-1] == max(shares)


def slow_drift(models, policies):
    """By loops over pairs, (h,x,a), policies and the two payments."""
    H, S, A = models[0].r.shape
    most = 0.0
    for before, now in product(models, repeat=2):
        for policy, name in product(policies, ("r", "g")):
            values = []
            for model in (before, now):
                V = [np.zeros(S)]
                for h in reversed(range(H)):
                    V.insert(0, (policy[h] * (getattr(model, name)[h] + model.P[h] @ V[0])).sum(axis=1))
                values.append(V)
            for h, x, a in np.ndindex(H, S, A):
                moved = getattr(before, name)[h, x, a] - getattr(now, name)[h, x, a]
                moved += (before.P[h, x, a] - now.P[h, x, a]) @ values[1][h + 1]
                moved += min(values[0][h + 1][y] - values[1][h + 1][y] for y in range(S))
                most = max(most, -moved)
    return most


@settings(max_examples=20)
@given(st.integers(1, 5), st.integers(1, 3), st.integers(1, 2), st.integers(0, 10**6))
def test_the_drift_within_a_frame_is_covered(H, S, A, seed):
    """At most max(1, (H-1)/2) times the local budget, which is at most half of 2 H b~."""
    rng = np.random.default_rng(seed)
    models = [Model(*random_arrays(rng, H, S, A), 0.0, np.ones(S) / S) for _ in range(2)]
    policies = rng.dirichlet(np.ones(A), size=(2, H, S))
    needed = drift_needed(models, policies)
    assert needed == pytest.approx(slow_drift(models, policies), abs=1e-12)
    first, last = models
    local = sum(
        np.abs(getattr(last, name) - getattr(first, name)).max(axis=(1, 2)).sum() for name in ("r", "g")
    ) + np.abs(last.P - first.P).sum(axis=3).max(axis=(1, 2)).sum()  # fmt: skip
    assert needed <= max(1, (H - 1) / 2) * local + 1e-12 <= H * local + 1e-9


@pytest.mark.parametrize(("H", "kernel", "share"), [(1, False, 1.0), (3, False, 1.0), (5, True, 2.0), (6, True, 2.5)])
def test_adverse_drifts_need_all_that_the_sharp_bound_allows(H, kernel, share):
    env = falling(H, 50, kernel)
    policies = np.full((1, H, 2, 2), 0.5)
    needed = drift_needed([Path(env).at(1), Path(env).at(20)], policies)
    assert needed == pytest.approx(share * budget.local_variation(env, 1, 20).total)


def test_the_expected_sum_of_a_problem_without_choice():
    """One state, one action, one step: sum_k (r - Q_k), and its bound by hand."""
    env = DriftingCMDP([CMDP(np.ones((1, 1, 1, 1)), [[[0.5]]], [[[1.0]]], 0.5, [1.0])], [1], episodes=30)
    one = case("one", env, np.random.default_rng(0), least=1e-3)
    c = one.constants
    assert c.frame == 30
    row = expected_sum(one, 2, np.random.default_rng(0), Listing())
    added = accumulated_bonus(Listing(), 1, c, 29).sum() + 29 * 2 * c.btilde
    assert row["sum"] == pytest.approx(-0.5 - added)
    assert row["printed"] == pytest.approx((c.eta + 30**0.4) * 0.01 / (c.eta * 30))
    assert row["before"] > row["printed"]


def test_the_optimum_of_the_expected_sum_is_a_linear_programs():
    """At Z = 0 and tables at H, the first episode's term is V^{eps,*} - H: by the occupancy measures."""
    cmdp = drifting(np.random.default_rng(3), 2, 2, 2, 9, 0.5).at(1)
    one = case("one", DriftingCMDP([cmdp], [1], episodes=1), np.random.default_rng(0))
    choices = [np.eye(2)[np.array(choice).reshape(2, 2)] for choice in product((0, 1), repeat=4)]
    best = max(evaluate_slowly(cmdp, choice)[1] for choice in choices)
    eps = (best - cmdp.rho) / 2
    flow, right = [], []
    for x in range(2):
        flow.append(np.eye(2)[x].repeat(2).tolist() + [0] * 4)
        right.append(cmdp.mu0[x])
    for y in range(2):
        flow.append((-cmdp.P[0, :, :, y].ravel()).tolist() + np.eye(2)[y].repeat(2).tolist())
        right.append(0.0)
    solved = linprog(-cmdp.r.ravel(), A_ub=[-cmdp.g.ravel()], b_ub=[-cmdp.rho - eps], A_eq=flow, b_eq=right)
    row = expected_sum(one, 2, np.random.default_rng(0), Listing())
    assert row["sum"] == pytest.approx(-solved.fun - 2, abs=1e-7)


@given(st.integers(1, 30), st.integers(1, 10**6), st.floats(1e-6, 1e3))
def test_the_last_step_of_the_expected_sum_needs_H_B_c_at_least_1(H, K, B):
    eta, Bc = K**0.2 * B ** (1 / 3), B ** (2 / 3)
    before, printed = K * H * (1 + K**0.4 * Bc * H / eta) / K**2, (eta + K**0.4) * H**2 * Bc / (eta * K)
    if abs(H * Bc - 1) > 1e-6:
        assert (before <= printed) == (H * Bc >= 1)


def test_estimation_errors_are_those_of_exact_values():
    """Beside a slow evaluation of the policy of every episode, by each first state and action."""
    one = a_case(H=2, S=2, A=2, K=20, seed=1)
    c = one.constants
    error = estimation_error(one, c, 2, np.random.default_rng(7))
    totals = np.zeros((2, *error.Q.shape))
    for state in episodes(one.env, c, 2, np.random.default_rng(7)):
        if state.k > 20:
            break
        cmdp = one.env.at(state.k)
        for run, policy in enumerate(state.policy()):
            for into, table, at in ((totals[0], state.Q, 0), (totals[1], state.C, 1)):
                estimate = sum(cmdp.mu0[x] * policy[0, x] @ table[run, 0, x] for x in range(2))
                into[(state.k - 1) // c.frame, run] += estimate - evaluate_slowly(cmdp, policy)[at]
    np.testing.assert_allclose(error.Q, totals[0], atol=1e-9)
    np.testing.assert_allclose(error.C, totals[1], atol=1e-9)


def test_where_the_error_of_one_arm_comes_from():
    """Reward r throughout: the first visit costs H - r, then sum_i alpha_t^i b_i + 2 H b~ each time."""
    env = DriftingCMDP([CMDP(np.ones((1, 1, 1, 1)), [[[0.5]]], [[[1.0]]], 0.5, [1.0])], [1], episodes=32)
    one = case("one", env, np.random.default_rng(0))
    c = one.constants._replace(frame=8)
    error = estimation_error(one, c, 1, np.random.default_rng(0))
    assert error.first.ravel().tolist() == [1] * 4
    np.testing.assert_allclose(error.discount, -0.5, atol=1e-9)
    np.testing.assert_allclose(error.bonus, accumulated_bonus(Listing(), 1, c, 7).sum())
    np.testing.assert_allclose(error.btilde, 7 * 2 * c.btilde)
    np.testing.assert_allclose(error.Q, error.first + error.discount + error.bonus + error.btilde)


@given(st.integers(1, 5), st.integers(1, 4), st.integers(1, 12), st.integers(2, 10**5), st.floats(0, 1))
@settings(max_examples=30)
def test_every_printed_bound_of_the_error_covers_the_recursion(S, A, H, K, spread):
    """For every budget that K episodes can have: r and g move by 1, P by 2, at each step."""
    sizes = Sizes(S, A, H, K, (4.0 * H * (K - 1)) ** spread)
    c = literal(sizes)
    for power in (2, 3, 4):
        L, root = c.frame, math.sqrt(c.iota)
        by_hand = (
            H**2 * S * A
            + 2 * (H**3 * root + 2 * H**power * c.btilde) * L / c.chi
            + math.sqrt(H**4 * S * A * c.iota * L * (c.chi + 1))
            + 2 * L * H**2 * c.btilde
        )
        assert error_bound(sizes, c, power) == pytest.approx(by_hand)
        assert recursion_needs(sizes, c, Listing()) <= by_hand
