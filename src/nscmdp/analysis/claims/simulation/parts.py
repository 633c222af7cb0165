"""C20, the paper's simulation, in parts that the exact V_k and W_k of one run decide.

"Algorithm 1 quickly learns a well-performing policy and keeps the limit, while Triple-Q and RestartQ-UCB break it."
With the default thresholds of workflow/claims.yaml, which were fixed before any run:

    Lam = sum (V - V_uniform) / sum (V* - V_uniform)  over a stretch of episodes: 0 is the uniform policy, 1 the optimum
    C20a  well-performing   Lam >= 0.8 over the last fifth
    C20b  quickly           Lam over K/50 episodes reaches 0.8 by K/4 and stays above 0.7 from then on
          forgiving         Lam over K/50 episodes reaches 0.8 by K/4, and Lam over all that follows K/4 is >= 0.8:
                            a mean, in which the dip after a restart is forgiven
    C20c  keeps the limit   mean cost <= limit over all episodes, <= 1.01 limit in each tenth from the third on
    C20d  Triple-Q breaks it          mean cost > 1.01 limit over the last fifth
    C20e  RestartQ-UCB breaks it      likewise

A part holds where at least nine in ten seeds agree, does not where at most one in ten does, and is mixed in between.
What the paper plots is the mean of ten trials: it is judged once, as if it were a run.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from nscmdp import metrics
from nscmdp.analysis.claims.simulation.rules import At
from nscmdp.analysis.tables import LAST

HOLDS, FAILS, MIXED, VOID = "holds", "does not hold", "mixed", "void"
WHOLE, FORGIVING = "C20", "C20 forgiving"


class Seed(NamedTuple):
    """What a part is judged by: one learner, one seed."""

    share: np.ndarray  # k/K of the evaluated episodes
    weight: np.ndarray
    gain: np.ndarray  # V - V_uniform
    room: np.ndarray  # V* - V_uniform
    cost: np.ndarray
    limit: float

    def lam(self, after: float = 0.0) -> float:
        late = self.share > after
        return float((self.weight * self.gain)[late].sum() / (self.weight * self.room)[late].sum())

    def moving_lam(self) -> tuple[np.ndarray, np.ndarray]:
        """Lam over each K/50 episodes, and where in the run they end."""
        width = max(1, round(len(self.share) / 50))
        gain, room = (np.convolve(self.weight * of, np.ones(width), "valid") for of in (self.gain, self.room))
        return gain / room, self.share[width - 1 :]

    def mean_cost(self, after: float = 0.0, until: float = 1.0) -> float:
        within = (self.share > after) & (self.share <= until)
        return metrics.mean(self.cost[within], self.weight[within])


def seeds_of(exact: pd.DataFrame) -> list[Seed]:
    return [
        Seed(
            (one["episode"] / one["episodes"]).to_numpy(),
            one["weight"].to_numpy(),
            (one["value"] - one["uniform_value"]).to_numpy(),
            (one["optimal_value"] - one["uniform_value"]).to_numpy(),
            (one["horizon"] - one["utility_value"]).to_numpy(),
            float(one["horizon"].iloc[0] - one["rho"].iloc[0]),
        )
        for _, one in exact.groupby("seed", sort=True)
    ]


def mean_run(seeds: list[Seed]) -> Seed:
    """The mean of some trials, stratum by stratum; a stratum is where the first has its evaluated episode."""
    curves = ("gain", "room", "cost")
    return seeds[0]._replace(**{name: np.mean([getattr(seed, name) for seed in seeds], axis=0) for name in curves})


def performs_well(seed: Seed, at: At) -> bool:
    return seed.lam(after=LAST) >= at.learnt


def learns_quickly(seed: Seed, at: At) -> bool:
    moving, share = seed.moving_lam()
    reached = np.flatnonzero(moving >= at.learnt)
    in_time = len(reached) > 0 and share[reached[0]] <= at.deadline
    return bool(in_time and (moving[reached[0] :] >= min(at.floor, at.learnt)).all())


def learns_quickly_but_for_dips(seed: Seed, at: At) -> bool:
    moving, share = seed.moving_lam()
    in_time = (moving[share <= at.deadline] >= at.learnt).any()
    return bool(in_time and seed.lam(after=at.deadline) >= at.learnt)


def keeps_the_limit(seed: Seed, at: At) -> bool:
    tenths = [seed.mean_cost(i / 10, (i + 1) / 10) for i in range(2, 10)]
    return seed.mean_cost() <= seed.limit and max(tenths) <= at.slack * seed.limit


def breaks_the_limit(seed: Seed, at: At) -> bool:
    return seed.mean_cost(after=LAST) > at.slack * seed.limit


class Part(NamedTuple):
    name: str
    says: str
    algorithm: str
    judge: Callable[[Seed, At], bool]
    thresholds: tuple[str, ...]  # besides the share of seeds that must agree


FIRST = "nonstationary_triple_q"
QUICKLY = "Algorithm 1 learns quickly"
PARTS = (
    Part("C20a", "Algorithm 1 performs well", FIRST, performs_well, ("learnt",)),
    Part("C20b", QUICKLY, FIRST, learns_quickly, ("learnt", "floor", "deadline")),
    Part("C20b forgiving", f"{QUICKLY}, dips forgiven", FIRST, learns_quickly_but_for_dips, ("learnt", "deadline")),
    Part("C20c", "Algorithm 1 keeps the limit", FIRST, keeps_the_limit, ("slack",)),
    Part("C20d", "Triple-Q breaks the limit", "triple_q", breaks_the_limit, ("slack",)),
    Part("C20e", "RestartQ-UCB breaks the limit", "restart_q_ucb", breaks_the_limit, ("slack",)),
)
ASKS = {  # of the claim as a whole: all parts, with "quickly" in one of its two readings
    WHOLE: tuple(part.name for part in PARTS if part.name != "C20b forgiving"),
    FORGIVING: tuple(part.name for part in PARTS if part.name != "C20b"),
}


def verdict(agree: int, seeds: int, agreement: float) -> str:
    if agree >= agreement * seeds - 1e-9:
        return HOLDS
    return FAILS if agree <= (1 - agreement) * seeds + 1e-9 else MIXED


def clopper_pearson(agree: int, seeds: int) -> tuple[float, float]:
    interval = stats.binomtest(agree, seeds).proportion_ci(0.95, method="exact")
    return float(interval.low), float(interval.high)


def together(verdicts: list[str]) -> str:
    """Of a claim that asks for all of its parts."""
    for answer in (VOID, FAILS, MIXED):
        if answer in verdicts:
            return answer
    return HOLDS
