"""A wrong configuration is refused before any work, by one message that names key, value and what is accepted."""

import copy
import datetime
import json
import re
from itertools import product
from pathlib import Path

import pytest
import yaml
from snakemake.utils import update_config

from nscmdp import algorithms, environments
from wei2023.study import config, plan

ROOT = Path(__file__).parents[3]
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


TUNING = {
    "name": "tuning",
    "environment": {"name": "menu"},
    "episodes": 64,
    "algorithms": ["triple_q"],
}
STUCK = {"name": "grid_world", "map": "6x6", "limit": 0.0, "success": 1.0} | dict.fromkeys(
    ("success_drift", "cost_drift", "reward_drift"), 0.0
)


def changed(**replaced):
    raw = copy.deepcopy(BASE)
    raw["experiments"][0].update(replaced)
    return raw


def environment(**options):
    return changed(environment={**BASE["experiments"][0]["environment"], **options})


def learner(**keys):
    return changed(learners=[{"algorithm": "triple_q", "setting": "literal", **keys}])


@pytest.mark.parametrize("preset", [None, "tiny", "full", "long", "suite"])
def test_the_shipped_configurations_are_accepted(preset, monkeypatch):
    """A preset changes config.yaml as Snakemake does: mappings are merged, lists replaced."""
    monkeypatch.chdir(ROOT)
    raw = yaml.safe_load((ROOT / "config.yaml").read_text())
    if preset:
        update_config(raw, yaml.safe_load((ROOT / f"workflow/presets/{preset}.yaml").read_text()))
    plan.make(raw).check()


WRONG = {
    "unknown key at the top": ({**BASE, "cores": 8}, ["cores = 8", "unknown key", "batch"]),
    "unknown key of an experiment": (
        changed(trials=3),
        ["experiments[0].trials = 3", "unknown key", "seeds"],
    ),
    "misspelt required key": (
        {
            "experiments": [
                {("seedz" if k == "seeds" else k): v for k, v in BASE["experiments"][0].items()}
            ]
        },
        ["experiments[0].seedz = 2: unknown key, did you mean seeds? (expected one of name, "],
    ),
    "misspelt option": (
        environment(hoorizon=25),
        ["experiments[0].environment.hoorizon = 25", "mean horizon?"],
    ),
    "unknown environment": (
        environment(name="gridworld"),
        ["environment.name", '"gridworld"', "mean grid_world?"],
    ),
    "no environment named": (
        changed(environment={"nam": "menu"}),
        ["environment.nam", "mean name?"],
    ),
    "wrong type": (changed(episodes=["many"]), ["experiments[0].episodes[0]", '"many"', "integer"]),
    "a number as text": (
        environment(horizon="15"),
        ["experiments[0].environment.horizon", '"15"', "integer"],
    ),
    "NaN": (environment(limit=float("nan")), ["experiments[0].environment.limit", "NaN", "finite"]),
    "infinity": (environment(cost_drift=float("inf")), ["environment.cost_drift", "finite"]),
    "unknown algorithm": (
        learner(algorithm="tripleq"),
        ["learners[0].algorithm", '"tripleq"', "mean triple_q?"],
    ),
    "misspelt algorithm's key": (
        changed(learners=[{"algo": "triple_q"}]),
        ["learners[0].algo", "mean algorithm?"],
    ),
    "unknown setting": (
        learner(setting="litral"),
        ["learners[0].setting", '"litral"', "mean literal?", "scaled"],
    ),
    "unknown factor": (
        learner(setting="scaled", factors={"fame": 2.0}),
        ["learners[0].factors.fame = 2.0", "did you mean frame?"],
    ),
    "unknown role": (
        changed(role="grwth"),
        ['experiments[0].role = "grwth"', "did you mean growth?"],
    ),
    "unknown word for batch": (
        changed(batch="automatic"),
        ["experiments[0].batch", "did you mean auto?"],
    ),
    "factors without scaled": (learner(factors={"frame": 2.0}), ["learners[0].factors", "scaled"]),
    "a negative factor": (
        learner(setting="scaled", factors={"frame": -1.0}),
        ["factors.frame", "greater than or equal"],
    ),
    "zero seeds": (changed(seeds=0), ["experiments[0].seeds", "0", "greater than or equal to 1"]),
    "too many seeds": (
        changed(seeds=10**12),
        ["experiments[0].seeds", "less than or equal to 1000000"],
    ),
    "too large a seed": (changed(seeds=[2**63]), ["experiments[0].seeds[0]", "less than or equal"]),
    "no seeds": (changed(seeds=[]), ["experiments[0].seeds", "at least 1"]),
    "duplicate seeds": (
        changed(seeds=[1, 2, 1]),
        ["experiments[0].seeds", "[1, 2, 1]", "distinct"],
    ),
    "seeds that name no file": (
        changed(seeds=[*range(0, 900, 2)], batch=900),
        ["experiments[0].seeds", "batch"],
    ),
    "too many episodes": (
        changed(episodes=[10**10]),
        ["experiments[0].episodes[0]", "less than or equal"],
    ),
    "too many windows": (changed(windows=10**9), ["experiments[0].windows", "less than or equal"]),
    "too large an option": (
        environment(legs=10**12),
        ["experiments[0].environment.legs", "less than or equal"],
    ),
    "too large a map": (
        environment(map="random", size=5000),
        ["experiments[0].environment", "too large", "20,000,000"],
    ),
    "too large a model": (
        changed(environment={"name": "random_tabular", "states": 90_000, "branching": 900}),
        ["experiments[0].environment", "too large"],
    ),
    "the same learner twice": (
        changed(learners=BASE["experiments"][0]["learners"][:1] * 2),
        ["learners", "label"],
    ),
    "two experiments of one name": (
        {"experiments": BASE["experiments"] * 2},
        ["experiments", "'small'"],
    ),
    "two tunings of one name": ({**BASE, "tunings": [TUNING, TUNING]}, ["tunings", "'tuning'"]),
    "a tuning that chooses twice": (
        {**BASE, "tunings": [TUNING | {"checks": [64]}]},
        ["tunings[0].checks", "64"],
    ),
    "a tuning that cannot be": (
        {**BASE, "tunings": [TUNING | {"environment": STUCK, "algorithms": ["propd_ppo"]}]},
        ["tunings[0].algorithms", "Slater gap"],
    ),
    "an unknown tuning": (
        {**changed(tuning="tunning"), "tunings": [TUNING]},
        ["experiments[0].tuning", "mean tuning?"],
    ),
    "no experiment": ({"experiments": []}, ["experiments", "[]"]),
    "nothing at all": ({}, ["experiments", "missing"]),
    "no mapping": ([], ["[]", "object"]),
    "a date": ({**BASE, "results": datetime.date(2023, 4, 25)}, ["date", "text"]),
    "a key with a line break": ({**BASE, "a\nb": 1}, ["unknown key"]),
    "a name that leaves the folder": (
        changed(name="../up"),
        ["experiments[0].name", "../up", "pattern"],
    ),
    "a name that Snakemake refuses": (
        changed(name="x" * 20),
        ["experiments[0].name", "twenty times"],
    ),
    "a label that Snakemake refuses": (
        learner(label="a" + "xy" * 30),
        ["learners[0].label", "twenty times"],
    ),
    "a name like a table's": (
        changed(name="tuned.csv"),
        ["experiments[0].name", "tuned.csv", "pattern"],
    ),
    "K too small for the drift": (
        changed(episodes=[2]),
        ["experiments[0].episodes", "K=2", "4 are enough"],
    ),
    "K too small for a frame": (
        changed(
            episodes=[20],
            learners=[
                {
                    "algorithm": "nonstationary_triple_q",
                    "setting": "scaled",
                    "factors": {"frame": 50.0},
                }
            ],
        ),
        ["experiments[0].episodes = 20", "nonstationary_triple_q.scaled", "expected 1 to 20"],
    ),
    "an infeasible limit": (
        environment(limit=-1.0),
        ["experiments[0].environment.limit = -1.0", "infeasible", "best attainable"],
    ),
    "an infeasible limit to look at": (
        {**BASE, "shown": [{"environment": {"name": "grid_world", "limit": -1.0}, "episodes": 9}]},
        ["shown[0].environment.limit = -1.0 is infeasible", "best attainable"],
    ),
    "an unreadable map": (
        environment(map="9x9"),
        ["experiments[0].environment", "'9x9'", "18x18, 6x6"],
    ),
    "an unknown budget": (
        changed(budgets=[{"legz": 2}]),
        ["experiments[0].budgets[0].legz = 2", "did you mean legs?"],
    ),
    "a budget of the wrong type": (
        changed(budgets=[{"legs": 1.5}]),
        ["experiments[0].budgets[0].legs = 1.5", "integer"],
    ),
    "a budget of another environment": (
        changed(budgets=[{"budget": 2.0}]),
        ["budgets[0].budget = 2.0", "one of legs"],
    ),
    "a reading among budgets": (
        changed(budgets=[{"limit": 2.0}]),
        ["budgets[0].limit", "expected under readings"],
    ),
    "a budget among readings": (
        changed(readings=[{}, {"legs": 2}]),
        ["readings[1].legs", "expected under budgets"],
    ),
    "another environment as a reading": (
        changed(readings=[{"name": "menu"}]),
        ["readings[0].name", "unknown key"],
    ),
    "an unknown key of claims": (
        {**BASE, "claims": {"sample": 4}},
        ["claims.sample = 4", "did you mean samples?"],
    ),
    "more seeds than the pool": (
        {**BASE, "tunings": [TUNING | {"seeds": 33}]},
        ["tunings[0].seeds = 33", "at most effort.pool = 32"],
    ),
    "windows of some episodes": (
        changed(keep="windows", evaluate_every=2),
        ["experiments[0].evaluate_every = 2", "1"],
    ),
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
    exported = (ROOT / "workflow/schemas/config.json").read_text()
    assert exported == config.schema_text(), (
        "run: wei2023 job schema --output workflow/schemas/config.json"
    )


def test_the_text_of_the_schema_is_the_schema():
    assert json.loads(config.schema_text()) == config.schema()


@pytest.mark.parametrize(
    "name", ["Config", "Experiment", "Tuning", "Effort", "Shown", "Sweep", *algorithms.OWN]
)
def test_every_key_is_described_in_the_schema(name):
    exported = json.loads((ROOT / "workflow/schemas/config.json").read_text())
    properties = (
        exported["properties"] if name == "Config" else exported["$defs"][name]["properties"]
    )
    assert [key for key, field in properties.items() if not field.get("description")] == []


@pytest.mark.parametrize("name", [*environments.OWN, *algorithms.OWN])
def test_every_environment_and_algorithm_says_where_its_options_are_described(name):
    definitions = config.schema()["$defs"]
    for part in (name, f"{name}_factors", f"{name}_variants", f"{name}_times"):
        if part in definitions:
            (file,) = re.findall(r"src/nscmdp/\w+/\w+\.py", definitions[part]["description"])
            assert (ROOT / file).is_file()


def test_every_environment_and_algorithm_is_configurable():
    for name in environments.OWN:
        raw = changed(environment={"name": name})
        assert config.parse(raw).experiments[0].environment.name == name
    for name in algorithms.OWN:
        raw = changed(learners=[{"algorithm": name, "setting": algorithms.settings(name)[0]}])
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
    (one,) = [one for one in raw["experiments"] if one["name"] == "frames"]
    one = {**one, "tuning": "tuning_6x6", "first_seed": 0}
    return {**raw, "protocols": None, "experiments": [{**one, "sweeps": [sweep]}]}


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
        ({"variants.reset": ["never"]}, 'sweeps[0].over.variants.reset = "never": unknown'),
        (
            {"variants.rest": ["full"]},
            'sweeps[0].over.variants.rest = "full": unknown key, did you mean reset?',
        ),
        ({"times.beta": [2.0]}, "sweeps[0].over.times.beta = 2.0: unknown key, did you mean eta?"),
        ({"setting": ["tuner"]}, 'sweeps[0].over.setting = "tuner": unknown, did you mean tuned?'),
        ({"setting.x": [1]}, 'sweeps[0].over.setting.x = 1: unknown key: setting is "tuned"'),
        ({"times": [{"eta": 2.0}]}, "sweeps[0].over = "),
        ({"times.eta": [*range(1, 2000)]}, "1,999 learners, expected at most 1,000"),
        ({}, "sweeps[0].over = {}"),
        ({"times.eta": []}, "sweeps[0].over.times.eta = []"),
    ],
)
def test_a_sweep_over_what_a_learner_does_not_have_is_refused(over, named):
    with pytest.raises(config.Unacceptable) as error:
        config.parse(
            swept(learner={"algorithm": "nonstationary_triple_q", "setting": "tuned"}, over=over)
        )
    assert named in str(error.value)


def test_the_learner_of_a_sweep_is_checked_like_any_other():
    with pytest.raises(
        config.Unacceptable, match=r"sweeps\[0\]\.learner\.seting .* did you mean setting\?"
    ):
        config.parse(
            swept(learner={"algorithm": "triple_q", "seting": "tuned"}, over={"times.eta": [1.0]})
        )
    with pytest.raises(config.Unacceptable, match=r"sweeps\[0\]\.learner\.label .* twenty times"):
        config.parse(
            swept(learner={"algorithm": "triple_q", "label": "x" * 20}, over={"setting": ["tuned"]})
        )
    with pytest.raises(config.Unacceptable, match=r"sweeps\[0\]\.learner\.algorithm is missing"):
        config.parse(swept(learner={}, over={"times.eta": [1.0]}))


def test_readings_and_budgets_and_episodes_are_crossed():
    raw = changed(
        readings=[{}, {"limit": 3.0}], budgets=[{"legs": 1}, {"legs": 2}], episodes=[100, 200]
    )
    cases = [(case.reading, case.budget, case.episodes) for case in plan.make(raw).cases]
    assert cases == list(product(["default", "limit=3.0"], ["legs=1", "legs=2"], [100, 200]))
