"""Memory, Table 1 and the remarks on it, against hand counts and plain numbers."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from nscmdp.analysis import theory
from nscmdp.analysis.claims import arithmetic
from nscmdp.analysis.claims.arithmetic import Monomial, degree, parse
from nscmdp.analysis.claims.findings import CHECKS, FALSE, HOLDS, MIXED, OUT_OF_REACH, Given

GIVEN = Given(problems=5, samples=5)
sizes = st.fixed_dictionaries({name: st.floats(1.0, 1e6) for name in ("S", "A", "H", "K", "B", "d")})
fractions = st.fractions(-3, 3, max_denominator=12)
monomials = st.builds(Monomial, st.dictionaries(st.sampled_from("SAHKBd"), fractions, max_size=6), st.floats(0.1, 10.0))


def value(order, at):
    return order.coefficient * math.prod(at[name] ** float(p) for name, p in order.powers.items())


def altered(algorithm, order):
    """The table with another regret order in one row."""
    return [row._replace(regret_order=order) if row.algorithm == algorithm else row for row in theory.TABLE]


@drawn(monomials, monomials, fractions, sizes)
def test_monomials_multiply_as_numbers_do(one, other, power, at):
    assert value(one * other, at) == pytest.approx(value(one, at) * value(other, at), rel=1e-9)
    assert value(one / other, at) == pytest.approx(value(one, at) / value(other, at), rel=1e-9)
    assert value(one**power, at) == pytest.approx(value(one, at) ** float(power), rel=1e-9)
    substituted = {**at, "K": value(other, at)}
    assert value(one.substitute("K", other), at) == pytest.approx(value(one, substituted), rel=1e-6)
    logs = {name: math.log10(size) for name, size in at.items()}
    assert one.log10(logs) == pytest.approx(math.log10(value(one, at)), abs=1e-9)


def test_orders_of_the_table_are_read_exactly():
    assert parse("H^4 S^{1/2} K").powers == {"H": 4, "S": Fraction(1, 2), "K": 1}
    assert parse("K^{4/5} (no drift)").powers == {"K": Fraction(4, 5)}
    with pytest.raises(ValueError, match="is not a power"):
        parse("none claimed 7")
    assert all(parse(row.regret_order).powers for row in theory.TABLE[:6])


@drawn(st.lists(st.integers(-50, 50), min_size=1, max_size=3), st.integers(1, 5))
def test_differences_tell_the_degree_of_a_polynomial(coefficients, step):
    points = [sum(c * x**i for i, c in enumerate(coefficients)) for x in range(3, 3 + 4 * step, step)]
    highest = max((i for i, c in enumerate(coefficients) if c), default=-1)
    assert degree(points) == highest


def test_algorithm_1_keeps_h_s_a_numbers_and_algorithm_3_as_tabular_h_s2_a():
    found = CHECKS["C19"](GIVEN)
    assert (found.verdict, found.value, found.slack) == (HOLDS, 1.0, 1.0)
    kept = {(r["algorithm"], r["S"]): r["bytes"] for r in found.rows if r["along"] == "S"}
    A, H = 3, 4
    # Q, C and N of 8 bytes each, and nothing else that grows with S
    first = "nonstationary_triple_q"
    assert kept[first, 16] - kept[first, 8] == 8 * (3 * 8 * H * A)
    # counts of 8 bytes and successors of 4, one for every (h,x,a,y)
    for name in ("lsvi_primal_dual", "propd_ppo"):
        second = kept[name, 24] - 2 * kept[name, 16] + kept[name, 8]
        assert second == 2 * 8**2 * (8 + 4) * H * A


def test_a_learner_that_keeps_a_model_is_told_from_one_that_does_not():
    def swapped(algorithm, *shape):
        return arithmetic.measured_bytes("propd_ppo" if algorithm == theory.FIRST else algorithm, *shape)

    found = arithmetic.memory(GIVEN, measure=swapped)
    assert (found.verdict, found.slack) == (MIXED, 0.0)


def test_table_1_agrees_with_the_theorems_and_the_text():
    found = CHECKS["C21"](GIVEN)
    assert found.verdict == HOLDS
    assert found.value == pytest.approx(4 / 5 - 3 / 4)
    assert "K^{3/4}, not 0" in found.why


@pytest.mark.parametrize(
    ("algorithm", "order"),
    [
        (theory.FIRST, "H^4 S^{1/2} A^{1/2} K^{3/4} B^{1/3}"),
        (theory.FIRST, "H^4 S^{1/2} A^{1/2} K^{4/5} B^{1/4}"),
        ("double_restart_triple_q", "H^4 S^{1/2} A^{1/2} K^{7/8} B^{1/3}"),
        ("double_restart_lsvi_primal_dual", "K^{8/9} H^{9/4} d^{5/4} B^{1/4}"),
        ("triple_q", "H^4 S^{1/2} A^{1/2} K^{1/2}"),
    ],
)
def test_a_wrong_power_in_table_1_is_found(algorithm, order):
    assert arithmetic.table_1(GIVEN, altered(algorithm, order)).verdict == FALSE


@drawn(sizes)
def test_algorithm_1_is_the_smaller_order_only_from_the_computed_number_of_states_on(at):
    S = at["A"] * at["H"] ** 14 * at["K"] ** 0.3  # by hand, from H^(7/3) A^(1/6) K^(1/20) = S^(1/6)
    assert value(arithmetic.least_states(theory.TABLE), at) == pytest.approx(S, rel=1e-9)

    def ratio(states):
        H, A, K, B = (at[name] for name in "HAKB")
        mine = 4 * math.log(H) + math.log(states * A) / 2 + 0.8 * math.log(K) + math.log(B) / 3
        theirs = (2 * math.log(states) + math.log(A) + 5 * math.log(H) + math.log(B)) / 3 + 0.75 * math.log(K)
        return mine - theirs

    assert ratio(1.1 * S) < 0 < ratio(S / 1.1)


def test_the_k_at_which_an_order_falls_below_the_trivial_bound_is_where_they_cross():
    at = arithmetic.MENU
    K = 10 ** arithmetic.below_trivial(parse("H^4 S^{1/2} A^{1/2} K^{4/5} B^{1/3}"), at)
    assert 4**4 * math.sqrt(12) * K**0.8 * at["B"] ** (1 / 3) == pytest.approx(4 * K, rel=1e-9)
    assert at["B"] == pytest.approx(4 * 2.9333333, rel=1e-6)


def test_the_bound_that_algorithm_3_is_said_to_improve_on_is_not_printed():
    found = CHECKS["C25"](GIVEN)
    assert found.verdict == OUT_OF_REACH
    assert found.value == pytest.approx(5 / 3 - 9 / 4)
    assert "H^(5/2)" in found.why  # 9/4 + 1/4
    assert "H^(-7/12) and B^(1/12)" in found.why


@pytest.mark.parametrize(
    ("order", "verdict"),
    [
        ("d^{3/2} H^{5/2} K^{3/4} B^{1/3}", HOLDS),
        ("d^{3/2} H^{5/2} K^{3/4} B^{1/4}", FALSE),  # no gain in B
        ("d^{5/4} H^{5/2} K^{3/4} B^{1/3}", FALSE),  # none in d
        ("d^{3/2} H^{5/3} K^{3/4} B^{1/3}", FALSE),  # a loss in H
        ("S^{2/3} A^{1/3} H^{5/2} K^{3/4} B^{1/3}", OUT_OF_REACH),  # still tabular
    ],
)
def test_were_it_printed_its_powers_would_decide(order, verdict):
    assert arithmetic.over_ding_and_lavaei(GIVEN, altered("propd_ppo", order)).verdict == verdict


@drawn(st.integers(1, 20), st.integers(2, 20), st.integers(1, 20))
def test_algorithm_3_is_the_smaller_order_in_a_tabular_problem_from_the_computed_budget_on(S, A, H):
    assert CHECKS["C25a"](GIVEN).verdict == HOLDS

    def ratio(log_B):
        third = 2.25 * np.log(H) + 1.25 * np.log(S * A) + log_B / 4
        return third - (2 * np.log(S) + np.log(A) + 5 * np.log(H) + log_B) / 3

    edge = 7 * np.log(H) + 7 * np.log(S) + 11 * np.log(A)
    assert ratio(edge) == pytest.approx(0, abs=1e-9)
    assert ratio(edge + 1) < 0 < ratio(edge - 1)


def test_a_wrong_power_changes_what_the_rows_say():
    wrong = altered("lsvi_primal_dual", "K^{3/4} H^2 d^{5/4} B^{1/4}")
    assert arithmetic.what_the_row_says(GIVEN, wrong).verdict == FALSE
