"""Drifting CMDPs to try a statement on, and what the parts of a statement come to together."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from nscmdp import budget, optimum
from nscmdp.analysis.claims.findings import FAILS, HOLDS, MIXED, Given
from nscmdp.analysis.claims.instrumented import Constants, Sizes, literal
from nscmdp.cmdp import CMDP, Array
from nscmdp.drift import DriftingCMDP


def verdict(parts: Mapping[str, bool], holding: str = HOLDS) -> str:
    if all(parts.values()):
        return holding
    return MIXED if any(parts.values()) else FAILS


def broken(parts: Mapping[str, bool]) -> str:
    return "".join(f"; not so: {part}" for part, holds in parts.items() if not holds)


def plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """With numpy's numbers as Python's."""
    return {key: value.item() if isinstance(value, np.generic) else value for key, value in row.items()}


class Case(NamedTuple):
    """A drifting CMDP, its sizes with the budget that constants are made from, and policies that nothing depends on."""

    name: str
    env: DriftingCMDP
    sizes: Sizes
    policies: Array  # (m, H, S, A)

    @property
    def constants(self) -> Constants:
        return literal(self.sizes)

    def frames(self, restarts: bool = True) -> list[tuple[int, int]]:
        """First and last episode of what the tables remember at once."""
        L = self.constants.frame if restarts else self.sizes.K
        return [(first, min(first + L - 1, self.sizes.K)) for first in range(1, self.sizes.K + 1, L)]


def case(name: str, env: DriftingCMDP, rng: np.random.Generator, least: float = 1.0) -> Case:
    """With a random, a deterministic and the uniform policy; the budget counts as ``least`` at least."""
    drawn = rng.dirichlet(np.ones(env.A), size=(env.H, env.S))
    sure = np.eye(env.A)[rng.integers(env.A, size=(env.H, env.S))]
    B = max(least, budget.variation(env).total)
    sizes = Sizes(env.S, env.A, env.H, env.episodes, B)
    return Case(name, env, sizes, np.stack([drawn, sure, np.full(drawn.shape, 1 / env.A)]))


def drifting(rng: np.random.Generator, H: int, S: int, A: int, K: int, share: float) -> DriftingCMDP:
    """From a random model a ``share`` of the way to another, at one speed; the constraint can be kept throughout."""
    P = rng.dirichlet(np.full(S, 0.5), size=(2, H, S, A))
    r, g = rng.random((2, 2, H, S, A))
    mu0 = rng.dirichlet(np.ones(S))
    P[1], r[1], g[1] = ((1 - share) * first + share * last for first, last in (P, r, g))
    least = min(optimum.best_utility(CMDP(P[i], r[i], g[i], 0.0, mu0)) for i in range(2))
    anchors = [CMDP(P[i], r[i], g[i], 0.5 * least, mu0) for i in range(2)]
    return DriftingCMDP(anchors, [1, K], name="drifting")


def ladder(H: int, K: int) -> DriftingCMDP:
    """From start m the paying chain, state 0, is entered at step m: where starts are H, H-1, .., 1, Q is largest."""
    P = np.zeros((H, H + 1, 1, H + 1))
    P[:, 0, 0, 0] = 1.0
    for h in range(H):
        for m in range(1, H + 1):
            P[h, m, 0, 0 if h + 2 >= m else m] = 1.0
    r = np.ones((H, H + 1, 1))
    mu0 = np.append(1 / H, np.append(0.0, np.full(H - 1, 1 / H)))
    return DriftingCMDP([CMDP(P, r, r, 0.5, mu0)], [1], episodes=K, name="ladder")


def falling(H: int, K: int, kernel: bool) -> DriftingCMDP:
    """All rewards fall together from 1 to 0; or the first step's kernel leaves the one state that pays."""
    stay = np.broadcast_to(np.eye(2)[None, :, None], (H, 2, 2, 2))
    paid, utility = np.zeros((H, 2, 2)), np.ones((H, 2, 2))
    paid[1:, 0] = 1.0
    entered, left = stay.copy(), stay.copy()
    entered[0], left[0] = [1.0, 0.0], [0.0, 1.0]
    ends = ((entered, paid), (left, paid)) if kernel else ((stay, utility), (stay, 0 * utility))
    return DriftingCMDP([CMDP(P, r, utility, 0.0, [1.0, 0.0]) for P, r in ends], [1, K], name="falling")


def cases(given: Given, claim: str) -> Iterator[Case]:
    """Random drifting CMDPs of varied sizes."""
    for number in range(given.problems):
        rng = given.rng(claim, number)
        H, S, A = 1 + number % 4, 1 + (number // 4) % 4, 1 + (number // 2) % 3
        env = drifting(rng, H, S, A, int(rng.integers(60, 140)), float(rng.uniform(0.1, 1.0)))
        yield case(f"random {number}", env, rng)


def runs_each(given: Given) -> int:
    return max(4, given.samples // max(1, given.problems))
