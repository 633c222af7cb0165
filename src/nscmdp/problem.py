"""What an algorithm is told of its problem: sizes, the threshold, and the variation budgets."""

import warnings
from typing import Literal, NamedTuple

from nscmdp import budget, optimum
from nscmdp.path import Path


class DoesNotFit(UserWarning):
    """A frame or epoch that had to be cut to fit into the episodes there are."""


class Problem(NamedTuple):
    S: int
    A: int
    H: int
    K: int
    rho: float
    reward_budget: float
    utility_budget: float
    transition_budget: float
    env: Path
    linear_budget: float | None = None  # B by the linear definition, where the environment has features

    @classmethod
    def of(cls, env: Path) -> "Problem":
        measured = budget.variation(env)
        linear = None if env.features is None else budget.linear_variation(env).total
        return cls(env.S, env.A, env.H, env.episodes, env.rho, *measured, env, linear)

    @property
    def B(self) -> float:
        """The total budget; the theory asks for at least 1 (a smaller one would stretch frames without bound)."""
        return max(1.0, self.reward_budget + self.utility_budget + self.transition_budget)

    @property
    def delta(self) -> float:
        """The Slater gap: what the best policy's utility has to spare, in the anchor where that is least."""
        return min(optimum.best_utility(anchor) for anchor in self.env.anchors) - self.rho

    def frame(self, length: float) -> int:
        """A whole number of episodes, at least one and at most K."""
        if not 1 <= length <= self.K and self.told == 1.0:
            warnings.warn(
                f"a frame of {length:.3g} episodes does not fit into K = {self.K}: expected 1 to {self.K}",
                DoesNotFit,
                stacklevel=2,
            )
        return int(min(max(length, 1), self.K))
