"""Figures and tables show what is in the results, whatever an accepted configuration leaves out."""

import itertools
import json
import warnings

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
from nscmdp.analysis.tables import KEYS
from nscmdp.report import style
from nscmdp.report.figures import comparison_table, grid_world, linear, replication
from nscmdp.report.figures import environments as shown_environments
from nscmdp.report.results import Results
from nscmdp.runs import files, optima
from nscmdp.study import layout

MENU = {"name": "menu", "options": {}}
GRID = {"name": "grid_world", "options": {"map": "6x6", "horizon": 15, "limit": 2.0}}
FIRST, SECOND = "nonstationary_triple_q", "triple_q"
OWN = {factor: levels[0] for factor, levels in CROSSED.items()} | {"no_btilde": False}


@pytest.fixture(autouse=True)
def rendered():
    """What a test has drawn can also be painted, without a complaint."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for number in plt.get_fignums():
            plt.figure(number).canvas.draw()
    plt.close("all")


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
    f"{FIRST}.tuned": learner(value=1.0, cost=3.0),
    f"{FIRST}.literal": learner(setting="literal", value=0.0),
    "double_restart_triple_q.tuned": learner("double_restart_triple_q", value=2.0),
}


def grown(folder, cases=None, **options):
    experiment(folder, "g", GROWING, cases, **options)
    return Results(folder, {"growth": ["g"]})


def test_growth_sums_over_K_and_means_per_episode(tmp_path):
    cases = [case(K, budget=f"legs={B}", B=float(B)) for B in (1, 10, 100) for K in (64, 128)]
    figure = comparison_table.growth(grown(tmp_path, cases))
    gap, regret, violation, along_B = figure.axes
    name = f"{style.title(FIRST)}, tuned"
    assert list(line(regret, name).get_ydata()) == pytest.approx([64 * 0.65, 128 * 0.65])
    assert list(line(gap, name).get_ydata()) == pytest.approx([64 * 1.15, 128 * 1.15])
    assert list(line(violation, name).get_ydata()) == pytest.approx([1.0, 1.0])
    assert list(line(along_B, name).get_xdata()) == [1.0, 10.0, 100.0]
    assert list(line(along_B, name).get_ydata()) == pytest.approx([1.15] * 3)
    assert [ax.get_yscale() for ax in figure.axes] == ["log", "log", "linear", "log"]
    assert violation.get_ylabel() == "violation per episode"
    assert [texts(ax) for ax in figure.axes] == [["slope\n0.5", "slope\n0.8"]] * 2 + [[], ["slope\n1/3"]]


def test_literal_is_dotted_in_the_colour_of_its_algorithm(tmp_path):
    gap = comparison_table.growth(grown(tmp_path)).axes[0]
    tuned, literal = (line(gap, f"{style.title(FIRST)}, {setting}") for setting in ("tuned", "literal"))
    assert same_color(tuned.get_color(), literal.get_color())
    assert (dotted(tuned), dotted(literal)) == (False, True)


def test_what_is_not_positive_is_left_out_of_a_logarithmic_panel(tmp_path):
    regret = comparison_table.growth(grown(tmp_path)).axes[1]
    below = line(regret, f"{style.title('double_restart_triple_q')}, tuned")
    assert (below.get_ydata() < 0).all()
    assert not np.isfinite(regret.transData.transform(below.get_xydata())[:, 1]).any()


def test_one_K_one_budget_and_one_seed_are_points(tmp_path):
    figure = comparison_table.growth(grown(tmp_path, seeds=1))
    name = f"{style.title(FIRST)}, tuned"
    assert [len(line(ax, name).get_xdata()) for ax in figure.axes] == [1, 1, 1, 1]
    assert [texts(ax) for ax in figure.axes] == [[]] * 4  # a guide needs two


def test_a_budget_of_zero_is_drawn_on_a_plain_scale(tmp_path):
    along_B = comparison_table.growth(grown(tmp_path, [case(B=0.0)])).axes[3]
    assert along_B.get_xscale() == "linear"
    assert list(line(along_B, f"{style.title(FIRST)}, tuned").get_xdata()) == [0.0]


def test_arms_are_stacked_to_one(tmp_path):
    cases = [case(K) for K in (64, 128)]
    results = grown(tmp_path, cases, traces=["double_restart_triple_q.tuned"])
    (ax,) = comparison_table.arms(results).axes
    assert ax.get_title() == f"{style.title('double_restart_triple_q')}, tuned"
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
    rows = {"algorithm": [FIRST, "propd_ppo"], "setting": ["tuned", ""], **slope, "regret_bound": [7e5, np.nan]}
    pd.DataFrame(rows).to_csv(results.file("comparison.csv"), index=False)
    shown = comparison_table.table(results)
    assert list(shown.data["gap_slope_K"]) == ["0.50 [0.40, 0.60]", ""]
    assert list(shown.data.columns) == ["algorithm", "setting", "gap_slope_K", "regret_bound"]
    assert "nan" not in shown.to_html()
    assert "7e+05" in shown.to_html()


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
    experiment(tmp_path, "linear", learners, [case(64), case(128)])
    results = Results(tmp_path, {"linear": ["linear"]})
    gap, _, violation, _, dual, realised = linear.linear(results).axes
    name = f"{style.title('lsvi_primal_dual')}, scaled"
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


def claims(folder, cells, whole):
    """claims.json of some cells (place, part, verdict) and verdicts on the whole."""
    place = {"map": "6x6", "cost drift": "off", "location": "reached", "switch": "none"}
    keys = {"setting": "tuned", "reading": "default", "budget": "default"}
    judged = {"agree": 3, "seeds": 4, "low": 0.2, "high": 0.9, "without_learning": False}
    found = {
        "cells": [
            {**keys, **place, **judged, "experiment": name, "episodes": K, "part": part, "verdict": verdict}
            for name, K, part, verdict in cells
        ],
        "whole": [{**keys, "experiment": name, "episodes": K, "verdict": verdict} for name, K, verdict in whole],
        "parts": {"C20a": "performs well", "C20b": "learns quickly"},
        **{"holds_in": 0, "mixed_in": 1, "judged": 3, "void": 2},
    }
    files.write_text(folder / layout.CLAIMS, json.dumps({"C20": found}))
    return Results(folder, {"grid_world": ["one"]})


def test_a_cell_has_the_colour_of_its_verdict_and_void_is_hatched(tmp_path):
    cells = [("one", 100, "C20a", "holds"), ("one", 100, "C20b", "void")]
    results = claims(tmp_path, cells, [("one", 100, "void")])
    (ax,) = replication.claims(results).axes
    boxes = {(box.get_x(), box.get_y()): box for box in ax.patches}
    assert len(boxes) == 3
    assert same_color(boxes[0, 0].get_facecolor(), replication.COLOURS["holds"])
    assert [place for place, box in boxes.items() if box.get_hatch()] == [(1, 0), (2, 0)]
    assert texts(ax) == ["3", "3", "void", "tuned"]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["6x6: cost drift off, location reached"]
    assert "mixed in 1 and does not hold in 2; 2 more are void" in replication.answer(results).data


def test_places_of_the_same_words_are_kept_apart(tmp_path):
    cells = [(name, K, "C20a", "holds") for name, K in (("one", 100), ("one", 200), ("two", 100))]
    results = claims(tmp_path, cells, [])
    (ax,) = replication.claims(results).axes
    names = [tick.get_text() for tick in ax.get_yticklabels()]
    assert len({*names}) == 3
    assert names[1].endswith("(one, default, K = 200)")
    assert len(replication.verdicts(results).data) == 3
    assert replication.tally(results).data.loc["C20a", "tuned"] == "3 of 3"


def test_the_table_says_how_sure_a_verdict_is(tmp_path):
    table = replication.verdicts(claims(tmp_path, [("one", 100, "C20a", "mixed")], [])).data
    assert table.to_numpy().tolist() == [["mixed, 3/4 [0.20, 0.90]"]]


def tuned(folder, candidates, checks=()):
    """Candidates of two algorithms: each scores, earns and keeps 1 more than the one before, the last is chosen."""
    best = {"value": 2.0, "utility": 2.5, "multiplier": 0.5, "unconstrained": 3.0, "uniform": 1.0}
    row = {"case": "default/K=100", "episode": [1, 100], **{key: [value] * 2 for key, value in best.items()}}
    facts = files.provenance({"cases": {"default/K=100": case()}})
    files.write(folder / layout.optima("t"), pa.Table.from_pylist([row], schema=optima.SCHEMA), facts)
    number = np.arange(candidates)
    tried = {"candidate": number, "score": 4.0 - number, "reward": 1.0 + number, "utility": 1.0 + number}
    tried |= {"finalist": number >= min(1, candidates - 1), "chosen": number == candidates - 1}
    rows = [
        pd.DataFrame({"tuning": "t", "algorithm": algorithm, "episodes": K, "decides": K == 100, **tried})
        for K in (100, *checks)
        for algorithm in (FIRST, SECOND)
    ]
    (folder / "tables").mkdir()
    pd.concat(rows).to_csv(folder / layout.table("tuned.csv"), index=False)
    return Results(folder, {"tuning": ["t"]})


def test_candidates_stand_beside_the_limit_and_the_optimum(tmp_path):
    results = tuned(tmp_path, 3)
    above, below = replication.landscape(results).axes
    every, finalists, chosen = (scatter.get_offsets() for scatter in above.collections[:3])
    assert (len(every), len(finalists)) == (3, 2)
    assert chosen.tolist() == [[1.0, 3.0]]  # H = 4: a utility of 3 is a cost of 1
    assert above.collections[-1].get_offsets().tolist() == [[1.5, 2.0]]
    assert list(line(above, "limit").get_xdata()) == [2.0, 2.0]
    assert list(line(below, style.title(FIRST)).get_ydata()) == pytest.approx([3.0, 7 / 3, 2.0])
    table = replication.candidates(results).data
    assert list(table["meet the limit"]) == pytest.approx([2 / 3, 2 / 3])
    assert list(table["tuning"]) == ["t", "t"]


def test_one_candidate_is_enough(tmp_path):
    below = replication.landscape(tuned(tmp_path, 1)).axes[1]
    assert list(below.get_xticks()) == [1]
    assert list(line(below, style.title(FIRST)).get_ydata()) == [4.0]


def test_a_choice_at_another_K_is_set_beside_the_frozen_one(tmp_path):
    table = replication.frozen(tuned(tmp_path, 2, checks=[400]))
    assert list(table.columns) == ["K = 100", "K = 400"]
    assert table.loc["t", style.title(FIRST)].tolist() == ["1.00 (same)"] * 2


def test_a_tuning_at_one_K_has_nothing_to_compare(tmp_path):
    assert isinstance(replication.frozen(tuned(tmp_path, 2)), Markdown)


def crossing(setting="tuned"):
    """A bump adds 2 to the reward."""
    return {
        ",".join((setting, *levels)): learner(
            setting=setting,
            value=1.0 + 2.0 * (levels[0] == "bump"),
            variants={**dict(zip(CROSSED, levels, strict=True)), "no_btilde": False},
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
    assert texts(score) == ["0.65", "0.65", "1.65", "1.65"]
    assert (score.get_xlabel(), score.get_ylabel()) == ("multiple of frame", "multiple of eta")
    rows = replication.multiples(results).data.set_index("changed")
    assert rows.loc["eta", ["keep the limit", "best score", "worst score"]].tolist() == [
        "1 of 2",
        "0.65 at 1",
        "1.65 at 3",
    ]
    assert rows.loc["eta and frame", "keep the limit"] == "2 of 4"
    assert rows.loc["eta and frame", "score as chosen"] == "0.65"


def test_one_factor_alone_has_no_pair(tmp_path):
    results = swept(tmp_path, {"eta": 0.5}, {"eta": 3.0})
    reward, _, score = replication.sensitivity(results).axes
    assert list(line(reward, "eta").get_xdata()) == [0.5, 3.0]
    assert texts(score) == ["No run changes two factors together."]
    assert list(replication.multiples(results).data["score as chosen"]) == ["not run"]


def test_a_pair_without_the_chosen_one_has_no_frame(tmp_path):
    results = swept(tmp_path, *({"eta": eta, "frame": frame} for eta in (0.5, 3.0) for frame in (0.3, 3.0)))
    reward, _, score, _ = replication.sensitivity(results).axes
    assert [one.get_label() for one in reward.lines] == ["optimum"]
    assert len(texts(score)) == 4
    assert [box for box in score.patches if box.get_linewidth() == 2] == []
    assert list(replication.multiples(results).data["changed"]) == ["eta and frame"]


def test_a_pair_that_was_not_run_is_left_empty(tmp_path):
    score = replication.sensitivity(swept(tmp_path, *PAIRS[1:])).axes[2]
    assert texts(score) == ["", "0.65", "1.65", "1.65"]


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


def test_a_figure_is_kept_twice_and_drawn_the_same_again(tmp_path):
    experiment(tmp_path, "one", {f"{FIRST}.tuned": learner()}, [case(env=GRID)])
    results = Results(tmp_path, {"grid_world": ["one"]})
    assert isinstance(results.figure("grid_world"), Image)
    kept = {form: (tmp_path / layout.figure("grid_world", form)).read_bytes() for form in ("svg", "png")}
    results.figure("grid_world")
    assert kept == {form: (tmp_path / layout.figure("grid_world", form)).read_bytes() for form in ("svg", "png")}
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
