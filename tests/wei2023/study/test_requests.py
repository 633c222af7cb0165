"""What is asked of a scheduler follows the size of the work; a batch that sizes itself holds every seed once."""

import pytest

from nscmdp import algorithms, environments
from nscmdp.problem import Problem
from wei2023.study import plan, requests

WALK = {
    "name": "walk",
    "environment": {"name": "random_tabular", "states": 10},
    "episodes": [100_000],
    "seeds": 40,
    "evaluate_every": 10,
    "learners": [
        {"algorithm": "triple_q", "setting": "literal"},
        {"algorithm": "lsvi_primal_dual", "setting": "literal"},
    ],
}


def planned(all_batches=5, **changes):
    return plan.make({"batch": all_batches, "experiments": [WALK | changes]})


def asked(learner="triple_q.literal", seeds=5, attempt=1, **changes):
    return requests.simulation(planned(**changes), "walk", learner, seeds, attempt)


def test_time_grows_with_episodes_seeds_and_planning():
    base = asked(episodes=[200_000_000])
    assert asked(episodes=[400_000_000]).minutes == pytest.approx(2 * base.minutes, rel=0.1)
    assert asked(episodes=[200_000_000], seeds=10).minutes == pytest.approx(
        2 * base.minutes, rel=0.1
    )
    assert asked("lsvi_primal_dual.literal", episodes=[200_000_000]).minutes > base.minutes


def test_memory_grows_with_states_and_episodes_that_are_kept():
    base = asked()
    assert asked(environment={"name": "random_tabular", "states": 200}).megabytes > base.megabytes
    assert asked(evaluate_every=1).megabytes > base.megabytes
    assert asked(evaluate_every=1, seeds=10).megabytes > asked(evaluate_every=1).megabytes


@pytest.mark.filterwarnings("ignore::nscmdp.problem.DoesNotFit")
@pytest.mark.parametrize("algorithm", ["propd_ppo", "sliding_window_opt_cmdp", "lsvi_primal_dual"])
def test_a_learner_with_a_model_of_its_own_asks_for_what_it_keeps(algorithm):
    options = {"map": "random", "size": 100}
    learners = [{"algorithm": name, "setting": "scaled"} for name in (algorithm, "triple_q")]
    changes = {
        "environment": {"name": "grid_world", **options},
        "learners": learners,
        "episodes": [20_000],
    }
    planner, other = (asked(f"{one['algorithm']}.scaled", **changes).megabytes for one in learners)
    problem = Problem.of(environments.make("grid_world", 20_000, **options))
    kept = algorithms.state_bytes(algorithms.make(algorithm, problem, "scaled")) / 1e6
    assert kept < planner - other < 3 * kept


@pytest.mark.parametrize("ask", [requests.optimum, requests.tables])
def test_optima_and_tables_grow_with_episodes(ask):
    small, large = (ask(planned(episodes=[K]), "walk") for K in (100_000, 10_000_000))
    assert large.minutes > small.minutes
    assert large.megabytes > small.megabytes


def test_every_retry_asks_for_as_much_again():
    first, third = asked(attempt=1), asked(attempt=3)
    assert third.minutes == pytest.approx(3 * first.minutes, abs=3)
    assert third.megabytes == pytest.approx(3 * first.megabytes, abs=3)


def test_automatic_batches_hold_every_seed_once_and_aim_at_minutes():
    K = 10_000_000
    chosen = planned("auto", episodes=[K])
    for learner in WALK["learners"]:
        name = f"{learner['algorithm']}.literal"
        batches = [seeds for one, seeds, _ in chosen.run_files("walk") if one == name]
        assert sorted(seed for seeds in batches for seed in seeds) == list(range(40))
        assert max(map(len, batches)) == min(40, requests.batch(chosen, "walk", name))
    long = planned("auto", episodes=[100 * K])
    assert len(long.run_files("walk")) == 2 * 40
    assert len(planned("auto", episodes=[100]).run_files("walk")) == 2


def test_an_experiment_may_choose_its_batch_itself():
    assert len(planned("auto", batch=20).run_files("walk")) == 4


def test_policies_grow_with_episodes_states_and_learners():
    learner, grid = (
        {"algorithm": "nonstationary_triple_q"},
        {"name": "grid_world", "map": "6x6", "limit": 8.0},
    )

    def ask(episodes=1_000_000_000, settings=("literal",), **options):
        sweep = {"learner": learner, "over": {"setting": [*settings]}}
        changed = {
            "environment": {**grid, **options},
            "learners": [],
            "sweeps": [sweep],
            "watch": True,
        }
        return requests.policies(
            planned(episodes=[episodes], **changed), "walk", "nonstationary_triple_q"
        )

    base = ask()
    assert ask(episodes=500_000_000).seconds < base.seconds
    assert ask(settings=("literal", "authors")).seconds > 1.9 * base.seconds
    assert ask(map="18x18").megabytes > base.megabytes
