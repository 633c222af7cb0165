"""The page that a person opens first: the answer, the figures, the numbers, and where they come from."""

import json
import re
from html import escape
from pathlib import Path

import pandas as pd

from nscmdp.analysis import answer, comparison, tables
from nscmdp.report.style import title
from nscmdp.runs import files
from nscmdp.study import catalogue, layout
from nscmdp.study.plan import Plan

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
.answer th, .answer td { white-space: normal; vertical-align: top; text-align: left; }
.ledger th, .ledger td { white-space: normal; vertical-align: top; }
.anchor-link { display: none; }
.over { color: #a02c00; font-weight: 600; }
summary { margin: .4rem 0; cursor: pointer; }
a { color: #0b5394; }
"""


def write(plan: Plan, folder: Path) -> None:
    """index.html, and the ledgers of deviations and claims, of a finished run."""
    drawn = {figure.name for figures in plan.notebooks.values() for figure in figures}
    judged = [folder / name for name in plan.judged()]
    parts = [
        f"<h1>Non-stationary CMDPs: a replication</h1>\n<p class=by>{escape(PAPER)}</p>",
        _answer(folder / layout.ANSWER, drawn) if folder / layout.ANSWER in judged else "",
        _section(drawn, "The paper's simulation", "grid_world"),
        _section(drawn, "The best case for the paper", "best_case"),
        _section(drawn, "How the constants were chosen", "efforts", "fronts"),
        _section(drawn, "Why", "causes", "sensitivity"),
        _section(drawn, "The paper's claims", "looseness", *(f"claims_{group}" for group in catalogue.CLAIM_GROUPS)),
        _numbers([folder / layout.table("summary.csv", name) for name in sorted(plan.experiments)]),
        *([_comparison(folder)] if folder / layout.table("comparison.csv") in judged else []),
        _section(drawn, "Growth", "growth", "assumed_budget", "arms"),
        _section(drawn, "Linear CMDPs", "linear", "linear_arms"),
        _section(drawn, "Environments", "environments"),
        _links(plan.files()),
    ]
    body = "\n".join(part for part in parts if part)
    files.write_text(folder / layout.PAGE, _document("Non-stationary CMDPs: a replication", body))
    ledgers = {layout.DEVIATIONS_PAGE: (layout.DEVIATIONS, "Deviations from the printed text")}
    if plan.claim_groups:
        ledgers[layout.CLAIMS_PAGE] = (layout.CLAIMS_TEXT, "The paper's claims")
    for name, (text, called) in ledgers.items():
        ledger = _from_markdown((folder / text).read_text(encoding="utf-8"))
        files.write_text(folder / name, _document(called, f"<div class=ledger>\n{ledger}\n</div>"))


def _document(title: str, body: str) -> str:
    return (
        f"<!doctype html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
        f'<meta name=viewport content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _from_markdown(text: str) -> str:
    from nbconvert.filters import markdown2html

    return markdown2html(text)


def _answer(file: Path, drawn: set[str]) -> str:
    """Does it replicate? With the grid of verdicts, and what had to be completed."""
    numbers = json.loads(file.read_text(encoding="utf-8"))
    said = f"<div class='wide answer'>{_from_markdown(answer.markdown(numbers))}</div>"
    grid = "\n".join(_figure(name) for name in ("claims", "thresholds", "alternatives") if name in drawn)
    note = (
        "<p class=note>Verdicts are computed: thresholds and their ranges stand in <code>workflow/claims.yaml</code>, "
        "seeds, intervals and all verdicts in <a href=claims/simulation.json>claims/simulation.json</a>, those on all "
        "claims in <a href=claims.json>claims.json</a>, "
        "what tuning tried in <a href=tables/tuned.csv>tuned.csv</a>. "
        "<a href=deviations.html>Where the printed text had to be completed</a>, and what each choice changes.</p>"
    )
    return f"<h2>Does it replicate?</h2>\n{said}\n{grid}\n{note}"


def _section(drawn: set[str], title: str, *names: str) -> str:
    made = [_figure(name) for name in names if name in drawn]
    return "\n".join([f"<h2>{escape(title)}</h2>", *made]) if made else ""


def _figure(name: str) -> str:
    notebook, figure = catalogue.find(name)
    alt, svg, png = escape(figure.caption, quote=True), layout.figure(name), layout.figure(name, "png")
    return (
        f"<figure>\n<a href={svg}><img src={svg} alt='{alt}'></a>\n"
        f"<figcaption>{escape(figure.caption)} <a href={layout.notebook(notebook, 'html')}>Notebook</a>, "
        f"<a href={png}>PNG</a>, made by the rule <code>notebook_{notebook}</code>.</figcaption>\n</figure>"
    )


def _numbers(summaries: list[Path]) -> str:
    """The summaries of simple experiments; the others have figures."""
    simple = [file for file in summaries if _is_simple(file)]
    note = (
        "Exact expectations per episode of the policies played, over the last fifth of the episodes: mean over seeds "
        "with a 95% bootstrap interval. A cost whose interval lies above the limit is marked; a gap of 0 is optimal."
    )
    return "\n".join([f"<h2>In numbers</h2>\n<p class=note>{note}</p>", *map(_summary, simple)]) if simple else ""


def _is_simple(file: Path) -> bool:
    """One environment, and every learner with one of its settings as it is."""
    table = tables.load(file)
    plain = table["learner"] == table["algorithm"] + "." + table["setting"]
    return bool(plain.all()) and len(table[["reading", "budget", "episodes"]].drop_duplicates()) == 1


def _comparison(folder: Path) -> str:
    file = folder / layout.table("comparison.csv")
    head = (
        "<th>algorithm<th>constants<th>model-free<th>knows B<th>regret<th>gap grows as K to the"
        "<th>regret as K to the<th>violation per episode<th>at K<th>theorem from K<th>bytes"
    )
    rows = "\n".join(_claim(row) for _, row in tables.load(file).iterrows())
    note = (
        "The paper's Table 1 with measurements beside it: the slopes of log gap and log regret against log K with a "
        "95% interval over instances and seeds, the violation per episode at the largest K (negative: kept), and the "
        "K from which the theorem promises zero violation in this environment. A theorem's bound is an upper bound: "
        "an exponent measured at K that are so much smaller neither proves nor refutes it."
    )
    links = " ".join(f"<a href=tables/{name}>{name}</a>" for name in layout.COMPARISON)
    table = f"<div class=wide><table class=claims>\n<tr>{head}\n{rows}\n</table></div>\n<p class=note>{links}</p>"
    heading = f"<h2>The comparison table</h2>\n<p class=note>{note}</p>"
    return f"{heading}\n{table}"


def _claim(row: pd.Series) -> str:
    def number(key: str, form: str) -> str:
        return form.format(row[key]) if key in row and not pd.isna(row[key]) else "&ndash;"

    def slope(key: str) -> str:
        low, high = (number(f"{key}_{end}", "{:.2f}") for end in ("low", "high"))
        return number(key, "{:.2f}") + (f" <small>[{low}, {high}]</small>" if "&" not in low else "")

    kept = ["" if pd.isna(row.get(key)) else str(row[key]) for key in ("setting", "tuned_at")]
    cells = [
        escape(title(row["algorithm"])),
        escape(comparison.CONSTANTS.get((kept[0], kept[1]), kept[0]) or "not run"),
        "yes" if row["model_free"] else "no",
        escape(row["known_budget"]),
        _powers(escape(row["regret_order"])),
        slope("gap_slope_K"),
        slope("regret_slope_K"),
        number("violation_per_episode", "{:.3f}"),
        number("largest_K", "{:,.0f}"),
        number("theorem_from_K", "{:.0e}"),
        number("state_bytes", "{:,.0f}"),
    ]
    return "<tr>" + "".join(f"<td>{cell}" for cell in cells)


def _summary(file: Path) -> str:
    table = tables.load(file)
    experiment = file.parent.name
    parts = []
    for (_, budget, episodes), case in table.groupby(["reading", "budget", "episodes"], sort=False):
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


def _links(names: list[str]) -> str:
    listed = sorted(name for name in names if name.endswith((".csv", ".html")) and "/" in name)
    items = "\n".join(f"<li><a href='{escape(name)}'>{escape(name)}</a>" for name in listed)
    return f"<h2>Notebooks and tables</h2>\n<ul>\n{items}\n</ul>"
