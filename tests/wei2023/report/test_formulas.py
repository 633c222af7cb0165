"""Every equation becomes MathML that browsers draw, or an error; none is left as it was written."""

import xml.etree.ElementTree as ET

import pytest

from shipped import LEDGER, ROOT
from wei2023.proofs import ledger
from wei2023.report.page.formulas import lines, typeset
from wei2023.report.page.mathfont import css, made
from wei2023.report.page.prose import prose
from wei2023.verdicts import deviations

FORMULAS = {entry.id: entry.formula for entry in ledger.load(ROOT / "workflow/claims.yaml").claims}
FORMULAS |= {entry.id: entry.formula for entry in LEDGER if entry.formula}


def elements(latex, display=False):
    return [*ET.fromstring(typeset(latex, display)).iter()]


def texts(latex, display=False):
    return [element.text for element in elements(latex, display) if element.text]


def only(latex, tag, display=False):
    (found,) = [element for element in elements(latex, display) if element.tag == tag]
    return found


@pytest.mark.parametrize("entry", FORMULAS)
def test_the_formulas_of_the_ledgers_come_out_whole(entry):
    for _, formula in lines(FORMULAS[entry]):
        math = ET.fromstring(formula)
        shown = "".join(math.itertext())
        assert shown.strip()
        assert not {"\\", "$", "&"} & {*shown}
        assert math.get("display") == "block"


def test_most_deviations_that_are_about_an_equation_show_it():
    assert sum(entry.formula is not None for entry in LEDGER) >= 50
    assert {entry.id for entry in LEDGER if not entry.formula} >= {
        "map",
        "horizon",
        "episodes",
        "metric",
    }


def test_the_source_stays_as_the_alternative_text():
    assert ET.fromstring(typeset("a <\n b")).get("alttext") == "a < b"


def test_words_before_a_line_are_apart_from_it():
    (label, first), (none, second) = lines("\\text{printed:}\\quad a = 1\n\\text{if } b")
    assert (label, none) == ("printed", "")
    assert "printed" not in first
    assert "if" in second


def test_limits_stand_below_sums_and_maxima_wherever_they_are():
    below = only(r"\left| \sum_{i=1}^t x_i \right|", "munderover", display=True)
    assert [below[0].text, below[2].text] == ["\u2211", "t"]
    assert only(r"\max_a F(a)", "munder", display=True)[0].get("movablelimits") == "true"


def test_accents_are_marks_above_the_letter():
    for command, mark in (("hat", "\u02c6"), ("tilde", "\u02dc"), ("bar", "\u02c9")):
        over = only(rf"\{command} b", "mover")
        assert (over.get("accent"), over[0].text, over[1].text) == ("true", "b", mark)


def test_letters_of_other_alphabets_are_characters_of_their_own():
    assert texts(r"\mathbb{E}") == ["\U0001d53c"]
    assert texts(r"\mathcal{R}") == ["\u211b"]


def test_functions_are_set_apart_and_signs_are_not():
    assert [element.tag for element in elements(r"2 \log x")][2:] == [
        "mn",
        "mspace",
        "mi",
        "mspace",
        "mi",
    ]
    assert "mspace" not in [element.tag for element in elements(r"\log(x)")]
    signs = [
        element.get("form") for element in elements("a - b \\le -c") if element.text == "\u2212"
    ]
    assert signs == [None, "prefix"]


def test_brackets_stretch_only_where_they_are_asked_to():
    stretched = {"(x)": {"false"}, r"\lfloor x \rfloor": {"false"}, r"\left( x \right)": {"true"}}
    for latex, expected in stretched.items():
        assert {
            element.get("stretchy") for element in elements(latex) if element.tag == "mo"
        } == expected


@pytest.mark.parametrize(
    ("latex", "said"),
    [
        (r"\unknown{x}", r"\\unknown is not known"),
        (r"\frac{a", "a brace is missing"),
        (r"\frac{a}", "cannot be typeset"),
        (r"\href{javascript:alert(1)}{x}", "the attribute href"),
        (r"\style{color:red}{x}", "the attribute style"),
        (r"\class{over}{x}", "the attribute class"),
        (r"\color{red} x", "the attribute mathcolor"),
        (r"\mathbf 1", "no browser draws the alphabet bold"),
        (r"\begin{cases} a", "cannot be typeset"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_its_source(latex, said):
    with pytest.raises(ValueError, match=said) as refused:
        typeset(latex)
    assert repr(latex) in str(refused.value)


def test_nothing_in_a_formula_becomes_markup():
    hostile = r'\text{<script>alert("1")</script> &lt;b&gt;} < x'
    math = ET.fromstring(typeset(hostile))
    assert {element.tag for element in math.iter()} == {"math", "mrow", "mtext", "mo", "mi"}
    assert "<script>" not in typeset(hostile)
    assert "<b>" not in typeset(hostile)


@pytest.mark.parametrize(
    ("text", "sources"),
    [
        ("at most H b~, for eps <= delta/2", ["H", r"\tilde b", r"\epsilon", r"\delta"]),
        ("of order B^(1/3) K^(4/5)", ["B^{1/3}", "K^{4/5}"]),
        ("8 sqrt(S A H^6 iota^3) / K^0.2", [r"\sqrt{S A H^{6} \iota^{3}}", "K^{0.2}"]),
        ("V_g,1 of x_{k,h+1} and b_Delta", ["V_{g}", "x_{k,h+1}", r"b_{\Delta}"]),
        ("(Cbar/L)^+ of V* - V*_eps", [r"\bar C", "L", ")^{+}", "V^{*}", r"V_{\epsilon}^{*}"]),
        (
            "from K = 1e60 on, 2e-24 or 1.48e+05",
            ["K", "10^{60}", r"2 \times 10^{-24}", r"1.48 \times 10^{5}"],
        ),
        ("(H = 2, S = 1, A = 2), t = 3", ["H", "S", "A", "t"]),
        ("H-h+1 steps of a Q-function", ["H-h+1"]),
        ("A policy of Triple-Q in appendix B, a state (C3') of triple_q.tuned_each", []),
        ("the whole of $a_1 < b$ and `no $dollar$ here, eps`", ["a_1 < b"]),
    ],
)
def test_symbols_of_sentences_are_typeset_and_words_are_not(text, sources):
    found = [math.get("alttext") for math in ET.fromstring(f"<p>{prose(text)}</p>").iter("math")]
    assert found == sources


def test_relations_and_minus_signs_are_characters():
    written = prose("1 - 2 >= -3, +-4, <- 5, well-known")
    assert written == "1 \u2212 2 \u2265 \u22123, \u00b14, \u2190 5, well-known"


def test_sentences_are_escaped_and_link_what_they_name():
    links = {"C3'": "claims.html#C3%27", "C3": "claims.html#C3", "ties": "deviations.html#ties"}
    assert prose("<b> & C3' (ledger: ties), ties", links) == (
        '&lt;b&gt; &amp; <a href="claims.html#C3%27">C3&#39;</a> '
        '(ledger: <a href="deviations.html#ties">ties</a>), ties'
    )
    assert "<a" not in prose("C4, XC3, C3x", links)


def test_a_dollar_without_a_second_one_is_refused():
    with pytest.raises(ValueError, match="a dollar without a second one"):
        prose("it costs $5")


def test_the_font_has_what_formulas_need_and_is_always_the_same():
    from io import BytesIO

    from fontTools.ttLib import TTFont

    assert made() == made()
    font = TTFont(BytesIO(made()))
    typeset_lines = [line for text in FORMULAS.values() for _, line in lines(text)]
    used = {
        character
        for line in typeset_lines
        for part in ET.fromstring(line).itertext()
        for character in part
    }
    assert {character for character in used if ord(character) not in font.getBestCmap()} <= {
        "\u2061",
        "\n",
    }
    assert "parenleft" in font["MATH"].table.MathVariants.VertGlyphCoverage.glyphs
    assert font["name"].getDebugName(1) is None  # the name of the whole font is reserved
    assert "http" not in css().split("base64,")[0]


def test_a_ledger_is_loaded_with_formulas_of_several_lines(tmp_path):
    entry = next(entry for entry in LEDGER if entry.id == "frame-length")
    assert len(entry.formula.splitlines()) == 2
    assert deviations.Entry.model_validate(entry.model_dump()) == entry
