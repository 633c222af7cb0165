"""The sliding-window OptCMDP beside a plain reading: the window's trajectories as a list, the model from them anew."""

import math

import numpy as np
import pytest

from helpers import facts, gaps, random_path
from nscmdp import algorithms, environments, optimum, simulate
from nscmdp.cmdp import CMDP
from nscmdp.drift import DriftingCMDP
from nscmdp.kernels.induction import model_of
from nscmdp.problem import Problem

NAME, SEED = "sliding_window_opt_cmdp", 5


@pytest.fixture(scope="module")
def small():
    return random_path(
        np.random.default_rng(12), [1, 70, 71, 212], H=4, tightness=0.7, spread=0.15, name="small"
    )


class Reading:
    name = NAME

    def __init__(self, env, factors):
        f = facts(env)
        c = {"bonus": 0.005, "window": 4.0, "refresh": 0.1} | factors
        self.w = min(max(1, math.floor(c["window"] * (f.K / f.B) ** (2 / 3))), f.K)
        self.refresh = max(1, math.floor(c["refresh"] * self.w))
        self.scale = c["bonus"] * f.H * math.sqrt(math.log(f.S * f.A * f.H * f.K / 0.05))
        self.env, self.episode, self.solutions, self.mixed = env, 0, 0, 0
        self.window, self.due, self.solved, self.infeasible = [], True, 0, 0

    def model(self):
        """n, and the optimistic empirical CMDP of the window."""
        H, S, A = self.env.H, self.env.S, self.env.A
        counts, r, g, mu0 = (
            np.zeros((H, S, A, S)),
            np.zeros((H, S, A)),
            np.zeros((H, S, A)),
            np.zeros(S),
        )
        for trajectory in self.window:
            mu0[trajectory[0][0]] += 1
            for h, (x, a, reward, utility, y) in enumerate(trajectory):
                counts[h, x, a, y] += 1
                r[h, x, a] += reward
                g[h, x, a] += utility
        n = counts.sum(axis=3)
        seen = n > 0
        P = np.where(seen[..., None], counts / np.maximum(n, 1)[..., None], 1 / S)
        b = self.scale / np.sqrt(np.maximum(n, 1))
        r, g = (np.where(seen, paid / np.maximum(n, 1), 1.0) + b for paid in (r, g))
        mu0 = mu0 / mu0.sum() if self.window else np.full(S, 1 / S)
        return n, CMDP(P=P, r=r, g=g, rho=self.env.rho, mu0=mu0)

    def begin_episode(self, u):
        self.trajectory = []
        if self.due or self.episode - self.solved >= self.refresh:
            self.solve()
        self.mixed += bool(((self.pi > 0.01) & (self.pi < 0.99)).any())

    def solve(self):
        self.due, self.solved, self.solutions = False, self.episode, self.solutions + 1
        self.n, model = self.model()
        self.fresh = np.zeros_like(self.n)
        parts = optimum.mixture(model.H, model.S)
        optimum.solve(model_of(model), model.rho, parts, False)
        self.useful = parts.rising
        try:
            self.pi = optimum.constrained(model).policy
        except optimum.Infeasible:
            self.infeasible += 1
            self.pi = most_useful(model)

    def policy(self, h, x):
        return self.pi[h, x]

    def act(self, h, x, u):
        """Where the policy mixes two actions, low numbers draw that of the more useful of its two parts."""
        first = self.useful[h, x]
        if u < self.pi[h, x, first]:
            return first
        others = self.pi[h, x].copy()
        others[first] = -1
        return int(others.argmax())

    def learn(self, h, x, a, r, g, y):
        self.trajectory.append((x, a, r, g, y))
        self.fresh[h, x, a] += 1
        self.due |= bool(self.fresh[h, x, a] >= max(self.n[h, x, a], 1))

    def end_of_episode(self):
        self.episode += 1
        self.window = [*self.window, self.trajectory][-self.w :]


def most_useful(model):
    """A policy of the highest utility; of those with the same, the one with the higher reward."""
    policy, V, W = np.zeros((model.H, model.S, model.A)), np.zeros(model.S), np.zeros(model.S)
    for h in reversed(range(model.H)):
        v, w = model.r[h] + model.P[h] @ V, model.g[h] + model.P[h] @ W
        for x in range(model.S):
            tied = np.flatnonzero(w[x] > w[x].max() - 1e-12)
            a = tied[np.argmax(v[x, tied])]
            policy[h, x, a], V[x], W[x] = 1.0, v[x, a], w[x, a]
    return policy


CASES = [
    {},
    {"window": 1.0, "refresh": 0.3},
    {"bonus": 0.05, "window": 2.0, "refresh": 0.0},
    {"bonus": 0.0, "window": 0.5, "refresh": 1.0},
]


@pytest.mark.parametrize("factors", CASES)
def test_the_learner_does_what_its_description_says(small, factors):
    plain = beside_the_description(small, factors)
    assert small.episodes > 2 * plain.w or not factors, "windows must slide"
    if not factors:
        assert 20 < plain.solutions < small.episodes
        assert plain.mixed > 20


@pytest.mark.filterwarnings("ignore::nscmdp.problem.DoesNotFit")
@pytest.mark.parametrize("limit", [0.5, 1.0, 2.0])
def test_where_most_states_were_never_met_it_does_what_its_description_says(limit):
    env = environments.make(
        "grid_world", 60, map="6x6", horizon=8, limit=limit, success=0.6, cost_drift=0.0
    )
    plain = beside_the_description(env, {"bonus": 0.0})
    assert env.episodes > 2 * plain.w
    assert (plain.n.sum(axis=2) == 0).mean() > 0.5


def beside_the_description(env, factors):
    """The reading after a run in which both did the same."""
    plain = Reading(env, factors)
    slow = simulate.run(env, plain, seed=SEED, solve=False)
    run = simulate.run(env, NAME, "scaled", SEED, factors=factors, solve=False)
    for part in ("value", "utility_value"):
        np.testing.assert_allclose(getattr(run, part), getattr(slow, part), rtol=1e-8)
    entries = run.learner.entries[np.arange(env.H)[:, None], run.learner.rows[:-1]]
    np.testing.assert_array_equal(entries["n"], plain.n)
    np.testing.assert_array_equal(entries["since"], plain.fresh)
    assert len(run.learner.path) == plain.w
    return plain


def impossible():
    """Nothing has any utility, but half a point is asked for; what was not tried promises it."""
    P = np.ones((1, 1, 2, 1))
    return CMDP(P=P, r=[[[1.0, 0.0]]], g=[[[0.0, 0.2]]], rho=0.5, mu0=[1.0])


@pytest.mark.filterwarnings("ignore::nscmdp.problem.DoesNotFit")
def test_where_no_policy_keeps_the_constraint_it_plays_the_most_useful_one():
    run = simulate.run(
        DriftingCMDP([impossible()], [1], episodes=50),
        NAME,
        "scaled",
        factors={"bonus": 0.0},
        solve=False,
    )
    np.testing.assert_array_equal(run.utility_value[2:], 0.2)


def test_it_reads_only_its_window():
    """After a switch, once the window has moved past it, it plays as one that never saw what was before."""
    first = CMDP(P=np.ones((1, 1, 2, 1)), r=[[[1.0, 0.0]]], g=[[[0.0, 1.0]]], rho=0.5, mu0=[1.0])
    second = CMDP(P=np.ones((1, 1, 2, 1)), r=[[[0.0, 1.0]]], g=[[[1.0, 0.0]]], rho=0.5, mu0=[1.0])
    env = environments.path([first, second], [200, 201], episodes=400)
    run = simulate.run(env, NAME, "scaled", SEED, factors={"bonus": 0.0})
    w = len(run.learner.path)
    assert w < 180
    gap = gaps(env, run)
    assert gap[20:200].max() < 1e-9
    past = 200 + w + run.learner.refresh
    assert gap[past:].max() < 1e-9
    assert np.abs(env.rho - run.utility_value[past:]).max() < 1e-9


@pytest.mark.slow
def test_it_learns_the_menu():
    env = environments.make("menu", episodes=4096, legs=4)
    gap, chance = (
        simulate.run(env, *pair, 1, 8).gap[-1]
        for pair in ((NAME, "scaled"), ("uniform", "literal"))
    )
    assert gap < 0.25 * chance


def test_it_keeps_its_window(small):
    learner = algorithms.make(NAME, Problem.of(small), "scaled")
    assert learner.paid.shape == (len(learner.path), small.H, 2)


@pytest.mark.filterwarnings("ignore::nscmdp.problem.DoesNotFit")
def test_it_has_room_for_the_successors_that_occur_and_for_the_states_that_an_episode_can_meet():
    few, many = (environments.make("grid_world", 50, map="random", size=size) for size in (20, 40))
    small, large = (algorithms.make(NAME, Problem.of(env), "scaled") for env in (few, many))
    assert len(small.path) == len(large.path)
    tables = 4 * (many.H + 1) * (many.S - few.S)  # which row a state has
    assert algorithms.state_bytes(large) == algorithms.state_bytes(small) + tables
