"""What is chosen of what searches found: by the rule, on seeds of its own, and as recorded."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from nscmdp import algorithms, environments, files, simulate
from nscmdp.problem import Problem
from nscmdp.suite import optima, scoring, search, tuning
from wei2023.runs import records_of_searches, simulations, specifications
from wei2023.study import config, plan

EFFORT = {
    "population": 4,
    "generations": 6,
    "searches": 2,
    "seeds": 1,
    "pool": 2,
    "first_seed": 500,
    "selection_seeds": 3,
    "first_selection_seed": 600,
}
TUNABLE = [name for name in algorithms.OWN if algorithms.ranges(name)]
FIRST = "nonstationary_triple_q"


def configuration(names=(FIRST, "restart_q_ucb"), **changes):
    learners = [{"algorithm": name, "setting": "tuned"} for name in names]
    experiment = {
        "name": "walk",
        "environment": {"name": "menu"},
        "episodes": [64],
        "seeds": 3,
        "tuning": "choice",
        "learners": learners,
    }
    choice = {
        "name": "choice",
        "environment": {"name": "menu"},
        "episodes": 64,
        "algorithms": list(names),
    }
    return {"effort": EFFORT, "tunings": [choice], "experiments": [{**experiment, **changes}]}


def tuned(planned, folder, algorithm=FIRST):
    """Run the searches of an algorithm and choose."""
    solved = folder / "environments/choice.parquet"
    optima.solve(specifications.optimum(planned, "choice"), solved)
    found = []
    for number, name in enumerate(planned.searched_by("choice", algorithm, 64)):
        spec = specifications.search(planned, "choice", algorithm, 64, number)
        search.for_tuning(spec, solved, folder / name, folder / "progress")
        found.append(folder / name)
    output = folder / f"tuning/choice/{algorithm}/K=64.parquet"
    tuning.tune(specifications.tuning(planned, "choice", algorithm, 64), output, found)
    return output


def summary(file):
    return tuning.summary(files.read(file)[0].to_pandas())


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder, planned = tmp_path_factory.mktemp("tuning"), plan.make(configuration())
    return (
        planned,
        folder,
        {name: tuned(planned, folder, name) for name in (FIRST, "restart_q_ucb")},
    )


@pytest.mark.parametrize("algorithm", TUNABLE)
def test_what_is_tuned_are_factors(algorithm):
    assert set(algorithms.ranges(algorithm)) <= set(algorithms.factors(algorithm))


def test_every_learner_has_the_same_effort_and_seeds():
    raw = configuration()
    raw["tunings"][0]["algorithms"] = TUNABLE
    planned = plan.make(raw)
    specs = [specifications.search(planned, "choice", name, 64, 0) for name in TUNABLE]
    assert (
        len(
            {json.dumps((spec["effort"], spec["frames"], spec["evaluate_every"])) for spec in specs}
        )
        == 1
    )
    assert {len(planned.searched_by("choice", name, 64)) for name in TUNABLE} == {2}


def test_a_reported_seed_is_neither_a_search_nor_a_selection_seed():
    for seed in (501, 602):
        with pytest.raises(
            config.Unacceptable, match=f"walk reports the seed {seed}, which tuning uses"
        ):
            config.parse(configuration(seeds=[1, seed]))
    with pytest.raises(config.Unacceptable, match="the search uses the seed 501 too"):
        config.parse({**configuration(), "effort": {**EFFORT, "first_selection_seed": 501}})
    default = plan.load(Path(__file__).parents[3] / "config.yaml")
    tuned_ones = [
        one for one in default.config.experiments if default.tuned_in(one.name, one.all_learners)
    ]
    reported = {seed for one in tuned_ones for seed in one.seed_list}
    assert reported.isdisjoint(default.config.effort.seed_list)
    assert min(reported) >= 20  # those have been looked at


def test_the_best_by_the_rule_over_all_searches_is_chosen(study):
    _, folder, found = study
    table = summary(found[FIRST])
    assert table["chosen"].sum() == 1
    assert table.loc[table["chosen"], "factors"].item() == scoring.ranked(table)["factors"].iloc[0]
    for number in (0, 1):
        selected = tuning.selection(
            folder / f"searches/choice/{FIRST}/K=64/search={number}.parquet"
        )
        best = scoring.ranked(scoring.Objective(True).summary(selected))["factors"].iloc[0]
        assert table.loc[table["search"] == number, "factors"].item() == best


def test_choices_have_names(study):
    _, _, found = study
    named = tuning.choices(found.values())
    for name in (FIRST, "restart_q_ucb"):
        assert {*named["choice", name, 64]} == {"main", "search_0", "search_1"}
        assert named["choice", name, 64]["main"] in [
            named["choice", name, 64][f"search_{i}"] for i in range(2)
        ]


def test_what_is_recorded_is_what_is_chosen(study, tmp_path, monkeypatch):
    planned, folder, found = study
    monkeypatch.chdir(tmp_path)
    records_of_searches.write(planned, folder, tmp_path / "records")
    again = plan.make({**configuration(), "searches": "records"})
    assert again.search_files() == []
    assert again.solved == list(again.experiments)  # nothing is scored
    tuning.tune(specifications.tuning(again, "choice", FIRST, 64), tmp_path / "again.parquet")
    pd.testing.assert_frame_equal(summary(tmp_path / "again.parquet"), summary(found[FIRST]))


def test_a_missing_record_is_named_before_any_work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    planned = plan.make({**configuration(), "searches": "records"})
    with pytest.raises(config.Unacceptable, match=r"records/choice\.json .*make search"):
        planned.check()


def test_a_search_may_start_from_another_tunings_choice(study, tmp_path):
    _, _, found = study
    raw = configuration()
    nearby = {
        **raw["tunings"][0],
        "name": "nearby",
        "start": "choice",
        "generations": 2,
        "searches": 1,
    }
    planned = plan.make({**raw, "tunings": [*raw["tunings"], nearby]})
    spec = specifications.search(planned, "nearby", FIRST, 64, 0)
    optima.solve(specifications.optimum(planned, "nearby"), tmp_path / "optima.parquet")
    search.for_tuning(
        spec, tmp_path / "optima.parquet", tmp_path / "s.parquet", tmp_path / "p", found[FIRST]
    )
    selected = tuning.selection(tmp_path / "s.parquet")
    assert json.loads(selected["factors"].iloc[0]) == tuning.main_choice(found[FIRST])
    with pytest.raises(config.Unacceptable, match="expected a tuning that stands before nearby"):
        config.parse({**raw, "tunings": [nearby, *raw["tunings"]]})


def test_what_is_better_on_tuning_seeds_only_gains_nothing_on_reported_ones(
    study, tmp_path, monkeypatch
):
    """A planted candidate earns more wherever tuning looks. It is chosen, and what is reported of it is the truth."""
    planned, _, found = study
    table = summary(found[FIRST])
    planted = json.loads(table.loc[~table["chosen"], "factors"].iloc[-1])
    plain = simulate.run

    def cheating(env, algorithm, setting, seed, *rest, factors=None, **options):
        run = plain(env, algorithm, setting, seed, *rest, factors=factors, **options)
        if seed >= 500 and factors == planted:
            run.value[:] += 10.0
            run.utility_value[:] += 10.0
        return run

    monkeypatch.setattr(simulate, "run", cheating)
    file = tuned(planned, tmp_path)
    assert tuning.main_choice(file) == planted
    output = tmp_path / "seeds=0-2.parquet"
    simulations.simulate_batch(
        specifications.simulation(planned, "walk", f"{FIRST}.tuned"),
        [0, 1, 2],
        output,
        tuned=[file],
    )
    reported = files.read(output)[0].to_pandas()
    env = environments.make("menu", 64)
    for seed, value in zip(reported["seed"], reported["value"], strict=True):
        truth = plain(env, FIRST, "scaled", seed, factors=planted)
        np.testing.assert_array_equal(value, truth.value)


def learner(**given):
    raw = configuration(
        learners=[{"algorithm": FIRST, "setting": "tuned", "label": "one", **given}]
    )
    return specifications.simulation(plan.make(raw), "walk", "one")["learners"]["one"]


def test_multiples_and_other_choices_of_factors(study):
    _, _, found = study
    chosen = tuning.choices([found[FIRST]])
    main, other = (chosen["choice", FIRST, 64][name] for name in ("main", "search_1"))
    tuned_in = {"choice": {"episodes": 64}}
    made = simulations.with_chosen_factors(learner(times={"eta": 3.0}), chosen, 64, tuned_in)
    assert made["setting"] == "scaled"
    assert made["factors"] == {**main, "eta": pytest.approx(3 * main["eta"])}
    made = simulations.with_chosen_factors(learner(choice="search_1"), chosen, 64, tuned_in)
    assert made["factors"] == other


def test_factors_tuned_at_each_number_of_episodes():
    chosen = {("choice", FIRST, K): {"main": {"eta": float(K)}} for K in (64, 128)}
    tuned_in = {"choice": {"episodes": 64}}
    each, once = learner(), {**learner(), "tuned_at": "each"}
    assert simulations.with_chosen_factors(each, chosen, 128, tuned_in)["factors"] == {"eta": 64.0}
    assert simulations.with_chosen_factors(once, chosen, 128, tuned_in)["factors"] == {"eta": 128.0}
    with pytest.raises(config.Unacceptable, match="128 is not among its checks"):
        config.parse(
            configuration(
                episodes=[64, 128],
                learners=[
                    {"algorithm": FIRST, "setting": "tuned", "tuned_at": "each", "label": "one"}
                ],
            )
        )


def test_a_choice_that_no_search_makes_is_refused():
    with pytest.raises(config.Unacceptable, match="there are 2 searches, from 0"):
        learner(choice="search_2")


def test_constants_that_are_kept_are_numbers_of_the_tunings_own_case(study):
    planned, _, found = study
    chosen, (case,) = tuning.choices([found[FIRST]]), planned.cases_of("choice")
    spec = learner(tuned_at="kept", constants={"eps": 0.5})
    made = simulations.with_chosen_factors(spec, chosen, 4096, {"choice": case.spec})
    there = algorithms.constants(
        FIRST, Problem.of(case.env), "scaled", chosen["choice", FIRST, 64]["main"]
    )
    assert made["constants"] == {**algorithms.scalars(there), "eps": 0.5}
    longer = algorithms.constants(
        FIRST,
        Problem.of(environments.make("menu", 4096)),
        **{key: made[key] for key in ("setting", "factors", "variants", "constants")},
    )
    assert (longer.frame, longer.eta, longer.btilde, longer.eps) == (
        there.frame,
        there.eta,
        there.btilde,
        0.5,
    )


def test_constants_that_are_scaled_follow_the_number_of_episodes_and_no_other_environment(study):
    planned, _, found = study
    chosen, (case,) = tuning.choices([found[FIRST]]), planned.cases_of("choice")
    made = simulations.with_chosen_factors(
        learner(tuned_at="scaled"), chosen, 4096, {"choice": case.spec}
    )
    options = case.spec["options"]
    there = Problem.of(environments.make(case.spec["name"], 4096, **options))
    expected = algorithms.constants(FIRST, there, "scaled", chosen["choice", FIRST, 64]["main"])
    assert made["constants"] == algorithms.scalars(expected)
    same_K = simulations.with_chosen_factors(
        learner(tuned_at="scaled"), chosen, 64, {"choice": case.spec}
    )
    kept = simulations.with_chosen_factors(
        learner(tuned_at="kept"), chosen, 64, {"choice": case.spec}
    )
    assert same_K["constants"] == kept["constants"]


def test_choices_belong_to_tuned_learners():
    with pytest.raises(config.Unacceptable, match="choice belongs to the setting 'tuned'"):
        learner(setting="scaled", choice="search_0")
