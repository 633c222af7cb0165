"""A counterexample to every rate for linear CMDPs as printed, where B_p sums Frobenius norms.

One step leads from the start to one of two sets of m states each, spread evenly; in episode k action s_k leads to the
first set and the other action to the second one; there, r = g = 1 in the first set and 0 in the second. There are two
copies of the two sets, for odd and for even episodes. H = 2, A = 2, S = 1 + 4m, d = 4 (unit vectors for the two actions
and, in both copies, for the first and the second set), rho = 3/4, delta = 1/4.

Every change of mu has size 2/sqrt(m) in the Frobenius norm, whatever s is: with m = (2K-2)^2, B = 1, and neither B nor
a local budget tells anything of s. For s drawn at random, V* = 1 in every episode, and every learner has 1/2 in the
mean over s (hence for some s no more than that):

    R(K) = K/2,      V(K) = R(K) - K/4 = K/4,      against an order of K^(3/4), K^(7/8) or K^(2/3) without any S in it.

The false step of the proofs is |int V d(mu - mu')| <= H ||mu - mu'||_F, in Lemma 19: by Cauchy and Schwarz the right
side needs a factor of sqrt(S), and here sqrt(m/2) for V = 1 in the first sets. In the norm of total variation the same
change has size 2 sqrt(2), B is of order K, and nothing is contradicted. S grows with K, as section 7 allows: the state
space may be infinite, and section 7.1 has bounds that scale with d rather than with the number of states.

The rate of the other approach (C18) is false in any norm: appendix I states it for B < 1 too. Of two actions of unknown
order one must be tried, which costs 1/2 in the mean over the two orders; at B = K^-4 (the worse action gains K^-4/2 in
r and in g before the last episode) the order is K^(-1/4). Theorem 3 is spared this: there D would exceed K.
"""

import math
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from nscmdp.analysis.claims import linear_runs
from nscmdp.analysis.claims.arithmetic import Monomial
from nscmdp.analysis.claims.findings import Given
from nscmdp.analysis.claims.linear_runs import LISTED, Constants, Listing, Problems

MULTIPLES = (1, 10, 100)
SIZES = {"H": 2.0, "d": 4.0}
RHO, DELTA = Fraction(3, 4), Fraction(1, 4)
Masses = tuple[tuple[Fraction, ...], ...]


class Statement(NamedTuple):
    """A rate, by the algorithm that is said to have it."""

    algorithm: str
    rate: Monomial
    terms: tuple[Monomial, ...]  # what the proof adds up, which must be of that order


class Environment(NamedTuple):
    """Exact, by groups of states: the start, then the first and the second set of every copy."""

    m: int  # states in a set
    copies: int = 2  # with 1, the size of a change of mu tells whether s changes

    @property
    def sizes(self) -> tuple[int, ...]:
        return (1, *(self.m for _ in range(2 * self.copies)))

    @property
    def cases(self) -> list[tuple[int, int]]:
        """(s, copy) of an episode, in the order of levels of ``blurred``"""
        return [(s, copy) for copy in range(self.copies) for s in (0, 1)]

    def feature(self, group: int, a: int) -> int:
        """The i of phi(x,a) = e_i"""
        return a if group == 0 else 2 + (group - 1) % 2

    def paid(self, h: int, group: int, a: int) -> Fraction:
        """r = g = <phi, theta_h>, theta_1 = 0, theta_2 the unit vector of first sets"""
        return Fraction(int(h == 1 and self.feature(group, a) == 2))

    def mu(self, h: int, s: int, copy: int) -> Masses:
        """mu_i of each group as a whole, which its states share evenly: 4 rows"""

        def all_in(group: int) -> tuple[Fraction, ...]:
            return tuple(Fraction(int(other == group)) for other in range(len(self.sizes)))

        sets = all_in(1 + 2 * copy), all_in(2 + 2 * copy)
        if h == 1:
            return 4 * (all_in(0),)  # what follows the second step is of no account
        return sets[s], sets[1 - s], all_in(0), all_in(0)

    def norms(self) -> dict[str, Fraction]:
        """Squares of ||mu_h||_2 in every reading, the largest over h and cases; d = 4 is allowed.

        Spectral: the largest row sum of mu mu^T, which bounds its eigenvalues and is one of them here.
        """
        found: dict[str, list[Fraction]] = {"spectral": [], "frobenius": [], "of_whole_space": []}
        for h, case in product((0, 1), self.cases):
            mu = self.mu(h, *case)
            gram = [[sum((a * b / n for a, b, n in zip(x, y, self.sizes, strict=True)), Fraction(0)) for y in mu]
                    for x in mu]  # fmt: skip
            found["spectral"].append(max(sum((abs(one) for one in row), Fraction(0)) for row in gram))
            found["frobenius"].append(sum((gram[i][i] for i in range(4)), Fraction(0)))
            found["of_whole_space"].append(sum((sum(row, Fraction(0)) ** 2 for row in mu), Fraction(0)))
        return {name: max(squares) for name, squares in found.items()}

    def admissible(self) -> bool:
        """A linear CMDP of the paper: kernels are probabilities, r and g in [0, 1], norms at most sqrt(d), Slater."""
        kernels, paid = [], []
        for h, case, group, a in product((0, 1), self.cases, range(len(self.sizes)), (0, 1)):
            row = self.mu(h, *case)[self.feature(group, a)]
            kernels.append(min(row) >= 0 and sum(row) == 1)
            paid.append(0 <= self.paid(h, group, a) <= 1)
        slater = all(max(self.value(a, *case) for a in (0, 1)) >= RHO + DELTA for case in self.cases)
        return all(kernels) and all(paid) and slater and max(self.norms().values()) <= 4

    def value(self, a: int, s: int, copy: int) -> Fraction:
        """V and W of action a from the start"""
        mass = self.mu(0, s, copy)[self.feature(0, a)]
        return sum((one * self.paid(1, group, 0) for group, one in enumerate(mass)), Fraction(0))

    def changes(self, norm: str) -> set[Fraction]:
        """Squares of ||mu_{k+1} - mu_k|| at the first step (at the second, mu stays), for all that s may do."""
        found = set()
        for (s, copy), after in product(self.cases, (0, 1)):
            pairs = zip(self.mu(0, s, copy), self.mu(0, after, (copy + 1) % self.copies), strict=True)
            moved = [[abs(y - x) for x, y in zip(*pair, strict=True)] for pair in pairs]
            if norm == "frobenius":
                parts = [one**2 / n for row in moved for one, n in zip(row, self.sizes, strict=True)]
            else:
                parts = [sum(row, Fraction(0)) ** 2 for row in moved]
            found.add(sum(parts, Fraction(0)))
        return found

    def step(self) -> Fraction:
        """The square of |int V d(mu - mu')| / ||mu - mu'||_F for V = 1 in first sets, where s changes; V <= H = 2."""
        moved = [self.value(a, 0, 0) - self.value(a, 1, 1 % self.copies) for a in (0, 1)]
        return sum((one**2 for one in moved), Fraction(0)) / max(self.changes("frobenius"))


def environment(K: int) -> Environment:
    return Environment((2 * K - 2) ** 2)


def budget_squared(norm: str, K: int) -> Fraction:
    """B^2, where every change is the same."""
    (change,) = environment(K).changes(norm)
    return (K - 1) ** 2 * change


def mean_value(one: Environment) -> Fraction:
    """The most that an action has in the mean over s, which is all that a learner can have, as s tells nothing."""
    return max(sum((one.value(a, s, copy) for s in (0, 1)), Fraction(0)) / 2
               for a in (0, 1) for copy in range(one.copies))  # fmt: skip


REGRET = 1 - mean_value(environment(2))  # per episode
VIOLATION = RHO - mean_value(environment(2))


def growth_of_budget(norm: str) -> Fraction:
    """The exponent of K in B."""
    small, large = (budget_squared(norm, K) for K in (10**6, 10**12))
    return Fraction(round(math.log10(large / small)), 12)


def contradicted(statement: Statement, norm: str) -> bool:
    """The claimed order, with B of the counterexample put in, grows more slowly than K."""
    one = environment(10**6)
    if not one.admissible() or len(one.changes(norm)) > 1 or min(REGRET, VIOLATION) <= 0:
        return False
    return statement.rate.power("K") + statement.rate.power("B") * growth_of_budget(norm) < 1


def log_iota(log10_K: float, A: float, d: float, H: float) -> float:
    """log10 of iota = log(2 log(A) d T/p), T = K H"""
    inside = math.log(2 * math.log(A) * d * H / linear_runs.CONFIDENCE) + log10_K * math.log(10)
    return math.log10(inside)


def log_bound(statement: Statement, log10_K: float, H: float = 2.0, d: float = 4.0, log10_B: float = 0.0) -> float:
    """log10 of (1+delta)/delta rate iota at delta = 1/4, A = 2."""
    logs = {"H": math.log10(H), "d": math.log10(d), "K": log10_K, "B": log10_B}
    return statement.rate.log10(logs) + log_iota(log10_K, 2, d, H) + math.log10((1 + DELTA) / DELTA)


def exceeds_from(statement: Statement, multiple: float) -> float:
    """log10 of the K from which K/2 exceeds that multiple of the bound."""
    for log10_K in np.arange(1, 400, 0.1):
        if log10_K + math.log10(REGRET) > log_bound(statement, log10_K) + math.log10(multiple):
            return float(log10_K)
    return math.inf


def small_budget(statement: Statement) -> dict[str, Any]:
    """Two actions, one state, one step, r = g = 1 or 0, in unknown order: 1/2 is lost in the first episode."""
    loss = Fraction(1, 2)  # of an action played with chance p: p under one order, 1-p under the other
    starts = (float(e) for e in np.arange(1, 400, 0.1) if log_bound(statement, e, 1.0, 2.0, -4 * e) < math.log10(loss))
    return {
        "what": "two actions, B = K^-4", "regret": float(loss),
        "claimed_exponent": float(statement.rate.power("K") - 4 * statement.rate.power("B")),
        "log10_K_1_times": next(starts, math.inf),
    }  # fmt: skip


def blurred(runs: int, episodes: int, rng: np.random.Generator, states: int = 1) -> Problems:
    """The counterexample with s at random; Algorithm 3 sees features alone and cannot tell 1 state from m in a set."""
    one = Environment(states)
    group, H, d = np.repeat(np.arange(len(one.sizes)), one.sizes), 2, 4
    phi = np.zeros((len(group), 2, d))
    for x, a in product(range(len(group)), (0, 1)):
        phi[x, a, one.feature(int(group[x]), a)] = 1.0
    masses = np.array([[one.mu(h, *case) for h in range(H)] for case in one.cases], float) / one.sizes
    theta = np.zeros((len(one.cases), 2, H, d))
    theta[:, :, 1, 2] = 1.0
    level = 2 * (np.arange(episodes) % one.copies) + rng.integers(0, 2, size=(runs, episodes))
    phi, mu, theta = (np.broadcast_to(part, (runs, *part.shape)) for part in (phi, masses[..., group], theta))
    return Problems(phi, mu, theta, level, np.full(runs, float(RHO)))


@cache
def simulated(runs: int, listing: Listing = LISTED, bonus: float = 0.02, episodes: int = 300) -> tuple[float, float]:
    """Regret and violation per episode of Algorithm 3 there, with a bonus small enough to learn with."""
    rng = Given().rng("C16", "blurred")
    problems = blurred(runs, episodes, rng)
    constants: Constants = linear_runs.printed(problems, np.full(runs, float(DELTA)))
    trace = linear_runs.run(problems, constants._replace(beta=bonus * constants.beta), rng, listing)
    mean_r, mean_g = trace.value.mean(axis=(0, 1))
    return float(1 - mean_r), float(RHO) - float(mean_g)


def rows_of(statement: Statement, norm: str, given: Given) -> list[dict[str, Any]]:
    regret, violation = simulated(max(4, given.problems // 2))
    row: dict[str, Any] = {
        "what": "counterexample", "norm": norm,
        "regret_per_episode": float(REGRET), "violation_per_episode": float(VIOLATION),
        "claimed_exponent": float(statement.rate.power("K") + statement.rate.power("B") * growth_of_budget(norm)),
        "simulated_regret": regret, "simulated_violation": violation,
    }  # fmt: skip
    if norm != "frobenius":
        return [row]
    row |= {f"log10_K_{m}_times": exceeds_from(statement, m) for m in MULTIPLES}
    norms = environment(10**6).norms()
    sizes = {f"norm_of_mu_{name}": math.sqrt(square) for name, square in norms.items()}
    row |= sizes | {"norm_allowed": math.sqrt(SIZES["d"]), "B": math.sqrt(budget_squared(norm, 10**6))}
    curve = [
        {"what": "curve", "log10_K": e, "log10_regret": e + math.log10(REGRET), "log10_bound": log_bound(statement, e)}
        for e in range(2, 61, 2)
    ]
    return [row, *curve]
