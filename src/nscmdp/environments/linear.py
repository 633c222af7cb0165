"""A drifting linear CMDP, with the variation budget and the Slater gap that are asked for.

    P_h(x'|x,a) = <phi(x,a), mu_h(x')>,    r_h(x,a) = <phi(x,a), theta^r_h>,    g_h(x,a) = <phi(x,a), theta^g_h>

phi(x,a) ~ Dirichlet(.1) in ``dimension`` components, known and the same throughout; each component of mu_h is a
distribution over states, and theta is in [0,1]. A component is rich in reward (r about .9, g about .05), rich in
utility (the other way round) or bad (both about .05); two models M and M' share out these types anew at every step.
Which action is good thus depends on the state, and no action is good everywhere.

One leg goes from M towards M' until its variation, by the linear definition (see ``budget.py``), is 1.25 H sqrt(d).
As many legs as ``budget`` holds are walked to and fro, the last one in part: a curve in k/K, whatever K.

rho is ``slater`` below the least that the best utility is on the whole leg: sampled at 201 models, less what it can
move between two of them. So the Slater gap is at least ``slater`` in every episode, and close to it in one of the leg.

The uniform policy is far from the best: in five models along the leg its Lagrangian gap (V* - V) + lambda* (rho - W) is
at least a quarter of V*, and lambda* is above .05 in one of them; else another pair M, M' is drawn.

Step h leads to ``branching`` states of its own (to all, where there are fewer). A run's models and alias tables take up
to 400 H S A branching bytes: 30 MB at 60 states and .5 GB at 1000 (8 GB, were all 1000 the successors of every step).
"""

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nscmdp.cmdp import CMDP, Array
from nscmdp.drift import DriftingCMDP
from nscmdp.environments.random_tabular import Choice, against_uniform, check, greedy, walk

LEG = 1.25  # variation of one leg, for each step of an episode and sqrt(d)
FAR = 0.25  # least Lagrangian gap of the uniform policy, as a share of V*
BINDS = 0.05  # least of the largest multiplier
DRAWS = 100
EVEN = 0.05  # share of a component of mu that is spread evenly, so that no successor is all but impossible
CONCENTRATION = 0.1  # of the Dirichlet distributions of phi and mu
SAMPLES = 201  # models of a leg whose best utility is computed

REWARD, UTILITY, BAD = 0, 1, 2  # types of components
MEANS = np.array([[0.9, 0.05], [0.05, 0.9], [0.05, 0.05]])  # r and g, by type
SPREAD = 0.05  # either side of the mean


class Parameters(NamedTuple):
    mu: Array  # (H, d, M), over the successors of each step
    theta: Array  # (2, H, d), of reward and utility


class Features(NamedTuple):
    phi: Array  # (S, A, d)
    successors: NDArray[np.int64]  # (H, M): the states that step h leads to


def linear(
    episodes: int,
    *,
    states: int = 60,
    actions: int = 4,
    dimension: int = 8,
    horizon: int = 5,
    branching: int = 60,
    budget: float = 20.0,
    slater: float = 0.8,
    seed: int = 0,
) -> DriftingCMDP:
    least_options = {"states": (states, 1), "actions": (actions, 2)}
    least_options |= {"dimension": (dimension, len(MEANS)), "horizon": (horizon, 1)}
    for option, (value, least) in (least_options | {"branching": (branching, 1)}).items():
        if value < least:
            raise ValueError(f"{option} = {value}: expected at least {least}")
    if dimension > states * actions:
        most = f"states x actions = {states * actions}"
        raise ValueError(f"dimension = {dimension}: expected at most {most}")
    check(budget, slater, horizon)
    size = LEG * horizon * math.sqrt(dimension)
    for draw in range(DRAWS):
        rng = np.random.default_rng([seed, 47, draw])
        features = draw_features(rng, states, actions, dimension, horizon, min(branching, states))
        here = draw_parameters(rng, features)
        there = draw_parameters(rng, features)
        share = size / variation(here, there)
        phi = features.phi.reshape(-1, dimension)
        if share > 1 or np.linalg.matrix_rank(phi, tol=1e-6) < dimension:
            continue
        there = between(here, there, share)
        rho = least_best_utility(features, here, there) - slater
        if rho > 0 and is_telling(features, here, there, rho):
            leg = DriftingCMDP([model(features, end, rho) for end in (here, there)], [1, 2])
            path = walk(leg, budget / size, episodes, seed)
            gap = f"with a Slater gap of at least {slater:g}"
            about = f"a linear CMDP of dimension {dimension} {gap}"
            given: dict[str, Any] = {"name": "linear", "about": about, "features": features.phi}
            turns = path.knots.tolist(), path.route.tolist()
            return DriftingCMDP(path.anchors, *turns, episodes=episodes, seed=seed, **given)
    raise ValueError(
        f"seed = {seed}: in {DRAWS} draws of {states} states, {actions} actions and dimension {dimension} with slater "
        f"= {slater} no leg had a variation of {size:.3g}, a constraint that binds and the uniform policy {FAR:g} V* "
        "from the best: expected more states or actions, or a smaller slater"
    )


def draw_features(
    rng: np.random.Generator, states: int, actions: int, d: int, horizon: int, branching: int
) -> Features:
    phi = rng.dirichlet(np.full(d, CONCENTRATION), size=(states, actions))
    successors = np.argsort(rng.random((horizon, states)), axis=1)[:, :branching]
    return Features(phi, np.sort(successors, axis=1))


def draw_parameters(rng: np.random.Generator, features: Features) -> Parameters:
    (horizon, branching), d = features.successors.shape, features.phi.shape[2]
    mu = rng.dirichlet(np.full(branching, CONCENTRATION), size=(horizon, d))
    types = rng.permuted(np.broadcast_to(np.arange(d) % len(MEANS), (horizon, d)), axis=1)
    theta = MEANS[types] + SPREAD * (2 * rng.random((horizon, d, 2)) - 1)
    even = (1 - EVEN) * mu + EVEN / branching
    return Parameters(even, np.ascontiguousarray(np.moveaxis(theta, 2, 0)))


def between(first: Parameters, last: Parameters, weight: float) -> Parameters:
    return Parameters(*((1 - weight) * a + weight * b for a, b in zip(first, last, strict=True)))


def variation(first: Parameters, last: Parameters) -> float:
    """B_r + B_g + B_p of the way from one to the other."""
    mu, theta = last.mu - first.mu, last.theta - first.theta
    return float(np.linalg.norm(theta, axis=2).sum() + np.linalg.norm(mu, axis=(1, 2)).sum())


def model(features: Features, parameters: Parameters, rho: float) -> CMDP:
    """The CMDP with these parameters; every state is as likely a start as any other."""
    phi, (horizon, branching) = features.phi, features.successors.shape
    shape = (horizon, *phi.shape[:2], branching)
    reward, utility = np.einsum("xai,jhi->jhxa", phi, parameters.theta)
    successors = np.broadcast_to(features.successors[:, None, None], shape).astype(np.uint32)
    probability, mu0 = (
        np.einsum("xai,him->hxam", phi, parameters.mu),
        np.full(len(phi), 1 / len(phi)),
    )
    return CMDP.sparse(successors, probability, reward, utility, horizon, rho, mu0)


def values(features: Features, parameters: Parameters, choice: Choice) -> tuple[float, float]:
    """V and W of a policy from a uniform start. Q_h = <phi, theta_h + mu_h V_{h+1}>: no P is needed."""
    v, w = np.zeros((2, len(features.phi)))
    for h in range(len(parameters.mu) - 1, -1, -1):
        mu, successors = parameters.mu[h], features.successors[h]
        q = features.phi @ (parameters.theta[0, h] + mu @ v[successors])
        c = features.phi @ (parameters.theta[1, h] + mu @ w[successors])
        chosen = choice(q, c)
        v, w = (chosen * q).sum(axis=1), (chosen * c).sum(axis=1)
    return float(v.mean()), float(w.mean())


def least_best_utility(features: Features, here: Parameters, there: Parameters) -> float:
    """A lower bound on max_pi W anywhere on the leg.

    A step of size t changes g by at most t max|theta' - theta| and the mean of a function in [0, H-h] by at most
    t (H-h) |mu' - mu|_1 / 2, so W* moves by at most t times their sum over h; t is half the distance of two samples.
    """
    horizon = len(here.mu)
    utility = np.abs(there.theta[1] - here.theta[1]).max(axis=1)
    kernel = np.abs(there.mu - here.mu).sum(axis=2).max(axis=1) / 2
    slope = (utility + kernel * np.arange(horizon - 1, -1, -1)).sum()
    weights = np.linspace(0, 1, SAMPLES)
    sampled = min(values(features, between(here, there, t), greedy(0.0, 1.0))[1] for t in weights)
    return sampled - float(slope) * weights[1] / 2


def is_telling(features: Features, here: Parameters, there: Parameters, rho: float) -> bool:
    gaps, multipliers = [], []
    for share in np.linspace(0, 1, 5):
        parameters = between(here, there, share)
        gap, multiplier = against_uniform(partial(values, features, parameters), rho)
        gaps.append(gap)
        multipliers.append(multiplier)
    return min(gaps) >= FAR and max(multipliers) > BINDS
