"""The page shows what is there, and nothing of a file can break out of it."""

import pytest

from helpers import page_of, summary


def test_a_cost_above_the_limit_is_marked(tmp_path):
    summary(tmp_path, "broken")
    assert "<td class=over>6.00" in page_of(tmp_path, "broken")
    summary(tmp_path, "kept", last_utility=21.0, last_utility_low=21.0, last_utility_high=21.0)
    assert "class=over" not in page_of(tmp_path, "kept").split("</style>")[1]


def test_figures_of_the_plan_are_shown_and_no_others(tmp_path):
    summary(tmp_path, "one")
    assert "<img" not in page_of(tmp_path, "one")
    text = page_of(tmp_path, "one", figures=["grid_world"])
    assert text.count("<img") == 1
    assert "<img src=figures/grid_world.svg" in text
    assert "made by the rule <code>notebook_grid_world</code>" in text


@pytest.mark.parametrize("hostile", ["<script>alert(1)</script>", "a'onclick='x"])
def test_names_are_escaped(tmp_path, hostile):
    summary(tmp_path, "plain", setting=hostile, budget=hostile, learner=f"triple_q.{hostile}")
    text = page_of(tmp_path, "plain")
    assert "<script>" not in text
    assert "'onclick='" not in text
