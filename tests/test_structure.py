"""What is wrong with a page is seen without a browser."""

from structure import Structure

SOUND = """<!doctype html><html lang="en"><h1>One</h1><h2 id="two">Two</h2><section id="part"></section>
<a href="#two">a</a> <a href="#part.key=value">b</a> <a href="other.html#there">c</a> <a href="a%20table.csv">d</a>
<img src="a.svg" alt="e"></html>"""
FAULTS = {
    'lang="en"': ("", "it does not say its language"),
    "<h1>One</h1>": ("<h1>One</h1><h1>Two</h1>", "it has 2 main headings"),
    'h2 id="two"': ('h3 id="two"', "h3 follows h1"),
    'id="part"': ('id="two"', "the identifier two stands twice"),
    '"#two"': ('"#three"', "nothing is called #three"),
    "#there": ("#elsewhere", "nothing is called other.html#elsewhere"),
    "a%20table.csv": ("a%20list.csv", "a list.csv is not there"),
    "a.svg": ("another.svg", "another.svg is not there"),
    'alt="e"': ('alt=""', "a.svg has no text in its place"),
}


def test_every_fault_is_named(tmp_path):
    for name in ("a table.csv", "a.svg"):
        (tmp_path / name).touch()
    (tmp_path / "other.html").write_text('<p id="there"></p>')
    page = tmp_path / "page.html"
    page.write_text(SOUND)
    assert Structure(page).faults() == []
    assert {*Structure(page).pictures} == {"a.svg"}
    for sound, (broken, fault) in FAULTS.items():
        assert SOUND.count(sound) == 1
        page.write_text(SOUND.replace(sound, broken))
        assert Structure(page).faults() == [fault]
