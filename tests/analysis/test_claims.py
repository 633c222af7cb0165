"""Verdicts follow from numbers alone, by thresholds that are fixed here once more."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from nscmdp.analysis import claims

N = 1000
SHARE = np.arange(1, N + 1) / N


def seed(lam=1.0, cost=1.0, limit=2.0, room=4.0):
    lam, cost = np.broadcast_to(lam, N), np.broadcast_to(cost, N)
    return claims.Seed(SHARE, np.full(N, 80), lam * room, np.full(N, room), cost, limit)


def test_lam_is_a_ratio_of_sums():
    one = seed(lam=np.where(SHARE > 0.8, 0.9, 0.1))
    assert one.lam() == pytest.approx(0.26)
    assert one.lam(after=0.8) == pytest.approx(0.9)


@pytest.mark.parametrize(("late", "well"), [(0.81, True), (0.79, False)])
def test_performing_well(late, well):
    assert claims.performs_well(seed(lam=np.where(SHARE > 0.8, late, 0.0))) is well


@pytest.mark.parametrize(
    ("lam", "quickly"),
    [
        (np.where(SHARE > 0.2, 0.9, 0.0), True),
        (np.where(SHARE > 0.3, 0.9, 0.0), False),  # too late
        (np.where((SHARE > 0.2) & ((SHARE < 0.6) | (SHARE > 0.65)), 0.9, 0.0), False),  # lost again
        (np.where(SHARE > 0.2, np.where(SHARE > 0.6, 0.75, 0.9), 0.0), True),  # never below 0.7
        (np.full(N, 0.79), False),
    ],
)
def test_learning_quickly(lam, quickly):
    assert claims.learns_quickly(seed(lam=lam)) is quickly


@pytest.mark.parametrize(
    ("cost", "keeps"),
    [
        (2.0, True),
        (2.001, False),
        (np.where(SHARE <= 0.2, 5.0, 1.0), True),  # the first two tenths count in the mean alone
        (np.where((SHARE > 0.4) & (SHARE <= 0.5), 2.03, 1.0), False),  # one tenth above 1.01 limit
        (np.where((SHARE > 0.4) & (SHARE <= 0.5), 2.01, 1.0), True),
    ],
)
def test_keeping_the_limit(cost, keeps):
    assert claims.keeps_the_limit(seed(cost=cost)) is keeps


@pytest.mark.parametrize(("late", "breaks"), [(2.03, True), (2.01, False)])
def test_breaking_the_limit(late, breaks):
    assert claims.breaks_the_limit(seed(cost=np.where(SHARE > 0.8, late, 9.0))) is breaks


def test_verdicts_on_twenty_seeds():
    answers = [claims.verdict(agree, 20) for agree in range(21)]
    assert answers == ["does not hold"] * 3 + ["mixed"] * 15 + ["holds"] * 3


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


def table(costs, lams, multiplier=0.5, seeds=20):
    """An exact table with one row an evaluated episode; costs and lams by algorithm."""
    frames = []
    for algorithm in costs:
        for number in range(seeds):
            frame = pd.DataFrame({"episode": np.arange(1, N + 1) * 80, "weight": 80})
            value = lams[algorithm] * 4.0 + 1.0
            frames.append(
                frame.assign(
                    algorithm=algorithm,
                    setting="tuned",
                    seed=number,
                    episodes=80 * N,
                    value=value,
                    uniform_value=1.0,
                    optimal_value=5.0,
                    optimal_multiplier=multiplier,
                    horizon=25,
                    rho=20.0,
                    utility_value=25.0 - costs[algorithm](number),
                )
            )
    return pd.concat(frames, ignore_index=True)


def published(multiplier=0.5, triple_q=lambda seed: 6.0):
    costs = {"nonstationary_triple_q": lambda seed: 4.9, "triple_q": triple_q, "restart_q_ucb": lambda seed: 8.0}
    lams = {"nonstationary_triple_q": 0.9, "triple_q": 0.9, "restart_q_ucb": 0.1}
    return pd.DataFrame(claims.judge(table(costs, lams, multiplier)))


def test_the_published_ordering_would_be_recognised():
    cells = published()
    assert cells["part"].tolist() == ["C20a", "C20b", "C20c", "C20d", "C20e"]
    assert set(cells["verdict"]) == {"holds"}
    assert cells.set_index("part")["without_learning"].to_dict() == {
        "C20a": False,
        "C20b": False,
        "C20c": False,
        "C20d": False,
        "C20e": True,
    }
    assert claims.combined(cells.assign(experiment="here", budget="default", episodes=80 * N))["verdict"].tolist() == [
        "holds"
    ]


def test_a_baseline_that_keeps_the_limit_refutes_it():
    cells = published(triple_q=lambda seed: 4.0).set_index("part")
    assert cells.loc["C20d", ["verdict", "agree"]].tolist() == ["does not hold", 0]
    half = published(triple_q=lambda seed: 4.0 + 2.0 * (seed % 2)).set_index("part")
    assert half.loc["C20d", ["verdict", "agree"]].tolist() == ["mixed", 10]


def test_a_constraint_that_does_not_bind_makes_it_void():
    cells = published(multiplier=0.049)
    assert set(cells["verdict"]) == {"void"}
    assert cells["agree"].tolist() == [20] * 5  # what the seeds say is still reported
