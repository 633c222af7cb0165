"""The virtual queue: drift, negative drift and bound (C8, C9, C10); its moments are in ``moments``.

With z = Z_T, y = rho + eps - Cbar_T/L, Z_{T+1} = (z + y)^+ and L_T = Z_T^2/2, always
L_{T+1} - L_T <= z y + y^2/2. Since a_{k,1} maximises eta Q + z C, and q = q^{eps,*} has a utility
of at least rho + eps, with means over the L = K^alpha/B^c episodes k of frame T,

    C8, Lemma 10    E[L_{T+1} - L_T | z] <= mean_k E[-eta (sum_a Q_k q - Q_k(x,a_k))
                                                     + z sum_a (C^{eps,*} - C_k) q] + D,
    C9, Lemma 13    E[L_{T+1} - L_T | z] <= -(delta/2) z + f + eta X + D,     eps <= delta/2,
    C10, Lemma 11   E[Z_T] <= first + 4 f/delta + 4 eta X/delta,              eps <= delta/2,

where D bounds y^2/2, f the failures of over-estimation, X = sqrt(H^2 iota) + 2 H^2 b~, and
first = 100 (H^4 iota + b~^2 H^2)/delta log(16 (H^2 sqrt(iota) + b~ H^2)/delta).

C8.  0 <= C <= H^2 (sqrt(iota) + 2 b~) makes max{H + eps, H^2 (sqrt(iota) + 2 b~)}^2 / 2 enough for
     D. Its terms decide between the four printed versions: iota where b~ is small compared to
     sqrt(iota), b~^2 where it is large, eps^2 where eps is.
C9.  The proof bounds Q_{k,1} by X, but it can be H^2 (sqrt(iota) + 2 b~). Yet X can be 3H - 1,
     where C_k >= C^pi: Q and C collect the same bonuses beta, and the rest lies in [0, 2H - 1].
     So either beta > H >= C^pi, and C_k(x,a_k) > C^pi; or Q_k(x,a_k) <= 3H - 1.
C10. Lemma 12 with gamma = delta/4, v = 2 (H^2 sqrt(iota) + b~ H^2), theta = 4 (f + eta X + D)/delta
     and Jensen's inequality; one line of the proof is 4/3 (v + theta), the next v + theta.

The lemmas come near to their bounds in a duel: one state and no drift; at every step action 1 pays
a reward of 1 and a utility of 3/8, action 2 a utility of 1; rho = 0, delta = H, eps = delta/2.
Without noise or drift to be covered they apply at b~ = 0 and from iota = 1 on; with action 1 the
queue rises by H/8 a frame, until z 5/8 exceeds eta.
"""

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import numpy as np

from nscmdp.cmdp import Array
from nscmdp.drift import DriftingCMDP
from wei2023.proofs.arithmetic import symbols
from wei2023.proofs.findings import ASSUMPTION, MISPRINT, Finding, Given, bounded, check, verdict
from wei2023.proofs.instrumented import Constants, Sizes, State, arms, episodes, literal
from wei2023.proofs.moments import exponent, mean_bound

LEMMA_10, SECTION, APPENDIX, LEMMA_13 = "Lemma 10", "Section 5.1", "appendix E.1", "Lemma 13"
HORIZONS, LARGE = (1, 2, 5, 25, 1e4), 1e6
IOTAS = (128 * math.log(math.sqrt(2)), 1e3, 1e5)  # the first at S = A = H = K = 1
DUELS, ETA = (1, 2, 3), 1e9
FRAME = 2000  # of a duel
LEVELS = tuple(ETA * level for level in (0, 0.3, 0.6, 0.9, 1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.55))


def single_chain(H: int, K: int) -> tuple[float, float]:
    """S = A = 1, r = 1, B = 1, printed constants: Q_1 within H^2 episodes, and X of Lemma 13."""
    env = DriftingCMDP([arms([1], [1], 0.0, H)], [1], episodes=H * H)
    c = literal(Sizes(1, 1, H, K, 1.0))
    seen = [float(state.Q[0, 0, 0, 0]) for state in episodes(env, c, 1, Given().rng("C9"))]
    return max(seen), H * math.sqrt(c.iota) + 2 * H**2 * c.btilde


def begin(H: int, eta: float, levels: tuple[float, ...]) -> Iterator[State]:
    """A duel of runs with these queues, before every episode of a frame and after the last."""
    env = DriftingCMDP([arms([1, 0], [3 / 8, 1], 0.0, H)], [1], episodes=FRAME)
    constants = Constants(1.0, eta, eps=H / 2, btilde=0.0, frame=FRAME + 1, iota=1.0)
    for state in episodes(env, constants, len(levels), Given().rng("C9", "levels")):
        state.Z[:] = levels
        yield state


def rises(H: int, eta: float, levels: tuple[float, ...]) -> Array:
    """rho + eps - Cbar/L of a frame that begins with the queue at these levels."""
    *_, last = begin(H, eta, levels)
    return last.constants.eps - last.cbar / FRAME


def beyond(eta: float, level: float) -> tuple[float, float]:
    """Drift beyond the terms of Lemma 10, H = 1: C_1 in Cbar after its update, or before it.

    q = (4/5, 1/5) has the utility rho + eps = 1/2.
    """
    q, terms, before = np.array([0.8, 0.2]), 0.0, 0.0
    for state in begin(1, eta, (level,)):
        if state.k <= FRAME:
            Q, C, policy = state.Q[0, 0, 0], state.C[0, 0, 0], state.policy()[0, 0, 0]
            terms += (level * (0.5 - q @ C) - eta * (q - policy) @ Q) / FRAME
            before += policy @ C / FRAME
    y = np.array([0.5 - float(state.cbar[0]) / FRAME, 0.5 - before])
    after, ahead = level * y + y**2 / 2 - terms
    return float(after), float(ahead)


def uses_unset_values() -> bool:
    """Whether the listing, which sets V and W of step H+1 alone, backs up what it has not set."""
    frame = begin(2, 1.0, (0.0,))
    state = next(frame)
    state.V[:, :2] = state.W[:, :2] = math.nan
    with np.errstate(invalid="ignore"):
        return bool(np.isnan(next(frame).C).any())


def squared_step(version: str, H: float, iota: float, b: Array, eps: float) -> list[Array]:
    """The terms of a printed D."""
    first = (1 if version == LEMMA_13 else 2) * H**4 * iota
    second = {SECTION: 4 * H**2 * b**2, LEMMA_10: 4 * H**4 * b, LEMMA_13: 2 * H**4 * b**2}
    return [first + 0 * b, second.get(version, 4 * H**4 * b**2), eps**2 + 0 * b]


def largest_step(H: float, iota: float, b: Array, eps: float) -> Array:
    """max |y| by the range of C"""
    return np.maximum(H + eps, H**2 * (math.sqrt(iota) + 2 * b))


def room(version: str, share: Array, most_eps: float, without: int | None = None) -> Array:
    """The least of D, perhaps without a term, over y^2/2, where b~ is a share of sqrt(iota)."""
    ratios = []
    for H, iota, eps in product(HORIZONS, IOTAS, (0.0, 1.0, most_eps)):
        at = H, iota, share * math.sqrt(iota), eps * H
        D = sum(term for i, term in enumerate(squared_step(version, *at)) if i != without)
        ratios.append(2 * D / largest_step(*at) ** 2)
    return np.min(ratios, axis=0)


@check("C8")
def lyapunov_drift(given: Given) -> Finding:
    K, B = symbols("K B")
    last = K ** Fraction(2, 5) * B ** Fraction(2, 3) * K ** Fraction(3, 5)  # frames x K^alpha
    share = np.append(0.0, np.geomspace(1e-3, 1e3, 601))
    allowed = share <= 1 / math.sqrt(IOTAS[0])  # b~ <= 1, and sqrt(iota) >= 6.6
    rooms = {name: room(name, share, 1.0) for name in (LEMMA_10, SECTION, APPENDIX, LEMMA_13)}
    least = float(room(APPENDIX, share, LARGE).min())
    needed = [bool((room(APPENDIX, share, LARGE, term) < 1).any()) for term in range(3)]
    after, before = beyond(ETA, 1.5 * ETA)
    D = float(sum(squared_step(APPENDIX, 1, 1.0, np.array(0.0), 0.5)))
    enough = all((ratio[allowed] >= 1).all() for ratio in rooms.values())
    repair = MISPRINT if enough and least >= 1 and before <= D else None
    numbers: dict[str, float | str] = {
        "last episode of the sums, in the text": str(last),
        "duel, iota = 1, C_1 after its update: drift less terms, over D": after / D,
        "terms of D without which it fails somewhere, of 3": sum(needed),
    }
    for name, ratio in rooms.items():
        upto = f"{share[ratio < 1].min():.3f}" if (ratio < 1).any() else "any"
        numbers[f"D of {name} is enough up to b~/sqrt(iota) ="] = upto
    answer = verdict(refuted=last != K or after > D or not repair, repair=repair)
    return bounded(answer, numbers, 1 / least, "D divided by", len(share))


def drift_constant(H: float, iota: float, b: float, eps: float, eta: float) -> float:
    """eta X + D of Lemma 13"""
    D = float(sum(squared_step(LEMMA_13, H, iota, np.array(b), eps)))
    return eta * (H * math.sqrt(iota) + 2 * H**2 * b) + D


def problems(scale: float) -> Iterator[tuple[float, float, float, float, float]]:
    """H, iota, b~, eta = scale H^3 and delta: with eps = delta/2 all that the lemmas are about."""
    for H, iota, b, share in product(HORIZONS, IOTAS, (0.0, 0.1, 1.0), (1.0, 0.1)):
        for gap in (share, share * H):
            yield H, iota, b, scale * H**3, gap


def finding(numbers: dict[str, float], needed: dict[int, float], left: float) -> Finding:
    """By the shares of a bound that duels need, and the printed over what the proof gives.

    V and W are to be given values, as for C5.
    """
    most = max(needed.values())
    refuted, repair = most > 1 or uses_unset_values(), ASSUMPTION if most <= 1 else None
    numbers |= {f"share of it in a duel, iota = 1, H = {H}": part for H, part in needed.items()}
    answer = verdict(refuted=refuted, repair=repair, proved=left >= 1)
    return bounded(answer, numbers, most, "the term with eta divided by", len(LEVELS))


@check("C9")
def negative_drift(given: Given) -> Finding:
    z, needed, ratios = np.array(LEVELS), {}, []
    for H in DUELS:
        y = rises(H, ETA, LEVELS)
        drift = np.maximum(z * y + y**2 / 2, -(z**2) / 2)
        needed[H] = float((drift + H / 2 * z).max()) / drift_constant(H, 1.0, 0.0, H / 2, ETA)
    for h, iota, b, eta, delta in (at for scale in (0.0, 1.0, LARGE) for at in problems(scale)):
        replaced = eta * (3 * h - 1) + largest_step(h, iota, np.array(b), delta / 2) ** 2 / 2
        ratios.append(drift_constant(h, iota, b, delta / 2, eta) / float(replaced))
    left = min(ratios)
    Q, X = single_chain(6, 10**10)
    numbers = {
        "Q_1 over the proof's bound on it, H = 6, K = 1e10": Q / X,
        "the constant over the one with 3H - 1, at least": left,
    }
    return finding(numbers, needed, left)


def queue_bound(version: str, H: float, iota: float, b: float, eta: float, delta: float) -> float:
    """Without f."""
    s, power = math.sqrt(iota), 1 if version == "Section 5.2" else 2
    first = 100 * (H**4 * iota + b**2 * H**2) / delta
    first *= math.log(16 * (H**2 * s + b * H**power) / delta)
    return first + 4 * eta * (H * s + 2 * H**2 * b) / delta


def by_lemma_12(H: float, iota: float, b: float, eta: float, delta: float) -> tuple[float, float]:
    """The bound that it gives; a line of the proof over the next, which should be no less."""
    gamma, v = delta / 4, 2 * H**2 * (math.sqrt(iota) + b)
    theta = 4 * drift_constant(H, iota, b, delta / 2, eta) / delta
    r = exponent(gamma, v)
    line = 4 * v**2 / (3 * gamma) * (math.log(11 * v**2 / (3 * gamma**2)) + r * (v + theta))
    following = 3 * v**2 / gamma * math.log(2 * v / gamma) + v + theta
    return mean_bound(r, gamma, v, theta), line / following


@check("C10")
def bounded_queue(given: Given) -> Finding:
    needed, versions = {}, ("Section 5.2", "Lemma 11")
    for H in DUELS:  # the queue climbs past every level up to which it rises
        last = int(np.argmin(np.append(rises(H, ETA, LEVELS) > 0, False))) - 1
        edges = [queue_bound(name, H, 1.0, 0.0, ETA, H) for name in versions]
        needed[H] = LEVELS[last] / min(edges)
    first, later = (
        min(queue_bound(n, *at) / by_lemma_12(*at)[0] for at in problems(part) for n in versions)
        for part in (0.0, LARGE)
    )
    slip = max(by_lemma_12(*at)[1] for at in problems(LARGE))
    numbers = {
        "first term over what Lemmas 12 and 13 give, at least": first,
        "term with eta over what they give, at least": later,
        "a line of the proof over the next, at most": slip,
    }
    return finding(numbers, needed, min(first, later))
