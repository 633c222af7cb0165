"""Choosing a learner's factors among what its searches found, on selection seeds that no search has seen.

Of every search the finalists are kept, the best few by the rule (:mod:`nscmdp.runs.scoring`), and of all searches the
best one by each other rule. Where searches are part of the run, their own scores are taken; where they are recorded in
the repository, the kept candidates are scored again and the record is set beside it. A choice has a name:

    main            the best by the rule over all searches
    search_I_J      finalist J of search I, from 0
    least_gap, regret, positive, tenths             the best by another rule
"""

import json
import sys
import time
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from nscmdp import algorithms
from nscmdp.problem import DoesNotFit
from nscmdp.runs import files, scoring
from nscmdp.runs.scoring import MAIN, MEASURES, OTHERS

RECORDED = ("loss", "violation")  # what the record is compared by
DIFFERS = 1e-5  # relative: a record has six digits
NOTED = ("loss", "violation", "violation_bound", "worst_tenth_bound", "regret", "positive", "reward", "utility", "lam")

TABLE = pa.schema(
    {"search": pa.int64(), "generation": pa.int64(), "factors": pa.string(), "seed": pa.int64()}
    | dict.fromkeys((*MEASURES, *(f"recorded_{name}" for name in RECORDED)), pa.float64())
)


def tune(spec: dict[str, Any], solved: Path, output: Path, searches: Sequence[Path] = ()) -> None:
    """Gather or score again what the searches kept for one algorithm."""
    warnings.simplefilter("ignore", DoesNotFit)
    rows = _searched(spec, searches) if searches else _scored_again(spec, solved)
    files.write(output, pa.Table.from_pylist(rows, schema=TABLE), files.provenance(spec))


def _searched(spec: dict[str, Any], searches: Sequence[Path]) -> list[dict[str, Any]]:
    selected = {number: selection(file) for number, file in enumerate(searches)}
    kept, rows = keepers(selected, spec), []
    for number, found in selected.items():
        for row in found[found["factors"].isin(kept[number])].to_dict("records"):
            rows.append({"search": number, **{name: row[name] for name in TABLE.names if name in row}})
    return rows


def _scored_again(spec: dict[str, Any], solved: Path) -> list[dict[str, Any]]:
    scorer, began, rows = scoring.Scorer(spec, solved), time.monotonic(), []
    for kept in spec["recorded"]:
        noted = {f"recorded_{name}": kept[name] for name in RECORDED}
        keys = {"search": kept["search"], "generation": kept["generation"], "factors": json.dumps(kept["factors"])}
        rows += [{**keys, **noted, "seed": seed, **scorer.score(kept["factors"], seed)} for seed in spec["seeds"]]
        print(f"{len(rows)} runs, {time.monotonic() - began:.1f} s", file=sys.stderr, flush=True)
    return rows


def _constrained(spec: dict[str, Any]) -> bool:
    return algorithms.constrained(spec["algorithm"])


def selection(search: Path) -> pd.DataFrame:
    """The rows of a search's file that were scored on selection seeds."""
    rows = files.read(search)[0].to_pandas()
    return rows[rows["stage"] == "selection"]


def keepers(selected: dict[int, pd.DataFrame], spec: dict[str, Any]) -> dict[int, list[str]]:
    """By search: the factors, as text, of its finalists, and of what is best of all searches by another rule."""
    constrained, finalists = _constrained(spec), spec["effort"]["finalists"]
    tables = {search: scoring.summary(rows, constrained).assign(search=search) for search, rows in selected.items()}
    kept = {search: list(scoring.ranked(table)["factors"][:finalists]) for search, table in tables.items()}
    together = pd.concat(tables.values(), ignore_index=True)
    for rule in OTHERS if constrained and finalists > 1 else ():
        best = scoring.ranked(together, rule).iloc[0]
        kept[best["search"]].append(best["factors"])
    return kept


def summary(rows: pd.DataFrame, spec: dict[str, Any]) -> pd.DataFrame:
    """One row per kept candidate: its scores, its place among the finalists of its search, the choices that it is."""
    constrained, parts = _constrained(spec), []
    for search, mine in rows.groupby("search"):
        table = scoring.ranked(scoring.summary(mine, constrained)).assign(search=search)
        once = mine.drop_duplicates("factors").set_index("factors")
        beside = ["generation", *(f"recorded_{name}" for name in RECORDED)]
        table = table.join(once[beside], on="factors")
        place = pd.Series(range(len(table)), index=table.index)
        parts.append(table.assign(finalist=place.where(place < spec["effort"]["finalists"], -1)))
    table = pd.concat(parts, ignore_index=True)
    named: dict[str, list[str]] = {}
    for row in table[table["finalist"] >= 0].itertuples():
        named.setdefault(row.factors, []).append(f"search_{row.search}_{row.finalist}")
    for rule in (MAIN, *OTHERS):
        named.setdefault(scoring.ranked(table, rule if constrained else MAIN)["factors"].iloc[0], []).append(rule)
    choice = [" ".join(named.get(text, [])) for text in table["factors"]]
    return table.assign(choice=choice, chosen=[MAIN in names.split() for names in choice], **_compared(table))


def _compared(table: pd.DataFrame) -> dict[str, pd.Series]:
    """Does a score differ from the recorded one?"""
    apart = [(table[name] - table[f"recorded_{name}"]).abs() > DIFFERS * (1 + table[name].abs()) for name in RECORDED]
    return {"differs_from_record": apart[0] | apart[1]}


def choices(chosen_by: Iterable[Path]) -> dict[tuple[str, int], dict[str, dict[str, float]]]:
    """By algorithm and number of episodes: the factors of every choice, by its name."""
    found = {}
    for file in chosen_by:
        rows, facts = files.read(file)
        spec = facts["specification"]
        table = summary(rows.to_pandas(), spec)
        named = {name: json.loads(row.factors) for row in table.itertuples() for name in row.choice.split()}
        found[spec["algorithm"], spec["case"]["episodes"]] = named
    return found


def main_choice(file: Path) -> dict[str, float]:
    (named,) = choices([file]).values()
    return named[MAIN]


def record(found: dict[int, Path], spec: dict[str, Any]) -> list[dict[str, Any]]:
    """What the repository keeps of the searches for one algorithm: all that was scored on selection seeds."""
    from nscmdp.runs import search as searching

    constrained, space, entries = _constrained(spec), searching.space_of(spec), []
    selected = {search: selection(file) for search, file in found.items()}
    kept = keepers(selected, spec)
    for search, rows in selected.items():
        table = scoring.ranked(scoring.summary(rows, constrained))
        generation = rows.drop_duplicates("factors").set_index("factors")["generation"]
        for row in table.to_dict("records"):
            factors = json.loads(row["factors"])
            is_kept = row["factors"] in kept[search]
            entry = {"search": search, "generation": int(generation[row["factors"]]), "kept": is_kept}
            numbers = {name: float(f"{row[name]:.6g}") for name in NOTED}
            edges = {"edges": space.edges(factors)}
            entries.append({**entry, "feasible": bool(row["feasible"]), **numbers, "factors": factors, **edges})
    return entries
