"""The noise that a learning rate averages (C4): its law, bounded on both sides, and what the bonus covers of it.

C4, Lemma 5, with probability at least 1 - K^-3 for all (x,a,h,k), and likewise for W:

    |sum_i alpha_t^i (V^pi_{k,h+1}(x_{k_i,h+1}) - P_{k_i,h} V^pi_{k,h+1})|  <=  b_t,
    b_t = (1/4) sqrt(H^2 iota (chi+1)/(chi+t)).

An entry that was visited t times holds X = sum_i alpha_t^i (V(x_i) - P V), x_i the successor of visit i. With two
successors, one of probability p, and V = (v, 0), it is v sum_i alpha_t^i (xi_i - p) with xi_i ~ Bernoulli(p). Its law
is added up on a lattice of ``cells`` cells of [0,1]: Y = sum_i floor(cells alpha_t^i) xi_i has

    Y / cells <= sum_i alpha_t^i xi_i <= (Y + t) / cells.

Hoeffding's inequality, by the range of V, for every law of the successors and every rule that decides when to visit:

    P(|X| > c) <= 2 exp(-2 c^2 / (range^2 sum_i (alpha_t^i)^2)).

The proof uses it with the range 2H instead of H, and so has room for the union over the visit count that it leaves out.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from nscmdp.analysis.claims.cases import Case, plain
from nscmdp.analysis.claims.instrumented import (
    Constants,
    Listing,
    Path,
    Sizes,
    bonus,
    episodes,
    evaluate,
    literal,
)
from nscmdp.cmdp import Array

CELLS = 50_000
ROUNDING = 1e-9
SMALL = Sizes(S=2, A=2, H=3, K=1, B=1.0)
SHARES = np.array([0.5, 0.2, 0.05, 0.01, 0.001])  # probabilities of a successor


def rates(listing: Listing, chi: float, last: int) -> Array:
    """alpha_1 .. alpha_last"""
    return np.broadcast_to(listing.rate(np.arange(1.0, last + 1), chi), last)


def weights(alpha: Array) -> Array:
    """alpha_t^i = alpha_i prod_{j>i} (1-alpha_j) for i = 1..t, of alpha_1 .. alpha_t."""
    later = np.append(np.cumprod((1 - alpha)[:0:-1])[::-1], 1.0)
    return alpha * later


def accumulated(alpha: Array, terms: Array) -> Array:
    """sum_i alpha_t^i terms_i for t = 1, 2, ..: what the updates make of what they are given."""
    out, total = np.empty(len(alpha)), 0.0
    for i, (rate, term) in enumerate(zip(alpha, terms, strict=True)):
        total = (1 - rate) * total + rate * term
        out[i] = total
    return out


def accumulated_bonus(listing: Listing, horizon: int, constants: Constants, last: int) -> Array:
    """sum_i alpha_t^i b_i for t = 1..last, as the listing adds them."""
    b = bonus(np.arange(1.0, last + 1), horizon, constants)
    return accumulated(rates(listing, constants.chi, last), listing.bonus * b)


class Distances(NamedTuple):
    """|sum_i alpha^i (xi_i - p)| lies between ``least`` and ``most`` with ``probability``; (points, cells+1) each."""

    probability: Array
    least: Array
    most: Array

    def tail(self, edge: float) -> float:
        """No less than P(|X| > edge), the largest over the p."""
        return float(np.where(self.most > edge, self.probability, 0.0).sum(axis=1).max())

    def edges(self, level: float) -> tuple[float, float]:
        """Between these lies the least c with P(|X| > c) <= level for all p."""
        return _edge(self.least, self.probability, level), _edge(self.most, self.probability, level)


def distances(weight: Array, p: Array, cells: int = CELLS) -> Distances:
    """Of weights that are at least 0 and add up to at most 1."""
    law = np.zeros((len(p), cells + 1))
    law[:, 0] = 1.0
    for step in np.floor(weight * cells).astype(int):
        moved = law[:, : cells + 1 - step] * p[:, None]
        law *= 1 - p[:, None]
        law[:, step:] += moved
    above = np.arange(cells + 1) / cells - p[:, None] * weight.sum()
    off = len(weight) / cells
    return Distances(law, np.maximum(above, -above - off).clip(0), np.maximum(above + off, -above))


def _edge(distance: Array, probability: Array, level: float) -> float:
    highest = 0.0
    for d, q in zip(distance, probability, strict=True):
        order = np.argsort(-d)
        beyond = np.cumsum(q[order])  # P(distance >= d[order])
        highest = max(highest, float(d[order][np.searchsorted(beyond, level, side="right")]))
    return highest


def log_failure(sizes: Sizes, constants: Constants, listing: Listing, span: float = 1.0, counts: bool = True) -> float:
    """log of Hoeffding's bound that |X| exceeds b_t for some (x,a,h,k), V or W, and with ``counts`` some t <= L.

    V(x') - P V lies in an interval of length ``span`` H: 1 is enough, the proof takes 2. Where the squared weights sum
    to (chi+1)/(chi+t) at most, b_t^2 / sum_i (alpha_t^i)^2 >= H^2 iota / 16.
    """
    each = math.log(2) - listing.bonus**2 * constants.iota / (8 * span**2)
    events = math.log(2 * sizes.S * sizes.A * sizes.H) + math.log(sizes.K)
    return each + events + (math.log(constants.frame) if counts else 0.0)


def constant_rows(listing: Listing, K: int) -> list[dict[str, Any]]:
    """What b_t / (H sqrt((chi+1)/(chi+t))) is, and what it would have to be, for entries of t visits."""
    sizes = SMALL._replace(K=K)
    c, rows = literal(sizes), []
    level = K**-3.0 / (2 * sizes.S * sizes.A * sizes.H * K * c.frame)
    for t in sorted({*(2**i for i in range(9)), c.frame} & set(range(1, c.frame + 1))):
        weight = weights(rates(listing, c.chi, t))
        scale, square = np.sqrt((c.chi + 1) / (c.chi + t)), float((weight**2).sum())
        row = {"K": K, "t": t, "claimed": listing.bonus * np.sqrt(c.iota) / 4, "squares": square / scale**2,
               "azuma": np.sqrt(2 * np.log(2 / level) * square) / scale,
               "hoeffding": np.sqrt(np.log(2 / level) * square / 2) / scale * (sizes.H - 1) / sizes.H}  # fmt: skip
        if weight.min() >= 0 and weight.sum() <= 1 + ROUNDING:
            law, unit = distances(weight, SHARES), (sizes.H - 1) / sizes.H / scale
            least, most = law.edges(level)
            b_t = listing.bonus * bonus(np.array(float(t)), sizes.H, c)
            row |= {"exact_low": unit * law.edges(K**-3.0)[0], "exact": unit * most, "exact_least": unit * least,
                    "failure": law.tail(float(b_t) / (sizes.H - 1)) / level * K**-3.0}  # fmt: skip
        else:
            row |= {"exact_low": np.inf, "exact": np.inf, "exact_least": np.inf, "failure": np.inf}
        rows.append(plain(row))
    return rows


def noise(one: Case, runs: int, rng: np.random.Generator, listing: Listing) -> float:
    """The largest |sum_i alpha_t^i (V(x_i) - P V)| / b_t of all entries, episodes, policies, V and W in some runs."""
    c, path, H = one.constants, Path(one.env), one.sizes.H
    mean, run, largest = np.zeros((runs, H, one.sizes.S, one.sizes.A, one.sizes.S)), np.arange(runs), 0.0
    visits = np.zeros(mean.shape[:4], dtype=np.int64)
    for state in episodes(one.env, c, runs, rng, listing):
        if state.last is not None:
            P = path.at(state.k - 1).P
            for h, a in enumerate(state.last.a):
                at = run, h, state.last.x[h], a
                visits[at] += 1
                alpha = listing.rate(visits[at].astype(float), c.chi)[:, None]
                mean[at] = (1 - alpha) * mean[at] + alpha * (np.eye(one.sizes.S)[state.last.x[h + 1]] - P[at[1:]])
        if state.k > one.sizes.K:
            break
        if listing.restarts and (state.k - 1) % c.frame == 0:
            mean[:], visits[:] = 0.0, 0
        values = evaluate(path.at(state.k), one.policies)
        b = listing.bonus * bonus(visits.astype(float), H, c)
        for value in (values.V, values.W):
            X = np.abs(np.einsum("nhxay,mhy->mnhxa", mean, value[:, 1:]))
            largest = max(largest, float(np.divide(X, b, out=np.zeros_like(X), where=visits > 0).max()))
    return largest


def trivial_until(sizes: Sizes) -> float:
    """The K up to which b_t >= H for every t <= L, B = 1: no sum of weights 1 of numbers in [-H, H] exceeds it."""
    low, high = 1.0, 1e12
    for _ in range(200):
        middle = np.sqrt(low * high)
        iota, chi = 128 * np.log(np.sqrt(2 * sizes.S * sizes.A * sizes.H) * middle), middle**0.2
        low, high = (middle, high) if iota * (chi + 1) >= 16 * (chi + middle**0.6) else (low, middle)
    return float(low)


def union_rows(listing: Listing) -> list[dict[str, Any]]:
    """log10 of the probability that some noise exceeds b_t, by Hoeffding's bound, beside that of K^-3."""
    rows = []
    for power in (1, 2, 3, 4, 6, 10, 20, 40, 60):
        sizes = SMALL._replace(K=10**power)
        c = literal(sizes)
        found = {"log_failure": log_failure(sizes, c, listing), "as_printed": log_failure(sizes, c, listing, 2, False),
                 "as_printed_over_counts": log_failure(sizes, c, listing, 2)}  # fmt: skip
        in_tens = {key: value / math.log(10) for key, value in found.items()}
        rows.append({"K": float(sizes.K), **in_tens, "allowed": -3.0 * power})
    return rows
