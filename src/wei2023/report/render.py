"""Templates become pages and texts, data become scripts; both find their assets beside them in the
folder ``page``.

A page that is opened from disk may not fetch a file, but it may add a script: data are kept as
calls of ``nscmdp.receive``, which static/app.js defines. Everything that a template of a page
prints is escaped.
"""

import json
from functools import cache
from importlib.resources import files as package_files
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from nscmdp import files
from wei2023.report import formulas, tables
from wei2023.study import layout
from wei2023.verdicts import deviations

PAGE = Path(__file__).parent / "page"
BOKEH = "server/static/js"  # where Bokeh keeps the scripts that it ships


@cache
def environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(PAGE / "templates"),
        autoescape=lambda name: name is None or ".html" in name,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"href": quote, "inline": tables.html, "typeset": formulas.typeset}
    made.filters |= {"escaped": tables.escaped, "displayed": formulas.markdown}
    made.filters["as_text"] = deviations.as_text
    made.globals |= {"layout": layout, "tables": tables}
    return made


def page(file: Path, template: str, **context: Any) -> None:
    """Write what a template makes of its context, which ends with one line feed."""
    text = environment().get_template(template).render(context)
    files.write_text(file, text.rstrip("\n") + "\n")


def script(file: Path, name: str, data: Any) -> None:
    """Write data that the browser asks for by name."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    files.write_text(file, f"nscmdp.receive({json.dumps(name)},{text});\n")


def assets(folder: Path) -> None:
    """Write styles and scripts: ours and Bokeh's."""
    for name in layout.ASSETS:
        own = PAGE / "static" / name
        source = own if own.is_file() else package_files("bokeh").joinpath(BOKEH, name)
        files.write_text(folder / layout.asset(name), source.read_text(encoding="utf-8"))
