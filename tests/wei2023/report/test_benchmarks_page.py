"""The page of what was measured shows the tables that are there, whatever else is missing."""

import json

from small_project import TINY
from structure import Structure
from wei2023.report.page import benchmarks
from wei2023.study import layout, plan


def shown(folder):
    benchmarks.show(plan.make(TINY), folder)
    return (folder / layout.BENCHMARKS).read_text()


def test_tables_of_make_bench_appear_once_they_are_there(tmp_path):
    (measured := tmp_path / "benchmarks").mkdir()
    (measured / "timing.csv").write_text(
        "experiment,learner,seconds_per_episode\nsmall,uniform,1.23456e-06\n"
    )
    before = shown(tmp_path)
    assert "1.235e-06" in before
    assert "Beside others" not in before
    (measured / "summary.csv").write_text(
        "name,against,ours,theirs,ratio,spread\noptimum 6x6,CBC,0.0004,0.02,0.02,0.001\n"
    )
    (measured / "machine.json").write_text(
        json.dumps({"processor": "some <processor>", "cores": 2})
    )
    (measured / "scaling.svg").write_text("<svg/>")
    after = shown(tmp_path)
    assert "<td>CBC</td>" in after
    assert "some &lt;processor&gt;" in after
    assert "benchmarks/scaling.svg" in after
    assert Structure(tmp_path / layout.BENCHMARKS).sections == ["summary", "timing"]
