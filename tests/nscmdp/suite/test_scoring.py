"""The rule that chooses factors: feasible first, then the least gap; it never prefers not to learn."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from nscmdp import environments, optimum, simulate
from nscmdp.suite import optima, scoring
from nscmdp.suite.scoring import LEAST, Objective

SEEDS = [1, 2, 3, 4]


def rows(**candidates):
    """Candidates by name: {measure: one number per seed, or one for all}."""
    made = []
    for name, measured in candidates.items():
        for i, seed in enumerate(SEEDS):
            names = {*scoring.MEASURES, *measured}
            values = {key: np.broadcast_to(measured.get(key, 0.0), len(SEEDS))[i] for key in names}
            made.append({"factors": name, "seed": seed, **values})
    return pd.DataFrame(made)


def chosen(constrained=True, parts=(), **candidates):
    table = Objective(constrained, parts).summary(rows(**candidates))
    return scoring.ranked(table)["factors"].tolist()


def test_measures_are_means_of_the_declared_formulas():
    env = environments.make("menu", 50, legs=2)
    run = simulate.run(env, "nonstationary_triple_q", "scaled", 1, factors={"frame": 1.0})
    beside = optimum.references(env, run.episode)
    names = [*optima.BEST, *optima.REFERENCES]
    best = pd.DataFrame(np.column_stack([run.optimum, beside]), columns=names)
    found = scoring.scored(run, best, True)
    V, W, multiplier = run.optimum[:, 0], run.utility_value, run.optimum[:, 2]
    gap = V - run.value + multiplier * (env.rho - W)
    assert found["loss"] == pytest.approx(gap.mean(), rel=1e-12)
    assert found["violation"] == pytest.approx((env.rho - W).mean(), rel=1e-12)
    score = (run.value - beside[:, 2]).sum() / (V - beside[:, 2]).sum()
    assert found["lam"] == pytest.approx(score, rel=1e-12)
    ignoring = scoring.scored(run, best, False)
    assert ignoring["loss"] == pytest.approx((beside[:, 0] - run.value).mean(), rel=1e-12)


def test_the_bound_is_students():
    values = np.array([-0.3, 0.1, -0.2, 0.05])
    expected = values.mean() + stats.t.ppf(0.95, 3) * values.std(ddof=1) / 2
    table = Objective(True).summary(rows(one={"violation": values}))
    assert table["violation_bound"].item() == pytest.approx(expected, rel=1e-9)
    assert not table["feasible"].item()


def test_a_mean_below_0_is_not_enough_where_seeds_differ():
    sure = {"violation": -0.01, "loss": 2.0}
    lucky = {"violation": [-1.0, 0.9, -0.9, 0.8], "loss": 1.0}
    assert chosen(sure=sure, lucky=lucky) == ["sure", "lucky"]


def test_feasible_candidates_come_first_by_their_loss_and_others_by_their_violation():
    """Not learning is not preferred to learning, and violation cannot be bought."""
    idle, able = {"violation": -2.0, "loss": 5.0}, {"violation": -0.01, "loss": 0.5}
    near, far = {"violation": 0.1, "loss": 3.0}, {"violation": 0.5, "loss": 0.1}
    assert chosen(far=far, near=near, idle=idle, able=able) == ["able", "idle", "near", "far"]


def test_the_margin_is_the_smallest_of_the_parts_in_deviations_between_seeds():
    """A part that fails by much is worse than two that fail by little, and a violation as such does not count."""
    even = {"C20a": [0.1, 0.2, 0.1, 0.2], "C20c": 0.05, "violation": 1.0, "loss": 9.0}
    uneven = {"C20a": 0.5, "C20c": -0.01, "violation": -1.0, "loss": 0.0}
    assert chosen(parts=("C20a", "C20c"), even=even, uneven=uneven) == ["even", "uneven"]
    table = Objective(True, ("C20a", "C20c")).summary(rows(even=even, uneven=uneven))
    table = table.set_index("factors")
    assert table.loc["even", "loss"] == pytest.approx(-0.15 / np.std(even["C20a"], ddof=1))
    assert table.loc["uneven", "loss"] == pytest.approx(0.01 / LEAST)
    assert table["feasible"].all()


def test_a_generation_shares_its_deviations_between_seeds():
    tried = rows(one={"C20a": [0.0, 0.4, 0.0, 0.4]}, other={"C20a": [0.3, 0.3, 0.3, 0.3]})
    tried["candidate"] = tried["factors"]
    ordered = Objective(True, ("C20a",)).provisional(tried, 12)
    spread = np.median([np.std([0.0, 0.4, 0.0, 0.4], ddof=1), 0.0])
    np.testing.assert_allclose(ordered["key"], [-0.3 / spread, -0.2 / spread])


def test_who_ignores_the_constraint_is_ranked_by_its_loss_alone():
    breaking, keeping = {"violation": 0.5, "loss": 0.1}, {"violation": -0.5, "loss": 0.2}
    assert chosen(constrained=False, breaking=breaking, keeping=keeping)[0] == "breaking"
