"""The page that a person opens first: the answer, the figures, the numbers, and where they come from."""

import json
import re
from html import escape
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from nscmdp.analysis import answer, tables
from nscmdp.report.style import title
from nscmdp.runs import files

PAPER = (
    "H. Wei, A. Ghosh, N. Shroff, L. Ying, X. Zhou: "
    "Provably Efficient Model-Free Algorithms for Non-stationary CMDPs, AISTATS 2023"
)
STYLE = """
body { font: 16px/1.55 system-ui, sans-serif; color: #222; max-width: 72rem; margin: 2.5rem auto; padding: 0 1.25rem; }
h1 { font-size: 1.7rem; line-height: 1.25; margin-bottom: .3rem; }
h2 { font-size: 1.2rem; margin-top: 2.5rem; }
.by { color: #555; margin-top: 0; }
img { width: 100%; height: auto; }
figure { margin: 1.5rem 0; }
figcaption, .note { color: #555; font-size: .92rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .92rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .8rem .3rem 0; text-align: right; border-bottom: 1px solid #ddd; white-space: nowrap; }
th { border-bottom: 1px solid #888; }
td:nth-child(-n+2), th:nth-child(-n+2) { text-align: left; }
.claims { font-size: .82rem; }
.claims th, .claims td:nth-child(1), .claims td:nth-child(5) { white-space: normal; min-width: 5rem; }
.ledger th, .ledger td { white-space: normal; vertical-align: top; }
.anchor-link { display: none; }
.over { color: #a02c00; font-weight: 600; }
summary { margin: .4rem 0; cursor: pointer; }
a { color: #0b5394; }
"""


def write(folder: Path) -> None:
    """Write index.html and deviations.html into a results folder, from what is there."""
    parts = [
        f"<h1>Non-stationary CMDPs: a replication</h1>\n<p class=by>{escape(PAPER)}</p>",
        _answer(folder),
        _section(folder, "The paper's simulation", "grid_world"),
        _section(folder, "Why", "landscape", "causes", "sensitivity"),
        _numbers(folder),
        _comparison(folder),
        _section(folder, "Linear CMDPs", "linear", "linear_arms"),
        _section(folder, "Environments", "environments"),
        _links(folder),
    ]
    body = "\n".join(part for part in parts if part)
    files.write_text(folder / "index.html", _document("Non-stationary CMDPs: a replication", body))
    if (folder / "deviations.md").is_file():
        ledger = _from_markdown((folder / "deviations.md").read_text(encoding="utf-8"))
        body = f"<div class=ledger>\n{ledger}\n</div>"
        files.write_text(folder / "deviations.html", _document("Deviations from the printed text", body))


def _document(title: str, body: str) -> str:
    return (
        f"<!doctype html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
        f'<meta name=viewport content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _from_markdown(text: str) -> str:
    from nbconvert.filters import markdown2html

    return markdown2html(text)


def _answer(folder: Path) -> str:
    """Does it replicate? With the grid of verdicts, and what had to be completed."""
    file = folder / "answer.json"
    if not file.is_file():
        return ""
    lines = answer.lines(json.loads(file.read_text(encoding="utf-8")))
    said = _from_markdown("\n".join(f"- {line}" for line in lines))
    grid = _figure("claims") if (folder / "figures/claims.svg").is_file() else ""
    note = (
        "<p class=note>Verdicts are computed: thresholds are fixed in the code, seeds and intervals are in "
        "<a href=claims.json>claims.json</a>, what tuning tried in <a href=tables/tuned.csv>tuned.csv</a>. "
        "<a href=deviations.html>Where the printed text had to be completed</a>, and what each choice changes.</p>"
    )
    return f"<h2>Does it replicate?</h2>\n{said}\n{grid}\n{note}"


class Shown(NamedTuple):
    notebook: str
    caption: str


FIGURES = {
    "grid_world": Shown(
        "grid_world",
        "One row for each choice of constants: the printed formulas (literal), those of the authors' code for the "
        "predecessor (authors), and factors chosen with equal effort for every learner on other seeds (tuned).",
    ),
    "claims": Shown(
        "replication",
        "The simulation's claim in its parts, for every choice of constants and every reading: how many of the seeds "
        "agree, and the verdict that follows.",
    ),
    "landscape": Shown("replication", "All candidates that tuning tried, and what a smaller effort would have found."),
    "causes": Shown("replication", "What separates Algorithm 1 from Triple-Q: every difference switched by itself."),
    "sensitivity": Shown("replication", "How much each factor matters around the chosen ones."),
    "growth": Shown(
        "comparison_table",
        "Gap and regret against K, violation of an episode against K, gap against the budget B. Dotted: literal.",
    ),
    "assumed_budget": Shown("comparison_table", "What a wrongly assumed budget costs Algorithm 1."),
    "arms": Shown("comparison_table", "What Exp3 chose for Algorithm 2, which does not know the budget."),
    "linear": Shown(
        "linear", "Algorithm 3 in a drifting linear CMDP: literal beside scaled, with and without restarts."
    ),
    "linear_arms": Shown("linear", "What the bandit chose where the budget is not known."),
    "environments": Shown(
        "environments", "How the environments drift, how much their constraint binds, and what can be earned."
    ),
}


def _section(folder: Path, title: str, *names: str) -> str:
    made = [name for name in names if (folder / "figures" / f"{name}.svg").is_file()]
    return "\n".join([f"<h2>{escape(title)}</h2>", *map(_figure, made)]) if made else ""


def _figure(name: str) -> str:
    notebook, caption = FIGURES[name]
    alt = escape(caption, quote=True)
    return (
        f"<figure>\n<a href=figures/{name}.svg><img src=figures/{name}.svg alt='{alt}'></a>\n"
        f"<figcaption>{escape(caption)} <a href=notebooks/{notebook}.html>Notebook</a>, "
        f"<a href=figures/{name}.png>PNG</a>, made by the rule <code>{notebook}</code>.</figcaption>\n</figure>"
    )


def _numbers(folder: Path) -> str:
    """The summaries of simple experiments; the others have figures."""
    files = [file for file in sorted(folder.glob("tables/*/summary.csv")) if _is_simple(file)]
    note = (
        "Exact expectations of the policies played, an episode, over the last fifth of the episodes: mean over seeds "
        "with a 95% bootstrap interval. A cost whose interval lies above the limit is marked; a gap of 0 is optimal."
    )
    return "\n".join([f"<h2>In numbers</h2>\n<p class=note>{note}</p>", *map(_summary, files)]) if files else ""


def _is_simple(file: Path) -> bool:
    """One environment, and every learner with one of its settings as it is."""
    table = tables.load(file)
    plain = table["learner"] == table["algorithm"] + "." + table["setting"]
    return bool(plain.all()) and len(table[["budget", "episodes"]].drop_duplicates()) == 1


def _comparison(folder: Path) -> str:
    file = folder / "tables/comparison.csv"
    if not file.is_file():
        return ""
    head = (
        "<th>algorithm<th>constants<th>model-free<th>knows B<th>regret<th>gap grows as K to the"
        "<th>the bound's<th>violation an episode<th>theorem from K<th>bytes"
    )
    rows = "\n".join(_claim(row) for _, row in tables.load(file).iterrows())
    note = (
        "The paper's Table 1 with measurements beside it: the slope of log gap against log K with a 95% interval, the "
        "local slope of Theorem 1's explicit bound at the same constants, the violation of an episode at the largest K "
        "(negative: kept), and the K from which the theorem promises zero violation in this environment."
    )
    links = " ".join(f"<a href=tables/{name}>{name}</a>" for name in ("comparison.csv", "comparison.tex", "slopes.csv"))
    table = f"<div class=wide><table class=claims>\n<tr>{head}\n{rows}\n</table></div>\n<p class=note>{links}</p>"
    heading = f"<h2>The comparison table</h2>\n<p class=note>{note}</p>"
    return "\n".join([heading, table, _section(folder, "Growth", "growth", "assumed_budget", "arms")])


def _claim(row: pd.Series) -> str:
    def number(key: str, form: str) -> str:
        return form.format(row[key]) if key in row and not pd.isna(row[key]) else "&ndash;"

    slope = number("gap_slope_K", "{:.2f}")
    if "gap_slope_K_low" in row and not pd.isna(row["gap_slope_K_low"]):
        slope += f" <small>[{row['gap_slope_K_low']:.2f}, {row['gap_slope_K_high']:.2f}]</small>"
    cells = [
        escape(title(row["algorithm"])),
        escape(str(row["setting"]) if not pd.isna(row["setting"]) else "not run"),
        "yes" if row["model_free"] else "no",
        escape(row["known_budget"]),
        _powers(escape(row["regret_order"])),
        slope,
        number("bound_slope_K", "{:.2f}"),
        number("violation_per_episode", "{:.3f}"),
        number("theorem_from_K", "{:.0e}"),
        number("state_bytes", "{:,.0f}"),
    ]
    return "<tr>" + "".join(f"<td>{cell}" for cell in cells)


def _summary(file: Path) -> str:
    table = tables.load(file)
    experiment = file.parent.name
    parts = []
    for (budget, episodes), case in table.groupby(["budget", "episodes"], sort=False):
        limit = case["horizon"].iloc[0] - case["rho"].iloc[0]
        drift = f", {budget}" if budget != "default" else ""
        heading = (
            f"{escape(experiment)}: K = {episodes:,}{escape(drift)}, B = {case['B'].iloc[0]:.2f}, "
            f"{case['seeds'].iloc[0]} seeds; the optimum earns {case['optimal_value'].iloc[0]:.2f}"
        )
        head = f"<th>learner<th>constants<th>reward<th>cost (limit {limit:g})<th>regret<th>violation<th>gap"
        rows = "\n".join(_row(row) for _, row in case.iterrows())
        name = escape(f"tables/{experiment}/summary.csv")
        parts.append(
            f"<details><summary>{heading}</summary>\n<div class=wide><table>\n<tr>{head}\n{rows}\n</table></div>\n"
            f"<p class=note><a href='{name}'>{name}</a></p></details>"
        )
    return "\n".join(parts)


def _row(row: pd.Series) -> str:
    horizon = row["horizon"]
    cost = [horizon - row[f"last_utility{end}"] for end in ("", "_high", "_low")]
    over = " class=over" if cost[1] > horizon - row["rho"] else ""
    cells = [_interval(row["last_value"], row["last_value_low"], row["last_value_high"])]
    cells += [f"<td{over}>{_interval(*cost)[4:]}"]
    cells += [_interval(*(row[f"last_{key}{end}"] for end in ("", "_low", "_high"))) for key in _LAST]
    return f"<tr><td>{escape(title(row['algorithm']))}<td>{escape(row['setting'])}{''.join(cells)}"


def _powers(order: str) -> str:
    return re.sub(r"\^(?:\{([^}]*)\}|(\d))", lambda power: f"<sup>{power[1] or power[2]}</sup>", order)


_LAST = ("regret", "violation", "gap")


def _interval(mean: float, low: float, high: float) -> str:
    return f"<td>{mean:.2f} <small>[{low:.2f}, {high:.2f}]</small>"


def _links(folder: Path) -> str:
    names = [
        file.relative_to(folder).as_posix()
        for part in ("notebooks/*.html", "tables/**/*.csv")
        for file in sorted(folder.glob(part))
    ]
    items = "\n".join(f"<li><a href='{escape(name)}'>{escape(name)}</a>" for name in names)
    return f"<h2>Notebooks and tables</h2>\n<ul>\n{items}\n</ul>"
