"""Protocols become experiments: every learner once for each K and reading, switched options from their bases."""

import copy

import pytest
import yaml

from shipped import ROOT
from wei2023.study import config, plan, protocols

TINY = yaml.safe_load((ROOT / "workflow/presets/tiny.yaml").read_text())
FIRST = "nonstationary_triple_q"


def study(**changes):
    return protocols.study_of({**copy.deepcopy(TINY["protocols"]), **changes})


def changed(*keys, value):
    raw = copy.deepcopy(TINY)
    place = raw
    for key in keys[:-1]:
        place = place[key]
    place[keys[-1]] = value
    return raw


def test_a_learner_that_several_protocols_have_runs_once():
    made = {one["name"]: one for one in protocols.experiments(study())}
    labels = [learner["label"] for learner in made["protocols_800"]["learners"]]
    assert (
        len(labels) == len({*labels}) == 7
    )  # of three protocols, two of which share both baselines
    assert labels.count("triple_q.authors") == 1
    places = protocols.places(study())
    assert places["as printed"]["triple_q"] == places["own method tuned"]["triple_q"]


def test_runs_are_on_draws_that_no_search_sees_and_each_draw_is_a_reading():
    planned = plan.make(TINY)
    experiment = planned.experiment("protocols_800")
    assert experiment.readings == [{"seed": 1}, {"seed": 2}]
    assert {planned.tuning(name).environment.seed for name in planned.tunings if "6x6" in name} == {
        0
    }
    assert planned.experiment("choices_800").seed_list == experiment.seed_list[:2]


def test_an_option_switches_one_thing_and_shares_what_it_does_not_switch():
    by_name = {one.name: one for one in study().every}
    base, bump = by_name["own method tuned"], by_name["own method tuned; frame end: a bump"]
    assert (bump.frame_end, bump.base, bump.choice, bump.option) == (
        "bump",
        base.name,
        "frame end",
        "a bump",
    )
    assert bump.learners[1:] == base.learners[1:]
    assert bump.learners[0] == {**base.learners[0], "variants": {"reset": "bump"}}
    places = protocols.places(study())
    assert places[bump.name]["triple_q"] == places[base.name]["triple_q"]
    assert places[bump.name][FIRST].experiment == "choices_800"
    shorter = by_name["own method tuned; K: 400"]
    assert {place.experiment for place in places[shorter.name].values()} == {"choices_400"}
    still = by_name["own method tuned; reward drift: none"]
    assert {place.experiment for place in places[still.name].values()} == {
        "choices_800_reward_drift=0_0"
    }


def test_an_option_that_the_base_has_makes_no_protocol():
    given = {"says": "as it is", "learners": {FIRST: {"tuned_at": "kept"}}}
    choice = {
        "name": "which",
        "text": "Nothing.",
        "bases": ["own method tuned"],
        "options": [given],
    }
    assert study(choices=[choice]).switched == []


def test_what_takes_long_is_run_alone():
    assert "own method tuned, more episodes" not in [one.name for one in study().run]
    assert [one.name for one in study(long=True).run] == ["own method tuned, more episodes"]
    assert [one["episodes"] for one in protocols.experiments(study(long=True))] == [[1600]]


def test_a_configuration_that_a_run_has_noted_is_read_as_it_is():
    noted = plan.make(TINY).config.model_dump(mode="json", exclude_unset=True)
    assert plan.make(noted).experiments == plan.make(TINY).experiments


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (changed("protocols", "protocols", 0, "baselines", value="best"), "protocols.*baselines"),
        (changed("protocols", "protocols", 1, "name", value="as printed"), "stands there twice"),
        (
            changed("protocols", "choices", 0, "bases", value=["own methd tuned"]),
            "did you mean.*own method tuned",
        ),
        (changed("protocols", "seed", value=3), "seed"),
        (changed("protocols", "draws", value=[]), "draws"),
        (changed("protocols", "points", value=9), "each tenth"),
        (
            changed("protocols", "protocols", 0, "learners", 0, "constants", value={"etta": 1.0}),
            "no constant 'etta'",
        ),
        (changed("protocols", "environment", value={"name": "menu"}), r"environment.*unknown key"),
        (changed("protocols", "first_seed", value=10_000), "which tuning uses"),
    ],
)
def test_what_cannot_be_run_is_refused_before_any_work(raw, said):
    with pytest.raises(config.Unacceptable, match=said):
        plan.make(raw).check()


def test_the_shipped_protocols_are_what_a_reader_could_mean():
    shipped = plan.load(ROOT / "config.yaml").config.protocols
    assert len(shipped.draws) * shipped.seeds >= 20
    assert 0 not in shipped.draws
    assert {one.frame_end for one in shipped.protocols} == {"full", "bump"}
    assert {one.baselines for one in shipped.protocols} == {"released", "tuned", "same eta"}
    assert sum(one.figure for one in shipped.protocols) == 4
    assert shipped.environment["map"] == "18x18"
    for one in shipped.protocols:
        (first,) = [learner for learner in one.learners if learner["algorithm"] == FIRST]
        assert first.get("variants", {}).get("reset", "full") == one.frame_end
        baselines = [learner for learner in one.learners if learner["algorithm"] != FIRST]
        assert any(learner["setting"] == "tuned" for learner in baselines) == (
            one.baselines == "tuned"
        )
