"""A drawing of matplotlib's in fewer bytes, to be looked at on a screen.

Coordinates are rounded to a hundredth of a point, and vertices that a line passes within a quarter of a point are left
out. Styles become classes, names short; words that occur again are drawn once; what is not painted goes.
"""

import re
from collections.abc import Iterator
from itertools import count, groupby, product
from string import ascii_letters
from xml.etree.ElementTree import Element, fromstring, register_namespace, tostring

import numpy as np
from numpy.typing import NDArray

SVG = "http://www.w3.org/2000/svg"
GROUP, USE, DEFINITIONS, SHEET, METADATA = (
    f"{{{SVG}}}{tag}" for tag in ("g", "use", "defs", "style", "metadata")
)
PLACES = (
    "transform",
    "x",
    "y",
    "width",
    "height",
    "viewBox",
)  # attributes of coordinates, besides those of a path
TOLERANCE = 0.25  # points
NUMBER = r"-?\d*\.?\d+"
POINTS = {"M": 1, "L": 1, "Q": 2, "C": 3}  # that a command of a path takes
COMMANDS = re.compile(
    "M_(?:L_)*|(?:L_)+|(?:Q_)+|(?:C_)+|z".replace("_", r"[-.\s\d]*")
)  # with those that repeat it
REFERENCE = re.compile(r'(url\(#|href="#)([^")]+)')
register_namespace("", SVG)


def slim(text: str) -> str:
    """The same drawing; once more changes nothing."""
    used = {name for _, name in REFERENCE.findall(text)}
    root = fromstring(text.replace("xlink:href", "href"))
    for unseen in root.findall(METADATA):
        root.remove(unseen)
    for element in root.iter():
        if element.get("id") not in used:
            element.attrib.pop("id", None)
        if element.tag == USE:
            _shift(element)
        if "d" in element.attrib:
            element.set("d", shorter(element.attrib["d"]))
        for place in (place for place in PLACES if place in element.attrib):
            element.set(place, rounded(element.attrib[place]))
        element.text = element.text if element.tag == SHEET else None
        element.tail = None
    _unwrap(root)
    _turn_styles_into_classes(root)
    _share_classes(root)
    _draw_words_once(root)
    return _with_short_names(tostring(root, encoding="unicode").replace(" />", "/>"))


def _shift(use: Element) -> None:
    """A glyph that is only moved says so in two numbers."""
    if found := re.fullmatch(r"translate\((\S+)(?: (\S+))?\)", use.get("transform", "")):
        del use.attrib["transform"]
        use.attrib |= {
            key: place for key, place in zip("xy", found.groups("0"), strict=True) if float(place)
        }


def _unwrap(parent: Element) -> None:
    """Groups that say nothing about what is in them."""
    kept: list[Element] = []
    for child in parent:
        _unwrap(child)
        kept += [*child] if child.tag == GROUP and not child.attrib else [child]
    parent[:] = kept


def _turn_styles_into_classes(root: Element) -> None:
    styled = [element for element in root.iter() if "style" in element.attrib]
    names = dict(zip(dict.fromkeys(one.attrib["style"] for one in styled), _names(), strict=False))
    for element in styled:
        element.set("class", names[element.attrib.pop("style")])
    (sheet,) = root.iter(SHEET)
    sheet.text = (sheet.text or "") + "".join(
        f".{name}{{{style}}}" for style, name in names.items()
    )


def _share_classes(root: Element) -> None:
    """Marks in a row that look alike become a group that has their class, unless they shine through each other."""
    (sheet,) = root.iter(SHEET)
    opaque = {
        name
        for name, style in re.findall(r"\.(\w+)\{(.*?)\}", sheet.text or "")
        if "opacity" not in style
    }
    for parent in [*root.iter()]:
        children: list[Element] = []
        for look, run in groupby(
            parent, lambda child: child.get("class") if child.tag == USE else None
        ):
            marks = [*run]
            if look in opaque and len(marks) > 2:
                group = Element(GROUP, {"class": str(look)})
                for mark in marks:
                    del mark.attrib["class"]
                group[:], marks = marks, [group]
            children += marks
        parent[:] = children


def _draw_words_once(root: Element) -> None:
    """A group of glyphs that occurs again refers to the first of them."""
    words: dict[bytes, list[Element]] = {}
    for group in root.iter(GROUP):
        glyphs = [child for child in group if child.tag == USE]
        if (
            len(glyphs) > 1
            and "id" not in group.attrib
            and {child.tag for child in group} <= {USE, DEFINITIONS}
        ):
            words.setdefault(b"".join(map(tostring, glyphs)), []).append(group)
    for number, (first, *others) in enumerate(words.values()):
        if others:
            word = Element(GROUP, id=f"word-{number}")
            word[:] = first.findall(USE)
            first[:] = [*first.findall(DEFINITIONS), word]
            for group in others:
                group[:] = [*group.findall(DEFINITIONS), Element(USE, href=f"#word-{number}")]


def _names() -> Iterator[str]:
    """a, b, ..., Z, aa, ab, ..."""
    return (
        "".join(letters) for length in count(1) for letters in product(ascii_letters, repeat=length)
    )


def _with_short_names(text: str) -> str:
    name = re.compile(r' id="([^"]*)"')
    names = dict(zip(name.findall(text), _names(), strict=False))
    text = name.sub(lambda found: f' id="{names[found[1]]}"', text)
    return REFERENCE.sub(lambda found: found[1] + names[found[2]], text)


def rounded(text: str) -> str:
    """Every number to a hundredth, but for the factors of a scale."""
    kept_or_number = re.compile(rf"(scale\([^)]*\))|{NUMBER}")
    return kept_or_number.sub(lambda found: found[1] or _short(float(found[0])), text)


def _short(number: float) -> str:
    digits = f"{number:.2f}".rstrip("0").rstrip(".")
    return "0" if digits in ("-0", "0") else re.sub(r"^(-?)0\.", r"\1.", digits)


def shorter(path: str) -> str:
    """Of the description of a path: rounded, thinned, every point relative to the one before it."""
    if path.startswith("m"):  # it is relative, and so has been here
        return path
    written, here, start = "", np.zeros(2), np.zeros(2)
    for part in COMMANDS.findall(path):
        if part == "z":
            written, here = f"{written}z", start
            continue
        points = (
            np.array(re.findall(NUMBER, part), dtype=float).round(2).reshape(-1, POINTS[part[0]], 2)
        )
        if part[0] == "M":
            points = points[_outline(points[:, 0])]
            start = points[0, 0]
        ends = points[:, -1]
        steps = points - np.vstack([here, ends[:-1]])[:, None]
        written += part[0].lower() + " ".join(map(_short, steps.ravel())).replace(" -", "-")
        here = ends[-1]
    return written


def _outline(points: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which vertices of a line are needed: not those that it passes nearby without them (Douglas and Peucker)."""
    keep = np.zeros(len(points), dtype=bool)
    keep[[0, -1]] = True
    spans = [(0, len(points) - 1)]
    while spans:
        first, last = spans.pop()
        off = _distance(points[first + 1 : last], points[first], points[last])
        if off.max(initial=0) > TOLERANCE:
            far = first + 1 + int(off.argmax())
            keep[far] = True
            spans += [(first, far), (far, last)]
    return keep


def _distance(
    points: NDArray[np.float64], start: NDArray[np.float64], end: NDArray[np.float64]
) -> NDArray[np.float64]:
    """From the segment between two points."""
    along = end - start
    length = float(along @ along)
    share = np.clip((points - start) @ along / length, 0, 1) if length else np.zeros(len(points))
    return np.hypot(*(points - start - np.outer(share, along)).T)
