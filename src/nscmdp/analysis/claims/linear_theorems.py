"""Theorems 3 and 4, the other approach, the remarks on local budgets and zero violation (C15e, C16 to C18, C23, C24).

C16  Theorem 3:  R = O~((1+delta)/delta K^(3/4) H^(9/4) d^(5/4) B^(1/4)) and V of the same order, D = (d K/(B H))^(1/2).
C17  Theorem 4, B unknown: K^(7/8) for K^(3/4).          C18  the other approach, B unknown: K^(3/4) for both.
C23  with local budgets known: T^(2/3).                  C24  rho + eps for rho: V <= 0 from some K on, R as before.

Arithmetic, exact:  K H^2 d^(3/2) D^(-1/2)  and  H^3 d^(1/2) B D^(3/2)  are the claimed order at that D (C16, C24); with
zeta = 1/2, lambda = 1/8 the exponents 1-zeta/4, lambda+(1+zeta)/2 and 1-lambda are 7/8 (C17); with W = (dK/H)^(1/2)
H (K W)^(1/2) is of order K^(3/4) (C18); H^2 d^(3/2) K D^(-1/2) = H^2 d B D at D = (d^(1/2) K/B)^(2/3) (C23).

False as printed, all of them: B_p sums Frobenius norms (``linear_counterexample.py``). C18 is false in any norm, as it
is stated for B < 1 too.

Primed: B >= 1 and the norm of total variation. The arithmetic stands. The violation half is proved by a lemma that is
false (C15f), and C15f' has a step that replaces it; Theorem 4 rests on C13, which is false; in the other approach a sum
weighted by Y_m is bounded by xi times the sum, which is false where terms differ in sign. Whether C17' and C18' are
true is open.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from nscmdp.algorithms._lsvi import budget_in, known
from nscmdp.analysis import theory
from nscmdp.analysis.claims import bandit, linear_lemmas
from nscmdp.analysis.claims.arithmetic import Monomial, symbols
from nscmdp.analysis.claims.findings import FAILS, FALSE, HOLDS, MIXED, OUT_OF_REACH, Finding, Given, check
from nscmdp.analysis.claims.linear_counterexample import (
    DELTA,
    SIZES,
    VIOLATION,
    Statement,
    contradicted,
    log_iota,
    rows_of,
    small_budget,
)
from nscmdp.environments.linear import linear as linear_environment
from nscmdp.problem import Problem
from nscmdp.study import layout

K, H, d, B = symbols("K H d B")
HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)
FRAME = (d * K / (B * H)) ** HALF
THEOREM_3 = K ** Fraction(3, 4) * H ** Fraction(9, 4) * d ** Fraction(5, 4) * B**QUARTER
LONGEST = 8192  # the largest K of the study's linear experiments
FEASIBLE = 1e10  # episodes; at 20 microseconds each, two days
MEASURED = ("gap_slope_K", "gap_slope_K_low", "gap_slope_K_high", "violation_per_episode", "largest_K")
THIRD, FOURTH, OTHER = "lsvi_primal_dual", "double_restart_lsvi_primal_dual", "dual_restart_lsvi_primal_dual"


def third() -> Statement:
    terms = (K * H**2 * d ** Fraction(3, 2) / FRAME**HALF, H**3 * d**HALF * B * FRAME ** Fraction(3, 2))
    return Statement(THIRD, THEOREM_3, terms)


def fourth(zeta: Fraction = HALF, lam: Fraction = Fraction(1, 8)) -> Statement:
    rate = K ** Fraction(7, 8) * H ** Fraction(9, 4) * d ** Fraction(5, 4) * B**QUARTER
    exponents = (1 - zeta / 4, lam + (1 + zeta) / 2, 1 - lam)
    return Statement(FOURTH, rate, tuple(rate * K ** (exponent - Fraction(7, 8)) for exponent in exponents))


def other() -> Statement:
    W = (d * K / H) ** HALF
    outer = H * (K * W) ** HALF
    return Statement(OTHER, THEOREM_3, (*third().terms, Monomial({**THEOREM_3.powers, "K": outer.power("K")})))


def local() -> Statement:
    D = (d**HALF * K / B) ** Fraction(2, 3)
    terms = (K * H**2 * d ** Fraction(3, 2) / D**HALF, H**2 * d * B * D)
    rate = K ** Fraction(2, 3) * H**2 * d ** Fraction(4, 3) * B ** Fraction(1, 3)
    return Statement("", rate, terms)


def adds_up(statement: Statement) -> bool:
    return all(dict(term.powers) == dict(statement.rate.powers) for term in statement.terms)


@cache
def environment() -> Problem:
    """The study's linear environment."""
    return Problem.of(linear_environment(LONGEST))


def informative_from(statement: Statement) -> float:
    """log10 of the K from which (1+delta)/delta rate iota falls below H K in the study's environment; O~ has 1."""
    problem = environment()
    sizes = {"H": problem.H, "d": known(problem).d, "B": budget_in(problem).rest}
    logs = {name: math.log10(value) for name, value in sizes.items()}
    for log10_K in np.arange(1, 400, 0.05):
        bound = statement.rate.log10({**logs, "K": log10_K}) + log_iota(log10_K, problem.A, sizes["d"], problem.H)
        if bound + math.log10((1 + problem.delta) / problem.delta) <= logs["H"] + log10_K:
            return float(log10_K)
    return math.inf


def measured_rows(given: Given, algorithm: str) -> list[dict[str, Any]]:
    """Of the run's table, one row per choice of constants; none where there is no run."""
    file = None if given.folder is None else given.folder / layout.table("comparison.csv")
    if file is None or not file.exists():
        return []
    table = pd.read_csv(file)
    found = []
    for _, row in table[(table["algorithm"] == algorithm) & table["learner"].notna()].iterrows():
        keys = (
            "gap_slope_K",
            "gap_slope_K_low",
            "gap_slope_K_high",
            "regret_slope_K",
            "violation_per_episode",
            "largest_K",
        )
        found.append(
            {"what": "measured", "learner": row["learner"]} | {key: float(row[key]) for key in keys if key in row}
        )
    return found


def _measured_words(rows: Sequence[dict[str, Any]]) -> str:
    if not rows:
        return "no run is at hand"
    best = max(rows, key=lambda row: (row["largest_K"], not math.isnan(row["gap_slope_K"])))
    return (
        f"measured up to K = {best['largest_K']:.0f} ({best['learner']}): gap of order K^{best['gap_slope_K']:.2f}, "
        f"violation {best['violation_per_episode']:.3f} per episode"
    )


def as_printed(given: Given, statement: Statement, norm: str = "frobenius", called: str = "theorem") -> Finding:
    """False where the counterexample contradicts it; else it is left to the primed claim."""
    rows = rows_of(statement, norm, given)
    claimed = rows[0]["claimed_exponent"]
    if not adds_up(statement):
        wrong = [str(term) for term in statement.terms if dict(term.powers) != dict(statement.rate.powers)]
        return Finding(FAILS, f"the terms {'; '.join(wrong)} are not of the order {statement.rate}", rows=rows)
    if not contradicted(statement, norm):
        return Finding(
            OUT_OF_REACH, f"no environment contradicts it: B of the counterexample makes it K^{claimed:g}", rows=rows
        )
    first, at_first = rows[0], rows[0]["log10_K_1_times"]
    why = (
        f"{counterexample_words(first['B'])}; in the mean over s (hence for some s) every learner has R = K/2 and "
        f"V = K/4 where K^{claimed:.3f} is claimed, more than the bound with constants of 1 from K = 1e{at_first:.0f} "
        f"on (Algorithm 3 there: {first['simulated_regret']:.2f} and {first['simulated_violation']:.2f} per episode); "
        "the false step, in the proof of Lemma 19, is |int V d(mu - mu')| <= H ||mu - mu'||_F, off by sqrt(S); the "
        f"refutation is of the norm in B_p: with total variation the {called} is not contradicted; S grows with K, as "
        "section 7 allows (states may be infinitely many, bounds scale with d)"
    )
    return Finding(
        FALSE, why, 1.0, 1.0, 1.0, bound=claimed, slack=claimed - 1.0, slack_in="exponent of K",
        samples=max(4, given.problems // 2), rows=rows + measured_rows(given, statement.algorithm),
    )  # fmt: skip


def counterexample_words(budget: float) -> str:
    return (
        "with B_p in Frobenius norms a mass spread over m = (2K-2)^2 states moves by 2/sqrt(m) into every episode, "
        f"whatever s is, so that B = {budget:g} tells nothing of s"
    )


def corrected(given: Given, statement: Statement, start: float, gap: str, norm: str = "total") -> Finding:
    """Out of reach from the K = 10^start on that it promises anything, with what the proof lacks."""
    rows = rows_of(statement, norm, given)
    if not adds_up(statement) or contradicted(statement, norm):
        return as_printed(given, statement, norm)
    measured = measured_rows(given, statement.algorithm)
    verdict, reach = OUT_OF_REACH, f"it promises something from K = 1e{start:.0f} on (constants of O~ taken as 1)"
    if start <= math.log10(FEASIBLE):
        verdict = judged(measured, float(statement.rate.power("K")))
    return Finding(
        verdict, f"{reach}; the orders add up; {gap}; {_measured_words(measured)}", 10**start, 10**start, 10**start,
        bound=float(LONGEST), slack=math.log10(LONGEST) - start, slack_in="orders of magnitude",
        samples=len(measured), rows=[*rows, *measured, {"what": "from", "log10_K": start}],
    )  # fmt: skip


def judged(measured: Sequence[dict[str, Any]], exponent: float) -> str:
    """Where its K can be run: which choices of constants keep to the exponent?"""
    kept = [row["gap_slope_K_low"] <= exponent for row in measured if not math.isnan(row["gap_slope_K"])]
    return MIXED if not kept or any(kept) != all(kept) else HOLDS if all(kept) else FAILS


def violation_gap(given: Given) -> str:
    """What C15f and C15f' come to, for the violation half."""
    if linear_lemmas.copied_lemma(given).verdict == HOLDS:
        return "its lemma on violation holds"
    replaced = linear_lemmas.violation_corrected(given).verdict == HOLDS
    return "its violation half uses a lemma that is false (C15f)" + (", and C15f' replaces it" if replaced else "")


def bandit_gap() -> str:
    kinds = (bandit.REWARD, bandit.UTILITY)
    broken = any(one.breaks(kind, bandit.LINEAR) for one in bandit.EXAMPLES for kind in kinds)
    return "it rests on the bandit lemma, which is false (C13), and is open" if broken else "the bandit lemma holds"


@check("C15e")
def estimation(given: Given, *, norm: str = "frobenius") -> Finding:
    """T1 + T2 >= R - eta H^2 K/2 by C15a with Y = 0, so that what contradicts R contradicts the bounds on T1 and T2.

    As n visits of both actions grow: <phi,w> -> 1/2 where P_k V is 0 or 1 (Lemma 19, and 23 where the action led to the
    second set), V^k -> 1/2 where V* = 1 (Lemma 22), while bonus and drift term go to 0.
    """
    finding = as_printed(given, third(), norm, "lemma")
    if finding.verdict != FALSE:
        return linear_lemmas.estimation_corrected(given)
    also = (
        "by C15a T1 + T2 is at least R less a term of order sqrt(K) (V_g >= 0 there, as features are unit vectors): "
        "false are Lemma 16, and 19, 22, 23 with the event of Lemma 18 read with P_tau; read with P_k, as printed, "
        "that event is unlikely there"
    )
    return finding._replace(why=f"{finding.why}; {also}")


@check("C16")
def theorem_3(given: Given, *, statement: Statement = third(), norm: str = "frobenius") -> Finding:  # noqa: B008
    return as_printed(given, statement, norm)


@check("C16'")
def theorem_3_corrected(given: Given, *, statement: Statement = third(), norm: str = "total") -> Finding:  # noqa: B008
    return corrected(given, statement, informative_from(statement), violation_gap(given), norm)


@check("C17")
def theorem_4(given: Given, *, statement: Statement = fourth()) -> Finding:  # noqa: B008
    return as_printed(given, statement)


@check("C17'")
def theorem_4_corrected(given: Given, *, statement: Statement = fourth()) -> Finding:  # noqa: B008
    start = math.log10(theory.from_episodes(FOURTH, environment()))
    return corrected(given, statement, max(start, informative_from(statement)), bandit_gap())


@check("C18")
def other_approach(given: Given, *, statement: Statement = other(), norm: str = "frobenius") -> Finding:  # noqa: B008
    finding, small = as_printed(given, statement, norm, "rate for B >= 1"), small_budget(statement)
    exponent = small["claimed_exponent"]
    if finding.verdict == FAILS or exponent >= 0:
        return finding
    also = (
        f"besides, in any norm: appendix I states the rate for B < 1 too; at B = K^-4 it is K^{exponent:g}, while of "
        f"two actions of unknown order one must be tried, and any learner loses {small['regret']:g} in the mean over "
        f"the orders, more than the bound with constants of 1 from K = 1e{small['log10_K_1_times']:.0f} on"
    )
    return finding._replace(verdict=FALSE, why=f"{finding.why}; {also}", rows=[*finding.rows, small])


@check("C18'")
def other_approach_corrected(given: Given, *, statement: Statement = other()) -> Finding:  # noqa: B008
    dual, short = (Fraction(1), Fraction(0)), (Fraction(1), Fraction(-1))  # Y_m/xi and W rho - G_m: of opposite signs
    weighted = sum((y * g for y, g in zip(dual, short, strict=True)), Fraction(0))
    gap = violation_gap(given)
    if weighted > sum(short):
        gap += f"; and sum Y_m (W rho - G_m) <= xi sum (W rho - G_m) fails ({weighted} > {sum(short)} for terms 1, -1)"
    return corrected(given, statement, informative_from(statement), gap + "; it is open")


@check("C23")
def local_budgets(given: Given, *, statement: Statement = local()) -> Finding:  # noqa: B008
    return as_printed(given, statement, called="remark")


@check("C23'")
def local_budgets_corrected(given: Given, *, statement: Statement = local()) -> Finding:  # noqa: B008
    gap = "it has neither listing nor proof, and nothing here runs it"
    return corrected(given, statement, informative_from(statement), gap)


@check("C24")
def zero_violation(given: Given) -> Finding:
    """V = K/4 in the counterexample, at every K that the condition K^(1/4) >= 4 (1+xi)/(xi delta) O~(...) allows."""
    finding, xi = as_printed(given, third(), called="claim"), 2 * SIZES["H"] / float(DELTA)
    if finding.verdict != FALSE:
        return finding
    sizes = SIZES["d"] ** 1.25 * SIZES["H"] ** 2.25
    first, condition = finding.rows[0], 4 * math.log10(4 * (1 + xi) / (xi * float(DELTA)) * sizes)
    why = (
        f"{counterexample_words(first['B'])}; for any constant in O~ the condition is met from some K on (1e"
        f"{condition:.0f} for 1), and in the mean over s (hence for some s) every learner has V = K/4, whatever it "
        f"tightens (Algorithm 3 there, untightened: {first['simulated_violation']:.2f} per episode); the refutation is "
        "of the norm in B_p: with total variation the claim is not contradicted; S grows with K, as section 7 allows"
    )
    each = float(VIOLATION)
    return finding._replace(
        why=why, value=each, low=each, high=each, bound=0.0, slack=-each, slack_in="violation per episode"
    )


@check("C24'")
def zero_violation_corrected(given: Given) -> Finding:
    start = math.log10(theory.from_episodes(THIRD, environment()))
    return corrected(given, third(), start, violation_gap(given))
