"""The page that a person opens first: the answer, what it rests on, and where that comes from.

One module per section gathers what its template (``templates/NAME.html.j2``) shows; ``static/`` has
styles and scripts.
"""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from nscmdp.suite.definition import KEPT
from wei2023.report import render, tables
from wei2023.report.page import curves, learning, ledgers, provenance, verdicts
from wei2023.report.tables import Table
from wei2023.study import catalogue, layout
from wei2023.study.plan import Plan
from wei2023.verdicts.tables import load

PAPER = (
    "H. Wei, A. Ghosh, N. Shroff, L. Ying, X. Zhou: "
    "Provably Efficient Model-Free Algorithms for Non-stationary CMDPs, AISTATS 2023"
)
TITLE = "Non-stationary CMDPs: a replication"
OWN = {  # sections with a template of their own; the others are notebooks with their figures
    "verdicts": ("Does it replicate?", verdicts),
    "curves": ("Learning curves", curves),
    "learning": ("Watch it learn", learning),
    "provenance": ("How it was run", provenance),
}
PAGES = {
    layout.PAGE: "The replication",
    layout.CLAIMS_PAGE: "Claims",
    layout.DEVIATIONS_PAGE: "Deviations",
    layout.BENCHMARKS: "Benchmarks",
}


def write(plan: Plan, folder: Path) -> None:
    """Write index.html, the ledgers of deviations and claims, and what they load, of a finished
    run.
    """
    render.assets(folder)
    for name, (section, experiment) in plan.scripts.items():
        made = OWN[section][1].data(plan, folder, experiment)
        render.script(folder / layout.script(name), name, made)
    own = {name: section.context(plan, folder) for name, (_, section) in OWN.items()}
    figures, shown = {}, _tables(plan, folder)
    for notebook in catalogue.NOTEBOOKS:
        drawn = plan.notebooks.get(notebook.name, [])
        found = [_figure(folder, notebook.name, one) for one in drawn if one.group is None]
        if found or shown.get(notebook.name):
            figures[notebook.name] = found
    titles = {name: title for name, (title, _) in OWN.items() if own[name]}
    closing = {name: titles.pop(name) for name in ("provenance",) if name in titles}
    titles |= {one.name: one.title for one in catalogue.NOTEBOOKS if one.name in figures}
    there = titles | closing
    outline = frame(plan, layout.PAGE, [*there.items()])
    given = {"paper": PAPER, "there": there, "figures": figures, "beside": shown}
    render.page(folder / layout.PAGE, "index.html.j2", **outline, **own, **given)
    for name, ledger in ledgers.context(plan, folder).items():
        outline = frame(plan, f"{name}.html", [*ledger["groups"].items()])
        render.page(folder / f"{name}.html", f"{name}.html.j2", **outline, **ledger)


def frame(plan: Plan, here: str, contents: list[tuple[str, str]]) -> dict[str, Any]:
    """Return what base.html.j2 needs."""
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
    """Return a figure with its width and height, for the browser to leave room for it."""
    drawing = (folder / layout.figure(figure.name)).read_text(encoding="utf-8")
    box = re.search(r'viewBox="\S+ \S+ (\S+) (\S+)"', drawing)
    assert box is not None, figure.name
    size = [round(float(length)) for length in box.groups()]
    return {"name": figure.name, "caption": figure.caption, "notebook": notebook, "size": size}


def _tables(plan: Plan, folder: Path) -> dict[str, list[Table]]:
    """Return the tables next to figures, by section."""
    judged, found = plan.judged(), {}
    if (file := layout.table("saturation.csv")) in judged:
        rows = load(folder / file)
        drawn = rows[rows["tuning"].isin(plan.roles.get("tuning", []))]
        found["tuning"] = [tables.saturation(drawn)] if len(drawn) else []
    if layout.table("suite_ranking.csv") in judged:
        found["suite"] = suite(plan, folder)
    if (file := layout.table("comparison.csv")) in judged:
        found["comparison_table"] = [tables.comparison(load(folder / file))]
    return found


def suite(plan: Plan, folder: Path) -> list[Table]:
    """Return who is best, whether that is stable, which expectations hold, and why each environment
    is there.

    What the repository keeps of the whole suite is next to it, where the run is a part of it.
    """
    ranking, hypotheses, stability, paired, scores = (
        load(folder / layout.table(f"suite_{name}.csv"))
        for name in ("ranking", "hypotheses", "stability", "paired", "scores")
    )
    kept = {name: load(file) for name, file in plan.kept_of_the_suite.items()}
    frozen = [one for one in plan.suite.environments if one.name in {*scores["environment"]}]
    ranked = tables.ranking(ranking, kept.get("suite_ranking.csv"), "whole suite")
    note = (
        f"{ranked.note} Version {plan.suite.version} of the suite, {len(frozen)} of "
        f"{len(plan.suite.environments)} environments. What a run takes: {layout.TIMING}."
    )
    if kept:
        note += f" Next to it what the whole suite came to, as the repository keeps it in {KEPT}."
    return [
        replace(ranked, note=note),
        tables.stability(stability),
        tables.hypotheses(hypotheses, kept.get("suite_hypotheses.csv"), "whole suite"),
        tables.tally(paired),
        tables.reasons(frozen),
    ]
