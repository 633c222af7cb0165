"""Random models and paths, and slow readings of the definitions that share nothing with the package's kernels."""

from types import SimpleNamespace

import numpy as np

from nscmdp import budget
from nscmdp.algorithms._frame_ends import apply_frame_ends
from nscmdp.algorithms._tables import optimistic
from nscmdp.algorithms.restart_q_ucb import apply_pending_resets
from nscmdp.cmdp import CMDP
from nscmdp.drift import DriftingCMDP
from nscmdp.kernels.sampling import sampler_of
from nscmdp.problem import Problem
from nscmdp.randomness import stream


def random_arrays(rng, H, S, A, *, sparsity=0.0, rounding=0.0, same_for_all_h=False):
    """P (H,S,A,S) without probabilities below 1e-3, r and g (H,S,A); ``rounding`` puts r and g on a lattice of ties."""
    layers = 1 if same_for_all_h else H
    reached = rng.random((layers, S, A, S)) >= sparsity
    reached |= np.eye(S, dtype=bool)[rng.integers(S, size=(layers, S, A))]
    P = np.where(reached, rng.exponential(size=reached.shape) + 0.01, 0.0)
    P /= P.sum(axis=3, keepdims=True)
    r, g = rng.random((2, layers, S, A))
    if rounding:
        r, g = np.round(r / rounding) * rounding, np.round(g / rounding) * rounding
    return P, r, g


def random_cmdp(rng, H=3, S=3, A=3, *, tightness=0.5, one_start=False, **shape):
    """rho = W of a reward-greedy policy + ``tightness`` (best W - that W): below 0 slack, above 1 infeasible."""
    P, r, g = random_arrays(rng, H, S, A, **shape)
    mu0 = np.eye(S)[rng.integers(S)] if one_start else rng.dirichlet(np.ones(S))
    unconstrained = backward(P, r, g, mu0, H, 1.0, 0.0)[1]
    best = backward(P, r, g, mu0, H, 0.0, 1.0)[1]
    rho = unconstrained + tightness * (best - unconstrained)
    return model_of(P, r, g, H, rho, mu0)


def model_of(P, r, g, H, rho, mu0):
    """A model that is the same for all steps if the arrays have a first axis of 1."""
    if len(P) == H:
        return CMDP(P=P, r=r, g=g, rho=rho, mu0=mu0)
    successors = np.broadcast_to(np.arange(P.shape[3], dtype=np.uint32), P.shape)
    return CMDP.sparse(successors, P, r, g, H, rho, mu0)


def random_path(
    rng, knots, *, episodes=None, route=None, tightness=0.5, spread=1.0, name="path", **shape
):
    """A path whose constraint can be kept in every episode: rho lies ``tightness`` of the way to the most it can be.

    All anchors but the first go only a share ``spread`` of the way from the first to models of their own.
    """
    number = len(knots) if route is None else max(route) + 1
    sizes = {"H": 3, "S": 3, "A": 3} | shape
    H, mu0 = sizes["H"], rng.dirichlet(np.ones(sizes["S"]))
    arrays = [random_arrays(rng, **sizes) for _ in range(number)]
    for drawn in arrays[1:]:
        for table, first in zip(drawn, arrays[0], strict=True):
            table[:] = (1 - spread) * first + spread * table

    def path(rho):
        anchors = [model_of(*tables, H, rho, mu0) for tables in arrays]
        return DriftingCMDP(anchors, knots, route, episodes=episodes, name=name)

    free = path(0.0)
    models = [free.at(k) for k in range(1, free.episodes + 1)]
    lowest = max(best(model, 1.0, 0.0)[1] for model in models)
    highest = min(best(model, 0.0, 1.0)[1] for model in models)
    low, high = sorted((lowest, highest))
    return path(low + tightness * (high - low) if lowest < highest else 0.95 * highest)


def backward(P, r, g, mu0, H, on_reward, on_utility):
    """V and W of a policy that maximises on_reward V + on_utility W, by dense backward induction."""
    V, W = np.zeros(P.shape[1]), np.zeros(P.shape[1])
    for h in reversed(range(H)):
        layer = h if len(P) > 1 else 0
        v, w = r[layer] + P[layer] @ V, g[layer] + P[layer] @ W
        a = (on_reward * v + on_utility * w).argmax(axis=1)[:, None]
        V, W = np.take_along_axis(v, a, 1)[:, 0], np.take_along_axis(w, a, 1)[:, 0]
    return float(mu0 @ V), float(mu0 @ W)


def best(cmdp, on_reward, on_utility):
    return backward(cmdp.P, cmdp.r, cmdp.g, cmdp.mu0, cmdp.H, on_reward, on_utility)


def evaluate(cmdp, policy):
    """V and W of a policy (H,S,A), densely."""
    V, W = np.zeros(cmdp.S), np.zeros(cmdp.S)
    for h in reversed(range(cmdp.H)):
        V = (policy[h] * (cmdp.r[h] + cmdp.P[h] @ V)).sum(axis=1)
        W = (policy[h] * (cmdp.g[h] + cmdp.P[h] @ W)).sum(axis=1)
    return float(cmdp.mu0 @ V), float(cmdp.mu0 @ W)


def optimistic_start(env, initial, start="optimistic"):
    """What Q starts from, by step: ``initial`` times the most that V can be where step h can be, or H-h+1 if less.

    To the last bit it is the package's own, as the budgets of :func:`facts` are.
    """
    reached = [set(np.flatnonzero(env.mu0))]
    for h in range(env.H - 1):
        rows = np.concatenate([anchor.P[h, sorted(reached[h])] for anchor in env.anchors])
        reached.append({*np.flatnonzero(rows.sum(axis=(0, 1))).tolist()})
    values, starts = np.zeros(env.S), []
    for h in reversed(range(env.H)):
        ahead = [(anchor.r[h] + anchor.P[h] @ values).max(axis=1) for anchor in env.anchors]
        values = np.max(ahead, axis=0)
        most = max(values[x] for x in reached[h])
        share = 0.4 if start == "below" else 1.0
        starts.append(min(max(env.H - h, most), initial * most) * share)
    found = optimistic(Problem.of(env), initial, start)
    np.testing.assert_allclose(found, starts[::-1], rtol=1e-12)
    return list(found)


def gaps(env, run):
    """The Lagrangian gap of every evaluated episode: V* - V + lambda* (rho - W)."""
    value, _, multiplier = run.optimum.T
    return value - run.value + multiplier * (env.rho - run.utility_value)


def random_policy(rng, cmdp):
    return rng.dirichlet(np.full(cmdp.A, 0.5), size=(cmdp.H, cmdp.S))


def variation_by_definition(env, first=1, last=None):
    """B_r, B_g, B_p of the steps inside the episodes first..last, summed over all of them as the paper writes it."""
    total = np.zeros(3)
    before = env.at(first)
    for k in range(first + 1, (env.episodes if last is None else last) + 1):
        now = env.at(k)
        for h in range(env.H):
            total += (
                np.abs(now.r[h] - before.r[h]).max(),
                np.abs(now.g[h] - before.g[h]).max(),
                np.abs(now.P[h] - before.P[h]).sum(axis=2).max(),
            )
        before = now
    return total


class World:
    """The environment as a learner meets it, in plain Python: the same random numbers, one episode after the other."""

    def __init__(self, env, seed):
        self.env, self.tables = env, sampler_of(env)
        self.environment_draws = stream("environment", env.name, env.seed, seed)
        self.k = 0

    def begin_episode(self):
        """The first state of the next episode."""
        self.k += 1
        self.draws = iter(self.environment_draws.random((1, 1 + 2 * self.env.H))[0])
        place = next(self.draws) * self.env.S
        x = int(place)
        return x if place - x < self.tables.start_threshold[x] else int(self.tables.start_alias[x])

    def step(self, h, x, a):
        """Reward, utility and next state."""
        leg = self.env.leg(self.k)
        anchor = leg.end if next(self.draws) < leg.weight else leg.start
        row = self.tables.outcomes[anchor, h if self.env.layers > 1 else 0, x, a]
        place = next(self.draws) * len(row)
        outcome = row[int(place)]
        which = "" if place - int(place) < outcome["threshold"] else "alias_"
        reward, utility, state = (outcome[which + name] for name in ("reward", "utility", "state"))
        return float(reward), float(utility), int(state)


def play(env, learner, name, seed):
    """A plain learner in its environment, in an independent loop: what it earns, V and W and the dual, by episode."""
    world, learner_draws, episodes = World(env, seed), stream("learner", name, seed), []
    has = {name for name in dir(learner) if not name.startswith("_")}

    def choose(h, x, u):
        if "act_and_estimate" in has:
            return learner.act_and_estimate(h, x, u)
        if "act" in has:
            return learner.act(h, x, u), None, None
        below = np.cumsum(learner.policy(h, x))
        return min(int(np.searchsorted(below, u, side="right")), env.A - 1), None, None

    for k in range(1, env.episodes + 1):
        u = learner_draws.random((1, 1 + env.H))[0]
        if "begin_episode" in has:
            learner.begin_episode(u[0])
        policy = [[learner.policy(h, x) for x in range(env.S)] for h in range(env.H)]
        V, W = evaluate(env.at(k), np.array(policy))
        x, reward, utility = world.begin_episode(), 0.0, 0.0
        a, _, _ = choose(0, x, u[1])
        for h in range(env.H):
            r, g, y = world.step(h, x, a)
            if "learn_from_estimate" in has:
                after, v, w = choose(h + 1, y, u[2 + h]) if h + 1 < env.H else (None, 0.0, 0.0)
                learner.learn_from_estimate(h, x, a, r, g, y, v, w)
            else:
                learner.learn(h, x, a, r, g, y)
                after, _, _ = choose(h + 1, y, u[2 + h]) if h + 1 < env.H else (None, None, None)
            reward, utility, x, a = reward + r, utility + g, y, after
        if "end_of_episode" in has:
            learner.end_of_episode()
        episodes.append((reward, utility, V, W, learner.dual() if "dual" in has else np.nan))
    names = ("reward", "utility", "value", "utility_value", "dual")
    return SimpleNamespace(**dict(zip(names, np.array(episodes).T, strict=True)))


def facts(env):
    """The sizes and budgets that the formulas ask for.

    The budgets agree with the definition, but are taken to the last bit from the package: on a map many actions have
    the same value up to rounding, and another last bit of eta decides between them another way.
    """
    B_r, B_g, B_p = budget.variation(env)
    np.testing.assert_allclose((B_r, B_g, B_p), variation_by_definition(env), rtol=1e-9, atol=1e-12)
    sizes = {"S": env.S, "A": env.A, "H": env.H, "K": env.episodes}
    B = max(1.0, B_r + B_g + B_p)
    return SimpleNamespace(env=env, **sizes, B=B, B_r=B_r, B_p=B_p)


def resets_applied(learner):
    """The table of Triple-Q or RestartQ-UCB with past frames forgotten, and plain visits."""
    N, apply = (2, apply_frame_ends) if hasattr(learner, "end") else (1, apply_pending_resets)
    for h, x in np.argwhere(learner.table[:, :, N, 0] < learner.now[0].zero):
        apply.py_func(learner, h, x)
    table = learner.table.copy()
    table[:, :, N] -= learner.now[0].zero
    return table
