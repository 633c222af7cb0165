"""What the check of a claim finds: a verdict, and the numbers that it rests on.

A check is a function of what it may use (:class:`Given`) that computes a :class:`Finding`; ``@check("C1")`` gives it
the claim's id in workflow/claims.yaml. Nothing else decides a verdict. :func:`verdict` is the one standard by which
theorems, lemmas and remarks alike get theirs.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from nscmdp.randomness import stream

Number = float | Fraction
Numbers = Mapping[str, Number | str]
Step = tuple[()] | tuple[str, str, float]
VERDICTS = {
    "false": "a counterexample contradicts it, and no reading of it that makes up for that serves where it is used",
    "open": "not contradicted, or not once an assumption is added, but its proof has a step that fails",
    "needs an assumption": "holds once an assumption or a definition is added that the paper does not state",
    "holds after a misprint": "to the letter it is contradicted; what its proof or its use has in its place holds",
    "asymptotic": "its proof adds up, and as constants are hidden in O~ or Omega no finite number of episodes decides",
    "holds": "as printed, wherever it was tried",
    "identity": "an identity or a textbook inequality: a check of it notices no error that an author could make",
    "source not at hand": "a comparison with a bound that the paper does not print",
    "depends on unstated choices": "what the paper leaves open decides",
}
FALSE, OPEN, ASSUMPTION, MISPRINT, ASYMPTOTIC, HOLDS, IDENTITY, NO_SOURCE, DEPENDS = VERDICTS


def verdict(
    refuted: bool = False,
    repair: str | None = None,
    proved: bool = True,
    asymptotic: bool = False,
) -> str:
    """The verdict on a statement.

    refuted
        The statement to the letter is contradicted.
    repair
        MISPRINT or ASSUMPTION, where the statement so repaired was found to hold; None where it does not.
    proved
        The steps of its proof that can be checked, repaired if need be, add up.
    asymptotic
        It says O~ or Omega and nothing that a finite number of episodes could contradict.
    """
    if refuted and repair is None:
        return FALSE
    if not proved:
        return OPEN
    if refuted:
        assert repair in (MISPRINT, ASSUMPTION)
        return repair
    return ASYMPTOTIC if asymptotic else HOLDS


class Given(NamedTuple):
    """What a check may use."""

    problems: int = 40  # random problems that an exact statement is tried on
    samples: int = 400  # runs that a statement on means or probabilities is tried on

    def few(self, part: int = 20) -> int:
        return max(4, self.samples // part)

    def rng(self, claim: str, *key: object) -> np.random.Generator:
        """A stream of the claim's own: the same on every machine, whatever else is checked."""
        return stream("claims", claim, *key)


class Inequality(NamedTuple):
    """One step of a proof: what it says, and the least that would still be true where it was looked at."""

    says: str
    where: str
    claimed: float
    measured: float

    @property
    def looseness(self) -> float:
        """Orders of magnitude between the two; infinite where nothing at all was needed."""
        return math.log10(self.claimed / self.measured) if self.measured > 0 else math.inf


class Notice(NamedTuple):
    """The smallest error that a check would notice, of a kind that an author could make."""

    error: str  # "the bound divided by", "H^3 for H^4, a factor of"
    factor: float | None = None  # how small it may be; None where any such error is noticed


class Finding(NamedTuple):
    verdict: str
    numbers: Numbers = MappingProxyType({})  # what a reader may want beside it
    notices: Notice | None = None
    value: Number | None = None  # what was measured, where it comes nearest to the edge
    low: Number | None = None  # its interval; both are the value where it is exact
    high: Number | None = None
    bound: Number | None = None  # the edge
    slack: Number | None = None  # at least 0 where the statement, perhaps repaired, holds
    slack_in: str = "units of the value"  # or "orders of magnitude", "share of the bound"
    samples: int = 0  # problems, runs or steps that were looked at
    inequalities: Sequence[Inequality] = ()  # for the figure of looseness
    rows: Sequence[dict[str, Any]] = ()  # the data that its figure draws
    says: Mapping[str, object] = MappingProxyType({})  # for the places in the ledger's reason


def exactly(value: Number) -> dict[str, Any]:
    """The value and the ends of its interval."""
    return dict.fromkeys(("value", "low", "high"), float(value))


def within(value: Number, bound: Number, unit: str = "share of the bound") -> dict[str, Any]:
    """The edges of a finding on a value of at most ``bound``."""
    slack = bound - value
    if unit == "orders of magnitude":
        slack = math.log10(bound) - math.log10(value)
    return {**exactly(value), "bound": bound, "slack": slack, "slack_in": unit}


def bounded(
    answer: str, numbers: Numbers, value: float, notices: str, samples: int, step: Step = ()
) -> Finding:
    """The finding on a value of at most 1; an error by a factor of more than 1/value is noticed.

    ``step`` is an inequality of the proof with the same bound: what it says, where, and the value.
    """
    steps = [Inequality(*step[:2], 1.0, step[2])] if step else []
    edges = within(value, 1.0) | {"samples": samples, "inequalities": steps}
    return Finding(answer, numbers, Notice(notices, 1 / value), **edges)


Check = Callable[[Given], Finding]
CHECKS: dict[str, Check] = {}


def check(claim: str) -> Callable[[Check], Check]:
    """Declare the decorated function to decide a claim."""

    def register(function: Check) -> Check:
        if CHECKS.setdefault(claim, function) is not function:
            raise ValueError(f"{claim} is checked twice")
        return function

    return register
