"""A finished run as notebooks see it: tables by experiment, figures by name.

A notebook asks for ``results.figure("growth")``. What draws it is the function ``growth`` in the
file of its notebook, ``wei2023.report.figures.comparison_table``; which roles it needs stands in
:mod:`wei2023.study.catalogue`.
"""

from collections.abc import Callable
from functools import cache, wraps
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd
from IPython.display import Image, Markdown

from wei2023.report import style
from wei2023.runs import integrity
from wei2023.study import catalogue, layout
from wei2023.verdicts import comparison, tables


class Results:
    """A results folder, the experiments of each role in it, and the environments to be shown."""

    def __init__(
        self, folder: str | Path, roles: dict[str, list[str]] | None = None, shown: Any = ()
    ) -> None:
        self.folder, self.roles, self.shown = Path(folder), roles or {}, list(shown)
        integrity.load_plugins(self.folder)
        style.apply()

    def experiments(self, role: str) -> list[str]:
        return self.roles.get(role, [])

    def file(self, name: str, experiment: str | None = None) -> Path:
        """Of a table, of one experiment or of all."""
        return self.folder / layout.table(name, experiment)

    @cache  # noqa: B019
    def table(self, name: str, experiment: str | None = None) -> pd.DataFrame:
        return tables.load(self.file(name, experiment))

    def tables(self, name: str, role: str) -> pd.DataFrame:
        """Of all experiments of a role, one below the other."""
        return pd.concat(
            [self.table(name, experiment) for experiment in self.experiments(role)],
            ignore_index=True,
        )

    @cache  # noqa: B019
    def study(self, role: str) -> comparison.Study:
        return comparison.Study(self.folder, self.experiments(role))

    def missing(self, roles: tuple[str, ...]) -> Markdown | None:
        """A sentence, if the configuration has nothing of one of these roles."""
        absent = [
            role
            for role in roles
            if not (self.shown if role == "shown" else self.experiments(role))
        ]
        said = f"Not shown: nothing in the configuration has the role {', '.join(absent)}."
        return Markdown(said) if absent else None

    def figure(self, name: str, width: int = 1100) -> Image | Markdown:
        """Draw a figure of the catalogue, keep it as SVG and PNG, and show it."""
        notebook, wanted = catalogue.find(name)
        if missing := self.missing(wanted.roles):
            return missing
        draw = getattr(import_module(f"wei2023.report.figures.{notebook}"), name)
        svg, png = (self.folder / layout.figure(name, form) for form in layout.FIGURE)
        style.save(draw(self), svg, png)
        return Image(png, width=width, alt=wanted.caption)


def needs(*roles: str) -> Callable[[Callable[[Results], Any]], Callable[[Results], Any]]:
    """For what a notebook shows besides figures: a sentence takes its place where nothing has one
    of these roles.
    """

    def guard(show: Callable[[Results], Any]) -> Callable[[Results], Any]:
        @wraps(show)
        def guarded(results: Results) -> Any:
            return results.missing(roles) or show(results)

        return guarded

    return guard
