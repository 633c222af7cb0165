"""Theorems 1 and 2 and the assumption on b~: counterexamples by a plain listing, bounds by plain numbers."""

import math
from decimal import Decimal, getcontext
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

from helpers import random_path, variation_by_definition
from nscmdp import environments
from nscmdp.analysis import theory
from nscmdp.analysis.claims import bounds, counterexamples, local_budgets, promises, refutations, slow_drift, theorems
from nscmdp.analysis.claims.counterexamples import CORRECTED, PRINTED, FastDrift, Statement
from nscmdp.analysis.claims.findings import CHECKS, FAILS, FALSE, HOLDS, MIXED, OUT_OF_REACH, Given
from nscmdp.analysis.claims.instrumented import Listing
from nscmdp.analysis.claims.slow_drift import SlowDrift, Ties
from nscmdp.drift import DriftingCMDP
from nscmdp.problem import Problem
from nscmdp.study import layout

GIVEN = Given(problems=10, samples=40)
ANY_B = Statement(Fraction(0), 1.0)  # the printed condition, for B >= 1 alone
WITH_B = Statement(Fraction(1, 3), 0.0)  # the proof's condition, for every B
TINY = Fraction(1, 100)  # an iota with which small n can be run


def two_armed_listing(K, B, rewards, utilities, rho, choose, frame):
    """Algorithm 1 for S = H = 1, A = 2, line by line; for every episode its arms in a tie, or the one arm, and Z."""
    iota, chi, eta = 128 * math.log(2 * K), K**0.2, K**0.2 * B ** (1 / 3)
    eps, b = 8 * math.sqrt(2 * iota**3) * B ** (1 / 3) / K**0.2, B ** (1 / 3) * K**-0.4
    Q, C, N, Z, cbar, played = [1.0, 1.0], [1.0, 1.0], [0, 0], 0.0, 0.0, []
    for k in range(1, K + 1):
        F = [Q[a] + Z / eta * C[a] for a in (0, 1)]
        best = [a for a in (0, 1) if F[a] == max(F)]
        played.append(best)
        a = best[0] if len(best) == 1 else choose()
        N[a] += 1
        rate, bonus = (chi + 1) / (chi + N[a]), 0.25 * math.sqrt(iota * (chi + 1) / (chi + N[a]))
        Q[a] = (1 - rate) * Q[a] + rate * (rewards(k)[a] + bonus + 2 * b)
        C[a] = (1 - rate) * C[a] + rate * (utilities[a] + bonus + 2 * b)
        cbar += C[a]
        if k % frame == 0:
            Q, C, N = [1.0, 1.0], [1.0, 1.0], [0, 0]
            Z, cbar = max(0.0, Z + rho + eps - cbar / frame), 0.0
    return played


@pytest.mark.parametrize("m", [3, 2])
def test_every_frame_of_the_fast_drift_is_one_toss_of_a_coin(m):
    case, rng = FastDrift(2, m), np.random.default_rng(0)
    assert (case.K, case.B, case.frame) == {3: (1024, 512, 1), 2: (1024, 64, 4)}[m]
    step = float(case.step)

    def rewards(k):
        return (0.0, 0.5 + step * (k % 2))

    played = two_armed_listing(case.K, case.B, rewards, (1.0, 0.0), 0.75, lambda: int(rng.integers(2)), case.frame)
    for first in range(0, case.K, case.frame):
        assert played[first] == [0, 1]
        rest = played[first + 1 : first + case.frame]
        assert all(len(arms) == 1 and arms == rest[0] for arms in rest)
    found = counterexamples.simulated_violation(case, 200, np.random.default_rng(1))
    assert found.mean() == pytest.approx(0.25, abs=1e-12 if m == 3 else 0.01)


@drawn(st.integers(20, 150), st.floats(0.6, 1.0), st.integers(0, 10**6))
@settings(max_examples=25)
def test_a_smaller_k_or_another_budget_gives_the_same_counterexample(K, power, seed):
    """Any K and any even drift with B from K^.6 on: each frame is one toss, so the mean violation is K/4."""
    B = float(K) ** power
    frame = max(1, int(K**0.6 / B ** (2 / 3)))
    rng = np.random.default_rng(seed)
    step = min(1.0, B / K)
    played = two_armed_listing(
        K, B, lambda k: (0.0, step * (k % 2)), (1.0, 0.0), 0.75, lambda: int(rng.integers(2)), frame
    )
    for k, arms in enumerate(played):
        assert (len(arms) == 2) == (k % frame == 0)
        if k % frame > 1:
            assert arms == played[k - 1]


@pytest.mark.parametrize("m", [3, 2])
def test_the_printed_condition_begins_at_the_computed_n_and_the_proofs_never_does(m):
    getcontext().prec = 60
    case = counterexamples.first_admitted(m, PRINTED)

    def met(n, inside):
        iota = 128 * (2 * Decimal(n) ** 10).ln()
        return Decimal(n) ** 2 >= 64 * (2 * iota**3).sqrt() * Decimal(n) ** (m * inside)

    assert met(case.n, 0)
    assert not met(case.n - 1, 0)
    assert counterexamples.first_admitted(m, CORRECTED) is None
    assert not any(met(n, 1) for n in (2, case.n, 10**9, 10**30))  # B^(1/3) = n^m
    assert 10 * math.log10(case.n) == pytest.approx(40.4, abs=0.1)


@drawn(st.integers(2, 40), st.sampled_from([2, 3]))
def test_the_fast_drift_meets_both_assumptions_exactly(n, m):
    case = FastDrift(n, m)
    assert case.assumptions()
    assert case.frame**30 * case.B**20 == case.K**18  # L = K^(3/5)/B^(2/3), without roots
    assert case.btilde**15 * case.K**6 == case.B**5  # b~ = B^(1/3) K^(-2/5)
    assert Fraction(case.K, case.frame) * case.btilde == case.B
    assert case.frame * case.step == case.btilde


def test_the_path_of_the_fast_drift_has_the_budgets_it_is_said_to_have():
    for case in (FastDrift(2, 3), FastDrift(2, 2)):
        env = case.env()
        short = DriftingCMDP(env.anchors, env.knots[:50], env.route[:50])
        assert variation_by_definition(short).sum() == pytest.approx(49 * float(case.step))
        assert counterexamples.stays_covered(case)
        assert 0 <= env.reward.min() <= env.reward.max() <= 1


@drawn(st.floats(30, 300))
def test_frames_stick_to_their_first_arm_up_to_the_computed_length(log10_K):
    log_K = log10_K * math.log(10)
    power = counterexamples.stuck_from(log_K)
    log_L = 0.6 * log_K - 2 / 3 * power * log_K
    iota, chi = 128 * (math.log(2) + log_K), math.exp(log_K / 5)
    visits = math.exp(log_L) - 1
    assert 0.25 * math.sqrt(iota * (chi + 1) / (chi + visits)) == pytest.approx(1, rel=1e-6)
    assert counterexamples.condition_up_to(log_K) < power < 0.6


def test_any_rule_for_ties_that_ignores_the_past_loses_as_much_under_one_labelling():
    rng = np.random.default_rng(5)
    for p in (0.0, 1.0, 0.2, 0.5):
        frames = rng.random(50) < p  # does the first arm win the tie?
        useful = frames.mean(), 1 - frames.mean()  # where the first arm is the useful one, or the second
        assert max(0.75 - share for share in useful) >= 0.25
    chances = [Fraction(i, 1000) for i in range(1001)]
    assert counterexamples.least_worst(chances) == Fraction(1, 4)
    assert counterexamples.least_worst([Fraction(0)]) == Fraction(3, 4)  # by index


def by_merging(n, iota):
    """The violation in the slow drift without drift: a frame's plays are the merger of two falling sequences.

    An arm is played as long as it is the larger one, so plays go by the smallest index that an arm has had so far.
    """
    L, chi, t = n**8, n**2, np.arange(1, n**8 + 1, dtype=float)
    b = 0.25 * np.sqrt(iota * (chi + 1) / (chi + t)) + 2 * n**-5.0
    rate, mean = (chi + 1) / (chi + t), np.empty(L)
    level = 0.0
    for i, (alpha, bonus) in enumerate(zip(rate.tolist(), b.tolist(), strict=True)):
        level += alpha * (bonus - level)
        mean[i] = level
    Z, useful, eps = 0.0, 0, 8 * math.sqrt(2 * iota**3) / n**3
    for _ in range(n**2):
        w = Z / n
        one = np.minimum.accumulate(np.concatenate([[1 + w], (w + (1 + w) * mean)[:-1]]))
        two = np.minimum.accumulate(np.concatenate([[1 + w], (1 + (1 + w) * mean)[:-1]]))
        visits = int((np.argsort(np.concatenate([-two, -one]), kind="stable")[:L] >= L).sum())
        useful += visits
        cbar = mean[:visits].sum() + visits + mean[: L - visits].sum()
        Z = max(0.0, Z + 0.5 + eps - cbar / L)
    return n**10 / 2 - useful


@pytest.mark.parametrize("n", [3, 4])
def test_the_slow_drift_is_run_as_the_merger_of_its_indices_says(n):
    case = SlowDrift(n, TINY)
    found = case.simulated(np.random.default_rng(0))
    assert float(found) == pytest.approx(by_merging(n, 0.01), rel=2e-3)
    assert found >= case.violation() > 0


@pytest.mark.parametrize("n", [5, 6])
def test_with_more_frames_the_violation_of_the_slow_drift_stays_above_its_bound(n):
    case = SlowDrift(n, TINY)
    assert by_merging(n, 0.01) >= case.violation() > 0.25 * n**9


@drawn(st.integers(3, 4), st.fractions(Fraction(1, 1000), Fraction(1, 5), max_denominator=1000), st.integers(0, 10**6))
@settings(max_examples=8, deadline=None)
def test_every_run_of_the_slow_drift_keeps_to_its_bound(n, iota, seed):
    case = SlowDrift(n, iota)
    least = case.violation()
    assert least is None or case.simulated(np.random.default_rng(seed)) >= least


@pytest.mark.parametrize("case", [*refutations.MANY_FRAMES, SlowDrift.of(7_700)])
def test_the_slow_drift_by_decimals(case):
    """Every step with 60 digits and logarithms of its own: what is claimed from below is not above it, and close."""
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
    V = L * (n / 2 - 1 - b1 - 2 * btilde) - n**10 * eps
    assert 0 < case.violation() <= Fraction(str(V))
    assert float(case.violation()) == pytest.approx(float(V), rel=2e-3)
    assert n**2 >= 32 * (2 * iota**3).sqrt()  # the printed condition
    assert case.admitted(PRINTED)
    assert case.admitted(WITH_B)
    assert not case.admitted(CORRECTED)  # B < 1


def test_the_slow_drift_needs_frames_and_a_k_of_the_condition():
    assert SlowDrift.of(10).violation() is None  # b_1 > eta/2
    assert not SlowDrift.of(7_000).admitted(PRINTED)
    assert SlowDrift.of(1_000).admitted(WITH_B)
    assert SlowDrift.of(1_000).violation() < 0  # K eps is larger there


@drawn(st.integers(2, 10**6))
def test_the_slow_drift_meets_both_assumptions_exactly(n):
    case = SlowDrift.of(n)
    assert case.assumptions()
    assert Fraction(case.frame) ** 15 * case.B**10 == Fraction(case.K) ** 9  # L = K^(3/5)/B^(2/3)
    assert case.btilde**15 * case.K**6 == case.B**5
    assert Fraction(case.eta) ** 15 == Fraction(case.K) ** 3 * case.B**5
    assert (case.frames * case.frame, case.frames * case.btilde, case.frame * case.step) == (
        case.K, case.B, case.btilde,
    )  # fmt: skip


@drawn(st.fractions(0, 10**9))
def test_roots_are_from_above(x):
    found = slow_drift.root(x)
    assert found**2 > x
    assert (found - Fraction(2, 10**9)) ** 2 <= x or found <= Fraction(2, 10**9)


def test_theorem_1_as_printed_is_false_twice():
    found = CHECKS["C12"](GIVEN)
    assert found.verdict == FALSE
    assert (found.value, found.low, found.high, found.slack) == (0.25, 0.25, 0.25, -0.25)
    assert found.why.index("B = K^(3/5)") < found.why.index("B = K^(9/10)")  # the milder one first
    assert "1e40.4" in found.why
    assert "V(K) >= 0.35 K^0.9 on every path for B = 1e-12, 1e+08 frames and K = 1e40, 0.50 K^0.9 at 1e50" in found.why
    closed = [row for row in found.rows if row.get("how") == "closed form" and row["part"] == "violation"]
    assert {row["violation_per_episode"] for row in closed} == {0.25}
    assert max(row["log10_K"] for row in closed) > 50
    frames = [row for row in found.rows if row["part"] == "many frames"]
    assert all(row["violation"] >= row["at_least"] for row in frames)
    assert {row["how"] for row in frames} == {"simulated", "closed form"}


def test_with_b_in_the_condition_and_at_least_1_neither_is_a_counterexample():
    assert theorems.theorem_1(GIVEN, ANY_B).verdict == FALSE  # the fast drift
    many = theorems.theorem_1(GIVEN, WITH_B)
    assert (many.verdict, many.value) == (FALSE, pytest.approx(0.3507e-4, rel=1e-3))  # the slow drift, per episode
    assert theorems.theorem_1(GIVEN, CORRECTED).verdict == OUT_OF_REACH


def test_without_restarts_the_fast_drift_is_no_counterexample():
    assert theorems.theorem_1(GIVEN, ANY_B, Listing(restarts=False)).verdict != FALSE
    assert theorems.theorem_1(GIVEN, ANY_B, Listing(queue=False)).verdict == FALSE  # whatever Z does
    no_bonus = theorems.fast_drift(GIVEN, ANY_B, Listing(bonus=0.0, btilde=0.0))
    assert no_bonus.found
    assert "B = K^(3/5)" not in no_bonus.says  # the longer frames no longer stick, those of one episode do


@pytest.mark.parametrize("fault", [Listing(queue=False), Listing(bonus=2.0), Listing(rate=lambda t, chi: 1 / t)])
def test_the_slow_drift_is_of_the_listing_alone(fault):
    assert theorems.many_frames(GIVEN, WITH_B, Listing()).found
    assert not theorems.many_frames(GIVEN, WITH_B, fault).found


def test_every_epoch_of_algorithm_2_begins_with_a_tie():
    case = Ties(2, 2.0**-18)
    assert (case.K, case.epochs, case.epoch) == (512, 16, 32)
    assert case.epochs**9 == case.K**4
    budgets = case.candidates()
    assert len(budgets) == 5
    assert budgets[-1] / budgets[0] == pytest.approx(32)
    assert budgets[0] < 1
    env = case.env(case.K)
    assert variation_by_definition(env).sum() == pytest.approx(case.B, rel=1e-6)
    found = case.regret(50, np.random.default_rng(1))
    assert found.min() >= 0
    assert found.mean() >= case.epochs / 2 > 512 ** (8 / 9) * case.B ** (1 / 3)


def test_the_budget_at_which_ties_cost_more_than_claimed_is_milder_than_where_no_regret_is_possible():
    found = CHECKS["C14"](GIVEN)
    log10_K = next(row["log10_K"] for row in found.rows if row.get("how") == "a tie in every epoch")
    assert found.value == pytest.approx(0.5 * 10 ** (4 / 9 * log10_K))
    assert found.bound == pytest.approx(found.value / 10)
    power = float(found.why.partition("B = K^(")[2].partition(")")[0])
    assert -2 < power < -4 / 3


def plain_terms(S, A, H, K, B, delta):
    """Of the main text, as it prints them."""
    iota = 128 * math.log(math.sqrt(2 * S * A * H) * K)
    chi, eta, b, L = K**0.2, K**0.2 * B ** (1 / 3), B ** (1 / 3) * K**-0.4, K**0.6 / B ** (2 / 3)
    eps = 8 * math.sqrt(S * A * H**6 * iota**3) * B ** (1 / 3) / K**0.2
    estimation = (
        H**2 * S * A * K / L
        + 2 * (H**3 * math.sqrt(iota) + 2 * H**2 * b) * K / chi
        + math.sqrt(H**4 * S * A * iota * K**2 * (chi + 1) / L)
        + 2 * b * H**2 * K
    )
    drift = K * (2 * H**4 * iota + 4 * H**2 * b**2 + eps**2) / eta + (eta + K**0.4) * H**2 * B ** (2 / 3) / (eta * K)
    queue = (
        100 * (H**4 * iota + b**2 * H**2) / delta * math.log(16 * (H**2 * math.sqrt(iota) + b * H**2) / delta)
        + 4 * H**2 * B ** (2 / 3) / (K * delta)
        + 4 * H**2 * B ** (2 / 3) / (eta * delta * K**0.6)
        + 4 * eta * (H * math.sqrt(iota) + 2 * H**2 * b) / delta
    )
    return K * H * eps / delta + estimation + drift, K * eps, L * queue + estimation


@drawn(
    st.integers(1, 50), st.integers(2, 9), st.integers(1, 20), st.floats(2, 90), st.floats(1, 100), st.floats(0.1, 1)
)
def test_the_terms_add_up_to_the_printed_bounds(S, A, H, log10_K, B, delta):
    at = {"S": S, "A": A, "H": H, "B": B, "delta": delta}
    logs = bounds.logs_of(at, log10_K)
    regret, won, lost = plain_terms(S, A, H, 10**log10_K, B, delta)
    assert -1e-9 <= bounds.total(bounds.regret("main text"), logs) - math.log10(regret) <= math.log10(2) / 2 + 1e-9
    assert -math.log10(2) / 2 - 0.05 <= bounds.spare("main text", logs) - math.log10(won / lost) <= 0.05


@drawn(st.floats(0, 3), st.floats(0, 3), st.floats(0, 3), st.floats(0, 12), st.floats(0, 40), st.booleans())
def test_a_term_of_the_claimed_order_never_exceeds_it(S, A, H, B, t, small_B):
    """Logarithms of sizes; the constant of each term, iota and delta taken as 1."""
    B = -B if small_B else B
    K = 5 * ((S + A) / 2 + 3 * H + B / 3 + t)
    logs = {"S": S, "A": A, "H": H, "B": B, "K": K, "iota": 0.0, "delta": 0.0}
    for version in bounds.VERSIONS:
        for term in bounds.regret(version).values():
            ratio = (bounds.Monomial(term.powers) / bounds.RATE).log10(logs)
            if bounds.of_claimed_order(term, Fraction(1, 3), 0.0 if small_B else 1.0):
                assert ratio <= 1e-9


def test_terms_that_are_not_of_the_claimed_order_for_small_b_do_exceed_it():
    wrong = [name for name, term in bounds.regret().items() if not bounds.of_claimed_order(term, Fraction(1, 3), 0.0)]
    assert {"learning rate", "drift of the queue, iota"} <= set(wrong)
    for name in ("learning rate", "drift of the queue, iota"):
        found = [plain_ratio(name, B) for B in (1.0, 1e-6, 1e-12)]
        assert found[0] < found[1] < found[2]
    # Twice B^(1/3) in the rate's place: the fault that is seen.
    assert not bounds.of_claimed_order(bounds.RATE * bounds.B, Fraction(1, 3), 1.0)


def plain_ratio(name, B, K=1e60):
    term = {"learning rate": K**0.8, "drift of the queue, iota": K**0.8 / B ** (1 / 3)}[name]
    return term / (B ** (1 / 3) * K**0.8)


def with_tables(tmp_path, gap=0.7, violation=-0.1):
    growth = {
        "algorithm": [theory.FIRST, promises.SECOND, "triple_q"],
        "learner": ["one.tuned_each", "two.tuned_each", "three"],
        "setting": "tuned",
        "largest_K": 2**20,
        "violation_per_episode": violation,
    }
    for quantity in ("gap", "regret"):
        growth |= {f"{quantity}_slope_K{end}": gap for end in ("", "_low", "_high")}
    file = tmp_path / layout.table("comparison.csv")
    file.parent.mkdir(parents=True)
    pd.DataFrame(growth).to_csv(file, index=False)
    runs = [(4096, 0.2), (8192, -0.1), (16384, 0.1), (32768, -0.2), (65536, -0.3)]
    table = pd.DataFrame(runs, columns=["episodes", "violation"])
    table = table.assign(algorithm=theory.FIRST, setting="tuned", learner="one.tuned_each", budget="legs=4")
    table.to_csv(tmp_path / layout.table("violations.csv"), index=False)
    return GIVEN._replace(folder=tmp_path)


def test_theorem_1_corrected_begins_beyond_every_run(tmp_path):
    alone = CHECKS["C12'"](GIVEN)
    assert alone.verdict == OUT_OF_REACH
    problem = Problem.of(environments.make("menu", 4096, legs=4))
    assert alone.value == pytest.approx(theory.from_episodes(theory.FIRST, problem), rel=1e-9)
    assert "no growth experiment" in alone.why
    assert alone.slack < -40
    beside = CHECKS["C12'"](with_tables(tmp_path))
    assert beside.verdict == OUT_OF_REACH
    assert "one.tuned_each): gap of order K^0.70 beside 4/5, violation per episode -0.100" in beside.why
    assert {one.says: one.measured for one in beside.inequalities}[
        "K, beside the first run without violation, constants tuned"
    ] == 32768
    assert all(one.looseness >= 0 for one in beside.inequalities)


def test_a_folder_without_the_growth_experiments_is_no_obstacle(tmp_path):
    assert CHECKS["C12'"](GIVEN._replace(folder=tmp_path)).verdict == OUT_OF_REACH
    assert CHECKS["C14'"](GIVEN._replace(folder=tmp_path)).verdict == OUT_OF_REACH


def test_were_the_k_within_reach_the_measurements_would_decide(tmp_path):
    def promise(algorithm, problem):
        return 1e6

    assert theorems.theorem_1_corrected(GIVEN, promise).verdict == MIXED
    kept = with_tables(tmp_path / "kept")
    assert theorems.theorem_1_corrected(kept, promise).verdict == HOLDS
    assert theorems.theorem_2_corrected(kept, promise).verdict == HOLDS
    broken = with_tables(tmp_path / "broken", violation=0.1)
    assert theorems.theorem_1_corrected(broken, promise).verdict == FAILS
    steep = with_tables(tmp_path / "steep", gap=0.85)
    assert theorems.theorem_1_corrected(steep, promise).verdict == FAILS
    assert theorems.theorem_2_corrected(steep, promise).verdict == HOLDS  # .85 is below 8/9


def test_the_factors_share_out_the_whole_k():
    problem = Problem.of(environments.make("menu", 4096, legs=4))
    at = promises.Sized.of(problem, theory.FIRST)
    parts = promises.factors(at, 5)
    assert sum(parts.values()) == pytest.approx(at.log10_K)
    assert parts["constant"] == pytest.approx(5 * math.log10(16), abs=1e-6)
    assert parts["H^3"] == pytest.approx(15 * math.log10(4))


def test_no_problem_has_a_smaller_k_than_the_smallest_one():
    least = promises.Sized.of(promises.smallest(), theory.FIRST)
    assert least.sizes == {"S": 1.0, "A": 2.0, "H": 1.0, "B": 1.0, "delta": 1.0}
    others = [promises.Sized.of(Problem.of(env), theory.FIRST).log10_K for env in promises.study().values()]
    assert 36 < least.log10_K < min(others)


def test_k_of_the_least_epsilon_and_of_an_informative_bound_are_where_their_conditions_turn():
    at = promises.Sized.of(Problem.of(environments.make("menu", 4096, legs=4)), theory.FIRST)
    S, A, H, B, delta = (at.sizes[name] for name in ("S", "A", "H", "B", "delta"))
    edge = promises.informative_from(at)
    for log10_K, below in ((edge - 0.01, False), (edge + 0.01, True)):
        regret = 10 ** bounds.total(bounds.regret(), bounds.logs_of(at.sizes, log10_K))
        assert (regret < H * 10**log10_K) == below
    regret, _, _ = plain_terms(S, A, H, 10**edge, B, delta)
    assert regret == pytest.approx(H * 10**edge, rel=1e-3)
    _, _, lost = plain_terms(S, A, H, 10 ** promises.lean_from(at), B, delta)
    assert lost / 10 ** promises.lean_from(at) == pytest.approx(delta / 2, rel=0.3)  # versions and 2 chi apart


def test_the_tightening_loses_less_than_the_lemma_allows():
    claimed, found = promises.tightening_loss(environments.make("menu", 1000, legs=1), models=3)
    assert claimed == 2.0
    assert 0 < found < claimed


def test_the_exponents_of_theorem_2_are_right_and_its_rate_for_small_b_is_not():
    found = CHECKS["C14"](GIVEN)
    assert found.verdict == FALSE
    assert all(row["holds"] for row in found.rows if row["part"] == "exponent")
    assert "not the rate in B" in found.why
    assert theorems.theorem_2(GIVEN, CORRECTED).verdict == OUT_OF_REACH


@drawn(st.fractions(0, 1, max_denominator=60), st.fractions(0, 1, max_denominator=60))
def test_no_zeta_and_lambda_do_better_than_the_papers(zeta, lam):
    best = theorems.largest_exponent(Fraction(5, 9), Fraction(1, 9))
    assert best == Fraction(8, 9)
    assert max(1 - zeta / 5, lam + (1 + zeta) / 2, 1 - lam) >= best


@pytest.mark.parametrize(
    ("zeta", "lam"), [(Fraction(1, 2), Fraction(1, 9)), (Fraction(5, 9), Fraction(1, 8)), (Fraction(2, 3), Fraction(0))]
)
def test_other_exponents_are_told_to_be_worse(zeta, lam):
    found = theorems.theorem_2(GIVEN, CORRECTED, zeta, lam)
    assert found.verdict == FALSE
    assert found.slack < 0


def test_the_assumption_on_local_budgets_is_met_by_even_drift_alone():
    found = CHECKS["C22"](GIVEN)
    assert found.verdict == MIXED
    factor = {row["environment"]: row["inside"] for row in found.rows if "inside" in row}
    assert factor["menu, 4 legs"] <= 1
    assert factor["random tabular"] <= 1
    assert factor["grid world 18x18"] == pytest.approx(1.41, abs=0.02)
    assert factor["grid world 18x18, goal switches"] > 500
    assert theorems.even_drift(GIVEN, tolerance=1e4).verdict == HOLDS
    assert theorems.even_drift(GIVEN, tolerance=-0.9).verdict == FAILS


@pytest.mark.parametrize("reading", local_budgets.READINGS)
@pytest.mark.parametrize(
    "options", [{}, {"switch": "goal", "switch_at": (0.5,)}, {"success_drift": 0.0}], ids=["", "switch", "rests"]
)
def test_unevenness_is_that_of_the_definitions(reading, options):
    K = 300
    env = environments.make("grid_world", K, map="6x6", horizon=3, limit=2.0, **options)
    steps = [variation_by_definition(env, k, k + 1).sum() for k in range(1, K)]
    B = sum(steps)
    L = int(K**0.6 / max(B, 1.0) ** (2 / 3))
    if reading == "inside":
        parts = [sum(steps[k] for k in range(first, min(first + L - 1, K - 1))) for first in range(0, K, L)]
    else:
        parts = [sum(steps[first : first + L]) for first in range(0, K, L)]
    frames = K**0.4 * max(B, 1.0) ** (2 / 3)
    assert local_budgets.unevenness(env, reading) == pytest.approx(max(parts) * frames / B, rel=1e-9)


@drawn(st.lists(st.integers(0, 6), min_size=1, max_size=6))
def test_some_btilde_exists_exactly_for_even_spreads(parts):
    total = sum(parts)
    candidates = [Fraction(n, 60) for n in range(60 * 6 + 1)]  # every local budget and every even share is among them
    exists = any(all(b >= one for one in parts) and len(parts) * b <= total for b in candidates)
    assert exists == (len(set(parts)) == 1)
    assert exists == local_budgets.has_btilde([Fraction(one) for one in parts], Fraction(total))


def test_one_abrupt_change_misses_the_assumption_by_the_number_of_frames():
    path = random_path(np.random.default_rng(3), [1, 2], H=2)
    K = 1000
    env = DriftingCMDP(path.anchors, [499, 500], [0, 1], episodes=K)
    B = variation_by_definition(env).sum()
    frames = K**0.4 * max(B, 1.0) ** (2 / 3)
    inside = any(start < 499 < start + int(K / frames) for start in range(1, K, int(K / frames)))
    expected = frames if inside else 0.0
    assert local_budgets.unevenness(env) == pytest.approx(expected)
    assert local_budgets.unevenness(env, "printed") == pytest.approx(frames)
    even = DriftingCMDP(path.anchors, [1, K], [0, 1])
    assert local_budgets.unevenness(even) < 1
