"""Algorithm 1 and Triple-Q beside a plain reading of their listings: tables of V and W, one line after the other."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from helpers import facts, optimistic_start, play, random_path, resets_applied
from nscmdp import algorithms, environments, simulate
from nscmdp.algorithms._triple_q import iota_of as iota_in
from nscmdp.problem import Problem

SEED = 5


@dataclass
class Constants:
    L: int
    chi: float
    eta: float
    eps: float
    bonus: object  # t -> b_t and all else that is added to both targets
    initial_q: list
    initial_c: list
    frame_end: str = "full"
    bump: float = 0.0
    put_back: object = None  # (Q, C, h) -> does the entry go back to its initial values?
    keep_c: bool = False
    explore: bool = False
    cbar: str = "after"
    backup: str = "greedy"
    values: str = "reset"


def whole(length, K):
    return min(max(1, math.floor(length)), K)


def iota_of(f):
    return 128 * np.log(np.sqrt(2 * f.S * f.A * f.H) * f.K)


def literal(f, B, **others):
    """The printed constants of SPEC 1 and 1b, in which Triple-Q has no budget, but for b~."""
    K, H, chi = f.K, f.H, f.K**0.2
    printed = {
        "L": whole(K**0.6 / B ** (2 / 3), K),
        "chi": chi,
        "eta": K**0.2 * B ** (1 / 3),
        "eps": 8 * math.sqrt(f.S * f.A * H**6 * iota_of(f) ** 3) * B ** (1 / 3) / K**0.2,
        "bonus": lambda t: 0.25 * math.sqrt(H**2 * iota_of(f) * (chi + 1) / (chi + t)),
        "initial_q": [H] * H,
        "initial_c": [H] * H,
    }
    return Constants(**printed | others)


def scaled(f, B, factors, start):
    """The printed powers with factors."""
    K, H, chi = f.K, f.H, f.K**0.2
    c = {"bonus": 0.0013, "epsilon": 4.0, "eta": 0.5, "frame": 4.0, "initial": 4.0, **factors}
    return Constants(
        L=whole(c["frame"] * K**0.6 / B ** (2 / 3), K),
        chi=chi,
        eta=c["eta"] * K**0.2 * B ** (1 / 3),
        eps=c["epsilon"] * B ** (1 / 3) / K**0.2,
        bonus=lambda t: c["bonus"] * H * math.sqrt((chi + 1) / (chi + t)),
        initial_q=optimistic_start(f.env, c["initial"], start),
        initial_c=[H - h + 1 for h in range(1, H + 1)],
    )


def algorithm_1(f, setting, factors, start="optimistic"):
    """The constants of SPEC 1b; [NB]'s of SPEC 1 on the paper's scale of rewards; the printed powers with factors."""
    K, B, H = f.K, f.B, f.H
    if setting == "authors":
        return notebook(f, whole(K**0.6 / B ** (2 / 3), K), B ** (1 / 3))
    btilde = B ** (1 / 3) * K**-0.4
    if setting == "literal":
        constants = literal(f, B)
    else:
        constants, btilde = scaled(f, B, factors, start), factors.get("btilde", 0.0) * btilde
    bonus = constants.bonus
    constants.bonus = lambda t: bonus(t) + 2 * H * btilde
    return constants


def triple_q(f, setting, factors, start="optimistic"):
    """The constants of SPEC 1, with the frame end that adds a bump and puts back what is too high."""
    K, H = f.K, f.H
    if setting == "literal":
        bump = 2 * H**3 * math.sqrt(iota_of(f)) / K**0.2
        return literal(
            f, 1.0, frame_end="bump", bump=bump, put_back=lambda q, c, h: q >= H or c >= H
        )
    if setting == "authors":
        constants = notebook(f, whole(K**0.6, K), 1.0)
        constants.frame_end, constants.bump, constants.keep_c = "bump", 3 / 100, True
        constants.put_back = lambda q, c, h: q > 850 / 100 * H / 25 or c > H
        constants.backup = "taken"
        return constants
    constants = scaled(f, 1.0, factors, start)
    initial_q, initial_c = constants.initial_q, constants.initial_c
    constants.frame_end, constants.bump = "bump", factors.get("bump", 0.01) * H / constants.eta
    constants.put_back = lambda q, u, h: q >= initial_q[h] or u >= initial_c[h]
    return constants


def notebook(f, L, scale_of_eta):
    return Constants(
        L=L,
        chi=f.K**0.2,
        eta=100 * 1e-4 * f.K**0.2 * math.sqrt(f.S * f.A * f.H**4) * scale_of_eta,
        eps=0.5,
        bonus=lambda t: 0.2 / 100 * np.sqrt(np.log(f.K) / t),
        initial_q=[800 / 100 * f.H / 25] * f.H,
        initial_c=[f.H] * f.H,
        explore=True,
    )


class Listing:
    """Algorithm 1 as printed, with Triple-Q's frame end where the constants ask for it."""

    def __init__(self, env, constants, name):
        self.c, self.env, self.name, self.episode = constants, env, name, 0
        H, S, A = env.H, env.S, env.A
        self.Q = np.array([[[q] * A] * S for q in constants.initial_q], dtype=float)
        self.C = np.array([[[c] * A] * S for c in constants.initial_c], dtype=float)
        self.N = np.zeros((H, S, A), dtype=int)
        self.V, self.W = np.zeros((H + 1, S)), np.zeros((H + 1, S))
        self.Z, self.Cbar, self.epsilon = 0.0, 0.0, 1.0 if constants.explore else 0.0
        self.refresh_all()

    @property
    def explore(self):
        """Epsilon-greedy, and of the rest 3 in 100."""
        return 1 - (1 - 0.03) * (1 - self.epsilon) if self.c.explore else 0.0

    def best_actions(self, h, x):
        F = [self.Q[h, x, a] + self.Z / self.c.eta * self.C[h, x, a] for a in range(self.env.A)]
        return [a for a in range(self.env.A) if F[a] == max(F)]

    def refresh(self, h, x):
        """V_h(x) = Q_h(x,a'), W_h(x) = C_h(x,a'); where several a' maximise, their mean."""
        tied = self.best_actions(h, x)
        self.V[h, x] = sum(self.Q[h, x, a] for a in tied) / len(tied)
        self.W[h, x] = sum(self.C[h, x, a] for a in tied) / len(tied)

    def refresh_all(self):
        for h, x in np.ndindex(self.env.H, self.env.S):
            self.refresh(h, x)

    def choose(self, h, x, u):
        if u < self.explore:
            return int(u / self.explore * self.env.A)
        tied = self.best_actions(h, x)
        return tied[int((u - self.explore) / (1 - self.explore) * len(tied))]

    def policy(self, h, x):
        tied = self.best_actions(h, x)
        probabilities = np.full(self.env.A, self.explore / self.env.A)
        probabilities[tied] += (1 - self.explore) / len(tied)
        return probabilities

    def act_and_estimate(self, h, x, u):
        a = self.choose(h, x, u)
        if self.c.backup == "taken":
            return a, self.Q[h, x, a], self.C[h, x, a]
        return a, self.V[h, x], self.W[h, x]

    def learn_from_estimate(self, h, x, a, r, g, y, v, w):
        before = self.C[h, x, a]
        self.N[h, x, a] += 1
        t = self.N[h, x, a]
        alpha = (self.c.chi + 1) / (self.c.chi + t)
        b = self.c.bonus(t)
        self.Q[h, x, a] = (1 - alpha) * self.Q[h, x, a] + alpha * (r + v + b)
        self.C[h, x, a] = (1 - alpha) * self.C[h, x, a] + alpha * (g + w + b)
        self.refresh(h, x)
        if h == 0:
            self.Cbar += before if self.c.cbar == "before" else self.C[h, x, a]

    def end_of_episode(self):
        self.episode += 1
        if (self.episode - 1) % 20 == 0:
            self.epsilon *= 0.95
        if self.episode % self.c.L == 0:
            self.end_frame()

    def dual(self):
        return self.Z / self.c.eta

    def end_frame(self):
        self.N[:] = 0
        for h, x, a in np.ndindex(self.Q.shape):
            if self.c.frame_end == "full":
                self.Q[h, x, a], self.C[h, x, a] = self.c.initial_q[h], self.c.initial_c[h]
            elif self.c.frame_end == "bump":
                self.Q[h, x, a] += self.c.bump
                if self.c.put_back(self.Q[h, x, a], self.C[h, x, a], h):
                    self.Q[h, x, a] = self.c.initial_q[h]
                    if not self.c.keep_c:
                        self.C[h, x, a] = self.c.initial_c[h]
        self.Z = max(0.0, self.Z + self.env.rho + self.c.eps - self.Cbar / self.c.L)
        self.Cbar = 0.0
        if self.c.values == "reset":
            self.refresh_all()


CONSTANTS = {"nonstationary_triple_q": algorithm_1, "triple_q": triple_q}
FACTORS = {"bonus": 0.1, "epsilon": 1.0}
CASES = [
    ("nonstationary_triple_q", "literal", {}, {}),
    ("nonstationary_triple_q", "literal", {}, {"cbar": "before"}),
    ("nonstationary_triple_q", "literal", {}, {"reset": "counts"}),
    ("nonstationary_triple_q", "authors", {}, {}),
    ("nonstationary_triple_q", "authors", {}, {"reset": "counts", "cbar": "before"}),
    ("nonstationary_triple_q", "authors", {}, {"backup": "taken"}),
    ("nonstationary_triple_q", "literal", {}, {"values": "kept"}),
    ("nonstationary_triple_q", "scaled", {"frame": 1.5}, {"values": "kept"}),
    ("nonstationary_triple_q", "scaled", {}, {}),
    ("nonstationary_triple_q", "scaled", FACTORS | {"btilde": 0.3, "eta": 2.0, "frame": 2.5}, {}),
    ("nonstationary_triple_q", "scaled", {"initial": 1.2}, {"cbar": "before", "reset": "counts"}),
    ("nonstationary_triple_q", "scaled", {"initial": 0.7}, {"start": "below"}),
    ("triple_q", "literal", {}, {}),
    ("triple_q", "literal", {}, {"cbar": "before"}),
    ("triple_q", "authors", {}, {}),
    ("triple_q", "authors", {}, {"backup": "greedy"}),
    ("triple_q", "scaled", {}, {"cbar": "before"}),
    ("triple_q", "scaled", FACTORS | {"eta": 0.2, "frame": 0.8, "initial": 1.3, "bump": 0.3}, {}),
]


@pytest.fixture(scope="module")
def small():
    shape = {"H": 4, "tightness": 0.7, "spread": 0.15, "name": "small"}
    return random_path(np.random.default_rng(12), [1, 70, 71, 212], **shape)


@pytest.fixture(scope="module")
def grid():
    return environments.make("grid_world", episodes=70, map="6x6", horizon=6, limit=1, success=0.7)


def reading(env, algorithm, setting, factors, variants):
    start = variants.get("start", "optimistic")
    constants = CONSTANTS[algorithm](facts(env), setting, factors, start)
    for key in {"cbar", "backup", "values"} & variants.keys():
        setattr(constants, key, variants[key])
    if "reset" in variants:
        constants.frame_end = variants["reset"]
    return Listing(env, constants, algorithm)


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.usefixtures("a_window_for_each_episode")
@pytest.mark.parametrize("world", ["small", "grid"])
@pytest.mark.parametrize(("algorithm", "setting", "factors", "variants"), CASES)
def test_the_learner_does_what_the_listing_says(
    request, world, algorithm, setting, factors, variants
):
    env = request.getfixturevalue(world)
    plain = reading(env, algorithm, setting, factors, variants)
    if world == "small":
        assert env.episodes // plain.c.L >= 2, "frames must end"
        assert env.episodes % plain.c.L, "the last frame must be under way, for tables to show"
    slow = simulate.run(env, plain, seed=SEED, solve=False)
    choices = {"factors": factors, "variants": variants, "solve": False}
    run = simulate.run(env, algorithm, setting, SEED, **choices)
    table = resets_applied(run.learner)
    assert run.learner.now[0].frame == plain.c.L
    close(table[:, :, 0], plain.Q)
    close(table[:, :, 1], plain.C)
    np.testing.assert_array_equal(table[:, :, 2], plain.N)
    for part in ("dual", "reward", "utility", "value", "utility_value"):
        close(getattr(run, part), getattr(slow, part))


@pytest.mark.usefixtures("a_window_for_each_episode")
@pytest.mark.parametrize("algorithm", CONSTANTS)
def test_an_independent_loop_plays_the_listing_alike(small, algorithm):
    """The loop in Python that all listings are run by, on estimates of V and W, of actions taken too."""
    ours, theirs = (reading(small, algorithm, "authors", {}, {}) for _ in range(2))
    run = simulate.run(small, ours, seed=SEED, solve=False)
    judged = play(small, theirs, algorithm, SEED)
    for part in ("reward", "utility", "dual"):
        np.testing.assert_array_equal(getattr(run, part), getattr(judged, part))
    for part in ("value", "utility_value"):
        np.testing.assert_allclose(getattr(run, part), getattr(judged, part), rtol=1e-12)
    np.testing.assert_array_equal(ours.Q, theirs.Q)
    np.testing.assert_array_equal(ours.C, theirs.C)


@pytest.mark.parametrize("algorithm", CONSTANTS)
def test_the_compared_runs_are_not_trivial(small, algorithm):
    """Frames end, the queue is used and the policy departs from the uniform one."""
    plain = reading(small, algorithm, "scaled", {"epsilon": 1.0}, {})
    certain = []

    def end_of_episode():
        Listing.end_of_episode(plain)
        places = np.ndindex(small.H, small.S)
        certain.append(np.mean([plain.policy(h, x).max() == 1 for h, x in places]))

    plain.end_of_episode = end_of_episode
    queues = simulate.run(small, plain, seed=SEED, evaluate_every=None, windows=small.episodes).dual
    assert len(set(queues)) >= 3
    assert max(queues) > 0
    assert np.mean(certain) > 0.3


def paper_problem():
    return Problem(324, 4, 25, 80_000, 20.0, 2.5, 2.5, 1.875, None)


def test_the_literal_learner_of_the_paper_has_its_constants():
    learner = algorithms.make("nonstationary_triple_q", paper_problem(), "literal")
    assert iota_in(paper_problem()) == pytest.approx(2154.2, abs=0.05)
    assert learner.now[0].frame == 241
    assert learner.now[0].eta == pytest.approx(80_000**0.2 * 6.875 ** (1 / 3), rel=1e-12)
    btilde = 6.875 ** (1 / 3) * 80_000**-0.4
    assert learner.bonus_q[1] == pytest.approx(290.1, abs=0.05)
    assert learner.now[0].offset == pytest.approx(2 * 25 * btilde, rel=1e-12)
    assert learner.rate[1] == 1.0
    chi = 80_000**0.2
    np.testing.assert_allclose(learner.rate[1:], (chi + 1) / (chi + np.arange(1, 243)), rtol=1e-14)
    eps = 8 * math.sqrt(324 * 4 * 25**6 * 2154.2**3) * 6.875 ** (1 / 3) / chi
    assert learner.now[0].target == pytest.approx(20 + eps, rel=1e-4)
    assert (learner.table[:, :, :2] == 25).all()
    assert (learner.table[:, :, 2] == 0).all()


def test_triple_q_does_not_know_the_budget():
    problem = Problem.of(environments.make("grid_world", 80_000))
    tame = problem._replace(reward_budget=0.0, utility_budget=0.0, transition_budget=0.0)
    for setting in ("literal", "authors", "scaled"):
        ours, theirs = (algorithms.make("triple_q", p, setting) for p in (problem, tame))
        for found, expected in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(found, expected)


def test_ranges_are_those_declared_where_the_budget_is_one():
    problem = paper_problem()._replace(reward_budget=1.0, utility_budget=0.0, transition_budget=0.0)
    found = algorithms.ranges("nonstationary_triple_q", problem, 3)
    declared = algorithms.ranges("nonstationary_triple_q")
    assert {**found, "frame": None} == {**declared, "frame": None}
    assert found["frame"] == algorithms.ranges("triple_q", problem, 3)["frame"]


def test_a_budget_below_one_counts_as_one():
    problem = paper_problem()._replace(reward_budget=0.1, utility_budget=0.2, transition_budget=0.0)
    one = problem._replace(reward_budget=1.0, utility_budget=0.0)
    ours, theirs = (algorithms.make("nonstationary_triple_q", p, "literal") for p in (problem, one))
    for constant in ("frame", "eta", "target"):
        assert ours.now[0][constant] == theirs.now[0][constant]


@pytest.mark.parametrize("windows", [1, 7, 60])
def test_the_dual_is_noted_at_the_end_of_every_window(small, windows):
    plain = reading(small, "nonstationary_triple_q", "literal", {}, {})
    run = simulate.run(small, "nonstationary_triple_q", "literal", SEED, None, windows=windows)
    duals = play(small, plain, plain.name, SEED).dual
    assert max(duals) > 0
    last = np.cumsum(run.window_episodes) - 1
    np.testing.assert_allclose(run.dual, np.array(duals)[last], rtol=1e-12)
