"""What the page and its figure show of the suite is what the tables say."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from nscmdp.files import write_csv
from nscmdp.suite import definition
from nscmdp.suite.tables import tables as suite_tables
from wei2023.report.figures import suite as figures
from wei2023.report.page import suite as section
from wei2023.report.results import Results
from wei2023.study import layout, plan, suite
from wei2023.study.protocols import FIRST

FILE = Path(__file__).parents[3] / definition.FILE
PLACES = ["slow", "abrupt"]
GAPS = {"triple_q": 0.4, "nonstationary_triple_q": 0.2, "uniform": 2.0}


def results(folder):
    """The tables of a comparison of two learners, of which Algorithm 1 is always the better one."""
    rows = [
        {
            "environment": place,
            "instance": instance,
            "seed": seed,
            "learner": name,
            "choice": "main",
            "rho": 2.0,
        }
        | dict.fromkeys(definition.MEASURES, gap + 0.01 * instance + 0.002 * seed)
        | {"state_bytes": 8}
        for place in PLACES
        for instance in range(4)
        for seed in range(2)
        for name, gap in GAPS.items()
    ]
    loaded = suite.load(FILE)
    for name, table in suite_tables(
        pd.DataFrame(rows), loaded.learners, loaded.hypotheses, FIRST
    ).items():
        write_csv(folder / layout.table(name), table)
    return Results(folder, {"suite": [f"suite_{name}" for name in PLACES]})


@pytest.fixture
def made(tmp_path):
    return results(tmp_path)


def test_the_better_learner_has_the_higher_profile_and_the_smaller_gaps(made):
    figure = figures.suite(made)
    profiles, places = figure.axes
    lines = {line.get_label(): line.get_ydata() for line in profiles.get_lines()}
    first, second = (
        lines[figures.style.title(name)] for name in ("nonstationary_triple_q", "triple_q")
    )
    assert (first >= second).all()
    assert (first > second).any()
    dots = [line for line in places.get_lines() if line.get_linestyle() == "None"]
    assert [len(one.get_xdata()) for one in dots] == [2, 2]
    assert np.all(dots[0].get_xdata() < dots[1].get_xdata())
    assert [label.get_text() for label in places.get_yticklabels()] == PLACES


def test_the_section_has_the_ranking_the_hypotheses_and_the_reasons(made):
    planned = plan.make({"suite": {"file": str(FILE), "environments": PLACES, "setting": "scaled"}})
    order, stability, expected, beside, reasons = section(planned, made.folder)
    assert [row[1] for row in order.rows] == [
        figures.style.title(name) for name in list(GAPS)[1::-1]
    ]
    assert "2 of 16 environments" in order.note
    assert layout.TIMING in order.files
    resampled = ["seeds", "instances", "instances and seeds", "searches"]
    assert [row[0] for row in stability.rows] == resampled
    verdicts = expected.only("verdict").rows
    assert len(verdicts) == len(planned.suite.hypotheses)
    assert all(verdict.startswith("**not tested") for (verdict,) in verdicts)
    (gap,) = [row for row in beside.rows if row[1] == "gap"]
    assert gap[2:] == ["0 of 2", "2 of 2", "slow +0.099, abrupt +0.099"]
    assert [row[0] for row in reasons.rows] == PLACES
    assert all(row[1].endswith((".", "?")) for row in reasons.rows)


def test_a_part_of_the_suite_stands_beside_the_whole(made, tmp_path, monkeypatch):
    """Where the repository keeps the whole, and where the run is a part of it."""
    monkeypatch.chdir(tmp_path)
    head = "learner,rank,gap,low,high\n"
    for name, text in {
        "ranking": f"{head}triple_q,4,0.1,0.05,0.15\n",
        "hypotheses": "id,verdict\nluck,holds\n",
    }.items():
        (definition.KEPT / f"suite_{name}.csv").parent.mkdir(parents=True, exist_ok=True)
        (definition.KEPT / f"suite_{name}.csv").write_text(text)
    chosen = {"file": str(FILE), "environments": PLACES, "setting": "scaled"}
    order, _, expected, *_ = section(plan.make({"suite": chosen}), made.folder)
    assert str(definition.KEPT) in order.note
    beside = {
        row[0]: row[1:]
        for row in order.only("learner", "rank, whole suite", "gap, whole suite").rows
    }
    assert beside[figures.style.title("triple_q")] == ["4", "0.100 [0.050, 0.150]"]
    assert beside[figures.style.title("nonstationary_triple_q")] == ["", ""]
    assert sorted({row[0] for row in expected.only("whole suite").rows}) == ["", "holds"]
    whole = plan.make({"suite": chosen | {"environments": None}})
    assert whole.kept_of_the_suite == {}


def test_the_notebook_shows_the_same_tables(made, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    planned = plan.make({"suite": {"file": str(FILE), "environments": PLACES, "setting": "scaled"}})
    order, stability, expected, *_ = section(planned, made.folder)
    assert figures.ranking(made).rows == order.rows
    assert figures.stability(made) == stability
    assert figures.hypotheses(made) == expected
