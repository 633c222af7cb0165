"""What every algorithm and environment must do; new files are found by themselves."""

import dataclasses
import types
import typing

import numpy as np
import pytest
from scipy import stats

from helpers import World, gaps, random_path
from nscmdp import algorithms, budget, environments, optimum, simulate
from nscmdp.cmdp import CMDP
from nscmdp.learner import Factor, act, operation, scalars
from nscmdp.problem import Problem

SETTINGS = [(name, setting) for name in algorithms.OWN for setting in algorithms.settings(name)]


GIVEN = (
    "arrays",
    "toy_text",
)  # their models are a file's and Gymnasium's: the seed decides the draws of a run alone


def departures():
    """Every value of every variant that is not its default."""
    for name in algorithms.OWN:
        variants = algorithms.variants(name)
        for field, kind in typing.get_type_hints(variants).items():
            for value in typing.get_args(kind) or (False, True):
                if value != getattr(variants(), field):
                    yield name, field, value


@pytest.fixture(scope="module")
def tiny():
    return random_path(
        np.random.default_rng(20), [1, 200, 201, 600], tightness=0.6, spread=0.3, name="tiny"
    )


@pytest.fixture(scope="module")
def problem(tiny):
    return Problem.of(tiny)


def test_the_papers_learners_and_controls_are_there():
    assert {"nonstationary_triple_q", "triple_q", "restart_q_ucb", "oracle", "uniform"} <= set(
        algorithms.OWN
    )
    assert "grid_world" in environments.OWN


@pytest.mark.parametrize("name", algorithms.OWN)
def test_an_algorithm_declares_its_settings_factors_and_variants(name):
    settings = algorithms.settings(name)
    assert settings
    assert set(settings) <= {"literal", "authors", "scaled"}
    assert bool(algorithms.factors(name)) == ("scaled" in settings)
    assert algorithms.module(name).__doc__
    variants = algorithms.variants(name)
    assert dataclasses.is_dataclass(variants)
    default = variants()
    for field in dataclasses.fields(variants):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(default, field.name, getattr(default, field.name))
    assert hash(default) == hash(variants())


@pytest.mark.parametrize(("name", "setting"), SETTINGS)
def test_every_constant_of_a_setting_has_its_formula(problem, name, setting):
    constants, formulas = (
        algorithms.constants(name, problem, setting),
        algorithms.formulas(name, setting),
    )
    if name != "repaired_double_restart_triple_q":  # whose constants are Algorithm 2's
        assert set(constants._fields) - set(formulas) <= set(constants._field_defaults)
    assert set(formulas) <= set(constants._fields)
    for key, formula in formulas.items():
        assert formula != key


def test_formulas_are_those_of_the_source():
    found = algorithms.formulas("nonstationary_triple_q", "literal")
    assert found["eta"] == "K ** 0.2 * B.eta ** (1 / 3)"
    assert found["bonus"] == "lambda t: np.sqrt(H ** 2 * iota * (chi + 1) / (chi + t)) / 4"
    assert algorithms.formulas("exact_model_primal_dual", "literal")["eta"].endswith(".eta")
    assert algorithms.formulas("uniform", "literal") == {}


@pytest.mark.parametrize("name", algorithms.OWN)
def test_a_range_holds_for_a_factor_that_there_is(problem, name):
    for found in (algorithms.ranges(name), algorithms.ranges(name, problem, 3)):
        assert set(found) <= set(algorithms.factors(name))
        assert all(0 < low < high for low, high in found.values())


@pytest.fixture
def bare(monkeypatch):
    module = types.ModuleType("bare", "The bare learner: only what must be there.")
    module.FACTORS = {"bonus": Factor(2.0)}
    module.learner = lambda problem, factors: (problem.K, factors.bonus)
    found = algorithms.module
    monkeypatch.setattr(
        algorithms, "module", lambda name: module if name == "bare" else found(name)
    )
    return module


def test_a_learner_may_take_factors_and_declare_nothing_else(problem, bare):
    assert algorithms.title("bare") == "The bare learner"
    assert algorithms.settings("bare") == ("scaled",)
    assert algorithms.ranges("bare", problem, 3) == {}
    assert algorithms.make("bare", problem, "scaled") == (problem.K, 2.0)
    assert algorithms.make("bare", problem, "scaled", {"bonus": 3.0}) == (problem.K, 3.0)
    assert algorithms.constants("bare", problem, "scaled", {"bonus": 3.0}).bonus == 3.0
    assert algorithms.formulas("bare", "scaled") == {}
    assert algorithms.constrained("bare")
    with pytest.raises(ValueError, match=r"bare has no variant 'tasty' \(expected none\)"):
        algorithms.make("bare", problem, "scaled", variants={"tasty": True})


def test_a_learner_that_takes_the_problem_alone_is_literal(problem, bare):
    bare.learner = lambda problem: (problem.K,)
    assert algorithms.settings("bare") == ("literal",)
    assert algorithms.make("bare", problem) == (problem.K,)


def test_titles_tell_algorithms_apart():
    titles = [algorithms.title(name) for name in algorithms.OWN]
    assert all(titles)
    assert len(set(titles)) == len(titles)


def test_no_two_learner_classes_share_a_name(problem):
    classes = {type(algorithms.make(name, problem, setting)) for name, setting in SETTINGS}
    names = [learner.__name__ for learner in classes]
    assert len(set(names)) == len(names)


def test_a_second_learner_class_of_one_name_is_refused(problem):
    taken = type(algorithms.make("uniform", problem))
    impostor = type(taken.__name__, (tuple,), {})
    with pytest.raises(TypeError, match=f"two learner classes are called {taken.__name__}"):
        operation(act, impostor)


@pytest.mark.parametrize("name", ["base", "size", "T"])
def test_a_scalar_that_numpy_would_hide_is_refused(name):
    with pytest.raises(
        ValueError, match=f"scalar '{name}': numpy's records have an attribute of this name"
    ):
        scalars(Z=0.0, **{name: 1.0})
    assert scalars(Z=2.0)[0].Z == 2.0


@pytest.mark.parametrize(("name", "setting"), SETTINGS)
def test_a_run_is_finite_repeatable_and_of_the_policies_that_are_evaluated(tiny, name, setting):
    """Realised less exact value is noise of mean zero: act draws from policy, and probabilities sum to one."""
    first, again, other = (simulate.run(tiny, name, setting, seed=seed) for seed in (1, 1, 2))
    for part in ("reward", "utility", "value", "utility_value", "regret", "violation", "gap"):
        assert np.isfinite(getattr(first, part)).all()
        np.testing.assert_array_equal(getattr(first, part), getattr(again, part))
    assert not np.array_equal(first.reward, other.reward)
    assert gaps(tiny, first).min() >= -1e-9 * (1 + first.optimum[:, 2].max())
    assert (first.value >= -1e-12).all()
    assert (first.value <= tiny.H).all()
    for run in (first, other):
        windows = run.window_episodes
        for realised, exact in ((run.reward, run.value), (run.utility, run.utility_value)):
            expected = np.add.reduceat(exact, np.cumsum(windows) - windows) / windows
            difference = (realised - expected) * windows
            assert abs(difference.sum()) < 4.5 * np.sqrt((difference**2).sum())


@pytest.mark.parametrize(("name", "setting"), SETTINGS)
def test_policies_are_distributions(name, setting):
    """Where every action pays utility 1, a policy has utility H if and only if its probabilities sum to one."""
    arrays = random_path(np.random.default_rng(21), [1, 30, 31, 60], name="paid")
    anchors = [CMDP(P=a.P, r=a.r, g=np.ones_like(a.g), rho=1.0, mu0=a.mu0) for a in arrays.anchors]
    env = environments.path(anchors, list(arrays.knots), name="paid")
    run = simulate.run(env, name, setting, solve=False)
    np.testing.assert_allclose(run.utility_value, env.H, atol=1e-9)


def parts(learner):
    """The fields of a learner, and those of the learners inside it."""
    return [
        part
        for field in learner
        for part in (parts(field) if isinstance(field, tuple) else [field])
    ]


@pytest.mark.parametrize(("name", "variant", "value"), list(departures()))
def test_every_variant_runs_and_departs_from_the_listing(tiny, name, variant, value):
    """In some setting: a constant that a setting does not have (the notebook's b~) cannot be left out of it."""
    departed = False
    for setting in algorithms.settings(name):
        run = simulate.run(tiny, name, setting, 0, 20, variants={variant: value}, solve=False)
        assert np.isfinite(run.value).all()
        pair = (
            algorithms.make(name, Problem.of(tiny), setting, variants=v)
            for v in ({}, {variant: value})
        )
        departed |= any(
            not np.array_equal(ours, theirs) for ours, theirs in zip(*map(parts, pair), strict=True)
        )
    assert departed


@pytest.mark.parametrize("name", algorithms.OWN)
def test_unknown_choices_are_refused_with_what_is_accepted(problem, name):
    settings = algorithms.settings(name)
    accepted = ", ".join(settings)
    with pytest.raises(ValueError, match=f"{name} has no setting 'tasty'.* .expected .*{accepted}"):
        algorithms.make(name, problem, "tasty")
    accepted = (
        ", ".join(field.name for field in dataclasses.fields(algorithms.variants(name))) or "none"
    )
    with pytest.raises(ValueError, match=f"{name} has no variant 'tasty'.* .expected .*{accepted}"):
        algorithms.make(name, problem, settings[0], variants={"tasty": True})
    if "scaled" in settings:
        accepted = ", ".join(algorithms.factors(name))
        with pytest.raises(
            ValueError, match=f"{name} has no factor 'tasty'.* .expected .*{accepted}"
        ):
            algorithms.make(name, problem, "scaled", factors={"tasty": 2.0})


@pytest.mark.parametrize(("name", "setting"), [pair for pair in SETTINGS if pair[1] != "scaled"])
def test_factors_outside_the_scaled_setting_are_refused(problem, name, setting):
    with pytest.raises(
        ValueError, match=f"factors belong to the setting 'scaled', not to '{setting}'"
    ):
        algorithms.make(name, problem, setting, factors={"bonus": 2.0})


def test_an_unknown_algorithm_is_refused_with_the_known_ones(problem):
    with pytest.raises(
        ValueError,
        match=f"unknown algorithm 'tasty' .expected one of {', '.join(algorithms.NAMES)}",
    ):
        algorithms.make("tasty", problem)


@pytest.mark.parametrize("name", environments.OWN)
def test_an_environment_works_with_its_defaults(name):
    env = environments.make(name, episodes=10, seed=0)
    assert (env.name, env.episodes, env.seed) == (name, 10, 0)
    for k in range(1, 11):
        model = env.at(k)
        np.testing.assert_allclose(model.probability.sum(axis=3), 1.0, atol=1e-12)
        assert (model.H, model.S, model.A, model.rho) == (env.H, env.S, env.A, env.rho)
    assert budget.variation(env).total >= 0
    solved = optimum.along(env, [1, 5, 10])
    assert np.isfinite(solved).all()
    run = simulate.run(env, "uniform", seed=1)
    assert (run.gap >= -1e-9).all()


@pytest.mark.parametrize("name", environments.OWN)
def test_an_environment_is_decided_by_its_options_and_seed(name):
    first, again, other = (environments.make(name, episodes=10, seed=seed) for seed in (0, 0, 1))
    for part in ("probability", "reward", "utility", "knots", "route"):
        np.testing.assert_array_equal(getattr(first, part), getattr(again, part))
    if name not in GIVEN:
        assert any(
            not np.array_equal(getattr(first, part), getattr(other, part))
            for part in ("probability", "reward", "utility")
        )


@pytest.mark.parametrize("name", environments.OWN)
def test_an_unknown_option_is_refused_with_the_known_ones(name):
    with pytest.raises(ValueError, match=f"{name} has no option 'tasty'.* .expected one of .*seed"):
        environments.make(name, episodes=10, tasty=True)


def test_an_unknown_environment_is_refused_with_the_known_ones():
    expected = f"unknown environment 'tasty' .expected one of {', '.join(environments.NAMES)}"
    with pytest.raises(ValueError, match=expected):
        environments.make("tasty", episodes=10)


@pytest.mark.parametrize("name", environments.OWN)
def test_starts_are_drawn_from_the_start_distribution(name):
    """Seen through an environment's own alias table, which the simulator reads."""
    env = environments.make(name, episodes=2000, seed=0)
    world = World(env, 1)
    counts = np.bincount([world.begin_episode() for _ in range(2000)], minlength=env.S)
    possible = env.mu0 > 0
    assert counts[~possible].sum() == 0
    if possible.sum() > 1:
        assert stats.chisquare(counts[possible], 2000 * env.mu0[possible]).pvalue > 1e-4
