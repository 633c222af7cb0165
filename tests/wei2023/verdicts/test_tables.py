"""The tables of a small experiment beside plain sums over the runs themselves."""

import numpy as np
import pandas as pd
import pytest

from nscmdp import algorithms, budget, environments, files, optimum, simulate
from nscmdp.metrics import mean_interval
from nscmdp.randomness import checkpoints, stratum_lengths
from nscmdp.suite import optima
from wei2023.runs import simulations, specifications
from wei2023.study import plan
from wei2023.verdicts import tables

# Strata of 3 and a last one of 1, windows of 6 and 7 episodes.
K, EVERY, WINDOWS, SEEDS = 40, 3, 6, [0, 1, 4]
DOUBLE, UNIFORM = "double_restart_triple_q.scaled", "uniform.literal"
LEARNERS = {DOUBLE: "double_restart_triple_q", UNIFORM: "uniform"}
SIGNED = ["regret", "positive_regret", "violation", "positive_violation", "gap"]
MEASURES = ["value", "utility", *SIGNED]


def configuration(**changed):
    learners = [name.split(".") for name in LEARNERS]
    experiment = {"name": "small", "role": "eta", "environment": {"name": "menu"}, "episodes": [K]}
    experiment |= {"budgets": [{"legs": 1}, {"legs": 3}], "seeds": SEEDS, "batch": 2}
    experiment |= {"evaluate_every": EVERY, "windows": WINDOWS}
    experiment["learners"] = [{"algorithm": one, "setting": setting} for one, setting in learners]
    return {"experiments": [{**experiment, **changed}]}


def carried_out(folder, lower=None, **changed):
    """All that the pipeline does before tables are made; ``lower`` changes the optima in their file."""
    planned, solved = plan.make(configuration(**changed)), folder / "environments/small.parquet"
    optima.solve(specifications.optimum(planned, "small"), solved)
    if lower is not None:
        table, facts = files.read(solved)
        rows = table.to_pylist()
        lower(rows)
        files.write(solved, type(table).from_pylist(rows, schema=table.schema), facts)
    for unit, seeds, name in planned.run_files("small"):
        spec = specifications.simulation(planned, "small", unit)
        simulations.simulate_batch(spec, seeds, folder / name, solved)
    return planned


@pytest.fixture(scope="module", params=["episodes", "windows"])
def made(request, tmp_path_factory):
    """What is kept of each run: how, and a folder with its tables."""
    folder = tmp_path_factory.mktemp(request.param)
    changed = {"keep": "windows", "evaluate_every": 1} if request.param == "windows" else {}
    planned = carried_out(folder, **changed)
    tables.write(planned, folder, "small")
    return request.param, folder / "tables/small"


def measured(learner, legs, seed, kept):
    """By plain sums: the rows (episode, weight, and the measures) that the table of exact values must have."""
    env = environments.make("menu", K, legs=legs)
    setting = learner.rpartition(".")[2]
    run = simulate.run(env, LEARNERS[learner], setting, seed, EVERY if kept == "episodes" else 1)
    rows = []
    for k, weight, V, W in zip(run.episode, run.weight, run.value, run.utility_value, strict=True):
        best = optimum.constrained(env.at(int(k)))
        regret, violation = best.value - V, env.rho - W
        signed = [regret, max(regret, 0), violation, max(violation, 0)]
        gap = regret + best.multiplier * violation
        rows.append([k, weight, V, W, *signed, gap, best.value, best.multiplier])
    columns = ["episode", "weight", *MEASURES, "optimal_value", "optimal_multiplier"]
    table = pd.DataFrame(rows, columns=columns)
    if kept == "windows":
        grouped = table.groupby((table["episode"] - 1) * WINDOWS // K)
        table = grouped.mean().assign(weight=grouped.size())
    return table


def chosen(table, learner, legs):
    return table[(table["learner"] == learner) & (table["budget"] == f"legs={legs}")]


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("legs", [1, 3])
def test_exact_values_are_those_of_the_runs(made, learner, legs):
    kept, folder = made
    exact = chosen(tables.load(folder / "exact.parquet"), learner, legs)
    assert sorted(exact["seed"].unique()) == SEEDS
    for seed in SEEDS:
        expected = measured(learner, legs, seed, kept)
        found = exact[exact["seed"] == seed].rename(columns={"utility_value": "utility"})
        np.testing.assert_allclose(found[expected.columns], expected, atol=1e-9)
    if kept == "episodes":
        asked, weights = [checkpoints(K, EVERY, s) for s in SEEDS], stratum_lengths(K, EVERY)
        np.testing.assert_array_equal(exact["episode"], np.concatenate(asked))
        np.testing.assert_array_equal(exact["weight"], np.tile(weights, len(SEEDS)))
    assert (exact["experiment"] == "small").all()
    assert (exact["reading"] == "default").all()
    assert (exact["algorithm"] + "." + exact["setting"] == learner).all()


def test_the_value_of_the_uniform_policy_stands_beside_every_evaluated_episode(made):
    kept, folder = made
    exact = tables.load(folder / "exact.parquet")
    if kept == "windows":
        assert "uniform_value" not in exact
    else:
        uniform = exact[exact["algorithm"] == "uniform"]
        np.testing.assert_allclose(uniform["uniform_value"], uniform["value"], rtol=1e-12)
        both = exact["uniform_value"].to_numpy().reshape(2, 2, -1)  # budgets, learners
        np.testing.assert_array_equal(both[:, 0], both[:, 1])


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("legs", [1, 3])
def test_the_summary_has_weighted_means_over_the_run_and_over_its_last_fifth(made, learner, legs):
    kept, folder = made
    summary = chosen(tables.load(folder / "summary.csv"), learner, legs)
    assert len(summary) == 1
    row = summary.iloc[0]
    runs = [measured(learner, legs, seed, kept) for seed in SEEDS]
    for prefix, parts in (("", runs), ("last_", [run[run["episode"] > 0.8 * K] for run in runs])):
        for name in MEASURES:
            means = [np.average(part[name], weights=part["weight"]) for part in parts]
            ends = [f"{prefix}{name}{end}" for end in ("", "_low", "_high")]
            expected = mean_interval(np.array(means))
            np.testing.assert_allclose(row[ends].astype(float), expected, rtol=1e-5, atol=1e-9)
    every = pd.concat(runs)
    for column, name in (("optimal_value", "optimal_value"), ("multiplier", "optimal_multiplier")):
        expected = np.average(every[name], weights=every["weight"])
        assert row[column] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("legs", [1, 3])
def test_the_summary_says_what_was_run_and_how_much_it_keeps(made, learner, legs):
    row = chosen(tables.load(made[1] / "summary.csv"), learner, legs).iloc[0]
    env = environments.make("menu", K, legs=legs)
    found = row[["episodes", "seeds", "horizon", "rho"]].tolist()
    assert found == [K, len(SEEDS), env.H, env.rho]
    assert row["B"] == pytest.approx(budget.variation(env).total, rel=1e-5)
    run = simulate.run(env, LEARNERS[learner], learner.rpartition(".")[2], evaluate_every=None)
    assert row["state_bytes"] == algorithms.state_bytes(run.learner)
    assert (row["state_bytes"] > 0) == (learner != "uniform.literal")


@pytest.mark.parametrize("learner", LEARNERS)
def test_curves_are_realised_means_at_the_middle_of_every_window(made, learner):
    curves = chosen(tables.load(made[1] / "curves.parquet"), learner, 3)
    episodes = np.arange(1, K + 1)
    window = (episodes - 1) * WINDOWS // K
    middles = [episodes[window == i].mean() for i in range(WINDOWS)]
    env, setting = environments.make("menu", K, legs=3), learner.rpartition(".")[2]
    for seed in SEEDS:
        run = simulate.run(env, LEARNERS[learner], setting, seed, None, windows=K)
        mine = curves[curves["seed"] == seed]
        np.testing.assert_array_equal(mine["window"], range(WINDOWS))
        np.testing.assert_array_equal(mine["episode"], middles)
        for name in ("reward", "utility"):
            by_window = [getattr(run, name)[window == i].mean() for i in range(WINDOWS)]
            np.testing.assert_allclose(mine[name], by_window, atol=1e-12)
        last = [run.dual[window == i][-1] for i in range(WINDOWS)]
        np.testing.assert_allclose(mine["dual"], last, atol=1e-12)


def test_traces_are_those_of_each_learners_first_seed(made):
    traces = tables.load(made[1] / "traces.parquet")
    assert (set(traces["learner"]), set(traces["seed"])) == ({DOUBLE}, {SEEDS[0]})
    env = environments.make("menu", K, legs=1)
    run = simulate.run(env, LEARNERS[DOUBLE], "scaled", SEEDS[0], None)
    mine = traces[traces["budget"] == "legs=1"]
    for name, trace in run.learner.traces.items():
        rows = mine[mine["trace"] == name].pivot(index="row", columns="column", values="value")
        np.testing.assert_array_equal(rows, trace)


def test_what_the_rows_are_made_from_is_kept_with_them(made):
    for name in ("exact", "curves", "traces"):
        file = made[1] / f"{name}.parquet"
        assert tables.cases(file) == [("default", "legs=1", K), ("default", "legs=3", K)]
        assert {one: spec["algorithm"] for one, spec in tables.learners(file).items()} == LEARNERS
        env = tables.environment(file, "default", "legs=3", K)
        assert env.fingerprint() == environments.make("menu", K, legs=3).fingerprint()
    with pytest.raises(ValueError, match=r"exact\.parquet has no case default, legs=9, K = 40"):
        tables.environment(made[1] / "exact.parquet", "default", "legs=9", K)


def test_one_seed_has_means_and_no_intervals(tmp_path):
    planned = carried_out(tmp_path, seeds=[3])
    tables.write(planned, tmp_path, "small")
    summary = tables.load(tmp_path / "tables/small/summary.csv")
    assert summary[MEASURES].notna().all(axis=None)
    ends = [f"{name}_{end}" for name in MEASURES for end in ("low", "high")]
    assert summary[ends].isna().all(axis=None)


def test_a_gap_below_zero_is_refused_with_the_run_that_has_it(tmp_path):
    """If a policy beats the optimum of its episode, the optimum is wrong."""
    episode = int(checkpoints(K, EVERY, SEEDS[1])[5])

    def lower(rows):
        rows[0]["value"][rows[0]["episode"].index(episode)] -= 100.0

    planned = carried_out(tmp_path, lower)
    run = rf"(double|uniform).*, seed \d: a gap of -9\d\.\d in {episode}"
    with pytest.raises(ValueError, match=run):
        tables.write(planned, tmp_path, "small")
    assert not (tmp_path / "tables").exists()


def test_a_gap_below_zero_by_rounding_alone_is_not(tmp_path):
    def lower(rows):
        for row in rows:
            row["value"] = [value - 1e-10 for value in row["value"]]

    oracle = {"algorithm": "oracle", "setting": "literal"}
    tables.write(carried_out(tmp_path, lower, learners=[oracle]), tmp_path, "small")


def test_one_gap_below_zero_is_refused_also_where_windows_are_kept(tmp_path):
    def lower(rows):
        rows[0]["value"][10] -= 2.0  # in one episode of a window of seven

    planned = carried_out(tmp_path, lower, keep="windows", evaluate_every=1)
    with pytest.raises(ValueError, match="a gap of -"):
        tables.write(planned, tmp_path, "small")


def test_names_are_read_back_as_text(tmp_path):
    """A learner may be called 1 or NA; a number that is missing is missing still."""
    frame = pd.DataFrame({"learner": ["1", "NA"], "episodes": [8, 8], "gap": [np.nan, 0.5]})
    tables.write_csv(tmp_path / "summary.csv", frame)
    pd.testing.assert_frame_equal(tables.load(tmp_path / "summary.csv"), frame)
