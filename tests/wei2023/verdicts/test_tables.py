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

K, EVERY, WINDOWS, SEEDS = (
    40,
    3,
    6,
    [0, 1, 4],
)  # strata of 3 and a last one of 1, windows of 6 and 7 episodes
LEARNERS = {
    "double_restart_triple_q.scaled": "double_restart_triple_q",
    "uniform.literal": "uniform",
}
MEASURES = [
    "value",
    "utility",
    "regret",
    "positive_regret",
    "violation",
    "positive_violation",
    "gap",
]


def configuration(**changed):
    experiment = {
        "name": "small",
        "role": "eta",
        "environment": {"name": "menu"},
        "budgets": [{"legs": 1}, {"legs": 3}],
        "episodes": [K],
        "seeds": SEEDS,
        "batch": 2,
        "evaluate_every": EVERY,
        "windows": WINDOWS,
        "learners": [
            {"algorithm": "double_restart_triple_q", "setting": "scaled"},
            {"algorithm": "uniform", "setting": "literal"},
        ],
    }
    return {"experiments": [{**experiment, **changed}]}


def carried_out(folder, **changed):
    """The folder, after all that the pipeline does before tables are made."""
    planned = plan.make(configuration(**changed))
    solved = folder / "environments/small.parquet"
    optima.solve(specifications.optimum(planned, "small"), solved)
    for unit, seeds, name in planned.run_files("small"):
        simulations.simulate_batch(
            specifications.simulation(planned, "small", unit), seeds, folder / name, solved
        )
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
        measures = [
            V,
            W,
            regret,
            max(regret, 0),
            violation,
            max(violation, 0),
            regret + best.multiplier * violation,
        ]
        rows.append([k, weight, *measures, best.value, best.multiplier])
    table = pd.DataFrame(
        rows, columns=["episode", "weight", *MEASURES, "optimal_value", "optimal_multiplier"]
    )
    if kept == "windows":
        table["window"] = [(k - 1) * WINDOWS // K for k in range(1, K + 1)]
        grouped = table.groupby("window")
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
        np.testing.assert_array_equal(
            exact["episode"], np.concatenate([checkpoints(K, EVERY, s) for s in SEEDS])
        )
        np.testing.assert_array_equal(
            exact["weight"], np.tile(stratum_lengths(K, EVERY), len(SEEDS))
        )
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
        np.testing.assert_array_equal(
            exact["uniform_value"].to_numpy().reshape(2, 2, -1)[:, 0],
            uniform["uniform_value"].to_numpy().reshape(2, -1),
        )


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
            means = np.array(
                [(part["weight"] * part[name]).sum() / part["weight"].sum() for part in parts]
            )
            expected = mean_interval(means)
            found = row[[f"{prefix}{name}", f"{prefix}{name}_low", f"{prefix}{name}_high"]].astype(
                float
            )
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-9, err_msg=prefix + name)
    every = pd.concat(runs)
    for column, name in (("optimal_value", "optimal_value"), ("multiplier", "optimal_multiplier")):
        expected = (every["weight"] * every[name]).sum() / every["weight"].sum()
        assert row[column] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("legs", [1, 3])
def test_the_summary_says_what_was_run_and_how_much_it_keeps(made, learner, legs):
    row = chosen(tables.load(made[1] / "summary.csv"), learner, legs).iloc[0]
    env = environments.make("menu", K, legs=legs)
    assert (row["episodes"], row["seeds"], row["horizon"], row["rho"]) == (
        K,
        len(SEEDS),
        env.H,
        env.rho,
    )
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
    env = environments.make("menu", K, legs=3)
    for seed in SEEDS:
        run = simulate.run(
            env, LEARNERS[learner], learner.rpartition(".")[2], seed, None, windows=K
        )
        mine = curves[curves["seed"] == seed]
        np.testing.assert_array_equal(mine["window"], range(WINDOWS))
        np.testing.assert_array_equal(mine["episode"], middles)
        for name in ("reward", "utility"):
            by_window = [getattr(run, name)[window == i].mean() for i in range(WINDOWS)]
            np.testing.assert_allclose(mine[name], by_window, atol=1e-12)
        np.testing.assert_allclose(
            mine["dual"], [run.dual[window == i][-1] for i in range(WINDOWS)], atol=1e-12
        )


def test_traces_are_those_of_each_learners_first_seed(made):
    traces = tables.load(made[1] / "traces.parquet")
    assert set(traces["learner"]) == {"double_restart_triple_q.scaled"}
    assert set(traces["seed"]) == {SEEDS[0]}
    run = simulate.run(
        environments.make("menu", K, legs=1), "double_restart_triple_q", "scaled", SEEDS[0], None
    )
    mine = traces[traces["budget"] == "legs=1"]
    for name, trace in run.learner.traces.items():
        rows = mine[mine["trace"] == name]
        np.testing.assert_array_equal(
            rows.pivot(index="row", columns="column", values="value"), trace
        )


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
    assert (
        summary[[f"{name}_{end}" for name in MEASURES for end in ("low", "high")]]
        .isna()
        .all(axis=None)
    )


def spoiled(folder, change):
    """The experiment's optima, changed, as a sound file."""
    file = folder / "environments/small.parquet"
    table, facts = files.read(file)
    rows = table.to_pylist()
    change(rows)
    files.write(file, type(table).from_pylist(rows, schema=table.schema), facts)


def test_a_gap_below_zero_is_refused_with_the_run_that_has_it(tmp_path):
    """If a policy beats the optimum of its episode, the optimum is wrong."""
    planned = carried_out(tmp_path)
    episode = int(checkpoints(K, EVERY, SEEDS[1])[5])

    def lower(rows):
        rows[0]["value"][rows[0]["episode"].index(episode)] -= 100.0

    spoiled(tmp_path, lower)
    with pytest.raises(
        ValueError, match=rf"(double|uniform).*, seed \d: a gap of -9\d\.\d in {episode}"
    ):
        tables.write(planned, tmp_path, "small")
    assert not (tmp_path / "tables").exists()


def test_a_gap_below_zero_by_rounding_alone_is_not(tmp_path):
    planned = carried_out(tmp_path, learners=[{"algorithm": "oracle", "setting": "literal"}])

    def lower(rows):
        for row in rows:
            row["value"] = [value - 1e-10 for value in row["value"]]

    spoiled(tmp_path, lower)
    tables.write(planned, tmp_path, "small")


def test_one_gap_below_zero_is_refused_also_where_windows_are_kept(tmp_path):
    planned = plan.make(configuration(keep="windows", evaluate_every=1))
    solved = tmp_path / "environments/small.parquet"
    optima.solve(specifications.optimum(planned, "small"), solved)

    def lower(rows):
        rows[0]["value"][10] -= 2.0  # in one episode of a window of seven

    spoiled(tmp_path, lower)
    for unit, seeds, name in planned.run_files("small"):
        simulations.simulate_batch(
            specifications.simulation(planned, "small", unit), seeds, tmp_path / name, solved
        )
    with pytest.raises(ValueError, match="a gap of -"):
        tables.write(planned, tmp_path, "small")


def test_names_are_read_back_as_text(tmp_path):
    """A learner may be called 1 or NA; a number that is missing is missing still."""
    frame = pd.DataFrame({"learner": ["1", "NA"], "episodes": [8, 8], "gap": [np.nan, 0.5]})
    tables.write_csv(tmp_path / "summary.csv", frame)
    pd.testing.assert_frame_equal(tables.load(tmp_path / "summary.csv"), frame)
