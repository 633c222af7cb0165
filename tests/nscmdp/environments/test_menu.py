import numpy as np
import pytest

from helpers import variation_by_definition
from nscmdp import budget, environments, optimum

SEEDS = (0, 5)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("legs", [1, 4])
def test_a_leg_has_the_variation_worked_out_by_hand(seed, legs):
    env = environments.make("menu", episodes=60, legs=legs, seed=seed)
    # H = 4 steps: .5 of reward where m = 1, .1 of utility, and .1 of probability of which a third comes back
    by_hand = legs * np.array([4 * 0.5, 4 * 0.1, 4 * (0.1 * 2 / 3 + 2 * 0.1 / 3)])
    assert by_hand.sum() == pytest.approx(legs * 2.9333333333, abs=1e-9)
    np.testing.assert_allclose(budget.variation(env), by_hand, atol=1e-12)
    np.testing.assert_allclose(variation_by_definition(env), by_hand, atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_constraint_binds_in_every_episode_with_room_to_spare(seed):
    env = environments.make("menu", episodes=201, seed=seed)
    multiplier = optimum.along(env, np.arange(1, 202))[:, 2]
    assert multiplier.min() > 0.5
    assert multiplier.max() < 1.1
    assert multiplier.max() - multiplier.min() > 0.2
    # useful everywhere is the most useful policy, at 4 x .95 falling to 4 x .85
    share = np.arange(201) / 200
    best = [optimum.best_utility(env.at(k)) for k in range(1, 202)]
    np.testing.assert_allclose(np.array(best) - env.rho, 1.8 - 0.4 * share, atol=1e-12)


def test_every_step_and_state_offers_the_four_dishes_in_an_order_of_its_own():
    env = environments.make("menu", episodes=11)
    first, last = env.at(1), env.at(11)
    for x, m in enumerate((1.0, 0.85, 0.7)):
        for h in range(4):
            paid = (first.r[h, x] / m, last.r[h, x] / m, first.g[h, x], last.g[h, x])
            offered = {tuple(np.round(dish, 9)) for dish in np.stack(paid, axis=1)}
            drifting = {(0.9, 0.4, 0.2, 0.3), (0.4, 0.9, 0.2, 0.3)}
            assert offered == drifting | {(0.2, 0.2, 0.95, 0.85), (0.1, 0.1, 0.2, 0.2)}
    assert len({tuple(order) for order in first.r.argsort(axis=2).reshape(-1, 4).tolist()}) > 4
    probabilities = np.broadcast_to([0.1, 0.1, 0.8], (4, 3, 4, 3))
    np.testing.assert_allclose(np.sort(first.P, axis=3), probabilities)
    np.testing.assert_allclose(last.P.max(axis=3), 0.6 + 0.4 / 3)
    np.testing.assert_array_equal(last.P.argmax(axis=3), first.P.argmax(axis=3))


def test_the_best_rewarding_dish_changes_in_the_middle_of_a_leg():
    env = environments.make("menu", episodes=11)
    early, late = env.at(5).r.argmax(axis=2), env.at(7).r.argmax(axis=2)
    assert (early != late).all()


def test_seeds_are_instances_and_a_seed_is_one_instance():
    one, again, other = (environments.make("menu", episodes=10, seed=s).at(1) for s in (3, 3, 4))
    np.testing.assert_array_equal(one.P, again.P)
    np.testing.assert_array_equal(one.r, again.r)
    assert not np.array_equal(one.r, other.r)
    assert not np.array_equal(one.P, other.P)


def test_too_few_episodes_for_the_legs_are_refused():
    assert environments.make("menu", episodes=1).episodes == 1
    with pytest.raises(ValueError, match="episodes = 10 is too few to walk 20 legs: 21 are enough"):
        environments.make("menu", episodes=10, legs=20)
    with pytest.raises(ValueError, match="legs = 0"):
        environments.make("menu", episodes=10, legs=0)


def test_a_switch_changes_ends_within_one_episode_and_nothing_moves_in_between():
    env = environments.make("menu", episodes=101, switch_at=(0.3, 0.7))
    ends = [env.at(k).r.round(9).tolist() for k in range(1, 102)]
    assert [k for k in range(2, 102) if ends[k - 1] != ends[k - 2]] == [32, 72]
    assert ends[0] == ends[-1]
    np.testing.assert_allclose(budget.variation(env).total, 2 * 2.9333333333, atol=1e-9)


@pytest.mark.parametrize("shares", [(0.0,), (1.0,), (0.5, 0.5), (0.7, 0.3), (0.5, 0.505)])
def test_switches_that_cannot_be_told_apart_are_refused(shares):
    with pytest.raises(ValueError, match="switch_at"):
        environments.make("menu", episodes=100, switch_at=shares)
    with pytest.raises(ValueError, match="legs = 2 with switch_at"):
        environments.make("menu", episodes=100, switch_at=(0.5,), legs=2)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_constraint_binds_late_or_never_where_asked(seed):
    episodes = np.arange(1, 202)
    late = optimum.along(environments.make("menu", 201, binds="late", seed=seed), episodes)[:, 2]
    assert (late[:100] == 0).all()
    assert (late[102:] > 0.5).all()
    never = optimum.along(environments.make("menu", 201, binds="never", seed=seed), episodes)[:, 2]
    assert (never == 0).all()
