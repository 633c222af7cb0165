"""Theorems 3 and 4, the other approach, the remarks on local budgets and zero violation.

C16  Theorem 3, Lemmas 16, 19, 22, 23:  R and V of order K^(3/4) H^(9/4) d^(5/4) B^(1/4) with frames
     of D = (d K/(B H))^(1/2) episodes; and V <= 0 from some K on where rho + eps replaces rho.
C17  Theorem 4, B unknown: K^(7/8) for K^(3/4).    C18  another approach, B unknown: K^(3/4).
C23  with local budgets known: T^(2/3).

Orders, exact:  K H^2 d^(3/2) D^(-1/2)  and  H^3 d^(1/2) B D^(3/2)  are Theorem 3's at that D; with
zeta = 1/2, lambda = 1/8 the exponents 1-zeta/4, lambda+(1+zeta)/2 and 1-lambda are 7/8 (C17); with
W = (dK/H)^(1/2), H (K W)^(1/2) is of order K^(3/4) (C18); and H^2 d^(3/2) K D^(-1/2) = H^2 d B D at
D = (d^(1/2) K/B)^(2/3) (C23).

All sum Frobenius norms in B_p, which linear_counterexample.py contradicts. Total variation is at
most sqrt(S) times as large: with Frobenius norms the second term has a factor sqrt(S) at the
printed D, and the rate S^(1/8) at the best one. By total variation, Lemma 20, on which Lemma 22
rests, needs Q_h clipped to [0, H-h+1] (in the first episode r + P V > H = Q); Theorem 3's violation
half uses Lemma 27, which is false (C15f) and which docs/theorem_3.md replaces; Theorem 4 rests on
Lemma 2, which is false (C13); the other approach bounds sum_m Y_m (W rho - G_m) by
xi sum_m (W rho - G_m), which terms of both signs forbid, and uses Lemma 27; C23 has no proof.
"""

from collections.abc import Sequence
from fractions import Fraction

from wei2023.proofs import bandit
from wei2023.proofs import linear_counterexample as example
from wei2023.proofs.arithmetic import Monomial, parse, symbols
from wei2023.proofs.findings import ASSUMPTION, Finding, Given, Notice, check, verdict, within
from wei2023.proofs.linear_lemmas import ROUNDING, estimates, replacement
from wei2023.proofs.linear_runs import runs
from wei2023.verdicts import theory

K, H, d, B, S = symbols("K H d B S")
HALF = Fraction(1, 2)
FRAME = (d * K / (B * H)) ** HALF
THEOREM_3, THEOREM_4 = parse(theory.FOR_THIRD), parse(theory.FOR_FOURTH)
LOCAL = K ** Fraction(2, 3) * H**2 * d ** Fraction(4, 3) * B ** Fraction(1, 3)
ZETA, LAMBDA = HALF, Fraction(1, 8)


def estimation(D: Monomial) -> Monomial:
    """Of the bonuses, by frames of D episodes"""
    return K * H**2 * d ** Fraction(3, 2) / D**HALF


def drift(D: Monomial, budget: Monomial) -> Monomial:
    return H**3 * d**HALF * budget * D ** Fraction(3, 2)


def add_up(terms: Sequence[Monomial], rate: Monomial) -> bool:
    """All terms are of the order of the rate."""
    return all(dict(term.powers) == dict(rate.powers) for term in terms)


def not_proved(rate: Monomial, terms: Sequence[Monomial], proved: bool) -> Finding:
    """A rate with a false norm, with or without a step of its proof that fails besides."""
    holds = add_up(terms, rate) and not example.contradicted(rate, example.VARIATION)
    return Finding(
        verdict(
            refuted=example.contradicted(rate, example.FROBENIUS)
            or example.fails_for_small_budgets(rate),
            repair=ASSUMPTION if holds else None,
            proved=proved,
            asymptotic=True,
        ),
        {
            "power of K claimed at B = 1, Frobenius norms (1)": str(
                example.exponent(rate, example.FROBENIUS)
            ),
            "the same at B = K^-4 (0)": str(rate.power("K") - 4 * rate.power("B")),
        },
        Notice("an exponent of the balance that is changed"),
        samples=len(terms),
    )


@check("C16")
def theorem_3(given: Given) -> Finding:
    shares, budget = estimates(given), S**HALF * B
    by_states = THEOREM_3.substitute("B", budget).power("S"), drift(FRAME, budget).power("S")
    first = max(float(one.short[0]) for one in runs(given.problems) if one.bonus == 1)
    adds = add_up([estimation(FRAME), drift(FRAME, B)], THEOREM_3)
    holds = (
        adds
        and not example.contradicted(THEOREM_3, example.VARIATION)
        and max(shares.values()) <= 1 + ROUNDING
    )
    powers = {
        "claimed, S ~ K^2": example.exponent(THEOREM_3, example.FROBENIUS),
        "of any learner": Fraction(int(min(example.lost()) > 0)),
        "claimed, S fixed": example.exponent(THEOREM_3, example.FROBENIUS, lambda _: 9),
        "claimed, by total variation": example.exponent(THEOREM_3, example.VARIATION),
    }
    return Finding(
        verdict(
            refuted=example.contradicted(THEOREM_3, example.FROBENIUS),
            repair=ASSUMPTION if holds else None,
            proved=replacement(given) >= 0,
            asymptotic=True,
        ),
        {
            **{f"power of K there, {name}": str(power) for name, power in powers.items()},
            "power of S by Frobenius norms, best D": str(by_states[0]),
            "the same at the printed D": str(by_states[1]),
            "(step of Lemma 19 over its bound)^2 there, K = 10": str(
                example.off_by(example.states(10))
            ),
            "r + P V - Q in the first episode, at most 0 by Lemma 20": first,
            **{f"share of its bound, {name}": share for name, share in shares.items()},
        },
        Notice("the bonus of Lemma 23 divided by", 1 / shares["overestimation"]),
        **within(1, powers["claimed, S ~ K^2"], "powers of K") | {"low": None, "high": None},
        samples=16 * given.problems,
        rows=[{"what": name, "power": power} for name, power in powers.items()],
        says={"lost": example.lost()},
    )


@check("C17")
def theorem_4(given: Given) -> Finding:
    balance = (1 - ZETA / 4, LAMBDA + (1 + ZETA) / 2, 1 - LAMBDA)
    return not_proved(
        THEOREM_4,
        [THEOREM_3 / K ** Fraction(3, 4) * K**power for power in balance],
        not bandit.lemma_is_false(bandit.LINEAR),
    )


@check("C18")
def other_approach(given: Given) -> Finding:
    outer = H * (K * (d * K / H) ** HALF) ** HALF
    inner = Monomial({**THEOREM_3.powers, "K": outer.power("K")})
    Y, short = (1, 0), (1, -1)  # Y_m/xi and W rho - G_m
    return not_proved(
        THEOREM_3,
        [estimation(FRAME), drift(FRAME, B), inner],
        sum(y * term for y, term in zip(Y, short, strict=True)) <= sum(short),
    )


@check("C23")
def local_budgets(given: Given) -> Finding:
    D = (d**HALF * K / B) ** Fraction(2, 3)
    return not_proved(LOCAL, [estimation(D), H**2 * d * B * D], proved=False)
