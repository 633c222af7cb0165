"""The reference results of the suite in docs/suite are of the suite at hand, and follow from its
runs.
"""

from pathlib import Path

import numpy as np
import pytest

from nscmdp.suite import definition, hypotheses, scores
from wei2023.report import readme
from wei2023.study import suite
from wei2023.verdicts import tables

ROOT = Path(__file__).parents[3]
SUITE = suite.load(ROOT / definition.FILE)


def kept(name):
    return tables.load(ROOT / f"docs/suite/suite_{name}.csv")


@pytest.fixture(scope="module")
def runs():
    return scores.normalised(kept("runs"))


def test_every_instance_and_seed_of_an_environment_is_there(runs):
    assert set(runs["environment"]) <= set(SUITE.by_name)
    seeds = range(SUITE.first_seed, SUITE.first_seed + SUITE.seeds)
    for (_, _), mine in runs.groupby(["environment", "learner"]):
        assert sorted(zip(mine["instance"], mine["seed"], strict=True)) == [
            (i, s) for i in SUITE.instances for s in seeds
        ]


def test_no_learner_is_better_than_the_optimum(runs):
    assert runs["gap"].min() >= 0
    assert np.allclose(
        runs.loc[runs["learner"] == definition.SCALE].groupby("environment")["gap"].mean(), 1.0
    )


def test_the_ranking_follows_from_the_runs(runs):
    found, stated = scores.ranking(scores.Cube.of(runs, SUITE.learners)), kept("ranking")
    assert list(found["learner"]) == list(stated["learner"])
    np.testing.assert_allclose(
        found[["gap", "low", "high"]], stated[["gap", "low", "high"]], rtol=1e-3
    )


def test_the_verdicts_follow_from_the_runs(runs):
    found, stated = hypotheses.table(runs, SUITE.hypotheses), kept("hypotheses")
    assert list(found["id"]) == list(stated["id"])
    assert list(found["verdict"]) == list(stated["verdict"])


def test_differences_to_algorithm_1_follow_from_the_runs(runs):
    found, stated = scores.paired(runs, SUITE.learners, "nonstationary_triple_q"), kept("paired")
    keys = ["environment", "learner", "measure"]
    assert found[keys].equals(stated[keys])
    np.testing.assert_allclose(found["difference"], stated["difference"], rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize(("file", "whole"), [("README.md", False), ("docs/suite.md", True)])
def test_what_is_said_of_the_suite_is_what_its_tables_say(file, whole):
    text, block = (
        (ROOT / file).read_text(encoding="utf-8"),
        readme.suite(ROOT / definition.KEPT, whole),
    )
    assert readme.between(text, readme.SUITE, block) == text, "run: make suite"
