"""What policies do on the map, beside every path that an episode can take, and beside the tables of the same runs."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from helpers import evaluate, random_cmdp, random_policy
from nscmdp import environments, files
from nscmdp.suite import optima
from wei2023.runs import integrity, policies, simulations, specifications
from wei2023.study import plan
from wei2023.verdicts import learning, tables

K, SEEDS = 48, [5, 2]
STILL = {"name": "grid_world", "map": "6x6", "horizon": 6, "limit": 2.0}
SWITCH = STILL | {"switch": "goal", "switch_at": [0.3, 0.7]}
UNIFORM = {"algorithm": "uniform", "setting": "literal"}
MAP = "#####\n#.oG#\n#.oo#\n#S..#\n#####\n"


def episodes_of(cmdp, policy):
    """(probability, states x_1 ... x_{H+1}, actions) of every episode that can be."""

    def walk(probability, states, actions):
        h, x = len(actions), states[-1]
        if h == cmdp.H:
            yield probability, states, actions
            return
        for a in np.flatnonzero(policy[h, x]):
            for y in np.flatnonzero(cmdp.P[h, x, a]):
                chance = probability * policy[h, x, a] * cmdp.P[h, x, a, y]
                yield from walk(chance, [*states, y], [*actions, a])

    for x in np.flatnonzero(cmdp.mu0):
        yield from walk(cmdp.mu0[x], [x], [])


def small_map(folder):
    file = folder / "map.txt"
    file.write_text(MAP)
    env = environments.make("grid_world", 10, map=str(file), horizon=4, limit=2.0, success=0.8)
    return env.at(4)


@pytest.mark.parametrize("model", ["map", "random"])
def test_visits_arrows_and_values_are_sums_over_all_episodes(tmp_path, model):
    rng = np.random.default_rng(8)
    cmdp = small_map(tmp_path) if model == "map" else random_cmdp(rng, H=4, S=3, A=2, sparsity=0.3)
    policy = random_policy(rng, cmdp)
    policy[:, 0] = np.eye(cmdp.A)[1]
    visits, played, total = np.zeros(cmdp.S), np.zeros((cmdp.S, cmdp.A)), 0.0
    for probability, states, actions in episodes_of(cmdp, policy):
        visits[sorted(set(states))] += probability
        np.add.at(played, (states[:-1], actions), probability)
        total += probability
    assert total == pytest.approx(1.0)
    found = learning.follow(cmdp, policy)
    np.testing.assert_allclose(found["visits"], visits, atol=1e-12)
    there = played.sum(axis=1, keepdims=True)
    shares = np.where(there > 0, played / np.where(there > 0, there, 1), 0)
    np.testing.assert_allclose(found["arrows"], shares.ravel(), atol=1e-12)
    values = found["value"], found["utility_value"]
    np.testing.assert_allclose(values, evaluate(cmdp, policy), rtol=1e-12)


def configuration(**changed):
    one = {"name": "small", "watch": True, "environment": STILL, "episodes": [K // 2, K]}
    one |= {"budgets": [{"legs": 2}, {"legs": 1}], "seeds": SEEDS, "learners": [UNIFORM]}
    sweep = {"setting": ["literal", "authors"]}
    one["sweeps"] = [{"learner": {"algorithm": "nonstationary_triple_q"}, "over": sweep}]
    return {"experiments": [{**one, **changed}]}


def kept(planned, folder):
    for unit, file in planned.policy_files("small"):
        policies.store(specifications.policies(planned, "small", unit), folder / file)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with the tables of a small experiment, and those of its policies."""
    folder, planned = tmp_path_factory.mktemp("learning"), plan.make(configuration())
    solved = folder / "environments/small.parquet"
    optima.solve(specifications.optimum(planned, "small"), solved)
    for unit, seeds, name in planned.run_files("small"):
        spec = specifications.simulation(planned, "small", unit)
        simulations.simulate_batch(spec, seeds, folder / name)
    tables.write(planned, folder, "small")
    kept(planned, folder)
    learning.write(planned, folder, "small")
    return planned, folder


def test_values_are_those_of_the_tables_at_the_same_episodes(made):
    """Of the first seed, in the first case at its largest K; so are the optimum's."""
    planned, folder = made
    exact = tables.load(folder / "tables/small/exact.parquet")
    exact = exact.query("budget == 'legs=2' and episodes == @K and seed == @SEEDS[0]")
    found = tables.load(folder / "tables/small/learning.parquet")
    best = found[found["learner"] == learning.OPTIMUM].set_index("episode")
    learners = found[found["learner"] != learning.OPTIMUM]
    assert set(learners["seed"]) == {SEEDS[0]}
    assert list(best.index) == planned.watched_episodes("small")
    names = {one.name for one in planned.experiment("small").all_learners}
    assert set(learners["learner"]) == names
    beside = learners.merge(exact, on=["learner", "episode"], suffixes=("", "_exact"))
    assert len(beside) == len(learners) == 3 * len(best)
    optimal = best.loc[beside["episode"]]
    for name, of_optimum in (("value", "optimal_value"), ("utility_value", "optimal_utility")):
        np.testing.assert_allclose(beside[name], beside[f"{name}_exact"], rtol=1e-11)
        np.testing.assert_allclose(optimal[name], beside[of_optimum], rtol=1e-9)


def test_the_csv_has_reward_and_cost_beside_the_optimum(made):
    _, folder = made
    found = pd.read_csv(folder / "tables/small/learning.csv")
    exact = tables.load(folder / "tables/small/learning.parquet").set_index(["learner", "episode"])
    numbers = ["reward", "cost", "optimal_reward", "optimal_cost", "limit"]
    assert list(found.columns) == ["experiment", "learner", "seed", "episode", *numbers]
    row = found.iloc[-1]
    mine, best = (exact.loc[(name, row["episode"])] for name in (row["learner"], learning.OPTIMUM))
    expected = [mine["value"], 6 - mine["utility_value"], best["value"], 6 - best["utility_value"]]
    np.testing.assert_allclose(row[numbers].tolist(), [*expected, 2.0], 1e-5)


def test_the_first_and_last_episode_are_watched_and_about_twenty_in_all():
    numbers = {1: 1, 5: 5, 16: 16, 48: 17, 80_000: 20, 320_000: 21, 10**9: 24}
    for episodes, number in numbers.items():
        planned = plan.make(configuration(episodes=[episodes], budgets=[{}]))
        chosen = planned.watched_episodes("small")
        assert (chosen[0], chosen[-1], len(chosen)) == (1, episodes, number)
        assert chosen == sorted(set(chosen))


def test_policies_of_an_experiment_are_kept_where_it_is_watched():
    watched, other = plan.make(configuration()), plan.make(configuration(watch=False))
    assert (watched.watched, other.watched) == (["small"], [])
    made_of_policies = ("policies/", "tables/small/learning")
    assert not [file for file in other.files() if file.startswith(made_of_policies)]
    assert {file for file in watched.files() if file.startswith(made_of_policies)} == {
        "policies/small/uniform.literal.parquet",
        "policies/small/nonstationary_triple_q.parquet",
        "tables/small/learning.parquet",
        "tables/small/learning.csv",
    }
    elsewhere = plan.make(configuration(environment={"name": "menu"}))
    needs = r"experiments\[0\].watch = true: expected the grid world's map"
    with pytest.raises(plan.Unacceptable, match=needs):
        elsewhere.check()


def test_the_goal_that_is_drawn_is_the_one_that_pays():
    planned = plan.make(configuration(environment=SWITCH, budgets=[{"legs": 2}]))
    case, asked = planned.watched_case("small"), list(range(1, K + 1))
    goals = []
    for k, grid in zip(asked, learning.maps(case, asked), strict=True):
        model, free = case.env.at(k), np.argwhere(grid != "#")
        reached = model.successors[0][model.reward_of[0] == model.reward_of[0].max()]
        (goal,) = np.argwhere(grid == "G")
        assert {tuple(free[x]) for x in reached.tolist()} == {tuple(goal)}
        goals.append(tuple(goal))
    moved = [before != after for before, after in pairwise(goals)]
    assert (sum(moved), len(set(goals))) == (2, 2)


def test_damaged_policies_are_refused_by_name(made, tmp_path):
    planned, _ = made
    kept(planned, tmp_path)
    file = tmp_path / "policies/small/uniform.literal.parquet"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(files.Refused, match=r"uniform\.literal\.parquet is damaged"):
        learning.write(planned, tmp_path, "small")
    assert file.exists()
    (said,) = integrity.repair(planned, tmp_path)
    assert said.startswith(f"{file} is damaged")
    assert not file.exists()


MUTE = '''
"""Mute: it acts, and does not say how."""

class Mute:
    def act(self, h, x, u):
        return int(4 * u)

def learner(problem):
    return Mute()
'''


@pytest.mark.usefixtures("known")
def test_a_learner_that_cannot_say_what_it_plays_is_left_out(tmp_path):
    (tmp_path / "mute.py").write_text(MUTE)
    both = [{"algorithm": "mute", "setting": "literal"}, UNIFORM]
    loaded = {"plugins": [str(tmp_path / "mute.py")]}
    planned = plan.make(loaded | configuration(learners=both, sweeps=[]))
    kept(planned, tmp_path)
    learning.write(planned, tmp_path, "small")
    found = tables.load(tmp_path / "tables/small/learning.parquet")
    assert set(found["learner"]) == {learning.OPTIMUM, "uniform.literal"}
