"""The checks of ``nscmdp conform``: ours pass them, and each planted fault is named by the check for it."""

from typing import NamedTuple

import numpy as np
import pytest

from nscmdp import algorithms, conformance, environments, simulate
from nscmdp.cli import own
from nscmdp.learner import act, learn, operation, policy

PAIRS = [(name, setting) for name in algorithms.OWN for setting in algorithms.settings(name)]


@pytest.mark.filterwarnings("ignore::nscmdp.problem.DoesNotFit")
@pytest.mark.parametrize(("name", "setting"), PAIRS)
def test_our_algorithms_conform(name, setting):
    for check in conformance.ALGORITHM:
        assert check(name, setting)


@pytest.mark.parametrize("name", environments.OWN)
def test_our_environments_conform(name):
    assert [one for one in conformance.check("environments", name) if not one.passed] == []


class Faulty(NamedTuple):
    seen: np.ndarray
    fault: str


@operation(policy, Faulty)
def _(learner, h, x, probabilities):
    probabilities[:] = 1 / len(probabilities)
    if learner.fault == "sums to 1.1":
        probabilities[0] += 0.1
    if learner.fault == "divides by 0":
        probabilities[0] = np.nan


@operation(act, Faulty)
def _(learner, h, x, u):
    if learner.fault == "plays something else":
        return 0
    if learner.fault == "draws by itself":
        return int(DICE.integers(3))
    return int(3 * u)


@operation(learn, Faulty)
def _(learner, h, x, a, r, g, y):
    if learner.fault == "writes to the environment":
        ENVIRONMENT[0].probability[0, 0, 0, 0] += 1e-3


DICE = np.random.default_rng(0)
ENVIRONMENT = []
FAULTS = {
    "none": None,
    "sums to 1.1": (conformance.policy_is_a_distribution, "expected numbers that sum to 1"),
    "divides by 0": (conformance.runs_to_the_end, "of sum 1"),
    "plays something else": (
        conformance.exact_value_agrees_with_rollouts,
        "not the distribution that act draws from",
    ),
    "draws by itself": (conformance.same_seed_same_bits_in_any_batch, "draw from u alone"),
    "writes to the environment": (conformance.clock_is_untouched, "copy what you change"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_named(monkeypatch, fault):
    """In plain Python, which saves compiling each of them."""

    def run(name, setting, seed=1, env=None, **options):
        env = env or conformance.small()
        ENVIRONMENT[:] = [env]
        given = {**options, "seed": seed, "compiled": False}
        with np.errstate(all="ignore"):
            return simulate.run(env, Faulty(np.zeros(1), fault), **given)

    monkeypatch.setattr(conformance, "run", run)
    monkeypatch.setattr(conformance.algorithms, "make", lambda *_: Faulty(np.zeros(1), fault))
    monkeypatch.setattr(conformance.algorithms, "settings", lambda name: ("scaled",))
    found = conformance.check("algorithms", "faulty")
    failed = {one.check: one.says for one in found if not one.passed}
    if FAULTS[fault] is None:
        assert failed == {}
    else:
        check, says = FAULTS[fault]
        assert says in failed[check.__name__.replace("_", " ")]


@pytest.mark.parametrize("kind", own.KINDS)
def test_a_starting_file_is_not_written_over_and_has_a_name_of_its_own(tmp_path, kind):
    for wrong, says in (("My Learner", "in small letters"), ("triple_q", "own"), ("menu", "own")):
        if wrong in {"algorithm": environments.OWN, "environment": algorithms.OWN}[kind]:
            continue
        with pytest.raises(ValueError, match=says):
            own.write(kind, wrong, tmp_path)
    written = own.write(kind, "mine", tmp_path)
    assert [one.name for one in written] == ["mine.py", "test_mine.py"]
    with pytest.raises(ValueError, match="is there already"):
        own.write(kind, "mine", tmp_path)
