"""The grid world of the paper's Simulation section.

An agent walks from S to G on a map with walls (#), which block, and obstacles (o), which can be entered at a cost of 1.
The paper's sentences, and the option that holds each reading:

    reward 1 at the destination, 0.1 (d_max - d_0)/d_max elsewhere      d: Euclidean distance to G
    cost at most ``limit`` an episode; no termination before H          utility g = 1 - cost, rho = H - limit
    ``location``: both are paid at the location "reached" by the move, or at the "current" one
    ``success``: the intended move happens with this probability, otherwise one of the four actions, uniformly
    ``success_drift``, ``cost_drift``, ``reward_drift``: how far each has moved after one leg, in equal steps;
        the probability is clipped at 1, the cost rises at every location, the reward rises or falls with a sign drawn
        once per location from the environment's ``seed``; nothing but the probability is clipped

The paper's 0.1/K an episode is walked from the first episode to the last: 0.1 in all, whatever K. ``legs`` > 1 walks the
same drift to and fro.
"""

from pathlib import Path as File
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nscmdp.cmdp import CMDP, Array
from nscmdp.path import Path, to_and_fro

MAPS = File(__file__).parent / "maps"
MOVES = ((-1, 0), (1, 0), (0, -1), (0, 1))  # up, down, left, right
WALL, FREE, OBSTACLE, START, GOAL = "#.oSG"


def grid_world(
    episodes: int,
    *,
    map: str = "18x18",
    horizon: int = 25,
    limit: float = 5.0,
    success: float = 0.95,
    success_drift: float = 0.1,
    cost_drift: float = 0.1,
    reward_drift: float = 0.1,
    location: Literal["reached", "current"] = "reached",
    legs: int = 1,
    seed: int = 0,
) -> Path:
    if horizon < 1:
        raise ValueError(f"horizon = {horizon}: expected at least 1")
    if not 0 <= success <= 1:
        raise ValueError(f"success = {success}: expected a probability")
    if not success + success_drift >= 0:
        raise ValueError(f"success_drift = {success_drift}: the success probability would fall below 0")
    if location not in ("reached", "current"):
        raise ValueError(f"location = {location!r}: expected 'reached' or 'current'")
    grid = read_map(map)
    cells = Cells.of(grid)
    signs = np.random.default_rng([seed, 27]).choice((-1.0, 1.0), size=len(cells.reward))

    def anchor(position: float) -> CMDP:
        probability = move_probability(cells.neighbours, min(1.0, success + success_drift * position))
        reward = cells.reward + reward_drift * position * signs
        utility = 1.0 - cells.cost - cost_drift * position
        paid = cells.neighbours if location == "reached" else np.arange(len(reward))[:, None]
        columns = (1, len(reward), len(MOVES), len(MOVES))
        return CMDP.sparse(
            np.broadcast_to(cells.neighbours[None, :, None, :], columns),
            probability[None],
            np.broadcast_to(reward[paid][None, :, None, :], columns),
            np.broadcast_to(utility[paid][None, :, None, :], columns),
            horizon,
            horizon - limit,
            cells.start,
        )

    clipped = (1.0 - success) / success_drift if success_drift > 0 else 1.0
    positions = [0.0, clipped, 1.0] if 0 < clipped < 1 else [0.0, 1.0]
    if episodes == 1:
        return Path([anchor(0.0)], [1], name="grid_world", seed=seed, picture=grid)
    knots, route = to_and_fro(positions, legs, episodes)
    return Path([anchor(p) for p in positions], knots, route, name="grid_world", seed=seed, picture=grid)


def read_map(map: str) -> NDArray[np.str_]:
    """The characters of a map in the package, by its name, or of a text file."""
    file = MAPS / f"{map}.txt"
    if not file.is_file():
        file = File(map)
    if not file.is_file():
        known = ", ".join(sorted(f.stem for f in MAPS.glob("*.txt")))
        raise ValueError(f"map = {map!r}: no such map or file, expected one of {known} or the path of a text file")
    try:
        lines = file.read_text(encoding="ascii").split()
    except (UnicodeDecodeError, OSError) as error:
        raise ValueError(f"map = {map!r}: {file} cannot be read as text ({error})") from None
    if not lines or len({len(line) for line in lines}) != 1:
        raise ValueError(f"map = {map!r}: {file} must have lines of one length")
    grid = np.array([list(line) for line in lines])
    unknown = sorted(set(grid.ravel()) - set(WALL + FREE + OBSTACLE + START + GOAL))
    if unknown:
        raise ValueError(f"map = {map!r}: {file} has the characters {unknown}, expected only # . o S G")
    for mark, meaning in ((START, "start"), (GOAL, "destination")):
        if (grid == mark).sum() != 1:
            raise ValueError(f"map = {map!r}: {file} must have one {meaning} {mark}, it has {(grid == mark).sum()}")
    border = np.concatenate([grid[0], grid[-1], grid[:, 0], grid[:, -1]])
    if (border != WALL).any():
        raise ValueError(f"map = {map!r}: {file} must be closed by walls (#) on all sides")
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
    """(S, 4, 4): the probability of each neighbour under each intended move; a state named twice gets all of it once."""
    intended = np.eye(len(MOVES)) * success + (1.0 - success) / len(MOVES)
    probability = np.broadcast_to(intended, (len(neighbours), *intended.shape)).copy()
    for first in range(len(MOVES)):
        for again in range(first + 1, len(MOVES)):
            same = neighbours[:, first] == neighbours[:, again]
            probability[same, :, first] += probability[same, :, again]
            probability[same, :, again] = 0.0
    return probability
