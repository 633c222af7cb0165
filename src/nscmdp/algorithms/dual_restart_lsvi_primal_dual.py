"""The appendix's other approach to an unknown budget: Exp3 over frame lengths, with a dual variable of its own.

    W = d^(1/2) H^(-1/2) K^(1/2),  J = ceil(ln W),  candidates D_j = W^(j/J), j = 0..J,  gamma_0 as in Algorithm 4
    epoch i of W episodes:   draw D_i by Exp3;  a new instance of Algorithm 3 for W episodes, with D = D_i
                             gain:  ( R_i + Yo G_i ) / ( W H (1 + xi) )
                             Yo <- min( max( Yo + eta (rho - G_i/W), 0 ), xi ),   eta = xi sqrt(W / (K H^2))

Readings: Algorithm 3's K is W in all its other constants, and its own Y is new in every epoch; the gain uses the Yo of
before the epoch and is weighted by 1/p, as Exp3 needs; the "epoch length B_i" that is chosen is the frame length D_i.

``scaled`` takes Exp3's usual rate sqrt((J+1) ln(J+1) / ((e-1) K/W)) and carries Y over epochs; a smaller outer xi
leaves more of the gains' differences. The bandit is in ``_bandit_over_bandit.py``, the inner learner in
``lsvi_primal_dual.py``.
"""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from nscmdp.algorithms import _lsvi
from nscmdp.algorithms import lsvi_primal_dual as algorithm_3
from nscmdp.algorithms._bandit_over_bandit import (
    BanditOverBandit,
    GainRule,
    bandit_over_bandit,
    epoch,
    ladder,
)
from nscmdp.algorithms._exp3 import usual_rate
from nscmdp.learner import Factor, chosen
from nscmdp.problem import Problem

TITLE = "Algorithm 4 with an outer dual: Dual Restart primal-dual LSVI"

# ``scaled`` keeps the printed powers of K and W; the first five are Algorithm 3's, with its K := W.
FACTORS = {
    "beta": Factor(0.001, 1e-4, 0.1),  # beta = beta d H sqrt(log(2 log(A) d W H/p))
    "ridge": Factor(0.1, 0.01, 1.0),  # lambda = ridge
    "alpha": Factor(1.0, 0.1, 10.0),  # alpha = alpha log(A) W / (2 (1+xi+H))
    "eta": Factor(1.0, 0.1, 10.0),  # eta = eta xi / sqrt(W H^2)
    "xi": Factor(1.0, 0.1, 1.0),  # xi = xi 2H/delta
    "epoch": Factor(6.0, 2.0, 20.0),  # W = epoch (d K / H)^(1/2)
    "rate": Factor(1.0, 0.3, 3.0),  # gamma_0 = rate sqrt(N ln N / ((e-1) K/W)), N arms
    "outer_xi": Factor(0.2, 0.1, 1.0),  # outer xi = outer_xi 2H/delta
    "outer_eta": Factor(1.0, 0.1, 10.0),  # outer eta = outer_eta (outer xi) sqrt(W / (K H^2))
}


@dataclass(frozen=True)
class Variants:
    """Departures from the appendix."""

    dual: Literal["own", "reset", "carried"] = "own"  # inner Y over epochs; own: literal resets it
    dual_by_realised_utility: bool = False  # in place of its estimate


class Constants(NamedTuple):
    W: int
    arms: list[_lsvi.Constants]  # Algorithm 3's, for each D_j
    gamma: float  # gamma_0
    xi: float  # of the outer dual
    eta: float  # of the outer dual
    carry: bool  # the inner Y survives an epoch


def literal(problem: Problem, variants: Variants) -> Constants:
    H, K = problem.H, problem.K
    d, delta, _, _ = _lsvi.known(problem)
    W, xi = epoch(problem, np.sqrt(d * K / H)), 2 * H / delta
    within = problem._replace(K=W, candidate_B=1.0)
    inner = algorithm_3.literal(within, algorithm_3.Variants())
    return Constants(
        W=W,
        arms=[inner._replace(D=within.frame(np.round(D))) for D in ladder(W)],
        gamma=min(1.0, np.sqrt(K / W * np.log(K / W) / ((np.e - 1) * K * H))),
        xi=xi,
        eta=xi * np.sqrt(W / (K * H**2)),
        carry=variants.dual == "carried",
    )


def scaled(problem: Problem, factors: Any, variants: Variants) -> Constants:
    H, K = problem.H, problem.K
    d, delta, _, _ = _lsvi.known(problem)
    W = epoch(problem, factors.epoch * np.sqrt(d * K / H))
    xi = factors.outer_xi * (2 * H / delta)
    within = problem._replace(K=W, candidate_B=1.0)
    inner = algorithm_3.scaled(
        within, chosen(algorithm_3.FACTORS, **vars(factors)), algorithm_3.Variants()
    )
    arms = [inner._replace(D=within.frame(np.round(D))) for D in ladder(W)]
    return Constants(
        W=W,
        arms=arms,
        gamma=min(1.0, factors.rate * usual_rate(len(arms), K / W)),
        xi=xi,
        eta=factors.outer_eta * xi * np.sqrt(W / (K * H**2)),
        carry=variants.dual != "reset",
    )


def learner(problem: Problem, constants: Constants, variants: Variants) -> BanditOverBandit:
    W, arms, rule = constants.W, constants.arms, GainRule(constants.xi, True, constants.eta)
    realised, carry = variants.dual_by_realised_utility, constants.carry
    inner = _lsvi.lsvi(problem._replace(K=W), arms, realised=realised, carry=carry)
    return bandit_over_bandit(problem, inner, len(arms), W, constants.gamma, rule)
