"""What every algorithm and environment must do, as checks that say what is wrong: ``nscmdp conform``.

Each check of :data:`ALGORITHM` is made of one algorithm under one of its settings in a small drifting CMDP, each of
:data:`ENVIRONMENT` of one environment with its defaults. A check returns a note, or raises :class:`Fails`. The
project's own algorithms and environments pass them in its tests.
"""

import warnings
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from nscmdp import algorithms, budget, environments, optimum, simulate
from nscmdp.cmdp import CMDP
from nscmdp.drift import DriftingCMDP
from nscmdp.learner import distribution
from nscmdp.problem import DoesNotFit, Problem

SEED = 1
PARTS = ("reward", "utility", "value", "utility_value")  # of a run, compared bit by bit


class Fails(Exception):
    """What was found and what is expected, in one line."""


class Finding(NamedTuple):
    of: str  # an algorithm and its setting, or an environment
    check: str
    passed: bool
    says: str


@cache
def small(episodes: int = 600) -> DriftingCMDP:
    """Three states, three actions, three steps; it drifts, and its constraint binds."""
    sizes: dict[str, Any] = {"states": 3, "actions": 3, "horizon": 3, "branching": 2}
    return environments.make("random_tabular", episodes, **sizes, budget=3.0)


def run(
    name: str, setting: str, seed: int = SEED, env: DriftingCMDP | None = None, **options: Any
) -> simulate.Run:
    return simulate.run(env or small(), name, setting, seed, **options)


def same(first: simulate.Run, again: simulate.Run) -> bool:
    return all(np.array_equal(getattr(first, part), getattr(again, part)) for part in PARTS)


def runs_to_the_end(name: str, setting: str) -> str:
    """Its rewards, utilities and values are finite, and its Lagrangian gap is never negative."""
    made = run(name, setting)
    for part in (*PARTS, "regret", "violation", "gap"):
        if not np.isfinite(getattr(made, part)).all():
            raise Fails(f"{part} is not finite: look for a division by a count that is still 0")
    if (made.measures["gap"] < -1e-9).any():
        raise Fails("a policy is better than the optimum: its probabilities cannot be right")
    regret, violation = made.regret[-1] / small().episodes, made.violation[-1] / small().episodes
    return f"regret {regret:.3g} and violation {violation:+.3g} per episode"


def policy_is_a_distribution(name: str, setting: str) -> str:
    """At every step and state, before learning and after, the probabilities are at least 0 and sum to 1."""
    env, probabilities = small(), np.empty(small().A)
    learners = {
        "before the run": lambda: algorithms.make(name, Problem.of(env), setting),
        "after the run": lambda: run(name, setting).learner,
    }
    for when, made in learners.items():
        learner = made()
        for h, x in np.ndindex(env.H, env.S):
            probabilities[:] = np.nan
            certain = distribution(learner, h, x, probabilities)
            here = f"{when}, at h = {h}, x = {x}"
            if certain >= env.A:
                raise Fails(f"{here}: action {certain}, expected 0 to {env.A - 1}")
            if certain < 0 and not (
                (probabilities >= 0).all() and abs(probabilities.sum() - 1) <= 1e-9
            ):
                row = ", ".join(f"{p:.4g}" for p in probabilities)
                raise Fails(f"{here}: probabilities {row}; expected numbers that sum to 1")
    return f"at all {env.H} x {env.S} steps and states"


def exact_value_agrees_with_rollouts(name: str, setting: str) -> str:
    """What it earns less the exact value of the policy that it says it plays is noise of mean zero."""
    worst = 0.0
    for seed in (SEED, SEED + 1):
        made = run(name, setting, seed, solve=False)
        windows = made.window_episodes
        for realised, exact in ((made.reward, made.value), (made.utility, made.utility_value)):
            expected = np.add.reduceat(exact, np.cumsum(windows) - windows) / windows
            difference = (realised - expected) * windows
            worst = max(worst, abs(difference.sum()) / max(np.sqrt((difference**2).sum()), 1e-12))
    if worst > 4.5:
        what = "policy is not the distribution that act draws from"
        raise Fails(f"{worst:.1f} standard errors apart: {what}")
    return f"{worst:.1f} standard errors apart"


def same_seed_same_bits_in_any_batch(name: str, setting: str) -> str:
    """A run is decided by its seed: not by the clock, by a global, or by what ran before it in the same process."""
    first, other, again = (run(name, setting, seed, solve=False) for seed in (SEED, SEED + 1, SEED))
    if not same(first, again):
        what = "draw from u alone, and keep nothing outside the learner"
        raise Fails(f"two runs of one seed differ: {what}")
    if np.array_equal(first.reward, other.reward):
        raise Fails("runs of two seeds are equal")
    return "also with another run between them"


def clock_is_untouched(name: str, setting: str) -> str:
    """The environment and its clock, the global episode, are as they were: what restarts is the learner alone."""
    env = small.__wrapped__(300)  # one of its own: it may be spoilt
    before = env.fingerprint()
    run(name, setting, env=env, solve=False)
    if env.fingerprint() != before:
        raise Fails("the run changed the environment's arrays: copy what you change")
    return "the environment is as it was"


def plain_python_agrees(name: str, setting: str) -> str:
    """The same operations in plain Python, without compilation, give the same bits."""
    ways = (run(name, setting, env=small(40), solve=False, compiled=way) for way in (True, False))
    if not same(*ways):
        what = "does an operation write to something that is not an array?"
        raise Fails(f"compiled and plain runs differ: {what}")
    return "40 episodes"


def state_size(name: str, setting: str) -> str:
    """How much a learner keeps, and whether that grows with K: a note, not a condition."""
    made = (algorithms.make(name, Problem.of(small(K)), setting) for K in (600, 2400))
    few, many = map(algorithms.state_bytes, made)
    grows = "" if many <= few else f", {many:,} for four times as many episodes"
    return f"{few:,} bytes{grows}"


ALGORITHM: tuple[Callable[[str, str], str], ...] = (
    runs_to_the_end,
    policy_is_a_distribution,
    exact_value_agrees_with_rollouts,
    same_seed_same_bits_in_any_batch,
    clock_is_untouched,
    plain_python_agrees,
    state_size,
)


def works_with_defaults(name: str) -> str:
    """It is made from a number of episodes alone, and says its own name."""
    env = environments.make(name, 10)
    if (env.name, env.episodes) != (name, 10):
        found = f"it is called {env.name!r} and has {env.episodes} episodes"
        raise Fails(f"{found}, expected {name!r} and 10")
    return str(env)


def kernels_are_kernels(name: str) -> str:
    """In every episode probabilities sum to one, and rewards and utilities are finite."""
    env = environments.make(name, 10)
    for k in range(1, 11):
        model: CMDP = env.at(k)
        if abs(model.probability.sum(axis=3) - 1).max() > 1e-9 or (model.probability < 0).any():
            raise Fails(f"episode {k}: the probabilities of some (h, x, a) do not sum to 1")
        if not (np.isfinite(model.reward).all() and np.isfinite(model.utility).all()):
            raise Fails(f"episode {k}: a reward or utility is not finite")
    return "in all of 10 episodes"


def constraint_can_be_kept(name: str) -> str:
    """Some policy keeps the constraint in every episode; how much it binds."""
    env = environments.make(name, 50)
    try:
        solved = optimum.along(env, np.arange(1, 51))
    except optimum.Infeasible as error:
        raise Fails(f"{error}: choose a lower rho") from None
    multiplier = float(solved[:, 2].mean())
    note = "" if multiplier > 0 else ": the constraint never binds"
    return f"multiplier {multiplier:.3g} on average{note}"


def decided_by_options_and_seed(name: str) -> str:
    """Made twice it is the same; with other seeds it may be another."""
    first, again = (environments.make(name, 10).fingerprint() for _ in range(2))
    if first != again:
        raise Fails("made twice it differs: draw from numpy.random.default_rng(seed) alone")
    return f"fingerprint {first}"


def drift_does_not_depend_on_K(name: str) -> str:
    """A drift is a curve M(k/K): more episodes walk the same way in smaller steps, so the budget stays."""
    few, many = (budget.variation(environments.make(name, K)).total for K in (1000, 4000))
    if not np.isfinite([few, many]).all() or abs(few - many) > 0.05 * max(few, many):
        found = f"{few:.4g} at K = 1,000 and {many:.4g} at K = 4,000"
        raise Fails(f"the variation budget is {found}; expected the same")
    return f"variation budget {many:.4g}"


ENVIRONMENT: tuple[Callable[[str], str], ...] = (
    works_with_defaults,
    kernels_are_kernels,
    constraint_can_be_kept,
    decided_by_options_and_seed,
    drift_does_not_depend_on_K,
)


def check(kind: str, name: str) -> Iterator[Finding]:
    """All checks of one of the "algorithms" or "environments", one finding after the other."""
    is_algorithm = kind == "algorithms"
    checks: tuple[Callable[..., str], ...] = ALGORITHM if is_algorithm else ENVIRONMENT
    names = [(name, one) for one in algorithms.settings(name)] if is_algorithm else [(name,)]
    for of in names:
        for one in checks:
            passed = False
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DoesNotFit)
                try:
                    says, passed = one(*of), True
                except Fails as error:
                    says = str(error)
                except Exception as error:
                    first = next(iter(str(error).strip().splitlines()), "")
                    says = f"{type(error).__name__}: {first}"
            yield Finding(".".join(of), one.__name__.replace("_", " "), passed, says)
