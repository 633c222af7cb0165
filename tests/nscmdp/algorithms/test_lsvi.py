"""Algorithm 3 beside a plain reading of its listing, which sums over all episodes of the frame, in every episode."""

import math
from operator import attrgetter
from types import SimpleNamespace

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import gaps, random_path
from nscmdp import algorithms, budget, environments, optimum, simulate
from nscmdp.algorithms import _lsvi_features
from nscmdp.algorithms._lsvi import CountingLSVI, lsvi
from nscmdp.drift import DriftingCMDP
from nscmdp.learner import begin_episode, dual, restart
from nscmdp.problem import Problem

ALGORITHM = "lsvi_primal_dual"
DOUBLE, DUAL = "double_restart_lsvi_primal_dual", "dual_restart_lsvi_primal_dual"
SEED = 4
FACTORS = dict.fromkeys(("alpha", "eta", "xi", "epsilon"), 1.0)
FACTORS |= {"beta": 0.001, "ridge": 0.1, "frame": 80.0}


def printed(env, d, B, setting, factors, variants):
    """SPEC 4 and 5, with the factors of ``scaled``."""
    c = {**FACTORS, **factors} if setting == "scaled" else dict.fromkeys(FACTORS, 1.0)
    H, A, K = env.H, env.A, env.episodes
    delta = min(optimum.best_utility(anchor) for anchor in env.anchors) - env.rho
    xi = c["xi"] * 2 * H / delta
    eps = 2 * (1 + xi) / xi * d ** (5 / 4) * B ** (1 / 4) * H ** (9 / 4) * K ** (-1 / 4)
    D = min(max(1, math.floor(c["frame"] * math.sqrt(d * K / (B * H)))), K)
    tightened = min(c["epsilon"] * eps, delta / 2) if variants.get("tightening") else 0.0
    return SimpleNamespace(
        xi=xi,
        alpha=c["alpha"] * math.log(A) * K / (2 * (1 + xi + H)),
        eta=c["eta"] * xi / math.sqrt(K * H**2),
        beta=c["beta"] * d * H * math.sqrt(math.log(2 * math.log(A) * d * K * H / 0.05)),
        D=D if variants.get("restart", True) else K,
        ridge=c["ridge"],
        target=env.rho + tightened,
        realised=variants.get("dual_by_realised_utility", False),
    )


class Listing:
    name = ALGORITHM

    def __init__(self, env, phi, constants):
        self.env, self.phi, self.c = env, phi, constants
        self.Y, self.episode = 0.0, 0
        self.duals, self.drives, self.certain = [], [], []  # Y_k, what moves it, how sure pi is
        self.begin_frame()

    def begin_frame(self):
        self.data = [[] for _ in range(self.env.H)]
        self.potential = np.zeros(self.env.H)

    def estimate(self):
        H, S, A, d = self.env.H, *self.phi.shape
        self.V, self.pi = np.zeros((H + 1, S, 2)), np.zeros((H, S, A))
        self.w, self.Lambda, self.u = np.zeros((H, 2, d)), np.zeros((H, d, d)), np.zeros((H, S, A))
        for h in reversed(range(H)):
            seen, targets = np.zeros((0, d)), np.zeros((0, 2))
            if self.data[h]:
                x, a, j, y = (np.array(part) for part in zip(*self.data[h], strict=True))
                seen, targets = self.phi[x, a], j + self.V[h + 1, y]
            self.Lambda[h] = self.c.ridge * np.eye(d) + seen.T @ seen
            self.w[h] = np.linalg.solve(self.Lambda[h], seen.T @ targets).T
            inverse = np.linalg.inv(self.Lambda[h])
            self.u[h] = ((self.phi @ inverse) * self.phi).sum(axis=2)  # phi^T Lambda^-1 phi
            linear = np.einsum("xai,ji->jxa", self.phi, self.w[h])
            Q = np.minimum(linear + self.c.beta * np.sqrt(self.u[h]), H)
            scores = self.c.alpha * (Q[0] + self.Y * Q[1])
            weights = np.exp(scores - scores.max(axis=1, keepdims=True))
            self.pi[h] = weights / weights.sum(axis=1, keepdims=True)
            self.V[h] = (self.pi[h] * Q).sum(axis=2).T

    def begin_episode(self, u):
        if self.episode % self.c.D == 0:
            self.begin_frame()
        self.estimate()
        self.episode, self.useful = self.episode + 1, 0.0

    def policy(self, h, x):
        return self.pi[h, x]

    def learn(self, h, x, a, r, g, y):
        if h == 0:
            self.drive = self.V[0, x, 1]
        self.data[h].append((x, a, (r, g), y))
        self.potential[h] += self.u[h, x, a]
        self.useful += g

    def end_of_episode(self):
        self.duals.append(self.Y)
        self.certain.append(self.pi.max(axis=2).mean())
        self.drives.append(self.useful if self.c.realised else self.drive)
        self.Y = max(min(self.Y + self.c.eta * (self.c.target - self.drives[-1]), self.c.xi), 0.0)

    def dual(self):
        return self.Y


def one_hot(env):
    return np.eye(env.S * env.A).reshape(env.S, env.A, env.S * env.A)


def small_linear(episodes=260, **options):
    sizes = {"states": 12, "actions": 3, "dimension": 4, "horizon": 3}
    sizes |= {"slater": 0.5, "budget": 15.0, **options}
    return environments.make("linear", episodes=episodes, **sizes)


@pytest.fixture(scope="module")
def linear():
    return small_linear()


@pytest.fixture(scope="module")
def tabular():
    shape = {"H": 4, "tightness": 0.6, "spread": 0.15, "name": "small"}
    return random_path(np.random.default_rng(12), [1, 70, 71, 200], **shape)


@pytest.fixture(scope="module")
def grid():
    return environments.make("grid_world", episodes=40, map="6x6", horizon=6, limit=1, success=0.7)


def reading(env, setting, factors, variants):
    phi = one_hot(env) if env.features is None else env.features
    B = (budget.variation(env) if env.features is None else budget.linear_variation(env)).total
    return Listing(env, phi, printed(env, phi.shape[2], max(1.0, B), setting, factors, variants))


def dual_slack(learner):
    """How far a run is from breaking, for some Y in [0, xi], the inequality that projection implies:

    sum_k (Y - Y_k) (rho - V_g^k)  <=  Y^2 / (2 eta) + (eta/2) sum_k (rho - V_g^k)^2,      with Y_1 = 0;

    the sums begin where Y does, and with the tightened rho or the realised utility where these drive Y.
    """
    now, eta = learner.now[0], learner.eta
    worst = min(max(eta * float(now.violations), 0.0), learner.xi)
    least = worst**2 / (2 * eta) if worst else 0.0
    return least + eta / 2 * now.violations_squared - (worst * now.violations - now.violations_Y)


def close(found, expected, tolerance=1e-8):
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def compare(env, setting, factors, variants, tolerance=1e-8):
    """Plays both; the same episodes, policies of the same value, the same estimates in the last one."""
    plain = reading(env, setting, factors, variants)
    kept = {"windows": env.episodes, "solve": False}
    slow = simulate.run(env, plain, seed=SEED, **kept)
    choices = {"factors": factors, "variants": variants}
    run = simulate.run(env, ALGORITHM, setting, SEED, **choices, **kept)
    learner = run.learner
    for part in ("reward", "utility"):
        np.testing.assert_allclose(getattr(run, part), getattr(slow, part), atol=1e-12)
    for part in ("value", "utility_value", "dual"):
        close(getattr(run, part), getattr(slow, part), tolerance)
    close(learner.values, plain.V, tolerance)
    close(learner.chances, plain.pi, tolerance)
    size = ((plain.c.target - np.array(plain.drives)) ** 2).sum()
    assert dual_slack(learner) >= -1e-9 * (1 + size)
    return plain, learner


CASES = [
    ("literal", {}, {}),
    ("literal", {}, {"tightening": True}),
    ("scaled", {"frame": 4.0}, {}),
    ("scaled", {"frame": 9.0, "beta": 0.01, "eta": 3.0, "alpha": 0.2, "xi": 0.5, "ridge": 1.5}, {}),
    ("scaled", {"frame": 6.0, "beta": 0.0}, {"dual_by_realised_utility": True}),
    ("scaled", {"frame": 6.0, "epsilon": 1e-3}, {"tightening": True}),
    ("scaled", {"beta": 0.003}, {"restart": False}),
]


@pytest.mark.parametrize(("setting", "factors", "variants"), CASES)
def test_the_learner_does_what_the_listing_says(linear, setting, factors, variants):
    plain, learner = compare(linear, setting, factors, variants)
    if variants.get("restart", True):
        assert linear.episodes // plain.c.D >= 2, "frames must end"
    close(learner.weights, plain.w)
    assert dual_slack(learner) == pytest.approx(worst_slack(plain), abs=1e-9)


@pytest.mark.parametrize(
    ("world", "setting", "factors", "variants"),
    [
        *[("tabular", *case) for case in CASES],
        ("grid", "scaled", {**CASES[3][1], "frame": 4.0}, {}),
    ],
)
def test_the_counting_learner_does_what_the_listing_says_of_unit_vectors(
    request, world, setting, factors, variants
):
    env = request.getfixturevalue(world)
    shorter = {**factors, "frame": factors.get("frame", 1.0) / 4} if factors else {}
    _, learner = compare(env, setting, shorter, variants)
    assert isinstance(learner, CountingLSVI)


def worst_slack(plain):
    """The least slack of the dual inequality over a grid of Y that holds the ends and the quadratic's minimum."""
    violation = plain.c.target - np.array(plain.drives)
    least = np.clip(plain.c.eta * violation.sum(), 0, plain.c.xi)
    Y = np.append(np.linspace(0, plain.c.xi, 1001), least)
    left = Y * violation.sum() - (np.array(plain.duals) * violation).sum()
    right = Y**2 / (2 * plain.c.eta) + plain.c.eta / 2 * (violation**2).sum()
    return (right - left).min()


def test_the_compared_runs_are_not_trivial(linear, tabular):
    for env in (linear, tabular):
        plain = reading(env, "scaled", {"frame": 2.0, "beta": 0.003, "eta": 3.0}, {})
        simulate.run(env, plain, seed=SEED, evaluate_every=None, windows=env.episodes)
        assert len(set(plain.duals)) > 10
        assert np.mean(plain.certain) > 0.6, "not uniform"


SIZE = st.integers(2, 4)
SEEDS, BETA = st.integers(0, 10_000), st.floats(0.0, 0.02)


@settings(max_examples=5)
@given(SEEDS, SIZE, SIZE, st.integers(1, 3), BETA, st.floats(0.05, 2.0), st.booleans())
def test_unit_vectors_as_features_and_counts_give_the_same_numbers(
    seed, S, A, H, beta, ridge, realised
):
    shape = {"S": S, "A": A, "H": H, "spread": 0.3, "name": "drawn"}
    env = random_path(np.random.default_rng(seed), [1, 60, 61, 150], **shape)
    featured = DriftingCMDP(env.anchors, env.knots, env.route, name="drawn", features=one_hot(env))
    choices = {"factors": {"beta": beta, "ridge": ridge, "frame": 1.5, "alpha": 0.1, "eta": 4.0}}
    choices["variants"] = {"dual_by_realised_utility": realised}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(budget, "linear_variation", budget.variation)  # the same D for both
        ours, theirs = (
            simulate.run(e, ALGORITHM, "scaled", SEED, windows=150, solve=False, **choices)
            for e in (featured, env)
        )
    np.testing.assert_allclose(ours.reward, theirs.reward, atol=1e-12)
    for part in ("value", "utility_value", "dual", "learner.chances", "learner.values"):
        close(attrgetter(part)(ours), attrgetter(part)(theirs), 1e-10)
    close(ours.learner.uncertainty.ravel(), 1 / (theirs.learner.visits.ravel() + ridge), 1e-10)


@settings(max_examples=3)
@given(SEEDS, st.integers(8, 16), st.integers(3, 6), SIZE, BETA)
def test_drawn_linear_problems_agree_with_the_listing(seed, states, dimension, horizon, beta):
    sizes = {"states": states, "dimension": dimension, "horizon": horizon}
    env = small_linear(120, **sizes, slater=0.3, seed=seed, budget=3.0)
    compare(env, "scaled", {"beta": beta, "frame": 1.5}, {})


def test_the_inequalities_of_the_proof_hold_in_every_frame(linear):
    """Elliptical potential (ridge 1), the norm of w, and the softmax policy within log(A)/alpha of the greedy one."""
    plain = reading(linear, "scaled", {"ridge": 1.0, "frame": 8.0, "alpha": 0.05}, {})
    d = plain.phi.shape[2]

    def check(k):
        seen = len(plain.data[0])
        most = 2 * linear.H * math.sqrt(d * seen / plain.c.ridge)
        assert np.linalg.norm(plain.w, axis=2).max() <= most
        if k % plain.c.D == 0 or k == linear.episodes:
            for h in range(linear.H):
                x, a, _, _ = (np.array(part) for part in zip(*plain.data[h], strict=True))
                log_det = np.linalg.slogdet(np.eye(d) + plain.phi[x, a].T @ plain.phi[x, a])[1]
                assert log_det <= plain.potential[h] <= 2 * log_det

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(simulate, "CHUNK_STEPS", 1)  # so that progress is told of every episode
        simulate.run(linear, plain, seed=SEED, evaluate_every=None, progress=check)
    assert len(plain.duals) == linear.episodes
    estimate = np.einsum("xai,hji->hjxa", plain.phi, plain.w)
    Q = np.minimum(estimate + plain.c.beta * np.sqrt(plain.u)[:, None], linear.H)
    both = Q[:, 0] + plain.duals[-1] * Q[:, 1]
    short = both.max(axis=2) - (plain.pi * both).sum(axis=2)
    assert short.max() <= math.log(linear.A) / plain.c.alpha


def test_the_literal_policy_is_uniform_because_every_value_is_clipped():
    env = environments.make("linear", episodes=400)
    run = simulate.run(env, ALGORITHM, "literal", SEED, solve=False)
    uniform = simulate.run(env, "uniform", seed=SEED, solve=False)
    np.testing.assert_array_equal(run.learner.chances, 0.25)
    np.testing.assert_array_equal(run.learner.values[:-1], env.H)
    assert (run.dual == 0).all()
    close(run.value, uniform.value, 1e-12)


def test_the_scaled_learner_learns():
    env = environments.make("linear", episodes=2000)
    run = simulate.run(env, ALGORITHM, "scaled", SEED, evaluate_every=10)
    uniform = simulate.run(env, "uniform", seed=SEED, evaluate_every=10)
    assert run.gap[-1] < 0.35 * uniform.gap[-1]
    assert gaps(env, run).min() >= -1e-9


def fresh(learner):
    """Lambda^-1 and phi^T Lambda^-1 phi by LAPACK, and how far the maintained ones are from them, relatively."""
    off = 0.0
    for gram, inverse, u in zip(learner.gram, learner.inverse, learner.uncertainty, strict=True):
        exact = np.linalg.inv(gram)
        exact_u = np.einsum("ir,ij,jr->r", learner.phi, exact, learner.phi)
        off = max(off, np.abs(inverse - exact).max() / np.abs(exact).max())
        off = max(off, (np.abs(u - exact_u) / exact_u).max())
    return off


def test_the_maintained_inverse_is_that_of_a_fresh_factorisation():
    env = small_linear(9000, horizon=2, states=8, budget=3.0, slater=0.3)
    assert env.episodes > 2 * _lsvi_features.REFRESH
    run = simulate.run(env, ALGORITHM, "scaled", SEED, None, variants={"restart": False})
    learner = run.learner
    assert fresh(learner) < 1e-10
    _lsvi_features.refresh(learner)
    assert fresh(learner) < 1e-12


@pytest.mark.slow
def test_a_million_episodes_without_restart_leave_no_drift():
    env = environments.make("linear", episodes=1_000_000)
    choices = {"variants": {"restart": False}, "windows": env.episodes}
    run = simulate.run(env, ALGORITHM, "scaled", SEED, None, **choices)
    assert fresh(run.learner) < 1e-9
    assert dual_slack(run.learner) >= -1e-9 * ((np.diff(run.dual) / run.learner.eta) ** 2).sum()


@numba.njit
def begin(learner):
    begin_episode(learner, 0.5)
    return dual(learner)


def test_a_frame_forgets_all_but_the_dual_variable(linear):
    """260 episodes are four frames of 65: the next episode begins one."""
    printed_frame = math.sqrt(4 * 260 / (budget.linear_variation(linear).total * 3))
    factors = {"frame": 65.5 / printed_frame, "eta": 5.0}
    run = simulate.run(linear, ALGORITHM, "scaled", SEED, None, factors=factors)
    learner = run.learner
    assert learner.arms[0, 0] == 65
    assert begin(learner) == run.dual[-1] > 0
    new = algorithms.make(ALGORITHM, Problem.of(linear), "scaled", factors)
    for part in ("gram", "inverse", "sums", "moves", "uncertainty"):
        np.testing.assert_array_equal(getattr(learner, part), getattr(new, part))
    assert (learner.weights == 0).all()


@numba.njit
def begin_with_the_second_arm(learner):
    restart(learner, 1)


@pytest.mark.parametrize("carry", [False, True])
def test_a_restart_takes_the_constants_of_another_arm(linear, monkeypatch, carry):
    """From the restart on it does what the listing says with those, from Y = 0 or from the Y that it had."""
    constants = algorithms.constants(ALGORITHM, Problem.of(linear), "scaled", {"eta": 5.0})
    arms = [constants._replace(D=7), constants._replace(D=50, eps=0.25)]
    learner = lsvi(Problem.of(linear), arms, carry=carry)
    monkeypatch.setattr(algorithms, "make", lambda *_: learner)
    before = simulate.run(linear, ALGORITHM, "scaled", SEED + 1, solve=False).dual[-1]
    assert before > 0
    begin_with_the_second_arm(learner)
    plain = reading(linear, "scaled", {"eta": 5.0}, {})
    plain.c.D, plain.c.target, plain.Y = 50, linear.rho + 0.25, before if carry else 0.0
    kept = {"windows": linear.episodes, "solve": False}
    slow = simulate.run(linear, plain, seed=SEED, **kept)
    run = simulate.run(linear, ALGORITHM, "scaled", SEED, **kept)
    for part in ("value", "utility_value", "dual"):
        close(getattr(run, part), getattr(slow, part))
    if not carry:
        assert dual_slack(learner) == pytest.approx(worst_slack(plain), abs=1e-9)


def test_the_budget_that_it_assumes_is_the_linear_one_where_there_are_features(linear, tabular):
    ours = algorithms.make(ALGORITHM, Problem.of(linear), "literal")
    B = budget.linear_variation(linear).total
    assert ours.arms[0, 0] == math.floor(math.sqrt(4 * 260 / (B * 3)))
    assumed = Problem.of(linear, assumed_budget=4.0, assumed_for="frame")
    wrong = algorithms.make(ALGORITHM, assumed, "literal")
    assert wrong.arms[0, 0] == math.floor(math.sqrt(4 * 260 / (4 * B * 3)))
    counting = algorithms.make(ALGORITHM, Problem.of(tabular), "literal")
    B = max(1.0, budget.variation(tabular).total)
    assert counting.arms[0, 0] == math.floor(math.sqrt(9 * 200 / (B * 4)))


def test_the_constants_of_the_default_environment():
    """beta = 8 x 5 sqrt(log(2 log 4 x 8 x 8192 x 5 / .05)), by hand."""
    env = environments.make("linear", episodes=8192)
    learner = algorithms.make(ALGORITHM, Problem.of(env), "literal")
    assert learner.beta == pytest.approx(163.537, abs=1e-3)
    assert learner.arms[0, 0] == 25
    assert learner.xi == pytest.approx(10 / Problem.of(env).delta, rel=1e-12)
    assert learner.eta == pytest.approx(learner.xi / (5 * 8192**0.5), rel=1e-12)
    assert learner.ridge == 1.0


def test_what_cannot_be_run_is_refused_with_the_reason(linear):
    with pytest.raises(ValueError, match=r"ridge = 0\.0: expected a positive number"):
        algorithms.make(ALGORITHM, Problem.of(linear), "scaled", {"ridge": 0.0})
    tight = Problem.of(linear)._replace(rho=3.0)
    said = r"the Slater gap is -.*Algorithm 3 expects a policy that exceeds rho"
    with pytest.raises(ValueError, match=said):
        algorithms.make(ALGORITHM, tight, "literal")


class TestUnknownBudget:
    """Algorithm 4 and the appendix's alternative: the constants they hand to the bandit and to Algorithm 3."""

    def problem(self, episodes=4096):
        return Problem.of(environments.make("linear", episodes=episodes))

    def test_algorithm_4_as_printed_has_one_frame_an_epoch_whatever_the_arm(self):
        learner = algorithms.make(DOUBLE, self.problem(), "literal")
        assert learner.block == 64
        assert len(learner.inner.arms) == math.ceil(math.log(64)) + 1
        assert (learner.inner.arms[:, 0] == 64).all()
        printed = math.sqrt(64 * math.log(64) / ((math.e - 1) * 4096 * 5))
        assert learner.bandit.gamma == pytest.approx(printed)
        assert learner.rule.weight == pytest.approx(4096 ** (-1 / 8))
        assert not learner.rule.dual
        inner = algorithms.make(ALGORITHM, self.problem()._replace(K=64), "literal")
        for constant in ("alpha", "beta", "eta", "xi", "ridge"):
            assert getattr(learner.inner, constant) == getattr(inner, constant)

    def test_algorithm_4_scaled_has_the_frames_of_its_candidate_budgets(self):
        factors = {"frame": 2.0, "budgets": 3.0, "epoch": 2.0, "rate": 0.5}
        learner = algorithms.make(DOUBLE, self.problem(), "scaled", factors)
        W, J = 128, 5
        budgets = [3.0 * 64 * W ** (j / J - 1) for j in range(J + 1)]
        frames = [min(W, math.floor(2.0 * math.sqrt(8 * W / (B * 5)))) for B in budgets]
        np.testing.assert_array_equal(learner.inner.arms[:, 0], frames)
        usual = math.sqrt(6 * math.log(6) / ((math.e - 1) * 32))
        assert learner.bandit.gamma == pytest.approx(0.5 * usual)

    def test_algorithm_4_tightens_by_its_own_formula(self):
        problem = self.problem()
        plain, tight = (
            algorithms.make(DOUBLE, problem, "scaled", {"epsilon": 1e-5}, variants)
            for variants in ({}, {"tightening": True})
        )
        xi, delta, W, J = plain.inner.xi, problem.delta, plain.block, len(plain.inner.arms) - 1
        for j in range(J + 1):
            B = 64 * W ** (j / J - 1)
            eps = 3e-5 * (1 + xi) / xi * (1 + 1 / delta)
            eps *= 8**1.25 * B**0.25 * 5**2.25 * 4096**-0.125
            tightened = tight.inner.arms[j, 1] - plain.inner.arms[j, 1]
            assert tightened == pytest.approx(min(eps, delta / 2))

    def test_the_alternative_chooses_frame_lengths_and_has_an_outer_dual(self):
        problem = self.problem()
        learner = algorithms.make(DUAL, problem, "literal")
        W = round(math.sqrt(8 * 4096 / 5))
        J = math.ceil(math.log(W))
        assert learner.block == W
        frames = [round(W ** (j / J)) for j in range(J + 1)]
        np.testing.assert_array_equal(learner.inner.arms[:, 0], frames)
        xi = 10 / problem.delta
        assert learner.rule.dual
        assert learner.rule.weight == pytest.approx(xi)
        assert learner.rule.step == pytest.approx(xi * math.sqrt(W / (4096 * 25)))

    @pytest.mark.parametrize("name", [DOUBLE, DUAL])
    def test_the_dual_variable_is_new_in_every_epoch_as_printed_and_carried_over_scaled(self, name):
        for setting, variants, carried in (
            ("literal", {}, False),
            ("scaled", {}, True),
            ("scaled", {"dual": "reset"}, False),
            ("literal", {"dual": "carried"}, True),
        ):
            made = algorithms.make(name, self.problem(), setting, None, variants)
            assert made.inner.carry is carried

    @pytest.mark.parametrize("name", [DOUBLE, DUAL])
    def test_a_run_keeps_the_dual_inequality_and_the_gap(self, name):
        env = small_linear(600)
        run = simulate.run(env, name, "scaled", SEED, factors={"epoch": 1.0, "eta": 3.0})
        assert len(np.unique(run.learner.chosen)) > 1
        assert dual_slack(run.learner.inner) >= -1e-9
        assert gaps(env, run).min() >= -1e-9
