"""What the check of a claim comes to: a verdict, and the numbers that it rests on.

A check is a function of what it may use (:class:`Given`) that computes a :class:`Finding`; ``@check("C1")`` gives it
the claim's name in workflow/claims.yaml. Nothing else decides a verdict.

    holds                               the statement, as printed
    holds with declared deviations      the statement, once what the ledger of deviations declares is read into it
    does not hold                       measured, and the measurement contradicts it
    false as printed                    a counterexample, exact or within bounds; a corrected statement is beside it
    out of reach                        what it promises begins at a K that is computed and that no run can have, or
                                        rests on what the paper does not print
    mixed                               some of the seeds, versions or problems agree
    depends on unstated choices         what the paper leaves open decides
"""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from nscmdp.randomness import stream

HOLDS = "holds"
HOLDS_DEVIATING = "holds with declared deviations"
FAILS = "does not hold"
FALSE = "false as printed"
OUT_OF_REACH = "out of reach"
MIXED = "mixed"
DEPENDS = "depends on unstated choices"
VERDICTS = (HOLDS, HOLDS_DEVIATING, FAILS, FALSE, OUT_OF_REACH, MIXED, DEPENDS)


class Given(NamedTuple):
    """What a check may use."""

    problems: int = 40  # random problems that an exact statement is tried on
    samples: int = 400  # runs that a statement on means or probabilities is tried on
    folder: Path | None = None  # a finished run, for the checks that read its tables
    roles: dict[str, list[str]] = {}  # the experiments of each role in it  # noqa: RUF012

    def rng(self, claim: str, *key: object) -> np.random.Generator:
        """A stream of the claim's own: the same on every machine, whatever else is checked."""
        return stream("claims", claim, *key)


class Inequality(NamedTuple):
    """One step of a proof: what it says, beside the least that would still be true where it was looked at."""

    says: str
    where: str
    claimed: float
    measured: float

    @property
    def looseness(self) -> float:
        """Orders of magnitude between the two; infinite where nothing at all was needed."""
        return math.log10(self.claimed / self.measured) if self.measured > 0 else math.inf


class Finding(NamedTuple):
    verdict: str
    why: str  # one sentence with the numbers that decide
    value: float | None = None  # what was measured, where it comes nearest to the edge
    low: float | None = None  # its interval; both are the value where it is exact
    high: float | None = None
    bound: float | None = None  # the edge
    slack: float | None = None  # how far from it: at least 0 where the statement holds
    slack_in: str = "units of the value"  # or "orders of magnitude", "share of the bound"
    samples: int = 0  # problems, runs or steps that were looked at
    inequalities: Sequence[Inequality] = ()  # for the figure of looseness
    rows: Sequence[dict[str, Any]] = ()  # the data behind it


Check = Callable[[Given], Finding]
CHECKS: dict[str, Check] = {}


def check(claim: str) -> Callable[[Check], Check]:
    """Declare the decorated function to decide a claim."""

    def register(function: Check) -> Check:
        if CHECKS.setdefault(claim, function) is not function:
            raise ValueError(f"{claim} is checked twice")
        return function

    return register
