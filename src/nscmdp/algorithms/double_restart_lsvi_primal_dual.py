"""Algorithm 4: Exp3 chooses, epoch by epoch, the budget that Algorithm 3 assumes.

    W = K^(1/2),  J = ceil(ln W),  lambda = 1/8,  gamma_0 = min(1, sqrt((K/W) log(K/W) / ((e-1) K H)))
    epoch i of W episodes:   draw A_i in {0..J} from p_i(j) = (1-gamma_0) s_i(j) / sum_j' s_i(j') + gamma_0/(J+1)
                             B_i = sqrt(K) W^(A_i/J) / (Delta W)
                             a new instance of Algorithm 3 for W episodes, with B = B_i
                             gain of A_i:  ( G_i/K^lambda + R_i 1{G_i >= W rho} ) / ( W H (1 + K^-lambda) )
    Delta = (6 (1+xi)/(xi delta) (1+1/delta) d^(5/4) H^(9/4))^4

Readings: Algorithm 3's K is W in all its constants, D = sqrt(d W / (B_i H)) among them; (1-gamma_0) stands for the
listing's (1-delta), else the probabilities would not sum to one; the constant of O~ in Delta is 1; Y is new in every
epoch. As printed, Delta makes every B_i so small that no frame ends before its epoch, and the arms are all alike.

``scaled`` sets Delta = 1 up to a factor, takes Exp3's usual rate sqrt((J+1) ln(J+1) / ((e-1) K/W)), and carries Y over
epochs. The bandit is in ``_bandit_over_bandit.py``, the inner learner in ``lsvi_primal_dual.py``.
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
from nscmdp.cmdp import Array
from nscmdp.learner import Factor
from nscmdp.problem import Problem

TITLE = "Algorithm 4: Double Restart primal-dual LSVI"

# ``scaled`` keeps the printed powers of K, W and B; the first seven are Algorithm 3's, with its K := W.
FACTORS = {
    "beta": Factor(0.001, 1e-4, 0.1),  # beta = beta d H sqrt(log(2 log(A) d W H/p))
    "ridge": Factor(0.1, 0.01, 1.0),  # lambda = ridge
    "alpha": Factor(1.0, 0.1, 10.0),  # alpha = alpha log(A) W / (2 (1+xi+H))
    "eta": Factor(1.0, 0.1, 10.0),  # eta = eta xi / sqrt(W H^2)
    "xi": Factor(1.0, 0.1, 1.0),  # xi = xi 2H/delta
    "frame": Factor(8.0, 1.0, 300.0),  # D = frame sqrt(d W / (B_i H)), at most W
    "epsilon": Factor(
        1.0
    ),  # of the variant tightening: eps = min(epsilon 3(1+xi)/xi (1+1/delta) ..., delta/2)
    "budgets": Factor(1.0, 0.1, 10.0),  # B_j = budgets sqrt(K) W^(j/J - 1)
    "epoch": Factor(8.0, 2.0, 20.0),  # W = epoch K^(1/2)
    "rate": Factor(1.0, 0.3, 3.0),  # gamma_0 = rate sqrt(N ln N / ((e-1) K/W)), N arms
}


@dataclass(frozen=True)
class Variants:
    """Departures from the listing."""

    dual: Literal["own", "reset", "carried"] = "own"  # Y over epochs; own: literal resets it
    tightening: bool = (
        False  # rho + eps in the dual, eps = 3(1+xi)/xi (1+1/delta) d^1.25 B_i^.25 H^2.25 K^-.125
    )
    dual_by_realised_utility: bool = False  # in place of its estimate


LISTING = algorithm_3.Variants()


class Constants(NamedTuple):
    W: int
    budgets: Array  # B_j
    arms: list[_lsvi.Constants]  # Algorithm 3's, for each of them
    gamma: float  # gamma_0
    carry: bool  # Y survives an epoch


def literal(problem: Problem, variants: Variants) -> Constants:
    H, K = problem.H, problem.K
    d, delta, _, _ = _lsvi.known(problem)
    W, xi = epoch(problem, np.sqrt(K)), 2 * H / delta
    Delta = (6 * (1 + xi) / (xi * delta) * (1 + 1 / delta) * d**1.25 * H**2.25) ** 4
    budgets = 1 / Delta * np.sqrt(K) * ladder(W) / W
    return Constants(
        W=W,
        budgets=budgets,
        arms=[
            tightened(problem, B, variants, algorithm_3.literal(within(problem, W, B), LISTING))
            for B in budgets
        ],
        gamma=min(1.0, np.sqrt(K / W * np.log(K / W) / ((np.e - 1) * K * H))),
        carry=variants.dual == "carried",
    )


def scaled(problem: Problem, factors: Any, variants: Variants) -> Constants:
    K = problem.K
    W = epoch(problem, factors.epoch * np.sqrt(K))
    budgets = factors.budgets * np.sqrt(K) * ladder(W) / W
    inner = [algorithm_3.scaled(within(problem, W, B), factors, LISTING) for B in budgets]
    arms = [
        tightened(problem, B, variants, arm, factors.epsilon)
        for B, arm in zip(budgets, inner, strict=True)
    ]
    return Constants(
        W=W,
        budgets=budgets,
        arms=arms,
        gamma=min(1.0, factors.rate * usual_rate(len(arms), K / W)),
        carry=variants.dual != "reset",
    )


def within(problem: Problem, W: int, B: float) -> Problem:
    """Algorithm 3's: W episodes and a budget. A frame that no epoch has room for lasts as long as the epoch."""
    return problem._replace(K=W, candidate_B=B)


def tightened(
    problem: Problem, B: float, variants: Variants, arm: _lsvi.Constants, factor: float = 1.0
) -> _lsvi.Constants:
    """eps = min( 3 (1+xi)/xi (1+1/delta) d^(5/4) B^(1/4) H^(9/4) K^(-1/8), delta/2 )"""
    (d, delta, _, _), xi = _lsvi.known(problem), arm.xi
    H, K = problem.H, problem.K
    eps = 3 * (1 + xi) / xi * (1 + 1 / delta) * d**1.25 * B**0.25 * H**2.25 * K**-0.125
    return arm._replace(eps=variants.tightening * float(min(factor * eps, delta / 2)))


def learner(problem: Problem, constants: Constants, variants: Variants) -> BanditOverBandit:
    W, arms, rule = constants.W, constants.arms, GainRule(problem.K ** (-1 / 8), False)
    realised, carry = variants.dual_by_realised_utility, constants.carry
    inner = _lsvi.lsvi(problem._replace(K=W), arms, realised=realised, carry=carry)
    return bandit_over_bandit(problem, inner, len(arms), W, constants.gamma, rule)
