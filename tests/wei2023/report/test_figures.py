"""Figures and tables show what is in the results, whatever an accepted configuration leaves out."""

import itertools
import json
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from IPython.display import Image
from matplotlib.colors import same_color

from nscmdp import budget, environments, files, metrics
from nscmdp.files import write_csv
from wei2023.report import style
from wei2023.report.figures import comparison_table, grid_world, linear, replication
from wei2023.report.figures import environments as shown_environments
from wei2023.report.results import Results
from wei2023.runs.parts import PARTS
from wei2023.study import layout
from wei2023.verdicts import description
from wei2023.verdicts.tables import KEYS

MENU = {"name": "menu", "options": {}}
GRID = {"name": "grid_world", "options": {"map": "6x6", "horizon": 15, "limit": 2.0}}
FIRST, SECOND = "nonstationary_triple_q", "triple_q"


def learner(algorithm=FIRST, setting="tuned", value=1.0, cost=1.0, **spec):
    """A learner of known value and cost per episode; a run's second half earns 0.5 more, a seed 0.2."""
    spec = {"algorithm": algorithm, "setting": setting, "variants": {}, **spec}
    return {**spec, "value": value, "cost": cost}


def case(episodes=100, reading="default", budget="default", B=2.0, env=MENU):
    fingerprint = environments.make(env["name"], episodes, **env["options"]).fingerprint()
    place = {"reading": reading, "budget": budget, "episodes": episodes, "B": B}
    return {**env, **place, "fingerprint": fingerprint}


def experiment(folder, name, learners, cases=None, seeds=2, traces=(), points=2):
    """The tables of an experiment: an optimum of value 2 and cost 1.5, a horizon of 5, a limit of 2."""
    cases, rows = cases or [case()], []
    for place, (label, spec) in itertools.product(cases, learners.items()):
        K = place["episodes"]
        known = {"experiment": name, "learner": label, "horizon": 5, "rho": 3.0}
        known |= {key: place[key] for key in ("reading", "budget", "episodes", "B")}
        known |= {key: spec[key] for key in ("algorithm", "setting")}
        known |= {"utility_value": 5 - spec["cost"], "uniform_value": 0.0}
        for seed, i in itertools.product(range(seeds), range(points)):
            value = spec["value"] + 0.5 * (2 * i >= points) + 0.2 * seed
            at = {"episode": K * (0.5 + i) / points, "weight": K // points}
            rows.append({**known, **at, "seed": seed, "value": value})
    exact = pd.DataFrame(rows)
    values = (exact[column].to_numpy() for column in ("value", "utility_value"))
    best = np.tile([2.0, 3.5, 0.5], (len(exact), 1))
    exact = exact.assign(**metrics.compare(*values, best, 3.0))
    dual = np.where(exact["algorithm"] == "oracle", np.nan, 3.0)
    kept = exact[[*KEYS, "B", "seed", "horizon", "rho", "episode"]]
    curves = kept.assign(reward=exact["value"], utility=exact["utility_value"], dual=dual)
    tracing = exact[exact["learner"].isin(traces) & (exact["seed"] == 0)]
    arms = [(i, j, p) for (i, j), p in np.ndenumerate([[0.5, 0.5], [0.25, 0.75], [0.1, 0.9]])]
    arms = pd.DataFrame(arms, columns=["row", "column", "value"]).assign(trace="probabilities")
    traced = tracing.drop_duplicates(KEYS)[[*KEYS, "seed"]].merge(arms, how="cross")
    made_up = {"value", "cost", "B"}
    specs = {
        label: {k: v for k, v in one.items() if k not in made_up} for label, one in learners.items()
    }
    facts = {"cases": [{k: v for k, v in one.items() if k != "B"} for one in cases]}
    for file, table in {"exact": exact, "curves": curves, "traces": traced}.items():
        made = pa.Table.from_pandas(table, preserve_index=False).replace_schema_metadata(None)
        place = folder / layout.table(f"{file}.parquet", name)
        files.write(place, made, {**facts, "learners": specs})
    summary(exact, seeds).to_csv(folder / layout.table("summary.csv", name), index=False)


def summary(exact, seeds):
    """Means with intervals of 0.1 to either side; one seed has none."""
    runs = exact.rename(columns={"utility_value": "utility"})
    grouped = runs.groupby([*KEYS, "B", "rho", "horizon"], sort=False)
    means = grouped[["value", "utility", *metrics.MEASURES]].mean()
    half = 0.1 if seeds > 1 else np.nan
    ends = {"": 0, "_low": -half, "_high": half}
    columns = [
        (means.add_prefix(part) + move).add_suffix(end)
        for part in ("", "last_")
        for end, move in ends.items()
    ]
    return pd.concat(columns, axis=1).reset_index()


def labels(figure):
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def texts(ax):
    return [text.get_text() for text in ax.texts]


def line(ax, label):
    (found,) = [one for one in ax.lines if one.get_label() == label]
    return found


def x(ax, label):
    return pytest.approx([*line(ax, label).get_xdata()])


def y(ax, label):
    return pytest.approx([*line(ax, label).get_ydata()])


DRAWS = [1, 2]
DRAWN = [case(env=GRID, reading=f"seed={draw}") for draw in DRAWS]
BASELINE = {"algorithm": SECOND, "setting": "authors"}
STUDY = {
    "environment": {"name": "grid_world", **GRID["options"]},
    **{"draws": DRAWS, "seeds": 2, "choice_seeds": 1, "points": 4},
    "protocols": [
        {"name": name, "episodes": 100, "figure": True, "learners": [own, BASELINE]}
        for name, own in (
            ("as printed", {"algorithm": FIRST, "setting": "literal"}),
            ("own method tuned", {"algorithm": FIRST, "setting": "tuned"}),
        )
    ],
}
SIMULATED = {
    f"{FIRST}.literal": learner(setting="literal", value=0.2),
    f"{FIRST}.tuned": learner(value=1.0),
    f"{SECOND}.authors": learner(SECOND, "authors", value=1.2, cost=3.0),
}


def simulated(folder, seeds=2):
    """The tables of two protocols in two draws of the environment."""
    experiment(folder, "protocols_100", SIMULATED, DRAWN, seeds=seeds, points=20)
    files.write_text(folder / layout.CONFIG, json.dumps({"protocols": STUDY}))
    return Results(folder, {"protocols": ["protocols_100"]})


def test_a_map_and_a_row_of_reward_and_cost_for_each_protocol(tmp_path):
    figure = grid_world.grid_world(simulated(tmp_path))
    first, second = style.title(FIRST), style.title(SECOND)
    assert figure.axes[0].get_title() == "6 x 6 map, H = 15, limit 2"
    titles = ["as printed"] * 2 + ["own method tuned"] * 2
    assert [ax.get_title() for ax in figure.axes[1:]] == titles
    reward, cost = figure.axes[3:]
    assert y(reward, first) == [1.1] * 10 + [1.6] * 10
    assert y(cost, second) == [3.0] * 20
    assert y(cost, "limit") == [2.0, 2.0]
    assert set(line(reward, "constrained optimum").get_ydata()) == {2.0}
    assert set(line(cost, "constrained optimum").get_ydata()) == {1.5}
    assert labels(figure) == [first, second, "constrained optimum", "limit"]


def test_one_seed_in_every_draw_is_enough(tmp_path):
    figure = grid_world.grid_world(simulated(tmp_path, seeds=1))
    assert y(figure.axes[3], style.title(FIRST)) == [1.0] * 10 + [1.5] * 10


def test_the_numbers_beside_it_are_shares_and_costs_of_the_last_fifth(tmp_path):
    shown = grid_world.numbers(simulated(tmp_path))
    assert [row[0] for row in shown.rows] == ["as printed"] * 2 + ["own method tuned"] * 2
    # of an optimum of 2: 1.0, 0.5 more in the second half of a run, and 0.2 more with the second seed
    (tuned,) = [row for row in shown.rows if row[:2] == ["own method tuned", style.title(FIRST)]]
    assert tuned[2].startswith("0.80 [")
    assert tuned[3:] == ["1.00 [1.00, 1.00]", "2"]


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
    gap, regret, local, along_B, violation = figure.axes[:5]
    assert y(regret, ONCE) == [64 * 0.65, 128 * 0.65]
    assert y(gap, ONCE) == [64 * 1.15, 128 * 1.15]
    assert y(local, ONCE) == [1.0]
    assert x(local, ONCE) == [64 * 2**0.5]
    assert x(along_B, ONCE) == [1.0, 10.0, 100.0]
    assert y(along_B, ONCE) == [1.15] * 3
    assert y(violation, ONCE) == [1.0, 1.0]
    assert [ax.get_yscale() for ax in figure.axes[:5]] == ["log", "log", "linear", "log", "linear"]
    assert violation.get_title("right") == "at legs=10"
    assert regret.get_ylabel() == "positive regret"
    assert violation.get_ylabel() == "violation per episode"
    assert (texts(gap), texts(along_B)) == (["2/3", "0.8", "1"], ["1/3"])
    assert labels(figure) == KINDS
    # each algorithm has a row, and each instance a thin line
    titles = [style.title(name) for name in (FIRST, "double_restart_triple_q")]
    assert [ax.get_title("left") for ax in figure.axes[::5]] == titles
    colour, lines = line(gap, ONCE).get_color(), figure.axes[5].lines
    widths = [one.get_linewidth() for one in lines if same_color(one.get_color(), colour)]
    assert (widths.count(0.5), len(widths)) == (2, 3)


def test_constants_have_dashes_of_their_own_and_what_is_not_positive_is_left_out(tmp_path):
    figure = comparison_table.growth(grown(tmp_path))
    patterns = [line(figure.axes[0], kind)._unscaled_dash_pattern[1] for kind in KINDS]
    assert (patterns[0], patterns[3]) == (None, (1, 1))
    assert len(set(map(str, patterns))) == 4
    below = line(figure.axes[1], "defaults")
    assert (below.get_ydata() == 0).all()
    assert not np.isfinite(figure.axes[1].transData.transform(below.get_xydata())[:, 1]).any()
    assert texts(figure.axes[6]) == ["positive regret:\nnowhere positive"]


def test_a_K_of_one_budget_alone_is_in_the_panels_of_that_budget(tmp_path):
    cases = [*instances([64, 128]), *instances([256], budgets=(10,))]
    gap, _, local, along_B, violation = comparison_table.growth(grown(tmp_path, cases)).axes[:5]
    assert [len(line(ax, ONCE).get_xdata()) for ax in (gap, local, violation)] == [3, 2, 3]
    assert x(along_B, ONCE) == [1.0, 10.0, 100.0]


def test_an_algorithm_that_did_not_run_at_the_middle_budget_says_so(tmp_path):
    for name, algorithm, budgets in (("g", FIRST, (1, 10, 100)), ("h", SECOND, (100,))):
        learners = {f"{algorithm}.tuned": learner(algorithm, cost=3.0)}
        experiment(tmp_path, name, learners, instances([64, 128], budgets))
    figure = comparison_table.growth(drawable(Results(tmp_path, {"growth": ["g", "h"]})))
    gap, regret, local, along_B = figure.axes[5:9]
    assert texts(gap) == ["gap:\nnot run here"]
    assert texts(regret) == ["positive regret:\nnot run here"]
    assert local.get_legend_handles_labels() == ([], [])
    assert x(along_B, ONCE) == [100.0]


def test_one_K_one_seed_and_a_budget_of_zero_are_points(tmp_path):
    axes = comparison_table.growth(grown(tmp_path, [case(B=0.0)], seeds=1)).axes[:5]
    gap, regret, local, along_B, violation = axes
    for ax in (gap, regret, along_B, violation):
        assert len(line(ax, ONCE).get_xdata()) == 1
    assert [texts(ax) for ax in (gap, regret, along_B)] == [[]] * 3  # a guide needs two
    assert not [one for one in local.lines if one.get_label() == ONCE]
    assert along_B.get_xscale() == "linear"
    assert x(along_B, ONCE) == [0.0]


def test_arms_are_stacked_to_one(tmp_path):
    results = grown(tmp_path, instances([64, 128]), traces=["double_restart_triple_q.tuned"])
    (ax,) = comparison_table.arms(results).axes
    assert ax.get_title() == f"{style.title('double_restart_triple_q')}, tuned once"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["arm 1", "arm 0"]
    lower, upper = (area.get_paths()[0].vertices[:, 1].max() for area in ax.collections)
    assert (lower, upper) == (0.5, 1.0)
    assert (ax.get_xlim(), ax.get_xlabel()) == ((0.5, 3.5), "epoch")


def compared(results, **columns):
    """A table of comparison, its last row of what was not run."""
    for name, (value, low, high) in columns.pop("intervals").items():
        columns |= {name: value, f"{name}_low": low, f"{name}_high": high}
    last = {"algorithm": "propd_ppo", "setting": "", "tuned_at": "", "note": "not run"}
    last["claimed_slope_K"] = 0.75
    rows = pd.DataFrame({"algorithm": FIRST, "note": "", **columns})
    rows = pd.concat([rows, pd.DataFrame([last])])
    rows.to_csv(results.file("comparison.csv"), index=False)
    return results


def test_the_table_shows_intervals_and_what_was_not_run(tmp_path):
    slope, tuned = {"gap_slope_K": (0.5, 0.4, 0.6)}, {"setting": ["tuned"], "tuned_at": "each"}
    results = compared(grown(tmp_path), **tuned, intervals=slope, claimed_slope_K=0.8)
    shown = comparison_table.table(results)
    assert shown.only("Constants", "claimed, K", "gap, K", "note").rows == [
        ["tuned at each K", "0.80", "0.50 [0.40, 0.60]", ""],
        ["", "0.75", "", "not run"],
    ]


def test_the_K_of_a_theorem_stands_beside_the_violation_at_the_largest_that_ran(tmp_path):
    ran = {"setting": ["tuned", "literal"], "tuned_at": ["each", ""]}
    ran |= {"largest_K": [2**20, 2**16], "theorem_from_K": 3e44}
    violation = {"violation_per_episode": (-0.02, -0.03, 0.0)}
    shown = comparison_table.violation(compared(grown(tmp_path), **ran, intervals=violation))
    assert len(shown.rows) == 2
    for part in ("1,048,576", "3e+44", "-0.020 [-0.030, 0.000]"):
        assert part in shown.markdown()
    assert "nan" not in shown.markdown()


def test_a_table_of_which_nothing_was_run(tmp_path):
    results = grown(tmp_path)
    pd.DataFrame({"algorithm": ["propd_ppo"], "setting": [""], "note": ["not run"]}).to_csv(
        results.file("comparison.csv"), index=False
    )
    assert "not run" in comparison_table.table(results).markdown()


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
    assert x(gap, "all constants") == [0.1, 1.0]
    assert x(gap, "frame length alone") == [0.5, 1.0]
    assert y(gap, "all constants") == [-0.65, 0.25]
    assert labels(figure) == ["all constants", "frame length alone"]


def test_a_use_that_nobody_has_is_left_out(tmp_path):
    assert labels(draw_assumed(tmp_path, [(1.0, "all")])) == ["all constants"]


def test_six_panels_and_the_dual_of_those_that_have_one(tmp_path):
    learners = {
        "lsvi_primal_dual.scaled": learner("lsvi_primal_dual", "scaled", cost=3.0),
        "a": learner("oracle", "literal"),
    }
    cases = [case(K, reading) for reading in ("seed=1", "seed=2") for K in (64, 128)]
    experiment(tmp_path, "linear", learners, cases)
    results = Results(tmp_path, {"linear": ["linear"]})
    gap, _, violation, _, dual, realised = linear.linear(results).axes
    name = f"{style.title('lsvi_primal_dual')}, defaults"
    assert y(gap, name) == [1.15, 1.15]
    assert y(violation, "a") == [-1.0, -1.0]
    assert [one.get_label() for one in dual.lines] == [name]
    assert y(realised, name) == [1.0, 1.0]
    assert x(realised, name) == [0.032, 0.096]
    assert line(realised, "a")._unscaled_dash_pattern[1] is not None
    (ax,) = linear.linear_arms(results).axes
    assert texts(ax) == ["No learner chose among arms."]


def test_arms_of_four_learners_stand_in_two_rows(tmp_path):
    names = ["a", "b", "c", "d"]
    learners = dict.fromkeys(names, learner("oracle", "literal"))
    experiment(tmp_path, "linear", learners, traces=names)
    axes = linear.linear_arms(Results(tmp_path, {"linear": ["linear"]})).axes
    assert [ax.get_title() for ax in axes] == names
    assert axes[0].get_subplotspec().get_gridspec().get_geometry() == (2, 2)
    assert axes[0].get_xlabel() == "block"


def swept(folder, role, constant, learners):
    """An experiment whose learners differ in one constant: (label, algorithm, variants, value, per episode, cost)."""
    made = {
        label: learner(algorithm, "authors", value, cost, constants={constant: at})
        | {"variants": variants}
        for label, algorithm, variants, at, value, cost in learners
    }
    experiment(folder, role, made, DRAWN, points=20)
    return Results(folder, {role: [role]})


def etas(folder):
    learners = []
    for at, cost in ((10.0, 1.0), (200.0, 2.5), (2000.0, 4.0)):
        learners += [
            (f"algorithm_1.{at}", FIRST, {"reset": "full"}, at, 0.5, 1.0),
            (f"algorithm_1.bump.{at}", FIRST, {"reset": "bump"}, at, 1.0, cost),
            (f"triple_q.{at}", SECOND, {}, at, 1.2, cost + 0.5),
            (f"triple_q_reset.{at}", FIRST, {"reset": "full"}, at, 0.4, 1.0),
        ]
    return swept(folder, "eta", "eta", learners)


def test_both_learners_are_drawn_against_eta_under_both_rules(tmp_path):
    figure = replication.eta(etas(tmp_path))
    share, cost = figure.axes
    assert y(cost, "Triple-Q, bump") == [1.5, 3.0, 4.5]
    assert x(cost, "Algorithm 1, bump") == [10.0, 200.0, 2000.0]
    assert y(share, "Algorithm 1, all tables reset") == [0.55] * 3
    assert y(share, "Triple-Q, all tables reset") == [0.5] * 3
    assert y(cost, "limit") == [2.0, 2.0]
    assert labels(figure)[-2:] == ["printed", "released"]


def lengths(folder):
    frames = [(10, 0.2, 1.0), (50, 1.0, 1.5), (100, 1.2, 3.0)]
    learners = [(f"algorithm_1.{one[0]}", FIRST, {"reset": "full"}, *one) for one in frames]
    return swept(folder, "frames", "frame", learners)


def test_a_length_of_frames_that_keeps_the_limit_is_filled(tmp_path):
    figure = replication.frames(lengths(tmp_path))
    share, cost = figure.axes
    assert x(cost, "K = 100") == [10, 50, 100]
    assert y(cost, "K = 100") == [1.0, 1.5, 3.0]
    filled = [tuple(colour) != (1, 1, 1, 1) for colour in share.collections[0].get_facecolors()]
    assert filled == [True, True, False]


def row(name, K, frame_end="full", **changed):
    """A protocol as the answer has it."""
    counted = {"agree": 3, "of": 4}
    made = {"name": name, "K": K, "frame_end": frame_end, "constants": "tuned"}
    made |= {"baselines": "released", "reading": "default", "tuned_for": "margin"}
    made |= {"parts": dict.fromkeys(PARTS, counted), "margins": dict.fromkeys(PARTS, 1.5)}
    made |= {"whole": {"all": counted, "all forgiving": counted}}
    made |= {"mean": {"all": False, "all forgiving": True}, "running_mean": False}
    made |= {"numbers": {"share": 0.8, "late_cost": 1.5}, "recorded": False}
    made |= {"draws": DRAWS, "seeds": [0, 1], "searched_on": [0]}
    return made | {"keeps": {SECOND: {"agree": 1, "of": 4}}, **changed}


def answered(folder, rows=None):
    """What the notebook reads of a run's answer."""
    longer = row("own, longer", 1000, recorded=True)
    rows = rows or [row("own", 100), longer, row("bump", 100, "bump")]
    choice = row("own; eps: 0.5", 100, choice="eps", option="0.5", base="own", decides=["C20c"])
    numbers = {"sentences": ["It holds.", "Or not."], "protocols": rows, "choices": [choice]}
    files.write_text(folder / layout.ANSWER, json.dumps(numbers))
    return Results(folder, {"protocols": ["protocols_100"]})


def test_margins_are_drawn_against_K_for_either_rule(tmp_path):
    figure = replication.margins(answered(tmp_path))
    full, bump = figure.axes
    assert (full.get_title(), bump.get_title()) == ("all tables reset", "bump")
    assert x(full, PARTS["C20a"].says) == [100, 1000]
    assert y(bump, PARTS["C20d"].says) == [1.5]
    assert labels(figure) == [part.says for part in PARTS.values()]


def test_where_nobody_tunes_algorithm_1_alone_the_figure_says_so(tmp_path):
    equal = row("equal", 100, baselines="tuned", tuned_for="gap")
    figure = replication.margins(answered(tmp_path, [equal]))
    assert texts(figure.axes[0]) == ["No protocol tunes Algorithm 1 alone."]


def test_the_notebook_says_what_the_answer_has(tmp_path):
    results = answered(tmp_path)
    assert replication.answer(results).data == "1. It holds.\n2. Or not."
    shown = replication.verdicts(results)
    names = [["own"], ["own, longer (recorded)"], ["bump"]]
    assert shown.only("protocol").rows == names


SHOWN = [
    {"name": "menu", "legs": 2, "episodes": 40},
    {"name": "grid_world", "map": "6x6", "horizon": 15, "limit": 2.0, "episodes": 10},
]


def test_a_row_for_each_environment(tmp_path):
    description.write(SimpleNamespace(shown=SHOWN), tmp_path)
    figure = shown_environments.environments(Results(tmp_path, shown=SHOWN))
    model, drift, binds, value, grid = figure.axes[:5]
    assert model.get_title() == "menu\nlegs 2"
    assert grid.get_title() == "grid_world\nmap 6x6, horizon 15, limit 2.0"
    env = environments.make("menu", 40, legs=2)
    top = max(area.get_paths()[0].vertices[:, 1].max() for area in drift.collections)
    assert top == pytest.approx(budget.variation(env).total)
    np.testing.assert_allclose(model.images[0].get_array(), env.at(1).r[0])
    free, constrained = line(value, "unconstrained"), line(value, "constrained optimum")
    assert (free.get_ydata() >= constrained.get_ydata() - 1e-9).all()
    assert line(binds, "Slater gap").get_ydata().min() > 0
    assert {ax.get_xlim() for ax in (drift, binds, value)} == {(0.0, 1.0)}


def test_the_table_is_the_one_of_the_pipeline(tmp_path):
    (tmp_path / "tables").mkdir()
    rows = pd.DataFrame({"environment": ["menu"], "options": [None], "B": [1.5]})
    rows.to_csv(tmp_path / layout.table("environments.csv"), index=False)
    html = shown_environments.table(Results(tmp_path, shown=SHOWN)).markdown()
    assert "1.5" in html
    assert "nan" not in html


def test_a_figure_is_kept_as_svg_and_png_and_drawn_the_same_again(tmp_path):
    results = simulated(tmp_path)
    kept = [tmp_path / layout.figure("grid_world", form) for form in ("svg", "png")]
    assert isinstance(results.figure("grid_world"), Image)
    first = [file.read_bytes() for file in kept]
    results.figure("grid_world")
    assert first == [file.read_bytes() for file in kept]
    assert {*(tmp_path / "figures").iterdir()} == {*kept}
    assert plt.get_fignums() == []


def test_what_the_configuration_does_not_have_is_said_in_a_sentence(tmp_path):
    results = Results(tmp_path, {"growth": []})
    for said in (results.figure("arms"), comparison_table.table(results)):
        assert said.data == "Not shown: nothing in the configuration has the role growth."
    assert "the role shown" in shown_environments.table(results).data
    assert not (tmp_path / "figures").exists()
