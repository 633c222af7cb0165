"""The learner of Algorithms 3 and 4: optimistic least squares, a softmax policy and a dual variable.

In every episode k, from the episodes tau < k of its frame, backwards from V_{r,H+1} = V_{g,H+1} = 0, for j in {r, g}:

    Lambda_h = lambda I + sum_tau phi phi^T,      phi = phi(x_h^tau, a_h^tau)
    w_{j,h}  = Lambda_h^-1 sum_tau phi (j_h^tau + V_{j,h+1}(x_{h+1}^tau))
    Q_{j,h}  = min( <w_{j,h}, phi> + beta (phi^T Lambda_h^-1 phi)^(1/2),  H )
    pi_h(a|x) ~ exp( alpha (Q_{r,h}(x,a) + Y Q_{g,h}(x,a)) )
    V_{j,h}(x) = sum_a pi_h(a|x) Q_{j,h}(x,a)
    after the episode   Y <- min( max( Y + eta (rho - V_{g,1}(x_1)), 0 ), xi )
    every D episodes    a frame begins: all but Y is forgotten

With features that is ``_lsvi_features.py``; without, phi(x,a) is the unit vector of (x,a): ``_lsvi_counts.py``.
"""

from typing import NamedTuple

import numpy as np

from nscmdp.algorithms._lsvi_counts import CountingLSVI
from nscmdp.algorithms._lsvi_features import LSVI, forget
from nscmdp.learner import scalars
from nscmdp.problem import Problem

CONFIDENCE = 0.05  # p
SUMS = dict.fromkeys(("violations", "violations_Y", "violations_squared"), 0.0)


class Constants(NamedTuple):
    D: int  # 0: no restart
    xi: float
    alpha: float
    eta: float
    beta: float
    ridge: float  # lambda
    eps: float = 0.0  # what the constraint is tightened by


class Known(NamedTuple):
    """What the printed constants are made of, beside H, K and B."""

    d: int
    delta: float
    log_A: float
    p: float


def known(problem: Problem) -> Known:
    if problem.delta <= 0:
        found = f"the Slater gap is {problem.delta:.3g}"
        raise ValueError(f"{found}: Algorithm 3 expects a policy that exceeds rho everywhere")
    features = problem.env.features
    d = problem.S * problem.A if features is None else features.shape[2]
    return Known(d, problem.delta, np.log(max(problem.A, 2)), CONFIDENCE)


class Budget(NamedTuple):
    """B as it enters the frame and the rest; with features, by the linear definition."""

    frame: float
    rest: float


def budget_in(problem: Problem) -> Budget:
    if problem.linear_budget is None or problem.candidate_B is not None:
        return Budget(problem.frame_B, problem.B)
    linear = max(1.0, problem.linear_budget)
    on_rest = problem.assumed_budget if problem.assumed_for == "all" else 1.0
    return Budget(linear * problem.assumed_budget, linear * on_rest)


def lsvi(
    problem: Problem, arms: list[Constants], *, realised: bool = False, carry: bool = False
) -> LSVI | CountingLSVI:
    """The learner before its first episode; a restart changes D and eps to those of another of the arms."""
    first = arms[0]
    if first.ridge <= 0:
        raise ValueError(f"ridge = {first.ridge}: expected a positive number")
    H, S, A = problem.H, problem.S, problem.A
    choices = np.array([(float(arm.D), problem.rho + arm.eps) for arm in arms])
    every_kind = {
        "q": np.zeros((2, S, A)),
        "chances": np.full((H, S, A), 1 / A),
        "values": np.zeros((H + 1, S, 2)),
        "now": scalars(Y=0.0, drive=0.0, episode=0, frame=first.D, target=choices[0, 1], **SUMS),
        "arms": choices,
        **{name: float(getattr(first, name)) for name in ("alpha", "beta", "eta", "xi", "ridge")},
        "realised": realised,
        "carry": carry,
    }
    if problem.env.features is None:
        # Room alone: which successors there are, and how many, is learnt.
        columns = problem.env.successors.shape[3]
        return CountingLSVI(
            met=np.tile(np.arange(S, dtype=np.uint32), (H, 1)),
            known=np.full(H, S),
            visits=np.zeros((H, S, A)),
            sums=np.zeros((H, S, A, 2)),
            reached=np.zeros((H, S, A), np.int64),
            successors=np.zeros((H, S, A, columns), np.uint32),
            counts=np.zeros((H, S, A, columns)),
            **every_kind,
        )
    phi = np.ascontiguousarray(problem.env.features.reshape(S * A, -1).T)
    d = len(phi)
    learner = LSVI(
        phi=phi,
        gram=np.empty((H, d, d)),
        inverse=np.empty((H, d, d)),
        sums=np.empty((H, 2, d)),
        moves=np.empty((H, S, d)),
        uncertainty=np.empty((H, S * A)),
        weights=np.zeros((H, 2, d)),
        room=np.empty(max(d * d, 2 * d + S * A)),
        **every_kind,
    )
    forget(learner)
    return learner
