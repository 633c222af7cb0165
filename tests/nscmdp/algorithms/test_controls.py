"""The two controls that learn nothing: the oracle, which knows all, and the uniform policy."""

import numpy as np
import pytest
from scipy import stats

from helpers import evaluate, random_path
from nscmdp import environments, optimum, simulate
from nscmdp.cmdp import CMDP
from nscmdp.drift import DriftingCMDP


def grid():
    return environments.make("grid_world", episodes=60, map="6x6", horizon=15, limit=2, legs=2)


def paths():
    for seed in range(8):
        rng = np.random.default_rng(seed)
        shape = {"rounding": 0.5} if seed % 2 else {"sparsity": 0.5}
        yield random_path(rng, [1, 12, 13, 40], H=4, S=4, tightness=rng.uniform(-1, 1), **shape)


@pytest.mark.parametrize("env", [*paths(), grid()], ids=lambda env: f"{env.name} rho={env.rho:.3f}")
def test_the_oracle_has_neither_regret_nor_violation_in_any_episode(env):
    run = simulate.run(env, "oracle")
    tolerance = 1e-9 * (1 + run.optimum[:, 2].max())
    np.testing.assert_allclose(run.value, run.optimum[:, 0], atol=tolerance)
    assert (run.utility_value >= env.rho - 1e-9).all()
    np.testing.assert_allclose(run.utility_value, run.optimum[:, 1], atol=1e-9)
    for k in (1, 13, 40):
        assert run.value[k - 1] == pytest.approx(
            optimum.constrained(env.at(k)).value, abs=tolerance
        )


def test_the_oracle_stops_where_no_policy_keeps_the_constraint():
    P = np.ones((1, 1, 2, 1))
    easy = CMDP(P=P, r=[[[1.0, 0.0]]], g=[[[0.0, 1.0]]], rho=0.5, mu0=[1.0])
    hard = CMDP(P=P, r=[[[1.0, 0.0]]], g=[[[0.0, 0.1]]], rho=0.5, mu0=[1.0])
    with pytest.raises(ValueError, match="no policy keeps the constraint"):
        simulate.run(DriftingCMDP([easy, hard], [1, 10]), "oracle", solve=False)


def test_the_uniform_policy_has_the_value_and_utility_of_the_uniform_policy():
    env = random_path(np.random.default_rng(1), [1, 12, 13, 40], sparsity=0.5)
    run = simulate.run(env, "uniform")
    everywhere = np.full((env.H, env.S, env.A), 1 / env.A)
    expected = [evaluate(env.at(k), everywhere) for k in range(1, 41)]
    np.testing.assert_allclose(
        np.stack([run.value, run.utility_value], axis=1), expected, atol=1e-12
    )


def test_the_uniform_policys_rollouts_have_its_exact_value_as_their_mean():
    env = random_path(np.random.default_rng(2), [1, 300, 301, 800], sparsity=0.5)
    differences = []
    for seed in range(10):
        run = simulate.run(env, "uniform", seed=seed, solve=False)
        windows = run.window_episodes
        for realised, exact in ((run.reward, run.value), (run.utility, run.utility_value)):
            differences.append(
                realised - np.add.reduceat(exact, np.cumsum(windows) - windows) / windows
            )
    for difference in (np.concatenate(differences[::2]), np.concatenate(differences[1::2])):
        assert abs(difference.mean()) < 4 * stats.sem(difference)
        assert stats.sem(difference) < 0.02
