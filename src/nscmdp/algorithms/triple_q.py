"""Triple-Q (Wei, Liu, Ying, AISTATS 2022) for stationary CMDPs: the baseline that does not know of drift.

    chi = eta = K^0.2,   L = K^0.6,   eps = 8 sqrt(S A H^6 iota^3) / K^0.2,   b_t as in Algorithm 1, no b~
    at a frame's end:  N <- 0;   Q_h(x,a) <- Q_h(x,a) + 2 H^3 sqrt(iota)/eta;
                       where Q_h >= H or C_h >= H, both <- H;   Z <- (Z + rho + eps - Cbar/L)^+,  Cbar <- 0

It remembers over frames what Algorithm 1 forgets. Reconstructed: its paper's body was not at hand; the listing of
Algorithm 1, the authors' notebook and their average-reward sibling agree on what stands here.
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

TITLE = "Triple-Q (stationary)"
SETTINGS = ("literal", "authors", "scaled")
RANGES = {  # where tuning looks, on a logarithmic scale
    "bonus": (1e-4, 0.1),
    "epsilon": (0.03, 30.0),
    "eta": (0.01, 300.0),
    "frame": (0.1, 30.0),
    "initial": (1.0, 4.0),
    "bump": (1e-3, 1.0),
}


@dataclass(frozen=True)
class Factors:
    """``scaled`` keeps the powers of K and replaces every other constant by one of these."""

    bonus: float = 0.0013  # b_t = bonus H sqrt((chi+1)/(chi+t))
    epsilon: float = 4.0  # eps = epsilon K^-0.2
    eta: float = 0.5  # eta = eta K^0.2
    frame: float = 4.0  # L = frame K^0.6
    initial: float = 4.0  # Q_h = initial times a bound of V_h along the path, at most H-h+1; C_h = H-h+1; where one
    # of them is reached, both are put back to them
    bump: float = 0.01  # Q + bump H / eta at a frame's end


@dataclass(frozen=True)
class Variants:
    """Departures from the listing."""

    cbar: Literal["after", "before"] = "after"  # C_1 as updated, or as it was
    backup: Literal["own", "greedy", "taken"] = "own"  # V, W of the greedy action or the one taken; own: as authors do
    start: Literal["optimistic", "below"] = "optimistic"  # Q starts at or above V, or at 0.4 of that


def ranges(problem: Problem, frames: float) -> dict[str, tuple[float, float]]:
    """Where tuning looks."""
    return RANGES | {"frame": frame_range(problem, frames, problem.K**0.6)}


def learner(problem: Problem, setting: str, factors: Factors, variants: Variants) -> TripleQ:
    H, K = problem.H, problem.K
    chi = K**0.2
    before = variants.cbar == "before"
    taken = variants.backup == "taken" or (variants.backup == "own" and setting == "authors")
    if setting == "literal":
        frame = problem.frame(K**0.6)
        bonus = hoeffding(problem, chi, frame)
        return triple_q(
            problem,
            chi=chi,
            arms=[Arm(frame, K**0.2, 8 * np.sqrt(problem.S * problem.A * H**6 * iota(problem) ** 3) / K**0.2)],
            bonus_q=bonus,
            bonus_c=bonus,
            initial_q=np.full(H, float(H)),
            initial_c=np.full(H, float(H)),
            rule="bump",
            bump=2 * H**3 * np.sqrt(iota(problem)) / K**0.2,
            before=before,
            taken=taken,
        )
    if setting == "authors":
        # The notebook puts Q back where Q > 850 or C > 25, strictly, and leaves C as it is.
        notebook = Notebook.of(problem)
        frame = problem.frame(K**0.6)
        bonus = notebook.bonus_at(problem, frame)
        return triple_q(
            problem,
            chi=chi,
            arms=[Arm(frame, notebook.eta, notebook.eps)],
            bonus_q=bonus,
            bonus_c=bonus,
            initial_q=np.full(H, notebook.initial_q),
            initial_c=np.full(H, float(H)),
            rule="bump",
            bump=notebook.bump,
            cap_q=float(np.nextafter(notebook.cap_q, 2)),
            cap_c=float(np.nextafter(1, 2)),
            keep_c=True,
            before=before,
            taken=taken,
            explore=notebook.explore,
        )
    frame = problem.frame(factors.frame * K**0.6)
    bonus = factors.bonus * H * np.sqrt((chi + 1) / (chi + visits(frame)))
    eta = factors.eta * K**0.2
    return triple_q(
        problem,
        chi=chi,
        arms=[Arm(frame, eta, factors.epsilon / K**0.2)],
        bonus_q=bonus,
        bonus_c=bonus,
        initial_q=optimistic(problem, factors.initial, variants.start),
        initial_c=remaining(H),
        rule="bump",
        bump=factors.bump * H / eta,
        before=before,
        taken=taken,
    )
