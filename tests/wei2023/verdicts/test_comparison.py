"""The comparison table is made from the runs: exponents, and what the constants put in."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from nscmdp import environments, simulate
from nscmdp.problem import Problem
from nscmdp.suite import optima, tuning
from wei2023.runs import simulations, specifications
from wei2023.study import layout, plan
from wei2023.verdicts import comparison, growth, tables

FIRST, OTHER = "nonstationary_triple_q.literal", "restart_q_ucb.scaled"
TUNED, LINEAR = "nonstationary_triple_q.tuned_each", "lsvi_primal_dual"
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
LONGER = SMALL | {
    "name": "longer",
    "budgets": [{"legs": 3}],
    "episodes": [512],
    "learners": LEARNERS[:1],
}
SEARCHED = {
    "name": "choice",
    "environment": {"name": "menu", "seed": 100},
    "episodes": 64,
    "checks": [128, 256],
}
SEARCHED |= {"searches": 2, "algorithms": ["nonstationary_triple_q"]}


def share(search):
    """An experiment with an instance of its own for the choice of one search."""
    chosen = {
        "algorithm": "nonstationary_triple_q",
        "setting": "tuned",
        "choice": f"search_{search}",
    }
    sweep = {"learner": {**chosen, "label": f"search_{search}"}, "over": {"tuned_at": ["each"]}}
    own = {
        "name": f"share_{search}",
        "readings": [{"seed": search + 1}],
        "learners": [],
        "sweeps": [sweep],
    }
    return SMALL | own | {"tuning": "choice"}


def entry(search, eta):
    """What a search kept."""
    numbers = dict.fromkeys(tuning.NOTED, 0.1 + search)
    kept = {"search": search, "generation": 1, "kept": True, "feasible": True}
    return {**kept, **numbers, "factors": {"epsilon": 0.5, "eta": eta}}


@pytest.fixture(scope="module")
def planned(tmp_path_factory):
    """Two searches on record, of which each has a share in the runs."""
    records = tmp_path_factory.mktemp("searches")
    kept = {str(K): [entry(0, 1.0), entry(1, K / 64)] for K in (64, 128, 256)}
    found = {"nonstationary_triple_q": kept}
    (records / layout.record("choice")).write_text(json.dumps({"searches": found}))
    experiments = [SMALL, LONGER, share(0), share(1)]
    return plan.make({"experiments": experiments, "tunings": [SEARCHED], "searches": str(records)})


@pytest.fixture(scope="module")
def folder(tmp_path_factory, planned):
    """The experiments carried out as the pipeline does it."""
    results = tmp_path_factory.mktemp("results")
    planned.check()
    for name, algorithm, episodes, file in planned.tuning_files():
        tuning.tune(specifications.tuning(planned, name, algorithm, episodes), results / file)
    for experiment in planned.experiments:
        solved = results / layout.optima(experiment)
        optima.solve(specifications.optimum(planned, experiment), solved)
        for learner, seeds, name in planned.run_files(experiment):
            tuned = [results / file for file in planned.tuned_by(experiment, learner)]
            spec = specifications.simulation(planned, experiment, learner)
            simulations.simulate_batch(spec, seeds, results / name, solved, tuned)
        tables.write(planned, results, experiment)
    return results


@pytest.fixture
def study(folder, planned):
    return comparison.Study(folder, planned.experiments)


def ran(study):
    table = comparison.rows(study, None)
    return table[table["note"] != "not run"].set_index("learner")


def of(study, learner):
    return study.runs[study.runs["learner"] == learner]


def test_rows_stand_in_the_papers_order_with_what_was_run(study):
    table = comparison.rows(study, None)
    first = ["propd_ppo", *["nonstationary_triple_q"] * 2, "double_restart_triple_q"]
    assert table["algorithm"].tolist()[:4] == first
    assert list(ran(study).index) == [TUNED, FIRST, OTHER]
    assert (ran(study)["gap_slope_K_low"] <= ran(study)["gap_slope_K"]).all()
    assert (ran(study)["instances"] == 2).all()
    assert ran(study)["tuned_at"].to_dict() == {TUNED: "each", FIRST: "", OTHER: ""}


def test_a_learner_in_two_experiments_is_one_that_goes_further(study):
    table = ran(study)
    assert table["largest_K"].to_dict() == {TUNED: 256, FIRST: 512, OTHER: 256}
    assert (table["slope_B_at_K"] == 256).all()
    assert (table["budget"] == "legs=3").all()
    assert table["smallest_K"].to_dict() == {TUNED: 64, FIRST: 64, OTHER: 64}


def test_the_shares_of_searches_are_one_learner_whose_unit_is_the_search(study):
    assert study.constants(TUNED) == "tuned at each K"
    assert [*study.shares[TUNED]] == ["search_0", "search_1"]
    runs = of(study, TUNED)
    served = runs.groupby("search")["reading"].unique()
    assert served.map(list).to_dict() == {"search_0": ["seed=1"], "search_1": ["seed=2"]}
    assert ran(study)["units"].tolist() == ["2 searches", "2 instances", "2 instances"]


@pytest.mark.parametrize(
    ("name", "choice", "expected"),
    [
        ("search_1.tuned_at=each", "search_1", (TUNED, "search_1")),
        ("mine", "search_1", ("mine", "")),
        (TUNED, "main", (TUNED, "")),
    ],
)
def test_a_share_is_labelled_by_its_choice(name, choice, expected):
    spec = {
        "algorithm": "nonstationary_triple_q",
        "setting": "tuned",
        "tuned_at": "each",
        "choice": choice,
    }
    assert comparison.share_of(name, spec) == expected


def test_an_exponent_is_the_mean_of_those_of_the_instances(study):
    """Literal Algorithm 1 is close to uniform: its gap grows linearly, and the table says so."""
    row = ran(study).loc[FIRST]
    runs = of(study, FIRST).query("budget == 'legs=3'")
    mean = runs.groupby(["episodes", "reading"])["gap"].mean().unstack()
    late = mean[mean.index >= 128]
    for column, points in {"gap_slope_K": mean, "gap_slope_K_late": late}.items():
        slopes = np.polyfit(np.log(points.index), np.log(points), 1)[0]
        assert row[column] == pytest.approx(slopes.mean())
    assert row["gap_slope_K"] == pytest.approx(1, abs=0.15)


def test_claims_and_lower_bounds_are_numbers_beside_the_exponents(study):
    table = comparison.rows(study, None).drop_duplicates("algorithm").set_index("algorithm")
    columns = ["claimed_slope_K", "lower_slope_K", "claimed_slope_B", "lower_slope_B"]
    first, third = (table.loc[name, columns] for name in ("nonstationary_triple_q", LINEAR))
    assert first.tolist() == pytest.approx([4 / 5, 2 / 3, 1 / 3, 1 / 3])
    assert third.tolist() == pytest.approx([3 / 4, 2 / 3, 1 / 4, 1 / 3])
    assert table.loc["restart_q_ucb", "claimed_slope_K"] == pytest.approx(2 / 3)  # T = H K
    assert table.loc["sliding_window_opt_cmdp", ["claimed_slope_K", "claimed_slope_B"]].isna().all()


def test_what_the_constants_put_in_is_measured_at_the_largest_K(study):
    study.runs["violation"] = -study.runs["violation"].abs()
    row, runs = ran(study).loc[TUNED], of(study, TUNED)
    problem = Problem.of(environments.make("menu", 256, legs=3, seed=1))
    eps = 0.5 * problem.B ** (1 / 3) / 256**0.2
    last = runs[(runs["budget"] == "legs=3") & (runs["episodes"] == 256)].mean(numeric_only=True)
    assert row["eps"] == pytest.approx(eps)
    assert row["eps_slope_K"] == pytest.approx(-0.2)
    assert row["surplus_of_eps"] == pytest.approx(-last["violation"] / 256 / eps)
    price = last["regret"] - last["gap"]
    assert row["surplus_of_regret"] == pytest.approx(price / last["positive_regret"])
    assert np.isnan(ran(study).loc[OTHER, "eps"])
    study.runs["violation"] *= -1
    assert np.isnan(comparison._measured(study, TUNED)["surplus_of_eps"])  # there is no surplus


def test_where_surplus_utility_is_the_regret_the_row_says_so():
    said = comparison.put_in(0.8, 0.9, -0.2)
    assert "80% of the regret is the price of surplus utility, 90% of eps ~ K^-0.20:" in said
    assert said.endswith("put in an exponent of about 0.80")
    for of_regret, of_eps in [(0.4, 0.9), (0.8, 0.2), (0.8, 2.0), (np.nan, np.nan)]:
        assert comparison.put_in(of_regret, of_eps, -0.2) == ""


def test_the_violation_is_told_at_the_middle_budget_and_at_the_worst(study):
    row, runs = ran(study).loc[FIRST], of(study, FIRST)
    mean = (runs["violation"] / runs["episodes"]).groupby([runs["budget"], runs["episodes"]]).mean()
    at_its_largest_K = {
        "legs=1": mean["legs=1", 256],
        "legs=3": mean["legs=3", 512],
        "legs=9": mean["legs=9", 256],
    }
    worst = max(at_its_largest_K, key=at_its_largest_K.get)
    assert row["violation_per_episode"] == pytest.approx(at_its_largest_K["legs=3"])
    assert row["worst_violation_per_episode"] == pytest.approx(at_its_largest_K[worst])
    assert (row["worst_budget"], row["worst_K"]) == (worst, 512 if worst == "legs=3" else 256)
    ends = row["violation_per_episode_low"], row["violation_per_episode_high"]
    assert ends[0] <= row["violation_per_episode"] <= ends[1]
    assert row["theorem_from_K"] > 1e30


def test_factors_that_two_experiments_chose_at_each_K_are_put_together(monkeypatch, tmp_path):
    specs = {
        "a": {"l": {"factors_at": {"64": {"eta": 1.0}}}},
        "b": {"l": {"factors_at": {"128": {"eta": 2.0}}}},
    }
    monkeypatch.setattr(tables, "learners", lambda file: specs[file.name])
    shares, called = comparison._shares([tmp_path / "a", tmp_path / "b"])
    assert shares == {"l": {"": {"factors_at": {"64": {"eta": 1.0}, "128": {"eta": 2.0}}}}}
    assert called == {"l": ("l", "")}


def test_one_search_is_said_to_leave_its_noise_out(study):
    name, spec = "restart_q_ucb.scaled", study.learners[OTHER]
    study.learners[name] = spec | {"setting": "tuned", "tuned_at": "once"}
    assert comparison.NOISE_LEFT_OUT in comparison._measured(study, name)["note"]
    assert comparison.NOISE_LEFT_OUT not in comparison._measured(study, TUNED)["note"]


def test_constants_stand_from_tuned_at_each_K_to_literal(study):
    names = ["literal", "tuned", "scaled", "tuned_each"]
    study.learners = {f"triple_q.{name}": {} for name in names}
    assert comparison.plain(study, "triple_q") == [f"triple_q.{names[i]}" for i in (3, 1, 2, 0)]


def test_the_windows_of_a_run_add_up_to_its_episodes(study):
    env = environments.make("menu", 128, legs=3, seed=2)
    run = simulate.run(env, "restart_q_ucb", "scaled", seed=2)
    runs = of(study, OTHER).set_index(["reading", "budget", "episodes", "seed"])
    for name in ("gap", "regret", "violation", "positive_violation"):
        assert runs.loc[("seed=2", "legs=3", 128, 2), name] == pytest.approx(getattr(run, name)[-1])


def test_the_table_is_written_for_people_and_for_tex(folder, study, planned):
    table = comparison.rows(study, None)
    comparison.write(planned, folder)
    written = pd.read_csv(folder / "tables/comparison.csv")
    assert written["algorithm"].tolist() == table["algorithm"].tolist()
    expected = table["gap_slope_K"].astype(float)
    np.testing.assert_allclose(written["gap_slope_K"], expected, rtol=1e-5)
    slopes = pd.read_csv(folder / "tables/slopes.csv")
    np.testing.assert_allclose(slopes["value"], study.slopes["value"], rtol=1e-5)
    assert set(slopes["which"]) == {"all", "late", "local"}
    assert set(slopes["quantity"]) == {*growth.GROWING}
    violations = pd.read_csv(folder / "tables/violations.csv")
    assert set(violations["role"]) == {"growth"}
    assert len(violations) == 3 * 3 * 3 + 1  # learners, budgets, K; and the longer one
    tex = (folder / "tables/comparison.tex").read_text()
    assert tex.count(r"\\") == len(table) + 2  # with a head and an explanation
    assert r"$\tilde O(H^4 S^{1/2} A^{1/2} K^{4/5} B^{1/3})$" in tex


def test_the_table_in_tex_is_whole_and_escapes_what_tex_reads_otherwise(study):
    table = comparison.rows(study, None)
    odd = ["50%_faster & better #1", "own_{constants}", "a^b~c"]
    table.loc[0, ["algorithm", "setting", "known_budget"]] = odd
    tex = comparison.tex(table)
    environments_of = {way: re.findall(rf"\\{way}\{{(\w+)\}}", tex) for way in ("begin", "end")}
    assert environments_of == {"begin": ["tabular"], "end": ["tabular"]}
    head, *rows, below = [line for line in tex.splitlines() if line.endswith(r"\\")]
    assert len(rows) == len(table)
    assert {len(re.split(r"(?<!\\)&", row)) for row in (head, *rows)} == {12}
    assert below.startswith(r"\multicolumn{12}{l}{Exponents of single searches")
    assert rows[0].startswith(r"50\%\_faster \& better \#1 & own\_\{constants\} & ")
    assert r"a\textasciicircum b\textasciitilde c" in rows[0]
    for row in rows:
        outside = re.sub(r"\$[^$]*\$", "", row)
        assert not re.search(r"(?<!\\)[%_#$^~]", outside), row
        assert row.count("{") == row.count("}")
    assert [tex.count(rule) for rule in (r"\toprule", r"\midrule", r"\bottomrule")] == [1, 2, 1]
