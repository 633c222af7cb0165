"""An optimum belongs to an environment: experiments that share one have it solved once."""

from wei2023.runs import integrity
from wei2023.study import layout, plan

WALK = {
    "environment": {"name": "menu"},
    "episodes": [32, 64],
    "seeds": 2,
    "windows": 4,
    "keep": "windows",
    "learners": [{"algorithm": "uniform", "setting": "literal"}],
}


def planned(*changes):
    return plan.make(
        {"experiments": [{**WALK, "name": f"walk_{i}", **one} for i, one in enumerate(changes)]}
    )


def test_the_first_experiment_with_the_same_environments_serves_the_others():
    made = planned(
        {}, {"episodes": [64]}, {"episodes": [64, 128]}, {"budgets": [{"legs": 2}]}, {"seeds": 5}
    )
    assert [made.optima_of(name) for name in made.experiments] == [
        "walk_0",
        "walk_0",
        "walk_2",
        "walk_3",
        "walk_0",
    ]
    names = [file for file in made.computed() if file.startswith("environments/")]
    assert names == [layout.optima(f"walk_{i}") for i in (0, 2, 3)]
    assert integrity.optima(made, "walk_1").name == layout.optima("walk_0")


def test_checkpoints_that_differ_by_seed_are_shared_where_they_are_among_another_experiments():
    thin = {"keep": "episodes", "evaluate_every": 4, "seeds": 3}
    made = planned(thin, {**thin, "seeds": 4}, thin, {**thin, "seeds": 2})
    assert [made.optima_of(name) for name in made.experiments] == [
        "walk_0",
        "walk_1",
        "walk_0",
        "walk_0",
    ]


def test_what_is_judged_needs_the_uniform_policy_beside_the_optimum():
    grid = {"name": "grid_world", "map": "6x6", "horizon": 15, "limit": 2.0}
    learner = {"algorithm": "nonstationary_triple_q", "setting": "authors"}
    judged = {
        "environment": grid,
        "episodes": [400],
        "keep": "episodes",
        "role": "eta",
        "learners": [learner],
    }
    plain = {key: value for key, value in judged.items() if key != "role"}
    made = planned(plain, judged, plain)
    assert [made.optima_of(name) for name in made.experiments] == ["walk_0", "walk_1", "walk_0"]


def test_behind_a_figure_stand_its_experiments_their_optima_and_their_tunings():
    grid = {"name": "grid_world", "map": "6x6", "horizon": 15, "limit": 2.0}
    algorithm = {"algorithm": "nonstationary_triple_q"}
    literal, tuned = {**algorithm, "setting": "literal"}, {**algorithm, "setting": "tuned"}
    shared = {"environment": grid, "episodes": [400], "keep": "episodes"}
    shown = {**shared, "role": "eta", "learners": [literal]}
    made = plan.make(
        {
            "effort": {"first_seed": 100, "first_selection_seed": 200},
            "tunings": [
                {
                    "name": name,
                    "environment": grid,
                    "episodes": 400,
                    "algorithms": ["nonstationary_triple_q"],
                }
                for name in ("used", "unused")
            ],
            "experiments": [
                {**WALK, **shown, "name": "shown"},
                {
                    **WALK,
                    **shown,
                    "name": "shown_tuned",
                    "learners": [literal, tuned],
                    "tuning": "used",
                },
                {**WALK, "name": "another"},
            ],
        }
    )
    assert made.behind("eta") == {"shown", "shown_tuned", "used"}
    assert made.behind("growth") == set()


def test_seeds_are_counted_from_the_first():
    made = planned({"seeds": 3, "first_seed": 1000})
    assert made.seeds_of("walk_0") == [1000, 1001, 1002]
