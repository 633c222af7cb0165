"""Are fresh results those that the repository states? Values with tolerances, not files.

docs/reference.json has the numbers behind the answer, the verdict, value, interval and slack of
every claim, and what the part of the suite in the default run comes to, each under the name of the
place where it stands; docs/suite/reference.json has what the whole suite comes to. Numbers are
compared, and words of closed lists (verdicts, what a protocol chooses, who is first), never
sentences. A run on the same numbers gives the same bits; the tolerance leaves room for other
processors and libraries.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from nscmdp import files
from wei2023.proofs.findings import VERDICTS
from wei2023.runs.parts import PARTS
from wei2023.study import layout
from wei2023.verdicts import tables

FILE = Path("docs/reference.json")
TOLERANCE = 1e-6  # relative, and absolute below 1
SUITE = (
    ("suite_ranking.csv", "learner", ["rank", "gap", "low", "high"]),
    ("suite_hypotheses.csv", "id", ["difference", "low", "high", "p_holm", "verdict", "agree"]),
)
WORDS = {*VERDICTS, *PARTS, "full", "bump", "released", "tuned", "same eta", "margin", "gap"}
CLAIM = ("verdict", "value", "low", "high", "slack")


class Difference(NamedTuple):
    name: str
    stated: Any
    found: Any

    def __str__(self) -> str:
        return f"{self.name}: {_said(self.found)}, the reference has {_said(self.stated)}"


def gather(folder: Path) -> dict[str, Any]:
    """Return what a finished run comes to, by name: "claims/C1/verdict",
    "answer/growth/0/gap_slope_K".
    """
    found: dict[str, Any] = {}
    if (file := folder / layout.ANSWER).is_file():
        found |= dict(numbers("answer", json.loads(file.read_text(encoding="utf-8"))))
    if (file := folder / layout.CLAIMS).is_file():
        for claim in json.loads(file.read_text(encoding="utf-8")):
            found |= {f"claims/{claim['id']}/{key}": claim[key] for key in CLAIM}
    for name, key, measured in SUITE:
        if (file := folder / layout.table(name)).is_file():
            rows = tables.load(file).set_index(key)[measured]
            found |= dict(flat("suite", json.loads(rows.to_json(orient="index"))))
    if not found:
        raise ValueError(
            f"{folder} has neither {layout.ANSWER} nor {layout.CLAIMS} nor tables of the suite: "
            "expected a finished run"
        )
    return found


def numbers(prefix: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Return the numbers of a tree, and its words of closed lists."""
    found = flat(prefix, value)
    return ((name, one) for name, one in found if not isinstance(one, str) or one in WORDS)


def flat(prefix: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Return every number and text of a tree, by its path; in a list of named objects by their
    names.
    """
    if not isinstance(value, dict | list):
        yield prefix, value
        return
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        is_named = isinstance(value, list) and isinstance(item, dict) and "name" in item
        yield from flat(f"{prefix}/{item['name'] if is_named else key}", item)


def write(folder: Path, output: Path = FILE) -> None:
    """State what a run has found."""
    stated = {"tolerance": TOLERANCE, "values": gather(folder)}
    files.write_text(output, json.dumps(stated, indent=0) + "\n")


def compare(folder: Path, reference: Path = FILE) -> list[Difference]:
    """Return what differs from the reference, or is in one of the two alone."""
    stated, found = json.loads(reference.read_text(encoding="utf-8")), gather(folder)
    values, tolerance = stated["values"], stated["tolerance"]
    pairs = [
        Difference(name, values.get(name, "nothing"), found.get(name, "nothing"))
        for name in dict.fromkeys([*values, *found])
    ]
    return [pair for pair in pairs if not _alike(pair.stated, pair.found, tolerance)]


def _alike(stated: Any, found: Any, tolerance: float) -> bool:
    kinds = {type(stated), type(found)}
    if kinds <= {int, float}:
        return abs(stated - found) <= tolerance * max(1.0, abs(stated))
    return len(kinds) == 1 and stated == found


def _said(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.8g}"
    return value if value == "nothing" else json.dumps(value)
