"""Theorems 1 and 2 and the assumption on b~, by a plain listing, decimals and plain numbers."""

import math
from decimal import Decimal, getcontext
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from helpers import random_path, variation_by_definition
from nscmdp import environments
from nscmdp.drift import DriftingCMDP
from nscmdp.problem import Problem
from wei2023.proofs import bandit, bounds, instrumented, theorems
from wei2023.proofs import counterexamples as examples
from wei2023.proofs.counterexamples import CONSISTENT, CORRECTED, PRINTED
from wei2023.proofs.findings import ASSUMPTION, CHECKS, FALSE, HOLDS, MISPRINT, OPEN, Given
from wei2023.verdicts import theory

GIVEN = Given(problems=10, samples=40)


@pytest.fixture(autouse=True)
def lemma(monkeypatch):
    monkeypatch.setattr(bandit, "lemma_is_false", lambda: True, raising=False)


def judged(claim):
    return CHECKS[claim](GIVEN).verdict


def frames_of_one_arm(K, B, frame, amount):
    """Algorithm 1 for S = H = 1, A = 2, line by line: is each frame a tie and then one arm?"""
    iota, chi, eta = 128 * math.log(2 * K), K**0.2, K**0.2 * B ** (1 / 3)
    rng, a = np.random.default_rng(0), 0
    eps, b = 8 * math.sqrt(2 * iota**3) * B ** (1 / 3) / K**0.2, B ** (1 / 3) * K**-0.4
    Q, C, N, Z, cbar = [1.0, 1.0], [1.0, 1.0], [0, 0], 0.0, 0.0
    for k in range(1, K + 1):
        F = [Q[a] + Z / eta * C[a] for a in (0, 1)]
        best = [a for a in (0, 1) if F[a] == max(F)]
        if len(best) != 1 + (k % frame == 1 % frame) or (len(best) == 1 and best != [a]):
            return False
        a = rng.choice(best)
        N[a] += 1
        rate, bonus = (chi + 1) / (chi + N[a]), 0.25 * math.sqrt(iota * (chi + 1) / (chi + N[a]))
        Q[a] = (1 - rate) * Q[a] + rate * (a * (k % 2) * amount + bonus + 2 * b)
        C[a] = (1 - rate) * C[a] + rate * (1 - a + bonus + 2 * b)
        cbar += C[a]
        if k % frame == 0:
            Q, C, N = [1.0, 1.0], [1.0, 1.0], [0, 0]
            Z, cbar = max(0.0, Z + 0.75 + eps - cbar / frame), 0.0
    return True


@pytest.mark.parametrize("m", [3, 2])
def test_every_frame_of_the_fast_drift_is_one_toss_of_a_coin(m):
    case = examples.FastDrift(2, m)
    assert (case.K, case.B, case.frame) == {3: (1024, 512, 1), 2: (1024, 64, 4)}[m]
    env = case.env()
    short = DriftingCMDP(env.anchors, env.knots[:50], env.route[:50])
    assert variation_by_definition(short).sum() == pytest.approx(49 * float(case.step))
    assert 0 <= env.reward.min() <= env.reward.max() <= 1
    assert frames_of_one_arm(case.K, float(case.B), case.frame, float(case.step))
    found = case.simulated(200, np.random.default_rng(1))
    assert found.mean() == pytest.approx(0.25, abs=1e-12 if m == 3 else 0.01)


@pytest.mark.parametrize("m", [3, 2])
def test_the_condition_of_theorem_1_admits_the_fast_drift_and_that_of_its_proof_never_does(m):
    getcontext().prec = 60
    case = examples.first_admitted(m, PRINTED)

    def met(n, inside):
        iota = 128 * (2 * Decimal(n) ** 10).ln()
        return Decimal(n) ** 2 >= 64 * (2 * iota**3).sqrt() * Decimal(n) ** (m * inside)

    assert met(case.n, 0)
    assert not met(round(0.999 * case.n), 0)
    assert examples.first_admitted(m, CORRECTED) is None
    assert not any(met(n, 1) for n in (2, case.n, 10**9, 10**30))  # B^(1/3) = n^m
    assert 10 * math.log10(case.n) == pytest.approx(40.4, abs=0.1)


@drawn(st.integers(2, 40), st.sampled_from([3, 2, -1]))
def test_all_drifts_meet_both_assumptions_and_have_the_printed_constants(n, m):
    case = examples.Drift(n, m)
    assert case.assumptions()
    assert Fraction(case.frame) ** 15 * case.B**10 == Fraction(case.K) ** 9  # L = K^(3/5)/B^(2/3)
    assert case.btilde**15 * case.K**6 == case.B**5  # b~ = B^(1/3) K^(-2/5)
    assert case.frames * case.frame == case.K
    assert (case.frames * case.btilde, case.frame * case.step) == (case.B, case.btilde)
    printed = instrumented.literal(instrumented.Sizes(1, 2, 1, case.K, float(case.B)))
    assert case.constants()[:3] == pytest.approx(printed[:3], rel=0.02)


def by_merging(n, iota):
    """The violation without drift: plays of a frame go by the least index an arm has had."""
    L, chi, t = n**8, n**2, np.arange(1, n**8 + 1, dtype=float)
    b = 0.25 * np.sqrt(iota * (chi + 1) / (chi + t)) + 2 * n**-5.0
    rate, mean, level = (chi + 1) / (chi + t), np.empty(L), 0.0
    for i, (alpha, bonus) in enumerate(zip(rate.tolist(), b.tolist(), strict=True)):
        level += alpha * (bonus - level)
        mean[i] = level
    Z, useful, eps = 0.0, 0, 8 * math.sqrt(2 * iota**3) / n**3
    for _ in range(n**2):
        w = Z / n
        falls = [np.concatenate([[1 + w], (paid + (1 + w) * mean)[:-1]]) for paid in (w, 1)]
        one, two = np.minimum.accumulate(falls, axis=1)
        visits = int((np.argsort(np.concatenate([-two, -one]), kind="stable")[:L] >= L).sum())
        useful += visits
        cbar = mean[:visits].sum() + visits + mean[: L - visits].sum()
        Z = max(0.0, Z + 0.5 + eps - cbar / L)
    return (n**10 / 2 - useful) / n**9


@pytest.mark.parametrize(("n", "iota"), [(3, "1/100"), (3, "1/50"), (4, "1/100"), (5, "1/100")])
def test_the_slow_drift_is_the_merger_of_its_indices_and_above_its_bound(n, iota):
    case, merged = (
        examples.SlowDrift(n, small_iota=Fraction(iota)),
        by_merging(n, float(Fraction(iota))),
    )
    assert merged >= case.violation() > 0
    if n < 5:
        assert float(case.simulated(np.random.default_rng(0))) == pytest.approx(merged, rel=2e-3)


@pytest.mark.parametrize("case", [*theorems.SLOW, examples.SlowDrift(7_700)])
def test_the_slow_drift_by_decimals(case):
    """Each step with 60 digits: what is claimed from below is not above it, and close."""
    getcontext().prec = 60
    n = Decimal(case.n)
    iota = 128 * (2 * n**10).ln()
    eps, b1, btilde, L = 8 * (2 * iota**3).sqrt() / n**3, iota.sqrt() / 4, n**-5, n**8
    x = Decimal(1) / 6 - n**-13 / 3
    visits = 1 + iota * (n**2 + 1) / (16 * x**2) - n**2
    bonuses = 2 * (iota * (n**2 + 1) * (n**2 + L)).sqrt()
    rise = Decimal("0.5") - 2 * btilde - (visits + bonuses) / L
    assert 0 < case.rise() <= Fraction(str(rise))
    assert 1 + n / (2 * rise) < n**2
    V = (L * (n / 2 - 1 - b1 - 2 * btilde) - n**10 * eps) / n**9
    assert 0 < case.violation() <= Fraction(str(V))
    assert float(case.violation()) == pytest.approx(float(V), rel=2e-3)
    assert n**2 >= 32 * (2 * iota**3).sqrt()  # the printed condition
    assert [case.admitted(one) for one in (PRINTED, CONSISTENT, CORRECTED)] == [True, True, False]
    assert not examples.SlowDrift(7_000).admitted(PRINTED)
    assert examples.SlowDrift(1_000).violation() < 0  # K eps is larger there


def test_every_epoch_of_algorithm_2_begins_with_a_tie():
    case = examples.Ties(2, -2)
    assert (case.K, case.epochs, case.epoch, case.B) == (512, 16, 32, 2.0**-18)
    *_, last = budgets = case.candidates()
    assert (len(budgets), last / budgets[0]) == (5, pytest.approx(32))
    assert variation_by_definition(case.env(case.K)).sum() == pytest.approx(case.B, rel=1e-6)
    found = case.regret(50, np.random.default_rng(1))
    assert found >= case.epochs / 2 > 512 ** (8 / 9) * case.B ** (1 / 3)


def plain_terms(S, A, H, K, B, delta):
    """The largest version of each: the regret bound, K eps, and what it has to make up for."""
    iota = 128 * math.log(math.sqrt(2 * S * A * H) * K)
    chi, eta, b, L = K**0.2, K**0.2 * B ** (1 / 3), B ** (1 / 3) * K**-0.4, K**0.6 / B ** (2 / 3)
    eps = 8 * math.sqrt(S * A * H**6 * iota**3) * B ** (1 / 3) / K**0.2
    estimation = H**2 * S * A * K / L + 2 * (H**3 * math.sqrt(iota) + 2 * H**4 * b) * K / chi
    estimation += math.sqrt(H**4 * S * A * iota * K**2 * (chi + 1) / L) + 2 * b * H**2 * K
    drift = K * (2 * H**4 * iota + 4 * H**4 * b**2 + eps**2) / eta
    drift += (eta + K**0.4) * H**2 * B ** (2 / 3) / (eta * K)
    log = math.log(16 * (H**2 * math.sqrt(iota) + b * H**2) / delta)
    queue = 100 * (H**4 * iota + b**2 * H**2) * log + 4 * H**2 * B ** (2 / 3) / K
    queue += 4 * H**2 * B ** (2 / 3) / (eta * K**0.6)
    queue += 4 * eta * (H**2 * math.sqrt(iota) + 2 * H**2 * b)
    return K * H * eps / delta + estimation + drift, K * eps, L * queue / delta + estimation


SIZES = (st.integers(1, 50), st.integers(2, 9), st.integers(1, 20), st.floats(1, 100))


@drawn(*SIZES, st.floats(0.1, 1), st.floats(2, 90))
def test_the_terms_add_up_to_the_bounds(S, A, H, B, delta, log10_K):
    problem = SimpleNamespace(S=S, A=A, H=H, B=B, delta=delta)
    regret, won, lost = plain_terms(S, A, H, 10**log10_K, B, delta)
    logs = bounds.logs_of(problem, log10_K)
    apart = bounds.total(bounds.regret().values(), logs) - math.log10(regret)
    assert -1e-9 <= apart <= math.log10(2) / 2 + 1e-9
    needed = bounds.needed_eps(problem, log10_K) - math.log10(lost) + log10_K
    assert -1e-9 <= needed <= math.log10(2) / 2 + 1e-9
    assert bounds.EPS.log10(logs) + log10_K == pytest.approx(math.log10(won))


@drawn(*SIZES, st.floats(0.02, 1), st.floats(1, 1e6))
def test_the_losses_are_at_most_the_computed_share_of_k_eps(S, A, H, B, delta, t):
    delta, K = delta * H, math.exp(1 / (delta * H))
    for _ in range(100):  # iota grows with K
        iota = 128 * math.log(math.sqrt(2 * S * A * H) * K)
        K = max(K, (16 * math.sqrt(S * A * H**6 * iota**3) * B ** (1 / 3) * t / delta) ** 5)
    _, won, lost = plain_terms(S, A, H, K, B, delta)
    assert lost / won <= bounds.largest_share(*CORRECTED) < 0.005


@drawn(*[st.floats(0, 3)] * 3, st.floats(0, 12), st.floats(0, 40), st.booleans())
def test_a_term_of_the_claimed_order_never_exceeds_it(S, A, H, B, t, small_B):
    """Logarithms of sizes; the constant of each term, iota and delta taken as 1."""
    B, least = (-B, 0.0) if small_B else (B, 1.0)
    K = 5 * ((S + A) / 2 + 3 * H + B / 3 + t)
    logs = {"S": S, "A": A, "H": H, "B": B, "K": K, "iota": 0.0, "delta": 0.0}
    wrong = bounds.exceeding(Fraction(1, 3), least)
    for name, term in bounds.regret().items():
        ratio = (bounds.Monomial(term.powers) / bounds.RATE).log10(logs)
        assert name in wrong or ratio <= 1e-9


def test_with_b_below_1_or_without_b_in_the_condition_the_bound_does_not_add_up():
    assert {"learning rate", "drift of the queue, iota"} <= set(bounds.exceeding(*CONSISTENT))
    assert bounds.largest_share(*CONSISTENT) == bounds.largest_share(*PRINTED) == math.inf
    assert "first visits" in bounds.exceeding(Fraction(0), 1.0)


def test_what_the_condition_on_k_could_be():
    env = environments.make("menu", 1000, legs=1)
    problem = Problem.of(env)
    at = math.log10(theory.from_episodes(theory.FIRST, problem))
    logs = bounds.logs_of(problem, at)
    assert bounds.EPS.log10(logs) == pytest.approx(math.log10(problem.delta / 2))
    *steps, last = bounds.inequalities(env, problem, at)
    least = bounds.needed_eps(problem, math.log10(last.measured))
    assert least == pytest.approx(math.log10(problem.delta / 2))
    assert all(step.looseness > 0 for step in (*steps, last))


def test_theorem_1_needs_an_assumption():
    found = CHECKS["C12"](GIVEN)
    assert (found.verdict, found.notices.error[-9:]) == (ASSUMPTION, "below 1/3")
    numbers = dict(found.numbers)
    assert numbers["fast drift: log10 K from which V(K) = K/4"] == pytest.approx(40.4, abs=0.1)
    assert numbers["slow drift: V(K)/K^0.9 at K = 1e40, at least"] == pytest.approx(0.351, abs=1e-3)
    runs = [row for row in found.rows if row["simulated"] is not None]
    assert all(row["simulated"] >= row["at_least"] > 0 for row in runs)


@pytest.mark.parametrize(
    ("where", "name", "fault", "expected"),
    [
        (examples, "CORRECTED", examples.Statement(Fraction(3, 10), 1.0), FALSE),
        (examples, "CORRECTED", CONSISTENT, FALSE),
        (bounds, "RATE", bounds.RATE / bounds.H, OPEN),  # H^3 for H^4
        (bounds, "EPS", bounds.EPS / bounds.IOTA, OPEN),  # sqrt(iota) for iota^(3/2)
        (bounds, "EPS", bounds.EPS * bounds.K ** Fraction(1, 10), OPEN),
    ],
)
def test_an_error_in_the_corrected_theorem_1_is_noticed(monkeypatch, where, name, fault, expected):
    monkeypatch.setattr(where, name, fault)
    assert judged("C12") == expected


def test_one_counterexample_alone_is_a_misprint_and_none_leaves_an_order(monkeypatch):
    monkeypatch.setattr(bounds, "exceeding", lambda inside, least_B: [])
    monkeypatch.setattr(bounds, "largest_share", lambda inside, least_B: 0.1)
    monkeypatch.setattr(examples.SlowDrift, "queue", lambda case: None)
    assert judged("C12") == MISPRINT
    monkeypatch.setattr(instrumented, "restart", lambda *tables: None)
    monkeypatch.setattr(instrumented, "bonus", lambda t, H, constants: 0 * t)
    assert judged("C12") == MISPRINT  # frames of one episode stick all the same
    monkeypatch.setattr(examples.FastDrift, "violation", lambda case: None)
    assert judged("C12") == "asymptotic"


@drawn(st.fractions(0, 1, max_denominator=60), st.fractions(0, 1, max_denominator=60))
def test_no_zeta_and_lambda_do_better_than_the_papers(zeta, lam):
    assert all(theorems.exponents(Fraction(5, 9), Fraction(1, 9)).values())
    assert max(1 - zeta / 5, lam + (1 + zeta) / 2, 1 - lam) >= Fraction(8, 9)
    same = (zeta, lam) == (Fraction(5, 9), Fraction(1, 9))
    assert all(theorems.exponents(zeta, lam).values()) == same


def test_the_queue_of_all_epochs_by_numbers():
    """How the terms of appendix F grow from one K to another, with K/W epochs of W = K^(5/9)."""

    def terms(K, bhat):
        W = K ** (5 / 9)
        L, eta, eps = W**0.6 / bhat ** (2 / 3), W**0.2 * bhat ** (1 / 3), bhat ** (1 / 3) / W**0.2
        return np.log([L, K / W * L, K / W * L * eta, K / W * W * eps])

    for power in (0, -2 / 9):
        slopes = (terms(1e90, 1e90**power) - terms(1e30, 1e30**power)) / math.log(1e60)
        found = theorems.violation_powers(Fraction(5, 9), Fraction(power).limit_denominator(9))
        assert [float(one) for one in found.values()] == pytest.approx(slopes)
    assert [str(one) for one in found.values()] == ["13/27", "25/27", "26/27", "22/27"]


def test_theorem_2_is_open_by_lemma_2(monkeypatch):
    found = CHECKS["C14"](GIVEN)
    assert found.verdict == OPEN
    assert (found.value, found.bound) == pytest.approx((25 / 27, 22 / 27))
    monkeypatch.setattr(bandit, "lemma_is_false", lambda: False)
    assert judged("C14") == ASSUMPTION
    monkeypatch.setattr(examples.Ties, "regret", lambda case, runs, rng: 0.0)
    assert judged("C14") == "asymptotic"


@pytest.mark.parametrize(("zeta", "lam"), [("1/2", "1/9"), ("5/9", "1/8"), ("2/3", "0")])
def test_other_exponents_are_noticed(monkeypatch, zeta, lam):
    monkeypatch.setattr(theorems, "ZETA", Fraction(zeta))
    monkeypatch.setattr(theorems, "LAMBDA", Fraction(lam))
    assert judged("C14") == FALSE


def test_the_assumption_on_local_budgets_excludes_switches_alone(monkeypatch):
    found = CHECKS["C22"](GIVEN)
    assert (found.verdict, found.value) == (ASSUMPTION, pytest.approx(1.42, abs=0.01))
    for row in found.rows:
        switches = "switches" in row["environment"]
        assert (row["least_over_B"] > row["limit_over_B"]) == switches

    def of_twice_the_length(steps, n, m, framed=theorems.framed):
        return np.reshape(framed(steps, n, m), (-1, 2)).sum(axis=1).tolist()

    monkeypatch.setattr(theorems, "framed", of_twice_the_length)
    assert judged("C22") == FALSE
    monkeypatch.setattr(theorems, "least_input", lambda env: 1.0)
    assert judged("C22") == HOLDS


@pytest.mark.parametrize("options", [{}, theorems.SWITCH, {"success_drift": 0.0}])
def test_the_least_input_is_that_of_the_definitions(options):
    K = 300
    env = environments.make("grid_world", K, map="6x6", horizon=3, limit=2.0, **options)
    steps = [variation_by_definition(env, k, k + 1).sum() for k in range(1, K)]

    def missing(assumed):
        L = max(1, int(K**0.6 / assumed ** (2 / 3)))
        largest = max(sum(steps[first : first + L]) for first in range(0, K, L))
        allowed = assumed ** (1 / 3) * K**-0.4
        assert theorems.needed(env, assumed) / assumed == pytest.approx(largest / allowed)
        return largest - allowed

    B, least = max(sum(steps), 1.0), theorems.least_input(env)
    assert missing(least * (1 + 1e-9)) <= 0
    assert least == pytest.approx(B) or missing(least * (1 - 1e-6)) > 0


@drawn(st.lists(st.integers(0, 6), min_size=1, max_size=6))
def test_some_btilde_exists_exactly_for_even_spreads(parts):
    total = sum(parts)
    candidates = [Fraction(n, 60) for n in range(60 * 6 + 1)]  # all local budgets and even shares
    exists = any(all(b >= one for one in parts) and len(parts) * b <= total for b in candidates)
    assert exists == (len(set(parts)) == 1) == theorems.has_btilde(parts, total)


def test_one_abrupt_change_needs_an_input_of_its_cube_times_k_to_the_six_fifths():
    path = random_path(np.random.default_rng(3), [1, 2], H=2)
    K = 1000
    env = DriftingCMDP(path.anchors, [499, 500], [0, 1], episodes=K)
    J = variation_by_definition(env).sum()
    assert theorems.least_input(env) == pytest.approx(J**3 * K**1.2)
    even = DriftingCMDP(path.anchors, [1, K], [0, 1])
    assert theorems.least_input(even) == pytest.approx(max(J, 1.0), rel=0.01)
