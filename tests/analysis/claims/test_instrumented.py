"""Algorithm 1 with its tables in sight beside a slow reading of the listing, and beside the compiled learner."""

import math

import numpy as np
import pytest

from helpers import evaluate as evaluate_slowly
from helpers import random_path
from nscmdp import algorithms, simulate
from nscmdp.algorithms._triple_q import resets_applied
from nscmdp.analysis.claims.instrumented import (
    Constants,
    Listing,
    Path,
    Sizes,
    bonus,
    draw,
    episodes,
    evaluate,
    literal,
)
from nscmdp.cmdp import CMDP
from nscmdp.drift import DriftingCMDP
from nscmdp.problem import Problem
from nscmdp.randomness import stream

SMALL = Constants(chi=1.7, eta=2.0, eps=4.0, btilde=0.05, frame=7, iota=0.3)
FAULTS = {
    "as printed": Listing(),
    "rate": Listing(rate=lambda t, chi: 1 / (chi + t)),
    "bonus": Listing(bonus=0.5),
    "btilde": Listing(btilde=0.0),
    "restarts": Listing(restarts=False),
    "queue": Listing(queue=False),
}


def a_path(seed=3, **shape):
    return random_path(np.random.default_rng(seed), [1, 9, 30], episodes=30, H=3, S=3, A=2, **shape)


def slow_run(env, c, rng, rate=None, bonus=1.0, btilde=1.0, restarts=True, queue=True):
    """One run, line after line, in dictionaries; the state before every episode and after the last."""
    H, S, A = env.H, range(env.S), range(env.A)
    rate = rate or (lambda t, chi: (chi + 1) / (chi + t))
    fresh = {(h, x, a): float(H) for h in range(H) for x in S for a in A}
    start = {(h, x): float(H) if h < H else 0.0 for h in range(H + 1) for x in S}
    Q, C, V, W, N = dict(fresh), dict(fresh), dict(start), dict(start), dict.fromkeys(fresh, 0)
    Z, cbar, seen = 0.0, 0.0, []

    def pick(probabilities, u):
        total = 0.0
        for place, probability in enumerate(probabilities):
            total += probability
            if u < total:
                return place
        return max(place for place, probability in enumerate(probabilities) if probability > 0)

    def best(h, x):
        F = [Q[h, x, a] + Z / c.eta * C[h, x, a] for a in A]
        return [a for a in A if F[a] == max(F)]

    for k in range(1, env.episodes + 1):
        seen.append((dict(Q), dict(C), dict(V), dict(W), dict(N), Z, cbar))
        u, model = rng.random((1 + 2 * H, 1))[:, 0], env.at(k)
        x = pick(env.mu0, u[0])
        for h in range(H):
            ties = best(h, x)
            a = pick([1 / len(ties) if b in ties else 0 for b in A], u[1 + 2 * h])
            y = pick(model.P[h, x, a], u[2 + 2 * h])
            N[h, x, a] += 1
            t = N[h, x, a]
            alpha = rate(t, c.chi)
            b_t = bonus * 0.25 * math.sqrt(H**2 * c.iota * (c.chi + 1) / (c.chi + t))
            more = b_t + 2 * H * btilde * c.btilde
            Q[h, x, a] = (1 - alpha) * Q[h, x, a] + alpha * (model.r[h, x, a] + V[h + 1, y] + more)
            C[h, x, a] = (1 - alpha) * C[h, x, a] + alpha * (model.g[h, x, a] + W[h + 1, y] + more)
            ties = best(h, x)
            V[h, x] = sum(Q[h, x, b] for b in ties) / len(ties)
            W[h, x] = sum(C[h, x, b] for b in ties) / len(ties)
            if h == 0:
                cbar += C[0, x, a]
            x = y
        if k % c.frame == 0:
            Z, cbar = (max(0.0, Z + env.rho + c.eps - cbar / c.frame) if queue else 0.0), 0.0
            if restarts:
                Q, C, V, W, N = dict(fresh), dict(fresh), dict(start), dict(start), dict.fromkeys(fresh, 0)
    return [*seen, (Q, C, V, W, N, Z, cbar)]


@pytest.mark.parametrize("fault", FAULTS)
def test_one_run_is_the_listing_line_by_line(fault):
    env, listing = a_path(rounding=0.25), FAULTS[fault]
    slow = slow_run(env, SMALL, np.random.default_rng(1), **listing._asdict())
    states = 0
    for state, (Q, C, V, W, N, Z, cbar) in zip(
        episodes(env, SMALL, 1, np.random.default_rng(1), listing), slow, strict=True
    ):
        for table, expected in ((state.Q, Q), (state.C, C), (state.V, V), (state.W, W), (state.N, N)):
            found = [table[0][place] for place in expected]
            np.testing.assert_allclose(found, list(expected.values()), rtol=1e-12, atol=1e-12)
        assert state.Z[0] == pytest.approx(Z, abs=1e-12)
        assert state.cbar[0] == pytest.approx(cbar, abs=1e-12)
        states += 1
        assert (state.k, state.frame) == (states, (states - 1) // 7 + 1)
    assert states == env.episodes + 1


@pytest.mark.parametrize("fault", [name for name in FAULTS if name != "as printed"])
def test_a_fault_changes_the_run(fault):
    env = a_path()
    runs = [
        [(state.Q.copy(), state.Z.copy()) for state in episodes(env, SMALL, 4, np.random.default_rng(1), listing)]
        for listing in (Listing(), FAULTS[fault])
    ]
    same = [np.array_equal(a[0], b[0]) and np.array_equal(a[1], b[1]) for a, b in zip(*runs, strict=True)]
    assert same[0]
    assert not all(same)
    if fault == "queue":
        assert all((Z == 0).all() for _, Z in runs[1])
        assert not all((Z == 0).all() for _, Z in runs[0])


def test_runs_beside_each_other_do_not_touch():
    """Each of many runs is the run that the same draws make alone."""
    env = a_path()
    many = [(s.Q.copy(), s.Z.copy()) for s in episodes(env, SMALL, 5, np.random.default_rng(8))]
    rng = np.random.default_rng(8)
    drawn = [rng.random((7, 5)) for _ in range(env.episodes)]

    class One:
        def __init__(self, run):
            self.rows = iter(drawn)
            self.run = run

        def random(self, shape):
            return next(self.rows)[:, [self.run]]

    for run in range(5):
        for (Q, Z), state in zip(many, episodes(env, SMALL, 1, One(run)), strict=True):
            assert np.array_equal(Q[run], state.Q[0])
            assert Z[run] == state.Z[0]


def test_the_printed_constants_are_the_compiled_learners():
    env = a_path()
    problem = Problem.of(env)
    ours, theirs = literal(problem), algorithms.make("nonstationary_triple_q", problem, "literal")
    now = theirs.now[0]
    assert (ours.frame, ours.eta) == (now.frame, pytest.approx(now.eta))
    assert ours.eps + env.rho == pytest.approx(now.target)
    assert 2 * 3 * ours.btilde == pytest.approx(now.offset)
    t = np.arange(1.0, ours.frame + 1)
    np.testing.assert_allclose(bonus(t, 3, ours), algorithms.constants("nonstationary_triple_q", problem).bonus(t))
    np.testing.assert_allclose(bonus(t, 3, ours), theirs.bonus_q[1 : ours.frame + 1])


def test_printed_constants_by_hand():
    c = literal(Sizes(S=2, A=2, H=2, K=10**5, B=8.0))
    assert (c.chi, c.eta, c.btilde) == pytest.approx((10, 20, 0.02))
    assert c.frame in (249, 250)  # 10^3 / 4 in floating point
    assert c.iota == pytest.approx(128 * (math.log(4) + 5 * math.log(10)))
    assert c.eps == pytest.approx(8 * math.sqrt(2 * 2 * 64 * c.iota**3) * 2 / 10)
    assert literal(Sizes(2, 2, 2, 32, 1e-9)).frame == 32
    assert literal(Sizes(2, 2, 2, 32, 1e9)).frame == 1


def one_way(episodes_, actions, seed=0):
    """Every episode stands on an anchor and every step has one successor: nothing is random but ties."""
    rng = np.random.default_rng(seed)
    H, S = 3, 2
    P = np.eye(S)[rng.integers(S, size=(H, S, actions))]
    paid = 0.9 * rng.random((2, H, S, actions)) + 0.02 * rng.random((episodes_, 2, H, S, actions))
    anchors = [CMDP(P=P, r=r, g=g, rho=1.0, mu0=[1.0, 0.0]) for r, g in paid]
    return DriftingCMDP(anchors, range(1, episodes_ + 1), name="one_way", seed=seed)


def test_without_choices_it_is_the_compiled_learner():
    env = one_way(40, 1)
    constants = literal(Problem.of(env))
    assert 1 < constants.frame < 10
    *_, state = episodes(env, constants, 1, np.random.default_rng(0))
    table = resets_applied(simulate.run(env, "nonstationary_triple_q", "literal", evaluate_every=None).learner)
    np.testing.assert_allclose(state.Q[0], table[:, :, 0], rtol=1e-12)
    np.testing.assert_allclose(state.C[0], table[:, :, 1], rtol=1e-12)
    np.testing.assert_array_equal(state.N[0], table[:, :, 2])


def test_with_choices_it_has_the_compiled_learners_distribution():
    """Z at the end of 100 compiled runs beside 2,000 of these: the same mean and spread within their errors."""
    env = one_way(40, 2)
    *_, state = episodes(env, literal(Problem.of(env)), 2000, stream("test", "instrumented"))
    theirs = np.array([
        simulate.run(env, "nonstationary_triple_q", "literal", seed=s, evaluate_every=None).learner.now[0].Z
        for s in range(100)
    ])  # fmt: skip
    assert theirs.std() > 0
    assert abs(theirs.mean() - state.Z.mean()) < 4 * state.Z.std() / 10
    assert theirs.std() == pytest.approx(state.Z.std(), rel=0.35)


def test_a_path_holds_the_models_of_its_environment():
    env = a_path(sparsity=0.4)
    path = Path(env)
    for k in (1, 2, 9, 17, 30):
        for ours, theirs in zip(path.at(k)[:3], (env.at(k).P, env.at(k).r, env.at(k).g), strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-14)


def test_exact_values_are_those_of_a_slow_evaluation():
    env, rng = a_path(), np.random.default_rng(4)
    policies = rng.dirichlet(np.ones(2), size=(5, 3, 3))
    model = Path(env).at(13)
    values = evaluate(model, policies)
    for run, policy in enumerate(policies):
        V, W = evaluate_slowly(env.at(13), policy)
        assert (model.mu0 @ values.V[run, 0], model.mu0 @ values.W[run, 0]) == pytest.approx((V, W))
        np.testing.assert_allclose(
            values.Q[run, 0], model.r[0] + np.einsum("xay,y->xa", model.P[0], values.V[run, 1]), rtol=1e-12
        )
        alone = evaluate(model, policy)
        np.testing.assert_allclose(alone.Q, values.Q[run]), np.testing.assert_allclose(alone.W, values.W[run])


def test_the_policy_is_uniform_over_ties():
    env = a_path()
    state = next(episodes(env, SMALL, 2, np.random.default_rng(0)))
    assert (state.policy() == 0.5).all()
    state.Q[0, 1, 2, 1] += 1e-9
    assert state.policy()[0, 1, 2].tolist() == [0, 1]
    assert state.policy()[1, 1, 2].tolist() == [0.5, 0.5]


def test_a_draw_never_takes_what_has_no_probability():
    rows = np.array([[0.0, 1.0, 0.0], [0.5, 0.5, 0.0], [0.3, 0.3, 0.4 - 1e-12]])
    assert draw(rows, np.array([0.0, 1 - 1e-16, 1 - 1e-16])).tolist() == [1, 1, 2]
    assert draw(rows, np.array([0.999, 0.5, 0.299])).tolist() == [1, 1, 0]
