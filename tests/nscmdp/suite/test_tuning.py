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

EFFORT = {"population": 4, "generations": 6, "searches": 2, "seeds": 1, "pool": 2}
EFFORT |= {"first_seed": 500, "selection_seeds": 3, "first_selection_seed": 600}
TUNABLE = [name for name in algorithms.OWN if algorithms.ranges(name)]
FIRST = "nonstationary_triple_q"


def configuration(names=(FIRST, "restart_q_ucb"), **changes):
    learners = [{"algorithm": name, "setting": "tuned"} for name in names]
    menu = {"environment": {"name": "menu"}}
    experiment = {"name": "walk", **menu, "episodes": [64], "seeds": 3, "tuning": "choice"}
    experiment["learners"] = learners
    choice = {"name": "choice", **menu, "episodes": 64, "algorithms": list(names)}
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
    found = {name: tuned(planned, folder, name) for name in (FIRST, "restart_q_ucb")}
    return planned, folder, found


def test_every_learner_has_the_same_effort_and_seeds_and_what_is_tuned_are_its_factors():
    for name in TUNABLE:
        assert set(algorithms.ranges(name)) <= set(algorithms.factors(name))
    raw = configuration()
    raw["tunings"][0]["algorithms"] = TUNABLE
    planned = plan.make(raw)
    specs = [specifications.search(planned, "choice", name, 64, 0) for name in TUNABLE]
    shared = [[spec[key] for key in ("effort", "frames", "evaluate_every")] for spec in specs]
    assert all(one == shared[0] for one in shared)
    assert {len(planned.searched_by("choice", name, 64)) for name in TUNABLE} == {2}


def test_a_reported_seed_is_neither_a_search_nor_a_selection_seed():
    for seed in (501, 602):
        message = f"walk reports the seed {seed}, which tuning uses"
        with pytest.raises(config.Unacceptable, match=message):
            config.parse(configuration(seeds=[1, seed]))
    with pytest.raises(config.Unacceptable, match="the search uses the seed 501 too"):
        config.parse({**configuration(), "effort": {**EFFORT, "first_selection_seed": 501}})
    default = plan.load(Path(__file__).parents[3] / "config.yaml")
    reported = {
        seed
        for one in default.config.experiments
        if default.tuned_in(one.name, one.all_learners)
        for seed in one.seed_list
    }
    assert reported.isdisjoint(default.config.effort.seed_list)
    assert min(reported) >= 20  # those have been looked at


def test_the_best_by_the_rule_over_all_searches_is_chosen(study):
    _, folder, found = study
    table = summary(found[FIRST])
    assert table["chosen"].sum() == 1
    assert table.loc[table["chosen"], "factors"].item() == scoring.ranked(table)["factors"].iloc[0]
    for number in (0, 1):
        file = folder / f"searches/choice/{FIRST}/K=64/search={number}.parquet"
        selected = tuning.selection(file)
        best = scoring.ranked(scoring.Objective(True).summary(selected))["factors"].iloc[0]
        assert table.loc[table["search"] == number, "factors"].item() == best


def test_choices_have_names(study):
    _, _, found = study
    named = tuning.choices(found.values())
    for name in (FIRST, "restart_q_ucb"):
        choices = named["choice", name, 64]
        assert {*choices} == {"main", "search_0", "search_1"}
        assert choices["main"] in (choices["search_0"], choices["search_1"])


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
    nearby = {**raw["tunings"][0], "name": "nearby", "start": "choice"}
    nearby |= {"generations": 2, "searches": 1}
    planned = plan.make({**raw, "tunings": [*raw["tunings"], nearby]})
    spec = specifications.search(planned, "nearby", FIRST, 64, 0)
    solved, output = tmp_path / "optima.parquet", tmp_path / "s.parquet"
    optima.solve(specifications.optimum(planned, "nearby"), solved)
    search.for_tuning(spec, solved, output, tmp_path / "p", found[FIRST])
    selected = tuning.selection(output)
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
    spec = specifications.simulation(planned, "walk", f"{FIRST}.tuned")
    simulations.simulate_batch(spec, [0, 1, 2], output, tuned=[file])
    reported = files.read(output)[0].to_pandas()
    env = environments.make("menu", 64)
    for seed, value in zip(reported["seed"], reported["value"], strict=True):
        truth = plain(env, FIRST, "scaled", seed, factors=planted)
        np.testing.assert_array_equal(value, truth.value)


def learner(**given):
    one = {"algorithm": FIRST, "setting": "tuned", "label": "one", **given}
    raw = configuration(learners=[one])
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
    one = {"algorithm": FIRST, "setting": "tuned", "tuned_at": "each", "label": "one"}
    with pytest.raises(config.Unacceptable, match="128 is not among its checks"):
        config.parse(configuration(episodes=[64, 128], learners=[one]))


def test_a_choice_that_no_search_makes_is_refused():
    with pytest.raises(config.Unacceptable, match="there are 2 searches, from 0"):
        learner(choice="search_2")


def test_constants_that_are_kept_are_numbers_of_the_tunings_own_case(study):
    planned, _, found = study
    chosen, (case,) = tuning.choices([found[FIRST]]), planned.cases_of("choice")
    spec = learner(tuned_at="kept", constants={"eps": 0.5})
    made = simulations.with_chosen_factors(spec, chosen, 4096, {"choice": case.spec})
    main = chosen["choice", FIRST, 64]["main"]
    there = algorithms.constants(FIRST, Problem.of(case.env), "scaled", main)
    assert made["constants"] == {**algorithms.scalars(there), "eps": 0.5}
    given = {key: made[key] for key in ("setting", "factors", "variants", "constants")}
    problem = Problem.of(environments.make("menu", 4096))
    longer = algorithms.constants(FIRST, problem, **given)
    names = ("frame", "eta", "btilde")
    assert [getattr(longer, name) for name in names] == [getattr(there, name) for name in names]
    assert longer.eps == 0.5


def test_constants_that_are_scaled_follow_the_number_of_episodes_and_no_other_environment(study):
    planned, _, found = study
    chosen, (case,) = tuning.choices([found[FIRST]]), planned.cases_of("choice")
    spec, tuned_in = learner(tuned_at="scaled"), {"choice": case.spec}
    made = simulations.with_chosen_factors(spec, chosen, 4096, tuned_in)
    there = Problem.of(environments.make(case.spec["name"], 4096, **case.spec["options"]))
    expected = algorithms.constants(FIRST, there, "scaled", chosen["choice", FIRST, 64]["main"])
    assert made["constants"] == algorithms.scalars(expected)
    same_K, kept = (
        simulations.with_chosen_factors(learner(tuned_at=at), chosen, 64, tuned_in)
        for at in ("scaled", "kept")
    )
    assert same_K["constants"] == kept["constants"]


def test_choices_belong_to_tuned_learners():
    with pytest.raises(config.Unacceptable, match="choice belongs to the setting 'tuned'"):
        learner(setting="scaled", choice="search_0")
