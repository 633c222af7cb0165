"""From which K on Theorems 1 and 2, corrected, promise something, and what is measured at the K that can be run.

    K >= max{(16 sqrt(S A H^6 iota^3) B^(1/3)/delta)^5, e^(1/delta)}      Theorem 1
    K >= max{(40 sqrt(S A H^6 iota^3) B^(1/3)/delta)^9, e^(1/delta)}      Theorem 2, its Omega taken as 1

Both are smallest, among all problems with a choice, for S = H = 1, A = 2, delta = B = 1, since delta <= H. The powers
of ten of such a K are shared out among the factors of the condition. Two more K of Theorem 1: where the sum of the
explicit regret bound's terms (``bounds.py``) falls below H K, and where the least eps that the proof's own bounds on
estimation error and queue ask for, K eps >= L E[Z] + estimation error, falls to delta/2.
"""

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from nscmdp import environments, optimum
from nscmdp.analysis import tables, theory
from nscmdp.analysis.claims import bounds
from nscmdp.analysis.claims.counterexamples import two_arms
from nscmdp.analysis.claims.findings import Given, Inequality
from nscmdp.cmdp import CMDP
from nscmdp.drift import DriftingCMDP
from nscmdp.problem import Problem
from nscmdp.study import layout

SECOND = "double_restart_triple_q"  # Algorithm 2
EXPONENT = {theory.FIRST: Fraction(4, 5), SECOND: Fraction(8, 9)}
POWER = {theory.FIRST: 5, SECOND: 9}  # of the condition on K
STEPS = 1e15  # that one core takes in a year, at 30 ns each
SMALL: dict[str, Any] = {"map": "6x6", "horizon": 15, "limit": 2.0}
SWITCH: dict[str, Any] = {"switch": "goal", "switch_at": (0.5,)}
GROWTH = "menu, 4 legs"
STUDY: dict[str, tuple[str, int, dict[str, Any]]] = {  # the environments that are run, or shown, and their K
    "grid world 18x18": ("grid_world", 80_000, {}),
    "grid world 18x18, current location": ("grid_world", 80_000, {"location": "current"}),
    "grid world 18x18, success falls": ("grid_world", 80_000, {"success_drift": -0.5}),
    "grid world 18x18, goal switches": ("grid_world", 80_000, SWITCH),
    "grid world 6x6": ("grid_world", 320_000, SMALL),
    "grid world 6x6, cost rests": ("grid_world", 320_000, {**SMALL, "cost_drift": 0.0}),
    "grid world 6x6, goal switches": ("grid_world", 320_000, {**SMALL, **SWITCH}),
    "menu, 1 leg": ("menu", 262_144, {"legs": 1}),
    GROWTH: ("menu", 1_048_576, {"legs": 4}),
    "menu, 100 legs": ("menu", 262_144, {"legs": 100}),
    "random tabular": ("random_tabular", 65_536, {}),
}
Promise = Callable[[str, Problem], float]
Row = dict[str, Any]


def study() -> dict[str, DriftingCMDP]:
    return {label: environments.make(name, K, **options) for label, (name, K, options) in STUDY.items()}


class Sized(NamedTuple):
    """What a bound knows of a problem, and the K from which a theorem promises something there."""

    sizes: Mapping[str, float]  # S, A, H, B and delta
    log10_K: float

    @classmethod
    def of(cls, problem: Problem, algorithm: str, promise: Promise = theory.from_episodes) -> "Sized":
        sizes = {name: float(getattr(problem, name)) for name in ("S", "A", "H", "B", "delta")}
        return cls(sizes, math.log10(promise(algorithm, problem)))

    @property
    def logs(self) -> dict[str, float]:
        return bounds.logs_of(self.sizes, self.log10_K)


def smallest() -> Problem:
    """S = H = 1, A = 2, delta = 1, and nothing drifts, which counts as B = 1."""
    return Problem.of(DriftingCMDP([two_arms((1.0, 0.0), (1.0, 1.0), 0.0)], [1]))


def factors(at: Sized, power: int) -> dict[str, float]:
    """The powers of ten of K, by factor of the condition."""
    logs = at.logs
    named = {
        "sqrt(S A)": 0.5 * (logs["S"] + logs["A"]),
        "H^3": 3 * logs["H"],
        "iota^(3/2)": 1.5 * logs["iota"],
        "B^(1/3)": logs["B"] / 3,
        "1/delta": -logs["delta"],
    }
    named["constant"] = at.log10_K / power - sum(named.values())
    return {name: power * orders for name, orders in named.items()}


def least_log10_K(enough: Callable[[float], bool], most: float) -> float:
    """The least log10 K up to ``most`` that is enough, where all larger ones are."""
    low, high = 0.0, most
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def informative_from(at: Sized) -> float:
    """log10 of the K from which the explicit regret bound is below H K."""

    def enough(log10_K: float) -> bool:
        logs = bounds.logs_of(at.sizes, log10_K)
        return bounds.total(bounds.regret(), logs) < logs["H"] + log10_K

    return least_log10_K(enough, 2 * at.log10_K)


def lean_from(at: Sized) -> float:
    """log10 of the K from which the least eps that the proof's own bounds need is at most delta/2."""

    def enough(log10_K: float) -> bool:
        logs = bounds.logs_of(at.sizes, log10_K)
        return bounds.EPS.log10(logs) - bounds.spare("derived", logs) <= logs["delta"] - math.log10(2)

    return least_log10_K(enough, 2 * at.log10_K)


def rows_of(label: str, at: Sized, power: int) -> list[Row]:
    """Its K, and the powers of ten of it by factor."""
    parts = [{"part": "factor", "environment": label, "factor": n, "orders": o} for n, o in factors(at, power).items()]
    return [{"part": "K", "environment": label, "log10_K": at.log10_K}, *parts]


def term_rows(label: str, sizes: Mapping[str, float], log10_K: float) -> list[Row]:
    """The terms of the explicit regret bound as shares of H K."""
    logs = bounds.logs_of(sizes, log10_K)
    known = {"part": "term", "environment": label, "log10_K": log10_K}
    return [
        {**known, "term": name, "log10_share_of_HK": term.log10(logs) - logs["H"] - log10_K}
        for name, term in bounds.regret().items()
    ]


def measured(given: Given, algorithm: str) -> list[Row]:
    """Exponents and violation at the K that were run, by choice of constants; none without the growth experiments."""
    file = None if given.folder is None else given.folder / layout.table("comparison.csv")
    if file is None or not file.is_file():
        return []
    columns = ["algorithm", "learner", "largest_K", "violation_per_episode"]
    for quantity in ("gap", "regret"):
        columns += [f"{quantity}_slope_K{end}" for end in ("", "_low", "_high")]
    table = tables.load(file).reindex(columns=columns)
    mine = table[(table["algorithm"] == algorithm) & table["gap_slope_K"].notna()].astype(object)
    return [{"part": "measured", **row} for row in mine.where(mine.notna(), None).to_dict("records")]


def kept_from(given: Given, algorithm: str) -> float | None:
    """The smallest K from which on some tuned learner has no violation at any K that was run; none where none has."""
    file = None if given.folder is None else given.folder / layout.table("violations.csv")
    if file is None or not file.is_file():
        return None
    table = tables.load(file)
    found = []
    for _, runs in table[(table["algorithm"] == algorithm) & (table["setting"] == "tuned")].groupby("learner"):
        worst = runs.groupby("episodes")["violation"].max()  # over budgets
        broken = worst.index[worst > 0]
        kept = worst.index[worst.index > (broken.max() if len(broken) else 0)]
        found += [float(kept.min())] if len(kept) else []
    return min(found) if found else None


def tightening_loss(env: DriftingCMDP, models: int = 9) -> tuple[float, float]:
    """H eps/delta, and the most that V* - V^(eps,*) is along a path, both at eps = delta/2."""
    problem, worst = Problem.of(env), 0.0
    for k in np.linspace(1, env.episodes, models).astype(int):
        model = env.at(int(k))
        paid = (model.successors, model.probability, model.reward_of, model.utility_of)
        tighter = CMDP.sparse(*paid, model.H, model.rho + problem.delta / 2, model.mu0)
        worst = max(worst, optimum.constrained(model).value - optimum.constrained(tighter).value)
    return problem.H / 2, worst


def inequalities(given: Given, env: DriftingCMDP, at: Sized) -> list[Inequality]:
    """The choices behind Theorem 1's K beside what they would have to be."""
    claimed, found = tightening_loss(env)
    eps, spare = bounds.EPS.log10(at.logs), bounds.spare("derived", at.logs)
    where, K = "Theorem 1, proof", 10**at.log10_K
    steps = [
        Inequality("loss per episode by tightening with eps = delta/2", where, claimed, found),
        Inequality("eps, beside the least that the proof's own bounds need", where, 10**eps, 10 ** (eps - spare)),
        Inequality("K, beside that of the least such eps", where, K, 10 ** lean_from(at)),
    ]
    kept = kept_from(given, theory.FIRST)
    if kept is not None:
        steps.append(Inequality("K, beside the first run without violation, constants tuned", "Theorem 1", K, kept))
    return steps
