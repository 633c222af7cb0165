"""Algorithms: one file each, with the paper's equations above the lines that compute them.

A new algorithm is a new file ``NAME.py`` with

    learner(...)             the learner's state: a NamedTuple for which the operations are implemented

and, where it has them,

    TITLE                    what figures and tables call it; else the docstring's first words, up to a colon or stop
    FACTORS                  the factors of the setting "scaled" by name: their defaults, and where tuning looks
    Variants                 a frozen dataclass: named departures from the printed listing, each off by default
    literal, authors, scaled the named settings that it offers: each makes the algorithm's ``Constants(...)``
    CONSTRAINED = False      it never looks at the utility
    SWEEPS = 0               backward inductions of its own per episode, to plan resources with; else 1
    RESTARTS = "frame"       the constant that says after how many episodes it starts afresh, where that is drawn
    ranges(problem, frames)  ranges that depend on the problem: at least so many frames end within a run

These functions are given what they name of ``problem``, ``factors``, ``variants`` and, the learner, ``constants``.
Without settings of its own an algorithm has one: "scaled" if its learner asks for factors, else "literal".

Files that begin with an underscore hold what several algorithms share.
"""

import ast
import inspect
import pkgutil
import re
import textwrap
from collections import namedtuple
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from importlib import import_module
from types import ModuleType
from typing import Any, get_args, get_type_hints

from nscmdp import plugins
from nscmdp.learner import Factor, chosen
from nscmdp.plugins import unknown
from nscmdp.problem import Problem

FRAMES = ("frame", "epoch")  # constants that are a number of episodes
OWN = tuple(sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_")))
NAMES: tuple[str, ...]  # these and the plug-ins'


def __getattr__(name: str) -> tuple[str, ...]:
    if name != "NAMES":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return (*OWN, *plugins.names("algorithms"))


def module(name: str) -> ModuleType:
    if name in OWN:
        return import_module(f"{__name__}.{name}")
    found = plugins.module("algorithms", name)
    if found is None:
        raise ValueError(
            unknown(name, (*OWN, *plugins.names("algorithms")), f"unknown algorithm {name!r}")
        )
    return found


def title(name: str) -> str:
    """What figures and tables call it."""
    found = module(name)
    first = re.split(r"[:.](?:\s|$)", (found.__doc__ or name).strip(), maxsplit=1)[0]
    return getattr(found, "TITLE", " ".join(first.split()))


def settings(name: str) -> tuple[str, ...]:
    """The named choices of constants that it offers."""
    found = module(name)
    own = tuple(setting for setting in ("literal", "authors", "scaled") if hasattr(found, setting))
    return own or (
        ("scaled",) if "factors" in inspect.signature(found.learner).parameters else ("literal",)
    )


def factors(name: str) -> dict[str, Factor]:
    """What stands in for constants in the setting "scaled"."""
    return dict(fact(name, "FACTORS", {}))


def variants(name: str) -> type:
    """The dataclass of its departures from the listing."""
    return fact(name, "Variants", NoVariants)


def ranges(
    name: str,
    problem: Problem | None = None,
    frames: float = 1.0,
    variants: dict[str, Any] | None = None,
) -> dict[str, tuple[float, float]]:
    """Where tuning looks for each factor; where the algorithm has frames, at least ``frames`` end within a run."""
    declared = {
        key: (f.low, f.high)
        for key, f in factors(name).items()
        if f.low is not None and f.high is not None
    }
    own = fact(name, "ranges")
    if own is None or problem is None:
        return declared
    return declared | _called(
        own,
        {"problem": problem, "frames": frames, "variants": _chosen_variants(name, variants or {})},
    )


def constrained(name: str) -> bool:
    """Does it look at the utility?"""
    return fact(name, "CONSTRAINED", True)


def fact(name: str, what: str, default: Any = None) -> Any:
    """What an algorithm's file declares of it, such as SWEEPS."""
    return getattr(module(name), what, default)


def make(
    algorithm: str,
    problem: Problem,
    setting: str = "literal",
    factors: dict[str, Any] | None = None,
    variants: dict[str, Any] | None = None,
    constants: dict[str, float | str] | None = None,
) -> Any:
    """The learner before its first episode; ``constants``: see :func:`constants`."""
    given = _given(algorithm, problem, setting, factors, variants)
    if hasattr(module(algorithm), setting):
        given["constants"] = _replaced(algorithm, setting, given, constants or {})
    elif constants:
        raise ValueError(f"{algorithm} has no constants to replace in the setting {setting!r}")
    return _called(module(algorithm).learner, given)


def constants(
    name: str,
    problem: Problem,
    setting: str = "literal",
    factors: dict[str, Any] | None = None,
    variants: dict[str, Any] | None = None,
    constants: dict[str, float | str] | None = None,
) -> Any:
    """The ``Constants`` that a setting makes for a problem; the factors, where the learner takes these directly.

    ``constants`` replaces some by numbers, in their own units, or by those of another setting: ``{"eta": "literal"}``.
    """
    given = _given(name, problem, setting, factors, variants)
    if hasattr(module(name), setting):
        return _replaced(name, setting, given, constants or {})
    return namedtuple("Constants", vars(given["factors"]))(**vars(given["factors"]))


def scalars(constants: Any) -> dict[str, float]:
    """The constants that are numbers, but for those that follow from K alone."""
    return {
        name: float(value)
        for name, value in constants._asdict().items()
        if isinstance(value, int | float) and not isinstance(value, bool) and name != "chi"
    }


def _replaced(
    algorithm: str, setting: str, given: dict[str, Any], replaced: dict[str, float | str]
) -> Any:
    made = _called(getattr(module(algorithm), setting), given)
    _known(replaced, list(scalars(made)), f"{algorithm} has no constant")
    for name, value in replaced.items():
        if isinstance(value, str):
            _known([value], settings(algorithm), f"{algorithm} has no setting")
            value = getattr(_called(getattr(module(algorithm), value), given), name)
        _from_0_on(name, float(value))
        made = made._replace(
            **{name: given["problem"].frame(value) if name in FRAMES else float(value)}
        )
    return made


def formulas(name: str, setting: str) -> dict[str, str]:
    """The text of each constant in the setting's ``Constants(...)``; what is a local name there, as it is assigned."""
    function = getattr(module(name), setting, None)
    if function is None:
        return {}
    nodes = list(ast.walk(ast.parse(textwrap.dedent(inspect.getsource(function)))))
    assigned: dict[str, ast.expr] = {}
    for node in nodes:
        if isinstance(node, ast.Assign):
            left, right = node.targets[0], node.value
            if isinstance(left, ast.Tuple) and isinstance(right, ast.Tuple):
                pairs = list(zip(left.elts, right.elts, strict=True))
            else:
                pairs = [(left, right)]
            assigned |= {name.id: value for name, value in pairs if isinstance(name, ast.Name)}

    def resolved(value: ast.expr) -> ast.expr:
        if isinstance(value, ast.Attribute):
            return ast.Attribute(resolved(value.value), value.attr)
        return assigned.get(value.id, value) if isinstance(value, ast.Name) else value

    for node in nodes:
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "Constants":
            return {key.arg: ast.unparse(resolved(key.value)) for key in node.keywords if key.arg}
    return {}


def _given(
    algorithm: str,
    problem: Problem,
    setting: str,
    given_factors: dict[str, float] | None,
    given_variants: dict[str, Any] | None,
) -> dict[str, Any]:
    """What an algorithm's functions can ask for, checked."""
    _known([setting], settings(algorithm), f"{algorithm} has no setting")
    if given_factors and setting != "scaled":
        raise ValueError(f"factors belong to the setting 'scaled', not to {setting!r}")
    declared = factors(algorithm)
    _known(given_factors or {}, list(declared), f"{algorithm} has no factor")
    for name, value in (given_factors or {}).items():
        _from_0_on(name, value)
    return {
        "problem": problem,
        "factors": chosen(declared, **(given_factors or {})),
        "variants": _chosen_variants(algorithm, given_variants or {}),
    }


def _called(function: Callable, given: dict[str, Any]) -> Any:
    return function(**{name: given[name] for name in inspect.signature(function).parameters})


def _chosen_variants(algorithm: str, given: dict[str, Any]) -> Any:
    declared = variants(algorithm)
    _known(given, [field.name for field in fields(declared)], f"{algorithm} has no variant")
    hints = get_type_hints(declared)
    for name, value in given.items():
        accepted = get_args(hints[name])
        if accepted and value not in accepted:
            raise ValueError(
                f"{name} = {value!r}, expected one of {', '.join(map(repr, accepted))}"
            )
        if hints[name] is float:
            _from_0_on(name, value)
    return declared(**given)


def _known(given: Iterable[str], known: Sequence[str], complaint: str) -> None:
    for name in given:
        if name not in known:
            raise ValueError(unknown(name, known, f"{complaint} {name!r}"))


def _from_0_on(name: str, value: float) -> None:
    if not 0 <= value < float("inf"):
        raise ValueError(f"{name} = {value!r}, expected a number from 0 on")


@dataclass(frozen=True)
class NoVariants:
    pass


def state_bytes(learner: Any) -> int:
    """Bytes of all arrays that a learner keeps."""
    parts = [
        getattr(part, "nbytes", 0) if not isinstance(part, tuple) else state_bytes(part)
        for part in learner
    ]
    return sum(parts)
