"""The page shows what the tables say, in every form it has, and nothing of a file can break out of
it.
"""

import base64
import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import test_figures as studies
from test_figures import FIRST, GRID, SECOND, STUDY, case, experiment, learner

from nscmdp import budget, environments
from wei2023.report import render, tables
from wei2023.report.page import curves
from wei2023.report.tables import Table
from wei2023.study import layout
from wei2023.study.protocols import study_of
from wei2023.verdicts.tables import load

HOSTILE = "\"><script>alert(1)</script>'onclick='x"
ASSUMED = {"assumed_budget": 1.0, "assumed_for": "all"}
SIMULATED = {
    f"{FIRST}.literal": learner(setting="literal", value=0.2, constants={}, **ASSUMED),
    f"{FIRST}.tuned": learner(factors={"frame": 0.5}, constants={}, **ASSUMED),
    f"{SECOND}.authors": learner(SECOND, "authors", value=1.2, cost=3.0, constants={}, **ASSUMED),
}


def unpacked(packed, seeds):
    codes = np.frombuffer(base64.b64decode(packed["codes"]), "<u2").reshape(seeds, -1)
    return packed["low"] + packed["step"] * codes


def plan_of(name, learners):
    made = [
        SimpleNamespace(name=called, algorithm=one["algorithm"]) for called, one in learners.items()
    ]
    return SimpleNamespace(
        simulations=[name],
        notebooks={},
        config=SimpleNamespace(protocols=study_of(STUDY)),
        experiment=lambda _: SimpleNamespace(all_learners=made),
    )


@pytest.fixture
def simulated(tmp_path):
    """An experiment with two cases, and what the page makes of it."""
    experiment(tmp_path, "one", SIMULATED, [case(env=GRID), case(400, env=GRID)])
    plan = plan_of("one", SIMULATED)
    return SimpleNamespace(
        folder=tmp_path, plan=plan, data=curves.data(plan, tmp_path, "one"), name="one"
    )


def test_packed_numbers_come_back_within_half_a_step():
    values = np.random.default_rng(0).normal(size=(3, 50)) * 1e6
    packed = curves._packed(values)
    assert np.abs(unpacked(packed, 3) - values).max() <= 0.51 * packed["step"]
    assert (unpacked(curves._packed(np.full((2, 4), 7.5)), 2) == 7.5).all()
    assert curves._packed(np.full((2, 4), np.nan)) is None


def test_curves_are_those_of_the_exact_table(simulated):
    exact = load(simulated.folder / layout.table("exact.parquet", "one"))
    for data, K in zip(simulated.data, (100, 400), strict=True):
        assert (data["episodes"], data["limit"], data["seeds"]) == (K, 2.0, [0, 1])
        assert data["ends"][-1] == K
        for one in data["learners"]:
            mine = exact[(exact["learner"] == one["name"]) & (exact["episodes"] == K)]
            length = np.diff([0, *data["ends"]])
            for seed, rows in mine.groupby("seed"):
                earned = unpacked(one["reward"], 2)[seed] @ length
                assert earned == pytest.approx((rows["value"] * rows["weight"]).sum(), rel=1e-4)
                best = unpacked(data["optimum"]["reward"], 2)[seed] @ length
                assert best - earned == pytest.approx(
                    (rows["regret"] * rows["weight"]).sum(), rel=1e-3
                )
                cost = unpacked(one["cost"], 2)[seed] @ length
                assert cost - 2.0 * K == pytest.approx(
                    (rows["violation"] * rows["weight"]).sum(), rel=1e-3, abs=1e-3
                )
                gap = unpacked(one["gap"], 2)[seed] @ length
                assert gap == pytest.approx((rows["gap"] * rows["weight"]).sum(), rel=1e-3)


def test_many_evaluated_episodes_are_thinned_to_blocks_of_equal_weight():
    runs = pd.DataFrame(
        {"seed": 0, "episode": np.arange(1, 1001), "weight": 3, "value": np.arange(1000.0)}
    )
    blocks = curves._Blocks(runs)
    assert len(blocks.length) == curves.BLOCKS
    assert set(blocks.length) == {30}
    np.testing.assert_allclose(
        blocks.means(runs, "value")[0], np.arange(1000.0).reshape(-1, 10).mean(axis=1)
    )


def test_restarts_are_marked_where_the_learner_has_them(simulated):
    B = max(1.0, budget.variation(environments.make("grid_world", 400, **GRID["options"])).total)
    restarts = {one["name"]: one["restart"] for one in simulated.data[1]["learners"]}
    assert restarts[f"{FIRST}.tuned"] == int(0.5 * 400**0.6 / B ** (2 / 3))
    assert restarts[f"{SECOND}.authors"] is None


def test_what_can_be_chosen_is_there_in_the_order_of_the_data(simulated):
    offered = curves.context(simulated.plan, simulated.folder)
    assert [one["reading"] for one in offered["cases"]] == ["K = 100", "K = 400"]
    assert offered["constants"] == {
        "as-printed": "as printed",
        "own-method-tuned": "own method tuned",
        "released": "released",
    }
    assert [*offered["learners"]] == [FIRST, SECOND]
    costs = [row[4] for row in offered["summaries"][0].rows]
    assert [cost.startswith("↑ ") for cost in costs] == [False, False, True] * 2


def test_the_tables_of_the_answer_say_what_it_has(tmp_path):
    studies.answered(
        tmp_path, [studies.row("as printed", 100), studies.row("own method tuned", 100)]
    )
    answer = json.loads((tmp_path / layout.ANSWER).read_text())
    answer["unstated"] = [{"name": "eps", "text": "Nothing."}]
    protocols = tables.protocols(answer["protocols"])
    assert [row[0] for row in protocols.rows] == ["as printed", "own method tuned"]
    assert protocols.rows[0][5:] == ["3/4"] * 6 + ["80%", "1.50", "-", "-", "1/4"]
    (option,) = tables.choices(answer).rows
    assert option == ["eps", "Nothing.", "0.5", "keeps the limit", ""]
    moved = {"name": "own method tuned", "part": "C20a", "threshold": "learnt", "agree": 3, "of": 4}
    rows = pd.DataFrame([{**moved, "value": value} for value in (0.5, 0.8)])
    (moves,) = tables.thresholds(rows).rows
    assert moves[2:] == ["learnt", "3 at 0.5, 3 at 0.8", "4"]


def rendered(folder, template, **context):
    frame = {
        "title": HOSTILE,
        "here": "index.html",
        "pages": [("index.html", HOSTILE)],
        "contents": [(HOSTILE, HOSTILE)],
    }
    render.page(
        folder / "page.html", template, **frame, styles=["page.css"], loaded=["app.js"], **context
    )
    return (folder / "page.html").read_text()


def test_hostile_text_becomes_no_markup(tmp_path, simulated):
    offered = curves.context(simulated.plan, simulated.folder)
    offered["cases"][0] |= {"experiment": HOSTILE, "map": HOSTILE, "reading": HOSTILE}
    offered["learners"], offered["constants"] = {HOSTILE: HOSTILE}, {HOSTILE: HOSTILE}
    hostile = Table(HOSTILE, [HOSTILE], [[HOSTILE]], HOSTILE, [HOSTILE])
    offered["summaries"] = [hostile]
    figure = {
        "name": HOSTILE,
        "caption": HOSTILE,
        "notebook": HOSTILE,
        "size": (9, 6),
    }
    shown = {"verdicts": None, "curves": offered, "learning": None, "provenance": None}
    shown |= {"there": {"x": HOSTILE}, "figures": {"x": [figure]}, "beside": {"x": [hostile]}}
    text = rendered(tmp_path, "index.html.j2", paper=HOSTILE, **shown)
    assert "alert(1)" in text
    assert "<script>alert" not in text
    assert "'onclick='" not in text
    assert text.count("<script") == text.count("</script>")


def test_data_for_the_browser_is_a_call_with_json(tmp_path):
    render.script(tmp_path / "a.js", HOSTILE, {"x": [1.5, None]})
    text = (tmp_path / "a.js").read_text()
    assert text.startswith("nscmdp.receive(")
    assert json.loads("[" + text.removeprefix("nscmdp.receive(").removesuffix(");\n") + "]") == [
        HOSTILE,
        {"x": [1.5, None]},
    ]
    with pytest.raises(ValueError, match="not JSON compliant"):
        render.script(tmp_path / "a.js", "a", float("nan"))


def test_every_style_and_script_is_listed_and_kept(tmp_path):
    own = {file.name for file in (render.PAGE / "static").iterdir()}
    assert own == {name for name in layout.ASSETS if not name.startswith("bokeh")}
    render.assets(tmp_path)
    assert {file.name for file in (tmp_path / "page").iterdir()} == {*layout.ASSETS}
