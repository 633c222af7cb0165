"""Environments: each file of this folder makes a path of models from its options, and nothing else.

A new environment is a new file with one function of its own name, ``NAME(episodes, *, option=default, ..., seed=0)``,
that returns a :class:`nscmdp.drift.DriftingCMDP`.
"""

import inspect
import pkgutil
from collections.abc import Callable, Sequence
from importlib import import_module

from nscmdp.cmdp import CMDP
from nscmdp.drift import DriftingCMDP
from nscmdp.names import unknown

BUDGET_OPTIONS = ("legs", "budget")  # what sets how much an environment drifts, and nothing else
NAMES = tuple(sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_")))


def maker(name: str) -> Callable[..., DriftingCMDP]:
    """The function that makes environment ``name``."""
    if name not in NAMES:
        raise ValueError(unknown(name, NAMES, f"unknown environment {name!r}"))
    return getattr(import_module(f"{__name__}.{name}"), name)


def make(name: str, episodes: int, **options: object) -> DriftingCMDP:
    """The environment ``name`` over ``episodes`` episodes; ``options`` are those of its own file."""
    function = maker(name)
    known = [p.name for p in inspect.signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY]
    for option in options:
        if option not in known:
            raise ValueError(unknown(option, known, f"{name} has no option {option!r}"))
    return function(episodes, **options)


def path(
    models: Sequence[CMDP],
    knots: Sequence[int],
    *,
    episodes: int | None = None,
    name: str = "path",
    seed: int = 0,
) -> DriftingCMDP:
    """A drift of your own: ``models[i]`` stands at episode ``knots[i]``; the last knot is the last episode.

    Every model must have a policy that keeps the constraint; that those between two of them have one is for
    :mod:`nscmdp.optimum` to find out, episode by episode.
    """
    from nscmdp import optimum

    if len(models) != len(knots):
        raise ValueError(f"{len(models)} models but {len(knots)} knots: expected one knot for each model")
    for number, model in enumerate(models):
        if not isinstance(model, CMDP):
            raise ValueError(f"models[{number}] is a {type(model).__name__}, expected a CMDP")
        try:
            optimum.require_feasible(model)
        except optimum.Infeasible as error:
            raise optimum.Infeasible(f"models[{number}]: {error}") from None
    return DriftingCMDP(models, knots, episodes=episodes, name=name, seed=seed)
