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
from typing import Any, Literal, NamedTuple

import numpy as np

from nscmdp.algorithms._triple_q import (
    Constants,
    TripleQ,
    frame_range,
    iota_of,
    optimistic,
    remaining,
    triple_q,
)
from nscmdp.learner import Factor
from nscmdp.problem import Problem

TITLE = "Algorithm 1: Non-stationary Triple-Q"
SWEEPS = 0  # backward inductions per episode

# ``scaled`` keeps the printed powers of K and B and replaces every other constant by one of these. Ranges: at B = 1.
FACTORS = {
    "bonus": Factor(0.0013, 1e-4, 0.1),  # b_t = bonus H sqrt((chi+1)/(chi+t))
    "btilde": Factor(0.0, 1e-4, 1.0),  # b~ = btilde B^(1/3) K^-0.4
    "epsilon": Factor(4.0, 0.03, 30.0),  # eps = epsilon B^(1/3) K^-0.2
    "eta": Factor(0.5, 0.01, 300.0),  # eta = eta K^0.2 B^(1/3)
    "frame": Factor(4.0, 0.1, 30.0),  # L = frame K^0.6 B^(-2/3)
    "initial": Factor(
        4.0, 1.0, 4.0
    ),  # Q_h = initial times a bound of V_h along the path, at most H-h+1; C_h = H-h+1
    "bump": Factor(0.01),  # Q + bump H / eta at a frame's end, for the variant reset = "bump" alone
}


@dataclass(frozen=True)
class Variants:
    """Departures from the listing; "triple_q": the constant as if B were 1, which is Triple-Q's."""

    cbar: Literal["after", "before"] = (
        "after"  # C_1 as updated (the listing), or as it was (the proofs)
    )
    reset: Literal["full", "bump", "counts"] = (
        "full"  # at a frame's end: all tables, Triple-Q's rule, counts alone
    )
    frame: Literal["own", "triple_q"] = "own"  # L = K^0.6 / B^(2/3), or K^0.6
    eta: Literal["own", "triple_q"] = "own"  # K^0.2 B^(1/3), or K^0.2
    epsilon: Literal["own", "triple_q"] = "own"  # with B^(1/3), or without
    queue: Literal["carried", "reset"] = (
        "carried"  # Z over frames; "reset": Z <- (rho + eps - Cbar/L)^+ at a frame's end
    )
    no_btilde: bool = False  # b~ = 0
    values: Literal["reset", "kept"] = (
        "reset"  # V, W at a frame's end: as Q and C, or as the listing leaves them
    )
    backup: Literal["greedy", "taken"] = "greedy"  # V, W of the greedy action, or of the one taken
    start: Literal["optimistic", "below"] = (
        "optimistic"  # Q starts at or above V, or at 0.4 of that
    )


class Budget(NamedTuple):
    """B as it enters each constant, by the variants."""

    frame: float
    eta: float
    eps: float
    btilde: float


def budget_in(problem: Problem, variants: Variants) -> Budget:
    return Budget(
        frame=problem.frame_B if variants.frame == "own" else 1.0,
        eta=problem.B if variants.eta == "own" else 1.0,
        eps=problem.B if variants.epsilon == "own" else 1.0,
        btilde=0.0 if variants.no_btilde else problem.B,
    )


def literal(problem: Problem, variants: Variants) -> Constants:
    S, A, H, K = problem[:4]
    B, iota, chi = budget_in(problem, variants), iota_of(problem), K**0.2
    eta = K**0.2 * B.eta ** (1 / 3)
    return Constants(
        frame=problem.frame(K**0.6 / B.frame ** (2 / 3)),
        chi=K**0.2,
        eta=eta,
        eps=8 * np.sqrt(S * A * H**6 * iota**3) * B.eps ** (1 / 3) / K**0.2,
        btilde=B.btilde ** (1 / 3) * K**-0.4,
        bonus=lambda t: np.sqrt(H**2 * iota * (chi + 1) / (chi + t)) / 4,
        initial_q=np.full(H, float(H)),
        initial_c=np.full(H, float(H)),
        bump=2 * H**3 * np.sqrt(iota) / eta,
    )


def authors(problem: Problem, variants: Variants) -> Constants:
    """Their notebook (see ``triple_q.py``) is stationary: B enters L and eta as in the listing; eps does not know it.

    b~ is left out. The share of exploration runs on over frames.
    """
    S, A, H, K = problem[:4]
    B = budget_in(problem, variants)
    return Constants(
        frame=problem.frame(K**0.6 / B.frame ** (2 / 3)),
        chi=K**0.2,
        eta=1e-2 * K**0.2 * np.sqrt(S * A * H**4) * B.eta ** (1 / 3),
        eps=0.5,
        bonus=lambda t: 0.002 * np.sqrt(np.log(K) / t),
        initial_q=np.full(H, 8 * H / 25),
        initial_c=np.full(H, float(H)),
        bump=0.03,
        cap_q=float(np.nextafter(850 / 800, 2)),
        cap_c=float(np.nextafter(1, 2)),
        keep_c=True,
        floor=0.03,
        explore=(1.0, 0.95, 20),
    )


def scaled(problem: Problem, factors: Any, variants: Variants) -> Constants:
    H, K, B, chi = problem.H, problem.K, budget_in(problem, variants), problem.K**0.2
    eta = factors.eta * K**0.2 * B.eta ** (1 / 3)
    return Constants(
        frame=problem.frame(factors.frame * K**0.6 / B.frame ** (2 / 3)),
        chi=K**0.2,
        eta=eta,
        eps=factors.epsilon * B.eps ** (1 / 3) / K**0.2,
        btilde=factors.btilde * (B.btilde ** (1 / 3) * K**-0.4),
        bonus=lambda t: factors.bonus * H * np.sqrt((chi + 1) / (chi + t)),
        initial_q=optimistic(problem, factors.initial, variants.start),
        initial_c=remaining(H),
        bump=factors.bump * H / eta,
    )


def ranges(problem: Problem, frames: float, variants: Variants) -> dict[str, tuple[float, float]]:
    """Where tuning looks: the same frames, eta and eps as for Triple-Q, whatever B is."""
    on_B = problem.B ** (1 / 3)
    return {
        **({"bump": (1e-3, 1.0)} if variants.reset == "bump" else {}),
        "epsilon": (0.03 / on_B, 30.0 / on_B),
        "eta": (0.01 / on_B, 300.0 / on_B),
        "frame": frame_range(problem, frames, problem.K**0.6 / problem.frame_B ** (2 / 3)),
    }


def learner(problem: Problem, constants: Constants, variants: Variants) -> TripleQ:
    return triple_q(
        problem,
        [constants],
        rule=variants.reset,
        before=variants.cbar == "before",
        forget=variants.queue == "reset",
        taken=variants.backup == "taken",
        kept=variants.values == "kept",
    )
