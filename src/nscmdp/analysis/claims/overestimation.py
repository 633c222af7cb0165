"""Is F = Q + (Z/eta) C above F^pi, and what keeps it there (C5): the steps of Lemma 7, each measured on its own.

    F_{k,h} - F^pi_{k,h} >= sum_i alpha_t^i [b_i - noise + 2 H b~ - drift + (F - F^pi at step h+1)]

    noise   at most b_t <= sum_i alpha_t^i b_i <= 2 b_t
    drift   of r, of P and of V^pi at the next step, from episode k_i of a frame to k: B_r + (H-1)/2 B_p at most

so 2 H b~ is twice what H = 1 needs and over four times what H >= 3 needs. The expected sum over the eps-tight optima of
all episodes ends with the step H <= H^2 B^c.
"""

from collections.abc import Iterator
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np

from nscmdp import budget, optimum
from nscmdp.analysis.claims.cases import Case, case, cases, drifting, falling
from nscmdp.analysis.claims.concentration import accumulated_bonus
from nscmdp.analysis.claims.findings import Given
from nscmdp.analysis.claims.instrumented import (
    Constants,
    Listing,
    Model,
    Path,
    Sizes,
    bonus,
    episodes,
    evaluate,
    literal,
)
from nscmdp.cmdp import CMDP, Array

ROUNDING = 1e-9
FACTORS = (1.0, 0.3, 0.1, 0.03, 0.01, 0.005, 0.003, 0.002, 0.001, 0.0005, 0.0)  # of the bonus


class Optimism(NamedTuple):
    """F - F^pi over all entries, episodes, runs and policies."""

    least: float  # of (F - F^pi) / (1 + Z/eta)
    visited: float  # the same where N > 0
    negative: float  # the share of visited entries below 0
    runs: float  # the share of runs with an entry below 0


def optimism(one: Case, constants: Constants, runs: int, rng: np.random.Generator, listing: Listing) -> Optimism:
    path, least, visited, negative, number = Path(one.env), np.inf, np.inf, 0, 0
    any_negative = np.zeros(runs, dtype=bool)
    for state in episodes(one.env, constants, runs, rng, listing):
        if state.k > one.sizes.K:
            break
        exact = evaluate(path.at(state.k), one.policies)
        z = (state.Z / constants.eta)[:, None, None, None, None]
        over = ((state.Q[:, None] - exact.Q) + z * (state.C[:, None] - exact.C)) / (1 + z)
        below = over < -ROUNDING
        seen = np.broadcast_to(state.N[:, None] > 0, over.shape)
        least = min(least, float(over.min()))
        visited = min(visited, float(over.min(where=seen, initial=np.inf)))
        negative, number = negative + int((below & seen).sum()), number + int(seen.sum())
        any_negative |= below.any(axis=(1, 2, 3, 4))
    return Optimism(least, visited, negative / max(1, number), float(any_negative.mean()))


def accumulated_rows(listing: Listing) -> list[dict[str, Any]]:
    """sum_i alpha_t^i b_i as the updates add it, over the printed b_t; t up to the frame of K, 2000 at most."""
    rows = []
    for K in (100, 10_000, 10**8):
        c = literal(Sizes(2, 2, 3, K, 1.0))
        last = min(c.frame, 2000)
        ratio = accumulated_bonus(listing, 3, c, last) / bonus(np.arange(1.0, last + 1), 3, c)
        shown = np.unique(np.geomspace(1, last, 12, dtype=int))
        rows += [{"K": K, "t": int(t), "ratio": float(ratio[t - 1])} for t in shown]
    return rows


def drift_needed(models: list[Model], policies: Array) -> float:
    """The most that r, P and V^pi at the next step fall from an episode k_i to k, in r or in g, for any (h,x,a)."""
    exact = [evaluate(model, policies) for model in models]
    most = 0.0
    for i, k in permutations(range(len(models)), 2):
        for paid, value in (("r", "V"), ("g", "W")):
            before, now = getattr(exact[i], value)[:, 1:], getattr(exact[k], value)[:, 1:]
            moved = getattr(models[i], paid) - getattr(models[k], paid)
            moved = moved + np.einsum("hxay,mhy->mhxa", models[i].P - models[k].P, now)
            most = max(most, float(-(moved + (before - now).min(axis=2)[..., None, None]).min()))
    return most


def drift_rows(given: Given, listing: Listing) -> Iterator[dict[str, Any]]:
    """What one frame's drift needs beside 2 H b~, for the least b~ that is allowed: the largest local budget."""
    rng = given.rng("C5", "drift")
    adverse = [case(f"{what} fall, H = {H}", falling(H, 2000, what == "kernels"), rng)
               for H in (1, 2, 4, 6) for what in ("rewards", "kernels")[:H]]  # fmt: skip
    for one in [*adverse, *cases(given, "C5")]:
        path, H = Path(one.env), one.sizes.H
        btilde = float(budget.frame_variations(one.env, one.constants.frame).sum(axis=1).max())
        remembered = one.frames(listing.restarts)
        needed = max(
            drift_needed([path.at(int(k)) for k in np.unique(np.linspace(first, last, 5, dtype=int))], one.policies)
            for first, last in remembered[:: max(1, len(remembered) // 2)]
        )
        if btilde > 0:
            yield {"problem": one.name, "H": H, "frame": one.constants.frame, "needed": needed / btilde,
                   "allowed": 2 * H * listing.btilde, "most": max(1.0, (H - 1) / 2)}  # fmt: skip


def expected_sum(one: Case, runs: int, rng: np.random.Generator, listing: Listing) -> dict[str, Any]:
    """E sum_k sum_a (F^{eps,*} - F) q^{eps,*} at the first step, eps half the Slater gap, beside its bounds."""
    K, H, B = one.sizes.K, one.sizes.H, one.sizes.B
    models = [one.env.at(k) for k in range(1, K + 1)]
    eps = (min(optimum.best_utility(model) for model in models) - one.env.rho) / 2
    constants, path, total = one.constants._replace(eps=eps), Path(one.env), np.zeros(runs)
    for state, cmdp in zip(episodes(one.env, constants, runs, rng, listing), models, strict=False):
        best = optimum.constrained(CMDP(cmdp.P, cmdp.r, cmdp.g, cmdp.rho + eps, cmdp.mu0)).policy
        exact, z = evaluate(path.at(state.k), best), (state.Z / constants.eta)[:, None, None]
        short = (exact.Q[0] - state.Q[:, 0]) + z * (exact.C[0] - state.C[:, 0])
        total += np.einsum("x,xa,nxa->n", one.env.mu0, best[0], short)
    others, Bc = K**0.4 / constants.eta, B ** (2 / 3)
    return {"B": B, "sum": total.mean(), "error": total.std() / np.sqrt(runs), "H B^c": H * Bc,
            "printed": (1 + others) * H**2 * Bc / K, "before": H / K + H**2 * others * Bc / K}  # fmt: skip


def expected_rows(given: Given, listing: Listing) -> list[dict[str, Any]]:
    rows = []
    for share in (1.0, 0.1, 1e-4):
        rng = given.rng("C5", "sum", share)
        one = case(f"share {share}", drifting(rng, 2, 3, 2, 100, share), rng, least=0.0)
        rows.append(expected_sum(one, max(20, given.samples // 10), rng, listing))
    return rows


def factor_rows(given: Given, listing: Listing) -> Iterator[dict[str, Any]]:
    """Where optimism is lost: a bonus of less than the printed one, with and without b~."""
    rng = given.rng("C5", "factors")
    one = case("factors", drifting(rng, 3, 3, 2, 300, 0.5), rng)
    for on_btilde in (1.0, 0.0):
        for factor in FACTORS:
            faulty = listing._replace(bonus=listing.bonus * factor, btilde=listing.btilde * on_btilde)
            found = optimism(one, one.constants, max(4, given.samples // 10), given.rng("C5", factor), faulty)
            yield {
                "bonus": factor,
                "btilde": on_btilde,
                "least": found.visited,
                "negative": found.negative,
                "runs": found.runs,
            }


def first_lost(factors: list[dict[str, Any]], btilde: float) -> str:
    """The largest factor of the bonus at which a visited entry is below F^pi."""
    lost = [row["bonus"] for row in factors if row["btilde"] == btilde and row["negative"] > 0]
    return f"{max(lost):g}" if lost else "no share"
