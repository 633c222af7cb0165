"""The measures beside plain loops, and intervals against every resample, closed forms and simulated data."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import evaluate, random_cmdp, random_policy
from nscmdp import metrics, optimum

numbers = st.floats(-50, 50)
row = st.tuples(numbers, numbers, numbers, numbers, st.floats(0, 50))
episodes = st.lists(row, min_size=1, max_size=30)
windows = st.lists(st.integers(1, 9), min_size=1, max_size=12)


@given(episodes, numbers)
def test_each_measure_is_its_formula_in_every_episode(rows, rho):
    table = np.array(rows)
    value, utility, best = table[:, 0], table[:, 1], table[:, 2:]
    found = metrics.compare(value, utility, best, rho)
    for k, (V, W, V_best, W_best, multiplier) in enumerate(rows):
        expected = {
            "optimal_value": V_best,
            "optimal_utility": W_best,
            "optimal_multiplier": multiplier,
            "regret": V_best - V,
            "positive_regret": max(V_best - V, 0.0),
            "violation": rho - W,
            "positive_violation": max(rho - W, 0.0),
            "gap": V_best - V + multiplier * (rho - W),
        }
        row = {name: column[k] for name, column in found.items()}
        assert row == pytest.approx(expected, abs=1e-9)


@given(st.integers(0, 10_000), st.floats(-0.5, 1.0))
def test_no_policy_has_a_negative_gap_and_the_optimum_has_none(seed, tightness):
    rng = np.random.default_rng(seed)
    cmdp = random_cmdp(rng, tightness=tightness)
    best = optimum.constrained(cmdp)
    row = np.array([[best.value, best.utility, best.multiplier]])
    tolerance = 1e-9 * (1 + best.multiplier)
    for policy in (best.policy, *(random_policy(rng, cmdp) for _ in range(5))):
        value, utility = evaluate(cmdp, policy)
        found = metrics.compare(np.array([value]), np.array([utility]), row, cmdp.rho)
        assert found["gap"][0] >= -tolerance
        if policy is best.policy:
            assert found["gap"][0] == pytest.approx(0.0, abs=tolerance)
            assert found["positive_violation"][0] <= 1e-9


@given(windows, st.integers(0, 10_000))
def test_windows_are_means_minima_and_middles_of_their_own_episodes(lengths, seed):
    rng = np.random.default_rng(seed)
    columns = {name: rng.normal(size=sum(lengths)) for name in ("gap", "regret")}
    means = metrics.window_means(np.array(lengths), columns)
    least = metrics.window_least(np.array(lengths), columns["gap"])
    middle = metrics.window_middle(np.array(lengths))
    first = 0
    for i, length in enumerate(lengths):
        for name, column in columns.items():
            assert means[name][i] == pytest.approx(sum(column[first : first + length]) / length)
        assert least[i] == min(columns["gap"][first : first + length])
        assert middle[i] == np.mean(range(first + 1, first + length + 1))  # episodes count from 1
        first += length


@given(windows, st.integers(0, 10_000))
def test_the_mean_of_windows_weighted_by_their_lengths_is_that_of_all_episodes(lengths, seed):
    column = np.random.default_rng(seed).normal(size=sum(lengths))
    means = metrics.window_means(np.array(lengths), {"gap": column})["gap"]
    assert metrics.mean(means, lengths) == pytest.approx(sum(column) / len(column), abs=1e-12)


def test_the_interval_is_that_of_all_resamples():
    """Five seeds have 3125 resamples, all equally likely: the drawn ones must have their percentiles."""
    values = np.array([0.3, 1.1, 1.7, 2.9, 6.2])
    every = np.array([np.mean(drawn) for drawn in product(values, repeat=5)])
    mean, low, high = metrics.mean_interval(values)
    assert mean == pytest.approx(values.mean())
    for found, level in ((low, 0.025), (high, 0.975)):
        # 2000 draws put a level of 2.5% within four of its standard deviations, 0.35%.
        assert np.quantile(every, level - 0.014) <= found <= np.quantile(every, level + 0.014)


@pytest.mark.parametrize(("level", "width"), [(0.95, 1.95996), (0.5, 0.67449)])
def test_of_many_seeds_it_is_that_of_the_normal_distribution(level, width):
    values = np.random.default_rng(1).exponential(size=2000)
    mean, low, high = metrics.mean_interval(values, level)
    half = width * values.std() / np.sqrt(len(values))
    assert (low, high) == pytest.approx((mean - half, mean + half), abs=0.15 * half)


def test_it_holds_the_true_mean_about_as_often_as_it_says():
    """Of 20 seeds a percentile interval holds it a little less often: 93% where 95% are asked for."""
    values = np.random.default_rng(2).normal(3.0, 2.0, size=(20, 2000))
    _, low, high = metrics.mean_interval(values)
    assert ((low < 3.0) & (high > 3.0)).mean() == pytest.approx(0.93, abs=0.02)


def test_one_seed_has_no_interval():
    mean, low, high = metrics.mean_interval(np.array([[1.0, 2.0, -3.0]]))
    np.testing.assert_array_equal(mean, [1.0, 2.0, -3.0])
    assert np.isnan(low).all()
    assert np.isnan(high).all()


@pytest.mark.filterwarnings("error")
def test_seeds_that_agree_have_a_point_for_an_interval():
    values = np.stack([np.full(7, 0.1), np.arange(7.0)], axis=1)
    mean, low, high = metrics.mean_interval(values)
    assert (mean[0], low[0], high[0]) == pytest.approx((0.1, 0.1, 0.1), abs=1e-15)
    assert low[1] < mean[1] == 3.0 < high[1]


def test_an_interval_does_not_depend_on_what_stands_beside_it_or_on_when_it_is_asked_for():
    values = np.random.default_rng(3).random((6, 3))
    together, again = metrics.mean_interval(values), metrics.mean_interval(values)
    for column in range(3):
        alone = metrics.mean_interval(values[:, column])
        for found, expected in zip(together, alone, strict=True):
            assert found[column] == pytest.approx(expected, rel=1e-14)
    np.testing.assert_array_equal(together, again)


def test_seeds_are_resampled_as_a_whole():
    """A difference that is the same in every seed has no spread, however much the seeds differ."""
    seeds = np.random.default_rng(4).normal(size=(8, 1)) * 100
    mean, low, high = metrics.mean_interval(np.hstack([seeds, seeds + 1.0]))
    assert (low[1] - low[0], mean[1] - mean[0], high[1] - high[0]) == pytest.approx((1.0, 1.0, 1.0))


def test_the_cost_of_an_episode_and_its_limit_are_what_utility_and_rho_leave():
    assert metrics.cost(25, np.array([20.0, 25.0])).tolist() == [5.0, 0.0]
