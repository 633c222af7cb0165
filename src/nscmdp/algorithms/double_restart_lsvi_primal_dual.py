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
from typing import Literal

import numpy as np

from nscmdp.algorithms import lsvi_primal_dual as inner
from nscmdp.algorithms._bandit_over_bandit import BanditOverBandit, GainRule, bandit_over_bandit
from nscmdp.algorithms._exp3 import usual_rate
from nscmdp.algorithms._lsvi import Arm, Printed
from nscmdp.problem import Problem

TITLE = "Algorithm 4: Double Restart primal-dual LSVI"
SETTINGS = ("literal", "scaled")
RANGES = {  # where tuning looks, on a logarithmic scale
    "beta": (1e-4, 0.1),
    "ridge": (0.01, 1.0),
    "alpha": (0.1, 10.0),
    "eta": (0.1, 10.0),
    "xi": (0.1, 1.0),
    "frame": (1.0, 300.0),
    "budgets": (0.1, 10.0),
    "epoch": (2.0, 20.0),
    "rate": (0.3, 3.0),
}


@dataclass(frozen=True)
class Factors:
    """``scaled`` keeps the printed powers of K, W and B; the first seven are Algorithm 3's, with its K := W."""

    beta: float = 0.001  # beta = beta d H sqrt(log(2 log(A) d W H/p))
    ridge: float = 0.1  # lambda = ridge
    alpha: float = 1.0  # alpha = alpha log(A) W / (2 (1+xi+H))
    eta: float = 1.0  # eta = eta xi / sqrt(W H^2)
    xi: float = 1.0  # xi = xi 2H/delta
    frame: float = 8.0  # D = frame sqrt(d W / (B_i H)), at most W
    epsilon: float = 1.0  # of the variant tightening: eps = min(epsilon 3(1+xi)/xi (1+1/delta) ..., delta/2)
    budgets: float = 1.0  # B_j = budgets sqrt(K) W^(j/J - 1)
    epoch: float = 8.0  # W = epoch K^(1/2)
    rate: float = 1.0  # gamma_0 = rate sqrt(N ln N / ((e-1) K/W)), N arms


@dataclass(frozen=True)
class Variants:
    """Departures from the listing."""

    dual: Literal["own", "reset", "carried"] = "own"  # Y over epochs; literal resets it, scaled carries it
    tightening: bool = False  # rho + eps in the dual, eps = 3(1+xi)/xi (1+1/delta) d^1.25 B_i^.25 H^2.25 K^-.125
    dual_by_realised_utility: bool = False  # the episode's utility, in place of its estimate, drives Y


LITERAL = Factors(beta=1.0, ridge=1.0, frame=1.0, epoch=1.0)


def learner(problem: Problem, setting: str, factors: Factors, variants: Variants) -> BanditOverBandit:
    K, scaled = problem.K, setting == "scaled"
    scale = factors if scaled else LITERAL
    W = epoch_of(problem, scale.epoch * np.sqrt(K))
    within = problem._replace(K=W)
    printed = Printed.of(within, scale.xi)
    budgets = scale.budgets * (1.0 if scaled else 1 / Delta(printed)) * np.sqrt(K) * ladder(W) / W
    arms = [
        Arm(frame_within(W, scale.frame * printed.frame(B)), tightening(printed, B, K, scale) * variants.tightening)
        for B in budgets
    ]
    carry = variants.dual == "carried" or (variants.dual == "own" and scaled)
    instance = inner.with_arms(within, arms, inner_factors(scale), variants.dual_by_realised_utility, carry)
    gamma = scale.rate * usual_rate(len(arms), K / W) if scaled else printed_rate(problem, W)
    return bandit_over_bandit(problem, instance, len(arms), W, min(1.0, gamma), GainRule(K ** (-1 / 8), False))


def epoch_of(problem: Problem, length: float) -> int:
    """W, a whole number of episodes."""
    return int(min(max(np.round(length), 1), problem.K))


def ladder(W: int) -> np.ndarray:
    """W^(j/J), j = 0..J"""
    J = max(1, int(np.ceil(np.log(W))))
    return W ** (np.arange(J + 1) / J)


def frame_within(W: int, length: float) -> int:
    """A frame that no epoch has room for lasts as long as the epoch."""
    return int(min(max(length, 1), W))


def Delta(printed: Printed) -> float:
    """(6 (1+xi)/(xi delta) (1+1/delta) d^(5/4) H^(9/4))^4"""
    xi, delta = printed.xi, printed.delta
    return float((6 * (1 + xi) / (xi * delta) * (1 + 1 / delta) * printed.d**1.25 * printed.H**2.25) ** 4)


def tightening(printed: Printed, B: float, K: int, scale: Factors) -> float:
    """min( 3 (1+xi)/xi (1+1/delta) d^(5/4) B^(1/4) H^(9/4) K^(-1/8), delta/2 )"""
    xi, delta = printed.xi, printed.delta
    eps = 3 * (1 + xi) / xi * (1 + 1 / delta) * printed.d**1.25 * B**0.25 * printed.H**2.25 * K**-0.125
    return float(min(scale.epsilon * eps, delta / 2))


def printed_rate(problem: Problem, W: int) -> float:
    """gamma_0 = min(1, sqrt((K/W) log(K/W) / ((e-1) K H)))"""
    epochs = problem.K / W
    return min(1.0, float(np.sqrt(epochs * np.log(epochs) / ((np.e - 1) * problem.K * problem.H))))


def inner_factors(scale: Factors) -> inner.Factors:
    return inner.Factors(scale.beta, scale.ridge, scale.alpha, scale.eta, scale.xi, scale.frame, scale.epsilon)
