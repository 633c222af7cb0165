"""C13: the loss and its bound on all paths of a short run, the examples by hand, and faults."""

import itertools
import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from nscmdp import algorithms, environments, simulate
from nscmdp.algorithms._triple_q import triple_q
from nscmdp.problem import Problem
from wei2023.proofs import bandit
from wei2023.proofs.bandit import LINEAR, REWARD, TABULAR, USED, UTILITY
from wei2023.proofs.findings import FALSE, HOLDS, OPEN, Given

FEW = Given(problems=16, samples=200)


@pytest.fixture
def small(monkeypatch):
    for name, few in (("SIMULATED", (4, 6)), ("PROVED", (10, 40)), ("EPISODES", (10_000,))):
        monkeypatch.setattr(bandit, name, few)


def chances(x, gamma):
    """Exp3's probability of arm 0 in every block: over all its paths, with weights as products."""
    (n, N), total = x.shape, np.zeros(len(x))
    for arms in itertools.product(range(N), repeat=n):
        weights, chance, seen = np.ones(N), 1.0, []
        for i, a in enumerate(arms):
            p = (1 - gamma) * weights / weights.sum() + gamma / N
            seen.append(p[0])
            chance *= p[a]
            weights[a] *= math.exp(gamma * x[i, a] / p[a] / N)
        total += chance * np.array(seen)
    return total


@pytest.mark.parametrize("one", bandit.EXAMPLES[:2])
@pytest.mark.parametrize("kappa", [0.2, 0.9])
def test_loss_and_bound_on_all_paths_of_a_short_run(monkeypatch, one, kappa):
    n, N = 8, 3
    monkeypatch.setattr(bandit, "TABULAR", SimpleNamespace(sizes=lambda _: (n, N, kappa)))
    best, rival = (0.0, kappa) if one.name == USED.name else (1 - kappa, 1.0)
    calm = np.array([best, rival, rival]) + 0.3 * kappa
    x = np.array([calm] * 6 + [[0.3 * kappa, 0.0, 0.0]] * 2) / (1 + kappa)
    exact = 0.3 * (1 - chances(x, bandit.usual_rate(N, n))[6:]).sum() / n
    one = one._replace(shares=np.array([Fraction(6, 8), Fraction(2, 8)]))
    loss, V = bandit.simulated(one, UTILITY, 6, Given(samples=400_000))
    assert V == pytest.approx(loss) == pytest.approx(exact, abs=0.001)
    assert 0 < bandit.least_loss(one, UTILITY, 6) < exact


def test_the_examples_by_hand():
    assert (USED.G[:, 0] == USED.rho).all()  # Bhat is feasible in every block
    assert USED.lost(UTILITY) == Fraction(9, 100) == USED.rho - USED.shares @ USED.G[:, 1]
    assert USED.more(USED.small + USED.G) == Fraction(-7, 10) + Fraction(9, 100)
    _, large, coin, quarter = bandit.EXAMPLES
    assert large.more(large.small) == USED.more(USED.small) == Fraction(-7, 10)  # Bhat's regret
    assert (coin.lost(REWARD), coin.lost(UTILITY)) == (Fraction(-9, 10), Fraction(3, 4))
    assert coin.shares @ coin.G[:, 1] < coin.rho  # in every block, yet paid half of the time
    assert (quarter.lost(REWARD), quarter.lost(UTILITY)) == (Fraction(1, 2), Fraction(1, 8))
    for outer in (TABULAR, LINEAR):
        found = [one.contradicts(outer) for one in bandit.EXAMPLES]
        assert found == [{UTILITY}, set(), {UTILITY}, {REWARD, UTILITY}]
        assert bandit.lemma_is_false(outer)


def test_what_is_claimed_decides_and_so_does_how_fast_exp3_learns():
    assert {TABULAR.claimed(half) for half in (REWARD, UTILITY)} == {Fraction(8, 9)}
    assert {LINEAR.claimed(half) for half in (REWARD, UTILITY)} == {Fraction(7, 8)}
    of_order_K = TABULAR._replace(lam=Fraction(2, 9))
    assert of_order_K.claimed(UTILITY) == 1
    assert not any(UTILITY in one.contradicts(of_order_K) for one in bandit.EXAMPLES)
    assert not USED.contradicts(TABULAR._replace(zeta=Fraction(7, 9)))  # n kappa^2 does not grow


def test_powers_of_K_with_the_repaired_gain():
    zeta = Fraction(5, 7)
    assert (1 + zeta) / 2 == 1 - zeta / 5 == Fraction(6, 7) < TABULAR.claimed(UTILITY)
    assert max(1 - zeta / 2, zeta) < Fraction(6, 7)  # noise and drift of a block


def test_powers_in_the_argument_that_theorem_2_violates():
    """docs/repaired_algorithm_2.md: powers of kappa = K^(-1/9), with n of power -4."""
    a, deficit = Fraction(1, 4), Fraction(2, 3)
    for rate in (Fraction(2), Fraction(5, 2)):  # the usual one, and gamma_0
        surplus, blocks = min(rate, 4 - rate), a - 1 - rate
        assert -4 <= blocks < 0
        assert blocks + deficit < -4 + surplus
        assert min(1 - a, 2 - 2 * a, 4 * a, surplus - (1 - a)) > deficit


def test_the_repaired_gain_leaves_the_rival():
    gains, large = (bandit.printed, bandit.repaired), bandit.EXAMPLES[1]
    found, fixed = (bandit.simulated(large, UTILITY, 9, FEW, gain)[1] for gain in gains)
    assert fixed < 0.8 * found


def test_algorithm_2_violates_though_an_arm_is_feasible_in_both_phases():
    K = 1_000_000
    found, error = bandit.algorithm_2("printed", K, 20)
    assert found - error > 0.02
    assert bandit.algorithm_2("repaired", K, 20)[0] < found
    env = bandit.two_phases(K)
    problem = Problem.of(env)
    made = algorithms.constants("double_restart_triple_q", problem, "scaled", bandit.CONSTANTS)
    best = next(arm for arm, B in zip(made.arms, made.budgets, strict=True) if B >= 2)
    for model in env.anchors[::3]:
        learner = triple_q(problem._replace(K=made.W), [best], rule="full")
        epoch = environments.path([model], [1], episodes=made.W)
        assert simulate.run(epoch, learner, windows=1, solve=False).utility[0] >= env.rho


def test_the_lemma_is_false_and_its_corrected_form_holds(small):
    finding = bandit.bandit_lemma(FEW)
    assert finding.verdict == FALSE
    assert 1 < finding.notices.factor < 2
    proved = {(row["example"], row["log10_K"]): row["share"] for row in finding.rows}
    assert proved[USED.name, 10] < 1 < proved[USED.name, 40]


def test_without_a_counterexample_the_corrected_form_decides(small, monkeypatch):
    fine = bandit.example("paid the most", ".5", "1  .75 0 .5  .5 0 1")
    monkeypatch.setattr(bandit, "EXAMPLES", (fine,))
    assert bandit.bandit_lemma(FEW).verdict == HOLDS
    monkeypatch.setattr(bandit, "printed", lambda R, G, rho, kappa: (R + kappa * G) / (1 + kappa))
    assert bandit.bandit_lemma(FEW).verdict == OPEN


def test_the_corrected_form_fails_where_gains_are_not_weighted(monkeypatch):
    def unweighted(gains, shape, gamma, rng):
        arms, log_weights = [], 0.0
        for x in gains:
            p = np.exp(log_weights - np.max(log_weights, axis=-1, keepdims=True)) + 0 * x
            p = (1 - gamma) * p / p.sum(axis=1, keepdims=True) + gamma / x.shape[1]
            arms.append((p.cumsum(axis=1)[:, :-1] <= rng.random((len(x), 1))).sum(axis=1))
            played = np.arange(x.shape[1]) == arms[-1][:, None]
            log_weights = log_weights + gamma * x * played / x.shape[1]
        return np.array(arms)

    assert max(bandit.corrected(FEW)) < 1
    monkeypatch.setattr(bandit, "play", unweighted)
    assert max(bandit.corrected(FEW)) > 1


def test_random_bandits_meet_the_corrected_assumption():
    R, G, rho = bandit.random_blocks(np.random.default_rng(3), 12, 3, 200)
    paid = np.where(rho[None, :, None] <= G, R, 0.0)
    assert (G[:, :, 0] >= rho).all()
    assert (paid[:, :, :1] >= paid).all()
    assert R.min() >= 0
    assert max(R.max(), G.max()) <= 1
