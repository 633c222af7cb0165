"""Detecting Triple-Q beside a plain reading of it, and the level and power of its test."""

from collections import defaultdict

import numpy as np
import pytest
from scipy import stats
from test_tracking_triple_q import Equations
from test_triple_q import Listing, triple_q

from helpers import facts, random_path
from nscmdp import algorithms, environments, simulate
from nscmdp.algorithms import _detection
from nscmdp.algorithms._detection import detection, likelihood_ratio, observe, threshold
from nscmdp.kernels.jit import jit
from nscmdp.problem import Problem

NAME, SEED = "detecting_triple_q", 5
FACTORS = {"epsilon": 1.0, "eta": 2.0, "frame": 1.5, "level": 0.5}


@pytest.fixture(scope="module")
def small():
    """Two abrupt switches to and fro between two models far apart."""
    knots, route = [1, 400, 401, 900, 901, 1400], [0, 0, 1, 1, 0, 0]
    return random_path(
        np.random.default_rng(14), knots, H=2, S=2, A=2, route=route, tightness=0.7, name="small"
    )


def coin_log_likelihood(values):
    """The most that any coin gives to values in [0,1], a share of each counted as heads."""
    p = np.mean(values)
    parts = [share * np.log(share) for share in (p, 1 - p) if share > 0]
    return len(values) * sum(parts)


class Restarting:
    """A base with a list of all values that each entry ever showed since the last restart."""

    name = NAME

    def __init__(self, env, base, pool):
        self.env, self.base, self.pool = env, base, pool
        self.entries = (1 if pool == "steps" else env.H) * env.S * env.A
        self.bits = np.random.default_rng(env.S).integers(0, 2, (env.S, 4), np.uint8)
        self.seen, self.alarm, self.alarms, self.k = defaultdict(list), False, [], 0
        self.policy, self.act_and_estimate, self.dual = (
            base.policy,
            base.act_and_estimate,
            base.dual,
        )

    def learn_from_estimate(self, h, x, a, r, g, y, v, w):
        values = self.seen[0 if self.pool == "steps" else h, x, a]
        values.append([*np.clip([r, g], 0, 1), *self.bits[y]])
        n = len(values)
        for m in (16, 64, 256, 1024):
            if n % m == 0 and n > m:
                self.alarm |= any(self.differ(column, m) for column in np.array(values, float).T)
        self.base.learn_from_estimate(h, x, a, r, g, y, v, w)

    def differ(self, values, m):
        b = len(values) / m
        level = 0.5 / (6 * self.entries * 7 * b * (b - 1))
        l = -np.log(level)
        x = np.log(4) + l + np.log(1 + l + 2 * np.log(1 + l))
        apart = coin_log_likelihood(values[:-m]) + coin_log_likelihood(values[-m:])
        return apart - coin_log_likelihood(values) >= x

    def end_of_episode(self):
        self.base.end_of_episode()
        self.k += 1
        if self.alarm:
            self.alarms.append(self.k)
            self.seen, self.alarm = defaultdict(list), False
            self.forget()

    def forget(self):
        if isinstance(self.base, Equations):
            self.base.forget()
        else:
            fresh = Listing(self.env, self.base.c, NAME)
            self.base.Q[:], self.base.C[:], self.base.N[:] = fresh.Q, fresh.C, 0
            self.base.refresh_all()


def reading(env, base, pool):
    factors = {key: value for key, value in FACTORS.items() if key != "level"}
    if base == "triple_q":
        inner = Listing(env, triple_q(facts(env), "scaled", factors), NAME)
    else:
        inner = Equations(env, factors, {}, B=1.0)
    return Restarting(env, inner, pool)


@pytest.mark.usefixtures("a_window_for_each_episode")
@pytest.mark.parametrize("pool", ["none", "steps"])
@pytest.mark.parametrize("base", ["triple_q", "tracking_triple_q"])
def test_the_learner_does_what_its_description_says(small, base, pool):
    plain = reading(small, base, pool)
    slow = simulate.run(small, plain, seed=SEED, evaluate_every=10, solve=False)
    variants = {"base": base, "pool": pool}
    run = simulate.run(
        small, NAME, "scaled", SEED, 10, factors=FACTORS, variants=variants, solve=False
    )
    assert len(plain.alarms) >= 2
    np.testing.assert_array_equal(run.learner.traces["alarm"][:, 0], plain.alarms)
    for part in ("dual", "reward", "utility", "value", "utility_value"):
        np.testing.assert_allclose(getattr(run, part), getattr(slow, part), rtol=1e-9, atol=1e-12)


def test_an_alarm_forgets_the_tables_and_keeps_the_queue(small):
    learner = simulate.run(small, NAME, "scaled", SEED, None, factors={"epsilon": 30.0}).learner
    Z = learner.inner.now[0].Z
    assert Z > 0
    algorithms.module(NAME).forget(learner)
    fresh = algorithms.make(NAME, Problem.of(small), "scaled")
    zero = learner.inner.now[0].zero
    np.testing.assert_array_equal(learner.inner.table[:, :, :2], fresh.inner.table[:, :, :2])
    np.testing.assert_array_equal(learner.inner.table[:, :, 2], zero)
    for part in ("visits", "sums", "before"):
        assert not getattr(learner.test, part).any()
    assert learner.inner.now[0].Z == Z


def test_the_likelihood_ratio_is_that_of_the_best_coins():
    rng = np.random.default_rng(1)
    for values in (
        rng.integers(0, 2, 40),
        rng.random(40),
        np.zeros(40),
        np.r_[np.zeros(30), np.ones(10)],
    ):
        apart = coin_log_likelihood(values[:30]) + coin_log_likelihood(values[30:])
        found = likelihood_ratio(40, float(values.sum()), 10, float(values[30:].sum()))
        assert found == pytest.approx(apart - coin_log_likelihood(values), abs=1e-9)


@pytest.mark.parametrize("level", [0.9, 0.05, 1e-6])
def test_the_levels_of_all_tests_sum_to_at_most_the_nominal_one(level):
    """By the bound (1+z) e^-z of the docstring, at the thresholds that are in use."""
    entries, b = 24, np.arange(2.0, 100_000)
    test = detection(entries, 3, level)
    z = np.array([threshold(test.log_tests, each) for each in b]) - np.log(4)
    spent = _detection.VARIABLES * entries * _detection.SIZES * ((1 + z) * np.exp(-z)).sum()
    assert 0.2 * level < spent <= level


def test_two_standard_exponentials_and_log_4_bound_the_likelihood_ratio():
    """Of coins that are the same before and after, however biased."""
    rng = np.random.default_rng(2)
    for mu, n, m in ((0.5, 80, 16), (0.03, 400, 16), (0.97, 128, 64)):
        before, late = rng.binomial(n - m, mu, 4000), rng.binomial(m, mu, 4000)
        ratios = np.array(
            [
                likelihood_ratio(n, float(p + q), m, float(q))
                for p, q in zip(before, late, strict=True)
            ]
        )
        for z in (0.5, 1.0, 2.0):
            exceeded = (ratios >= np.log(4) + z).sum()
            assert (
                stats.binomtest(int(exceeded), 4000, (1 + z) * np.exp(-z), "greater").pvalue > 1e-3
            )


def first_alarm(means, level, entries=1, seed=0):
    """The visit at which a coin with these means raises an alarm; None if it never does."""
    heads = np.random.default_rng(seed).random(len(means)) < means
    return visits_to_alarm(detection(entries, 1, level), heads) or None


@jit
def visits_to_alarm(test, heads):
    for n in range(len(heads)):
        observe(test, 0, 1.0 if heads[n] else 0.0, 0.5, 0)
        if test.now[0].alarm:
            return n + 1
    return 0


def test_false_alarms_are_rarer_than_the_level():
    found = [first_alarm(np.full(4000, 0.3), 0.5, seed=seed) for seed in range(100)]
    alarms = sum(n is not None for n in found)
    assert stats.binomtest(alarms, 100, 0.5, "greater").pvalue > 1e-3


@pytest.mark.parametrize("quiet", [64, 1000, 20_000])
def test_the_delay_hardly_depends_on_how_long_nothing_moved(quiet):
    means = np.r_[np.full(quiet, 0.1), np.full(1000, 0.9)]
    delays = [first_alarm(means, 0.05, 100, seed) - quiet for seed in range(10)]
    assert min(delays) > 0
    assert max(delays) <= 2 * 64


def test_what_lies_beyond_the_unit_interval_is_not_seen():
    test = detection(1, 1, 0.5)
    for n in range(2000):
        observe(test, 0, 1.0 + n, -0.1 * n, 0)
    assert not test.now[0].alarm


def test_nothing_of_the_drift_is_known():
    problem = Problem.of(environments.make("grid_world", 2000, map="6x6", horizon=5, limit=1.0))
    tame = problem._replace(reward_budget=0.0, utility_budget=0.0, transition_budget=0.0)
    for base in ("triple_q", "tracking_triple_q"):
        ours, theirs = (
            algorithms.make(NAME, p, "scaled", variants={"base": base}) for p in (problem, tame)
        )
        for found, expected in zip(
            (*ours.inner, *ours.test), (*theirs.inner, *theirs.test), strict=True
        ):
            np.testing.assert_array_equal(found, expected)


def test_the_test_needs_as_much_memory_for_any_number_of_episodes():
    few, many = (
        algorithms.state_bytes(
            algorithms.make(NAME, Problem.of(environments.make("menu", K)), "scaled").test
        )
        for K in (100, 100_000)
    )
    assert few == many


@pytest.mark.parametrize("level", [0.0, 1.0])
def test_a_level_that_is_no_probability_is_refused(level):
    with pytest.raises(
        ValueError, match=rf"level = {level:g}: expected a probability between 0 and 1"
    ):
        detection(1, 1, level)
