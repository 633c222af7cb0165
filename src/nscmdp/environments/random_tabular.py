"""A random drifting CMDP of any size, with the variation budget and the Slater gap that are asked for.

Every (h,x,a) has ``branching`` successors of its own. Two models over them, M and M', are drawn from ``seed``; one leg
goes from M towards M' until its variation is .75 H. As many whole legs, to and fro, as fit into ``budget`` are walked,
then a part of one more, all at one speed: the path is a curve in k/K, and its variation is ``budget``, whatever K.

One action of every (h,x), the careful one, has utility 1 throughout and a reward of at most .2; all others have
utilities of at most .5. Playing it everywhere has utility H, the most there is, in every model between M and M'.
With rho = H - ``slater`` the Slater gap max_pi W - rho is therefore exactly ``slater`` in every episode.

``drifts`` lets "all" change, or the "reward", the "utility" or the "transitions" alone: M' is then M but for that part,
and one leg goes all the way to it.

The uniform policy is far from the best: in five models along the leg its Lagrangian gap (V* - V) + lambda* (rho - W) is
at least a quarter of V*; else another pair M, M' is drawn.
"""

import math
from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from nscmdp.budget import variation
from nscmdp.cmdp import CMDP, Array
from nscmdp.drift import DriftingCMDP, between

LEG = 0.75  # variation of one leg, for each step of an episode
FAR = 0.25  # least Lagrangian gap of the uniform policy, as a share of V*
DRAWS = 100
EVEN = 0.05  # share of a row that is spread evenly over its successors, so that none is all but impossible
PARTS = ("all", "transitions", "reward", "utility")  # what may drift
NO_PART = 1e-10  # the last part of a leg is none where it is this share of the walk
CLOSED = 1e-10  # distance between the dual and the crossing of two cuts at which they are the same
# The probabilities (S,A) of actions, given their values Q and C.
Choice = Callable[[Array, Array], Array]


def random_tabular(
    episodes: int,
    *,
    states: int = 5,
    actions: int = 3,
    horizon: int = 4,
    branching: int = 3,
    budget: float = 3.0,
    slater: float = 1.5,
    drifts: Literal["all", "reward", "utility", "transitions"] = "all",
    seed: int = 0,
) -> DriftingCMDP:
    for option, value in (("states", states), ("horizon", horizon), ("branching", branching)):
        if value < 1:
            raise ValueError(f"{option} = {value}: expected at least 1")
    if actions < 2:
        raise ValueError(f"actions = {actions}: expected at least 2, the careful one and another")
    if branching > states:
        raise ValueError(f"branching = {branching}: expected at most as many as states = {states}")
    check(budget, slater, horizon)
    if drifts not in PARTS:
        raise ValueError(f"drifts = {drifts!r}: expected one of {', '.join(map(repr, PARTS))}")
    for draw in range(DRAWS):
        rng = np.random.default_rng([seed, 43, draw])
        leg = draw_leg(rng, (horizon, states, actions), branching, horizon - slater, drifts)
        if leg is not None and all(uniform_regret(leg.at(k)) >= FAR for k in range(1, 6)):
            size = LEG * horizon if drifts == "all" else variation(leg).total
            return walk(leg, budget / size, episodes, seed)
    raise ValueError(
        f"seed = {seed}: in {DRAWS} draws of {states} states and {actions} actions with slater = {slater} no leg had a "
        f"variation of {LEG:g} a step and the uniform policy {FAR:g} V* from the best: expected more states or actions"
    )


def draw_leg(
    rng: np.random.Generator,
    shape: tuple[int, int, int],
    branching: int,
    rho: float,
    drifts: str = "all",
) -> DriftingCMDP | None:
    """One leg, in five episodes; none where M and M' are too close for it."""
    successors = distinct_states(rng, shape, branching)
    careful = np.eye(shape[2], dtype=bool)[rng.integers(shape[2], size=shape[:2])]

    def draw() -> dict[str, Array]:
        probability = (1 - EVEN) * rng.dirichlet(np.ones(branching), size=shape) + EVEN / branching
        reward = rng.random(shape) * np.where(careful, 0.2, 1.0)
        utility = np.where(careful, 1.0, 0.5 * rng.random(shape))
        return {"transitions": probability, "reward": reward, "utility": utility}

    def model(parts: dict[str, Array]) -> CMDP:
        tables = parts["transitions"], parts["reward"], parts["utility"]
        return CMDP.sparse(successors, *tables, shape[0], rho, np.full(shape[1], 1 / shape[1]))

    first, second = draw(), draw()
    if drifts != "all":
        return DriftingCMDP([model(first), model(first | {drifts: second[drifts]})], [1, 5])
    here, there = model(first), model(second)
    share = LEG * shape[0] / variation(DriftingCMDP([here, there], [1, 2])).total
    return DriftingCMDP([here, between(here, there, share)], [1, 5]) if share <= 1 else None


def check(budget: float, slater: float, horizon: int) -> None:
    if not 0 <= budget < math.inf:
        raise ValueError(f"budget = {budget}: expected 0 or more")
    if not 0 < slater < horizon:
        expected = f"more than 0 and less than horizon = {horizon}"
        raise ValueError(f"slater = {slater}: expected {expected}")


def distinct_states(
    rng: np.random.Generator, shape: tuple[int, int, int], count: int
) -> NDArray[np.uint32]:
    """(*shape, count): different states in every row, each set equally likely (Floyd's sampling, by columns)."""
    chosen = np.empty((*shape, count), np.uint32)
    for column, top in enumerate(range(shape[1] - count, shape[1])):
        state = rng.integers(top + 1, size=shape)
        taken = (chosen[..., :column] == state[..., None]).any(axis=-1)
        chosen[..., column] = np.where(taken, top, state)
    return chosen


def walk(leg: DriftingCMDP, legs: float, episodes: int, seed: int) -> DriftingCMDP:
    """``legs`` legs to and fro, the last one in part."""
    whole = int(legs * (1 + NO_PART))
    anchors, route = list(leg.anchors), [stop % 2 for stop in range(whole + 1)]
    places = [float(stop) for stop in range(whole + 1)]
    if legs - whole > NO_PART * legs:
        anchors.append(between(anchors[whole % 2], anchors[1 - whole % 2], legs - whole))
        route.append(2)
        places.append(legs)
    knots = [1 + math.floor(place / (places[-1] or 1.0) * (episodes - 1) + 0.5) for place in places]
    if len(set(knots)) < len(knots):
        enough = 1 + math.ceil(places[-1] / (places[-1] - places[-2]))
        few = f"episodes = {episodes} is too few to walk the budget in {legs:.6g} legs"
        raise ValueError(f"{few}: {enough} are enough")
    return DriftingCMDP(anchors, knots, route, episodes=episodes, name="random_tabular", seed=seed)


def uniform_regret(cmdp: CMDP) -> float:
    """((V* - V) + lambda* (rho - W)) / V* of the uniform policy; plain numpy: making a path needs no compiler."""

    def values(choice: Choice) -> tuple[float, float]:
        v, w = np.zeros(cmdp.S), np.zeros(cmdp.S)
        for h in range(cmdp.H - 1, -1, -1):
            P, successors = cmdp.probability[h], cmdp.successors[h]
            q = cmdp.reward[h] + (P * v[successors]).sum(axis=2)
            c = cmdp.utility[h] + (P * w[successors]).sum(axis=2)
            chosen = choice(q, c)
            v, w = (chosen * q).sum(axis=1), (chosen * c).sum(axis=1)
        return float(cmdp.mu0 @ v), float(cmdp.mu0 @ w)

    return against_uniform(values, cmdp.rho)[0]


def greedy(on_reward: float, on_utility: float) -> Choice:
    return lambda q, c: np.eye(q.shape[1])[(on_reward * q + on_utility * c).argmax(axis=1)]


def against_uniform(
    values: Callable[[Choice], tuple[float, float]], rho: float
) -> tuple[float, float]:
    """((V* - V) + lambda* (rho - W)) / V* of the uniform policy, and lambda*; by cuts, as in ``optimum.py``.

    ``values`` gives V and W of the policy that a choice makes.
    """
    (v0, w0), (v1, w1) = values(greedy(1.0, 0.0)), values(greedy(0.0, 1.0))
    multiplier, best = 0.0, v0
    while w0 < rho:
        multiplier = (v0 - v1) / (w1 - w0)
        best = v0 + multiplier * (w0 - rho)
        v, w = values(greedy(1.0, multiplier))
        if v + multiplier * (w - rho) <= best + CLOSED:
            break
        if w < rho:
            v0, w0 = v, w
        else:
            v1, w1 = v, w
    value, utility = values(lambda q, c: np.full_like(q, 1 / q.shape[1]))
    return (best - value - multiplier * (utility - rho)) / best, multiplier
