"""The comparison on the suite, on tables made by hand for which the answer is known."""

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from nscmdp import cli, environments, metrics
from nscmdp.suite import compare, definition, hypotheses, optima, runs, scores
from nscmdp.suite.tables import tables as suite_tables
from wei2023.runs import simulations, specifications
from wei2023.study import layout, plan
from wei2023.study.protocols import FIRST
from wei2023.verdicts import suite as analysis
from wei2023.verdicts import tables

FILE = Path(__file__).parents[3] / definition.FILE
# Per episode, before what instances and seeds add.
GAPS = {"good": 0.2, "fair": 0.5, "uniform": 2.0}


def table(gaps=GAPS, places=("a", "b"), choice="main", noise=0.01):
    """Runs that differ by learner; instances and seeds add what is the same for all learners."""
    rows = []
    for environment, instance, seed, learner in product(places, range(1, 7), (7, 8), gaps):
        value = gaps[learner] + noise * instance + noise * (seed - 7)
        measured = dict.fromkeys(definition.MEASURES, value) | {"violation": value - 1}
        keys = (environment, instance, seed, learner, choice)
        row = dict(zip(runs.KEYS, keys, strict=True))
        rows.append({**row, **measured, "rho": 2.0, "state_bytes": 8})
    return pd.DataFrame(rows)


def hypothesis(**changed):
    given = {"id": "one", "says": "-", "learner": "good", "than": "fair", "measure": "gap"}
    return definition.Hypothesis(**given | {"environments": ["a"]} | changed)


def test_the_unit_of_gap_is_the_uniform_policys_and_that_of_violation_is_rho():
    found = scores.normalised(table(noise=0.0))
    of = found.groupby("learner").mean(numeric_only=True)
    assert of.loc["uniform", "gap"] == pytest.approx(1.0)
    assert of.loc["good", "regret"] == pytest.approx(0.1)
    assert of.loc["fair", "violation"] == pytest.approx(-0.25)
    assert of.loc["fair", "adaptation"] == pytest.approx(0.5)


def test_weights_are_shares_of_whole_environments():
    both = scores.weights(2, 3, 4)
    np.testing.assert_allclose(both.reshape(-1, 2, 12).sum(axis=2), 0.5)
    seeds = scores.weights(2, 3, 4, instances=False).reshape(-1, 2, 3, 4)
    np.testing.assert_allclose(seeds.sum(axis=3), 1 / 6)  # every instance is there once
    instances = scores.weights(2, 3, 4, seeds=False).reshape(-1, 2, 3, 4)
    np.testing.assert_allclose(instances, instances[..., :1].repeat(4, axis=3))
    assert both.mean(axis=0) == pytest.approx(np.full(24, 1 / 24), rel=0.1)


def test_an_interval_knows_that_seeds_of_one_instance_are_no_new_instances():
    """Variance of the mean of I instances: between them / I; many equal seeds do not make it smaller."""
    rng = np.random.default_rng(1)
    between = rng.normal(size=(1, 40, 1))
    _, low, high = scores.interval(np.repeat(between, 25, axis=2))
    assert (high - low) / 2 == pytest.approx(1.96 * between.std() / np.sqrt(40), rel=0.15)
    assert np.isnan(scores.interval(np.ones((3, 1, 1)))[1])


def test_learners_are_compared_where_all_of_them_ran():
    found = table()
    found = found[(found["learner"] != "fair") | (found["environment"] != "b")]
    cube = scores.Cube.of(found, ["good", "fair", "absent"])
    assert cube.learners == ["good", "fair"]
    assert cube.environments == ["a"]
    assert cube.values.shape == (2, 1, 6, 2)


def test_a_profile_counts_runs_up_to_tau():
    found = scores.normalised(table(noise=0.0))
    rows = scores.profile(scores.Cube.of(found, ["good", "fair"]))
    profile = rows.set_index(["learner", "tau"])["share"]
    assert profile["good", 0.08] == 0.0
    assert profile["good", 0.12] == 1.0
    assert profile["fair", 0.24] == 0.0
    assert profile["fair", 0.26] == 1.0


def test_probabilities_of_improvement_of_two_learners_add_up_to_one():
    found = table({"good": 0.2, "same": 0.2, "fair": 0.5, "uniform": 2.0})
    rows = scores.pairs(scores.Cube.of(found, ["good", "same", "fair"]))
    pairs = rows.set_index(["learner", "than"])["probability"]
    assert pairs["good", "fair"] == 1.0
    assert pairs["fair", "good"] == 0.0
    assert pairs["good", "same"] == pairs["same", "good"] == 0.5


def test_holm_by_hand():
    found = hypotheses.holm(np.array([0.01, 0.04, 0.03, 0.9]))
    np.testing.assert_allclose(found, [0.04, 0.09, 0.09, 0.9])


def test_a_difference_of_one_sign_has_the_p_of_all_its_signs():
    assert hypotheses.sign_flips(np.array([-1.0, -2.0, -3.0, -4.0, -5.0])) == pytest.approx(1 / 32)
    assert hypotheses.sign_flips(np.array([1.0, 2.0, 3.0])) == 1.0


def test_differences_to_a_learner_are_paired_by_environment_and_measure():
    runs_ = scores.normalised(table(noise=0.0))
    found = scores.paired(runs_, ["good", "fair", "absent"], "good")
    found = found.set_index(["environment", "measure"])
    assert set(found["learner"]) == {"fair"}
    interval = found.loc[("a", "gap"), ["difference", "low", "high"]]
    assert interval.tolist() == pytest.approx([0.15] * 3)
    assert found.loc[("b", "violation"), "difference"] == pytest.approx(0.15)
    assert found.loc[("b", "adaptation"), "difference"] == pytest.approx(0.3)


def test_a_rank_that_another_search_would_change_is_not_kept():
    other = table(GAPS | {"good": 0.8}, choice="search_1")
    runs_ = pd.concat([table(), table(choice="search_0"), other])
    made = suite_tables(runs_, ["good", "fair"], [], FIRST)["suite_ranking.csv"]
    found = made.set_index("learner").loc["good"]
    assert found["same_rank"] == 1
    # Worse where the second search is drawn for both places.
    assert 0.3 < found["same_rank_searches"] < 0.8


def test_searches_that_come_to_another_verdict_are_counted():
    """The second search finds constants with which the better learner is the worse one."""
    other = table(GAPS | {"good": 0.8}, choice="search_1")
    runs_ = pd.concat([table(), table(choice="search_0"), other])
    found = suite_tables(runs_, ["good"], [hypothesis()], FIRST)
    (row,) = found["suite_hypotheses.csv"].to_dict("records")
    assert (row["verdict"], row["searches"], row["agree"]) == ("holds", 2, 1)


def test_hypotheses_hold_are_contradicted_or_say_why_they_were_not_tested():
    expected = [
        hypothesis(id="holds"),
        hypothesis(id="wrong", learner="fair", than="good"),
        hypothesis(id="unknown", learner="tracking_triple_q"),
        hypothesis(id="elsewhere", environments=["c"]),
        hypothesis(id="places", than=None, than_in=["b"]),
    ]
    found = hypotheses.table(scores.normalised(table()), expected).set_index("id")
    assert found.loc["holds", "verdict"] == "holds"
    assert found.loc["holds", "difference"] == pytest.approx(-0.3 / 2.04, rel=0.01)
    assert found.loc["holds", "better"] == 1.0
    assert found.loc["holds", "p"] == pytest.approx(1 / 64)
    assert found.loc["holds", "p_holm"] == pytest.approx(3 / 64)
    assert found.loc["wrong", "verdict"] == "contradicted"
    assert found.loc["unknown", "verdict"] == "not tested: tracking_triple_q did not run"
    assert found.loc["elsewhere", "verdict"] == "not tested: good did not run in c"
    assert found.loc["places", "verdict"] == "undecided"
    assert found.loc["places", "difference"] == 0.0


def test_a_clear_ranking_is_stable_and_a_tie_is_not():
    clear = scores.Cube.of(table(), ["fair", "good"])
    found = scores.ranking(clear)
    assert list(found["learner"]) == ["good", "fair"]
    assert list(found["same_rank"]) == [1.0, 1.0]
    rng = np.random.default_rng(0)
    tie = scores.Cube(["one", "other"], ["a"], rng.normal(size=(2, 1, 10, 3)))
    close = tie._replace(values=tie.values - tie.values.mean(axis=(1, 2, 3), keepdims=True))
    differs = scores.stability(close, table()).set_index("resampled")["order_differs"]
    assert 0.3 < differs["instances and seeds"] < 0.7
    assert scores.stability(clear, table())["order_differs"].max() == 0.0


def test_a_ranking_that_hangs_on_one_search_is_told():
    """With the constants of search 1 the fair learner is the best in every environment: a draw of both decides."""
    main, other = table(places=("a",)), {"good": 0.2, "fair": 0.1, "uniform": 2.0}
    searched = [table(places=("a",), choice="search_0"), table(other, ("a",), choice="search_1")]
    found = scores.stability(scores.Cube.of(main, ["good", "fair"]), pd.concat([main, *searched]))
    differs = found.set_index("resampled")["order_differs"]
    assert differs["instances and seeds"] == 0.0
    assert differs["searches"] == pytest.approx(0.5, abs=0.05)  # where the fair one draws search 1


def test_adaptation_is_the_time_until_three_evaluated_episodes_are_good():
    episode = pd.Series([10, 20, 30, 40, 50, 60, 70, 80, 90, 100])
    gap = pd.Series([0.1, 0.1, 0.1, 0.1, 0.1, 2.0, 2.0, 0.1, 0.1, 0.1])
    # 70 to 90 have a mean above a quarter.
    assert runs.adaptation(episode, gap, [50], 100) == 80 - 50
    assert runs.adaptation(episode, gap + 1, [50], 100) == 50
    assert runs.adaptation(episode, gap, [20, 50], 100) == (10 + 30) / 2
    assert np.isnan(runs.adaptation(episode, gap, [], 100))


def test_switches_are_found_in_the_path():
    assert runs.switches(environments.make("menu", 101, switch_at=(0.3, 0.7))) == [31, 71]
    assert runs.switches(environments.make("menu", 101, legs=4)) == []
    options = {"map": "6x6", "horizon": 15, "limit": 2.0, "switch": "goal", "switch_at": (0.5,)}
    assert runs.switches(environments.make("grid_world", 101, **options)) == [51]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A small part of the suite carried out as the pipeline does it."""
    folder = tmp_path_factory.mktemp("results")
    choice = {"file": str(FILE), "environments": ["slow", "abrupt"], "setting": "scaled"}
    planned = plan.make({"suite": choice | {"instances": 2, "seeds": 1}})
    for name in planned.experiments:
        output = folder / layout.optima(planned.optima_of(name))
        optima.solve(specifications.optimum(planned, name), output)
        for unit, seeds, file in planned.run_files(name):
            spec = specifications.simulation(planned, name, unit)
            simulations.simulate_batch(spec, seeds, folder / file)
        tables.write(planned, folder, name)
    analysis.write(planned, folder)
    return planned, folder


def test_every_run_of_the_suite_is_in_its_tables(made):
    planned, folder = made
    found = tables.load(folder / layout.table("suite_runs.csv"))
    assert len(found) == planned.runs
    assert found["adaptation"].notna().equals(found["environment"] == "abrupt")
    of = tables.load(folder / layout.table("suite_scores.csv"))
    gaps = of.set_index(["environment", "learner"])["gap"]
    assert gaps["slow", "uniform"] == pytest.approx(1.0)
    assert gaps["slow", "exact_model_primal_dual"] < gaps["slow", "uniform"]
    exact = tables.load(folder / layout.table("exact.parquet", "suite_slow"))
    mine = exact.query("learner == 'triple_q' and reading == 'seed=2' and seed == 1000")
    row = found.query("environment == 'slow' and learner == 'triple_q' and instance == 2")
    assert row["gap"].item() == pytest.approx(metrics.mean(mine["gap"], mine["weight"]), rel=1e-5)


def test_a_learner_that_is_compared_has_the_runs_that_the_pipeline_makes(made):
    planned, folder = made
    beside = compare.reference(folder / layout.table("suite_runs.csv"), ["abrupt"], None, 1)
    told = []
    progress = lambda done, of: told.append((done, of))  # noqa: E731
    mine = compare.simulated(planned.suite, "triple_q", "scaled", beside, progress)
    assert told == [(0, 2), (1, 2)]
    theirs = beside[beside["learner"] == "triple_q"].reset_index(drop=True)
    pd.testing.assert_frame_equal(mine[theirs.columns], theirs, rtol=1e-5, check_dtype=False)
    ranked, by_environment = compare.joined(planned.suite, "triple_q", mine, beside)
    assert len(ranked) == len(planned.suite.learners)
    assert set(by_environment["environment"]) == {"abrupt"}


def test_a_table_that_is_not_there_or_has_no_such_environment_is_named(made, tmp_path):
    _, folder = made
    with pytest.raises(ValueError, match="expected a table"):
        compare.reference(tmp_path / "none.csv", None, None, None)
    with pytest.raises(ValueError, match="no environment 'fast'"):
        compare.reference(folder / layout.table("suite_runs.csv"), ["fast"], None, None)


def test_a_plug_in_enters_the_table_by_one_command(made, tmp_path, capsys):
    _, folder = made
    cli.main(["new", "algorithm", "newcomer", "--folder", str(tmp_path)])
    capsys.readouterr()
    beside, output = folder / "tables/suite_runs.csv", tmp_path / "mine.csv"
    given = f"{tmp_path}/newcomer.py --suite {FILE} --beside {beside} --output {output}"
    cli.main(["compare", *given.split(), "--environments", "slow"])
    said = capsys.readouterr().out
    assert "2 runs of newcomer, setting scaled" in said
    (row,) = [line.split() for line in said.splitlines() if "newcomer *" in line]
    mine, runs_there = tables.load(output), tables.load(beside)
    slow = scores.normalised(pd.concat([runs_there[runs_there["environment"] == "slow"], mine]))
    gap = slow.loc[slow["learner"] == "newcomer", "gap"].mean()
    assert float(row[3]) == pytest.approx(gap, abs=5e-4)


def test_a_part_of_the_suite_says_what_it_could_not_test(made):
    planned, folder = made
    verdicts = tables.load(folder / layout.table("suite_hypotheses.csv")).set_index("id")["verdict"]
    assert verdicts["luck"] == "not tested: nonstationary_triple_q did not run in aligned"
    assert verdicts["tracking-beats-algorithm-1"].startswith("not tested")
    ranks = tables.load(folder / layout.table("suite_ranking.csv"))["rank"]
    assert list(ranks) == list(range(1, len(planned.suite.learners) + 1))
