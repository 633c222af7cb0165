"""Equations: LaTeX becomes MathML, which browsers draw by themselves, with no script and nothing to be fetched.

A formula that would not come out whole is an error, never raw text on a page. Its source stays as the alternative text.
"""

import html
import re
from functools import cache
from itertools import pairwise
from xml.etree.ElementTree import Element, tostring

from latex2mathml.converter import convert_to_element
from markupsafe import Markup

LABEL = re.compile(r"\\text\{([^{}]*):\}\\quad ")
# What browsers draw, with the number of parts; anything else that a formula may ask for (links, colours) is refused.
PARTS = {
    "mfrac": 2,
    "mroot": 2,
    "msub": 2,
    "msup": 2,
    "msubsup": 3,
    "munder": 2,
    "mover": 2,
    "munderover": 3,
}
TAGS = {
    *PARTS,
    "math",
    "mrow",
    "mi",
    "mn",
    "mo",
    "mtext",
    "mspace",
    "msqrt",
    "mstyle",
    "mtable",
    "mtr",
    "mtd",
}
ATTRIBUTES = {
    "display",
    "displaystyle",
    "scriptlevel",
    "accent",
    "stretchy",
    "fence",
    "form",
    "movablelimits",
}
ATTRIBUTES |= {"minsize", "maxsize", "width", "lspace", "rspace", "mathvariant", "columnalign"}

OPENING, CLOSING = set("([{\u230a\u2308\u27e8"), set(")]}\u230b\u2309\u27e9")
FORMS = dict.fromkeys(OPENING, "prefix") | dict.fromkeys(CLOSING, "postfix")
OPERATORS = {
    *FORMS,
    "\u2032",
    "\u27fa",
    "\u00b1",
}  # prime, iff, plus or minus: some are taken for identifiers
TIGHT = {"|", "\u2016", "/", "*"}
SIGNS = {"+", "\u2212", "\u00b1"}
ACCENTS = {
    "^": "\u02c6",
    "~": "\u02dc",
    "\u00af": "\u02c9",
}  # hat, tilde, bar: characters, and marks above a letter
WITH_LIMITS = {"max", "min", "argmax", "argmin", "\u2211", "\u220f"}  # sum and product
BELOW = {"msub": "munder", "msup": "mover", "msubsup": "munderover"}


@cache
def typeset(latex: str, display: bool = False) -> Markup:
    """A formula as MathML, in a line of text or on a line of its own."""
    source = " ".join(latex.split())
    try:
        math = _converted(source, "block" if display else "inline")
    except Exception as error:  # latex2mathml has a kind for every mistake
        said = str(error) or type(error).__name__
        raise ValueError(f"the formula {source!r} cannot be typeset: {said}") from None
    math.set("alttext", source)
    return Markup(tostring(math, encoding="unicode"))


def lines(formula: str) -> list[tuple[str, Markup]]:
    """Every line of a formula on a line of its own, with the words that stand before it, ``\\text{words:}\\quad``."""
    found = []
    for line in formula.splitlines():
        label = LABEL.match(line)
        found.append(
            (label[1], typeset(line[label.end() :], True)) if label else ("", typeset(line, True))
        )
    return found


def _converted(source: str, display: str) -> Element:
    braces = re.findall(r"(?<!\\)[{}]", source)
    if braces.count("{") != braces.count("}"):
        raise ValueError("a brace is missing")
    math = convert_to_element(source, display=display)
    del math.attrib["xmlns"]  # HTML knows the tag
    elements = [*math.iter()]
    for element in elements:
        element.text = html.unescape(element.text or "")  # characters are kept as references
        _check(element)
    for element in elements:
        _repair(element)
    return math


def _check(element: Element) -> None:
    if element.tag not in TAGS:
        raise ValueError(f"it has a <{element.tag}>")
    if unknown := {*element.attrib} - ATTRIBUTES:
        raise ValueError(f"it has the attribute {min(unknown)}")
    if len(element) != PARTS.get(element.tag, len(element)):
        raise ValueError(f"a part of <{element.tag}> is missing")
    if element.get("mathvariant", "normal") != "normal":
        raise ValueError(f"no browser draws the alphabet {element.get('mathvariant')}")
    if "\\" in (element.text or ""):
        raise ValueError(f"{element.text} is not known")


def _repair(element: Element) -> None:
    """What latex2mathml leaves to be desired."""
    text, given = element.text or "", element.attrib
    if text in OPERATORS:
        element.tag = "mo"
    if not {"minsize", "form"} & given.keys() and text in {
        *FORMS,
        *TIGHT,
    }:  # neither \left( nor \big(
        given["stretchy"] = "false"
    if text in FORMS:
        given["form"] = FORMS[text]
    if text in TIGHT:
        given |= {"lspace": "0", "rspace": "0"}
    if element.tag == "mo" and text.isalpha():
        given |= {"lspace": "0.167em", "rspace": "0.167em"}
    if element.tag == "mi" and len(text) == 1 and "\u0391" <= text <= "\u03a9":
        given["mathvariant"] = "normal"  # Greek capitals stand upright
    if element.tag == "mover" and (mark := ACCENTS.get(element[1].text or "")):
        given["accent"], element[1].text = "true", mark
        element[1].attrib |= {"stretchy": "false", "style": "padding-bottom: 0.08em"}
    if element.tag in BELOW and element[0].text in WITH_LIMITS:
        element.tag = BELOW[element.tag]
        element[0].set("movablelimits", "true")  # beside it in a line of text
    if "columnalign" in given:
        given["style"] = f"text-align: {given.pop('columnalign')}"  # browsers heed the style alone
    _set_apart(element)


def _set_apart(element: Element) -> None:
    """A function from what stands before and after it, log x; a sign from what it belongs to not at all, -x."""
    for at, (one, other) in reversed([*enumerate(pairwise(element), start=1)]):
        is_closed = one.tag != "mo" or one.text in CLOSING
        if other.text in SIGNS and not is_closed:
            other.set("form", "prefix")
        if (_is_function(other) and is_closed) or (_is_function(one) and other.text != "("):
            element.insert(at, Element("mspace", width="0.167em"))


def _is_function(element: Element) -> bool:
    return element.tag == "mi" and len(element.text or "") > 1
