"""Choosing a learner's factors among what its searches found, on selection seeds that no search has seen.

Of every search the best is kept, by the tuning's objective (:mod:`nscmdp.suite.scoring`): from the searches of the
run, or from those that are recorded in the repository. A choice has a name:

    main            the best of all searches
    search_I        the best of search I, from 0
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from nscmdp import files
from nscmdp.suite import scoring
from nscmdp.suite.scoring import Objective

MAIN = "main"
NOTED = ("loss", "violation", "violation_bound", "reward", "utility", "lam")
TABLE = pa.schema(
    {"search": pa.int64(), "generation": pa.int64(), "factors": pa.string(), "feasible": pa.bool_()}
    | dict.fromkeys(NOTED, pa.float64())
)


def tune(
    spec: dict[str, Any],
    output: Path,
    searches: Sequence[Path] = (),
    margins: scoring.Margins | None = None,
) -> None:
    """Write what the searches for one algorithm kept; those of the run, or as recorded."""
    found = entries(searches, spec, margins) if searches else spec["recorded"]
    kept = [one for one in found if one["kept"]] if searches else found
    rows = [{**one, "factors": json.dumps(one["factors"])} for one in kept]
    columns = [{name: row[name] for name in TABLE.names} for row in rows]
    files.write(output, pa.Table.from_pylist(columns, schema=TABLE), files.provenance(spec))


def entries(
    searches: Sequence[Path], spec: dict[str, Any], margins: scoring.Margins | None = None
) -> list[dict[str, Any]]:
    """All that the searches for one algorithm scored on the selection seeds, the best of each search kept."""
    from nscmdp.suite import search as searching

    space, found = searching.space_of(spec), []
    for number, file in enumerate(searches):
        rows = selection(file)
        entered = rows.drop_duplicates("factors").set_index("factors")["generation"]
        best = scoring.ranked(Objective.of(spec, margins).summary(rows))
        for place, row in enumerate(best.to_dict("records")):
            factors, generation = json.loads(row["factors"]), int(entered[row["factors"]])
            entry: dict[str, Any] = {"search": number, "generation": generation, "kept": place == 0}
            entry |= {"feasible": bool(row["feasible"])}
            entry |= {name: float(f"{row[name]:.6g}") for name in NOTED}
            found.append(entry | {"factors": factors, "edges": space.edges(factors)})
    return found


def selection(search: Path) -> pd.DataFrame:
    """The rows of a search's file that were scored on selection seeds."""
    rows = files.read(search)[0].to_pandas()
    return rows[rows["stage"] == "selection"]


def summary(kept: pd.DataFrame) -> pd.DataFrame:
    """The rows of a tuning's file with the choices that each is; ``chosen``: the best of all."""
    chosen = kept.index == scoring.ranked(kept).index[0]
    choice = "search_" + kept["search"].astype(str)
    return kept.assign(choice=choice.where(~chosen, choice + f" {MAIN}"), chosen=chosen)


def choices(chosen_by: Iterable[Path]) -> dict[tuple[str, str, int], dict[str, dict[str, float]]]:
    """By tuning, algorithm and number of episodes: the factors of every choice, by its name."""
    found = {}
    for file in chosen_by:
        kept, facts = files.read(file)
        spec, tuning = facts["specification"], file.parts[-3]
        named: dict[str, dict[str, float]] = {}
        for row in summary(kept.to_pandas()).itertuples():
            named |= dict.fromkeys(str(row.choice).split(), json.loads(str(row.factors)))
        found[tuning, spec["algorithm"], spec["case"]["episodes"]] = named
    return found


def main_choice(file: Path) -> dict[str, float]:
    (named,) = choices([file]).values()
    return named[MAIN]
