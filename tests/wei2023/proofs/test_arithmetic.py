"""Costs, Table 1 and the remarks on orders, against hand counts and plain numbers."""

import math
from fractions import Fraction

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from wei2023.proofs import arithmetic
from wei2023.proofs.arithmetic import Monomial, kept, parse, printed
from wei2023.proofs.findings import ASSUMPTION, CHECKS, FALSE, HOLDS, MISPRINT, NO_SOURCE
from wei2023.proofs.findings import Given as Effort
from wei2023.verdicts import theory

sizes = st.fixed_dictionaries({name: st.floats(1.0, 1e6) for name in "SAHKBd"})
fractions = st.fractions(-3, 3, max_denominator=12)
powers = st.dictionaries(st.sampled_from("SAHKBd"), fractions, max_size=6)
monomials = st.builds(Monomial, powers, st.floats(0.1, 10.0))


def value(order, at):
    return order.coefficient * math.prod(at[name] ** float(p) for name, p in order.powers.items())


def verdict(claim):
    return CHECKS[claim](Effort(5, 5)).verdict


@drawn(monomials, monomials, fractions, sizes)
def test_monomials_multiply_as_numbers_do(one, other, power, at):
    assert value(one * other, at) == pytest.approx(value(one, at) * value(other, at), rel=1e-9)
    assert value(one / other, at) == pytest.approx(value(one, at) / value(other, at), rel=1e-9)
    assert value(one**power, at) == pytest.approx(value(one, at) ** float(power), rel=1e-9)
    substituted = {**at, "K": value(other, at)}
    assert value(one.substitute("K", other), at) == pytest.approx(value(one, substituted), rel=1e-6)
    logs = {name: math.log10(size) for name, size in at.items()}
    assert one.log10(logs) == pytest.approx(math.log10(value(one, at)), abs=1e-9)


def test_orders_are_read_exactly():
    assert parse("H^4 S^{1/2} K (no drift)").powers == {"H": 4, "S": Fraction(1, 2), "K": 1}
    with pytest.raises(ValueError, match="is not a power"):
        parse("none claimed 7")


@drawn(st.lists(st.integers(-50, 50), min_size=1, max_size=3), st.integers(1, 5))
def test_differences_find_the_degree_of_a_polynomial(coefficients, step):
    at = range(3, 3 + 4 * step, step)
    highest = max((i for i, c in enumerate(coefficients) if c), default=-1)
    points = [sum(c * x**i for i, c in enumerate(coefficients)) for x in at]
    assert arithmetic.degree(points) == highest


def test_costs_are_those_counted_by_hand():
    """Q, C and N of 8 bytes; of a model, counts of 8 and successors of 4 for every (h,x,a,y)."""
    assert kept(theory.FIRST, 16, 3, 4) - kept(theory.FIRST, 8, 3, 4) == 8 * (3 * 8 * 4 * 3)
    for name in (theory.THIRD, "propd_ppo"):
        a, b, c = (kept(name, S, 3, 4) for S in (8, 16, 24))
        assert c - 2 * b + a == 2 * 8**2 * (8 + 4) * 4 * 3
    third = 2 * (5 * (3 * (1 + 2 * 11) + 6 + 8) + 4)
    assert [*arithmetic.touched(5, 3, 2).values()] == [2 * 24, 2 * 5 * 11, third]


def test_an_algorithm_1_that_keeps_a_model_is_noticed(monkeypatch):
    assert verdict("C19") == HOLDS
    names = {theory.FIRST: "propd_ppo"}
    monkeypatch.setattr(arithmetic, "kept", lambda name, **at: kept(names.get(name, name), **at))
    assert verdict("C19") == FALSE


@pytest.mark.parametrize(
    ("algorithm", "order", "claim", "found"),
    [
        (None, "", "C21", ASSUMPTION),
        (None, "", "C25", NO_SOURCE),
        (None, "", "C26", FALSE),
        (None, "", "C27", MISPRINT),
        (theory.FIRST, "H^4 S^{1/2} A^{1/2} K^{3/4} B^{1/3}", "C21", FALSE),
        (theory.SECOND, "H^4 S^{1/2} A^{1/2} K^{7/8} B^{1/3}", "C21", FALSE),
        (theory.FOURTH, "K^{8/9} H^{9/4} d^{5/4} B^{1/4}", "C21", FALSE),
        ("propd_ppo", "d^{3/2} H^{5/2} K^{3/4} B^{1/3}", "C25", HOLDS),
        ("propd_ppo", "d^{3/2} H^{5/2} K^{3/4} B^{1/4}", "C25", FALSE),  # no gain in B
        ("propd_ppo", "d^{3/2} H^{5/3} K^{3/4} B^{1/3}", "C25", FALSE),  # a loss in H
        (theory.FIRST, "K^{1/2} B^{1/3}", "C26", HOLDS),
        (theory.FIRST, "K^{2/3} B^{1/3}", "C27", HOLDS),
        (theory.FIRST, "K^{4/5} B^{1/4}", "C27", FALSE),
    ],
)
def test_another_power_in_a_row_is_another_verdict(algorithm, order, claim, found, monkeypatch):
    changed = {algorithm: order}
    rows = [r._replace(regret_order=changed.get(r.algorithm, r.regret_order)) for r in theory.TABLE]
    monkeypatch.setattr(theory, "TABLE", rows)
    assert verdict(claim) == found


@drawn(sizes)
def test_orders_cross_where_they_are_said_to(at):
    """H^(7/3) A^(1/6) K^(1/20) = S^(1/6), and B^(1/12) = (H S)^(7/12) A^(11/12)."""
    S = at["A"] * at["H"] ** 14 * at["K"] ** 0.3
    assert value(arithmetic.least_states(), at) == pytest.approx(S, rel=1e-9)
    tabular = {**at, "d": at["S"] * at["A"], "B": (at["H"] * at["S"]) ** 7 * at["A"] ** 11}
    theirs, third = (printed(name) for name in ("propd_ppo", theory.THIRD))
    assert value(theirs, tabular) == pytest.approx(value(third, tabular), rel=1e-6)
