"""Slopes find a known exponent, pooled and in every instance, and are withheld where they would mean nothing."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from nscmdp import metrics
from nscmdp.analysis import growth

K = [2**n for n in range(8, 14)]
MEASURES = ["gap", "regret", "positive_regret", "violation", "positive_violation"]


def power_law(power, noise=0.1, between=0.0, instances=4, seeds=10, B=(2.0,), power_of_B=0.0):
    """Runs whose measures are all 3 K^power B^power_of_B, times noise of every run and of every instance and K."""
    rng = np.random.default_rng(5)
    rows = []
    for instance, own in enumerate(power if isinstance(power, list) else [power] * instances):
        for k in K:
            of_instance = rng.lognormal(0, between)
            for budget in B:
                value = 3 * k**own * budget**power_of_B * of_instance * rng.lognormal(0, noise, seeds)
                keys = {"reading": f"seed={instance}", "budget": f"legs={budget:g}", "B": budget, "episodes": k}
                rows += [{**keys, "seed": seed, **dict.fromkeys(MEASURES, v)} for seed, v in enumerate(value)]
    return pd.DataFrame(rows).assign(experiment="e", learner="l", algorithm="a", setting="s")


def fits(runs, **wanted):
    """The slopes of these keys, by default the gap's along K over all K and instances."""
    found = growth.slopes(runs)
    for key, value in ({"quantity": "gap", "along": "episodes", "which": "all", "instance": "all"} | wanted).items():
        found = found[found[key] == value]
    return found


def fit(runs, **wanted):
    (row,) = (row for _, row in fits(runs, **wanted).iterrows())
    return row


@pytest.mark.parametrize("power", [0.5, 0.8, 1.0])
def test_a_power_law_is_found_within_its_interval(power):
    found = fit(power_law(power))
    assert found["low"] < power < found["high"]
    assert found["value"] == pytest.approx(power, abs=0.03)
    assert found["high"] - found["low"] < 0.1
    assert (found["why_not"], found["instances"], found["points"]) == ("", 4, 6)


def test_every_instance_has_its_own_slope():
    powers = [0.5, 0.6, 0.7, 0.9]
    runs = power_law(powers, noise=0.0)
    for instance, power in enumerate(powers):
        found = fit(runs, instance=f"seed={instance}")
        assert (found["value"], found["low"], found["high"]) == pytest.approx((power, power, power))
        assert found["instances"] == 1
    assert min(powers) < fit(runs)["value"] < max(powers)


def test_the_pooled_slope_is_that_of_the_means_over_instances():
    runs = power_law([0.5, 0.9], noise=0.3)
    mean = runs.groupby(["episodes", "reading"])["gap"].mean().groupby("episodes").mean()
    assert fit(runs)["value"] == pytest.approx(np.polyfit(np.log(mean.index), np.log(mean), 1)[0])


def test_instances_count_alike_whatever_their_number_of_seeds():
    runs = power_law([0.5, 0.9], noise=0.0)
    fewer = runs[(runs["reading"] == "seed=0") | (runs["seed"] < 3)]
    assert fit(fewer)["value"] == pytest.approx(fit(runs)["value"])


def test_without_noise_the_slope_is_exact_and_the_interval_a_point():
    found = fit(power_law(0.75, noise=0.0))
    assert (found["value"], found["low"], found["high"]) == pytest.approx((0.75, 0.75, 0.75), abs=1e-12)


def test_more_noise_widens_the_interval():
    little, much = (fit(power_law(0.5, noise=noise)) for noise in (0.05, 0.5))
    assert much["high"] - much["low"] > 3 * (little["high"] - little["low"])


def test_what_differs_between_instances_widens_the_interval():
    """Many seeds agree on each instance: only other instances can tell how far the slope may move."""
    alike, unlike = (fit(power_law(0.5, noise=0.01, between=between, seeds=50)) for between in (0.0, 0.3))
    assert unlike["high"] - unlike["low"] > 10 * (alike["high"] - alike["low"])


def test_the_interval_has_the_width_of_a_plain_resampling_by_instance_and_seed():
    """The same two draws, run by run, in a slow loop."""
    runs = power_law([0.6, 0.8, 0.7], noise=0.3, seeds=4)
    table = runs.set_index(["reading", "episodes", "seed"])["gap"].unstack().unstack("episodes")
    data = table.to_numpy().reshape(3, 4, len(K))  # instance, seed, K
    rng = np.random.default_rng(8)
    drawn = []
    for _ in range(2000):
        chosen = rng.integers(3, size=3)
        means = [[data[i, rng.integers(4, size=4), n].mean() for n in range(len(K))] for i in chosen]
        drawn.append(np.polyfit(np.log(K), np.log(np.mean(means, axis=0)), 1)[0])
    low, high = np.quantile(drawn, [0.025, 0.975])
    found = fit(runs)
    assert (found["low"], found["high"]) == pytest.approx((low, high), abs=0.1 * (high - low))


def test_slopes_are_the_same_in_every_run():
    pd.testing.assert_frame_equal(growth.slopes(power_law(0.7)), growth.slopes(power_law(0.7)))


def test_local_exponents_are_exact_on_a_power_law_and_name_their_two_K():
    local = fits(power_law(0.8, noise=0.0), which="local")
    assert list(zip(local["first"], local["last"], strict=True)) == list(pairwise(K))
    np.testing.assert_allclose(local[["value", "low", "high"]], 0.8)


def test_a_local_exponent_is_the_logarithm_of_a_ratio_of_means():
    runs = power_law(0.8, noise=0.3, instances=1)
    mean = runs.groupby("episodes")["regret"].mean()
    local = fits(runs, which="local", quantity="regret")["value"]
    np.testing.assert_allclose(local, np.log2(mean.to_numpy()[1:] / mean.to_numpy()[:-1]))


def test_the_last_three_points_are_fitted_alone():
    runs = power_law(0.5, noise=0.0)
    early = runs["episodes"] < K[-3]
    runs.loc[early, "gap"] = runs.loc[early, "episodes"].astype(float)
    everything, last = fit(runs), fit(runs, which="last three")
    assert (everything["points"], last["points"], last["first"], last["last"]) == (6, 3, K[-3], K[-1])
    assert last["value"] == pytest.approx(0.5)
    assert everything["value"] != pytest.approx(0.5, abs=0.1)


def test_growth_with_the_budget_is_fitted_at_every_K():
    runs = power_law(0.8, noise=0.0, B=(20.0, 2.0, 6.0), power_of_B=1 / 3)
    found = fits(runs, along="B")
    assert list(found["episodes"]) == K
    assert (found[["first", "last", "points"]] == [2.0, 20.0, 3]).all(axis=None)
    np.testing.assert_allclose(found[["value", "low", "high"]], 1 / 3)


def test_a_K_that_one_budget_alone_has_extends_that_budgets_slope():
    runs = power_law(0.8, noise=0.0, B=(2.0, 20.0))
    runs = runs[(runs["B"] == 2.0) | (runs["episodes"] < K[-1])]
    assert [fit(runs, budget=f"legs={B}")["last"] for B in (2, 20)] == [K[-1], K[-2]]
    assert list(fits(runs, along="B")["why_not"]) == [""] * 5 + ["fewer than two points"]


def test_where_nothing_drifts_the_budget_has_no_slope():
    found = fits(power_law(0.8, B=(0.0,)), along="B")
    assert set(found["why_not"]) == {"fewer than two points"}


def test_a_quantity_that_is_not_positive_has_no_slope_and_a_reason():
    runs = power_law(0.5)
    runs.loc[runs["episodes"] == K[2], "regret"] *= -1
    found = fit(runs, quantity="regret")
    assert np.isnan(found["value"])
    assert found["why_not"] == f"regret is not positive at {K[2]}"
    assert fit(runs)["why_not"] == ""


@pytest.mark.parametrize(("instances", "seeds", "known"), [(1, 1, False), (2, 1, True), (1, 2, True)])
def test_an_interval_needs_two_runs(instances, seeds, known):
    runs = power_law(0.5, instances=instances, seeds=seeds)
    assert np.isfinite(fit(runs)[["low", "high"]].astype(float)).tolist() == [known] * 2
    assert np.isfinite(growth.violations(runs)["violation_low"]).all() == known


def test_a_mean_that_may_be_negative_has_a_slope_and_no_interval():
    runs = power_law(0.5, instances=1)
    runs.loc[runs["seed"] == 0, "regret"] *= -4
    found = fit(runs, quantity="regret")
    assert np.isfinite(found["value"])
    assert np.isnan(found["low"])


def test_the_violation_per_episode_is_told_at_every_K_and_budget():
    runs = power_law(1.0, noise=0.2, between=0.2, instances=2, B=(2.0, 20.0))
    found = growth.violations(runs)
    assert len(found) == 2 * len(K)
    for row in found.itertuples():
        mine = runs[(runs["budget"] == row.budget) & (runs["episodes"] == row.episodes)]
        by_instance = mine.groupby("reading")["violation"].mean() / row.episodes
        assert row.violation == pytest.approx(by_instance.mean())
        assert row.violation_most == pytest.approx(by_instance.max())
        assert row.violation_low < row.violation < row.violation_high
        assert (row.B, row.instances, row.runs) == (float(row.budget[5:]), 2, 20)


def test_totals_weigh_each_episode_by_what_it_stands_for():
    keys = {"experiment": "e", "reading": "r", "budget": "b", "B": 2.0, "episodes": 10, "learner": "l"}
    keys |= {"algorithm": "l", "setting": "s", "seed": 0}
    cells = [(6, 1.0, 2.0, 2.0, -1.0, 0.0), (4, 0.5, -1.0, 0.0, 3.0, 3.0)]
    exact = pd.DataFrame([{**keys, **dict(zip(["weight", *MEASURES], row, strict=True))} for row in cells])
    assert growth.totals(exact).iloc[0][MEASURES].tolist() == [8.0, 8.0, 12.0, 6.0, 12.0]
    assert set(MEASURES) == set(metrics.MEASURES)
