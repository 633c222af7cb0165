"""The rule that chooses factors: feasible first, then the least gap; it never prefers not to learn."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from nscmdp import environments, optimum, simulate
from nscmdp.runs import optima, scoring

SEEDS = [1, 2, 3, 4]


def rows(**candidates):
    """Candidates by name: {measure: one number per seed, or one for all}."""
    made = []
    for name, measured in candidates.items():
        for i, seed in enumerate(SEEDS):
            values = {key: np.broadcast_to(measured.get(key, 0.0), len(SEEDS))[i] for key in scoring.MEASURES}
            made.append({"factors": name, "seed": seed, **values})
    return pd.DataFrame(made)


def chosen(rule=scoring.MAIN, constrained=True, **candidates):
    return scoring.ranked(scoring.summary(rows(**candidates), constrained), rule)["factors"].tolist()


def test_measures_are_means_of_the_declared_formulas():
    env = environments.make("menu", 50, legs=2)
    run = simulate.run(env, "nonstationary_triple_q", "scaled", 1, factors={"frame": 1.0})
    beside = optimum.references(env, run.episode)
    best = pd.DataFrame(np.column_stack([run.optimum, beside]), columns=[*optima.BEST, *optima.REFERENCES])
    found = scoring.scored(run, best, 50, True)
    V, W, multiplier = run.optimum[:, 0], run.utility_value, run.optimum[:, 2]
    assert found["loss"] == pytest.approx((V - run.value + multiplier * (env.rho - W)).mean(), rel=1e-12)
    assert found["violation"] == pytest.approx((env.rho - W).mean(), rel=1e-12)
    assert found["regret"] == pytest.approx((V - run.value).mean(), rel=1e-12)
    priced = np.maximum(V - run.value, 0) + 2 * multiplier.max() * np.maximum(env.rho - W, 0)
    assert found["positive"] == pytest.approx(priced.mean(), rel=1e-12)
    tenths = (env.rho - W).reshape(10, 5).mean(axis=1)
    assert found["worst_tenth"] == pytest.approx(tenths[2:].max(), rel=1e-12)
    assert found["lam"] == pytest.approx((run.value - beside[:, 2]).sum() / (V - beside[:, 2]).sum(), rel=1e-12)
    ignoring = scoring.scored(run, best, 50, False)
    assert ignoring["loss"] == pytest.approx((beside[:, 0] - run.value).mean(), rel=1e-12)


def test_the_bound_is_students():
    values = np.array([-0.3, 0.1, -0.2, 0.05])
    expected = values.mean() + stats.t.ppf(0.95, 3) * values.std(ddof=1) / 2
    table = scoring.summary(rows(one={"violation": values}), True)
    assert table["violation_bound"].item() == pytest.approx(expected, rel=1e-9)
    assert not table["feasible"].item()


def test_a_mean_below_0_is_not_enough_where_seeds_differ():
    sure, lucky = {"violation": -0.01, "loss": 2.0}, {"violation": [-1.0, 0.9, -0.9, 0.8], "loss": 1.0}
    assert chosen(sure=sure, lucky=lucky) == ["sure", "lucky"]


def test_a_learner_is_preferred_to_one_that_keeps_the_limit_by_not_learning():
    idle = {"violation": -2.0, "loss": 5.0, "regret": 5.0, "positive": 5.0, "worst_tenth": -2.0}
    able = {"violation": -0.01, "loss": 0.5, "regret": 0.4, "positive": 0.6, "worst_tenth": -0.005}
    for rule in (scoring.MAIN, *scoring.OTHERS):
        assert chosen(rule, idle=idle, able=able)[0] == "able", rule


def test_violation_cannot_be_bought():
    buyer = {"violation": 0.3, "loss": 0.1, "regret": -1.0, "positive": 0.2}
    keeper = {"violation": -0.1, "loss": 1.0, "regret": 0.9, "positive": 1.0}
    assert chosen(buyer=buyer, keeper=keeper)[0] == "keeper"
    assert chosen("regret", buyer=buyer, keeper=keeper)[0] == "keeper"
    assert chosen("least_gap", buyer=buyer, keeper=keeper)[0] == "buyer"
    assert chosen("positive", buyer=buyer, keeper=keeper)[0] == "buyer"


def test_infeasible_candidates_are_ranked_by_their_violation():
    far, near = {"violation": 0.5, "loss": 0.1}, {"violation": 0.1, "loss": 3.0}
    assert chosen(far=far, near=near) == ["near", "far"]


def test_feasibility_by_tenths_sees_what_a_mean_over_the_run_hides():
    cancelling = {"violation": -0.1, "worst_tenth": 0.5, "loss": 0.2}
    steady = {"violation": -0.1, "worst_tenth": -0.05, "loss": 0.4}
    assert chosen(cancelling=cancelling, steady=steady)[0] == "cancelling"
    assert chosen("tenths", cancelling=cancelling, steady=steady)[0] == "steady"


def test_who_ignores_the_constraint_is_ranked_by_its_loss_alone():
    breaking, keeping = {"violation": 0.5, "loss": 0.1}, {"violation": -0.5, "loss": 0.2}
    assert chosen(constrained=False, breaking=breaking, keeping=keeping)[0] == "breaking"
