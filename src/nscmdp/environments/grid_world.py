"""The grid world of the paper's Simulation section.

An agent walks from S to G on a map with walls (#), which block, and obstacles (o), which can be entered at a cost of 1.
The paper's sentences, and the option that holds each reading:

    reward 1 at the destination, 0.1 (d_max - d_0)/d_max elsewhere      d: Euclidean distance to G
    cost at most ``limit`` per episode; no termination before H          utility g = 1 - cost, rho = H - limit
    ``location``: both are paid at the location "reached" by the move, or at the "current" one
    ``success``: the intended move happens with this probability, otherwise one of the four actions, uniformly
    ``success_drift``, ``cost_drift``, ``reward_drift``: how far each has moved after one leg, in equal steps;
        the probability is clipped at 0 and 1, the cost rises at every location, the reward rises or falls with a sign
        drawn once per location from the environment's ``seed``; nothing but the probability is clipped

The paper's 0.1/K per episode is walked from the first episode to the last: 0.1 in all, whatever K. ``legs`` > 1 walks
the same drift to and fro.

Beyond the paper, ``switch`` moves the "goal", the "obstacles" or "both" at each share of the run in ``switch_at``: to
their mirror images, left for right, and back again at the next. Walls and start stay. Two knots one episode apart,
between which the gradual drift rests, so that a switch adds the variation between its two models and nothing else; on
either side the drift goes on.

``map`` is the name of a map in the package, a text file of the same form, or "random": ``size`` x ``size`` cells drawn
from ``seed``, each an obstacle with probability ``obstacles``. As in the authors' map the start is at the bottom right,
the goal in the top row a ninth of the way from the right, and the top and bottom rows are free.
"""

import math
from bisect import bisect
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nscmdp.cmdp import CMDP, Array
from nscmdp.drift import DriftingCMDP, between, to_and_fro
from nscmdp.metrics import cost

MAPS = Path(__file__).parent / "maps"
MOVES = ((-1, 0), (1, 0), (0, -1), (0, 1))  # up, down, left, right
WALL, FREE, OBSTACLE, START, GOAL = "#.oSG"


def grid_world(
    episodes: int,
    *,
    map: str = "18x18",
    size: int | None = None,
    obstacles: float | None = None,
    horizon: int = 25,
    limit: float = 5.0,
    success: float = 0.95,
    success_drift: float = 0.1,
    cost_drift: float = 0.1,
    reward_drift: float = 0.1,
    location: Literal["reached", "current"] = "reached",
    legs: int = 1,
    switch: Literal["none", "goal", "obstacles", "both"] = "none",
    switch_at: tuple[float, ...] = (),
    seed: int = 0,
) -> DriftingCMDP:
    if horizon < 1:
        raise ValueError(f"horizon = {horizon}: expected at least 1")
    if not 0 <= success <= 1:
        raise ValueError(f"success = {success}: expected a probability")
    if location not in ("reached", "current"):
        raise ValueError(f"location = {location!r}: expected 'reached' or 'current'")
    if switch not in ("none", "goal", "obstacles", "both"):
        raise ValueError(f"switch = {switch!r}: expected 'none', 'goal', 'obstacles' or 'both'")
    if (switch == "none") != (len(switch_at) == 0):
        given = f"switch = {switch!r} with switch_at = {switch_at}"
        raise ValueError(f"{given}: expected both or neither")
    if map != "random" and (size is not None or obstacles is not None):
        raise ValueError(f"map = {map!r}: size and obstacles are options of map = 'random' only")
    grid = random_map(size, obstacles, seed) if map == "random" else read_map(map)
    grids = [grid] if switch == "none" else [grid, mirrored(grid, switch)]
    worlds = [Cells.of(one) for one in grids]
    signs = np.random.default_rng([seed, 27]).choice((-1.0, 1.0), size=len(worlds[0].reward))

    def model(position: float, world: int) -> CMDP:
        cells = worlds[world]
        chance = min(max(0.0, success + success_drift * position), 1.0)
        reward = cells.reward + reward_drift * position * signs
        utility = 1.0 - cells.cost - cost_drift * position
        paid = cells.neighbours if location == "reached" else np.arange(len(reward))[:, None]
        P, rho = move_probability(cells.neighbours, chance)[None], cost(horizon, limit)
        y = np.broadcast_to(cells.neighbours[None, :, None, :], P.shape)
        r, g = (np.broadcast_to(v[paid][None, :, None, :], P.shape) for v in (reward, utility))
        return CMDP.sparse(y, P, r, g, horizon, rho, cells.start)

    if episodes == 1:
        return DriftingCMDP([model(0.0, 0)], [1], name="grid_world", seed=seed, picture=grid)
    clipped = ((success_drift > 0) - success) / success_drift if success_drift else 1.0
    positions = [0.0, clipped, 1.0] if 0 < clipped < 1 else [0.0, 1.0]

    def anchor(position: float, world: int) -> CMDP:
        if position in positions:
            return model(position, world)
        # On the straight line that the drift would be on without a switch.
        after = bisect(positions, position)
        low, high = positions[after - 1], positions[after]
        return between(model(low, world), model(high, world), (position - low) / (high - low))

    knots, stops = timetable(positions, legs, switch_at, episodes)
    places = list(dict.fromkeys(stops))
    route = [places.index(stop) for stop in stops]
    anchors = [anchor(*place) for place in places]
    return DriftingCMDP(anchors, knots, route, name="grid_world", seed=seed, picture=grid)


def timetable(
    positions: list[float], legs: int, switch_at: tuple[float, ...], episodes: int
) -> tuple[list[int], list[tuple[float, int]]]:
    """Knots, and at each how far the drift has gone and which of the two worlds it is in."""
    knots, route = to_and_fro(positions, legs, episodes)
    gone = {knot: positions[stop] for knot, stop in zip(knots, route, strict=True)}
    last_before = []
    for share in switch_at:
        if not 0 < share < 1:
            raise ValueError(f"switch_at = {switch_at}: expected shares of the run between 0 and 1")
        leg, into = divmod(share * legs, 1.0)
        here, knot = into if leg % 2 == 0 else 1.0 - into, 1 + round(share * (episodes - 1))
        if not math.isclose(gone.setdefault(knot, here), here, abs_tol=1e-9) or knot + 1 in gone:
            few = f"episodes = {episodes} is too few to keep the switch at {share} apart"
            raise ValueError(f"switch_at = {switch_at}: {few} from other turns of the drift")
        gone[knot + 1] = gone[knot]
        last_before.append(knot)
    knots = sorted(gone)
    return knots, [(gone[k], sum(k > before for before in last_before) % 2) for k in knots]


def mirrored(grid: NDArray[np.str_], what: str) -> NDArray[np.str_]:
    """The map after a switch; an obstacle whose image is a wall, the start or the goal is gone."""
    image = grid[:, ::-1]
    goal = (grid if what == "obstacles" else image) == GOAL
    obstacle = (grid if what == "goal" else image) == OBSTACLE
    if np.isin(grid[goal], (WALL, START)).any():
        raise ValueError(f"switch = {what!r}: the mirror image of the goal is a wall or the start")
    moved = np.select([np.isin(grid, (WALL, START)), goal, obstacle], [grid, GOAL, OBSTACLE], FREE)
    if np.array_equal(moved, grid):
        raise ValueError(f"switch = {what!r}: the map is its own mirror image, nothing would move")
    return moved


def random_map(size: int | None, obstacles: float | None, seed: int) -> NDArray[np.str_]:
    """``size`` x ``size`` cells within walls; by default as many, and as many obstacles, as the authors' map has."""
    size, obstacles = 18 if size is None else size, 0.35 if obstacles is None else obstacles
    if size < 3:
        raise ValueError(f"size = {size}: expected at least 3")
    if not 0 <= obstacles <= 1:
        raise ValueError(f"obstacles = {obstacles}: expected a share between 0 and 1")
    drawn = np.random.default_rng([seed, 29]).random((size, size))
    inside = np.where(drawn < obstacles, OBSTACLE, FREE)
    inside[[0, -1]] = FREE
    inside[0, size - 1 - max(1, round(size / 9))] = GOAL
    inside[-1, -1] = START
    return np.pad(inside, 1, constant_values=WALL)


def read_map(map: str) -> NDArray[np.str_]:
    """The characters of a map in the package, by its name, or of a text file."""
    file = next((f for f in (MAPS / f"{map}.txt", Path(map)) if f.is_file()), None)
    if file is None:
        known = ", ".join(sorted(f.stem for f in MAPS.glob("*.txt")))
        expected = f"one of {known} or the path of a text file"
        raise ValueError(f"map = {map!r}: no such map or file, expected {expected}")
    try:
        lines = file.read_text(encoding="ascii").split()
    except (UnicodeDecodeError, OSError) as error:
        raise ValueError(f"map = {map!r}: {file} cannot be read as text ({error})") from None
    if not lines or len({len(line) for line in lines}) != 1:
        raise ValueError(f"map = {map!r}: {file} must have lines of one length")
    grid = np.array([list(line) for line in lines])
    border = np.concatenate([grid[0], grid[-1], grid[:, 0], grid[:, -1]])
    unknown = sorted(set(grid.ravel().tolist()) - set(WALL + FREE + OBSTACLE + START + GOAL))
    starts, goals = (grid == START).sum(), (grid == GOAL).sum()
    wrong = {
        f"has the characters {unknown}, expected only # . o S G": bool(unknown),
        f"must have one start {START}, it has {starts}": starts != 1,
        f"must have one destination {GOAL}, it has {goals}": goals != 1,
        "must be closed by walls (#) on all sides": (border != WALL).any(),
    }
    for what, is_so in wrong.items():
        if is_so:
            raise ValueError(f"map = {map!r}: {file} {what}")
    return grid


class Cells(NamedTuple):
    """What the drift does not touch: states are the cells that are not walls, row by row."""

    neighbours: NDArray[np.uint32]  # (S, 4): where each move leads
    reward: Array  # (S,)
    cost: Array  # (S,)
    start: Array  # (S,)

    @classmethod
    def of(cls, grid: NDArray[np.str_]) -> "Cells":
        free = np.argwhere(grid != WALL)
        number = np.full(grid.shape, -1)
        number[tuple(free.T)] = np.arange(len(free))
        targets = free[:, None, :] + np.array(MOVES)
        neighbours = number[targets[..., 0], targets[..., 1]]
        neighbours = np.where(neighbours < 0, np.arange(len(free))[:, None], neighbours)
        kind = grid[tuple(free.T)]
        distance = np.linalg.norm(free - free[kind == GOAL], axis=1)
        reward = np.where(kind == GOAL, 1.0, 0.1 * (distance.max() - distance) / distance.max())
        cost = (kind == OBSTACLE).astype(float)
        return cls(neighbours.astype(np.uint32), reward, cost, (kind == START).astype(float))


def move_probability(neighbours: NDArray[np.uint32], success: float) -> Array:
    """(S, 4, 4): the probability of each neighbour under each intended move; a state named twice gets all once."""
    intended = np.eye(len(MOVES)) * success + (1.0 - success) / len(MOVES)
    probability = np.broadcast_to(intended, (len(neighbours), *intended.shape)).copy()
    for first in range(len(MOVES)):
        for again in range(first + 1, len(MOVES)):
            same = neighbours[:, first] == neighbours[:, again]
            probability[same, :, first] += probability[same, :, again]
            probability[same, :, again] = 0.0
    return probability
