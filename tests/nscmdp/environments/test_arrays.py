"""Drifts of one's own: from files of arrays, and from functions."""

import doctest
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import best, random_arrays, random_cmdp, variation_by_definition
from nscmdp import CMDP, budget, environments, optimum
from nscmdp.environments import arrays

RNG = np.random.default_rng(5)
P, R, G = (
    np.stack(tables)
    for tables in zip(*(random_arrays(RNG, 3, 4, 2, sparsity=0.4) for _ in range(3)), strict=True)
)
MU0, KNOTS = np.array([0.5, 0.0, 0.25, 0.25]), np.array([0.0, 0.25, 1.0])
GOOD = {"P": P, "r": R, "g": G, "rho": 0.5, "mu0": MU0, "knots": KNOTS}


def write(folder, **changes):
    """The file of GOOD with these arrays; None leaves one out."""
    file = folder / "drift.npz"
    np.savez(file, **{name: value for name, value in (GOOD | changes).items() if value is not None})
    return file


def make(file, episodes=41):
    return environments.make("arrays", episodes, file=str(file))


def assert_same_model(one, other):
    for name in ("P", "r", "g", "mu0", "rho", "H"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-14)


def test_a_file_is_the_path_through_its_models(tmp_path):
    env = make(write(tmp_path))
    for number, k in enumerate((1, 11, 41)):
        expected = CMDP(P=P[number], r=R[number], g=G[number], rho=0.5, mu0=GOOD["mu0"])
        assert_same_model(env.at(k), expected)
    np.testing.assert_allclose(env.at(6).P, (P[0] + P[1]) / 2, atol=1e-14)
    np.testing.assert_allclose(env.at(21).r, R[1] + (R[2] - R[1]) / 3, atol=1e-14)


def test_models_that_are_the_same_for_all_steps_need_no_axis_for_them(tmp_path):
    file = write(tmp_path, P=P[:, 0], r=R[:, 0], g=G[:, 0], horizon=3)
    repeated = write(tmp_path / "..", P=P[:, [0, 0, 0]], r=R[:, [0, 0, 0]], g=G[:, [0, 0, 0]])
    assert make(file).layers == 1
    for k in (1, 20, 41):
        assert_same_model(make(file).at(k), make(repeated).at(k))


def test_what_is_paid_with_the_successor_has_its_mean_as_reward_and_utility(tmp_path):
    paid = RNG.random((2, *P.shape))
    env = make(write(tmp_path, r=paid[0], g=paid[1]))
    np.testing.assert_allclose(env.at(1).r, (P[0] * paid[0, 0]).sum(axis=3), atol=1e-14)
    np.testing.assert_allclose(env.at(41).g, (P[2] * paid[1, 2]).sum(axis=3), atol=1e-14)
    successor = env.anchors[1].successors[2, 1, 0, 0]
    assert env.anchors[1].reward_of[2, 1, 0, 0] == paid[0, 1, 2, 1, 0, successor]


def test_an_episode_begins_in_state_0_unless_the_file_says_otherwise(tmp_path):
    assert make(write(tmp_path, mu0=None)).mu0.tolist() == [1.0, 0.0, 0.0, 0.0]


def test_the_route_goes_back_to_models_and_the_budget_counts_every_leg(tmp_path):
    env = make(write(tmp_path, knots=[0, 0.25, 0.5, 0.75], route=[0, 1, 0, 2]))
    assert_same_model(env.at(1), env.at(21))
    assert_same_model(env.at(31), env.at(41))  # after the last knot the model rests
    np.testing.assert_allclose(budget.variation(env), variation_by_definition(env), atol=1e-11)


@pytest.mark.parametrize("name", ["grid_world", "menu", "random_tabular", "toy_text"])
def test_what_is_saved_is_read_as_the_same_path(tmp_path, name):
    options = {"map": "6x6", "horizon": 5, "limit": 2.0} if name == "grid_world" else {}
    env = environments.make(name, 33, **options)
    file = tmp_path / "saved"
    arrays.save(file, env.anchors, knots=(env.knots - 1) / 32, route=env.route)
    again = make(file, 33)
    for k in (1, 7, 20, 33):
        assert_same_model(again.at(k), env.at(k))
    np.testing.assert_allclose(budget.variation(again), budget.variation(env), atol=1e-11)
    for both in zip(env.anchors, again.anchors, strict=True):
        for paid in ("reward_of", "utility_of"):  # the moments of what is paid, too
            moments = [(one.probability * getattr(one, paid) ** 2).sum(axis=3) for one in both]
            np.testing.assert_allclose(*moments, atol=1e-14)


def test_nothing_is_saved_that_could_not_be_read(tmp_path):
    with pytest.raises(ValueError, match=r"knots = .*increasing from 0"):
        arrays.save(tmp_path / "none", [random_cmdp(RNG)], knots=[0.5])
    assert not (tmp_path / "none").exists()


thousandths = st.integers(1, 999).map(lambda number: number / 1000)
shares = st.lists(thousandths, max_size=5, unique=True).map(lambda inside: [0.0, *sorted(inside)])


@given(shares, st.integers(2, 5000))
def test_knots_fall_on_the_nearest_episodes_or_the_number_that_is_enough_is_named(knots, episodes):
    try:
        placed = arrays.place(knots, episodes)
    except ValueError as error:
        enough = int(str(error).split()[-3])
        assert enough > episodes
        placed, episodes = arrays.place(knots, enough), enough
    assert all(a < b for a, b in pairwise(placed))
    off = np.array(placed) - 1 - np.array(knots) * (episodes - 1)
    assert np.abs(off).max() <= 0.5


@given(st.just(0.0) | thousandths, st.integers(2, 5000))
def test_a_share_given_twice_is_a_switch_from_one_episode_to_the_next(share, episodes):
    knots = [*([0.0] if share else []), share, share]
    try:
        placed = arrays.place(knots, episodes)
    except ValueError as error:
        enough = int(str(error).split()[-3])
        placed, episodes = arrays.place(knots, enough), enough
    assert placed[-1] == placed[-2] + 1 <= episodes


def test_a_switch_has_the_variation_between_its_models(tmp_path):
    env = make(write(tmp_path, knots=[0.0, 0.5, 0.5], route=[0, 1, 2]), 100)
    before = 1 + round(0.5 * 99)
    assert_same_model(env.at(before), CMDP(P=P[1], r=R[1], g=G[1], rho=0.5, mu0=GOOD["mu0"]))
    assert_same_model(env.at(before + 1), CMDP(P=P[2], r=R[2], g=G[2], rho=0.5, mu0=GOOD["mu0"]))


def test_a_run_of_one_episode_has_the_first_model(tmp_path):
    assert_same_model(make(write(tmp_path), 1).at(1), make(write(tmp_path), 10).at(1))


SPOILT = {
    "no P": ({"P": None}, "no array 'P', expected P, r, g, rho, knots and perhaps horizon, mu0, route"),
    "a misspelt name": ({"mu_0": np.ones(4)}, "unknown array 'mu_0', expected P, r, g"),
    "objects": ({"rho": np.array({"a": 1})}, "rho cannot be read .*allow_pickle=False"),
    "words": ({"knots": np.array(["a", "b", "c"])}, "knots is of type <U1, expected an array of numbers"),
    "not a number": ({"r": np.where(R[2, 1, 0, 1] == R, np.nan, R)}, r"r is nan at \(2, 1, 0, 1\), expected finite"),
    "a negative probability": ({"P": P - (P[1, 0, 2, 1, 3] == P)}, r"P is -\S+ at .*expected probabilities"),
    "rows that do not sum to 1": ({"P": P * 0.9}, r"model 0: P sums to 0.9 in row \(h, x, a\) = .*expected 1"),
    "P of a wrong shape": ({"P": P[..., :3]}, r"P has shape \(3, 3, 4, 2, 3\), expected \(n, H, S, A, S\) or"),
    "no models": ({"P": P[:0]}, r"P has shape \(0, 3, 4, 2, 4\)"),
    "r of a wrong shape": ({"r": R[:, 0]}, r"r has shape \(3, 4, 2\), expected \(3, 3, 4, 2\) or"),
    "too few g": ({"g": G[:2]}, r"g has shape \(2, 3, 4, 2\), expected \(3, 3, 4, 2\)"),
    "no horizon": ({"P": P[:, 0], "r": R[:, 0], "g": G[:, 0]}, "no horizon, expected one where P has no axis"),
    "another horizon": ({"horizon": 4}, "horizon = 4: expected 3, as P has it"),
    "half a step": ({"P": P[:, 0], "r": R[:, 0], "g": G[:, 0], "horizon": 2.5}, "horizon = 2.5: expected a whole"),
    "rho of each model": ({"rho": np.ones(3)}, r"rho has shape \(3,\), expected a single number"),
    "mu0 of a wrong shape": ({"mu0": np.ones(3) / 3}, r"model 0: mu0 has shape \(3,\), expected \(4,\)"),
    "mu0 that is none": ({"mu0": np.ones(4)}, "mu0 is not a distribution"),
    "a knot too few": ({"knots": [0, 1.0]}, r"knots has shape \(2,\) and there are 3 models"),
    "a late first knot": ({"knots": [0.1, 0.5, 1]}, r"knots = \[0.1, 0.5, 1.0\]: expected shares .* from 0"),
    "episodes as knots": ({"knots": [1, 500, 1000]}, r"knots = \[1.0, 500.0, 1000.0\]: expected shares of the run"),
    "knots out of order": ({"knots": [0, 0.7, 0.5]}, "knots = .*increasing"),
    "a switch of three": ({"knots": [0, 0, 0]}, "no share three times"),
    "a switch after the end": ({"knots": [0, 1, 1]}, "1 only once"),
    "a route to nowhere": ({"route": [0, 1, 3]}, r"route = \[0.0, 1.0, 3.0\]: expected the numbers of models, 0 to 2"),
    "a route that is too short": ({"route": [0, 1]}, r"knots has shape \(3,\) and route has shape \(2,\)"),
    "knots too close": ({"knots": [0, 0.5, 0.501]}, "episodes = 41 is too few .*: 1001 are enough"),
}  # fmt: skip


@pytest.mark.parametrize("defect", SPOILT)
def test_a_defect_is_named_with_its_file_array_and_what_is_expected(tmp_path, defect):
    changes, complaint = SPOILT[defect]
    file = write(tmp_path, **changes)
    with pytest.raises(ValueError, match=rf"file = '{file}': .*{complaint}"):
        make(file)


def test_a_file_that_is_absent_damaged_or_of_another_kind_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"file = '\S+absent.npz': there is no such file"):
        make(tmp_path / "absent.npz")
    single = tmp_path / "single.npy"
    np.save(single, P)
    with pytest.raises(ValueError, match=r"not an .npz file"):
        make(single)
    damaged = write(tmp_path)
    content = bytearray(damaged.read_bytes())
    content[200] ^= 255  # in the numbers of P
    damaged.write_bytes(content)
    with pytest.raises(ValueError, match=r"P cannot be read .*CRC"):
        make(damaged)


def test_an_environment_names_the_files_that_decide_it(tmp_path):
    file = write(tmp_path)
    assert environments.inputs("arrays", {"file": str(file), "seed": 3}) == [file]
    assert environments.inputs("arrays", {}) == [arrays.EXAMPLE]
    assert environments.inputs("menu", {"seed": 3}) == []
    with pytest.raises(ValueError, match="unknown environment 'absent'"):
        environments.inputs("absent", {})


def test_the_constraint_of_the_example_binds_in_every_episode():
    env = environments.make("arrays", 101)
    assert optimum.along(env, np.arange(1, 102))[:, 2].min() > 0.5
    assert min(best(env.at(k), 0.0, 1.0)[1] for k in (1, 51, 101)) > env.rho + 1


def spinning(share):
    """A model that turns from one random model into another and back."""
    weight = np.sin(np.pi * share) ** 2
    tables = [(1 - weight) * table[0] + weight * table[1] for table in (P, R, G)]
    return CMDP(*tables, rho=0.1, mu0=GOOD["mu0"])


def test_a_function_of_the_share_is_met_at_every_anchor_and_by_straight_lines_between():
    env = environments.sampled(spinning, episodes=1001, anchors=5)
    for k in (1, 251, 501, 751, 1001):
        assert_same_model(env.at(k), spinning((k - 1) / 1000))
    np.testing.assert_allclose(env.at(126).P, (env.at(1).P + env.at(251).P) / 2, atol=1e-14)


def test_more_anchors_come_closer_to_the_function():
    def distance(anchors):
        env = environments.sampled(spinning, episodes=1001, anchors=anchors)
        episodes = range(1, 1002, 7)
        return max(np.abs(env.at(k).P - spinning((k - 1) / 1000).P).max() for k in episodes)

    # Of a smooth function: with the square of the number of lines, 16.
    assert distance(21) < distance(6) / 10


@pytest.mark.parametrize("episodes", [1, 2, 5, 10])
def test_with_few_episodes_each_has_a_model_of_its_own(episodes):
    env = environments.sampled(spinning, episodes)
    for k in range(1, episodes + 1):
        assert_same_model(env.at(k), spinning((k - 1) / max(1, episodes - 1)))


def test_one_anchor_is_no_drift():
    with pytest.raises(ValueError, match="anchors = 1: expected at least 2"):
        environments.sampled(spinning, 10, anchors=1)


def test_the_example_of_the_function_is_as_printed():
    assert doctest.testmod(environments).attempted > 0
    assert doctest.testmod(environments).failed == 0
