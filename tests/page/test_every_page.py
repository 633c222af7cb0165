"""Every page of a run in a real browser: it fits, it can be read by everyone and everywhere, and it is quick."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe

from structure import Structure

PAGES = ("index.html", "claims.html", "deviations.html", "benchmarks.html")
WIDTHS = (360, 1280)  # CSS pixels: a telephone and a laptop
SCHEMES = ("light", "dark")
MEGABYTES = 12
TALLEST = 8_000  # pixels of a picture
INSIDE = 100  # at most so many controls are parts of charts
TEX = re.compile(r"\\[A-Za-z]+|\$[^$\n]+\$|[A-Za-z0-9)][_^]\{")
every_page = pytest.mark.parametrize("name", PAGES)
every_width = pytest.mark.parametrize("width", WIDTHS)
every_scheme = pytest.mark.parametrize("scheme", SCHEMES)


def loaded(page):
    """Pictures that wait until they come into view are there, too."""
    page.evaluate("for (const image of document.images) image.loading = 'eager'")
    page.wait_for_function("Array.from(document.images).every(image => image.complete)")
    return page


def unfolded(page):
    """Everything that can be unfolded is."""
    page.evaluate("for (const folded of document.querySelectorAll('details')) folded.open = true")
    return loaded(page)


@every_page
def test_its_structure_is_sound(results, name):
    assert Structure(results / name).faults() == []


@every_page
def test_it_opens_without_complaint_and_shows_its_pictures(visit, name):
    page = unfolded(visit(name))
    broken = (
        "Array.from(document.images).filter(image => !image.naturalWidth).map(image => image.src)"
    )
    assert page.evaluate(broken) == []


@every_page
@every_width
def test_it_does_not_overflow(visit, name, width):
    page = visit(name, width=width)
    for _ in range(2):
        across, room = page.evaluate("[document.scrollingElement.scrollWidth, innerWidth]")
        assert across <= room
        unfolded(page)


@every_page
def test_formulas_are_rendered(visit, name):
    page = unfolded(visit(name))
    sizes = page.evaluate(
        "Array.from(document.querySelectorAll('math'), formula => formula.getBoundingClientRect())"
        ".map(({width, height}) => [width, height])"
    )
    assert [size for size in sizes if min(size) <= 0] == []
    raw = [line for line in page.inner_text("body").splitlines() if TEX.search(line)]
    assert raw == []


@every_page
@every_width
@every_scheme
def test_everyone_can_use_it(visit, name, width, scheme):
    """No serious finding of axe: contrast, names of controls, roles, order of headings."""
    page = unfolded(visit(name, width=width, color_scheme=scheme))
    found = (
        Axe()
        .run(page, options={"resultTypes": ["violations"], "preload": False})
        .response["violations"]
    )
    serious = {
        one["id"]: [node["html"][:200] for node in one["nodes"][:3]]
        for one in found
        if one["impact"] in ("serious", "critical")
    }
    assert serious == {}


@every_page
def test_it_is_seen_within_a_second(visit, name):
    """The first paint of any content; the best of three, as others may keep the machine busy."""
    paint = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
    seen = []
    for _ in range(3):
        page = visit(name)
        page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length")
        seen.append(page.evaluate(paint))
    assert min(seen) < 1000


def test_all_that_the_pages_load_is_small(results):
    pages = [Structure(results / name) for name in PAGES]
    shown = {results / picture for page in pages for picture in page.pictures}
    loaded = (
        shown
        | {page.page for page in pages}
        | {file for file in results.glob("page/**/*") if file.is_file()}
    )
    sizes = {file.name: file.stat().st_size for file in loaded}
    largest = sorted(sizes, key=sizes.get, reverse=True)[:10]
    assert sum(sizes.values()) < MEGABYTES * 1e6, {name: sizes[name] for name in largest}


def test_without_scripts_the_verdict_the_tables_and_the_pictures_are_there(visit):
    page = unfolded(visit(java_script_enabled=False))
    assert page.locator("#verdicts .lead").is_visible()
    for found in (page.locator("table"), page.locator("img")):
        assert found.count() > 0
        assert all(one.is_visible() for one in found.all())


@every_page
def test_print_opens_what_is_folded(visit, name):
    page = visit(name)
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    hidden = """Array.from(document.querySelectorAll('main details > :not(summary, .scripted-only)'))
        .filter(part => part.parentElement.checkVisibility() && !part.checkVisibility()).map(part => part.outerHTML)"""
    assert page.evaluate(hidden) == []


CONTROLS = """() => {
    const kinds = 'a[href], button, input, select, textarea, summary, [tabindex="0"]';
    window.controls = Array.from(document.querySelectorAll(kinds)).filter(
        one => one.checkVisibility({visibilityProperty: true}) && !one.disabled && one.tabIndex >= 0
            && (one.type !== 'radio' || one.checked));
    return controls.length;
}"""
FOCUSED = """() => {
    const place = controls.indexOf(document.activeElement);
    let one = document.activeElement;
    while (one.shadowRoot?.activeElement) one = one.shadowRoot.activeElement;
    const style = getComputedStyle(one);
    return [place, style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0, one.outerHTML];
}"""


@every_page
def test_the_keyboard_reaches_every_control_and_shows_where_it_is(visit, name):
    page = unfolded(visit(name))
    number = page.evaluate(CONTROLS)
    reached = set()
    for _ in range(number + INSIDE):
        page.keyboard.press("Tab")
        place, marked, html = page.evaluate(FOCUSED)
        assert marked, html[:200]
        reached.add(place)
        if len(reached - {-1}) == number:
            break
    missed = sorted(set(range(number)) - reached)
    assert (
        page.evaluate("missed => missed.map(i => controls[i].outerHTML.slice(0, 200))", missed)
        == []
    )


@every_page
@every_width
@every_scheme
def test_pictures_of_it_can_be_kept(request, visit, tmp_path, name, width, scheme):
    folder = request.config.getoption("screenshots") or tmp_path
    page = loaded(visit(name, width=width, color_scheme=scheme))
    file = folder / f"{name.removesuffix('.html')}_{width}_{scheme}.png"
    height = min(TALLEST, page.evaluate("document.scrollingElement.scrollHeight"))
    page.screenshot(
        path=file, full_page=True, clip={"x": 0, "y": 0, "width": width, "height": height}
    )
    assert file.stat().st_size > 0
