"""A wrong configuration is refused before any work, by one message that names key, value and what is accepted."""

import copy
import json
from pathlib import Path

import pytest
import yaml

from nscmdp import algorithms, environments
from nscmdp.study import config, plan

ROOT = Path(__file__).parent.parent
BASE = {
    "experiments": [
        {
            "name": "small",
            "environment": {"name": "grid_world", "map": "6x6", "horizon": 15, "limit": 2.0},
            "episodes": [1000],
            "seeds": 2,
            "learners": [
                {"algorithm": "nonstationary_triple_q", "setting": "literal"},
                {"algorithm": "triple_q", "setting": "scaled", "factors": {"frame": 1.0}},
            ],
        }
    ]
}


def changed(**replaced):
    raw = copy.deepcopy(BASE)
    raw["experiments"][0].update(replaced)
    return raw


def environment(**options):
    return changed(environment={**BASE["experiments"][0]["environment"], **options})


def learner(**keys):
    return changed(learners=[{"algorithm": "triple_q", "setting": "literal", **keys}])


@pytest.mark.parametrize("name", ["config.yaml", "workflow/presets/tiny.yaml", "workflow/presets/full.yaml"])
def test_the_shipped_configurations_are_accepted(name):
    plan.load(ROOT / name).check()


WRONG = {
    "unknown key at the top": ({**BASE, "cores": 8}, ["cores", "8", "batch"]),
    "unknown key of an experiment": (changed(trials=3), ["experiments[0].trials", "3", "seeds"]),
    "unknown option": (environment(hoorizon=25), ["experiments[0].environment.hoorizon", "25", "horizon"]),
    "unknown environment": (environment(name="maze"), ["experiments[0].environment", "maze", "grid_world"]),
    "wrong type": (changed(episodes=["many"]), ["experiments[0].episodes[0]", '"many"', "integer"]),
    "a number as text": (environment(horizon="15"), ["experiments[0].environment.horizon", '"15"', "integer"]),
    "NaN": (environment(limit=float("nan")), ["experiments[0].environment.limit", "NaN", "finite"]),
    "infinity": (environment(cost_drift=float("inf")), ["environment.cost_drift", "finite"]),
    "unknown algorithm": (learner(algorithm="sarsa"), ["experiments[0].learners[0]", "sarsa", "triple_q"]),
    "unknown setting": (learner(setting="best"), ["learners[0].setting", '"best"', "literal", "scaled"]),
    "unknown factor": (
        learner(setting="scaled", factors={"fame": 2.0}),
        ["learners[0].factors.fame", "2.0", "frame"],
    ),
    "factors without scaled": (learner(factors={"frame": 2.0}), ["learners[0]", "scaled"]),
    "zero seeds": (changed(seeds=0), ["experiments[0].seeds", "0", "greater than or equal to 1"]),
    "no seeds": (changed(seeds=[]), ["experiments[0].seeds", "at least 1"]),
    "duplicate seeds": (changed(seeds=[1, 2, 1]), ["experiments[0].seeds", "[1, 2, 1]", "distinct"]),
    "the same learner twice": (changed(learners=BASE["experiments"][0]["learners"][:1] * 2), ["learners", "label"]),
    "two experiments of one name": ({"experiments": BASE["experiments"] * 2}, ["experiments", "'small'"]),
    "no experiment": ({"experiments": []}, ["experiments", "[]"]),
    "nothing at all": ({}, ["experiments", "missing"]),
    "a name that leaves the folder": (changed(name="../up"), ["experiments[0].name", "../up", "pattern"]),
    "K too small for the drift": (changed(episodes=[2]), ["experiments[0].episodes", "K=2", "4 are enough"]),
    "K too small for a frame": (
        changed(
            episodes=[20],
            learners=[{"algorithm": "nonstationary_triple_q", "setting": "scaled", "factors": {"frame": 50.0}}],
        ),
        ["experiments[0].episodes = 20", "nonstationary_triple_q.scaled", "expected 1 to 20"],
    ),
    "an infeasible limit": (environment(limit=-1.0), ["experiments[0].environment", "infeasible", "best attainable"]),
    "an unreadable map": (environment(map="9x9"), ["experiments[0].environment", "'9x9'", "18x18, 6x6"]),
    "an unknown budget": (changed(budgets=[{"legz": 2}]), ["small.budgets[0].legz", "2", "legs"]),
    "a budget of the wrong type": (changed(budgets=[{"legs": 1.5}]), ["small.budgets[0].legs", "1.5", "integer"]),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_configuration_is_refused_by_a_message_that_helps(case):
    raw, expected = WRONG[case]
    with pytest.raises(config.Unacceptable) as refusal:
        plan.make(raw).check()
    message = str(refusal.value)
    assert message.startswith("config: ")
    assert "\n" not in message
    for part in expected:
        assert part in message


def test_a_map_that_is_not_text_is_refused(tmp_path):
    (tmp_path / "map.txt").write_bytes(bytes(range(256)))
    with pytest.raises(config.Unacceptable, match="cannot be read as text"):
        plan.make(environment(map=str(tmp_path / "map.txt"))).check()


def test_the_exported_schema_is_that_of_the_models():
    exported = json.loads((ROOT / "workflow/schemas/config.json").read_text())
    assert exported == json.loads(json.dumps(config.schema())), (
        "run: nscmdp schema --output workflow/schemas/config.json"
    )


def test_every_environment_and_algorithm_is_configurable():
    for name in environments.NAMES:
        raw = changed(environment={"name": name})
        assert config.parse(raw).experiments[0].environment.name == name
    for name in algorithms.NAMES:
        raw = changed(learners=[{"algorithm": name, "setting": algorithms.module(name).SETTINGS[0]}])
        assert config.parse(raw).experiments[0].learners[0].algorithm == name


def test_batches_of_old_seeds_stay_when_seeds_are_added():
    few, many = (plan.make({**changed(seeds=n), "batch": 5}) for n in (10, 15))
    old = {name for _, _, name in few.run_files("small")}
    assert old < {name for _, _, name in many.run_files("small")}


def test_a_preset_replaces_the_experiments():
    """Snakemake replaces lists and merges mappings; experiments must therefore be a list."""
    assert isinstance(yaml.safe_load((ROOT / "config.yaml").read_text())["experiments"], list)


def swept(**sweep):
    raw = yaml.safe_load((ROOT / "workflow/presets/tiny.yaml").read_text())
    (one,) = [one for one in raw["experiments"] if one["name"] == "sensitivity"]
    return {**raw, "experiments": [{**one, "sweeps": [sweep]}]}


def test_a_sweep_is_all_combinations_or_one_key_at_a_time():
    base = {"algorithm": "nonstationary_triple_q", "setting": "tuned", "label": "here"}
    over = {"times.eta": [0.5, 2.0], "variants.reset": ["full", "bump"]}
    crossed = config.parse(swept(learner=base, over=over)).experiments[0]
    assert [one.name for one in crossed.all_learners] == [
        "here.eta=0.5,reset=full",
        "here.eta=0.5,reset=bump",
        "here.eta=2.0,reset=full",
        "here.eta=2.0,reset=bump",
    ]
    assert list(crossed.units) == ["here"]
    last = crossed.all_learners[-1].specification
    assert (last["times"]["eta"], last["variants"]["reset"]) == (2.0, "bump")
    alone = config.parse(swept(learner=base, over=over, crossed=False)).experiments[0]
    names = [one.name for one in alone.all_learners]
    assert names == ["here.eta=0.5", "here.eta=2.0", "here.reset=full", "here.reset=bump"]
    assert alone.all_learners[0].variants.reset == "full"


def test_a_sweep_over_settings_names_learners_as_if_they_stood_alone():
    sweep = {"learner": {"algorithm": "triple_q"}, "over": {"setting": ["literal", "tuned"]}}
    assert [one.name for one in config.parse(swept(**sweep)).experiments[0].all_learners] == [
        "triple_q.literal",
        "triple_q.tuned",
    ]


@pytest.mark.parametrize(
    ("over", "named"),
    [
        ({"variants.reset": ["never"]}, ["nonstationary_triple_q", "variants.reset", "never"]),
        ({"times.beta": [2.0]}, ["times.beta", "2.0"]),
        ({"setting": ["best"]}, ["setting", "best"]),
    ],
)
def test_a_sweep_over_what_a_learner_does_not_have_is_refused(over, named):
    with pytest.raises(config.Unacceptable) as error:
        config.parse(swept(learner={"algorithm": "nonstationary_triple_q", "setting": "tuned"}, over=over))
    for word in named:
        assert word in str(error.value)
