"""PROPD-PPO, as reconstructed, beside a plain reading of its equations."""

import math

import numpy as np
import pytest

from helpers import best, facts, random_cmdp, random_path
from nscmdp import algorithms, environments, optimum, simulate
from nscmdp.drift import DriftingCMDP
from nscmdp.problem import Problem

NAME, SEED = "propd_ppo", 5


@pytest.fixture(scope="module")
def small():
    return random_path(
        np.random.default_rng(12), [1, 70, 71, 212], H=4, tightness=0.7, spread=0.15, name="small"
    )


class Reading:
    name = NAME

    def __init__(self, env, setting, factors):
        f = facts(env)
        names = ("alpha", "beta", "window", "restart", "eta", "most")
        c = dict.fromkeys(names, 1.0) | {"regularization": 0.0}
        if setting == "scaled":
            c |= {"alpha": 30.0, "beta": 0.005} | factors
        gap = min(best(anchor, 0.0, 1.0)[1] for anchor in env.anchors) - env.rho
        K, H, S, A, B = f.K, f.H, f.S, f.A, f.B
        self.alpha = c["alpha"] * K**-0.5 * B ** (1 / 3) / H
        self.beta = c["beta"] * H * math.sqrt(S * math.log(S * A * K * H / 0.05))
        self.eta, self.chi, self.xi = (
            c["eta"] * K**-0.5,
            c["most"] * 2 * H / gap,
            c["regularization"] * K**-0.5,
        )
        self.W = min(
            max(1, math.floor(c["window"] * S ** (2 / 3) * A ** (1 / 3) * (K / B) ** (2 / 3))), K
        )
        self.L = min(max(1, math.floor(c["restart"] * K ** (3 / 4) * B ** (-2 / 3))), K)
        self.env, self.episode = env, 0
        self.Y, self.V_g, self.most_Y = 0.0, np.zeros((H + 1, S)), 0.0

    def begin_episode(self, u):
        """The policy of the next episode."""
        self.episode += 1
        H, S, A, k = self.env.H, self.env.S, self.env.A, self.episode
        if k % self.W == 1 or self.W == 1:
            self.n, self.r, self.g = (
                np.zeros((H, S, A, S)),
                np.zeros((H, S, A)),
                np.zeros((H, S, A)),
            )
        if k % self.L == 1 or self.L == 1:
            self.pi, self.Q_r, self.Q_g = (
                np.full((H, S, A), 1 / A),
                np.zeros((H, S, A)),
                np.zeros((H, S, A)),
            )
        self.pi = self.pi * np.exp(self.alpha * (self.Q_r + self.Y * self.Q_g))
        self.pi /= self.pi.sum(axis=2, keepdims=True)

    def policy(self, h, x):
        return self.pi[h, x]

    def learn(self, h, x, a, r, g, y):
        if h == 0:
            self.first = x
        self.n[h, x, a, y] += 1
        self.r[h, x, a] += r
        self.g[h, x, a] += g

    def end_of_episode(self):
        step = (1 - self.eta * self.xi) * self.Y + self.eta * (
            self.env.rho - self.V_g[0, self.first]
        )
        self.Y = min(max(step, 0.0), self.chi)
        self.most_Y = max(self.Y, self.most_Y)
        self.Q_r, _ = self.evaluated(self.r)
        self.Q_g, self.V_g = self.evaluated(self.g)

    def dual(self):
        return self.Y

    def evaluated(self, paid):
        """Q and V of the policy, optimistically, in the model of the window."""
        H, S = self.env.H, self.env.S
        Q, V = np.zeros_like(self.r), np.zeros((H + 1, S))
        for h in reversed(range(H)):
            n = self.n[h].sum(axis=2)
            ahead = (self.n[h] / (n + 1)[..., None]) @ V[h + 1]
            Q[h] = np.clip(paid[h] / (n + 1) + ahead + 2 * self.beta * (n + 1) ** -0.5, 0, H - h)
            V[h] = (self.pi[h] * Q[h]).sum(axis=1)
        return Q, V


FAST = {"alpha": 100.0, "beta": 0.0, "window": 2.0, "restart": 2.0, "eta": 2.0}
FAST["regularization"] = 5.0
CASES = [
    ("literal", {}),
    ("scaled", {}),
    (
        "scaled",
        {"alpha": 5.0, "beta": 0.02, "window": 0.3, "restart": 0.5, "eta": 4.0, "most": 0.1},
    ),
    ("scaled", FAST),
]


@pytest.mark.parametrize(("setting", "factors"), CASES)
def test_the_learner_does_what_the_equations_say(small, setting, factors):
    plain, learner = beside_the_equations(small, setting, factors)
    assert (learner.window, learner.restart) == (plain.W, plain.L)
    assert small.episodes > 2 * min(plain.W, plain.L)
    if setting == "scaled":
        assert plain.most_Y > 0
        assert (plain.pi.max(axis=2) > 0.5).any()


@pytest.mark.filterwarnings("ignore::nscmdp.problem.DoesNotFit")
def test_where_most_states_were_never_met_it_does_what_the_equations_say():
    env = environments.make("grid_world", 60, map="6x6", horizon=8, limit=2)
    plain, learner = beside_the_equations(env, "scaled", {"beta": 0.001, "alpha": 300.0})
    assert env.episodes > plain.L
    assert (learner.rows == 0).mean() > 0.5


def beside_the_equations(env, setting, factors):
    """Both after a run in which they did the same."""
    plain = Reading(env, setting, factors)
    slow = simulate.run(env, plain, seed=SEED, windows=env.episodes, solve=False)
    run = simulate.run(env, NAME, setting, SEED, factors=factors, windows=env.episodes, solve=False)
    for part in ("value", "utility_value", "dual"):
        np.testing.assert_allclose(getattr(run, part), getattr(slow, part), rtol=1e-8)
    learner, steps = run.learner, np.arange(env.H)[:, None]
    entries = learner.entries[steps, learner.rows[:-1]]
    np.testing.assert_allclose(entries["Q_r"], plain.Q_r, rtol=1e-8)
    np.testing.assert_allclose(entries["Q_g"], plain.Q_g, rtol=1e-8)
    np.testing.assert_allclose(
        learner.values[steps, learner.rows[:-1]]["V_g"], plain.V_g[:-1], rtol=1e-8
    )
    np.testing.assert_array_equal(counts(learner), plain.n)
    return plain, learner


def counts(learner):
    """n(h,x,a,y)"""
    n = np.zeros((*learner.rows[:-1].shape, learner.entries.shape[2], learner.rows.shape[1]))
    for h, x, a, y in np.ndindex(n.shape):
        row = learner.rows[h, x]
        known = learner.successors[h, row, a][: learner.entries[h, row, a].known]
        n[h, x, a, y] = known["visits"][known["row"] == learner.rows[h + 1, y]].sum()
    return n


def test_under_a_huge_bonus_it_is_uniform(small):
    run = simulate.run(small, NAME, "scaled", SEED, factors={"beta": 1e6}, solve=False)
    uniform = simulate.run(small, "uniform", seed=SEED, solve=False)
    np.testing.assert_allclose(run.value, uniform.value, rtol=1e-12)
    np.testing.assert_allclose(run.utility_value, uniform.utility_value, rtol=1e-12)


@pytest.mark.filterwarnings("ignore::nscmdp.problem.DoesNotFit")
@pytest.mark.parametrize("seed", [1, 4])
def test_with_the_model_known_its_average_is_the_optimum_of_a_stationary_cmdp(monkeypatch, seed):
    cmdp = random_cmdp(np.random.default_rng(seed), H=3, S=3, A=3, tightness=0.5)
    episodes = 20_000
    env = DriftingCMDP([cmdp], [1], episodes=episodes, name="still")
    learner = algorithms.make(
        NAME, Problem.of(env), "scaled", {"alpha": 10.0, "beta": 0.0, "eta": 5.0}
    )
    learner = learner._replace(window=10**9, restart=10**9)
    monkeypatch.setattr(algorithms, "make", lambda *_: learner)
    simulate.run(
        DriftingCMDP([cmdp], [1], name="first"), NAME, "scaled", SEED, solve=False
    )  # window and policy begin
    many = 1e12
    learner.rows[:], learner.used[:] = np.arange(env.S) + 1, env.S + 1
    entries, successors = learner.entries[:, 1:], learner.successors[:, 1:]
    entries["reward"], entries["utility"], entries["n"], entries["known"] = (
        many * cmdp.r,
        many * cmdp.g,
        many + 1,
        env.S,
    )
    entries["bonus"], successors["visits"], successors["row"] = 0.0, many * cmdp.P, learner.rows[0]
    run = simulate.run(env, NAME, "scaled", SEED, solve=False)
    best_policy = optimum.constrained(cmdp)
    assert best_policy.multiplier > 0.05
    half = episodes // 2
    V, W = run.value[half:].mean(), run.utility_value[half:].mean()
    assert abs(V - best_policy.value) < 0.01 * env.H
    assert cmdp.rho - 0.01 * env.H < W
    gap = best_policy.value - V + best_policy.multiplier * (cmdp.rho - W)
    assert -1e-9 <= gap < 0.01 * env.H


def test_it_keeps_a_model(small):
    """H S^2 A numbers, as a model-based learner must where every state may follow every other."""
    f = facts(small)
    learner = algorithms.make(NAME, Problem.of(small), "literal")
    assert learner.successors[:, 1:].size == f.H * f.S**2 * f.A


@pytest.mark.filterwarnings("ignore::nscmdp.problem.DoesNotFit")
def test_it_has_room_for_the_successors_that_occur_and_for_the_states_that_an_episode_can_meet():
    few, many = (environments.make("grid_world", 50, map="random", size=size) for size in (20, 40))
    small, large = (
        algorithms.state_bytes(algorithms.make(NAME, Problem.of(env), "scaled"))
        for env in (few, many)
    )
    assert large == small + 4 * (many.H + 1) * (many.S - few.S)  # which row a state has
