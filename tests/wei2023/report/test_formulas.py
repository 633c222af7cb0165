"""Every equation becomes MathML that browsers draw, or an error; none is left as it was written."""

import re
import xml.etree.ElementTree as ET

import pytest

from shipped import LEDGER, ROOT
from wei2023.proofs import ledger
from wei2023.report.formulas import markdown, typeset
from wei2023.report.tables import html

CLAIMS = ledger.load(ROOT / "workflow/claims.yaml").claims
SENTENCES = ("where", "statement", "corrected", "measured", "test", "printed", "chosen", "evidence")


@pytest.mark.parametrize("entry", [*CLAIMS, *LEDGER], ids=lambda entry: entry.id)
def test_the_formulas_of_the_ledgers_come_out_whole(entry):
    """On lines of their own, and in sentences, where no mathematics is left plain."""
    for line in (entry.formula or "").splitlines():
        math = ET.fromstring(typeset(line, display=True))
        shown = "".join(math.itertext())
        assert shown.strip()
        assert not {"\\", "$", "&"} & {*shown}
        assert (math.get("display"), math.get("alttext")) == ("block", " ".join(line.split()))
    for text in filter(None, (getattr(entry, name, None) for name in SENTENCES)):
        words = re.sub("<math.*?</math>", "", html(text))
        assert not [raw for raw in ("$", "\\", "b~", "sqrt(", "^", "&lt;=") if raw in words], words


def test_most_deviations_that_are_about_an_equation_show_it():
    assert sum(entry.formula is not None for entry in LEDGER) >= 50
    without = {entry.id for entry in LEDGER if not entry.formula}
    assert without >= {"map", "horizon", "episodes", "metric"}


@pytest.mark.parametrize(
    ("latex", "said"),
    [
        (r"\unknown{x}", r"\\unknown is not known"),
        (r"\frac{a", "a brace is missing"),
        (r"\frac{a}", "a part of <mfrac> is missing"),
        (r"\href{javascript:alert(1)}{x}", "the attribute href"),
        (r"\style{color:red}{x}", "the attribute style"),
        (r"\class{over}{x}", "the attribute class"),
        (r"\begin{cases} a", "cannot be typeset"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_its_source(latex, said):
    with pytest.raises(ValueError, match=said) as refused:
        typeset(latex)
    assert repr(latex) in str(refused.value)


def test_nothing_in_a_formula_becomes_markup():
    made = typeset(r'\text{<script>alert("1")</script> &lt;b&gt;} < x')
    tags = {element.tag for element in ET.fromstring(made).iter()}
    assert tags == {"math", "mrow", "mtext", "mo", "mi"}
    assert "<script>" not in made
    assert "<b>" not in made


def test_a_formula_is_displayed_line_by_line():
    assert markdown("a_1 = 1") == "```math\na_1 = 1\n```"
    two = "```math\n\\begin{aligned}\n& a_1 = 1 \\\\\n& a_2 = 2 \\\\\n\\end{aligned}\n```"
    assert markdown("a_1 = 1\na_2 = 2") == two
