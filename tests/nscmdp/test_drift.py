import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import best, random_arrays, random_cmdp, random_path
from nscmdp import CMDP, environments, optimum
from nscmdp.drift import DriftingCMDP, to_and_fro

seeds = st.integers(0, 2**32 - 1)
increasing = st.sets(st.integers(1, 30), min_size=1, max_size=5).map(sorted)


def models(rng, number, **shape):
    """Models of one problem whose kernels reach different states."""
    mu0 = rng.dirichlet(np.ones(4))
    return [
        CMDP(*random_arrays(rng, 2, 4, 2, sparsity=0.6, **shape), 0.3, mu0) for _ in range(number)
    ]


def by_hand(anchors, knots, k):
    """P, r, g of episode k: each entry of the anchors interpolated between the knots."""
    tables = zip(*((anchor.P, anchor.r, anchor.g) for anchor in anchors), strict=True)
    weights = [np.interp(k, knots, np.eye(len(knots))[i]) for i in range(len(knots))]
    return [np.tensordot(weights, np.stack(table), axes=1) for table in tables]


@given(seeds, increasing, st.integers(0, 5))
def test_every_episode_is_the_convex_combination_of_the_anchors_beside_it(seed, knots, beyond):
    anchors = models(np.random.default_rng(seed), len(knots))
    env = environments.path(anchors, knots, episodes=knots[-1] + beyond)
    for k in range(1, env.episodes + 1):
        now = env.at(k)
        for found, expected in zip((now.P, now.r, now.g), by_hand(anchors, knots, k), strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-14)
        np.testing.assert_allclose(now.P.sum(axis=3), 1.0, atol=1e-12)
        assert (now.P >= 0).all()
        assert now.rho == 0.3
        np.testing.assert_array_equal(now.mu0, anchors[0].mu0)


def test_anchors_with_other_supports_are_unchanged_by_their_alignment():
    anchors = models(np.random.default_rng(3), 3)
    assert len({tuple(anchor.successors.ravel()) for anchor in anchors}) > 1
    env = environments.path(anchors, [1, 5, 9])
    for k, anchor in zip((1, 5, 9), anchors, strict=True):
        np.testing.assert_allclose(env.at(k).P, anchor.P, atol=1e-15)
        np.testing.assert_allclose(env.at(k).r, anchor.r, atol=1e-15)
        np.testing.assert_allclose(env.at(k).g, anchor.g, atol=1e-15)


def test_a_stepwise_anchor_and_one_for_all_steps_share_a_path():
    rng = np.random.default_rng(4)
    alike = random_cmdp(rng, 3, 3, 2, same_for_all_h=True)
    P, r, g = random_arrays(rng, 3, 3, 2)
    stepwise = CMDP(P, r, g, alike.rho, alike.mu0)
    env = environments.path([alike, stepwise], [1, 3])
    for found, first, last in zip(
        (env.at(2).P, env.at(2).r), (alike.P, alike.r), (stepwise.P, stepwise.r), strict=True
    ):
        np.testing.assert_allclose(found, (first + last) / 2, atol=1e-14)


def test_the_model_rests_before_the_first_knot_and_after_the_last():
    first, last = models(np.random.default_rng(5), 2)
    env = environments.path([first, last], [4, 8], episodes=12)
    for k in range(1, 5):
        np.testing.assert_array_equal(env.at(k).P, first.P)
    for k in range(8, 13):
        np.testing.assert_array_equal(env.at(k).P, last.P)
    assert not np.array_equal(env.at(5).P, first.P)


def test_knots_one_episode_apart_are_an_abrupt_switch():
    first, last = models(np.random.default_rng(6), 2)
    env = environments.path([first, first, last, last], [1, 5, 6, 10])
    np.testing.assert_array_equal(env.at(5).P, first.P)
    np.testing.assert_array_equal(env.at(6).P, last.P)


def test_a_single_knot_is_a_stationary_problem():
    (model,) = models(np.random.default_rng(7), 1)
    env = environments.path([model], [1], episodes=7)
    assert env.episodes == 7
    assert all(env.at(k) is env.at(1) for k in range(1, 8))


def test_an_episode_outside_the_path_is_refused():
    env = environments.path(models(np.random.default_rng(8), 2), [1, 10])
    for k in (0, 11, -1):
        with pytest.raises(ValueError, match=rf"episode {k} is outside 1\.\.10"):
            env.at(k)


@pytest.mark.parametrize(
    ("knots", "complaint"),
    [
        ([5, 5], "increasing"),
        ([6, 2], "increasing"),
        ([0, 5], "from 1 on"),
        ([1, 4.5], "whole"),
        ([1, 3, 5], "2 models but 3 knots"),
    ],
)
def test_knots_that_make_no_path_are_refused(knots, complaint):
    with pytest.raises(ValueError, match=complaint):
        environments.path(models(np.random.default_rng(9), 2), knots)


def test_a_path_without_episodes_or_anchors_or_models_or_with_a_wrong_route_is_refused():
    first, second = models(np.random.default_rng(9), 2)
    with pytest.raises(ValueError, match="episodes = 0"):
        environments.path([first, second], [1, 4], episodes=0)
    with pytest.raises(ValueError, match="at least one anchor"):
        environments.path([], [])
    with pytest.raises(ValueError, match=r"models\[1\] is a str, expected a CMDP"):
        environments.path([first, "second"], [1, 4])
    with pytest.raises(ValueError, match="anchor 2, there are 2"):
        DriftingCMDP([first, second], [1, 4], [0, 2])
    with pytest.raises(ValueError, match="2 knots but 3"):
        DriftingCMDP([first, second], [1, 4], [0, 1, 0])


def test_models_that_no_policy_can_satisfy_are_refused_by_number():
    first, second = models(np.random.default_rng(9), 2)
    hopeless = [CMDP(model.P, model.r, model.g, 2.5, model.mu0) for model in (first, second)]
    with pytest.raises(optimum.Infeasible, match=r"models\[0\]: no policy has a utility of 2.5"):
        environments.path(hopeless, [1, 4])
    feasible = CMDP(first.P, first.r, first.g + 2.0, 2.5, first.mu0)
    with pytest.raises(optimum.Infeasible, match=r"models\[1\]: no policy has a utility of 2.5"):
        environments.path([feasible, hopeless[1]], [1, 4])


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"rho": 0.4}, "anchor 1 has rho = 0.4"),
        ({"H": 3}, "anchor 1 has H = 3"),
        ({"S": 3}, "anchor 1 has S = 3"),
        ({"A": 3}, "anchor 1 has A = 3"),
        ({"mu0": np.array([1.0, 0, 0, 0])}, "anchor 1 starts from another distribution mu0"),
    ],
)
def test_anchors_of_different_problems_are_refused_by_what_differs(change, named):
    rng = np.random.default_rng(10)
    first = {"H": 2, "S": 4, "A": 2, "rho": 0.3}
    second = {**first, **change}

    def model(H, S, A, rho, mu0=None):
        return CMDP(*random_arrays(rng, H, S, A), rho, np.full(S, 1 / S) if mu0 is None else mu0)

    with pytest.raises(ValueError, match=named):
        environments.path([model(**first), model(**second)], [1, 4])


@given(st.integers(1, 6), st.integers(60, 500), st.sampled_from([[0, 1], [0, 0.5, 1], [0, 0.2, 1]]))
def test_walking_to_and_fro_ends_each_leg_at_an_end_of_the_path(legs, episodes, positions):
    knots, route = to_and_fro(positions, legs, episodes)
    stops = len(positions) - 1
    assert knots[0] == 1
    assert knots[-1] == episodes
    assert (np.diff(knots) > 0).all()
    assert (np.abs(np.diff(route)) == 1).all()
    assert [route[i * stops] for i in range(legs + 1)] == [stops * (i % 2) for i in range(legs + 1)]
    ends = [knots[i * stops] for i in range(legs + 1)]
    np.testing.assert_allclose(ends, 1 + np.arange(legs + 1) / legs * (episodes - 1), atol=0.5)


def test_too_few_episodes_for_the_legs_are_refused_with_the_number_needed():
    with pytest.raises(ValueError, match="episodes = 4 is too few to walk 2 legs: 5 are enough"):
        to_and_fro([0, 0.5, 1], 2, 4)
    with pytest.raises(ValueError, match="legs = 0"):
        to_and_fro([0, 1], 0, 10)


def test_a_random_path_of_the_helpers_can_keep_its_constraint():
    env = random_path(np.random.default_rng(11), [1, 6, 7, 20], sparsity=0.4)
    assert all(best(env.at(k), 0.0, 1.0)[1] >= env.rho for k in range(1, 21))
