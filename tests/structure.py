"""What every page of a run must be, read with the standard library: no browser is needed to see what is broken."""

from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

HEADINGS = {f"h{level}": level for level in range(1, 7)}


@cache
def places(page: Path) -> frozenset[str]:
    """What can be referred to in a page."""
    return frozenset(Structure(page).ids)


class Structure(HTMLParser):
    """Of one page: the language, identifiers, headings and pictures it has, and what it refers to."""

    def __init__(self, page: Path):
        super().__init__()
        self.page = page
        self.language = None
        self.ids, self.sections, self.headings = [], [], []
        self.references, self.pictures, self.mute = [], [], []
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if "id" in given:
            self.ids.append(given["id"])
        if tag == "html":
            self.language = given.get("lang")
        if tag == "section":
            self.sections.append(given.get("id"))
        if tag in HEADINGS:
            self.headings.append(HEADINGS[tag])
        if tag == "img" and not given.get("alt"):
            self.mute.append(given["src"])
        if tag == "img":
            self.pictures.append(given["src"])
        self.references += [given[key] for key in ("href", "src") if given.get(key)]

    @property
    def files(self):
        """Those that it refers to, wherever they should be."""
        paths = (urlsplit(one) for one in self.references if not one.startswith("data:"))
        return {
            self.page.parent / unquote(one.path) if one.path else self.page
            for one in paths
            if not one.scheme
        }

    @property
    def targets(self):
        """The identifiers in this page that it refers to: "section.key=value" is none, but a choice in a section."""
        here = [one for one in self.references if one.startswith("#") and "=" not in one]
        return {unquote(one[1:]) for one in here}

    def _leads_nowhere(self, reference):
        """To a place in another page that is not there."""
        file, _, place = unquote(reference).partition("#")
        other = self.page.parent / file
        is_page = file and place and other.suffix == ".html" and other.exists()
        return bool(is_page) and place not in places(other)

    def faults(self):
        """Everything that is wrong, in words."""
        twice = sorted({name for name in self.ids if self.ids.count(name) > 1})
        found = [f"the identifier {name} stands twice" for name in twice]
        found += [f"{one.name} is not there" for one in sorted(self.files) if not one.exists()]
        found += [f"nothing is called #{name}" for name in sorted(self.targets - {*self.ids})]
        found += [f"nothing is called {one}" for one in self.references if self._leads_nowhere(one)]
        found += [f"{source} has no text in its place" for source in self.mute]
        found += [] if self.language else ["it does not say its language"]
        main = self.headings.count(1)
        found += [] if main == 1 else [f"it has {main} main headings"]
        steps = zip([0, *self.headings], self.headings, strict=False)
        return found + [f"h{level} follows h{above}" for above, level in steps if level > above + 1]
