"""The lemmas behind Theorems 3 and 4 (linear CMDPs), on runs of Algorithm 3 and on exact examples.

With x_k = rho - V_g,1^k(x_1), what drives the dual, and v_k = rho - V_g,1^{pi_k}(x_1), the violation:

C15    sum_k (Y - Y_k) x_k  <=  Y^2/(2 eta) + eta H^2 K/2  for all Y in [0, xi]. Needs |x_k| <= H, and Algorithm 3 clips
       V_g from above alone. It is sure where D <= (beta/(H+1))^2: then Q >= (beta - sqrt(sum y^2)) |phi| >= 0.
C15'   the same with (eta/2) sum_k x_k^2 as the last term: projection alone, on every path.
C15a   sum_k V*_k - V_k + Y v_k  <=  Y^2/(2 eta) + eta H^2 K/2 + T1 + T2,
       T1 = sum_k (V*_r + Y_k V*_g) - (V_r^k + Y_k V_g^k),    T2 = sum_k (V_r^k - V_r^{pi_k}) + Y (V_g^k - V_g^{pi_k}).
C15b   max_a F - sum_a pi F <= log(A)/alpha  for  pi ~ exp(alpha F).
C15c   log(det L_n/det L_0) <= sum_t phi_t^T L_{t-1}^-1 phi_t <= 2 log(det L_n/det L_0)  where L_0 >= 1, |phi| <= 1.
       Printed with L_t = L_0 + sum phi phi^T phi, and with k+1 for the K+1 of the last matrix: read over.
C15d   |w_h^k| <= 2 H sqrt(d k/lambda).
C15e   |<phi,w_j> - r_k - P_k V_j^k| <= beta |phi|_{Lambda^-1} + (B_j + H B_p) sqrt(d D), with the frame's own budgets;
       V_h^{pi,Y_k} - V_h^k <= (H-h+1) ( log(A)/alpha + (B_r + Y_k B_g + (1+Y_k) H B_p) sqrt(d D) ), any policy; and
       the bounds on T1 and T2 that follow. B_p sums Frobenius norms of mu_k - mu_{k-1}, which are small for a mass
       spread over many states, however far it moves: false as printed (``linear_counterexample.py``).
C15e'  the same with the norm of total variation ("total" in ``linear_runs.py``).
C15f   if sum_k V*_k - V_k + 2 C sum_k v_k <= x with C >= 2 max mu_k, then sum_k v_k <= 2x/C; the proof of Theorem 3
       puts xi >= 2 max mu for 2 C. True for one multiplier, false for two: violations of different prices cancel.
C15f'  (i) sum_k V*_k - V_k + C sum_k v_k^+ <= x with C > max mu implies sum_k v_k^+ <= x/(C - max mu).
       (ii) what Theorem 3 needs without it: sum_k x_k <= Y_{K+1}/eta + sum over k with Y clipped at xi of x_k, and in
       every episode (Y_k - mu_k) x_k <= e1 + e2 + mu_k e3 with the k-th terms e1 of T1, and e2, e3 of T2. Where Y is
       clipped, Y_k - mu_k >= xi/2 - eta H, so that the sum is of the order of T1 + T2.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from nscmdp.analysis.claims import linear_runs
from nscmdp.analysis.claims.findings import DEPENDS, FAILS, FALSE, HOLDS, HOLDS_DEVIATING, Finding, Given, check
from nscmdp.analysis.claims.linear_runs import LISTED, Batch, G, Listing, R, batches
from nscmdp.cmdp import Array

ROUNDING = 1e-9
SMALL = 1e-12
HALF = Fraction(1, 2)


def needed(batch: Batch) -> Array:
    """(n,): the largest over Y in [0, xi] of sum_k (Y - Y_k) x_k - Y^2/(2 eta)."""
    x, eta = batch.drive, batch.constants.eta
    Y = np.clip(eta * x.sum(axis=1), 0.0, batch.constants.xi)
    return ((Y[:, None] - batch.trace.dual) * x).sum(axis=1) - Y**2 / (2 * eta)


def clipped_from_above_alone() -> tuple[list[Fraction], Fraction]:
    """H = 1, rho = 1/2, K = 4 and V_g = -3/2, 1, 1, 1: what is needed, over eta/2, is 19/4; H^2 K is 4."""
    x = [HALF - v for v in (Fraction(-3, 2), Fraction(1), Fraction(1), Fraction(1))]
    return x, sum((one**2 for one in x), Fraction(0))


def _shares(rows: Sequence[dict[str, Any]], samples: int, says: str) -> Finding:
    """Of rows with the share of a bound that is used: the statement holds where none exceeds 1."""
    worst = max(row["share"] for row in rows)
    broken = sum(row["share"] > 1 + ROUNDING for row in rows)
    why = f"{says}: at most {worst:.3g} of what is allowed, in {samples} cases"
    if broken:
        why = f"{says}: up to {worst:.3g} times what is allowed, in {broken} of {len(rows)} sets of cases"
    return Finding(
        FAILS if broken else HOLDS, why, worst, bound=1.0, slack=1 - worst if broken else max(0.0, 1 - worst),
        slack_in="share of the bound", samples=samples, rows=list(rows),
    )  # fmt: skip


def _rows_of(given: Given, listing: Listing, share: Any) -> tuple[list[dict[str, Any]], int]:
    """One row per batch with the largest of ``share(batch)`` (n, ...)."""
    found = batches(given.problems, listing)
    return [batch.row() | {"share": float(np.max(share(batch)))} for batch in found], sum(
        len(batch.problems.rho) for batch in found
    )


@check("C15")
def dual_inequality(given: Given, *, listing: Listing = LISTED) -> Finding:
    def share(batch: Batch) -> Array:
        *_, H, K = batch.problems.sizes
        return needed(batch) / (batch.constants.eta / 2 * H**2 * K)

    rows, samples = _rows_of(given, listing, share)
    for row, batch in zip(rows, batches(given.problems, listing), strict=True):
        row["sure_up_to_D"] = float((batch.constants.beta / (row["H"] + 1)) ** 2)
        row["largest_x_over_H"] = float(batch.drive.max()) / row["H"]
    finding = _shares(rows, samples, "the printed inequality")
    if finding.verdict == FAILS:
        literal = [row for row in rows if row["bonus"] == 1.0]
        return finding._replace(verdict=FALSE if max(row["share"] for row in literal) > 1 else DEPENDS)
    x, squares = clipped_from_above_alone()
    if squares <= len(x):
        return finding
    why = (
        f"{finding.why}; sure up to D = (beta/(H+1))^2, here {rows[0]['sure_up_to_D']:.0f} episodes; a clip from above "
        f"alone does not imply it (V_g = -3/2, 1, 1, 1 needs {squares} where H^2 K = {len(x)}): V_g >= rho - H is read "
        "into it"
    )
    return finding._replace(verdict=HOLDS_DEVIATING, why=why)


@check("C15'")
def dual_inequality_corrected(given: Given, *, listing: Listing = LISTED) -> Finding:
    def share(batch: Batch) -> Array:
        return needed(batch) / (batch.constants.eta / 2 * (batch.drive**2).sum(axis=1))

    rows, samples = _rows_of(given, listing, share)
    return _shares(rows, samples, "the inequality with sum x_k^2")


@check("C15a")
def decomposition(given: Given, *, listing: Listing = LISTED, short: float = 0.0) -> Finding:
    """``short``: by how much the policy that is taken for optimal misses rho (a fault)."""

    def share(batch: Batch) -> Array:
        *_, H, K = batch.problems.sizes
        trace, eta = batch.trace, batch.constants.eta
        best_r, best_g = batch.at_optimum(batch.optima.value), batch.at_optimum(batch.optima.utility) - short
        T1 = (best_r + trace.dual * best_g - trace.estimate[:, :, R] - trace.dual * trace.estimate[:, :, G]).sum(axis=1)
        over = (trace.estimate - trace.value).sum(axis=1)
        regret = (best_r - trace.value[:, :, R]).sum(axis=1)
        violation = (batch.problems.rho[:, None] - trace.value[:, :, G]).sum(axis=1)
        found = []
        for Y in (0.0, batch.constants.xi / 2, batch.constants.xi):
            left = regret + Y * violation - T1 - over[:, R] - Y * over[:, G]
            found.append(left / (Y**2 / (2 * eta) + eta * H**2 * K / 2))
        return np.array(found)

    rows, samples = _rows_of(given, listing, share)
    return _shares(rows, samples, "regret plus Y times violation, less T1 and T2")


@check("C15b")
def softmax_gap(given: Given, *, temperature: float = 1.0) -> Finding:
    """``temperature``: what alpha is divided by where the policy is made (a fault where not 1)."""
    rng, rows = given.rng("C15b"), []
    for A in (2, 3, 10, 1000):
        F = rng.normal(size=(25 * given.problems, A)) * 10 ** rng.uniform(-3, 3, size=(25 * given.problems, 1))
        F[: given.problems] = np.where(np.arange(A) > 0, 0.0, np.linspace(0, 4 * math.log(A), given.problems)[:, None])
        pi = np.exp((F - F.max(axis=1, keepdims=True)) / temperature)
        pi /= pi.sum(axis=1, keepdims=True)
        gap = F.max(axis=1) - (pi * F).sum(axis=1)  # alpha = 1: F stands for alpha F
        rows.append({"A": A, "share": float(gap.max()) / math.log(A)})
    return _shares(rows, 100 * given.problems, "max F - sum pi F times alpha over log A")


@check("C15c")
def elliptical_potential(given: Given, *, ridges: Sequence[float] = (1.0, 2.0, 10.0)) -> Finding:
    rng, rows = given.rng("C15c"), []
    for ridge in ridges:
        for d in (1, 2, 5):
            n = 60
            phi = rng.normal(size=(given.problems, n, d))
            phi *= rng.uniform(0, 1, size=(given.problems, n, 1)) ** 0.1 / np.linalg.norm(phi, axis=2, keepdims=True)
            phi[0] = np.eye(d)[np.arange(n) % d]
            gram, total = ridge * np.broadcast_to(np.eye(d), (given.problems, d, d)), np.zeros(given.problems)
            least = np.zeros(given.problems)
            for t in range(n):
                new = phi[:, t]
                total = total + np.einsum("ni,nij,nj->n", new, np.linalg.inv(gram), new)
                gram = gram + new[:, :, None] * new[:, None, :]
                growth = np.linalg.slogdet(gram)[1] - d * math.log(ridge)
                least = np.maximum(least, np.maximum(total / (2 * growth), growth / total))
            rows.append({"ridge": ridge, "d": d, "share": float(least.max())})
    finding = _shares(rows, len(rows) * given.problems, "sum phi^T L^-1 phi between log det and 2 log det")
    outside = 10.0 / (2 * math.log(11.0))
    why = (
        f"{finding.why}; read over: phi phi^T phi for phi phi^T, and k+1 for the K+1 of the last matrix; outside the "
        f"lemma, at a ridge of 1/10, the first phi = 1 alone uses {outside:.2f} of it"
    )
    return finding._replace(
        verdict=HOLDS_DEVIATING if finding.verdict == HOLDS else finding.verdict,
        why=why,
        rows=[*rows, {"ridge": 0.1, "d": 1, "share": outside}],
    )


@check("C15d")
def weight_norm(given: Given, *, listing: Listing = LISTED, ridge: float = 1.0) -> Finding:
    """``ridge``: of the weights on made-up data, while the bound is for 1 (a fault where not 1)."""

    def share(batch: Batch) -> Array:
        _, _, d, H, K = batch.problems.sizes
        k = np.arange(K) % batch.constants.frame + 1
        return batch.trace.weight / (2 * H * np.sqrt(d * k / batch.constants.ridge))

    rows, samples = _rows_of(given, listing, share)
    rng, n, H = given.rng("C15d"), 40, 3
    for d in (1, 3):
        phi = rng.normal(size=(given.problems, n, d))
        phi *= rng.uniform(0.05, 1, size=(given.problems, 1, 1)) / np.linalg.norm(phi, axis=2, keepdims=True)
        gram = ridge * np.eye(d) + np.einsum("nti,ntj->nij", phi, phi)
        along = np.linalg.solve(gram, phi.swapaxes(1, 2))  # Lambda^-1 phi_tau, columns
        y = 2 * H * np.sign(along[:, :1])  # targets of the largest size, as the first weight likes them
        w = (along * y).sum(axis=2)
        rows.append({"d": d, "H": H, "K": n, "made_up": True,
                     "share": float(np.linalg.norm(w, axis=1).max()) / (2 * H * math.sqrt(d * (n + 1)))})  # fmt: skip
    return _shares(rows, samples + 2 * given.problems, "the norm of the weights")


def drift_terms(batch: Batch, norm: str) -> tuple[Array, Array]:
    """(n, K, 2) and (n, K): (B_j + H B_p) sqrt(dD) for j = r, g, of the frame of each episode; their sum with Y_k."""
    _, _, d, H, K = batch.problems.sizes
    D = batch.constants.frame
    frame = np.arange(K) // D
    moved = batch.problems.variation(norm)
    moved[:, np.arange(K) % D == 0] = 0.0  # the step into a frame is in no local budget
    local = np.stack([moved[:, frame == i].sum(axis=1) for i in range(frame[-1] + 1)], axis=1)[:, frame]
    each = (local[:, :, :2] + H * local[:, :, 2:]) * math.sqrt(d * D)
    return each, each[:, :, R] + batch.trace.dual * each[:, :, G]


def estimation_shares(batch: Batch, norm: str) -> dict[str, float]:
    """Of what is allowed: by residuals at rest and under drift, by optimism, by T2 (Azuma with 2 H D increments)."""
    _, A, _, H, K = batch.problems.sizes
    each, both = drift_terms(batch, norm)
    trace, resting = batch.trace, batch.problems.variation(norm).sum(axis=(1, 2)) == 0
    steps = math.log(A) / batch.constants.alpha[:, None, None] + both[:, :, None]
    allowed = (H - np.arange(H)) * steps
    over = (trace.estimate - trace.value).sum(axis=1)
    noise = math.sqrt(16 * K * H**3 * math.log(4 / linear_runs.CONFIDENCE))
    explored = 2 * batch.constants.beta * trace.explored.sum(axis=1)[:, None]
    return {
        "at_rest": float(trace.bonus_used[resting].max()),
        "residual": float((trace.residual / np.maximum(each, SMALL)).max()),
        "optimism": float((trace.optimism / allowed).max()),
        "T2": float((over / (noise + explored + H * each.sum(axis=1))).max()),
    }


@check("C15e'")
def estimation_corrected(given: Given, *, listing: Listing = LISTED) -> Finding:
    found = [batch for batch in batches(given.problems, listing) if batch.bonus == 1.0]
    rows = []
    for batch in found:
        shares = estimation_shares(batch, "total")
        rows.append(batch.row() | shares | {"share": max(shares.values())})
    says = "residuals, optimism and T2 at the printed bonus, with norms of total variation"
    return _shares(rows, sum(len(batch.problems.rho) for batch in found), says)


class TwoActions(NamedTuple):
    """One state, one step, g = (0, 1), r = (reward, 0); ``second`` is how often the second action is played."""

    episodes: int
    reward: Fraction
    second: Fraction


def totals(phases: Sequence[TwoActions], rho: Fraction) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """Regret, violation, the sum of its positive parts, the largest multiplier: V* = reward (1 - rho), mu = reward."""
    regret = sum((p.episodes * p.reward * (p.second - rho) for p in phases), Fraction(0))
    violation = sum((p.episodes * (rho - p.second) for p in phases), Fraction(0))
    positive = sum((p.episodes * max(rho - p.second, Fraction(0)) for p in phases), Fraction(0))
    return regret, violation, positive, max(p.reward for p in phases)


EXAMPLE = (TwoActions(1, Fraction(1), Fraction(0)), TwoActions(1, Fraction(0), Fraction(7, 8)))


@check("C15f")
def copied_lemma(given: Given, *, phases: Sequence[TwoActions] = EXAMPLE, rho: Fraction = HALF) -> Finding:
    """Exact: the premise's x and the violation with 2 C as printed, with C, and with the xi = 2H/delta of the proof."""
    regret, violation, _, mu = totals(phases, rho)
    C, xi = 2 * mu, 2 / (1 - rho)
    rows: list[dict[str, Any]] = []
    versions = (("2 C, as printed", 2 * C, C), ("C, as in its source", C, C), ("xi = 2H/delta, as used", xi, xi))
    for version, coefficient, divisor in versions:
        x = max(regret + coefficient * violation, Fraction(0))
        rows.append({"version": version, "x": float(x), "violation": float(violation),
                     "claimed": float(2 * x / divisor)})  # fmt: skip
    broken = [row for row in rows if row["violation"] > row["claimed"]]
    share = one_multiplier(given)
    rows.append({"version": "C, one multiplier", "share": float(share)})
    times = 8
    again, K = totals(times * list(phases), rho), times * sum(p.episodes for p in phases)
    rows.append({"version": "repeated", "K": K, "x_repeated": float(max(again[0] + 2 * C * again[1], Fraction(0))),
                 "violation_per_episode": float(again[1] / K)})  # fmt: skip
    rows.append({"version": "the least that 2 C may be, rho = 1/4", "xi": 8 / 3, "least": 4.0})
    why = (
        f"regret {regret} and violation {violation} in phases with multipliers "
        f"{', '.join(str(p.reward) for p in phases)}: the premise holds with x = {rows[0]['x']:g}, also for every "
        f"coefficient up to xi = 2H/delta, and the conclusion asks for a violation of at most {rows[0]['claimed']:g}; "
        f"repeated, the phases have a violation of {again[1] / K} K at x = {rows[-2]['x_repeated']:g}; with one "
        f"multiplier it holds, {float(share):.2f} of what is allowed"
        + ("; with positive parts it is true (C15f')" if positive_parts(given) <= 0 else "")
    )
    return Finding(
        FALSE if broken or share > 1 else HOLDS, why, float(violation), float(violation), float(violation),
        rows[0]["claimed"], rows[0]["claimed"] - float(violation), samples=1 + given.problems, rows=rows,
    )  # fmt: skip


def one_multiplier(given: Given) -> Fraction:
    """The largest violation over 2x/C, x = regret + C violation, C = 2 mu, in phases that differ in policies alone."""
    rng, share = given.rng("C15f"), Fraction(0)
    for _ in range(given.problems):
        phases = [TwoActions(1, Fraction(1), Fraction(int(i), 8)) for i in rng.integers(0, 9, size=4)]
        regret, violation, _, mu = totals(phases, HALF)
        if violation > 0:
            share = max(share, violation * mu / (regret + 2 * mu * violation))
    return share


@check("C15f'")
def violation_corrected(given: Given, *, listing: Listing = LISTED, price: float = 1.0) -> Finding:
    """(i) in exact two-action phases, (ii) in the runs; ``price``: what multipliers are multiplied by (a fault)."""
    rows: list[dict[str, Any]] = [{"part": "positive parts", "excess": float(positive_parts(given))}]
    found = batches(given.problems, listing)
    for batch in found:
        x, eta, xi = batch.drive, batch.constants.eta[:, None], batch.constants.xi[:, None]
        Y, trace, rho_star = batch.trace.dual, batch.trace, batch.at_optimum(batch.optima.utility)
        clipped = Y + eta * x > xi
        dual = np.where(clipped, 0.0, x).sum(axis=1) - trace.after / eta[:, 0]
        mu, over = price * batch.at_optimum(batch.optima.multiplier), trace.estimate - trace.value
        e1 = batch.at_optimum(batch.optima.value) - trace.estimate[:, :, R] + Y * (rho_star - trace.estimate[:, :, G])
        episode = (Y - mu) * x - e1 - over[:, :, R] - mu * over[:, :, G]
        for part, excess in (("sum of x_k", dual), ("each episode", episode)):
            row = {"part": part, "clipped": float(clipped.mean()), "excess": float(excess.max())}
            rows.append(batch.row() | row)
    worst = max(row["excess"] for row in rows)
    broken = sum(row["excess"] > ROUNDING for row in rows)
    why = f"positive parts, and the step that replaces the lemma: {broken} of {len(rows)} sets of cases break it"
    return Finding(
        FAILS if broken else HOLDS, why, worst, bound=0.0, slack=-worst if broken else max(0.0, -worst),
        samples=5 * given.problems + sum(batch.drive.size for batch in found), rows=rows,
    )  # fmt: skip


def positive_parts(given: Given) -> Fraction:
    """The most by which sum v^+ exceeds x/(C - max mu), x = regret + C sum v^+, in random phases; exact."""
    rng, excess = given.rng("C15f'"), Fraction(-1000)
    for _ in range(5 * given.problems):
        phases = [TwoActions(1, *(Fraction(int(i), 8) for i in rng.integers(0, 9, size=2))) for _ in range(3)]
        regret, _, positive, mu = totals(phases, Fraction(int(rng.integers(1, 8)), 8))
        C = 2 * mu + Fraction(1, 8)
        excess = max(excess, positive - (regret + C * positive) / (C - mu))
    return excess
