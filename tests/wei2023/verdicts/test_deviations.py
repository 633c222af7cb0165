"""The ledger lists every switch of the code and no other, and its page and effects are what they say."""

import inspect
from typing import get_args, get_type_hints

import pandas as pd
import pyarrow as pa
import pytest
import yaml

from nscmdp import algorithms, environments, files
from shipped import LEDGER, compared, measuring
from wei2023.report import tables as report
from wei2023.study import models
from wei2023.verdicts import deviations

LISTED = {key: entry for entry in LEDGER for key in entry.switch}

# Options of the grid world that are no reading of the paper: what it states, what goes beyond it, and the seed.
NO_READING = {"limit", "success", "size", "obstacles", "legs", "switch", "switch_at", "seed"}
OF_TUNING = {
    "label",
    "choice",
    "tuned_at",
    "tuning",
    "constants",
}  # its name, and where its constants are from
NOT_THE_PAPERS = {"tracking_triple_q", "detecting_triple_q"}  # their variants depart from no text


def accepted(hint):
    """The values of a Literal or a bool; none where any number or text will do."""
    return {False, True} if hint is bool else set(get_args(hint))


def switches():
    """Every switch of the code, by its key, with the values that it accepts."""
    found = {}
    for name in {*algorithms.OWN} - NOT_THE_PAPERS:
        hints = get_type_hints(algorithms.variants(name))
        found |= {f"{name}.variants.{key}": accepted(hint) for key, hint in hints.items()}
    for key, option in inspect.signature(environments.maker("grid_world")).parameters.items():
        if option.kind is option.KEYWORD_ONLY and key not in NO_READING:
            literal = getattr(option.annotation, "__origin__", None) is not None
            found[f"grid_world.{key}"] = accepted(option.annotation) if literal else set()
    fields = models.LearnerBase.model_fields
    found |= {key: set(get_args(fields[key].annotation)) for key in fields if key not in OF_TUNING}
    settings = [
        model.model_fields["setting"].annotation
        for model in map(models.learner_model, algorithms.OWN)
    ]
    return found | {"setting": {value for setting in settings for value in get_args(setting)}}


SWITCHES = switches()


def test_every_switch_is_in_the_ledger():
    assert set(SWITCHES) - set(LISTED) == set()


def test_every_switch_of_the_ledger_exists():
    assert set(LISTED) - set(SWITCHES) == set()


@pytest.mark.parametrize("key", sorted(set(LISTED) & set(SWITCHES)))
def test_the_values_of_a_switch_are_those_that_the_code_accepts(key):
    entry = LISTED[key]
    assert len(entry.values) >= 2
    if SWITCHES[key]:
        assert set(entry.values) == SWITCHES[key]
        assert len(entry.values) == len(SWITCHES[key])


def test_the_default_of_a_switch_stands_first():
    """A setting has none: every learner names its own."""
    defaults = {}
    for key in LISTED:
        *owner, name = key.split(".")
        if owner == ["grid_world"]:
            defaults[key] = (
                inspect.signature(environments.maker("grid_world")).parameters[name].default
            )
        elif owner:
            defaults[key] = getattr(algorithms.variants(owner[0])(), name)
        elif name != "setting":
            defaults[key] = models.LearnerBase.model_fields[name].default
    assert {key: LISTED[key].values[0] for key in defaults} == defaults


def test_only_switches_have_values():
    assert [entry.id for entry in LEDGER if bool(entry.values) != bool(entry.switch)] == []


def test_the_effect_of_every_switch_is_measured():
    """All but the map and the horizon, which no one number could compare."""
    measured = {key for key, _, _ in compared(measuring())}
    assert set(SWITCHES) - measured == {"grid_world.map", "grid_world.horizon"}


def test_an_unknown_field_or_a_second_entry_is_refused(tmp_path):
    file = tmp_path / "ledger.yaml"
    entry = LEDGER[0].model_dump()
    file.write_text(yaml.safe_dump([{**entry, "colour": "red"}]))
    with pytest.raises(ValueError, match="colour"):
        deviations.load(file)
    file.write_text(yaml.safe_dump([entry, entry]))
    with pytest.raises(ValueError, match=f"{entry['id']}.* twice"):
        deviations.load(file)


def learner(**keys):
    variants = keys.pop("variants", {"reset": "full", "cbar": "after"})
    factors = (
        {} if keys.get("setting") == "literal" else {"factors": {"frame": keys.pop("frame", 4.0)}}
    )
    base = {
        "algorithm": "nonstationary_triple_q",
        "setting": "scaled",
        "assumed_budget": 1.0,
        "assumed_for": "all",
        "variants": variants,
    }
    return {**base, **factors, **keys}


def case(name="menu", **options):
    return {
        "name": name,
        "reading": str(options),
        "budget": "default",
        "episodes": 8,
        "options": options,
    }


def test_a_run_is_compared_with_the_one_that_differs_in_a_single_switch_and_has_its_default():
    learners = {
        "both": learner(variants={"reset": "bump", "cbar": "before"}),
        "bump": learner(variants={"reset": "bump", "cbar": "after"}),
        "counts": learner(variants={"reset": "counts", "cbar": "after"}),
        "literal": learner(setting="literal"),
        "base": learner(),
        "frame": learner(frame=1.0),
        "other": learner(algorithm="double_restart_triple_q"),
    }
    found = deviations.pairs(LEDGER, [case()], learners)
    assert {(key, here.learner, there.learner) for key, here, there in found} == {
        ("setting", "base", "literal"),
        ("nonstationary_triple_q.variants.reset", "base", "bump"),
        ("nonstationary_triple_q.variants.reset", "base", "counts"),
        ("nonstationary_triple_q.variants.cbar", "bump", "both"),
    }
    cases = [case(name="grid_world", cost_drift=drift) for drift in (0.0, 0.1)]
    found = deviations.pairs(LEDGER, cases, {"base": learner()})
    assert [(key, there.keys[key]) for key, _, there in found] == [("grid_world.cost_drift", 0.0)]


def test_effects_are_paired_by_seed_and_weighted_by_episodes(tmp_path):
    """Seeds differ by 10 and more, the switch adds 1 in one seed and 3 in the other: only pairs show that exactly."""
    rows = [
        {
            "reading": "{}",
            "budget": "default",
            "episodes": 8,
            "learner": name,
            "seed": seed,
            "rho": 2.0,
            "weight": weight,
        }
        | {"value": 10.0 * seed + added[seed] + extra, "utility_value": 2.0, "gap": -added[seed]}
        for name, added in (("base", {1: 0.0, 2: 0.0}), ("bump", {1: 1.0, 2: 3.0}))
        for seed in (1, 2)
        for weight, extra in ((2, 3.0), (6, -1.0))  # of mean 0
    ]
    learners = {"base": learner(), "bump": learner(variants={"reset": "bump", "cbar": "after"})}
    facts = {"cases": [case()], "learners": learners}
    files.write(
        tmp_path / "exact.parquet",
        pa.Table.from_pandas(pd.DataFrame(rows), preserve_index=False),
        facts,
    )
    found = deviations.effects(LEDGER, [tmp_path / "exact.parquet"]).set_index("measure")
    reward = found.loc["reward"]
    assert (reward["switch"], reward["from"], reward["to"]) == (
        "nonstationary_triple_q.variants.reset",
        "full",
        "bump",
    )
    assert (reward["without"], reward["with"], reward["difference"]) == (15.0, 17.0, 2.0)
    assert (reward["low"], reward["high"]) == (1.0, 3.0)
    assert (found.loc["utility", "difference"], found.loc["gap", "difference"]) == (0.0, -2.0)
    (row,) = report.effects(
        found.reset_index(), LISTED["nonstationary_triple_q.variants.reset"]
    ).rows
    place = "nonstationary_triple_q.scaled, menu, K = 8, rho = 2"
    change = "15.000 to 17.000 (+2.000 [+1.000, +3.000])"
    assert row[:3] == ["reset: full to bump", place, change]
