"""The answer in the README is made from numbers, and says what they say."""

import json

import pandas as pd
import pytest

from nscmdp.analysis import answer, claims
from shipped import LEDGER


def cell(part, verdict, **changed):
    row = {
        "part": part,
        "verdict": verdict,
        "setting": "tuned",
        "without_learning": False,
        "lam": 0.52,
        "cost": 4.2,
        "limit": 5.0,
        "map": "18x18",
        "cost drift": "accumulates",
        "location": "reached",
        "switch": "none",
    }
    return row | changed


@pytest.fixture
def numbers(tmp_path):
    cells = [cell(part.name, "holds") for part in claims.PARTS]
    cells += [cell(part.name, "does not hold", setting="literal", location="current") for part in claims.PARTS]
    cells += [cell("C20e", "holds", without_learning=True, setting="authors", switch="goal")]
    cells += [cell("C20e", "void", setting="authors", location="current")]
    whole = {"holds_in": 1, "mixed_in": 0, "judged": 2, "void": 3, "cells": cells}
    (tmp_path / "claims.json").write_text(json.dumps({"C20": whole}))
    row = {"gap_slope_K": 0.78, "gap_slope_K_low": 0.7, "gap_slope_K_high": 0.8, "violation_per_episode": 0.01}
    row |= {"largest_K": 262144, "theorem_from_K": 1e50, "algorithm": "nonstationary_triple_q"}
    (tmp_path / "tables").mkdir()
    pd.DataFrame([{**row, "setting": "tuned"}, {**row, "setting": "literal"}]).to_csv(
        tmp_path / "tables/comparison.csv"
    )
    return answer.gather(tmp_path, LEDGER)


def test_the_numbers_are_those_of_the_cells(numbers):
    parts = {part["says"]: part for part in numbers["parts"]}
    assert parts["RestartQ-UCB breaks the limit"] == {
        "says": "RestartQ-UCB breaks the limit",
        "holds": 2,
        "judged": 3,
        "without_learning": 1,
    }
    assert [one["setting"] for one in numbers["first_reading"]] == ["tuned"]
    assert [one["algorithm"] for one in numbers["growth"]] == ["nonstationary_triple_q"]
    switches = [entry for entry in LEDGER if entry.switch]
    assert numbers["ledger"] == {"places": len(LEDGER), "switches": len(switches)}


def test_the_text_says_them(numbers):
    text = answer.markdown(numbers)
    assert "holds in 1 of 2**" in text
    assert "is mixed in 0. 3 more are void" in text
    assert "\n| RestartQ-UCB breaks the limit | 2 | 3 | 1 |\n" in text
    assert "\n| 18x18 | tuned | 52% | 4.20 | 5 |\n" in text
    assert "\n| Algorithm 1 | 0.78 [0.70, 0.80] | 4/5 | 0.010 | 262,144 | 1e+50 |\n" in text
    assert "Growth" not in answer.markdown({**numbers, "growth": []})


def test_the_answer_stands_between_the_marks_and_replaces_what_stood_there(numbers):
    text = f"# A project\n\n{answer.BEGIN}- an older answer\n{answer.END}\n## More\n"
    found = answer.in_readme(text, numbers)
    assert found == f"# A project\n\n{answer.BEGIN}\n{answer.markdown(numbers)}\n{answer.END}\n## More\n"
    assert answer.in_readme(found, numbers) == found


def test_a_readme_without_the_marks_is_refused():
    with pytest.raises(ValueError, match="must have one line"):
        answer.in_readme("# A project\n", {"C20": {}})


def test_what_could_not_be_computed_is_a_dash(numbers):
    """No interval over one seed, no share of a way that is no way: null in the file."""
    numbers["growth"][0] |= {"gap_slope_K_low": None, "gap_slope_K_high": None}
    numbers["first_reading"][0]["lam"] = None
    text = answer.markdown(numbers)
    assert "| Algorithm 1 | 0.78 [-, -] |" in text
    assert "| 18x18 | tuned | - | 4.20 | 5 |" in text
