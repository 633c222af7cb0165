"""A drift of your own, read from an .npz file of arrays.

    P        (n, H, S, A, S), or (n, S, A, S) where no model depends on the step; n anchor models
    r, g     (n, H, S, A) or (n, S, A), as P has it; with one more axis S where they are paid with the successor
    rho      a number: the utility that an episode must have in expectation
    horizon  a number: H, needed where P has no axis for it
    mu0      (S,): the distribution of the first state; without it, state 0
    knots    (m,): shares of the run, increasing from 0 to at most 1: where the path is at an anchor
    route    (m,): at which anchor, counted from 0; without it the anchors in their order, m = n

The path is a curve M(k/K), the same for every K: a knot at share t is episode 1 + t (K-1), rounded. A share given twice
is an abrupt switch, whose second model stands one episode after the first, whatever K. Where other knots would fall on
one episode, K is refused: the path would leave out an anchor, and with it a part of the budget. A run of one episode
has the first model.

:func:`save` writes such a file from models. That some policy keeps the constraint is for :mod:`nscmdp.optimum` to find.
Without ``file`` it is an example that comes with the package: a machine that wears out faster and faster.
"""

import math
import zipfile
import zlib
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nscmdp.cmdp import CMDP, Array, columns, common_successors, densify
from nscmdp.drift import DriftingCMDP

EXAMPLE = Path(__file__).parent / "files" / "machine.npz"
NEEDED, OPTIONAL = ("P", "r", "g", "rho", "knots"), ("horizon", "mu0", "route")
UNREADABLE = (ValueError, EOFError, OSError, MemoryError, zipfile.BadZipFile, zlib.error)


def arrays(episodes: int, *, file: str = "", seed: int = 0) -> DriftingCMDP:
    (source,) = inputs(file)
    try:
        found = read(source)
        models = anchors(found)
        shares, route = timetable(found, len(models))
        knots = place(shares, episodes)
        path = {"episodes": episodes, "name": "arrays", "seed": seed}
        return DriftingCMDP(models, knots, route[: len(knots)], **path)  # type: ignore[arg-type]
    except ValueError as error:
        raise ValueError(f"file = {str(source)!r}: {error}") from None


def inputs(file: str = "", **_: object) -> list[Path]:
    """The files that decide an environment with these options."""
    return [Path(file) if file else EXAMPLE]


def save(
    file: str | Path,
    models: Sequence[CMDP],
    knots: Sequence[float],
    route: Sequence[int] | None = None,
) -> None:
    """Write ``models`` as the anchors of a path: ``models[route[i]]`` stands at the share ``knots[i]`` of a run."""
    aligned = DriftingCMDP(models, range(1, len(models) + 1)).anchors
    first, kernels = aligned[0], [densify(one.successors, one.probability) for one in aligned]

    def paid(tables: list[Array]) -> list[Array]:
        """Rewards or utilities (layers, S, A); with an axis for the successor where they depend on it."""
        if all((one == one[..., :1]).all() for one in tables):
            return [one[..., 0] for one in tables]
        found = []
        for one, model, kernel in zip(tables, aligned, kernels, strict=True):
            total = densify(model.successors, model.probability * one)
            found.append(np.divide(total, kernel, out=np.zeros_like(total), where=kernel > 0))
        return found

    layers = slice(None) if first.layers > 1 else 0
    written = {
        "P": np.stack(kernels)[:, layers],
        "r": np.stack(paid([one.reward_of for one in aligned]))[:, layers],
        "g": np.stack(paid([one.utility_of for one in aligned]))[:, layers],
        "rho": np.array(first.rho),
        "horizon": np.array(first.H),
        "mu0": first.mu0,
        "knots": np.asarray(knots, dtype=float),
        **({} if route is None else {"route": np.asarray(route)}),
    }
    timetable(written, len(anchors(written)))
    with Path(file).open("wb") as opened:
        np.savez(opened, **written)  # type: ignore[arg-type]


def read(source: Path) -> dict[str, Array]:
    """The arrays of a file: all that are needed, none that is not known, each of finite numbers."""
    if not source.is_file():
        raise ValueError("there is no such file, expected an .npz file of arrays")
    if not zipfile.is_zipfile(source):
        known = "numpy.savez and environments.arrays.save"
        raise ValueError(f"it is not an .npz file, as {known} write it")
    with np.load(source) as content:  # which unpickles nothing, unless told to
        missing = [name for name in NEEDED if name not in content.files]
        unknown = [name for name in content.files if name not in (*NEEDED, *OPTIONAL)]
        if missing or unknown:
            what = f"no array {missing[0]!r}" if missing else f"an unknown array {unknown[0]!r}"
            expected = f"{', '.join(NEEDED)} and perhaps {', '.join(OPTIONAL)}"
            raise ValueError(f"it has {what}, expected {expected}")
        numbers = {}
        for name in content.files:
            try:
                found = content[name]
            except UNREADABLE as error:
                raise ValueError(f"{name} cannot be read ({error})") from None
            if not isinstance(found, np.ndarray) or found.dtype.kind not in "biuf":
                kind = getattr(found, "dtype", type(found).__name__)
                raise ValueError(f"{name} is of type {kind}, expected an array of numbers")
            if (where := _first(~np.isfinite(found))) is not None:
                raise ValueError(f"{name} is {found[where]} at {where}, expected finite numbers")
            numbers[name] = found.astype(float)
    return numbers


def _first(where: NDArray[np.bool_]) -> tuple[int, ...] | None:
    """The first place where something is true."""
    places = np.argwhere(where)
    return tuple(int(i) for i in places[0]) if len(places) else None


def anchors(found: dict[str, Array]) -> list[CMDP]:
    """The models of a file, over common successors."""
    P = found["P"]
    if P.ndim not in (4, 5) or P.shape[-1] != P.shape[-3] or 0 in P.shape:
        raise ValueError(f"P has shape {P.shape}, expected (n, H, S, A, S) or (n, S, A, S)")
    for name in ("r", "g"):
        shape = found[name].shape
        if shape not in (P.shape[:-1], P.shape):
            expected = f"{P.shape[:-1]} or {P.shape} as P has it"
            raise ValueError(f"{name} has shape {shape}, expected {expected}")
    if (where := _first(P < 0)) is not None:
        raise ValueError(f"P is {P[where]:g} at {where}, expected probabilities")
    for name in ("horizon", "rho"):
        if name in found and found[name].shape != ():
            raise ValueError(f"{name} has shape {found[name].shape}, expected a single number")
    steps = P.shape[1] if P.ndim == 5 else None
    if steps is None and "horizon" not in found:
        raise ValueError("it has no horizon, expected one where P has no axis for the steps")
    horizon = float(found.get("horizon", steps))  # type: ignore[arg-type]
    if horizon < 1 or horizon % 1 or steps not in (None, horizon):
        expected = "a whole number from 1 on" if steps is None else f"{steps}, as P has it"
        raise ValueError(f"horizon = {horizon:g}: expected {expected}")
    start = found.get("mu0", np.eye(P.shape[-1])[0])
    layered = [found[name] if P.ndim == 5 else found[name][:, None] for name in ("P", "r", "g")]
    successors = common_successors(list(layered[0]))
    models = []
    for number, tables in enumerate(zip(*layered, strict=True)):
        p, r, g = (columns(table, successors) for table in tables)
        try:
            rho = float(found["rho"])
            models.append(CMDP.sparse(successors, p, r, g, int(horizon), rho, start))
        except ValueError as error:
            raise ValueError(f"model {number}: {error}") from None
    return models


def timetable(found: dict[str, Array], models: int) -> tuple[list[float], list[int]]:
    """The knots as shares of the run, and which model stands at each."""
    knots, route = found["knots"], found.get("route", np.arange(models))
    if knots.ndim != 1 or knots.shape != route.shape:
        of_route = f"route has shape {route.shape}"
        whose = of_route if "route" in found else f"there are {models} models"
        raise ValueError(f"knots has shape {knots.shape} and {whose}: expected one knot for each")
    given = f"knots = {knots.tolist()}"
    if not len(knots) or knots[0] != 0 or knots[-1] > 1 or (np.diff(knots) < 0).any():
        raise ValueError(f"{given}: expected shares of the run, increasing from 0 to at most 1")
    if (knots[2:] == knots[:-2]).any() or list(knots[-2:]) == [1.0, 1.0]:
        raise ValueError(f"{given}: expected no share three times, and 1 only once")
    if not np.isin(route, np.arange(models)).all():
        expected = f"the numbers of models, 0 to {models - 1}"
        raise ValueError(f"route = {route.tolist()}: expected {expected}")
    return knots.tolist(), [int(stop) for stop in route]


def place(shares: list[float], episodes: int) -> list[int]:
    """The episodes on which these shares of a run fall; the second of two equal ones falls on the next."""
    if episodes == 1:
        return [1]
    knots = [1 + math.floor(share * (episodes - 1) + 0.5) for share in shares]
    again = [False, *(before == share for before, share in pairwise(shares))]
    knots = [knot + second for knot, second in zip(knots, again, strict=True)]
    if all(before < knot for before, knot in pairwise(knots)) and knots[-1] <= episodes:
        return knots
    legs = list(pairwise([*shares, 1.0] if again[-1] else shares))
    room = [(1 + two) / (b - a) for (a, b), two in zip(legs, again, strict=False) if b > a]
    few = f"episodes = {episodes} is too few to keep the knots {shares} apart"
    raise ValueError(f"{few}: {1 + math.ceil(max(room))} are enough")
