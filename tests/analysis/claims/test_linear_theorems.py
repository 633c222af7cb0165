"""C15e, C16 to C18, C23, C24: the counterexample by brute force, orders by direct arithmetic, planted faults."""

import math
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nscmdp.analysis.claims import linear_counterexample, linear_runs, linear_theorems
from nscmdp.analysis.claims.findings import CHECKS, FAILS, FALSE, HOLDS, OUT_OF_REACH, Given
from nscmdp.analysis.claims.linear_counterexample import Environment, environment
from nscmdp.analysis.claims.linear_runs import LISTED
from nscmdp.study import layout

FEW = Given(problems=12, samples=40)


# ------------------------------------------------------------------------------------------------ the counterexample


def test_the_counterexample_is_a_linear_cmdp():
    m = 9
    problems = linear_counterexample.blurred(2, 50, np.random.default_rng(1), states=m)
    P, paid = problems.kernel, problems.paid
    np.testing.assert_allclose(P.sum(axis=-1), 1)
    assert P.shape[-1] == 1 + 4 * m
    assert P.min() >= 0
    assert set(np.unique(paid)) == {0.0, 1.0}
    np.testing.assert_allclose(np.linalg.norm(problems.phi, axis=-1), 1)
    best = linear_runs.optima(problems)
    np.testing.assert_allclose(best.value, 1)
    np.testing.assert_allclose(best.slater, 0.25)
    np.testing.assert_array_equal(P[:, :, 1], np.broadcast_to(P[:1, :1, 1], P[:, :, 1].shape))  # step 2 stays


def test_mu_is_within_the_root_of_d_in_every_reading():
    """At step 1 mu mu^T = diag(1/m, 1/m) and a block of ones, at step 2 all ones: sqrt(2) and 2."""
    m = 9
    problems = linear_counterexample.blurred(1, 4, np.random.default_rng(1), states=m)
    spectral = np.linalg.norm(problems.mu[0], ord=2, axis=(-2, -1))
    np.testing.assert_allclose(spectral, np.broadcast_to([math.sqrt(2), 2], (4, 2)))
    frobenius = np.linalg.norm(problems.mu[0], axis=(-2, -1))
    np.testing.assert_allclose(frobenius, np.broadcast_to([math.sqrt(2 + 2 / m), 2], (4, 2)))
    np.testing.assert_allclose(np.linalg.norm(problems.mu[0].sum(axis=-1), axis=-1), 2)
    assert set(Environment(m).norms().values()) == {4}
    assert Environment(m).admissible()


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 12), st.integers(0, 10**6))
def test_the_budget_is_the_same_whatever_s_is(K, seed):
    """(K-1) 2/sqrt(m), and in every frame (D-1) 2/sqrt(m), from the matrices themselves; theta never moves."""
    m = 4
    problems = linear_counterexample.blurred(3, K, np.random.default_rng(seed), states=m)
    for norm, change in (("frobenius", 2 / math.sqrt(m)), ("total", 2 * math.sqrt(2))):
        moved = problems.variation(norm)
        np.testing.assert_allclose(moved[:, 1:, 2], change)
        assert moved[:, :, :2].sum() == 0
        (exact,) = Environment(m).changes(norm)
        assert math.sqrt(exact) == pytest.approx(change)
        assert linear_counterexample.budget_squared(norm, K) == (1 if norm == "frobenius" else 8 * (K - 1) ** 2)


def test_with_one_copy_of_the_sets_the_budget_tells_of_s():
    assert Environment(9, copies=1).changes("frobenius") == {0, Fraction(4, 9)}


def test_budget_of_the_counterexample_grows_with_K_in_total_variation_alone():
    assert linear_counterexample.growth_of_budget("frobenius") == 0
    assert linear_counterexample.growth_of_budget("total") == 1


def test_the_frame_that_theorem_3_prints_fits_into_the_counterexample():
    """D = (d K/(B H))^(1/2) at B = 1, d = 4, H = 2; at B = K^-4, which is held against C18 alone, it exceeds K."""
    for K in (2, 100, 10**18):
        assert math.sqrt(4 * K / 2) <= K
        assert math.sqrt(4 * K / 2 * K**4) > K


@settings(max_examples=50, deadline=None)
@given(st.floats(0, 1))
def test_every_policy_has_half_of_the_reward_there_in_the_mean(p):
    problems = linear_counterexample.blurred(1, 2, np.random.default_rng(0))
    reached = problems.kernel[0, :, 0, 0] @ problems.paid[0, 0, linear_runs.R, 1, :, 0]  # (s and copy, action)
    values = p * reached[:, 0] + (1 - p) * reached[:, 1]
    assert values[:2].mean() == pytest.approx(0.5)
    assert values[2:].mean() == pytest.approx(0.5)


@pytest.mark.parametrize("K", [2, 10])
def test_the_step_of_the_proof_is_off_by_the_root_of_the_states(K):
    """Between s = 0 in one copy and s = 1 in the other: (1, -1) over 2/sqrt(m), at most sqrt(S); H = 2 is claimed."""
    one = environment(K)
    assert one.step() == 2 / Fraction(4, one.m)
    assert one.step() <= sum(one.sizes)
    assert (one.step() > 2**2) is (K == 10)


def test_the_lemmas_on_estimates_fail_there_at_any_drift_term():
    """Late in a frame, at a bonus of a few hundredths; with 1e12 states in a set the drift term is .04."""
    rng = np.random.default_rng(3)
    problems = linear_counterexample.blurred(8, 300, rng)
    constants = linear_runs.printed(problems, np.full(8, 0.25))
    trace = linear_runs.run(problems, constants._replace(beta=0.02 * constants.beta), rng, LISTED)
    allowed = 2 * 299 * 2 / math.sqrt(1e12) * math.sqrt(4 * 300)
    assert allowed < 0.05
    assert trace.residual[:, 200:].mean() > 0.25  # Lemma 19
    assert trace.optimism[:, 200:, 0].mean() > 0.25  # Lemma 22
    assert trace.estimate.min() >= 0  # features are unit vectors


# ------------------------------------------------------------------------------------------------ theorems


def test_theorems_as_printed_are_false_and_corrected_ones_out_of_reach():
    for claim in ("C15e", "C16", "C17", "C18", "C23", "C24"):
        finding = CHECKS[claim](FEW)
        assert finding.verdict == FALSE, claim
        assert finding.slack < 0
    for claim in ("C16'", "C17'", "C18'", "C23'", "C24'"):
        finding = CHECKS[claim](FEW)
        assert finding.verdict == OUT_OF_REACH, claim
        assert finding.value > linear_theorems.FEASIBLE
        assert "no run is at hand" in finding.why


def test_the_gaps_of_the_proofs_are_named():
    assert "C15f" in linear_theorems.theorem_3_corrected(FEW).why
    assert "C13" in linear_theorems.theorem_4_corrected(FEW).why


def test_another_norm_decides_the_verdict():
    assert linear_theorems.theorem_3(FEW, norm="total").verdict == OUT_OF_REACH
    assert linear_theorems.theorem_3_corrected(FEW, norm="frobenius").verdict == FALSE
    assert linear_theorems.estimation(FEW, norm="total").verdict == HOLDS


def test_an_environment_that_is_not_admissible_contradicts_nothing(monkeypatch):
    monkeypatch.setattr(linear_counterexample, "DELTA", Fraction(1, 2))
    assert not environment(5).admissible()
    assert linear_theorems.theorem_3(FEW).verdict == OUT_OF_REACH


def test_the_rate_for_small_budgets_is_held_against_the_other_approach_alone():
    """K^(3/4) (K^-4)^(1/4) 5 2^(5/4) log(2 log 2 2 K/.05) falls below 1/2, by direct arithmetic."""
    finding = linear_theorems.other_approach(FEW, norm="total")
    assert finding.verdict == FALSE
    row = finding.rows[-1]
    assert (row["regret"], row["claimed_exponent"]) == (0.5, -0.25)
    for log10_K, below in ((row["log10_K_1_times"] - 0.2, False), (row["log10_K_1_times"] + 0.1, True)):
        K = 10**log10_K
        assert (5 * K**0.75 * (K**-4) ** 0.25 * 2**1.25 * math.log(2 * math.log(2) * 2 * K / 0.05) < 0.5) is below
    for claim in ("C15e", "C16", "C17", "C23", "C24"):
        assert not [row for row in CHECKS[claim](FEW).rows if "K^-4" in row["what"]]
    flat = linear_theorems.other()._replace(rate=linear_theorems.K, terms=(linear_theorems.K,))
    assert linear_theorems.other_approach(FEW, statement=flat).verdict == OUT_OF_REACH


def test_the_condition_of_zero_violation_is_met_from_some_K_on():
    """4 (1+16)/(16/4) 4^(5/4) 2^(9/4) = 17 2^(19/4), to the fourth power."""
    assert f"1e{math.log10((17 * 2**4.75) ** 4):.0f} for 1" in linear_theorems.zero_violation(FEW).why


def test_loss_exceeds_the_bound_from_the_computed_K_on():
    """K/2 against 5 K^(3/4) 2^(9/4) 4^(5/4) log(2 log 2 4 2K/.05), by direct arithmetic on both sides of that K."""
    start = linear_counterexample.exceeds_from(linear_theorems.third(), 1.0)
    for log10_K, above in ((start - 0.2, False), (start + 0.1, True)):
        K = 10**log10_K
        iota = math.log(2 * math.log(2) * 4 * 2 * K / 0.05)
        assert (5 * K**0.75 * 2**2.25 * 4**1.25 * iota < K / 2) is above


def test_exponents_by_direct_arithmetic():
    K, H, d, B = 2.0**40, 3.0, 5.0, 7.0
    D = math.sqrt(d * K / (B * H))
    claimed = K**0.75 * H**2.25 * d**1.25 * B**0.25
    assert K * H**2 * d**1.5 / math.sqrt(D) == pytest.approx(claimed)
    assert H**3 * math.sqrt(d) * B * D**1.5 == pytest.approx(claimed)
    for statement in (linear_theorems.third, linear_theorems.fourth, linear_theorems.other, linear_theorems.local):
        assert linear_theorems.adds_up(statement())


def test_a_wrong_exponent_changes_the_verdict():
    wrong = linear_theorems.third()._replace(rate=linear_theorems.THEOREM_3 * linear_theorems.K ** Fraction(1, 20))
    assert linear_theorems.theorem_3(FEW, statement=wrong).verdict == FAILS
    assert linear_theorems.theorem_3_corrected(FEW, statement=wrong).verdict == FAILS
    assert linear_theorems.theorem_4(FEW, statement=linear_theorems.fourth(zeta=Fraction(5, 9))).verdict == FAILS


def test_what_a_run_measured_stands_beside_the_reach(tmp_path):
    file = tmp_path / layout.table("comparison.csv")
    file.parent.mkdir()
    row = {
        "algorithm": linear_theorems.THIRD,
        "learner": "lsvi_primal_dual.tuned",
        "gap_slope_K": 0.91,
        "gap_slope_K_low": 0.9,
        "gap_slope_K_high": 0.92,
        "violation_per_episode": 0.125,
        "largest_K": 8192,
    }
    pd.DataFrame([row, {"algorithm": linear_theorems.FOURTH}]).to_csv(file, index=False)
    finding = linear_theorems.theorem_3_corrected(FEW._replace(folder=tmp_path))
    assert finding.verdict == OUT_OF_REACH
    assert "K = 8192" in finding.why
    assert "K^0.91" in finding.why
    assert "no run is at hand" in linear_theorems.theorem_4_corrected(FEW._replace(folder=tmp_path)).why


def test_one_import_declares_all_checks_of_the_group():
    code = "import nscmdp.analysis.claims.linear; from nscmdp.analysis.claims.findings import CHECKS; print(*CHECKS)"
    declared = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    primed = [f"{claim}'" for claim in ("C15", "C15e", "C15f", "C16", "C17", "C18", "C23", "C24")]
    assert {*primed, *(claim.rstrip("'") for claim in primed), "C15a", "C15b", "C15c", "C15d"} <= set(declared)
