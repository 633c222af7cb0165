"""Drifting CMDPs to try a statement on, random rewards, and findings on a bound."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from nscmdp import budget, optimum
from nscmdp.cmdp import CMDP, Array
from nscmdp.drift import DriftingCMDP
from wei2023.proofs.findings import Finding, Given, Inequality, Notice
from wei2023.proofs.instrumented import Constants, Model, Path, Sizes, literal

Numbers = Sequence[tuple[str, str | float]]
Step = tuple[str, str, float]  # what a step of a proof says, where, and what was measured


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


def bounded(
    answer: str,
    why: str,
    value: float,
    notices: str,
    samples: int,
    numbers: Numbers,
    step: Step,
    bound: float = 1.0,
) -> Finding:
    """On a value of at most ``bound``; what a check notices, it notices from their quotient on."""
    says, where, measured = step
    edges = (value, value, value, bound, bound - value, "share of the bound")
    steps = [Inequality(says, where, bound, measured)]
    return Finding(answer, why, numbers, Notice(notices, bound / value), *edges, samples, steps)


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


def ladder(H: int, K: int) -> DriftingCMDP:
    """From start m the paying chain, state 0, is entered at step m.

    Where the starts are H, H-1, .., 1 in this order, Q is the largest that it can be.
    """
    P = np.zeros((H, H + 1, 1, H + 1))
    P[:, 0, 0, 0] = 1.0
    for h in range(H):
        for m in range(1, H + 1):
            P[h, m, 0, 0 if h + 2 >= m else m] = 1.0
    r = np.ones((H, H + 1, 1))
    mu0 = np.append(1 / H, np.append(0.0, np.full(H - 1, 1 / H)))
    return DriftingCMDP([CMDP(P, r, r, 0.5, mu0)], [1], episodes=K, name="ladder")


def falling(H: int, K: int, kernel: bool) -> DriftingCMDP:
    """All rewards fall from 1 to 0; or the first step's kernel leaves the one state that pays."""
    stay = np.broadcast_to(np.eye(2)[None, :, None], (H, 2, 2, 2))
    paid, utility = np.zeros((H, 2, 2)), np.ones((H, 2, 2))
    paid[1:, 0] = 1.0
    entered, left = stay.copy(), stay.copy()
    entered[0], left[0] = [1.0, 0.0], [0.0, 1.0]
    ends = ((entered, paid), (left, paid)) if kernel else ((stay, utility), (stay, 0 * utility))
    return DriftingCMDP(
        [CMDP(P, r, utility, 0.0, [1.0, 0.0]) for P, r in ends], [1, K], name="falling"
    )


class Bernoulli(NamedTuple):
    """What is read from it is 0 or 1 with these means, drawn at every reading."""

    mean: Array
    rng: np.random.Generator

    def __len__(self) -> int:
        return len(self.mean)

    def __getitem__(self, at: Any) -> Any:
        return (self.rng.random(self.mean[at].shape) < self.mean[at]).astype(float)


class RandomRewards(Path):
    """The models of a drifting CMDP with rewards and utilities of 0 or 1 that have its means."""

    def __init__(self, env: DriftingCMDP, rng: np.random.Generator) -> None:
        super().__init__(env)
        self.rng = rng

    def at(self, k: int) -> Model:
        P, r, g, rho, mu0 = super().at(k)
        drawn: tuple[Any, Any] = Bernoulli(r, self.rng), Bernoulli(g, self.rng)
        return Model(P, *drawn, rho, mu0)
