"""The learning rates, the drift of values within a frame, and the price of tightening (C1, C3, C7).

C1, Lemma 3. With alpha_t = (chi+1)/(chi+t), alpha_t^0 = prod_{j<=t} (1-alpha_j) and
alpha_t^i = alpha_i prod_{i<j<=t} (1-alpha_j):

    (a) alpha_t^0 = 0 for t >= 1    (b) sum_i alpha_t^i = 1    (d) sum_{t>=i} alpha_t^i = 1 + 1/chi
    (c) 1 <= sqrt(chi+t) sum_i alpha_t^i / sqrt(chi+i) <= 2    (e) sum_i (alpha_t^i)^2 <= alpha_t

(d) telescopes: chi alpha_{t+1}^i = t alpha_t^i - (t+1) alpha_{t+1}^i, so n alpha_n^i / chi is left
after t = n. The 2 of (c) can be (chi+1)/(chi+1/2), which the sum tends to: with s = chi+t-1 the
induction step reads (s-chi) sqrt(1+1/s) <= s-chi+1/2, and sqrt(1+1/s) <= 1+1/(2s).

C3, Lemmas 1 and 6: |Q^pi_{k1,h} - Q^pi'_{k2,h}| <= H b~ for k1, k2 in one frame. For pi' = pi

    |Q^pi_{k1,h} - Q^pi_{k2,h}| <= sum_{h'>=h} (B^r_h' + (H-h')/2 B^p_h') <= H B^(T) <= H b~.

C7, Lemma 9: V* - V*_eps <= H eps/delta for eps <= delta. V* is concave in rho with slope -lambda*,
so also lambda*(rho) eps <= V* - V*_eps <= lambda*(rho+eps) eps.
"""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from nscmdp import optimum
from nscmdp.cmdp import CMDP, Array
from wei2023.proofs import findings, instrumented
from wei2023.proofs.findings import MISPRINT, Finding, Given, bounded, check, verdict, within
from wei2023.proofs.instrumented import Model, arms, evaluate, falling, tightened

ROUNDING = 1e-11
SHARES = (0.1, 0.5, 0.9, 1.0)  # eps / delta
SOLVED = 1e-7  # what two solvers of one linear program may differ by
ROOTS = (1, 2, 4, 10, 16, 40, 100, 10**4, 10**6, 10**8, 10**10, 10**12)  # chi = K^0.2, K up to 1e60
LATEST = 10_000  # the largest t of the sums in floating point
EXACT = 24  # the largest t of the sums in exact fractions
FAR = tuple(10**power for power in range(1, 37, 5))  # t up to the frames of K = 1e60
ANY_FACTOR = "the bound divided by any factor above"


def exact_parts(chi: Fraction, last: int) -> dict[str, bool]:
    """Whether (a), (b), (d), (e) hold up to t = last, (d) with the closed form of what follows."""
    rate: Any = instrumented.learning_rate
    rows: list[list[Fraction]] = [[]]  # alpha_t^i by t and i
    for t in range(1, last + 1):
        alpha = Fraction(rate(Fraction(t), chi))
        rows.append([weight * (1 - alpha) for weight in rows[-1]] + [alpha])
    so_far = [sum(row[i] for row in rows[i + 1 :]) for i in range(last)]
    tails = [last * weight / chi for weight in rows[-1]]  # which rests on (chi+t) (1-alpha_t) = t-1
    return {
        "a": rows[1] == [1],
        "b": all(sum(row) == 1 for row in rows[1:]),
        "d": {sum(pair) for pair in zip(so_far, tails, strict=True)} == {1 + 1 / chi}
        and all((chi + t) * (1 - rate(Fraction(t), chi)) == t - 1 for t in FAR),
        "e": all(sum(w**2 for w in row) <= (chi + 1) / (chi + t) for t, row in enumerate(rows)),
    }


def root_sums(chi: float, last: int) -> Array:
    """The sums of (c) for t = 1..last."""
    root = np.sqrt(chi + np.arange(1.0, last + 1))
    return instrumented.accumulated(1 / root, chi) * root


def sharp(chi: Fraction) -> Fraction:
    """What the 2 of (c) can be: the limit of the sum for t to infinity."""
    return (chi + 1) / (chi + Fraction(1, 2))


def step_keeps(chi: Fraction, t: int, constant: Fraction) -> bool:
    """Does (c) with c for 2 follow from t-1 to t?  chi+1 + (t-1) sqrt(n/(n-1)) c <= c n, n = chi+t"""
    n = chi + t
    room = constant * n - chi - 1
    return room >= 0 and (t - 1) ** 2 * constant**2 * n <= room**2 * (n - 1)


def false_step(chi: float, t: float) -> float:
    """What the last line but one in the proof of (c) exceeds its bound by."""
    n = chi + t
    left = (1 - chi - 2 * t) / (n * math.sqrt(n)) + 2 * (t - 1) / (n * math.sqrt(n - 1))
    return left - (-chi - 1) / (n * math.sqrt(n - 1))


@check("C1")
def learning_rate_weights(given: Given) -> Finding:
    chi = [Fraction(root) for root in ROOTS]
    exact = all(all(exact_parts(one, EXACT).values()) for one in chi)
    sums = np.array([root_sums(float(one), LATEST) for one in chi])
    largest = float(sums.max())
    refuted = not exact or sums.min() < 1 - ROUNDING or largest > 2
    proved = all(step_keeps(one, t, sharp(one)) for one in chi for t in (2, 3, *FAR))
    numbers = {"false line: exceeds its bound, chi = 1, t = 2, by": false_step(1.0, 2.0)}
    steps = [findings.Inequality("sum_i alpha_t^i / sqrt(chi+i)", "Lemma 3 (c)", 2.0, largest)]
    notices = findings.Notice("the bound 2 of (c) divided by", 2 / largest)
    edges = within(largest, 2.0) | {"samples": sums.size, "inequalities": steps}
    return Finding(verdict(refuted=refuted, proved=proved), numbers, notices, **edges)


def two_policies() -> tuple[Fraction, Fraction]:
    """|Q_1^pi - Q_1^pi'| for k1 = k2 without drift; H b~ for H = 2, B = 1 and K = 32.

    One state; the two arms pay nothing at step 1, and 1 and 0 at step 2.
    """
    r = np.array([[[0, 0]], [[1, 0]]]) * Fraction(1)
    P = np.full((2, 1, 2, 1), Fraction(1))
    model, policies = Model(P, r, r), np.tile(np.eye(2, dtype=int)[:, None, None], (1, 2, 1, 1))
    return np.ptp(evaluate(model, policies).Q, axis=0).max(), 2 * Fraction(1, 4)


def before_the_frame() -> tuple[Fraction, Fraction]:
    """What Q moves by from the last episode of frame 1 to that of frame 2, as in the text; H b~.

    H = S = A = 1, K = 32, frames of 8 episodes; the reward moves by 1/4 after 8, 9, 17, 25.
    """
    r = [Fraction(sum(k > move for move in (8, 9, 17, 25)), 4) for k in range(1, 33)]
    moves = [abs(later - now) for now, later in pairwise(r)]
    return abs(r[15] - r[7]), max(sum(moves[k : k + 8], Fraction(0)) for k in range(0, 32, 8))


def constrained_optima(delta: Fraction) -> tuple[Fraction, Fraction]:
    """What Q_1 of the constrained optimum moves by in a frame where one utility moves; H b~.

    H = 2, one state, rho = delta. Step 1 pays nothing; at step 2 the arms pay (r,g) = (1,0), (0,u),
    and u moves from 2 delta by 1%. The optimum has V_2 = 1 - rho/u: about 1/(8 delta) times H b~.
    """
    before, now = 2 * delta, 2 * delta * Fraction(101, 100)
    return abs(delta / now - delta / before), 2 * (now - before)


def random_models(
    rng: np.random.Generator, H: int, S: int, A: int, episodes: int, spread: float = 1.0
) -> tuple[Array, Array]:
    """P (episodes,H,S,A,S), r (episodes,H,S,A): a way between random models, ``spread`` wide."""
    anchors_P, anchors_r = rng.dirichlet(np.full(S, 0.5), (3, H, S, A)), rng.random((3, H, S, A))
    mixed = (1 - spread) * np.eye(3)[0] + spread * rng.dirichlet(np.full(3, 0.3), episodes)
    return np.tensordot(mixed, anchors_P, 1), np.tensordot(mixed, anchors_r, 1)


def drift_of_values(P: Array, r: Array, policies: Sequence[Array]) -> tuple[Array, Array, float]:
    """By step h, the most that Q^pi moves in a frame, and its sharper bound; the least b~ without g."""
    models = [Model(one, paid, paid) for one, paid in zip(P, r, strict=True)]
    Q = np.array([evaluate(model, np.array(policies)).Q for model in models])
    moved = np.ptp(Q, axis=0).max(axis=(0, 2, 3))
    reward = np.abs(np.diff(r, axis=0)).max(axis=(2, 3)).sum(axis=0)
    transition = np.abs(np.diff(P, axis=0)).sum(axis=4).max(axis=(2, 3)).sum(axis=0)
    terms = reward + np.arange(len(reward) - 1, -1, -1) / 2 * transition
    return moved, np.cumsum(terms[::-1])[::-1], float(reward.sum() + transition.sum())


def frames(given: Given) -> Iterator[tuple[Array, Array, list[Array]]]:
    """Two that reach the bounds (a reward moves, H = 1; a kernel, H = 6), and random ones."""
    yield np.ones((2, 1, 1, 1, 1)), np.array([[[[0.0]]], [[[0.3]]]]), [np.ones((1, 1, 1))]
    P, r = (np.array([getattr(end, name) for end in falling(6, 2, True).anchors]) for name in "Pr")
    yield P, r, [np.full((6, 2, 2), 0.5)]
    rng = given.rng("C3'")
    for _ in range(given.problems):
        H, S, A, episodes = (int(rng.integers(*ends)) for ends in ((1, 7), (2, 6), (1, 4), (2, 12)))
        P, r = random_models(rng, H, S, A, episodes, float(rng.choice([1.0, 0.1, 0.01])))
        yield P, r, [np.eye(A)[rng.integers(A, size=(H, S))] for _ in range(5)]


@check("C3")
def drift_of_q(given: Given) -> Finding:
    """To the letter, in exact fractions; for one policy; for the constrained optima."""
    (apart, allowed), (late, once) = two_policies(), before_the_frame()
    optima, of_optima = constrained_optima(Fraction(1, 100))
    ratios = []
    for P, r, policies in frames(given):
        moved, sharper, btilde = drift_of_values(P, r, policies)
        of_sharper = (moved / np.maximum(sharper, 1e-300)).max()
        ratios.append((moved.max() / (len(moved) * btilde), of_sharper))
    shares, most = np.array(ratios)[:, 0], float(np.max(ratios))
    repair = MISPRINT if most <= 1 + ROUNDING else None
    numbers = {
        "two policies, no drift, H = 2, K = 32: difference over H b~": apart / allowed,
        "one policy from the episode before the frame, as in the text": late / once,
        "constrained optima, delta = 1/100": optima / of_optima,
        "one policy in a frame, H = 1, at most": shares[0],
        "the same, H = 6": shares[1],
    }
    answer = verdict(refuted=apart > allowed or late > once, repair=repair)
    step = ("|Q^pi_k1 - Q^pi_k2|, H = 6", "Lemma 6", shares[1])
    return bounded(answer, numbers, most, ANY_FACTOR, len(ratios), step)


def constrained_problems(given: Given) -> Iterator[CMDP]:
    """One where tightening costs H eps/delta itself; random ones, some with hardly any room."""
    yield arms([1, 0], [0, 1], rho=0.0, H=3)
    rng = given.rng("C7")
    for _ in range(given.problems):
        H, S, A = (int(rng.integers(*ends)) for ends in ((1, 6), (1, 5), (2, 4)))
        P, r = random_models(rng, H, S, A, 1)
        g, mu0 = rng.random((H, S, A)), rng.dirichlet(np.ones(S))
        free = CMDP(P=P[0], r=r[0], g=g, rho=0.0, mu0=mu0)
        share = float(rng.choice([0.5, 0.8, 0.95, 0.999]))
        yield tightened(free, optimum.best_utility(free) * share)


def prices(cmdp: CMDP) -> Iterator[tuple[float, float, float]]:
    """Loss over H eps/delta; what two solvers differ by; by how much it leaves lambda*'s bounds."""
    delta = optimum.best_utility(cmdp) - cmdp.rho
    before, program = optimum.constrained(cmdp), optimum.linear_program(cmdp).value
    for share in SHARES:
        eps = share * delta
        after = optimum.constrained(tightened(cmdp, eps))
        loss = before.value - after.value
        other = program - optimum.linear_program(cmdp, tightening=eps).value
        outside = max(before.multiplier * eps - loss, loss - after.multiplier * eps)
        yield loss / (cmdp.H * share), abs(loss - other), outside


@check("C7")
def price_of_tightening(given: Given) -> Finding:
    rows = np.array([row for cmdp in constrained_problems(given) for row in prices(cmdp)])
    largest, apart, outside = rows.max(axis=0)
    random = rows[len(SHARES) :, 0].max()
    numbers = {"random CMDPs, largest share of H eps/delta": random, "solvers differ by": apart}
    answer = verdict(refuted=largest > 1 + SOLVED, proved=max(apart, outside) <= SOLVED)
    step = ("V* - V*_eps, random CMDPs", "Lemma 9", random)
    return bounded(answer, numbers, largest, ANY_FACTOR, len(rows), step)
