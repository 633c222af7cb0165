"""Environments: each file of this folder makes a path of models from its options, and nothing else.

A new environment is a new file with one function of its own name, ``NAME(episodes, *, option=default, ..., seed=0)``,
that returns a :class:`nscmdp.drift.DriftingCMDP`; if it reads files, ``inputs(**options)`` beside it names them.
:func:`path` and :func:`sampled` make a drift of models, or of a function, that are at hand.
"""

import inspect
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path

from nscmdp import plugins
from nscmdp.cmdp import CMDP
from nscmdp.drift import DriftingCMDP

BUDGET_OPTIONS = ("legs", "budget")  # what sets how much an environment drifts, and nothing else
OWN = tuple(sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_")))
NAMES: tuple[str, ...]  # these and the plug-ins'


def __getattr__(name: str) -> tuple[str, ...]:
    if name != "NAMES":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return (*OWN, *plugins.names("environments"))


def maker(name: str) -> Callable[..., DriftingCMDP]:
    """The function that makes environment ``name``."""
    if name in OWN:
        return getattr(import_module(f"{__name__}.{name}"), name)
    found = plugins.module("environments", name)
    if found is None:
        known = (*OWN, *plugins.names("environments"))
        raise ValueError(plugins.unknown(name, known, f"unknown environment {name!r}"))
    return getattr(found, name)


def make(name: str, episodes: int, **options: object) -> DriftingCMDP:
    """The environment ``name`` over ``episodes`` episodes; ``options`` are those of its own file."""
    function = maker(name)
    parameters = inspect.signature(function).parameters.values()
    known = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
    for option in options:
        if option not in known:
            raise ValueError(plugins.unknown(option, known, f"{name} has no option {option!r}"))
    return function(episodes, **options)


def inputs(name: str, options: Mapping[str, object]) -> list[Path]:
    """The files that environment ``name`` reads with these options, on whose content its models depend."""
    maker(name)
    found = getattr(import_module(f"{__name__}.{name}"), "inputs", None)
    return found(**options) if found else []


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
        numbers = f"{len(models)} models but {len(knots)} knots"
        raise ValueError(f"{numbers}: expected one knot for each model")
    for number, model in enumerate(models):
        if not isinstance(model, CMDP):
            raise ValueError(f"models[{number}] is a {type(model).__name__}, expected a CMDP")
        try:
            optimum.require_feasible(model)
        except optimum.Infeasible as error:
            raise optimum.Infeasible(f"models[{number}]: {error}") from None
    return DriftingCMDP(models, knots, episodes=episodes, name=name, seed=seed)


def sampled(
    model: Callable[[float], CMDP],
    episodes: int,
    anchors: int = 11,
    *,
    name: str = "sampled",
    seed: int = 0,
) -> DriftingCMDP:
    """A drift of your own from a function: ``model(share)`` is the CMDP when a share of the run, 0 to 1, is over.

    The path goes in straight lines through ``anchors`` models at equal distances, and is the same curve for every
    number of episodes from there on; with fewer episodes, every one of them has a model of its own. A model that jumps
    is passed in one such line: for an abrupt switch use :func:`path`, with two knots one episode apart.

    >>> import numpy as np
    >>> from nscmdp import CMDP, environments
    >>> def two_armed(share):
    ...     better = np.sin(np.pi * share)  # the reward of the second arm rises and falls again
    ...     r, g = np.array([[[0.5, better]]]), np.array([[[1.0, 0.0]]])
    ...     return CMDP(P=np.ones((1, 1, 2, 1)), r=r, g=g, rho=0.5, mu0=[1.0])
    >>> env = environments.sampled(two_armed, episodes=1001, anchors=5)
    >>> [round(float(env.at(k).r[0, 0, 1]), 3) for k in (1, 126, 251, 501, 1001)]
    [0.0, 0.354, 0.707, 1.0, 0.0]
    """
    if anchors < 2:
        raise ValueError(f"anchors = {anchors}: expected at least 2")
    stops = min(anchors, episodes)
    shares = [stop / (stops - 1) if stops > 1 else 0.0 for stop in range(stops)]
    knots = [1 + round(share * (episodes - 1)) for share in shares]
    return path([model(share) for share in shares], knots, episodes=episodes, name=name, seed=seed)
