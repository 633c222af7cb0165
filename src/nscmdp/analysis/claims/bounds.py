"""Theorem 1's explicit bounds, term by term, as exact monomials of S, A, H, K, B, iota and delta.

With the printed constants chi = K^(1/5), eta = K^(1/5) B^(1/3), L = K^(3/5) B^(-2/3), b~ = B^(1/3) K^(-2/5) and
eps = 8 (S A H^6 iota^3)^(1/2) B^(1/3) K^(-1/5), the proof bounds the regret by

    K H eps/delta
    + H^2 S A K/L + 2 (H^3 sqrt(iota) + 2 H^4 b~) K/chi + sqrt(H^4 S A iota K^2 (chi+1)/L) + 2 b~ H^2 K
    + K (2 H^4 iota + 4 H^4 b~^2 + eps^2)/eta + (eta + K/L B^(-2/3)) H^2 B^(2/3)/(eta K)

and the violation by  - K eps + L E[Z] + the second line, where with l = log(16 (H^2 sqrt(iota) + b~ H^2)/delta)

    E[Z] <= 100 (H^4 iota + b~^2 H^2) l/delta + 4 H^2 B^(2/3)/(K delta) + 4 H^2 B^(2/3)/(eta delta L)
            + 4 eta (sqrt(H^2 iota) + 2 H^2 b~)/delta.

The main text prints 2 H^2 b~ and 4 H^2 b~^2 for 2 H^4 b~ and 4 H^4 b~^2; the bound of the tables, H^2 sqrt(iota), would
make the last term of E[Z] H times larger: the versions are "main text", "appendix" and "derived". 2 chi stands for
chi + 1, so every sum here is at most sqrt(2) times the printed one.

A term is of the claimed order where, whatever sizes of at least 1 are put in, it is at most a constant times

    H^4 S^(1/2) A^(1/2) B^(1/3) K^(4/5)      given      K^(1/5) = (S A)^(1/2) H^3 B^inside t,    t >= 1,

which is the condition on K without its constant: put in for K, no power that is left may be positive, and where B may
also be below 1, that of B must be 0.
"""

import math
from collections.abc import Mapping
from fractions import Fraction

from nscmdp.analysis.claims.arithmetic import Monomial, symbols

S, A, H, K, B, IOTA, DELTA = symbols("S A H K B iota delta")
THIRD, FIFTH, HALF = Fraction(1, 3), Fraction(1, 5), Fraction(1, 2)
RATE = H**4 * (S * A) ** HALF * B**THIRD * K ** (4 * FIFTH)
CHI = K**FIFTH
ETA = K**FIFTH * B**THIRD
FRAME = K ** (3 * FIFTH) * B ** (-2 * THIRD)
BTILDE = B**THIRD * K ** (-2 * FIFTH)
VERSIONS = {"main text": (2, 2), "appendix": (4, 4), "derived": (4, 4)}  # powers of H beside b~ and b~^2


def times(number: float, order: Monomial) -> Monomial:
    return Monomial(order.powers, number * order.coefficient)


EPS = times(8, (S * A * H**6 * IOTA**3) ** HALF * B**THIRD * K**-FIFTH)


def estimation(version: str) -> dict[str, Monomial]:
    """Over-estimation by Q or C, all frames."""
    power, _ = VERSIONS[version]
    return {
        "first visits": H**2 * S * A * K / FRAME,
        "learning rate": times(2, H**3 * IOTA**HALF * K / CHI),
        "learning rate, b~": times(4, H**power * BTILDE * K / CHI),
        "bonus": times(math.sqrt(2), (H**4 * S * A * IOTA * K**2 * CHI / FRAME) ** HALF),
        "b~": times(2, BTILDE * H**2 * K),
    }


def regret(version: str = "main text") -> dict[str, Monomial]:
    _, square = VERSIONS[version]
    return {
        "tightening": K * H * EPS / DELTA,
        **estimation(version),
        "drift of the queue, iota": times(2, H**4 * IOTA * K / ETA),
        "drift of the queue, b~": times(4, H**square * BTILDE**2 * K / ETA),
        "drift of the queue, eps": EPS**2 * K / ETA,
        "failed optimism": H**2 * B ** (2 * THIRD) / K,
        "failed optimism, per frame": H**2 * B ** (2 * THIRD) * K ** (-3 * FIFTH) / ETA,
    }


def queue(version: str, log: float) -> dict[str, Monomial]:
    """E[Z], with the value of its logarithm."""
    power = 2 if version == "derived" else 1
    return {
        "queue, iota": times(100 * log, H**4 * IOTA / DELTA),
        "queue, b~": times(100 * log, BTILDE**2 * H**2 / DELTA),
        "queue, failed optimism": times(4, H**2 * B ** (2 * THIRD) / (K * DELTA)),
        "queue, failed optimism, per frame": times(4, H**2 * B ** (2 * THIRD) / (ETA * DELTA * FRAME)),
        "queue, eta": times(4, ETA * H**power * IOTA**HALF / DELTA),
        "queue, eta b~": times(8, ETA * H**2 * BTILDE / DELTA),
    }


def spare(version: str, logs: Mapping[str, float]) -> float:
    """log10 of K eps over all that it must make up for: zero violation is proved where this is at least 0."""
    reach = total({"Q": H**2 * IOTA**HALF, "b~": H**2 * BTILDE}, logs) - logs["delta"]
    log = math.log(16) + reach * math.log(10)
    against = {**estimation(version), **{name: FRAME * term for name, term in queue(version, log).items()}}
    return (K * EPS).log10(logs) - total(against, logs)


def total(terms: Mapping[str, Monomial], logs: Mapping[str, float]) -> float:
    """log10 of the sum."""
    found = [term.log10(logs) for term in terms.values()]
    largest = max(found)
    return largest + math.log10(sum(10 ** (one - largest) for one in found))


def logs_of(sizes: Mapping[str, float], log10_K: float) -> dict[str, float]:
    """Logarithms of all symbols, from S, A, H, B, delta and log10 K; iota = 128 log(sqrt(2 S A H) K)."""
    logs = {name: math.log10(sizes[name]) for name in ("S", "A", "H", "B", "delta")}
    doubled = 0.5 * math.log(2 * sizes["S"] * sizes["A"] * sizes["H"])
    return {**logs, "K": log10_K, "iota": math.log10(128 * (doubled + log10_K * math.log(10)))}


def of_claimed_order(term: Monomial, inside: Fraction, least: float, rate: Monomial = RATE) -> bool:
    """Is a term O~(rate) for all sizes that the condition with B^inside admits, and B >= ``least`` (0 or 1)?"""
    (t,) = symbols("t")
    ratio = (term / rate).substitute("K", ((S * A) ** HALF * H**3 * B**inside * t) ** 5)
    sizes = ["S", "A", "H", "t"]
    in_B = ratio.power("B")
    return all(ratio.power(name) <= 0 for name in sizes) and (in_B <= 0 if least >= 1 else in_B == 0)
