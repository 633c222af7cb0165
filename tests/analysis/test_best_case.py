"""The best case for the paper: distances judge as the claim does, a search finds it, fresh seeds confirm it."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nscmdp.analysis import best_case, best_cases
from nscmdp.analysis.claims.simulation import parts, rules
from nscmdp.report.figures import replication
from nscmdp.report.results import Results
from nscmdp.runs import files, integrity, optima, records_of_searches, scoring, tuning
from nscmdp.runs import search as searching
from nscmdp.study import config, layout, plan, requests
from nscmdp.study.catalogue import QUESTIONS, REGION

N = 100
SHARE = np.arange(1, N + 1) / N
RULES = rules.load(Path(__file__).parents[2] / "workflow/claims.yaml")
THRESHOLDS = [at for name in ("learnt", "floor", "deadline", "slack") for at in RULES.moved(name)]

levels = st.sampled_from([-0.5, 0.0, 0.5, 0.65, 0.7, 0.75, 0.8, 0.85, 0.95, 1.0])
costs = st.sampled_from([0.0, 0.5, 0.97, 1.0, 1.01, 1.02, 1.05, 2.0])  # in shares of the limit


def stretches(level, pieces):
    """A curve on one level, about the thresholds, but for a few stretches on others."""
    places = st.integers(0, pieces - 1)

    def curve(given):
        base, others = given
        return np.repeat([others.get(place, base) for place in range(pieces)], N // pieces)

    return st.tuples(level, st.dictionaries(places, level, max_size=4)).map(curve)


@st.composite
def seeds(draw):
    lam, cost = draw(stretches(levels, 20)), draw(stretches(costs, 10))
    weight = np.array(draw(st.sampled_from([[1, 1], [1, 3]])) * (N // 2))
    limit, room = draw(st.sampled_from([2.0, 5.0])), np.full(N, 4.0)
    return parts.Seed(SHARE, weight, lam * room, room, cost * limit, limit)


@settings(max_examples=400)
@given(seeds(), st.sampled_from(THRESHOLDS))
def test_a_distance_is_at_least_zero_exactly_where_the_part_holds(seed, at):
    for question in best_case.QUESTIONS.values():
        for part in question.parts:
            assert (best_case.distance(part, seed, at) >= 0) == part.judge(seed, at), part.name


def flat(lam=1.0, cost=1.0, limit=2.0):
    return parts.Seed(SHARE, np.ones(N), np.full(N, lam), np.ones(N), np.full(N, cost), limit)


def test_a_distance_is_what_is_missing_or_to_spare():
    at, by_name = RULES.default, {part.name: part for part in parts.PARTS}
    expected = {
        "C20a": 0.9 - 0.8,
        "C20b": 0.9 - 0.8,
        "C20b forgiving": 0.9 - 0.8,
        "C20c": 1 - 1.5 / 2,
        "C20d": 1.5 / 2 - 1.01,
        "C20e": 1.5 / 2 - 1.01,
    }
    found = {name: best_case.distance(part, flat(0.9, 1.5), at) for name, part in by_name.items()}
    assert found == pytest.approx(expected)


def test_a_dip_counts_before_the_level_is_reached_as_well_as_after():
    """Else a run that never learns would be nearer than one that learns and restarts."""
    dips = np.where((SHARE > 0.5) & (SHARE <= 0.6), 0.2, 1.0)
    at = RULES.default
    never, once = (flat(0.79)._replace(gain=dips * level) for level in (0.79, 0.9))
    assert best_case.learns_quickly(never, at) < best_case.learns_quickly(once, at) < 0


def test_a_limit_that_is_just_met_is_not_broken():
    exactly = flat(cost=2.0)
    at = RULES.default._replace(slack=1.0)
    assert best_case.breaks_the_limit(exactly, at) < 0 <= best_case.keeps_the_limit(exactly, at)


EFFORT = {
    "population": 8,
    "generations": 20,
    "seeds": 2,
    "search_seeds": [0, 1, 2, 3],
    "selection_seeds": [10, 11, 12],
    "finalists": 1,
}
SPACE = searching.Space({"eta": (0.01, 100.0), "frame": (0.01, 100.0)})


class Planted(best_case.Margins):
    """Distances that are largest at eta = 3 and frame = 0.5, and noisier the further away."""

    def __init__(self):
        self.question = best_case.QUESTIONS["own"]
        self.parts = [part for part in self.question.parts if part.algorithm == parts.FIRST]
        self.measures = (*scoring.MEASURES, *(part.name for part in self.parts))

    def score(self, factors, seed):
        away = abs(np.log(factors["eta"] / 3)) + abs(np.log(factors["frame"] / 0.5))
        noise = (0.02 + 0.01 * away) * (-1) ** seed
        distances = {"C20a": 0.1 - 0.1 * away, "C20b": 0.2 - 0.2 * away, "C20c": 0.3 - 0.1 * away}
        measured = dict.fromkeys(self.measures, 0.0) | distances
        return {name: value + noise for name, value in measured.items()}


def test_the_search_finds_a_planted_best_case(tmp_path):
    spec = {"effort": EFFORT, "search": 0}
    output = tmp_path / "found.parquet"
    away = SPACE.point({"eta": 0.1, "frame": 10})
    searching.run(spec, output, tmp_path / "progress.parquet", SPACE, Planted(), [away])
    found = best_case.candidates(output, best_case.QUESTIONS["own"])
    best = json.loads(found["factors"].iloc[0])
    assert best["eta"] == pytest.approx(3, rel=0.25)
    assert best["frame"] == pytest.approx(0.5, rel=0.25)
    assert found["margin"].iloc[0] > 0 > found.loc[found["generation"] == 0, "margin"].item()
    assert found["margin"].is_monotonic_decreasing


def test_candidates_are_ordered_by_their_smallest_margin():
    rows = pd.DataFrame(
        {
            "candidate": [0, 0, 1, 1],
            "factors": ["a", "a", "b", "b"],
            "C20a": [0.9, 0.7, 0.3, 0.1],
            "C20b": [0.1, -0.1, 0.3, 0.1],
            "C20c": [0.9, 0.7, 0.3, 0.1],
        }
    )
    ordered = Planted().ordered(rows)
    assert ordered["factors"].tolist() == ["b", "a"]
    assert not ordered["infeasible"].any()
    deviation = np.std([0.1, -0.1], ddof=1)
    assert (-ordered["key"]).tolist() == pytest.approx([0.2 / deviation, 0.0])
    assert best_case.margins(rows.assign(C20a=0.5), ["C20a"])["C20a"].tolist() == [0.5 / best_case.LEAST] * 2


def test_the_region_counts_points_that_work_on_every_seed():
    """Point 0 works, 1 on one seed only, 2 with dips forgiven, 3 but for "quickly", 4 not at all."""
    signs = {"C20a": "+++++++++-", "C20b": "++-+-+-+-+", "C20b forgiving": "++-+++-+-+", "C20c": "++++++++-+"}
    columns = {name: [1.0 if sign == "+" else -1.0 for sign in text] for name, text in signs.items()}
    rows = pd.DataFrame({"factors": np.repeat(list("abcde"), 2), "seed": [0, 1] * 5, **columns})
    works = {"C20a, C20b, C20c": 1, "C20a, C20b forgiving, C20c": 2, "C20a, C20c": 4}
    assert best_cases.region(rows) == {"points": 5, "seeds": 2, "works": works}


@pytest.mark.parametrize(
    ("best", "chosen", "why"),
    [
        ((0.1, 1.0), (-0.1, 2.0), "violation"),
        ((0.2, 1.0), (0.1, 2.0), "violation"),
        ((-0.1, 2.0), (-0.2, 1.0), "gap"),
        ((-0.1, 1.0), (-0.2, 2.0), "nothing"),
        ((-0.1, 3.0), (0.1, 2.0), "nothing"),
    ],
)
def test_the_demand_of_the_rule_that_excludes_a_candidate(best, chosen, why):
    made = [{"violation_bound": bound, "loss": loss, "feasible": bound <= 0} for bound, loss in (best, chosen)]
    assert best_cases.excluded_by(*made, parts.FIRST) == why
    ranked = scoring.ranked(pd.DataFrame(made))
    assert (ranked.index[0] == 0) == (why == "nothing")


SMALL = {"name": "grid_world", "map": "6x6", "horizon": 15, "limit": 2.0}
LEARNERS = ["nonstationary_triple_q", "triple_q", "restart_q_ucb"]


def configuration(best_case=None, learners=LEARNERS, **changes):
    effort = {"population": 4, "generations": 2, "searches": 1, "seeds": 2, "pool": 4, "selection_seeds": 3}
    choice = {"name": "choice", "environment": SMALL, "episodes": 200, "evaluate_every": 10, "algorithms": learners}
    best = {"name": "best", "tuning": "choice", "generations": 2, "points": 4, "evaluate_every": 5, "seeds": 3}
    uniform = {"algorithm": "uniform", "setting": "literal"}
    walk = {"name": "walk", "environment": SMALL, "episodes": [200], "seeds": 2, "learners": [uniform]}
    return {
        "effort": {**effort, "finalists": 1},
        "tunings": [choice],
        "best_cases": [best | (best_case or {})],
        "experiments": [walk | changes],
    }


WRONG = {
    "an unknown tuning": (configuration({"tuning": "choise"}), "did you mean choice?"),
    "too few algorithms": (configuration(learners=LEARNERS[:2]), "it chooses nothing for restart_q_ucb"),
    "search seeds": (configuration({"first_seed": 9_999}), "best has the seed 10000, which tuning uses"),
    "selection seeds": (configuration({"first_seed": 20_002}), "best has the seed 20002, which tuning uses"),
    "reporting seeds": (configuration({"first_seed": 0}), "best has the seed 0, which walk reports"),
    "a name twice": (configuration({"name": "choice"}), "'choice' stands there twice"),
    "an unknown key": (configuration({"algorithm": "triple_q"}), "best_cases[0].algorithm"),
    "too few evaluated episodes": (configuration({"evaluate_every": 100}), "best_cases[0].evaluate_every = 100"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_best_case_is_refused(what):
    raw, said = WRONG[what]
    with pytest.raises(config.Unacceptable) as refused:
        plan.make(raw).check()
    assert said in str(refused.value)


def make(planned, folder):
    """All jobs of the plan but its simulations."""
    for name in (*planned.tunings, *planned.best_cases):
        optima.solve(planned.optimum_spec(name), folder / layout.optima(name))
    solved, progress = folder / layout.optima("choice"), folder / "progress.parquet"
    for *keys, file in planned.search_files():
        searching.for_tuning(planned.search_spec(*keys), solved, folder / file, progress)
    for *keys, file in planned.tuning_files():
        searches = [folder / name for name in planned.searched_by(*keys)]
        tuning.tune(planned.tuning_spec(*keys), solved, folder / file, searches)
    for *keys, file in planned.best_case_files():
        start, own = [folder / name for name in planned.best_case_start(*keys)], folder / layout.optima(keys[0])
        best_case.search(planned.best_case_spec(*keys), own, folder / file, progress, *start)
    for *keys, file in planned.confirmation_files():
        searches, tuned = (
            [folder / name for name in found(*keys)] for found in (planned.best_case_search, planned.choices_beside)
        )
        fresh = folder / layout.optima(keys[0])
        best_case.confirm(planned.confirmation_spec(*keys), fresh, folder / file, searches, tuned)
    best_cases.write(planned, folder)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder, planned = tmp_path_factory.mktemp("searched"), plan.make(configuration())
    planned.check()
    make(planned, folder)
    return planned, folder


def test_every_question_is_searched_confirmed_and_tabulated(study):
    _, folder = study
    table = pd.read_csv(folder / layout.table("best_cases.csv"))
    assert list(table["question"].unique()) == list(QUESTIONS)
    for question, mine in table.groupby("question"):
        asked = best_case.QUESTIONS[question]
        assert mine["part"].tolist() == [*(part.name for part in asked.parts), *asked.wholes]
        assert (mine["seeds"] == 3).all()
        assert (mine["tried"] == 8).all()
        assert mine["found"].notna().tolist() == [part in asked.wholes for part in mine["part"]]
    seeds = pd.read_csv(folder / layout.table("best_case_seeds.csv"))
    assert set(seeds["seed"]) == {40_000, 40_001, 40_002}
    held = seeds.assign(held=seeds["distance"] >= 0).groupby(["question", "part"])["held"].sum()
    for row in table[table["algorithm"].notna()].itertuples():
        assert held[row.question, row.part] == row.agree
    regions = pd.read_csv(folder / layout.table("best_case_regions.csv"))
    assert (regions["points"] == 4).all()
    assert (regions["share_low"] <= regions["share"]).all()


def test_baselines_stand_at_their_own_choices_or_at_the_shared_constants(study):
    planned, folder = study
    every = best_cases.confirmed(planned, folder)
    rows = every[every["candidate"] == best_case.SEARCHED]
    factors = {keys: json.loads(mine["factors"].iloc[0]) for keys, mine in rows.groupby(["question", "algorithm"])}
    for name in LEARNERS[1:]:
        assert factors["own", name] == tuning.main_choice(folder / layout.tuning("choice", name, 200))
        first = factors["shared", LEARNERS[0]]
        assert factors["shared", name] == best_case.shared_factors(name, first)
        assert factors["shared", name].items() <= first.items()
        assert (name, name) in factors


def test_the_tuned_choice_is_confirmed_beside_what_the_search_found(study):
    """Of the two, the table has the one with which more fresh seeds agree to all that the search is for."""
    planned, folder = study
    rows = best_cases.confirmed(planned, folder)
    table = pd.read_csv(folder / layout.table("best_cases.csv"))
    for question, searched in QUESTIONS.items():
        mine = rows[(rows["question"] == question) & rows["part"].isin(best_case.QUESTIONS[question].decides)]
        chosen = mine[(mine["candidate"] == best_case.CHOICE) & (mine["algorithm"] == searched)]
        choice = tuning.main_choice(folder / layout.tuning("choice", searched, 200))
        assert [json.loads(text) for text in chosen["factors"].unique()] == [choice]
        held = mine.groupby(["candidate", "seed"])["distance"].min().ge(0).groupby("candidate").sum()
        shown = table[table["question"] == question].iloc[0]
        assert held[shown["candidate"]] == held.max()
        assert (shown["search_agree"], shown["tuned_choice_agree"]) == (held["search"], held["tuned choice"])


def test_best_cases_are_searched_at_the_resolution_they_are_confirmed_at():
    planned = plan.make(configuration({"evaluate_every": 2}))
    for question in (*QUESTIONS, REGION):
        assert planned.best_case_spec("best", question)["evaluate_every"] == 2
    assert {*planned.config.effort.seed_list} <= {*planned.optimum_spec("best")["seeds"]}


def test_seeds_of_searches_and_confirmations_are_apart(study):
    planned, folder = study
    found = {name: set(files.read(folder / file)[0]["seed"].to_pylist()) for name, file in _files(planned)}
    for searched, confirmed in product((*QUESTIONS, REGION), QUESTIONS):
        assert found["search", searched].isdisjoint(found["fresh", confirmed])


def _files(planned):
    searches = [(("search", question), file) for _, question, file in planned.best_case_files()]
    return searches + [(("fresh", question), file) for _, question, file in planned.confirmation_files()]


def test_the_plan_knows_all_files(study):
    planned, folder = study
    known = {one.name: one for one in integrity.planned(planned)}
    for _, file in _files(planned):
        assert file in planned.files()
        integrity.read(folder, known[file])
    assert layout.optima("best") in known


def test_a_scheduler_is_asked_for_more_where_more_is_run(study):
    planned, _ = study
    small, large = planned, plan.make(configuration({"points": 10**6, "generations": 10**4, "seeds": 10**4}))
    for question in (*QUESTIONS, REGION):
        asked = [requests.best_case(one, "best", question).minutes for one in (small, large)]
        assert asked[0] < asked[1]
    assert requests.confirmation(small, "best", "own") < requests.confirmation(large, "best", "own")


def test_what_is_recorded_is_confirmed_with_the_same_result(study, tmp_path):
    planned, folder = study
    records = tmp_path / "records"
    records_of_searches.write(planned, folder, records)
    best_cases.record(planned, folder, records)
    again = plan.make(configuration() | {"searches": str(records)})
    again.check()
    assert again.best_case_files() == []
    make(again, tmp_path)
    for name in layout.BEST_CASES:
        assert (tmp_path / layout.table(name)).read_text() == (folder / layout.table(name)).read_text()


def test_without_a_record_the_plan_says_what_makes_it(tmp_path):
    with pytest.raises(config.Unacceptable, match="make search makes it"):
        plan.make(configuration() | {"searches": str(tmp_path)}).check()


def test_a_region_that_was_cut_short_goes_on(study, tmp_path, monkeypatch):
    planned, folder = study
    spec, solved = planned.best_case_spec("best", REGION), folder / layout.optima("best")
    whole = files.read(folder / layout.best_case("best", REGION))[0]
    files.write(tmp_path / "progress.parquet", whole.slice(0, 4), files.provenance(spec))
    scored, plain = [], best_case.Margins.score
    monkeypatch.setattr(best_case.Margins, "score", lambda *given: (scored.append(given[2]), plain(*given))[1])
    best_case.search(spec, solved, tmp_path / "region.parquet", tmp_path / "progress.parquet")
    assert files.read(tmp_path / "region.parquet")[0].equals(whole)
    assert len(scored) == len(whole) - 4


def test_the_notebook_says_found_or_none_found_and_draws(study):
    _, folder = study
    results = Results(folder, {"best_case": ["best"]})
    results.figure("best_case")
    assert (folder / layout.figure("best_case", "png")).stat().st_size > 1000
    said = replication.best_case_answer(results).data
    assert "found after 8 candidates" in said
    assert "does not hold" not in said
    for show in (replication.best_case_parts, replication.best_case_constants, replication.best_case_regions):
        assert "best" in show(results).to_html()
    assert "best_case" in replication.best_case_regions(Results(folder)).data
