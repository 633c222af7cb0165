"""The ledgers show what is chosen, say how much that is, and keep it in the address."""

import json
from collections import defaultdict

import pytest
import yaml

from small_project import ROOT

every_ledger = pytest.mark.parametrize("name", ["claims", "deviations"])


def shown(page):
    return [
        one.get_attribute("id") for one in page.locator("article.entry").all() if one.is_visible()
    ]


def said(page):
    return page.locator("form.ledger output").inner_text()


@pytest.fixture
def claims(results):
    return json.loads((results / "claims.json").read_text())


def test_a_link_may_choose_a_verdict(visit, claims):
    fail = [claim["id"] for claim in claims if claim["verdict"] == "false"]
    page = visit("claims.html#claims.verdict=false")
    assert sorted(shown(page)) == sorted(fail)
    assert said(page) == f"{len(fail)} of {len(claims)} shown"
    assert page.locator("form.ledger select[name=verdict]").input_value() == "false"


@every_ledger
def test_every_option_shows_as_many_entries_as_it_says(visit, name):
    page = visit(f"{name}.html")
    for select in page.locator("form.ledger select").all():
        for option in select.locator("option").all()[1:]:
            select.select_option(option.get_attribute("value"))
            number = option.inner_text().rpartition("(")[2].rstrip(")")
            assert said(page).startswith(f"{number} of ")
            assert len(shown(page)) == int(number)
        select.select_option("")


def kept(results, name):
    """Filter -> value -> the entries that have it, from the files behind the page."""
    found = defaultdict(lambda: defaultdict(set))
    if name == "claims":
        for claim in json.loads((results / "claims.json").read_text()):
            for key in ("verdict", "group"):
                found[key][claim[key]].add(claim["id"])
    else:
        for entry in yaml.safe_load((ROOT / "workflow/deviations.yaml").read_text()):
            values = entry | {"switch": "yes" if entry.get("switch") else "no"}
            for key in ("kind", "certainty", "switch"):
                found[key][values[key]].add(entry["id"])
    return found


@every_ledger
def test_an_option_shows_the_entries_that_the_data_have(visit, results, name):
    page = visit(f"{name}.html")
    for key, values in kept(results, name).items():
        select = page.locator(f"form.ledger select[name={key}]")
        for value, entries in values.items():
            select.select_option(value)
            assert {*shown(page)} == entries
        select.select_option("")


@every_ledger
def test_options_and_words_narrow_each_other(visit, results, name):
    page, key = visit(f"{name}.html"), {"claims": "verdict", "deviations": "kind"}[name]
    page.locator("form.ledger input").fill("theorem budget")
    with_these_words = {*shown(page)}
    assert with_these_words
    for value, entries in kept(results, name)[key].items():
        page.locator(f"form.ledger select[name={key}]").select_option(value)
        assert {*shown(page)} == entries & with_these_words


def test_every_claim_of_the_answer_leads_to_its_entry(visit):
    page = visit()
    named = "all => all.map(one => [one.textContent, one.getAttribute('href')])"
    wanted = page.locator("#verdicts a[href^='claims.html#']").evaluate_all(named)
    assert len(wanted) > 10
    for claim, address in wanted:
        page.goto(page.url.rpartition("/")[0] + "/" + address)
        assert -5 <= page.locator(f'[id="{claim}"]').bounding_box()["y"] < 700, claim


@every_ledger
def test_a_search_looks_everywhere_and_opens_what_it_finds(visit, name):
    page = visit(f"{name}.html")
    everything = shown(page)
    page.locator("form.ledger input").press_sequentially("EPSILON sqrt")
    found = shown(page)
    assert 0 < len(found) < len(everything)
    assert all(
        "\\sqrt" in page.locator(f'[id="{one}"]').evaluate("one => one.outerHTML") for one in found
    )
    page.locator("form.ledger input").fill("no such word")
    assert shown(page) == []
    assert page.get_by_text(f"None of the {name} matches.").is_visible()
    page.get_by_role("button", name="Show all").click()
    assert shown(page) == everything


def test_what_is_found_in_folded_text_is_unfolded_and_folded_again(visit):
    page = visit("claims.html")
    page.locator("form.ledger input").fill("hoeffding's")
    found = [
        one
        for one in page.locator("article.entry:visible details").all()
        if one.get_attribute("open") == ""
    ]
    assert found
    assert all("Hoeffding's" in details.inner_text() for details in found)
    page.locator("form.ledger input").fill("")
    assert page.locator("details[open] dl").count() == 0


def test_the_choice_survives_a_reload_and_can_be_reset(visit):
    page = visit("deviations.html")
    page.locator("select[name=switch]").select_option("yes")
    page.locator("select[name=certainty]").select_option("medium")
    kept = shown(page)
    assert "deviations.switch=yes" in page.url
    page.reload()
    assert shown(page) == kept
    page.get_by_role("button", name="Reset").click()
    assert "#" not in page.url
    assert len(shown(page)) > len(kept)


def test_the_address_of_an_entry_shows_it_whatever_was_chosen(visit):
    page = visit("claims.html#claims.verdict=open")
    page.evaluate('location.hash = "C3"')
    page.wait_for_function('document.getElementById("C3").getBoundingClientRect().top < 100')
    assert page.locator('[id="C3"]').is_visible()
    assert page.locator("select[name=verdict]").input_value() == ""


@every_ledger
def test_without_scripts_every_entry_is_shown(visit, name):
    page = visit(f"{name}.html#{name}.text=nothing", java_script_enabled=False)
    assert len(shown(page)) == page.locator("article.entry").count() > 25
    assert not page.locator("form.ledger").is_visible()
