"""What an algorithm knows of its problem: sizes, the threshold, and the variation budgets."""

import warnings
from functools import lru_cache
from typing import Literal, NamedTuple

from nscmdp import budget, optimum
from nscmdp.drift import DriftingCMDP

AssumedFor = Literal["all", "frame"]


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
    env: DriftingCMDP
    linear_budget: float | None = None  # B by the linear definition, where there are features
    assumed_budget: float = 1.0  # the multiple of the true budget that the learner assumes ...
    assumed_for: AssumedFor = "all"  # ... in all its constants, or in the length of its frames
    candidate_B: float | None = None  # a budget that a bandit tries in place of the declared one

    @classmethod
    def of(
        cls, env: DriftingCMDP, assumed_budget: float = 1.0, assumed_for: AssumedFor = "all"
    ) -> "Problem":
        if not 0 < assumed_budget < float("inf"):
            raise ValueError(f"assumed_budget = {assumed_budget}: expected a positive number")
        if assumed_for not in ("all", "frame"):
            raise ValueError(f"assumed_for = {assumed_for!r}: expected 'all' or 'frame'")
        measured = budget.variation(env)
        linear = None if env.features is None else budget.linear_variation(env).total
        sizes = env.S, env.A, env.H, env.episodes, env.rho
        return cls(*sizes, *measured, env, linear, assumed_budget, assumed_for)

    @property
    def _B(self) -> float:
        """The theory asks for a budget of at least 1 (a smaller one would stretch frames without bound)."""
        return max(1.0, self.reward_budget + self.utility_budget + self.transition_budget)

    @property
    def B(self) -> float:
        """The total budget that constants other than the frame are made from."""
        if self.candidate_B is not None:
            return self.candidate_B
        return self._B * (self.assumed_budget if self.assumed_for == "all" else 1.0)

    @property
    def frame_B(self) -> float:
        """The total budget that the frame is made from."""
        return self._B * self.assumed_budget if self.candidate_B is None else self.candidate_B

    @property
    def delta(self) -> float:
        """The Slater gap: what the best policy's utility has to spare, in the anchor where that is least."""
        return best_utility(self.env) - self.rho

    @property
    def slater_gap(self) -> float:
        """delta, for constants that divide by it."""
        if self.delta <= 0:
            raise ValueError(
                f"the best utility exceeds rho by {self.delta:g}: a positive Slater gap is needed"
            )
        return self.delta

    def frame(self, length: float) -> int:
        """A whole number of episodes, at least one and at most K."""
        if not 1 <= length <= self.K and self.assumed_budget == 1.0 and self.candidate_B is None:
            warnings.warn(
                f"a frame of {length:.3g} episodes does not fit into K = {self.K}: expected 1 to {self.K}",
                DoesNotFit,
                stacklevel=2,
            )
        return int(min(max(length, 1), self.K))


@lru_cache(maxsize=1)
def best_utility(env: DriftingCMDP) -> float:
    """In the anchor where that is least; a bandit's arms ask for it one by one."""
    return min(optimum.best_utility(anchor) for anchor in env.anchors)
