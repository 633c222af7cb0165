"""What an environment reports agrees with independent computations."""

import numpy as np
import pytest

from nscmdp import budget, environments, optimum
from nscmdp.kernels.induction import evaluate
from wei2023.verdicts import description


@pytest.mark.parametrize("name", environments.OWN)
def test_every_environment_reports_itself(name):
    env = environments.make(name, episodes=60)
    rows = description.along(env, points=7)
    assert set(env.knots) <= set(rows["episode"])
    assert (rows["unconstrained_value"] >= rows["value"] - 1e-9).all()
    assert (rows["slater_gap"] > 0).all()
    row = rows.iloc[len(rows) // 2]
    cmdp = env.at(int(row["episode"]))
    assert row["value"] == pytest.approx(optimum.linear_program(cmdp).value, abs=1e-8)
    uniform = evaluate(cmdp, np.full((env.H, env.S, env.A), 1 / env.A))
    assert (row["uniform_value"], row["uniform_utility"]) == pytest.approx(uniform)
    last = rows.iloc[-1][["reward_variation", "utility_variation", "transition_variation"]]
    assert last.sum() == pytest.approx(budget.variation(env).total)
    described = description.describe(env, rows)
    assert described["B"] == pytest.approx(budget.variation(env).total)
    assert described["largest local B"] >= described["mean local B"]
