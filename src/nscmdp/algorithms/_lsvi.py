"""The learner of Algorithms 3 and 4: optimistic least squares, a softmax policy and a dual variable.

In every episode k, from the episodes tau < k of its frame, backwards from V_{r,H+1} = V_{g,H+1} = 0, for j in {r, g}:

    Lambda_h = lambda I + sum_tau phi phi^T,      phi = phi(x_h^tau, a_h^tau)
    w_{j,h}  = Lambda_h^-1 sum_tau phi (j_h^tau + V_{j,h+1}(x_{h+1}^tau))
    Q_{j,h}  = min( <w_{j,h}, phi> + beta (phi^T Lambda_h^-1 phi)^(1/2),  H )
    pi_h(a|x) ~ exp( alpha (Q_{r,h}(x,a) + Y Q_{g,h}(x,a)) )
    V_{j,h}(x) = sum_a pi_h(a|x) Q_{j,h}(x,a)
    after the episode   Y <- min( max( Y + eta (rho - V_{g,1}(x_1)), 0 ), xi )
    every D episodes    a frame begins: all but Y is forgotten

A sum over episodes is not needed anew in each: sum phi V(x') = M V with M = sum phi e_x'^T, and Lambda_h^-1 and
u(x,a) = phi^T Lambda_h^-1 phi follow a new phi by a rank-one update (Sherman and Morrison). So an episode costs
O(H S A d), at any k, and these are the same numbers. Rounding would add up in the two updates: every 4096 episodes of a
frame they are computed afresh from Lambda_h.

Without features, phi(x,a) is the unit vector of (x,a) and d = S A: Lambda_h is diagonal and counts visits,

    w_{j,h}(x,a) = sum_tau (j + V_{j,h+1}(x')) / (n + lambda),      u(x,a) = 1 / (n + lambda),

and an episode costs as much as the frame has met: states, their actions, and the successors seen after each. Elsewhere
all actions are alike, at any Y. :class:`CountingLSVI` is this form.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nscmdp.cmdp import Array
from nscmdp.kernels.jit import inlined, jit
from nscmdp.learner import (
    act,
    begin_episode,
    dual,
    end_of_episode,
    learn,
    operation,
    policy,
    restart,
    scalars,
)
from nscmdp.problem import Problem

CONFIDENCE = 0.05  # p
REFRESH = 4096  # episodes between two factorisations of Lambda


class Constants(NamedTuple):
    D: int  # 0: no restart
    xi: float
    alpha: float
    eta: float
    beta: float
    ridge: float  # lambda
    eps: float = 0.0  # what the constraint is tightened by


class LSVI(NamedTuple):
    phi: Array  # (d, S A): column x A + a is phi(x,a)
    gram: Array  # (H, d, d): Lambda
    inverse: Array  # (H, d, d)
    sums: Array  # (H, 2, d): sum of phi r and of phi g
    moves: Array  # (H, S, d): row x' is the sum of phi over the moves to x'
    uncertainty: Array  # (H, S A): phi^T Lambda^-1 phi
    q: Array  # (2, S, A): Q_r and Q_g of one step
    weights: Array  # (H, 2, d): w_r and w_g
    room: Array  # to work in
    chances: Array  # (H, S, A): pi
    values: Array  # (H+1, S, 2): V_r and V_g
    now: Array  # scalars: Y; what drives it; episodes; D and rho + eps in use; sums for the dual inequality
    arms: Array  # (n, 2): D and rho + eps to choose from
    alpha: float
    beta: float
    eta: float
    xi: float
    ridge: float  # lambda
    realised: bool  # the utility earned, in place of its estimate, drives Y
    carry: bool  # Y survives a restart by another learner


class CountingLSVI(NamedTuple):
    met: NDArray[np.uint32]  # (H, S): the states met at step h in this frame ...
    known: NDArray[np.int64]  # (H,): ... and how many they are
    visits: Array  # (H, S, A): n
    sums: Array  # (H, S, A, 2): of r and g
    reached: NDArray[np.int64]  # (H, S, A): how many different successors were seen
    successors: NDArray[np.uint32]  # (H, S, A, M): which ones ...
    counts: Array  # (H, S, A, M): ... how often
    q: Array
    chances: Array
    values: Array
    now: Array
    arms: Array
    alpha: float
    beta: float
    eta: float
    xi: float
    ridge: float
    realised: bool
    carry: bool


class Known(NamedTuple):
    """What the printed constants are made of, beside H, K and B."""

    d: int
    delta: float
    log_A: float
    p: float


def known(problem: Problem) -> Known:
    if problem.delta <= 0:
        found = f"the Slater gap is {problem.delta:.3g}"
        raise ValueError(f"{found}: Algorithm 3 expects a policy that exceeds rho everywhere")
    features = problem.env.features
    d = problem.S * problem.A if features is None else features.shape[2]
    return Known(d, problem.delta, np.log(max(problem.A, 2)), CONFIDENCE)


class Budget(NamedTuple):
    """B as it enters the frame and the rest; with features, by the linear definition."""

    frame: float
    rest: float


def budget_in(problem: Problem) -> Budget:
    if problem.linear_budget is None or problem.candidate_B is not None:
        return Budget(problem.frame_B, problem.B)
    linear = max(1.0, problem.linear_budget)
    on_rest = problem.assumed_budget if problem.assumed_for == "all" else 1.0
    return Budget(linear * problem.assumed_budget, linear * on_rest)


def lsvi(
    problem: Problem, arms: list[Constants], *, realised: bool = False, carry: bool = False
) -> LSVI | CountingLSVI:
    """The learner before its first episode; a restart changes D and eps to those of another of the arms."""
    first = arms[0]
    if first.ridge <= 0:
        raise ValueError(f"ridge = {first.ridge}: expected a positive number")
    H, S, A = problem.H, problem.S, problem.A
    choices = np.array([(float(arm.D), problem.rho + arm.eps) for arm in arms])
    every_kind = {
        "q": np.zeros((2, S, A)),
        "chances": np.full((H, S, A), 1 / A),
        "values": np.zeros((H + 1, S, 2)),
        "now": scalars(
            Y=0.0,
            drive=0.0,
            episode=0,
            frame=first.D,
            target=choices[0, 1],
            violations=0.0,
            violations_Y=0.0,
            violations_squared=0.0,
        ),
        "arms": choices,
        "alpha": float(first.alpha),
        "beta": float(first.beta),
        "eta": float(first.eta),
        "xi": float(first.xi),
        "ridge": float(first.ridge),
        "realised": realised,
        "carry": carry,
    }
    if problem.env.features is None:
        columns = problem.env.successors.shape[
            3
        ]  # room alone: which successors there are, and how many, is learnt
        return CountingLSVI(
            met=np.tile(np.arange(S, dtype=np.uint32), (H, 1)),
            known=np.full(H, S),
            visits=np.zeros((H, S, A)),
            sums=np.zeros((H, S, A, 2)),
            reached=np.zeros((H, S, A), np.int64),
            successors=np.zeros((H, S, A, columns), np.uint32),
            counts=np.zeros((H, S, A, columns)),
            **every_kind,
        )
    phi = np.ascontiguousarray(problem.env.features.reshape(S * A, -1).T)
    d = len(phi)
    learner = LSVI(
        phi=phi,
        gram=np.empty((H, d, d)),
        inverse=np.empty((H, d, d)),
        sums=np.empty((H, 2, d)),
        moves=np.empty((H, S, d)),
        uncertainty=np.empty((H, S * A)),
        weights=np.zeros((H, 2, d)),
        room=np.empty(max(d * d, 2 * d + S * A)),
        **every_kind,
    )
    forget(learner)
    return learner


def dual_slack(learner: LSVI | CountingLSVI) -> float:
    """How far the run so far is from breaking, for some Y in [0, xi], the inequality that projection implies:

    sum_k (Y - Y_k) (rho - V_g^k)  <=  Y^2 / (2 eta) + (eta/2) sum_k (rho - V_g^k)^2,      with Y_1 = 0;

    the sums begin where Y does, and with the tightened rho or the realised utility where these drive Y.
    """
    now = learner.now[0]
    plain, weighted, squares = (
        float(now.violations),
        float(now.violations_Y),
        float(now.violations_squared),
    )
    worst = min(max(learner.eta * plain, 0.0), learner.xi)
    least = worst**2 / (2 * learner.eta) if worst else 0.0
    return least + learner.eta / 2 * squares - (worst * plain - weighted)


@jit
def forget(learner):
    """A frame begins: no data."""
    phi, d = learner.phi, len(learner.phi)
    learner.gram[:] = 0.0
    learner.inverse[:] = 0.0
    learner.sums[:] = 0.0
    learner.moves[:] = 0.0
    learner.uncertainty[:] = 0.0
    for h in range(len(learner.gram)):
        for i in range(d):
            learner.gram[h, i, i] = learner.ridge
            learner.inverse[h, i, i] = 1.0 / learner.ridge
            for row in range(phi.shape[1]):
                learner.uncertainty[h, row] += phi[i, row] * phi[i, row] / learner.ridge


@jit
def forget_counts(learner):
    """In the states that were met; before the first frame these are all."""
    horizon = len(learner.chances)
    unknown = at_most(learner.beta / np.sqrt(learner.ridge), float(horizon))
    for h in range(horizon):
        for x in learner.met[h, : learner.known[h]]:
            learner.visits[h, x] = 0.0
            learner.sums[h, x] = 0.0
            learner.reached[h, x] = 0
            learner.q[:, x] = unknown
            soften(learner, h, x)
    learner.known[:] = 0


@jit
def estimate(learner):
    """Q, pi and V of this episode, backwards."""
    d, rows = learner.phi.shape
    horizon, states, _ = learner.chances.shape
    right_r, right_g = learner.room[:d], learner.room[d : 2 * d]
    q_r, q_g = learner.q[0].ravel(), learner.q[1].ravel()
    for h in range(horizon - 1, -1, -1):
        later, weights_r, weights_g = (
            learner.values[h + 1],
            learner.weights[h, 0],
            learner.weights[h, 1],
        )
        for i in range(d):
            right_r[i], right_g[i] = learner.sums[h, 0, i], learner.sums[h, 1, i]
        if h + 1 < horizon:
            for y in range(states):
                moves, v, w = learner.moves[h, y], later[y, 0], later[y, 1]
                for i in range(d):
                    right_r[i] += moves[i] * v
                    right_g[i] += moves[i] * w
        # w = Lambda^-1 sum phi (j + V)
        multiply(learner.inverse[h], right_r, weights_r)
        multiply(learner.inverse[h], right_g, weights_g)
        learner.q[:] = 0.0
        for i in range(d):
            phi, on_reward, on_utility = learner.phi[i], weights_r[i], weights_g[i]
            for row in range(rows):
                q_r[row] += on_reward * phi[row]
                q_g[row] += on_utility * phi[row]
        # Q = min( <w, phi> + beta (phi^T Lambda^-1 phi)^(1/2), H )
        uncertainty = learner.uncertainty[h]
        for row in range(rows):
            bonus = learner.beta * np.sqrt(uncertainty[row])
            q_r[row] = at_most(q_r[row] + bonus, float(horizon))
            q_g[row] = at_most(q_g[row] + bonus, float(horizon))
        for x in range(states):
            soften(learner, h, x)


@inlined
def at_most(value, most):
    """A comparison, since min would look for nan."""
    return value if value < most else most


@jit
def estimate_by_counts(learner):
    """The same in the states met; elsewhere it stays as it was when the frame began."""
    horizon, _, actions = learner.chances.shape
    for h in range(horizon - 1, -1, -1):
        later = learner.values[h + 1]
        for x in learner.met[h, : learner.known[h]]:
            for a in range(actions):
                q_r, q_g = learner.sums[h, x, a, 0], learner.sums[h, x, a, 1]
                if h + 1 < horizon:
                    successors, counts = learner.successors[h, x, a], learner.counts[h, x, a]
                    for i in range(learner.reached[h, x, a]):
                        q_r += counts[i] * later[successors[i], 0]
                        q_g += counts[i] * later[successors[i], 1]
                # Q = min( w + beta / sqrt(n + lambda), H )
                n = learner.visits[h, x, a] + learner.ridge
                bonus = learner.beta / np.sqrt(n)
                learner.q[0, x, a] = at_most(q_r / n + bonus, float(horizon))
                learner.q[1, x, a] = at_most(q_g / n + bonus, float(horizon))
            soften(learner, h, x)


@inlined
def soften(learner, h, x):
    """pi ~ exp(alpha (Q_r + Y Q_g)) and V = sum_a pi Q in one state."""
    q_r, q_g, chances, Y = learner.q[0, x], learner.q[1, x], learner.chances[h, x], learner.now[0].Y
    best, total, value, utility_value = -np.inf, 0.0, 0.0, 0.0
    for a in range(len(chances)):
        score = q_r[a] + Y * q_g[a]
        chances[a] = score
        best = score if score > best else best
    for a in range(len(chances)):
        below = chances[a] - best
        chance = math.exp(learner.alpha * below) if below < 0.0 else 1.0
        chances[a] = chance
        total += chance
    for a in range(len(chances)):
        chance = chances[a] / total
        chances[a] = chance
        value += chance * q_r[a]
        utility_value += chance * q_g[a]
    learner.values[h, x, 0], learner.values[h, x, 1] = value, utility_value


@jit
def absorb(learner, h, row, r, g, y):
    """One more phi at step h: Lambda + phi phi^T, its inverse and all that is kept with it."""
    d, rows = learner.phi.shape
    own, turned, along = (
        learner.room[:d],
        learner.room[d : 2 * d],
        learner.room[2 * d : 2 * d + rows],
    )
    sums_r, sums_g, moves = learner.sums[h, 0], learner.sums[h, 1], learner.moves[h, y]
    for i in range(d):
        own[i] = learner.phi[i, row]
    multiply(learner.inverse[h], own, turned)  # Lambda^-1 phi
    squared = 0.0  # phi^T Lambda^-1 phi
    for i in range(d):
        squared += turned[i] * own[i]
    shrink = 1.0 / (1.0 + squared)
    along[:] = 0.0
    for i in range(d):
        gram, inverse, phi = learner.gram[h, i], learner.inverse[h, i], learner.phi[i]
        p, t = own[i], turned[i]
        sums_r[i] += p * r
        sums_g[i] += p * g
        moves[i] += p
        for l in range(d):
            gram[l] += p * own[l]
        for l in range(d):
            inverse[l] -= t * turned[l] * shrink
        for other in range(rows):
            along[other] += t * phi[other]  # <Lambda^-1 phi, phi(x,a)>
    uncertainty = learner.uncertainty[h]
    for other in range(rows):
        left = uncertainty[other] - along[other] * along[other] * shrink
        uncertainty[other] = left if left > 0.0 else 0.0


@jit
def multiply(inverse, vector, out):
    """Lambda^-1 times a vector, a column at a time: the inverse is symmetric to the last bit."""
    out[:] = 0.0
    for l in range(len(out)):
        column, factor = inverse[l], vector[l]
        for i in range(len(out)):
            out[i] += column[i] * factor


@jit
def absorb_count(learner, h, x, a, r, g, y):
    if learner.visits[h, x].sum() == 0.0:
        learner.met[h, learner.known[h]] = x
        learner.known[h] += 1
    learner.visits[h, x, a] += 1.0
    learner.sums[h, x, a, 0] += r
    learner.sums[h, x, a, 1] += g
    reached = learner.reached[h, x, a]
    for i in range(reached):
        if learner.successors[h, x, a, i] == y:
            learner.counts[h, x, a, i] += 1.0
            return
    learner.successors[h, x, a, reached] = y
    learner.counts[h, x, a, reached] = 1.0
    learner.reached[h, x, a] = reached + 1


@jit
def refresh(learner):
    """Lambda^-1 = L^-T L^-1 and phi^T Lambda^-1 phi = |L^-1 phi|^2 from Lambda = L L^T."""
    d, rows = learner.phi.shape
    lower = learner.room[: d * d].reshape(d, d)
    for h in range(len(learner.gram)):
        gram, inverse, uncertainty = learner.gram[h], learner.inverse[h], learner.uncertainty[h]
        for i in range(d):
            for j in range(i + 1):
                left = gram[i, j]
                for l in range(j):
                    left -= lower[i, l] * lower[j, l]
                lower[i, j] = left / lower[j, j] if j < i else np.sqrt(left)
        for j in range(d):  # L^-1 in place of L, column by column
            lower[j, j] = 1.0 / lower[j, j]
            for i in range(j + 1, d):
                left = 0.0
                for l in range(j, i):
                    left -= lower[i, l] * lower[l, j]
                lower[i, j] = left / lower[i, i]
        for i in range(d):
            for j in range(d):
                inverse[i, j] = 0.0
                for l in range(max(i, j), d):
                    inverse[i, j] += lower[l, i] * lower[l, j]
        for row in range(rows):
            uncertainty[row] = 0.0
            for i in range(d):
                part = 0.0
                for l in range(i + 1):
                    part += lower[i, l] * learner.phi[l, row]
                uncertainty[row] += part * part


@jit
def since_restart(learner):
    """Episodes of the frame so far."""
    now = learner.now[0]
    return now.episode % now.frame if now.frame > 0 else now.episode


@jit
def step_dual(learner):
    """Y <- min( max( Y + eta (rho - V_g), 0 ), xi )"""
    now = learner.now[0]
    violation = now.target - now.drive
    now.violations += violation
    now.violations_Y += now.Y * violation
    now.violations_squared += violation * violation
    now.Y = min(max(now.Y + learner.eta * violation, 0.0), learner.xi)
    now.episode += 1


@operation(begin_episode, LSVI)
def _(learner, u):
    done = since_restart(learner)
    if done == 0:
        forget(learner)
    elif done % REFRESH == 0:
        refresh(learner)
    estimate(learner)
    learner.now[0].drive = 0.0


@operation(begin_episode, CountingLSVI)
def _(learner, u):
    if since_restart(learner) == 0:
        forget_counts(learner)
    estimate_by_counts(learner)
    learner.now[0].drive = 0.0


@operation(act, LSVI)
@operation(act, CountingLSVI)
def _(learner, h, x, u):
    if h == 0 and not learner.realised:
        learner.now[0].drive = learner.values[0, x, 1]
    action, left = -1, u
    for a in range(learner.chances.shape[2]):
        if left >= 0.0 and learner.chances[h, x, a] > 0.0:
            action = a
            left -= learner.chances[h, x, a]
    return action


@operation(learn, LSVI)
def _(learner, h, x, a, r, g, y):
    if learner.realised:
        learner.now[0].drive += g
    absorb(learner, h, x * learner.chances.shape[2] + a, r, g, y)


@operation(learn, CountingLSVI)
def _(learner, h, x, a, r, g, y):
    if learner.realised:
        learner.now[0].drive += g
    absorb_count(learner, h, x, a, r, g, y)


@operation(end_of_episode, LSVI)
@operation(end_of_episode, CountingLSVI)
def _(learner):
    step_dual(learner)


@operation(policy, LSVI)
@operation(policy, CountingLSVI)
def _(learner, h, x, probabilities):
    for a in range(len(probabilities)):
        probabilities[a] = learner.chances[h, x, a]


@operation(dual, LSVI)
@operation(dual, CountingLSVI)
def _(learner):
    return learner.now[0].Y


@operation(restart, LSVI)
@operation(restart, CountingLSVI)
def _(learner, arm):
    now = learner.now[0]
    now.episode = 0  # a frame begins with the next episode
    now.frame, now.target = int(learner.arms[arm, 0]), learner.arms[arm, 1]
    if not learner.carry:
        now.Y = now.violations = now.violations_Y = now.violations_squared = 0.0
