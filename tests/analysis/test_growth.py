"""Slopes find a known exponent, and are withheld where they would mean nothing."""

import numpy as np
import pandas as pd
import pytest

from nscmdp.analysis import growth

K = np.array([2.0**n for n in range(8, 14)])


def noisy(power, seeds=10, noise=0.1):
    rng = np.random.default_rng(5)
    return [3 * k**power * rng.lognormal(0, noise, seeds) for k in K]


@pytest.mark.parametrize("power", [0.5, 0.8, 1.0])
def test_a_power_law_is_found_within_its_interval(power):
    fit = growth.slope(K, noisy(power), "gap")
    assert fit.low < power < fit.high
    assert fit.value == pytest.approx(power, abs=0.03)
    assert fit.high - fit.low < 0.1
    assert fit.why_not == ""


def test_without_noise_the_slope_is_exact_and_the_interval_a_point():
    fit = growth.slope(K, noisy(0.75, noise=0.0), "gap")
    assert fit.value == pytest.approx(0.75, abs=1e-12)
    assert (fit.low, fit.high) == (pytest.approx(0.75), pytest.approx(0.75))


def test_more_noise_widens_the_interval():
    little, much = (growth.slope(K, noisy(0.5, noise=noise), "gap") for noise in (0.05, 0.5))
    assert much.high - much.low > 3 * (little.high - little.low)


def test_a_quantity_that_is_not_positive_has_no_slope_and_a_reason():
    samples = noisy(0.5)
    samples[2] = -samples[2]
    fit = growth.slope(K, samples, "regret")
    assert np.isnan(fit.value)
    assert fit.why_not == f"regret is not positive at {K[2]:g}"


def frame(rows):
    keys = {
        "experiment": "e",
        "reading": "r",
        "budget": "b",
        "B": 2.0,
        "learner": "l",
        "algorithm": "l",
        "setting": "s",
    }
    cells = ("episodes", "seed", "weight", "gap", "regret", "positive_regret", "violation", "positive_violation")
    return pd.DataFrame([{**keys, "setting": "s", **dict(zip(cells, row, strict=True))} for row in rows])


def test_totals_weigh_each_episode_by_what_it_stands_for():
    exact = frame([(10, 0, 6, 1.0, 2.0, 2.0, -1.0, 0.0), (10, 0, 4, 0.5, -1.0, 0.0, 3.0, 3.0)])
    total = growth.totals(exact).iloc[0]
    found = total[["gap", "regret", "positive_regret", "violation", "positive_violation"]].tolist()
    assert found == [8.0, 8.0, 12.0, 6.0, 12.0]


def test_the_last_three_points_are_fitted_alone():
    rows = [(int(k), seed, int(k), *([(2.0 if k < 2000 else k**-0.5)] * 5)) for k in K for seed in range(3)]
    runs = growth.totals(frame(rows))
    everything = growth.slopes(runs, "gap", "episodes").iloc[0]
    last = growth.slopes(runs, "gap", "episodes", last=3).iloc[0]
    assert (everything["points"], last["points"]) == (6, 3)
    assert last["value"] == pytest.approx(0.5)
    assert everything["value"] != pytest.approx(0.5, abs=0.1)
