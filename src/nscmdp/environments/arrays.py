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

from nscmdp.cmdp import CMDP, Array, common_successors, densify
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
        return DriftingCMDP(
            models, knots, route[: len(knots)], episodes=episodes, name="arrays", seed=seed
        )
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
    first = aligned[0]
    layers = slice(None) if first.layers > 1 else 0
    written = {
        "P": np.stack([densify(one.successors, one.probability)[layers] for one in aligned]),
        "r": np.stack(_paid([one.reward_of for one in aligned], aligned))[:, layers],
        "g": np.stack(_paid([one.utility_of for one in aligned], aligned))[:, layers],
        "rho": np.array(first.rho),
        "horizon": np.array(first.H),
        "mu0": first.mu0,
        "knots": np.asarray(knots, dtype=float),
        **({} if route is None else {"route": np.asarray(route)}),
    }
    timetable(written, len(anchors(written)))
    with Path(file).open("wb") as opened:
        np.savez(opened, **written)  # type: ignore[arg-type]


def _paid(columns: list[Array], models: list[CMDP]) -> list[Array]:
    """Rewards or utilities (layers, S, A); with an axis for the successor where they depend on it."""
    if all((paid == paid[..., :1]).all() for paid in columns):
        return [paid[..., 0] for paid in columns]
    found = []
    for paid, model in zip(columns, models, strict=True):
        kernel = densify(model.successors, model.probability)
        total = densify(model.successors, model.probability * paid)
        found.append(np.divide(total, kernel, out=np.zeros_like(total), where=kernel > 0))
    return found


def read(source: Path) -> dict[str, Array]:
    """The arrays of a file: all that are needed, none that is not known, each of finite numbers."""
    if not source.is_file():
        raise ValueError("there is no such file, expected an .npz file of arrays")
    if not zipfile.is_zipfile(source):
        raise ValueError(
            "it is not an .npz file, as numpy.savez and environments.arrays.save write it"
        )
    with np.load(source) as content:  # which unpickles nothing, unless told to
        missing = [name for name in NEEDED if name not in content.files]
        unknown = [name for name in content.files if name not in (*NEEDED, *OPTIONAL)]
        if missing or unknown:
            what = f"no array {missing[0]!r}" if missing else f"an unknown array {unknown[0]!r}"
            raise ValueError(
                f"it has {what}, expected {', '.join(NEEDED)} and perhaps {', '.join(OPTIONAL)}"
            )
        return {name: _numbers(content, name) for name in content.files}


def _numbers(content: np.lib.npyio.NpzFile, name: str) -> Array:
    try:
        found = content[name]
    except UNREADABLE as error:
        raise ValueError(f"{name} cannot be read ({error})") from None
    if not isinstance(found, np.ndarray) or found.dtype.kind not in "biuf":
        kind = getattr(found, "dtype", type(found).__name__)
        raise ValueError(f"{name} is of type {kind}, expected an array of numbers")
    if not np.isfinite(found).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(found))[0])
        raise ValueError(f"{name} is {found[where]} at {where}, expected finite numbers")
    return found.astype(float)


def anchors(found: dict[str, Array]) -> list[CMDP]:
    """The models of a file, over common successors."""
    _check_shapes(found)
    P = found["P"]
    horizon, rho = _horizon(found), _number(found, "rho")
    start = found.get("mu0", np.eye(P.shape[-1])[0])
    layered = [found[name] if P.ndim == 5 else found[name][:, None] for name in ("P", "r", "g")]
    successors = common_successors(list(layered[0]))
    models = []
    for number, tables in enumerate(zip(*layered, strict=True)):
        probability, reward, utility = (_columns(table, successors) for table in tables)
        try:
            models.append(
                CMDP.sparse(successors, probability, reward, utility, horizon, rho, start)
            )
        except ValueError as error:
            raise ValueError(f"model {number}: {error}") from None
    return models


def _check_shapes(found: dict[str, Array]) -> None:
    P = found["P"]
    if P.ndim not in (4, 5) or P.shape[-1] != P.shape[-3] or 0 in P.shape:
        raise ValueError(f"P has shape {P.shape}, expected (n, H, S, A, S) or (n, S, A, S)")
    for name in ("r", "g"):
        if found[name].shape not in (P.shape[:-1], P.shape):
            raise ValueError(
                f"{name} has shape {found[name].shape}, expected {P.shape[:-1]} or {P.shape} as P has it"
            )
    if (P < 0).any():
        where = tuple(int(i) for i in np.argwhere(P < 0)[0])
        raise ValueError(f"P is {P[where]:g} at {where}, expected probabilities")


def _columns(table: Array, successors: NDArray[np.uint32]) -> Array:
    """(layers, S, A, M) of a table (layers, S, A, S), or of one (layers, S, A) that is the same for all successors."""
    if table.ndim == successors.ndim:
        return np.take_along_axis(table, successors.astype(np.int64), axis=3)
    return np.broadcast_to(table[..., None], successors.shape)


def _horizon(found: dict[str, Array]) -> int:
    steps = found["P"].shape[1] if found["P"].ndim == 5 else None
    if steps is None and "horizon" not in found:
        raise ValueError("it has no horizon, expected one where P has no axis for the steps")
    horizon = _number(found, "horizon") if "horizon" in found else float(steps or 0)
    if horizon < 1 or horizon % 1 or steps not in (None, horizon):
        expected = "a whole number from 1 on" if steps is None else f"{steps}, as P has it"
        raise ValueError(f"horizon = {horizon:g}: expected {expected}")
    return int(horizon)


def _number(found: dict[str, Array], name: str) -> float:
    if found[name].shape != ():
        raise ValueError(f"{name} has shape {found[name].shape}, expected a single number")
    return float(found[name])


def timetable(found: dict[str, Array], models: int) -> tuple[list[float], list[int]]:
    """The knots as shares of the run, and which model stands at each."""
    knots, route = found["knots"], found.get("route", np.arange(models))
    if knots.ndim != 1 or knots.shape != route.shape:
        whose = (
            f"route has shape {route.shape}" if "route" in found else f"there are {models} models"
        )
        raise ValueError(f"knots has shape {knots.shape} and {whose}: expected one knot for each")
    if not len(knots) or knots[0] != 0 or knots[-1] > 1 or (np.diff(knots) < 0).any():
        raise ValueError(
            f"knots = {knots.tolist()}: expected shares of the run, increasing from 0 to at most 1"
        )
    if (knots[2:] == knots[:-2]).any() or list(knots[-2:]) == [1.0, 1.0]:
        raise ValueError(
            f"knots = {knots.tolist()}: expected no share three times, and 1 only once"
        )
    if not np.isin(route, np.arange(models)).all():
        raise ValueError(
            f"route = {route.tolist()}: expected the numbers of models, 0 to {models - 1}"
        )
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
    room = [
        (1 + second) / (end - start)
        for (start, end), second in zip(legs, again, strict=False)
        if end > start
    ]
    enough = 1 + math.ceil(max(room))
    raise ValueError(
        f"episodes = {episodes} is too few to keep the knots {shares} apart: {enough} are enough"
    )
