"""LaTeX becomes MathML, which browsers draw with a font of their own: nothing is fetched."""

import html
import re
from functools import cache
from xml.etree.ElementTree import tostring

from latex2mathml.converter import convert_to_element
from markupsafe import Markup

PARTS = dict.fromkeys(("mfrac", "mroot", "msub", "msup", "munder", "mover"), 2)
PARTS |= {"msubsup": 3, "munderover": 3}
ADDRESSES = {"href", "src", "style", "class"}  # attributes that no formula needs


@cache
def typeset(latex: str, display: bool = False) -> Markup:
    """Return a formula for a line of text, or for a line of its own.

    A formula that would not come out whole raises ValueError. Its source is the alternative text.
    """
    source = " ".join(latex.split())
    try:
        braces = re.findall(r"(?<!\\)[{}]", source)
        if braces.count("{") != braces.count("}"):
            raise ValueError("a brace is missing")
        math = convert_to_element(source, display="block" if display else "inline")
        for element in math.iter():
            element.text = html.unescape(element.text or "")
            if "\\" in element.text:
                raise ValueError(f"{element.text} is not known")
            if len(element) != PARTS.get(element.tag, len(element)):
                raise ValueError(f"a part of <{element.tag}> is missing")
            if forbidden := ADDRESSES & {*element.attrib}:
                raise ValueError(f"it has the attribute {min(forbidden)}")
    except Exception as error:  # latex2mathml has an exception for every mistake
        said = str(error) or type(error).__name__
        raise ValueError(f"the formula {source!r} cannot be typeset: {said}") from None
    math.attrib.pop("xmlns")  # HTML knows the element
    math.set("alttext", source)
    return Markup(tostring(math, encoding="unicode"))


def markdown(formula: str) -> str:
    """Return a formula as GitHub displays it; every line of the source is a line of its own."""
    lines = formula.splitlines()
    if len(lines) > 1:
        lines = [r"\begin{aligned}", *(rf"& {line} \\" for line in lines), r"\end{aligned}"]
    return "\n".join(["```math", *lines, "```"])
