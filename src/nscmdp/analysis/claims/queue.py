"""The virtual queue: its drift, negative drift and bound (C8, C9, C10); the moments behind it (C11) are in ``moments``.

With z = Z_T, y = rho + eps - Cbar_T/L, Z_{T+1} = (z + y)^+ and L_T = Z_T^2/2, always L_{T+1} - L_T <= z y + y^2/2.
Since a_{k,1} maximises eta Q + z C and q = q^{eps,*} has utility rho + eps,

    C8, Lemma 10   E[L_{T+1} - L_T | z] <= mean_k E[-eta (sum_a Q_k q - Q_k(x,a_k)) + z sum_a (C^{eps,*} - C_k) q] + D,
    C9, Lemma 13   E[L_{T+1} - L_T | z] <= -(delta/2) z + f + eta X + D        for eps <= delta/2,
    C10, Lemma 11  E[Z_T] <= bound                                            for eps <= delta/2,

where D bounds y^2/2 and f, the over-estimation's failures, is (eta + K^{1-alpha}) H^2 B^c / (eta K). From
0 <= C <= H^2 (sqrt(iota) + 2 b~), D can be max{H + eps, H^2 (sqrt(iota) + 2 b~)}^2 / 2. Four other D are printed.

X = sqrt(H^2 iota) + 2 H^2 b~ is printed as a bound on Q_{k,1}, which it is not: that is H^2 (sqrt(iota) + 2 b~). Yet
C9 is true with X = 3H - 1, for C_k >= C^pi: Q and C collect the same bonuses beta, and what is left of them lies in
[0, 2H - 1]. So either beta > H >= C^pi, and C_k(x,a_k) > C^pi; or Q_k(x,a_k) <= 3H - 1.
"""

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from nscmdp.analysis.claims import moments
from nscmdp.analysis.claims.findings import (
    FAILS,
    FALSE,
    HOLDS_DEVIATING,
    MIXED,
    Finding,
    Given,
    Inequality,
    check,
)
from nscmdp.analysis.claims.instrumented import PRINTED, Listing
from nscmdp.analysis.claims.queue_runs import (
    AS_PRINTED,
    EPISODES,
    EPS_SCALED,
    EXACT,
    SCALED,
    SURE,
    Conditional,
    Seen,
    from_levels,
    given_z,
    observe,
)
from nscmdp.cmdp import Array

D_VERSIONS: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "Lemma 10": lambda H, iota, b, eps: 2 * H**4 * iota + 4 * H**4 * b + eps**2,
    "Section 5.1": lambda H, iota, b, eps: 2 * H**4 * iota + 4 * H**2 * b**2 + eps**2,
    "appendix E.1": lambda H, iota, b, eps: 2 * H**4 * iota + 4 * H**4 * b**2 + eps**2,
    "Lemma 13": lambda H, iota, b, eps: H**4 * iota + 2 * H**4 * b**2 + eps**2,
}
LEVELS = (0.0, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 100.0)  # of Z, more than the runs reach
RESTS_ON = "rests on Lemma 7 with V and W reset at a frame's end (ledger: values-at-a-frames-end)"
SHARE = 4  # one run of the whole algorithm for so many samples


def largest_step(H: float, iota: float, b: float, eps: float) -> float:
    """max |y| that the range of C allows: |Z_{T+1} - Z_T| is no larger."""
    return max(H + eps, H**2 * (math.sqrt(iota) + 2 * b))


def fails_from(version: str, H: int, iota: float) -> float:
    """The least b~ at which a printed D is below (H^2 (sqrt(iota) + 2 b~))^2/2, which y^2/2 may be at eps = 0."""
    b = np.geomspace(1e-3, 1e3, 20_000) * math.sqrt(iota)
    short = b[D_VERSIONS[version](H, iota, b, 0.0) < (H**2 * (math.sqrt(iota) + 2 * b)) ** 2 / 2]
    return float(short.min(initial=math.inf))


def printed_drift_bound(H: float, iota: float, b: float, eps: float, eta: float, f: float) -> float:
    """f + eta X + D of Lemma 13"""
    return f + eta * (H * math.sqrt(iota) + 2 * H**2 * b) + D_VERSIONS["Lemma 13"](H, iota, b, eps)


def derived_drift_bound(H: float, iota: float, b: float, eps: float, eta: float, f: float) -> float:
    """The same with X = 3H - 1, the D of the range of C, and f times eta, which Lemma 13 leaves out."""
    return f * max(1.0, eta) + eta * (3 * H - 1) + largest_step(H, iota, b, eps) ** 2 / 2


def queue_bounds(H: float, iota: float, b: float, eps: float, eta: float, f: float, delta: float) -> dict[str, float]:
    """The printed bounds on E[Z_T], and what Lemmas 12 and 13 give."""
    s = math.sqrt(iota)
    later = 4 * f / delta + 4 * eta * (H * s + 2 * H**2 * b) / delta
    first = 100 * (H**4 * iota + b**2 * H**2) / delta
    gamma, v = delta / 4, largest_step(H, iota, b, eps)
    theta = 4 * derived_drift_bound(H, iota, b, eps, eta, f) / delta
    return {
        "Section 5.2": first * math.log(16 * (H**2 * s + b * H) / delta) + later,
        "Lemma 11": first * math.log(16 * (H**2 * s + b * H**2) / delta) + later,
        "derived": moments.mean_bound(moments.exponent(gamma, v), gamma, v, theta),
    }


def first_episodes(S: int, A: int, H: int, delta: float, B: float = 1.0, power: float = 0.0) -> float:
    """The K from which the printed eps is at most delta/2 and K >= e^{1/delta}, for a budget B K^power, power < 0.6."""
    log_K = 1.0
    for _ in range(500):
        iota = 128 * (0.5 * math.log(2 * S * A * H) + log_K)
        log_K = math.log(16 / delta) + 0.5 * math.log(S * A * H**6 * iota**3) + math.log(B) / 3
        log_K /= 0.2 - power / 3
    return math.exp(max(log_K, 1 / delta))


def in_force() -> list[dict[str, Any]]:
    """Printed and derived bounds at printed constants, from the K on where the lemmas apply."""
    rows = []
    sizes = [(1, 2, 1), (2, 2, 2), (10, 4, 5), (100, 4, 25)]
    for (S, A, H), delta, power, later in product(sizes, (1.0, 0.1), (0.0, 0.3), (1.0, 1e3)):
        K = later * first_episodes(S, A, H, delta, power=power)
        B, iota = K**power, 128 * math.log(math.sqrt(2 * S * A * H) * K)
        eta, b = K**0.2 * B ** (1 / 3), B ** (1 / 3) * K**-0.4
        eps = 8 * math.sqrt(S * A * H**6 * iota**3) * B ** (1 / 3) / K**0.2
        f = (eta + K**0.4) * H**2 * B ** (2 / 3) / (eta * K)
        drift = {"drift": printed_drift_bound(H, iota, b, eps, eta, f),
                 "drift, derived": derived_drift_bound(H, iota, b, eps, eta, f)}  # fmt: skip
        rows.append({"S": S, "A": A, "H": H, "delta": delta, "B": B, "K": K, "eps": eps, **drift,
                     **queue_bounds(H, iota, b, eps, eta, f, delta)})  # fmt: skip
    return rows


@check("C8")
def lyapunov_drift(given: Given, listing: Listing = PRINTED) -> Finding:
    seen, wide = (observe(name, _runs(given), listing) for name in (SCALED, EPS_SCALED))
    z, y, rounding = seen.Z[:-1], seen.y, EXACT * (1 + seen.Z[:-1] * np.abs(seen.y))
    pathwise = bool((seen.drift <= z * y + y**2 / 2 + rounding).all())
    # Cbar + eps - rho = 2 eps - y stands in the proof for rho + eps - Cbar = y
    swapped = float((seen.drift > z * y + (2 * seen.constants.eps - y) ** 2 / 2 + rounding).mean())
    needed = given_z(seen, seen.drift - seen.lemma)
    rows = [_version(name, seen, wide, needed) for name in D_VERSIONS]
    good, edge, most = [row for row in rows if row["holds"]], min(row["D"] for row in rows), float(needed.high.max())
    chosen = seen.greedy >= -EXACT and bool((z * seen.before <= seen.lemma + rounding).all())
    sound = seen.updated and wide.updated and pathwise and chosen
    why = (
        f"{len(good)} of {len(rows)} printed constants hold at every b~ that frames of at least an episode allow; the "
        f"runs need {most:.2f} where the least D is {edge:.1f}; the proof's first line, with (Cbar + eps - rho)^2, "
        f"fails in {swapped:.0%} of the frames"
    )
    if not sound:
        why = "Z is not (Z + rho + eps - Cbar/L)^+" if not seen.updated else "drift above z y + y^2/2"
    kept = HOLDS_DEVIATING if len(good) == len(rows) else MIXED if good else FALSE
    return Finding(
        kept if sound else FAILS, why,
        value=most, low=float(needed.mean.max()), high=most, bound=edge, slack=edge - most, samples=y.size,
        inequalities=(
            Inequality("(rho + eps - Cbar/L)^2/2 <= 2 H^4 iota + 4 H^4 b~ + eps^2, printed iota", "Lemma 10",
                       D_VERSIONS["Lemma 10"](wide.H, *_constants(wide)), float((wide.y**2 / 2).max())),
            Inequality("drift of Z^2/2 beyond the first terms of Lemma 10 <= D, scaled constants", "Lemma 10",
                       D_VERSIONS["Lemma 10"](seen.H, *_constants(seen)), max(0.0, float(needed.mean.max()))),
        ),
        rows=rows,
    )  # fmt: skip


def _runs(given: Given) -> int:
    return max(given.samples // SHARE, 8)


def _constants(seen: Seen) -> tuple[float, float, float]:
    return seen.constants.iota, seen.constants.btilde, seen.constants.eps


def _version(version: str, seen: Seen, wide: Seen, needed: Conditional) -> dict[str, Any]:
    """Does a printed D hold: in the runs, and at every b~ that is allowed?

    L >= 1 means B <= K^0.9, and (number of frames) b~ <= B then means b~ <= K^-0.1.
    """
    D, most = D_VERSIONS[version], float(needed.high.max())
    here = D(seen.H, *_constants(seen))
    in_runs = all((one.y**2 / 2 <= D(one.H, *_constants(one))).all() for one in (seen, wide))
    times = min(
        fails_from(version, H, 128 * math.log(math.sqrt(2 * H) * K)) / K**-0.1
        for H, K in product((1, 2, 5, 25, 100), (1.0, 1e3, 1e6, 1e60))
    )
    return {
        "version": version, "D": here, "needed": most, "times_largest_btilde": times,
        "fails_from_btilde_over_root_iota": fails_from(version, 5, 1e4) / 100,
        "holds": bool(in_runs and most <= here and times > 1),
    }  # fmt: skip


def single_chain(H: int, K: float) -> tuple[float, float]:
    """S = A = 1, r = 1, B = 1, printed constants: the largest Q_1 of a frame's first episodes; X of Lemma 13."""
    chi, iota, b = K**0.2, 128 * math.log(math.sqrt(2 * H) * K), K**-0.4
    Q, largest = [float(H)] * H + [0.0], 0.0
    for t in range(1, H * H + 1):
        alpha, later = (chi + 1) / (chi + t), Q.copy()  # V_{h+1} is what the visit before left
        for h in range(H):
            Q[h] = (1 - alpha) * Q[h] + alpha * (1 + later[h + 1] + H * math.sqrt(iota * alpha) / 4 + 2 * H * b)
        largest = max(largest, Q[0])
    return largest, H * math.sqrt(iota) + 2 * H**2 * b


@check("C9")
def negative_drift(given: Given, listing: Listing = PRINTED) -> Finding:
    seen, far, (Q, X) = observe(SCALED, _runs(given), listing), in_force(), single_chain(6, 1e10)
    H, (iota, b, eps), eta, delta = seen.H, _constants(seen), seen.constants.eta, seen.delta
    allowed = printed_drift_bound(H, iota, b, eps, eta, seen.failures)
    needed = _beyond(seen, from_levels(LEVELS, _runs(given), listing))
    most, steepest = float(needed.high.max()), float(needed.mean[-1] / LEVELS[-1] - delta / 2)
    # mean_k E_x[z (rho + eps - C_k)] <= -(delta - eps) z + eta (3H - 1), from tables that differ by at most 2H - 1
    term = float((seen.Z[:-1] * (seen.before + delta - eps)).max() / eta)
    derived = term <= 3 * H - 1 and seen.apart <= 2 * H - 1 + EXACT
    derived &= all(row["drift, derived"] <= row["drift"] for row in far)
    why = (
        f"given Z the drift is at most -(delta/2) Z + {most:.2f}, with {allowed:.1f} allowed, and {steepest:.2f} Z at "
        f"Z = {LEVELS[-1]:g} (scaled constants); Q_1 can pass its printed bound ({Q:.0f} > {X:.0f} at H = 6, K = "
        f"1e10), but 3H - 1 does for it, which is less in {len(far)} problems with eps <= delta/2, here from K = "
        f"{_first(seen):.0e} on; {RESTS_ON}"
    )
    if not seen.updated or not seen.reset:
        why = "Z is not (Z + rho + eps - Cbar/L)^+" if not seen.updated else "frames do not begin with Q = C = H"
    return Finding(
        HOLDS_DEVIATING if seen.updated and seen.reset and eps <= delta / 2 and most <= allowed and derived else FAILS,
        why,
        value=most, low=float(needed.mean.max()), high=most, bound=allowed, slack=allowed - most, samples=seen.y.size,
        inequalities=(
            Inequality("E[Z (rho + eps - C_k)] + (delta - eps) Z <= eta (sqrt(H^2 iota) + 2 H^2 b~), over eta, scaled",
                       "Lemma 13 (c)", H * math.sqrt(iota) + 2 * H**2 * b, max(0.0, term)),
            Inequality("drift of Z^2/2 + (delta/2) Z, scaled constants", "Lemma 13", allowed, max(0.0, most)),
        ),
        rows=[{"z": float(z), "drift": float(mean - delta / 2 * z), "high": float(high - delta / 2 * z),
               "bound": allowed - delta / 2 * float(z)} for z, mean, high in zip(*needed, strict=True)],
    )  # fmt: skip


def _beyond(seen: Seen, by_level: Array) -> Conditional:
    """E[L_{T+1} - L_T | Z] + (delta/2) Z: over the values of Z in the runs, then from the levels."""
    runs = given_z(seen, seen.drift + seen.delta / 2 * seen.Z[:-1])
    mean = by_level.mean(axis=1) + seen.delta / 2 * np.array(LEVELS)
    error = by_level.std(axis=1) / math.sqrt(by_level.shape[1])
    levels = Conditional(np.array(LEVELS), mean, mean + SURE * error)
    return Conditional(*(np.concatenate(pair) for pair in zip(runs, levels, strict=True)))


def _first(seen: Seen) -> float:
    return first_episodes(seen.S, seen.A, seen.H, seen.delta, seen.B)


@check("C10")
def queue_bound(given: Given, listing: Listing = PRINTED) -> Finding:
    seen, printed = (observe(name, _runs(given), listing) for name in (SCALED, AS_PRINTED))
    rows = [*_queues(SCALED, seen), *_queues(AS_PRINTED, printed)]
    far, scaled = in_force(), [row for row in rows if row["setting"] == SCALED]
    top = max(scaled, key=lambda row: row["high"])
    kept = [name for name in ("Section 5.2", "Lemma 11")
            if top["high"] <= top[name] and all(row["derived"] <= row[name] for row in far)]  # fmt: skip
    edge, two = min(top["Section 5.2"], top["Lemma 11"]), next(row for row in far if row["S"] == row["H"] == 2)
    grown = float(printed.Z.mean(axis=1).max())
    why = (
        f"{len(kept)} of 2 printed bounds are above what Lemmas 12 and 13 give in {len(far)} problems where eps <= "
        f"delta/2; with scaled constants E Z_T goes up to {top['Z']:.2f} of {edge:.0f}; the printed eps meets that "
        f"condition here from K = {_first(seen):.0e} on, at K = {EPISODES} E Z_T grows to {grown:.2g}; {RESTS_ON}"
    )
    premise = seen.updated and printed.updated and seen.constants.eps <= seen.delta / 2
    v = 2 * seen.H**2 * (math.sqrt(seen.constants.iota) + seen.constants.btilde)
    return Finding(
        (HOLDS_DEVIATING if len(kept) == 2 else MIXED if kept else FALSE) if premise else FAILS,
        why if premise else "Z is not (Z + rho + eps - Cbar/L)^+",
        value=top["Z"], low=2 * top["Z"] - top["high"], high=top["high"], bound=edge, slack=edge - top["high"],
        samples=seen.Z.size,
        inequalities=(
            Inequality("E[Z_T], scaled constants", "Lemma 11", edge, top["Z"]),
            Inequality("|Z_{T+1} - Z_T| <= v, scaled constants", "proof of Lemma 11", v, float(np.abs(seen.y).max())),
            Inequality(f"E[Z_T], printed against derived, S = A = H = 2, delta = 1, K = {two['K']:.0e}", "Lemma 11",
                       two["Lemma 11"], two["derived"]),
        ),
        rows=rows,
    )  # fmt: skip


def _queues(setting: str, seen: Seen) -> list[dict[str, Any]]:
    """E[Z_T] over T beside the bounds; where eps > delta/2 they claim nothing."""
    found = queue_bounds(seen.H, *_constants(seen), seen.constants.eta, seen.failures, seen.delta)
    mean, error = seen.Z.mean(axis=1), seen.Z.std(axis=1) / math.sqrt(seen.Z.shape[1])
    return [
        {"setting": setting, "T": T + 1, "applies": bool(seen.constants.eps <= seen.delta / 2), "Z": float(mean[T]),
         "high": float(mean[T] + SURE * error[T]), **found}
        for T in range(len(mean))
    ]  # fmt: skip
