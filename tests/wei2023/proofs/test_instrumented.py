"""Algorithm 1 with its tables in sight, by a slow reading of the listing and the compiled learner."""

import itertools
import math

import numpy as np
import pytest

from helpers import evaluate as evaluate_slowly
from helpers import random_path, resets_applied
from nscmdp import algorithms, simulate
from nscmdp.cmdp import CMDP
from nscmdp.drift import DriftingCMDP
from nscmdp.problem import Problem
from wei2023.proofs.instrumented import Constants, Sizes, bonus, draw, episodes, evaluate, literal

SMALL = Constants(chi=1.7, eta=2.0, eps=4.0, btilde=0.05, frame=7, iota=0.3)


def a_path(seed=3, **shape):
    return random_path(np.random.default_rng(seed), [1, 9, 30], episodes=30, H=3, S=3, A=2, **shape)


def slow_run(env, c, draws):
    """One run, line after line, in dictionaries; the state before every episode and after the last."""
    H, S, A = env.H, range(env.S), range(env.A)
    fresh = {(h, x, a): float(H) for h in range(H) for x in S for a in A}
    start = {(h, x): float(H) if h < H else 0.0 for h in range(H + 1) for x in S}
    Q, C, V, W, N = dict(fresh), dict(fresh), dict(start), dict(start), dict.fromkeys(fresh, 0)
    Z, cbar, seen = 0.0, 0.0, []

    def pick(probabilities, u):
        sums = itertools.accumulate(probabilities)
        possible = [place for place, probability in enumerate(probabilities) if probability > 0]
        return next((place for place, total in enumerate(sums) if u < total), possible[-1])

    def best(h, x):
        F = [Q[h, x, a] + Z / c.eta * C[h, x, a] for a in A]
        return [a for a in A if F[a] == max(F)]

    for k, u in enumerate(draws, 1):
        seen.append((dict(Q), dict(C), dict(V), dict(W), dict(N), Z, cbar))
        model, x = env.at(k), pick(env.mu0, u[0])
        for h in range(H):
            ties = best(h, x)
            a = pick([1 / len(ties) if b in ties else 0 for b in A], u[1 + 2 * h])
            y = pick(model.P[h, x, a], u[2 + 2 * h])
            N[h, x, a] += 1
            t = N[h, x, a]
            alpha = (c.chi + 1) / (c.chi + t)
            b_t = 0.25 * math.sqrt(H**2 * c.iota * (c.chi + 1) / (c.chi + t))
            more = b_t + 2 * H * c.btilde
            Q[h, x, a] = (1 - alpha) * Q[h, x, a] + alpha * (model.r[h, x, a] + V[h + 1, y] + more)
            C[h, x, a] = (1 - alpha) * C[h, x, a] + alpha * (model.g[h, x, a] + W[h + 1, y] + more)
            ties = best(h, x)
            V[h, x] = sum(Q[h, x, b] for b in ties) / len(ties)
            W[h, x] = sum(C[h, x, b] for b in ties) / len(ties)
            cbar += C[0, x, a] if h == 0 else 0.0
            x = y
        if k % c.frame == 0:
            Z, cbar = max(0.0, Z + env.rho + c.eps - cbar / c.frame), 0.0
            Q, C, V, W = dict(fresh), dict(fresh), dict(start), dict(start)
            N = dict.fromkeys(fresh, 0)
    return [*seen, (Q, C, V, W, N, Z, cbar)]


def test_every_run_is_the_listing_line_by_line():
    env, rng = a_path(rounding=0.25), np.random.default_rng(1)
    draws = [rng.random((7, 3)) for _ in range(env.episodes)]
    slow = [slow_run(env, SMALL, [drawn[:, run] for drawn in draws]) for run in range(3)]
    for k, state in enumerate(episodes(env, SMALL, 3, np.random.default_rng(1)), 1):
        assert state.k == k
        for run in range(3):
            *tables, Z, cbar = slow[run][k - 1]
            for table, expected in zip(state[1:6], tables, strict=True):
                found = [table[run][place] for place in expected]
                np.testing.assert_allclose(found, list(expected.values()), rtol=1e-12, atol=1e-12)
            assert (state.Z[run], state.cbar[run]) == pytest.approx((Z, cbar), abs=1e-12)
    assert k == env.episodes + 1


def test_the_literal_constants_by_hand_and_in_the_compiled_learner():
    c = literal(Sizes(S=2, A=2, H=2, K=10**5, B=8.0))
    assert (c.chi, c.eta, c.btilde) == pytest.approx((10, 20, 0.02))
    assert c.frame in (249, 250)  # 10^3 / 4 in floating point
    assert c.iota == pytest.approx(128 * (math.log(4) + 5 * math.log(10)))
    assert c.eps == pytest.approx(8 * math.sqrt(2 * 2 * 64 * c.iota**3) * 2 / 10)
    assert [literal(Sizes(2, 2, 2, 32, B)).frame for B in (1e-9, 1e9)] == [32, 1]
    env = a_path()
    problem = Problem.of(env)
    ours, theirs = literal(problem), algorithms.make("nonstationary_triple_q", problem, "literal")
    now, t = theirs.now[0], np.arange(1.0, ours.frame + 1)
    assert ours.frame == now.frame
    values = ours.eta, ours.eps + env.rho, 6 * ours.btilde
    assert values == pytest.approx((now.eta, now.target, now.offset))
    np.testing.assert_allclose(bonus(t, 3, ours), theirs.bonus_q[1 : ours.frame + 1])


def test_without_choices_it_is_the_compiled_learner():
    """An anchor for every episode, one action and one successor: nothing is random."""
    rng, H, S, K = np.random.default_rng(0), 3, 2, 40
    P = np.eye(S)[rng.integers(S, size=(H, S, 1))]
    paid = 0.9 * rng.random((2, H, S, 1)) + 0.02 * rng.random((K, 2, H, S, 1))
    anchors = [CMDP(P=P, r=r, g=g, rho=1.0, mu0=[1.0, 0.0]) for r, g in paid]
    env = DriftingCMDP(anchors, range(1, K + 1), name="one_way", seed=0)
    constants = literal(Problem.of(env))
    assert 1 < constants.frame < 10
    *_, state = episodes(env, constants, 1, np.random.default_rng(0))
    learner = simulate.run(env, "nonstationary_triple_q", "literal", evaluate_every=None).learner
    for i, ours in enumerate((state.Q, state.C, state.N)):
        np.testing.assert_allclose(ours[0], resets_applied(learner)[:, :, i], rtol=1e-12)


def test_exact_values_are_those_of_a_slow_evaluation():
    env, model = a_path(), a_path().at(13)
    policies = np.random.default_rng(4).dirichlet(np.ones(2), size=(5, 3, 3))
    values = evaluate(model, policies)
    for run, policy in enumerate(policies):
        found = model.mu0 @ values.V[run, 0], model.mu0 @ values.W[run, 0]
        assert found == pytest.approx(evaluate_slowly(env.at(13), policy))
        ahead = np.einsum("xay,y->xa", model.P[0], values.V[run, 1])
        np.testing.assert_allclose(values.Q[run, 0], model.r[0] + ahead, rtol=1e-12)
        np.testing.assert_allclose(evaluate(model, policy).W, values.W[run])


def test_the_policy_is_uniform_over_ties():
    state = next(episodes(a_path(), SMALL, 2, np.random.default_rng(0)))
    assert (state.policy() == 0.5).all()
    state.Q[0, 1, 2, 1] += 1e-9
    assert state.policy()[:, 1, 2].tolist() == [[0, 1], [0.5, 0.5]]


def test_a_draw_never_takes_what_has_no_probability():
    rows = np.array([[0.0, 1.0, 0.0], [0.5, 0.5, 0.0], [0.3, 0.3, 0.4 - 1e-12]])
    assert draw(rows, np.array([0.0, 1 - 1e-16, 1 - 1e-16])).tolist() == [1, 1, 2]
    assert draw(rows, np.array([0.999, 0.5, 0.299])).tolist() == [1, 1, 0]
