"""C13: the lemma on the bandit over bandits (Algorithms 2 and 4), and what is left of it.

Blocks i = 1..n of W = K^zeta episodes, n = K/W, N = J+1 arms; arm j collects R_i(j) and G_i(j),
both in [0, WH]. Exp3 plays B_i and is paid, with kappa = K^-lambda,

    x_i(j) = ( f_r + kappa G_i(j) ) / ( W H (1 + kappa) ),     f_r = R_i(j) 1{ G_i(j) >= W rho }.

The lemma: if E G_i(Bhat) >= W rho, then, with c = 2 sqrt(e-1) from Exp3's guarantee,

    E sum R_i(Bhat) - R_i(B_i)  <=  c W H (1 + kappa) sqrt(n N ln N) + kappa H K
    E sum G_i(Bhat) - G_i(B_i)  <=  c W H (1 + kappa) sqrt(n N ln N) / kappa.

Its proof takes E f_r(Bhat) for E R(Bhat), and 0 for E f_r(B_i) wherever E G_i(B_i) < W rho.

Let Bhat be paid x_b, N-1 copies of one rival x_r, and X be the log weight of Bhat less the mean of
the rivals'. Exp3 plays j with p_j = (1-gamma) q_j + gamma/N, q_b <= (e^X/(N-1))^s for s in [0,1],
and a block multiplies E e^(sX) by at most exp{ (gamma/N) E[ e^(s x_b) - 1 - s x_r + ... ] }. So

    E p_b  <=  gamma/N + (N-1)^-s exp{ (gamma/N) sum E[e^(s x_b) - 1 - s x_r + (s x_r)^2/(2N-2)] }.

Theorem 2 uses the lemma for a Bhat that is feasible in every block and has regret K^(8/9). In USED
nothing is random: (R, G)/(WH) is (0, rho) for Bhat; for the rival (kappa, rho) in 70% of the
blocks, then (0, 0), with rho/H = .3. So V* is kappa H, then 0; Bhat has regret .7 kappa H K, and
the rival V(K) = .09 H K. With s = 1 the exponent is -.61 kappa n gamma/N (1 + o(1)), of order
-K^((1-zeta)/2 - lambda): E p_b tends to 0. LARGE has the same gap between rewards of order 1.

Corrected (C13'): the first bound with W H sum P(G_i(Bhat) < W rho) added to it, whatever the other
arms are; the second where no arm's E f_r exceeds that of Bhat in any block. In the first, kappa H K
bounds kappa (E sum G_i(B_i) - G_i(Bhat))^+, and it is tested with that.
"""

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nscmdp import environments, simulate
from nscmdp.algorithms._exp3 import usual_rate
from nscmdp.cmdp import Array
from nscmdp.drift import DriftingCMDP
from wei2023.proofs.findings import Finding, Given, Notice, check, verdict, within
from wei2023.proofs.instrumented import arms

Exact = NDArray[np.object_]  # of fractions
Arms = NDArray[np.int64]
GUARANTEE = 2 * math.sqrt(math.e - 1)  # c
SIMULATED = (6, 8, 10)  # log10 K
PROVED = range(5, 61)
BLOCKS = 4000  # n of the random bandits
WAIT = 0.01  # share of the blocks before losses by a coin are counted
REWARD, UTILITY = "reward", "utility"
EPISODES = (10**6, 10**7)  # of Algorithm 2 itself
CONSTANTS = {"epsilon": 0.25, "eta": 0.05, "bonus": 0.05}  # with which Bhat is feasible there


class Outer(NamedTuple):
    """The outer loop's exponents: W = K^zeta, kappa = K^-lambda."""

    zeta: Fraction
    lam: Fraction

    def claimed(self, half: str) -> Fraction:
        """The exponent of K in the lemma's bound."""
        root = (1 + self.zeta) / 2
        return max(root, 1 - self.lam) if half == REWARD else self.lam + root

    def sizes(self, log10_K: float) -> tuple[float, int, float]:
        """n, N = ceil(ln W) + 1 and kappa"""
        n, kappa = (10 ** (float(power) * log10_K) for power in (1 - self.zeta, -self.lam))
        return n, math.ceil(float(self.zeta) * log10_K * math.log(10)) + 1, kappa


TABULAR = Outer(Fraction(5, 9), Fraction(1, 9))
LINEAR = Outer(Fraction(1, 2), Fraction(1, 8))


class Example(NamedTuple):
    """Bhat and its rival by kinds of blocks, over W H and exact: R = fixed + small kappa, and G."""

    name: str
    rho: Fraction
    coin: bool  # kinds of blocks come by a coin, not in turn
    shares: Exact  # (kinds,)
    fixed: Exact  # (kinds, 2)
    small: Exact
    G: Exact

    def more(self, what: Exact) -> Fraction:
        """What Bhat has more of than the rival, in the mean over blocks."""
        return self.shares @ (what[:, 0] - what[:, 1])

    def lost(self, half: str) -> Fraction:
        return self.more(self.fixed if half == REWARD else self.G)

    def contradicts(self, outer: Outer) -> set[str]:
        """The halves of the lemma that it contradicts for large K, as Exp3 prefers the rival.

        A preference of order kappa decides where no gain is larger and 1 - zeta > 2 lambda.
        """
        means = [self.shares @ self.G[:, 0]] if self.coin else self.G[:, 0]
        feasible = self.rho <= self.G
        drift = self.more(self.small * feasible + self.G) < 0 and not self.fixed.any()
        drift = drift and 1 - outer.zeta > 2 * outer.lam
        if min(means) < self.rho or not (self.more(self.fixed * feasible) < 0 or drift):
            return set()
        return {one for one in (REWARD, UTILITY) if self.lost(one) > 0 and outer.claimed(one) < 1}

    def collected(self, kappa: float) -> tuple[Array, Array]:
        """R and G, (kinds, 2)"""
        return (self.fixed + self.small * Fraction(kappa)).astype(float), self.G.astype(float)


def example(name: str, rho: str, *kinds: str, coin: bool = False) -> Example:
    """Of every kind: its share, then fixed, small and G of Bhat and of the rival."""
    numbers = np.array([[Fraction(number) for number in kind.split()] for kind in kinds])
    fixed, small, G = np.moveaxis(numbers[:, 1:].reshape(-1, 2, 3), 2, 0)
    return Example(name, Fraction(rho), coin, numbers[:, 0], fixed, small, G)


USED = example("as in Theorem 2", ".3", ".7  0 0 .3  0 1 .3", ".3  0 0 .3  0 0 0")
LARGE = example("rewards of order 1", ".3", ".7  1 -1 .3  1 0 .3", ".3  0 0 .3  0 0 0")
COIN = example("by a coin", ".5", ".5  .1 0 1  1 0 .5", ".5  .1 0 1  1 0 0", coin=True)
QUARTER = example("in 1 of 4", "1/8", ".75  1 0 0  .5 0 1/8", ".25  1 0 1  .5 0 1/8", coin=True)
EXAMPLES = (USED, LARGE, COIN, QUARTER)


def lemma_is_false(outer: Outer = TABULAR) -> bool:
    return any(one.contradicts(outer) for one in EXAMPLES)


def printed(R: Array, G: Array, rho: Array | float, kappa: float) -> Array:
    """The gain of a block; all over W H."""
    return (R * (rho <= G) + kappa * G) / (1 + kappa)


def repaired(R: Array, G: Array, rho: Array | float, kappa: float) -> Array:
    """The gain of docs/repaired_algorithm_2.md."""
    return (R + 1) * (rho <= G) / 2


def bounds(n: float, N: int, kappa: float) -> dict[str, float]:
    """The lemma's, over H K."""
    exp3 = GUARANTEE * (1 + kappa) * math.sqrt(N * math.log(N) / n)
    return {REWARD: exp3 + kappa, UTILITY: exp3 / kappa}


def least_loss(one: Example, half: str, log10_K: float) -> float:
    """What Exp3 loses at least, over H K, by the bound of E p_b above."""
    n, N, kappa = TABULAR.sizes(log10_K)
    gamma, wait = usual_rate(N, n), WAIT if one.coin else 1.0
    paid = printed(*one.collected(kappa), float(one.rho), kappa)
    x_b, x_r = paid.T[:, :, None]
    s = np.logspace(-log10_K, 0, 400)
    kinds = np.expm1(s * x_b) - s * x_r + (s * x_r) ** 2 / (2 * (N - 1))
    power = gamma * n / N * wait * (one.shares.astype(float) @ kinds) - s * math.log(N - 1)
    stays = min(1.0, gamma / N + math.exp(min(0.0, power.min())))
    return float(one.lost(half)) * (1 - stays) * (1 - wait if one.coin else 1)


def play(
    gains: Iterable[Array], shape: tuple[int, int], gamma: float, rng: np.random.Generator
) -> Arms:
    """The arms that Exp3 plays, (blocks, runs); gains are of shape (runs, N), block by block."""
    (runs, N), log_weights, played = shape, np.zeros(shape), []
    rows = np.arange(runs)
    for x in gains:
        p = np.exp(log_weights - log_weights.max(axis=1, keepdims=True))
        p = (1 - gamma) * p / p.sum(axis=1, keepdims=True) + gamma / N
        drawn = (p.cumsum(axis=1)[:, :-1] <= rng.random((runs, 1))).sum(axis=1)
        log_weights[rows, drawn] += gamma * x[rows, drawn] / N / p[rows, drawn]
        played.append(drawn)
    return np.array(played)


def simulated(
    one: Example, half: str, log10_K: float, given: Given, gain: Callable[..., Array] = printed
) -> tuple[float, float]:
    """What Exp3 loses, and V(K), over H K."""
    many, N, kappa = TABULAR.sizes(log10_K)
    n, runs, shares = round(many), given.few(), one.shares.astype(float)
    rng = given.rng("C13", one.name, log10_K, gain.__name__)
    R, G = one.collected(kappa)
    x = np.repeat(gain(R, G, float(one.rho), kappa), [1, N - 1], axis=1)
    turn = np.searchsorted(shares.cumsum()[:-1], (np.arange(n) + 0.5) / n)
    kinds = turn[:, None].repeat(runs, axis=1)
    if one.coin:
        kinds = rng.choice(len(shares), (n, runs), p=shares)
    played = play((x[kind] for kind in kinds), (runs, N), usual_rate(N, n), rng)
    played, what = np.minimum(played, 1), R if half == REWARD else G
    lost = what[kinds, 0] - what[kinds, played]
    return float(lost.mean()), float(one.rho) - float(G[kinds, played].mean())


def two_phases(K: int) -> DriftingCMDP:
    """Rewards (1, 0), then (K^(-1/12), 0); utilities (rho, 1), then (0, 1); rho = .75, 1 < B < 2."""
    first, second = arms([1, 0], [0.75, 1], 0.75), arms([K ** (-1 / 12), 0], [0, 1], 0.75)
    return environments.path([first, first, second, second], [1, K // 2, K // 2 + 1, K])


def algorithm_2(gain: str, K: int, runs: int) -> tuple[float, float]:
    """V(K)/K in two phases, and its error."""
    env, found = two_phases(K), []
    asked: dict[str, Any] = {"factors": CONSTANTS, "variants": {"gain": gain, "queue": "reset"}}
    for seed in range(runs):
        learner = ("double_restart_triple_q", "scaled", seed, None)
        found.append(simulate.run(env, *learner, windows=1, **asked).utility[0])
    return env.rho - np.mean(found), 1.96 * np.std(found, ddof=1) / math.sqrt(runs)


def random_blocks(rng: np.random.Generator, problems: int, N: int, n: int) -> tuple[Array, ...]:
    """R, G (n, problems, N), rho (problems,); arm 0, Bhat, is feasible and has the largest f_r.

    Of every four problems one is drawn at random in ten phases; in one the arms tie at first and
    Bhat alone pays later; in one all rivals pay more and are infeasible; in one they are feasible,
    all but as good and of more utility.
    """
    rho = rng.uniform(0.1, 0.9, size=problems)
    phase, limit = np.arange(n) * 10 // n, rho[:, None]
    feasible = rng.random((10, problems, N))[phase] < 0.5
    feasible[:, :, 0] = True
    share = rng.random((n, problems, N))
    G = np.where(feasible, limit + (1 - limit) * share, 0.999 * limit * share)
    best = rng.random((10, problems))[phase] + 0.1 * (rng.random((n, problems)) - 0.5)
    best = np.clip(best, 0, 1)[:, :, None]
    share = rng.random((10, problems, N))[phase]
    R = np.where(feasible, best * share, rng.random((n, problems, N)))
    R[:, :, :1] = best
    rival, late = np.arange(N) > 0, (np.arange(n) >= n // 4)[:, None, None]
    ties, greedy, near = (np.arange(problems) % 4 == kind for kind in (1, 2, 3))
    R[:, ties], G[:, ties] = 1 - (late & rival), 1
    R[:, greedy], G[:, greedy] = np.where(rival, 1, 0.5), 1 - rival
    R[:, near], G[:, near] = np.where(rival, 0.95, 1), np.where(rival, 1, limit[near])
    return R, G, rho


def corrected(given: Given) -> list[float]:
    """What Exp3 loses over the corrected bounds, reward and utility, on random bandits."""
    shares: list[float] = []
    runs, problems = given.few(), max(4, given.problems // 2)
    kappa = BLOCKS ** -float(TABULAR.lam / (1 - TABULAR.zeta))
    for N in (2, 5):
        rng = given.rng("C13'", N)
        R, G, rho = random_blocks(rng, problems, N, BLOCKS)
        x = np.repeat(printed(R, G, rho[:, None], kappa), runs, axis=1)
        played = play(x, (problems * runs, N), usual_rate(N, BLOCKS), rng)
        played = played.reshape(BLOCKS, problems, runs)
        more = [what[:, :, :1] - np.take_along_axis(what, played, 2) for what in (R, G)]
        reward, utility = (lost.sum(axis=0).mean(axis=1) for lost in more)
        bound = bounds(BLOCKS, N, kappa)[UTILITY] * BLOCKS
        by_reward = kappa * (bound + np.maximum(0, -utility))
        shares += [*reward / by_reward, *utility / bound]
    return shares


@check("C13")
def bandit_lemma(given: Given) -> Finding:
    rows: list[dict[str, Any]] = []
    numbers: dict[str, str | float] = {}
    for one in EXAMPLES:
        half = REWARD if one.lost(REWARD) > 0 else UTILITY
        found = [("at least", at, least_loss(one, half, at)) for at in PROVED]
        for at in SIMULATED:
            lost, numbers[f"V/(HK) at K = 1e{at}, {one.name}"] = simulated(one, half, at, given)
            found.append(("simulated", at, lost))
        for how, at, lost in found:
            row = {"example": one.name, "half": half, "how": how, "log10_K": at}
            rows.append({**row, "share": lost / bounds(*TABULAR.sizes(at))[half]})
    for at in SIMULATED:
        prefix = f"V/(HK) at K = 1e{at}"
        numbers[f"{prefix}, {USED.name}, at least"] = least_loss(USED, UTILITY, at)
        _, V = simulated(LARGE, UTILITY, at, given, repaired)
        numbers[f"{prefix}, {LARGE.name}, repaired gain"] = V
    above = [row["log10_K"] for row in rows if row["example"] == USED.name and row["share"] > 1]
    numbers["K from which the bound is exceeded"] = f"1e{min(above, default='?')}"
    for gain, K in product(("printed", "repaired"), EPISODES):
        V, error = algorithm_2(gain, K, given.few())
        numbers[f"V/K of Algorithm 2, K = {K:.0e}, gain {gain}"] = f"{V:.3f} +- {error:.3f}"
    shares = corrected(given)
    broken = sum(share > 1 for share in shares)
    return Finding(
        verdict(refuted=lemma_is_false(), proved=not broken),
        numbers,
        Notice("a bound of the corrected form divided by", 1 / max(shares)),
        **within(1, TABULAR.claimed(UTILITY), "powers of K"),
        samples=len(shares),
        rows=rows,
        says={"broken": broken, "cases": len(shares)},
    )
