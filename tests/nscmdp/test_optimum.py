"""The dual solver, the linear program and plain inductions must tell one story."""

import re
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from helpers import best, evaluate, random_cmdp, random_path, random_policy
from nscmdp import algorithms, environments, optimum
from nscmdp.cmdp import CMDP
from nscmdp.drift import DriftingCMDP
from nscmdp.kernels import induction
from nscmdp.problem import Problem

FAMILIES = {
    "plain": {},
    "sparse": {"sparsity": 0.6},
    "ties of .1": {"rounding": 0.1, "sparsity": 0.3},
    "ties of .5": {"rounding": 0.5, "sparsity": 0.5},
    "one model for all steps": {"same_for_all_h": True},
    "ties and one model": {"same_for_all_h": True, "rounding": 0.5, "sparsity": 0.6},
    "one start": {"one_start": True, "sparsity": 0.5},
    "almost out of reach": {"tightness": 0.999},
    "at the best attainable": {"tightness": 1.0},
    "barely binding": {"tightness": 1e-3, "rounding": 0.1},
    "slack": {"tightness": -0.3, "rounding": 0.1},
}
MAPS = {"18x18": {}, "6x6": {"map": "6x6", "horizon": 15, "limit": 2}}


def family(name, number=25):
    """Models of many sizes; the constraint anywhere between slack and barely attainable unless the family says."""
    for seed in range(number):
        rng = np.random.default_rng([seed, *name.encode()])
        options = {"tightness": rng.uniform(-0.1, 1.0), **FAMILIES[name]}
        yield random_cmdp(rng, *rng.integers((1, 1, 2), (7, 7, 6)), **options)


def with_rho(cmdp, rho):
    columns = cmdp.successors, cmdp.probability, cmdp.reward_of, cmdp.utility_of
    return CMDP.sparse(*columns, cmdp.H, rho, cmdp.mu0)


def assert_is_the_optimum(found, cmdp):
    """Feasible, of the value that it claims, and no policy does better: the dual at its multiplier meets its value."""
    tolerance = 1e-9 * (1 + found.multiplier)
    value, utility = induction.evaluate(cmdp, found.policy)
    assert value == pytest.approx(found.value, abs=tolerance)
    assert utility == pytest.approx(found.utility, abs=1e-9)
    assert utility >= cmdp.rho - 1e-9
    assert found.multiplier >= 0
    np.testing.assert_allclose(found.policy.sum(axis=2), 1.0, atol=1e-12)
    assert (found.policy >= 0).all()
    v, w = best(cmdp, 1.0, found.multiplier)
    dual = v + found.multiplier * (w - cmdp.rho)
    assert dual == pytest.approx(found.value, abs=tolerance)


@pytest.mark.parametrize("name", FAMILIES)
def test_the_dual_solver_agrees_with_the_linear_program_and_its_policy_attains_the_dual(name):
    for number, cmdp in enumerate(family(name)):
        found, wanted = optimum.constrained(cmdp), optimum.linear_program(cmdp)
        tolerance = 1e-9 * (1 + found.multiplier)
        assert found.value == pytest.approx(wanted.value, abs=tolerance), number
        assert_is_the_optimum(found, cmdp)


@pytest.mark.parametrize("name", FAMILIES)
def test_the_policy_is_that_of_the_mixed_occupancy_measure_bit_for_bit(name):
    for cmdp in family(name, 10):
        pair = optimum.mixture(cmdp.H, cmdp.S)
        share = optimum.solve(induction.model_of(cmdp), cmdp.rho, pair, False)[3]
        falling, rising = np.eye(cmdp.A)[pair.falling], np.eye(cmdp.A)[pair.rising]
        q = (1 - share) * optimum.occupancy(cmdp, falling) + share * optimum.occupancy(cmdp, rising)
        reached = q.sum(axis=2, keepdims=True)
        wanted = np.divide(q, reached, out=falling, where=reached > 0)
        assert (optimum.constrained(cmdp).policy == wanted).all()


@pytest.mark.parametrize("name", ["plain", "sparse", "one model for all steps"])
def test_the_linear_programs_policy_has_its_value(name):
    for cmdp in family(name):
        found = optimum.linear_program(cmdp)
        value, utility = evaluate(cmdp, found.policy)
        assert value == pytest.approx(found.value, abs=1e-8)
        assert utility == pytest.approx(found.utility, abs=1e-8)
        assert utility >= cmdp.rho - 1e-8


@pytest.mark.parametrize(
    ("name", "episode"), [("6x6", 1), ("6x6", 80_000), ("18x18", 1), ("18x18", 40_000)]
)
def test_both_solvers_agree_on_the_maps(name, episode):
    cmdp = environments.make("grid_world", episodes=80_000, **MAPS[name]).at(episode)
    found, wanted = optimum.constrained(cmdp), optimum.linear_program(cmdp)
    assert found.value == pytest.approx(wanted.value, abs=1e-9 * (1 + found.multiplier))
    assert found.multiplier > 0
    assert found.multiplier == pytest.approx(wanted.multiplier, abs=1e-6)
    assert_is_the_optimum(found, cmdp)


def test_no_policy_beats_the_optimum_by_more_than_its_multiplier_pays():
    rng = np.random.default_rng(0)
    for cmdp in family("sparse"):
        found = optimum.constrained(cmdp)
        for _ in range(20):
            value, utility = evaluate(cmdp, random_policy(rng, cmdp))
            assert value + found.multiplier * (utility - cmdp.rho) <= found.value + 1e-9


def test_a_slack_constraint_has_multiplier_zero_and_leaves_the_best_reward():
    for cmdp in family("slack"):
        found = optimum.constrained(cmdp)
        assert found.multiplier == 0
        assert found.value == pytest.approx(best(cmdp, 1.0, 0.0)[0], abs=1e-12)
        assert found.utility >= cmdp.rho


def test_a_binding_constraint_is_met_with_equality():
    binding = 0
    for cmdp in family("plain"):
        found = optimum.constrained(cmdp)
        if found.multiplier > 0:
            binding += 1
            assert found.utility == pytest.approx(cmdp.rho, abs=1e-12)
    assert binding > 15


def test_a_case_by_hand():
    # One action pays reward 1, the other utility 1; a quarter of the time must go to the latter.
    cmdp = CMDP(P=np.ones((1, 1, 2, 1)), r=[[[1.0, 0.0]]], g=[[[0.0, 1.0]]], rho=0.25, mu0=[1.0])
    for found in (optimum.constrained(cmdp), optimum.linear_program(cmdp)):
        assert (found.value, found.utility, found.multiplier) == pytest.approx((0.75, 0.25, 1.0))
        np.testing.assert_allclose(found.policy, [[[0.75, 0.25]]])


@pytest.mark.parametrize("excess", [1e-4, 0.3])
def test_an_unattainable_constraint_is_refused_with_the_best_attainable_utility(excess):
    solvers = (optimum.constrained, optimum.linear_program, optimum.require_feasible)
    for cmdp, solver in product(family("sparse", 10), solvers):
        highest = best(cmdp, 0.0, 1.0)[1]
        asked = with_rho(cmdp, highest + excess)
        with pytest.raises(optimum.Infeasible) as refusal:
            solver(asked)
        numbers = [float(n) for n in re.findall(r"\d+\.?\d*(?:e[-+]?\d+)?", str(refusal.value))]
        assert numbers == pytest.approx([asked.rho, highest], abs=1e-9)


def test_a_path_that_becomes_infeasible_is_refused_with_the_episode():
    env = random_path(np.random.default_rng(1), [1, 9], tightness=0.5)
    attainable = [best(env.at(k), 0.0, 1.0)[1] for k in range(1, 10)]
    least, start = min(attainable), attainable[0]
    rho = (least + start) / 2 if start > least else max(attainable)
    first = 1 + next(i for i, most in enumerate(attainable) if most < rho)
    asked = DriftingCMDP([with_rho(env.at(1), rho), with_rho(env.at(9), rho)], [1, 9])
    with pytest.raises(optimum.Infeasible, match=rf"in episode {first}: the best attainable"):
        optimum.along(asked, range(1, 10))


@pytest.mark.parametrize("name", ["plain", "ties of .5", "ties and one model"])
def test_best_utility_is_the_most_that_any_policy_has(name):
    for cmdp in family(name):
        assert optimum.best_utility(cmdp) == pytest.approx(best(cmdp, 0.0, 1.0)[1], abs=1e-12)


@pytest.mark.parametrize("tightening", [0.01, 0.2, -0.2])
def test_a_tightened_program_is_that_of_the_tightened_constraint(tightening):
    solved = 0
    for cmdp in family("plain"):
        if best(cmdp, 0.0, 1.0)[1] < cmdp.rho + tightening:
            with pytest.raises(optimum.Infeasible):
                optimum.linear_program(cmdp, tightening=tightening)
            continue
        solved += 1
        tightened = with_rho(cmdp, cmdp.rho + tightening)
        found = optimum.linear_program(cmdp, tightening=tightening)
        assert found.value == pytest.approx(optimum.linear_program(tightened).value, abs=1e-12)
        expected = optimum.constrained(tightened)
        assert found.value == pytest.approx(expected.value, abs=1e-9 * (1 + expected.multiplier))
    assert solved > 5


def assert_along_equals_constrained(env, episodes):
    solved = optimum.along(env, episodes)
    for k, (value, utility, multiplier) in zip(episodes, solved, strict=True):
        alone = optimum.constrained(env.at(k))
        assert value == pytest.approx(alone.value, abs=1e-9 * (1 + alone.multiplier)), k
        # where the dual is flat any of its minimisers is a multiplier, so compare what it certifies
        dual = np.dot((1.0, multiplier), best(env.at(k), 1.0, multiplier)) - multiplier * env.rho
        assert dual == pytest.approx(value, abs=1e-9 * (1 + multiplier)), k
        assert utility >= env.rho - 1e-9
    return solved


@pytest.mark.parametrize("seed", range(8))
def test_solving_along_a_path_equals_solving_each_episode(seed):
    shape = {"rounding": 0.5} if seed % 3 == 0 else {"sparsity": 0.5}
    rng = np.random.default_rng(seed)
    env = random_path(rng, [1, 12, 13, 30], H=4, S=4, tightness=rng.uniform(-1, 1), **shape)
    assert_along_equals_constrained(env, range(1, 31))


def test_solving_along_a_path_survives_a_constraint_that_binds_only_at_times():
    # Utility 1 everywhere at first; then only the action without reward has any; then all have it again.
    def model(g):
        return CMDP(P=np.ones((1, 1, 2, 1)), r=[[[1.0, 0.0]]], g=[[g]], rho=0.5, mu0=[1.0])

    env = environments.path([model([1.0, 1.0]), model([0.0, 1.0]), model([1.0, 1.0])], [1, 11, 21])
    solved = assert_along_equals_constrained(env, range(1, 22))
    slack = solved[:, 2] == 0
    assert slack[:6].all()
    assert not slack[6:15].any()
    assert slack[16:].all()


def test_solving_along_the_map_equals_solving_each_episode():
    env = environments.make("grid_world", episodes=1_000, legs=2, **MAPS["6x6"])
    assert_along_equals_constrained(env, [1, 2, 3, 100, 250, 251, 400, 500, 501, 749, 999, 1000])


@pytest.mark.parametrize("same_for_all_h", [False, True])
def test_occupancies_flow_and_pay_the_policys_value(same_for_all_h):
    rng = np.random.default_rng(2)
    cmdp = random_cmdp(rng, 4, 3, 2, sparsity=0.4, same_for_all_h=same_for_all_h)
    policy = random_policy(rng, cmdp)
    q = optimum.occupancy(cmdp, policy)
    np.testing.assert_allclose(q[0].sum(axis=1), cmdp.mu0, atol=1e-15)
    for h in range(3):
        arriving = np.einsum("xa,xay->y", q[h], cmdp.P[h])
        np.testing.assert_allclose(q[h + 1].sum(axis=1), arriving, atol=1e-15)
    paid = (q * cmdp.r).sum(), (q * cmdp.g).sum()
    assert paid == pytest.approx(evaluate(cmdp, policy), abs=1e-12)


@pytest.mark.parametrize(("tightness", "error"), [(1.5, optimum.Infeasible), (0.5, RuntimeError)])
def test_a_program_that_highs_finds_difficult_is_infeasible_only_if_no_policy_reaches_rho(
    monkeypatch, tightness, error
):
    """Status 4, numerical difficulties, is what HiGHS says of some infeasible programs."""
    import scipy.optimize

    answer = SimpleNamespace(status=4, message="numerical difficulties")
    monkeypatch.setattr(scipy.optimize, "linprog", lambda *_, **__: answer)
    with pytest.raises(error):
        optimum.linear_program(random_cmdp(np.random.default_rng(3), tightness=tightness))


@pytest.mark.parametrize("number", range(3))
def test_no_value_along_a_path_exceeds_its_bound(number):
    """V_h of the best policy of every episode, at every state that it can be in, by dense induction."""
    rng = np.random.default_rng([number, 3])
    env = random_path(rng, [1, 6, 9], H=4, S=5, A=3, sparsity=0.5)
    bounds = optimum.value_bounds(env)
    largest = np.zeros(env.H)
    for k in range(1, env.episodes + 1):
        model, values, reached = env.at(k), np.zeros(env.S), [env.mu0 > 0]
        for h in range(env.H - 1):
            reached.append((model.P[h][reached[h]] > 0).any(axis=(0, 1)))
        for h in reversed(range(env.H)):
            values = (model.r[h] + model.P[h] @ values).max(axis=1)
            largest[h] = max(largest[h], values[reached[h]].max())
    assert (bounds >= largest - 1e-12).all()
    assert (bounds <= 1.5 * largest).all()  # and it is not a loose one


def test_a_learner_that_would_start_below_v_is_refused_unless_it_says_so():
    problem = Problem.of(environments.make("menu", 100))
    for name in ("nonstationary_triple_q", "triple_q", "restart_q_ucb"):
        with pytest.raises(ValueError, match="starts Q below V"):
            algorithms.make(name, problem, "scaled", {"initial": 0.9})
        below = algorithms.make(name, problem, "scaled", {"initial": 1.0}, {"start": "below"})
        above = algorithms.make(name, problem, "scaled", {"initial": 1.0})
        starts = (one.initial for one in (below, above))
        low, high = (start if start.ndim == 1 else start[:, 0] for start in starts)
        np.testing.assert_allclose(low, 0.4 * high)
