"""The comparison table is made from the runs: slopes, bounds and reasons, in the paper's order."""

import re

import numpy as np
import pandas as pd
import pytest

from nscmdp import environments, simulate
from nscmdp.analysis import comparison, growth, tables, theory
from nscmdp.problem import Problem
from nscmdp.runs import optima, simulations
from nscmdp.study import plan

FIRST, OTHER = "nonstationary_triple_q.literal", "restart_q_ucb.scaled"
LEARNERS = [
    {"algorithm": "nonstationary_triple_q", "setting": "literal"},
    {"algorithm": "restart_q_ucb", "setting": "scaled"},
]
SMALL = {
    "name": "small",
    "role": "growth",
    "environment": {"name": "menu"},
    "readings": [{"seed": 1}, {"seed": 2}],
    "budgets": [{"legs": 1}, {"legs": 3}, {"legs": 9}],
    "episodes": [64, 128, 256],
    "seeds": 3,
    "windows": 4,
    "keep": "windows",
    "learners": LEARNERS,
}
LONGER = SMALL | {"name": "longer", "budgets": [{"legs": 3}], "episodes": [512], "learners": LEARNERS[:1]}
PLAN = plan.make({"experiments": [SMALL, LONGER]})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two experiments carried out as the pipeline does it."""
    results = tmp_path_factory.mktemp("results")
    PLAN.check()
    for experiment in PLAN.experiments:
        solved = results / f"environments/{experiment}.parquet"
        optima.solve(PLAN.optimum_spec(experiment), solved)
        for learner, seeds, name in PLAN.run_files(experiment):
            simulations.simulate_batch(PLAN.run_spec(experiment, learner), seeds, results / name, solved)
        tables.write(PLAN, results, experiment)
    return results


@pytest.fixture
def study(folder):
    return comparison.Study(folder, PLAN.experiments)


def ran(study):
    table = comparison.rows(study, None)
    return table[table["note"] != "not run"].set_index("learner")


def test_rows_stand_in_the_papers_order_with_what_was_run(study):
    table = comparison.rows(study, None)
    assert table["algorithm"].tolist()[:3] == ["propd_ppo", "nonstationary_triple_q", "double_restart_triple_q"]
    assert list(ran(study).index) == [FIRST, OTHER]
    assert (ran(study)["gap_slope_K_low"] <= ran(study)["gap_slope_K"]).all()
    assert (ran(study)["instances"] == 2).all()
    assert (ran(study)["tuned_at"] == "").all()


def test_a_learner_in_two_experiments_is_one_that_goes_further(study):
    table = ran(study)
    assert table["largest_K"].to_dict() == {FIRST: 512, OTHER: 256}
    assert table["slope_B_at_K"].to_dict() == {FIRST: 256, OTHER: 256}
    assert (table["budget"] == "legs=3").all()
    assert study.episodes(FIRST) == [64, 128, 256, 512]


def test_a_slope_is_that_of_the_means_over_instances(study):
    """Literal Algorithm 1 is close to uniform: its gap grows linearly, and the table says so."""
    row = ran(study).loc[FIRST]
    runs = study.of(FIRST)[study.of(FIRST)["budget"] == "legs=3"]
    mean = runs.groupby(["episodes", "reading"])["gap"].mean().unstack()
    by_instance = np.polyfit(np.log(mean.index), np.log(mean), 1)[0]
    assert row["gap_slope_K"] == pytest.approx(np.polyfit(np.log(mean.index), np.log(mean.mean(axis=1)), 1)[0])
    assert row["gap_slope_K"] == pytest.approx(1, abs=0.15)
    assert row[["gap_slope_K_least", "gap_slope_K_most"]].tolist() == pytest.approx(sorted(by_instance))


def test_the_violation_is_told_at_the_middle_budget_and_at_the_worst(study):
    row, runs = ran(study).loc[FIRST], study.of(FIRST)
    mean = (runs["violation"] / runs["episodes"]).groupby([runs["budget"], runs["episodes"]]).mean()
    at_its_largest_K = {"legs=1": mean["legs=1", 256], "legs=3": mean["legs=3", 512], "legs=9": mean["legs=9", 256]}
    worst = max(at_its_largest_K, key=at_its_largest_K.get)
    assert row["violation_per_episode"] == pytest.approx(at_its_largest_K["legs=3"])
    assert row["worst_violation_per_episode"] == pytest.approx(at_its_largest_K[worst])
    assert (row["worst_budget"], row["worst_K"]) == (worst, 512 if worst == "legs=3" else 256)
    assert row["violation_per_episode_low"] <= row["violation_per_episode"] <= row["violation_per_episode_high"]


def test_where_there_is_no_bound_the_table_says_why(study):
    row = ran(study)
    assert row["regret_bound"].isna().all()
    assert row.loc[FIRST, "why_no_bound"].startswith("eps = ")
    assert row.loc[OTHER, "why_no_bound"] == "Theorem 1's explicit bound is about Algorithm 1"
    assert row.loc[FIRST, "trivial_bound"] == 4 * 512
    assert row.loc[FIRST, "theorem_from_K"] > 1e30


def tuned(study, factors):
    """Algorithm 1 as if it had been tuned with these."""
    study.learners[FIRST] = {**study.learners[FIRST], "setting": "tuned", **factors}
    return study


def test_factors_tuned_at_each_K_are_those_of_the_K_at_hand(study):
    at = {str(K): {"bonus": 0.5, "epsilon": 0.1, "eta": float(K)} for K in (256, 512)}
    found = tuned(study, {"tuned_at": "each", "factors_at": at}).bounds(FIRST)
    expected = []
    for K in (256, 512):
        problem = Problem.of(environments.make("menu", K, legs=3, seed=1))
        made = comparison.algorithms.make("nonstationary_triple_q", problem, "scaled", factors=at[str(K)])
        expected.append(theory.regret_bound(problem, made))
    assert found["regret_bound"] == pytest.approx(expected[1])
    assert found["bound_slope_K"] == pytest.approx(np.log2(expected[1] / expected[0]))
    assert found["why_no_bound"] == ""
    assert (study.tuned_at(FIRST), study.constants(FIRST)) == ("each", "tuned at each K")


def test_factors_tuned_once_serve_every_K(study):
    found = tuned(study, {"factors": {"bonus": 0.01}}).bounds(FIRST)
    assert found["why_no_bound"] == "sqrt(iota) = 0.04: the lemmas need at least 1"
    assert (study.tuned_at(FIRST), study.constants(FIRST)) == ("once", "tuned once")


def test_factors_that_two_experiments_chose_at_each_K_are_put_together(monkeypatch, tmp_path):
    specs = {"a": {"l": {"factors_at": {"64": {"eta": 1.0}}}}, "b": {"l": {"factors_at": {"128": {"eta": 2.0}}}}}
    monkeypatch.setattr(tables, "learners", lambda file: specs[file.name])
    found = comparison._specifications([tmp_path / "a", tmp_path / "b"])
    assert found == {"l": {"factors_at": {"64": {"eta": 1.0}, "128": {"eta": 2.0}}}}


def test_constants_stand_from_tuned_at_each_K_to_literal(study):
    names = ["literal", "tuned", "scaled", "tuned_each"]
    study.learners = {f"triple_q.{name}": {} for name in names}
    assert comparison.plain(study, "triple_q") == [f"triple_q.{names[i]}" for i in (3, 1, 2, 0)]


def test_the_windows_of_a_run_add_up_to_its_episodes(study):
    run = simulate.run(environments.make("menu", 128, legs=3, seed=2), "restart_q_ucb", "scaled", seed=2)
    mine = study.of(OTHER).set_index(["reading", "budget", "episodes", "seed"]).loc["seed=2", "legs=3", 128, 2]
    expected = [run.gap[-1], run.regret[-1], run.violation[-1], run.positive_violation[-1]]
    assert mine[["gap", "regret", "violation", "positive_violation"]].tolist() == pytest.approx(expected)


def test_the_table_is_written_for_people_and_for_tex(folder, study):
    table = comparison.rows(study, None)
    comparison.write(PLAN, folder)
    written = pd.read_csv(folder / "tables/comparison.csv")
    assert written["algorithm"].tolist() == table["algorithm"].tolist()
    np.testing.assert_allclose(written["gap_slope_K"], table["gap_slope_K"].astype(float), rtol=1e-5)
    slopes = pd.read_csv(folder / "tables/slopes.csv")
    np.testing.assert_allclose(slopes["value"], study.slopes["value"], rtol=1e-5)
    assert set(slopes["which"]) == {"all", "last three", "local"}
    assert set(slopes["instance"]) == {growth.POOLED, "seed=1", "seed=2"}
    violations = pd.read_csv(folder / "tables/violations.csv")
    assert set(violations["role"]) == {"growth"}
    assert len(violations) == 2 * 3 * 3 + 1  # learners, budgets, K; and the longer one
    tex = (folder / "tables/comparison.tex").read_text()
    assert tex.count(r"\\") == len(table) + 1
    assert r"$\tilde O(H^4 S^{1/2} A^{1/2} K^{4/5} B^{1/3})$" in tex


def test_the_table_in_tex_is_whole_and_escapes_what_tex_reads_otherwise(study):
    table = comparison.rows(study, None)
    table.loc[0, ["algorithm", "setting", "known_budget"]] = ["50%_faster & better #1", "own_{constants}", "a^b~c"]
    tex = comparison.tex(table)
    environments_of = {way: re.findall(rf"\\{way}\{{(\w+)\}}", tex) for way in ("begin", "end")}
    assert environments_of == {"begin": ["tabular"], "end": ["tabular"]}
    head, *rows = [line for line in tex.splitlines() if line.endswith(r"\\")]
    assert len(rows) == len(table)
    assert {len(re.split(r"(?<!\\)&", row)) for row in (head, *rows)} == {9}
    assert rows[0].startswith(r"50\%\_faster \& better \#1 & own\_\{constants\} & ")
    assert r"a\textasciicircum b\textasciitilde c" in rows[0]
    for row in rows:
        outside = re.sub(r"\$[^$]*\$", "", row)
        assert not re.search(r"(?<!\\)[%_#$^~]", outside), row
        assert row.count("{") == row.count("}")
    assert [tex.count(rule) for rule in (r"\toprule", r"\midrule", r"\bottomrule")] == [1, 1, 1]
