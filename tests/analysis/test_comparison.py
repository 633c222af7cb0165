"""The comparison table is made from the runs: slopes, bounds and reasons, in the paper's order."""

import numpy as np
import pandas as pd
import pytest

from nscmdp import environments, simulate
from nscmdp.analysis import comparison, tables
from nscmdp.runs import optima, simulations
from nscmdp.study import plan

LEARNERS = [
    {"algorithm": "nonstationary_triple_q", "setting": "literal"},
    {"algorithm": "restart_q_ucb", "setting": "scaled"},
]
EXPERIMENT = {
    "name": "small",
    "role": "growth",
    "environment": {"name": "menu"},
    "budgets": [{"legs": 1}, {"legs": 3}],
    "episodes": [64, 128, 256],
    "seeds": 3,
    "windows": 4,
    "keep": "windows",
    "learners": LEARNERS,
}
PLAN = plan.make({"experiments": [EXPERIMENT]})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """An experiment carried out as the pipeline does it."""
    results = tmp_path_factory.mktemp("results")
    solved = results / "environments/small.parquet"
    optima.solve(PLAN.optimum_spec("small"), solved)
    for learner, seeds, name in PLAN.run_files("small"):
        simulations.simulate_batch(PLAN.run_spec("small", learner), seeds, results / name, solved)
    tables.write(PLAN, results, "small")
    return results


def test_rows_stand_in_the_papers_order_with_what_was_run(folder):
    table = comparison.rows(comparison.Study(folder, ["small"]), None)
    ran = table[table["note"] != "not run"]
    assert ran["algorithm"].tolist() == ["nonstationary_triple_q", "restart_q_ucb"]
    assert table["algorithm"].tolist()[:3] == ["propd_ppo", "nonstationary_triple_q", "double_restart_triple_q"]
    assert (ran["gap_slope_K_low"] <= ran["gap_slope_K"]).all()
    assert (ran["largest_K"] == 256).all()


def test_a_slope_is_that_of_the_runs(folder):
    """Literal Algorithm 1 is close to uniform: its gap grows linearly, and the table says so."""
    study = comparison.Study(folder, ["small"])
    row = comparison.rows(study, None).set_index("algorithm").loc["nonstationary_triple_q"]
    runs = study.runs[(study.runs["learner"] == "nonstationary_triple_q.literal") & (study.runs["budget"] == "legs=1")]
    mean = runs.groupby("episodes")["gap"].mean()
    assert row["gap_slope_K"] == pytest.approx(np.polyfit(np.log(mean.index), np.log(mean), 1)[0], rel=1e-5)
    assert row["gap_slope_K"] == pytest.approx(1, abs=0.15)
    assert row["regret_bound"] > row["trivial_bound"] == 4 * 256


def test_the_windows_of_a_run_add_up_to_its_episodes(folder):
    run = simulate.run(environments.make("menu", 128, legs=3), "restart_q_ucb", "scaled", seed=2)
    totals = comparison.Study(folder, ["small"]).runs
    mine = totals[(totals["learner"] == "restart_q_ucb.scaled") & (totals["budget"] == "legs=3")]
    found = mine[(mine["episodes"] == 128) & (mine["seed"] == 2)].iloc[0]
    expected = [run.gap[-1], run.regret[-1], run.violation[-1], run.positive_violation[-1]]
    assert found[["gap", "regret", "violation", "positive_violation"]].tolist() == pytest.approx(expected)


def test_the_table_is_written_for_people_and_for_tex(folder):
    study = comparison.Study(folder, ["small"])
    table = comparison.rows(study, None)
    comparison.write(PLAN, folder)
    written = pd.read_csv(folder / "tables/comparison.csv")
    assert written["algorithm"].tolist() == table["algorithm"].tolist()
    np.testing.assert_allclose(written["gap_slope_K"], table["gap_slope_K"].astype(float), rtol=1e-5)
    slopes = pd.read_csv(folder / "tables/slopes.csv")
    np.testing.assert_allclose(slopes["value"], study.slopes["value"], rtol=1e-5)
    tex = (folder / "tables/comparison.tex").read_text()
    assert tex.count(r"\\") == len(table) + 1
    assert r"$\tilde O(H^4 S^{1/2} A^{1/2} K^{4/5} B^{1/3})$" in tex
