"""Theorems 1 and 2 (C12, C14); the assumption on local budgets (C22) is in ``local_budgets.py``.

C12. Theorem 1: for K >= max{(16 sqrt(S A H^6 iota^3)/delta)^5, e^(1/delta)} Algorithm 1 has

         R(K) = O~(H^4 S^(1/2) A^(1/2) B^(1/3) K^(4/5)),      V(K) <= 0.

     B^(1/3) is missing from the condition, which every other place has (fast drift), and B >= 1
     has to be assumed (slow drift; ``counterexamples.py``), at no cost, as an upper bound on B may
     be the input. With both, the explicit bound adds up for all sizes (``bounds.py``).
C14. Theorem 2: for K = Omega((40 sqrt(S A H^6 iota^3) B^(1/3)/delta)^9) Algorithm 2 has K^(8/9)
     for K^(4/5), by the best choice of zeta and lambda for the largest of three terms,

         K^(1-zeta/5),      K^(lambda+(1+zeta)/2),      K^(1-lambda),

     whose exponents, weighted by 5/9, 2/9 and 2/9, add up to 8/9 whatever zeta and lambda are. For
     B far below 1 ties contradict it. For B >= 1 nothing does, but the proof needs Lemma 2 (C13).
     Appendix F, with Bhat the candidate for B, also bounds the violation in all K/W epochs by

         100 (H^4 iota + ..) K^(3 zeta/5) Bhat^(-2/3) log(..)/delta  -  .. K^(1-zeta/5) Bhat^(1/3),

     where the first term is that of one epoch and needs a factor K^(1-zeta). By Theorem 1 in every
     epoch it is still the smaller one for Bhat >= 1, and so wherever B >= 1, as the smallest
     candidate is below 1. For that candidate, of order K^(1/3-zeta), it is the larger one, and so
     is the term in eta, L eta/delta in an epoch, that is missing there.
"""

import math
from fractions import Fraction
from typing import Any

from nscmdp.drift import DriftingCMDP
from nscmdp.problem import Problem
from wei2023.proofs import bandit, bounds, counterexamples, findings, local_budgets
from wei2023.proofs.cases import arms
from wei2023.proofs.counterexamples import CONSISTENT, PRINTED, FastDrift, SlowDrift, Ties
from wei2023.proofs.findings import Finding, Given, Notice, check, within
from wei2023.verdicts import theory

FAST = (3, 2)  # m, where B = n^(3m)
SLOW = (SlowDrift(10**4), SlowDrift(10**5))  # at the theorem's K = n^10
RUN = tuple(
    SlowDrift(n, small_iota=Fraction(1, 100)) for n in (3, 4)
)  # iota for which small n can be run
LINE = tuple(SlowDrift(round(10 ** (3.75 + i / 8))) for i in range(13))  # of the figure
ZETA, LAMBDA = Fraction(5, 9), Fraction(1, 9)
RATE, TIES = Fraction(8, 9), Fraction(4, 9)  # exponents of K: claimed, and of the ties' regret


def contradicts(case: FastDrift | SlowDrift | None) -> bool:
    return case is not None and case.assumptions() and (case.violation() or 0) > 0


@check("C12")
def theorem_1(given: Given) -> Finding:
    corrected, fast = counterexamples.CORRECTED, []
    for m in FAST:
        runs = FastDrift(2, m).simulated(given.samples, given.rng("C12", "fast", m))
        fast += [m] if runs.mean() > 1.96 * runs.std() / math.sqrt(given.samples) else []
    slow = [case.simulated(given.rng("C12", "slow", case.n)) for case in RUN]
    least = [case.violation() for case in (*RUN, *SLOW)]
    kept = all(one and found >= one > 0 for one, found in zip(least, slow, strict=False))

    def contradicted(statement: counterexamples.Statement) -> bool:
        cases = [counterexamples.first_admitted(m, statement) for m in fast]
        slowly = all(contradicts(case) and case.admitted(statement) for case in SLOW)
        return any(map(contradicts, cases)) or (kept and slowly)

    def adds_up(statement: counterexamples.Statement) -> bool:
        return not bounds.exceeding(*statement) and bounds.largest_share(*statement) < 1

    env, share = local_budgets.study(local_budgets.GROWTH), bounds.largest_share(*corrected)
    smallest = DriftingCMDP([arms([1, 0], [1, 1], 0.0)], [1])  # delta = 1; no drift is B = 1
    problems = [Problem.of(one) for one in (smallest, env)]
    starts = [math.log10(theory.from_episodes(theory.FIRST, one)) for one in problems]
    case, repair = counterexamples.first_admitted(2, PRINTED), None
    if not contradicted(corrected):
        misprint = adds_up(CONSISTENT) and not contradicted(CONSISTENT)
        repair = findings.MISPRINT if misprint else findings.ASSUMPTION
    refuted, proved = contradicted(PRINTED), adds_up(corrected)
    at_1e40, at_1e50 = (one or 0 for one in least[-2:])
    return Finding(
        findings.verdict(refuted=refuted, repair=repair, proved=proved, asymptotic=True),
        {
            "fast drift: log10 K from which V(K) = K/4": 10 * math.log10(case.n) if case else "-",
            "its B, and its claimed order of regret": "K^(3/5), K; K^(9/10), K^(11/10)",
            "slow drift: V(K)/K^0.9 at K = 1e40, at least": at_1e40,
            "the same at K = 1e50": at_1e50,
            "corrected: losses over K eps, at most": share,
            "log10 K from which its condition holds, smallest problem": starts[0],
            f"the same, {local_budgets.GROWTH}": starts[1],
        },
        Notice(f"any power of B in the condition below {Fraction(2, 3 * min(FAST))}"),
        **within(share, 1.0, "orders of magnitude"),
        samples=given.samples * len(FAST) + len(RUN),
        inequalities=bounds.inequalities(env, problems[1], starts[1]),
        rows=[row(one, found) for one, found in zip(RUN, slow, strict=True)]
        + [row(one, None) for one in LINE if one.violation() is not None],
        says={"slow": float(at_1e40)},
    )


def row(case: SlowDrift, found: Fraction | None) -> dict[str, Any]:
    """V(K)/K^0.9, as simulated and from below"""
    shown = {"simulated": found, "at_least": case.violation()}
    asked = case.admitted(CONSISTENT) and found is None
    return {"log10_K": 10 * math.log10(case.n), **shown, "admitted": asked}


def exponents(zeta: Fraction, lam: Fraction) -> dict[str, bool]:
    """What the proof of Theorem 2 says of exponents, each checked exactly."""
    terms = (1 - zeta / 5, lam + (1 + zeta) / 2, 1 - lam)
    weights = (Fraction(5, 9), Fraction(2, 9), Fraction(2, 9))
    # 5/9 (1 - z/5) + 2/9 (l + 1/2 + z/2) + 2/9 (1 - l): its constant and slopes in zeta and lambda
    constant = weights[0] + weights[1] / 2 + weights[2]
    slopes = (-weights[0] / 5 + weights[1] / 2, weights[1] - weights[2])
    uncovered = Fraction(10, 9) - zeta / 5 - zeta / 3
    return {
        "the three terms are balanced": len(set(terms)) == 1,
        "the largest is K^(8/9)": max(terms) == RATE,
        "no other choice does better": sum(weights) == 1 and slopes == (0, 0) and constant == RATE,
        "the Exp3 term sqrt(K W) is smaller": (1 + zeta) / 2 <= RATE,
        "no candidate as small as B": uncovered == Fraction(22, 27) <= RATE,
    }


def violation_powers(zeta: Fraction, candidate: Fraction) -> dict[str, Fraction]:
    """The powers of K in appendix F with Bhat = K^candidate, for one epoch and for all."""

    def power(of_epoch: bounds.Monomial) -> Fraction:
        inside = of_epoch.substitute("K", bounds.K**zeta).substitute("B", bounds.K**candidate)
        return inside.power("K")

    queue, eta, gain = bounds.FRAME, bounds.FRAME * bounds.ETA, bounds.K * bounds.EPS
    terms = {"queue": queue, "eta": eta, "K eps": gain}
    summed = {name: power(term) + 1 - zeta for name, term in terms.items()}
    return {"in the text": power(queue), **summed}


@check("C14")
def theorem_2(given: Given) -> Finding:
    wrong = [says for says, holds in exponents(ZETA, LAMBDA).items() if not holds]
    ties = Ties(2, -2)
    regret = ties.regret(given.samples, given.rng("C14", "ties"))

    def contradicted(power: int) -> bool:
        """Is B^(1/3) K^(8/9), with B = K^power, of a smaller order than what the ties cost?"""
        return regret >= ties.epochs / 2 and RATE + Fraction(power, 3) < TIES

    one, least = (violation_powers(ZETA, power) for power in (Fraction(0), Fraction(1, 3) - ZETA))
    every_epoch = bounds.largest_share(*counterexamples.CORRECTED) < 1  # Theorem 1, Bhat >= 1
    return Finding(
        findings.verdict(
            refuted=bool(wrong) or contradicted(-2),
            repair=None if wrong or contradicted(0) else findings.ASSUMPTION,
            proved=every_epoch and not bandit.lemma_is_false(),
            asymptotic=True,
        ),
        {
            "statements on exponents that fail": "; ".join(wrong) or "none",
            **{f"power of K, {name}, Bhat = 1": str(power) for name, power in one.items()},
            **{f"power of K, {name}, smallest Bhat": str(power) for name, power in least.items()},
            "ties at B = K^-2: power of K claimed": str(RATE - Fraction(2, 3)),
            f"ties: regret simulated at K = {ties.K}, at least {ties.epochs // 2}": regret,
        },
        Notice("another zeta or lambda, or a missing power of K in the queue's term"),
        **within(least["queue"], least["K eps"], "powers of K"),
        samples=given.samples,
        says={"all": one, "least": least},
    )
