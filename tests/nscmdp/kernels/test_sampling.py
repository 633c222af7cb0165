import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from helpers import random_path
from nscmdp import environments, simulate
from nscmdp.kernels.sampling import alias_tables, sampler_of

weights = st.lists(st.one_of(st.just(0.0), st.floats(1e-9, 1.0)), min_size=1, max_size=12)
rows = weights.filter(lambda row: sum(row) > 0).map(lambda row: np.array(row) / sum(row))


def pmf(threshold, alias):
    """What a table draws: each part's share up to its threshold to itself, the rest to its alias."""
    threshold = np.clip(threshold, 0.0, 1.0)
    return (threshold + np.bincount(alias, 1.0 - threshold, minlength=len(alias))) / len(alias)


@given(rows)
def test_an_alias_table_holds_the_probabilities_of_its_row(row):
    threshold, alias = alias_tables(row[None])
    np.testing.assert_allclose(pmf(threshold[0], alias[0]), row, atol=1e-12)


@given(rows)
def test_what_has_probability_zero_is_never_drawn(row):
    threshold, alias = alias_tables(row[None])
    assert (pmf(threshold[0], alias[0])[row == 0] == 0).all()


def test_the_rows_of_a_table_do_not_mix():
    probability = np.random.default_rng(0).dirichlet(np.full(6, 0.3), size=50)
    threshold, alias = alias_tables(probability)
    for row in range(50):
        np.testing.assert_allclose(pmf(threshold[row], alias[row]), probability[row], atol=1e-12)


@pytest.mark.parametrize("same_for_all_h", [False, True])
def test_every_record_of_a_path_pays_what_its_anchor_pays_with_that_successor(same_for_all_h):
    env = random_path(
        np.random.default_rng(1), [1, 9], H=2, S=4, sparsity=0.6, same_for_all_h=same_for_all_h
    )
    outcomes = sampler_of(env).outcomes
    for number, anchor in enumerate(env.anchors):
        for layer, x, a in np.ndindex(env.layers, env.S, env.A):
            drawn, reward, utility = np.zeros(env.S), 0.0, 0.0
            for column in outcomes[number, layer, x, a]:
                for share, prefix in (
                    (column["threshold"], ""),
                    (1 - column["threshold"], "alias_"),
                ):
                    drawn[column[f"{prefix}state"]] += share / env.probability.shape[-1]
                    reward += share * column[f"{prefix}reward"] / env.probability.shape[-1]
                    utility += share * column[f"{prefix}utility"] / env.probability.shape[-1]
            np.testing.assert_allclose(drawn, anchor.P[layer, x, a], atol=1e-12)
            assert (reward, utility) == pytest.approx(
                (anchor.r[layer, x, a], anchor.g[layer, x, a]), abs=1e-12
            )


def assert_steps_match_the_model(env, k, layer, x, a, number=20_000):
    """Successors by chi-square, mean reward and utility within 4.5 standard errors."""
    sampler, model = sampler_of(env), env.at(k)
    start, end, weight = env.leg(k)
    u = np.random.default_rng([k, x, a]).random((number, 2))
    steps = [simulate.draw(sampler, start, end, weight, layer, x, a, *draws) for draws in u]
    rewards, utilities, states = (np.array(part) for part in zip(*steps, strict=True))
    counts = np.bincount(states.astype(int), minlength=env.S)
    possible = model.P[layer, x, a] > 0
    assert counts[~possible].sum() == 0
    if possible.sum() > 1:
        assert (
            stats.chisquare(counts[possible], number * model.P[layer, x, a][possible]).pvalue > 1e-4
        )
    for paid, mean in ((rewards, model.r[layer, x, a]), (utilities, model.g[layer, x, a])):
        assert abs(paid.mean() - mean) <= 4.5 * stats.sem(paid) + 1e-12


@pytest.mark.parametrize("k", [1, 4, 8, 10])
def test_steps_in_mid_leg_follow_the_model_of_the_episode(k):
    env = random_path(np.random.default_rng(2), [1, 10], H=2, S=5, A=2, sparsity=0.5)
    assert env.leg(4).weight == pytest.approx(1 / 3)
    for layer, x, a in ((0, 0, 0), (1, 3, 1)):
        assert_steps_match_the_model(env, k, layer, x, a)


@pytest.mark.parametrize("location", ["reached", "current"])
def test_steps_on_the_map_follow_the_model_of_the_episode(location):
    env = environments.make(
        "grid_world", episodes=100, map="6x6", horizon=15, limit=2, success=0.6, location=location
    )
    for k, x, a in ((1, 4, 3), (60, 20, 0), (37, 35, 1)):
        assert_steps_match_the_model(env, k, 0, x, a)


def test_the_extremes_of_the_uniform_draw_stay_inside_the_row():
    env = random_path(np.random.default_rng(3), [1, 10], H=2, S=5, A=2, sparsity=0.5)
    sampler, last = sampler_of(env), np.nextafter(1.0, 0.0)
    for u_anchor in (0.0, last):
        for u_column in (0.0, last):
            _, _, y = simulate.draw(sampler, 0, 1, 0.5, 1, 2, 1, u_anchor, u_column)
            assert env.at(5).P[1, 2, 1, y] > 0
