"""The virtual queue's lemmas, against closed forms, enumeration and faults put into them."""

import math
from itertools import islice, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wei2023.proofs import instrumented, moments, queue
from wei2023.proofs.findings import ASSUMPTION, CHECKS, FALSE, MISPRINT, OPEN, Given


def verdict(claim):
    return CHECKS[claim](Given(6, 40)).verdict


def by_enumeration(gamma, theta, start, steps, r):
    """E e^{rL_t} as a sum over all paths of ups and downs."""
    total = 0.0
    for path in product((1, -1), repeat=steps):
        level, probability = start, 1.0
        for step in path:
            up = 1.0 if level < theta else (1 - gamma) / 2
            probability *= up if step == 1 else 1 - up
            level += step
        total += probability * math.exp(r * level)
    return total


@pytest.mark.parametrize("walk", [(0.3, 1.5, 0), (1.0, 2.0, 4), (0.1, 0.5, -2)])
def test_moments_of_the_walk_are_those_of_all_its_paths(walk):
    for t, law in enumerate(islice(moments.distributions(*walk), 9)):
        assert moments.moment(*law, 0.4) == pytest.approx(by_enumeration(*walk, t, 0.4))


@pytest.mark.parametrize("gamma", [1.0, 0.4, 0.15])
def test_limit_of_the_walk_is_where_it_goes(gamma, monkeypatch):
    monkeypatch.setattr(moments, "STEPS", 2500)
    late = [moments.moment(*law, 0.9 * gamma) for law in moments.distributions(gamma, 2.5, 0)]
    assert moments.limit(gamma, 2.5, 0.9 * gamma) == pytest.approx(max(late[-2:]), rel=1e-6)
    own = math.log((1 + gamma) / (1 - gamma)) if gamma < 1 else math.inf
    assert moments.exponent(gamma, 1.0) < own
    assert gamma == 1 or moments.limit(gamma, 2.5, 1.01 * own) == math.inf


def test_paths_break_the_lemma_on_moments_by_hand():
    """v = gamma = 1, r = 3/4, L_3 = 3, theta_3 = 1/4; and r = 300/103, L = 2 < theta = 2.01."""
    falling, steep = (moments.sides(*path) for path in moments.PATHS.values())
    assert falling == pytest.approx((math.exp(2.25), 1 + 2 * math.exp(0.9375) / 0.75))
    assert steep[0] == pytest.approx(math.exp(600 / 103))
    assert falling[0] > falling[1]
    assert steep[0] > steep[1]
    assert all(left < right for left, right in (moments.sides(1.0, t, 0.25) for t in range(3)))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.02, 1.0), st.floats(0.1, 5.0), st.integers(0, 6))
def test_random_walks_of_other_steps_keep_the_bound(seed, gamma, theta, start):
    """Steps of -1, ..., 1 by halves, their law drawn by level and time, as Lemma 12 allows."""
    rng, steps = np.random.default_rng(seed), np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
    r, law = moments.exponent(gamma, 1.0), {float(start): 1.0}
    for _ in range(20):
        after: dict[float, float] = {}
        for level, probability in law.items():
            drawn = rng.dirichlet(np.full(5, 0.3))
            if level >= theta and drawn @ steps > -gamma:  # a step of -1 more often
                share = (drawn @ steps + gamma) / (drawn @ steps + 1)
                drawn = (1 - share) * drawn + share * np.eye(5)[0]
            for step, chance in zip(steps, drawn, strict=True):
                after[level + step] = after.get(level + step, 0.0) + probability * chance
        law = after
        moment = sum(probability * math.exp(r * level) for level, probability in law.items())
        assert moment <= moments.bound(r, gamma, 1.0, theta, start) * (1 + 1e-9)


@given(st.integers(1, 50), st.floats(1, 1e4), st.floats(0, 1e3), *4 * [st.floats(0, 1)])
def test_drift_of_the_square_is_bounded_by_the_largest_step(H, iota, b, rho, share, gap, z):
    eps, C = gap * H, share * H**2 * (math.sqrt(iota) + 2 * b)
    y, most = rho * H + eps - C, queue.largest_step(H, iota, np.array(b), eps)
    after = max(100 * z + y, 0.0)
    assert (after**2 - (100 * z) ** 2) / 2 <= 100 * z * y + most**2 / 2 + 1e-9 * most**2
    D = sum(queue.squared_step(queue.APPENDIX, H, iota, np.array(b), eps))
    assert most**2 / 2 <= D * (1 + 1e-12)


def test_a_square_with_the_sign_of_the_proof_bounds_nothing():
    """Z = 0, rho = 1, eps = 1/4, Cbar/L = 3/4: Z moves to 1/2, and (Cbar/L + eps - rho)^2 = 0."""
    assert max(1 + 1 / 4 - 3 / 4, 0) ** 2 / 2 == 1 / 8 > (3 / 4 + 1 / 4 - 1) ** 2


@pytest.mark.parametrize("H", [1, 3, 4, 6])
def test_a_chain_passes_the_proofs_bound_from_four_steps_on(H):
    """While chi is large every visit replaces Q_1, which grows to H (1 + b_1 + 2 H b~)."""
    Q, X = queue.single_chain(H, 10**20)
    iota, b = 128 * math.log(math.sqrt(2 * H) * 1e20), 1e-8
    assert max(H * (1 + H * math.sqrt(iota) / 4 + 2 * H * b), H) == pytest.approx(Q, rel=0.02)
    assert (X < Q) == (H >= 4)


def test_printed_constants_fail_from_where_algebra_says():
    """(s+2b)^2/2 against s^2 + 2 b^2, 2 s^2 + 4 b^2 and, for H = 2, 2 s^2 + b^2, s = sqrt(iota)."""
    share = np.array([0.2499, 0.2501, 0.5, 10.0])
    assert [*(queue.room(queue.LEMMA_13, share, 1.0) >= 1)] == [True, False, False, False]
    assert [*(queue.room(queue.APPENDIX, share, 1.0) >= 1)] == [True] * 4


D, constant, step = queue.squared_step, queue.drift_constant, queue.largest_step
bound, greedy = queue.queue_bound, instrumented.greedy


def linear_in_b(version, *at):
    return D(queue.LEMMA_10 if version == queue.APPENDIX else version, *at)


@pytest.mark.parametrize(
    ("claim", "verdicts", "module", "name", "fault"),
    [
        ("C8", (MISPRINT, FALSE), queue, "squared_step", linear_in_b),
        ("C8", (MISPRINT, FALSE), instrumented, "greedy", lambda Q, C, z: greedy(Q, C, 0 * z)),
        ("C9", (ASSUMPTION, FALSE), queue, "drift_constant", lambda *at: constant(*at) / at[0]),
        ("C9", (ASSUMPTION, OPEN), queue, "largest_step", lambda H, *at: H * step(H, *at)),
        ("C10", (ASSUMPTION, OPEN), queue, "queue_bound", lambda v, *at: bound(v, *at) / at[0]),
        ("C11", (MISPRINT, FALSE), moments, "exponent", lambda g, v: 2.5 * g / (v + g / 3) / v),
    ],
)
def test_a_fault_changes_the_verdict(claim, verdicts, module, name, fault, monkeypatch):
    assert verdict(claim) == verdicts[0]
    monkeypatch.setattr(module, name, fault)
    assert verdict(claim) == verdicts[1]
