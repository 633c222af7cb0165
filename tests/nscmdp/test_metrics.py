"""The measures, window by window and episode by episode, beside plain loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import evaluate, random_cmdp, random_policy
from nscmdp import metrics, optimum

numbers = st.floats(-50, 50)
episodes = st.lists(
    st.tuples(numbers, numbers, numbers, numbers, st.floats(0, 50)), min_size=1, max_size=30
)
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
        assert {name: column[k] for name, column in found.items()} == pytest.approx(
            expected, abs=1e-9
        )


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
