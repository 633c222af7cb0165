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
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from nscmdp.algorithms._triple_q import Arm, Notebook, TripleQ, hoeffding, iota, remaining, triple_q, visits
from nscmdp.problem import Problem

TITLE = "Algorithm 1: Non-stationary Triple-Q"
SETTINGS = ("literal", "authors", "scaled")


@dataclass(frozen=True)
class Factors:
    """``scaled`` keeps the printed powers of K and B and replaces every other constant by one of these."""

    bonus: float = 0.0013  # b_t = bonus H sqrt((chi+1)/(chi+t))
    btilde: float = 0.0  # b~ = btilde B^(1/3) K^-0.4
    epsilon: float = 4.0  # eps = epsilon B^(1/3) K^-0.2
    eta: float = 0.5  # eta = eta K^0.2 B^(1/3)
    frame: float = 4.0  # L = frame K^0.6 B^(-2/3)
    initial: float = 1.0  # Q_h = C_h = initial (H-h+1)


@dataclass(frozen=True)
class Variants:
    """Departures from the listing."""

    cbar: Literal["after", "before"] = "after"  # C_1 as updated (the listing), or as it was (the proofs)
    reset: Literal["full", "counts"] = "full"  # at a frame's end: all tables (the listing), or the counts alone


def learner(problem: Problem, setting: str, factors: Factors, variants: Variants) -> TripleQ:
    H, K, B = problem.H, problem.K, problem.B
    chi = K**0.2
    before = variants.cbar == "before"
    if setting == "literal":
        frame = problem.frame(K**0.6 / B ** (2 / 3))
        eps = 8 * np.sqrt(problem.S * problem.A * H**6 * iota(problem) ** 3) * B ** (1 / 3) / K**0.2
        bonus = hoeffding(problem, chi, frame)
        return triple_q(
            problem,
            chi=chi,
            arms=[Arm(frame, K**0.2 * B ** (1 / 3), eps, B ** (1 / 3) * K**-0.4)],
            bonus_q=bonus,
            bonus_c=bonus,
            initial_q=np.full(H, float(H)),
            initial_c=np.full(H, float(H)),
            rule=variants.reset,
            before=before,
        )
    if setting == "authors":
        # The notebook is stationary: B enters frame and eta as in the listing, b~ is left out, its exploration runs on.
        notebook = Notebook.of(problem)
        frame = problem.frame(K**0.6 / B ** (2 / 3))
        bonus = notebook.bonus_at(problem, frame)
        return triple_q(
            problem,
            chi=chi,
            arms=[Arm(frame, notebook.eta * B ** (1 / 3), notebook.eps)],
            bonus_q=bonus,
            bonus_c=bonus,
            initial_q=np.full(H, notebook.initial_q),
            initial_c=np.full(H, float(H)),
            rule=variants.reset,
            before=before,
            explore=notebook.explore,
        )
    frame = problem.frame(factors.frame * K**0.6 / B ** (2 / 3))
    btilde = factors.btilde * B ** (1 / 3) * K**-0.4
    bonus = factors.bonus * H * np.sqrt((chi + 1) / (chi + visits(frame)))
    initial = factors.initial * remaining(H)
    return triple_q(
        problem,
        chi=chi,
        arms=[Arm(frame, factors.eta * K**0.2 * B ** (1 / 3), factors.epsilon * B ** (1 / 3) / K**0.2, btilde)],
        bonus_q=bonus,
        bonus_c=bonus,
        initial_q=initial,
        initial_c=initial,
        rule=variants.reset,
        before=before,
    )
