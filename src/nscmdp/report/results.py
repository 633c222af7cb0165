"""A finished run as notebooks see it: tables by experiment, figures by name.

A notebook asks for ``results.figure("growth")``. What draws it is the function ``growth`` in the file of its notebook,
``nscmdp.report.figures.comparison_table``; which roles it needs stands in :mod:`nscmdp.study.catalogue`.
"""

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd
from IPython.display import Image, Markdown

from nscmdp.analysis import tables
from nscmdp.report import style
from nscmdp.study import catalogue, layout


class Results:
    """A results folder, the experiments of each role in it, and the environments to be shown."""

    def __init__(self, folder: str | Path, roles: dict[str, list[str]] | None = None, shown: Any = ()) -> None:
        self.folder, self.roles, self.shown = Path(folder), roles or {}, list(shown)
        style.apply()

    def experiments(self, role: str) -> list[str]:
        return self.roles.get(role, [])

    def file(self, name: str, experiment: str | None = None) -> Path:
        """Of a table, of one experiment or of all."""
        return self.folder / layout.table(name, experiment)

    @cache  # noqa: B019
    def table(self, name: str, experiment: str | None = None) -> pd.DataFrame:
        return tables.load(self.file(name, experiment))

    def figure(self, name: str, width: int = 1100) -> Image | Markdown:
        """Draw a figure of the catalogue, keep it as SVG and PNG, and show it."""
        notebook, wanted = catalogue.find(name)
        missing = [role for role in wanted.roles if not (self.shown if role == "shown" else self.roles.get(role))]
        if missing:
            return Markdown(f"Not drawn: nothing in the configuration has the role {', '.join(missing)}.")
        draw = getattr(import_module(f"nscmdp.report.figures.{notebook}"), name)
        style.save(draw(self), self.folder / layout.figure(name))
        return Image(self.folder / layout.figure(name, "png"), width=width)
