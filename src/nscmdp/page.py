"""The page that a person opens first: the figure, the numbers, and where they come from."""

from html import escape
from pathlib import Path

import pandas as pd

from nscmdp import results, tables
from nscmdp.figures import title

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
.over { color: #a02c00; font-weight: 600; }
a { color: #0b5394; }
"""


def write(folder: Path) -> None:
    """Write index.html into a results folder."""
    parts = [
        f"<h1>Non-stationary CMDPs: a replication</h1>\n<p class=by>{escape(PAPER)}</p>",
        *[_figure(name) for name in CAPTIONS if name != "environments" and _made(folder, name)],
        "<h2>In numbers</h2>\n<p class=note>Exact expectations of the policies played, an episode, over the last fifth "
        "of the episodes: mean over seeds with a 95% bootstrap interval. A cost whose interval lies above the limit is "
        "marked; a gap of 0 is optimal.</p>",
        *[_summary(file) for file in sorted(folder.glob("tables/*/summary.csv"))],
        *([f"<h2>Environments</h2>\n{_figure('environments')}"] if _made(folder, "environments") else []),
        _links(folder),
    ]
    body = "\n".join(parts)
    results.write_text(
        folder / "index.html",
        f"<!doctype html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
        f'<meta name=viewport content="width=device-width, initial-scale=1">\n'
        f"<title>Non-stationary CMDPs: a replication</title>\n<style>{STYLE}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n",
    )


def _made(folder: Path, name: str) -> bool:
    return (folder / "figures" / f"{name}.svg").is_file()


CAPTIONS = {
    "grid_world": "The paper's grid-world simulation. One row for each choice of constants: the printed formulas "
    "(literal), those of the authors' code for the predecessor (authors), declared factors (scaled).",
    "environments": "The environments: how they drift, how much their constraint binds, and what can be earned.",
}


def _figure(name: str) -> str:
    caption = CAPTIONS[name]
    return (
        f"<figure>\n<a href=figures/{name}.svg><img src=figures/{name}.svg alt='{escape(caption, quote=True)}'></a>\n"
        f"<figcaption>{escape(caption)} <a href=notebooks/{name}.html>Notebook</a>, "
        f"<a href=figures/{name}.png>PNG</a>, made by the rule <code>{name}</code>.</figcaption>\n</figure>"
    )


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
        parts.append(f"<h3>{heading}</h3>\n<div class=wide><table>\n<tr>{head}\n{rows}\n</table></div>")
    name = escape(f"tables/{experiment}/summary.csv")
    parts.append(f"<p class=note><a href='{name}'>{name}</a></p>")
    return "\n".join(parts)


def _row(row: pd.Series) -> str:
    horizon = row["horizon"]
    cost = [horizon - row[f"last_utility{end}"] for end in ("", "_high", "_low")]
    over = " class=over" if cost[1] > horizon - row["rho"] else ""
    cells = [_interval(row["last_value"], row["last_value_low"], row["last_value_high"])]
    cells += [f"<td{over}>{_interval(*cost)[4:]}"]
    cells += [_interval(*(row[f"last_{key}{end}"] for end in ("", "_low", "_high"))) for key in _LAST]
    return f"<tr><td>{escape(title(row['algorithm']))}<td>{escape(row['setting'])}{''.join(cells)}"


_LAST = ("regret", "violation", "gap")


def _interval(mean: float, low: float, high: float) -> str:
    return f"<td>{mean:.2f} <small>[{low:.2f}, {high:.2f}]</small>"


def _links(folder: Path) -> str:
    notebooks = sorted(file.name for file in folder.glob("notebooks/*.html"))
    items = "\n".join(f"<li><a href='notebooks/{escape(name)}'>{escape(name)}</a>" for name in notebooks)
    return f"<h2>Notebooks</h2>\n<ul>\n{items}\n</ul>"
