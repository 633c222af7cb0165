"""C15 and its parts: Algorithm 3 against a slow reading of its listing, lemmas by other formulas, planted faults."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nscmdp.analysis.claims import linear_lemmas, linear_runs
from nscmdp.analysis.claims.findings import (
    CHECKS,
    DEPENDS,
    FAILS,
    FALSE,
    HOLDS,
    HOLDS_DEVIATING,
    Given,
)
from nscmdp.analysis.claims.linear_lemmas import TwoActions
from nscmdp.analysis.claims.linear_runs import LISTED, G, Listing, R
from nscmdp.cmdp import CMDP
from nscmdp.optimum import linear_program

FEW = Given(problems=12, samples=40)
FROZEN, NO_RESTART = Listing(dual=False), Listing(restart=False)


# ------------------------------------------------------------------------------------------------ Algorithm 3


class Recorded:
    """A generator whose draws can be read twice."""

    def __init__(self, seed):
        self.rng, self.draws = np.random.default_rng(seed), []

    def random(self, shape):
        self.draws.append(self.rng.random(shape))
        return self.draws[-1]


def slowly(problems, which, constants, draws):
    """Y_k and V_1^k(x_1) of one run: the listing with sums over episodes, one entry at a time."""
    S, A, d, H, K = problems.sizes
    phi, rho = problems.phi[which], problems.rho[which]
    alpha, eta, xi = (float(part[which]) for part in (constants.alpha, constants.eta, constants.xi))
    data, Y, duals, values = [], 0.0, [], []
    for k in range(K):
        if k % constants.frame == 0:
            data = []
        model = problems.level[which, k]
        V = np.zeros((H + 1, 2, S))
        pi = np.zeros((H, S, A))
        for h in reversed(range(H)):
            gram = constants.ridge * np.eye(d) + sum(
                (np.outer(phi[x[h], a[h]], phi[x[h], a[h]]) for x, a, _ in data), np.zeros((d, d))
            )
            for state in range(S):
                Q = np.zeros((2, A))
                for j in (R, G):
                    total = np.zeros(d)
                    for x, a, paid in data:
                        total = total + phi[x[h], a[h]] * (paid[j, h] + (V[h + 1, j, x[h + 1]] if h + 1 < H else 0.0))
                    w = np.linalg.solve(gram, total)
                    for action in range(A):
                        f = phi[state, action]
                        Q[j, action] = min(w @ f + constants.beta * math.sqrt(f @ np.linalg.solve(gram, f)), H)
                chances = np.exp(alpha * (Q[R] + Y * Q[G] - (Q[R] + Y * Q[G]).max()))
                pi[h, state] = chances / chances.sum()
                V[h, :, state] = Q @ pi[h, state]
        duals.append(Y)
        values.append(V[0, :, 0])
        x, a, paid = [0], [], np.zeros((2, H))
        for h in range(H):
            u, v = draws[k][:, h, which]
            a.append(int(np.searchsorted(pi[h, x[h]].cumsum()[:-1], u, side="right")))
            f = phi[x[h], a[h]]
            paid[:, h] = [f @ problems.theta[which, model, j, h] for j in (R, G)]
            x.append(int(np.searchsorted((f @ problems.mu[which, model, h]).cumsum()[:-1], v, side="right")))
        data.append((x, a, paid))
        Y = min(max(Y + eta * (rho - V[0, G, 0]), 0.0), xi)
    return np.array(duals), np.array(values)


def test_many_runs_at_once_are_the_listing():
    problems = linear_runs.draw(np.random.default_rng(4), 3, 14, 3, 2, 2, 2)
    constants = linear_runs.printed(problems, linear_runs.optima(problems).slater, 6)._replace(beta=0.1)
    rng = Recorded(5)
    trace = linear_runs.run(problems, constants, rng, LISTED)
    for which in range(3):
        duals, values = slowly(problems, which, constants, rng.draws)
        np.testing.assert_allclose(trace.dual[which], duals, atol=1e-10)
        np.testing.assert_allclose(trace.estimate[which], values, atol=1e-10)


def test_optima_are_those_of_the_linear_program():
    problems = linear_runs.draw(np.random.default_rng(6), 4, 30, 4, 3, 2, 2)
    found = linear_runs.optima(problems)
    start = np.eye(4)[0]
    for n in range(4):
        for level in (0, 4, 8):
            model = CMDP(
                P=problems.kernel[n, level],
                r=problems.paid[n, level, R],
                g=problems.paid[n, level, G],
                rho=problems.rho[n],
                mu0=start,
            )
            exact = linear_program(model)
            assert found.value[n, level] == pytest.approx(exact.value, abs=1e-7)
            assert found.multiplier[n, level] == pytest.approx(exact.multiplier, abs=1e-5)


def test_variation_in_both_norms_by_hand():
    problems = linear_runs.draw(np.random.default_rng(7), 3, 40)
    mu = problems.mu[2, :, :]
    step = int(np.flatnonzero(np.diff(problems.level[2]))[0]) + 1
    here, before = mu[problems.level[2, step]], mu[problems.level[2, step - 1]]
    total = sum(math.sqrt(sum(np.abs(here[h, i] - before[h, i]).sum() ** 2 for i in range(2))) for h in range(2))
    frobenius = sum(math.sqrt(((here[h] - before[h]) ** 2).sum()) for h in range(2))
    assert problems.variation("total")[2, step, 2] == pytest.approx(total)
    assert problems.variation("frobenius")[2, step, 2] == pytest.approx(frobenius)
    assert problems.variation("total")[0].sum() == 0  # the first of three rests


# ------------------------------------------------------------------------------------------------ lemmas


def test_the_printed_dual_inequality_holds_on_runs_with_a_declared_reading():
    finding = linear_lemmas.dual_inequality(FEW)
    assert finding.verdict == HOLDS_DEVIATING
    assert finding.value < 1


def test_a_clip_from_above_alone_does_not_imply_it():
    """Y by hand for V_g = -3/2, 1, 1, 1, rho = 1/2, eta = 1, xi = eta sqrt(K) H = 2: no step is clipped."""
    x, squares = linear_lemmas.clipped_from_above_alone()
    Y = [Fraction(0)]
    for one in x:
        Y.append(min(max(Y[-1] + one, Fraction(0)), Fraction(2)))
    assert [0, 2, Fraction(3, 2), 1, Fraction(1, 2)] == Y
    left = sum((Y[-1] - y) * one for y, one in zip(Y, x, strict=False))
    assert left > Y[-1] ** 2 / 2 + Fraction(4, 2)
    assert left == Y[-1] ** 2 / 2 + squares / 2  # the corrected inequality is an equality here


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.fractions(-3, 1, max_denominator=6), min_size=1, max_size=8),
    st.fractions(0, 1, max_denominator=4),
    st.fractions(0, 1, max_denominator=8),
)
def test_the_corrected_dual_inequality_holds_exactly(values, rho, share):
    eta, xi = Fraction(1, 3), Fraction(1)
    Y, left, squares = Fraction(0), Fraction(0), Fraction(0)
    for value in values:
        x = rho - value
        left += (share * xi - Y) * x
        squares += x**2
        Y = min(max(Y + eta * x, Fraction(0)), xi)
    assert left <= (share * xi) ** 2 / (2 * eta) + eta / 2 * squares


def test_what_is_needed_is_the_largest_over_a_grid_of_Y():
    batch = linear_runs.batches(FEW.problems)[-1]
    x, eta = batch.drive, batch.constants.eta
    grid = np.linspace(0, 1, 2001)[:, None] * batch.constants.xi
    sums = [((Y[:, None] - batch.trace.dual) * x).sum(axis=1) - Y**2 / (2 * eta) for Y in grid]
    assert (np.max(sums, axis=0) <= linear_lemmas.needed(batch) + 1e-9).all()
    np.testing.assert_allclose(
        np.max(sums, axis=0), linear_lemmas.needed(batch), atol=1e-2 * np.abs(linear_lemmas.needed(batch)).max()
    )


def test_with_the_dual_frozen_the_inequalities_fail():
    assert linear_lemmas.dual_inequality(FEW, listing=FROZEN).verdict in (DEPENDS, FALSE)
    assert linear_lemmas.dual_inequality_corrected(FEW, listing=FROZEN).verdict == FAILS
    assert linear_lemmas.decomposition(FEW, listing=FROZEN).verdict == FAILS
    assert linear_lemmas.violation_corrected(FEW, listing=FROZEN).verdict == FAILS


def test_lemmas_that_hold():
    for claim in ("C15'", "C15a", "C15b", "C15d", "C15e'", "C15f'"):
        finding = CHECKS[claim](FEW)
        assert finding.verdict == HOLDS, (claim, finding.why)
        assert finding.slack >= 0


def test_an_optimum_that_misses_the_constraint_breaks_the_decomposition():
    assert linear_lemmas.decomposition(FEW, short=0.5).verdict == FAILS


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(-30, 30), min_size=2, max_size=6))
def test_softmax_gap_is_at_most_the_entropy(values):
    """alpha (max F - sum pi F) <= alpha F_max - sum pi alpha F = entropy - log sum exp(F - F_max) <= log A."""
    F = np.array(values)
    pi = np.exp(F - F.max()) / np.exp(F - F.max()).sum()
    entropy = -(pi * np.log(np.maximum(pi, 1e-300))).sum()
    assert F.max() - (pi * F).sum() <= entropy + 1e-9
    assert entropy <= math.log(len(F)) + 1e-9


def test_the_largest_softmax_gap_of_two_actions_is_known():
    """max x/(1+e^x) solves e^-x = x-1: .2785, over log 2."""
    rows = {row["A"]: row["share"] for row in linear_lemmas.softmax_gap(Given(problems=400)).rows}
    assert rows[2] == pytest.approx(0.27846 / math.log(2), rel=1e-3)


def test_softmax_of_another_temperature_breaks_the_gap():
    assert linear_lemmas.softmax_gap(FEW, temperature=20.0).verdict == FAILS


def test_elliptical_potential_needs_a_ridge_of_about_one():
    """One phi = 1 in d = 1: 1/ridge <= 2 log(1 + 1/ridge) until ridge = 1/2.5128."""
    assert linear_lemmas.elliptical_potential(FEW, ridges=(0.1,)).verdict == FAILS
    assert 2 * math.log(3.5) >= 2.5
    assert 2 * math.log(3.52) < 2.52
    assert linear_lemmas.elliptical_potential(FEW).rows[-1]["share"] == pytest.approx(10 / (2 * math.log(11)))


def test_elliptical_potential_holds_once_misprints_are_read_over():
    finding = linear_lemmas.elliptical_potential(FEW)
    assert finding.verdict == HOLDS_DEVIATING
    assert finding.slack >= 0
    assert "phi phi^T phi" in finding.why


def test_elliptical_potential_needs_the_last_matrix():
    """With the k+1 of a smaller k, two steps of phi = 1 from L_0 = 1: 1 + 1/2 > 2 log 2."""
    assert 2 * math.log(2) < 1 + 1 / 2
    assert 2 * math.log(3) >= 1 + 1 / 2


def test_weights_of_a_smaller_ridge_break_their_bound():
    assert linear_lemmas.weight_norm(FEW, ridge=1e-3).verdict == FAILS


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 4), st.integers(1, 12), st.integers(0, 10**6))
def test_weights_are_shorter_than_the_bound_by_the_root_of_the_dimension(d, k, seed):
    """|w| <= 2H sqrt(k)/(2 sqrt(lambda)): singular values s/(s^2 + lambda) are at most 1/(2 sqrt(lambda))."""
    rng = np.random.default_rng(seed)
    phi, y = rng.normal(size=(k, d)), rng.uniform(-2, 2, size=k)
    w = np.linalg.solve(np.eye(d) + phi.T @ phi, phi.T @ y)
    assert np.linalg.norm(w) <= math.sqrt(k) * 2 / 2 + 1e-9


@pytest.mark.parametrize("fault", [Listing(bonus=0.02), NO_RESTART])
def test_estimates_are_not_optimistic_with_a_fault(fault):
    assert linear_lemmas.estimation_corrected(FEW, listing=fault).verdict == FAILS


def test_the_residual_of_the_estimates_by_another_formula():
    """At rest, in the last step, P V = 0 and rewards are exact: <phi,w> - r = -lambda phi^T Lambda^-1 theta."""
    problems = linear_runs.draw(np.random.default_rng(8), 1, 20, 3, 2, 2, 1)
    constants = linear_runs.printed(problems, linear_runs.optima(problems).slater)
    trace = linear_runs.run(problems, constants, np.random.default_rng(0), LISTED)
    assert trace.bonus_used.max() <= math.sqrt(2) / constants.beta + 1e-12  # |theta| <= sqrt(d), lambda = 1


# ------------------------------------------------------------------------------------------------ the copied lemma


def test_the_copied_lemma_fails_by_the_example_and_not_with_one_multiplier():
    finding = linear_lemmas.copied_lemma(FEW)
    assert finding.verdict == FALSE
    assert (finding.value, finding.bound) == (0.125, 0.0)
    same = (TwoActions(1, Fraction(1), Fraction(0)), TwoActions(1, Fraction(1), Fraction(7, 8)))
    assert linear_lemmas.copied_lemma(FEW, phases=same).verdict == HOLDS


def test_repeated_phases_violate_by_a_sixteenth_of_K_at_no_x():
    """Phase 1: -1/2 and 1/2; phase 2: 0 and -3/8. With 2 C = xi = 4, x = -n/2 + 4 n/8 = 0 after n of both."""
    finding = linear_lemmas.copied_lemma(FEW)
    (row,) = [row for row in finding.rows if row["version"] == "repeated"]
    assert (row["x_repeated"], row["violation_per_episode"]) == (0.0, 1 / 16)
    for n in (1, 5):
        regret, violation = -n * Fraction(1, 2), n * (Fraction(1, 2) - Fraction(3, 8))
        assert regret + 4 * violation == 0
        assert violation == Fraction(2 * n, 16)
    assert "C15f'" in finding.why


def test_totals_of_two_actions_are_those_of_the_linear_program():
    for phase, rho in ((TwoActions(1, Fraction(1), Fraction(0)), Fraction(1, 2)),
                       (TwoActions(1, Fraction(3, 4), Fraction(7, 8)), Fraction(1, 4))):  # fmt: skip
        model = CMDP(
            P=np.ones((1, 1, 2, 1)),
            r=np.array([[[float(phase.reward), 0.0]]]),
            g=np.array([[[0.0, 1.0]]]),
            rho=float(rho),
            mu0=np.ones(1),
        )
        exact = linear_program(model)
        regret, violation, _, mu = linear_lemmas.totals([phase], rho)
        assert exact.value - float(phase.reward * (1 - phase.second)) == pytest.approx(float(regret))
        assert float(rho - phase.second) == float(violation)
        assert exact.multiplier == pytest.approx(float(mu))


eighths = st.integers(0, 8).map(lambda i: Fraction(i, 8))


@settings(max_examples=200, deadline=None)
@given(st.lists(eighths, min_size=1, max_size=5), st.integers(1, 7).map(lambda i: Fraction(i, 8)))
def test_the_copied_lemma_holds_for_one_multiplier(played, rho):
    regret, violation, _, mu = linear_lemmas.totals([TwoActions(1, Fraction(1), second) for second in played], rho)
    x = max(regret + 4 * mu * violation, Fraction(0))  # 2 C with C = 2 mu
    assert violation <= 2 * x / (2 * mu)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(eighths, eighths), min_size=1, max_size=5), st.integers(1, 7).map(lambda i: Fraction(i, 8)))
def test_positive_parts_are_bounded_for_any_multipliers(drawn, rho):
    regret, _, positive, mu = linear_lemmas.totals([TwoActions(1, *one) for one in drawn], rho)
    for C in (mu + Fraction(1, 8), 2 * mu + 1):
        assert positive <= (regret + C * positive) / (C - mu)


def test_a_wrong_multiplier_breaks_the_step_that_replaces_the_lemma():
    assert linear_lemmas.violation_corrected(FEW, price=0.3).verdict == FAILS


def test_same_given_same_numbers():
    linear_runs.batches.cache_clear()
    first = linear_lemmas.dual_inequality(FEW)
    linear_runs.batches.cache_clear()
    assert linear_lemmas.dual_inequality(FEW) == first
