"""The learning rates, the drift of values within a frame, and the price of tightening (C1, C3, C7).

C1, Lemma 3. With alpha_t = (chi+1)/(chi+t), alpha_t^0 = prod_{j<=t} (1-alpha_j) and
alpha_t^i = alpha_i prod_{i<j<=t} (1-alpha_j):

    (a) alpha_t^0 = 0 for t >= 1        (b) sum_i alpha_t^i = 1        (d) sum_{t>=i} alpha_t^i = 1 + 1/chi
    (c) 1 <= sqrt(chi+t) sum_i alpha_t^i / sqrt(chi+i) <= 2            (e) (chi+t)/(chi+1) sum_i (alpha_t^i)^2 <= 1

(d) telescopes: chi alpha_{t+1}^i = t alpha_t^i - (t+1) alpha_{t+1}^i, so what is left after t = n is n alpha_n^i / chi.
The 2 of (c) can be (chi+1)/(chi+1/2), which the sum tends to: with s = chi+t-1 its induction step reads
(s-chi) sqrt(1+1/s) <= s-chi+1/2.

C3, Lemmas 1 and 6: |Q^pi_{k1,h} - Q^pi'_{k2,h}| <= H b~ for k1, k2 in one frame. C3': the same for one policy,

    |Q^pi_{k1,h} - Q^pi_{k2,h}| <= sum_{h'>=h} (B^r_h' + (H-h')/2 B^p_h') <= H B^(T) <= H b~.

C7, Lemma 9: V* - V*_eps <= H eps / delta for eps <= delta. V* is concave in rho with slope -lambda*, so also
lambda*(rho) eps <= V* - V*_eps <= lambda*(rho+eps) eps.
"""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nscmdp import optimum
from nscmdp.analysis.claims.findings import FALSE, HOLDS, Finding, Given, Inequality, check
from nscmdp.cmdp import CMDP, Array

ROUNDING = 1e-11  # relative error of the recursions in floating point
SHARES = (0.1, 0.5, 0.9, 1.0)  # eps / delta
SOLVED = 1e-7  # what two solvers of one linear program may differ by

Rate = Callable[[Any, Any], Any]
ROOTS = (1, 2, 4, 10, 16, 40, 100, 10**4, 10**6, 10**8, 10**10, 10**12)  # chi = K^0.2: K = 1, 32, ..., 1e60
LATEST = 10_000  # the largest t of the recursions
EXACT = 24  # the largest t of the sums in exact fractions
FAR = tuple(10**power for power in range(1, 37, 5))  # t up to the frames of K = 1e60


def learning_rate(chi: Any, t: Any) -> Any:
    """alpha_t, of numbers, arrays or fractions."""
    return (chi + 1) / (chi + t)


class Sums(NamedTuple):
    """By t = 1, 2, ... (rows) and chi (columns)."""

    start: Array  # alpha_t^0
    total: Array  # sum_i alpha_t^i
    root: Array  # sqrt(chi+t) sum_i alpha_t^i / sqrt(chi+i)
    square: Array  # (chi+t)/(chi+1) sum_i (alpha_t^i)^2


def sums(chi: Array, last: int, rate: Rate = learning_rate) -> Sums:
    """Each sum at t is 1 - alpha_t (or its square) times that at t-1, and alpha_t (or its square) times a new term."""
    out = Sums(*(np.empty((last, len(chi))) for _ in Sums._fields))
    start, total, root, square = np.ones_like(chi), np.zeros_like(chi), np.zeros_like(chi), np.zeros_like(chi)
    for t in range(1, last + 1):
        alpha = rate(chi, float(t))
        start, total = (1 - alpha) * start, (1 - alpha) * total + alpha
        root, square = (1 - alpha) * root + alpha / np.sqrt(chi + t), (1 - alpha) ** 2 * square + alpha**2
        out.start[t - 1], out.total[t - 1] = start, total
        out.root[t - 1], out.square[t - 1] = root * np.sqrt(chi + t), square * (chi + t) / (chi + 1)
    return out


def exact_sums(chi: Fraction, last: int, rate: Rate = learning_rate) -> dict[str, bool]:
    """(a), (b), (d), (e) up to t = last without rounding; (d) with the closed form of what follows."""
    alpha = [Fraction(0), *(Fraction(rate(chi, Fraction(t))) for t in range(1, last + 1))]
    weights: list[Fraction] = []
    so_far: list[Fraction] = []
    kept, fine = Fraction(1), dict.fromkeys("abde", True)
    for t in range(1, last + 1):
        kept *= 1 - alpha[t]
        weights = [weight * (1 - alpha[t]) for weight in weights] + [alpha[t]]
        so_far = [total + weight for total, weight in zip([*so_far, Fraction(0)], weights, strict=True)]
        fine["a"] &= kept == 0
        fine["b"] &= sum(weights) == 1
        fine["d"] &= all(total + t * weight / chi == 1 + 1 / chi for total, weight in zip(so_far, weights, strict=True))
        fine["e"] &= sum(weight**2 for weight in weights) <= (chi + 1) / (chi + t)
    # (chi+t+1) (1-alpha_{t+1}) = t is what the closed form rests on
    fine["d"] &= all((chi + t + 1) * (1 - rate(chi, Fraction(t + 1))) == t for t in FAR)
    return fine


def step_keeps(chi: Fraction, t: int, constant: Fraction) -> bool:
    """Does (c) with a constant c at t-1 give it at t?  chi+1 + (t-1) sqrt(n/(n-1)) c <= c n, where n = chi+t."""
    n = chi + t
    room = constant * n - chi - 1
    return room >= 0 and (t - 1) ** 2 * constant**2 * n <= room**2 * (n - 1)


def sharp(chi: Any) -> Any:
    """What the 2 of (c) can be: the limit of the sum for t to infinity."""
    return (chi + 1) / (chi + Fraction(1, 2)) if isinstance(chi, Fraction) else (chi + 1) / (chi + 0.5)


def printed_step(chi: float, t: float) -> tuple[float, float]:
    """The two sides of the middle line of the proof of (c), the first claimed to be the smaller one."""
    n = chi + t
    left = (1 - chi - 2 * t) / (n * np.sqrt(n)) + 2 * (t - 1) / (n * np.sqrt(n - 1))
    return float(left), float((-chi - 1) / (n * np.sqrt(n - 1)))


@check("C1")
def learning_rate_weights(given: Given, rate: Rate = learning_rate) -> Finding:
    chi = np.array(ROOTS, dtype=float)
    found = sums(chi, LATEST, rate)
    broken = _broken(chi, found, rate)
    largest, late = float(found.root.max()), float(found.square[100:].max(where=chi <= 10, initial=0.0))
    left, right = printed_step(1.0, 2.0)
    why = (
        f"(a), (b), (d), (e) hold exactly for chi up to {chi.max():g}; the largest sum of (c) is {largest:.4f}, never "
        f"above (chi+1)/(chi+1/2); one line of the proof of (c) says {left:.3f} <= {right:.3f} at chi = 1, t = 2"
    )
    return Finding(
        FALSE if broken else HOLDS,
        f"({'), ('.join(broken)}) fail; the sum of (c) goes up to {largest:.4g}" if broken else why,
        value=largest, low=largest, high=largest, bound=2.0, slack=2.0 - largest, samples=found.root.size,
        inequalities=(
            Inequality("sum_i alpha_t^i / sqrt(chi+i) <= 2 / sqrt(chi+t)", "Lemma 3 (c)", 2.0, largest),
            Inequality("sum_i (alpha_t^i)^2 <= (chi+1)/(chi+t), after 100 visits", "Lemma 3 (e)", 1.0, late),
        ),
        rows=_weight_rows(chi, found),
    )  # fmt: skip


def _broken(chi: Array, found: Sums, rate: Rate) -> list[str]:
    """The parts of the lemma that fail."""
    exact = [exact_sums(Fraction(root), EXACT, rate) for root in ROOTS]
    sharper = [step_keeps(Fraction(root), t, sharp(Fraction(root))) for root in ROOTS for t in (2, 3, *FAR)]
    measured = {
        "a": np.abs(found.start) <= ROUNDING,
        "b": np.abs(found.total - 1) <= ROUNDING,
        "c": (found.root >= 1 - ROUNDING) & (found.root <= sharp(chi) * (1 + ROUNDING)) & (found.root <= 2),
        "e": found.square <= 1 + ROUNDING,
    }
    fine = {part: all(one[part] for one in exact) for part in "abde"} | {"c": all(sharper)}
    return [part for part in "abcde" if not (fine[part] and np.all(measured.get(part, True)))]


def _weight_rows(chi: Array, found: Sums) -> list[dict[str, Any]]:
    """The normalised sums of (c) and (e) over t."""
    times = np.unique(np.geomspace(1, LATEST, 25).astype(int))
    return [
        {"chi": float(chi[j]), "t": int(t), "c": float(found.root[t - 1, j]), "c_limit": float(sharp(chi[j])),
         "e": float(found.square[t - 1, j])}
        for j in range(len(chi)) if chi[j] <= 1e4 for t in times
    ]  # fmt: skip


def action_values(P: NDArray[Any], r: NDArray[Any], policy: NDArray[Any]) -> NDArray[Any]:
    """Q^pi (H,S,A) of a policy (H,S,A), for floats or fractions."""
    Q, later = np.empty_like(r), r[0, :, 0] * 0
    for h in reversed(range(len(r))):
        Q[h] = r[h] + P[h] @ later
        later = (policy[h] * Q[h]).sum(axis=1)
    return Q


def deterministic(H: int, S: int, A: int) -> Iterator[NDArray[Any]]:
    """All policies [H] x S -> A, as (H,S,A) in whole numbers."""
    for choice in product(range(A), repeat=H * S):
        yield np.eye(A, dtype=int)[np.array(choice).reshape(H, S)]


def widest(P: NDArray[Any], r: NDArray[Any]) -> Any:
    """max over two policies, h, x, a of |Q^pi - Q^pi'| in one and the same model."""
    values = np.array([action_values(P, r, policy) for policy in deterministic(*r.shape)], dtype=object)
    return (values.max(axis=0) - values.min(axis=0)).max()


def two_arms(H: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """One state, two actions that pay 1 and 0 at every step but the first."""
    r = np.array([[[Fraction(int(h > 0 and a == 0)) for a in range(2)]] for h in range(H)], dtype=object)
    return np.full((H, 1, 2, 1), Fraction(1), dtype=object), r


def largest_btilde(root: int) -> Fraction:
    """B^(1/3) K^-0.4 at K = root^5 and B = 1: no larger b~ is allowed."""
    return Fraction(1, root**2)


def before_the_frame() -> tuple[Fraction, Fraction]:
    """What Q moves by over the printed range of frame 2, which begins with the last episode of frame 1; H times b~.

    H = S = A = 1, K = 32, frames of 8 episodes; the reward moves by 1/4 after episodes 8, 9, 17 and 25, so B = 1.
    """
    K, L = 32, 8
    r = [Fraction(sum(k > move for move in (8, 9, 17, 25)), 4) for k in range(1, K + 1)]
    moves = [abs(later - now) for now, later in pairwise(r)]
    btilde = max(sum(moves[first : first + L], Fraction(0)) for first in range(0, K, L))
    return abs(r[2 * L - 1] - r[L - 1]), btilde


@check("C3")
def q_drift_of_two_policies(given: Given, H: int = 2) -> Finding:
    root = 2  # K = 32, frames of 8 episodes
    difference, allowed = widest(*two_arms(H)), H * largest_btilde(root)
    moved, once = before_the_frame()
    rng, apart = given.rng("C3"), []
    for _ in range(given.problems):
        shape = (int(rng.integers(2, 4)), int(rng.integers(1, 3)), 2)
        P, r = random_models(rng, *shape, 1)
        apart.append(float(widest(P[0], r[0])) / shape[0])
    above = sum(ratio > float(largest_btilde(10)) for ratio in apart)
    return Finding(
        FALSE if difference > allowed else HOLDS,
        f"with no drift and k1 = k2, two policies (H = {H}, S = 1, A = 2) differ by {difference}, where H b~ is "
        f"{allowed} at K = 32 and {float(H * largest_btilde(10**12)):g} at K = 1e60; {above} of {len(apart)} random "
        f"CMDPs exceed it at K = 1e5; the printed range begins an episode early: one policy moves by {moved} > {once}; "
        f"Lemma 7 uses it only for one policy within a frame, where it holds (C3')",
        value=float(difference), low=float(difference), high=float(difference), bound=float(allowed),
        slack=float(allowed - difference), samples=len(apart) + 4**H,
        rows=[
            {"K": float(j**5), "H": steps, "difference": float(widest(*two_arms(steps))),
             "bound": float(steps * largest_btilde(j))}
            for steps in (1, 2, 3, 4) for j in (2, 10, 10**6, 10**12)
        ],
    )  # fmt: skip


def random_models(
    rng: np.random.Generator, H: int, S: int, A: int, episodes: int, spread: float = 1.0
) -> tuple[Array, Array]:
    """P (episodes,H,S,A,S) and r (episodes,H,S,A): a way between random models, ``spread`` of it wide."""
    anchors_P, anchors_r = rng.dirichlet(np.full(S, 0.5), (3, H, S, A)), rng.random((3, H, S, A))
    mixed = (1 - spread) * np.eye(3)[0] + spread * rng.dirichlet(np.full(3, 0.3), episodes)
    return np.tensordot(mixed, anchors_P, 1), np.tensordot(mixed, anchors_r, 1)


class Drift(NamedTuple):
    """By step h: the most that Q^pi moves within a frame, and the budgets of the frame's steps."""

    moved: Array
    reward: Array
    transition: Array

    @property
    def btilde(self) -> float:
        """The least b~ that there is, the utility's part left out."""
        return float(self.reward.sum() + self.transition.sum())

    @property
    def sharper(self) -> Array:
        """sum_{h'>=h} (B^r_h' + (H-h')/2 B^p_h')"""
        left = np.arange(len(self.reward) - 1, -1, -1) / 2
        return np.cumsum((self.reward + left * self.transition)[::-1])[::-1]


def drift_of_values(P: Array, r: Array, policies: Sequence[Array]) -> Drift:
    moved = np.zeros(r.shape[1])
    for policy in policies:
        Q = np.array([action_values(P[k], r[k], policy) for k in range(len(r))])
        moved = np.maximum(moved, (Q.max(axis=0) - Q.min(axis=0)).max(axis=(1, 2)))
    reward = np.abs(np.diff(r, axis=0)).max(axis=(2, 3)).sum(axis=0)
    transition = np.abs(np.diff(P, axis=0)).sum(axis=4).max(axis=(2, 3)).sum(axis=0)
    return Drift(moved, reward, transition)


def frames(given: Given) -> Iterator[tuple[Array, Array, list[Array]]]:
    """Random frames and policies; the first is the case of equality, H = S = A = 1 and a reward that moves once."""
    yield np.ones((2, 1, 1, 1, 1)), np.array([0.0, 0.3]).reshape(2, 1, 1, 1), [np.ones((1, 1, 1))]
    rng = given.rng("C3'")
    for _ in range(given.problems):
        H, S, A, episodes = (
            int(n) for n in (rng.integers(1, 7), rng.integers(2, 6), rng.integers(1, 4), rng.integers(2, 12))
        )
        P, r = random_models(rng, H, S, A, episodes, float(rng.choice([1.0, 0.1, 0.01])))
        yield P, r, [np.eye(A)[rng.integers(A, size=(H, S))] for _ in range(5)]


@check("C3'")
def q_drift_of_one_policy(given: Given, share: float = 1.0) -> Finding:
    """``share`` of the frame's budget is what b~ is."""
    rows = []
    for P, r, policies in frames(given):
        drift = drift_of_values(P, r, policies)
        H, btilde = len(drift.moved), share * drift.btilde
        rows.append(
            {"H": H, "S": P.shape[2], "A": P.shape[3], "episodes": len(P), "moved": float(drift.moved.max()),
             "bound": H * btilde, "sharper": float(drift.sharper[0]),
             "of_sharper": float((drift.moved / drift.sharper).max())}
        )  # fmt: skip
    ratio = np.array([row["moved"] for row in rows]) / np.maximum([row["bound"] for row in rows], 1e-300)
    most, sharper, random = float(ratio.max()), max(row["of_sharper"] for row in rows), float(ratio[1:].max())
    return Finding(
        HOLDS if most <= 1 + ROUNDING and sharper <= 1 + ROUNDING else FALSE,
        f"on {len(rows) - 1} random frames Q of one policy moves by at most {random:.3g} of H b~ and {sharper:.3g} of "
        f"the sum over steps; with H = 1 and one move of the reward by {ratio[0]:.3g} of H b~",
        value=most, low=most, high=most, bound=1.0, slack=1 - most, slack_in="share of the bound", samples=len(rows),
        inequalities=(Inequality("|Q^pi_k1 - Q^pi_k2| <= H b~, in units of it, random CMDPs", "Lemma 6", 1.0, random),),
        rows=rows,
    )  # fmt: skip


def constrained_problems(given: Given) -> Iterator[CMDP]:
    """One CMDP where the price of tightening is H eps/delta itself, and random ones, some with hardly any room."""
    H = 3
    pays, serves = np.broadcast_to([1.0, 0.0], (H, 1, 2)), np.broadcast_to([0.0, 1.0], (H, 1, 2))
    yield CMDP(P=np.ones((H, 1, 2, 1)), r=pays, g=serves, rho=0.0, mu0=[1.0])
    rng = given.rng("C7")
    for _ in range(given.problems):
        H, S, A = (int(n) for n in (rng.integers(1, 6), rng.integers(1, 5), rng.integers(2, 4)))
        P, r = random_models(rng, H, S, A, 1)
        free = CMDP(P=P[0], r=r[0], g=rng.random((H, S, A)), rho=0.0, mu0=rng.dirichlet(np.ones(S)))
        yield tightened(free, optimum.best_utility(free) * float(rng.choice([0.5, 0.8, 0.95, 0.999])))


def tightened(cmdp: CMDP, eps: float) -> CMDP:
    return CMDP(P=cmdp.P, r=cmdp.r, g=cmdp.g, rho=cmdp.rho + eps, mu0=cmdp.mu0)


@check("C7")
def price_of_tightening(given: Given, solve: Callable[[CMDP], optimum.Optimum] = optimum.constrained) -> Finding:
    rows = [row for number, cmdp in enumerate(constrained_problems(given)) for row in _prices(number, cmdp, solve)]
    columns = [[row[key] for row in rows] for key in ("loss", "bound", "least", "most", "solvers_differ_by")]
    loss, bound, least, most, differ = np.array(columns)
    ratio = loss / bound
    largest, random = float(ratio.max()), float(ratio[len(SHARES) :].max())
    contradicted = float(np.maximum(least - loss, loss - most).max())
    why = (
        f"V* - V*_eps is at most {largest:.4g} of H eps/delta (one state, two arms), {random:.3g} on random CMDPs; "
        f"lambda* brackets it and two solvers agree to {differ.max():.1g}"
    )
    if contradicted > SOLVED:
        why = f"the multipliers contradict the values: lambda* eps is off by {contradicted:.3g}"
    kept = (loss <= bound + SOLVED) & (differ <= SOLVED * (1 + bound))
    return Finding(
        HOLDS if kept.all() and contradicted <= SOLVED else FALSE,
        why,
        value=largest, low=largest, high=largest, bound=1.0, slack=1 - largest, slack_in="share of the bound",
        samples=len(rows),
        inequalities=(Inequality("V* - V*_eps <= H eps/delta, in units of it, random CMDPs", "Lemma 9", 1.0, random),),
        rows=rows,
    )  # fmt: skip


def _prices(number: int, cmdp: CMDP, solve: Callable[[CMDP], optimum.Optimum]) -> Iterator[dict[str, Any]]:
    """What tightening by shares of the Slater gap costs, by both solvers, between the bounds that multipliers give."""
    delta = optimum.best_utility(cmdp) - cmdp.rho
    before, program = solve(cmdp), optimum.linear_program(cmdp).value
    for share in SHARES:
        eps = share * delta
        after = solve(tightened(cmdp, eps))
        loss = before.value - after.value
        other = program - optimum.linear_program(cmdp, tightening=eps).value
        yield {
            "problem": number, "H": cmdp.H, "delta": delta, "eps": eps, "loss": loss, "bound": cmdp.H * eps / delta,
            "least": before.multiplier * eps, "most": after.multiplier * eps, "solvers_differ_by": abs(loss - other),
        }  # fmt: skip
