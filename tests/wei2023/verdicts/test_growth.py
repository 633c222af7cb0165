"""Exponents are exact on power laws, have the spread of independent units, or are withheld."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from nscmdp import metrics
from wei2023.verdicts import growth

K = [2**n for n in range(8, 14)]
MEASURES = ["gap", "regret", "positive_regret", "violation", "positive_violation"]


def power_law(power, noise=0.1, by_search=0.0, instances=4, seeds=1, searches=0, B=(2.0,)):
    """Runs whose measures are all 3 K^power B^(1/3), times noise of runs, and of searches by K."""
    rng = np.random.default_rng(5)
    powers = power if isinstance(power, list) else [power] * instances
    chosen = rng.lognormal(0, by_search, (max(1, searches), len(K)))
    rows = []
    for instance, own in enumerate(powers):
        search = instance * searches // len(powers)
        for i, k in enumerate(K):
            for budget in B:
                mean = 3 * k**own * budget ** (1 / 3) * chosen[search, i]
                keys = {"search": f"search_{search}" if searches else ""}
                keys |= {"reading": f"seed={instance}", "budget": f"legs={budget:g}"}
                keys |= {"B": budget, "episodes": k}
                for seed, value in enumerate(mean * rng.lognormal(0, noise, seeds)):
                    rows.append({**keys, "seed": seed, **dict.fromkeys(MEASURES, value)})
    return pd.DataFrame(rows).assign(experiment="e", learner="l", algorithm="a", setting="s")


def fits(runs, **wanted):
    """The exponents of these keys, by default the gap's along K over all K."""
    found = growth.slopes(runs)
    default = {"quantity": "gap", "along": "episodes", "which": "all"}
    for key, value in (default | wanted).items():
        found = found[found[key] == value]
    return found


def fit(runs, **wanted):
    (row,) = (row for _, row in fits(runs, **wanted).iterrows())
    return row


def width(row):
    return row["high"] - row["low"]


@pytest.mark.parametrize("power", [0.5, 0.8, 1.0])
def test_a_power_law_is_found_within_its_interval(power):
    found = fit(power_law(power, instances=10))
    assert found["low"] < power < found["high"]
    assert width(found) < 0.1
    assert tuple(found[["why_not", "unit", "units", "points"]]) == ("", "reading", 10, 6)


def test_without_noise_the_exponent_is_exact_and_the_interval_a_point():
    found = fit(power_law(0.75, noise=0.0))
    assert tuple(found[["value", "low", "high"]]) == pytest.approx((0.75, 0.75, 0.75), abs=1e-12)


def test_the_interval_is_students_over_the_exponents_of_the_units():
    powers = [0.5, 0.6, 0.7, 0.9]
    found = fit(power_law(powers, noise=0.0))
    low, high = stats.t.interval(0.95, 3, np.mean(powers), stats.sem(powers))
    assert tuple(found[["value", "low", "high"]]) == pytest.approx((np.mean(powers), low, high))


def test_it_covers_what_it_says_where_a_bootstrap_over_four_does_not():
    rng = np.random.default_rng(1)
    studies = rng.standard_normal((1500, 4))
    covered = [low <= 0 <= high for _, low, high, _ in map(growth.mean_over_units, studies)]
    drawn = [np.quantile(rng.choice(one, (400, 4)).mean(axis=1), [0.025, 0.975]) for one in studies]
    assert np.mean(covered) == pytest.approx(0.95, abs=0.015)
    assert np.mean([low <= 0 <= high for low, high in drawn]) < 0.87


@pytest.mark.parametrize(
    ("searches", "instances", "unit", "units"),
    [(5, 10, "search", 5), (1, 10, "reading", 10), (0, 10, "reading", 10), (0, 1, "seed", 6)],
)
def test_the_unit_is_the_largest_part_drawn_independently(searches, instances, unit, units):
    found = fit(power_law(0.5, searches=searches, instances=instances, seeds=6))
    assert (found["unit"], found["units"]) == (unit, units)


def test_the_noise_of_the_searches_is_in_the_interval():
    """Two instances share the choices of one search: counting ten units would hide its noise."""
    runs = power_law(0.5, noise=0.01, by_search=0.3, searches=5, instances=10)
    by_instance = fit(runs.assign(search=""))
    assert width(fit(runs)) > 1.3 * width(by_instance)
    assert fit(runs)["value"] == pytest.approx(by_instance["value"], abs=0.01)


def test_a_unit_counts_once_whatever_its_number_of_runs():
    runs = power_law([0.5, 0.9], noise=0.0, seeds=10)
    fewer = runs[(runs["reading"] == "seed=0") | (runs["seed"] < 3)]
    assert fit(fewer)["value"] == pytest.approx(0.7)


def test_one_unit_has_an_exponent_and_no_interval():
    runs = power_law(0.5, instances=1)
    assert np.isfinite(fit(runs)["value"])
    assert fit(runs)[["low", "high"]].isna().all()
    assert growth.violations(runs)["violation_low"].isna().all()


def test_local_exponents_are_exact_on_a_power_law_and_name_their_two_K():
    local = fits(power_law(0.8, noise=0.0), which="local")
    assert list(zip(local["first"], local["last"], strict=True)) == list(pairwise(K))
    np.testing.assert_allclose(local[["value", "low", "high"]], 0.8)


def test_the_last_two_octaves_are_fitted_alone():
    runs = power_law(0.5, noise=0.0)
    early = runs["episodes"] < K[-3]
    runs.loc[early, "gap"] = runs.loc[early, "episodes"].astype(float)
    everything, late = fit(runs), fit(runs, which="late")
    assert everything["points"] == 6
    assert tuple(late[["points", "first", "last"]]) == (3, K[-3], K[-1])
    assert late["value"] == pytest.approx(0.5)
    assert everything["value"] != pytest.approx(0.5, abs=0.1)


def test_growth_with_the_budget_is_fitted_at_every_K():
    found = fits(power_law(0.8, noise=0.0, B=(20.0, 2.0, 6.0)), along="B")
    assert list(found["episodes"]) == K
    assert (found[["first", "last", "points"]] == [2.0, 20.0, 3]).all(axis=None)
    np.testing.assert_allclose(found[["value", "low", "high"]], 1 / 3)


def test_a_K_that_one_budget_alone_has_extends_that_budgets_fit():
    runs = power_law(0.8, noise=0.0, B=(2.0, 20.0))
    runs = runs[(runs["B"] == 2.0) | (runs["episodes"] < K[-1])]
    assert [fit(runs, budget=f"legs={B}")["last"] for B in (2, 20)] == [K[-1], K[-2]]
    assert list(fits(runs, along="B")["why_not"]) == [""] * 5 + ["fewer than two points"]


def test_a_K_that_some_units_lack_is_left_out():
    runs = power_law([0.5, 0.9], noise=0.0)
    fewer = runs[(runs["reading"] == "seed=0") | (runs["episodes"] < K[-1])]
    assert (fit(fewer)["last"], fit(fewer)["points"]) == (K[-2], 5)
    assert fit(fewer)["value"] == pytest.approx(0.7)


def test_where_nothing_drifts_the_budget_has_no_exponent():
    assert fits(power_law(0.8, B=(0.0,)), along="B").empty


def test_a_quantity_that_is_zero_in_a_unit_has_no_exponent_and_a_reason():
    runs = power_law(0.5)
    runs.loc[(runs["episodes"] == K[2]) & (runs["reading"] == "seed=1"), "positive_violation"] = 0.0
    found = fit(runs, quantity="positive_violation")
    assert np.isnan(found["value"])
    assert found["why_not"] == f"no positive violation at {K[2]} in 1 of 4"
    assert fit(runs)["why_not"] == ""


def test_signed_sums_have_no_exponent():
    found = {*growth.slopes(power_law(0.5))["quantity"]}
    assert found == {"gap", "positive_regret", "positive_violation"}


def test_the_violation_per_episode_is_told_at_every_K_and_budget():
    runs = power_law(1.0, noise=0.2, instances=6, searches=3, B=(2.0, 20.0))
    found = growth.violations(runs)
    assert len(found) == 2 * len(K)
    for row in found.itertuples():
        mine = runs[(runs["budget"] == row.budget) & (runs["episodes"] == row.episodes)]
        by_search = mine.groupby("search")["violation"].mean() / row.episodes
        ends = stats.t.interval(0.95, 2, by_search.mean(), stats.sem(by_search))
        assert (row.violation_low, row.violation_high) == pytest.approx(ends)
        assert row.violation == pytest.approx(by_search.mean())
        assert row.violation_most == pytest.approx(by_search.max())
        assert (row.B, row.units, row.runs) == (float(row.budget[5:]), 3, 6)


def test_totals_weigh_each_episode_by_what_it_stands_for():
    cells = [(6, 1.0, 2.0, 2.0, -1.0, 0.0), (4, 0.5, -1.0, 0.0, 3.0, 3.0)]
    keys = {**dict.fromkeys(growth.RUN, "one"), "seed": 0}
    exact = pd.DataFrame(cells, columns=["weight", *MEASURES]).assign(**keys)
    assert growth.totals(exact).iloc[0][MEASURES].tolist() == [8.0, 8.0, 12.0, 6.0, 12.0]
    assert set(MEASURES) == set(metrics.MEASURES)
