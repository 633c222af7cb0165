"""The suite: frozen environments, the experiments that are made of them, and what its file may not say."""

import copy
from pathlib import Path

import pytest
import yaml

from nscmdp import algorithms, environments
from nscmdp.suite import definition
from wei2023.study import plan, suite
from wei2023.study.config import Unacceptable

ROOT = Path(__file__).parents[3]
FILE = ROOT / definition.FILE
WRITTEN = yaml.safe_load(FILE.read_text())
SUITE = suite.load(FILE)


def asked(**choice):
    return {"suite": {"file": str(FILE), "setting": "scaled", **choice}}


def written(folder, change):
    raw = copy.deepcopy(WRITTEN)
    change(raw)
    file = folder / "suite.yaml"
    file.write_text(yaml.safe_dump(raw))
    return file


@pytest.mark.parametrize("frozen", SUITE.environments, ids=lambda one: one.name)
def test_every_instance_is_what_it_was(frozen):
    seeds = [*SUITE.instances, *([SUITE.tuning_instance] if frozen.tuned_on is None else [])]
    found = {
        seed: definition.fingerprint(
            environments.make(**frozen.environment, episodes=frozen.episodes, seed=seed)
        )
        for seed in seeds
    }
    assert found == frozen.fingerprints, frozen.name
    assert len(set(found.values())) == len(seeds)


@pytest.mark.parametrize(
    "options", [{"legs": 2}, {"binds": "never"}, {"seed": 1}, {"episodes": 101}]
)
def test_whatever_changes_the_path_changes_its_fingerprint(options):
    first = {"name": "menu", "episodes": 100}
    here, there = environments.make(**first), environments.make(**first | options)
    assert definition.fingerprint(here) != definition.fingerprint(there)
    assert definition.fingerprint(here) == definition.fingerprint(environments.make(**first))


def test_an_instance_that_is_not_the_frozen_one_is_named_before_a_run(tmp_path):
    file = written(
        tmp_path, lambda raw: raw["environments"][1]["fingerprints"].update({2: "0" * 16})
    )
    planned = plan.make(asked(file=str(file), environments=["slow"], instances=2))
    with pytest.raises(Unacceptable, match="the instance 2 of slow"):
        planned.check()


def test_an_environment_becomes_an_experiment_with_its_instances_and_a_tuning_on_another():
    planned = plan.make({"suite": {"file": str(FILE), "environments": ["aligned", "shifted"]}})
    assert planned.experiments == ["suite_aligned", "suite_shifted"]
    assert planned.tunings == ["tuning_suite_aligned"]
    aligned, shifted = map(planned.experiment, planned.experiments)
    assert aligned.tuning == shifted.tuning == "tuning_suite_aligned"
    assert [one["seed"] for one in aligned.readings] == SUITE.instances
    assert planned.tuning("tuning_suite_aligned").environment.seed == SUITE.tuning_instance
    named = {one.algorithm for one in aligned.all_learners}
    assert named == {*SUITE.learners, *SUITE.references}
    choices = [one.choice for one in aligned.all_learners if one.algorithm == "triple_q"]
    assert choices == ["main", *(f"search_{number}" for number in range(SUITE.effort.searches))]


def test_a_part_of_the_suite_can_be_asked_for():
    planned = plan.make(asked(environments=["linear", "map_18x18"], instances=2, seeds=1))
    linear, large = map(planned.experiment, planned.experiments)
    assert len(linear.readings) == 2
    assert len(linear.seed_list) == 1
    assert "lsvi_primal_dual" in {one.algorithm for one in linear.all_learners}
    assert "sliding_window_opt_cmdp" not in {one.algorithm for one in large.all_learners}
    assert planned.tunings == []


def test_frames_may_be_longer_than_usual():
    planned = plan.make({"suite": {"file": str(FILE), "environments": ["slow"], "frames": 1}})
    (tuning,) = planned.tunings
    assert planned.experiment("suite_slow").tuning == tuning == "tuning_suite_slow_frames_1"
    assert planned.tuning(tuning).frames == 1


def test_maps_are_searched_from_strict_constants_too():
    planned = plan.make({"suite": {"file": str(FILE), "environments": ["slow", "map_6x6"]}})
    assert [planned.tuning(name).strict for name in planned.tunings] == [False, True]


def test_a_learner_besides_those_of_the_file_joins_and_is_not_tuned():
    planned = plan.make(
        {"suite": {"file": str(FILE), "environments": ["slow"], "learners": ["oracle"]}}
    )
    (joined,) = [
        one for one in planned.experiment("suite_slow").all_learners if one.algorithm == "oracle"
    ]
    assert joined.setting == "literal"
    assert "oracle" not in planned.tuning("tuning_suite_slow").algorithms


def test_a_learner_of_the_file_that_is_not_registered_is_named(tmp_path):
    file = written(tmp_path, lambda raw: raw["learners"].append("triple_p"))
    with pytest.raises(Unacceptable, match="unknown algorithm 'triple_p'"):
        plan.make(asked(file=str(file)))


def test_the_instances_at_hand_pass_the_check():
    plan.make(asked(environments=["slow", "abrupt"], instances=2)).check()


def test_a_configuration_that_was_noted_is_not_made_twice():
    planned = plan.make(asked(environments=["slow"]))
    again = plan.make(planned.config.model_dump(mode="json", exclude_unset=True))
    assert again.experiments == planned.experiments
    assert again.suite.version == SUITE.version


def test_an_environment_that_there_is_not_is_refused():
    with pytest.raises(Unacceptable, match="slow"):
        plan.make(asked(environments=["slwo"]))
    with pytest.raises(
        Unacceptable, match=r"suite\.learners: unknown algorithm 'triple_p'.*triple_q"
    ):
        plan.make(asked(learners=["triple_p"]))
    with pytest.raises(Unacceptable, match=r"suite\.instances"):
        plan.make(asked(instances=0))


WRONG = {
    "an environment twice": (
        lambda raw: raw["environments"].append(raw["environments"][0]),
        "twice",
    ),
    "tuned on what is reported": (lambda raw: raw.update(tuning_instance=3), "tuning_instance = 3"),
    "no unit": (lambda raw: raw.update(references=[]), "uniform"),
    "a measure that there is not": (
        lambda raw: raw["hypotheses"][0].update(measure="gpa"),
        "did you mean gap",
    ),
    "an environment that there is not": (
        lambda raw: raw["hypotheses"][0].update(environments=["fats"]),
        "fast",
    ),
    "pairs that do not match": (
        lambda raw: raw["hypotheses"][0].update(than_in=["slow"]),
        "as many environments",
    ),
    "tuned nowhere": (lambda raw: raw["environments"][0].update(tuned_on="nowhere"), "tuned_on"),
    "a key that there is not": (lambda raw: raw.update(learner=[]), "learner"),
}


@pytest.mark.parametrize(("change", "says"), WRONG.values(), ids=WRONG)
def test_a_suite_that_cannot_be_meant_is_refused(tmp_path, change, says):
    with pytest.raises(Unacceptable, match=says):
        suite.load(written(tmp_path, change))


def test_learners_of_the_suite_are_there_and_search_no_seed_that_is_reported():
    assert {*SUITE.learners, *SUITE.references} <= {*algorithms.NAMES}
    assert SUITE.tuning_instance not in SUITE.instances
