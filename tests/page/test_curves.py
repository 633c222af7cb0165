"""The learning curves answer to every control, and show what the tables hold."""

import csv

import numpy as np
import pandas as pd
import pytest

TOTALS = {
    "total_regret": lambda runs: runs["optimal_value"] - runs["value"],
    "total_violation": lambda runs: runs["rho"] - runs["utility_value"],
    "total_gap": lambda runs: runs["gap"],
}
PER_EPISODE = {
    "reward": lambda runs: runs["value"],
    "cost": lambda runs: runs["horizon"] - runs["utility_value"],
    "regret": TOTALS["total_regret"],
    "violation": TOTALS["total_violation"],
    "gap": TOTALS["total_gap"],
}
STEPS = 65535  # of the numbers that the browser gets, between the least and the largest


def settled(page):
    """The curves are drawn."""
    page.wait_for_selector("#curves[data-shown]")
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(300)
    return page


@pytest.fixture
def page(visit):
    return settled(visit())


def shown(page):
    """Learner -> the last value of its row."""
    rows = page.locator("#curves-table tbody tr").all()
    return {
        row.get_attribute("data-learner"): float(row.locator("td").last.get_attribute("data-value"))
        for row in rows
    }


def choose(page, **chosen):
    for name, value in chosen.items():
        page.locator(f"#curves select[name={name}]").select_option(value)
    return settled(page)


def tick(page, name, *values):
    for box in page.locator(f"#curves input[name={name}]").all():
        box.set_checked(box.get_attribute("value") in values)
    return settled(page)


def tick_all(page):
    for name in ("learners", "constants"):
        boxes = page.locator(f"#curves input[name={name}]").all()
        tick(page, name, *(box.get_attribute("value") for box in boxes))
    return page


def runs_of_what_is_shown(results, page):
    """All evaluated episodes of the case that is shown, from the table that is linked below the curves."""
    experiment, number, *_ = page.locator("#curves").get_attribute("data-shown").split()
    exact = pd.read_parquet(results / "tables" / experiment / "exact.parquet")
    cases = exact.drop_duplicates(["reading", "budget", "episodes"])
    case = cases.iloc[int(number)][["reading", "budget", "episodes"]]
    return exact[(exact[case.index] == case).all(axis=1)]


@pytest.mark.parametrize("measure", TOTALS)
def test_totals_are_those_of_all_evaluated_episodes(page, results, measure):
    choose(tick_all(page), measure=measure)
    runs = runs_of_what_is_shown(results, page)
    runs = runs.assign(measured=TOTALS[measure](runs) * runs["weight"])
    expected = runs.groupby("learner")["measured"].sum() / runs["seed"].nunique()
    found = shown(page)
    assert found.keys() == {*expected.index}
    within = 2 * (runs["horizon"].max() * runs["episodes"].max()) / STEPS
    assert all(abs(found[name] - expected[name]) <= within for name in found)


@pytest.mark.parametrize("measure", PER_EPISODE)
def test_the_curves_as_csv_have_the_mean_of_every_run(page, results, measure):
    choose(tick_all(page), measure=measure)
    with page.expect_download() as download:
        page.locator("#curves-csv").click()
    with open(download.value.path(), newline="") as file:
        kept = pd.DataFrame(csv.DictReader(file)).astype(
            {"seed": int, "episode": float, measure: float}
        )
    runs = runs_of_what_is_shown(results, page)
    runs = runs.assign(measured=PER_EPISODE[measure](runs) * runs["weight"] / runs["episodes"])
    expected = runs.groupby(["learner", "seed"])["measured"].sum()
    middles = np.sort(kept["episode"].unique())
    lengths, end = [], 0.0
    for middle in middles:  # a value stands in the middle of its stretch
        lengths.append(2 * (middle - end))
        end = middle + (middle - end)
    share = dict(zip(middles, np.array(lengths) / end, strict=True))
    found = (
        (kept[measure] * kept["episode"].map(share)).groupby([kept["learner"], kept["seed"]]).sum()
    )
    pd.testing.assert_series_equal(
        found.sort_index(),
        expected.sort_index(),
        atol=2 * runs["horizon"].max() / STEPS,
        rtol=0,
        check_names=False,
    )


def test_what_is_not_ticked_is_not_shown(page):
    everyone = shown(tick_all(page))
    one = next(iter(everyone)).partition(".")[0]
    alone = shown(tick(page, "learners", one))
    assert {*alone} == {name for name in everyone if name.startswith(f"{one}.")}
    named = page.locator("#curves-chart").get_attribute("aria-label")
    assert named.count(";") == len(alone) - 1
    tick(page, "learners")
    assert shown(page) == {}


def test_the_chart_is_drawn_anew(page):
    chart, pictures = page.locator("#curves-chart"), []
    pictures.append(chart.screenshot())
    page.locator("#curves input[value=seeds]").check()
    settled(page)
    pictures.append(chart.screenshot())
    page.locator("#curves input[name=restarts]").check()
    settled(page)
    pictures.append(chart.screenshot())
    choose(page, measure="cost")
    pictures.append(chart.screenshot())
    assert len({*pictures}) == len(pictures)


def test_a_choice_is_kept_in_the_address(page, visit):
    last = page.locator("#curves select[name=reading] option").last.get_attribute("value")
    choose(tick_all(page), measure="gap", reading=last)
    kept, chosen = shown(page), page.locator("#curves").get_attribute("data-shown")
    page.reload()
    settled(page)
    assert (shown(page), page.locator("#curves").get_attribute("data-shown")) == (kept, chosen)
    other = settled(visit("index.html#" + page.url.partition("#")[2]))
    assert shown(other) == kept


def test_the_last_of_quick_choices_is_shown(page):
    options = page.locator("#curves select[name=measure] option").all()
    for option in options:
        page.locator("#curves select[name=measure]").select_option(option.get_attribute("value"))
    settled(page)
    assert page.locator("#curves").get_attribute("data-shown").split()[2] == options[
        -1
    ].get_attribute("value")
    assert page.locator("#curves-chart > *").count() == 1


def test_pointing_at_a_curve_says_its_values(page):
    chart = page.locator("#curves-chart")
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    for aside in (10, 0):
        page.mouse.move(box["x"] + box["width"] / 2 + aside, box["y"] + box["height"] / 2)
    said = page.locator(".bk-tooltip-content").inner_text()
    assert "episode" in said
    assert "constrained optimum" in said


def test_light_and_dark_can_be_chosen_and_are_remembered(page):
    paper = "getComputedStyle(document.body).backgroundColor"
    light, chart = page.evaluate(paper), page.locator("#curves-chart").screenshot()
    page.locator("#theme").click()
    settled(page)
    dark = page.evaluate(paper)
    assert dark != light
    assert page.locator("#curves-chart").screenshot() != chart
    page.reload()
    settled(page)
    assert page.evaluate(paper) == dark
