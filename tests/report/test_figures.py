"""Figures and tables show what is in the results, whatever an accepted configuration leaves out."""

import itertools
import json

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from IPython.display import Image, Markdown
from matplotlib.colors import same_color
from matplotlib.patches import Rectangle

from nscmdp import budget, environments, metrics
from nscmdp.analysis.replication import CROSSED
from nscmdp.analysis.tables import KEYS, write_csv
from nscmdp.report import style
from nscmdp.report.figures import comparison_table, grid_world, linear, replication
from nscmdp.report.figures import environments as shown_environments
from nscmdp.report.results import Results
from nscmdp.runs import files
from nscmdp.study import layout

MENU = {"name": "menu", "options": {}}
GRID = {"name": "grid_world", "options": {"map": "6x6", "horizon": 15, "limit": 2.0}}
FIRST, SECOND = "nonstationary_triple_q", "triple_q"
OWN = {factor: levels[0] for factor, levels in CROSSED.items()} | {"no_btilde": False, "start": "optimistic"}


def learner(algorithm=FIRST, setting="tuned", value=1.0, cost=1.0, **spec):
    """A learner of a known value and cost per episode; the second half of a run earns 0.5 more, a seed more 0.2."""
    return {"algorithm": algorithm, "setting": setting, "variants": {}, **spec, "value": value, "cost": cost}


def case(episodes=100, reading="default", budget="default", B=2.0, env=MENU):
    fingerprint = environments.make(env["name"], episodes, **env["options"]).fingerprint()
    return {**env, "reading": reading, "budget": budget, "episodes": episodes, "B": B, "fingerprint": fingerprint}


def experiment(folder, name, learners, cases=None, seeds=2, traces=()):
    """The tables of an experiment: an optimum of value 2 and cost 1.5, a horizon of 5, a limit of 2."""
    cases = cases or [case()]
    exact = pd.DataFrame(
        {"experiment": name, **{key: place[key] for key in ("reading", "budget", "episodes", "B")}, "learner": called}
        | {"algorithm": spec["algorithm"], "setting": spec["setting"], "seed": seed, "horizon": 5, "rho": 3.0}
        | {"episode": place["episodes"] * (0.25 + 0.5 * half), "weight": place["episodes"] // 2, "uniform_value": 0.0}
        | {"value": spec["value"] + 0.5 * half + 0.2 * seed, "utility_value": 5 - spec["cost"]}
        for place, (called, spec), seed, half in itertools.product(cases, learners.items(), range(seeds), (0, 1))
    )
    best = np.tile([2.0, 3.5, 0.5], (len(exact), 1))
    exact = exact.assign(**metrics.compare(exact["value"].to_numpy(), exact["utility_value"].to_numpy(), best, 3.0))
    dual = np.where(exact["algorithm"] == "oracle", np.nan, 3.0)
    kept = exact[[*KEYS, "B", "seed", "horizon", "rho", "episode"]]
    curves = kept.assign(reward=exact["value"], utility=exact["utility_value"], dual=dual)
    first = exact[exact["learner"].isin(traces) & (exact["seed"] == 0)].drop_duplicates(KEYS)[[*KEYS, "seed"]]
    arms = [(i, j, p) for (i, j), p in np.ndenumerate([[0.5, 0.5], [0.25, 0.75], [0.1, 0.9]])]
    chosen = pd.DataFrame(arms, columns=["row", "column", "value"]).assign(trace="probabilities")
    specs = {key: {k: v for k, v in spec.items() if k not in ("value", "cost")} for key, spec in learners.items()}
    facts = {"cases": [{k: v for k, v in one.items() if k != "B"} for one in cases], "learners": specs}
    for file, table in (("exact", exact), ("curves", curves), ("traces", first.merge(chosen, how="cross"))):
        made = pa.Table.from_pandas(table, preserve_index=False).replace_schema_metadata(None)
        files.write(folder / layout.table(f"{file}.parquet", name), made, facts)
    summary(exact, seeds).to_csv(folder / layout.table("summary.csv", name), index=False)


def summary(exact, seeds):
    """Means with intervals of 0.1 to either side; one seed has none."""
    grouped = exact.rename(columns={"utility_value": "utility"}).groupby([*KEYS, "B", "rho", "horizon"], sort=False)
    means = grouped[["value", "utility", *metrics.MEASURES]].mean()
    half = 0.1 if seeds > 1 else np.nan
    columns = [means.add_prefix(last) + move for last in ("", "last_") for move in (0, -half, half)]
    ends = [frame.add_suffix(end) for frame, end in zip(columns, ("", "_low", "_high") * 2, strict=True)]
    return pd.concat(ends, axis=1).reset_index()


def labels(figure):
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def texts(ax):
    return [text.get_text() for text in ax.texts]


def line(ax, label):
    (found,) = [one for one in ax.lines if one.get_label() == label]
    return found


def hatched(ax):
    return [patch for patch in ax.patches if isinstance(patch, Rectangle) and patch.get_hatch()]


def dotted(found):
    return found._unscaled_dash_pattern[1] is not None


SIMULATED = {
    f"{FIRST}.literal": learner(setting="literal", value=0.2),
    f"{FIRST}.tuned": learner(value=1.0),
    f"{SECOND}.tuned": learner(SECOND, value=1.2, cost=3.0),
}


def draw_simulation(folder, cases, **options):
    experiment(folder, "one", SIMULATED, cases, **options)
    return grid_world.grid_world(Results(folder, {"grid_world": ["one"]}))


def test_a_map_and_a_row_of_reward_and_cost_for_each_setting(tmp_path):
    figure = draw_simulation(tmp_path, [case(env=GRID)])
    assert len(figure.axes) == 5
    assert figure.axes[0].get_title() == "(a) 6 x 6 map: H = 15, limit 2, K = 100, B = 2.00"
    reward, cost = figure.axes[3:]
    assert list(line(reward, style.title(FIRST)).get_ydata()) == pytest.approx([1.1, 1.6])
    assert list(line(cost, style.title(SECOND)).get_ydata()) == [3.0, 3.0]
    assert list(line(cost, "limit").get_ydata()) == [2.0, 2.0]
    assert set(line(reward, "constrained optimum").get_ydata()) == {2.0}
    assert set(line(cost, "constrained optimum").get_ydata()) == {1.5}
    assert reward.get_ylabel() == "tuned\nreward per episode"
    assert labels(figure) == [style.title(FIRST), "constrained optimum", "limit", style.title(SECOND)]


def test_of_several_cases_the_first_is_drawn_at_the_largest_K(tmp_path):
    budgets = [("default", "legs=2"), ("default", "legs=1"), ("location=current", "legs=2")]
    cases = [case(K, reading, budget, env=GRID) for reading, budget in budgets for K in (100, 400)]
    figure = draw_simulation(tmp_path, cases)
    assert figure.axes[0].get_title().endswith("K = 400, B = 2.00, legs=2")
    assert list(line(figure.axes[3], style.title(FIRST)).get_xdata()) == [0.1, 0.3]
    rows = grid_world.numbers(Results(tmp_path, {"grid_world": ["one"]})).data
    assert len(rows) == 3 * 6
    assert list(rows.columns[:4]) == ["experiment", "reading", "budget", "K"]


def test_one_seed_has_a_line_and_no_interval(tmp_path):
    figure = draw_simulation(tmp_path, [case(env=GRID)], seeds=1)
    assert list(line(figure.axes[3], style.title(FIRST)).get_ydata()) == [1.0, 1.5]
    rows = grid_world.numbers(Results(tmp_path, {"grid_world": ["one"]})).data
    assert list(rows["cost"]) == ["1.00", "1.00", "3.00"]


def test_costs_have_the_ends_of_the_utility_the_other_way_round(tmp_path):
    draw_simulation(tmp_path, [case(env=GRID)])
    rows = grid_world.numbers(Results(tmp_path, {"grid_world": ["one"]})).data
    assert list(rows["cost"]) == ["1.00 [0.90, 1.10]"] * 2 + ["3.00 [2.90, 3.10]"]
    assert list(rows["limit"]) == [2.0] * 3


GROWING = {
    f"{FIRST}.tuned_each": learner(value=1.2, cost=2.5, tuned_at="each", factors_at={}),
    f"{FIRST}.tuned": learner(value=1.0, cost=3.0),
    f"{FIRST}.scaled": learner(setting="scaled", value=2.0, cost=3.0),
    f"{FIRST}.literal": learner(setting="literal", value=0.0),
    "double_restart_triple_q.tuned": learner("double_restart_triple_q", value=2.0, cost=3.0),
}
ONCE = "tuned once"
KINDS = ["tuned at each K", ONCE, "defaults", "literal"]


def grown(folder, cases=None, **options):
    experiment(folder, "g", GROWING, cases, **options)
    return drawable(Results(folder, {"growth": ["g"]}))


def drawable(results):
    for name in ("slopes", "violations"):
        table = getattr(results.study("growth"), name)
        write_csv(results.file(f"{name}.csv"), table.assign(role="growth"))
    return results


def instances(Ks, budgets=(1, 10, 100), readings=("seed=1", "seed=2")):
    """Cases of instances that agree on B but for rounding."""
    return [
        case(K, reading, f"legs={B}", B * (1 + 1e-15 * i))
        for i, reading in enumerate(readings)
        for B in budgets
        for K in Ks
    ]


def test_growth_sums_over_K_and_means_per_episode(tmp_path):
    figure = comparison_table.growth(grown(tmp_path, instances([64, 128])))
    gap, regret, local, along_B, *violation = figure.axes[:7]
    assert list(line(regret, ONCE).get_ydata()) == pytest.approx([64 * 0.65, 128 * 0.65])
    assert list(line(gap, ONCE).get_ydata()) == pytest.approx([64 * 1.15, 128 * 1.15])
    assert list(line(local, ONCE).get_ydata()) == pytest.approx([1.0])
    assert list(line(local, ONCE).get_xdata()) == pytest.approx([64 * 2**0.5])
    assert list(line(along_B, ONCE).get_xdata()) == pytest.approx([1.0, 10.0, 100.0])
    assert list(line(along_B, ONCE).get_ydata()) == pytest.approx([1.15] * 3)
    for ax in violation:
        assert list(line(ax, ONCE).get_ydata()) == pytest.approx([1.0, 1.0])
    assert [ax.get_yscale() for ax in figure.axes[:7]] == ["log", "log", "linear", "log", *["linear"] * 3]
    assert [ax.get_title("right") for ax in violation] == ["at legs=1", "at legs=10", "at legs=100"]
    assert violation[0].get_ylabel() == "violation per episode"
    assert texts(gap) == ["0.8", "1"]
    assert texts(along_B) == ["1/3"]
    assert labels(figure) == KINDS


def test_each_algorithm_has_a_row_and_each_instance_a_thin_line(tmp_path):
    figure = comparison_table.growth(grown(tmp_path, instances([64, 128])))
    titles = [style.title(name) for name in (FIRST, "double_restart_triple_q")]
    assert [ax.get_title("left") for ax in figure.axes[::7]] == titles
    widths = [one.get_linewidth() for one in figure.axes[7].lines if same_color(one.get_color(), colour(figure, ONCE))]
    assert widths.count(0.5) == 2
    assert len(widths) == 3


def colour(figure, label):
    return line(figure.axes[0], label).get_color()


def test_constants_have_dashes_of_their_own(tmp_path):
    gap = comparison_table.growth(grown(tmp_path)).axes[0]
    patterns = [line(gap, kind)._unscaled_dash_pattern[1] for kind in KINDS]
    assert patterns[0] is None
    assert patterns[3] == (1, 1)
    assert len(set(map(str, patterns))) == 4


def test_a_K_of_one_budget_alone_is_in_the_panels_of_that_budget(tmp_path):
    cases = [*instances([64, 128]), *instances([256], budgets=(10,))]
    gap, _, local, along_B, *violation = comparison_table.growth(grown(tmp_path, cases)).axes[:7]
    assert [len(line(ax, ONCE).get_xdata()) for ax in (gap, local, *violation)] == [3, 2, 2, 3, 2]
    assert list(line(along_B, ONCE).get_xdata()) == pytest.approx([1.0, 10.0, 100.0])


def test_what_is_not_positive_is_left_out_of_a_logarithmic_panel(tmp_path):
    figure = comparison_table.growth(grown(tmp_path))
    below = line(figure.axes[1], "defaults")
    assert (below.get_ydata() < 0).all()
    assert not np.isfinite(figure.axes[1].transData.transform(below.get_xydata())[:, 1]).any()
    assert texts(figure.axes[6]) == ["regret:\nnowhere positive"]


def test_an_algorithm_that_did_not_run_at_the_middle_budget_says_so(tmp_path):
    for name, algorithm, budgets in (("g", FIRST, (1, 10, 100)), ("h", SECOND, (100,))):
        learners = {f"{algorithm}.tuned": learner(algorithm, cost=3.0)}
        experiment(tmp_path, name, learners, instances([64, 128], budgets))
    figure = comparison_table.growth(drawable(Results(tmp_path, {"growth": ["g", "h"]})))
    gap, regret, local, along_B = figure.axes[7:11]
    assert [texts(ax) for ax in (gap, regret)] == [["gap:\nnot run here"], ["regret:\nnot run here"]]
    assert local.get_legend_handles_labels() == ([], [])
    assert list(line(along_B, ONCE).get_xdata()) == pytest.approx([100.0])


def test_one_K_one_budget_and_one_seed_are_points(tmp_path):
    gap, regret, local, along_B, violation = comparison_table.growth(grown(tmp_path, seeds=1)).axes[:5]
    assert [len(line(ax, ONCE).get_xdata()) for ax in (gap, regret, along_B, violation)] == [1, 1, 1, 1]
    assert [texts(ax) for ax in (gap, regret, along_B)] == [[]] * 3  # a guide needs two
    assert not [one for one in local.lines if one.get_label() == ONCE]


def test_a_budget_of_zero_is_drawn_on_a_plain_scale(tmp_path):
    along_B = comparison_table.growth(grown(tmp_path, [case(B=0.0)])).axes[3]
    assert along_B.get_xscale() == "linear"
    assert list(line(along_B, ONCE).get_xdata()) == [0.0]


def test_arms_are_stacked_to_one(tmp_path):
    results = grown(tmp_path, instances([64, 128]), traces=["double_restart_triple_q.tuned"])
    (ax,) = comparison_table.arms(results).axes
    assert ax.get_title() == f"{style.title('double_restart_triple_q')}, tuned once"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["arm 1", "arm 0"]
    lower, upper = (area.get_paths()[0].vertices[:, 1].max() for area in ax.collections)
    assert (lower, upper) == (0.5, 1.0)
    assert (ax.get_xlim(), ax.get_xlabel()) == ((0.5, 3.5), "epoch")


def test_without_arms_the_figure_says_so(tmp_path):
    (ax,) = comparison_table.arms(grown(tmp_path)).axes
    assert texts(ax) == ["No learner chose among arms."]


def test_the_table_shows_intervals_and_what_was_not_run(tmp_path):
    results = grown(tmp_path)
    slope = {"gap_slope_K": [0.5, np.nan], "gap_slope_K_low": [0.4, np.nan], "gap_slope_K_high": [0.6, np.nan]}
    kept = {f"violation_per_episode{end}": [v, np.nan] for end, v in (("", -0.02), ("_low", -0.03), ("_high", -0.01))}
    rows = {"algorithm": [FIRST, "propd_ppo"], "setting": ["tuned", ""], **slope, **kept, "regret_bound": [7e5, np.nan]}
    pd.DataFrame(rows).to_csv(results.file("comparison.csv"), index=False)
    shown = comparison_table.table(results)
    assert list(shown.data["gap_slope_K"]) == ["0.50 [0.40, 0.60]", ""]
    assert list(shown.data["violation_per_episode"]) == ["-0.020 [-0.030, -0.010]", ""]
    assert list(shown.data.columns) == ["algorithm", "setting", "gap_slope_K", "violation_per_episode"]
    assert "nan" not in shown.to_html()


def test_the_K_of_a_theorem_stands_beside_the_largest_that_ran(tmp_path):
    results = grown(tmp_path)
    rows = {"algorithm": [FIRST, FIRST, "propd_ppo"], "setting": ["tuned", "literal", ""], "tuned_at": ["each", "", ""]}
    rows |= {"largest_K": [2**20, 2**16, np.nan], "theorem_from_K": [3e44, 3e44, np.nan]}
    rows |= {"regret_bound": [7e5, np.nan, np.nan], "why_no_bound": ["", "eps = 9e+05 exceeds ...", ""]}
    pd.DataFrame({**rows, "note": ["", "", "not run"]}).to_csv(results.file("comparison.csv"), index=False)
    shown = comparison_table.in_force(results)
    assert len(shown.data) == 2
    for part in ("1,048,576", "3e+44", "7e+05", "eps = 9e+05 exceeds"):
        assert part in shown.to_html()
    assert "nan" not in shown.to_html()


def test_a_table_of_which_nothing_was_run(tmp_path):
    results = grown(tmp_path)
    pd.DataFrame({"algorithm": ["propd_ppo"], "setting": [""], "note": ["not run"]}).to_csv(
        results.file("comparison.csv"), index=False
    )
    assert "not run" in comparison_table.table(results).to_html()


def draw_assumed(folder, assumed):
    learners = {
        f"{budget},{use}": learner(value=2.0 - budget, assumed_budget=budget, assumed_for=use)
        for budget, use in assumed
    }
    experiment(folder, "assumed", learners, seeds=1)
    return comparison_table.assumed_budget(Results(folder, {"assumed_budget": ["assumed"]}))


def test_the_true_budget_belongs_to_both_uses(tmp_path):
    figure = draw_assumed(tmp_path, [(1.0, "all"), (0.1, "all"), (0.5, "frame")])
    gap = figure.axes[0]
    assert list(line(gap, "all constants").get_xdata()) == [0.1, 1.0]
    assert list(line(gap, "frame length alone").get_xdata()) == [0.5, 1.0]
    assert list(line(gap, "all constants").get_ydata()) == pytest.approx([-0.65, 0.25])
    assert labels(figure) == ["all constants", "frame length alone"]


def test_a_use_that_nobody_has_is_left_out(tmp_path):
    assert labels(draw_assumed(tmp_path, [(1.0, "all")])) == ["all constants"]


def test_six_panels_and_the_dual_of_those_that_have_one(tmp_path):
    learners = {
        "lsvi_primal_dual.scaled": learner("lsvi_primal_dual", "scaled", cost=3.0),
        "a": learner("oracle", "literal"),
    }
    experiment(tmp_path, "linear", learners, [case(K, reading) for reading in ("seed=1", "seed=2") for K in (64, 128)])
    results = Results(tmp_path, {"linear": ["linear"]})
    gap, _, violation, _, dual, realised = linear.linear(results).axes
    name = f"{style.title('lsvi_primal_dual')}, defaults"
    assert list(line(gap, name).get_ydata()) == pytest.approx([1.15, 1.15])
    assert list(line(violation, "a").get_ydata()) == [-1.0, -1.0]
    assert [one.get_label() for one in dual.lines] == [name]
    assert list(line(realised, name).get_ydata()) == [1.0, 1.0]
    assert list(line(realised, name).get_xdata()) == [0.032, 0.096]
    assert dotted(line(realised, "a"))
    (ax,) = linear.linear_arms(results).axes
    assert texts(ax) == ["No learner chose among arms."]


def test_arms_of_four_learners_stand_in_two_rows(tmp_path):
    names = ["a", "b", "c", "d"]
    experiment(tmp_path, "linear", {name: learner("oracle", "literal") for name in names}, traces=names)
    axes = linear.linear_arms(Results(tmp_path, {"linear": ["linear"]})).axes
    assert [ax.get_title() for ax in axes] == names
    assert axes[0].get_subplotspec().get_gridspec().get_geometry() == (2, 2)
    assert axes[0].get_xlabel() == "block"


THRESHOLDS = {
    "learnt": {"says": "Lam", "default": 0.8, "range": [0.7, 0.8, 0.9]},
    "slack": {"says": "cost", "default": 1.01, "range": [1.0, 1.01]},
}


def claims(folder, cells, whole, **more):
    """claims/simulation.json of some cells (place, part, verdict) and verdicts on the whole."""
    place = {"map": "6x6", "cost drift": "off", "location": "reached", "switch": "none"}
    keys = {"setting": "tuned", "reading": "default", "budget": "default", "apart": False}
    judged = {"agree": 3, "seeds": 4, "low": 0.2, "high": 0.9, "without_learning": False}
    judged |= {"kept_without_learning": False, "unconstrained_cost": None}

    def said(verdict):
        moved = {"learnt": [verdict] * 3}
        return {"verdict": verdict, "says": verdict, "mean_of_trials": verdict, "moved": moved, "whole_range": verdict}

    counts = {"holds_in": 0, "mixed_in": 1, "judged": 3, "void": 2, "unlearnt": 1}
    found = {
        "cells": [
            {**keys, **place, **judged, **said(verdict), "experiment": name, "episodes": K, "part": part}
            for name, K, part, verdict in cells
        ],
        "whole": [
            {**keys, **said(verdict), "part": part, "experiment": name, "episodes": K}
            for name, K, verdict in whole
            for part in ("C20", "C20 forgiving")
        ],
        "parts": {"C20a": "performs well", "C20b": "learns quickly"},
        "thresholds": THRESHOLDS,
        "void_readings": [],
        **counts,
        **{key: {**counts, "holds_in": 3} for key in ("forgiving", "mean_of_trials", "forgiving_mean_of_trials")},
        **more,
    }
    files.write_text(folder / layout.SIMULATION, json.dumps(found))
    return Results(folder, {"grid_world": ["one"], "alternatives": ["others"]})


def test_a_cell_has_the_colour_of_its_verdict_and_void_is_hatched(tmp_path):
    cells = [("one", 100, "C20a", "holds"), ("one", 100, "C20b", "void")]
    results = claims(tmp_path, cells, [("one", 100, "void")])
    (ax,) = replication.claims(results).axes
    boxes = {(box.get_x(), box.get_y()): box for box in ax.patches}
    assert len(boxes) == 4
    assert same_color(boxes[0, 0].get_facecolor(), replication.COLOURS["holds"])
    assert [place for place, box in boxes.items() if box.get_hatch()] == [(1, 0), (2, 0), (3, 0)]
    assert texts(ax) == ["3", "3", "void", "void", "tuned"]
    names = [tick.get_text() for tick in ax.get_xticklabels()]
    assert names == ["C20a: performs well", "C20b: learns quickly", "all of it", "all of it, dips forgiven"]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["6x6: cost drift off, location reached"]
    said = replication.answer(results).data
    assert "holds in 0 of the 3 combinations" in said
    assert "and in 3 where the dip" in said
    assert "2 are void" in said


def test_places_of_the_same_words_are_kept_apart(tmp_path):
    cells = [(name, K, "C20a", "holds") for name, K in (("one", 100), ("one", 200), ("two", 100))]
    results = claims(tmp_path, cells, [])
    (ax,) = replication.claims(results).axes
    names = [tick.get_text() for tick in ax.get_yticklabels()]
    assert len({*names}) == 3
    assert names[1].endswith("(one, default, K = 200)")
    assert len(replication.verdicts(results).data) == 3
    assert replication.tally(results).data.loc["performs well"].tolist() == ["3 of 3", "3 of 3"]
    assert replication.whole_ranges(results).data["holds"].tolist() == [3]


def test_the_table_says_how_sure_a_verdict_is(tmp_path):
    table = replication.verdicts(claims(tmp_path, [("one", 100, "C20a", "mixed")], [])).data
    assert table.to_numpy().tolist() == [["mixed, 3/4 [0.20, 0.90]"]]


def test_what_a_learner_without_a_constraint_could_cost_stands_beside_its_verdict(tmp_path):
    results = claims(tmp_path, [("one", 100, "C20a", "holds")], [])
    found = json.loads((tmp_path / layout.SIMULATION).read_text())
    found["cells"][0] |= {"unconstrained_cost": 8.5, "says": "breaks it", "kept_without_learning": True}
    files.write_text(tmp_path / layout.SIMULATION, json.dumps(found))
    said = replication.verdicts(results).data.iat[0, 0]
    assert said == "breaks it, 3/4 [0.20, 0.90]‡; the unconstrained optimum costs 8.50"
    (ax,) = replication.claims(results).axes
    assert texts(ax) == ["3‡", "tuned"]


def test_cells_that_hold_are_drawn_against_each_threshold_with_its_default(tmp_path):
    cells = [(name, 100, "C20a", "holds") for name in ("one", "two")] + [("one", 100, "C20b", "mixed")]
    results = claims(tmp_path, cells, [("one", 100, "mixed")])
    figure = replication.thresholds(results)
    (ax,) = figure.axes  # no part here has a slack
    assert list(line(ax, "performs well").get_xdata()) == [0.7, 0.8, 0.9]
    assert np.round(line(ax, "performs well").get_ydata()).tolist() == [2, 2, 2]
    assert np.round(line(ax, "learns quickly").get_ydata()).tolist() == [0, 0, 0]
    assert list(line(ax, "default").get_xdata()) == [0.8, 0.8]
    assert ax.get_xlabel() == "learnt:\nLam"
    assert labels(figure)[-1] == "default"


def test_without_a_cell_that_can_be_judged_the_figure_says_so(tmp_path):
    (ax,) = replication.thresholds(claims(tmp_path, [("one", 100, "C20a", "void")], [])).axes
    assert texts(ax) == ["No cell can be judged."]


def test_the_classes_are_shown_with_what_they_change_with(tmp_path):
    row = {"map": "6x6", "part": "C20a", "says": "performs well", "class": "depends", "why": "because"}
    results = claims(tmp_path, [], [], classes=[{**row, "moves_with": ["constants", "search"]}])
    assert replication.classes(results).data.to_numpy().tolist() == [
        ["6x6", "performs well", "depends", "because", "constants, search"]
    ]


def test_alternatives_that_change_a_verdict_are_counted(tmp_path):
    kinds = {"search": True, "finalist": False, "rule": None, "frames": None}
    row = {"map": "6x6", "part": "C20a", "verdict": "holds", **kinds}
    counts = {kind: {"differ": int(bool(found)), "of": int(found is not None)} for kind, found in kinds.items()}
    results = claims(tmp_path, [], [], depends=[row], depends_counts=counts)
    shown = replication.dependence(results).data
    assert shown.to_numpy().tolist() == [
        ["6x6", "performs well", "holds", "yes", "no", "-", "-"],
        ["", "verdicts that differ", "", "1 of 1", "0 of 1", "0 of 0", "0 of 0"],
    ]


def test_choices_of_the_tuning_stand_beside_the_main_one(tmp_path):
    place = {"experiment": "one", "reading": "default", "budget": "default", "episodes": 100, "map": "6x6"}
    marks = {"agree": 1, "without_learning": False, "kept_without_learning": False}
    other = {**place, **marks, "part": "C20a", "verdict": "does not hold", "alternative": "a_6x6_frames_3"}
    kinds = [("search", "search_0_0"), ("frames", "main"), ("main", "main")]
    others = [{**other, "kind": kind, "choice": choice} for kind, choice in kinds]
    results = claims(tmp_path, [("one", 100, "C20a", "holds"), ("two", 100, "C20a", "holds")], [], alternatives=others)
    (ax,) = replication.alternatives(results).axes
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["main", "search_0_0", "frames_3"]
    assert texts(ax) == ["3", "1", "1"]
    assert ax.get_title() == "6x6, K = 100"


def crossing(setting="tuned"):
    """A bump adds 2 to the reward."""
    return {
        ",".join((setting, *levels)): learner(
            setting=setting,
            value=1.0 + 2.0 * (levels[0] == "bump"),
            variants={**dict(zip(CROSSED, levels, strict=True)), "no_btilde": False, "start": "optimistic"},
        )
        for levels in itertools.product(*CROSSED.values())
    }


def controls(folder, *learners, **options):
    names = [f"c{i}" for i in range(len(learners))]
    for name, chosen in zip(names, learners, strict=True):
        experiment(folder, name, chosen, **options)
    return Results(folder, {"controls": names})


def beside():
    return {"without": learner(variants={**OWN, "no_btilde": True}), "other": learner(SECOND, cost=3.0)}


def test_crossings_above_and_controls_below(tmp_path):
    results = controls(tmp_path, crossing() | beside())
    reward, cost, beneath, _ = replication.causes(results).axes
    means = [bars.lines[0] for bars in reward.containers]
    assert list(means[0].get_ydata()) == pytest.approx([1.35, 3.35])
    assert list(means[1].get_ydata()) == pytest.approx([2.35, 2.35])
    assert {2.0} == {*reward.lines[-1].get_ydata(), *cost.lines[-1].get_ydata()}  # the optimum, and the limit
    assert texts(reward) == [*CROSSED]
    assert [tick.get_text() for tick in beneath.get_yticklabels()] == [
        f"c0: {style.title(FIRST)}",
        "c0: Algorithm 1 without b~",
        f"c0: {style.title(SECOND)}",
    ]


def test_the_choice_that_matters_most_is_bold(tmp_path):
    shown = replication.effects(controls(tmp_path, crossing()))
    assert shown.data.loc[("c0", "reset"), "reward"] == "+2.00 [+2.00, +2.00]"
    bold = shown._compute().ctx
    reward = list(shown.data.columns).index("reward")
    assert [row for (row, column) in bold if column == reward] == [0]


def test_a_crossing_alone_has_no_panel_of_controls(tmp_path):
    results = controls(tmp_path, crossing())
    assert len(replication.causes(results).axes) == 2
    assert isinstance(replication.contrasts(results), Markdown)


def test_two_crossings_of_one_experiment_are_drawn_apart(tmp_path):
    figure = replication.causes(controls(tmp_path, crossing("tuned") | crossing("authors")))
    assert [ax.get_title(loc="left") for ax in figure.axes[:4:2]] == ["c0, tuned", "c0, authors"]


@pytest.mark.parametrize("seeds", [1, 2])
def test_without_a_full_crossing_every_learner_is_a_control(tmp_path, seeds):
    part = dict(list(crossing().items())[:3])
    results = controls(tmp_path, part, {"other": learner(SECOND, cost=3.0)}, seeds=seeds)
    figure = replication.causes(results)
    reward, cost = figure.axes
    assert len(reward.get_yticklabels()) == 4
    assert reward.get_yticklabels()[-1].get_text() == f"c1: {style.title(SECOND)}"
    points = [one for one in cost.lines if one.get_marker() == "o"]
    assert [one.get_xdata()[0] for one in points] == [1.0, 1.0, 1.0, 3.0]
    assert isinstance(replication.effects(results), Markdown)
    table = replication.contrasts(results).data
    assert list(table["cost"])[-1] == ("3.00" if seeds == 1 else "3.00 [3.00, 3.00]")


def test_one_seed_has_effects_without_intervals(tmp_path):
    results = controls(tmp_path, crossing(), seeds=1)
    assert len(replication.causes(results).axes) == 2
    assert replication.effects(results).data.loc[("c0", "reset"), "reward"] == "+2.00"


def swept(folder, *multiples, name="s"):
    """A learner for each of some multiples; its cost is that of eta, and 3 is over the limit."""
    learners = {
        str(i): learner(cost=times.get("eta", 1.0), times={"eta": 1.0, "frame": 1.0, "bonus": 1.0} | times)
        for i, times in enumerate(multiples)
    }
    experiment(folder, name, learners)
    return Results(folder, {"sensitivity": [name]})


PAIRS = [{"eta": eta, "frame": frame} for eta in (1.0, 3.0) for frame in (0.3, 1.0)]


def test_factors_alone_and_the_pair_with_the_chosen_one_framed(tmp_path):
    results = swept(tmp_path, *PAIRS, {"bonus": 3.0})
    reward, cost, score, _ = replication.sensitivity(results).axes
    assert [one.get_label() for one in cost.lines] == ["bonus", "eta", "frame", "limit"]
    assert list(line(cost, "eta").get_xdata()) == [1.0, 3.0]
    assert list(line(cost, "eta").get_ydata()) == [1.0, 3.0]
    assert list(line(cost, "limit").get_ydata()) == [2.0, 2.0]
    assert list(line(reward, "optimum").get_ydata()) == [2.0, 2.0]
    assert [box.get_xy() for box in hatched(score)] == [(0, 1), (1, 1)]  # eta at 3
    assert [box.get_xy() for box in score.patches if box.get_linewidth() == 2] == [(1, 0)]
    assert texts(score) == ["0.15", "0.15", "1.15", "1.15"]
    assert (score.get_xlabel(), score.get_ylabel()) == ("multiple of frame", "multiple of eta")
    rows = replication.multiples(results).data.set_index("changed")
    assert rows.loc["eta", ["keep the limit", "best gap", "worst gap"]].tolist() == [
        "1 of 2",
        "0.15 at 1",
        "1.15 at 3",
    ]
    assert rows.loc["eta and frame", "keep the limit"] == "2 of 4"
    assert rows.loc["eta and frame", "gap as chosen"] == "0.15"


def test_one_factor_alone_has_no_pair(tmp_path):
    results = swept(tmp_path, {"eta": 0.5}, {"eta": 3.0})
    reward, _, score = replication.sensitivity(results).axes
    assert list(line(reward, "eta").get_xdata()) == [0.5, 3.0]
    assert texts(score) == ["No run changes two factors together."]
    assert list(replication.multiples(results).data["gap as chosen"]) == ["not run"]


def test_a_pair_without_the_chosen_one_has_no_frame(tmp_path):
    results = swept(tmp_path, *({"eta": eta, "frame": frame} for eta in (0.5, 3.0) for frame in (0.3, 3.0)))
    reward, _, score, _ = replication.sensitivity(results).axes
    assert [one.get_label() for one in reward.lines] == ["optimum"]
    assert len(texts(score)) == 4
    assert [box for box in score.patches if box.get_linewidth() == 2] == []
    assert list(replication.multiples(results).data["changed"]) == ["eta and frame"]


def test_a_pair_that_was_not_run_is_left_empty(tmp_path):
    score = replication.sensitivity(swept(tmp_path, *PAIRS[1:])).axes[2]
    assert texts(score) == ["", "0.15", "1.15", "1.15"]


def test_without_multiples_there_are_the_optimum_and_the_limit(tmp_path):
    results = swept(tmp_path, {})
    reward, cost, score = replication.sensitivity(results).axes
    assert [one.get_label() for ax in (reward, cost) for one in ax.lines] == ["optimum", "limit"]
    assert texts(score) == ["No run changes two factors together."]
    assert isinstance(replication.multiples(results), Markdown)


def test_every_experiment_has_a_row_with_the_same_colours(tmp_path):
    swept(tmp_path, *PAIRS, name="s")
    swept(tmp_path, {"frame": 0.3}, {"frame": 3.0}, name="t")
    figure = replication.sensitivity(Results(tmp_path, {"sensitivity": ["s", "t"]}))
    first, _, _, second, *_ = figure.axes
    assert (first.get_title(), second.get_title()) == ("s", "t")
    assert same_color(line(first, "frame").get_color(), line(second, "frame").get_color())


SHOWN = [
    {"name": "menu", "legs": 2, "episodes": 40},
    {"name": "grid_world", "map": "6x6", "horizon": 15, "limit": 2.0, "episodes": 10},
]


def test_a_row_for_each_environment(tmp_path):
    figure = shown_environments.environments(Results(tmp_path, shown=SHOWN))
    model, drift, binds, value, grid = figure.axes[:5]
    assert model.get_title() == "menu\nlegs 2"
    assert grid.get_title() == "grid_world\nmap 6x6, horizon 15, limit 2.0"
    env = environments.make("menu", 40, legs=2)
    top = max(area.get_paths()[0].vertices[:, 1].max() for area in drift.collections)
    assert top == pytest.approx(budget.variation(env).total)
    np.testing.assert_allclose(model.images[0].get_array(), env.at(1).r[0])
    assert (line(value, "unconstrained").get_ydata() >= line(value, "constrained optimum").get_ydata() - 1e-9).all()
    assert line(binds, "Slater gap").get_ydata().min() > 0
    assert {ax.get_xlim() for ax in (drift, binds, value)} == {(0.0, 1.0)}


def test_the_table_is_the_one_of_the_pipeline(tmp_path):
    (tmp_path / "tables").mkdir()
    pd.DataFrame({"environment": ["menu"], "options": [None], "B": [1.5]}).to_csv(
        tmp_path / layout.table("environments.csv"), index=False
    )
    html = shown_environments.table(Results(tmp_path, shown=SHOWN)).to_html()
    assert "1.500" in html
    assert "nan" not in html


def test_a_figure_is_kept_in_all_its_forms_and_drawn_the_same_again(tmp_path):
    experiment(tmp_path, "one", {f"{FIRST}.tuned": learner()}, [case(env=GRID)])
    results = Results(tmp_path, {"grid_world": ["one"]})
    assert isinstance(results.figure("grid_world"), Image)
    kept = {form: (tmp_path / layout.figure("grid_world", form)).read_bytes() for form in layout.FIGURE}
    results.figure("grid_world")
    assert kept == {form: (tmp_path / layout.figure("grid_world", form)).read_bytes() for form in layout.FIGURE}
    assert kept["svg"] != kept["narrow.svg"]
    assert plt.get_fignums() == []


def test_what_the_configuration_does_not_have_is_said_in_a_sentence(tmp_path):
    results = Results(tmp_path, {"growth": []})
    for said in (results.figure("arms"), comparison_table.table(results)):
        assert said.data == "Not shown: nothing in the configuration has the role growth."
    assert "the role shown" in shown_environments.table(results).data
    assert not (tmp_path / "figures").exists()


@pytest.mark.parametrize(
    ("numbers", "text"),
    [((1, 0.5, 2), "1.00 [0.50, 2.00]"), ((1, np.nan, np.nan), "1.00"), ((np.nan, np.nan, np.nan), "")],
)
def test_an_interval_in_words(numbers, text):
    assert style.interval(numbers) == text
