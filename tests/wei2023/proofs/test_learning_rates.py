"""The learning rates, the drift of values and the price of tightening, by closed forms and brute force."""

from fractions import Fraction
from itertools import product
from math import comb, prod

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from helpers import backward, random_cmdp, random_path, random_policy
from nscmdp import budget, optimum
from nscmdp.cmdp import CMDP
from wei2023.proofs import instrumented
from wei2023.proofs import learning_rates as lr
from wei2023.proofs.findings import FALSE, HOLDS, MISPRINT, OPEN, Given
from wei2023.proofs.instrumented import Model, evaluate, tightened

SMALL = Given(problems=6, samples=10)


def test_learning_rates_hold_and_the_constant_two_is_loose():
    finding = lr.learning_rate_weights(SMALL)
    assert finding.verdict == HOLDS
    assert 1.33 < finding.value < 4 / 3
    assert finding.notices.factor == pytest.approx(2 / finding.value)


@settings(max_examples=40, deadline=None)
@given(st.fractions(1, 50, max_denominator=7), st.integers(1, 14))
def test_sums_are_those_of_the_definition(chi, t):
    alpha = [(chi + 1) / (chi + Fraction(j)) for j in range(1, t + 1)]
    defined = [alpha[i] * prod([1 - a for a in alpha[i + 1 :]]) for i in range(t)]
    assert instrumented.weights(float(chi), t) == pytest.approx([float(one) for one in defined])
    root = sum(float(weight) / np.sqrt(float(chi) + i) for i, weight in enumerate(defined, 1))
    last = lr.root_sums(float(chi), t)[-1]
    assert last == pytest.approx(root * np.sqrt(float(chi) + t))
    assert 1 - 1e-12 <= last <= float(lr.sharp(chi)) <= 4 / 3
    assert all(lr.exact_parts(chi, t).values())
    if chi.denominator == 1:  # the closed form C(chi+i-1, chi) / C(chi+t, chi+1)
        n, whole = int(chi), comb(int(chi) + t, int(chi) + 1)
        assert defined == [Fraction(comb(n + i - 1, n), whole) for i in range(1, t + 1)]


def test_the_infinite_sum_is_reached_by_adding_up():
    chi, i, t = 2.0, 3, np.arange(4.0, 200_000)
    weights = (chi + 1) / (chi + i) * np.cumprod((t - 1) / (chi + t))
    assert (chi + 1) / (chi + i) + weights.sum() == pytest.approx(1 + 1 / chi, abs=1e-8)


def test_sharper_constant_cannot_be_lowered_and_a_line_of_the_proof_is_false_everywhere():
    assert lr.root_sums(1.0, 50_000)[-1] == pytest.approx(4 / 3, rel=1e-4)
    assert not lr.step_keeps(Fraction(1), 10**6, Fraction(13, 10))
    assert all(lr.false_step(chi, t) > 0 for chi, t in ((1.0, 2.0), (4.0, 3.0), (100.0, 50.0)))


@pytest.mark.parametrize(
    ("rate", "part"),
    [
        (lambda t, chi: 1 - (chi + 1) / (chi + t), "a"),  # what is kept for what is learnt
        (lambda t, chi: 1 / t, "d"),
        (lambda t, chi: (chi + 1) / (chi + t + 1), "a"),
        (lambda t, chi: (chi + 2) / (chi + 1 + t), "d"),
    ],
)
def test_another_learning_rate_breaks_the_lemma(rate, part, monkeypatch):
    monkeypatch.setattr(instrumented, "learning_rate", rate)
    assert not lr.exact_parts(Fraction(2), 5)[part]
    assert lr.learning_rate_weights(SMALL).verdict == FALSE


def test_lemma_1_holds_after_a_misprint():
    finding = lr.drift_of_q(SMALL)
    assert finding.verdict == MISPRINT
    assert finding.value == pytest.approx(1.0)  # the edge is reached with one step
    assert lr.two_policies() == (1, Fraction(1, 2))
    assert lr.before_the_frame() == (Fraction(1, 2), Fraction(1, 4))


@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_a_smaller_btilde_leaves_lemma_1_false(share, monkeypatch):
    right = lr.drift_of_values

    def wrong(*frame):
        moved, sharper, btilde = right(*frame)
        return moved, sharper, share * btilde + 1e-300

    monkeypatch.setattr(lr, "drift_of_values", wrong)
    assert lr.drift_of_q(SMALL).verdict == FALSE


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 3), st.integers(1, 2), st.integers(1, 2), st.integers(0, 10**6))
def test_two_policies_differ_from_two_steps_and_two_actions_on(H, S, A, seed):
    P, r = lr.random_models(np.random.default_rng(seed), H, S, A, 1)
    policies = np.array([*deterministic(H, S, A)])
    values = evaluate(Model(P[0], r[0], r[0]), policies).Q
    assert (np.ptp(values, axis=0).max() > 0) == (H > 1 and A > 1)


def deterministic(H, S, A):
    for choice in product(range(A), repeat=H * S):
        yield np.eye(A)[np.array(choice).reshape(H, S)]


@pytest.mark.parametrize("delta", [Fraction(1, 10), Fraction(1, 100), Fraction(1, 1000)])
def test_constrained_optima_move_by_the_linear_program(delta):
    later = []
    for u in (2 * delta, 2 * delta * Fraction(101, 100)):
        r, g = np.zeros((2, 2, 1, 2))
        r[1, 0, 0], g[1, 0, 1] = 1, u
        cmdp = CMDP(np.ones((2, 1, 2, 1)), r, g, float(delta), [1.0])
        assert optimum.best_utility(cmdp) - cmdp.rho >= delta - Fraction(1, 10**12)
        solved = optimum.constrained(cmdp)
        assert solved.value == pytest.approx(optimum.linear_program(cmdp).value)
        later.append(evaluate(cmdp, solved.policy).Q[0, 0, 0])
    moved, bound = lr.constrained_optima(delta)
    assert abs(later[1] - later[0]) == pytest.approx(float(moved))
    assert moved / bound == 1 / (delta * Fraction(808, 100))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(2, 4))
def test_drift_of_one_policy_on_paths_of_the_package(seed, H, S):
    """With the package's own path, its budgets, and values by a dense induction from each state."""
    rng = np.random.default_rng(seed)
    env = random_path(rng, [1, 4, 7], H=H, S=S, A=2)
    policy = random_policy(rng, env.anchors[0])
    models, values = [env.at(k) for k in range(1, 8)], []
    P, r = (np.array([getattr(model, name) for model in models]) for name in "Pr")
    moved, sharper, btilde = lr.drift_of_values(P, r, [policy])
    B_r, _, B_p = budget.local_variation(env, 1, 7)
    assert btilde == pytest.approx(B_r + B_p)
    for model in models:
        values.append(np.zeros(S))
        for h in reversed(range(H)):
            values[-1] = (policy[h] * (model.r[h] + model.P[h] @ values[-1])).sum(axis=1)
    assert np.ptp(values, axis=0).max() <= moved[0] + 1e-12  # V is a mean of Q
    assert (moved <= sharper + 1e-12).all()
    assert sharper[0] <= H * btilde + 1e-12


def test_price_of_tightening_holds_and_is_reached():
    finding = lr.price_of_tightening(SMALL)
    assert finding.verdict == HOLDS
    assert finding.value == pytest.approx(1.0)
    # One state, arms (1,0) and (0,1), three steps, rho = 0: V*_eps = 3 - eps, delta = 3.
    arms = next(lr.constrained_problems(SMALL))
    assert optimum.constrained(tightened(arms, 1.5)).value == pytest.approx(1.5)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.05, 0.95), st.floats(0.05, 0.95))
def test_price_of_tightening_by_the_envelope_of_all_policies(seed, tightness, share):
    """V* by enumeration: the upper hull of (W, V) over deterministic policies."""
    cmdp = random_cmdp(np.random.default_rng(seed), H=2, S=2, A=2, tightness=tightness)
    visits = [optimum.occupancy(cmdp, policy) for policy in deterministic(2, 2, 2)]
    points = [((q * cmdp.g).sum(), (q * cmdp.r).sum()) for q in visits]
    delta = backward(cmdp.P, cmdp.r, cmdp.g, cmdp.mu0, cmdp.H, 0.0, 1.0)[1] - cmdp.rho
    assume(delta > 1e-9)

    def value(rho):
        mixed = [V for W, V in points if rho <= W]
        for (w0, v0), (w1, v1) in product(points, repeat=2):
            mixed += [v0 + (v1 - v0) * (rho - w0) / (w1 - w0)] if w0 < rho <= w1 else []
        return max(mixed)

    loss = value(cmdp.rho) - value(cmdp.rho + share * delta)
    tighter = tightened(cmdp, share * delta)
    solved = optimum.constrained(cmdp).value - optimum.constrained(tighter).value
    assert solved == pytest.approx(loss, abs=1e-9)
    assert loss <= cmdp.H * share + 1e-9


@pytest.mark.parametrize(
    ("field", "factor", "verdict"), [("multiplier", 1.05, OPEN), ("value", 1.01, FALSE)]
)
def test_a_wrong_solver_is_found_out(field, factor, verdict, monkeypatch):
    right = optimum.constrained

    def wrong(cmdp):
        solved = right(cmdp)
        return solved._replace(**{field: factor * getattr(solved, field)})

    monkeypatch.setattr(optimum, "constrained", wrong)
    assert lr.price_of_tightening(SMALL).verdict == verdict
