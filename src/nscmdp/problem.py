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
    told: float = 1.0  # the multiple of its budget that the learner is told ...
    told_for: Literal["all", "frame"] = "all"  # ... for all its constants, or for the length of its frames alone

    @classmethod
    def of(cls, env: Path, told: float = 1.0, told_for: Literal["all", "frame"] = "all") -> "Problem":
        if not 0 < told < float("inf"):
            raise ValueError(f"told = {told}: expected a positive number")
        if told_for not in ("all", "frame"):
            raise ValueError(f"told_for = {told_for!r}: expected 'all' or 'frame'")
        measured = budget.variation(env)
        linear = None if env.features is None else budget.linear_variation(env).total
        return cls(env.S, env.A, env.H, env.episodes, env.rho, *measured, env, linear, told, told_for)

    @property
    def _B(self) -> float:
        """The theory asks for a budget of at least 1 (a smaller one would stretch frames without bound)."""
        return max(1.0, self.reward_budget + self.utility_budget + self.transition_budget)

    @property
    def B(self) -> float:
        """The total budget that constants other than the frame are made from."""
        return self._B * (self.told if self.told_for == "all" else 1.0)

    @property
    def frame_B(self) -> float:
        """The total budget that the frame is made from."""
        return self._B * self.told

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
