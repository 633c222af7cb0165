"""Tables that a reader sees: one object with a serialiser for every medium, and one function for
every table.

A cell is a line of Markdown: ``**strong**``, ```code```, ``$LaTeX$``, ``[text](address)``; what is
to be taken to the letter is :func:`escaped`. The README, the page, notebooks and terminals print
the same object.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

import pandas as pd
from jinja2 import Template
from markupsafe import Markup, escape

from nscmdp import algorithms
from nscmdp.cli.screen import columns as aligned
from nscmdp.suite import scores
from nscmdp.suite.definition import Frozen
from wei2023.proofs import findings
from wei2023.report.formulas import typeset
from wei2023.runs.parts import PARTS, TRIPLE_Q
from wei2023.study import layout
from wei2023.verdicts import deviations
from wei2023.verdicts.answer import tuned_by_an_author
from wei2023.verdicts.comparison import readable

Row = dict[str, Any]
Columns = dict[str, Callable[[Any], str]]
Links = Mapping[str, str]
NO_LINKS: Links = MappingProxyType({})
INLINE = re.compile(
    r"\$(?P<math>[^$]+)\$|`(?P<code>[^`]+)`|\*\*(?P<strong>.+?)\*\*|\\(?P<letter>[\\*_<>|`\[\]])"
    r"|\[(?P<text>(?:\\.|[^\[\]\\])+)\]\((?P<address>[^()\s]+)\)"
    r"|(?<=[\d%]) (?P<interval>\[[^\[\]]*, [^\[\]]*\])"
    r"|(?<!\w)(?P<claim>C\d+[a-z]?'*)(?!\w)|(?<=ledger: )(?P<deviation>[a-z0-9]+(?:-[a-z0-9]+)*)"
)
MARKS = dict.fromkeys((findings.HOLDS, findings.MISPRINT), "holds")
MARKS |= dict.fromkeys((findings.ASSUMPTION, findings.DEPENDS), "depends")
MARKS |= dict.fromkeys((findings.FALSE, "contradicted"), "fails")


def escaped(text: str) -> str:
    """Return a text whose every letter is itself in Markdown, but for formulas between dollars."""
    parts = re.split(r"(\$[^$]+\$)", text)
    return "".join(
        part if i % 2 else re.sub(r"([\\*_<>|`\[\]])", r"\\\1", part)
        for i, part in enumerate(parts)
    )


def linked(file: str, text: str = "") -> str:
    """Return a link to a file of the results."""
    return f"[{escaped(text or file)}]({quote(file)})"


def html(text: str, links: Links = NO_LINKS) -> Markup:
    """Return a line of Markdown as HTML, with a link for every claim or deviation that it names."""
    if text.count("$") % 2:
        raise ValueError(f"{text!r}: a dollar without a second one")
    parts, end = [], 0
    for found in INLINE.finditer(text):
        parts += [escape(text[end : found.start()]), _marked(found, links)]
        end = found.end()
    return Markup("").join([*parts, escape(text[end:])])


def _marked(found: re.Match[str], links: Links) -> Markup:
    kind, text = str(found.lastgroup), found[str(found.lastgroup)]
    match kind:
        case "math":
            return typeset(text)
        case "code":
            return Markup("<code>{}</code>").format(text)
        case "strong":
            mark = MARKS.get(text, "unjudged" if text in findings.VERDICTS else "")
            kind = Markup(' class="class {}"').format(mark) if mark else ""
            return Markup("<strong{}>{}</strong>").format(kind, html(text, links))
        case "address":
            return Markup('<a href="{}">{}</a>').format(text, html(found["text"]))
        case "interval":
            return Markup(" <small>{}</small>").format(text)
    if text in links:
        return Markup('<a href="{}">{}</a>').format(links[text], text)
    return escape(text)


HTML = Template(
    """<table>
<thead>
{% if groups|length > 1 %}
<tr>{% for group, width in groups %}
{% if group %}<th scope="colgroup" colspan="{{ width }}">{{ group }}</th>
{%- else %}<td colspan="{{ width }}"></td>
{%- endif %}{% endfor %}</tr>
{% endif %}
<tr>{% for name in headings %}
<th scope="col"{{ kinds[loop.index0] }}>{{ inline(name) }}</th>
{%- endfor %}</tr>
</thead>
<tbody>
{% for row in rows %}
<tr><th scope="row"{{ kinds[0] }}>{{ inline(row[0], links) }}</th>
{%- for cell in row[1:] %}{% set kind = over if cell.startswith("↑ ") else kinds[loop.index] %}
<td{{ kind }}>{{ inline(cell, links) }}</td>
{%- endfor %}</tr>
{% endfor %}
</tbody></table>""",
    autoescape=True,
    trim_blocks=True,
)
NUMBER = re.compile(r"(↑ )?[-+]?\d|-?$")


@dataclass(frozen=True)
class Table:
    """A table: its columns by name, where "a / b" is the column b of the group a, and rows of
    cells.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""
    files: Sequence[str] = ()

    @property
    def headings(self) -> list[str]:
        return [column.rpartition(" / ")[2] for column in self.columns]

    def only(self, *columns: str) -> "Table":
        """Return the same table with some of its columns."""
        at = [self.headings.index(name) for name in columns]
        rows = [[row[i] for i in at] for row in self.rows]
        return replace(self, columns=[self.columns[i] for i in at], rows=rows)

    def without(self, *columns: str) -> "Table":
        return self.only(*(name for name in self.headings if name not in columns))

    def markdown(self) -> str:
        lines = (self.headings, ["---"] * len(self.columns), *self.rows)
        return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)

    def html(self, links: Links = NO_LINKS) -> Markup:
        """Return the table for a page; columns of numbers are aligned to the right."""
        right, over = Markup(' class="n"'), Markup(' class="n over"')
        numbers = [
            any(cells) and all(map(NUMBER.match, cells)) for cells in zip(*self.rows, strict=True)
        ]
        kinds = [right if is_number else "" for is_number in numbers] or [""] * len(self.columns)
        grouped = groupby(self.columns, lambda column: column.rpartition(" / ")[0])
        groups = [(group, len([*columns])) for group, columns in grouped]
        given = {"headings": self.headings, "rows": self.rows, "kinds": kinds, "groups": groups}
        return Markup(HTML.render(given, over=over, inline=html, links=links))

    def __str__(self) -> str:
        """Return the table for a terminal."""
        rows = [[html(cell).striptags() for cell in row] for row in self.rows]
        return aligned([self.headings, *rows])

    __repr__, _repr_markdown_ = __str__, markdown

    def _repr_html_(self) -> str:
        return str(self.html())


def made(title: str, rows: Iterable[Any], columns: Columns, **more: Any) -> Table:
    """Return a table with a function of a row for every column."""
    cells = [[cell(row) for cell in columns.values()] for row in rows]
    return Table(title, [*columns], cells, **more)


def of_frame(title: str, frame: pd.DataFrame, **more: Any) -> Table:
    """Return a data frame as it is: whole numbers with commas, others to four digits."""

    def text(cell: Any) -> str:
        if isinstance(cell, str) or pd.isna(cell):
            return escaped(cell) if isinstance(cell, str) else ""
        return f"{cell:,}" if isinstance(cell, int) else f"{cell:.4g}"

    rows = [[text(cell) for cell in row] for row in frame.astype(object).itertuples(index=False)]
    return Table(title, [str(name).replace("_", " ") for name in frame], rows, **more)


def number(value: Any, form: str = ".2f") -> str:
    """Return a number, a dash where there is none, and no minus before what rounds to 0."""
    text = "-" if value is None or pd.isna(value) else f"{value:{form}}"
    return text.removeprefix("-") if re.fullmatch(r"-[0.,]+%?", text) else text


def interval(values: Iterable[Any], form: str = ".2f") -> str:
    """Return "m [a, b]" of a mean and the ends of its interval, or the mean where there is none."""
    mean, low, high = values
    ends = "" if low is None or pd.isna(low) else f" [{number(low, form)}, {number(high, form)}]"
    return f"{number(mean, form)}{ends}"


# The paper's simulation


def count(counted: dict[str, int]) -> str:
    return f"{counted['agree']}/{counted['of']}" if counted["of"] else "-"


RUNS = (
    "runs: Algorithm 1 / well",
    "runs: Algorithm 1 / quickly",
    "runs: Algorithm 1 / with dips",
    "runs: Algorithm 1 / keeps the limit",
    "runs: breaks the limit / Triple-Q",
    "runs: breaks the limit / RestartQ-UCB",
)
LABELS = {part: name.rpartition(" / ")[2] for part, name in zip(PARTS, RUNS, strict=True)}


def protocols(rows: list[Row]) -> Table:
    """Return the runs that agree to each part of the claim, by protocol."""

    def measured(name: str, form: str) -> Callable[[Row], str]:
        return lambda row: number(row["numbers"].get(name), form)

    def agree(part: str) -> Callable[[Row], str]:
        return lambda row: count(row["parts"][part])

    columns: Columns = {
        "protocol": lambda row: row["name"] + " (recorded)" * row["recorded"],
        "K": lambda row: f"{row['K']:,}",
        "frame end": lambda row: row["frame_end"],
        "constants": lambda row: row["constants"],
        "baselines": lambda row: row["baselines"],
        **{name: agree(part) for part, name in zip(PARTS, RUNS, strict=True)},
        "Algorithm 1 / share": measured("share", ".0%"),
        "Algorithm 1 / cost": measured("late_cost", ".2f"),
        "cost / Triple-Q's": measured("triple_q_late_cost", ".2f"),
        "cost / RestartQ-UCB's": measured("restart_q_ucb_late_cost", ".2f"),
        "Triple-Q keeps": lambda row: count(row["keeps"].get(TRIPLE_Q, {"of": 0})),
    }
    return made("Protocols", rows, columns)


def growing(numbers: dict[str, Any]) -> Table:
    """Return from which K on the whole claim holds where Algorithm 1 alone is tuned."""
    yes = {True: "yes", False: "no"}
    columns: Columns = {
        "frame end": lambda row: row["frame_end"],
        "K": lambda row: f"{row['K']:,}" + " (recorded)" * row["recorded"],
        "runs, with dips": lambda row: count(row["whole"]["all forgiving"]),
        "runs, without": lambda row: count(row["whole"]["all"]),
        "mean, with dips": lambda row: yes[row["mean"]["all forgiving"]],
        "mean, without": lambda row: yes[row["mean"]["all"]],
        "running mean": lambda row: yes[row["running_mean"]],
    }
    title = "Runs that meet the whole claim, by number of episodes"
    return made(title, tuned_by_an_author(numbers), columns)


def choices(numbers: dict[str, Any]) -> Table:
    """Return the parts that each option of an unstated choice decides, by the protocol that it is
    switched from.
    """
    bases = [base for base, _ in Counter(row["base"] for row in numbers["choices"]).most_common(2)]
    rows = []
    for choice in numbers["unstated"]:
        mine = [row for row in numbers["choices"] if row["choice"] == choice["name"]]
        named = [escaped(choice["name"]), escaped(choice["text"])]
        for option in dict.fromkeys(row["option"] for row in mine):
            decides = {
                row["base"]: ", ".join(LABELS[part.replace("_", " ")] for part in row["decides"])
                or "nothing"
                for row in mine
                if row["option"] == option
            }
            here = [decides.pop(base, "") for base in bases]
            elsewhere = "; ".join(f"{base}: {said}" for base, said in decides.items())
            rows.append([*named, escaped(option), *here, elsewhere])
            named = ["", ""]
    columns = [f"decides, from: {base}" for base in bases]
    return Table(
        "Unstated choices",
        ["choice", "what the text says", "option", *columns, "from other protocols"],
        rows,
    )


def thresholds(moved: pd.DataFrame) -> Table:
    """Return how many runs agree as one threshold moves."""
    groups = moved[moved["of"] > 0].groupby(["name", "part", "threshold"], sort=False)
    rows = []
    for (name, part, threshold), mine in groups:
        agree = ", ".join(f"{row.agree} at {row.value:g}" for row in mine.itertuples())
        rows.append([name, PARTS[str(part)].says, threshold, agree, str(mine["of"].iloc[0])])
    return Table("Thresholds", ["protocol", "part", "threshold", "runs that agree", "of"], rows)


# The paper's theory


def verdicts(ids: dict[str, list[str]]) -> Table:
    """Return the claims of every verdict."""
    rows = [
        [f"**{name}**", str(len(found)), ", ".join(found), findings.VERDICTS[name]]
        for name, found in ids.items()
    ]
    return Table("Verdicts", ["verdict", "claims", "rows", "what it means"], rows)


def by_verdict(claims: list[Row]) -> dict[str, list[str]]:
    """Return the ids of claims by verdict, in the order of the standard."""
    found: dict[str, list[str]] = {name: [] for name in findings.VERDICTS}
    for claim in claims:
        found[claim["verdict"]].append(claim["id"])
    return {name: ids for name, ids in found.items() if ids}


def claims(rows: list[Row]) -> Table:
    """Return every claim with its verdict and what decides it."""
    columns: Columns = {
        "claim": lambda row: escaped(row["id"]),
        "where": lambda row: escaped(row["where"]),
        "says": lambda row: escaped(row["statement"]),
        "verdict": lambda row: f"**{row['verdict']}**",
        "why": lambda row: escaped(row["evidence"]["why"]),
    }
    return made("Claims", rows, columns)


def evidence(claim: Row) -> Table:
    """Return the numbers that a verdict rests on, and the smallest error that its check notices."""
    rows = [
        [escaped(what), escaped(value) if isinstance(value, str) else f"{value:.4g}"]
        for what, value in claim["evidence"]["numbers"]
    ]
    if notices := claim["evidence"]["notices"]:
        factor = "" if notices["factor"] is None else f" {notices['factor']:.3g}"
        rows.append(["smallest error noticed", escaped(notices["error"] + factor)])
    return Table(f"Numbers behind {claim['id']}", ["number", "value"], rows)


def effects(measured: pd.DataFrame, entry: deviations.Entry) -> Table:
    """Return what the switches of an entry of the ledger of deviations change."""
    change = "{without:.3f} to {with:.3f} ({difference:+.3f} [{low:+.3f}, {high:+.3f}])"
    mine, rows = measured[measured["switch"].isin(entry.switch)], []
    for run, found in mine.groupby(deviations.COLUMNS[:7], sort=False):
        switch, before, after, learner, environment, episodes, rho = run
        switched = f"{switch.split('.')[-1]}: {before} to {after}"
        place = f"{learner}, {environment}, K = {episodes}, rho = {rho:.3g}"
        rows.append([switched, place, *(change.format(**row) for row in found.to_dict("records"))])
    columns = ["switched", "in", *deviations.MEASURES.values()]
    return Table(f"Measured effect of {entry.id}", columns, rows)


EXPONENTS = {  # headings, and columns of comparison.csv
    "model-free": "model_free",
    "knows B": "known_budget",
    "regret": "regret_order",
    "claimed, K": "claimed_slope_K",
    "lower bound, K": "lower_slope_K",
    "gap, K": "gap_slope_K",
    "gap, last two octaves": "gap_slope_K_late",
    "[regret]+, K": "positive_regret_slope_K",
    "[regret]+, last two octaves": "positive_regret_slope_K_late",
    "put in by the constants": "put_in",
    "claimed, B": "claimed_slope_B",
    "lower bound, B": "lower_slope_B",
    "gap, B": "gap_slope_B",
    "[regret]+, B": "positive_regret_slope_B",
    "units": "units",
    "note": "note",
}
VIOLATION = {
    "claimed": "violation_order",
    "violation per episode": "violation_per_episode",
    "[violation]+ per episode": "positive_violation_per_episode",
    "[violation]+, K": "positive_violation_slope_K",
    "worst violation": "worst_violation_per_episode",
    "at": "worst_budget",
    "largest K": "largest_K",
    "zero is promised from K": "theorem_from_K",
}


def comparison(frame: pd.DataFrame) -> Table:
    """Return exponents: claimed, the least possible, and measured; the paper's rows first."""
    shown = readable(frame, EXPONENTS)
    if "regret" in shown:
        shown["regret"] = [
            re.sub(r"^(\w\^.*?)( \(.*)?$", r"$\1$\2", text) for text in shown["regret"]
        ]
    return Table(
        "The comparison table",
        [*shown],
        shown.to_numpy().tolist(),
        "The paper's Table 1 next to measurements: exponents of the gap and of the positive part "
        "of the regret in K, over the whole range and over its last two octaves, and in B, with "
        "95% t-intervals over searches or instances, and the powers that are claimed and that no "
        "learner can beat. A theorem's bound is an upper bound: an exponent measured at such K "
        "neither proves nor refutes it, and where the constants put it in the table says so.",
        [*map(layout.table, layout.COMPARISON)],
    )


def violations(frame: pd.DataFrame) -> Table:
    """Return the violation at the largest K, and the K from which a theorem promises none."""
    shown = readable(frame[frame["note"] != "not run"], VIOLATION)
    return Table("Violation at the largest K", [*shown], shown.to_numpy().tolist())


# The search for constants


def saturation(frame: pd.DataFrame) -> Table:
    """Return what doubling the effort still gained, and how far apart searches end."""
    return made(
        "Saturation of the searches",
        frame.to_dict("records"),
        {
            "tuning": lambda row: escaped(row["tuning"].removeprefix("tuning_")),
            "learner": lambda row: algorithms.title(row["algorithm"]),
            "K": lambda row: f"{row['episodes']:,}",
            "searches": lambda row: f"{row['searches']:.0f}",
            "with a feasible choice": lambda row: f"{row['feasible_searches']:.0f}",
            "candidates each": lambda row: f"{row['tried']:.0f}",
            "gained": lambda row: number(row["gained"], ".0%"),
            "apart": lambda row: number(row["apart"], ".0%"),
            "done": lambda row: "yes" if row["done"] is True else "no",
            "agree": lambda row: "yes" if row["agree"] is True else "no",
        },
        note="Is the search done? What the last doubling of its effort gained, and how far apart "
        "independent searches end:",
        files=[*map(layout.table, layout.TUNED)],
    )


def tuned(frame: pd.DataFrame) -> Table:
    """Return what tuning chose at the K that decides."""
    chosen = frame[frame["decides"] & frame["chosen"]].fillna({"edges": ""})
    feasible = {True: "yes", False: "none found"}

    def factors(row: Row) -> str:
        given = json.loads(row["factors"])
        return ", ".join(f"{escaped(name)} {value:.3g}" for name, value in given.items())

    columns: Columns = {
        "tuning": lambda row: escaped(row["tuning"]),
        "learner": lambda row: algorithms.title(row["algorithm"]),
        "feasible": lambda row: feasible[row["feasible"]],
        "loss": lambda row: number(row["loss"], ".3f"),
        "violation, upper bound": lambda row: number(row["violation_bound"], ".3f"),
        "Lam": lambda row: number(row["lam"], ".3f"),
        "factors": factors,
        "near an end of their range": lambda row: escaped(row["edges"]),
        "only by not learning": lambda row: "yes" if row["only_by_not_learning"] else "",
    }
    return made("Choices", chosen.to_dict("records"), columns)


# The suite


def _gap(row: Row | None, name: str = "gap") -> str:
    return "" if row is None else interval([row[name], row["low"], row["high"]], ".3f")


def ranking(frame: pd.DataFrame, other: pd.DataFrame | None = None, called: str = "") -> Table:
    """Return learners by their mean gap; another ranking may stand next to it."""
    others = {} if other is None else other.set_index("learner").to_dict("index")
    more: Columns = {
        f"rank, {called}": lambda row: str(others.get(row["learner"], {}).get("rank", "")),
        f"gap, {called}": lambda row: _gap(others.get(row["learner"])),
    }
    return made(
        "Ranking on the suite",
        frame.to_dict("records"),
        {
            "rank": lambda row: str(row["rank"]),
            "learner": lambda row: algorithms.title(row["learner"]),
            "gap": _gap,
            "keeps its rank": lambda row: number(row["same_rank"], ".0%"),
            "under other searches": lambda row: number(row["same_rank_searches"], ".0%"),
            **(more if others else {}),
        },
        note=f"The mean gap over {frame['environments'].iloc[0]} environments, in units of the "
        "uniform policy's (0: the optimum, 1: what needs no learning), with 95% intervals over "
        "instances and seeds.",
        files=[layout.TIMING, *map(layout.table, layout.SUITE)],
    )


WORDS = {"holds": "hold", "contradicted": "are contradicted", "undecided": "are undecided"}


def hypotheses(frame: pd.DataFrame, other: pd.DataFrame | None = None, called: str = "") -> Table:
    """Return what was expected, and what was found; the verdicts of another run may stand next to
    them.
    """
    others = {} if other is None else dict(zip(other["id"], other["verdict"], strict=True))
    more: Columns = {called: lambda row: others.get(row["id"], "")}
    counts = frame["verdict"].str.partition(":")[0].value_counts()
    said = ", ".join(
        f"{number} {WORDS.get(verdict, verdict)}" for verdict, number in counts.items()
    )
    return made(
        "Hypotheses",
        frame.to_dict("records"),
        {
            "hypothesis": lambda row: escaped(row["says"]),
            "measure": lambda row: row["measure"].replace("_", " "),
            "difference": lambda row: _gap(row, "difference"),
            "p": lambda row: number(row["p_holm"], ".2g"),
            "verdict": lambda row: f"**{row['verdict']}**",
            "searches that agree": lambda row: f"{row['agree']} of {row['searches']}",
            **(more if others else {}),
        },
        note=f"Hypotheses, committed before the first results: {said}. A negative difference is "
        "as expected; verdicts by signs of instances, with Holm's correction.",
    )


def stability(frame: pd.DataFrame) -> Table:
    """Return how often the ranking changes."""
    return made(
        "Stability of the ranking",
        frame.to_dict("records"),
        {
            "resampled": lambda row: row["resampled"],
            "the order changes": lambda row: number(row["order_differs"], ".1%"),
            "the first place changes": lambda row: number(row["first_differs"], ".1%"),
        },
        note="How often the ranking changes:",
    )


def tally(paired: pd.DataFrame) -> Table:
    """Return where every learner does better or worse than Algorithm 1."""
    return made(
        "Every learner beside Algorithm 1",
        scores.tallied(paired).to_dict("records"),
        {
            "learner": lambda row: algorithms.title(row["learner"]),
            "measure": lambda row: row["measure"].replace("_", " "),
            "better in": lambda row: f"{row['better']} of {row['environments']}",
            "worse in": lambda row: f"{row['worse']} of {row['environments']}",
            "namely": lambda row: escaped(row["namely"]) or "-",
        },
        note="Every learner beside Algorithm 1: in how many environments the interval of the "
        "paired difference lies below 0 (better), and in which above (worse).",
    )


def reasons(environments: list[Frozen]) -> Table:
    """Return why each environment of the suite is there."""
    return made(
        "Environments of the suite",
        environments,
        {
            "environment": lambda one: one.name.replace("_", " "),
            "reason": lambda one: escaped(one.reason),
        },
        note="Why each environment is there:",
    )
