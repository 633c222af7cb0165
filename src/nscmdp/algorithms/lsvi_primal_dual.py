"""Algorithm 3: least-squares value iteration with a softmax policy, a dual variable, and restarts; for linear CMDPs.

    xi = 2H/delta,  alpha = log(A) K / (2 (1+xi+H)),  eta = xi / sqrt(K H^2),  beta = d H sqrt(log(2 log(A) d T/p)),
    D = B^(-1/2) H^(-1/2) d^(1/2) K^(1/2),  lambda = 1,      T = K H,  p = .05,  delta the Slater gap

B is the budget by the linear definition. The updates, and the exact form of them that costs the same in every episode,
are in ``_lsvi.py``. An environment without features is taken as tabular: phi(x,a) the unit vector of (x,a), d = S A.

The printed beta is so large that every Q is clipped at H: the literal policy is uniform at any K that can be run. And
the estimate V_g that drives Y is optimistic, so Y rises late: ``dual_by_realised_utility`` is the repair.
"""

from dataclasses import dataclass

from nscmdp.algorithms._lsvi import LSVI, Arm, CountingLSVI, Printed, assumed_B, lsvi
from nscmdp.problem import Problem

TITLE = "Algorithm 3: primal-dual LSVI with restarts"
SETTINGS = ("literal", "scaled")
RANGES = {  # where tuning looks, on a logarithmic scale
    "beta": (1e-4, 0.1),
    "ridge": (0.01, 1.0),
    "alpha": (0.1, 10.0),
    "eta": (0.1, 10.0),
    "xi": (0.1, 1.0),
    "frame": (1.0, 300.0),
}


@dataclass(frozen=True)
class Factors:
    """``scaled`` multiplies the printed constants by these; only the ridge is given as it is."""

    beta: float = 0.001  # beta = beta d H sqrt(log(2 log(A) d T/p))
    ridge: float = 0.1  # lambda = ridge
    alpha: float = 1.0  # alpha = alpha log(A) K / (2 (1+xi+H))
    eta: float = 1.0  # eta = eta xi / sqrt(K H^2)
    xi: float = 1.0  # xi = xi 2H/delta
    frame: float = 80.0  # D = frame sqrt(d K / (B H))
    epsilon: float = 1.0  # of the variant tightening: eps = min(epsilon 2(1+xi)/xi d^1.25 B^.25 H^2.25 K^-.25, delta/2)


@dataclass(frozen=True)
class Variants:
    """Departures from the listing."""

    restart: bool = True  # False: one frame, the stationary algorithm of Ghosh, Zhou and Shroff (2022)
    tightening: bool = False  # rho + eps in place of rho in the dual ("Zero Violation")
    dual_by_realised_utility: bool = False  # the episode's utility, in place of its estimate, drives Y


LITERAL = Factors(beta=1.0, ridge=1.0, frame=1.0)


def learner(problem: Problem, setting: str, factors: Factors, variants: Variants) -> LSVI | CountingLSVI:
    scale = factors if setting == "scaled" else LITERAL
    printed = Printed.of(problem, scale.xi)
    frame = problem.frame(scale.frame * printed.frame(assumed_B(problem, frame=True))) if variants.restart else 0
    eps = min(scale.epsilon * printed.tightening(assumed_B(problem)), printed.delta / 2)
    arm = Arm(frame, eps if variants.tightening else 0.0)
    return with_arms(problem, [arm], scale, variants.dual_by_realised_utility)


def with_arms(
    problem: Problem, arms: list[Arm], scale: Factors, realised: bool, carry: bool = False
) -> LSVI | CountingLSVI:
    """The learner that begins with the first of some sets of constants; ``carry``: Y survives its restarts."""
    printed = Printed.of(problem, scale.xi)
    return lsvi(
        problem,
        arms=arms,
        alpha=scale.alpha * printed.alpha,
        beta=scale.beta * printed.beta,
        eta=scale.eta * printed.eta,
        xi=printed.xi,
        ridge=scale.ridge,
        realised=realised,
        carry=carry,
    )
