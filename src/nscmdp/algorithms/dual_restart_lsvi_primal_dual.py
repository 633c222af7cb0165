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
from typing import Literal

import numpy as np

from nscmdp.algorithms import lsvi_primal_dual as inner
from nscmdp.algorithms._bandit_over_bandit import BanditOverBandit, GainRule, bandit_over_bandit
from nscmdp.algorithms._exp3 import usual_rate
from nscmdp.algorithms._lsvi import Arm, Printed
from nscmdp.algorithms.double_restart_lsvi_primal_dual import epoch_of, frame_within, ladder, printed_rate
from nscmdp.problem import Problem

TITLE = "Algorithm 4 with an outer dual: Dual Restart primal-dual LSVI"
SETTINGS = ("literal", "scaled")
RANGES = {  # where tuning looks, on a logarithmic scale
    "beta": (1e-4, 0.1),
    "ridge": (0.01, 1.0),
    "alpha": (0.1, 10.0),
    "eta": (0.1, 10.0),
    "xi": (0.1, 1.0),
    "epoch": (2.0, 20.0),
    "rate": (0.3, 3.0),
    "outer_xi": (0.1, 1.0),
    "outer_eta": (0.1, 10.0),
}


@dataclass(frozen=True)
class Factors:
    """``scaled`` keeps the printed powers of K and W; the first five are Algorithm 3's, with its K := W."""

    beta: float = 0.001  # beta = beta d H sqrt(log(2 log(A) d W H/p))
    ridge: float = 0.1  # lambda = ridge
    alpha: float = 1.0  # alpha = alpha log(A) W / (2 (1+xi+H))
    eta: float = 1.0  # eta = eta xi / sqrt(W H^2)
    xi: float = 1.0  # xi = xi 2H/delta
    epoch: float = 6.0  # W = epoch (d K / H)^(1/2)
    rate: float = 1.0  # gamma_0 = rate sqrt(N ln N / ((e-1) K/W)), N arms
    outer_xi: float = 0.2  # outer xi = outer_xi 2H/delta
    outer_eta: float = 1.0  # outer eta = outer_eta (outer xi) sqrt(W / (K H^2))


@dataclass(frozen=True)
class Variants:
    """Departures from the appendix."""

    dual: Literal["own", "reset", "carried"] = "own"  # the inner Y over epochs; literal resets it, scaled carries it
    dual_by_realised_utility: bool = False  # the episode's utility, in place of its estimate, drives the inner Y


LITERAL = Factors(beta=1.0, ridge=1.0, epoch=1.0, outer_xi=1.0)


def learner(problem: Problem, setting: str, factors: Factors, variants: Variants) -> BanditOverBandit:
    K, H, scaled = problem.K, problem.H, setting == "scaled"
    scale = factors if scaled else LITERAL
    printed = Printed.of(problem)
    W = epoch_of(problem, scale.epoch * np.sqrt(printed.d * K / H))
    arms = [Arm(frame_within(W, np.round(D))) for D in ladder(W)]
    carry = variants.dual == "carried" or (variants.dual == "own" and scaled)
    chosen = inner.Factors(scale.beta, scale.ridge, scale.alpha, scale.eta, scale.xi)
    instance = inner.with_arms(problem._replace(K=W), arms, chosen, variants.dual_by_realised_utility, carry)
    xi = scale.outer_xi * printed.xi
    rule = GainRule(xi, True, scale.outer_eta * xi * np.sqrt(W / (K * H**2)))
    gamma = scale.rate * usual_rate(len(arms), K / W) if scaled else printed_rate(problem, W)
    return bandit_over_bandit(problem, instance, len(arms), W, min(1.0, gamma), rule)
