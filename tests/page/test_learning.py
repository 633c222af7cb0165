"""Policies can be watched on the map: every control answers, and what is said is what the tables hold."""

import re

import pandas as pd
import pytest

SAID = re.compile(r"reward (-?[\d.]+), cost ([\d.]+), (above|within) the limit of ([\d.]+)")


def shown(page):
    """The experiment, both policies and the episode on the maps."""
    page.wait_for_selector("#learning[data-shown]")
    experiment, first, second, episode = (
        page.locator("#learning").get_attribute("data-shown").split()
    )
    return experiment, first, second, int(episode)


@pytest.fixture
def page(visit):
    opened = visit()
    shown(opened)
    return opened


def choose(page, **chosen):
    for name, value in chosen.items():
        page.locator(f"#learning select[name={name}]").select_option(value)
        page.wait_for_function(
            "value => learning.dataset.shown.split(' ').includes(value)", arg=value
        )


def slide(page, key):
    page.locator("#learning input[name=episode]").press(key)


def said(page, side):
    figure = page.locator("#learning figure").nth(side)
    reward, cost, kind, limit = SAID.search(figure.locator("figcaption").inner_text()).groups()
    assert f"reward {reward}, cost {cost}, {kind} the limit of {limit}" in figure.locator(
        "svg"
    ).get_attribute("aria-label")
    return float(reward), float(cost), kind, float(limit)


def test_it_begins_with_algorithm_1_beside_the_optimum_in_the_last_episode(page, results):
    experiment, first, second, episode = shown(page)
    table = pd.read_csv(results / "tables" / experiment / "learning.csv")
    assert (first, second, episode) == (
        "nonstationary_triple_q.tuned",
        ":optimum",
        table["episode"].max(),
    )


def test_every_policy_says_the_reward_and_cost_of_the_table(page, results):
    experiment, *_ = shown(page)
    table = pd.read_csv(results / "tables" / experiment / "learning.csv")
    for key in ("Home", "ArrowRight", "PageUp", "End"):
        slide(page, key)
        for name in table["learner"].unique():
            choose(page, first=name)
            *_, episode = shown(page)
            (row,) = table[(table["learner"] == name) & (table["episode"] == episode)].to_dict(
                "records"
            )
            assert said(page, 0)[:2] == pytest.approx((row["reward"], row["cost"]), abs=0.00501)
            assert said(page, 1)[:2] == pytest.approx(
                (row["optimal_reward"], row["optimal_cost"]), abs=0.00501
            )
            assert said(page, 0)[2:] == (
                "above" if row["cost"] > row["limit"] + 0.005 else "within",
                row["limit"],
            )
    assert {*table["episode"]} >= {episode}


def test_cells_are_shaded_by_the_probability_of_a_visit(page, results):
    experiment, first, _, episode = shown(page)
    table = pd.read_parquet(results / "tables" / experiment / "learning.parquet")
    (visits,) = table[(table["learner"] == first) & (table["episode"] == episode)]["visits"]
    shades = page.locator("#learning figure").first.locator(".visit").all()
    found = [float(one.get_attribute("fill-opacity")) for one in shades]
    assert found == pytest.approx(
        [max(share, 0.01) for share in visits if share >= 0.005], abs=0.00501
    )


def test_the_slider_moves_through_all_episodes_by_the_keyboard(page, results):
    experiment, *_ = shown(page)
    episodes = sorted(
        pd.read_csv(results / "tables" / experiment / "learning.csv")["episode"].unique()
    )
    slide(page, "Home")
    seen = [shown(page)[3]]
    for _ in episodes[1:]:
        slide(page, "ArrowRight")
        seen.append(shown(page)[3])
    assert seen == episodes
    assert f"{episodes[-1]:,} of {episodes[-1]:,}" in page.locator("#learning output").inner_text()


def test_it_plays_when_asked_to_and_never_before(page):
    slide(page, "Home")
    page.wait_for_timeout(1500)
    assert shown(page)[3] == 1
    button = page.locator("#learning button")
    button.click()
    assert button.inner_text() == "Pause"
    page.wait_for_function("learning.dataset.shown.split(' ')[3] > 1")
    button.click()
    stopped = shown(page)
    assert button.inner_text() == "Play"
    page.wait_for_timeout(1500)
    assert shown(page) == stopped


def test_a_choice_is_kept_in_the_address(page, visit):
    other = page.locator("#learning select[name=second] option").last.get_attribute("value")
    choose(page, second=other)
    slide(page, "ArrowLeft")
    chosen, numbers = shown(page), [said(page, side) for side in (0, 1)]
    page.reload()
    assert shown(page) == chosen
    again = visit("index.html#" + page.url.partition("#")[2])
    assert shown(again) == chosen
    assert [said(again, side) for side in (0, 1)] == numbers


def test_another_map_keeps_the_policies_that_it_has_too(page):
    maps = [
        one.get_attribute("value")
        for one in page.locator("#learning select[name=map] option").all()
    ]
    _, first, *_ = shown(page)
    choose(page, map=maps[-1])
    assert shown(page)[:2] == (maps[-1], first)


@pytest.mark.parametrize(("width", "stacked"), [(360, True), (1280, False)])
def test_maps_stand_side_by_side_where_there_is_room(visit, width, stacked):
    page = visit(width=width)
    shown(page)
    first, second = (
        page.locator("#learning figure svg").nth(side).bounding_box() for side in (0, 1)
    )
    assert (second["y"] > first["y"] + first["height"]) == stacked
    assert min(first["width"], second["width"]) > 250
    assert first["x"] + first["width"] <= width


def test_without_scripts_the_numbers_stand_there(visit):
    page = visit(java_script_enabled=False)
    assert page.locator("#learning table").first.is_visible()
    assert not page.locator("#learning form").is_visible()
