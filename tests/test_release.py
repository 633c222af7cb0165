"""What is committed of the last full run agrees with itself and with what is shipped; `make readme` renews it."""

import json

import pandas as pd
import pytest

from shipped import LEDGER_FILE, ROOT, compared, measuring
from wei2023.proofs import ledger
from wei2023.report import deviations, readme, reference
from wei2023.report.tables import escaped

pytestmark = pytest.mark.release

EFFECTS = ROOT / "docs/deviations_effects.csv"


def test_the_committed_effects_are_of_the_shipped_experiments():
    effects = pd.read_csv(EFFECTS, dtype=str)
    rows = effects[["switch", "from", "to"]].drop_duplicates().itertuples(index=False, name=None)
    assert sorted(rows) == sorted(set(compared(measuring())))
    assert set(effects["measure"]) == {"reward", "utility", "gap"}
    assert not effects.duplicated(
        ["switch", "from", "to", "learner", "environment", "measure"]
    ).any()


def test_the_committed_page_is_made_from_the_ledger_and_the_committed_effects(tmp_path):
    deviations.text(tmp_path / "made.md", EFFECTS, LEDGER_FILE)
    made = (tmp_path / "made.md").read_text(encoding="utf-8")
    assert made == (ROOT / "docs/deviations.md").read_text(encoding="utf-8"), "run: make readme"


def test_the_readme_has_the_answer_of_the_committed_numbers():
    numbers = json.loads((ROOT / "docs/answer.json").read_text())
    text = (ROOT / "README.md").read_text()
    assert readme.between(text, readme.ANSWER, readme.answer(numbers)) == text, "run: make readme"


def test_the_reference_states_the_committed_answer():
    stated = json.loads((ROOT / "docs/reference.json").read_text())["values"]
    numbers = json.loads((ROOT / "docs/answer.json").read_text())
    assert {name: value for name, value in stated.items() if name.startswith("answer/")} == dict(
        reference.numbers("answer", numbers)
    ), "run: make readme"


def test_the_reference_has_a_verdict_for_every_claim_and_the_committed_ledger_shows_it():
    stated = json.loads((ROOT / "docs/reference.json").read_text())["values"]
    text = (ROOT / "docs/claims.md").read_text(encoding="utf-8")
    for entry in ledger.load(ROOT / "workflow/claims.yaml").claims:
        verdict = stated[f"claims/{entry.id}/verdict"]
        (line,) = [line for line in text.splitlines() if line.startswith(f"| {entry.id} |")]
        assert f"| **{verdict}** |" in line, "run: make readme"
        assert escaped(entry.statement) in line, "run: make readme"
