"""The page shows what is there, and nothing of a file can break out of it."""

import shutil

import pandas as pd
import pytest

from nscmdp.report import page

ROW = {
    "budget": "default", "episodes": 100, "learner": "triple_q.literal", "algorithm": "triple_q", "setting": "literal",
    "B": 2.0, "rho": 20.0, "horizon": 25, "seeds": 3, "optimal_value": 8.0,
}  # fmt: skip


def summary(folder, name, **changed):
    cells = {
        f"last_{key}{end}": value
        for key, value in (("value", 7.0), ("utility", 19.0), ("regret", 1.0), ("violation", 1.0), ("gap", 2.0))
        for end in ("", "_low", "_high")
    }
    target = folder / "tables" / name
    target.mkdir(parents=True)
    pd.DataFrame([{"experiment": name, **ROW, **cells, **changed}]).to_csv(target / "summary.csv", index=False)


def test_a_cost_above_the_limit_is_marked(tmp_path):
    summary(tmp_path, "broken")
    page.write(tmp_path)
    text = (tmp_path / "index.html").read_text()
    assert "<td class=over>6.00" in text
    shutil.rmtree(tmp_path / "tables")
    summary(tmp_path, "kept", last_utility=21.0, last_utility_low=21.0, last_utility_high=21.0)
    page.write(tmp_path)
    assert "class=over" not in (tmp_path / "index.html").read_text().split("</style>")[1]


def test_only_figures_that_exist_are_shown(tmp_path):
    summary(tmp_path, "one")
    page.write(tmp_path)
    assert "<img" not in (tmp_path / "index.html").read_text()
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures/grid_world.svg").write_text("<svg/>")
    page.write(tmp_path)
    assert "<img src=figures/grid_world.svg" in (tmp_path / "index.html").read_text()


@pytest.mark.parametrize("hostile", ["<script>alert(1)</script>", "a'onclick='x"])
def test_names_are_escaped(tmp_path, hostile):
    summary(tmp_path, "plain", setting=hostile, budget=hostile, learner=f"triple_q.{hostile}")
    page.write(tmp_path)
    text = (tmp_path / "index.html").read_text()
    assert "<script>" not in text
    assert "'onclick='" not in text
