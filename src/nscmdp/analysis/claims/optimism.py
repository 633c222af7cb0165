"""What Algorithm 1's tables hold: their range, their noise, their optimism and their error (C2, C4, C5, C6).

C2, Lemma 4:  0 <= Q_{k,h}, C_{k,h} <= H^2 (sqrt(iota) + 2 b~). Its proof has H (H-h+1) (sqrt(iota) + 2 b~) at step h,
that of Lemma 8 quotes H^2 sqrt(iota) + b~. The most there can be is (H-h+1) (1 + b_1 + 2 H b~), which is reached.

C4, Lemma 5:  |sum_i alpha_t^i (V^pi(x_i) - P V^pi)| <= b_t for all (x,a,h,k) with probability at least 1 - K^-3.

C5, Lemma 7:  F_{k,h} = Q_{k,h} + (Z/eta) C_{k,h} >= F^pi_{k,h} for all (x,a,h,k) with probability at least 1 - K^-3,
and  E sum_k sum_a (F^{eps,*}_{k,1} - F_{k,1}) q^{eps,*}_{k,1}  <=  (eta + K^{1-alpha}) H^2 B^c / (eta K).

C6, Lemma 8:  E sum_{k in frame} (Q_{k,1} - Q^{pi_k}_{k,1})  <=  what :mod:`.estimation` says, in three versions.

C5 and C6 need V and W reset with Q and C at a frame's end, which the listing leaves out.
"""

from typing import Any

import numpy as np

from nscmdp.analysis.claims.cases import broken, case, cases, ladder, plain, runs_each, verdict
from nscmdp.analysis.claims.concentration import SMALL, constant_rows, noise, trivial_until, union_rows
from nscmdp.analysis.claims.estimation import (
    SAYS,
    VERSIONS,
    display_rows,
    error_terms,
    estimation_error,
    iota_rows,
    recursion_rows,
    version_rows,
)
from nscmdp.analysis.claims.findings import HOLDS_DEVIATING, Finding, Given, Inequality, check
from nscmdp.analysis.claims.instrumented import PRINTED, Listing, bonus, episodes
from nscmdp.analysis.claims.overestimation import (
    accumulated_rows,
    drift_rows,
    expected_rows,
    factor_rows,
    first_lost,
    optimism,
)

ROUNDING = 1e-9


@check("C2")
def q_range(given: Given, listing: Listing = PRINTED) -> Finding:
    """The largest and the least entry at every step of every run."""
    rng = given.rng("C2")
    tried = [(case(f"ladder {H}", ladder(H, 60), rng), given.samples) for H in (1, 2, 3)]
    tried += [(one, runs_each(given)) for one in cases(given, "C2")]
    rows: list[dict[str, Any]] = []
    for one, runs in tried:
        c, (_, _, H, K, _) = one.constants, one.sizes
        most, least = np.full(H, -np.inf), np.inf
        for state in episodes(one.env, c, runs, given.rng("C2", one.name, "runs"), listing):
            most = np.maximum(most, np.maximum(state.Q.max(axis=(0, 2, 3)), state.C.max(axis=(0, 2, 3))))
            least = min(least, state.Q.min(), state.C.min())
        b_1, unit = float(bonus(np.array(1.0), H, c)), np.sqrt(c.iota) + 2 * c.btilde
        for h in range(1, H + 1):
            rows.append(plain({
                "problem": one.name, "K": K, "H": H, "h": h, "largest": float(most[h - 1]), "least": float(least),
                "most": max(H, (H - h + 1) * (1 + b_1 + 2 * H * c.btilde)), "bound": H**2 * unit,
                "bound_of_step": H * (H - h + 1) * unit, "bound_in_lemma_8": H**2 * np.sqrt(c.iota) + c.btilde,
            }))  # fmt: skip
    shares = {key: max(row["largest"] / row[key] for row in rows) for key in ("bound", "bound_of_step", "most")}
    parts = {
        "at least 0": all(row["least"] >= 0 for row in rows),
        "H^2 (sqrt(iota) + 2 b~)": shares["bound"] <= 1,
        "H (H-h+1) (sqrt(iota) + 2 b~) at step h": shares["bound_of_step"] <= 1,
        "H^2 sqrt(iota) + b~, as quoted in Lemma 8": all(row["largest"] <= row["bound_in_lemma_8"] for row in rows),
        "(H-h+1) (1 + b_1 + 2 H b~)": shares["most"] <= 1 + ROUNDING,
    }
    at, top = max(rows, key=lambda row: row["largest"] / row["bound"]), shares["bound_of_step"]
    why = (
        f"the largest entry is {top:.3f} of H(H-h+1)(sqrt(iota)+2b~), and {shares['most']:.6f} of "
        f"(H-h+1)(1+b_1+2Hb~), the most that {len(rows)} pairs of a problem and a step allow{broken(parts)}"
    )
    return Finding(
        verdict(parts), why, top, top, top, 1.0, 1 - top, "share of the bound", len(tried),
        [Inequality("Q <= H^2 (sqrt(iota) + 2 b~)", "Lemma 4", at["bound"], at["largest"])], rows,
    )  # fmt: skip


@check("C4")
def concentration(given: Given, listing: Listing = PRINTED) -> Finding:
    """Exact tails where the law can be added up, Hoeffding's bound with all unions elsewhere, and runs."""
    exact = [row for K in (100, 1000, 10_000) for row in constant_rows(listing, K)]
    unions = union_rows(listing)
    worst = max(noise(one, runs_each(given), given.rng("C4", one.name), listing) for one in cases(given, "C4"))
    parts = {
        "sum_i (alpha_t^i)^2 <= (chi+1)/(chi+t)": all(row["squares"] <= 1 + ROUNDING for row in exact),
        "exact tails, K up to 10^4": all(row["failure"] <= row["K"] ** -3 for row in exact),
        "Hoeffding's bound over all counts, K up to 10^60": all(row["log_failure"] <= row["allowed"] for row in unions),
        "runs": worst <= 1,
    }
    needed = max(row["exact"] / row["claimed"] for row in exact)
    at = max(exact, key=lambda row: row["exact"] / row["claimed"])
    short = [row["K"] for row in unions if row["as_printed_over_counts"] > row["allowed"]]
    still = [row["K"] for row in unions if row["log_failure"] > row["allowed"]]
    why = (
        f"at the lemma's level b_t could be {needed:.3f} of what is printed (exact law, t = {at['t']}, K = {at['K']}); "
        f"the largest noise in runs is {worst:.3f} b_t; with the union over visit counts, which the proof leaves out, "
        f"its inequality promises less than 1 - K^-3 {_from(short)}, and with the range H "
        f"of V - P V instead of 2H {_from(still)}; up to K = {trivial_until(SMALL):.3g} "
        f"every sample meets it, as b_t >= H{broken(parts)}"
    )
    inequalities = [
        Inequality("half the range of V(x') - P V <= H", "Lemma 5, Azuma-Hoeffding", SMALL.H, (SMALL.H - 1) / 2),
        Inequality("sum of squared weights <= (chi+1)/(chi+t)", "Lemma 5", 1.0, max(row["squares"] for row in exact)),
        Inequality("noise <= b_t", "Lemma 5", at["claimed"], at["exact"]),
    ]
    rows = [{"part": "constant", **row} for row in exact] + [{"part": "union", **row} for row in unions]
    return Finding(
        verdict(parts), why, needed, min(needed, at["exact_low"] / at["claimed"]), needed, 1.0, 1 - needed,
        "share of the bound", given.samples, inequalities, rows,
    )  # fmt: skip


def _from(K: list[float]) -> str:
    return f"from K = {min(K):.0f}" if K else "at no K up to 10^60"


def noise_covered(listing: Listing) -> bool:
    return all(row["log_failure"] <= row["allowed"] for row in union_rows(listing))


@check("C5")
def over_estimation(given: Given, listing: Listing = PRINTED) -> Finding:
    """The statement in runs, and each step that its proof rests on."""
    found = [
        optimism(one, one.constants, runs_each(given), given.rng("C5", one.name), listing) for one in cases(given, "C5")
    ]
    summed, drift, sums = accumulated_rows(listing), list(drift_rows(given, listing)), expected_rows(given, listing)
    factors, ratios = list(factor_rows(given, listing)), [row["ratio"] for row in summed]
    parts = {
        "F >= F^pi in every run": min(one.least for one in found) >= -ROUNDING,
        "noise <= b_t with probability 1 - K^-3": noise_covered(listing),
        "sum_i alpha_t^i b_i >= b_t": min(ratios) >= 1 - ROUNDING,
        "sum_i alpha_t^i b_i <= 2 b_t": max(ratios) <= 2,
        "2 H b~ >= drift within what the tables remember": all(row["needed"] <= row["allowed"] for row in drift),
        "the expected sum": all(row["sum"] - 3 * row["error"] <= row["printed"] for row in sums),
    }
    room = min(row["allowed"] / row["needed"] for row in drift if row["needed"] > 0)
    wanting = [row["B"] for row in sums if row["before"] > row["printed"] * (1 + ROUNDING)]
    why = (
        f"F - F^pi is at least {min(one.visited for one in found):.3g} (1 + Z/eta) where visited, in {len(found)} "
        f"problems; visited entries fall below at {first_lost(factors, 1.0)} of the bonus, without b~ at "
        f"{first_lost(factors, 0.0)} of it; 2 H b~ is {room:.3g} or more times the drift; the last step "
        f"of the expected sum, H <= H^2 B^c, fails at B = {', '.join(f'{B:.2g}' for B in wanting) or 'none'}; the sum "
        f"itself is {max(row['sum'] for row in sums):.3g} at most{broken(parts)}"
    )
    worst = max(drift, key=lambda row: row["needed"] / row["allowed"] if row["allowed"] else np.inf)
    inequalities = [
        Inequality("b_t <= sum_i alpha_t^i b_i", "Lemma 7, (b)", min(ratios), 1.0),
        Inequality("sum_i alpha_t^i b_i <= 2 b_t", "Lemma 8, (iii)", 2.0, max(ratios)),
        Inequality("drift of r, P, V in a frame <= 2 H b~", "Lemma 7, (a), (d)", worst["allowed"], worst["needed"]),
    ]
    named = (("factor", factors), ("accumulated", summed), ("drift", drift), ("sum", sums))
    rows = [plain({"part": part, **row}) for part, group in named for row in group]
    smallest = min(one.least for one in found)
    return Finding(
        verdict(parts, HOLDS_DEVIATING), why, smallest, smallest, smallest, 0.0, smallest, "units of the value",
        given.samples, inequalities, rows,
    )  # fmt: skip


@check("C6")
def estimation_error_per_frame(given: Given, listing: Listing = PRINTED) -> Finding:
    """All printed versions: measured by exact evaluation of pi_k, and beside what the recursion needs at any size."""
    rows: list[dict[str, Any]] = []
    terms = {name: np.zeros(2) for name in SAYS}  # claimed and measured, over all problems
    for one in cases(given, "C6"):
        c = one.constants
        error = estimation_error(one, c, runs_each(given), given.rng("C6", one.name, "runs"), listing)
        for name, claimed in error_terms(one.sizes, c).items():
            terms[name] += claimed, float(getattr(error, name).mean())
        rows += [{"problem": one.name, **one.sizes._asdict(), **row} for row in version_rows(one.sizes, c, error)]
    needs, swept = list(recursion_rows(listing)), list(iota_rows(given, listing))
    parts = {
        f"{version}, {what}": all(row["ratio"] <= 1 for row in group if row["version"] == version)
        for version in VERSIONS
        for what, group in (("runs", rows), ("recursion", needs))
    }
    displays = display_rows(listing)
    wrong = dict.fromkeys(row["version"] for row in displays if row["ratio"] > 1)
    at = max(rows, key=lambda row: row["ratio"])
    why = (
        f"the error of a frame is at most {at['ratio']:.3f} of the bound in {given.problems} problems, in the version "
        f"nearest to it ({at['version']}), and the recursion of the proof needs at most "
        f"{max(row['ratio'] for row in needs):.3f} of it, K up to 10^6 and B from 1 to its largest; of what the proof "
        f"displays on its way, {' and '.join(wrong) or 'nothing'} is too small{broken(parts)}"
    )
    inequalities = [
        Inequality(f"error of a frame at step 1: {SAYS[name]}", "Lemma 8", *map(float, pair))
        for name, pair in terms.items()
    ]
    inequalities.append(Inequality("error of a frame", "Lemma 8", at["bound"], at["measured"]))
    named = (("run", rows), ("iota", swept), ("recursion", needs), ("display", displays))
    return Finding(
        verdict(parts, HOLDS_DEVIATING), why, at["ratio"], at["low"], at["high"], 1.0, 1 - at["ratio"],
        "share of the bound", given.samples, inequalities,
        [plain({"part": part, **row}) for part, group in named for row in group],
    )  # fmt: skip
