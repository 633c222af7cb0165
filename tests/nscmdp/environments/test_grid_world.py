import numpy as np
import pytest

from nscmdp import budget, environments
from nscmdp.environments.grid_world import Cells, read_map

UP, DOWN, LEFT, RIGHT = range(4)
SMALL = {"map": "6x6", "horizon": 15, "limit": 2}


def state(env, row, column):
    """The number of the cell at (row, column) of the map."""
    return int((env.picture != "#").ravel()[: row * env.picture.shape[1] + column].sum())


@pytest.fixture(scope="module")
def paper():
    return environments.make("grid_world", episodes=80_000, location="current")


def test_the_authors_map_has_the_facts_read_off_it_by_hand(paper):
    assert (paper.S, paper.A, paper.H, paper.rho) == (324, 4, 25, 20.0)
    assert (paper.picture == "o").sum() == 105
    assert paper.picture[1, 16] == "G"
    assert paper.picture[18, 18] == "S"
    np.testing.assert_array_equal(np.flatnonzero(paper.mu0), [state(paper, 18, 18)])
    # the farthest cell from G is the lower left corner
    d_max = np.hypot(17, 15)
    assert d_max == pytest.approx(22.67, abs=0.005)
    r = paper.at(1).r[0, :, UP]
    assert r[state(paper, 18, 1)] == 0
    assert r[state(paper, 1, 16)] == pytest.approx(1, abs=1e-15)
    start = 0.1 * (d_max - np.hypot(17, 2)) / d_max
    assert r[state(paper, 18, 18)] == pytest.approx(start, abs=1e-15)
    assert r[state(paper, 1, 15)] == pytest.approx(0.1 * (d_max - 1) / d_max, abs=1e-15)


def test_costs_are_one_on_obstacles_and_nowhere_else(paper):
    free = paper.picture[paper.picture != "#"]
    expected = np.repeat((free != "o")[:, None], 4, axis=1)
    np.testing.assert_allclose(paper.at(1).g[0], expected, atol=1e-15)


def test_the_budgets_at_the_current_location_are_those_computed_by_hand(paper):
    # 25 steps of .1 for reward and cost; .05 of success probability moves an L1 distance of 1.5 x .05
    assert budget.variation(paper) == pytest.approx((2.5, 2.5, 25 * 0.05 * 1.5), abs=1e-12)


def test_reward_and_cost_drift_by_a_tenth_over_all_episodes(paper):
    first, middle, last = paper.at(1), paper.at(40_000), paper.at(80_000)
    np.testing.assert_allclose(last.g, first.g - 0.1, atol=1e-12)
    np.testing.assert_allclose(np.abs(last.r - first.r), 0.1, atol=1e-12)
    # half-way to 1/80,000: the knot at which the success probability reaches 1 falls on a whole episode
    np.testing.assert_allclose(middle.g, first.g - 0.05, atol=0.1 / 80_000)
    np.testing.assert_allclose(middle.r, (first.r + last.r) / 2, atol=0.1 / 80_000)


def test_the_intended_move_has_the_success_probability_and_its_share_of_the_slips(paper):
    x = state(paper, 2, 3)
    row = paper.at(1).P[0, x, UP]
    assert row[state(paper, 1, 3)] == pytest.approx(0.95 + 0.05 / 4)
    for neighbour in ((3, 3), (2, 2), (2, 4)):
        assert row[state(paper, *neighbour)] == pytest.approx(0.05 / 4)
    assert row.sum() == pytest.approx(1)


def test_each_action_moves_its_own_way_and_walls_block(paper):
    for action, target in ((UP, (1, 3)), (DOWN, (3, 3)), (LEFT, (2, 2)), (RIGHT, (2, 4))):
        row = paper.at(1).P[0, state(paper, 2, 3), action]
        assert row.argmax() == state(paper, *target)
    corner = state(paper, 18, 18)
    P = paper.at(1).P[0, corner]
    assert P[DOWN, corner] == pytest.approx(0.95 + 2 * 0.05 / 4)  # below and to the right are walls
    assert P[UP, corner] == pytest.approx(2 * 0.05 / 4)
    assert P[UP, state(paper, 17, 18)] == pytest.approx(0.95 + 0.05 / 4)


def test_the_success_probability_is_clipped_at_one(paper):
    x = state(paper, 2, 3)
    for k in (40_001, 60_000, 80_000):
        off = 1e-4 if k == 40_001 else 1e-12
        assert paper.at(k).P[0, x, UP, state(paper, 1, 3)] == pytest.approx(1, abs=off)
    quarter = paper.at(20_001).P[0, x, UP, state(paper, 1, 3)]
    assert quarter == pytest.approx(0.975 + 0.025 / 4, abs=1e-6)


def test_the_success_probability_is_clipped_at_zero():
    env = environments.make("grid_world", episodes=41, success=0.2, success_drift=-0.4, **SMALL)
    for k in (21, 30, 41):
        assert env.at(k).P[0, state(env, 3, 3)].max(axis=1) == pytest.approx([0.25] * 4), k
    assert env.at(11).P[0, state(env, 3, 3), UP, state(env, 2, 3)] == pytest.approx(0.1 + 0.9 / 4)


def test_paid_at_the_location_reached_reward_and_utility_are_means_over_where_the_move_leads():
    reached, current = (
        environments.make("grid_world", episodes=10, location=location, **SMALL)
        for location in ("reached", "current")
    )
    for k in (1, 10):  # at the anchors; between them the path mixes the anchors' own means
        P, at_location = reached.at(k).P[0], current.at(k)
        np.testing.assert_allclose(P, at_location.P[0], atol=1e-15)
        np.testing.assert_allclose(reached.at(k).r[0], P @ at_location.r[0, :, 0], atol=1e-14)
        np.testing.assert_allclose(reached.at(k).g[0], P @ at_location.g[0, :, 0], atol=1e-14)


def signs(**options):
    given = {"episodes": 20, "location": "current", **SMALL, **options}
    env = environments.make("grid_world", **given)
    return np.sign(env.anchors[-1].r[0] - env.anchors[0].r[0])


@pytest.mark.parametrize(
    "options",
    [{"episodes": 500}, {"horizon": 5}, {"legs": 3}, {"reward_drift": 0.3}, {"cost_drift": 0.0}],
)
def test_the_signs_of_the_reward_drift_depend_on_the_environments_seed_alone(options):
    np.testing.assert_array_equal(signs(**options), signs())
    assert not np.array_equal(signs(seed=1), signs())
    np.testing.assert_array_equal(signs(seed=1, **options), signs(seed=1))
    drawn = signs()
    assert set(np.unique(drawn)) == {-1.0, 1.0}
    assert (drawn == drawn[:, :1]).all()


def test_an_even_number_of_legs_ends_where_it_began():
    env = environments.make("grid_world", episodes=41, legs=2, **SMALL)
    np.testing.assert_allclose(env.at(41).r, env.at(1).r, atol=1e-15)
    np.testing.assert_allclose(env.at(21).g, env.anchors[-1].g, atol=1e-15)
    np.testing.assert_allclose(env.at(16).g, env.at(26).g, atol=1e-12)


def test_a_single_episode_is_the_model_before_any_drift():
    env = environments.make("grid_world", episodes=1, **SMALL)
    later = environments.make("grid_world", episodes=50, **SMALL)
    np.testing.assert_array_equal(env.at(1).r, later.at(1).r)
    assert env.episodes == 1


@pytest.mark.parametrize("switch", ["goal", "obstacles", "both"])
def test_a_switch_happens_between_two_episodes_and_mirrors_what_it_names(switch):
    still = {"success_drift": 0.0, "cost_drift": 0.0, "reward_drift": 0.0, "location": "current"}
    options = {"episodes": 41, "switch": switch, "switch_at": (0.5,), **still, **SMALL}
    env = environments.make("grid_world", **options)
    for k in range(2, 42):
        now, before = env.at(k), env.at(k - 1)
        assert np.allclose(now.r, before.r, atol=1e-12) == (k != 22 or switch == "obstacles"), k
        assert np.allclose(now.g, before.g, atol=1e-12) == (k != 22 or switch == "goal"), k
    cells = env.picture[1:-1, 1:-1]
    goal = (cells if switch == "obstacles" else cells[:, ::-1]) == "G"
    assert env.at(41).r[0, goal.ravel(), 0] == pytest.approx(1)
    obstacle = (cells if switch == "goal" else cells[:, ::-1]) == "o"
    obstacle &= (cells != "S") & ~goal
    np.testing.assert_allclose(env.at(41).g[0, :, 0], 1.0 - obstacle.ravel(), atol=1e-15)
    np.testing.assert_allclose(env.at(41).P, env.at(1).P, atol=1e-15)


def test_a_second_switch_restores_the_map_and_the_drift_goes_on():
    switched, plain = (
        environments.make("grid_world", episodes=101, **options, **SMALL)
        for options in ({"switch": "both", "switch_at": (0.3, 0.7)}, {})
    )
    for k in (1, 101):
        np.testing.assert_allclose(switched.at(k).r, plain.at(k).r, atol=1e-12)
        np.testing.assert_allclose(switched.at(k).g, plain.at(k).g, atol=1e-12)
    assert np.abs(switched.at(50).r - plain.at(50).r).max() > 0.5


def random_picture(**options):
    given = {"episodes": 5, "map": "random", "size": 7, **options}
    return environments.make("grid_world", **given).picture


def test_a_random_map_depends_on_the_environments_seed_alone():
    other = random_picture(episodes=50, horizon=9, limit=3.0)
    np.testing.assert_array_equal(other, random_picture())
    assert not np.array_equal(random_picture(seed=1), random_picture())
    assert random_picture().shape == (9, 9)
    assert (random_picture(obstacles=0.0) != "o").all()
    full = random_picture(obstacles=1.0)
    assert (full[2:-2, 1:-1] == "o").all()


GOOD = ["#####", "#S.o#", "#..G#", "#####"]


def write(tmp_path, lines, name="map.txt"):
    file = tmp_path / name
    file.write_text("\n".join(lines))
    return str(file)


def test_a_map_of_ones_own_is_read_from_a_file(tmp_path):
    env = environments.make("grid_world", episodes=5, map=write(tmp_path, GOOD), horizon=4, limit=1)
    assert (env.S, env.rho) == (6, 3.0)
    np.testing.assert_array_equal(env.mu0, [1, 0, 0, 0, 0, 0])
    cells = Cells.of(read_map(write(tmp_path, GOOD)))
    np.testing.assert_array_equal(cells.neighbours[0], [0, 3, 0, 1])
    np.testing.assert_array_equal(cells.cost, [0, 0, 1, 0, 0, 0])


SPOILT = {
    "#S.x#": "characters .*'x'",
    "#S..o#": "one length",
    "#...#": "one start S, it has 0",
    "#S.S#": "one start S, it has 2",
    "#S.G#": "one destination G, it has 2",
    ".S.o#": "closed by walls",
}


def test_a_malformed_map_is_refused_with_file_and_reason(tmp_path):
    spoilt = [([GOOD[0], row, *GOOD[2:]], complaint) for row, complaint in SPOILT.items()]
    spoilt += [([*GOOD[:2], "#...#", GOOD[3]], "one destination G, it has 0")]
    for lines, complaint in [*spoilt, ([*GOOD[:3], "##.##"], "closed by walls")]:
        file = write(tmp_path, lines, "spoilt.txt")
        with pytest.raises(ValueError, match=f"spoilt.txt .*{complaint}"):
            environments.make("grid_world", episodes=5, map=file)


def test_a_map_that_is_empty_or_no_text_is_refused(tmp_path):
    with pytest.raises(ValueError, match="one length"):
        read_map(write(tmp_path, []))
    file = tmp_path / "image.txt"
    file.write_bytes(bytes(range(128, 256)))
    with pytest.raises(ValueError, match="cannot be read as text"):
        read_map(str(file))
