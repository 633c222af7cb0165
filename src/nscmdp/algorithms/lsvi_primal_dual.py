"""Algorithm 3: least-squares value iteration with a softmax policy, a dual variable, and restarts; for linear CMDPs.

    xi = 2H/delta,  alpha = log(A) K / (2 (1+xi+H)),  eta = xi / sqrt(K H^2),  beta = d H sqrt(log(2 log(A) d T/p)),
    D = B^(-1/2) H^(-1/2) d^(1/2) K^(1/2),  lambda = 1,      T = K H,  p = .05,  delta the Slater gap

B is the budget by the linear definition. The updates, and the exact form of them that costs the same in every episode,
are in ``_lsvi.py``. An environment without features is taken as tabular: phi(x,a) the unit vector of (x,a), d = S A.

The printed beta is so large that every Q is clipped at H: the literal policy is uniform at any K that can be run. And
the estimate V_g that drives Y is optimistic, so Y rises late: ``dual_by_realised_utility`` is the repair.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from nscmdp.algorithms._lsvi import LSVI, Constants, CountingLSVI, budget_in, known, lsvi
from nscmdp.learner import Factor
from nscmdp.problem import Problem

TITLE = "Algorithm 3: primal-dual LSVI with restarts"

# ``scaled`` multiplies the printed constants by these; only the ridge is given as it is.
FACTORS = {
    "beta": Factor(0.001, 1e-4, 0.1),  # beta = beta d H sqrt(log(2 log(A) d T/p))
    "ridge": Factor(0.1, 0.01, 1.0),  # lambda = ridge
    "alpha": Factor(1.0, 0.1, 10.0),  # alpha = alpha log(A) K / (2 (1+xi+H))
    "eta": Factor(1.0, 0.1, 10.0),  # eta = eta xi / sqrt(K H^2)
    "xi": Factor(1.0, 0.1, 1.0),  # xi = xi 2H/delta
    "frame": Factor(80.0, 1.0, 300.0),  # D = frame sqrt(d K / (B H))
    # of the variant tightening: eps = min(epsilon 2(1+xi)/xi d^1.25 B^.25 H^2.25 K^-.25, delta/2)
    "epsilon": Factor(1.0),
}


@dataclass(frozen=True)
class Variants:
    """Departures from the listing."""

    restart: bool = True  # False: one frame (Ghosh, Zhou and Shroff 2022)
    tightening: bool = False  # rho + eps in place of rho in the dual ("Zero Violation")
    dual_by_realised_utility: bool = False  # in place of its estimate


def literal(problem: Problem, variants: Variants) -> Constants:
    H, K, B = problem.H, problem.K, budget_in(problem)
    d, delta, log_A, p = known(problem)
    xi = 2 * H / delta
    return Constants(
        D=problem.frame(np.sqrt(d * K / (B.frame * H))) if variants.restart else 0,
        xi=xi,
        alpha=log_A * K / (2 * (1 + xi + H)),
        eta=xi / np.sqrt(K * H**2),
        beta=d * H * np.sqrt(np.log(2 * log_A * d * K * H / p)),
        ridge=1.0,
        eps=variants.tightening
        * min(2 * (1 + xi) / xi * d**1.25 * B.rest**0.25 * H**2.25 * K**-0.25, delta / 2),
    )


def scaled(problem: Problem, factors: Any, variants: Variants) -> Constants:
    H, K, B = problem.H, problem.K, budget_in(problem)
    d, delta, log_A, p = known(problem)
    xi = factors.xi * 2 * H / delta
    printed_eps = 2 * (1 + xi) / xi * d**1.25 * B.rest**0.25 * H**2.25 * K**-0.25
    return Constants(
        D=problem.frame(factors.frame * np.sqrt(d * K / (B.frame * H))) if variants.restart else 0,
        xi=xi,
        alpha=factors.alpha * (log_A * K / (2 * (1 + xi + H))),
        eta=factors.eta * (xi / np.sqrt(K * H**2)),
        beta=factors.beta * (d * H * np.sqrt(np.log(2 * log_A * d * K * H / p))),
        ridge=factors.ridge,
        eps=variants.tightening * min(factors.epsilon * printed_eps, delta / 2),
    )


def learner(problem: Problem, constants: Constants, variants: Variants) -> LSVI | CountingLSVI:
    return lsvi(problem, [constants], realised=variants.dual_by_realised_utility)
