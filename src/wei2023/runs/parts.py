"""C20, the paper's simulation, in parts: each is the distance of one run to its thresholds, and holds from 0 on.

"Algorithm 1 quickly learns a well-performing policy and keeps the limit, while Triple-Q and RestartQ-UCB break it."
With Lam = sum (V - V_uniform) / sum (V* - V_uniform) over some episodes (0 is the uniform policy, 1 the optimum),
costs in shares of the limit, and the thresholds of workflow/claims.yaml:

    C20a              Lam over the last fifth - learnt
    C20b              the lesser of  max Lam until the deadline - learnt  and  least Lam from there on - floor
    C20b forgiving    the lesser of  max Lam until the deadline - learnt  and  Lam after the deadline - learnt
    C20c              the lesser of  limit - cost  over all episodes and  slack limit - cost  in the worst tenth
    C20d, C20e        cost over the last fifth - slack limit

Lam until and from the deadline on is that of stretches of K/50 episodes. Tenths count from the third on. The margin
of a part is its mean distance over runs, in standard deviations between runs.
"""

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from nscmdp import metrics
from nscmdp.drift import DriftingCMDP
from nscmdp.metrics import Array
from nscmdp.simulate import Run
from nscmdp.suite.scoring import Margins
from wei2023.study.catalogue import FIRST

LAST = 0.8  # where the last fifth of a run begins


class Thresholds(NamedTuple):
    learnt: float
    floor: float
    deadline: float
    slack: float


class Trial(NamedTuple):
    """What a part is judged by: the evaluated episodes of one run."""

    share: Array  # k/K
    weight: Array
    gain: Array  # V - V_uniform
    room: Array  # V* - V_uniform
    cost: Array
    limit: float

    def lam(self, after: float = 0.0) -> float:
        late = self.share > after
        return float((self.weight * self.gain)[late].sum() / (self.weight * self.room)[late].sum())

    def moving_lam(self) -> tuple[Array, Array]:
        """Lam over each K/50 episodes, and where in the run they end."""
        width = max(1, round(len(self.share) / 50))
        gain, room = (
            np.convolve(self.weight * of, np.ones(width), "valid") for of in (self.gain, self.room)
        )
        return gain / room, self.share[width - 1 :]

    def mean_cost(self, after: float = 0.0, until: float = 1.0) -> float:
        within = (self.share > after) & (self.share <= until)
        return metrics.mean(self.cost[within], self.weight[within])

    def worst_tenth(self) -> float:
        return max(self.mean_cost(i / 10, (i + 1) / 10) for i in range(2, 10))


def trial(exact: pd.DataFrame) -> Trial:
    """From the rows of one run in a table of exact values."""
    return Trial(
        (exact["episode"] / exact["episodes"]).to_numpy(),
        exact["weight"].to_numpy(),
        (exact["value"] - exact["uniform_value"]).to_numpy(),
        (exact["optimal_value"] - exact["uniform_value"]).to_numpy(),
        metrics.cost(exact["horizon"], exact["utility_value"]).to_numpy(),
        float(exact["horizon"].iloc[0] - exact["rho"].iloc[0]),
    )


def performs_well(run: Trial, at: Thresholds) -> float:
    return run.lam(after=LAST) - at.learnt


def learns_quickly(run: Trial, at: Thresholds) -> float:
    moving, share = run.moving_lam()
    early = moving[share <= at.deadline]
    if not len(early):
        return -1.0
    reached = np.flatnonzero(early >= at.learnt)
    begin = reached[0] if len(reached) else early.argmax()
    return float(min(early.max() - at.learnt, moving[begin:].min() - min(at.floor, at.learnt)))


def forgives_dips(run: Trial, at: Thresholds) -> float:
    moving, share = run.moving_lam()
    early = moving[share <= at.deadline]
    return float(min(early.max(initial=-1.0), run.lam(after=at.deadline)) - at.learnt)


def keeps_the_limit(run: Trial, at: Thresholds) -> float:
    return min(run.limit - run.mean_cost(), at.slack * run.limit - run.worst_tenth()) / (
        run.limit or 1.0
    )


def breaks_the_limit(run: Trial, at: Thresholds) -> float:
    """A cost of exactly so much does not break it yet."""
    above = (run.mean_cost(after=LAST) - at.slack * run.limit) / (run.limit or 1.0)
    return above or -sys.float_info.min


class Part(NamedTuple):
    name: str
    says: str
    algorithm: str
    distance: Callable[[Trial, Thresholds], float]
    thresholds: tuple[str, ...]


TRIPLE_Q, RESTART_Q = "triple_q", "restart_q_ucb"
QUICKLY = "Algorithm 1 learns quickly"
ALL = (
    Part("C20a", "Algorithm 1 performs well", FIRST, performs_well, ("learnt",)),
    Part("C20b", QUICKLY, FIRST, learns_quickly, ("learnt", "floor", "deadline")),
    Part(
        "C20b forgiving", f"{QUICKLY}, dips allowed", FIRST, forgives_dips, ("learnt", "deadline")
    ),
    Part("C20c", "Algorithm 1 keeps the limit", FIRST, keeps_the_limit, ("slack",)),
    Part("C20d", "Triple-Q breaks the limit", TRIPLE_Q, breaks_the_limit, ("slack",)),
    Part("C20e", "RestartQ-UCB breaks the limit", RESTART_Q, breaks_the_limit, ("slack",)),
)
PARTS = {part.name: part for part in ALL}
OWN = ("C20a", "C20b forgiving", "C20c")  # what an author tunes her own method for


def margins_of(spec: dict[str, Any]) -> Margins | None:
    """What a tuning is scored by where its objective is the margin: the parts about Algorithm 1."""
    if spec["objective"] != "margin":
        return None
    at = Thresholds(**spec["thresholds"])

    def distances(run: Run, best: pd.DataFrame, env: DriftingCMDP) -> dict[str, float]:
        uniform = best["uniform"].to_numpy()
        judged = Trial(
            share=run.episode / env.episodes,
            weight=run.weight.astype(float),
            gain=run.value - uniform,
            room=best["value"].to_numpy() - uniform,
            cost=metrics.cost(env.H, run.utility_value),
            limit=metrics.cost(env.H, run.rho),
        )
        return {name: PARTS[name].distance(judged, at) for name in OWN}

    return Margins(OWN, distances)
