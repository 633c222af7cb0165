"""The noise that a learning rate averages (C4): its law, and what the bonus covers of it.

C4, Lemma 5, with probability at least 1 - K^-3 for all (x,a,h,k), and likewise for W:

    |sum_i alpha_t^i (V^pi_{k,h+1}(x_{k_i,h+1}) - P_{k_i,h} V^pi_{k,h+1})|  <=  b_t,
    b_t = (1/4) sqrt(H^2 iota (chi+1)/(chi+t)).

Hoeffding's inequality, for terms X_i in intervals of length ``span`` H given the past, whatever
the law of the successors and the rule that decides when to visit:

    P(|sum_i alpha_t^i X_i| > c) <= 2 exp(-2 c^2 / (span^2 H^2 sum_i (alpha_t^i)^2)).

The proof has span = 2, and leaves out the union over the visit counts t, of which there are L.
V(x') - P V lies in an interval of length H, and so does r + V(x') for random rewards: span = 1.
(For S = A = 2, H = 3, B = 1 and K up to 147,000, b_t >= H in all of a frame: nothing exceeds it.)

From the other side, with two successors, one of probability p, the noise is a multiple of
sum_i alpha_t^i (xi_i - p), xi_i ~ Bernoulli(p). Its law is added up on a lattice of ``cells`` cells
of [0,1]: Y = sum_i floor(cells alpha_t^i) xi_i has Y/cells <= sum_i alpha_t^i xi_i <= (Y+t)/cells.
"""

import math

import numpy as np

from nscmdp.cmdp import Array
from wei2023.proofs import instrumented
from wei2023.proofs.findings import Finding, Given, bounded, check, verdict
from wei2023.proofs.instrumented import Constants, Sizes, literal

CELLS = 50_000
SMALL = Sizes(S=2, A=2, H=3, K=1, B=1.0)
GROWING = [SMALL._replace(K=10**power) for power in (1, 2, 3, 4, 6, 10, 20, 40, 60)]
BONUS = "the bonus divided by"
HOEFFDING = "share of b_t at which Hoeffding's bound is K^-3, at most"
LAW = "share of b_t that the exact law exceeds more often, H = 3"
CHANCES = (0.5, 0.2, 0.05, 0.01, 0.001)  # of a successor


def accumulated(terms: Array, chi: float) -> Array:
    """sum_i alpha_t^i terms_i for t = 1, 2, ..: what the updates make of what they are given."""
    out, total = np.empty(len(terms)), 0.0
    rates = instrumented.learning_rate(np.arange(1.0, len(terms) + 1), chi)
    for i, (rate, term) in enumerate(zip(rates, terms, strict=True)):
        total = (1 - rate) * total + rate * term
        out[i] = total
    return out


def accumulated_bonus(horizon: int, constants: Constants, last: int) -> Array:
    """sum_i alpha_t^i b_i for t = 1..last"""
    b = instrumented.bonus(np.arange(1.0, last + 1), horizon, constants)
    return accumulated(b, constants.chi)


def weights(chi: float, t: int) -> Array:
    """alpha_t^i = alpha_i prod_{j>i} (1-alpha_j) for i = 1..t"""
    alpha = instrumented.learning_rate(np.arange(1.0, t + 1), chi)
    return alpha * np.append(np.cumprod((1 - alpha)[:0:-1])[::-1], 1.0)


def exponent(sizes: Sizes, constants: Constants) -> float:
    """2 b_t^2 / (H^2 sum_i (alpha_t^i)^2), the least over t up to 300: it is iota/8, at t = 1."""
    times = np.arange(1, min(constants.frame, 300) + 1)
    squares = np.array([(weights(constants.chi, int(t)) ** 2).sum() for t in times])
    b = instrumented.bonus(times.astype(float), sizes.H, constants)
    return float((2 * (b / sizes.H) ** 2 / squares).min())


def failures(sizes: Sizes, constants: Constants, counts: bool = True) -> float:
    """log of 2 for both signs x (x,a,h,k) x V and W, and with ``counts`` x visit counts t <= L."""
    events = math.log(4 * sizes.S * sizes.A * sizes.H) + math.log(sizes.K)
    return events + (math.log(constants.frame) if counts else 0.0)


def share_needed(sizes: Sizes, span: float = 1.0, counts: bool = True) -> float:
    """The share of b_t at which Hoeffding's bound of all failures together is K^-3."""
    constants = literal(sizes)
    level = failures(sizes, constants, counts) + 3 * math.log(sizes.K)
    return span * math.sqrt(level / exponent(sizes, constants))


def quantiles(weight: Array, p: float, level: float, cells: int = CELLS) -> tuple[float, float]:
    """Between these lies the least c with P(|sum_i w_i (xi_i - p)| > c) <= level."""
    law = np.append(1.0, np.zeros(cells))
    for step in np.floor(weight * cells).astype(int):
        moved = p * law[: cells + 1 - step]
        law *= 1 - p
        law[step:] += moved
    above, off = np.arange(cells + 1) / cells - p * weight.sum(), len(weight) / cells
    ends = []
    for distance in (np.maximum(above, -above - off).clip(0), np.maximum(above + off, -above)):
        order = np.argsort(-distance)
        ends.append(float(distance[order][np.searchsorted(law[order].cumsum(), level, "right")]))
    return ends[0], ends[1]


def share_refuted(length: float) -> float:
    """The largest share of b_t that one entry's noise exceeds with probability above K^-3.

    By the exact law, where the terms are 0 or ``length``, for K up to 10^4 and t up to a frame.
    """
    shares = []
    for sizes in GROWING[1:4]:
        c, level = literal(sizes), sizes.K**-3.0
        for t in {2**i for i in range(9) if 2**i < c.frame} | {c.frame}:
            low = max(quantiles(weights(c.chi, t).clip(0, 1), p, level)[0] for p in CHANCES)
            shares.append(length * low / float(instrumented.bonus(np.array(float(t)), sizes.H, c)))
    return max(shares)


@check("C4")
def concentration(given: Given) -> Finding:
    """Hoeffding's bound with all unions, and the exact law from the other side."""
    needed, refuted = max(map(share_needed, GROWING)), share_refuted(SMALL.H - 1)
    return bounded(
        verdict(refuted=refuted > 1, proved=needed <= 1),
        {
            HOEFFDING: needed,
            "with 2H and visit counts": max(share_needed(sizes, 2) for sizes in GROWING),
            "with 2H, without visit counts": max(share_needed(one, 2, False) for one in GROWING),
            LAW: refuted,
        },
        needed,
        BONUS,
        len(GROWING),
        ("noise <= b_t, H = 3", "Lemma 5", refuted),
    )
