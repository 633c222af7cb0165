"""Gymnasium's environments with a transition table (FrozenLake, CliffWalking, Taxi) as a drifting CMDP.

Gymnasium keeps the outcomes (probability, successor, reward, terminated) of every state and action in ``P``. ``first``
and ``last`` are keyword arguments for ``gymnasium.make(env_id)``: the model goes from one table to the other in a
straight line, ``legs`` times to and fro. By default the ice becomes slippery: is_slippery goes from False to True, and
on the way the intended move succeeds with every probability from 1 to 1/3.

    states    Gymnasium's, by their numbers, and two more in which an episode that has ended stays: S after a cost, S+1
              after none. So a policy (H, S+2, A) plays in Gymnasium as it stands.
    horizon   H steps, with reward 0 and cost 0 after the end; Gymnasium's own time limit is not used.
    cost      1 for an outcome that pays less than the usual reward, or that ends the episode with less than the best
              end does: a fall into a hole or off the cliff, an illegal pick-up or drop-off. The usual reward is the
              most frequent one of outcomes that end nothing. Utility g = 1 - cost, rho = H - ``limit``.
    reward    The penalty that Gymnasium pays with a cost is what the constraint replaces: such an outcome pays the
              usual reward (0 on the lake, -1 at the cliff and in the taxi).
    scale     r = (reward - low) / (high - low), low and high taken over both tables and the 0 after the end. That 0 is
              mapped like all others: a return R over H steps becomes (R - H low) / (high - low) for every policy, and
              the best one stays the best. V is the probability of the goal on the lake, and the expected number of
              steps left after the goal at the cliff.

What is observed goes with the successor: where one is reached with different rewards and costs (the start of the cliff,
by a fall and by a move against the edge), their mean is paid. In Taxi no illegal action is of use, so that the optimum
keeps any limit by itself, with multiplier 0.
"""

from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from nscmdp.cmdp import CMDP, Array, columns, common_successors
from nscmdp.drift import DriftingCMDP, to_and_fro
from nscmdp.metrics import cost

DRIFTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {  # where first and last are not given
    "FrozenLake": ({"is_slippery": False}, {"is_slippery": True}),
    "CliffWalking": ({"is_slippery": False}, {"is_slippery": True}),
    "Taxi": ({"is_rainy": False}, {"is_rainy": True}),
}


class NeedsGymnasium(ImportError, ValueError):
    """The extra is not installed: to a configuration, a value that cannot be had here."""


class Game(NamedTuple):
    """Gymnasium's table, with the two states of the end."""

    probability: Array  # (S+2, A, S+2)
    reward: Array  # (S+2, A, S+2), in Gymnasium's unit: the mean paid with each successor
    cost: Array  # (S+2, A, S+2)
    start: Array  # (S+2,)


def toy_text(
    episodes: int,
    *,
    env_id: str = "FrozenLake-v1",
    first: dict[str, Any] | None = None,
    last: dict[str, Any] | None = None,
    horizon: int = 25,
    limit: float = 0.1,
    legs: int = 1,
    seed: int = 0,
) -> DriftingCMDP:
    if horizon < 1:
        raise ValueError(f"horizon = {horizon}: expected at least 1")
    if ":" in env_id:  # Gymnasium would import what stands before it, and nothing read may run
        expected = "an id alone, of an environment that is registered already"
        raise ValueError(f"env_id = {env_id!r}: expected {expected}")
    drift = DRIFTS.get(env_id.partition("-")[0], ({}, {}))
    ends = [drift[0] if first is None else first, drift[1] if last is None else last]
    games = [read(env_id, *end) for end in zip(("first", "last"), ends, strict=True)]
    sizes = [(len(game.start) - 2, game.cost.shape[1]) for game in games]
    if sizes[0] != sizes[1]:
        found = f"first has (states, actions) = {sizes[0]} and last {sizes[1]}"
        raise ValueError(f"{found}: expected the same of both")
    paid = np.concatenate([game.reward[game.probability > 0] for game in games])
    low, high = paid.min(), paid.max()
    scale, rho = (high - low) or 1.0, cost(horizon, limit)
    anchors = []
    for game in games:
        successors = common_successors([game.probability[None]])
        tables = game.probability, (game.reward - low) / scale, 1.0 - game.cost
        P, r, g = (columns(table[None], successors) for table in tables)
        anchors.append(CMDP.sparse(successors, P, r, g, horizon, rho, game.start))
    knots, route = ([1], [0]) if episodes == 1 else to_and_fro([0.0, 1.0], legs, episodes)
    about = f"Gymnasium's {env_id} from {ends[0]} to {ends[1]}"
    return DriftingCMDP(anchors, knots, route, name="toy_text", seed=seed, about=about)


def read(env_id: str, key: str, options: dict[str, Any]) -> Game:
    """What Gymnasium makes of ``options``, which stand in the configuration as ``key``."""
    env, again = _made(env_id, key, options), _made(env_id, key, options)
    if env.P != again.P:
        found = f"{env_id} is another each time it is made"
        raise ValueError(f"{key} = {options}: {found}, expected a fixed map")
    if getattr(env, "fickle_passenger", False):
        found = f"the table P of {env_id} knows nothing of fickle passengers"
        raise ValueError(f"{key} = {options}: {found}")
    states, actions = int(env.observation_space.n), int(env.action_space.n)
    rows = [[env.P[x][a] for a in range(actions)] for x in range(states)]
    return tabulate(rows, np.asarray(env.initial_state_distrib, dtype=float))


def _made(env_id: str, key: str, options: dict[str, Any]) -> Any:
    try:
        import gymnasium
    except ImportError:
        raise NeedsGymnasium("toy_text needs Gymnasium: pip install nscmdp[gymnasium]") from None
    try:
        env = gymnasium.make(env_id, **options).unwrapped
    except (gymnasium.error.Error, ModuleNotFoundError) as error:
        raise ValueError(f"env_id = {env_id!r}: {error}") from None
    except Exception as error:  # whatever the environment says to its arguments
        found = f"{env_id} cannot be made with these arguments ({error})"
        raise ValueError(f"{key} = {options}: {found}") from None
    if not (hasattr(env, "P") and hasattr(env, "initial_state_distrib")):
        raise ValueError(
            f"env_id = {env_id!r}: it has no transition table P and initial_state_distrib, expected an environment "
            "that has, as FrozenLake-v1, CliffWalking-v1 and Taxi-v4 do"
        )
    return env


def tabulate(rows: list[list[list[tuple[float, int, float, bool]]]], start: Array) -> Game:
    """The outcomes (probability, successor, reward, terminated) of every state and action as arrays."""
    outcomes = [one for row in rows for cell in row for one in cell]
    usual = Counter(reward for _, _, reward, ended in outcomes if not ended).most_common(1)[0][0]
    best_end = max((reward for _, _, reward, ended in outcomes if ended), default=0.0)
    states, actions = len(rows), len(rows[0])
    probability, reward, costs = np.zeros((3, states + 2, actions, states + 2))
    probability[[states, states + 1], :, [states, states + 1]] = 1.0
    for x, a in np.ndindex(states, actions):
        for p, y, paid, ended in rows[x][a]:
            costly = paid < usual or (ended and paid < best_end)
            y = (states if costly else states + 1) if ended else y
            probability[x, a, y] += p
            reward[x, a, y] += p * (usual if costly else paid)
            costs[x, a, y] += p * costly
    reached = np.where(probability > 0, probability, 1.0)
    return Game(probability, reward / reached, costs / reached, np.append(start, [0.0, 0.0]))
