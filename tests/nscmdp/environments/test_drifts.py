"""What holds for every drift: the budgets of a path, its switches and maps, and paths of one's own."""

import resource
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import variation_by_definition
from nscmdp import budget, environments, optimum, simulate
from nscmdp.environments.grid_world import mirrored, random_map, read_map

SMALL = {"map": "6x6", "horizon": 4, "limit": 2.0}
CASES = {
    "grid_world": ("grid_world", SMALL),
    "falling": ("grid_world", {**SMALL, "success": 0.6, "success_drift": -0.9}),
    "switching": ("grid_world", {**SMALL, "switch": "both", "switch_at": (0.3, 0.75), "legs": 2}),
    "turning": ("grid_world", {**SMALL, "switch": "goal", "switch_at": (0.5,), "legs": 2}),
    "random map": ("grid_world", {"map": "random", "size": 5, "horizon": 3, "limit": 2.0}),
    "menu": ("menu", {"legs": 3}),
    "random_tabular": ("random_tabular", {"budget": 8.0}),
}


def make(case, episodes, **options):
    name, fixed = CASES[case]
    return environments.make(name, episodes=episodes, **fixed, **options)


@pytest.mark.parametrize("case", CASES)
def test_the_measured_budget_is_the_sum_over_all_episodes(case):
    env = make(case, 40)
    np.testing.assert_allclose(budget.variation(env), variation_by_definition(env), atol=1e-11)


@pytest.mark.parametrize("case", CASES)
def test_the_budget_does_not_depend_on_the_number_of_episodes(case):
    expected = budget.variation(make(case, 40))
    for episodes in (61, 100, 997):
        assert budget.variation(make(case, episodes)) == pytest.approx(expected, rel=1e-12)


@given(st.sampled_from(sorted(CASES)), st.sets(st.integers(2, 40), max_size=12).map(sorted))
def test_local_budgets_of_any_frames_are_the_global_one_less_the_steps_between_frames(case, starts):
    env = make(case, 40)
    firsts, lasts = [1, *starts], [*(k - 1 for k in starts), 40]
    frames = zip(firsts, lasts, strict=True)
    inside = sum(np.array(budget.local_variation(env, *frame)) for frame in frames)
    steps = [variation_by_definition(env, k - 1, k) for k in starts]
    np.testing.assert_allclose(inside + sum(steps), budget.variation(env), atol=1e-10)


@pytest.mark.parametrize("name", environments.OWN)
def test_the_constraint_matters_somewhere_on_every_default_path(name):
    env = environments.make(name, episodes=51)
    assert optimum.along(env, np.arange(1, 52))[:, 2].max() > 0.05 or "slack" in env.about


@pytest.mark.parametrize("what", ["goal", "obstacles", "both"])
@pytest.mark.parametrize(
    ("share", "before", "location"), [(0.25, 26, "reached"), (0.6, 61, "current")]
)
def test_an_abrupt_switch_adds_the_variation_between_its_two_models_and_nothing_else(
    what, share, before, location
):
    options = {**SMALL, "episodes": 101, "location": location}
    env = environments.make("grid_world", switch=what, switch_at=(share,), **options)
    still = environments.make("grid_world", **options)
    size = variation_by_definition(env, before, before + 1)
    assert size[0] > 0 if what == "goal" else size[1] > 0
    sides = (1, before), (before + 1, 101)
    around = sum(np.array(budget.local_variation(env, *side)) for side in sides)
    np.testing.assert_allclose(budget.variation(env), around + size, atol=1e-12)
    # up to the switch the drift is as without one, and between its two episodes it rests
    np.testing.assert_allclose(env.at(before).r, still.at(before).r, atol=1e-12)
    np.testing.assert_allclose(env.at(before).P, still.at(before).P, atol=1e-12)
    np.testing.assert_allclose(env.at(before + 1).P, env.at(before).P, atol=1e-15)
    np.testing.assert_allclose(env.at(101).P, still.at(101).P, atol=1e-12)


def test_a_switch_of_obstacles_adds_its_size_to_the_budget_without_it():
    options = {**SMALL, "episodes": 101, "location": "current"}
    env = environments.make("grid_world", switch="obstacles", switch_at=(0.4, 0.8), **options)
    still = environments.make("grid_world", **options)
    # an obstacle comes or goes at some location: 1 of utility in each of H = 4 steps, twice
    added = np.subtract(budget.variation(env), budget.variation(still))
    np.testing.assert_allclose(added, [0, 2 * 4 * 1.0, 0], atol=1e-12)


def test_a_switch_mirrors_what_it_moves_and_leaves_walls_and_start():
    grid = np.array([list(row) for row in ("######", "#o..G#", "#.#oS#", "######")])
    expected = {"goal": ["#G...#", "#.#oS#"], "obstacles": ["#...G#", "#.#.S#"]}
    for what, rows in (expected | {"both": ["#G..o#", "#.#.S#"]}).items():
        assert ["".join(row) for row in mirrored(grid, what)[1:3]] == rows


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"switch": "sideways", "switch_at": (0.5,)}, "switch = 'sideways': expected 'none'"),
        ({"switch": "goal"}, "expected both or neither"),
        ({"switch_at": (0.5,)}, "expected both or neither"),
        ({"switch": "goal", "switch_at": (0.0,)}, "switch_at = .*between 0 and 1"),
        ({"switch": "goal", "switch_at": (1.5,)}, "switch_at = .*between 0 and 1"),
        ({"switch": "goal", "switch_at": (0.5, 0.501)}, "switch_at = .*episodes = 50 is too few"),
        ({"switch": "goal", "switch_at": (0.001,)}, "switch_at = .*episodes = 50 is too few"),
        ({"switch": "goal", "switch_at": (0.999,)}, "switch_at = .*episodes = 50 is too few"),
        ({"size": 9}, "map = '6x6': size and obstacles are options of map = 'random' only"),
        ({"map": "random", "size": 2}, "size = 2"),
        ({"map": "random", "obstacles": 1.2}, "obstacles = 1.2"),
        ({"map": "7x7"}, r"no such map or file, expected one of 18x18, 6x6"),
        ({"horizon": 0}, "horizon = 0"),
        ({"success": float("nan")}, "success = nan"),
        ({"location": "next"}, "location = 'next'"),
        ({"legs": 0}, "legs = 0"),
    ],
)
def test_what_a_grid_world_cannot_do_is_refused_by_name(options, complaint):
    with pytest.raises(ValueError, match=complaint):
        environments.make("grid_world", episodes=50, **{**SMALL, **options})


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [(("#S..G#",), "the mirror image of the goal"), (("##G##", "##S##"), "nothing would move")],
)
def test_a_switch_that_cannot_be_made_is_refused(rows, complaint):
    width = len(rows[0])
    grid = np.array([list(row) for row in ("#" * width, *rows, "#" * width)])
    with pytest.raises(ValueError, match=complaint):
        mirrored(grid, "goal")


def test_a_random_map_has_its_start_goal_and_share_of_obstacles_and_depends_on_the_seed():
    grid = random_map(100, 0.2, 5)
    assert grid.shape == (102, 102)
    assert grid[100, 100] == "S"
    assert (grid == "G").sum() == 1
    assert "G" in grid[1]
    assert (grid[2:100, 1:101] == "o").mean() == pytest.approx(0.2, abs=0.02)
    assert not (grid[[1, 100]] == "o").any()
    np.testing.assert_array_equal(grid, random_map(100, 0.2, 5))
    assert not np.array_equal(grid, random_map(100, 0.2, 6))
    goals = [np.argwhere(grid == "G") for grid in (random_map(18, 0.0, 0), read_map("18x18"))]
    np.testing.assert_array_equal(*goals)


def test_a_random_map_written_to_a_file_is_the_same_world(tmp_path):
    file = tmp_path / "map.txt"
    file.write_text("\n".join("".join(row) for row in random_map(30, 0.3, 2)))
    drawn, read = (
        environments.make("grid_world", episodes=20, seed=2, **options)
        for options in ({"map": "random", "size": 30, "obstacles": 0.3}, {"map": str(file)})
    )
    assert drawn.fingerprint() == read.fingerprint()


@settings(max_examples=20)
@given(
    st.integers(0, 30),
    st.sampled_from(["goal", "obstacles", "both"]),
    st.floats(0.1, 0.45) | st.floats(0.55, 0.9),
)
def test_a_switch_on_any_random_map_is_one_step_of_the_size_between_two_models(seed, what, share):
    options = {"map": "random", "size": 6, "horizon": 2, "limit": 1.0, "seed": seed}
    env = environments.make("grid_world", episodes=60, switch=what, switch_at=(share,), **options)
    before = 1 + round(share * 59)
    assert {before, before + 1} <= set(env.knots.tolist())
    np.testing.assert_allclose(budget.variation(env), variation_by_definition(env), atol=1e-11)
    alone = environments.path([env.at(before), env.at(before + 1)], knots=[1, 2])
    np.testing.assert_allclose(
        budget.local_variation(env, before, before + 1), budget.variation(alone), atol=1e-12
    )


@pytest.mark.slow
def test_a_map_of_ten_thousand_cells_is_made_simulated_and_solved():
    def took(what, since):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{what}: {time.perf_counter() - since:.2f} s, peak {peak:.0f} MB")
        return time.perf_counter() - since

    clock = time.perf_counter()
    env = environments.make(
        "grid_world", episodes=1000, map="random", size=100, horizon=250, limit=50.0
    )
    assert env.S == 10_000
    assert took("made", clock) < 2
    clock = time.perf_counter()
    run = simulate.run(env, "nonstationary_triple_q", "scaled", evaluate_every=100)
    took("simulated", clock)
    assert len(run.regret) == 10
    assert np.isfinite(run.gap).all()
    for k in (1, 1000):
        clock = time.perf_counter()
        best = optimum.constrained(env.at(k))
        took(f"solved episode {k}", clock)
        assert best.value > 0
        assert best.utility >= env.rho - 1e-9
