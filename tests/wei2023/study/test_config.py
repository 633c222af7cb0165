"""A wrong configuration is refused before any work, by one message that names key, value and what is accepted."""

import copy
import datetime
import json
import math
import re
from itertools import product
from pathlib import Path

import pytest
import yaml
from snakemake.utils import update_config

from nscmdp import algorithms, environments
from wei2023.study import config, plan

ROOT = Path(__file__).parents[3]
LITERAL = {"algorithm": "nonstationary_triple_q", "setting": "literal"}
SCALED = {"algorithm": "triple_q", "setting": "scaled", "factors": {"frame": 1.0}}
ONE = {
    "name": "small",
    "environment": {"name": "grid_world", "map": "6x6", "horizon": 15, "limit": 2.0},
    "episodes": [1000],
    "seeds": 2,
    "learners": [LITERAL, SCALED],
}
BASE = {"experiments": [ONE]}
TUNING = {"name": "tuning", "environment": {"name": "menu"}}
TUNING |= {"episodes": 64, "algorithms": ["triple_q"]}
STUCK = {"name": "grid_world", "map": "6x6", "limit": 0.0, "success": 1.0}
STUCK |= {"success_drift": 0.0, "cost_drift": 0.0, "reward_drift": 0.0}
HUGE = {"name": "random_tabular", "states": 90_000, "branching": 900}


def changed(**replaced):
    return {"experiments": [{**copy.deepcopy(ONE), **replaced}]}


def tunings(*given):
    return {**BASE, "tunings": [*given]}


def environment(**options):
    return changed(environment={**ONE["environment"], **options})


def learner(**keys):
    return changed(learners=[{"algorithm": "triple_q", "setting": "literal", **keys}])


def scaled(algorithm="triple_q", episodes=(1000,), **factors):
    chosen = {"algorithm": algorithm, "setting": "scaled", "factors": factors}
    return changed(learners=[chosen], episodes=[*episodes])


@pytest.mark.parametrize("preset", [None, "tiny", "full", "long", "suite"])
def test_the_shipped_configurations_are_accepted(preset, monkeypatch):
    """A preset changes config.yaml as Snakemake does: mappings are merged, lists replaced."""
    monkeypatch.chdir(ROOT)
    raw = yaml.safe_load((ROOT / "config.yaml").read_text())
    assert isinstance(raw["experiments"], list), "a preset would be merged with them"
    if preset:
        update_config(raw, yaml.safe_load((ROOT / f"workflow/presets/{preset}.yaml").read_text()))
    plan.make(raw).check()


WRONG = [  # a configuration, and parts of what is said of it
    ({**BASE, "cores": 8}, "cores = 8 … unknown key … batch"),
    (changed(trials=3), "experiments[0].trials = 3 … unknown key … seeds"),
    (
        {"experiments": [{k.replace("seeds", "seedz"): v for k, v in ONE.items()}]},
        "experiments[0].seedz = 2: unknown key, did you mean seeds? (expected one of name, ",
    ),
    (environment(hoorizon=25), "experiments[0].environment.hoorizon = 25 … mean horizon?"),
    (environment(name="gridworld"), 'environment.name … "gridworld" … mean grid_world?'),
    (changed(environment={"nam": "menu"}), "environment.nam … mean name?"),
    (changed(episodes=["many"]), 'experiments[0].episodes[0] … "many" … integer'),
    (environment(horizon="15"), 'experiments[0].environment.horizon … "15" … integer'),
    (environment(limit=math.nan), "experiments[0].environment.limit … NaN … finite"),
    (environment(cost_drift=math.inf), "environment.cost_drift … finite"),
    (learner(algorithm="tripleq"), 'learners[0].algorithm … "tripleq" … mean triple_q?'),
    (changed(learners=[{"algo": "triple_q"}]), "learners[0].algo … mean algorithm?"),
    (learner(setting="litral"), 'learners[0].setting … "litral" … mean literal? … scaled'),
    (scaled(fame=2.0), "learners[0].factors.fame = 2.0 … did you mean frame?"),
    (changed(role="grwth"), 'experiments[0].role = "grwth" … did you mean growth?'),
    (changed(batch="automatic"), "experiments[0].batch … did you mean auto?"),
    (learner(factors={"frame": 2.0}), "learners[0].factors … scaled"),
    (scaled(frame=-1.0), "factors.frame … greater than or equal"),
    (changed(seeds=0), "experiments[0].seeds … 0 … greater than or equal to 1"),
    (changed(seeds=10**12), "experiments[0].seeds … less than or equal to 1000000"),
    (changed(seeds=[2**63]), "experiments[0].seeds[0] … less than or equal"),
    (changed(seeds=[]), "experiments[0].seeds … at least 1"),
    (changed(seeds=[1, 2, 1]), "experiments[0].seeds … [1, 2, 1] … distinct"),
    # their file would have too long a name
    (changed(seeds=[*range(0, 900, 2)], batch=900), "experiments[0].seeds … batch"),
    (changed(episodes=[10**10]), "experiments[0].episodes[0] … less than or equal"),
    (changed(windows=10**9), "experiments[0].windows … less than or equal"),
    (environment(legs=10**12), "experiments[0].environment.legs … less than or equal"),
    (environment(map="random", size=5000), "experiments[0].environment … too large … 20,000,000"),
    (changed(environment=HUGE), "experiments[0].environment … too large"),
    (changed(learners=ONE["learners"][:1] * 2), "learners … label"),
    ({"experiments": [ONE, ONE]}, "experiments … 'small'"),
    (tunings(TUNING, TUNING), "tunings … 'tuning'"),
    (tunings(TUNING | {"checks": [64]}), "tunings[0].checks … 64"),
    (
        tunings(TUNING | {"environment": STUCK, "algorithms": ["propd_ppo"]}),
        "tunings[0].algorithms … Slater gap",
    ),
    (tunings(TUNING) | changed(tuning="tunning"), "experiments[0].tuning … mean tuning?"),
    (tunings(TUNING | {"seeds": 33}), "tunings[0].seeds = 33 … at most effort.pool = 32"),
    ({"experiments": []}, "experiments … []"),
    ({}, "experiments … missing"),
    ([], "[] … object"),
    ({**BASE, "results": datetime.date(2023, 4, 25)}, "date … text"),
    ({**BASE, "a\nb": 1}, "unknown key"),
    (changed(name="../up"), "experiments[0].name … ../up … pattern"),
    # Snakemake refuses names of files that repeat themselves
    (changed(name="x" * 20), "experiments[0].name … twenty times"),
    (learner(label="a" + "xy" * 30), "learners[0].label … twenty times"),
    (changed(name="tuned.csv"), "experiments[0].name … tuned.csv … pattern"),
    (changed(episodes=[2]), "experiments[0].episodes … K=2 … 4 are enough"),
    (
        scaled("nonstationary_triple_q", frame=50.0, episodes=[20]),
        "experiments[0].episodes = 20 … nonstationary_triple_q.scaled … expected 1 to 20",
    ),
    (
        environment(limit=-1.0),
        "experiments[0].environment.limit = -1.0 … infeasible … best attainable",
    ),
    (
        {**BASE, "shown": [{"environment": {"name": "grid_world", "limit": -1.0}, "episodes": 9}]},
        "shown[0].environment.limit = -1.0 is infeasible … best attainable",
    ),
    (environment(map="9x9"), "experiments[0].environment … '9x9' … 18x18, 6x6"),
    (changed(budgets=[{"legz": 2}]), "experiments[0].budgets[0].legz = 2 … did you mean legs?"),
    (changed(budgets=[{"legs": 1.5}]), "experiments[0].budgets[0].legs = 1.5 … integer"),
    (changed(budgets=[{"budget": 2.0}]), "budgets[0].budget = 2.0 … one of legs"),
    (changed(budgets=[{"limit": 2.0}]), "budgets[0].limit … expected under readings"),
    (changed(readings=[{}, {"legs": 2}]), "readings[1].legs … expected under budgets"),
    (changed(readings=[{"name": "menu"}]), "readings[0].name … unknown key"),
    ({**BASE, "claims": {"sample": 4}}, "claims.sample = 4 … did you mean samples?"),
    (changed(keep="windows", evaluate_every=2), "experiments[0].evaluate_every = 2 … 1"),
]


@pytest.mark.parametrize(("raw", "expected"), WRONG, ids=[expected for _, expected in WRONG])
def test_a_wrong_configuration_is_refused_by_a_message_that_helps(raw, expected):
    with pytest.raises(config.Unacceptable) as refusal:
        plan.make(raw).check()
    message = str(refusal.value)
    assert message.startswith("config: ")
    assert "\n" not in message
    for part in expected.split(" … "):
        assert part in message


def test_a_map_that_is_not_text_is_refused(tmp_path):
    (tmp_path / "map.txt").write_bytes(bytes(range(256)))
    with pytest.raises(config.Unacceptable, match="cannot be read as text"):
        plan.make(environment(map=str(tmp_path / "map.txt"))).check()


def test_the_exported_schema_is_that_of_the_models():
    exported = (ROOT / "workflow/schemas/config.json").read_text()
    remedy = "run: wei2023 job schema --output workflow/schemas/config.json"
    assert exported == config.schema_text(), remedy
    assert json.loads(config.schema_text()) == config.schema()


@pytest.mark.parametrize(
    "name", ["Config", "Experiment", "Tuning", "Effort", "Shown", "Sweep", *algorithms.OWN]
)
def test_every_key_is_described_in_the_schema(name):
    schema = config.schema()
    properties = (schema if name == "Config" else schema["$defs"][name])["properties"]
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


def swept(**sweep):
    raw = yaml.safe_load((ROOT / "workflow/presets/tiny.yaml").read_text())
    (one,) = [one for one in raw["experiments"] if one["name"] == "frames"]
    one = {**one, "tuning": "tuning_6x6", "first_seed": 0}
    return {**raw, "protocols": None, "experiments": [{**one, "sweeps": [sweep]}]}


def test_a_sweep_is_all_combinations_or_one_key_at_a_time():
    base = {"algorithm": "nonstationary_triple_q", "setting": "tuned", "label": "here"}
    over = {"times.eta": [0.5, 2.0], "variants.reset": ["full", "bump"]}
    crossed = config.parse(swept(learner=base, over=over)).experiments[0]
    pairs = product(over["times.eta"], over["variants.reset"])
    expected = [f"here.eta={eta},reset={reset}" for eta, reset in pairs]
    assert [one.name for one in crossed.all_learners] == expected
    assert list(crossed.units) == ["here"]
    last = crossed.all_learners[-1].specification
    assert (last["times"]["eta"], last["variants"]["reset"]) == (2.0, "bump")
    alone = config.parse(swept(learner=base, over=over, crossed=False)).experiments[0]
    names = [one.name for one in alone.all_learners]
    assert names == ["here.eta=0.5", "here.eta=2.0", "here.reset=full", "here.reset=bump"]
    assert alone.all_learners[0].variants.reset == "full"


def test_a_sweep_over_settings_names_learners_as_if_they_stood_alone():
    sweep = {"learner": {"algorithm": "triple_q"}, "over": {"setting": ["literal", "tuned"]}}
    learners = config.parse(swept(**sweep)).experiments[0].all_learners
    assert [one.name for one in learners] == ["triple_q.literal", "triple_q.tuned"]


TUNED = {"algorithm": "nonstationary_triple_q", "setting": "tuned"}
NO_SWEEP = [  # a learner, what is swept over, and parts of what is said of it
    (TUNED, {"variants.reset": ["never"]}, 'sweeps[0].over.variants.reset = "never": unknown'),
    (
        TUNED,
        {"variants.rest": ["full"]},
        'sweeps[0].over.variants.rest = "full": unknown key, did you mean reset?',
    ),
    (TUNED, {"times.beta": [2.0]}, "over.times.beta = 2.0: unknown key, did you mean eta?"),
    (TUNED, {"setting": ["tuner"]}, 'over.setting = "tuner": unknown, did you mean tuned?'),
    (TUNED, {"setting.x": [1]}, 'over.setting.x = 1: unknown key: setting is "tuned"'),
    (TUNED, {"times": [{"eta": 2.0}]}, "sweeps[0].over = "),
    (TUNED, {"times.eta": [*range(1, 2000)]}, "1,999 learners, expected at most 1,000"),
    (TUNED, {}, "sweeps[0].over = {}"),
    (TUNED, {"times.eta": []}, "sweeps[0].over.times.eta = []"),
    (
        {"algorithm": "triple_q", "seting": "tuned"},
        {"times.eta": [1.0]},
        "sweeps[0].learner.seting … did you mean setting?",
    ),
    (
        {"algorithm": "triple_q", "label": "x" * 20},
        {"setting": ["tuned"]},
        "sweeps[0].learner.label … twenty times",
    ),
    ({}, {"times.eta": [1.0]}, "sweeps[0].learner.algorithm is missing"),
]


@pytest.mark.parametrize(("learner", "over", "expected"), NO_SWEEP)
def test_a_wrong_sweep_is_refused(learner, over, expected):
    with pytest.raises(config.Unacceptable) as error:
        config.parse(swept(learner=learner, over=over))
    for part in expected.split(" … "):
        assert part in str(error.value)


def test_readings_and_budgets_and_episodes_are_crossed():
    budgets = [{"legs": 1}, {"legs": 2}]
    raw = changed(readings=[{}, {"limit": 3.0}], budgets=budgets, episodes=[100, 200])
    cases = [(case.reading, case.budget, case.episodes) for case in plan.make(raw).cases]
    assert cases == list(product(["default", "limit=3.0"], ["legs=1", "legs=2"], [100, 200]))
