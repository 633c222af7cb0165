from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import best, evaluate, gaps
from nscmdp import budget, environments, optimum, simulate
from nscmdp.drift import DriftingCMDP
from nscmdp.environments import linear as module
from nscmdp.environments.linear import FAR
from nscmdp.problem import Problem

SIZES = st.fixed_dictionaries(
    {
        "states": st.integers(10, 40),
        "actions": st.integers(3, 5),
        "dimension": st.integers(3, 9),
        "horizon": st.integers(2, 6),
        "branching": st.integers(5, 60),
        "slater": st.floats(0.2, 0.5),
        "seed": st.integers(0, 50),
    }
)


def phi_of(env):
    return env.features.reshape(env.S * env.A, -1)


def parameters(cmdp, phi):
    """theta^r, theta^g (H,d) and mu (H,d,S) by least squares, and how far phi times them is from the model."""
    found, off = [], 0.0
    for table in (cmdp.r, cmdp.g, cmdp.P):
        rows = np.moveaxis(table.reshape(cmdp.H, cmdp.S * cmdp.A, -1), 0, 1)
        rows = rows.reshape(cmdp.S * cmdp.A, -1)
        solved = np.linalg.lstsq(phi, rows, rcond=None)[0]
        off = max(off, np.abs(phi @ solved - rows).max())
        found.append(np.moveaxis(solved.reshape(phi.shape[1], cmdp.H, -1), 1, 0))
    return found, off


def linear_variation_by_definition(env):
    """Summed over all episodes, as the paper writes it."""
    total, before = np.zeros(3), None
    for k in range(1, env.episodes + 1):
        now, _ = parameters(env.at(k), phi_of(env))
        if before is not None:
            for part in range(3):
                for h in range(env.H):
                    total[part] += np.sqrt(((now[part][h] - before[part][h]) ** 2).sum())
        before = now
    return total


@settings(max_examples=25)
@given(SIZES, st.floats(0.01, 80.0))
def test_the_linear_budget_asked_for_is_the_linear_budget_measured(options, asked):
    env = environments.make("linear", episodes=100_000, budget=asked, **options)
    assert budget.linear_variation(env).total == pytest.approx(asked, rel=1e-9)
    assert Problem.of(env).linear_budget == budget.linear_variation(env).total


@pytest.mark.parametrize("asked", [7.0, 30.0])
def test_the_measured_budget_is_that_of_the_definition(asked):
    options = {"states": 12, "dimension": 4, "horizon": 3, "slater": 0.4}
    env = environments.make("linear", episodes=23, budget=asked, **options)
    expected = linear_variation_by_definition(env)
    np.testing.assert_allclose(budget.linear_variation(env), expected, rtol=1e-9)


@settings(max_examples=15)
@given(SIZES)
def test_every_episode_is_a_linear_cmdp(options):
    """P a kernel, phi on the simplex, mu made of distributions, theta in [0,1]."""
    env = environments.make("linear", episodes=100_000, budget=25.0, **options)
    phi = phi_of(env)
    np.testing.assert_allclose(phi.sum(axis=1), 1.0, atol=1e-12)
    assert (phi >= 0).all()
    for k in np.linspace(1, 100_000, 14).astype(int):
        model = env.at(k)
        np.testing.assert_allclose(model.P.sum(axis=3), 1.0, atol=1e-12)
        assert model.probability.min() > 1e-6
        (reward, utility, mu), off = parameters(model, phi)
        assert off < 1e-12
        assert min(reward.min(), utility.min(), mu.min()) > -1e-9
        assert max(reward.max(), utility.max()) < 1 + 1e-9
        np.testing.assert_allclose(mu.sum(axis=2), 1.0, atol=1e-9)


@settings(max_examples=15)
@given(SIZES)
def test_the_slater_gap_is_at_least_the_one_asked_for_in_every_episode(options):
    env = environments.make("linear", episodes=100_000, budget=40.0, **options)
    gaps = [best(env.at(k), 0.0, 1.0)[1] - env.rho for k in np.linspace(1, 100_000, 40).astype(int)]
    assert min(gaps) >= options["slater"] - 1e-12
    least = min(optimum.best_utility(anchor) for anchor in env.anchors) - env.rho
    assert least == Problem.of(env).delta >= options["slater"]


@pytest.mark.parametrize("seed", range(6))
def test_the_uniform_policy_is_far_from_the_best_and_the_constraint_binds(seed):
    env = environments.make("linear", episodes=17, seed=seed)
    solved = optimum.along(env, np.arange(1, 18))
    assert solved[:, 2].max() > 0.05
    for k, (value, _, multiplier) in enumerate(solved, start=1):
        v, w = evaluate(env.at(k), np.full((env.H, env.S, env.A), 1 / env.A))
        assert (value - v + multiplier * (env.rho - w)) / value > 0.9 * FAR


def test_the_check_made_at_creation_agrees_with_the_solver():
    rng = np.random.default_rng(3)
    for _ in range(8):
        features = module.draw_features(rng, 12, 3, 5, 4, 9)
        drawn = module.draw_parameters(rng, features)
        rho = 0.8 * module.values(features, drawn, module.greedy(0.0, 1.0))[1]
        cmdp = module.model(features, drawn, rho)
        solved = optimum.constrained(cmdp)
        v, w = evaluate(cmdp, np.full((4, 12, 3), 1 / 3))
        values = partial(module.values, features, drawn)
        share, multiplier = module.against_uniform(values, rho)
        gap = solved.value - v + solved.multiplier * (rho - w)
        assert share == pytest.approx(gap / solved.value, abs=1e-9)
        assert multiplier == pytest.approx(solved.multiplier, abs=1e-6)


def test_another_pair_is_drawn_where_the_first_does_not_tell(monkeypatch):
    monkeypatch.setattr(module, "is_telling", lambda *_: False)
    monkeypatch.setattr(module, "DRAWS", 2)
    with pytest.raises(ValueError, match="seed = 0: in 2 draws of 60 states"):
        environments.make("linear", episodes=10)


def test_the_features_are_part_of_the_fingerprint():
    env = environments.make("linear", episodes=10)
    given = {"knots": env.knots, "route": env.route, "episodes": 10, "name": "linear"}
    without = DriftingCMDP(env.anchors, **given)
    other = DriftingCMDP(env.anchors, **given, features=env.features[..., ::-1])
    assert len({path.fingerprint() for path in (env, without, other)}) == 3


def test_features_of_another_shape_are_refused():
    env = environments.make("linear", episodes=10)
    message = r"features have shape \(59, 4, 8\), expected finite \(S, A, d\) = \(60, 4, d\)"
    with pytest.raises(ValueError, match=message):
        DriftingCMDP(env.anchors, env.knots, env.route, features=env.features[1:])


def test_a_model_that_is_not_linear_in_its_features_is_refused():
    env = environments.make("linear", episodes=10)
    other = DriftingCMDP(env.anchors, env.knots, env.route, features=env.features[..., :5])
    with pytest.raises(ValueError, match="path is not linear in its features: it is off by"):
        budget.linear_variation(other)
    with pytest.raises(ValueError, match="menu has no features: expected a linear CMDP"):
        budget.linear_variation(environments.make("menu", episodes=10))


def test_a_tabular_learner_runs_on_it():
    env = environments.make("linear", episodes=50)
    run = simulate.run(env, "nonstationary_triple_q", seed=1, evaluate_every=5)
    assert gaps(env, run).min() >= -1e-9


def test_many_states_need_no_more_successors():
    env = environments.make("linear", episodes=10, states=300, branching=40)
    assert env.probability.shape[-1] == 40
    assert len(np.unique(env.successors)) > 100
    assert env.features.shape == (300, 4, 8)


def test_an_option_out_of_range_is_refused_by_name():
    wrong = {"states": [0], "actions": [1], "dimension": [2, 241], "horizon": [0]}
    wrong |= {"branching": [0], "budget": [-1.0, float("nan"), float("inf")], "slater": [0.0, 5.0]}
    for name, value in ((name, value) for name, values in wrong.items() for value in values):
        with pytest.raises(ValueError, match=f"{name} = .*expected"):
            environments.make("linear", episodes=10, **{name: value})
