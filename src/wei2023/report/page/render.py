"""Templates become pages, data become scripts, and both find their assets beside them in the folder ``page``.

A page that is opened from disk may not fetch a file, but it may add a script: data are kept as calls of
``nscmdp.receive``, which static/app.js defines. Everything that a template prints is escaped.
"""

import json
import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files as package_files
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from nscmdp import files
from wei2023.report.page import mathfont
from wei2023.study import layout

HERE = Path(__file__).parent
TEMPLATES, STATIC = HERE / "templates", HERE / "static"
BOKEH = "server/static/js"  # where Bokeh keeps the scripts that it ships
MADE = {"math.css": mathfont.css}  # assets that are in no file


@cache
def environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {
        "number": number,
        "interval": interval,
        "powers": powers,
        "href": quote,
        "code": code,
    }
    made.globals |= {"layout": layout}
    return made


def page(file: Path, template: str, **context: Any) -> None:
    files.write_text(file, environment().get_template(template).render(context))


def script(file: Path, name: str, data: Any) -> None:
    """Data that the browser asks for by name."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    files.write_text(file, f"nscmdp.receive({json.dumps(name)},{text});\n")


def assets(folder: Path) -> None:
    """Styles and scripts: ours, Bokeh's, and the font of equations."""
    for name in layout.ASSETS:
        files.write_text(folder / layout.asset(name), _asset(name))


def _asset(name: str) -> str:
    if name in MADE:
        return MADE[name]()
    own = STATIC / name
    source = own if own.is_file() else package_files("bokeh").joinpath(BOKEH, name)
    return source.read_text(encoding="utf-8")


def number(value: Any, form: str = ".2f") -> str:
    """A dash where there is none, and no minus before what rounds to 0."""
    text = "-" if value is None or pd.isna(value) else f"{value:{form}}"
    return text.removeprefix("-") if re.fullmatch(r"-[0.]+%?", text) else text


def interval(values: Iterable[Any], form: str = ".2f") -> Markup:
    """m [a, b] of a mean and the ends of its interval."""
    mean, low, high = values
    text = number(mean, form)
    if any(value is None or pd.isna(value) for value in (low, high)):
        return escape(text)
    return Markup("{} <small>[{}, {}]</small>").format(text, number(low, form), number(high, form))


def powers(order: str) -> Markup:
    """K^{4/5} with its exponent raised."""
    return Markup(
        re.sub(
            r"\^(?:\{([^}]*)\}|(\d))",
            lambda power: f"<sup>{power[1] or power[2]}</sup>",
            escape(order),
        )
    )


def code(text: str) -> Markup:
    """What stands between backquotes set as code."""
    parts = str(text).split("`")
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if i % 2 else escape(part)
        for i, part in enumerate(parts)
    )
