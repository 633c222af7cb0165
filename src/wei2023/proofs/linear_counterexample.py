"""A counterexample to every rate for linear CMDPs with B_p in Frobenius norms, as in section 7.

One step leads from the start to one of two sets of m states each, spread evenly; in episode k
action s_k leads to the first set and the other action to the second one; there, r = g = 1 in the
first set and 0 in the second. There are two copies of the two sets, for odd and for even episodes.
H = 2, A = 2, S = 1 + 4m, d = 4 (unit vectors for the two actions and, in both copies, for the first
and the second set), rho = 3/4, delta = 1/4.

Every change of mu has size 2/sqrt(m) in the Frobenius norm, whatever s is: with m = (2K-2)^2,
B = 1, and neither B nor a local budget tells anything of s. For s drawn at random, V* = 1 in every
episode, and every learner has 1/2 in the mean over s (hence for some s no more than that):

    R(K) = K/2,      V(K) = R(K) - K/4 = K/4,      against a power of K below 1 without any S in it.

The false step of the proofs is |int V d(mu - mu')| <= H ||mu - mu'||_F, in Lemma 19: by Cauchy and
Schwarz the right side needs a factor sqrt(S), and here sqrt(m/2) for V = 1 in the first sets. By
total variation the same change has size 2 sqrt(2), B is of order K, and nothing is contradicted;
nor is it with Frobenius norms while m, hence S, does not grow with K.

In any norm, a rate with a bare power of B fails for B -> 0: of two actions of unknown order one
must be tried, which costs 1/2 in the mean over the two orders, and B = K^-4 (the worse action gains
K^-4/2 in r and in g before the last episode) makes K^(3/4) B^(1/4) a negative power of K.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product

from wei2023.proofs.arithmetic import Monomial

RHO, DELTA, COPIES = Fraction(3, 4), Fraction(1, 4), 2
FROBENIUS, VARIATION = "frobenius", "variation"
Masses = Sequence[Sequence[Fraction]]  # a row per mu_i, a column per group, whose states share it


def squares(mu: Masses, sizes: Sequence[int]) -> dict[str, Fraction]:
    """||mu||^2 in every reading, for groups of these sizes; spectral: a bound, by mu mu^T."""
    zero, d = Fraction(0), range(len(mu))
    pairs = [[zip(x, y, sizes, strict=True) for y in mu] for x in mu]
    along = [[sum((a * b / n for a, b, n in pair), zero) for pair in row] for row in pairs]
    return {
        "spectral": max(sum((abs(one) for one in row), zero) for row in along),
        FROBENIUS: sum((along[i][i] for i in d), zero),
        "mass": sum((sum(mu[i], zero) ** 2 for i in d), zero),
        VARIATION: sum((sum((abs(one) for one in mu[i]), zero) ** 2 for i in d), zero),
    }


def cases() -> list[tuple[int, int]]:
    """(copy, s) of an episode"""
    return [*product(range(COPIES), (0, 1))]


def sizes(m: int) -> list[int]:
    """Of the groups: the start, then the first and the second set of every copy."""
    return [1, *(2 * COPIES * [m])]


def feature(group: int, a: int) -> int:
    """The i of phi(x,a) = e_i"""
    return a if group == 0 else 2 + (group - 1) % 2


def paid(h: int, group: int, a: int) -> int:
    """r = g = <phi, theta_h>, with theta_1 = 0 and theta_2 the unit vector of first sets"""
    return int(h == 1 and feature(group, a) == 2)


def kernel(h: int, copy: int, s: int) -> Masses:
    """mu_h; what follows the second step is of no account."""
    into = (2 * copy + 1 + s, 2 * copy + 2 - s, 0, 0) if h == 0 else (0, 0, 0, 0)
    return [[Fraction(int(group == i)) for group in range(1 + 2 * COPIES)] for i in into]


def value(a: int, copy: int, s: int) -> Fraction:
    """V and W of action a from the start"""
    mass = kernel(0, copy, s)[feature(0, a)]
    return sum((one * paid(1, group, 0) for group, one in enumerate(mass)), Fraction(0))


def admissible(m: int) -> bool:
    """A linear CMDP of the paper: probabilities, ||mu|| <= sqrt(d) in every reading, Slater."""
    kernels = [kernel(h, *case) for h, case in product((0, 1), cases())]
    stochastic = all(min(row) >= 0 and sum(row) == 1 for mu in kernels for row in mu)
    slater = all(max(value(a, *case) for a in (0, 1)) >= RHO + DELTA for case in cases())
    return stochastic and slater and max(max(squares(mu, sizes(m)).values()) for mu in kernels) <= 4


def changes(norm: str, m: int) -> set[Fraction]:
    """Squares of ||mu_{k+1} - mu_k|| at the first step, for all that s may do."""
    found = set()
    for (copy, s), after in product(cases(), (0, 1)):
        pairs = zip(kernel(0, copy, s), kernel(0, (copy + 1) % COPIES, after), strict=True)
        moved = [[y - x for x, y in zip(*pair, strict=True)] for pair in pairs]
        found.add(squares(moved, sizes(m))[norm])
    return found


def off_by(m: int) -> Fraction:
    """(|int V d(mu-mu')| / (H ||mu-mu'||_F))^2 for V = 1 in first sets: at most 1 by Lemma 19."""
    moved = [value(a, 0, 0) - value(a, 1, 1) for a in (0, 1)]
    return sum((one**2 for one in moved), Fraction(0)) / max(changes(FROBENIUS, m)) / 4


def states(K: int) -> int:
    """m, such that B = 1 in Frobenius norms"""
    return (2 * K - 2) ** 2


def budget_squared(norm: str, K: int, m: int) -> Fraction:
    """B^2, where every change is the same."""
    return (K - 1) ** 2 * max(changes(norm, m))


def lost() -> tuple[Fraction, Fraction]:
    """Regret and violation per episode: actions have 1/2 in the mean over s; nothing tells s."""
    both = product((0, 1), range(COPIES))
    mean = max(value(a, copy, 0) + value(a, copy, 1) for a, copy in both) / 2
    return 1 - mean, RHO - mean


def exponent(rate: Monomial, norm: str, m: Callable[[int], int] = states) -> Fraction:
    """Of K in the rate, with B of the counterexample put in, where sets have m(K) states."""
    small, large = (budget_squared(norm, K, m(K)) for K in (10**6, 10**12))
    growth = Fraction(round(math.log10(large / small)), 12)
    return rate.power("K") + rate.power("B") * growth


def contradicted(rate: Monomial, norm: str) -> bool:
    """Regret and violation of any learner grow like K there, and the rate does not."""
    m = states(10**6)
    same = len(changes(norm, m)) == 1  # else a change tells of s
    return admissible(m) and same and min(lost()) > 0 and exponent(rate, norm) < 1


def fails_for_small_budgets(rate: Monomial) -> bool:
    """At B = K^-4 it goes to 0, while one of two actions of unknown order costs 1/2 in the mean."""
    return rate.power("K") - 4 * rate.power("B") < 0
