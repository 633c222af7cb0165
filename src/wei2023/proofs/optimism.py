"""What the tables hold: their range (C2), their optimism (C5), both with random rewards (C28).

C2, Lemma 4:  0 <= Q_{k,h}, C_{k,h} <= H^2 (sqrt(iota) + 2 b~). Its proof has H (H-h+1) for H^2,
that of Lemma 8 quotes H^2 sqrt(iota) + b~. The most there can be is (H-h+1) (1 + b_1 + 2 H b~).

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

C28, section 3: all this "generalizes" to random rewards and utilities. The terms of the noise are
then r_i + V(x_i), in an interval of length H-h+1 <= H, and the expectations in C6 are the same.
C4 is decided in :mod:`.concentration`, C6 in :mod:`.estimation`.
"""

import math

import numpy as np

from nscmdp import budget
from nscmdp.drift import DriftingCMDP
from wei2023.proofs import concentration, estimation, instrumented
from wei2023.proofs.cases import Case, RandomRewards, arms, case, cases, falling, ladder, runs_each
from wei2023.proofs.concentration import GROWING, SMALL, accumulated_bonus
from wei2023.proofs.findings import ASSUMPTION, Finding, Given, bounded, check, verdict
from wei2023.proofs.instrumented import Constants, Path, Sizes, evaluate, literal

ROUNDING = 1e-9


@check("C2")
def q_range(given: Given) -> Finding:
    """The largest and the least entry at every step of every run."""
    rng, least, shares = given.rng("C2"), np.inf, np.zeros(4)
    ladders = [
        case(f"ladder {H}", ladder(H, K), rng) for H, K in ((1, 2), (2, 60), (3, 60), (4, 60))
    ]
    tried = [(one, given.samples) for one in ladders]
    tried += [(one, runs_each(given)) for one in cases(given, "C2")]
    for one, runs in tried:
        c, H, most = one.constants, one.sizes.H, np.zeros(one.sizes.H)
        for state in instrumented.episodes(one.env, c, runs, given.rng("C2", one.name, "runs")):
            most = np.maximum(most, np.maximum(state.Q, state.C).max(axis=(0, 2, 3)))
            least = min(least, state.Q.min(), state.C.min())
        left, root, b = np.arange(H, 0, -1), math.sqrt(c.iota), 2 * c.btilde
        quoted = H**2 * np.array([[root + b], [root + c.btilde / H**2]]) * np.ones(H)
        tight = np.maximum(H, left * (1 + H * root / 4 + H * b))
        shares = np.maximum(shares, (most / [*quoted, H * left * (root + b), tight]).max(axis=1))
    *versions, reached = shares
    return bounded(
        verdict(refuted=least < 0 or max(versions) > 1, proved=reached <= 1 + ROUNDING),
        {
            "least entry": least,
            "largest share of H^2 (sqrt(iota) + 2 b~)": versions[0],
            "of H^2 sqrt(iota) + b~": versions[1],
            "of (H-h+1) (1 + b_1 + 2 H b~)": reached,
        },
        max(versions),
        "the bound divided by",
        len(tried),
        ("range of Q, C", "Lemma 4", max(versions)),
    )


def drift_needed(one: Case) -> float:
    """The most that r, P and V^pi at the next step fall in a frame, over the least b~ there is."""
    path, L, K = Path(one.env), one.constants.frame, one.sizes.K
    btilde = float(budget.frame_variations(one.env, L).sum(axis=1).max())
    starts, most = range(1, K + 1, L), 0.0
    for first in starts[:: max(1, len(starts) // 2)]:
        shown = np.unique(np.linspace(first, min(first + L - 1, K), 5, dtype=int))
        models = [path.at(int(k)) for k in shown]
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
    chance = concentration.failures(sizes, c) + math.log(K)  # for the policies of K episodes
    added = chance + math.log(K * H * (1 + K**0.4 * Bc * H / c.eta))
    allowed = math.log((c.eta + K**0.4) * H**2 * Bc / (c.eta * K))
    return math.sqrt((added - allowed) / concentration.exponent(sizes, c))


@check("C5")
def over_estimation(given: Given) -> Finding:
    """Each step that the proof rests on, and the value that the listing leaves out."""
    rng, c = given.rng("C5", "drift"), literal(SMALL._replace(K=10**4))
    tried = [case("falling", falling(H, 2000, H > 1), rng) for H in (1, 2, 4, 6)]
    tried += [case("rewards fall", falling(6, 2000, False), rng), *cases(given, "C5")]
    unit = c._replace(btilde=1.0)
    drift = max(drift_needed(one) / instrumented.drift_bonus(one.sizes.H, unit) for one in tried)
    noise = max(map(concentration.share_needed, GROWING))
    budgets = [one._replace(B=B) for one in GROWING for B in (one.K**-0.5, 1.0, 12.0 * one.K)]
    summed = max(map(share_for_sum, budgets))
    added = accumulated_bonus(3, c, c.frame) / instrumented.bonus(np.arange(1.0, c.frame + 1), 3, c)
    estimate, twice = unseen()
    return bounded(
        verdict(
            refuted=estimate < 10 and twice < 0.5,
            repair=ASSUMPTION,
            proved=max(noise, drift, summed) <= 1 and added.min() >= 1 - ROUNDING,
        ),
        {
            "V = 0 at new states, K = 1e7: Q_1, of value 10": estimate,
            "share of b_t that the noise needs, K up to 1e60": noise,
            "share of b_t that the expected sum needs": summed,
            "share of 2 H b~ that the drift needs": drift,
        },
        max(noise, summed),
        concentration.BONUS,
        len(budgets),
        ("drift in a frame <= 2 H b~", "Lemma 7, (a), (d)", drift),
    )


def least_optimism(
    one: Case, c: Constants, runs: int, rng: np.random.Generator, path: Path
) -> float:
    """The least (F - F^pi) / (1 + Z/eta) of visited entries, over episodes, runs and policies."""
    known, least = Path(one.env), np.inf
    for state in instrumented.episodes(one.env, c, runs, rng, path):
        if state.k <= one.sizes.K:
            exact = evaluate(known.at(state.k), one.policies)
            z = (state.Z / c.eta)[:, None, None, None, None]
            over = ((state.Q[:, None] - exact.Q) + z * (state.C[:, None] - exact.C)) / (1 + z)
            least = min(least, float(over.min(where=state.N[:, None] > 0, initial=np.inf)))
    return least


def share_lost(given: Given) -> float:
    """The largest power of 1/2 of b_t at which F < F^pi: one arm, one step, Bernoulli(0.9)."""
    rng, arm = given.rng("C28"), DriftingCMDP([arms([0.9], [0.9], 0.5)], [1], episodes=300)
    one, share = case("arm", arm, rng), 1.0
    while share > 1e-6:
        constants, path = one.constants._replace(btilde=0.0, share=share), RandomRewards(arm, rng)
        if least_optimism(one, constants, max(4, given.samples // 10), rng, path) < -ROUNDING:
            break
        share /= 2
    return share


@check("C28")
def random_rewards(given: Given) -> Finding:
    """C4 to C6 with rewards and utilities of 0 or 1."""
    needed, lost = max(map(concentration.share_needed, GROWING)), share_lost(given)
    refuted = concentration.share_refuted(SMALL.H)
    few = given._replace(problems=max(1, given.problems // 4))
    mean, low = estimation.share_in_runs(few, "C28", 2, random=True)
    return bounded(
        verdict(refuted=max(refuted, lost) >= 1 or low > 1, proved=needed <= 1),
        {
            concentration.HOEFFDING: needed,
            concentration.LAW: refuted,
            "share of b_t at which runs lose optimism, one arm, K = 300, b~ = 0": lost,
            "largest share of Lemma 8's bound in runs": mean,
        },
        needed,
        concentration.BONUS,
        given.samples,
        ("noise of r + V <= b_t, H = 3", "section 3", refuted),
    )
