"""The theorems as numbers, against hand computations."""

import math

import numpy as np
import pytest

from nscmdp import CMDP, algorithms, environments
from nscmdp.problem import Problem
from wei2023.verdicts import theory


def test_the_table_has_the_papers_rows_in_the_papers_order():
    first = [row.algorithm for row in theory.TABLE[:5]]
    assert first == [
        "propd_ppo",
        "nonstationary_triple_q",
        "double_restart_triple_q",
        "lsvi_primal_dual",
        "double_restart_lsvi_primal_dual",
    ]
    assert [row.known_budget for row in theory.TABLE[:5]] == ["yes", "yes", "no", "yes", "no"]
    assert {row.algorithm for row in theory.TABLE} <= set(algorithms.OWN)


def test_theorem_1_is_out_of_reach_on_the_grid():
    problem = Problem.of(environments.make("grid_world", 80_000))
    assert problem.delta == pytest.approx(2.5)
    K = theory.from_episodes("nonstationary_triple_q", problem)
    iota = 128 * math.log(math.sqrt(2 * 324 * 4 * 25) * K)
    needed = (16 * math.sqrt(324 * 4 * 25**6 * iota**3) * problem.B ** (1 / 3) / 2.5) ** 5
    assert pytest.approx(needed, rel=1e-6) == K
    assert K > 1e60
    assert theory.from_episodes("double_restart_triple_q", problem) > 1e100


def test_the_smallest_problem_still_needs_more_episodes_than_there_will_be():
    """S = 1, A = 2, H = 1: about 5e38 episodes at delta = 1/2, B = 1."""
    one = CMDP(P=np.ones((1, 1, 2, 1)), r=[[[1.0, 0.0]]], g=[[[0.0, 1.0]]], rho=0.5, mu0=[1.0])
    problem = Problem.of(environments.path([one], [1]))
    assert theory.from_episodes("nonstationary_triple_q", problem) == pytest.approx(5e38, rel=0.5)


def test_algorithms_without_a_stated_condition_have_none():
    problem = Problem.of(environments.make("menu", 64))
    assert math.isnan(theory.from_episodes("restart_q_ucb", problem))


@pytest.mark.parametrize("name", ["nonstationary_triple_q", "triple_q", "restart_q_ucb"])
def test_a_model_free_learner_keeps_a_table_over_steps_states_and_actions(name):
    """O(H S A) bytes, whatever the number of successors; the rest is O(L): rates and bonuses."""
    paths = [environments.make("random_tabular", 100, states=states) for states in (20, 60)]
    small, large = (algorithms.make(name, Problem.of(path), "literal") for path in paths)
    assert large.table.nbytes == 3 * small.table.nbytes
    assert large.table.nbytes <= 4 * 8 * 4 * 60 * 3
    assert algorithms.state_bytes(large) - large.table.nbytes < 8 * 600
