"""The page that a person opens first: the answer, what it rests on, and where that comes from.

One module per section gathers what its template (``templates/NAME.html.j2``) shows; the sections
of figures are those of the catalogue. ``static/`` has styles and scripts.
"""

import re
from pathlib import Path
from types import ModuleType
from typing import Any

from wei2023.report.page import curves, learning, ledgers, numbers, provenance, render, verdicts
from wei2023.study import catalogue, layout
from wei2023.study.plan import Plan

PAPER = (
    "H. Wei, A. Ghosh, N. Shroff, L. Ying, X. Zhou: "
    "Provably Efficient Model-Free Algorithms for Non-stationary CMDPs, AISTATS 2023"
)
TITLE = "Non-stationary CMDPs: a replication"
SECTIONS: dict[str, tuple[str, ModuleType]] = {
    "verdicts": ("Does it replicate?", verdicts),
    "curves": ("Learning curves", curves),
    "learning": ("Watch it learn", learning),
}
DATA = {"curves": curves, "learning": learning}  # the sections that load data
CLOSING: dict[str, tuple[str, ModuleType]] = {"provenance": ("How it was run", provenance)}
PAGES = {
    layout.PAGE: "The replication",
    layout.CLAIMS_PAGE: "Claims",
    layout.DEVIATIONS_PAGE: "Deviations",
    layout.BENCHMARKS: "Benchmarks",
}


def write(plan: Plan, folder: Path) -> None:
    """index.html, the ledgers of deviations and claims, and what they load, of a finished run."""
    render.assets(folder)
    for name, (section, experiment) in plan.scripts.items():
        render.script(
            folder / layout.script(name), name, DATA[section].data(plan, folder, experiment)
        )
    made = {
        name: section.context(plan, folder)
        for name, (_, section) in {**SECTIONS, **CLOSING}.items()
    }
    beside = numbers.context(plan, folder)
    sections = []
    for notebook in catalogue.NOTEBOOKS:
        name, drawn = notebook.name, plan.notebooks.get(notebook.name, [])
        figures = [_figure(folder, name, figure) for figure in drawn if figure.group is None]
        if figures or beside.get(name):
            sections.append((name, notebook.title, figures, beside.get(name)))
    contents = [
        *((name, title) for name, (title, _) in SECTIONS.items() if made[name]),
        *((name, title) for name, title, *_ in sections),
        *((name, title) for name, (title, _) in CLOSING.items() if made[name]),
    ]
    render.page(
        folder / layout.PAGE,
        "index.html.j2",
        **frame(plan, layout.PAGE, contents),
        **made,
        paper=PAPER,
        sections=sections,
    )
    for name, ledger in ledgers.context(plan, folder).items():
        if ledger:
            contents = [(group["id"], group["title"]) for group in ledger["groups"]]
            file = f"{name}.html"
            render.page(
                folder / file, f"{file}.j2", **frame(plan, file, contents), **{name: ledger}
            )


def frame(plan: Plan, here: str, contents: list[tuple[str, str]]) -> dict[str, Any]:
    """What base.html.j2 needs."""
    there = {name: text for name, text in PAGES.items() if name in (*plan.pages, layout.BENCHMARKS)}
    own = [name for name in layout.ASSETS if not name.startswith("bokeh")]
    return {
        "title": TITLE if here == layout.PAGE else f"{there[here]}: {TITLE}",
        "here": here,
        "pages": there.items(),
        "contents": contents,
        "styles": [name for name in own if name.endswith(".css")],
        "loaded": [name for name in own if name.endswith(".js")],
    }


def _figure(folder: Path, notebook: str, figure: catalogue.Figure) -> dict[str, Any]:
    """With its width and height, for the browser to leave room for it."""
    drawing = folder / layout.figure(figure.name)
    found = re.search(r'viewBox="\S+ \S+ (\S+) (\S+)"', drawing.read_text(encoding="utf-8"))
    assert found is not None, drawing
    size = [round(float(length)) for length in found.groups()]
    return {"name": figure.name, "caption": figure.caption, "notebook": notebook, "size": size}
