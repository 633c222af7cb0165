"""The maps on which learning can be watched show what the table says, in few bytes."""

import re

import numpy as np
import pytest

from wei2023.report import render
from wei2023.report.page import learning
from wei2023.report.tables import Table
from wei2023.runs import policies, specifications
from wei2023.study import plan
from wei2023.verdicts import learning as followed
from wei2023.verdicts import tables

K = 40
HOSTILE = "\"><script>alert(1)</script>'onclick='x"
FIRST = "nonstationary_triple_q"


def configuration(**changed):
    small = {
        "name": "grid_world",
        "map": "6x6",
        "horizon": 8,
        "limit": 2.3,
        "switch": "goal",
        "switch_at": [0.5],
    }
    learners = [
        {"algorithm": "uniform", "setting": "literal"},
        {"algorithm": FIRST, "setting": "authors"},
        {"algorithm": FIRST, "setting": "literal"},
        {"algorithm": FIRST, "setting": "literal", "variants": {"reset": "bump"}, "label": "bump"},
    ]
    one = {
        "name": "one",
        "watch": True,
        "environment": small,
        "episodes": [K],
        "seeds": 1,
        "first_seed": 7,
    }
    return {"experiments": [{**one, "learners": learners, **changed}]}


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    folder, planned = tmp_path_factory.mktemp("watched"), plan.make(configuration())
    for unit, file in planned.policy_files("one"):
        policies.store(specifications.policies(planned, "one", unit), folder / file)
    followed.write(planned, folder, "one")
    return planned, folder


def test_every_frame_is_the_table_in_percent(watched):
    planned, folder = watched
    found = tables.load(folder / "tables/one/learning.parquet").set_index(["learner", "episode"])
    data = learning.data(planned, folder, "one")
    assert [one["name"] for one in data["learners"]] == [
        *dict.fromkeys(name for name, _ in found.index)
    ]
    for one in data["learners"]:
        for k, frame in zip(data["episodes"], one["frames"], strict=True):
            row = found.loc[(one["name"], k)]
            assert frame["reward"] == pytest.approx(row["value"], abs=1e-4)
            assert frame["cost"] == pytest.approx(8 - row["utility_value"], abs=1e-4)
            assert frame["cells"] == [x for x, share in enumerate(row["visits"]) if share >= 0.005]
            np.testing.assert_allclose(
                frame["visits"], 100 * row["visits"][frame["cells"]], atol=0.51
            )
            arrows = row["arrows"].reshape(-1, 4)[frame["cells"]]
            np.testing.assert_allclose(
                np.reshape(frame["arrows"], (-1, 4)), 100 * arrows, atol=0.51
            )
            assert min(frame["visits"]) >= 1


def test_the_map_is_that_of_the_episode(watched):
    planned, folder = watched
    data = learning.data(planned, folder, "one")
    goals = [data["maps"][number].replace("\n", "").index("G") for number in data["map"]]
    assert len(data["maps"]) == 2
    assert [goal != goals[0] for goal in goals] == [
        k > 1 + round(0.5 * (K - 1)) for k in data["episodes"]
    ]
    assert data["limit"] == 2.3
    cells = sum(mark not in "#\n" for mark in data["maps"][0])
    assert (
        max(max(frame["cells"]) for one in data["learners"] for frame in one["frames"])
        < cells
        == 36
    )


def test_learners_have_names_that_tell_them_apart_and_algorithm_1_is_shown_first(watched):
    planned, folder = watched
    data = learning.data(planned, folder, "one")
    texts = [one["text"] for one in data["learners"]]
    assert texts == [
        "The constrained optimum",
        "uniform policy, literal",
        "Algorithm 1: Non-stationary Triple-Q, authors",
        "Algorithm 1: Non-stationary Triple-Q, literal",
        "Algorithm 1: Non-stationary Triple-Q, bump",
    ]
    assert data["first"] == f"{FIRST}.authors"


def test_a_tuned_algorithm_1_is_shown_first():
    learners = [{"algorithm": name, "setting": "tuned"} for name in ("triple_q", FIRST)]
    learners.insert(1, {"algorithm": FIRST, "setting": "literal"})
    tuning = {
        "environment": {"name": "menu"},
        "episodes": 8,
        "algorithms": ["triple_q", FIRST],
        "name": "tuning",
    }
    planned = plan.make(
        {**configuration(learners=learners, tuning="tuning", first_seed=0), "tunings": [tuning]}
    )
    names = {one.name for one in planned.experiment("one").all_learners}
    assert learning._default(planned, "one", names) == f"{FIRST}.tuned"
    assert learning._default(planned, "one", {"triple_q.tuned"}) == "triple_q.tuned"
    assert learning._default(planned, "one", set()) == followed.OPTIMUM


def test_what_the_page_loads_is_among_its_files(watched):
    planned, folder = watched
    (offered,) = learning.context(planned, folder)["maps"]
    assert offered == {"experiment": "one", "text": "6 x 6, K = 40", "script": "learning_one"}
    assert planned.scripts[offered["script"]] == ("learning", "one")
    assert {"page/data/learning_one.js", "page/learning.js", "page/learning.css"} <= {
        *planned.pages
    }


def test_there_is_no_section_where_nothing_is_watched(tmp_path):
    assert learning.context(plan.make(configuration(watch=False)), tmp_path) is None


def text_of(section):
    return " ".join(re.sub(r"<[^>]+>", " ", section).split())


def test_without_a_script_the_numbers_stand_there(watched):
    planned, folder = watched
    section = (
        render.environment()
        .get_template("learning.html.j2")
        .render(learning=learning.context(planned, folder))
    )
    exact = tables.load(folder / "tables/one/learning.parquet").set_index(["learner", "episode"])
    (details,) = re.findall(r"<details open>.*?</details>", section, re.S)
    said = text_of(details)
    assert "limit 2.3" in said
    assert "Seed 7" in said
    for learner in ("uniform.literal", followed.OPTIMUM):
        rows = [exact.loc[(learner, k)] for k in (1, 20, 40)]
        pairs = [(row["value"], float(8 - row["utility_value"])) for row in rows]
        assert (
            " ".join(f"{reward:.2f} {'↑ ' * (cost > 2.305)}{cost:.2f}" for reward, cost in pairs)
            in said
        )


def test_hostile_names_become_no_markup(watched):
    planned, folder = watched
    context = learning.context(planned, folder)
    for one in context["maps"]:
        one |= dict.fromkeys(one, HOSTILE)
    context["tables"] = [Table(HOSTILE, [HOSTILE], [[HOSTILE]], HOSTILE, [HOSTILE])]
    assert "<script>alert" not in render.environment().get_template("learning.html.j2").render(
        learning=context
    )
