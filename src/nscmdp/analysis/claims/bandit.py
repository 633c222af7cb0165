"""C13: the lemma on the bandit over bandits (Algorithms 2 and 4), and what is left of it.

Blocks i = 1..n of W = K^zeta episodes, n = K/W, N = J+1 arms; arm j collects reward R_i(j) and utility G_i(j), both in
[0, WH]. Exp3 plays B_i and is paid, with kappa = K^-lambda,

    x_i(j) = ( f_r + f_g ) / ( W H (1 + kappa) ),      f_r = R_i(j) 1{ G_i(j) >= W rho },      f_g = kappa G_i(j).

The lemma:  if E G_i(Bhat) >= W rho, then with O~ over both

    E sum R_i(Bhat) - R_i(B_i)  <=  c W H (1 + kappa) sqrt(n N ln N) + kappa H K       = O~(H sqrt(KW) + H K^(1-lambda))
    E sum G_i(Bhat) - G_i(B_i)  <=  K^lambda c W H (1 + kappa) sqrt(n N ln N)          = O~(H K^lambda sqrt(KW))

with c = 2 sqrt(e-1), Exp3's guarantee. Its proof reads E f_r(Bhat) = E R(Bhat), which holds for an arm that is feasible
in every block, not for one that is so in the mean; and E f_r(B_i) <= E f_r(Bhat), which the main text does not assume.

Counterexamples: Bhat against N-1 copies of one rival whose f_r is larger by Delta_0 > 0 in the mean. The gains differ
by Delta = (Delta_0 + kappa Delta_g) / (1 + kappa), so that Exp3's own guarantee allows Bhat at most
c sqrt(n N ln N) / Delta of the n blocks, and what Bhat has more of, u W H in each block, is lost in all others:

    E sum G_i(Bhat) - G_i(B_i)  >=  u W H ( n - c sqrt(n N ln N) / Delta )  =  u H K (1 - o(1)),      likewise for R.

For R this takes a G_i(Bhat) that is random: one that is at least W rho for sure has f_r = R. For G it does not: in the
first example nothing is random, Bhat has (R, G)/(WH) = (.1, 1) always and a rival R = 1 always and G = 1/2 or 0 by
turns, with rho/H = 1/2. Bhat is feasible in every block, the rival misses the constraint by H K/4 in all; but the rival
is paid 1/2 in the mean, Bhat .1.

C13', what the proof does show: the first bound with + W H sum_i P(G_i(Bhat) < W rho), whatever the other arms are; and
the second one where in every block no arm's E f_r exceeds that of Bhat. The term kappa H K of the first is an upper
bound of kappa (E sum G_i(B_i) - G_i(Bhat))^+, and it is tested with that.
"""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from nscmdp.algorithms._exp3 import usual_rate
from nscmdp.analysis.claims.findings import FAILS, FALSE, HOLDS, Finding, Given, check
from nscmdp.cmdp import Array

GUARANTEE = 2 * math.sqrt(math.e - 1)  # c
SIMULATED = {"usual": (1e4, 1e6, 1e8), "printed": (1e4, 1e6)}  # K, by the rate of Exp3
LARGEST = 600  # log10 of the largest K that closed forms are looked at
MULTIPLES = (1, 10, 100)  # constants in front of the claimed bound
BLOCKS = 4000  # n of the random bandits
REWARD, UTILITY = "reward", "utility"
KINDS = ("random", "tied at first", "infeasible rivals", "rivals of more utility")  # of random bandits


class Outer(NamedTuple):
    """The outer loop's exponents: W = K^zeta, kappa = K^-lambda."""

    name: str
    zeta: Fraction
    lam: Fraction

    def arms(self, log_K: float) -> int:
        """N = ceil(ln W) + 1"""
        return math.ceil(float(self.zeta) * log_K) + 1

    def claimed(self, quantity: str) -> Fraction:
        """The exponent of K in the lemma's bound."""
        root = (1 + self.zeta) / 2
        return max(root, 1 - self.lam) if quantity == REWARD else self.lam + root


TABULAR = Outer("Algorithm 2", Fraction(5, 9), Fraction(1, 9))
LINEAR = Outer("Algorithm 4", Fraction(1, 2), Fraction(1, 8))


class Arm(NamedTuple):
    """Outcomes of a block: (probability, R/(WH), G/(WH))."""

    outcomes: tuple[tuple[Fraction, Fraction, Fraction], ...]

    @property
    def reward(self) -> Fraction:
        return sum((p * r for p, r, _ in self.outcomes), Fraction(0))

    @property
    def utility(self) -> Fraction:
        return sum((p * g for p, _, g in self.outcomes), Fraction(0))

    def paid(self, rho: Fraction) -> Fraction:
        """E f_r / (WH)"""
        return sum((p * r for p, r, g in self.outcomes if g >= rho), Fraction(0))


def arm(*outcomes: tuple[object, object, object]) -> Arm:
    return Arm(tuple((Fraction(str(p)), Fraction(str(r)), Fraction(str(g))) for p, r, g in outcomes))


class Instance(NamedTuple):
    name: str
    rho: Fraction  # rho/H
    best: Arm  # Bhat
    rival: Arm
    in_turn: bool = False  # outcomes, then equally likely, come by turns, fixed in advance: nothing is random

    @property
    def assumed(self) -> bool:
        """What the main text assumes: E G(Bhat) >= W rho."""
        return self.best.utility >= self.rho

    @property
    def optimal(self) -> bool:
        """What the appendix assumes besides: no arm that is feasible in the mean has more reward."""
        return self.assumed and (self.rival.utility < self.rho or self.rival.reward <= self.best.reward)

    @property
    def preference(self) -> tuple[Fraction, Fraction]:
        """Delta_0 and Delta_g"""
        return self.rival.paid(self.rho) - self.best.paid(self.rho), self.rival.utility - self.best.utility

    @property
    def random(self) -> bool:
        return not self.in_turn and max(len(self.best.outcomes), len(self.rival.outcomes)) > 1

    @property
    def violation(self) -> Fraction:
        """Of H, in an episode in which the rival is played."""
        return self.rho - self.rival.utility

    def lost(self, quantity: str) -> Fraction:
        """Of W H, in a block in which the rival is played."""
        return getattr(self.best, quantity) - getattr(self.rival, quantity)

    def breaks(self, quantity: str, outer: Outer) -> bool:
        """The loss is linear in K, and the claimed bound is not."""
        linear = self.assumed and self.preference[0] > 0 and self.lost(quantity) > 0
        return linear and outer.claimed(quantity) < 1


EXAMPLES = (
    Instance("feasible in every block", Fraction(1, 2), arm((1, ".1", 1)), arm(("1/2", 1, "1/2"), ("1/2", 1, 0)),
             in_turn=True),
    Instance("with large utility and no reward", Fraction(1, 2), arm((1, 0, 1)), arm((1, 1, "1/2"))),
    Instance("feasible in half of the blocks", Fraction(1, 2), arm(("1/2", ".9", 0), ("1/2", ".9", 1)),
             arm((1, ".5", "1/2"))),
    Instance("feasible in a quarter of the blocks", Fraction(1, 8), arm(("3/4", 1, 0), ("1/4", 1, 1)),
             arm((1, "1/2", "1/8"))),
)  # fmt: skip


class Rule(NamedTuple):
    """Exp3 and its gain as printed; every other value is a fault."""

    importance: bool = True  # gains are divided by the probability of the arm
    feasibility: bool = True  # R counts only where G >= W rho


def ratio(instance: Instance, outer: Outer, quantity: str, log10_K: float) -> float:
    """The least that Exp3 loses against Bhat over the lemma's bound, both with Exp3's guarantee for its usual rate."""
    log_K = log10_K * math.log(10)
    kappa = math.exp(-float(outer.lam) * log_K)
    root_n = math.exp(float(1 - outer.zeta) * log_K / 2)
    N = outer.arms(log_K)
    exp3 = GUARANTEE * math.sqrt(N * math.log(N))  # over sqrt(n)
    ahead, by_utility = (float(part) for part in instance.preference)
    preference = (ahead + kappa * by_utility) / (1 + kappa)
    if preference <= 0:
        return -math.inf
    loss = float(instance.lost(quantity)) * (root_n - exp3 / preference)
    if quantity == REWARD:
        return loss / ((1 + kappa) * exp3 + kappa * root_n)
    return loss * kappa / ((1 + kappa) * exp3)


def exceeds_from(instance: Instance, outer: Outer, quantity: str, multiple: float) -> float:
    """log10 of the K from which on the loss exceeds that multiple of the bound; inf: not up to 10^600."""
    grid = np.arange(2, LARGEST + 0.05, 0.1)
    below = [not ratio(instance, outer, quantity, log10_K) > multiple for log10_K in grid]
    last = max((i for i, short in enumerate(below) if short), default=-1)
    return float(grid[last + 1]) if last + 1 < len(grid) else math.inf


def play(
    blocks: Iterable[tuple[Array, Array]], rho: Array, gamma: float, kappa: float, rng: np.random.Generator, rule: Rule
) -> tuple[Array, Array]:
    """Exp3 over blocks of (R, G), each (runs, N) in units of WH; sums of what arm 0 has more than the arm played."""
    log_weights = reward = utility = np.zeros(0)
    for R, G in blocks:
        runs, N = R.shape
        if not len(log_weights):
            log_weights, reward, utility = np.zeros((runs, N)), np.zeros(runs), np.zeros(runs)
        p = np.exp(log_weights - log_weights.max(axis=1, keepdims=True))
        p = (1 - gamma) * p / p.sum(axis=1, keepdims=True) + gamma / N
        drawn = (p.cumsum(axis=1)[:, :-1] <= rng.random((runs, 1))).sum(axis=1)
        rows = np.arange(runs)
        r, g = R[rows, drawn], G[rows, drawn]
        counted = (g >= rho) if rule.feasibility else np.ones(runs, bool)
        gain = (r * counted + kappa * g) / (1 + kappa)
        log_weights[rows, drawn] += gamma * gain / N / (p[rows, drawn] if rule.importance else 1.0)
        reward += R[:, 0] - r
        utility += G[:, 0] - g
    return reward, utility


def printed_rate(outer: Outer, K: float, H: int = 1) -> float:
    """gamma_0 = min{1, sqrt((K/W) log(K/W) / ((e-1) K H))}"""
    n = K ** float(1 - outer.zeta)
    return min(1.0, math.sqrt(n * math.log(n) / ((math.e - 1) * K * H)))


def simulate(
    instance: Instance, outer: Outer, K: float, rate: str, runs: int, rng: np.random.Generator, rule: Rule
) -> dict[str, Any]:
    """What Exp3 loses per episode and H, in the mean over runs, beside the lemma's bound."""
    n, N = round(K ** float(1 - outer.zeta)), outer.arms(math.log(K))
    kappa = K ** -float(outer.lam)
    gamma = usual_rate(N, n) if rate == "usual" else printed_rate(outer, K)
    arms = [np.array(one.outcomes, dtype=float).T for one in (instance.best, instance.rival)]

    def blocks() -> Iterable[tuple[Array, Array]]:
        R, G = np.empty((runs, N)), np.empty((runs, N))
        for i in range(n):
            for j, (p, r, g) in enumerate(arms):  # all rivals have the same outcome: only one of them is played
                drawn = np.searchsorted(p.cumsum()[:-1], rng.random(runs), side="right")
                outcome = np.full(runs, i % len(p)) if instance.in_turn else drawn
                R[:, j:], G[:, j:] = r[outcome, None], g[outcome, None]
            yield R, G

    found = play(blocks(), np.full(runs, float(instance.rho)), gamma, kappa, rng, rule)
    exp3 = GUARANTEE * (1 + kappa) * math.sqrt(N * math.log(N) / n)
    row: dict[str, Any] = {"instance": instance.name, "outer": outer.name, "rate": rate, "K": K, "how": "simulated"}
    for quantity, lost, bound in ((REWARD, found[0], exp3 + kappa), (UTILITY, found[1], exp3 / kappa)):
        mean, error = float(lost.mean()) / n, 1.96 * float(lost.std(ddof=1)) / n / math.sqrt(runs)
        row |= {quantity: mean, f"{quantity}_low": mean - error, f"{quantity}_high": mean + error}
        row[f"{quantity}_bound"] = bound
    return row


def closed_form_rows(instances: Sequence[Instance], outers: Sequence[Outer]) -> list[dict[str, Any]]:
    """Of every example and quantity that is lost: loss over bound, and from which K on it exceeds multiples."""
    rows = []
    for instance in instances:
        for outer in outers:
            for quantity in (REWARD, UTILITY):
                if not instance.breaks(quantity, outer):
                    continue
                row: dict[str, Any] = {
                    "instance": instance.name, "outer": outer.name, "rate": "usual", "how": "closed form",
                    "quantity": quantity, "meets_appendix": instance.optimal, "random": instance.random,
                    "exponent": 1.0, "violation": float(instance.violation),
                    "claimed_exponent": float(outer.claimed(quantity)),
                }  # fmt: skip
                row |= {f"log10_K_{m}_times": exceeds_from(instance, outer, quantity, m) for m in MULTIPLES}
                row |= {f"ratio_at_1e{e}": ratio(instance, outer, quantity, e) for e in (10, 50, 100, 200, 400)}
                rows.append(row)
    return rows


@check("C13")
def bandit_lemma(
    given: Given,
    *,
    instances: Sequence[Instance] = EXAMPLES,
    outers: Sequence[Outer] = (TABULAR, LINEAR),
    rule: Rule = Rule(),  # noqa: B008
) -> Finding:
    """A counterexample meets the lemma's assumption and loses, by Exp3's own guarantee, in proportion to K."""
    closed = closed_form_rows(instances, outers)
    rows = [
        simulate(instance, outers[0], K, rate, given.samples, given.rng("C13", instance.name, K, rate), rule)
        for instance in instances
        for rate, episodes in SIMULATED.items()
        for K in episodes
    ]
    samples = len(rows) * given.samples
    if not closed:
        return Finding(HOLDS, f"no loss in proportion to K in {len(instances)} examples", samples=samples, rows=rows)
    order = ("random", "outer", "log10_K_1_times")
    by = min(closed, key=lambda row: (not row["meets_appendix"], *(row[name] for name in order)))
    quantity, claimed = by["quantity"], by["claimed_exponent"]
    why = (
        f"against an arm {by['instance']}, Exp3 loses {quantity} in proportion to K where K^{claimed:.3f} is claimed, "
        f"and V(K) tends to {by['violation']:g} H K: by its guarantee more than the bound from K = "
        f"1e{by['log10_K_1_times']:.0f} on and more than 100 times the bound from 1e{by['log10_K_100_times']:.0f} on; "
        f"{_simulated_words(rows, by['instance'], quantity)}; {_halves(closed)}"
    )
    return Finding(
        FALSE, why, 1.0, 1.0, 1.0, bound=claimed, slack=claimed - 1.0, slack_in="exponent of K",
        samples=samples, rows=closed + rows,
    )  # fmt: skip


def _halves(closed: Sequence[dict[str, Any]]) -> str:
    """Which half falls, and whether that takes random outcomes."""
    said = []
    for quantity in (REWARD, UTILITY):
        by = {row["random"] for row in closed if row["quantity"] == quantity}
        if by:
            said.append(f"the {quantity} half falls {'even for non-random' if False in by else 'only for random'} G_i")
    return ", ".join(said)


def _simulated_words(rows: Sequence[dict[str, Any]], instance: str, quantity: str) -> str:
    seen = [row for row in rows if row["instance"] == instance and row["rate"] == "usual"]
    first, last = seen[0], seen[-1]
    return (
        f"simulated, loss over H K goes from {first[quantity]:.2f} at K = {first['K']:.0e} to {last[quantity]:.2f} at "
        f"{last['K']:.0e}, bound over H K from {first[quantity + '_bound']:.2f} to {last[quantity + '_bound']:.2f}"
    )


def random_blocks(rng: np.random.Generator, problems: int, N: int, n: int) -> tuple[Array, Array, Array]:
    """R, G (n, problems, N) and rho (problems,) with Bhat = arm 0 feasible and of the largest f_r in every block.

    Of every four problems one is drawn at random in ten phases; in one the arms tie at first and Bhat alone pays later;
    in one all rivals pay more and are infeasible; in one they are feasible, all but as good and of more utility.
    """
    rho = rng.uniform(0.1, 0.9, size=problems)
    phase = np.arange(n) * 10 // n
    feasible = rng.random((10, problems, N))[phase] < 0.5
    feasible[:, :, 0] = True
    share = rng.random((n, problems, N))
    G = np.where(feasible, rho[:, None] + (1 - rho[:, None]) * share, 0.999 * rho[:, None] * share)
    best = np.clip(rng.random((10, problems))[phase] + 0.1 * (rng.random((n, problems)) - 0.5), 0, 1)
    R = np.where(feasible, best[:, :, None] * rng.random((10, problems, N))[phase], rng.random((n, problems, N)))
    R[:, :, 0] = best
    kind = np.arange(problems) % 4
    late = (np.arange(n) >= n // 4)[:, None, None]
    ties, greedy, near = kind == 1, kind == 2, kind == 3
    R[:, ties], G[:, ties] = np.where(late & (np.arange(N) > 0), 0.0, 1.0), 1.0
    R[:, greedy], G[:, greedy] = np.where(np.arange(N) > 0, 1.0, 0.5), np.where(np.arange(N) > 0, 0.0, 1.0)
    R[:, near] = np.where(np.arange(N) > 0, 0.95, 1.0)
    G[:, near] = np.where(np.arange(N) > 0, 1.0, rho[near, None])
    return R, G, rho


@check("C13'")
def bandit_lemma_corrected(given: Given, *, rule: Rule = Rule(), blocks: int = BLOCKS) -> Finding:  # noqa: B008
    """Bhat feasible and of the largest f_r in every block: both bounds, with Exp3's constant, on random bandits."""
    outer = TABULAR
    rows: list[dict[str, Any]] = []
    runs = max(4, given.samples // 20)
    kappa = blocks ** -float(outer.lam / (1 - outer.zeta))
    for N in (2, 5):
        problems = max(4, given.problems // 2)
        rng = given.rng("C13'", N)
        R, G, rho = random_blocks(rng, problems, N, blocks)
        each = ((np.repeat(r, runs, axis=0), np.repeat(g, runs, axis=0)) for r, g in zip(R, G, strict=True))
        lost = play(each, np.repeat(rho, runs), usual_rate(N, blocks), kappa, rng, rule)
        exp3 = GUARANTEE * (1 + kappa) * math.sqrt(blocks * N * math.log(N))
        reward, utility = (sums.reshape(problems, runs).mean(axis=1) for sums in lost)
        for problem in range(problems):
            by_utility = exp3 + kappa * max(0.0, -utility[problem])
            for quantity, mean, bound in ((REWARD, reward, by_utility), (UTILITY, utility, exp3 / kappa)):
                rows.append({"arms": N, "problem": problem, "kind": KINDS[problem % 4], "quantity": quantity,
                             "lost": float(mean[problem]), "bound": float(bound),
                             "share": float(mean[problem] / bound)})  # fmt: skip
    worst = max(rows, key=lambda row: row["share"])
    broken = sum(row["share"] > 1 for row in rows)
    why = (
        f"of {len(rows)} sums on random bandits of {blocks} blocks {broken} exceed their bound; the nearest is "
        f"{worst['share']:.2f} of it ({worst['quantity']}, {worst['arms']} arms)"
    )
    return Finding(
        FAILS if broken else HOLDS, why, worst["share"], bound=1.0, slack=1.0 - worst["share"],
        slack_in="share of the bound", samples=len(rows) * runs, rows=rows,
    )  # fmt: skip
