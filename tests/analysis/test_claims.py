"""Verdicts follow from numbers alone, by thresholds that are fixed here once more: each case lies just beside one."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import stats

from nscmdp.analysis import claims
from nscmdp.runs import files
from nscmdp.study import plan

N = 5000
SHARE = np.arange(1, N + 1) / N


def seed(lam=1.0, cost=1.0, limit=2.0, room=4.0):
    lam, cost = np.broadcast_to(lam, N), np.broadcast_to(cost, N)
    return claims.Seed(SHARE, np.full(N, 80), lam * room, np.full(N, room), cost, limit)


def within(begin, end, inside, outside):
    """One value in the episodes from a share of the run to another, another value in all others."""
    return np.where((begin + 1e-9 < SHARE) & (end + 1e-9 > SHARE), inside, outside)


def test_lam_is_a_ratio_of_sums_weighted_by_the_episodes_that_each_stands_for():
    one = seed(lam=within(0.8, 1, 0.9, 0.1))
    assert one.lam() == pytest.approx(0.26)
    assert one.lam(after=0.8) == pytest.approx(0.9)
    weighted = claims.Seed(
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
    assert claims.performs_well(seed(lam=lam)) is well


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
    assert claims.learns_quickly(seed(lam=lam)) is quickly


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
    assert claims.keeps_the_limit(seed(cost=cost)) is keeps


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
    assert claims.breaks_the_limit(seed(cost=cost)) is breaks


@pytest.mark.parametrize(("seeds", "mixed_from", "mixed_to"), [(20, 3, 17), (100, 11, 89), (10, 2, 8), (1, 1, 0)])
def test_nine_in_ten_seeds_decide(seeds, mixed_from, mixed_to):
    answers = [claims.verdict(agree, seeds) for agree in range(seeds + 1)]
    mixed = mixed_to - mixed_from + 1
    assert answers == ["does not hold"] * mixed_from + ["mixed"] * mixed + ["holds"] * (seeds - mixed_to)


@pytest.mark.parametrize("agree", [0, 3, 20])
def test_the_interval_is_that_of_clopper_and_pearson(agree):
    low, high = claims.clopper_pearson(agree, 20)
    assert low == pytest.approx(stats.beta.ppf(0.025, agree, 21 - agree) if agree else 0.0)
    assert high == pytest.approx(stats.beta.ppf(0.975, agree + 1, 20 - agree) if agree < 20 else 1.0)


def test_all_parts_are_asked_for():
    assert claims.together(["holds", "holds"]) == "holds"
    assert claims.together(["holds", "mixed", "does not hold"]) == "does not hold"
    assert claims.together(["holds", "mixed"]) == "mixed"
    assert claims.together(["void", "holds"]) == "void"


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
    return pd.DataFrame(claims.judge(table(**numbers, multiplier=multiplier)))


def test_the_published_ordering_would_be_recognised():
    cells = judged()
    assert cells["part"].tolist() == ["C20a", "C20b", "C20c", "C20d", "C20e"]
    assert set(cells["verdict"]) == {"holds"}
    assert (cells["agree"] == 20).all()
    assert (cells["seeds"] == 20).all()
    here = {"experiment": "here", "reading": "default", "budget": "default", "episodes": 80_000}
    assert claims.combined(cells.assign(**here))["verdict"].tolist() == ["holds"]


def test_a_baseline_that_keeps_the_limit_refutes_it():
    cells = judged(costs=4.0).set_index("part")
    assert cells.loc["C20d", ["verdict", "agree"]].tolist() == ["does not hold", 0]
    half = judged(costs=4.0 + 2.0 * (np.arange(20) % 2)).set_index("part")
    assert half.loc["C20d", ["verdict", "agree"]].tolist() == ["mixed", 10]
    assert half.loc["C20d", ["low", "high"]].tolist() == pytest.approx(claims.clopper_pearson(10, 20))


@pytest.mark.parametrize(("multiplier", "void"), [(0.0499, True), (0.0501, False)])
def test_where_the_constraint_does_not_bind_all_is_void(multiplier, void):
    cells = judged(multiplier=multiplier)
    assert set(cells["verdict"]) == ({"void"} if void else {"holds"})
    assert cells["agree"].tolist() == [20] * 5  # what the seeds say is reported either way


def test_the_multiplier_is_the_mean_over_the_run_weighted_by_episodes():
    exact = table(**PUBLISHED, evaluated=10)
    exact["weight"] = np.where(exact["episode"] == 80, 70, 10)
    exact["optimal_multiplier"] = np.where(exact["episode"] == 80, 0.2, 0.0)
    assert claims.judge(exact)[0]["multiplier"] == pytest.approx(0.2 * 70 / 160)


@pytest.mark.parametrize(("lam", "without"), [(0.199, True), (0.201, False)])
def test_a_limit_broken_without_having_learnt_is_said_to_be(lam, without):
    """Of baselines alone: a learner that is asked to keep the limit, and has learnt nothing, gets no such excuse."""
    cells = judged(lams=lam).set_index("part")["without_learning"]
    assert cells.to_dict() == {"C20a": False, "C20b": False, "C20c": False, "C20d": without, "C20e": True}


def test_what_a_cell_says_beside_its_verdict_is_of_the_last_fifth():
    exact = table(**PUBLISHED, evaluated=100)
    number = exact["episode"] / 80  # 1 to 100
    exact["value"] = 1.0 + number / 25
    exact["utility_value"] = 25.0 - number / 10
    cell = claims.judge(exact)[0]
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
    cells = claims.simulation(folder, ["here"])
    assert len(cells) == 2 * len(claims.PARTS)
    by_reading = cells[cells["part"] == "C20d"].set_index(["location", "cost drift"])
    assert by_reading["verdict"].to_dict() == {
        ("reached", "accumulates"): "holds",
        ("current", "off"): "does not hold",
    }
    assert (by_reading["seeds"] == 20).all()
    assert claims.combined(cells)["verdict"].tolist() == ["holds", "does not hold"]


def test_the_verdicts_are_written_with_what_they_rest_on(study):
    claims.write(*study)
    written = json.loads((study[1] / "claims.json").read_text())["C20"]
    assert {key: written[key] for key in ("holds_in", "mixed_in", "judged", "void")} == {
        "holds_in": 1,
        "mixed_in": 0,
        "judged": 2,
        "void": 0,
    }
    assert len(written["cells"]) == 2 * len(claims.PARTS)
    assert [one["verdict"] for one in written["whole"]] == ["holds", "does not hold"]
