"""Verdicts follow from numbers alone, by thresholds that are fixed here once more: each case lies just beside one."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import yaml
from scipy import stats

from nscmdp.analysis.claims import simulation as claims
from nscmdp.analysis.claims.simulation import alternatives, cells, classes, parts, rules
from nscmdp.runs import files
from nscmdp.study import layout, plan
from shipped import ROOT

N = 5000
SHARE = np.arange(1, N + 1) / N
FILE = ROOT / "workflow/claims.yaml"
RULES = rules.load(FILE)
DEFAULT = rules.At(learnt=0.8, floor=0.7, deadline=0.25, slack=1.01, agreement=0.9)


def seed(lam=1.0, cost=1.0, limit=2.0, room=4.0):
    lam, cost = np.broadcast_to(lam, N), np.broadcast_to(cost, N)
    return parts.Seed(SHARE, np.full(N, 80), lam * room, np.full(N, room), cost, limit)


def within(begin, end, inside, outside):
    """One value in the episodes from a share of the run to another, another value in all others."""
    return np.where((begin + 1e-9 < SHARE) & (end + 1e-9 > SHARE), inside, outside)


def test_lam_is_a_ratio_of_sums_weighted_by_the_episodes_that_each_stands_for():
    one = seed(lam=within(0.8, 1, 0.9, 0.1))
    assert one.lam() == pytest.approx(0.26)
    assert one.lam(after=0.8) == pytest.approx(0.9)
    weighted = parts.Seed(
        np.array([0.5, 1.0]), np.array([3, 1]), np.array([1.0, 0.0]), np.array([2.0, 4.0]), np.array([5.0, 1.0]), 2.0
    )
    assert weighted.lam() == pytest.approx(3 / 10)
    assert weighted.mean_cost() == pytest.approx(4.0)
    assert weighted.mean_cost(0.5, 1.0) == 1.0


@pytest.mark.parametrize(
    ("lam", "well"),
    [
        (within(0.8, 1, 0.801, 0.0), True),
        (within(0.8, 1, 0.799, 9.0), False),
        (within(0.8, 1, 0.801, 0.0) - within(0.8, 0.81, 0.1, 0.0), False),  # all of the last fifth counts
        (within(0.79, 0.8, -9.0, 0.801), True),  # and no episode before it
    ],
)
def test_performing_well_is_at_least_four_fifths_of_the_way_over_the_last_fifth(lam, well):
    assert parts.performs_well(seed(lam=lam), DEFAULT) is well


@pytest.mark.parametrize(
    ("lam", "quickly"),
    [
        # Windows of 100 of the 5000: four fifths of the first that counts must be full.
        (within(0.25 - 80 / N, 1, 1.0, 0.0), True),
        (within(0.25 - 79 / N, 1, 1.0, 0.0), False),  # one episode too late
        (within(0.1, 0.25, 0.801, 0.0) + within(0.25, 1, 1.0, 0.0), True),
        (within(0.1, 0.25, 0.799, 0.0) + within(0.25, 1, 1.0, 0.0), False),  # reached after a quarter alone
        (within(0.2, 1, 0.9, 0.0) - within(0.6, 1, 0.199, 0.0), True),  # never below 0.7
        (within(0.2, 1, 0.9, 0.0) - within(0.6, 1, 0.201, 0.0), False),
        (within(0.2, 1, 0.9, 0.0) - within(1 - 100 / N, 1, 0.201, 0.0), False),  # the last window counts
        (within(0.2, 1, 0.9, 0.0) - within(0.6, 0.6 + 20 / N, 0.9, 0.0), True),  # a window, not an episode, decides
        (np.zeros(N), False),
    ],
)
def test_learning_quickly_is_reaching_four_fifths_in_a_quarter_of_the_run_and_keeping_seven_tenths(lam, quickly):
    assert parts.learns_quickly(seed(lam=lam), DEFAULT) is quickly


@pytest.mark.parametrize(
    ("lam", "strict", "forgiving"),
    [
        (within(0.2, 1, 0.9, 0.0), True, True),
        (within(0.2, 1, 0.9, 0.0) - within(0.6, 0.65, 0.9, 0.0), False, True),  # a restart: one dip, then as before
        (within(0.2, 1, 0.9, 0.0) - within(0.6, 1, 0.9, 0.0), False, False),  # a collapse
        (within(0.2, 1, 0.9, 0.0) - within(0.6, 0.69, 0.9, 0.0), False, False),  # 0.9 x 0.66/0.75: too long a dip
        (within(0.26, 1, 1.0, 0.0), False, False),  # too late, whatever follows
        (within(0.2, 0.25, 0.9, 0.0) + within(0.25, 1, 0.75, 0.0), True, False),  # and strictness is not all
    ],
)
def test_the_second_reading_of_quickly_forgives_a_dip_and_no_collapse(lam, strict, forgiving):
    assert parts.learns_quickly(seed(lam=lam), DEFAULT) is strict
    assert parts.learns_quickly_but_for_dips(seed(lam=lam), DEFAULT) is forgiving


@pytest.mark.parametrize(
    ("part", "run", "threshold", "holds_at", "fails_at"),
    [
        (parts.performs_well, {"lam": 0.82}, "learnt", 0.8, 0.85),
        (parts.learns_quickly, {"lam": 0.82}, "learnt", 0.8, 0.85),
        (parts.learns_quickly, {"lam": 0.9 - within(0.6, 0.7, 0.25, 0.0)}, "floor", 0.6, 0.7),
        (parts.learns_quickly, {"lam": within(0.3, 1, 0.9, 0.0)}, "deadline", 0.35, 0.25),
        (parts.learns_quickly_but_for_dips, {"lam": within(0.3, 1, 0.9, 0.0)}, "deadline", 0.35, 0.25),
        (parts.keeps_the_limit, {"cost": within(0.5, 0.6, 2.05, 1.9)}, "slack", 1.03, 1.02),
        (parts.breaks_the_limit, {"cost": 2.05}, "slack", 1.02, 1.03),
    ],
)
def test_a_threshold_that_is_moved_past_what_a_run_shows_changes_the_answer(part, run, threshold, holds_at, fails_at):
    assert part(seed(**run), DEFAULT._replace(**{threshold: holds_at}))
    assert not part(seed(**run), DEFAULT._replace(**{threshold: fails_at}))


def test_what_is_learnt_at_less_than_the_floor_need_not_stay_above_it():
    assert parts.learns_quickly(seed(lam=0.6), DEFAULT._replace(learnt=0.5))


def test_the_mean_of_trials_is_averaged_before_it_is_judged():
    """Each of two runs dips below the floor, at another time: their mean does not."""
    dips = [within(begin, begin + 0.1, 0.65, 0.9) for begin in (0.4, 0.6)]
    runs = [seed(lam=lam) for lam in dips]
    assert [parts.learns_quickly(run, DEFAULT) for run in runs] == [False, False]
    assert parts.learns_quickly(parts.mean_run(runs), DEFAULT)
    exact = table(**PUBLISHED, seeds=20)
    dip = ((exact["episode"] / exact["episodes"] * 25).astype(int) - 8).where(exact["algorithm"] == parts.FIRST) % 20
    exact["value"] = exact["value"].mask(dip == exact["seed"], 1.0 + 4 * 0.5)
    quickly = pd.DataFrame(cells.judge(exact, RULES)).set_index("part").loc["C20b"]
    assert (quickly["agree"], quickly["verdict"], quickly["mean_of_trials"]) == (0, "does not hold", "holds")


def test_the_shipped_defaults_are_those_fixed_before_any_run():
    assert RULES.default == DEFAULT
    assert (RULES.binding, RULES.unlearnt, RULES.trials) == (0.05, 0.2, 10)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (["thresholds", "sloth"], {"says": "", "default": 1.0, "range": [1.0]}),
        (["verdict"], "holds"),
        (["thresholds", "learnt", "best"], 0.9),
        (["thresholds", "learnt", "default"], 0.79),  # not in its range
        (["thresholds", "learnt", "range"], [0.9, 0.8]),
        (["thresholds", "deadline", "range"], [0.25, 1.0]),
        (["thresholds", "agreement", "range"], [0.5, 0.9]),
    ],
)
def test_a_file_of_thresholds_with_anything_else_in_it_is_refused(tmp_path, key, value):
    raw = yaml.safe_load(FILE.read_text())
    *path, last = key
    place = raw
    for name in path:
        place = place[name]
    place[last] = value
    file = tmp_path / "claims.yaml"
    file.write_text(yaml.safe_dump(raw))
    with pytest.raises(ValueError, match=f"claims.yaml(.|\n)*{path[1] if len(path) > 1 else last}"):
        rules.load(file)


@pytest.mark.parametrize(
    ("cost", "keeps"),
    [
        (2.0, True),
        (2.0001, False),  # over all episodes there is no slack
        (within(0.1, 0.2, 9.0, 1.0), True),  # the first two tenths count in the mean alone
        (within(0.1, 0.2, 12.0, 1.0), False),
        *[(within(i / 10, (i + 1) / 10, 2.021, 1.0), False) for i in range(2, 10)],  # one tenth above 1.01 limit
        *[(within(i / 10, (i + 1) / 10, 2.019, 1.0), True) for i in range(2, 10)],
        (within(0.35, 0.45, 2.03, 1.9), True),  # tenths begin at tenths
    ],
)
def test_keeping_the_limit_is_a_matter_of_the_whole_run_and_of_each_tenth_from_the_third_on(cost, keeps):
    assert parts.keeps_the_limit(seed(cost=cost), DEFAULT) is keeps


@pytest.mark.parametrize(
    ("cost", "breaks"),
    [
        (within(0.8, 1, 2.021, 0.0), True),
        (within(0.8, 1, 2.019, 9.0), False),
        (within(0.8, 1, 2.021, 0.0) - within(0.8, 0.81, 0.1, 0.0), False),
        (within(0.79, 0.8, 0.0, 2.021), True),
    ],
)
def test_breaking_the_limit_is_one_percent_above_it_over_the_last_fifth(cost, breaks):
    assert parts.breaks_the_limit(seed(cost=cost), DEFAULT) is breaks


@pytest.mark.parametrize(("seeds", "mixed_from", "mixed_to"), [(20, 3, 17), (100, 11, 89), (10, 2, 8), (1, 1, 0)])
def test_nine_in_ten_seeds_decide(seeds, mixed_from, mixed_to):
    answers = [parts.verdict(agree, seeds, 0.9) for agree in range(seeds + 1)]
    mixed = mixed_to - mixed_from + 1
    assert answers == ["does not hold"] * mixed_from + ["mixed"] * mixed + ["holds"] * (seeds - mixed_to)


@pytest.mark.parametrize("agree", [0, 3, 20])
def test_the_interval_is_that_of_clopper_and_pearson(agree):
    low, high = parts.clopper_pearson(agree, 20)
    assert low == pytest.approx(stats.beta.ppf(0.025, agree, 21 - agree) if agree else 0.0)
    assert high == pytest.approx(stats.beta.ppf(0.975, agree + 1, 20 - agree) if agree < 20 else 1.0)


def test_all_parts_are_asked_for():
    assert parts.together(["holds", "holds"]) == "holds"
    assert parts.together(["holds", "mixed", "does not hold"]) == "does not hold"
    assert parts.together(["holds", "mixed"]) == "mixed"
    assert parts.together(["void", "holds"]) == "void"


PUBLISHED = {
    "costs": {"nonstationary_triple_q": 4.9, "triple_q": 6.0, "restart_q_ucb": 8.0},
    "lams": {"nonstationary_triple_q": 0.9, "triple_q": 0.9, "restart_q_ucb": 0.1},
}


def table(costs, lams, multiplier=0.5, seeds=20, evaluated=1000):
    """An exact table, one row for each evaluated episode; a cost for all seeds of an algorithm, or one for each."""
    frames = []
    for algorithm in costs:
        for number in range(seeds):
            frame = pd.DataFrame({"episode": np.arange(1, evaluated + 1) * 80, "weight": 80})
            frames.append(
                frame.assign(
                    algorithm=algorithm,
                    setting="tuned",
                    seed=number,
                    episodes=80 * evaluated,
                    value=lams[algorithm] * 4.0 + 1.0,
                    uniform_value=1.0,
                    optimal_value=5.0,
                    optimal_multiplier=multiplier,
                    horizon=25,
                    rho=20.0,
                    utility_value=25.0 - np.broadcast_to(costs[algorithm], seeds)[number],
                )
            )
    return pd.concat(frames, ignore_index=True)


def judged(multiplier=0.5, **triple_q):
    numbers = {key: {**PUBLISHED[key], **({"triple_q": triple_q[key]} if key in triple_q else {})} for key in PUBLISHED}
    return pd.DataFrame(cells.judge(table(**numbers, multiplier=multiplier), RULES))


def placed(found, setting="tuned", **place):
    here = {"experiment": "here", "reading": "default", "budget": "default", "episodes": 80_000, "map": "6x6"}
    return found.assign(**{**here, **place}, setting=setting, apart=False)


def test_the_published_ordering_would_be_recognised():
    found = judged()
    assert found["part"].tolist() == ["C20a", "C20b", "C20b forgiving", "C20c", "C20d", "C20e"]
    assert set(found["verdict"]) == set(found["mean_of_trials"]) == {"holds"}
    assert (found["agree"] == 20).all()
    assert (found["seeds"] == 20).all()
    whole = cells.combined(placed(found), [*cells.CASE, "setting"])
    assert dict(zip(whole["part"], whole["verdict"], strict=True)) == {"C20": "holds", "C20 forgiving": "holds"}
    moved = whole["moved"].iloc[0]
    assert moved["learnt"] == ["holds"] * 7 + ["does not hold"]  # Lam is 0.9, the last threshold 0.95
    assert moved["slack"] == ["holds"] * 5
    assert moved["agreement"] == ["holds"] * 5
    assert [cells.whole_range(row) for row in found.to_dict("records")] == [None] * 3 + ["holds"] * 3


def test_seeds_that_must_agree_are_a_threshold_too():
    found = judged(costs=4.0 + 2.0 * (np.arange(20) < 15)).set_index("part").loc["C20d"]
    assert (found["agree"], found["verdict"]) == (15, "mixed")
    assert found["moved"]["agreement"] == ["holds", "holds", "mixed", "mixed", "mixed"]  # 0.6, 0.7, 0.8, ...


def test_the_whole_asks_for_one_reading_of_quickly_at_a_time():
    found = placed(judged())
    found.loc[found["part"] == "C20b", "verdict"] = "does not hold"
    whole = cells.combined(found, [*cells.CASE, "setting"]).set_index("part")["verdict"]
    assert whole.to_dict() == {"C20": "does not hold", "C20 forgiving": "holds"}
    assert cells.combined(found[found["part"] != "C20e"], [*cells.CASE, "setting"]).empty


def test_a_baseline_that_keeps_the_limit_refutes_it():
    found = judged(costs=4.0).set_index("part")
    assert found.loc["C20d", ["verdict", "agree"]].tolist() == ["does not hold", 0]
    half = judged(costs=4.0 + 2.0 * (np.arange(20) % 2)).set_index("part")
    assert half.loc["C20d", ["verdict", "agree"]].tolist() == ["mixed", 10]
    assert half.loc["C20d", ["low", "high"]].tolist() == pytest.approx(parts.clopper_pearson(10, 20))


@pytest.mark.parametrize(("multiplier", "void"), [(0.0499, True), (0.0501, False)])
def test_where_the_constraint_does_not_bind_all_is_void(multiplier, void):
    found = judged(multiplier=multiplier)
    assert set(found["verdict"]) == set(found["mean_of_trials"]) == ({"void"} if void else {"holds"})
    assert found["agree"].tolist() == [20] * 6  # what the seeds say is reported either way


def test_the_multiplier_is_the_mean_over_the_run_weighted_by_episodes():
    exact = table(**PUBLISHED, evaluated=10)
    exact["weight"] = np.where(exact["episode"] == 80, 70, 10)
    exact["optimal_multiplier"] = np.where(exact["episode"] == 80, 0.2, 0.0)
    assert cells.judge(exact, RULES)[0]["multiplier"] == pytest.approx(0.2 * 70 / 160)


@pytest.mark.parametrize(("lam", "without"), [(0.199, True), (0.201, False)])
def test_a_limit_broken_without_having_learnt_is_said_to_be(lam, without):
    """Of baselines alone: a learner that is asked to keep the limit, and has learnt nothing, gets no such excuse."""
    found = judged(lams=lam).set_index("part")["without_learning"]
    assert found.loc[["C20d", "C20e"]].tolist() == [without, True]
    assert not found.filter(regex="C20[abc]").any()


@pytest.mark.parametrize(("cost", "lam", "only"), [(4.9, 0.19, True), (4.9, 0.21, False), (5.1, 0.19, False)])
def test_a_limit_kept_without_having_learnt_is_said_to_be(cost, lam, only):
    found = judged(costs=cost, lams=lam).set_index("part")["kept_without_learning"]
    assert found["C20d"] == only
    assert not found["C20a"]


def test_the_unconstrained_optimum_stands_beside_a_learner_that_ignores_the_constraint():
    exact = table(**PUBLISHED).assign(unconstrained_cost=8.5)
    found = pd.DataFrame(cells.judge(exact, RULES)).set_index("part")["unconstrained_cost"]
    assert found["C20e"] == 8.5
    assert found.drop("C20e").isna().all()
    assert judged()["unconstrained_cost"].isna().all()


def test_what_a_cell_says_beside_its_verdict_is_of_the_last_fifth():
    exact = table(**PUBLISHED, evaluated=100)
    number = exact["episode"] / 80  # 1 to 100
    exact["value"] = 1.0 + number / 25
    exact["utility_value"] = 25.0 - number / 10
    cell = cells.judge(exact, RULES)[0]
    mean = np.mean(range(81, 101))
    assert (cell["lam"], cell["cost"], cell["limit"]) == pytest.approx((mean / 100, mean / 10, 5.0))


@pytest.fixture
def study(tmp_path):
    """A plan of two readings at one budget, and the tables of a run in which one of them is as published."""
    planned = plan.make(
        {
            "experiments": [
                {
                    "name": "here",
                    "role": "grid_world",
                    "environment": {"name": "grid_world", "map": "6x6", "horizon": 15, "limit": 2.0},
                    "readings": [{"location": "reached"}, {"location": "current", "cost_drift": 0.0}],
                    "episodes": [80_000],
                    "seeds": 20,
                    "learners": [{"algorithm": "uniform", "setting": "literal"}],
                }
            ]
        }
    )
    published, other = (case.reading for case in planned.cases_of("here"))
    keeping = {**PUBLISHED, "costs": {**PUBLISHED["costs"], "triple_q": 4.0}}
    exact = pd.concat([table(**PUBLISHED).assign(reading=published), table(**keeping).assign(reading=other)])
    exact = exact.assign(experiment="here", budget="default")
    cases = [{"reading": case.reading, "budget": case.budget, **case.spec} for case in planned.cases_of("here")]
    file = tmp_path / "tables/here/exact.parquet"
    files.write(file, pa.Table.from_pandas(exact, preserve_index=False).replace_schema_metadata(None), {"cases": cases})
    return planned, tmp_path


def test_every_reading_is_judged_by_its_own_runs(study):
    _, folder = study
    found = cells.simulation(folder, ["here"], RULES)
    assert len(found) == 2 * len(parts.PARTS)
    by_reading = found[found["part"] == "C20d"].set_index(["location", "cost drift"])
    assert by_reading["verdict"].to_dict() == {
        ("reached", "accumulates"): "holds",
        ("current", "off"): "does not hold",
    }
    assert (by_reading["seeds"] == 20).all()
    whole = cells.combined(found, [*cells.CASE, "setting"])
    assert whole["verdict"].tolist() == ["holds", "holds", "does not hold", "does not hold"]


def test_the_verdicts_are_written_with_what_they_rest_on(study, monkeypatch):
    monkeypatch.chdir(ROOT)
    claims.write(*study)
    written = json.loads((study[1] / layout.SIMULATION).read_text())
    counts = {"holds_in": 1, "mixed_in": 0, "judged": 2, "void": 0, "unlearnt": 0}
    assert {key: written[key] for key in counts} == counts
    assert written["forgiving"] == written["mean_of_trials"] == written["forgiving_mean_of_trials"] == counts
    assert len(written["cells"]) == 2 * len(parts.PARTS)
    assert [one["verdict"] for one in written["whole"]] == ["holds", "holds", "does not hold", "does not hold"]
    assert {row["part"]: row["class"] for row in written["classes"]} == {
        "C20a": "depends on constants",  # Lam is 0.9, and the range of its threshold goes beyond
        "C20b": "depends on constants",
        "C20c": "holds robustly",
        "C20d": "depends on constants",
        "C20e": "holds robustly",
        "C20": "depends on constants",
    }
    assert (written["depends"], written["alternatives"], written["void_readings"]) == ([], [], [])
    assert written["thresholds"]["learnt"]["default"] == 0.8


def test_printed_constants_that_learn_nothing_are_counted_apart(study):
    _, folder = study
    file = folder / "tables/here/exact.parquet"
    stored, facts = files.read(file)
    exact = stored.to_pandas().assign(setting="literal")
    exact["value"] = exact["value"].mask(exact["algorithm"] == parts.FIRST, 1.1)
    files.write(file, pa.Table.from_pandas(exact, preserve_index=False).replace_schema_metadata(None), facts)
    found = cells.simulation(folder, ["here"], RULES)
    assert found.set_index("part")["apart"].groupby("part").all().to_dict() == {
        "C20a": True,
        "C20b": True,
        "C20b forgiving": True,
        "C20c": True,
        "C20d": False,
        "C20e": True,  # as published, RestartQ-UCB has not learnt either
    }
    whole = cells.combined(found, [*cells.CASE, "setting"])
    assert claims.tally(whole[whole["part"] == "C20"]) == {
        **{"holds_in": 0, "mixed_in": 0, "judged": 0, "void": 0},
        "unlearnt": 2,
    }


def test_without_a_baseline_the_parts_are_judged_and_the_whole_is_not(study, monkeypatch):
    planned, folder = study
    file = folder / "tables/here/exact.parquet"
    stored, facts = files.read(file)
    exact = stored.to_pandas()
    kept = pa.Table.from_pandas(exact[exact["algorithm"] != "triple_q"], preserve_index=False)
    files.write(file, kept.replace_schema_metadata(None), facts)
    found = written(planned, folder, monkeypatch)
    assert (found["judged"], found["whole"]) == (0, [])
    assert [row["part"] for row in found["classes"]] == ["C20a", "C20b", "C20c", "C20e"]


SEARCHED = [f"search_{search}_{finalist}" for search in range(5) for finalist in range(3)]


def chosen(folder, name, costs):
    """An experiment of tuned learners: by choice, what Triple-Q costs; the others are as published."""
    frames, learners = [], {}
    for choice, cost in costs.items():
        exact = table(PUBLISHED["costs"] | {"triple_q": cost}, PUBLISHED["lams"], seeds=4, evaluated=100)
        label = exact["algorithm"] + f".choice={choice}"
        frames.append(exact.assign(learner=label, experiment=name, reading="default", budget="default"))
        for algorithm in PUBLISHED["costs"]:
            spec = {"algorithm": algorithm, "setting": "tuned"} | ({} if choice == "main" else {"choice": choice})
            learners[f"{algorithm}.choice={choice}"] = spec
    options = {"map": "6x6", "cost_drift": 1.0, "location": "reached", "switch": "none"}
    case = {"reading": "default", "budget": "default", "episodes": 8000, "fingerprint": "f", "options": options}
    made = pa.Table.from_pandas(pd.concat(frames), preserve_index=False).replace_schema_metadata(None)
    files.write(folder / f"tables/{name}/exact.parquet", made, {"cases": [case], "learners": learners})


def searched(folder, costs, frames=None):
    """A plan of one experiment, other choices of its tuning and, where given, another bound on frames."""
    tunings = {"here": "tuning", "others": "tuning"} | ({"frames_3": "tuning_frames_3"} if frames else {})
    chosen(folder, "here", {"main": 6.0})
    chosen(folder, "others", costs)
    if frames:
        chosen(folder, "frames_3", {"main": frames})
    return SimpleNamespace(
        roles={"grid_world": ["here"], "alternatives": [name for name in tunings if name != "here"]},
        simulations=["here"],
        best_cases=[],
        experiment=lambda name: SimpleNamespace(tuning=tunings[name]),
        tuning=lambda name: SimpleNamespace(episodes=8000),
    )


def written(planned, folder, monkeypatch):
    monkeypatch.chdir(ROOT)
    claims.write(planned, folder)
    return json.loads((folder / layout.SIMULATION).read_text())


def test_searches_that_disagree_are_counted(tmp_path, monkeypatch):
    costs = dict.fromkeys(SEARCHED, 6.0) | {f"search_3_{finalist}": 4.0 for finalist in range(3)}
    found = written(searched(tmp_path, costs), tmp_path, monkeypatch)
    differ = {row["part"]: row["search"] for row in found["depends"]}
    assert {part for part, differs in differ.items() if differs} == {"C20d", "C20", "C20 forgiving"}
    assert found["depends_counts"] == {
        "search": {"differ": 3, "of": 8},
        "finalist": {"differ": 0, "of": 8},  # each search agrees with itself
        "rule": {"differ": 0, "of": 0},
        "frames": {"differ": 0, "of": 0},
    }
    (triple_q,) = [row for row in found["classes"] if row["part"] == "C20d"]
    assert (triple_q["class"], triple_q["moves_with"]) == ("depends on constants", ["search"])
    assert len(found["alternatives"]) == 15 * 8


def test_finalists_rules_and_bounds_on_frames_are_told_apart(tmp_path, monkeypatch):
    costs = dict.fromkeys(SEARCHED, 6.0) | {"search_2_1": 4.0, "least_gap": 6.0, "regret": 4.0}
    found = written(searched(tmp_path, costs, frames=4.0), tmp_path, monkeypatch)
    (row,) = [row for row in found["depends"] if row["part"] == "C20d"]
    assert {kind: row[kind] for kind in alternatives.KINDS} == {
        "search": False,
        "finalist": True,
        "rule": True,
        "frames": True,
    }
    (triple_q,) = [row for row in found["classes"] if row["part"] == "C20d"]
    assert triple_q["moves_with"] == ["finalist", "rule of tuning", "bound on frames"]


def tuned(folder, *rows):
    columns = ["tuning", "algorithm", "episodes", "choice", "feasible"]
    pd.DataFrame(rows, columns=columns).to_csv(folder / "tables/tuned.csv", index=False)


def test_a_finalist_that_is_infeasible_is_left_out(tmp_path, monkeypatch):
    planned = searched(tmp_path, {"search_0_0": 6.0, "search_0_1": 4.0})
    tuned(
        tmp_path,
        ("tuning", "triple_q", 8000, "main search_0_0", True),
        ("tuning", "triple_q", 8000, "search_0_1", False),
        ("tuning", "triple_q", 8000, None, True),
        ("tuning", "restart_q_ucb", 8000, "search_0_1", False),  # it knows no constraint
    )
    found = written(planned, tmp_path, monkeypatch)
    left = {(row["part"], row["choice"]) for row in found["alternatives"]}
    assert ("C20d", "search_0_0") in left
    assert ("C20d", "search_0_1") not in left
    assert ("C20e", "search_0_1") in left
    (row,) = [row for row in found["depends"] if row["part"] == "C20d"]
    assert (row["search"], row["finalist"]) == (False, None)


@pytest.mark.parametrize(
    ("feasible", "says"),
    [
        (False, "no feasible Triple-Q was found"),
        (True, "the feasible choice breaks the limit on new seeds"),
        (None, "holds"),
    ],
)
def test_a_limit_broken_with_tuned_factors_is_worded_by_what_tuning_found(tmp_path, monkeypatch, feasible, says):
    planned = searched(tmp_path, {"search_0_0": 6.0})
    if feasible is not None:
        tuned(tmp_path, ("tuning", "triple_q", 8000, "main search_0_0", feasible))
    found = written(planned, tmp_path, monkeypatch)
    assert {cell["part"]: cell["says"] for cell in found["cells"]}["C20d"] == says
    assert {row["part"]: row["why"] for row in found["classes"]}["C20d"] == f"{says} with tuned constants"


def test_a_limit_kept_by_not_learning_is_worded_so():
    keys = {"tuning_feasible": True, "kept_without_learning": True}
    said = [("C20c", "holds"), ("C20d", "does not hold"), ("C20c", "does not hold"), ("C20a", "does not hold")]
    assert [alternatives._says({**keys, "part": part, "verdict": verdict}) for part, verdict in said] == [
        "holds only by not learning",
        "feasible only by not learning",
        "does not hold",
        "does not hold",
    ]


def test_a_limit_kept_by_not_learning_is_no_more_where_another_choice_learns_and_keeps_it(tmp_path):
    """One choice among the alternatives suffices, if it keeps the limit."""
    keys = {"experiment": "here", "reading": "default", "budget": "default", "episodes": 1, "part": "C20a"}
    mine = pd.DataFrame([{**keys, "setting": name, "kept_without_learning": True} for name in ("tuned", "literal")])
    others = [{**keys, "kept": True, "lam": 0.1}, {**keys, "kept": False, "lam": 0.9}]
    assert alternatives.best_kept(mine, pd.DataFrame(others), RULES).tolist() == [True, True]
    others += [{**keys, "kept": True, "lam": 0.3}]
    assert alternatives.best_kept(mine, pd.DataFrame(others), RULES).tolist() == [False, True]


def row(setting, verdict, part="C20c", **changed):
    place = {"experiment": "here", "reading": "default", "budget": "default", "episodes": 1, "map": "6x6"}
    moved = {"slack": [verdict] * 5}
    return {**place, "setting": setting, "part": part, "verdict": verdict, "mean_of_trials": verdict} | {
        "moved": moved,
        "apart": False,
        **changed,
    }


@pytest.mark.parametrize(
    ("rows", "name", "why", "moves"),
    [
        (
            [row("authors", "holds"), row("tuned", "holds")],
            "holds robustly",
            "holds with the authors' constants and tuned constants",
            [],
        ),
        (
            [row("authors", "does not hold"), row("tuned", "holds")],
            "depends on constants",
            "does not hold with the authors' constants; holds with tuned constants",
            ["constants"],
        ),
        (
            [row("literal", "holds", apart=True), row("tuned", "does not hold")],
            "fails robustly",
            "does not hold with tuned constants; nothing is learnt with the printed constants",
            [],
        ),
        ([row("tuned", "void")], "cannot be judged at feasible K", "the constraint does not bind", []),
        (
            [row("literal", "holds", apart=True)],
            "cannot be judged at feasible K",
            "nothing is learnt with the printed constants",
            [],
        ),
        (
            [row("tuned", "holds"), row("tuned", "mixed", reading="other")],
            "depends on constants",
            "holds in 1 of 2 readings with tuned constants",
            ["reading"],
        ),
        (
            [row("tuned", "does not hold"), row("tuned", "holds", experiment="longer", episodes=2)],
            "depends on constants",
            "does not hold with tuned constants at K = 1; holds with tuned constants at K = 2",
            ["number of episodes"],
        ),
        (
            [row("tuned", "does not hold"), row("authors", "holds", experiment="longer", episodes=2000)],
            "depends on constants",
            "does not hold with tuned constants at K = 1; holds with the authors' constants at K = 2,000",
            ["constants", "number of episodes"],
        ),
        (
            [row("tuned", "holds"), row("tuned", "holds", experiment="longer", episodes=2)],
            "holds robustly",
            "holds with tuned constants",
            [],
        ),
        ([row("tuned", "mixed")], "depends on constants", "mixed with tuned constants", []),
        (
            [row("tuned", "holds", "C20e", unconstrained_cost=cost, limit=2.0, reading=f"{cost}") for cost in (7.5, 8)],
            "holds robustly",
            "holds with tuned constants; the unconstrained optimum costs 7.50 to 8.00, the limit is 2",
            [],
        ),
        (
            [row("tuned", "holds", moved={"slack": ["holds", "mixed"], "agreement": ["holds"]})],
            "depends on constants",
            "holds with tuned constants",
            ["thresholds (slack)"],
        ),
        (
            [row("tuned", "holds", mean_of_trials="does not hold")],
            "depends on constants",
            "holds with tuned constants",
            ["mean of trials"],
        ),
        (
            [row("tuned", "does not hold", "C20b"), row("tuned", "holds", "C20b forgiving")],
            "depends on constants",
            "does not hold (holds where dips are forgiven) with tuned constants",
            ["dips"],
        ),
    ],
)
def test_the_class_of_a_part_follows_from_its_verdicts(rows, name, why, moves):
    (found,) = classes.table(pd.DataFrame(rows), [], RULES, {})
    assert (found["class"], found["why"], found["moves_with"]) == (name, why, moves)


def test_constants_that_were_searched_for_can_turn_a_class():
    """A part that fails wherever it was judged does not fail robustly if some constants make it hold."""
    rows = pd.DataFrame([row("tuned", "does not hold", "C20a")])
    place = (rows["map"].iloc[0], "C20a")
    for found, name in (({"does not hold"}, "fails robustly"), ({"mixed"}, "fails robustly")):
        assert classes.table(rows, [], RULES, {place: found})[0]["class"] == name
    (turned,) = classes.table(rows, [], RULES, {place: {"holds"}})
    assert (turned["class"], turned["moves_with"]) == ("depends on constants", ["best case"])
