"""The lemmas behind Theorems 3 and 4 (linear CMDPs), on runs of Algorithm 3 and on exact examples.

With x_k = rho - V_g,1^k(x_1), which drives the dual, and v_k = rho - V_g,1^{pi_k}(x_1), violation:

C15   (Lemma 17)  sum_k (Y - Y_k) x_k  <=  Y^2/(2 eta) + eta H^2 K/2  for all Y in [0, xi]. It needs
      |x_k| <= H, and Algorithm 3 clips V_g from above alone. By it and an identity, Lemma 15,
      sum_k V*_k - V_k + Y v_k  <=  Y^2/(2 eta) + eta H^2 K/2 + T1 + T2.
C15b  (Lemma 21)  max_a F - sum_a pi F <= log(A)/alpha  for  pi ~ exp(alpha F);  and Lemma 17 with
      (eta/2) sum_k x_k^2 as its last term, which is that projections do not expand.
C15c  (Lemma 26)  log(det L_n/det L_0) <= sum_t phi_t^T L_{t-1}^-1 phi_t <= 2 log(det L_n/det L_0)
      for L_0 >= 1, |phi| <= 1, L_t = L_0 + sum phi phi^T; the paper prints phi phi^T phi.
C15d  (Lemma 25)  |w_h^k| <= 2H sqrt(dk/lambda).  It needs |r + V| <= 2H: the same clip.
C15f  (Lemma 27)  if sum_k V*_k - V_k + 2C sum_k v_k <= x, C >= 2 max mu_k, then sum_k v_k <= 2x/C.
      True for one multiplier, false for two: violations of different prices cancel. In its place:
      if sum_k V*_k - V_k + C sum_k v_k^+ <= x, C > max mu_k, then sum_k v_k^+ <= x/(C - max mu_k);
      and, in Theorem 3, the steps of docs/theorem_3.md.
C29   (Lemma 24)  |w^pi| <= 2H sqrt(d)  for w^pi = theta + int V dmu, with ||mu|| <= sqrt(d).
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import permutations, product
from typing import Any, NamedTuple

import numpy as np

from nscmdp.cmdp import Array
from wei2023.proofs import findings
from wei2023.proofs.findings import ASSUMPTION, MISPRINT, Finding, Given, bounded, check, verdict
from wei2023.proofs.linear_counterexample import Masses, squares
from wei2023.proofs.linear_runs import EPISODES, runs

Shares = dict[str, float]
Pair = tuple[Fraction, Fraction]
Episode = tuple[Sequence[Pair], Pair, Pair]
ROUNDING, SMALL = 1e-9, 1e-12
HALF, ZERO, ONE = Fraction(1, 2), Fraction(0), Fraction(1)
RHO, DELTA = Fraction(1, 4), HALF  # where the steps of docs/theorem_3.md are tried
UNCLIPPED = [HALF - v for v in (Fraction(-3, 2), ONE, ONE, ONE)]  # V_g clipped from above alone
BY_TURNS = [ONE, Fraction(-49, 50)] * 1250  # V_g = rho - H, then V_g = H, at rho = H/50
PRINTED: dict[str, Callable[..., Any]] = {  # what the lemmas allow
    "Lemma 17": lambda eta, squares: eta * squares / 2,  # of x_k, each at most H^2
    "Lemma 24": lambda H, d: 4 * H**2 * d,  # for |w^pi|^2
    "Lemma 25": lambda H, d, k: 2 * H * np.sqrt(d * k),  # lambda = 1
    "Lemma 26": lambda growth: 2 * growth,  # of log det
}
MULTIPLES = (4, 2, 8, 100, 10**6)  # what the premise of Lemma 27 multiplies the violation by


def repairable(literal: Shares, kind: str, shares: Shares, what: str, n: int) -> Finding:
    """Of a bound: what is used of it to the letter, which exceeds 1, and once it is repaired."""
    most = max(shares.values())
    repair = kind if most <= 1 + ROUNDING else None
    answer = verdict(refuted=min(literal.values()) > 1, repair=repair)
    return bounded(answer, literal | shares, most, what, n)._replace(low=None, high=None)


def needed(x: Array, dual: Array, eta: findings.Number, xi: findings.Number) -> findings.Number:
    """The largest over Y in [0, xi] of sum_k (Y - Y_k) x_k - Y^2/(2 eta)."""
    Y = min(max(eta * x.sum(), 0), xi)
    return ((Y - dual) * x).sum() - Y**2 / (2 * eta)


def exact_share(x: Sequence[Fraction]) -> float:
    """Of the last term that these x_k need at H = eta = 1, xi = sqrt(K)."""
    Y, xi = [ZERO], Fraction(math.isqrt(len(x)))
    for one in x[:-1]:
        Y.append(min(max(Y[-1] + one, ZERO), xi))
    return float(needed(np.array(x), np.array(Y), ONE, xi) / PRINTED["Lemma 17"](ONE, len(x)))


@check("C15")
def dual_inequality(given: Given) -> Finding:
    used = []
    for one in runs(given.problems):
        bound = PRINTED["Lemma 17"](one.constants.eta, one.sizes[2] ** 2 * one.sizes[3])
        used.append(needed(*one.played) / bound)
    literal = {"needed over eta H^2 K/2, V_g = -3/2, 1, 1, 1": exact_share(UNCLIPPED)}
    shares = {"V_g = rho - H and H by turns": exact_share(BY_TURNS), "in runs, at most": max(used)}
    return repairable(literal, ASSUMPTION, shares, "the last term divided by", EPISODES * len(used))


@check("C15b")
def textbook(given: Given) -> Finding:
    rng, n, shares = given.rng("C15b"), given.problems, {}
    for A in (2, 3, 10, 1000):  # F stands for alpha F
        F = rng.normal(size=(25 * n, A)) * 10 ** rng.uniform(-3, 3, size=(25 * n, 1))
        F[:n] = np.where(np.arange(A) > 0, 0.0, np.linspace(0, 4 * math.log(A), n)[:, None])
        pi = np.exp(F - F.max(axis=1, keepdims=True))
        gap = F.max(axis=1) - (pi * F).sum(axis=1) / pi.sum(axis=1)
        shares[f"share of log(A)/alpha, A = {A}"] = float(gap.max()) / math.log(A)
    used = [needed(*one.played) / one.constants.eta / (one.drive**2).sum() for one in runs(n)]
    shares["share of (eta/2) sum x_k^2, at most"] = 2 * max(used)
    answer = findings.IDENTITY if max(shares.values()) <= 1 + ROUNDING else findings.FALSE
    return Finding(answer, shares, samples=100 * n)


def potential(given: Given) -> tuple[float, float]:
    """The largest shares that are used of the upper bound, and of the sum by the lower bound."""
    rng, n, above, below = given.rng("C15c"), given.problems, 0.0, 0.0
    for ridge, d in product((1.0, 2.0, 10.0), (1, 2, 5)):
        phi = rng.normal(size=(n, 60, d))
        length = np.linalg.norm(phi, axis=2, keepdims=True)
        phi *= rng.uniform(0, 1, size=(n, 60, 1)) ** 0.1 / length
        phi[0] = np.eye(d)[np.arange(60) % d]
        gram, total = np.tile(ridge * np.eye(d), (n, 1, 1)), np.zeros(n)
        for new in phi.swapaxes(0, 1):
            total = total + np.einsum("ni,nij,nj->n", new, np.linalg.inv(gram), new)
            gram = gram + new[:, :, None] * new[:, None, :]
            growth = np.linalg.slogdet(gram)[1] - d * math.log(ridge)
            above = max(above, float((total / PRINTED["Lemma 26"](growth)).max()))
            below = max(below, float((growth / total).max()))
    return above, below


@check("C15c")
def elliptical_potential(given: Given) -> Finding:
    above, below = potential(given)
    cubes, early = (PRINTED["Lemma 26"](math.log(1 + more)) for more in (1 / 8, 1))
    literal = {
        "sum over upper bound with phi phi^T phi, phi = 1/2": 1 / 4 / cubes,
        "the same with the last matrix but one, phi = 1, 1": 3 / 2 / early,
    }
    shares = {"share of the upper bound": above, "share of the sum that the lower bound is": below}
    return repairable(
        literal, MISPRINT, shares, "one of the bounds sharpened by", 9 * given.problems
    )


@check("C15d")
def weight_norm(given: Given) -> Finding:
    """Made up: n targets y at phi = n^(-1/2), d = 1, have the weight sqrt(n) y/2."""
    used, n, H = [], 40, 3
    for one in runs(given.problems):
        _, d, horizon, K = one.sizes
        bound = PRINTED["Lemma 25"](horizon, d, np.arange(K) % one.constants.D + 1)
        used.append(float((one.weight / bound).max()))
    made_up = float(math.sqrt(n) * (1 + H) / 2 / PRINTED["Lemma 25"](H, 1, n + 1))
    shares = {"the same, 40 targets of 1 + H, H = 3": made_up, "in runs, at most": max(used)}
    literal = {"norm over bound, one target of -10H": float(5 * H / PRINTED["Lemma 25"](H, 1, 2))}
    return repairable(literal, ASSUMPTION, shares, "the bound divided by", EPISODES * len(used))


def made_up_drift(k: int = 400) -> float:
    """Half of k features (c, s) while <phi, theta> = s, half (-c, s) while it is 0, c = k^(-1/2).

    The estimate at (1, 0) moves by s sqrt(k)/4, where Lemma 19 allows sqrt(2k).
    """
    c, s = 1 / math.sqrt(k), math.sqrt(1 - 1 / k)
    phi, y = np.repeat([[c, s], [-c, s]], k // 2, axis=0), np.repeat([s, 0.0], k // 2)
    return float(np.linalg.solve(np.eye(2) + phi.T @ phi, phi.T @ y)[0] / math.sqrt(2 * k))


def estimates(given: Given) -> Shares:
    """Lemmas 19, 22 and 23: the largest share of what each allows, by total variation."""
    shares = {"at rest": 0.0, "drift": made_up_drift(), "optimism": 0.0, "overestimation": 0.0}
    for one in (one for one in runs(given.problems) if one.bonus == 1):
        A, d, H, _ = one.sizes
        each = (one.local[:, :2] + H * one.local[:, 2:]) * math.sqrt(d * one.constants.D)
        steps = math.log(A) / one.constants.alpha + each[:, :1] + one.dual[:, None] * each[:, 1:]
        bonuses = 2 * one.constants.beta * one.explored[:, None]
        used = {
            "at rest": one.used * (one.local.sum() == 0),
            "drift": one.residual / np.maximum(each, SMALL),
            "optimism": one.optimism / (H - np.arange(H)) / steps,
            "overestimation": one.over / (bonuses + H * each[:, :, None]),
        }
        shares = {name: max(share, float(used[name].max())) for name, share in shares.items()}
    return shares


class Phase(NamedTuple):
    """An episode with one state, one step, two actions, r = (reward, 0), g = (0, 1)."""

    reward: Fraction
    second: Fraction  # how often the second action is played


def totals(phases: Sequence[Phase], rho: Fraction) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """Regret, violation, its positive parts, the largest multiplier: V* = r (1 - rho), mu = r."""
    regret = sum((p.reward * (p.second - rho) for p in phases), ZERO)
    short = [rho - p.second for p in phases]
    positive = sum((max(v, ZERO) for v in short), ZERO)
    return regret, sum(short, ZERO), positive, max(p.reward for p in phases)


def against(multiple: int) -> list[Phase]:
    """Two episodes with multipliers 1 and 0 whose premise holds with x = 0, and which violate."""
    return [Phase(ONE, ZERO), Phase(ZERO, 1 - Fraction(1, 2 * multiple))]


def optimum(points: Sequence[Pair], rho: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    """V*, V*_g and mu of mixtures of (V_r, V_g): min over m >= 0 of max V_r + m (V_g - rho)."""
    cuts = {(a[0] - b[0]) / (b[1] - a[1]) for a, b in permutations(points, 2) if a[1] != b[1]}
    dual = ((max(r + m * (g - rho) for r, g in points), m) for m in {ZERO, *cuts} if m >= 0)
    value, mu = min(dual)
    return value, rho if mu else max(g for r, g in points if r == value), mu


def spare(episodes: Sequence[Episode], c: Fraction) -> dict[str, Fraction]:
    """By how much steps 1 to 6 of docs/theorem_3.md hold with c times their constants; exact.

    H = 1, and K is a square. Of an episode: the (V_r, V_g) of its deterministic policies, that of
    pi_k, and the estimates.
    """
    rho, root, xi, Y = RHO, math.isqrt(len(episodes)), 2 / DELTA, ZERO
    eta, kappa, least = xi / root, xi / 2 - xi / root, dict[str, Fraction]()
    clipped, others, most, xs, vs, e3 = [ZERO] * 6
    for points, (V_r, V_g), (r, g) in episodes:
        best, best_g, mu = optimum(points, rho)
        x, v = rho - g, rho - V_g
        up = [max(one, ZERO) for one in (best - r + Y * (best_g - g), r - V_r, g - V_g)]
        steps = {"1, duality": best - V_r + c * mu * v, "1, size": c * xi / 2 - mu}
        steps["3"] = c * (up[0] + up[1] + mu * up[2]) - (Y - mu) * x
        if Y + eta * x > xi:
            steps["4"] = Y - mu - kappa / c
            clipped += x
        else:
            others += x
        least |= {name: min(one, least.get(name, one)) for name, one in steps.items()}
        most += up[0] + up[1] + xi / 2 * up[2]
        xs, vs, e3 = xs + x, vs + v, e3 + up[2]
        Y = min(max(Y + eta * x, ZERO), xi)
    least |= {"2": c * Y / eta - others, "5": c * most / kappa - clipped, "6": xs + c * e3 - vs}
    return least | {"theorem": c * (root + most / kappa + e3) - vs}


def steady(estimates: Sequence[Fraction]) -> list[Episode]:
    """One policy, (1, 1/8), where another has (0, 3/4): no gap, mu = 8/5."""
    played = ONE, Fraction(1, 8)
    return [([played, (ZERO, Fraction(3, 4))], played, (ONE, g)) for g in estimates]


def tight() -> set[str]:
    """The steps that fail with half their constants where V_g^k is V_g, or 1/16 more."""
    examples = steady(400 * [Fraction(1, 8)]), steady(400 * [Fraction(3, 16)])
    halved = [spare(example, HALF).items() for example in examples]
    return {name for steps in halved for name, left in steps if left < 0}


def replacement(given: Given) -> Fraction:
    """The least by which the steps hold in random episodes, one of whose policies has V_g = 3/4."""
    rng, least = given.rng("C15f", "steps"), ONE
    for _ in range(given.problems):
        episodes = []
        for drawn in rng.integers(0, 9, size=(16, 9)):
            a, b, c, t, *rest = (Fraction(int(one), 8) for one in drawn)
            other = c, RHO + DELTA
            mixed = t * a + (1 - t) * c, t * b + (1 - t) * other[1]
            episodes.append(([(a, b), other], mixed, (rest[0], rest[1])))
        least = min(least, *spare(episodes, ONE).values())
    return least


@check("C15f")
def copied_lemma(given: Given) -> Finding:
    rows: list[dict[str, Any]] = []
    for c in MULTIPLES:
        regret, violation, _, _ = totals(against(c), HALF)
        claimed = 4 * max(regret + c * violation, ZERO) / c
        rows.append({"c": c, "violation": violation, "claimed": claimed})
    regret, _, positive, mu = totals(against(2)[:1], HALF)
    attained = float(positive * (2 * mu - mu) / (regret + 2 * mu * positive))
    return Finding(
        verdict(refuted=all(row["violation"] > row["claimed"] for row in rows)),
        {
            "violation at c = 4, the least that 2C may be": rows[0]["violation"],
            "share of x/(C - max mu) that positive parts attain": attained,
            "spare of the steps in its place, at least": replacement(given),
            "of 9 steps fail with half their constants, in an example": len(tight()),
        },
        findings.Notice("the bound on positive parts divided by anything above", 1 / attained),
        value=rows[0]["violation"],
        bound=0.0,
        slack=-rows[0]["violation"],
        samples=len(rows) + 16 * given.problems,
        rows=rows,
    )


def weight_squared(theta: Sequence[int], mu: Masses, V: Sequence[int]) -> Fraction:
    """|theta + int V dmu|^2, V by groups of states"""
    parts = (sum((m * v for m, v in zip(row, V, strict=True)), ZERO) for row in mu)
    return sum(((t + part) ** 2 for t, part in zip(theta, parts, strict=True)), ZERO)


def spread(c: int) -> tuple[Masses, list[int], list[int]]:
    """phi = e_1/c at the start, mu_1 of mass c on c^2 states where r = 1, mu_2 back; sizes, V."""
    return [[ZERO, Fraction(c)], [ONE, ZERO]], [1, c**2], [0, 1]


def cancelling(c: int) -> tuple[Masses, list[int], list[int]]:
    """phi = (e_1 + e_2)/2 at the start, mu_1 and mu_2 are (1/2, 1/2) +- (c, -c), the rest back."""
    out = [[ZERO, HALF + c, HALF - c], [ZERO, HALF - c, HALF + c]]
    return [*out, *2 * [[ONE, ZERO, ZERO]]], [1, 1, 1], [0, 1, 0]


@check("C29")
def weights_of_policies(given: Given) -> Finding:
    """H = 2 and theta_1 = 0; V is 0 or 1 at the second step."""
    rows, literal, H = [], {}, 10
    tight = math.sqrt(weight_squared([1], [[ONE]], [H - 1]) / PRINTED["Lemma 24"](H, 1))
    shares = {"by total variation, at most (d = 1, phi = theta = 1)": tight}
    for example, norms in ((spread, ("spectral", "frobenius")), (cancelling, ("mass",))):
        for c in (1, 10, 100, 1000):
            mu, sizes, V = example(c)
            d, size, square = len(mu), squares(mu, sizes), weight_squared([0] * len(mu), mu, V)
            admitted = max(size[norm] for norm in norms) <= d
            share = math.sqrt(square / PRINTED["Lemma 24"](2, d)) * admitted
            rows.append({"reading": norms[0], "c": c, "share": share})
        literal[f"|w| over 2H sqrt(d), {example.__name__} masses, c = {c}"] = share
        most = math.sqrt(d) + 2 * math.sqrt(size["variation"])
        shares[f"by total variation, {example.__name__} masses"] = math.sqrt(square) / most
    found = repairable(literal, ASSUMPTION, shares, "the bound divided by", len(rows))
    return found._replace(rows=rows)
