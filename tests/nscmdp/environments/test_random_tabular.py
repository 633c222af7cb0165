import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import evaluate
from nscmdp import budget, environments, optimum
from nscmdp.environments import random_tabular as module
from nscmdp.environments.random_tabular import FAR, distinct_states, uniform_regret

SIZES = st.fixed_dictionaries(
    {
        "states": st.integers(3, 8),
        "actions": st.integers(3, 5),
        "horizon": st.integers(3, 7),
        "branching": st.integers(2, 3),
        "slater": st.floats(0.75, 2.25),
        "seed": st.integers(0, 50),
    }
)


def uniform_gap(cmdp):
    """The Lagrangian gap of the uniform policy as a share of V*, by the package's solver and a dense evaluation."""
    best = optimum.constrained(cmdp)
    value, utility = evaluate(cmdp, np.full((cmdp.H, cmdp.S, cmdp.A), 1 / cmdp.A))
    return (best.value - value + best.multiplier * (cmdp.rho - utility)) / best.value


@settings(max_examples=40)
@given(SIZES, st.floats(0.01, 60.0))
def test_the_budget_asked_for_is_the_budget_measured(options, asked):
    env = environments.make("random_tabular", episodes=100_000, budget=asked, **options)
    assert budget.variation(env).total == pytest.approx(asked, rel=1e-9)
    assert env.knots[-1] == env.episodes


@pytest.mark.parametrize("asked", [3.0, 6.0, 7.5])
def test_the_path_is_one_curve_whatever_the_episodes(asked):
    short, long = (environments.make("random_tabular", K, budget=asked) for K in (21, 2001))
    for k in range(1, 22):
        np.testing.assert_allclose(short.at(k).P, long.at(100 * (k - 1) + 1).P, atol=1e-9)
        np.testing.assert_allclose(short.at(k).r, long.at(100 * (k - 1) + 1).r, atol=1e-9)


def test_whole_legs_end_on_the_two_models_and_the_rest_is_part_of_one():
    # A leg of .75 H = 3: two and a half.
    env = environments.make("random_tabular", episodes=101, budget=7.5)
    assert env.knots.tolist() == [1, 41, 81, 101]
    np.testing.assert_array_equal(env.at(81).r, env.at(1).r)
    np.testing.assert_allclose(env.at(101).r, (env.at(1).r + env.at(41).r) / 2, atol=1e-15)


def test_no_budget_is_no_drift():
    env = environments.make("random_tabular", episodes=5, budget=0)
    assert budget.variation(env).total == 0
    np.testing.assert_array_equal(env.at(1).P, env.at(5).P)


@settings(max_examples=25)
@given(SIZES)
def test_the_slater_gap_is_the_one_asked_for_in_every_episode(options):
    env = environments.make("random_tabular", episodes=60, budget=10.0, **options)
    for k in range(1, 61, 7):
        slater = optimum.best_utility(env.at(k)) - env.rho
        assert slater == pytest.approx(options["slater"], abs=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_the_uniform_policy_is_far_from_the_best_and_the_constraint_binds(seed):
    env = environments.make("random_tabular", episodes=33, seed=seed)
    assert optimum.along(env, np.arange(1, 34))[:, 2].max() > 0.05
    assert min(uniform_gap(env.at(k)) for k in range(1, 34)) > 0.9 * FAR


@settings(max_examples=20)
@given(SIZES, st.integers(1, 10))
def test_the_check_made_at_creation_agrees_with_the_solver(options, k):
    env = environments.make("random_tabular", 10, budget=0.75 * options["horizon"], **options)
    assert uniform_regret(env.at(k)) == pytest.approx(uniform_gap(env.at(k)), abs=1e-9)
    assert uniform_regret(env.at(1)) >= FAR


def test_another_pair_is_drawn_where_the_uniform_policy_is_too_good(monkeypatch):
    small = {"states": 2, "actions": 2, "horizon": 2, "branching": 2, "slater": 1.0}
    env = environments.make("random_tabular", episodes=10, **small)
    rng = np.random.default_rng([0, 43, 0])
    first = module.draw_leg(rng, (2, 2, 2), 2, 1.0)
    assert first is None or not np.array_equal(first.at(1).P, env.at(1).P)
    again = environments.make("random_tabular", episodes=10, **small)
    np.testing.assert_array_equal(env.at(10).P, again.at(10).P)
    monkeypatch.setattr(module, "DRAWS", 1)
    with pytest.raises(ValueError, match="seed = 0: in 1 draws of 2 states and 2 actions"):
        environments.make("random_tabular", episodes=10, **small)


@settings(max_examples=15)
@given(SIZES)
def test_no_probability_is_all_but_zero_and_rows_have_the_branching_asked_for(options):
    env = environments.make("random_tabular", 10, budget=0.75 * options["horizon"], **options)
    for k in (1, 2, 6, 10):
        P = env.at(k).P
        assert ((P > 0).sum(axis=3) == options["branching"]).all()
        assert P[P > 0].min() >= 0.05 / options["branching"] - 1e-12
        np.testing.assert_allclose(P.sum(axis=3), 1.0, atol=1e-12)


def test_the_successors_of_a_row_are_different_and_all_sets_are_equally_likely():
    drawn = distinct_states(np.random.default_rng(0), (1, 5, 6000), 3)
    rows = np.sort(drawn, axis=-1).reshape(-1, 3)
    sets, counts = np.unique(rows, axis=0, return_counts=True)
    assert len(sets) == 10
    assert (np.diff(sets.astype(int), axis=1) > 0).all()
    assert np.abs(counts / len(rows) - 0.1).max() < 0.01


@pytest.mark.parametrize(("asked", "enough"), [(100.0, 101), (3.1, 32), (6.7, 11)])
def test_too_few_episodes_are_refused_with_a_number_that_is_enough(asked, enough):
    with pytest.raises(ValueError, match=rf"episodes = 5 is too few .* {enough} are enough"):
        environments.make("random_tabular", episodes=5, budget=asked)
    env = environments.make("random_tabular", episodes=enough, budget=asked)
    assert budget.variation(env).total == pytest.approx(asked, rel=1e-9)


def test_an_option_out_of_range_is_refused_by_name():
    wrong = {"states": [0], "actions": [1], "horizon": [0], "branching": [0, 6]}
    wrong |= {"budget": [-1.0, float("nan"), float("inf")], "slater": [0.0, 4.0]}
    for name, value in ((name, value) for name, values in wrong.items() for value in values):
        with pytest.raises(ValueError, match=f"{name} = .*expected"):
            environments.make("random_tabular", episodes=10, **{name: value})
    with pytest.raises(ValueError, match="drifts = 'rewards'"):
        environments.make("random_tabular", 60, drifts="rewards")


@pytest.mark.parametrize(("drifts", "part"), [("reward", 0), ("utility", 1), ("transitions", 2)])
def test_one_part_can_drift_alone(drifts, part):
    env = environments.make("random_tabular", 60, budget=5.0, drifts=drifts, seed=2)
    expected = np.zeros(3)
    expected[part] = 5.0
    np.testing.assert_allclose(budget.variation(env), expected, atol=1e-12)
