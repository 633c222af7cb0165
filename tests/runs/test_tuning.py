"""Tuning is fair: equal effort, seeds of its own, a rule applied by code."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from nscmdp import algorithms, environments, optimum, simulate
from nscmdp.runs import files, optima, simulations, tuning
from nscmdp.study import config, plan

EFFORT = {"candidates": 6, "seeds": 4, "first_seed": 500, "screening_seeds": 2, "finalists": 2}
TUNABLE = [name for name in algorithms.NAMES if algorithms.module(name).RANGES]


def configuration(names=("nonstationary_triple_q", "restart_q_ucb"), **changes):
    learners = [{"algorithm": name, "setting": "tuned"} for name in names]
    experiment = {
        "name": "walk",
        "environment": {"name": "menu"},
        "episodes": [64],
        "seeds": 3,
        "tuning": "choice",
        "learners": learners,
    }
    choice = {"name": "choice", "environment": {"name": "menu"}, "episodes": 64, "algorithms": list(names)}
    return {"effort": EFFORT, "tunings": [choice], "experiments": [{**experiment, **changes}]}


def tuned(planned, algorithm, folder):
    spec = planned.tuning_spec("choice", algorithm, 64)
    optima.solve(planned.optimum_spec("choice"), folder / "optima.parquet")
    tuning.tune(spec, folder / "optima.parquet", folder / "tuned.parquet")
    return folder / "tuned.parquet"


def chosen(file):
    (factors,) = tuning.choices([file]).values()
    return factors


@pytest.mark.parametrize("algorithm", TUNABLE)
def test_candidates_lie_in_their_ranges_and_a_smaller_effort_sees_the_first_of_them(algorithm):
    drawn = tuning.candidates(algorithm, 16)
    assert drawn[:5] == tuning.candidates(algorithm, 5)
    ranges = algorithms.module(algorithm).RANGES
    assert set(ranges) <= set(algorithms.module(algorithm).Factors.__dataclass_fields__)
    for name, (low, high) in ranges.items():
        values = np.array([candidate[name] for candidate in drawn])
        assert ((low * 0.999 <= values) & (values <= high * 1.001)).all()
        # A low-discrepancy draw: each quarter of the (logarithmic) range has its share.
        place = (np.log(values) - np.log(low)) / (np.log(high) - np.log(low))
        assert np.histogram(place, bins=4, range=(0, 1))[0].min() >= 3


def test_every_learner_has_as_many_candidates_and_the_same_seeds():
    raw = json.loads(json.dumps(configuration()))
    raw["tunings"][0]["algorithms"] = TUNABLE
    planned = plan.make(raw)
    specs = [planned.tuning_spec("choice", name, 64) for name in TUNABLE]
    assert {json.dumps((spec["effort"], spec["seeds"], spec["evaluate_every"])) for spec in specs} == {
        json.dumps((specs[0]["effort"], [500, 501, 502, 503], 1))
    }
    assert {
        len(tuning.candidates(name, spec["effort"]["candidates"])) for name, spec in zip(TUNABLE, specs, strict=True)
    } == {6}


def test_a_reported_seed_cannot_be_a_tuning_seed():
    with pytest.raises(config.Unacceptable, match="walk reports the seed 502, which tuning uses"):
        config.parse(configuration(seeds=[1, 502]))
    default = plan.load(Path(__file__).parents[2] / "config.yaml")
    reported = {seed for experiment in default.config.experiments for seed in experiment.seed_list}
    assert len(default.config.effort.seed_list) >= 10
    assert reported.isdisjoint(default.config.effort.seed_list)


def test_the_score_is_the_declared_one():
    env = environments.make("menu", 50, legs=2)
    run = simulate.run(env, "nonstationary_triple_q", "scaled", 1, factors={"frame": 1.0})
    unconstrained = optimum.references(env, run.episode)[:, 0]
    best = pd.DataFrame(np.column_stack([run.optimum, unconstrained]), columns=[*optima.BEST, "unconstrained"])
    kept = np.maximum(run.optimum[:, 0] - run.value, 0) + 2 * run.optimum[:, 2].max() * np.maximum(
        env.rho - run.utility_value, 0
    )
    assert tuning.scored(run, best, True)["score"] == pytest.approx(kept.mean(), rel=1e-12)
    assert tuning.scored(run, best, False)["score"] == pytest.approx((unconstrained - run.value).mean(), rel=1e-12)
    assert (unconstrained >= run.optimum[:, 0] - 1e-12).all()


def test_the_best_finalist_is_chosen_and_all_candidates_are_kept(tmp_path):
    planned = plan.make(configuration())
    file = tuned(planned, "nonstationary_triple_q", tmp_path)
    rows = files.read(file)[0].to_pandas()
    first = rows[rows["seed"].isin([500, 501])].groupby("candidate")["score"].mean()
    assert len(first) == 6
    finalists = set(first.nsmallest(2).index)
    assert set(rows.loc[rows["seed"] == 503, "candidate"]) == finalists
    means = rows[rows["candidate"].isin(finalists)].groupby("candidate")["score"].mean()
    table = tuning.summary(rows)
    assert table.loc[table["chosen"], "candidate"].tolist() == [means.idxmin()]
    assert chosen(file) == tuning.candidates("nonstationary_triple_q", 6)[means.idxmin()]


def test_what_is_better_on_tuning_seeds_only_gains_nothing_on_reported_ones(tmp_path, monkeypatch):
    """A planted candidate earns more wherever tuning looks. It is chosen, and what is reported of it is the truth."""
    planned = plan.make(configuration())
    honest = chosen(tuned(planned, "nonstationary_triple_q", tmp_path))
    planted = next(c for c in tuning.candidates("nonstationary_triple_q", 6) if c != honest)
    plain = simulate.run

    def cheating(env, algorithm, setting, seed, *rest, factors=None, **options):
        run = plain(env, algorithm, setting, seed, *rest, factors=factors, **options)
        if seed >= 500 and factors == planted:
            run.value[:] += 10.0
            run.utility_value[:] += 10.0
        return run

    monkeypatch.setattr(simulate, "run", cheating)
    file = tuned(planned, "nonstationary_triple_q", tmp_path)
    assert chosen(file) == planted
    simulations.simulate_batch(
        planned.run_spec("walk", "nonstationary_triple_q.tuned"),
        [0, 1, 2],
        tmp_path / "seeds=0-2.parquet",
        tuned=[file],
    )
    reported = files.read(tmp_path / "seeds=0-2.parquet")[0].to_pandas()
    env = environments.make("menu", 64)
    for seed, value in zip(reported["seed"], reported["value"], strict=True):
        truth = plain(env, "nonstationary_triple_q", "scaled", seed, factors=planted)
        np.testing.assert_array_equal(value, truth.value)


def test_multiples_of_the_chosen_factors(tmp_path):
    planned = plan.make(configuration())
    file = tuned(planned, "nonstationary_triple_q", tmp_path)
    factors = chosen(file)
    raw = configuration(
        learners=[{"algorithm": "nonstationary_triple_q", "setting": "tuned", "times": {"eta": 3.0}, "label": "faster"}]
    )
    learner = simulations.with_chosen_factors(
        plan.make(raw).run_spec("walk", "faster")["learners"]["faster"], tuning.choices([file])
    )
    assert learner["setting"] == "scaled"
    assert learner["factors"] == {**factors, "eta": pytest.approx(3 * factors["eta"])}
