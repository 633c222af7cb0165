"""A non-stationary CMDP is a path through model space.

A few anchor models and knots (episodes): between two knots the model is the convex combination of the anchors there,

    M_k = (1 - w) M_i + w M_j,      w = (k - knot) / (next knot - knot),

so P stays a kernel whatever the drift, variation budgets are exact sums over legs, and sampling is exact: pick anchor
j with probability w, else i, then a successor from that anchor's row. An abrupt switch is two knots one episode apart.
The clock is the global episode k, from 1 to K; no learner can touch it.
"""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nscmdp.cmdp import CMDP, Array, columns, common_successors, densify


class Leg(NamedTuple):
    """Episode k stands on the way from anchor ``start`` to anchor ``end``, a share ``weight`` of it done."""

    start: int
    end: int
    weight: float


class DriftingCMDP:
    """Anchors (all with the same H, S, A, rho, mu0), the knots, and the route: which anchor stands at each knot.

    A linear CMDP has ``features`` (S, A, d) as well, the phi(x,a) of which its P, r and g are linear functions.
    """

    def __init__(
        self,
        anchors: Sequence[CMDP],
        knots: Sequence[int],
        route: Sequence[int] | None = None,
        *,
        episodes: int | None = None,
        name: str = "path",
        seed: int = 0,
        about: str = "",
        picture: NDArray[np.str_] | None = None,
        features: Array | None = None,
    ) -> None:
        self.anchors = _align(list(anchors))
        given = np.asarray(knots, dtype=float)
        if not len(given) or not np.isfinite(given).all() or (given != np.floor(given)).any():
            raise ValueError(f"knots = {list(knots)}: expected whole episodes")
        self.knots = given.astype(np.int64)
        if self.knots[0] < 1 or (np.diff(self.knots) <= 0).any():
            raise ValueError(
                f"knots = {list(knots)}: expected episodes from 1 on, in increasing order"
            )
        self.episodes = int(self.knots[-1] if episodes is None else episodes)
        if self.episodes < 1:
            raise ValueError(f"episodes = {self.episodes}: expected at least 1")
        self.route = np.asarray(range(len(knots)) if route is None else route, dtype=np.int64)
        if len(self.route) != len(self.knots):
            raise ValueError(f"{len(self.knots)} knots but {len(self.route)} anchors on the route")
        if self.route.min() < 0 or self.route.max() >= len(self.anchors):
            raise ValueError(
                f"the route names anchor {self.route.max()}, there are {len(self.anchors)}"
            )
        self.name, self.seed, self.about, self.picture = name, int(seed), about, picture
        first = self.anchors[0]
        self.H, self.S, self.A, self.rho, self.mu0 = first.H, first.S, first.A, first.rho, first.mu0
        self.layers, self.successors = first.layers, first.successors
        self.probability = np.stack([anchor.probability for anchor in self.anchors])
        self.reward = np.stack([anchor.reward for anchor in self.anchors])
        self.utility = np.stack([anchor.utility for anchor in self.anchors])
        self.features = features
        if features is not None:
            self.features = phi = np.ascontiguousarray(features, dtype=float)
            if phi.ndim != 3 or phi.shape[:2] != (self.S, self.A) or not np.isfinite(phi).all():
                expected = f"finite (S, A, d) = ({self.S}, {self.A}, d)"
                raise ValueError(f"features have shape {phi.shape}, expected {expected}")

    def leg(self, k: int) -> Leg:
        """Where episode k (1-based) stands; before the first knot and after the last the model rests."""
        if not 1 <= k <= self.episodes:
            raise ValueError(f"episode {k} is outside 1..{self.episodes}")
        if len(self.knots) == 1:
            return Leg(int(self.route[0]), int(self.route[0]), 0.0)
        i = int(np.clip(np.searchsorted(self.knots, k, side="right") - 1, 0, len(self.knots) - 2))
        weight = (k - self.knots[i]) / (self.knots[i + 1] - self.knots[i])
        return Leg(int(self.route[i]), int(self.route[i + 1]), float(np.clip(weight, 0.0, 1.0)))

    def at(self, k: int) -> CMDP:
        """The CMDP of episode k."""
        start, end, weight = self.leg(k)
        if weight in (0.0, 1.0):
            return self.anchors[end if weight else start]
        return between(self.anchors[start], self.anchors[end], weight)

    def fingerprint(self) -> str:
        """A hash of everything that decides what happens on this path."""
        of = f"{self.name} {self.seed} {self.episodes} {self.H} {self.rho!r}"
        content = hashlib.sha256(of.encode())
        parts = [self.knots, self.route, self.mu0, self.successors, self.probability]
        parts += [part for anchor in self.anchors for part in (anchor.reward_of, anchor.utility_of)]
        for part in parts if self.features is None else [*parts, self.features]:
            content.update(np.ascontiguousarray(part).tobytes())
        return content.hexdigest()[:16]

    def __repr__(self) -> str:
        return f"DriftingCMDP({self.name!r}, K={self.episodes}, H={self.H}, S={self.S}, A={self.A}, rho={self.rho:g})"


def to_and_fro(positions: Sequence[float], legs: int, episodes: int) -> tuple[list[int], list[int]]:
    """Knots and route of a walk over anchors at ``positions`` (0 = first, 1 = last), forth and back ``legs`` times.

    Knots fall on whole episodes, so every leg is walked in full and the budget does not depend on K.
    """
    if legs < 1:
        raise ValueError(f"legs = {legs}: expected at least 1")
    stops = len(positions)
    route, places = [0], [float(positions[0])]
    for leg in range(legs):
        back = leg % 2
        for stop in range(stops - 2, -1, -1) if back else range(1, stops):
            route.append(stop)
            places.append(leg + (1 - positions[stop] if back else positions[stop]))
    knots = [1 + round(place / legs * (episodes - 1)) for place in places]
    if len(set(knots)) < len(knots):
        enough = 1 + int(np.ceil(legs / np.diff(positions).min()))
        raise ValueError(
            f"episodes = {episodes} is too few to walk {legs} legs: {enough} are enough"
        )
    return knots, route


def switches(shares: Sequence[float], episodes: int) -> tuple[list[int], list[int]]:
    """Knots and route of a path that rests at anchor 0 or 1 and changes over at each share of the run."""
    last_before = [1 + round(share * (episodes - 1)) for share in shares]
    knots = [1, *(knot + after for knot in last_before for after in (0, 1)), episodes]
    if not all(0 < share < 1 for share in shares) or (np.diff(knots[1:]) < 1).any():
        raise ValueError(
            f"switch_at = {tuple(shares)}: expected shares of the run between 0 and 1, in increasing order and two or "
            f"more of {episodes} episodes apart"
        )
    route = [stop // 2 % 2 for stop in range(len(knots))]
    kept = slice(knots[1] == 1, len(knots) - (knots[-2] == episodes))
    return knots[kept], route[kept]


def between(first: CMDP, last: CMDP, weight: float) -> CMDP:
    """(1 - weight) first + weight last, two models over the same successors."""

    def mixed(one: Array, other: Array) -> Array:
        return (1 - weight) * one + weight * other

    P, Q = first.probability, last.probability
    probability = mixed(P, Q)
    pairs = (first.reward_of, last.reward_of), (first.utility_of, last.utility_of)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = (mixed(P * one, Q * other) / probability for one, other in pairs)
        r, g = (np.where(probability > 0, mean, 0.0) for mean in means)
    return CMDP.sparse(first.successors, probability, r, g, first.H, first.rho, first.mu0)


def _align(anchors: list[CMDP]) -> list[CMDP]:
    """The same anchors over one common set of successor columns."""
    if not anchors:
        raise ValueError("a path needs at least one anchor")
    first = anchors[0]
    for number, anchor in enumerate(anchors):
        for key in ("H", "S", "A", "rho"):
            if getattr(anchor, key) != getattr(first, key):
                raise ValueError(
                    f"anchor {number} has {key} = {getattr(anchor, key)}, the first has {getattr(first, key)}"
                )
        if not np.array_equal(anchor.mu0, first.mu0):
            raise ValueError(f"anchor {number} starts from another distribution mu0 than the first")
    if all(np.array_equal(anchor.successors, first.successors) for anchor in anchors):
        return anchors
    shape = (max(anchor.layers for anchor in anchors), first.S, first.A, first.S)
    dense = []  # P, r and g of every anchor, (layers, S, A, S)
    for anchor in anchors:
        kernel = densify(anchor.successors, anchor.probability)
        tables = [kernel]
        with np.errstate(invalid="ignore", divide="ignore"):
            for paid in (anchor.reward_of, anchor.utility_of):
                mean = densify(anchor.successors, anchor.probability * paid) / kernel
                tables.append(np.where(kernel > 0, mean, 0.0))
        dense.append([np.broadcast_to(table, shape) for table in tables])
    successors = common_successors([kernel for kernel, _, _ in dense])
    aligned = []
    for tables in dense:
        P, r, g = (columns(table, successors) for table in tables)
        aligned.append(CMDP.sparse(successors, P, r, g, first.H, first.rho, first.mu0))
    return aligned
