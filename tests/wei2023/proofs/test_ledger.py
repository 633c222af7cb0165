"""Every claim has an entry and a check, no verdict is written by hand, and what is written can be read by a machine."""

import json
from importlib import import_module

import pandas as pd
import pytest
import yaml

from nscmdp import files
from shipped import ROOT
from wei2023 import proofs as claims
from wei2023.proofs import findings, ledger, simulation
from wei2023.proofs.findings import CHECKS, FALSE, Finding, Inequality, Notice
from wei2023.report import claims as texts
from wei2023.report.tables import escaped
from wei2023.study import catalogue, layout, plan
from wei2023.verdicts import tables

FILE = ROOT / "workflow/claims.yaml"
ENVIRONMENT = {"name": "menu"}
RUN = {
    "name": "walk",
    "environment": ENVIRONMENT,
    "episodes": [8],
    "seeds": 1,
    "learners": [{"algorithm": "uniform", "setting": "literal"}],
}


@pytest.fixture(scope="module")
def known():
    for group in catalogue.CLAIM_GROUPS:
        import_module(f"wei2023.proofs.{group}")
    return ledger.load(FILE)


def test_all_claims_are_there(known):
    """Every id that the ledger ever had is a row or covered by one."""
    names = {name for entry in known.claims for name in (entry.id, *entry.covers)}
    lettered = [f"C15{letter}" for letter in "abcdef"] + ["C25a"]
    primed = [f"C{number}'" for number in (3, 12, 13, 14, 15, 16, 17, 18, 23, 24)] + [
        "C15e'",
        "C15f'",
    ]
    assert {*(f"C{number}" for number in range(1, 26)), *lettered, *primed} <= names


def test_every_entry_has_a_check_and_every_check_an_entry(known):
    assert {entry.id for entry in known.claims} == {*CHECKS} | {"C20"}


def test_a_check_stands_in_a_file_that_its_group_loads(known):
    """So that the group's sources, which decide when it is judged again, are those of its checks."""
    from nscmdp.kernels import sources

    for entry in known.claims:
        if entry.group != "simulation":
            of_group = sources.closure(f"wei2023.proofs.{entry.group}")
            module = CHECKS[entry.id].__module__
            assert any(file.stem == module.rpartition(".")[2] for file in of_group), entry.id


def test_a_statement_that_does_not_hold_to_the_letter_says_how_it_does(known):
    for entry in known.claims:
        if any(name.endswith("'") for name in entry.covers) and entry.id != "C15b":
            assert entry.corrected, entry.id


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, "holds"),
        ({"asymptotic": True}, "asymptotic"),
        ({"refuted": True}, "false"),
        (
            {"refuted": True, "asymptotic": True, "repair": "needs an assumption"},
            "needs an assumption",
        ),
        ({"refuted": True, "repair": "holds after a misprint"}, "holds after a misprint"),
        ({"refuted": True, "repair": "needs an assumption", "proved": False}, "open"),
        ({"refuted": True, "proved": False}, "false"),
        ({"proved": False, "asymptotic": True}, "open"),
    ],
)
def test_one_standard_decides(given, expected):
    assert findings.verdict(**given) == expected


@pytest.mark.parametrize(
    ("finding", "said"),
    [
        (Finding("mixed", "so"), "verdict 'mixed'"),
        (Finding("holds", "a" * 401), "401 characters"),
        (Finding("holds", "One. Two. Three."), "3 sentences"),
    ],
)
def test_what_cannot_be_shown_is_refused(finding, said):
    with pytest.raises(ValueError, match=said):
        finding.checked()
    assert Finding("holds", "Up to 1.5 of 2. No more.").checked()


def broken(change):
    raw = yaml.safe_load(FILE.read_text())
    change(raw)
    return raw


WRONG = {
    "a claim twice": (lambda raw: raw["claims"].append(raw["claims"][0]), "the id of two rows"),
    "a claim that is covered, too": (
        lambda raw: raw["claims"][0].update(covers=["C2"]),
        "or covered twice",
    ),
    "an unknown group": (lambda raw: raw["claims"][0].update(group="luck"), "group"),
    "a verdict by hand": (lambda raw: raw["claims"][0].update(verdict="holds"), "verdict"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_ledger_is_refused(tmp_path, what):
    change, said = WRONG[what]
    file = tmp_path / "claims.yaml"
    file.write_text(yaml.safe_dump(broken(change)))
    with pytest.raises(ValueError, match=said) as refused:
        ledger.load(file)
    assert str(file) in str(refused.value)


def test_a_claim_is_checked_once():
    with pytest.raises(ValueError, match="C1 is checked twice"):
        findings.check("C1")(lambda given: Finding("holds", "so"))


def test_looseness_is_in_orders_of_magnitude():
    assert Inequality("a", "b", 1000.0, 1.0).looseness == pytest.approx(3)
    assert Inequality("a", "b", 1.0, 0.0).looseness == float("inf")


def test_what_is_written_is_json_to_six_digits():
    steps, notices = [Inequality("a", "b", 2.0, 0.0)], Notice("divided by", 2.0)
    found = claims.plain(
        Finding("holds", "so", notices=notices, value=1 / 3, low=float("inf"), inequalities=steps)
    )
    assert found["notices"] == {"error": "divided by", "factor": 2.0}
    assert found["value"] == 0.333333
    assert found["low"] is None
    assert found["inequalities"][0]["looseness"] is None
    json.dumps(found, allow_nan=False)


@pytest.fixture
def judged(tmp_path, monkeypatch, known):
    """A study whose groups found some things."""
    monkeypatch.chdir(ROOT)
    planned = plan.make({"experiments": [RUN], "claims": {"problems": 2, "samples": 4}})
    for group in catalogue.CLAIM_GROUPS:
        found = {
            entry.id: claims.plain(
                Finding(
                    FALSE if entry.id == "C3" else "holds",
                    f"{entry.id} | 1",
                    [("in words", "so")],
                    value=1.0,
                    samples=5,
                )
            )
            for entry in known.claims
            if entry.group == group
        }
        files.write_text(tmp_path / layout.claims(group), json.dumps(found))
    (tmp_path / "letter.md").write_text("It is [[C1|value]], [[C1|in words]].")
    monkeypatch.setattr(texts, "ERRATUM", tmp_path / "letter.md")
    texts.write(planned, tmp_path)
    return tmp_path


def test_the_list_of_claims_says_where_what_and_by_what(judged, known):
    listed = json.loads((judged / layout.CLAIMS).read_text())
    assert [claim["id"] for claim in listed] == [
        entry.id for entry in known.claims if entry.id != "C20"
    ]
    needed = {
        "id",
        "where",
        "statement",
        "verdict",
        "value",
        "low",
        "high",
        "slack",
        "evidence",
        "corrected",
        "covers",
    }
    for claim in listed:
        assert needed <= claim.keys()
        assert claim["evidence"]["samples"] == 5
        assert claim["evidence"]["data"] == f"claims/{claim['group']}.json"
    verdicts = {claim["id"]: claim["verdict"] for claim in listed}
    assert (verdicts["C1"], verdicts["C3"]) == ("holds", "false")


def test_the_letter_has_numbers_in_its_places(judged):
    assert (judged / layout.ERRATUM).read_text() == "It is 1, so."


def test_a_letter_that_asks_for_what_no_claim_has_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(texts, "ERRATUM", tmp_path / "letter.md")
    (tmp_path / "letter.md").write_text("[[C1|no such number]]")
    with pytest.raises(
        ValueError, match=r"\[\[C1.no such number\]\] asks for what claim C1 does not have"
    ):
        texts.letter([{"id": "C1", "evidence": {"numbers": [["another", 1.0]]}}])


def test_the_text_has_a_row_for_every_claim(judged, known):
    text = (judged / layout.CLAIMS_TEXT).read_text()
    assert "| **false** | 1 |" in text
    for entry in known.claims:
        if entry.id != "C20":
            assert f"| {entry.id} |" in text
    assert "C1 \\| 1" in text


def test_the_text_has_the_equation_of_every_claim_and_what_decides_it(judged, known):
    text = (judged / layout.CLAIMS_TEXT).read_text()
    for entry in known.claims:
        if entry.id != "C20":
            section = text.split(f"\n### {entry.id}\n")[1].split("\n### ")[0]
            assert all(line in section for line in entry.formula.splitlines())
            assert escaped(entry.test) in section


def test_a_group_is_checked_with_the_effort_that_is_asked_for(tmp_path, monkeypatch, known):
    monkeypatch.chdir(ROOT)
    asked = []
    monkeypatch.setitem(
        CHECKS, "C13", lambda given: (asked.append(given), Finding("holds", "so"))[1]
    )
    planned = plan.make({"experiments": [RUN], "claims": {"problems": 2, "samples": 4}})
    claims.judge(planned, tmp_path, "bandit")
    assert asked[0][:3] == (2, 4, tmp_path)
    with pytest.raises(ValueError, match="expected one of learning_rates"):
        claims.judge(planned, tmp_path, "luck")
    with pytest.raises(ValueError, match="asks for no claims"):
        claims.judge(plan.make({"experiments": [RUN]}), tmp_path, "bandit")


@pytest.mark.parametrize(
    ("agree", "said"), [([20, 20], "holds"), ([3, 0], "false"), ([20, 3], "depends")]
)
def test_the_simulation_is_one_of_the_claims(tmp_path, monkeypatch, agree, said):
    monkeypatch.chdir(ROOT)
    rows = [
        {"name": str(i), "all forgiving agree": number, "all forgiving of": 20}
        for i, number in enumerate(agree)
    ]
    tables.write_csv(tmp_path / layout.table("protocols.csv"), pd.DataFrame(rows))
    found = simulation.finding(tmp_path)
    assert found.verdict.startswith(said)
    assert found.value == agree.count(20) / 2
