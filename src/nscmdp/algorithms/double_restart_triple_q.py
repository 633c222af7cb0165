"""Double Restart Non-stationary Triple-Q (Algorithm 2): Exp3 chooses the budget that Algorithm 1 assumes, by epoch.

    W = K^(5/9),  J = ceil(ln W),  lambda = 1/9,  gamma_0 = min(1, sqrt((K/W) log(K/W) / ((e-1) K H)))
    epoch i of W episodes:   draw A_i in {0..J} from p_i(j) = (1-gamma_0) s_i(j) / sum_j' s_i(j') + gamma_0/(J+1)
                             B_i = K^(1/3) W^(A_i/J) / (Delta^(3/2) W),   Delta = (40 sqrt(S A H^6 iota^3) / delta)^2
                             a new instance of Algorithm 1 for W episodes, with B = B_i
                             gain of A_i:  ( G_i/K^lambda + R_i 1{G_i >= W rho} ) / ( W H (1 + K^-lambda) )

Readings: Algorithm 1's K is W in all its constants (iota, chi, eta, eps, L), and in b~ = B_i^(1/3) W^-0.4 where the
listing prints K; delta is the environment's own Slater gap; the queue is new in every epoch; the last epoch may be
shorter. As printed, Delta makes every B_i so small that no frame ends before its epoch, and the arms are all alike.

``scaled`` sets Delta = 1 up to a factor, takes Exp3's usual rate sqrt((J+1) ln(J+1) / ((e-1) K/W)), and carries the
queue over epochs. The bandit is in ``_bandit_over_bandit.py``, the inner learner in ``nonstationary_triple_q.py``.
"""

from dataclasses import dataclass, fields
from typing import Literal

import numpy as np

from nscmdp.algorithms import nonstationary_triple_q as inner
from nscmdp.algorithms._bandit_over_bandit import BanditOverBandit, GainRule, bandit_over_bandit
from nscmdp.algorithms._exp3 import usual_rate
from nscmdp.algorithms._triple_q import Arm, iota
from nscmdp.problem import Problem

TITLE = "Algorithm 2: Double Restart Non-stationary Triple-Q"
SETTINGS = ("literal", "scaled")
RANGES = {  # where tuning looks, on a logarithmic scale
    "bonus": (1e-4, 0.1),
    "btilde": (1e-4, 1.0),
    "epsilon": (0.03, 30.0),
    "eta": (0.01, 300.0),
    "frame": (0.1, 30.0),
    "initial": (1.0, 4.0),
    "budgets": (0.1, 10.0),
    "epoch": (0.3, 3.0),
    "rate": (0.3, 3.0),
}
LADDER = (1, 4, 16, 64)  # frames of W / these, for the variant arms = "frames"


@dataclass(frozen=True)
class Factors:
    """``scaled`` keeps the printed powers of K, W and B; the first six are Algorithm 1's, with its K := W."""

    bonus: float = 0.0013  # b_t = bonus H sqrt((chi+1)/(chi+t))
    btilde: float = 0.0  # b~ = btilde B^(1/3) W^-0.4
    epsilon: float = 4.0  # eps = epsilon B^(1/3) W^-0.2
    eta: float = 0.5  # eta = eta W^0.2 B^(1/3)
    frame: float = 4.0  # L = frame W^0.6 B^(-2/3)
    initial: float = 4.0  # Q_h = initial times a bound of V_h along the path, at most H-h+1; C_h = H-h+1
    budgets: float = 1.0  # B_j = budgets K^(1/3) W^(j/J - 1)
    epoch: float = 1.0  # W = epoch K^(5/9)
    rate: float = 1.0  # gamma_0 = rate sqrt(N ln N / ((e-1) K/W)), N arms


@dataclass(frozen=True)
class Variants:
    """Departures from the listing."""

    arms: Literal["budgets", "frames"] = "budgets"  # "frames": L = W, W/4, W/16, W/64, all else as if B were 1
    epsilon: Literal["printed", "proof"] = "printed"  # 8 (...) in eps, or the proof's 20 (...); scaled: 2.5 times eps
    btilde: Literal["W", "K"] = "W"  # W^-0.4, or the listing's K^-0.4
    queue: Literal["own", "reset", "carried"] = "own"  # over epochs; literal resets it, scaled carries it
    gain: Literal["printed", "dual"] = "printed"  # "dual": the appendix's alternative, with an outer dual variable
    start: Literal["optimistic", "below"] = "optimistic"  # Q starts at or above V, or at 0.4 of that


def learner(problem: Problem, setting: str, factors: Factors, variants: Variants) -> BanditOverBandit:
    K, H = problem.K, problem.H
    scaled = setting == "scaled"
    W = int(min(max(np.round((factors.epoch if scaled else 1.0) * K ** (5 / 9)), 1), K))
    arms = arms_of(problem, W, setting, factors, variants)
    if scaled:
        gamma = min(1.0, factors.rate * usual_rate(len(arms), K / W))
    else:
        gamma = min(1.0, np.sqrt(K / W * np.log(K / W) / ((np.e - 1) * K * H)))
    carry = variants.queue == "carried" or (variants.queue == "own" and scaled)
    listing = inner.Variants(start=variants.start)
    instance = inner.with_arms(problem._replace(K=W), arms, setting, inner_factors(factors), listing, carry=carry)
    return bandit_over_bandit(problem, instance, len(arms), W, gamma, gain_rule(problem, W, variants))


def arms_of(problem: Problem, W: int, setting: str, factors: Factors, variants: Variants) -> list[Arm]:
    """Algorithm 1's constants for every candidate. Frames that no epoch has room for last as long as the epoch."""
    within, chosen, listing = problem._replace(K=W), inner_factors(factors), inner.Variants()
    if variants.arms == "frames":
        arms = [inner.arm_of(within, max(1, W // part), 1.0, setting, chosen, listing) for part in LADDER]
    else:
        arms = []
        for B in budgets(problem, W, factors.budgets if setting == "scaled" else literal_scale(within)):
            length = inner.frame_length(within, B, setting, chosen, listing)
            arms.append(inner.arm_of(within, int(min(max(length, 1), W)), B, setting, chosen, listing))
    on_eps = 20 / 8 if variants.epsilon == "proof" else 1.0
    on_btilde = (problem.K / W) ** -0.4 if variants.btilde == "K" else 1.0
    return [arm._replace(eps=on_eps * arm.eps, btilde=on_btilde * arm.btilde) for arm in arms]


def budgets(problem: Problem, W: int, scale: float) -> list[float]:
    """B_j = scale K^(1/3) W^(j/J - 1), j = 0..J"""
    J = max(1, int(np.ceil(np.log(W))))
    return [float(scale * problem.K ** (1 / 3) * W ** (j / J - 1)) for j in range(J + 1)]


def literal_scale(within: Problem) -> float:
    """Delta^(-3/2), Delta = (40 sqrt(S A H^6 iota^3) / delta)^2"""
    return float((40 * np.sqrt(within.S * within.A * within.H**6 * iota(within) ** 3) / slater_gap(within)) ** -3)


def gain_rule(problem: Problem, W: int, variants: Variants) -> GainRule:
    """The paper's, or the appendix's with xi = 2H/delta and eta = xi sqrt(W / (K H^2))."""
    if variants.gain == "printed":
        return GainRule(problem.K ** (-1 / 9), False)
    xi = 2 * problem.H / slater_gap(problem)
    return GainRule(xi, True, xi * np.sqrt(W / (problem.K * problem.H**2)))


def slater_gap(problem: Problem) -> float:
    if problem.delta <= 0:
        raise ValueError(f"the best utility exceeds rho by {problem.delta:g}: a positive Slater gap is needed")
    return problem.delta


def inner_factors(factors: Factors) -> inner.Factors:
    return inner.Factors(
        **{f.name: getattr(factors, f.name) for f in fields(inner.Factors) if hasattr(factors, f.name)}
    )
