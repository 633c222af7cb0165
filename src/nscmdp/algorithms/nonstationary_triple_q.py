"""Non-stationary Triple-Q (Algorithm 1): a table for the reward, one for the utility, and a virtual queue.

    alpha = 0.6,  c = 2/3,  chi = K^0.2,  eta = K^0.2 B^(1/3),  iota = 128 log(sqrt(2SAH) K)                  line 2
    eps = 8 sqrt(S A H^6 iota^3) B^(1/3) / K^0.2
    a_h = argmax_a Q_h(x_h,a) + (Z/eta) C_h(x_h,a)                                                            line 6
    t = N_h(x_h,a_h) + 1,   alpha_t = (chi+1)/(chi+t),   b_t = (1/4) sqrt(H^2 iota (chi+1)/(chi+t))           lines 7-8
    Q_h <- (1-alpha_t) Q_h + alpha_t (r + V_{h+1}(x_{h+1}) + b_t + 2 H b~)                                    line 9
    C_h <- (1-alpha_t) C_h + alpha_t (g + W_{h+1}(x_{h+1}) + b_t + 2 H b~)                                    line 10
    every L = K^alpha / B^c episodes, a frame:  N <- 0,  Q = C <- H,  Z <- (Z + rho + eps - Cbar/L)^+,  Cbar <- 0

with Q = C = H and Z = 0 at first, V_h(x) = Q_h(x,a') and W_h(x) = C_h(x,a') for the maximising a', and Cbar the sum of
C_1(x_1,a_1) over the frame. b~ bounds the local budgets; the theory's choice is the largest that
(number of frames) b~ <= B allows, B^(1/3) K^-0.4. The updates themselves are in ``_triple_q.py``.

The variants cross it with Triple-Q, choice by choice, to tell which choice makes a difference; with all of Triple-Q's
choices it is Triple-Q.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from nscmdp.algorithms._triple_q import (
    Arm,
    Notebook,
    TripleQ,
    frame_range,
    hoeffding,
    iota,
    optimistic,
    remaining,
    triple_q,
    visits,
)
from nscmdp.problem import Problem

TITLE = "Algorithm 1: Non-stationary Triple-Q"
SETTINGS = ("literal", "authors", "scaled")
RANGES = {  # where tuning looks, on a logarithmic scale, at B = 1
    "bonus": (1e-4, 0.1),
    "btilde": (1e-4, 1.0),
    "epsilon": (0.03, 30.0),
    "eta": (0.01, 300.0),
    "frame": (0.1, 30.0),
    "initial": (1.0, 4.0),
}


@dataclass(frozen=True)
class Factors:
    """``scaled`` keeps the printed powers of K and B and replaces every other constant by one of these."""

    bonus: float = 0.0013  # b_t = bonus H sqrt((chi+1)/(chi+t))
    btilde: float = 0.0  # b~ = btilde B^(1/3) K^-0.4
    epsilon: float = 4.0  # eps = epsilon B^(1/3) K^-0.2
    eta: float = 0.5  # eta = eta K^0.2 B^(1/3)
    frame: float = 4.0  # L = frame K^0.6 B^(-2/3)
    initial: float = 4.0  # Q_h = initial times a bound of V_h along the path, at most H-h+1; C_h = H-h+1
    bump: float = 0.01  # Q + bump H / eta at a frame's end, for the variant reset = "bump" alone


@dataclass(frozen=True)
class Variants:
    """Departures from the listing; "triple_q": the constant as if B were 1, which is Triple-Q's."""

    cbar: Literal["after", "before"] = "after"  # C_1 as updated (the listing), or as it was (the proofs)
    reset: Literal["full", "bump", "counts"] = "full"  # at a frame's end: all tables, Triple-Q's rule, counts alone
    frame: Literal["own", "triple_q"] = "own"  # L = K^0.6 / B^(2/3), or K^0.6
    eta: Literal["own", "triple_q"] = "own"  # K^0.2 B^(1/3), or K^0.2
    epsilon: Literal["own", "triple_q"] = "own"  # with B^(1/3), or without
    queue: Literal["carried", "reset"] = (
        "carried"  # Z over frames; "reset": Z <- (rho + eps - Cbar/L)^+ at a frame's end
    )
    no_btilde: bool = False  # b~ = 0
    values: Literal["reset", "kept"] = "reset"  # V, W at a frame's end: as Q and C, or as the listing leaves them
    backup: Literal["greedy", "taken"] = "greedy"  # V, W of the greedy action, or of the one taken
    start: Literal["optimistic", "below"] = "optimistic"  # Q starts at or above V, or at 0.4 of that


def ranges(problem: Problem, frames: float) -> dict[str, tuple[float, float]]:
    """Where tuning looks: the same frames, eta and eps as for Triple-Q, whatever B is."""
    on_B = problem.B ** (1 / 3)
    scaled = {name: (RANGES[name][0] / on_B, RANGES[name][1] / on_B) for name in ("epsilon", "eta")}
    return RANGES | scaled | {"frame": frame_range(problem, frames, problem.K**0.6 / problem.frame_B ** (2 / 3))}


def learner(problem: Problem, setting: str, factors: Factors, variants: Variants) -> TripleQ:
    frame = problem.frame(frame_length(problem, problem.frame_B, setting, factors, variants))
    arm = arm_of(problem, frame, problem.B, setting, factors, variants)
    return with_arms(problem, [arm], setting, factors, variants)


def frame_length(problem: Problem, B: float, setting: str, factors: Factors, variants: Variants) -> float:
    """K^alpha / B^c, before it is made to fit."""
    known = B if variants.frame == "own" else 1.0
    return (factors.frame if setting == "scaled" else 1.0) * problem.K**0.6 / known ** (2 / 3)


def arm_of(problem: Problem, frame: int, B: float, setting: str, factors: Factors, variants: Variants) -> Arm:
    """The constants that a budget B decides."""
    K = problem.K
    on_eta = (B if variants.eta == "own" else 1.0) ** (1 / 3)
    on_eps = (B if variants.epsilon == "own" else 1.0) ** (1 / 3)
    btilde = 0.0 if variants.no_btilde else B ** (1 / 3) * K**-0.4
    if setting == "literal":
        eps = 8 * np.sqrt(problem.S * problem.A * problem.H**6 * iota(problem) ** 3) * on_eps / K**0.2
        return Arm(frame, K**0.2 * on_eta, eps, btilde)
    if setting == "authors":
        # The notebook is stationary: B enters frame and eta as in the listing, eps does not know it, b~ is left out.
        notebook = Notebook.of(problem)
        return Arm(frame, notebook.eta * on_eta, notebook.eps)
    return Arm(frame, factors.eta * K**0.2 * on_eta, factors.epsilon * on_eps / K**0.2, factors.btilde * btilde)


def with_arms(
    problem: Problem, arms: list[Arm], setting: str, factors: Factors, variants: Variants, carry: bool = False
) -> TripleQ:
    """The learner that begins with the first of some sets of constants; ``carry``: Z survives its restarts."""
    H, chi = problem.H, problem.K**0.2
    longest, eta = max(arm.frame for arm in arms), arms[0].eta
    cap_q, cap_c, keep_c, explore = 1.0, 1.0, False, (0.0, 1.0, 1, 0.0)
    if setting == "literal":
        bonus = hoeffding(problem, chi, longest)
        initial_q = initial_c = np.full(H, float(H))
        bump = 2 * H**3 * np.sqrt(iota(problem)) / eta
    elif setting == "authors":
        notebook = Notebook.of(problem)
        bonus = notebook.bonus_at(problem, longest)
        initial_q, initial_c = np.full(H, notebook.initial_q), np.full(H, float(H))
        bump, cap_q, cap_c, keep_c = (
            notebook.bump,
            float(np.nextafter(notebook.cap_q, 2)),
            float(np.nextafter(1, 2)),
            True,
        )
        explore = notebook.explore  # which runs on over frames
    else:
        bonus = factors.bonus * H * np.sqrt((chi + 1) / (chi + visits(longest)))
        initial_q, initial_c = optimistic(problem, factors.initial, variants.start), remaining(H)
        bump = factors.bump * H / eta
    return triple_q(
        problem,
        chi=chi,
        arms=arms,
        bonus_q=bonus,
        bonus_c=bonus,
        initial_q=initial_q,
        initial_c=initial_c,
        rule=variants.reset,
        bump=bump,
        cap_q=cap_q,
        cap_c=cap_c,
        keep_c=keep_c,
        before=variants.cbar == "before",
        forget=variants.queue == "reset",
        carry=carry,
        taken=variants.backup == "taken",
        kept=variants.values == "kept",
        explore=explore,
    )
