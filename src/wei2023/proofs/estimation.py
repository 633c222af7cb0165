"""What the estimates of a frame exceed the truth by (C6).

Lemma 8, with L = K^alpha / B^c; p = 3 in the lemma, 2 in section 5.1, 4 in the proof of Theorem 1:

    E sum_{k in frame} (Q_{k,1} - Q^{pi_k}_{k,1})  <=  H^2 S A + 2 (H^3 sqrt(iota) + 2 H^p b~) L/chi
                                                     + sqrt(H^4 S A iota L (chi+1)) + 2 L H^2 b~.

Its recursion over h, with V_{h+1} <= (H-h) U, U = 1 + b_1 + 2 H b~, and visits spread evenly, needs

    H^2 S A + (H + H(H-1)/2 U) L/chi + H S A sum_{t <= L/SA} sum_i alpha_t^i b_i + 2 L H^2 b~,

and S sum_{h<H} ((H-h) U - H)^+ more where V and W are carried over from frame to frame, which the
listing does not reset; where they are 0 at first visits it needs less. It never needs more than
L H max(1, U), the range of Q_1. For S A = L/chi^1.5 and large K the third term comes to 1/2 of its
bound.
"""

import math
from collections.abc import Iterator
from itertools import product

import numpy as np

from nscmdp.cmdp import Array
from wei2023.proofs import instrumented
from wei2023.proofs.cases import Case, RandomRewards, cases, runs_each
from wei2023.proofs.concentration import accumulated_bonus
from wei2023.proofs.findings import Finding, Given, bounded, check, verdict
from wei2023.proofs.instrumented import Constants, Path, Sizes, evaluate, literal

POWERS = {"section 5.1": 2, "Lemma 8": 3, "proof of Theorem 1": 4}  # of H before b~


def estimation_error(
    one: Case, c: Constants, runs: int, rng: np.random.Generator, random: bool
) -> Array:
    """(2, frames, runs), of Q and C: sums over a frame, exact in x_1 ~ mu0 and a_1 ~ pi_k."""
    path, K = Path(one.env), one.sizes.K
    played = RandomRewards(one.env, rng) if random else path
    out = np.zeros((2, (K - 1) // c.frame + 1, runs))
    for state in instrumented.episodes(one.env, c, runs, rng, played):
        if state.k <= K:
            model, policy = path.at(state.k), state.policy()
            exact, chance = evaluate(model, policy), model.mu0[:, None] * policy[:, 0]
            for into, table, truth in zip(out, (state.Q, state.C), (exact.Q, exact.C), strict=True):
                into[state.frame - 1] += (chance * (table - truth)[:, 0]).sum(axis=(1, 2))
    return out


def error_bound(sizes: Sizes, c: Constants, power: int) -> float:
    """Of a frame, with 2 H^power b~ in the second term."""
    S, A, H, L = sizes.S, sizes.A, sizes.H, c.frame
    second = 2 * (H**3 * math.sqrt(c.iota) + 2 * H**power * c.btilde) * L / c.chi
    third = math.sqrt(H**4 * S * A * c.iota * L * (c.chi + 1))
    return H * H * S * A + second + third + 2 * L * H * H * c.btilde


def recursion_needs(sizes: Sizes, c: Constants) -> float:
    """What the recursion adds up to, V and W carried over."""
    S, A, H, L = sizes.S, sizes.A, sizes.H, c.frame
    extra = instrumented.drift_bonus(H, c)
    U = 1 + float(instrumented.bonus(np.array(1.0), H, c)) + extra
    spread = S * A * float(accumulated_bonus(H, c, -(-L // (S * A))).sum())
    stale = S * sum(max((H - h) * U - H, 0.0) for h in range(1, H))
    discount = (H + H * (H - 1) / 2 * max(U, H)) * L / c.chi
    return min(H * H * S * A + discount + H * (spread + L * extra) + stale, L * H * max(1.0, U))


def sizes_to_try() -> Iterator[Sizes]:
    """B from 1 to the most that K episodes can have; S A = L/chi^1.5 for B = 1."""
    for K, H in product((100, 10**4, 10**6), (1, 3, 10, 30)):
        yield from (Sizes(2, 2, H, K, B) for B in (1.0, 4.0 * H * (K - 1)))
    for K, H in product((10**6, 10**10, 10**15), (1, 3, 10)):
        yield Sizes(round(K**0.3), 1, H, K, 1.0)


def share_in_runs(
    given: Given, claim: str, power: int, random: bool = False
) -> tuple[float, float]:
    """The largest mean error of a frame over its bound, in Q or C, and the same less 3 errors."""
    most = np.full(2, -np.inf)
    for one in cases(given, claim):
        rng = given.rng(claim, one.name, "runs")
        error = estimation_error(one, one.constants, runs_each(given), rng, random)
        share = error / error_bound(one.sizes, one.constants, power)
        mean, spread = share.mean(axis=2), share.std(axis=2) / math.sqrt(share.shape[2])
        most = np.maximum(most, [mean.max(), (mean - 3 * spread).max()])
    return float(most[0]), float(most[1])


@check("C6")
def estimation_error_per_frame(given: Given) -> Finding:
    """All three versions, by what the recursion needs at any size; the smallest also in runs."""
    tried = [(sizes, literal(sizes)) for sizes in sizes_to_try()]
    needs = {
        name: max(recursion_needs(sizes, c) / error_bound(sizes, c, power) for sizes, c in tried)
        for name, power in POWERS.items()
    }
    mean, low = share_in_runs(given, "C6", min(POWERS.values()))
    numbers = {f"{name}: share that the recursion needs": share for name, share in needs.items()}
    return bounded(
        verdict(refuted=low > 1, proved=max(needs.values()) <= 1),
        {**numbers, "section 5.1: largest share in runs, K of about 100": mean},
        max(needs.values()),
        "the bound divided by",
        given.samples,
        ("error of a frame", "Lemma 8", mean),
    )
