"""Whatever is done to a configuration, it is refused in one line before any work, or it runs to the end.

A mutation is known by its number: ``mutated(17)`` and ``runnable("growth", 17)`` are the same in every run.
"""

import copy
import json
import math
import random
import shutil
import time
from itertools import count, islice
from pathlib import Path

import pytest
import yaml

from nscmdp import algorithms, environments
from test_pipeline import check, copied, snakemake
from wei2023.study import catalogue, config, plan

ROOT = Path(__file__).parents[3]
TINY = yaml.safe_load((ROOT / "workflow/presets/tiny.yaml").read_text())
NOTED = plan.make(TINY).config.model_dump(mode="json", exclude_unset=True)
MUTATIONS, RUNS_PER_ROLE, SECONDS = 400, 3, 10
# the experiments of a suite are made of a file of its own
ROLES = [role for role in catalogue.ROLES if role != "suite"]
VALUES = [0, 1, -1, 2, 0.5, 10**6, 10**12, 10**400, 1e300, -1e-300, math.nan, math.inf]
VALUES += [None, True, False, "", "a", "3", "a\nb", "../up"]
VALUES += [[], [0], [[]], {}, {"a": 1}, ["a", "a"]]
WORDS = [*catalogue.ROLES, *algorithms.OWN, *environments.OWN]
WORDS += ["literal", "authors", "scaled", "tuned", "auto", "episodes", "windows", "all", "frame"]
WORDS += ["full", "bump", "6x6", "18x18", "random", "current", "tuning_6x6"]


def places(value, path=()):
    """Every key and item below a value, with the container that holds it."""
    items = enumerate(value) if isinstance(value, list) else ()
    for key, item in value.items() if isinstance(value, dict) else items:
        yield value, key
        yield from places(item, (*path, key))


def delete(rng, raw):
    holder, key = rng.choice(list(places(raw)))
    del holder[key]


def misspell(rng, raw):
    holder, key = rng.choice([place for place in places(raw) if isinstance(place[0], dict)])
    at = rng.randrange(len(key))
    wrong = [key[:at] + key[at + 1 :], key[:at] + "x" + key[at:], key.upper(), f"{key}.x"]
    holder[rng.choice(wrong)] = holder.pop(key)


def replace(rng, raw):
    holder, key = rng.choice(list(places(raw)))
    holder[key] = rng.choice(VALUES)


def replace_a_word(rng, raw):
    texts = [place for place in places(raw) if isinstance(place[0][place[1]], str)]
    holder, key = rng.choice(texts)
    holder[key] = rng.choice(WORDS)


def repeat(rng, raw):
    holder, key = rng.choice([place for place in places(raw) if isinstance(place[0], list)])
    holder.append(copy.deepcopy(holder[key]))


def one_of(rng, raw):
    return rng.choice(raw["experiments"])


def swap_roles(rng, raw):
    one, other = one_of(rng, raw), one_of(rng, raw)
    one["role"], other["role"] = other.get("role"), one.get("role")


def give_another_role(rng, raw):
    one_of(rng, raw)["role"] = rng.choice([None, *catalogue.ROLES])


def drop_an_experiment(rng, raw):
    if len(raw["experiments"]) > 1:
        raw["experiments"].remove(one_of(rng, raw))


def drop_learners(rng, raw):
    chosen = one_of(rng, raw)
    kept = rng.choice([key for key in ("learners", "sweeps") if chosen.get(key)] or ["learners"])
    if chosen.get(kept):
        chosen[kept].remove(rng.choice(chosen[kept]))


def add_a_learner(rng, raw):
    name = rng.choice(algorithms.OWN)
    setting = rng.choice([*algorithms.settings(name), "tuned"])
    one_of(rng, raw).setdefault("learners", []).append({"algorithm": name, "setting": setting})


def rename_a_learner(rng, raw):
    chosen = one_of(rng, raw)
    swept = [sweep["learner"] for sweep in chosen.get("sweeps", [])]
    learners = [*chosen.get("learners", []), *swept]
    if learners:
        labels = ["renamed", "a=1,b=2", "Z.9", "x" * 150, "long_name_" * 15, chosen["name"]]
        rng.choice(learners)["label"] = rng.choice(labels)


def sweep_fewer_values(rng, raw):
    sweeps = [sweep for one in raw["experiments"] for sweep in one.get("sweeps", [])]
    if sweeps:
        chosen = rng.choice(sweeps)
        key = rng.choice(list(chosen["over"]))
        chosen["over"][key] = rng.sample(chosen["over"][key], 1)
        chosen["crossed"] = rng.choice([True, False])


def another_case(rng, raw):
    chosen = one_of(rng, raw)
    name = chosen["environment"]["name"]
    options = [{"location": "current"}, {"cost_drift": 0.0}] if name == "grid_world" else []
    budget = {"legs": 2} if name in ("menu", "grid_world") else {"budget": 5.0}
    ways = [
        lambda: chosen.setdefault("readings", [{}]).append(rng.choice([{"seed": 1}, *options])),
        lambda: chosen.setdefault("budgets", [{}]).append(budget),
        lambda: chosen["episodes"].append(rng.choice([1, 40, 96])),
    ]
    rng.choice(ways)()


def other_episodes(rng, raw):
    one_of(rng, raw)["episodes"] = [rng.choice([1, 10, 20, 50, 100])]


def keep_otherwise(rng, raw):
    ways = {"keep": ["episodes", "windows"], "evaluate_every": [1, 2, 5, 1000]}
    ways["windows"] = [1, 2, 3, 10, 10_000]
    key = rng.choice([*ways])
    one_of(rng, raw)[key] = rng.choice(ways[key])


def other_seeds(rng, raw):
    one_of(rng, raw)["seeds"] = rng.choice([1, 2, [3], [7, 0, 2], [2**62, 5]])


def other_batches(rng, raw):
    rng.choice([raw, one_of(rng, raw)])["batch"] = rng.choice([1, 7, "auto"])


def another_environment(rng, raw):
    small = {"states": 6, "actions": 3, "horizon": 3, "branching": 3}
    grid = {"name": "grid_world", "map": "6x6", "horizon": 9, "limit": 2.0}
    goal = {"map": "random", "size": 4, "horizon": 6, "switch": "goal", "switch_at": [0.5]}
    environments_there = [
        {"name": "menu", "legs": rng.choice([1, 3])},
        {"name": "random_tabular", **small},
        {**grid, "limit": rng.choice([0.5, 2.0, 9.0])},
        {**grid, "success": 0.0, "success_drift": 0.0},
        {"name": "grid_world", **goal},
    ]
    one_of(rng, raw)["environment"] = rng.choice(environments_there)


def other_effort(rng, raw):
    raw["effort"] = {"population": 4, "generations": rng.choice([1, 5])}
    for key in ("searches", "seeds", "pool", "selection_seeds"):
        raw["effort"][key] = rng.choice([1, 2])


ANYTHING = [delete, misspell, replace, replace_a_word, repeat]
SENSIBLE = [swap_roles, give_another_role, drop_an_experiment, drop_learners, add_a_learner]
SENSIBLE += [rename_a_learner, sweep_fewer_values, another_case, other_episodes, keep_otherwise]
SENSIBLE += [other_seeds, other_batches, another_environment, other_effort]
CHANGES = [(SENSIBLE, None), (None, ANYTHING), (SENSIBLE, SENSIBLE), (SENSIBLE, ANYTHING)]


def mutated(number):
    """The tiny preset after one or two changes of any kind."""
    rng, raw = random.Random(number), copy.deepcopy(TINY)
    for changes in filter(None, rng.choice(CHANGES)):
        rng.choice(changes)(rng, raw)
    return raw


def refusal(raw):
    """None where a configuration is accepted; anything but an Unacceptable is an error."""
    try:
        plan.make(raw).check()
    except config.Unacceptable as error:
        return str(error)
    return None


@pytest.mark.parametrize("number", range(MUTATIONS))
def test_a_mutation_is_accepted_or_refused_in_one_line(number):
    raw, began = mutated(number), time.monotonic()
    print(f"mutated({number}):\n{yaml.safe_dump(raw)}")
    said = refusal(raw)
    assert said is None or (said.startswith("config: ") and "\n" not in said)
    assert time.monotonic() - began < SECONDS


def small(role):
    """An experiment of a role that takes a moment."""
    menu = {"environment": {"name": "menu"}, "seeds": 2, "windows": 4, "keep": "windows"}
    if role == "linear":
        tiny = {"name": "linear", "states": 12, "horizon": 2, "budget": 5.0}
        lsvi = {"algorithm": "lsvi_primal_dual", "setting": "scaled", "factors": {"frame": 1.0}}
        named = {"name": role, "role": role, "environment": tiny}
        return {**menu, **named, "episodes": [64, 128], "learners": [lsvi]}
    found = next(one for one in NOTED["experiments"] if one["role"] == role)
    fewer = {"episodes": [100], "evaluate_every": 2} if found.get("keep") != "windows" else {}
    return copy.deepcopy({**found, **fewer, "name": role, "role": role, "seeds": 2})


def runnable(role, number):
    """A configuration with an experiment of a role, and perhaps another, after some sensible changes."""
    rng = random.Random(f"{role} {number}")
    others = [small(other) for other in rng.sample(ROLES, rng.choice([0, 1])) if other != role]
    raw = {**copy.deepcopy(TINY), "suite": None, "shown": TINY["shown"][: rng.choice([0, 0, 1])]}
    raw["experiments"] = [small(role), *others]
    raw["tunings"] = [{**one, "episodes": 60, "evaluate_every": 3} for one in raw["tunings"]]
    if not {role, *(one["role"] for one in others)} & {"protocols", "choices"}:
        raw["protocols"] = None
    for _ in range(rng.choice([1, 2, 3])):
        rng.choice(SENSIBLE)(rng, raw)
    if "tuned" not in json.dumps(raw["experiments"]):
        raw["tunings"] = []
    return raw


def is_worthwhile(raw, role):
    """Accepted, still with the role, and done in a moment."""
    if refusal(raw) is not None:
        return False
    planned = plan.make(raw)
    longest = max(case.episodes for case in planned.cases)
    return role in planned.roles and planned.runs <= 120 and longest <= 256


def accepted(role):
    """The first numbers of mutations that are worth running."""
    worthwhile = (number for number in count() if is_worthwhile(runnable(role, number), role))
    return list(islice(worthwhile, RUNS_PER_ROLE))


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A copy of the project."""
    return copied(tmp_path_factory.mktemp("project"))


@pytest.mark.slow
@pytest.mark.parametrize("which", range(RUNS_PER_ROLE))
@pytest.mark.parametrize("role", ROLES)
def test_an_accepted_mutation_runs_to_its_end(project, role, which):
    number = accepted(role)[which]
    name = f"{role}_{number}"
    raw = runnable(role, number) | {"results": name}
    (project / f"{name}.yaml").write_text(yaml.safe_dump(raw))
    print(f"runnable({role!r}, {number}):\n{yaml.safe_dump(raw)}")
    snakemake(project, "--configfile", f"{name}.yaml")
    audit = check(project, name)
    assert audit.returncode == 0, audit.stdout + audit.stderr
    shutil.rmtree(project / name)
