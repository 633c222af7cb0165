"""The tables that stand beside the page's figures."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from nscmdp.suite import scores
from nscmdp.suite.definition import KEPT
from wei2023.report.page import render
from wei2023.report.style import title
from wei2023.report.suite_summary import TALLY
from wei2023.study import layout
from wei2023.study.plan import Plan
from wei2023.verdicts import comparison, tables


def context(plan: Plan, folder: Path) -> dict[str, list[dict[str, Any]]]:
    """By section: notes, and tables as head and rows."""
    judged, found = plan.judged(), {}
    if layout.table("saturation.csv") in judged:
        table = tables.load(folder / layout.table("saturation.csv"))
        drawn = table[table["tuning"].isin(plan.roles.get("tuning", []))]
        found["tuning"] = [_saturation(drawn)] if len(drawn) else []
    if layout.table("suite_ranking.csv") in judged:
        found["suite"] = _suite(plan, folder)
    if layout.table("comparison.csv") in judged:
        found["comparison_table"] = [
            _comparison(tables.load(folder / layout.table("comparison.csv")))
        ]
    return found


def part(
    note: str,
    label: str = "",
    columns: dict[str, Callable] | None = None,
    rows: Any = (),
    **more: Any,
) -> dict:
    """A note and a table: a function of a row for every column; a "#" marks columns of numbers."""
    columns = columns or {}
    return {
        "note": note,
        "label": label,
        "head": [name.removeprefix("#") for name in columns],
        "right": [i for i, name in enumerate(columns) if name.startswith("#")],
        "rows": [[cell(row) for cell in columns.values()] for row in rows],
        "files": more.get("files", []),
    }


def _saturation(table: pd.DataFrame) -> dict[str, Any]:
    return part(
        "Is the search done? What the last doubling of its effort gained, and how far apart independent searches end:",
        "Saturation of the searches",
        {
            "tuning": lambda row: row["tuning"].removeprefix("tuning_"),
            "learner": lambda row: title(row["algorithm"]),
            "#K": lambda row: f"{row['episodes']:,}",
            "#searches": lambda row: f"{row['searches']:.0f}",
            "#candidates each": lambda row: f"{row['tried']:.0f}",
            "#gained": lambda row: render.number(row["gained"], ".0%"),
            "#apart": lambda row: render.number(row["apart"], ".0%"),
        },
        table.to_dict("records"),
        files=[*map(layout.table, layout.TUNED)],
    )


def _comparison(table: pd.DataFrame) -> dict[str, Any]:
    def slope(key: str) -> Callable:
        return lambda row: render.interval(
            [row.get(f"{key}{end}") for end in ("", "_low", "_high")]
        )

    def constants(row: dict[str, Any]) -> str:
        setting, at = (
            "" if pd.isna(row.get(key)) else str(row[key]) for key in ("setting", "tuned_at")
        )
        return comparison.CONSTANTS.get((setting, at), setting) or "not run"

    return part(
        "The paper's Table 1 next to measurements: exponents of the gap and of the positive part of the regret in K, "
        "over the whole range and over its last two octaves, and of the gap in B, with 95% t-intervals over searches "
        "or instances; the positive part of the violation per episode at the largest K; and the powers that are "
        "claimed and that no learner can beat. A theorem's bound is an upper bound: an exponent measured at such K "
        "neither proves nor refutes it, and where the constants put it in the table says so.",
        "The comparison table",
        {
            "algorithm": lambda row: title(row["algorithm"]),
            "constants": constants,
            "model-free": lambda row: "yes" if row["model_free"] else "no",
            "knows B": lambda row: row["known_budget"],
            "regret": lambda row: render.powers(row["regret_order"]),
            "#gap: power of K": slope("gap_slope_K"),
            "#late": slope("gap_slope_K_late"),
            "#positive regret: power of K": slope("positive_regret_slope_K"),
            "#gap: power of B": slope("gap_slope_B"),
            "#claimed, lower bound (K)": lambda row: _powers(row, "K"),
            "#positive violation per episode": lambda row: render.number(
                row.get("positive_violation_per_episode"), ".3f"
            ),
            "#at K": lambda row: render.number(row.get("largest_K"), ",.0f"),
            "put in by the constants": lambda row: (
                "" if pd.isna(row.get("put_in")) else str(row["put_in"])
            ),
        },
        table.to_dict("records"),
        files=[*map(layout.table, layout.COMPARISON)],
    )


def _powers(row: dict[str, Any], size: str) -> str:
    """What is claimed, and what no learner can beat."""
    found = [row.get(f"{kind}_slope_{size}") for kind in ("claimed", "lower")]
    return ", ".join(f"{one:.2f}" for one in found if one is not None and not pd.isna(one))


def _gap(row: dict[str, Any] | None) -> str:
    return "" if row is None else render.interval([row["gap"], row["low"], row["high"]], ".3f")


def _suite(plan: Plan, folder: Path) -> list[dict[str, Any]]:
    """Why each environment is there, who is best, whether that is stable, and which expectations hold."""

    def rows(name: str) -> list[dict[str, Any]]:
        return tables.load(folder / layout.table(name)).to_dict("records")

    def kept(name: str, key: str) -> dict[str, dict[str, Any]]:
        """By learner or hypothesis: its row in the whole suite."""
        file = plan.kept_of_the_suite.get(name)
        return (
            {} if file is None else {row[key]: row for row in tables.load(file).to_dict("records")}
        )

    def beside(
        whole: dict[str, dict[str, Any]], column: str, cell: Callable
    ) -> dict[str, Callable]:
        """A column of what the whole suite says, if it is kept."""
        return {column: cell} if whole else {}

    ranked, tested = kept("suite_ranking.csv", "learner"), kept("suite_hypotheses.csv", "id")
    there = {row["environment"] for row in rows("suite_scores.csv")}
    frozen = [one for one in plan.suite.environments if one.name in there]
    order = part(
        f"Version {plan.suite.version} of the suite, {len(frozen)} of {len(plan.suite.environments)} environments. "
        "Learners by their mean gap in units of the uniform policy's, where all of them ran; 0 is the optimum. "
        f"What a run takes: {layout.TIMING}."
        + (
            f" Beside it what the whole suite came to, as the repository keeps it in {KEPT}."
            if ranked
            else ""
        ),
        "Ranking on the suite",
        {
            "#rank": lambda row: str(row["rank"]),
            "learner": lambda row: title(row["learner"]),
            "#gap": _gap,
            **beside(ranked, "#gap, whole suite", lambda row: _gap(ranked.get(row["learner"]))),
            "#keeps its rank": lambda row: render.number(row["same_rank"], ".0%"),
            "#under other searches": lambda row: render.number(row["same_rank_searches"], ".0%"),
        },
        rows("suite_ranking.csv"),
        files=[layout.TIMING, *map(layout.table, layout.SUITE)],
    )
    stability = part(
        "How often the order changes where these are drawn anew:",
        "Stability of the ranking",
        {
            "drawn anew": lambda row: row["resampled"],
            "#the order changes": lambda row: render.number(row["order_differs"], ".0%"),
            "#the first place changes": lambda row: render.number(row["first_differs"], ".0%"),
        },
        rows("suite_stability.csv"),
    )
    expected = part(
        "What was expected before the first results. A negative difference is as expected; p has Holm's correction:",
        "Hypotheses",
        {
            "expected": lambda row: row["says"],
            **beside(
                tested, "whole suite", lambda row: tested.get(row["id"], {}).get("verdict", "")
            ),
            "verdict": lambda row: row["verdict"],
            "#difference": lambda row: render.interval(
                [row["difference"], row["low"], row["high"]], ".3f"
            ),
            "measure": lambda row: row["measure"].replace("_", " "),
            "#p": lambda row: render.number(row["p_holm"], ".2g"),
            "#searches that agree": lambda row: f"{row['agree']} of {row['searches']}",
        },
        rows("suite_hypotheses.csv"),
    )
    beside_the_first = part(
        f"Every learner beside Algorithm 1: {TALLY}",
        "Every learner beside Algorithm 1",
        {
            "learner": lambda row: title(row["learner"]),
            "measure": lambda row: row["measure"].replace("_", " "),
            "#better in": lambda row: f"{row['better']} of {row['environments']}",
            "#worse in": lambda row: f"{row['worse']} of {row['environments']}",
            "namely": lambda row: row["namely"].replace("_", " "),
        },
        scores.tallied(tables.load(folder / layout.table("suite_paired.csv"))).to_dict("records"),
    )
    reasons = part(
        "Why each environment is there:",
        "Environments of the suite",
        {"environment": lambda one: one.name.replace("_", " "), "reason": lambda one: one.reason},
        frozen,
    )
    return [order, stability, expected, beside_the_first, reasons]
