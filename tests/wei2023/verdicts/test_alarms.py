"""False alarms and delays of Detecting Triple-Q, on paths of two models."""

import numpy as np
import pytest

from nscmdp import environments
from wei2023.verdicts.alarms import alarms

K = 6000


@pytest.fixture(scope="module")
def ends():
    menu = environments.make("menu", K, seed=1)
    return menu.at(1), menu.at(K)


def test_a_model_that_stands_still_raises_no_alarm(ends):
    found = alarms(environments.path([ends[0], ends[0]], [1, K]), range(5))
    assert found[:3] == (5, 0, 0.0)
    assert len(found.delays) == 0


@pytest.mark.parametrize("base", ["triple_q", "tracking_triple_q"])
def test_a_switch_is_seen_after_it_and_not_before(ends, base):
    first, second = ends
    env = environments.path([first, first, second, second], [1, K // 2, K // 2 + 1, K])
    found = alarms(env, range(5), K // 2, variants={"base": base})
    assert found.false == 0
    assert len(found.delays) == 5
    assert found.per_run >= 1
    assert (found.delays > 0).all()
    assert np.median(found.delays) < K / 2
