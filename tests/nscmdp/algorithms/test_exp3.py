"""Exp3 beside hand-computed updates and its own guarantee."""

import numpy as np
import pytest

from nscmdp.algorithms._exp3 import choose, exp3, reinforce, usual_rate
from nscmdp.kernels.jit import jit


def test_two_updates_by_hand():
    """gamma = 1/2, two arms: s(0) = exp(1/2 x 1/p / 2)."""
    bandit = exp3(2, 0.5)
    assert choose(bandit, 0.3)[0] == 0
    np.testing.assert_array_equal(bandit.probabilities, [0.5, 0.5])
    reinforce(bandit, 0, 1.0)  # s(0) = exp(0.5 x (1/0.5) / 2) = exp(1/2)
    s = np.exp(0.5)
    assert choose(bandit, 0.99)[0] == 1
    p = np.array([0.5 * s / (s + 1) + 0.25, 0.5 / (s + 1) + 0.25])
    np.testing.assert_allclose(bandit.probabilities, p, rtol=1e-15)
    np.testing.assert_allclose(p, [0.5612296656, 0.4387703344], rtol=1e-9)
    reinforce(bandit, 1, 0.4)  # s(1) = exp(0.5 x (0.4/p(1)) / 2)
    s1 = np.exp(0.1 / p[1])
    choose(bandit, 0.0)
    np.testing.assert_allclose(
        bandit.probabilities, [0.5 * s / (s + s1) + 0.25, 0.5 * s1 / (s + s1) + 0.25], rtol=1e-15
    )


def test_weights_beyond_the_range_of_numbers_still_give_probabilities():
    bandit = exp3(4, 0.1)
    bandit.log_weights[:] = [1e6, 0.0, -1e6, 1e6 - np.log(3)]
    choose(bandit, 0.5)
    np.testing.assert_allclose(
        bandit.probabilities, [0.9 * 0.75 + 0.025, 0.025, 0.025, 0.9 * 0.25 + 0.025], rtol=1e-9
    )
    assert bandit.probabilities.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("gamma", [0.0, 0.2, 1.0])
def test_arms_are_drawn_with_their_probabilities_and_leave_a_uniform_number(gamma):
    bandit = exp3(3, gamma)
    bandit.log_weights[:] = np.log([1.0, 2.0, 5.0])
    drawn = [choose(bandit, u) for u in (np.arange(10_000) + 0.5) / 10_000]
    expected = (1 - gamma) * np.array([1, 2, 5]) / 8 + gamma / 3
    np.testing.assert_allclose(bandit.probabilities, expected, rtol=1e-12)
    arms, rest = np.array([arm for arm, _ in drawn]), np.array([rest for _, rest in drawn])
    np.testing.assert_allclose(np.bincount(arms) / 10_000, expected, atol=2e-4)
    for arm in range(3):
        left = np.sort(rest[arms == arm])
        assert np.abs(left - (np.arange(len(left)) + 0.5) / len(left)).max() < 2e-3
    assert (rest >= 0).all()
    assert (rest < 1).all()


def test_the_largest_number_below_one_draws_an_arm():
    bandit = exp3(7, 0.3)
    arm, rest = choose(bandit, np.nextafter(1.0, 0.0))
    assert arm == 6
    assert 0 <= rest < 1


def sequences(rounds):
    """Gains (rounds, arms) that an adversary who knows the rates, but not the draws, might choose."""
    rng = np.random.default_rng(3)
    half, t = rounds // 2, np.arange(rounds)
    switch = np.full((rounds, 2), 0.0)
    switch[:half, 0], switch[half:, 1] = 0.5, 1.0
    bait = np.zeros((rounds, 3))
    bait[: rounds // 3, 0], bait[:, 1], bait[rounds // 3 :, 2] = 1.0, 0.4, 0.9
    alternating = np.stack([t % 2, (t + 1) % 2, np.full(rounds, 0.55)], axis=1).astype(float)
    yield from (rng.random((rounds, 4)) < [0.5, 0.5, 0.5, 0.7], switch, bait, alternating)


@jit
def play(bandit, gains, draws):
    """What the bandit earns."""
    earned = 0.0
    for t in range(len(draws)):
        arm, _ = choose(bandit, draws[t])
        earned += gains[t, arm]
        reinforce(bandit, arm, gains[t, arm])
    return earned


@pytest.mark.parametrize("which", range(4))
def test_the_expected_regret_keeps_the_guarantee(which):
    """2 sqrt(e-1) sqrt(n N ln N)"""
    rounds, runs = 600, 150
    gains = list(sequences(rounds))[which].astype(float)
    arms = gains.shape[1]
    draws = np.random.default_rng([7, which]).random((runs, rounds))
    earned = np.array([play(exp3(arms, usual_rate(arms, rounds)), gains, each) for each in draws])
    regret = gains.sum(axis=0).max() - earned
    upper = regret.mean() + 4 * regret.std() / np.sqrt(runs)
    assert upper <= 2 * np.sqrt(np.e - 1) * np.sqrt(rounds * arms * np.log(arms))
    if which in (0, 2):
        assert regret.mean() < 0.8 * (gains.sum(axis=0).max() - gains.mean(axis=1).sum()), (
            "better than chance"
        )


def test_the_usual_rate():
    assert usual_rate(4, 1000) == pytest.approx(np.sqrt(4 * np.log(4) / ((np.e - 1) * 1000)))
    assert usual_rate(10, 2) == 1.0
    assert usual_rate(1, 100) == 0.0
