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

``gain: repaired`` is not in the paper (docs/repaired_algorithm_2.md): epochs of W = K^(5/7) episodes, arms tightened by
2 eps' more, eps' = (delta/2) K^(-1/7), and the gain of A_i is (R_i + W H) 1{G_i >= W (rho + eps')} / (2 W H).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from nscmdp.algorithms import _triple_q
from nscmdp.algorithms import nonstationary_triple_q as algorithm_1
from nscmdp.algorithms._bandit_over_bandit import (
    BanditOverBandit,
    GainRule,
    bandit_over_bandit,
    epoch,
    last_arm,
)
from nscmdp.algorithms._exp3 import usual_rate
from nscmdp.learner import Factor, chosen
from nscmdp.problem import Problem

TITLE = "Algorithm 2: Double Restart Non-stationary Triple-Q"
SWEEPS = 0  # backward inductions per episode

# ``scaled`` keeps the printed powers of K, W and B; the first six are Algorithm 1's, with its K := W.
FACTORS = {
    "bonus": Factor(0.0013, 1e-4, 0.1),  # b_t = bonus H sqrt((chi+1)/(chi+t))
    "btilde": Factor(0.0, 1e-4, 1.0),  # b~ = btilde B^(1/3) W^-0.4
    "epsilon": Factor(4.0, 0.03, 30.0),  # eps = epsilon B^(1/3) W^-0.2
    "eta": Factor(0.5, 0.01, 300.0),  # eta = eta W^0.2 B^(1/3)
    "frame": Factor(4.0, 0.1, 30.0),  # L = frame W^0.6 B^(-2/3)
    "initial": Factor(
        4.0, 1.0, 4.0
    ),  # Q_h = initial times a bound of V_h along the path, at most H-h+1; C_h = H-h+1
    "budgets": Factor(1.0, 0.1, 10.0),  # B_j = budgets K^(1/3) W^(j/J - 1)
    "epoch": Factor(1.0, 0.3, 3.0),  # W = epoch K^(5/9)
    "rate": Factor(1.0, 0.3, 3.0),  # gamma_0 = rate sqrt(N ln N / ((e-1) K/W)), N arms
}
LADDER = (1, 4, 16, 64)  # frames of W / these, for the variant arms = "frames"


@dataclass(frozen=True)
class Variants:
    """Departures from the listing."""

    arms: Literal["budgets", "frames"] = (
        "budgets"  # "frames": L = W, W/4, W/16, W/64, all else as if B were 1
    )
    epsilon: Literal["printed", "proof"] = (
        "printed"  # 8 (...) in eps, or the proof's 20 (...); scaled: 2.5 times eps
    )
    btilde: Literal["W", "K"] = "W"  # W^-0.4, or the listing's K^-0.4
    queue: Literal["own", "reset", "carried"] = (
        "own"  # over epochs; literal resets it, scaled carries it
    )
    # "dual": the appendix's alternative, with an outer dual variable; "repaired": not the paper's
    gain: Literal["printed", "dual", "repaired"] = "printed"
    start: Literal["optimistic", "below"] = (
        "optimistic"  # Q starts at or above V, or at 0.4 of that
    )


class Constants(NamedTuple):
    W: int
    budgets: list[float]  # B_j
    arms: list[_triple_q.Constants]  # Algorithm 1's, for each of them
    gamma: float  # gamma_0
    carry: bool  # the queue survives an epoch


def literal(problem: Problem, variants: Variants) -> Constants:
    S, A, H, K = problem[:4]
    W = epoch(problem, K ** (5 / 7 if variants.gain == "repaired" else 5 / 9))
    within, J = problem._replace(K=W), last_arm(W)
    root = (
        40 * np.sqrt(S * A * H**6 * _triple_q.iota_of(within) ** 3) / problem.slater_gap
    )  # Delta = root^2
    budgets = [float(root**-3 * K ** (1 / 3) * W ** (j / J - 1)) for j in range(J + 1)]
    listing = algorithm_1.Variants(start=variants.start)
    return Constants(
        W=W,
        budgets=budgets,
        arms=arms_of(
            problem, W, budgets, variants, lambda inner: algorithm_1.literal(inner, listing)
        ),
        gamma=min(1.0, np.sqrt(K / W * np.log(K / W) / ((np.e - 1) * K * H))),
        carry=variants.queue == "carried",
    )


def scaled(problem: Problem, factors: Any, variants: Variants) -> Constants:
    K = problem.K
    W = epoch(problem, factors.epoch * K ** (5 / 7 if variants.gain == "repaired" else 5 / 9))
    J = last_arm(W)
    budgets = [float(factors.budgets * K ** (1 / 3) * W ** (j / J - 1)) for j in range(J + 1)]
    listing, theirs = (
        algorithm_1.Variants(start=variants.start),
        chosen(algorithm_1.FACTORS, **vars(factors)),
    )
    arms = arms_of(
        problem, W, budgets, variants, lambda inner: algorithm_1.scaled(inner, theirs, listing)
    )
    return Constants(
        W=W,
        budgets=budgets,
        arms=arms,
        gamma=min(1.0, factors.rate * usual_rate(len(arms), K / W)),
        carry=variants.queue != "reset",
    )


def arms_of(
    problem: Problem,
    W: int,
    budgets: list[float],
    variants: Variants,
    constants: Callable[[Problem], _triple_q.Constants],
) -> list[_triple_q.Constants]:
    """Algorithm 1's constants for every candidate. Frames that no epoch has room for last as long as the epoch."""
    within = problem._replace(K=W)
    if variants.arms == "frames":
        as_if_1 = constants(within._replace(candidate_B=1.0))
        arms = [as_if_1._replace(frame=max(1, W // part)) for part in LADDER]
    else:
        arms = [constants(within._replace(candidate_B=B)) for B in budgets]
    on_eps = 20 / 8 if variants.epsilon == "proof" else 1.0
    on_btilde = (problem.K / W) ** -0.4 if variants.btilde == "K" else 1.0
    more = 2 * margin(problem, variants)
    return [
        arm._replace(eps=on_eps * arm.eps + more, btilde=on_btilde * arm.btilde) for arm in arms
    ]


def margin(problem: Problem, variants: Variants) -> float:
    """eps' = (delta/2) K^(-1/7) of the repaired gain"""
    return problem.slater_gap / 2 * problem.K ** (-1 / 7) if variants.gain == "repaired" else 0.0


def learner(problem: Problem, constants: Constants, variants: Variants) -> BanditOverBandit:
    W, arms = constants.W, constants.arms
    inner = _triple_q.triple_q(problem._replace(K=W), arms, rule="full", carry=constants.carry)
    seen = problem._replace(rho=problem.rho + margin(problem, variants))
    return bandit_over_bandit(
        seen, inner, len(arms), W, constants.gamma, gain_rule(problem, W, variants)
    )


def gain_rule(problem: Problem, W: int, variants: Variants) -> GainRule:
    """The paper's, the appendix's with xi = 2H/delta and eta = xi sqrt(W / (K H^2)), or the repaired one."""
    if variants.gain == "printed":
        return GainRule(problem.K ** (-1 / 9), False)
    if variants.gain == "repaired":
        return GainRule(0.0, False, feasible=1.0)
    xi = 2 * problem.H / problem.slater_gap
    return GainRule(xi, True, xi * np.sqrt(W / (problem.K * problem.H**2)))
