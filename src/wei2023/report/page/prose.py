"""Sentences of the ledgers and of verdicts, with their mathematics typeset.

They are read in terminals and files as well, so that symbols are written plainly in them: eps, b~, x_k, B^(1/3),
sqrt(iota), 1e60, <=. What needs more stands between dollars, in LaTeX, and a name of the code between backquotes.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType

from markupsafe import Markup, escape

from wei2023.report.page.formulas import typeset

MARKED = re.compile(r"\$([^$]+)\$|`([^`]+)`")
GREEK = (
    "alpha|beta|gamma|delta|zeta|eta|theta|iota|lambda|mu|xi|pi|rho|tau|phi|chi|Delta|Lambda|Omega"
)
NAMES = {"eps": r"\epsilon", "Bhat": r"\hat B", "Cbar": r"\bar C", "max": r"\max"}
INDEX = r"(?:\{[^{}]*\}|\([^()]*\)|[+-]?\d+(?:\.\d+)?|[A-Za-z]\w*|[*+])"
LETTER = r"H-h(?:\+1)?|[B-DF-HJ-LN-TV-WYZ]|(?<=S[ ])A|(?<=S,[ ])A|[Aa-z](?=[ ](?:[<>]?=|[<>])[ ])"  # no words
SYMBOL = re.compile(
    rf"""
    (?<![\w.]) sqrt\( (?P<root>[^()]*) \)
    | (?: (?<![A-Za-z_.]) (?P<base>{GREEK}|eps|Bhat|Cbar|[A-Za-z]{{1,3}}~|[A-Za-z]{{1,3}}(?=[_^])|[A-Z](?=\*)|\d+(?=\^))
        | (?P<closing>[])])(?=\^)
      ) (?![A-Za-z]) (?P<star>\*?) (?:_(?P<sub>{INDEX}))? (?:\^(?P<sup>{INDEX}))?
    | (?<![\w'.-]) (?<!ppendix[ ]) (?P<letter>{LETTER}) (?![\w']|-[a-zA-Z])
    | (?<![\w.]) (?P<digits>\d+(?:\.\d+)?) e (?P<power>[+-]?\d+(?:\.\d+)?) \b
    """,
    re.VERBOSE,
)
RELATIONS = {"<=": "\u2264", ">=": "\u2265", "+-": "\u00b1", "<-": "\u2190", " - ": " \u2212 "}
REFERENCE = re.compile(r"(?<!\w)C\d+[a-z]?'*(?!\w)|(?<=ledger: )[a-z0-9]+(?:-[a-z0-9]+)*")
MINUS = re.compile(r"(?<![\w)\]])-(?=\d)")


def prose(text: str, links: Mapping[str, str] = MappingProxyType({})) -> Markup:
    """A sentence as markup, with a link for every claim or deviation that it names; all else to the letter."""
    parts, end = [], 0
    for found in MARKED.finditer(text):
        parts.append(_plain(text[end : found.start()], links))
        parts.append(typeset(found[1]) if found[1] else Markup("<code>{}</code>").format(found[2]))
        end = found.end()
    return Markup("").join([*parts, _plain(text[end:], links)])


def _plain(text: str, links: Mapping[str, str]) -> Markup:
    if "$" in text:
        raise ValueError(f"{text.strip()!r}: a dollar without a second one")
    parts, end = [], 0
    for found in SYMBOL.finditer(text):
        parts += [_words(text[end : found.start()], links), typeset(_tex(found))]
        end = found.end()
    return Markup("").join([*parts, _words(text[end:], links)])


def _words(text: str, links: Mapping[str, str]) -> Markup:
    for written, sign in RELATIONS.items():
        text = text.replace(written, sign)
    parts, end = [], 0
    text = MINUS.sub("\u2212", text)
    for found in REFERENCE.finditer(text):
        if found[0] in links:
            parts += [
                escape(text[end : found.start()]),
                Markup('<a href="{}">{}</a>').format(links[found[0]], found[0]),
            ]
            end = found.end()
    return Markup("").join([*parts, escape(text[end:])])


def _tex(symbol: re.Match[str]) -> str:
    """LaTeX of a symbol that is written plainly."""
    if symbol["root"]:
        return rf"\sqrt{{{_inside(symbol['root'])}}}"
    if symbol["digits"]:
        factor = "" if symbol["digits"] == "1" else rf"{symbol['digits']} \times "
        return rf"{factor}10^{{{float(symbol['power']):g}}}"
    tex = _base(symbol["base"] or symbol["closing"] or symbol["letter"])
    for mark, index in (("_", symbol["sub"]), ("^", symbol["star"] or symbol["sup"])):
        tex += f"{mark}{{{_inside(index)}}}" if index else ""
    return tex


def _base(name: str) -> str:
    if name.endswith("~"):
        return rf"{name[:-2]}\tilde {name[-2]}"
    return rf"\{name}" if re.fullmatch(GREEK, name) else NAMES.get(name, name)


def _inside(index: str) -> str:
    bare = index[1:-1] if index[0] in "({" else index
    return NAMES.get(bare) or SYMBOL.sub(_tex, bare)
