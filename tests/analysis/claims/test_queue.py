"""The virtual queue's lemmas, against closed forms, enumeration and runs that depart from the listing."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import random_path
from nscmdp.analysis import theory
from nscmdp.analysis.claims import moments, queue, queue_runs
from nscmdp.analysis.claims.findings import FAILS, FALSE, HOLDS, HOLDS_DEVIATING, Given
from nscmdp.analysis.claims.instrumented import PRINTED, Constants, Listing, episodes
from nscmdp.cmdp import CMDP
from nscmdp.drift import DriftingCMDP
from nscmdp.problem import Problem
from shipped import ROOT

SMALL = Given(problems=6, samples=40)
FROZEN, CONTINUED = Listing(queue=False), Listing(restarts=False)


def by_enumeration(walk, steps, r):
    """E e^{rL_t} and E L_t as a sum over all paths of ups and downs."""
    moment = mean = 0.0
    for path in product((1, -1), repeat=steps):
        level, probability = walk.start, 1.0
        for step in path:
            up = 1.0 if level < walk.theta else (1 - walk.gamma) / 2
            probability *= up if step == 1 else 1 - up
            level += step
        moment += probability * math.exp(r * level)
        mean += probability * level
    return moment, mean


@pytest.mark.parametrize("walk", [moments.Walk(0.3, 1.5), moments.Walk(1.0, 2.0, 4), moments.Walk(0.1, 0.5, -2)])
def test_moments_of_the_walk_are_those_of_all_its_paths(walk):
    for t, (level, probability) in enumerate(moments.distributions(walk, 8)):
        assert (float(probability @ np.exp(0.4 * level)), float(probability @ level)) == pytest.approx(
            by_enumeration(walk, t, 0.4)
        )


@pytest.mark.parametrize("gamma", [1.0, 0.4, 0.15])
def test_limit_of_the_walk_is_where_it_goes(gamma):
    walk, r = moments.Walk(gamma, 2.5), 0.9 * gamma
    late = [(moments.moment(x, p, r), float(p @ x)) for x, p in moments.distributions(walk, 2500)][-2:]
    assert moments.limit(walk, r) == pytest.approx(tuple(np.max(late, axis=0)), rel=1e-6)


def test_moment_does_not_converge_beyond_the_exponent_of_the_walk():
    gamma = 0.2
    critical = math.log((1 + gamma) / (1 - gamma))
    assert moments.limit(moments.Walk(gamma, 1.0), 1.01 * critical)[0] == math.inf
    assert moments.limit(moments.Walk(gamma, 1.0), 0.99 * critical)[0] < math.inf
    assert moments.exponent(gamma, 1.0) < critical


def test_lemma_on_moments_holds_as_used_and_has_counterexamples_to_the_letter():
    finding = moments.moment_bound(SMALL)
    assert finding.verdict == HOLDS_DEVIATING
    assert 0 < finding.slack < 1
    assert "theta_t falls (9.49 > 7.81)" in finding.why
    assert {row["part"] for row in finding.rows} == {"walk", "path"}
    # theta_t falls: v = gamma = 1, r = 3/4, L_3 = 3, theta_3 = 1/4
    assert math.exp(0.75 * 3) > 1 + 2 * math.exp(0.75 * 1.25) / 0.75
    assert float(moments.FALLING.moment()) == pytest.approx(math.exp(2.25))
    assert float(moments.FALLING.bound()) == pytest.approx(1 + 2 * math.exp(0.9375) / 0.75)
    # gamma above v: r = 300/103, L = 2 < theta = 2.01
    assert float(moments.STEEP.moment()) == pytest.approx(math.exp(600 / 103))


@pytest.mark.parametrize("climbed", [0, 1, 2])
def test_shorter_climb_is_no_counterexample(climbed):
    path = moments.FALLING._replace(climbed=climbed)
    assert moments.moment_bound(SMALL, paths=(path,)).verdict == HOLDS


@given(st.fractions(0, 19, max_denominator=50))
def test_exponential_lies_between_its_bounds(x):
    below, above = moments.exp_between(x)
    assert float(below) <= math.exp(x) * (1 + 1e-12)
    assert float(above) >= math.exp(x) * (1 - 1e-12)
    assert above - below <= below * Fraction(1, 10**3)


@pytest.mark.parametrize("factor", [2.5, 4.0])
def test_wrong_exponent_breaks_the_bound_on_moments(factor):
    assert moments.moment_bound(SMALL, rate=lambda g, v: factor * moments.exponent(g, v)).verdict == FALSE


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.02, 1.0), st.floats(0.1, 5.0), st.integers(0, 6))
def test_random_walks_of_other_steps_keep_the_bound(seed, gamma, theta, start):
    """Steps of -1, -1/2, 0, 1/2, 1, their law drawn anew by level and time, of mean at most -gamma from theta on."""
    rng, steps = np.random.default_rng(seed), np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
    r, law = moments.exponent(gamma, 1.0), {float(start): 1.0}
    for _ in range(25):
        after: dict[float, float] = {}
        for level, probability in law.items():
            drawn = rng.dirichlet(np.full(5, 0.3))
            if level >= theta and drawn @ steps > -gamma:  # mix with a step of -1 until the mean is -gamma
                share = (drawn @ steps + gamma) / (drawn @ steps + 1)
                drawn = (1 - share) * drawn + share * np.eye(5)[0]
            for step, chance in zip(steps, drawn, strict=True):
                after[level + step] = after.get(level + step, 0.0) + probability * chance
        law = after
        moment = sum(probability * math.exp(r * level) for level, probability in law.items())
        assert moment <= moments.bound(r, gamma, 1.0, theta, start) * (1 + 1e-9)


@given(st.floats(0, 1e3), st.floats(-1e3, 1e3))
def test_square_of_the_queue_grows_at_most_by_the_square_of_the_step(z, y):
    after = max(z + y, 0.0)
    assert (after**2 - z**2) / 2 <= z * y + y**2 / 2 + 1e-6


def test_sign_in_the_printed_square_is_wrong():
    """Z = 0, rho = 1, eps = 1/4, Cbar/L = 3/4: the queue moves to 1/2, and (Cbar/L + eps - rho)^2 is 0."""
    rho, eps, mean_C = Fraction(1), Fraction(1, 4), Fraction(3, 4)
    after = rho + eps - mean_C
    assert after**2 / 2 == Fraction(1, 8)
    assert (mean_C + eps - rho) ** 2 == 0


@settings(max_examples=200)
@given(st.integers(1, 50), st.floats(1, 1e4), st.floats(0, 1e3), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1e3))
def test_largest_step_bounds_every_step(H, iota, btilde, share_of_H, share_of_C, eps):
    y = share_of_H * H + eps - share_of_C * H**2 * (math.sqrt(iota) + 2 * btilde)
    assert abs(y) <= queue.largest_step(H, iota, btilde, eps) * (1 + 1e-12)


@pytest.mark.parametrize("H", [1, 2, 7])
def test_printed_constants_fail_from_where_algebra_says(H):
    iota = 900.0
    # (s + 2b)^2/2 <= s^2 + 2 b^2 iff b <= s/4;  2 s^2 + 4 b^2 - (s + 2b)^2/2 has no root
    assert queue.fails_from("Lemma 13", H, iota) == pytest.approx(math.sqrt(iota) / 4, rel=1e-3)
    assert queue.fails_from("appendix E.1", H, iota) == math.inf
    roots = np.roots([4 / H**2 - 2, -2 * math.sqrt(iota), 1.5 * iota])
    positive = [float(root.real) for root in roots if abs(root.imag) < 1e-9 and root.real > 0]
    assert queue.fails_from("Section 5.1", H, iota) == pytest.approx(min(positive, default=math.inf), rel=1e-3)


def test_condition_of_the_lemmas_begins_where_the_theorem_does():
    env = random_path(np.random.default_rng(3), [1, 50], H=2, S=2, A=3, tightness=0.3)
    problem = Problem.of(env)
    found = queue.first_episodes(2, 3, 2, problem.delta, problem.B)
    assert found == pytest.approx(theory.from_episodes("nonstationary_triple_q", problem), rel=1e-6)


def test_problems_in_force_meet_the_condition_and_barely():
    rows = queue.in_force()
    assert all(row["eps"] <= row["delta"] / 2 * (1 + 1e-9) for row in rows)
    assert all(row["eps"] == pytest.approx(row["delta"] / 2, rel=1e-6) for row in rows[::2])
    assert min(row["K"] for row in rows) > 1e36


@pytest.mark.parametrize("H", [1, 3, 6])
def test_one_state_chain_is_what_algorithm_1_computes(H):
    K = 1e10
    iota = 128 * math.log(math.sqrt(2 * H) * K)
    constants = Constants(chi=K**0.2, eta=1.0, eps=0.0, btilde=K**-0.4, frame=10**6, iota=iota)
    ones = np.ones((H, 1, 1))
    env = DriftingCMDP([CMDP(P=ones[..., None], r=ones, g=ones, rho=0.0, mu0=[1.0])], [1], episodes=H * H)
    largest = max(
        float(state.Q[0, 0, 0, 0]) for state in episodes(env, constants, 1, np.random.default_rng(0)) if state.k > 1
    )
    found, X = queue.single_chain(H, K)
    assert found == pytest.approx(largest)
    assert found <= H**2 * (math.sqrt(iota) + 2 * K**-0.4)
    assert (found > X) == (H >= 4)


@pytest.mark.parametrize(
    ("check", "verdict"),
    [
        (queue.lyapunov_drift, HOLDS_DEVIATING),
        (queue.negative_drift, HOLDS_DEVIATING),
        (queue.queue_bound, HOLDS_DEVIATING),
    ],
)
def test_lemmas_on_the_queue_hold_on_runs_and_not_with_a_frozen_queue(check, verdict):
    finding = check(SMALL)
    assert finding.verdict == verdict
    assert finding.slack > 0
    assert finding == check(SMALL)
    assert check(SMALL, listing=FROZEN).verdict == FAILS


@pytest.mark.parametrize("check", [queue.negative_drift, queue.queue_bound])
def test_the_ledger_has_the_deviation_that_is_named(check):
    name = check(SMALL).why.rpartition("ledger: ")[2].rstrip(")")
    assert name in {entry["id"] for entry in yaml.safe_load((ROOT / "workflow/deviations.yaml").read_text())}


def test_negative_drift_asks_for_restarts():
    finding = queue.negative_drift(SMALL, listing=CONTINUED)
    assert finding.verdict == FAILS
    assert "begin" in finding.why


def test_runs_show_a_queue_that_moves_and_the_greedy_step_of_the_proof():
    seen = queue_runs.observe(queue_runs.SCALED, 10, PRINTED)
    assert seen.constants.eps <= seen.delta / 2
    assert (seen.Z > 0).mean() > 0.3
    assert (seen.Z[:-1] * seen.before <= seen.lemma + 1e-9).all()
    # Cbar as listed (after the update) and as proved (before it) differ by (C at the frame's end - H) / L per pair.
    assert np.abs((seen.y - seen.before).mean()) <= 2 * 2 * 2 * 2 / seen.constants.frame


def test_first_frame_drifts_alike_from_level_zero_and_in_the_runs():
    runs = queue_runs.observe(queue_runs.SCALED, 10, PRINTED).drift[0]
    levels = queue_runs.from_levels((0.0,), 200, PRINTED)[0]
    error = math.hypot(runs.std() / math.sqrt(len(runs)), levels.std() / math.sqrt(len(levels)))
    assert abs(runs.mean() - levels.mean()) <= 5 * error + 1e-9


def test_large_queue_falls_faster_than_half_the_slater_gap():
    finding = queue.negative_drift(SMALL)
    last = finding.rows[-1]
    assert last["z"] == 100.0
    assert last["high"] < -0.2 * 100  # delta = 0.4


def test_condition_fails_at_printed_constants_and_the_queue_outgrows_the_bound():
    rows = [row for row in queue.queue_bound(SMALL).rows if row["setting"] == queue_runs.AS_PRINTED]
    assert not rows[0]["applies"]
    assert rows[-1]["Z"] > rows[1]["Z"] > 0
