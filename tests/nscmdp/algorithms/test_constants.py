"""Constants can be replaced by numbers in their own units, or by those of another setting."""

import numpy as np
import pytest

from nscmdp import algorithms, environments, simulate
from nscmdp.problem import DoesNotFit, Problem

FIRST = "nonstationary_triple_q"


@pytest.fixture(scope="module")
def problem():
    return Problem.of(environments.make("grid_world", 80_000))


def test_a_number_replaces_one_constant_and_no_other(problem):
    own, other = (
        algorithms.constants(FIRST, problem, "authors", constants=given)
        for given in (None, {"eta": 7.5})
    )
    assert other.eta == 7.5
    kept = {name: value for name, value in algorithms.scalars(own).items() if name != "eta"}
    assert kept.items() <= algorithms.scalars(other).items()


def test_another_setting_can_be_taken_from(problem):
    made = algorithms.constants(FIRST, problem, "authors", constants={"eta": "literal", "eps": 0.8})
    assert made.eta == algorithms.constants(FIRST, problem, "literal").eta
    assert made.eta == pytest.approx(80_000**0.2 * problem.B ** (1 / 3))
    assert made.eps == 0.8


def test_lengths_are_whole_numbers_of_episodes_that_fit(problem):
    assert algorithms.constants(FIRST, problem, "literal", constants={"frame": 99.7}).frame == 99
    assert (
        algorithms.constants("restart_q_ucb", problem, "authors", constants={"epoch": 50}).epoch
        == 50
    )
    with pytest.warns(DoesNotFit):
        assert (
            algorithms.constants(FIRST, problem, "literal", constants={"frame": 1e6}).frame
            == 80_000
        )


@pytest.mark.parametrize(
    ("name", "setting", "given", "said"),
    [
        (FIRST, "authors", {"etta": 1.0}, "no constant 'etta', did you mean eta"),
        (FIRST, "authors", {"eta": "printed"}, "no setting 'printed'"),
        (FIRST, "authors", {"eta": -1.0}, "expected a number from 0 on"),
        (FIRST, "authors", {"chi": 1.0}, "no constant 'chi'"),
        ("uniform", "literal", {"eta": 1.0}, "no constants to replace"),
    ],
)
def test_what_cannot_be_replaced_is_refused(problem, name, setting, given, said):
    with pytest.raises(ValueError, match=said):
        algorithms.make(name, problem, setting, constants=given)


def test_a_run_has_the_constants_that_it_is_given():
    env = environments.make("menu", 64)
    plain = simulate.run(env, FIRST, "scaled", constants={"frame": 8, "eta": 2.0})
    same = algorithms.make(FIRST, Problem.of(env), "scaled", constants={"frame": 8, "eta": 2.0})
    assert (
        (plain.learner.now[0].frame, plain.learner.now[0].eta)
        == (same.now[0].frame, same.now[0].eta)
        == (8, 2.0)
    )
    with pytest.raises(ValueError, match="are for algorithms by name"):
        simulate.run(env, same, constants={"eta": 2.0})


def test_without_lasting_exploration_the_learner_ends_greedy():
    env = environments.make("menu", 2000)
    own, none = (
        simulate.run(env, FIRST, "authors", constants=given) for given in (None, {"floor": 0.0})
    )
    assert own.learner.now[0].explore == pytest.approx(0.03, abs=0.01)
    assert none.learner.now[0].explore < 0.01


def test_the_bump_is_tuned_where_there_is_one(problem):
    plain, bump = (
        algorithms.ranges(FIRST, problem, 10, variants) for variants in ({}, {"reset": "bump"})
    )
    assert {*bump} - {*plain} == {"bump"}
    assert {name: bump[name] for name in plain} == plain
    made = algorithms.constants(FIRST, problem, "scaled", {"bump": 0.5}, {"reset": "bump"})
    np.testing.assert_allclose(made.bump, 0.5 * problem.H / made.eta)
