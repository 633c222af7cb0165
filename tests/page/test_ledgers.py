"""The ledgers show every entry, and those alone in which a search finds its words."""

import pytest

every_ledger = pytest.mark.parametrize("name", ["claims", "deviations"])


def shown(page):
    return [
        one.get_attribute("id") for one in page.locator("article.entry").all() if one.is_visible()
    ]


def test_every_claim_of_the_answer_leads_to_its_entry(visit):
    page = visit()
    named = "all => all.map(one => [one.textContent, one.getAttribute('href')])"
    wanted = page.locator("#verdicts a[href^='claims.html#']").evaluate_all(named)
    assert len(wanted) > 10
    for claim, address in wanted:
        page.goto(page.url.rpartition("/")[0] + "/" + address)
        assert -5 <= page.locator(f'[id="{claim}"]').bounding_box()["y"] < 700, claim


@every_ledger
def test_a_search_looks_everywhere_and_says_how_much_it_found(visit, name):
    page = visit(f"{name}.html")
    everything, field = shown(page), page.locator("form.ledger input")
    field.press_sequentially("EPSILON sqrt")
    found = shown(page)
    assert 0 < len(found) < len(everything)
    assert all(
        "\\sqrt" in page.locator(f'[id="{one}"]').evaluate("one => one.outerHTML") for one in found
    )
    said = page.locator("form.ledger output")
    assert said.inner_text() == f"{len(found)} of {len(everything)} shown"
    field.fill("no such word")
    assert shown(page) == []
    field.fill("")
    assert shown(page) == everything


def test_the_address_of_an_entry_shows_it_whatever_was_searched_for(visit):
    page = visit("claims.html")
    page.locator("form.ledger input").fill("no such word")
    page.evaluate('location.hash = "C3"')
    page.wait_for_function('document.getElementById("C3").getBoundingClientRect().top < 100')
    assert page.locator('[id="C3"]').is_visible()


@every_ledger
def test_without_scripts_every_entry_is_shown(visit, name):
    page = visit(f"{name}.html", java_script_enabled=False)
    assert len(shown(page)) == page.locator("article.entry").count() > 25
    assert not page.locator("form.ledger").is_visible()
