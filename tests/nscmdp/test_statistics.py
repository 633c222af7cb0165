"""Intervals over seeds, against every resample there is, closed forms and simulated data."""

from itertools import product

import numpy as np
import pytest

from nscmdp.metrics import mean_interval


def test_the_interval_is_that_of_all_resamples():
    """Five seeds have 3125 resamples, all equally likely: the drawn ones must have their percentiles."""
    values = np.array([0.3, 1.1, 1.7, 2.9, 6.2])
    every = np.array([np.mean(drawn) for drawn in product(values, repeat=5)])
    mean, low, high = mean_interval(values)
    assert mean == pytest.approx(values.mean())
    for found, level in ((low, 0.025), (high, 0.975)):
        # 2000 draws put a level of 2.5% within four of its standard deviations, 0.35%.
        assert np.quantile(every, level - 0.014) <= found <= np.quantile(every, level + 0.014)


@pytest.mark.parametrize(("level", "width"), [(0.95, 1.95996), (0.5, 0.67449)])
def test_of_many_seeds_it_is_that_of_the_normal_distribution(level, width):
    values = np.random.default_rng(1).exponential(size=2000)
    mean, low, high = mean_interval(values, level)
    half = width * values.std() / np.sqrt(len(values))
    assert (low, high) == pytest.approx((mean - half, mean + half), abs=0.15 * half)


def test_it_holds_the_true_mean_about_as_often_as_it_says():
    """Of 20 seeds a percentile interval holds it a little less often: 93% where 95% are asked for."""
    values = np.random.default_rng(2).normal(3.0, 2.0, size=(20, 2000))
    _, low, high = mean_interval(values)
    assert ((low < 3.0) & (high > 3.0)).mean() == pytest.approx(0.93, abs=0.02)


def test_one_seed_has_no_interval():
    mean, low, high = mean_interval(np.array([[1.0, 2.0, -3.0]]))
    np.testing.assert_array_equal(mean, [1.0, 2.0, -3.0])
    assert np.isnan(low).all()
    assert np.isnan(high).all()


@pytest.mark.filterwarnings("error")
def test_seeds_that_agree_have_a_point_for_an_interval():
    values = np.stack([np.full(7, 0.1), np.arange(7.0)], axis=1)
    mean, low, high = mean_interval(values)
    assert (mean[0], low[0], high[0]) == pytest.approx((0.1, 0.1, 0.1), abs=1e-15)
    assert low[1] < mean[1] == 3.0 < high[1]


def test_an_interval_does_not_depend_on_what_stands_beside_it_or_on_when_it_is_asked_for():
    values = np.random.default_rng(3).random((6, 3))
    together, again = mean_interval(values), mean_interval(values)
    for column in range(3):
        alone = mean_interval(values[:, column])
        for found, expected in zip(together, alone, strict=True):
            assert found[column] == pytest.approx(expected, rel=1e-14)
    np.testing.assert_array_equal(together, again)


def test_seeds_are_resampled_as_a_whole():
    """A difference that is the same in every seed has no spread, however much the seeds differ."""
    seeds = np.random.default_rng(4).normal(size=(8, 1)) * 100
    mean, low, high = mean_interval(np.hstack([seeds, seeds + 1.0]))
    assert (low[1] - low[0], mean[1] - mean[0], high[1] - high[0]) == pytest.approx((1.0, 1.0, 1.0))
