"""Gymnasium's tables as models: what we compute exactly is what Gymnasium does when it is played."""

import sys

import gymnasium
import numpy as np
import pytest

from helpers import best, evaluate, variation_by_definition
from nscmdp import budget, environments, optimum

H = 25
# reward in Gymnasium without its penalty; the cost; low and high of the rewards, with the 0 after the end
FALLS = {
    "FrozenLake-v1": (lambda reward, ended: (reward, ended and reward == 0), 0.0, 1.0),
    "CliffWalking-v1": (lambda reward, ended: (-1, reward == -100), -1.0, 0.0),
    "Taxi-v4": (lambda reward, ended: (max(reward, -1), reward == -10), -1.0, 20.0),
}
LAST = {"FrozenLake-v1": "is_slippery", "CliffWalking-v1": "is_slippery", "Taxi-v4": "is_rainy"}


def make(env_id="FrozenLake-v1", episodes=21, **options):
    return environments.make("toy_text", episodes, env_id=env_id, **options)


def play(game, policy, seed, tell):
    """Return and cost of one episode of H steps in Gymnasium itself."""
    rng = np.random.default_rng(seed)
    x, _ = game.reset(seed=seed)
    total, cost = 0.0, 0.0
    for h in range(H):
        x, reward, ended, _, _ = game.step(int(rng.choice(policy.shape[2], p=policy[h, x])))
        paid, fell = tell(reward, ended)
        total, cost = total + paid, cost + fell
        if ended:
            break
    return total, cost


def assert_agrees(env_id, cmdp, policy, kwargs, episodes=1500):
    """Exact V and W against episodes played in Gymnasium, within 4.5 standard errors.

    Where all of them are alike the variance is at most (most - mean) (mean - least), by Bhatia and Davis.
    """
    tell, low, high = FALLS[env_id]
    game = gymnasium.make(env_id, **kwargs).unwrapped
    played = np.array([play(game, policy, seed, tell) for seed in range(episodes)])
    value, utility = evaluate(cmdp, policy)
    exact = np.array([value * (high - low) + H * low, H - utility])  # back in Gymnasium's unit
    above, below = H * np.array([high, 1.0]) - exact, exact - H * np.array([low, 0.0])
    most = np.sqrt(np.maximum(0.0, above * below))
    error = np.where(np.ptp(played, axis=0) > 0, played.std(axis=0), most) / np.sqrt(episodes)
    mean = played.mean(axis=0)
    assert (np.abs(mean - exact) <= 4.5 * error + 1e-9).all(), (mean, exact, error)


@pytest.mark.parametrize("env_id", FALLS)
def test_values_are_those_of_episodes_that_are_played_in_gymnasium(env_id):
    cmdp = make(env_id).at(21)
    assert_agrees(env_id, cmdp, optimum.constrained(cmdp).policy, {LAST[env_id]: True})
    if env_id != "Taxi-v4":
        uniform = np.full((H, cmdp.S, cmdp.A), 1 / cmdp.A)
        assert_agrees(env_id, cmdp, uniform, {LAST[env_id]: True})


@pytest.mark.parametrize("share", [0.0, 0.25, 0.75])
def test_between_the_tables_the_ice_is_slippery_in_part(share):
    """A share t between no slipping and success 1/3 is a success rate of 1 - 2t/3, which Gymnasium has as an option."""
    cmdp = make().at(1 + round(20 * share))
    kwargs = {"is_slippery": True, "success_rate": 1 - 2 * share / 3}
    same = make(first=kwargs, last=kwargs).at(1)
    for name in ("P", "r", "g"):
        np.testing.assert_allclose(getattr(cmdp, name), getattr(same, name), atol=1e-12)
    assert_agrees("FrozenLake-v1", cmdp, np.full((H, cmdp.S, 4), 0.25), kwargs)


def test_rewards_are_in_the_unit_interval_and_costs_are_probabilities():
    for env_id in FALLS:
        for anchor in make(env_id).anchors:
            for table in (anchor.r, anchor.g):
                assert table.min() >= 0
                assert table.max() <= 1
        assert make(env_id).at(1).r.max() == 1  # of what happens for certain


def test_an_episode_that_has_ended_stays_so_without_cost():
    for env_id, (_, low, high) in FALLS.items():
        env = make(env_id)
        for k in (1, 10, 21):
            cmdp = env.at(k)
            ends = np.repeat([[cmdp.S - 2], [cmdp.S - 1]], cmdp.A, 1)
            np.testing.assert_array_equal(cmdp.P[0, -2:].argmax(axis=2), ends)
            np.testing.assert_allclose(cmdp.r[0, -2:], -low / (high - low), atol=1e-12)
            np.testing.assert_array_equal(cmdp.g[0, -2:], 1.0)


def test_on_firm_ground_the_shortest_ways_are_those_of_the_maps():
    """FrozenLake's goal can be reached for certain; the cliff's is 13 steps away, which leaves 12 of 25."""
    assert best(make("FrozenLake-v1").at(1), 1.0, 0.0) == pytest.approx((1.0, 25.0))
    assert best(make("CliffWalking-v1").at(1), 1.0, 0.0) == pytest.approx((12.0, 25.0))


def test_a_step_off_the_cliff_costs_1_and_leads_to_the_start():
    cmdp = make("CliffWalking-v1").at(1)
    start, right, above, down = 36, 1, 25, 2
    for x, a in ((start, right), (above, down)):
        assert cmdp.P[0, x, a, start] == 1
        assert cmdp.g[0, x, a] == 0
    falls = np.argwhere(cmdp.g[0, :36] == 0)
    assert falls.tolist() == [[x, down] for x in range(25, 35)]


def test_illegal_actions_of_the_taxi_cost_1_and_no_others():
    env, game = make("Taxi-v4"), gymnasium.make("Taxi-v4").unwrapped
    cost = 1 - env.at(1).g[0]
    for x in range(500):
        row, column, passenger, destination = game.decode(x)
        here = game.locs.index((row, column)) if (row, column) in game.locs else None
        pick_up = here is not None and here == passenger
        drop_off = passenger == 4 and here is not None
        expected = [0, 0, 0, 0, not pick_up, not drop_off]
        np.testing.assert_array_equal(cost[x], expected, err_msg=str((x, destination)))


def test_every_limit_can_be_kept_and_the_default_binds_on_most_of_the_way():
    env = make(episodes=51)
    assert min(optimum.best_utility(env.at(k)) for k in range(1, 52)) == pytest.approx(25.0)
    assert (optimum.along(env, np.arange(1, 52))[:, 2] > 0.05).mean() > 0.75


def test_legs_walk_to_and_fro_and_have_the_budget_of_the_definition():
    env = make(episodes=41, legs=2, horizon=4)
    np.testing.assert_allclose(env.at(1).P, env.at(41).P)
    np.testing.assert_allclose(budget.variation(env), variation_by_definition(env), atol=1e-11)
    assert make(episodes=1).episodes == 1


def test_holes_that_move_keep_an_episode_ended():
    """Where the other table has no hole an episode that fell into one must not go on."""
    maps = {"first": {"desc": ["SFH", "FFG"]}, "last": {"desc": ["SHF", "FFG"]}}
    env = make(**maps, horizon=4, limit=4.0, episodes=11)
    lazy = np.zeros((4, env.S, 4))
    lazy[:, :, 2] = 1.0  # to the right: into the hole that is there, in one step or in two
    _, utility = evaluate(env.at(6), lazy)
    assert utility <= 4.0
    assert env.at(6).P[0, -2, :, -2].min() == 1.0


WRONG = {
    "FrozenLak": ({"env_id": "FrozenLak-v1"}, ".*FrozenLake"),
    "no table": ({"env_id": "CartPole-v1"}, "it has no transition table P .*Taxi-v4"),
    "a module": ({"env_id": "os:FrozenLake-v1"}, "expected an id alone"),
    "a keyword": ({"first": {"slippery": True}}, ".*unexpected keyword argument 'slippery'"),
    "a map": ({"last": {"map_name": "9x9"}}, "FrozenLake-v1 cannot be made"),
    "sizes": ({"last": {"map_name": "8x8"}}, r"\(16, 4\) and last \(64, 4\): expected the"),
    "a random map": ({"first": {"map_name": None}}, ".*another each time .*expected a fixed map"),
    "whims": ({"env_id": "Taxi-v4", "last": {"fickle_passenger": True}}, "knows nothing of fickle"),
    "no step": ({"horizon": 0}, "expected at least 1"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_gymnasium_cannot_make_is_refused_by_name(what):
    options, complaint = WRONG[what]
    name = "first" if what == "sizes" else list(options)[-1]
    with pytest.raises(ValueError, match=f"{name} .*{complaint}"):
        make(**options)


def test_without_gymnasium_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    for expected in (ImportError, ValueError):
        with pytest.raises(expected, match=r"pip install nscmdp\[gymnasium\]"):
            make()
