"""Every claim has an entry and a check, no verdict is written by hand, and what is written can be read by a machine."""

import json
from fractions import Fraction
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
    primed = ("3", "12", "13", "14", "15", "15e", "15f", "16", "17", "18", "23", "24")
    expected = [*range(1, 26), *(f"15{letter}" for letter in "abcdef"), "25a"]
    assert {f"C{one}" for one in (*expected, *(f"{one}'" for one in primed))} <= names


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


ASSUMPTION, MISPRINT = findings.ASSUMPTION, findings.MISPRINT
STANDARD = [
    ({}, "holds"),
    ({"asymptotic": True}, "asymptotic"),
    ({"refuted": True}, "false"),
    ({"refuted": True, "asymptotic": True, "repair": ASSUMPTION}, ASSUMPTION),
    ({"refuted": True, "repair": MISPRINT}, MISPRINT),
    ({"refuted": True, "repair": ASSUMPTION, "proved": False}, "open"),
    ({"refuted": True, "proved": False}, "false"),
    ({"proved": False, "asymptotic": True}, "open"),
]


def test_one_standard_decides():
    assert [findings.verdict(**given) for given, _ in STANDARD] == [said for _, said in STANDARD]


WRONG = {
    "the id of two rows": lambda claims: claims.append(claims[0]),
    "or covered twice": lambda claims: claims[0].update(covers=["C2"]),
    "group": lambda claims: claims[0].update(group="luck"),
    "verdict": lambda claims: claims[0].update(verdict="holds"),  # by hand
    "why.mixed": lambda claims: claims[0].update(why={"mixed": "so"}),
    "401 characters": lambda claims: claims[0].update(why={"holds": "a" * 401}),
    "3 sentences": lambda claims: claims[0].update(why={"holds": "Up to 1.5. Two. Three."}),
}


@pytest.mark.parametrize("said", WRONG)
def test_a_wrong_ledger_is_refused(tmp_path, said):
    raw, file = yaml.safe_load(FILE.read_text()), tmp_path / "claims.yaml"
    WRONG[said](raw["claims"])
    file.write_text(yaml.safe_dump(raw))
    with pytest.raises(ValueError, match=said) as refused:
        ledger.load(file)
    assert str(file) in str(refused.value)


def test_a_claim_is_checked_once():
    with pytest.raises(ValueError, match="C1 is checked twice"):
        findings.check("C1")(lambda given: Finding("holds"))


def test_looseness_is_in_orders_of_magnitude():
    assert Inequality("a", "b", 1000.0, 1.0).looseness == pytest.approx(3)
    assert Inequality("a", "b", 1.0, 0.0).looseness == float("inf")


def test_what_is_written_is_json_to_six_digits(known):
    steps, notices = [Inequality("a", "b", 2.0, 0.0)], Notice("divided by", 2.0)
    numbers = {"in words": "so", "exact": Fraction(1, 3)}
    given = {"low": float("inf"), "says": {"lost": ("R", "V")}}
    finding = Finding("holds", numbers, notices, 1 / 3, inequalities=steps, **given)
    found = claims.plain(finding)
    assert found["notices"] == {"error": "divided by", "factor": 2.0}
    assert found["numbers"] == [["in words", "so"], ["exact", 0.333333]]
    assert (found["value"], found["low"]) == (0.333333, None)
    assert found["inequalities"][0]["looseness"] is None
    json.dumps(found, allow_nan=False)
    (entry,) = (entry for entry in known.claims if entry.id == "C16")
    assert (
        "R = R K, V = V K"
        in claims.plain(finding._replace(verdict="needs an assumption"), entry)["why"]
    )
    assert "contradicts what was found" in claims.plain(finding, entry)["why"]


@pytest.fixture
def judged(tmp_path, monkeypatch, known):
    """A study whose groups found some things."""
    monkeypatch.chdir(ROOT)
    planned = plan.make({"experiments": [RUN], "claims": {"problems": 2, "samples": 4}})
    for group in catalogue.CLAIM_GROUPS:
        found = {}
        for entry in (entry for entry in known.claims if entry.group == group):
            verdict = FALSE if entry.id == "C3" else "holds"
            one = claims.plain(Finding(verdict, {"in words": "so"}, value=1.0, samples=5))
            found[entry.id] = {**one, "why": f"{entry.id} | 1"}
        files.write_text(tmp_path / layout.claims(group), json.dumps(found))
    (tmp_path / "letter.md").write_text("It is [[C1|value]], [[C1|in words]].")
    monkeypatch.setattr(texts, "ERRATUM", tmp_path / "letter.md")
    texts.write(planned, tmp_path)
    return tmp_path


def test_the_list_of_claims_says_where_what_and_by_what(judged, known):
    listed = json.loads((judged / layout.CLAIMS).read_text())
    ids = [entry.id for entry in known.claims if entry.id != "C20"]
    assert [claim["id"] for claim in listed] == ids
    needed = {"id", "where", "statement", "verdict", "value", "low", "high", "slack", "evidence"}
    needed |= {"corrected", "covers"}
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
    said = r"\[\[C1.no such number\]\] asks for what claim C1 does not have"
    with pytest.raises(ValueError, match=said):
        texts.letter([{"id": "C1", "evidence": {"numbers": [["another", 1.0]]}}])


def test_the_text_has_a_row_for_every_claim_its_equation_and_what_decides_it(judged, known):
    text = (judged / layout.CLAIMS_TEXT).read_text()
    assert "| **false** | 1 |" in text
    assert "C1 \\| 1" in text
    for entry in (entry for entry in known.claims if entry.id != "C20"):
        assert f"| {entry.id} |" in text
        section = text.split(f"\n### {entry.id}\n")[1].split("\n### ")[0]
        assert all(line in section for line in entry.formula.splitlines())
        assert escaped(entry.test) in section


def test_a_group_is_checked_with_the_effort_that_is_asked_for(tmp_path, monkeypatch, known):
    monkeypatch.chdir(ROOT)
    asked = []
    monkeypatch.setitem(CHECKS, "C13", lambda given: asked.append(given) or Finding("holds"))
    planned = plan.make({"experiments": [RUN], "claims": {"problems": 2, "samples": 4}})
    claims.judge(planned, tmp_path, "bandit")
    assert asked == [(2, 4)]
    with pytest.raises(ValueError, match="expected one of learning_rates"):
        claims.judge(planned, tmp_path, "luck")
    with pytest.raises(ValueError, match="asks for no claims"):
        claims.judge(plan.make({"experiments": [RUN]}), tmp_path, "bandit")


@pytest.mark.parametrize(
    ("agree", "said"), [([20, 20], "holds"), ([3, 0], "false"), ([20, 3], "depends")]
)
def test_the_simulation_is_one_of_the_claims(tmp_path, monkeypatch, agree, said):
    monkeypatch.chdir(ROOT)
    columns = {"name": ["a", "b"], "all forgiving agree": agree, "all forgiving of": 20}
    tables.write_csv(tmp_path / layout.table("protocols.csv"), pd.DataFrame(columns))
    found = simulation.finding(tmp_path)
    assert found.verdict.startswith(said)
    assert found.value == agree.count(20) / 2
