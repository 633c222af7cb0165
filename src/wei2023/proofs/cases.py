"""Drifting CMDPs to try a statement on."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from nscmdp import budget, optimum
from nscmdp.cmdp import CMDP, Array
from nscmdp.drift import DriftingCMDP
from wei2023.proofs.findings import Given
from wei2023.proofs.instrumented import Constants, Sizes, literal


class Case(NamedTuple):
    """A drifting CMDP, its sizes with a budget of at least 1, and policies fixed beforehand."""

    name: str
    env: DriftingCMDP
    sizes: Sizes
    policies: Array  # (m, H, S, A)

    @property
    def constants(self) -> Constants:
        return literal(self.sizes)


def case(name: str, env: DriftingCMDP, rng: np.random.Generator) -> Case:
    """With a random, a deterministic and the uniform policy."""
    drawn = rng.dirichlet(np.ones(env.A), size=(env.H, env.S))
    sure = np.eye(env.A)[rng.integers(env.A, size=(env.H, env.S))]
    sizes = Sizes(env.S, env.A, env.H, env.episodes, max(1.0, budget.variation(env).total))
    return Case(name, env, sizes, np.stack([drawn, sure, np.full(drawn.shape, 1 / env.A)]))


def cases(given: Given, claim: str) -> Iterator[Case]:
    """Random drifting CMDPs of varied sizes."""
    for number in range(given.problems):
        rng = given.rng(claim, number)
        H, S, A = 1 + number % 4, 1 + (number // 4) % 4, 1 + (number // 2) % 3
        env = drifting(rng, H, S, A, int(rng.integers(60, 140)), float(rng.uniform(0.1, 1.0)))
        yield case(f"random {number}", env, rng)


def runs_each(given: Given) -> int:
    return max(4, given.samples // max(1, given.problems))


def drifting(
    rng: np.random.Generator, H: int, S: int, A: int, K: int, share: float
) -> DriftingCMDP:
    """From a random model a ``share`` of the way to another, at one speed, always feasible."""
    P = rng.dirichlet(np.full(S, 0.5), size=(2, H, S, A))
    r, g = rng.random((2, 2, H, S, A))
    mu0 = rng.dirichlet(np.ones(S))
    P[1], r[1], g[1] = ((1 - share) * first + share * last for first, last in (P, r, g))
    rho = min(optimum.best_utility(CMDP(*ends, 0.0, mu0)) for ends in zip(P, r, g, strict=True)) / 2
    anchors = [CMDP(*ends, rho, mu0) for ends in zip(P, r, g, strict=True)]
    return DriftingCMDP(anchors, [1, K], name="drifting")


def arms(r: ArrayLike, g: ArrayLike, rho: float, H: int = 1) -> CMDP:
    """One state, whose actions pay the same at each of H steps."""
    paid, utility = (np.ones((H, 1, 1)) * np.array(one, dtype=float) for one in (r, g))
    return CMDP(P=np.ones((H, 1, paid.shape[2], 1)), r=paid, g=utility, rho=rho, mu0=[1.0])


def tightened(cmdp: CMDP, eps: float) -> CMDP:
    return CMDP(P=cmdp.P, r=cmdp.r, g=cmdp.g, rho=cmdp.rho + eps, mu0=cmdp.mu0)


def ladder(H: int, K: int) -> DriftingCMDP:
    """From start m the paying chain, state 0, is entered at step m.

    Where the starts are H, H-1, .., 1 in this order, Q is the largest that it can be.
    """
    P, r = np.zeros((H, H + 1, 1, H + 1)), np.ones((H, H + 1, 1))
    for h, m in np.ndindex(H, H + 1):
        P[h, m, 0, 0 if h + 2 >= m else m] = 1.0
    mu0 = [1 / H, 0.0, *(H - 1) * [1 / H]]
    return DriftingCMDP([CMDP(P, r, r, 0.5, mu0)], [1], episodes=K, name="ladder")


def falling(H: int, K: int, kernel: bool) -> DriftingCMDP:
    """All rewards fall from 1 to 0; or the first step's kernel leaves the one state that pays."""
    P, r = np.tile(np.eye(2)[:, None], (2, H, 1, 2, 1)), np.ones((2, H, 2, 2))
    if kernel:
        P[:, 0] = np.eye(2)[:, None, None]
        r[:, 0] = r[:, :, 1] = 0
    else:
        r[1] = 0
    anchors = [CMDP(*end, np.ones((H, 2, 2)), 0.0, [1.0, 0.0]) for end in zip(P, r, strict=True)]
    return DriftingCMDP(anchors, [1, K], name="falling")
