"""What the tables' estimates exceed the truth by within a frame (C6), measured and beside what is printed.

Lemma 8, with L = K^alpha / B^c; p = 3 in the lemma, 2 in the main text, 4 in the proof of Theorem 1:

    E sum_{k in frame} (Q_{k,1} - Q^{pi_k}_{k,1})  <=  H^2 S A + 2 (H^3 sqrt(iota) + 2 H^p b~) L/chi
                                                      + sqrt(H^4 S A iota L (chi+1)) + 2 L H^2 b~.

Its recursion over the steps h, with V_{h+1} <= (H-h) (1 + b_1 + 2 H b~) and visits spread evenly, needs

    H^2 S A + (H + H(H-1)/2 (1 + b_1 + 2 H b~)) L/chi + H S A sum_{t <= L/SA} sum_i alpha_t^i b_i + 2 L H^2 b~.
"""

from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from nscmdp.analysis.claims.cases import Case, case, drifting
from nscmdp.analysis.claims.concentration import accumulated_bonus
from nscmdp.analysis.claims.findings import Given
from nscmdp.analysis.claims.instrumented import (
    PRINTED,
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

SAYS = {
    "first": "first visits cost H S A",
    "discount": "(1/chi) sum of r + V",
    "bonus": "sum of sum_i alpha_t^i b_i",
    "btilde": "2 H b~",
}
VERSIONS = {"main text, 2 H^2 b~": 2, "Lemma 8, 2 H^3 b~": 3, "proof of Theorem 1, 2 H^4 b~": 4}


class Error(NamedTuple):
    """By frame (rows) and run: what the estimates exceed the truth by, and where the part of step 1 is from."""

    Q: Array
    C: Array
    first: Array  # H for every first visit
    discount: Array  # sum_i alpha_t^i (r + V_2)_{k_i} - (r + V_2)_k
    bonus: Array  # sum_i alpha_t^i b_i
    btilde: Array  # 2 H b~


def estimation_error(
    one: Case, constants: Constants, runs: int, rng: np.random.Generator, listing: Listing = PRINTED
) -> Error:
    """Sums over the episodes of each frame, exact in the first state and action: x_1 ~ mu0, a_1 ~ pi_k."""
    path, H = Path(one.env), one.sizes.H
    number = (one.sizes.K - 1) // constants.frame + 1
    out = Error(*(np.zeros((number, runs)) for _ in Error._fields))
    b = np.append(0.0, accumulated_bonus(listing, H, constants, one.sizes.K))
    for state in episodes(one.env, constants, runs, rng, listing):
        if state.k > one.sizes.K:
            break
        model, policy, T = path.at(state.k), state.policy(), state.frame - 1
        exact, chance = evaluate(model, policy), model.mu0[:, None] * policy[:, 0]
        fresh, N = state.N[:, 0] == 0, state.N[:, 0]
        ahead = model.r[0] + np.einsum("xay,ny->nxa", model.P[0], state.V[:, 1])
        first, added, extra = H * fresh, b[N], 2 * H * listing.btilde * constants.btilde * ~fresh
        terms = (state.Q[:, 0] - exact.Q[:, 0], state.C[:, 0] - exact.C[:, 0], first,
                 state.Q[:, 0] - first - added - extra - ahead, added, extra)  # fmt: skip
        for into, term in zip(out, terms, strict=True):
            into[T] += (chance * term).sum(axis=(1, 2))
    return out


def error_terms(sizes: Sizes, c: Constants) -> dict[str, float]:
    """The four terms of Lemma 8 for one step; H times them is the lemma's bound with p = 3."""
    S, A, H, L, iota = sizes.S, sizes.A, sizes.H, c.frame, c.iota
    return {
        "first": H * S * A,
        "discount": 2 * (H**2 * np.sqrt(iota) + 2 * H**2 * c.btilde) * L / c.chi,
        "bonus": np.sqrt(H**2 * S * A * iota * L * (c.chi + 1)),
        "btilde": 2 * L * H * c.btilde,
    }


def error_bound(sizes: Sizes, c: Constants, power: int) -> float:
    """Of a frame, with 2 H^power b~ in the second term."""
    differs = 4 * (sizes.H**power - sizes.H**3) * c.btilde * c.frame / c.chi
    return float(sizes.H * sum(error_terms(sizes, c).values()) + differs)


def most_bonus(sizes: Sizes, c: Constants, listing: Listing) -> float:
    """The most that sum_i alpha_t^i b_i adds up to in one step over a frame: L visits spread evenly over S A pairs."""
    pairs = sizes.S * sizes.A
    return float(pairs * accumulated_bonus(listing, sizes.H, c, -(-c.frame // pairs)).sum())


def recursion_needs(sizes: Sizes, c: Constants, listing: Listing) -> float:
    """What the recursion over the steps of an episode adds up to with the tight range of V and the real bonus."""
    S, A, H, L = sizes.S, sizes.A, sizes.H, c.frame
    V = 1 + listing.bonus * float(bonus(np.array(1.0), H, c)) + 2 * H * listing.btilde * c.btilde
    spread = most_bonus(sizes, c, listing)
    discount = (H + H * (H - 1) / 2 * max(V, H)) * L / c.chi
    return float(H * H * S * A + discount + H * spread + 2 * L * H**2 * listing.btilde * c.btilde)


def display_rows(listing: Listing) -> list[dict[str, Any]]:
    """Two displays within the proof, for one step: what is needed over what is printed there."""
    rows = []
    for K in (100, 10**4, 10**6):
        sizes = Sizes(2, 2, 3, K, 1.0)
        c = literal(sizes)
        half = error_terms(sizes, c)["bonus"] / 2
        rows.append({"version": "half the square root", "K": K, "ratio": most_bonus(sizes, c, listing) / half})
        rows.append({"version": "L b~ for the sum of 2 H b~", "K": K, "ratio": 2 * sizes.H * listing.btilde})
    return rows


def recursion_rows(listing: Listing) -> Iterator[dict[str, Any]]:
    """What the recursion needs, as a share of each version, for B from 1 to the most that K episodes can have."""
    for K, H, most in product((100, 10**4, 10**6), (1, 3, 10, 30), (False, True)):
        sizes = Sizes(2, 2, H, K, 4.0 * H * (K - 1) if most else 1.0)
        needs = recursion_needs(sizes, literal(sizes), listing)
        for version, power in VERSIONS.items():
            ratio = needs / error_bound(sizes, literal(sizes), power)
            yield {"version": version, "K": K, "H": H, "B": sizes.B, "ratio": ratio}


def version_rows(sizes: Sizes, c: Constants, error: Error) -> Iterator[dict[str, Any]]:
    """The frame with the largest mean error, of Q or C, beside each printed bound."""
    sums = np.concatenate([error.Q, error.C])
    worst = sums[sums.mean(axis=1).argmax()]
    mean, half = float(worst.mean()), 1.96 * float(worst.std()) / len(worst) ** 0.5
    for version, power in VERSIONS.items():
        bound = error_bound(sizes, c, power)
        yield {"version": version, "measured": mean, "bound": bound, "ratio": mean / bound,
               "low": (mean - half) / bound, "high": (mean + half) / bound}  # fmt: skip


def iota_rows(given: Given, listing: Listing) -> Iterator[dict[str, Any]]:
    """The same on one problem with a smaller iota in bonus and bound."""
    rng = given.rng("C6", "iota")
    one = case("iota", drifting(rng, 3, 3, 2, 200, 0.5), rng)
    for root in (np.sqrt(one.constants.iota), 10.0, 4.0, 2.0, 4 / 3):
        c = one.constants._replace(iota=root**2)
        error = estimation_error(one, c, max(4, given.samples // 10), given.rng("C6", "iota", root), listing)
        for row in version_rows(one.sizes, c, error):
            yield {"root": root, **row}
