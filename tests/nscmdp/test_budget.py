import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import random_path, variation_by_definition
from nscmdp import budget, environments

GRID = {"map": "6x6", "horizon": 3, "limit": 2}


@given(
    seed=st.integers(0, 2**32 - 1),
    knots=st.sets(st.integers(1, 20), min_size=1, max_size=5).map(sorted),
    length=st.integers(-6, 4),
    same_for_all_h=st.booleans(),
)
def test_the_budget_of_a_path_is_the_sum_over_its_episodes(seed, knots, length, same_for_all_h):
    episodes = max(1, knots[-1] + length)  # the path may be cut inside a leg, or rest at its end
    rng = np.random.default_rng(seed)
    env = random_path(rng, knots, episodes=episodes, sparsity=0.5, same_for_all_h=same_for_all_h)
    np.testing.assert_allclose(budget.variation(env), variation_by_definition(env), atol=1e-12)


def test_the_budget_of_an_abrupt_switch_is_paid_in_one_step():
    env = random_path(np.random.default_rng(1), [1, 7, 8, 15], route=[0, 0, 1, 1])
    switch = variation_by_definition(env, 7, 8)
    assert (switch > 0).all()
    np.testing.assert_allclose(budget.variation(env), switch, atol=1e-12)
    np.testing.assert_allclose(budget.local_variation(env, 1, 7), 0.0, atol=1e-12)
    np.testing.assert_allclose(budget.local_variation(env, 8, 15), 0.0, atol=1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(1, 25), st.integers(1, 25))
def test_a_local_budget_is_the_sum_over_the_steps_inside(seed, one, other):
    env = random_path(np.random.default_rng(seed), [3, 9, 10, 22], episodes=25)
    first, last = sorted((one, other))
    np.testing.assert_allclose(
        budget.local_variation(env, first, last),
        variation_by_definition(env, first, last),
        atol=1e-12,
    )


@pytest.mark.parametrize("frame", [1, 4, 6, 10, 25, 40])
def test_frame_budgets_are_the_sums_inside_each_frame(frame):
    env = random_path(np.random.default_rng(2), [1, 9, 10, 25])
    expected = [
        variation_by_definition(env, first, min(first + frame - 1, 25))
        for first in range(1, 26, frame)
    ]
    np.testing.assert_allclose(budget.frame_variations(env, frame), expected, atol=1e-12)


DRIFTS = {
    "as in the paper": {},
    "success alone": {"cost_drift": 0.0, "reward_drift": 0.0},
    "reward and cost": {"success_drift": 0.0},
    "not clipped": {"success": 0.4, "success_drift": 0.3},
    "falling": {"success_drift": -0.2},
    "switching": {"switch": "both", "switch_at": (0.3, 0.8)},
    "none": {"success_drift": 0.0, "cost_drift": 0.0, "reward_drift": 0.0},
}


@pytest.mark.parametrize("drift", DRIFTS)
def test_the_grid_worlds_budget_is_the_sum_over_its_episodes_and_grows_with_its_legs(drift):
    for location in ("reached", "current"):
        found = []
        for legs in (1, 2, 3):
            options = {**DRIFTS[drift], **GRID, "location": location, "legs": legs}
            env = environments.make("grid_world", 45, **options)
            found.append(budget.variation(env))
            np.testing.assert_allclose(found[-1], variation_by_definition(env), atol=1e-12)
        if drift != "switching":
            np.testing.assert_allclose(found[2], 3 * np.array(found[0]), rtol=1e-9, atol=1e-12)


def test_the_total_budget_is_the_sum_of_its_parts():
    measured = budget.variation(random_path(np.random.default_rng(3), [1, 5]))
    assert measured.total == measured.reward + measured.utility + measured.transition > 0
