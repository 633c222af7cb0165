"""The answer in the README is made from numbers, and says what they say."""

import json

import pandas as pd
import pytest

from nscmdp.analysis import answer
from nscmdp.study import layout
from shipped import LEDGER

READING = {"cost drift": "accumulates", "location": "reached", "switch": "none"}
CELL = {**READING, "part": "C20a", "lam": 0.52, "cost": 4.2, "limit": 5.0, "kept_without_learning": False}
CELL |= {"episodes": 80_000}
NAMES = {"unjudged": "cannot be judged at feasible K"}


def counts(holds_in):
    return {"holds_in": holds_in, "mixed_in": 0, "judged": 4, "void": 3, "unlearnt": 2}


def c20(**changed):
    """What claims/simulation.json holds of the simulation's claim."""
    cells = [
        {**CELL, "map": "18x18", "setting": "tuned"},
        {**CELL, "map": "18x18", "setting": "literal", "lam": 0.01, "kept_without_learning": True},
        {**CELL, "map": "18x18", "setting": "authors", "location": "current"},
        {**CELL, "map": "18x18", "setting": "tuned", "part": "C20c"},
    ]
    row = {"map": "6x6", "part": "C20d", "says": "Triple-Q breaks the limit", "judged": 2, "void": 0, "unlearnt": 0}
    why = "no feasible Triple-Q was found with tuned constants"
    found = {
        **counts(1),
        "forgiving": counts(2),
        "mean_of_trials": counts(3),
        "forgiving_mean_of_trials": counts(4),
        "classes": [{**row, "class": "holds robustly", "why": why, "moves_with": []}],
        "class_names": NAMES,
        "depends_counts": {"search": {"differ": 3, "of": 8}, "rule": {"differ": 0, "of": 0}},
        "void_readings": [{"experiment": "flat", "multiplier": 0.0}],
        "cells": cells,
    }
    return found | changed


def write_claims(folder, simulation, *claims):
    (folder / "claims").mkdir()
    (folder / layout.SIMULATION).write_text(json.dumps(simulation))
    (folder / layout.CLAIMS).write_text(json.dumps([CLAIM | claim for claim in claims]))


CLAIM = {"where": "Lemma 1", "statement": "a bound", "verdict": "holds", "class": "holds robustly", "corrects": None}
CLAIM |= {"evidence": {"why": "it is 3"}}
SLOPES = {"gap_slope_K": 0.78, "gap_slope_K_low": 0.7, "gap_slope_K_high": 0.8, "violation_per_episode": 0.01}
GROWN = {**SLOPES, "largest_K": 262144, "theorem_from_K": 1e50, "algorithm": "nonstationary_triple_q"}


def gathered(folder, growth, **changed):
    write_claims(folder, c20(**changed))
    (folder / "tables").mkdir()
    pd.DataFrame(growth).to_csv(folder / "tables/comparison.csv", index=False)
    return answer.gather(folder, LEDGER)


@pytest.fixture
def numbers(tmp_path):
    return gathered(tmp_path, [{**GROWN, "setting": "tuned"}, {**GROWN, "setting": "literal"}])


def test_the_numbers_are_those_of_the_verdicts(numbers):
    assert (numbers["C20"]["holds_in"], numbers["C20"]["forgiving"]["holds_in"]) == (1, 2)
    assert [row["class"] for row in numbers["classes"]] == ["holds robustly"]
    assert [one["setting"] for one in numbers["first_reading"]] == ["tuned", "literal"]
    assert [(one["algorithm"], one["factors"]) for one in numbers["growth"]] == [
        ("nonstationary_triple_q", "tuned once")
    ]
    switches = [entry for entry in LEDGER if entry.switch]
    assert numbers["ledger"] == {"places": len(LEDGER), "switches": len(switches)}


def test_the_text_says_them(numbers):
    text = answer.markdown(numbers)
    assert "holds in 1 of 4**" in text
    assert "in 2 where the dip after a restart is forgiven" in text
    assert "which the paper plots, in 3 and 4. Not counted: 2 in which" in text
    assert "and 4 in which the constraint does not bind" in text  # three of the cells, one by its optimum alone
    why = "no feasible Triple-Q was found with tuned constants"
    assert f"\n| 6x6 | Triple-Q breaks the limit | **holds robustly** | {why} | - |\n" in text
    assert "\n| search | 3 | 8 |\n" in text
    assert "| rule of tuning |" not in text  # none was tried
    assert "\n| 18x18 | 80,000 | tuned | 52% | 4.20 | 5 |  |\n" in text
    assert "\n| 18x18 | 80,000 | literal | 1% | 4.20 | 5 | feasible only by not learning |\n" in text
    assert "\n| Algorithm 1 | tuned once | 0.78 [0.70, 0.80] | - | 4/5 | 0.010 | 262,144 |\n" in text
    assert "neither proves nor refutes an upper bound" in text
    assert "Growth" not in answer.markdown({**numbers, "growth": []})


def test_factors_of_every_kind_have_a_row(tmp_path):
    regret = {"regret_slope_K": 0.7, "regret_slope_K_low": 0.6, "regret_slope_K_high": 0.75, "instances": 4}
    kinds = [("tuned", "each"), ("tuned", "once"), ("scaled", None), ("literal", None)]
    rows = [{**GROWN, **regret, "setting": setting, "tuned_at": at} for setting, at in kinds]
    found = gathered(tmp_path, [*rows, {**rows[0], "algorithm": "triple_q"}])
    assert [row["factors"] for row in found["growth"]] == ["tuned at each K", "tuned once", "defaults"]
    assert found["growth"][0]["instances"] == 4
    text = "| Algorithm 1 | tuned at each K | 0.78 [0.70, 0.80] | 0.70 [0.60, 0.75] | 4/5 |"
    assert text in answer.markdown(found)


def test_claims_stand_by_class_and_what_is_false_beside_its_correction(tmp_path):
    false = {"id": "C3", "verdict": "false as printed", "class": "fails robustly", "statement": "1 | 2 > 1"}
    corrected = {"id": "C3'", "corrects": "C3", "statement": "for one policy"}
    write_claims(tmp_path, c20(), {"id": "C1"}, false, corrected)
    (tmp_path / "tables").mkdir()
    found = answer.gather(tmp_path, LEDGER)
    assert [claim["id"] for claim in found["claims"]] == ["C1", "C3", "C3'"]
    text = answer.markdown(found)
    assert "| **holds robustly** | C1 (holds), C3' (holds) |" in text
    assert "| **fails robustly** | C3 (false as printed) |" in text
    assert "| C3 | Lemma 1 | 1 \\| 2 \\> 1 | C3': for one policy **holds** |" in text


def test_where_the_simulation_alone_is_judged_there_is_no_table_of_claims(tmp_path):
    write_claims(tmp_path, c20(), {"id": "C20"})
    assert "False as printed" not in answer.markdown(answer.gather(tmp_path, LEDGER))


def test_the_answer_stands_between_the_marks_and_replaces_what_stood_there(numbers):
    text = f"# A project\n\n{answer.BEGIN}- an older answer\n{answer.END}\n## More\n"
    found = answer.in_readme(text, numbers)
    assert found == f"# A project\n\n{answer.BEGIN}\n{answer.markdown(numbers)}\n{answer.END}\n## More\n"
    assert answer.in_readme(found, numbers) == found


def test_a_readme_without_the_marks_is_refused(numbers):
    with pytest.raises(ValueError, match="must have one line"):
        answer.in_readme("# A project\n", numbers)


def test_what_could_not_be_computed_is_a_dash(numbers):
    """No interval over one seed, no share of a way that is no way: null in the file."""
    numbers["growth"][0] |= {"gap_slope_K_low": None, "gap_slope_K_high": None}
    numbers["first_reading"][0]["lam"] = None
    text = answer.markdown(numbers)
    assert "| Algorithm 1 | tuned once | 0.78 [-, -] |" in text
    assert "| 18x18 | 80,000 | tuned | - | 4.20 | 5 |" in text


def test_the_best_case_says_what_was_found_and_after_what_effort(tmp_path):
    (tmp_path / "tables").mkdir()
    row = {"best_case": "small", "asks": "same constants", "part": "C20", "says": "all of it", "margin": 1.5}
    row |= {"agree": 97, "seeds": 100, "tried": 176, "candidate": "search"}
    rows = [{**row, "found": True}, {**row, "part": "C20a", "found": None}, {**row, "asks": "own", "found": False}]
    pd.DataFrame(rows).to_csv(tmp_path / "tables/best_cases.csv", index=False)
    region = {"best_case": "small", "share": 0.021, "share_low": 0.01, "share_high": 0.03}
    pd.DataFrame([region]).to_csv(tmp_path / "tables/best_case_regions.csv", index=False)
    write_claims(tmp_path, c20())
    said = answer.markdown(answer.gather(tmp_path, LEDGER))
    assert "| small | same constants | all of it | **found** | search | 1.5 | 97 of 100 | 176 |" in said
    assert "| small | own | all of it | **none found** | search | 1.5 | 97 of 100 | 176 |" in said
    assert "small 2.1% [1.0%, 3.0%]" in said
