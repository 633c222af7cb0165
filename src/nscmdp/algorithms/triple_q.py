"""Triple-Q (Wei, Liu, Ying, AISTATS 2022) for stationary CMDPs: the baseline that does not know of drift.

    chi = eta = K^0.2,   L = K^0.6,   eps = 8 sqrt(S A H^6 iota^3) / K^0.2,   b_t as in Algorithm 1, no b~
    at a frame's end:  N <- 0;   Q_h(x,a) <- Q_h(x,a) + 2 H^3 sqrt(iota)/eta;
                       where Q_h >= H or C_h >= H, both <- H;   Z <- (Z + rho + eps - Cbar/L)^+,  Cbar <- 0

It remembers over frames what Algorithm 1 forgets. Reconstructed: its paper's body was not at hand; the listing of
Algorithm 1, the authors' notebook and their average-reward sibling agree on what stands here.
"""

from dataclasses import dataclass
from typing import Any, Literal

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

TITLE = "Triple-Q (stationary)"
SWEEPS = 0  # backward inductions per episode

# ``scaled`` keeps the powers of K and replaces every other constant by one of these.
FACTORS = {
    "bonus": Factor(0.0013, 1e-4, 0.1),  # b_t = bonus H sqrt((chi+1)/(chi+t))
    "epsilon": Factor(4.0, 0.03, 30.0),  # eps = epsilon K^-0.2
    "eta": Factor(0.5, 0.01, 300.0),  # eta = eta K^0.2
    "frame": Factor(4.0, 0.1, 30.0),  # L = frame K^0.6
    "initial": Factor(
        4.0, 1.0, 4.0
    ),  # Q_h = initial times a bound of V_h along the path, at most H-h+1; C_h = H-h+1;
    # where one of them is reached, both are put back to them
    "bump": Factor(0.01, 1e-3, 1.0),  # Q + bump H / eta at a frame's end
}


@dataclass(frozen=True)
class Variants:
    """Departures from the listing."""

    cbar: Literal["after", "before"] = "after"  # C_1 as updated, or as it was
    backup: Literal["own", "greedy", "taken"] = (
        "own"  # V, W of the greedy action or the one taken; own: as authors do
    )
    start: Literal["optimistic", "below"] = (
        "optimistic"  # Q starts at or above V, or at 0.4 of that
    )


def literal(problem: Problem) -> Constants:
    S, A, H, K = problem[:4]
    iota, chi = iota_of(problem), K**0.2
    return Constants(
        frame=problem.frame(K**0.6),
        chi=K**0.2,
        eta=K**0.2,
        eps=8 * np.sqrt(S * A * H**6 * iota**3) / K**0.2,
        bonus=lambda t: np.sqrt(H**2 * iota * (chi + 1) / (chi + t)) / 4,
        initial_q=np.full(H, float(H)),
        initial_c=np.full(H, float(H)),
        bump=2 * H**3 * np.sqrt(iota) / K**0.2,
    )


def authors(problem: Problem) -> Constants:
    """Those of the authors' notebook, on this paper's scale of rewards.

    There the destination pays 100, here 1: everything in units of reward is divided by 100, and eta = 1e-4 K^0.2 (...),
    which divides the utility's weight, is multiplied by it. Other locations pay up to 22.7 there and 0.1 here, so no
    one factor maps all rewards; the destination's is taken. Values that the notebook fixes for H = 25 (Q starts at 800,
    and is put back there above 850 or where C > 25, strictly, while C stays as it is) are kept as shares of H. Its
    utility is this paper's, so the bonus on C is as there: 0.01 x 0.2, which is also Q's 0.2 / 100.
    """
    S, A, H, K = problem[:4]
    return Constants(
        frame=problem.frame(K**0.6),
        chi=K**0.2,
        eta=1e-2 * K**0.2 * np.sqrt(S * A * H**4),
        eps=0.5,
        bonus=lambda t: 0.002 * np.sqrt(np.log(K) / t),
        initial_q=np.full(H, 8 * H / 25),
        initial_c=np.full(H, float(H)),
        bump=0.03,
        cap_q=float(np.nextafter(850 / 800, 2)),
        cap_c=float(np.nextafter(1, 2)),
        keep_c=True,
        taken=True,
        floor=0.03,
        explore=(1.0, 0.95, 20),
    )


def scaled(problem: Problem, factors: Any, variants: Variants) -> Constants:
    H, K, chi = problem.H, problem.K, problem.K**0.2
    eta = factors.eta * K**0.2
    return Constants(
        frame=problem.frame(factors.frame * K**0.6),
        chi=K**0.2,
        eta=eta,
        eps=factors.epsilon / K**0.2,
        bonus=lambda t: factors.bonus * H * np.sqrt((chi + 1) / (chi + t)),
        initial_q=optimistic(problem, factors.initial, variants.start),
        initial_c=remaining(H),
        bump=factors.bump * H / eta,
    )


def ranges(problem: Problem, frames: float) -> dict[str, tuple[float, float]]:
    return {"frame": frame_range(problem, frames, problem.K**0.6)}


def learner(problem: Problem, constants: Constants, variants: Variants) -> TripleQ:
    return triple_q(
        problem,
        [constants],
        rule="bump",
        before=variants.cbar == "before",
        taken=constants.taken if variants.backup == "own" else variants.backup == "taken",
    )
