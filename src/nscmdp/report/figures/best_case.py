"""The best case for the paper, drawn in the notebook on its simulation."""

import json
from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import Markdown
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pandas.io.formats.style import Styler

from nscmdp.report import forms, style
from nscmdp.report.results import Results, needs

KEPT, MISSED = "#2f7fb8", "#dd7f2b"
SMALL = [{"selector": "td, th", "props": "font-size: 80%; text-align: left"}]
WORDS = {True: "found", False: "none found"}


def best_case(results: Results) -> Figure:
    """Best cases down, questions across: the distance of every fresh seed to the thresholds of each part."""
    seeds, table = results.table("best_case_seeds.csv"), results.table("best_cases.csv")
    names, questions = results.experiments("best_case"), list(table["question"].unique())
    lines = [table.loc[table["question"] == one, "part"].nunique() for one in questions]
    figure, axes = plt.subplots(
        len(names),
        len(questions),
        figsize=(4.2 * len(questions), (1.2 + 0.4 * max(lines)) * len(names) + 0.4),
        squeeze=False,
    )
    for (i, j), ax in np.ndenumerate(axes):
        mine = table[(table["best_case"] == names[i]) & (table["question"] == questions[j])]
        drawn = seeds[(seeds["best_case"] == names[i]) & (seeds["question"] == questions[j])]
        _strips(ax, mine[mine["algorithm"].notna()], drawn)
        whole = mine[mine["found"].notna()].iloc[0]
        ax.set_title(f"{names[i]}\n{fill(whole['asks'], 40)}:\n{WORDS[bool(whole['found'])]}", fontsize="small")
    for row in forms.last(axes):
        for ax in row:
            ax.set_xlabel("distance to the threshold (right: holds)")
    return figure


def _strips(ax: Axes, table: pd.DataFrame, seeds: pd.DataFrame) -> None:
    for line, row in enumerate(table.itertuples()):
        at = seeds.loc[seeds["part"] == row.part, "distance"].to_numpy()
        spread = line + 0.3 * np.linspace(-1, 1, len(at) + 2)[1:-1]
        for these, colour in ((at >= 0, KEPT), (at < 0, MISSED)):
            ax.plot(at[these], spread[these], "o", color=colour, markersize=7**0.5, markeredgewidth=0)
        said = f"{row.agree} of {row.seeds}"
        ax.annotate(said, (1.01, line), xycoords=("axes fraction", "data"), va="center", fontsize="x-small")
    ax.axvline(0, color=style.LIMIT, linestyle="--", linewidth=0.9)
    ax.set_yticks(range(len(table)), table["part"], fontsize="small")
    ax.set_ylim(len(table) - 0.5, -0.5)


def _wholes(results: Results) -> pd.DataFrame:
    table = results.table("best_cases.csv")
    return table[table["found"].notna()]


@needs("best_case")
def best_case_answer(results: Results) -> Markdown:
    """What was found, and what was not, after what effort."""
    lines = []
    for row in _wholes(results).itertuples():
        margin = f"smallest margin {row.margin:.2g} on {row.seeds} fresh seeds, {row.agree} of which agree to all"
        said = WORDS[bool(row.found)]
        lines.append(f"- **{row.best_case}**, {row.asks}, {row.part}: {said} after {row.tried} candidates ({margin}).")
    return Markdown("\n".join(lines))


@needs("best_case")
def best_case_parts(results: Results) -> Styler:
    """Every part on the fresh seeds."""
    table = results.table("best_cases.csv")
    share = (table["agree"] / table["seeds"]).to_numpy()
    intervals = np.column_stack([share, table["agree_low"], table["agree_high"]])
    shown = pd.DataFrame(
        {
            "best case": table["best_case"],
            "question": table["asks"],
            "part": table["part"] + ": " + table["says"],
            "thresholds": table["thresholds"].fillna(""),
            "distance": table["distance"],
            "sd": table["sd"],
            "margin": table["margin"],
            "share of seeds that agree": [style.interval(row) for row in intervals],
            "verdict": table["verdict"].where(table["found"].isna(), table["found"].map(WORDS)),
        }
    )
    return shown.style.hide(axis="index").format(precision=2).set_table_styles(SMALL)


@needs("best_case")
def best_case_constants(results: Results) -> Styler:
    """The constants, and which demand of the tuning's rule excludes them."""
    table = results.table("best_cases.csv")
    first = table[table["decides"]].drop_duplicates(["best_case", "question"])
    shown = pd.DataFrame(
        {
            "best case": first["best_case"],
            "question": first["asks"],
            "constants": [_factors(text) for text in first["factors"]],
            "candidates": first["tried"],
            "margin on selection seeds": first["selection_margin"],
            "violation, upper bound": first["violation_bound"],
            "of the choice": first["chosen_violation_bound"],
            "loss": first["loss"],
            "of the choice ": first["chosen_loss"],
            "excluded by": first["excluded_by"],
        }
    )
    return shown.style.hide(axis="index").format(precision=3).set_table_styles(SMALL)


def _factors(text: str) -> str:
    return ", ".join(f"{name} {value:.3g}" for name, value in json.loads(text).items())


@needs("best_case")
def best_case_regions(results: Results) -> Styler:
    """At which share of all admissible constants of Algorithm 1 its parts hold."""
    table = results.table("best_case_regions.csv")
    intervals = [style.interval(row, ".4f") for row in table[["share", "share_low", "share_high"]].to_numpy()]
    shown = pd.DataFrame(
        {
            "best case": table["best_case"],
            "parts": table["parts"],
            "points": table["points"],
            "seeds of each": table["seeds"],
            "hold at": table["works"],
            "share": intervals,
        }
    )
    return shown.style.hide(axis="index")
