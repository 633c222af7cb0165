import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import best, evaluate, random_cmdp, random_path, random_policy
from nscmdp import CMDP, environments
from nscmdp.kernels import induction

shapes = st.tuples(st.integers(1, 5), st.integers(1, 4), st.integers(1, 4))


def room(cmdp):
    return np.zeros((cmdp.H, cmdp.S), np.int32), np.empty((2, cmdp.S, 2))


def deterministic(cmdp):
    """All deterministic policies (H,S)."""
    for choice in itertools.product(range(cmdp.A), repeat=cmdp.H * cmdp.S):
        yield np.array(choice, np.int32).reshape(cmdp.H, cmdp.S)


def test_a_case_by_hand():
    # From state 0 action 1 pays 1 and leads to state 1 with probability 1/4; state 1 pays utility 1 and is absorbing.
    P = np.zeros((2, 2, 2, 2))
    P[:, 0, 0, 0], P[:, 0, 1], P[:, 1, :, 1] = 1.0, [0.75, 0.25], 1.0
    r, g = np.zeros((2, 2, 2)), np.zeros((2, 2, 2))
    r[:, 0, 1], g[:, 1, :] = 1.0, 1.0
    cmdp = CMDP(P=P, r=r, g=g, rho=0.0, mu0=[1.0, 0.0])
    half = np.full((2, 2, 2), 0.5)
    # Step 1 earns 1/2; the second step is still in state 0 with probability 7/8 and pays utility otherwise.
    assert induction.evaluate(cmdp, half) == pytest.approx((0.5 + 7 / 8 * 0.5, 1 / 8), abs=1e-15)


@given(st.integers(0, 2**32 - 1), shapes, st.booleans())
def test_evaluation_equals_the_dense_recursion(seed, shape, same_for_all_h):
    rng = np.random.default_rng(seed)
    cmdp = random_cmdp(rng, *shape, sparsity=0.5, same_for_all_h=same_for_all_h)
    policy = random_policy(rng, cmdp)
    assert induction.evaluate(cmdp, policy) == pytest.approx(evaluate(cmdp, policy), abs=1e-12)


def step_by_step(cmdp, policy):
    """V and W of a policy (H,S,A), summed over actions and then columns in their order, in plain Python."""
    later = [(0.0, 0.0)] * cmdp.S
    for h in reversed(range(cmdp.H)):
        layer, now = h % cmdp.layers, []
        for x in range(cmdp.S):
            value = utility = 0.0
            for a in np.flatnonzero(policy[h, x]).tolist():
                v, w = cmdp.reward[layer, x, a], cmdp.utility[layer, x, a]
                for y, p in zip(
                    cmdp.successors[layer, x, a], cmdp.probability[layer, x, a], strict=True
                ):
                    v, w = v + p * later[y][0], w + p * later[y][1]
                value, utility = value + policy[h, x, a] * v, utility + policy[h, x, a] * w
            now.append((value, utility))
        later = now
    value = utility = 0.0
    for chance, (v, w) in zip(cmdp.mu0, later, strict=True):
        value, utility = value + chance * v, utility + chance * w
    return value, utility


def columns_of(rng, actions, columns, *, shared, layers, states=7, horizon=5):
    """A model of signed rewards whose rows have ``columns`` successors, the same for all actions where ``shared``."""
    rows = layers, states, 1 if shared else actions, states
    successors = np.argsort(rng.random(rows))[..., :columns]
    successors = np.broadcast_to(successors, (layers, states, actions, columns)).astype(np.uint32)
    probability = rng.dirichlet(np.ones(columns), size=successors.shape[:3])
    reward, utility = rng.uniform(-1, 1, (2, *successors.shape))
    return CMDP.sparse(
        successors, probability, reward, utility, horizon, -horizon, np.eye(states)[0]
    )


@pytest.mark.parametrize("layers", [1, 5])
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(("actions", "columns"), [(4, 4), (4, 3), (3, 4), (6, 4), (8, 1), (9, 5)])
def test_no_bit_depends_on_how_many_actions_are_taken_at_once(actions, columns, shared, layers):
    rng = np.random.default_rng([actions, columns, shared, layers])
    cmdp = columns_of(rng, actions, columns, shared=shared, layers=layers)
    model = induction.model_of(cmdp)
    assert model.reach.shared == shared
    policy = rng.dirichlet(np.ones(actions), size=(cmdp.H, cmdp.S)) * rng.integers(
        2, size=(cmdp.H, cmdp.S, actions)
    )
    assert induction.evaluate(cmdp, policy) == step_by_step(cmdp, policy)
    assert induction.evaluate(cmdp, policy) == pytest.approx(evaluate(cmdp, policy), abs=1e-12)
    choice, values = room(cmdp)
    found = induction.greedy(model, 1.0, 0.7, choice, values)
    assert found == step_by_step(cmdp, np.eye(actions)[choice])
    assert np.dot((1.0, 0.7), found) == pytest.approx(
        np.dot((1.0, 0.7), best(cmdp, 1.0, 0.7)), abs=1e-12
    )
    other = rng.integers(actions, size=choice.shape, dtype=np.int32)
    both = induction.follow(model, choice, other, values, np.empty_like(values))
    assert both == found + step_by_step(cmdp, np.eye(actions)[other])


def test_actions_drawn_and_certain_give_the_same_bits():
    rng = np.random.default_rng(8)
    cmdp = columns_of(rng, 4, 4, shared=True, layers=1)
    model, values = induction.model_of(cmdp), np.empty((2, cmdp.S, 2))
    choice = rng.integers(4, size=(cmdp.H, cmdp.S), dtype=np.int32)
    certain = induction.follow(model, choice, choice, values, np.empty_like(values))
    assert induction.evaluate(cmdp, np.eye(4)[choice]) == certain[:2] == certain[2:]


def test_evaluation_equals_the_sum_over_all_trajectories():
    rng = np.random.default_rng(1)
    cmdp = random_cmdp(rng, 3, 2, 2)
    policy = random_policy(rng, cmdp)
    value = utility = 0.0
    for xs in itertools.product(range(2), repeat=4):
        for actions in itertools.product(range(2), repeat=3):
            chance = cmdp.mu0[xs[0]]
            for h, (x, a, y) in enumerate(zip(xs, actions, xs[1:], strict=False)):
                chance *= policy[h, x, a] * cmdp.P[h, x, a, y]
            value += chance * sum(cmdp.r[h, xs[h], actions[h]] for h in range(3))
            utility += chance * sum(cmdp.g[h, xs[h], actions[h]] for h in range(3))
    assert induction.evaluate(cmdp, policy) == pytest.approx((value, utility), abs=1e-12)


@given(st.integers(0, 2**32 - 1), shapes, st.floats(0, 5))
def test_greedy_is_the_best_of_all_and_follows_its_own_choice(seed, shape, multiplier):
    cmdp = random_cmdp(np.random.default_rng(seed), *shape, sparsity=0.3)
    choice, values = room(cmdp)
    v, w = induction.greedy(induction.model_of(cmdp), 1.0, multiplier, choice, values)
    expected = np.dot((1.0, multiplier), best(cmdp, 1.0, multiplier))
    assert v + multiplier * w == pytest.approx(expected, abs=1e-10)
    other = np.zeros_like(choice)
    both = induction.follow(induction.model_of(cmdp), choice, other, values, np.empty_like(values))
    assert both[:2] == pytest.approx((v, w), abs=1e-12)
    assert both[2:] == pytest.approx(evaluate(cmdp, np.eye(cmdp.A)[other]), abs=1e-12)
    assert induction.evaluate(cmdp, np.eye(cmdp.A)[choice]) == pytest.approx((v, w), abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_among_equally_rewarding_policies_greedy_takes_the_one_of_highest_utility(seed):
    cmdp = random_cmdp(np.random.default_rng(seed), 2, 2, 3, rounding=0.5)
    choice, values = room(cmdp)
    model = induction.model_of(cmdp)
    every = np.array([evaluate(cmdp, np.eye(cmdp.A)[policy]) for policy in deterministic(cmdp)])
    top = every[:, 0].max()
    assert induction.greedy(model, 1.0, 0.0, choice, values) == pytest.approx(
        (top, every[every[:, 0] > top - 1e-12, 1].max()), abs=1e-12
    )
    top = every[:, 1].max()
    assert induction.greedy(model, 0.0, 1.0, choice, values) == pytest.approx(
        (every[every[:, 1] > top - 1e-12, 0].max(), top), abs=1e-12
    )


@pytest.mark.parametrize("same_for_all_h", [False, True])
def test_the_compiled_model_of_an_episode_is_that_of_the_path(same_for_all_h):
    env = random_path(
        np.random.default_rng(2),
        [3, 9, 10, 14],
        episodes=17,
        sparsity=0.5,
        same_for_all_h=same_for_all_h,
    )
    drift, model = induction.drift_of(env), induction.empty_model(env)
    for k in range(1, 18):
        start, end, weight = induction.find_leg(drift, k)
        assert (start, end, weight) == env.leg(k)
        induction.mix(drift, k, model)
        expected = induction.model_of(env.at(k))
        for found, wanted in zip(model[:5], expected[:5], strict=True):
            np.testing.assert_allclose(found, wanted, atol=1e-14)
        assert model.horizon == expected.horizon


def test_a_policy_of_another_shape_is_refused_with_both_shapes():
    cmdp = random_cmdp(np.random.default_rng(3), 2, 3, 4)
    with pytest.raises(ValueError, match=r"\(2, 4, 3\), expected \(H, S, A\) = \(2, 3, 4\)"):
        induction.evaluate(cmdp, np.full((2, 4, 3), 1 / 3))


def test_only_what_a_start_can_lead_to_is_visited():
    grid = environments.make("grid_world", 10, map="6x6", horizon=4, limit=4.0)
    model = induction.empty_model(grid)
    here, cells = set(np.flatnonzero(grid.mu0)), []
    for h in range(grid.H):
        cells.append(sorted(here))
        assert induction.reachable(model, h).tolist() == cells[h]
        here = {int(y) for x in here for y in grid.successors[0, x].ravel()}
    assert len(cells[-1]) < grid.S / 2
    spans = [row for first, last in model.reach.spans for row in range(first, last)]
    assert spans == sorted(set().union(*cells))


def test_an_episode_model_is_untouched_where_it_cannot_be_reached():
    grid = environments.make("grid_world", 10, map="6x6", horizon=4, limit=4.0)
    model = induction.empty_model(grid)
    model.reward[:] = -7.0
    induction.mix(induction.drift_of(grid), 5, model)
    reached = np.unique(model.reach.states)
    np.testing.assert_allclose(model.reward[0, reached], grid.at(5).reward[0, reached], rtol=1e-12)
    assert (np.delete(model.reward[0], reached, axis=0) == -7.0).all()
