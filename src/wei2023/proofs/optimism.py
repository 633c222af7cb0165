"""What the tables hold: range (C2), noise (C4), optimism (C5), errors (C6); random rewards (C28).

C2, Lemma 4:  0 <= Q_{k,h}, C_{k,h} <= H^2 (sqrt(iota) + 2 b~). Its proof has H (H-h+1) for H^2,
that of Lemma 8 quotes H^2 sqrt(iota) + b~. The most there can be is (H-h+1) (1 + b_1 + 2 H b~).

C4, Lemma 5, with probability at least 1 - K^-3 for all (x,a,h,k), and likewise for W:

    |sum_i alpha_t^i (V^pi_{k,h+1}(x_{k_i,h+1}) - P_{k_i,h} V^pi_{k,h+1})|  <=  b_t,
    b_t = (1/4) sqrt(H^2 iota (chi+1)/(chi+t)).

Hoeffding's inequality, for terms X_i in intervals of length ``span`` H given the past, whatever
the law of the successors and the rule that decides when to visit:

    P(|sum_i alpha_t^i X_i| > c) <= 2 exp(-2 c^2 / (span^2 H^2 sum_i (alpha_t^i)^2)).

The proof has span = 2, and leaves out the union over the visit counts t, of which there are L.
V(x') - P V lies in an interval of length H, and so does r + V(x') for random rewards: span = 1.
(For S = A = 2, H = 3, B = 1 and K up to 147,000, b_t >= H in all of a frame: nothing exceeds it.)

From the other side, with two successors, one of probability p, the noise is a multiple of
sum_i alpha_t^i (xi_i - p), xi_i ~ Bernoulli(p). Its law is added up on a lattice of ``cells`` cells
of [0,1]: Y = sum_i floor(cells alpha_t^i) xi_i has Y/cells <= sum_i alpha_t^i xi_i <= (Y+t)/cells.

C5, Lemma 7:  F_{k,h} = Q_{k,h} + (Z/eta) C_{k,h} >= F^pi_{k,h} for all (x,a,h,k) with probability
at least 1 - K^-3, pi fixed beforehand; and for the optima of the eps-tight problems

    E sum_k sum_a (F^{eps,*}_{k,1} - F_{k,1}) q^{eps,*}_{k,1} <= (eta + K^{1-alpha}) H^2 B^c/(eta K).

With y = x_{h+1}, F_{k,h} - F^pi_{k,h} is at least the sum over i of alpha_t^i times
b_i - noise + 2 H b~ - drift + (F - F^pi)_{k_i,h+1}(y, pi(y)): the noise is at most
b_t <= sum_i alpha_t^i b_i, the drift of r, P and V^pi from episode k_i to k at most 2 H b~. In the
sum over episodes a term is at most H (1 + Z/eta), Z <= K^{1-alpha} B^c H, and positive only where
the first part fails. (Its last step in the text asks for H B^c >= 1.)

The listing gives V_h and W_h, h <= H, no value where a frame has not visited yet. With 0, x that
leads to a new one of K^2 states each time has Q_1 = 1 + sum_i alpha_t^i b_i + 2 H b~, Q^pi_1 = H.
Carried over from frame to frame they belong to another Z, and a step of the proof fails; that
contradicts the lemma for smaller bonuses, with those of the text at no K that can be run.

C6, Lemma 8, with L = K^alpha / B^c; p = 3 in the lemma, 2 in section 5.1, 4 in the proof of Theorem 1:

    E sum_{k in frame} (Q_{k,1} - Q^{pi_k}_{k,1})  <=  H^2 S A + 2 (H^3 sqrt(iota) + 2 H^p b~) L/chi
                                                     + sqrt(H^4 S A iota L (chi+1)) + 2 L H^2 b~.

Its recursion over h, with V_{h+1} <= (H-h) U, U = 1 + b_1 + 2 H b~, and visits spread evenly, needs

    H^2 S A + (H + H(H-1)/2 U) L/chi + H S A sum_{t <= L/SA} sum_i alpha_t^i b_i + 2 L H^2 b~,

and S sum_{h<H} ((H-h) U - H)^+ more where V and W are carried over from frame to frame, which the
listing does not reset; where they are 0 at first visits it needs less. It never needs more than
L H max(1, U), the range of Q_1. For S A = L/chi^1.5 and large K the third term comes to 1/2 of its
bound.

C28, section 3: all this "generalizes" to random rewards and utilities. The terms of the noise are
then r_i + V(x_i), in an interval of length H-h+1 <= H, and the expectations in C6 are the same.
"""

import math
from collections.abc import Iterator
from itertools import product

import numpy as np

from nscmdp import budget
from nscmdp.cmdp import Array
from nscmdp.drift import DriftingCMDP
from wei2023.proofs import instrumented
from wei2023.proofs.findings import ASSUMPTION, Finding, Given, bounded, check, verdict
from wei2023.proofs.instrumented import Case, Constants, Sizes, case, cases, evaluate, literal

Played = instrumented.RandomRewards | None
ROUNDING = 1e-9
CELLS = 50_000
SMALL = Sizes(S=2, A=2, H=3, K=1, B=1.0)
GROWING = [SMALL._replace(K=10**power) for power in (1, 2, 3, 4, 6, 10, 20, 40, 60)]
BONUS = "the bonus divided by"
HOEFFDING = "share of b_t at which Hoeffding's bound is K^-3, at most"
LAW = "share of b_t that the exact law exceeds more often, H = 3"
CHANCES = (0.5, 0.2, 0.05, 0.01, 0.001)  # of a successor
POWERS = {"section 5.1": 2, "Lemma 8": 3, "proof of Theorem 1": 4}  # of H before b~


@check("C2")
def q_range(given: Given) -> Finding:
    """The largest and the least entry at every step of every run."""
    rng, least, shares = given.rng("C2"), np.inf, np.zeros(4)
    ladders = [
        case(f"ladder {H}", instrumented.ladder(H, 60 if H > 1 else 2), rng) for H in (1, 2, 3, 4)
    ]
    tried = [(one, given.samples) for one in ladders]
    tried += [(one, given.few(given.problems)) for one in cases(given, "C2")]
    for one, runs in tried:
        c, H, most = one.constants, one.sizes.H, np.zeros(one.sizes.H)
        for state in instrumented.episodes(one.env, c, runs, given.rng("C2", one.name, "runs")):
            most = np.maximum(most, np.maximum(state.Q, state.C).max(axis=(0, 2, 3)))
            least = min(least, state.Q.min(), state.C.min())
        left, root, b = np.arange(H, 0, -1), math.sqrt(c.iota), 2 * c.btilde
        quoted = H**2 * np.array([[root + b], [root + c.btilde / H**2]]) * np.ones(H)
        tight = np.maximum(H, left * (1 + H * root / 4 + H * b))
        shares = np.maximum(shares, (most / [*quoted, H * left * (root + b), tight]).max(axis=1))
    *versions, reached = map(float, shares)
    top = max(versions)
    numbers = {
        "least entry": least,
        "largest share of H^2 (sqrt(iota) + 2 b~)": versions[0],
        "of H^2 sqrt(iota) + b~": versions[1],
        "of (H-h+1) (1 + b_1 + 2 H b~)": reached,
    }
    answer = verdict(refuted=bool(least < 0) or top > 1, proved=reached <= 1 + ROUNDING)
    step = ("range of Q, C", "Lemma 4", top)
    return bounded(answer, numbers, top, "the bound divided by", len(tried), step)


def accumulated_bonus(horizon: int, constants: Constants, last: int) -> Array:
    """sum_i alpha_t^i b_i for t = 1..last"""
    b = instrumented.bonus(np.arange(1.0, last + 1), horizon, constants)
    return instrumented.accumulated(b, constants.chi)


def exponent(sizes: Sizes, constants: Constants) -> float:
    """2 b_t^2 / (H^2 sum_i (alpha_t^i)^2), the least over t up to 300: it is iota/8, at t = 1."""
    times = np.arange(1, min(constants.frame, 300) + 1)
    squares = np.array([(instrumented.weights(constants.chi, int(t)) ** 2).sum() for t in times])
    b = instrumented.bonus(times.astype(float), sizes.H, constants)
    return float((2 * (b / sizes.H) ** 2 / squares).min())


def failures(sizes: Sizes, constants: Constants, counts: bool = True) -> float:
    """log of 2 for both signs x (x,a,h,k) x V and W, and with ``counts`` x visit counts t <= L."""
    events = 4 * sizes.S * sizes.A * sizes.H * (constants.frame if counts else 1)
    return math.log(events) + math.log(sizes.K)


def share_needed(sizes: Sizes, span: float = 1.0, counts: bool = True) -> float:
    """The share of b_t at which Hoeffding's bound of all failures together is K^-3."""
    constants = literal(sizes)
    level = failures(sizes, constants, counts) + 3 * math.log(sizes.K)
    return span * math.sqrt(level / exponent(sizes, constants))


def quantiles(weight: Array, p: float, level: float, cells: int = CELLS) -> tuple[float, float]:
    """Between these lies the least c with P(|sum_i w_i (xi_i - p)| > c) <= level."""
    law = np.append(1.0, np.zeros(cells))
    for step in np.floor(weight * cells).astype(int):
        moved = p * law[: cells + 1 - step]
        law *= 1 - p
        law[step:] += moved
    above, off = np.arange(cells + 1) / cells - p * weight.sum(), len(weight) / cells
    ends = []
    for distance in (np.maximum(above, -above - off).clip(0), np.maximum(above + off, -above)):
        order = np.argsort(-distance)
        ends.append(float(distance[order][np.searchsorted(law[order].cumsum(), level, "right")]))
    return ends[0], ends[1]


def share_refuted(length: float) -> float:
    """The largest share of b_t that one entry's noise exceeds with probability above K^-3.

    By the exact law, where the terms are 0 or ``length``, for K up to 10^4 and t up to a frame.
    """
    shares = []
    for sizes in GROWING[1:4]:
        c, level = literal(sizes), sizes.K**-3.0
        for t in {2**i for i in range(9) if 2**i < c.frame} | {c.frame}:
            low = max(
                quantiles(instrumented.weights(c.chi, t).clip(0, 1), p, level)[0] for p in CHANCES
            )
            shares.append(length * low / float(instrumented.bonus(np.array(float(t)), sizes.H, c)))
    return max(shares)


@check("C4")
def concentration(given: Given) -> Finding:
    """Hoeffding's bound with all unions, and the exact law from the other side."""
    needed, refuted = max(map(share_needed, GROWING)), share_refuted(SMALL.H - 1)
    numbers = {
        HOEFFDING: needed,
        "with 2H and visit counts": max(share_needed(sizes, 2) for sizes in GROWING),
        "with 2H, without visit counts": max(share_needed(sizes, 2, False) for sizes in GROWING),
        LAW: refuted,
    }
    answer = verdict(refuted=refuted > 1, proved=needed <= 1)
    step = ("noise <= b_t, H = 3", "Lemma 5", refuted)
    return bounded(answer, numbers, needed, BONUS, len(GROWING), step)


def drift_needed(one: Case) -> float:
    """The most that r, P and V^pi at the next step fall in a frame, over the least b~ there is."""
    env, L, K = one.env, one.constants.frame, one.sizes.K
    btilde = float(budget.frame_variations(env, L).sum(axis=1).max())
    starts, most = range(1, K + 1, L), 0.0
    for first in starts[:: max(1, len(starts) // 2)]:
        shown = np.unique(np.linspace(first, min(first + L - 1, K), 5, dtype=int))
        models = [env.at(int(k)) for k in shown]
        exact = [evaluate(model, one.policies) for model in models]
        P = np.array([model.P for model in models])
        for paid, value in (("r", "V"), ("g", "W")):
            r = np.array([getattr(model, paid) for model in models])
            V = np.array([getattr(values, value)[:, 1:] for values in exact])  # (models, m, H, S)
            fallen = (V - V[:, None]).max(axis=4)[..., None, None]  # [i, k] = max_y (V_k - V_i)(y)
            moved = np.einsum("ikhxay,kmhy->ikmhxa", P - P[:, None], V)
            moved = moved + (r - r[:, None])[:, :, None] + fallen
            most = max(most, float(moved.max()))
    return most / btilde if btilde else 0.0


def unseen(K: int = 10**7, H: int = 10) -> tuple[float, float]:
    """Q_1(x) in a frame's last episode, V = 0 at new states; a bound on P(one comes twice)."""
    c = literal(Sizes(K**2 + 1, 1, H, K, 1.0))
    added = accumulated_bonus(H, c, c.frame - 1)[-1] + instrumented.drift_bonus(H, c)
    return 1 + float(added), c.frame**2 / (2 * K**2)


def share_for_sum(sizes: Sizes) -> float:
    """The share of b_t at which what failures add to the expected sum reaches its bound."""
    c, K, H, Bc = literal(sizes), float(sizes.K), sizes.H, sizes.B ** (2 / 3)
    chance = failures(sizes, c) + math.log(K)  # for the policies of K episodes
    added = chance + math.log(K * H * (1 + K**0.4 * Bc * H / c.eta))
    allowed = math.log((c.eta + K**0.4) * H**2 * Bc / (c.eta * K))
    return math.sqrt((added - allowed) / exponent(sizes, c))


@check("C5")
def over_estimation(given: Given) -> Finding:
    """Each step that the proof rests on, and the value that the listing leaves out."""
    rng, c = given.rng("C5", "drift"), literal(SMALL._replace(K=10**4))
    tried = [case("falling", instrumented.falling(H, 2000, H > 1), rng) for H in (1, 2, 4, 6)]
    tried += [case("rewards fall", instrumented.falling(6, 2000, False), rng), *cases(given, "C5")]
    unit = c._replace(btilde=1.0)
    drift = max(drift_needed(one) / instrumented.drift_bonus(one.sizes.H, unit) for one in tried)
    noise = max(map(share_needed, GROWING))
    budgets = [one._replace(B=B) for one in GROWING for B in (one.K**-0.5, 1.0, 12.0 * one.K)]
    summed = max(map(share_for_sum, budgets))
    added = accumulated_bonus(3, c, c.frame) / instrumented.bonus(np.arange(1.0, c.frame + 1), 3, c)
    estimate, twice = unseen()
    numbers = {
        "V = 0 at new states, K = 1e7: Q_1, of value 10": estimate,
        "share of b_t that the noise needs, K up to 1e60": noise,
        "share of b_t that the expected sum needs": summed,
        "share of 2 H b~ that the drift needs": drift,
    }
    proved = max(noise, drift, summed) <= 1 and added.min() >= 1 - ROUNDING
    answer = verdict(refuted=estimate < 10 and twice < 0.5, repair=ASSUMPTION, proved=proved)
    step = ("drift in a frame <= 2 H b~", "Lemma 7, (a), (d)", drift)
    return bounded(answer, numbers, max(noise, summed), BONUS, len(budgets), step)


def estimation_error(
    one: Case, c: Constants, runs: int, rng: np.random.Generator, random: bool
) -> Array:
    """(2, frames, runs), of Q and C: sums over a frame, exact in x_1 ~ mu0 and a_1 ~ pi_k."""
    env, K = one.env, one.sizes.K
    played = instrumented.RandomRewards(env, rng) if random else None
    out = np.zeros((2, (K - 1) // c.frame + 1, runs))
    for state in instrumented.episodes(env, c, runs, rng, played):
        if state.k <= K:
            model, policy = env.at(state.k), state.policy()
            exact, chance = evaluate(model, policy), model.mu0[:, None] * policy[:, 0]
            for into, table, truth in zip(out, (state.Q, state.C), (exact.Q, exact.C), strict=True):
                into[(state.k - 1) // c.frame] += (chance * (table - truth)[:, 0]).sum(axis=(1, 2))
    return out


def error_bound(sizes: Sizes, c: Constants, power: int) -> float:
    """Of a frame, with 2 H^power b~ in the second term."""
    S, A, H, L = sizes.S, sizes.A, sizes.H, c.frame
    second = 2 * (H**3 * math.sqrt(c.iota) + 2 * H**power * c.btilde) * L / c.chi
    third = math.sqrt(H**4 * S * A * c.iota * L * (c.chi + 1))
    return H * H * S * A + second + third + 2 * L * H * H * c.btilde


def recursion_needs(sizes: Sizes, c: Constants) -> float:
    """What the recursion adds up to, V and W carried over."""
    S, A, H, L = sizes.S, sizes.A, sizes.H, c.frame
    extra = instrumented.drift_bonus(H, c)
    U = 1 + float(instrumented.bonus(np.array(1.0), H, c)) + extra
    spread = S * A * float(accumulated_bonus(H, c, -(-L // (S * A))).sum())
    stale = S * sum(max((H - h) * U - H, 0.0) for h in range(1, H))
    discount = (H + H * (H - 1) / 2 * max(U, H)) * L / c.chi
    return min(H * H * S * A + discount + H * (spread + L * extra) + stale, L * H * max(1.0, U))


def sizes_to_try() -> Iterator[Sizes]:
    """B from 1 to the most that K episodes can have; S A = L/chi^1.5 for B = 1."""
    for K, H in product((100, 10**4, 10**6), (1, 3, 10, 30)):
        yield from (Sizes(2, 2, H, K, B) for B in (1.0, 4.0 * H * (K - 1)))
    for K, H in product((10**6, 10**10, 10**15), (1, 3, 10)):
        yield Sizes(round(K**0.3), 1, H, K, 1.0)


def share_in_runs(given: Given, claim: str, power: int, random: bool) -> tuple[float, float]:
    """The largest mean error of a frame over its bound, in Q or C, and the same less 3 errors."""
    most = np.full(2, -np.inf)
    for one in cases(given, claim):
        rng = given.rng(claim, one.name, "runs")
        error = estimation_error(one, one.constants, given.few(given.problems), rng, random)
        share = error / error_bound(one.sizes, one.constants, power)
        mean, spread = share.mean(axis=2), share.std(axis=2) / math.sqrt(share.shape[2])
        most = np.maximum(most, [mean.max(), (mean - 3 * spread).max()])
    return float(most[0]), float(most[1])


@check("C6")
def estimation_error_per_frame(given: Given) -> Finding:
    """All three versions, by what the recursion needs at any size; the smallest also in runs."""
    tried = [(sizes, literal(sizes)) for sizes in sizes_to_try()]
    needs = {
        name: max(recursion_needs(sizes, c) / error_bound(sizes, c, power) for sizes, c in tried)
        for name, power in POWERS.items()
    }
    mean, low = share_in_runs(given, "C6", min(POWERS.values()), random=False)
    most = max(needs.values())
    numbers = {f"{name}: share that the recursion needs": share for name, share in needs.items()}
    numbers["section 5.1: largest share in runs, K of about 100"] = mean
    answer, step = verdict(refuted=low > 1, proved=most <= 1), ("error of a frame", "Lemma 8", mean)
    return bounded(answer, numbers, most, "the bound divided by", given.samples, step)


def least_optimism(
    one: Case, c: Constants, runs: int, rng: np.random.Generator, played: Played = None
) -> float:
    """The least (F - F^pi) / (1 + Z/eta) of visited entries, over episodes, runs and policies."""
    least = np.inf
    for state in instrumented.episodes(one.env, c, runs, rng, played):
        if state.k <= one.sizes.K:
            exact = evaluate(one.env.at(state.k), one.policies)
            z = (state.Z / c.eta)[:, None, None, None, None]
            over = ((state.Q[:, None] - exact.Q) + z * (state.C[:, None] - exact.C)) / (1 + z)
            least = min(least, float(over.min(where=state.N[:, None] > 0, initial=np.inf)))
    return least


def share_lost(given: Given) -> float:
    """The largest power of 1/2 of b_t at which F < F^pi: one arm, one step, Bernoulli(0.9)."""
    arm = DriftingCMDP([instrumented.arms([0.9], [0.9], 0.5)], [1], episodes=300)
    rng, share = given.rng("C28"), 1.0
    one, played = case("arm", arm, rng), instrumented.RandomRewards(arm, rng)
    while share > 1e-6:
        constants = one.constants._replace(btilde=0.0, share=share)
        if least_optimism(one, constants, given.few(10), rng, played) < -ROUNDING:
            break
        share /= 2
    return share


@check("C28")
def random_rewards(given: Given) -> Finding:
    """C4 to C6 with rewards and utilities of 0 or 1."""
    needed, lost = max(map(share_needed, GROWING)), share_lost(given)
    refuted = share_refuted(SMALL.H)
    few = given._replace(problems=max(1, given.problems // 4))
    mean, low = share_in_runs(few, "C28", 2, random=True)
    numbers = {
        HOEFFDING: needed,
        LAW: refuted,
        "share of b_t at which runs lose optimism, one arm, K = 300, b~ = 0": lost,
        "largest share of Lemma 8's bound in runs": mean,
    }
    answer = verdict(refuted=max(refuted, lost) >= 1 or low > 1, proved=needed <= 1)
    step = ("noise of r + V <= b_t, H = 3", "section 3", refuted)
    return bounded(answer, numbers, needed, BONUS, given.samples, step)
