"""A table is the same in every medium, and what is in its cells stays there."""

import pandas as pd
import pytest
from markupsafe import Markup

from wei2023.report import tables
from wei2023.report.tables import Table, escaped, html

SMALL = Table(
    "Small",
    ["learner", "cost / mean", "cost / worst", "verdict", "K"],
    [
        ["**a**", "1.00 [0.50, 1.50]", "↑ 7", "**false**", "1,000"],
        [escaped("b_c | d"), "-", "6", "**holds**", "2,000 (recorded)"],
    ],
)
HOSTILE = '<script>alert(1)</script>"><img src=x onerror=alert(1)>'


def test_a_table_in_markdown():
    assert SMALL.markdown().splitlines() == [
        "| learner | mean | worst | verdict | K |",
        "| --- | --- | --- | --- | --- |",
        "| **a** | 1.00 [0.50, 1.50] | ↑ 7 | **false** | 1,000 |",
        r"| b\_c \| d | - | 6 | **holds** | 2,000 (recorded) |",
    ]
    assert SMALL._repr_markdown_() == SMALL.markdown()


def test_a_table_on_a_page():
    made = SMALL.html()
    assert '<td colspan="1"></td><th scope="colgroup" colspan="2">cost</th>' in made
    assert '<th scope="col">learner</th><th scope="col" class="n">mean</th>' in made
    assert '<td class="n">1.00 <small>[0.50, 1.50]</small></td>' in made
    assert '<td class="n over">↑ 7</td>' in made
    assert '<td><strong class="class fails">false</strong></td><td class="n">1,000</td>' in made
    assert '<th scope="row">b_c | d</th>' in made
    assert SMALL._repr_html_() == made
    assert "colgroup" not in SMALL.only("learner", "K").html()


def test_a_table_in_a_terminal():
    assert str(SMALL).splitlines() == [
        "learner  mean               worst  verdict  K",
        "a        1.00 [0.50, 1.50]  ↑ 7    false    1,000",
        "b_c | d  -                  6      holds    2,000 (recorded)",
    ]


def test_columns_can_be_chosen():
    chosen = SMALL.only("K", "learner")
    assert (chosen.columns, chosen.rows[0]) == (["K", "learner"], ["1,000", "**a**"])
    assert SMALL.without("mean", "worst", "verdict").headings == ["learner", "K"]


def test_cells_are_escaped_and_link_what_they_name():
    links = {"C3'": "claims.html#C3%27", "ties": "deviations.html#ties"}
    assert html("<b> & C3' (ledger: ties), ties, C4, XC3', C3x", links) == (
        '&lt;b&gt; &amp; <a href="claims.html#C3%27">C3&#39;</a> '
        '(ledger: <a href="deviations.html#ties">ties</a>), ties, C4, XC3&#39;, C3x'
    )
    assert html("[a_b](x/y.csv), `c`") == '<a href="x/y.csv">a_b</a>, <code>c</code>'
    assert html(tables.linked("x y/a_b.csv")) == '<a href="x%20y/a_b.csv">x y/a_b.csv</a>'
    for text in (HOSTILE, escaped(HOSTILE)):
        assert "<" not in html(text)
    assert "&lt;script&gt;" in Table("t", [HOSTILE, "b"], [[HOSTILE, HOSTILE]]).html()


def test_formulas_stay_formulas():
    assert escaped("a_1 | $b_1 < 2$") == r"a\_1 \| $b_1 < 2$"
    assert html("a $b_1$").count("<math") == 1
    with pytest.raises(ValueError, match="a dollar without a second one"):
        html("it costs $5")


def test_a_frame_is_shown_as_it_is():
    frame = pd.DataFrame({"big_name": ["a_b", None], "K": [80_000, 5], "x": [1.23456e-06, None]})
    table = tables.of_frame("Frame", frame)
    assert table.columns == ["big name", "K", "x"]
    assert table.rows == [[r"a\_b", "80,000", "1.235e-06"], ["", "5", ""]]


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [(1.234, ".2f", "1.23"), (None, ".2f", "-"), (-0.001, ".0%", "0%"), (-0.02, ".0%", "-2%")],
)
def test_numbers(value, form, text):
    assert tables.number(value, form) == text


def test_intervals():
    assert tables.interval((1, 0.5, 1.5)) == "1.00 [0.50, 1.50]"
    assert tables.interval((1, None, float("nan"))) == "1.00"
    assert html("1.00 [0.50, 1.50]") == Markup("1.00 <small>[0.50, 1.50]</small>")
    assert html("in [0, 1]") == "in [0, 1]"


def test_orders_of_growth_are_formulas():
    rows = {"algorithm": ["triple_q"] * 2, "regret_order": ["K^{4/5} (no drift)", "none claimed"]}
    regret = tables.comparison(pd.DataFrame(rows)).only("regret")
    assert regret.rows == [["$K^{4/5}$ (no drift)"], ["none claimed"]]
