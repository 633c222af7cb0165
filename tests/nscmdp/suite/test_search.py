"""A search finds what is planted, tries equally much for every learner, and does not depend on who runs it when."""

import json
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pandas as pd
import pytest

from nscmdp import algorithms, environments, files
from nscmdp.problem import Problem
from nscmdp.suite import optima, scoring, search
from shipped import ROOT
from wei2023.runs import parts, specifications
from wei2023.study import plan

RANGES = {"bonus": (1e-4, 0.1), "eta": (0.01, 100.0), "frame": (0.1, 30.0)}
PLANTED = {"bonus": 0.004, "eta": 3.0, "frame": 12.0}
SEEDS = {"search_seeds": list(range(8)), "selection_seeds": [100, 101, 102], "seeds": 2}
EFFORT = {"population": 12, "generations": 24, **SEEDS}
SMALL = {"population": 4, "generations": 6, "searches": 2, "seeds": 2, "pool": 4}
SMALL |= {"selection_seeds": 2}
SPEC = {"search": 0, "effort": EFFORT}
BY_GAP = scoring.Objective(constrained=True)


class Planted:
    """A loss that is least at PLANTED, where the constraint is just kept; noise by seed."""

    measures = scoring.MEASURES

    def __init__(self, fails_after=None):
        self.space, self.runs, self.fails_after = search.Space(RANGES), 0, fails_after

    def score(self, factors, seed):
        self.runs += 1
        if self.runs == self.fails_after:
            raise KeyboardInterrupt
        away = self.space.point(factors) - self.space.point(PLANTED)
        noise = np.random.default_rng([seed, 5]).normal() * 0.001
        loss = float(away @ away) + noise
        # Beyond the planted eta the loss would go on falling, but the constraint is broken.
        measured = dict.fromkeys(self.measures, 0.0) | {"loss": loss - max(away[1], 0.0)}
        return measured | {"violation": float(away[1]) - 0.01 + noise}

    def ordered(self, rows):
        return BY_GAP.provisional(rows, 3)


def searched(folder, name, objective=None, number=0, starts=(None,)):
    objective, output = objective or Planted(), folder / f"{name}.parquet"
    given = folder / f"{name}.progress", objective.space, objective, starts
    search.run({**SPEC, "search": number}, output, *given)
    return files.read(output)[0].to_pandas()


def best_of(rows):
    return scoring.ranked(BY_GAP.summary(rows[rows["stage"] == "selection"])).iloc[0]


@pytest.mark.parametrize("number", range(2))
def test_a_planted_optimum_at_the_edge_of_what_is_feasible_is_found(tmp_path, number):
    rows = searched(tmp_path, "planted", number=number)
    best = best_of(rows)
    space = search.Space(RANGES)
    apart = np.abs(space.point(json.loads(best["factors"])) - space.point(PLANTED))
    assert best["feasible"]
    assert apart.max() < 0.08
    drawn = rows[(rows["stage"] == "search") & (rows["generation"] == 0)]
    first = scoring.ranked(BY_GAP.summary(drawn)).iloc[0]
    assert best["loss"] < 0.5 * first["loss"]  # CMA-ES goes on from what the Sobol points found


def test_a_search_that_is_cut_short_goes_on_and_ends_the_same(tmp_path):
    whole = searched(tmp_path, "whole")
    with pytest.raises(KeyboardInterrupt):
        searched(tmp_path, "cut", Planted(fails_after=300))
    resumed = Planted()
    pd.testing.assert_frame_equal(searched(tmp_path, "cut", resumed), whole)
    assert resumed.runs < len(whole) - 200
    assert (tmp_path / "cut.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()
    assert not (tmp_path / "cut.progress").exists()


def test_seeds_of_search_and_selection_are_apart_and_generations_change_theirs(tmp_path):
    rows = searched(tmp_path, "seeds")
    by_stage = rows.groupby("stage")["seed"].unique()
    assert set(by_stage["search"]) == set(SEEDS["search_seeds"])
    assert set(by_stage["selection"]) == set(SEEDS["selection_seeds"])
    by_generation = rows[rows["stage"] == "search"].groupby("generation")["seed"].unique()
    assert by_generation.map(sorted).map(tuple).nunique() == 4
    assert (rows[rows["stage"] == "selection"].groupby("factors").size() == 3).all()


def test_the_selection_is_entered_each_time_the_effort_has_doubled(tmp_path):
    rows = searched(tmp_path, "levels")
    assert sorted(rows.loc[rows["stage"] == "selection", "generation"].unique()) == [4, 8, 16, 24]
    drawn, begun, short = ((None, 0, 32), (np.zeros(2), 8, 16), (None, 0, 3))
    for given, expected in ((drawn, [4, 8, 16, 32]), (begun, [9, 10, 12, 16]), (short, [3])):
        part = search.Descent(*given)
        assert [k for k in range(part.first + 1, part.until + 1) if part.is_level(k)] == expected


def test_a_given_start_is_among_what_is_selected(tmp_path):
    rows = searched(tmp_path, "started", starts=[search.Space(RANGES).point(PLANTED)])
    selected = rows.loc[(rows["stage"] == "selection") & (rows["generation"] == 0), "factors"]
    assert json.loads(selected.iloc[0]) == PLANTED


def test_a_search_from_two_starts_shares_its_generations_between_them(tmp_path):
    rows = searched(tmp_path, "two", starts=[search.Space(RANGES).point(PLANTED), None])
    tried = rows[rows["stage"] == "search"]
    assert len(tried) == EFFORT["population"] * EFFORT["generations"] * EFFORT["seeds"]
    # Where the second one begins: with Sobol points.
    drawn = tried[tried["generation"] == EFFORT["generations"] // 2]
    assert drawn["candidate"].nunique() == search.SPREAD * EFFORT["population"]
    alone = searched(tmp_path, "alone")
    first = alone[(alone["stage"] == "search") & (alone["generation"] == 0)]
    assert [*drawn["factors"].unique()] == [*first["factors"].unique()]


def test_the_strict_start_has_the_longest_frames_and_the_strictest_dual():
    space = search.Space(RANGES | {"epsilon": (0.1, 10.0), "btilde": (1e-4, 1.0)})
    begun = space.factors(space.strict())
    expected = {"frame": 30.0, "eta": 0.01, "epsilon": 10.0, "btilde": 1e-4}
    assert {name: begun[name] for name in expected} == expected
    assert begun["bonus"] == pytest.approx((1e-4 * 0.1) ** 0.5, rel=1e-3)


class Deceptive(Planted):
    """Who learns (long frames) breaks the constraint unless the dual is strict; who does not learn keeps it."""

    def score(self, factors, seed):
        frame, eta = self.space.point(factors)[[2, 1]]
        learnt, strict = max(0.0, frame - 0.7) / 0.3, max(0.0, 0.2 - eta) / 0.2
        noise = np.random.default_rng([seed, 5]).normal() * 0.001
        measured = dict.fromkeys(self.measures, 0.0) | {"lam": learnt}
        violation = -0.05 + learnt * (1 - 2 * strict) + noise
        return measured | {"loss": 2 - learnt + 0.1 * frame, "violation": violation}


@pytest.mark.parametrize("number", range(2))
def test_who_must_break_the_constraint_before_learning_to_keep_it_is_found_from_the_strict_start(
    tmp_path, number
):
    starts = [None, search.Space(RANGES).strict()]
    best = best_of(searched(tmp_path, "strict", Deceptive(), number, starts))
    assert best["feasible"]
    assert best["lam"] > 0.9


def configuration(names, environment=None, episodes=64, **changes):
    menu = {"name": "menu"}
    choice = {"name": "choice", "environment": environment or menu, "episodes": episodes}
    idle = {"name": "walk", "environment": menu, "episodes": [64], "seeds": 1}
    idle["learners"] = [{"algorithm": "uniform", "setting": "literal"}]
    tunings = [{**choice, "algorithms": list(names), **changes}]
    return {"effort": SMALL, "tunings": tunings, "experiments": [idle]}


def run_search(arguments):
    folder, algorithm, number, raw = arguments
    planned, episodes = plan.make(raw), raw["tunings"][0]["episodes"]
    output = folder / f"{algorithm}-{number}.parquet"
    spec = specifications.search(planned, "choice", algorithm, episodes, number)
    search.for_tuning(spec, folder / "optima.parquet", output, output.with_suffix(".progress"))
    return output


def test_effort_is_counted_equal_and_the_same_on_any_number_of_cores(tmp_path):
    names = ["nonstationary_triple_q", "restart_q_ucb"]
    raw = configuration(names)
    jobs = [(name, number) for name in names for number in range(2)]
    outputs = {}
    for cores in (1, 2):
        folder = tmp_path / str(cores)
        optima.solve(specifications.optimum(plan.make(raw), "choice"), folder / "optima.parquet")
        arguments = [(folder, *job, raw) for job in (jobs if cores == 1 else reversed(jobs))]
        if cores == 1:
            outputs[cores] = list(map(run_search, arguments))
        else:
            with ProcessPoolExecutor(2) as pool:
                outputs[cores] = list(pool.map(run_search, arguments))
    for one, other in zip(outputs[1], reversed(outputs[2]), strict=True):
        assert one.name == other.name
        assert one.read_bytes() == other.read_bytes()
    draws = []
    for output in outputs[1]:
        rows = files.read(output)[0].to_pandas()
        searched = rows[rows["stage"] == "search"]
        assert len(searched) == 4 * 6 * 2
        draws.append(searched["factors"].iloc[0])
    assert len(set(draws)) == len(draws)  # another search begins elsewhere


@pytest.mark.parametrize("frames", [10, 3, 1])
def test_ranges_are_equal_in_effect_and_leave_so_many_frames(frames):
    env = environments.make("grid_world", 80_000)
    problem = Problem.of(env)
    found = {}
    for name in ("nonstationary_triple_q", "triple_q", "restart_q_ucb"):
        ranges = algorithms.ranges(name, problem, frames)
        for end in (0, 1):
            factors = {key: value[end] for key, value in ranges.items()}
            made = algorithms.make(name, problem, "scaled", factors)
            length = made.epoch if name == "restart_q_ucb" else made.now[0].frame
            found[name, end] = (length,)
            if name != "restart_q_ucb":
                found[name, end] += (made.now[0].eta, made.now[0].target - problem.rho)
            assert problem.K // length >= frames
    for end in (0, 1):
        mine, other = found["nonstationary_triple_q", end], found["triple_q", end]
        np.testing.assert_allclose(mine, other, rtol=0.02)
        assert found["restart_q_ucb", end][0] == pytest.approx(other[0], rel=0.02)
    assert found["triple_q", 1][0] == pytest.approx(problem.K / frames, rel=0.01)


def test_a_learner_whose_queue_is_frozen_cannot_be_tuned_into_keeping_the_limit(tmp_path):
    """eta is so large that Z/eta stays 0; neither learning nor not learning keeps the limit then."""
    environment = {"name": "grid_world", "map": "6x6", "horizon": 15, "limit": 2.0}
    raw = configuration(["nonstationary_triple_q"], environment, 2000, evaluate_every=15)
    raw["effort"] = {**SMALL, "generations": 8, "selection_seeds": 4}
    planned = plan.make(raw)
    solved, output = tmp_path / "optima.parquet", tmp_path / "search.parquet"
    optima.solve(specifications.optimum(planned, "choice"), solved)
    spec = specifications.search(planned, "choice", "nonstationary_triple_q", 2000, 0)
    scorer, space = scoring.Scorer(spec, solved), search.space_of(spec)
    plain = scorer.score
    scorer.score = lambda factors, seed: plain({**factors, "eta": 1e9}, seed)
    search.run(spec, output, tmp_path / "progress", space, scorer)
    rows = files.read(output)[0].to_pandas()
    table = BY_GAP.summary(rows[rows["stage"] == "selection"])
    assert not table["feasible"].any()
    assert (table["violation"] > 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("tuning", ["margin_bump_80000", "tuning_18x18"])
def test_what_is_recorded_is_what_the_sources_at_hand_score(tuning, tmp_path, monkeypatch):
    """Of the best candidate of a recorded search, on the selection seeds, to the six digits of a record."""
    monkeypatch.chdir(ROOT)
    planned = plan.load(ROOT / "config.yaml")
    episodes = planned.tuning(tuning).episodes
    spec = specifications.tuning(planned, tuning, "nonstationary_triple_q", episodes)
    kept = spec["recorded"][0]
    optima.solve(specifications.optimum(planned, tuning), tmp_path / "optima.parquet")
    scorer = scoring.Scorer(spec, tmp_path / "optima.parquet", parts.margins_of(spec))
    rows = [
        {"factors": "", "seed": seed, **scorer.score(kept["factors"], seed)}
        for seed in planned.config.effort.selection_list
    ]
    found = scorer.objective.summary(pd.DataFrame(rows)).iloc[0]
    for name in ("loss", "violation", "lam"):
        assert found[name] == pytest.approx(kept[name], rel=1e-5)
