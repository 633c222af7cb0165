"""The ledgers show every entry once, with its verdict, its equation and what was measured, and
nothing breaks out.
"""

import json
from html.parser import HTMLParser
from types import SimpleNamespace

import pandas as pd
import pytest
from markupsafe import escape

from nscmdp import files
from nscmdp.files import write_csv
from shipped import LEDGER, ROOT
from wei2023.proofs import findings, ledger
from wei2023.report import render
from wei2023.report.page import ledgers
from wei2023.study import layout
from wei2023.verdicts import deviations

HOSTILE = '<script>alert(1)</script>"><img src=x onerror=alert(1)>'
FRAME = {"title": "t", "here": "", "pages": [], "contents": [], "styles": [], "loaded": []}
KNOWN = ledger.load(ROOT / "workflow/claims.yaml")
PLAN = SimpleNamespace(claim_groups=["learning_rates"], notebooks={})


def judged(verdict="holds", **changes):
    """A claim as claims.json has it."""
    evidence = {
        "why": "it is so, with b~ <= 1",
        "bound": 2.0,
        "slack_in": "units of the value",
        "samples": 1200,
    }
    evidence |= {
        "numbers": [["arms tried", 7.0], ["rule", "the best"]],
        "notices": {"error": "divided by", "factor": 3.9},
    }
    evidence |= {
        "data": "claims/learning_rates.json",
        "rows": 3,
        "figure": "figures/claims_learning_rates.svg",
    }
    numbers = {"value": 1.5, "low": 1.4, "high": 1.6, "slack": 0.5}
    return {"verdict": verdict, **numbers, "evidence": evidence, **changes}


def effects(*rows):
    columns = deviations.COLUMNS
    return pd.DataFrame([dict(zip(columns, row, strict=True)) for row in rows], columns=columns)


EFFECT = [
    "nonstationary_triple_q.variants.reset",
    "full",
    "bump",
    "nonstationary_triple_q.scaled",
    "menu",
    64,
    2.0,
    5,
]
EFFECTS = effects(
    [*EFFECT, "reward", 0.95, 0.845, -0.105, -0.111, -0.098],
    [*EFFECT, "utility", 3.12, 3.403, 0.283, 0.278, 0.288],
    [*EFFECT, "gap", 0.264, 0.154, -0.11, -0.113, -0.107],
)


class Page(HTMLParser):
    """The entries of a ledger, the tags that it is made of, and the text that is seen."""

    def __init__(self, text):
        super().__init__()
        self.entries, self.tags, self.seen, self._skipped = {}, [], [], 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.tags.append((tag, given))
        self._skipped += tag in ("script", "style")
        if tag == "article":
            assert given["id"] not in self.entries
            self.entries[given["id"]] = given

    def handle_endtag(self, tag):
        self._skipped -= tag in ("script", "style")

    def handle_data(self, data):
        if not self._skipped:
            self.seen.append(data)

    @property
    def text(self):
        return " ".join(self.seen)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The results of a study, as far as the ledgers go."""
    monkeypatch.chdir(ROOT)
    verdicts = [*findings.VERDICTS]
    claims = [
        {**entry.model_dump(), **judged(verdicts[number % len(verdicts)])}
        for number, entry in enumerate(KNOWN.claims)
    ]
    files.write_text(tmp_path / layout.CLAIMS, json.dumps(claims))
    write_csv(tmp_path / layout.table("deviations.csv"), EFFECTS)
    return tmp_path


def rendered(folder, name, plan=PLAN):
    template = render.environment().get_template(f"{name}.html.j2")
    return template.render(**FRAME, **ledgers.context(plan, folder)[name])


def change(folder, number, **changes):
    claims = json.loads((folder / layout.CLAIMS).read_text())
    claims[number] |= changes
    files.write_text(folder / layout.CLAIMS, json.dumps(claims))


def test_every_entry_is_there_once(folder):
    page, claims = Page(rendered(folder, "claims")), ledgers.judged(PLAN, folder)
    assert {*page.entries} == {claim["id"] for claim in claims}
    for verdict in findings.VERDICTS:
        counted = sum(claim["verdict"] == verdict for claim in claims)
        assert page.seen.count(verdict) == counted + (counted > 0)
    ids = [entry.id for kind in deviations.KINDS for entry in LEDGER if entry.kind == kind]
    assert [*Page(rendered(folder, "deviations")).entries] == ids


def test_the_address_of_a_covered_claim_leads_to_its_row(folder):
    ids = [given.get("id") for _, given in Page(rendered(folder, "claims")).tags]
    covered = [name for entry in KNOWN.claims for name in entry.covers]
    assert covered
    assert [name for name in covered if ids.count(name) != 1] == []
    links = ledgers.links(ledgers.judged(PLAN, folder))
    assert links["C24"] == links["C16"] == "claims.html#C16"


def test_what_holds_in_place_of_a_statement_is_shown(folder):
    change(folder, 0, corrected="with b~ <= 2 it holds")
    assert "As it holds." in rendered(folder, "claims")


def test_the_effect_that_is_shown_is_that_of_the_table(folder):
    page = rendered(folder, "deviations")
    for row in EFFECTS.to_dict("records"):
        assert "{without:.3f} to {with:.3f} ({difference:+.3f} ".format(**row) in page
        assert "<small>[{low:+.3f}, {high:+.3f}]</small>)".format(**row) in page
    article = page.split('id="frame-end-reset"')[1].split("</article>")[0]
    assert "reset: full to bump" in article
    assert page.count("Measured effect of") == 1


def test_what_decided_a_verdict_is_shown(folder):
    change(folder, 0, value=1e60, low=None, high=None)
    text = Page(rendered(folder, "claims")).text
    for fact in (
        "Slack 0.5 (units of the value",
        "1,200 problems, runs or steps",
        "divided by 3.9",
        "the best",
    ):
        assert fact in text


@pytest.mark.parametrize("field", ["where", "statement", "measured", "test", "id"])
def test_hostile_text_in_a_claim_stays_text(folder, field):
    change(folder, 0, **{field: HOSTILE})
    page = rendered(folder, "claims")
    assert "<img" not in page
    assert str(escape("<script>alert(1)")) in page
    assert not [tag for tag, given in Page(page).tags if "onerror" in given]


def test_hostile_text_in_a_deviation_stays_text(folder, monkeypatch):
    texts = dict.fromkeys(("where", "printed", "chosen", "evidence"), HOSTILE)
    entry = LEDGER[0].model_copy(
        update={**texts, "values": [HOSTILE], "formula": r"a < \text{<img onerror=x>}"}
    )
    monkeypatch.setattr(deviations, "load", lambda file: [entry])
    page = rendered(folder, "deviations")
    assert "<img" not in page
    assert "<script>alert" not in page
    assert "&lt;img" in page


def test_a_formula_that_cannot_be_typeset_is_refused(folder):
    change(folder, 0, formula=r"\nonsense")
    with pytest.raises(ValueError, match=r"nonsense is not known"):
        rendered(folder, "claims")


def test_without_claims_there_is_no_page_of_them_and_no_link_to_it(folder):
    plain = SimpleNamespace(claim_groups=[], notebooks={})
    assert "claims" not in ledgers.context(plain, folder)
    assert "claims.html" not in rendered(folder, "deviations", plain)
    assert "claims.html#C12" in rendered(folder, "deviations")


def test_without_script_all_entries_are_shown_and_controls_are_not(folder):
    for name in ("claims", "deviations"):
        page = Page(rendered(folder, name))
        assert not [given for tag, given in page.tags if tag == "article" and "hidden" in given]
        (form,) = [given for tag, given in page.tags if tag == "form"]
        assert "scripted-only" in form["class"]
        assert form["id"] == name
