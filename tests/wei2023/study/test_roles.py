"""What a role needs is asked for before any job runs, by the key that lacks it."""

import copy
import shutil
from pathlib import Path

import numpy as np
import pytest
import yaml

from nscmdp import metrics
from nscmdp.environments import grid_world
from nscmdp.randomness import checkpoints
from wei2023.study import catalogue, config, plan, roles

TINY = yaml.safe_load((Path(__file__).parents[3] / "workflow/presets/tiny.yaml").read_text())
NOTED = plan.make(TINY).config.model_dump(mode="json", exclude_unset=True)
BY_ROLE = {one["role"]: one for one in NOTED["experiments"]}
FIRST, SCALED = "nonstationary_triple_q", {"setting": "scaled", "factors": {"frame": 1.0}}
SMALL = TINY["tunings"][0]["environment"]
GROWS = [("a", 64), ("b", 128)]
TUNED_GROWTH = {**BY_ROLE["growth"], "environment": SMALL, "sweeps": []} | {
    "learners": [{"algorithm": FIRST, "setting": "tuned"}]
}


def experiments(*chosen, **rest):
    return {**TINY, "experiments": copy.deepcopy(list(chosen)), **rest}


def alone(role, /, **replaced):
    """The tiny preset's experiment of a role by itself, changed."""
    return experiments(BY_ROLE[role] | replaced)


def beside(role, /, **replaced):
    """Two experiments of a role, the second one changed."""
    return experiments(BY_ROLE[role], BY_ROLE[role] | {"name": "other"} | replaced)


def learner(label, **keys):
    return {"algorithm": FIRST, **SCALED, "label": label, **keys}


LACKING = {
    "the claim is about the grid world": (
        alone("protocols", environment={"name": "menu"}, watch=False),
        ["experiments[0].environment", "grid_world"],
    ),
    "verdicts need the uniform policy's value": (
        alone("protocols", keep="windows", evaluate_every=1),
        ["experiments[0].keep", "windows", "episode"],
    ),
    "its experiments are made of protocols": (
        {**alone("protocols"), "protocols": None},
        ["experiments[0].role", "protocols"],
    ),
    "learners differ in one constant": (
        alone("eta", sweeps=[], learners=[learner("one")]),
        ["experiments[0].learners", "constants.eta"],
    ),
    "verdicts look at every tenth": (
        alone("protocols", evaluate_every=100),
        ["experiments[0].evaluate_every", "tenth"],
    ),
    "options are judged likewise": (alone("choices", evaluate_every=100), ["choices", "tenth"]),
    "readings of growth are instances": (
        alone("growth", environment=SMALL, readings=[{"seed": 1}, {"seed": 1, "limit": 3.0}]),
        ["experiments[0].readings", "differ in seed alone"],
    ),
    "instances are those of the first": (
        beside("growth", readings=[{"seed": 1}]),
        ["experiments[1].readings", "some of those of experiments[0]"],
    ),
    "growth is in one environment": (
        beside("growth", environment={"name": "menu", "seed": 1}),
        ["experiments[1].environment", "experiments[0]"],
    ),
    "growth is at budgets of the first": (
        beside("growth", budgets=[{"legs": 1}, {"legs": 2}]),
        ["experiments[1].budgets", "some of those of experiments[0]"],
    ),
    "a learner runs in a case once": (
        beside("growth", budgets=[{"legs": 1}], episodes=[256, 512]),
        ["experiments[1].learners", "double_restart_triple_q.scaled in experiments[0]", "cases"],
    ),
    "one name is one learner": (
        beside(
            "growth",
            episodes=[512],
            learners=[learner(f"{FIRST}.scaled", factors={"frame": 2.0})],
            sweeps=[],
        ),
        ["experiments[1].learners", f"the same as {FIRST}.scaled in experiments[0]"],
    ),
    "what is tuned once is tuned in one place": (
        experiments(
            *(
                {**TUNED_GROWTH, "name": name, "episodes": [K], "tuning": f"tuning_{name}"}
                for name, K in GROWS
            ),
            tunings=[{**TINY["tunings"][0], "name": f"tuning_{name}"} for name, _ in GROWS],
            protocols=None,
        ),
        ["experiments[1].tuning", "tuning_b", f"the same as for {FIRST}.tuned in experiments[0]"],
    ),
    "a learner is in the same instances at every K": (
        experiments(
            BY_ROLE["growth"] | {"readings": [{"seed": 1}, {"seed": 2}]},
            BY_ROLE["growth"] | {"name": "longer", "readings": [{"seed": 2}], "episodes": [512]},
        ),
        [
            "experiments[1].readings",
            "the same as for double_restart_triple_q.scaled in experiments[0]",
        ],
    ),
    "linear likewise": (
        experiments(*({**BY_ROLE["growth"], "name": name, "role": "linear"} for name in "ab")),
        ["experiments[1].learners", "linear"],
    ),
    "theorems divide by the Slater gap": (
        alone(
            "growth",
            environment={"name": "grid_world", "map": "6x6", "limit": 0.0, "success": 1.0}
            | dict.fromkeys(("success_drift", "cost_drift", "reward_drift"), 0.0),
            sweeps=[],
            learners=[{"algorithm": FIRST, "setting": "literal"}],
        ),
        ["experiments[0].environment", "Slater gap"],
    ),
    "one experiment assumes budgets": (
        beside("assumed_budget"),
        ["experiments[1].role", "one experiment"],
    ),
    "budgets are assumed in one case": (
        alone("assumed_budget", episodes=[64, 128]),
        ["experiments[0].episodes", "[64, 128]", "one"],
    ),
    "the true budget is among those assumed": (
        alone("assumed_budget", sweeps=[], learners=[learner("half", assumed_budget=0.5)]),
        ["experiments[0].learners", "assumed_budget: 1.0"],
    ),
    "learners differ in what they assume alone": (
        alone(
            "assumed_budget",
            sweeps=[],
            learners=[learner("one"), learner("two", variants={"reset": "bump"})],
        ),
        ["experiments[0].learners", "alone"],
    ),
    "summaries look at the last fifth": (
        alone("switches", keep="episodes", evaluate_every=128),
        ["experiments[0].evaluate_every", "last fifth of 128"],
    ),
    "so do those of windows": (
        alone("switches", windows=2),
        ["experiments[0].windows", "last fifth of 128"],
    ),
}


@pytest.mark.parametrize("case", LACKING)
def test_what_a_role_lacks_is_named(case):
    raw, expected = LACKING[case]
    with pytest.raises(config.Unacceptable) as refusal:
        plan.make(raw).check()
    message = str(refusal.value)
    assert message.startswith("config: experiments[")
    for part in expected:
        assert part in message


ENOUGH = {
    "growth in several experiments": beside(
        "growth", sweeps=[], learners=[learner("a")], episodes=[64]
    ),
    "growth in several instances": alone(
        "growth", readings=[{"seed": 1}, {"seed": 2}, {"seed": 3}, {"seed": 4}]
    ),
    "a longer K at one budget": beside("growth", budgets=[{"legs": 4}], episodes=[512]),
    "other learners in one of the instances": experiments(
        BY_ROLE["growth"] | {"readings": [{"seed": 1}, {"seed": 2}]},
        BY_ROLE["growth"]
        | {"name": "b", "readings": [{"seed": 2}], "sweeps": [], "learners": [learner("a")]},
    ),
    "budgets in another order": beside(
        "growth", sweeps=[], learners=[learner("a")], budgets=[{"legs": 4}, {"legs": 1}]
    ),
    "an environment with its defaults written out": beside(
        "growth",
        sweeps=[],
        learners=[learner("a")],
        environment={"name": "menu", "legs": 1, "seed": 0},
    ),
    "one constant in several experiments": beside("eta"),
    "other readings": alone("choices", readings=[{}, {"limit": 3.0}]),
    "seeds in a list": alone("switches", seeds=[5, 3, 11]),
    "more windows than episodes": alone("switches", windows=1000),
    "one episode": alone(
        "switches",
        episodes=[1],
        environment={"name": "menu"},
        sweeps=[],
        learners=[{"algorithm": "uniform", "setting": "literal"}],
    ),
    "no role at all": alone("switches", role=None, readings=[{}, {"seed": 1}], episodes=[64, 128]),
}


@pytest.mark.parametrize("case", ENOUGH)
def test_what_has_all_that_it_needs_is_accepted(case):
    plan.make(ENOUGH[case]).check()


def test_every_role_says_what_it_needs():
    assert {*roles.NEEDS, "switches"} == {*catalogue.ROLES}  # which needs nothing


def test_readings_whose_names_would_be_the_same_are_refused(tmp_path):
    for name in ("a b.txt", "a_b.txt"):
        shutil.copy(grid_world.MAPS / "6x6.txt", tmp_path / name)
    readings = [{"map": str(tmp_path / name)} for name in ("a b.txt", "a_b.txt")]
    with pytest.raises(config.Unacceptable, match=r"experiments\[0\]\.readings"):
        plan.make(alone("eta", readings=readings)).check()


@pytest.mark.parametrize("every", [1, 2, 3, 7, 10, 24, 25, 99, 100, 101])
@pytest.mark.parametrize("episodes", [1, 2, 9, 10, 23, 100])
def test_a_part_of_a_run_is_evaluated_if_it_is_so_for_every_seed(episodes, every):
    """A stratum that lies within the part is drawn from whatever the seed; else some seed misses it."""
    drawn = [checkpoints(episodes, every, seed) * 10 for seed in range(300)]
    for after, until in ((2, 3), (8, 9), (8, 10), (9, 10)):
        found = [((k > after * episodes) & (k <= until * episodes)).any() for k in drawn]
        assert roles._evaluated(episodes, every, after, until) == all(found)


@pytest.mark.parametrize("windows", [1, 2, 3, 5, 7, 100])
@pytest.mark.parametrize("episodes", [1, 2, 9, 10, 23, 64])
def test_the_last_window_is_the_one_that_runs_have(episodes, windows):
    number = min(windows, episodes)
    lengths = np.bincount(np.arange(episodes) * number // episodes)
    assert roles._last_window(episodes, windows) == metrics.window_middle(lengths)[-1]
