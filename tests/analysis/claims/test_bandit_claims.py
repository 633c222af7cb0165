"""C13: Exp3 against one written from its definition, the examples by hand, and random two-armed examples."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nscmdp.analysis.claims import bandit
from nscmdp.analysis.claims.bandit import EXAMPLES, LINEAR, REWARD, TABULAR, UTILITY, Instance, Rule, arm
from nscmdp.analysis.claims.findings import FAILS, FALSE, HOLDS, Given

FEW = Given(problems=16, samples=60)


def enumerated(R, G, rho, gamma, kappa):
    """E sum R_i(0) - R_i(A_i) and the same for G: over all sequences of arms, with Exp3's weights as products."""
    n, N = R.shape
    totals = np.zeros(2)
    for arms in itertools.product(range(N), repeat=n):
        weights, chance, lost = np.ones(N), 1.0, np.zeros(2)
        for i, a in enumerate(arms):
            p = (1 - gamma) * weights / weights.sum() + gamma / N
            chance *= p[a]
            gain = (G[i, a] * kappa + (R[i, a] if G[i, a] >= rho else 0.0)) / (1 + kappa)
            weights[a] *= math.exp(gamma * gain / p[a] / N)
            lost += R[i, 0] - R[i, a], G[i, 0] - G[i, a]
        totals += chance * lost
    return totals


def test_exp3_over_many_runs_has_the_means_of_all_its_paths():
    rng, runs = np.random.default_rng(1), 40_000
    R, G = rng.random((2, 5, 3))
    exact = enumerated(R, G, 0.4, 0.3, 0.5)
    each = ((np.tile(r, (runs, 1)), np.tile(g, (runs, 1))) for r, g in zip(R, G, strict=True))
    lost = bandit.play(each, np.full(runs, 0.4), 0.3, 0.5, rng, Rule())
    for mean, sums in zip(exact, lost, strict=True):
        assert sums.mean() == pytest.approx(mean, abs=5 * sums.std() / math.sqrt(runs))


def test_the_examples_by_hand():
    sure, unpaid, half, quarter = EXAMPLES
    assert (sure.assumed, sure.optimal, sure.random) == (True, True, False)
    assert all(g >= sure.rho for _, _, g in sure.best.outcomes)  # feasible in every block
    assert sure.rival.utility == Fraction(1, 4)  # and the rival not, over all of them
    assert sure.preference == (Fraction(2, 5), Fraction(-3, 4))  # 1/2 - 1/10, 1/4 - 1
    assert (sure.lost(UTILITY), sure.violation) == (Fraction(3, 4), Fraction(1, 4))
    assert sure.lost(REWARD) < 0
    assert (unpaid.assumed, unpaid.optimal) == (True, False)  # the rival is feasible and earns more
    assert unpaid.preference == (1, Fraction(-1, 2))
    assert unpaid.lost(UTILITY) == Fraction(1, 2)
    assert half.best.utility == half.rho  # exactly W rho in the mean
    assert half.preference[0] == Fraction(1, 20)  # .5 - .45
    assert half.lost(REWARD) == Fraction(2, 5)
    assert quarter.optimal
    assert (quarter.lost(REWARD), quarter.lost(UTILITY)) == (Fraction(1, 2), Fraction(1, 8))


def test_the_claimed_exponents():
    assert {TABULAR.claimed(kind) for kind in (REWARD, UTILITY)} == {Fraction(8, 9)}
    assert {LINEAR.claimed(kind) for kind in (REWARD, UTILITY)} == {Fraction(7, 8)}


def test_the_lemma_is_false_by_an_example_that_is_optimal_in_the_mean():
    finding = bandit.bandit_lemma(FEW)
    assert finding.verdict == FALSE
    assert (finding.value, finding.bound) == (1.0, pytest.approx(8 / 9))
    assert "feasible in every block, Exp3 loses utility" in finding.why
    assert "reward half falls only for random G_i, the utility half falls even for non-random G_i" in finding.why
    closed = [row for row in finding.rows if row["how"] == "closed form"]
    assert {row["quantity"] for row in closed if not row["random"]} == {UTILITY}
    assert {row["quantity"] for row in closed if row["meets_appendix"]} == {REWARD, UTILITY}
    for row in closed:
        assert row["log10_K_1_times"] < row["log10_K_10_times"] < row["log10_K_100_times"] < 60
        assert row["ratio_at_1e100"] < row["ratio_at_1e200"] < row["ratio_at_1e400"]


def test_the_simulated_loss_passes_the_bound_itself():
    rows = [row for row in bandit.bandit_lemma(FEW).rows if row["how"] == "simulated" and row["K"] == 1e8]
    by_name = {row["instance"]: row for row in rows}
    row = by_name["feasible in a quarter of the blocks"]
    assert row["reward_low"] > row["reward_bound"]


def test_the_lower_bound_is_below_what_is_simulated():
    """Closed form at K = 1e8, where it is positive: ratio times bound is at most the simulated loss."""
    quarter = EXAMPLES[-1]
    row = bandit.simulate(quarter, TABULAR, 1e8, "usual", 50, np.random.default_rng(0), Rule())
    least = bandit.ratio(quarter, TABULAR, REWARD, 8.0) * row["reward_bound"]
    assert least <= row["reward_high"]


def test_without_any_randomness_exp3_plays_the_infeasible_rival():
    """Against Exp3 from its definition: the rival's turns are fixed in advance, only the draws are random."""
    kappa, n, N = 1e-8 ** (1 / 9), round(1e8 ** (4 / 9)), 12
    gamma = min(1.0, math.sqrt(N * math.log(N) / ((math.e - 1) * n)))
    rng, lost = np.random.default_rng(2), []
    for _ in range(5):
        weights, utility = np.zeros(N), 0.0
        for i in range(n):
            p = np.exp(weights - weights.max())
            p = (1 - gamma) * p / p.sum() + gamma / N
            a = rng.choice(N, p=p)
            r, g = (0.1, 1.0) if a == 0 else (1.0, 0.5 * (i % 2 == 0))
            weights[a] += gamma * (r * (g >= 0.5) + kappa * g) / (1 + kappa) / p[a] / N
            utility += 1 - g
        lost.append(utility / n)
    row = bandit.simulate(EXAMPLES[0], TABULAR, 1e8, "usual", 30, np.random.default_rng(0), Rule())
    assert row["utility"] == pytest.approx(np.mean(lost), abs=0.03)
    assert row["utility"] > 0.7
    assert row["reward"] < 0


def test_arms_that_are_feasible_in_every_block_and_pay_the_most_are_no_counterexample():
    fine = Instance("paid the most", Fraction(1, 2), arm((1, "3/4", "1/2")), arm((1, "1/2", 1)))
    assert bandit.bandit_lemma(FEW, instances=(fine,)).verdict == HOLDS


def test_a_bound_in_proportion_to_K_would_hold():
    """With lambda so small that K^(1-lambda) is K, and so large that K^lambda sqrt(KW) is K."""
    slow = bandit.Outer("", Fraction(5, 9), Fraction(2, 9))
    assert slow.claimed(UTILITY) == 1
    assert not any(one.breaks(UTILITY, slow) for one in EXAMPLES)


numbers = st.integers(0, 4).map(lambda i: Fraction(i, 4))


@settings(max_examples=200, deadline=None)
@given(rho=numbers, best=st.tuples(numbers, numbers, numbers), rival=st.tuples(numbers, numbers))
def test_no_simpler_counterexample_has_an_arm_with_one_outcome_that_is_optimal(rho, best, rival):
    """One sure outcome: the appendix's assumption then excludes a linear loss; so two outcomes are the simplest."""
    _, r, g = best
    one = Instance("", rho, arm((1, r, g)), arm((1, *rival)))
    if one.optimal:
        assert not one.breaks(REWARD, TABULAR)
        assert not one.breaks(UTILITY, TABULAR)


def test_the_corrected_lemma_holds():
    finding = bandit.bandit_lemma_corrected(Given(problems=16, samples=200))
    assert finding.verdict == HOLDS
    assert 0 < finding.slack < 1


@pytest.mark.parametrize("fault", [Rule(importance=False), Rule(feasibility=False)])
def test_the_corrected_lemma_fails_with_a_fault_in_exp3_or_its_gain(fault):
    assert bandit.bandit_lemma_corrected(Given(problems=16, samples=200), rule=fault).verdict == FAILS


def test_random_bandits_meet_the_corrected_assumption():
    R, G, rho = bandit.random_blocks(np.random.default_rng(3), 12, 3, 200)
    paid = np.where(rho[None, :, None] <= G, R, 0.0)
    assert (G[:, :, 0] >= rho).all()
    assert (paid[:, :, :1] >= paid).all()
    assert R.min() >= 0
    assert max(R.max(), G.max()) <= 1


def test_same_given_same_numbers():
    assert bandit.bandit_lemma_corrected(FEW) == bandit.bandit_lemma_corrected(FEW)
