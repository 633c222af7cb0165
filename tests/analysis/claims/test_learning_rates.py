"""The learning rates, the drift of values and the price of tightening, against closed forms and brute force."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import backward, random_cmdp, random_path, random_policy
from nscmdp import budget, optimum
from nscmdp.analysis.claims import learning_rates as lr
from nscmdp.analysis.claims.findings import FALSE, HOLDS, Given

SMALL = Given(problems=6, samples=10)


def weights(chi, t):
    """alpha_t^i, i = 1..t, by the definition as a product."""
    alpha = [(chi + 1) / (chi + Fraction(j)) for j in range(1, t + 1)]
    return [alpha[i] * np.prod([1 - a for a in alpha[i + 1 :]] or [Fraction(1)]) for i in range(t)]


def test_learning_rate_weights_hold_and_the_constant_two_is_loose():
    finding = lr.learning_rate_weights(SMALL)
    assert finding.verdict == HOLDS
    assert 1.33 < finding.value < 4 / 3
    assert finding.slack == pytest.approx(2 - finding.value)


def test_weights_of_whole_chi_are_quotients_of_binomial_coefficients():
    """alpha_t^i = C(chi+i-1, chi) / C(chi+t, chi+1) for a whole chi."""
    for chi in (1, 2, 5):
        for t in (1, 2, 7):
            found = weights(Fraction(chi), t)
            assert found == [Fraction(comb(chi + i - 1, chi), comb(chi + t, chi + 1)) for i in range(1, t + 1)]


@settings(max_examples=40, deadline=None)
@given(st.fractions(1, 50, max_denominator=7), st.integers(1, 14))
def test_recursions_are_the_sums_of_the_definition(chi, t):
    sums = lr.sums(np.array([float(chi)]), t)
    defined = weights(chi, t)
    root = sum(float(weight) / np.sqrt(float(chi) + i) for i, weight in enumerate(defined, 1))
    assert sums.root[-1, 0] == pytest.approx(root * np.sqrt(float(chi) + t))
    assert sums.square[-1, 0] == pytest.approx(float(sum(weight**2 for weight in defined) * (chi + t) / (chi + 1)))
    assert 1 - 1e-12 <= sums.root[-1, 0] <= float(lr.sharp(chi)) <= 4 / 3
    assert all(lr.exact_sums(chi, t).values())


def test_the_infinite_sum_is_reached_by_adding_up():
    chi, i = 2.0, 3
    weight = total = (chi + 1) / (chi + i)
    for t in range(i + 1, 200_000):
        weight *= (t - 1) / (chi + t)
        total += weight
    assert total == pytest.approx(1 + 1 / chi, abs=1e-8)


def test_sharper_constant_cannot_be_lowered():
    assert lr.sums(np.array([1.0]), 50_000).root[-1, 0] == pytest.approx(float(lr.sharp(1.0)), rel=1e-4)
    assert not lr.step_keeps(Fraction(1), 10**6, Fraction(13, 10))


def test_line_of_the_printed_proof_is_false_everywhere_though_its_conclusion_is_not():
    for chi, t in ((1.0, 2.0), (4.0, 3.0), (100.0, 50.0)):
        left, right = lr.printed_step(chi, t)
        assert right < left < 0


@pytest.mark.parametrize(
    ("rate", "part"),
    [
        (lambda chi, t: 1 - (chi + 1) / (chi + t), "(a)"),  # reversed: what is kept and what is learnt
        (lambda chi, t: 1 / t, "(d)"),
        (lambda chi, t: (chi + 1) / (chi + t + 1), "(a)"),
        (lambda chi, t: (chi + 2) / (chi + 1 + t), "(d)"),
    ],
)
def test_another_learning_rate_breaks_the_lemma(rate, part):
    finding = lr.learning_rate_weights(SMALL, rate=rate)
    assert finding.verdict == FALSE
    assert part in finding.why


def test_two_policies_differ_without_any_drift():
    finding = lr.q_drift_of_two_policies(SMALL)
    assert finding.verdict == FALSE
    assert (finding.value, finding.bound) == (1.0, 0.5)
    # By hand: Q_1(x,a) = 0 + r_2(x, pi_2(x)), which is 1 or 0.
    assert lr.widest(*lr.two_arms(2)) == 1
    assert all(row["difference"] == row["H"] - 1 for row in finding.rows)


def test_one_step_has_no_counterexample():
    """Q_H^pi(x,a) = r_H(x,a) for every policy: the counterexample needs two steps."""
    assert lr.q_drift_of_two_policies(SMALL, H=1).verdict == HOLDS


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 3), st.integers(1, 2), st.integers(1, 2), st.integers(0, 10**6))
def test_no_smaller_counterexample_than_two_steps_and_two_actions(H, S, A, seed):
    P, r = lr.random_models(np.random.default_rng(seed), H, S, A, 1)
    differ = lr.widest(P[0], r[0])
    assert (differ > 0) == (H > 1 and A > 1)


def test_printed_range_takes_in_the_move_before_the_frame():
    moved, allowed = lr.before_the_frame()
    assert (moved, allowed) == (Fraction(1, 2), Fraction(1, 4))


def test_one_policy_moves_within_the_budget():
    finding = lr.q_drift_of_one_policy(SMALL)
    assert finding.verdict == HOLDS
    assert finding.value == pytest.approx(1.0)  # the edge is reached with one step
    assert finding.inequalities[0].measured < 0.9


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_dropping_btilde_breaks_the_drift_lemma(share):
    assert lr.q_drift_of_one_policy(SMALL, share=share).verdict == FALSE


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(2, 4))
def test_drift_of_one_policy_on_paths_of_the_package(seed, H, S):
    """The same statement with the package's own path, its budgets, and values by a dense induction from each state."""
    rng = np.random.default_rng(seed)
    env = random_path(rng, [1, 4, 7], H=H, S=S, A=2)
    policy = random_policy(rng, env.anchors[0])
    models = [env.at(k) for k in range(1, 8)]
    found = lr.drift_of_values(np.array([m.P for m in models]), np.array([m.r for m in models]), [policy])
    B_r, _, B_p = budget.local_variation(env, 1, 7)
    assert found.btilde == pytest.approx(B_r + B_p)
    values = []
    for model in models:
        V = np.zeros(S)
        for h in reversed(range(H)):
            V = (policy[h] * (model.r[h] + model.P[h] @ V)).sum(axis=1)
        values.append(V)
    by_hand = float((np.max(values, axis=0) - np.min(values, axis=0)).max())
    assert by_hand <= found.moved[0] + 1e-12  # V is a mean of Q
    assert (found.moved <= found.sharper + 1e-12).all()
    assert found.sharper[0] <= H * found.btilde + 1e-12


def test_price_of_tightening_holds_and_is_reached():
    finding = lr.price_of_tightening(SMALL)
    assert finding.verdict == HOLDS
    assert finding.value == pytest.approx(1.0)
    # One state, arms (1,0) and (0,1), three steps, rho = 0: V*_eps = 3 - eps.
    assert [row["loss"] for row in finding.rows[:4]] == pytest.approx([0.3, 1.5, 2.7, 3.0])


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.05, 0.95), st.floats(0.05, 0.95))
def test_price_of_tightening_by_the_envelope_of_all_policies(seed, tightness, share):
    """V* by enumeration: the upper hull of (W, V) over deterministic policies."""
    cmdp = random_cmdp(np.random.default_rng(seed), H=2, S=2, A=2, tightness=tightness)
    points = []
    for policy in lr.deterministic(2, 2, 2):
        V, W = (optimum.occupancy(cmdp, policy) * cmdp.r).sum(), (optimum.occupancy(cmdp, policy) * cmdp.g).sum()
        points.append((W, V))
    best_W = backward(cmdp.P, cmdp.r, cmdp.g, cmdp.mu0, cmdp.H, 0.0, 1.0)[1]
    delta = best_W - cmdp.rho

    def value(rho):
        mixed = [V for W, V in points if rho <= W]
        for w0, v0 in points:
            mixed += [v0 + (v1 - v0) * (rho - w0) / (w1 - w0) for w1, v1 in points if w0 < rho <= w1]
        return max(mixed)

    loss = value(cmdp.rho) - value(cmdp.rho + share * delta)
    solved = optimum.constrained(cmdp).value - optimum.constrained(lr.tightened(cmdp, share * delta)).value
    assert solved == pytest.approx(loss, abs=1e-9)
    assert loss <= cmdp.H * share + 1e-9


@pytest.mark.parametrize("factor", [0.5, 1.5])
def test_wrong_multiplier_is_found(factor):
    def wrong(cmdp):
        solved = optimum.constrained(cmdp)
        return solved._replace(multiplier=factor * solved.multiplier)

    finding = lr.price_of_tightening(SMALL, solve=wrong)
    assert finding.verdict == FALSE
    assert "multipliers" in finding.why


def test_wrong_value_is_found_by_the_other_solver():
    def wrong(cmdp):
        solved = optimum.constrained(cmdp)
        return solved._replace(value=1.01 * solved.value)

    assert lr.price_of_tightening(SMALL, solve=wrong).verdict == FALSE


def test_same_given_same_numbers():
    for check in (
        lr.learning_rate_weights,
        lr.q_drift_of_two_policies,
        lr.q_drift_of_one_policy,
        lr.price_of_tightening,
    ):
        assert check(SMALL) == check(SMALL)
