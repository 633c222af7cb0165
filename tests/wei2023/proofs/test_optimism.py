"""Ranges, noise, optimism and estimation error, by brute force and with planted errors."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from helpers import evaluate as evaluate_slowly
from nscmdp.cmdp import CMDP
from nscmdp.drift import DriftingCMDP
from wei2023.proofs import instrumented, optimism
from wei2023.proofs.findings import ASSUMPTION, CHECKS, FALSE, HOLDS, OPEN, Given
from wei2023.proofs.instrumented import (
    Constants,
    RandomRewards,
    Sizes,
    arms,
    case,
    drifting,
    episodes,
    evaluate,
    literal,
    weights,
)
from wei2023.proofs.optimism import accumulated_bonus, quantiles

FEW = Given(problems=8, samples=80)
VERDICTS = {"C2": HOLDS, "C4": HOLDS, "C5": ASSUMPTION, "C6": HOLDS, "C28": HOLDS}
CHI = st.floats(1.0, 30.0)


@pytest.mark.parametrize("claim", VERDICTS)
def test_a_verdict_with_room_and_what_its_check_notices(claim):
    finding = CHECKS[claim](FEW)
    assert finding.verdict == VERDICTS[claim], finding.why
    assert finding.slack > 0
    assert 1 < finding.notices.factor < 10
    assert finding == CHECKS[claim](FEW)
    if claim == "C2":  # the ladders
        assert finding.numbers["of (H-h+1) (1 + b_1 + 2 H b~)"] == pytest.approx(1)


def times(factor):
    right = instrumented.bonus
    return "bonus", lambda *of: factor * right(*of)


def rate(learning_rate):
    return "learning_rate", learning_rate


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid", "ignore:divide")
@pytest.mark.parametrize(
    ("claim", "fault", "verdict"),
    [
        ("C2", rate(lambda t, chi: (chi + t) / (chi + 1)), FALSE),
        ("C2", times(5), FALSE),
        ("C4", times(1 / 1.8), HOLDS),
        ("C4", times(1 / 1.9), OPEN),
        ("C4", times(0.1), FALSE),
        ("C4", rate(lambda t, chi: np.ones_like(t)), OPEN),
        ("C5", times(1 / 1.9), OPEN),
        ("C5", rate(lambda t, chi: 1 - (chi + 1) / (chi + t)), OPEN),
        ("C5", ("drift_bonus", lambda H, c: 0.95 * H * c.btilde), OPEN),
        ("C6", times(3.0), OPEN),
        ("C28", times(1 / 1.9), OPEN),
        ("C28", times(0.1), FALSE),
    ],
)
def test_a_planted_error_changes_the_verdict(claim, fault, verdict, monkeypatch):
    monkeypatch.setattr(instrumented, *fault)
    assert CHECKS[claim](FEW._replace(problems=4)).verdict == verdict


@settings(max_examples=25)
@given(CHI, st.integers(1, 8), st.floats(0.01, 0.9), st.floats(1e-8, 0.3))
def test_the_law_on_a_lattice_encloses_the_enumerated_one(chi, t, p, level):
    weight, law = weights(chi, t), {}
    for outcome in product((0, 1), repeat=t):
        distance, ones = abs(float(weight @ (np.array(outcome) - p))), sum(outcome)
        law[outcome] = distance, p**ones * (1 - p) ** (t - ones)
    outcomes = sorted(law.values(), reverse=True)
    beyond = np.cumsum([chance for _, chance in outcomes])
    assume((abs(beyond / level - 1) > 1e-6).all())  # else rounding decides on the side of the level
    edge = outcomes[int(np.searchsorted(beyond, level))][0]
    low, high = quantiles(weight, p, level, 4000)
    assert low - 1e-9 <= edge <= high + 1e-9
    assert high - low <= t / 4000 + 1e-9
    above = sum(chance for distance, chance in outcomes if distance > edge / 2)
    assert above <= 2 * math.exp(-2 * (edge / 2) ** 2 / (weight**2).sum()) + 1e-12  # Hoeffding


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 6), st.integers(1, 6), st.integers(1, 8), st.integers(2, 10**9))
def test_the_union_over_counts_is_allowed_at_every_size(S, A, H, K):
    """4 S A H K L (2 S A H K^2)^-8 <= K^-3; with the range 2H it is L / (S A H K^3)."""
    sizes = Sizes(S, A, H, K, 7.0)
    c = literal(sizes)
    assert optimism.exponent(sizes, c) == pytest.approx(8 * math.log(2 * S * A * H * K**2))
    assert optimism.share_needed(sizes) < 1
    assert (optimism.share_needed(sizes, span=2) > 1) == (c.frame > S * A * H)


def test_up_to_where_the_bonus_exceeds_every_value():
    for K, trivial in ((147_000, True), (149_000, False)):
        b = instrumented.bonus(np.array(K**0.6), 3, literal(Sizes(2, 2, 3, K, 1.0)))
        assert (b >= 3) == trivial


def test_random_rewards_have_the_means_of_the_model():
    model, x, a = a_case().env.at(7), *np.ones((2, 40_000), dtype=int)
    drawn = RandomRewards(a_case().env, np.random.default_rng(0)).at(7)
    for name in ("r", "g"):
        outcomes = getattr(drawn, name)[1, x, a]
        assert set(outcomes) == {0.0, 1.0}
        assert outcomes.mean() == pytest.approx(getattr(model, name)[1, 1, 1], abs=0.01)


def a_case(H=3, S=3, A=2, K=40, seed=0):
    rng = np.random.default_rng(seed)
    return case("test", drifting(rng, H, S, A, K, 0.7), rng)


@settings(max_examples=10, deadline=None)
@given(st.integers(1, 4), st.integers(0, 10**6))
def test_drift_of_two_episodes_by_loops(H, seed):
    one = a_case(H, 2, 2, 2, seed)
    one = one._replace(sizes=one.sizes._replace(B=1e-9))  # one frame
    (first, last), most = [one.env.at(k) for k in (1, 2)], 0.0
    changes = [np.abs(getattr(first, name) - getattr(last, name)) for name in ("r", "g")]
    budget = sum(change.max(axis=(1, 2)).sum() for change in changes)
    budget += np.abs(first.P - last.P).sum(axis=3).max(axis=(1, 2)).sum()
    for old, new in ((first, last), (last, first)):
        before, now = (evaluate(model, one.policies) for model in (old, new))
        for (name, values), h, m in product((("r", "V"), ("g", "W")), range(H), range(3)):
            V, V_old = (getattr(exact, values)[m, h + 1] for exact in (now, before))
            moved = getattr(new, name)[h] - getattr(old, name)[h] + (new.P[h] - old.P[h]) @ V
            most = max(most, moved.max() + (V - V_old).max())
    assert optimism.drift_needed(one) * budget == pytest.approx(most)


def test_a_new_state_at_every_visit_with_no_value_there():
    """The closed form, by the listing's first update rule alone."""
    c, Q = literal(Sizes(10**14 + 1, 1, 10, 10**7, 1.0)), 10.0
    for t in range(1, c.frame):
        alpha = (c.chi + 1) / (c.chi + t)
        b = math.sqrt(100 * c.iota * alpha) / 4
        Q = (1 - alpha) * Q + alpha * (1 + 0 + b + 20 * c.btilde)
    estimate, twice = optimism.unseen()
    assert estimate == pytest.approx(Q)
    assert Q < 10
    assert twice < 1e-5


def test_values_carried_over_from_another_queue_lose_optimism(monkeypatch):
    """x leads to y, whose arms pay (1,0) and (0,1); Z = 0 in frame 1 alone. Nothing drifts, no bonus."""
    P = np.tile(np.eye(2)[1], (2, 2, 2, 1))
    r, g = np.zeros((2, 2, 2, 2))
    r[1, 1, 0] = g[1, 1, 1] = 1
    env = DriftingCMDP([CMDP(P, r, g, 0.5, [1.0, 0.0])], [1], episodes=20)
    one, c = (
        case("queue", env, np.random.default_rng(0)),
        Constants(1.0, 1.0, 5.0, 0.0, 10, 1.0, 0.0),
    )
    fixed = one._replace(policies=np.tile(np.eye(2)[[0, 1]][:, None, None], (1, 2, 2, 1)))

    def least():
        return optimism.least_optimism(fixed, c, 20, np.random.default_rng(1))

    assert least() >= 0
    kept = instrumented.restart
    fault = lambda Q, C, V, W, N: kept(Q, C, V.copy(), W.copy(), N)  # noqa: E731
    monkeypatch.setattr(instrumented, "restart", fault)
    assert least() < -0.5


def test_optimism_of_one_arm_by_hand():
    """Q after t visits of reward r is r + sum_i alpha_t^i b_i + 2 b~."""
    env = DriftingCMDP([arms([0.5], [0.25], 0.1)], [1], episodes=10)
    one, c = case("one", env, np.random.default_rng(0)), Constants(2.0, 1.0, 0.1, 0.01, 5, 0.5)
    for share in (1.0, -1.0):
        paid = c._replace(share=share)
        found = optimism.least_optimism(one, paid, 1, np.random.default_rng(0))
        assert found == pytest.approx(accumulated_bonus(1, paid, 4).min() + 0.02)


@pytest.mark.parametrize("random", [False, True])
def test_estimation_errors_are_those_of_exact_values(random):
    """By a slow evaluation of the policy of every episode, from each first state and action."""
    one = a_case(H=2, S=2, A=2, K=20, seed=1)
    c, rng, totals = one.constants, np.random.default_rng(7), np.zeros((2, 20, 2))
    error = optimism.estimation_error(one, c, 2, np.random.default_rng(7), random)
    for state in episodes(one.env, c, 2, rng, RandomRewards(one.env, rng) if random else None):
        for run, policy in enumerate(state.policy() if state.k <= 20 else ()):
            cmdp = one.env.at(state.k)
            for i, table in enumerate((state.Q, state.C)):
                estimate = sum(cmdp.mu0[x] * policy[0, x] @ table[run, 0, x] for x in range(2))
                over = estimate - evaluate_slowly(cmdp, policy)[i]
                totals[i, (state.k - 1) // c.frame, run] += over
    np.testing.assert_allclose(error, totals[:, : error.shape[1]], atol=1e-9)


def test_the_error_of_one_arm_in_closed_form():
    """Reward r throughout: the first visit costs H - r, then sum_i alpha_t^i b_i + 2 H b~ each time."""
    env = DriftingCMDP([arms([0.5], [1.0], 0.5)], [1], episodes=32)
    one = case("one", env, np.random.default_rng(0))
    c = one.constants._replace(frame=8)
    error = optimism.estimation_error(one, c, 1, np.random.default_rng(0), False)
    np.testing.assert_allclose(error[0], 0.5 + accumulated_bonus(1, c, 7).sum() + 7 * 2 * c.btilde)


@given(st.integers(1, 5), st.integers(1, 12), st.integers(2, 10**5), st.floats(0, 1))
@settings(max_examples=30)
def test_every_bound_of_the_error_covers_the_recursion(S, H, K, spread):
    """For every budget that K episodes can have: r and g move by 1, P by 2, at each step."""
    sizes = Sizes(S, 3, H, K, (4.0 * H * (K - 1)) ** spread)
    c = literal(sizes)
    L, root = c.frame, math.sqrt(c.iota)
    for power in (2, 3, 4):
        by_hand = H**2 * S * 3 + 2 * (H**3 * root + 2 * H**power * c.btilde) * L / c.chi
        by_hand += math.sqrt(H**4 * S * 3 * c.iota * L * (c.chi + 1)) + 2 * L * H**2 * c.btilde
        assert optimism.error_bound(sizes, c, power) == pytest.approx(by_hand)
        assert optimism.recursion_needs(sizes, c) <= by_hand
