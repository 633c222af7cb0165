"""C16 to C18, C23: the counterexample by brute force; steps 7 to 10 of docs/theorem_3.md."""

import math
import re
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nscmdp import budget, optimum
from nscmdp.algorithms._lsvi import Constants
from nscmdp.cmdp import CMDP
from nscmdp.drift import DriftingCMDP
from wei2023.proofs import bandit, linear, linear_runs
from wei2023.proofs import linear_counterexample as example
from wei2023.proofs.findings import ASSUMPTION, CHECKS, FALSE, OPEN, Given

pytestmark = pytest.mark.usefixtures("short_runs")
FEW = Given(problems=12, samples=40)
HALF = Fraction(1, 2)


@pytest.fixture(autouse=True)
def lemma_2(monkeypatch):
    """Whether Lemma 2 is false is decided, and tested, with the bandit."""
    monkeypatch.setattr(bandit, "lemma_is_false", lambda outer: True, raising=False)


def environment(K, seed, m=1):
    """The counterexample with s at random; a learner that sees features cannot tell m from 1."""
    counts = example.sizes(m)
    group = np.repeat(np.arange(len(counts)), counts)
    phi = np.eye(4)[[[example.feature(int(one), a) for a in (0, 1)] for one in group]]
    places = product((0, 1), group, (0, 1))
    paid = np.array([example.paid(h, int(x), a) for h, x, a in places], float).reshape(2, -1, 2)
    cases = []
    for case in example.cases():
        mu = np.array([example.kernel(h, *case) for h in (0, 1)], float) / counts
        P = np.einsum("xai,hiy->hxay", phi, mu[..., group])
        cases.append(CMDP(P=P, r=paid, g=paid, rho=0.75, mu0=np.eye(len(group))[0]))
    s = np.random.default_rng(seed).integers(0, 2, size=K)
    route = [2 * (k % 2) + int(one) for k, one in enumerate(s)]
    return DriftingCMDP(cases, [*range(1, K + 1)], route, episodes=K, features=phi)


def test_the_counterexample_is_a_linear_cmdp():
    """At step 1 mu mu^T = diag(1/m, 1/m) and a block of ones, at step 2 all ones."""
    m = 9
    env = environment(2, 1, m)
    assert len(env.features) == 1 + 4 * m
    assert np.linalg.norm(env.features, axis=2).max() == 1
    for one in env.anchors:
        np.testing.assert_allclose(one.P.sum(axis=-1), 1)
        np.testing.assert_array_equal(one.P[1], env.anchors[0].P[1])
        assert one.P.min() >= 0
        assert optimum.linear_program(one).value == pytest.approx(1)
        assert optimum.best_utility(one) == pytest.approx(0.75 + 0.25)
        mu = np.linalg.pinv(env.features.reshape(-1, 4)) @ one.P.reshape(2, -1, env.S)
        np.testing.assert_allclose(np.linalg.norm(mu, ord=2, axis=(1, 2)), [math.sqrt(2), 2])
        np.testing.assert_allclose(np.linalg.norm(mu, axis=(1, 2)), [math.sqrt(2 + 2 / m), 2])
        np.testing.assert_allclose(np.linalg.norm(mu.sum(axis=2), axis=1), 2)
    assert example.admissible(m)


@settings(max_examples=15, deadline=None)
@given(st.integers(2, 12), st.integers(0, 10**6))
def test_the_budget_is_the_same_whatever_s_is(K, seed):
    """(K-1) 2/sqrt(m) by the project's own measure of it, (K-1) 2 sqrt(2) by total variation."""
    m = 4
    env = environment(K, seed, m)
    assert budget.linear_variation(env).total == pytest.approx((K - 1) * 2 / math.sqrt(m))
    found = linear_runs.local_budgets(env, K)
    np.testing.assert_allclose(found, K * [[0, 0, (K - 1) * 2 * math.sqrt(2)]], atol=1e-9)
    assert math.sqrt(4 * K / 2) <= K  # D at B = 1
    assert example.budget_squared("frobenius", K, m) == Fraction(4, m) * (K - 1) ** 2
    assert example.budget_squared("frobenius", K, example.states(K)) == 1
    assert example.budget_squared("variation", K, m) == 8 * (K - 1) ** 2


def test_every_policy_has_half_of_the_reward_there_in_the_mean():
    env = environment(2, 0)
    values = [[one.P[0, 0, a] @ one.r[1, :, 0] for a in (0, 1)] for one in env.anchors]
    np.testing.assert_allclose(np.reshape(values, (2, 2, 2)).mean(axis=1), 0.5)
    assert example.lost() == (HALF, Fraction(1, 4))


def test_algorithm_3_and_the_lemmas_on_estimates_fail_there_at_any_drift_term():
    """At a small bonus, late in a frame; with 1e12 states in a set the drift term is .04."""
    constants = Constants(D=600, xi=16.0, alpha=20.0, eta=0.5, beta=0.5, ridge=1.0)
    one = linear_runs.run(environment(600, 3), constants, 1.0, np.random.default_rng(3))
    assert 2 * 599 * 2 / math.sqrt(1e12) * math.sqrt(4 * 600) < 0.15
    assert one.residual[200:].mean() > 0.25  # Lemma 19
    assert one.optimism[200:, 0].mean() > 0.25  # Lemma 22
    assert example.off_by(example.states(10)) > 1  # the step of Lemma 19


def test_verdicts_on_the_theorems():
    expected = {"C16": ASSUMPTION, "C17": OPEN, "C18": OPEN, "C23": OPEN}
    assert {claim: CHECKS[claim](FEW).verdict for claim in expected} == expected


def test_orders_by_direct_arithmetic():
    K, H, d, B, S = 2.0**40, 3.0, 5.0, 7.0, 11.0
    claimed = K**0.75 * H**2.25 * d**1.25 * B**0.25
    for states, measured in ((1.0, B), (S, math.sqrt(S) * B)):  # total variation, Frobenius
        D = math.sqrt(d * K / (measured * H))
        for term in (K * H**2 * d**1.5 / math.sqrt(D), H**3 * math.sqrt(d) * measured * D**1.5):
            assert term == pytest.approx(states ** (1 / 8) * claimed)
    numbers = linear.theorem_3(FEW).numbers
    assert numbers["power of S by Frobenius norms, best D"] == "1/8"
    assert numbers["the same at the printed D"] == "1/2"
    assert numbers["power of K there, claimed, S fixed"] == "1"


WRONG = linear.THEOREM_3 * linear.K ** Fraction(1, 20)


@pytest.mark.parametrize(
    ("claim", "module", "name", "planted", "expected"),
    [
        ("C16", linear, "THEOREM_3", WRONG, FALSE),
        ("C17", linear, "ZETA", Fraction(5, 9), FALSE),
        ("C17", bandit, "lemma_is_false", lambda outer: False, ASSUMPTION),
        ("C18", linear, "THEOREM_3", WRONG, FALSE),
        ("C23", linear, "LOCAL", WRONG, FALSE),
    ],
)
def test_a_planted_error_changes_the_verdict(monkeypatch, claim, module, name, planted, expected):
    monkeypatch.setattr(module, name, planted)
    assert CHECKS[claim](FEW).verdict == expected


@pytest.mark.parametrize(("name", "planted"), [("DELTA", HALF), ("COPIES", 1), ("RHO", HALF)])
def test_an_environment_that_is_not_as_described_contradicts_nothing(monkeypatch, name, planted):
    """Without Slater's delta; with one copy of the sets, which tells s; without a violation."""
    monkeypatch.setattr(example, name, planted)
    assert len(example.changes("frobenius", 9)) == (2 if name == "COPIES" else 1)
    assert not example.contradicted(linear.THEOREM_3, "frobenius")


eighths = st.integers(0, 8).map(lambda i: Fraction(i, 8))
thirds = st.fractions(-1, 1, max_denominator=3)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(*3 * [thirds]), min_size=1, max_size=3), st.tuples(*3 * [eighths]))
def test_step_7_a_change_of_mu(mu, V):
    """|int V dmu| is at most the total variation, not half of it, nor the Frobenius norm."""

    def square(mu, V):
        return sum(sum(a * b for a, b in zip(row, V, strict=True)) ** 2 for row in mu)

    norms, wide = example.squares(mu, [1, 1, 1]), example.squares([[1]], [100])
    assert square(mu, V) <= norms["variation"]
    assert norms["frobenius"] <= norms["variation"] <= 3 * norms["frobenius"]  # S = 3
    assert wide["frobenius"] < wide["variation"] / 4 < square([[1]], [1])


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 40))
def test_step_7_weights_of_past_episodes(seed, d, k):
    """sum |phi^T Lambda^-1 phi_tau| <= sqrt(k)/2, attained by phi = 1, phi_tau = k^(-1/2)."""
    rng = np.random.default_rng(seed)
    phi = rng.normal(size=(k + 1, d)) * rng.uniform(0, 1, size=d) ** 4
    past = phi[1:] / np.maximum(np.linalg.norm(phi[1:], axis=1, keepdims=True), 1)
    attained = np.ones(1), np.full((k, 1), k**-0.5)
    for query, seen in ((phi[0] / np.linalg.norm(phi[0]), past), attained):
        gram = np.eye(len(query)) + seen.T @ seen
        weights = np.abs(seen @ np.linalg.solve(gram, query)).sum()
        assert weights <= math.sqrt(k) / 2 + 1e-9
    assert weights > math.sqrt(k) / 4


def backwards(seed, noise, top, half=1.0):
    """Step 8 on random tables: the least that is left of its two bounds, times `half`.

    Estimates are off by noise(c, b), which is to be within [-c, 2b + c], and clipped at top(h).
    """
    rng, (H, S, A, Y) = np.random.default_rng(seed), (3, 2, 2, 4.0)
    P, paid = rng.dirichlet(np.ones(S), size=(H, S, A)), rng.uniform(0, 0.1, size=(2, H, S, A))
    c, b = 0.02 * rng.random((2, H, 1, 1)), 0.02 * rng.random((H, S, A))
    V, value, over = np.zeros((3, 2, S))
    best, allowed = np.zeros(S), 0.0
    for h in reversed(range(H)):
        Q = (paid[:, h] + (P[h] @ V.T).transpose(2, 0, 1) + noise(c[:, h], b[h])).clip(0, top(h))
        F = Q[0] + Y * Q[1]
        pi = np.exp(50 * (F - F.max(axis=1, keepdims=True)))
        pi /= pi.sum(axis=1, keepdims=True)
        allowed += (F.max(axis=1) - (pi * F).sum(axis=1)).max() + (c[0, h] + Y * c[1, h]).item()
        best = (paid[0, h] + Y * paid[1, h] + P[h] @ best).max(axis=1)
        V = (pi * Q).sum(axis=2)
        value = (pi * (paid[:, h] + (P[h] @ value.T).transpose(2, 0, 1))).sum(axis=2)
        over = (pi * (2 * b[h] + c[:, h] + (P[h] @ over.T).transpose(2, 0, 1))).sum(axis=2)
    return (half * allowed - best + V[0] + Y * V[1]).min(), (half * over - V + value).min()


NOISE = [
    lambda c, b: 0 * b - c,
    lambda c, b: 2 * b + c,
    lambda c, b: np.random.default_rng(0).uniform(0 * b - c, 2 * b + c),
]


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(NOISE))
def test_step_8_values(seed, noise):
    assert min(backwards(seed, noise, lambda h: 3 - h)) >= -1e-12


def test_step_8_needs_its_constants_the_bonus_and_the_range_of_each_step():
    """Last: H = 2, Y = 4; at step 2 a, (r, g) = (0, 1), is known, and b, (1, 0), is .62 too high.

    At step 1 r = 1, g = 0, and with a clip at 2 b is preferred: min(1 + 1.62, 2) + 4 * .62 = 4.48,
    where a has 1 + 4.
    """
    assert backwards(0, NOISE[0], lambda h: 3 - h, half=0.5)[0] < 0
    assert backwards(0, NOISE[1], lambda h: 3 - h, half=0.5)[1] < 0
    assert backwards(0, lambda c, b: -10 * b - c, lambda h: 3 - h)[0] < 0
    left = {}
    for top in (2.0, 1.0):
        second = [(0.0, 1.0), (min(1 + 0.62, top), 0.62)]
        V = max(second, key=lambda one: one[0] + 4 * one[1])
        left[top] = min(1 + V[0], 2.0) + 4 * V[1] - (1 + 4)
    assert left[2.0] == pytest.approx(-0.52)
    assert left[1.0] >= 0


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 40))
def test_step_9_bonuses_of_a_frame(seed, d, D):
    rng, gram, total = np.random.default_rng(seed), np.eye(d), 0.0
    for phi in rng.normal(size=(D, d)):
        phi = phi / max(np.linalg.norm(phi), 1)
        total += math.sqrt(phi @ np.linalg.solve(gram, phi))
        gram = gram + np.outer(phi, phi)
    assert total <= math.sqrt(2 * d * D * math.log(1 + D))
    assert math.sqrt(2 * math.log(2)) / 2 < 1  # d = D = 1, phi = 1: half of it is too little


def tail(n, above):
    """P(Y >= n/2 + above) for the number Y of heads of n fair coins"""
    return sum(math.comb(n, i) for i in range(math.ceil(n / 2 + above), n + 1)) / 2**n


@pytest.mark.parametrize("p", [0.05, 0.001])
def test_step_9_conditional_means(p):
    for n in (4, 50, 400):
        assert tail(n, math.sqrt(n * math.log(1 / p) / 2)) <= p
    assert tail(400, math.sqrt(400 * math.log(1 / p) / 2) / 2) > p


def test_the_martingale_of_lemma_16_has_H_cubed():
    """2HD increments +-2H, D = 1, H = 20: 16 D H^3 log(4/p) is enough, l.1628's 16 D H^2 is not."""
    for power, enough in ((3, True), (2, False)):
        s = math.sqrt(16 * 20**power * math.log(4 / 0.05))
        assert (tail(2 * 20, s / (4 * 20)) <= 0.05 / 2) is enough


def test_step_10_orders():
    """Over (1+xi)/xi times Theorem 3's order no term has a positive power, as K, H, d, B >= 1."""
    K, H, d, B, D = *(getattr(linear, name) for name in "KHdB"), linear.FRAME
    bonuses, means, dual = d * H**2 * K * (d / D) ** HALF, d * H**2 * K**HALF, H * K**HALF
    terms = [bonuses, means, dual, H**2, H * B * D ** Fraction(3, 2)]
    ratios = [dict((term / linear.THEOREM_3).powers) for term in terms]
    assert ratios[0] == {}
    assert all(power <= 0 for powers in ratios for power in powers.values())
    assert ratios[2]["K"] - 4 * ratios[2]["B"] > 0  # (A5): not at B = K^-4
    better = (H * d ** Fraction(3, 2) * K / B) ** HALF
    order = K ** Fraction(3, 4) * H ** Fraction(7, 4) * d ** Fraction(9, 8) * B ** Fraction(1, 4)
    terms = [d * H**2 * K * (d / better) ** HALF, H * B * better ** Fraction(3, 2)]
    assert linear.add_up(terms, order)


def test_the_document_has_the_steps_and_is_short():
    text = (Path(__file__).parents[3] / "docs" / "theorem_3.md").read_text(encoding="utf-8")
    assert re.findall(r"^\*\*\((\d+)\)", text, re.M) == [str(n) for n in range(1, 11)]
    assert len(text.split()) <= 900
