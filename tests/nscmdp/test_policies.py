"""The policies that are read from a run are those that it plays: their values are what the simulator reports."""

import numpy as np
import pytest

from helpers import evaluate, random_path
from nscmdp import algorithms, environments, optimum, policies, simulate
from nscmdp.problem import Problem

SETTINGS = [(name, setting) for name in algorithms.OWN for setting in algorithms.settings(name)]
EPISODES = [1, 2, 13, 14, 40, 60]
SEED = 3


@pytest.fixture(scope="module")
def env():
    rng, shape = np.random.default_rng(30), {"tightness": 0.6, "spread": 0.4}
    return random_path(rng, [1, 30, 31, 60], **shape, name="here")


@pytest.fixture(scope="module")
def grid():
    return environments.make("grid_world", episodes=60, map="6x6", horizon=15, limit=2)


def assert_values(env, found, run):
    """By dense induction in numpy, and to the last digits what the compiled one says."""
    for k, policy in zip(EPISODES, found, strict=True):
        V, W = evaluate(env.at(k), policy)
        np.testing.assert_allclose((V, W), (run.value[k - 1], run.utility_value[k - 1]), rtol=1e-11)


@pytest.mark.filterwarnings("ignore::nscmdp.problem.DoesNotFit")
@pytest.mark.parametrize(("name", "setting"), SETTINGS)
def test_they_have_the_values_that_the_simulator_reports(env, grid, name, setting):
    for world in (env, grid):
        learner = algorithms.make(name, Problem.of(world), setting)
        found = policies.played(world, learner, name, EPISODES, SEED)
        assert_values(world, found, simulate.run(world, name, setting, SEED, solve=False))


def test_it_does_not_matter_which_others_are_asked_for_or_how_draws_are_grouped(grid, monkeypatch):
    def found(episodes):
        learner = algorithms.make("triple_q", Problem.of(grid), "scaled")
        return policies.played(grid, learner, "triple_q", episodes, SEED)

    first = found(EPISODES)
    np.testing.assert_array_equal(found([14]), first[[3]])
    monkeypatch.setattr(simulate, "CHUNK_STEPS", 13 * grid.H)
    np.testing.assert_array_equal(found(EPISODES), first)


def test_rows_are_distributions_where_the_policy_leads(grid):
    learner = algorithms.make("oracle", Problem.of(grid))
    (policy,) = policies.played(grid, learner, "oracle", [60], SEED)
    there = policy.sum(axis=2)
    assert set(np.round(there.ravel(), 12)) == {0.0, 1.0}
    np.testing.assert_array_equal(there > 0, optimum.occupancy(grid.at(60), policy).sum(axis=2) > 0)


class Plain:
    """Plays the action that paid best so far in a state."""

    def __init__(self, env):
        self.paid = np.zeros((env.S, env.A))
        self.cannot_be_copied = (one for one in ())

    def begin_episode(self, u):
        self.whim = u

    def policy(self, h, x):
        best = self.paid[x] == self.paid[x].max()
        return (1 - self.whim) * best / best.sum() + self.whim / len(best)

    def learn(self, h, x, a, r, g, y):
        self.paid[x, a] += r


def test_a_plain_object_is_asked_in_its_own_loop(env):
    found = policies.played(env, Plain(env), "Plain", EPISODES, SEED)
    assert_values(env, found, simulate.run(env, Plain(env), seed=SEED, solve=False))


def test_a_learner_without_a_policy_has_none(env):
    class Mute:
        def act(self, h, x, u):
            return 0

    assert policies.played(env, Mute(), "Mute", EPISODES, SEED) is None
