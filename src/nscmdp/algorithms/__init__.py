"""Algorithms: one file each, with the paper's equations above the lines that compute them.

A new algorithm is a new file ``NAME.py`` with

    TITLE                    what figures and tables call it
    SETTINGS                 the named choices of constants it offers: "literal", "authors", "scaled"
    RANGES                   the factors that tuning chooses, with the least and the largest it tries
    Factors                  a frozen dataclass: the factors of the setting "scaled", each with a default
    Variants                 a frozen dataclass: named departures from the printed listing, each off by default
    learner(problem, setting, factors, variants)
                             the learner's state: a NamedTuple for which the operations are implemented
    CONSTRAINED = False      where it never looks at the utility
    ranges(problem, frames)  where RANGES depend on the problem: at least so many frames end within a run

Files that begin with an underscore hold what several algorithms share.
"""

import pkgutil
from dataclasses import fields
from importlib import import_module
from types import ModuleType
from typing import Any, get_args, get_type_hints

from nscmdp.names import unknown
from nscmdp.problem import Problem

NAMES = tuple(sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_")))


def module(name: str) -> ModuleType:
    if name not in NAMES:
        raise ValueError(unknown(name, NAMES, f"unknown algorithm {name!r}"))
    return import_module(f"{__name__}.{name}")


def make(
    algorithm: str,
    problem: Problem,
    setting: str = "literal",
    factors: dict[str, Any] | None = None,
    variants: dict[str, Any] | None = None,
) -> Any:
    """The learner before its first episode."""
    chosen = module(algorithm)
    if setting not in chosen.SETTINGS:
        raise ValueError(unknown(setting, chosen.SETTINGS, f"{algorithm} has no setting {setting!r}"))
    if factors and setting != "scaled":
        raise ValueError(f"factors belong to the setting 'scaled', not to {setting!r}")
    return chosen.learner(
        problem,
        setting,
        _chosen(chosen.Factors, factors or {}, f"{algorithm} has no factor"),
        _chosen(chosen.Variants, variants or {}, f"{algorithm} has no variant"),
    )


def _chosen(options: type, given: dict[str, Any], complaint: str) -> Any:
    known = [field.name for field in fields(options)]
    for name in given:
        if name not in known:
            raise ValueError(unknown(name, known, f"{complaint} {name!r}"))
    hints = get_type_hints(options)
    for name, value in given.items():
        accepted = get_args(hints[name])
        if accepted and value not in accepted:
            raise ValueError(f"{name} = {value!r}, expected one of {', '.join(map(repr, accepted))}")
        if hints[name] is float and not 0 <= value < float("inf"):
            raise ValueError(f"{name} = {value!r}, expected a number from 0 on")
    return options(**given)


def ranges(algorithm: str, problem: Problem, frames: float) -> dict[str, tuple[float, float]]:
    """Where tuning looks for each factor; where the algorithm has frames, at least ``frames`` end within a run."""
    chosen = module(algorithm)
    return chosen.ranges(problem, frames) if hasattr(chosen, "ranges") else dict(chosen.RANGES)


def constrained(algorithm: str) -> bool:
    """Does it look at the utility?"""
    return getattr(module(algorithm), "CONSTRAINED", True)


def state_bytes(learner: Any) -> int:
    """Bytes of all arrays that a learner keeps."""
    parts = [getattr(part, "nbytes", 0) if not isinstance(part, tuple) else state_bytes(part) for part in learner]
    return sum(parts)
