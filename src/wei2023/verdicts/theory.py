"""The paper's comparison table and its theorems as numbers."""

from typing import NamedTuple

import numpy as np

from nscmdp.problem import Problem
from wei2023.study.catalogue import FIRST


class Row(NamedTuple):
    """One row of the comparison: what is claimed."""

    algorithm: str
    model_free: bool
    known_budget: str  # yes, no, or - where it is not used
    regret_order: str
    violation_order: str
    source: str
    linear: bool = False


class Order(NamedTuple):
    """What a theorem, or a paper that is cited, says of regret and violation."""

    source: str
    regret: str
    violation: str | None = None  # None: of the regret's order
    model_free: bool = True


SECOND, THIRD = "double_restart_triple_q", "lsvi_primal_dual"
FOURTH, DAGGER = "double_restart_lsvi_primal_dual", "dual_restart_lsvi_primal_dual"
DING = "S^{2/3} A^{1/3} H^{5/3} K^{3/4} B^{1/3}"  # Ding and Lavaei, regret and violation
FOR_FIRST = "H^4 S^{1/2} A^{1/2} K^{4/5} B^{1/3}"
FOR_SECOND = "H^4 S^{1/2} A^{1/2} K^{8/9} B^{1/3}"
FOR_THIRD = "K^{3/4} H^{9/4} d^{5/4} B^{1/4}"
FOR_FOURTH = "K^{7/8} H^{9/4} d^{5/4} B^{1/4}"
FOR_TRIPLE_Q = "H^4 S^{1/2} A^{1/2} K^{4/5} (no drift)"
FOR_RESTART = "S^{1/3} A^{1/3} H^{5/3} T^{2/3} B^{1/3} (no constraint)"
RECONSTRUCTED = "Table 1, row 1; the algorithm is reconstructed"
TABLE = [
    Row("propd_ppo", False, "yes", DING, DING, RECONSTRUCTED),
    Row(FIRST, True, "yes", FOR_FIRST, "0", "Table 1, Theorem 1"),
    Row(SECOND, True, "no", FOR_SECOND, "0", "Table 1, Theorem 2"),
    Row(THIRD, True, "yes", FOR_THIRD, "0", "Table 1, Theorem 3", True),
    Row(FOURTH, True, "no", FOR_FOURTH, "0", "Table 1, Theorem 4", True),
    Row(DAGGER, True, "no", "K^{3/4}", "K^{3/4}", "Table 1, dagger; appendix", True),
    Row("triple_q", True, "-", FOR_TRIPLE_Q, "0 (no drift)", "its own paper"),
    Row("restart_q_ucb", True, "yes", FOR_RESTART, "none", "its own paper, Hoeffding"),
    Row(
        "sliding_window_opt_cmdp", False, "yes", "none claimed", "none claimed", "not in the paper"
    ),
]
THEOREMS = {  # as their own displays have it
    FIRST: Order("Theorem 1", "H^4 S^{1/2} A^{1/2} B^{1/3} K^{4/5}", "0"),
    SECOND: Order("Theorem 2", "H^4 S^{1/2} A^{1/2} B^{1/3} K^{8/9}", "0"),
    THIRD: Order("Theorem 3", "K^{3/4} H^{9/4} d^{5/4} B^{1/4}"),
    FOURTH: Order("Theorem 4", "K^{7/8} H^{9/4} d^{5/4} B^{1/4}"),
}
CITED = [  # for stationary CMDPs, from their abstracts
    Order(
        "Bura et al. (arXiv 2112.00885), a safe policy known",
        "S A^{1/2} K^{1/2}",
        "0",
        model_free=False,
    ),
    Order("Ghosh, Zhou and Shroff (NeurIPS 2022)", "d^{3/2} H^2 K^{1/2}"),
]
UNCONSTRAINED = {"stationary": "K^{1/2}", "drifting": "K^{2/3}"}  # section 4, first paragraph
LOWER_BOUND = "S^{1/3} A^{1/3} H^{2/3} T^{2/3} B^{1/3}"  # Mao et al., arXiv 2010.03161


def iota(problem: Problem, log_K: float) -> float:
    """128 log(sqrt(2SAH) K), where K may be too large for a number."""
    return 128 * (0.5 * np.log(2 * problem.S * problem.A * problem.H) + log_K)


def from_episodes(algorithm: str, problem: Problem) -> float:
    """The smallest K from which a theorem promises zero violation in this environment, or nan.

    Theorem 1 asks for K >= max{(16 sqrt(S A H^6 iota^3) B^(1/3)/delta)^5, e^(1/delta)}, Triple-Q
    for the same with B = 1, Theorem 2 for 40 and the power 9. iota grows with K, so the condition
    is solved for K. Theorems 3 and 4 hide their constants in O~; with those taken as 1 and
    xi = 2H/delta, they ask for K^(1/4) >= 4 (1+xi)/(xi delta) d^(5/4) B^(1/4) H^(9/4), and for
    K^(1/8) >= 6 (1+xi)/(xi delta) d^(5/4) B^(1/4) H^(9/4).
    """
    S, A, H, delta = problem.S, problem.A, problem.H, problem.delta
    if algorithm in (FIRST, "triple_q", SECOND):
        factor, power = (40, 9) if algorithm == SECOND else (16, 5)
        B = 1.0 if algorithm == "triple_q" else problem.B
        log_K = 1.0
        for _ in range(200):
            root = np.sqrt(S * A * H**6 * iota(problem, log_K) ** 3)
            log_K = power * np.log(factor * root * B ** (1 / 3) / delta)
        return float(np.exp(max(log_K, 1 / delta)))
    if algorithm in (THIRD, FOURTH):
        factor, power = (4, 4) if algorithm == THIRD else (6, 8)
        xi = 2 * H / delta
        dimension = S * A if problem.env.features is None else problem.env.features.shape[2]
        B = problem.B if problem.linear_budget is None else problem.linear_budget
        least = factor * (1 + xi) / (xi * delta) * dimension**1.25 * B**0.25 * H**2.25
        return float(least**power)
    return float("nan")
