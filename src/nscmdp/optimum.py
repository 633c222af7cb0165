"""The best policy that keeps the constraint, exactly.

For one constraint the Lagrangian dual is one-dimensional,

    V* = min_{lambda >= 0} D(lambda),      D(lambda) = max_pi  V^pi + lambda (W^pi - rho),

convex and piecewise linear: a backward induction at lambda gives a policy and with it the line V + lambda (W - rho),
which touches D there. Starting from one line that falls and one that rises, lambda moves to their crossing until D has
no point above it: finitely many inductions. The two policies of the last crossing, mixed so that the utility is rho,
are optimal. :func:`linear_program` solves the same problem over occupancy measures q_h(x,a) and shares no code:

    max  sum q r    s.t.    sum q g >= rho + tightening,    sum_a q_1(x,a) = mu0(x),
                            sum_a q_{h+1}(y,a) = sum_{x,a} q_h(x,a) P_h(y|x,a),    q >= 0.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nscmdp.cmdp import CMDP, Array
from nscmdp.drift import DriftingCMDP
from nscmdp.kernels.induction import (
    drift_of,
    empty_model,
    empty_policy,
    expect,
    first_row,
    flat_rows,
    follow,
    greedy,
    mix,
    model_of,
    reachable,
)
from nscmdp.kernels.jit import jit

if TYPE_CHECKING:
    import scipy.sparse

CLOSED = 1e-12  # relative distance between the dual and the crossing at which they are the same
FEASIBLE = 1e-9  # a best utility this far below rho still counts as reaching it
MOST_CUTS = 1000


class Infeasible(ValueError):
    """No policy reaches the utility that is asked for."""


class Optimum(NamedTuple):
    value: float
    utility: float
    multiplier: float
    policy: Array  # (H, S, A)


class Mixture(NamedTuple):
    """Two deterministic policies (H,S), room for values (2,S,2) of each; what is left for the next episode."""

    falling: NDArray[np.int32]
    rising: NDArray[np.int32]
    trial: NDArray[np.int32]
    values: Array
    others: Array


def mixture(horizon: int, states: int) -> Mixture:
    falling, rising, trial = (np.zeros((horizon, states), np.int32) for _ in range(3))
    return Mixture(falling, rising, trial, np.empty((2, states, 2)), np.empty((2, states, 2)))


@jit
def solve(model, rho, mixture, warm):
    """(value, utility, multiplier, share of the rising policy, inductions); the value is nan where infeasible.

    ``warm``: the policies in ``mixture`` solved a neighbouring model; their lines are as valid here.
    """
    inductions = 0
    if warm:
        falling, rising, _, values, others = mixture
        v0, w0, v1, w1 = follow(model, falling, rising, values, others)
        inductions += 1
        warm = w0 < rho <= w1 and v0 > v1
    if not warm:
        v0, w0 = greedy(model, 1.0, 0.0, mixture.falling, mixture.values)
        inductions += 1
        if w0 >= rho:
            return v0, w0, 0.0, 0.0, inductions
        v1, w1 = greedy(model, 0.0, 1.0, mixture.rising, mixture.values)
        inductions += 1
        if w1 < rho - FEASIBLE * (1.0 + abs(rho)):
            return np.nan, w1, np.inf, 1.0, inductions
        w1 = max(w1, rho)
    multiplier = (v0 - v1) / (w1 - w0)
    for _ in range(MOST_CUTS):
        crossing = v0 + multiplier * (w0 - rho)
        v, w = greedy(model, 1.0, multiplier, mixture.trial, mixture.values)
        inductions += 1
        dual = v + multiplier * (w - rho)
        if dual <= crossing + CLOSED * (1.0 + abs(crossing) + multiplier):
            break
        if w < rho:
            v0, w0 = v, w
            mixture.falling[:] = mixture.trial
        else:
            v1, w1 = v, w
            mixture.rising[:] = mixture.trial
        if v0 <= v1:  # only after a warm start: the falling policy was not the best for the reward
            v0, w0 = greedy(model, 1.0, 0.0, mixture.falling, mixture.values)
            inductions += 1
            if w0 >= rho:
                return v0, w0, 0.0, 0.0, inductions
            if v0 <= v1:  # equal up to rounding
                return v1, w1, 0.0, 1.0, inductions
        multiplier = (v0 - v1) / (w1 - w0)
    return v0 + multiplier * (w0 - rho), rho, multiplier, (rho - w0) / (w1 - w0), inductions


@jit
def share_by_state(model, mixture, share, occupancy, rising):
    """The Markov policy of the mixed occupancy measure, as the probability of the rising policy's action."""
    start(model, 1.0 - share, share, occupancy)
    for h in range(model.horizon):
        here = occupancy[h % 2]
        for x in reachable(model, h):
            total = here[0, x] + here[1, x]
            rising[h, x] = here[1, x] / total if total > 0.0 else 0.0
        move_on(model, h, mixture, occupancy)


@jit
def write_policy(model, mixture, share, occupancy, policy):
    """The same as probabilities ``policy`` (H,S,A), all 0 so far; where neither policy comes it is the falling one."""
    start(model, 1.0, 1.0, occupancy)
    for h in range(model.horizon):
        for x in range(len(model.mu0)):
            policy[h, x, mixture.falling[h, x]] = 1.0
        here = occupancy[h % 2]
        for x in reachable(model, h):
            falling, rising = (1.0 - share) * here[0, x], share * here[1, x]
            total = falling + rising
            if total > 0.0 and mixture.falling[h, x] != mixture.rising[h, x]:
                policy[h, x, mixture.falling[h, x]] = falling / total
                policy[h, x, mixture.rising[h, x]] = rising / total
        move_on(model, h, mixture, occupancy)


@jit
def start(model, falling, rising, occupancy):
    """Occupancy of the first step by both policies, scaled; ``occupancy`` (2,2,S): of two steps, by each policy."""
    for x in reachable(model, 0):
        occupancy[0, 0, x], occupancy[0, 1, x] = falling * model.mu0[x], rising * model.mu0[x]


@jit
def move_on(model, h, mixture, occupancy):
    """From the occupancy of step h to that of the next."""
    _, _, actions, columns = model.successors.shape
    successors, probability, _, _ = flat_rows(model)
    first, here, there = first_row(model, h), occupancy[h % 2], occupancy[(h + 1) % 2]
    there[:] = 0.0
    for x in reachable(model, h):
        for which in range(2):
            choice = mixture.falling[h, x] if which == 0 else mixture.rising[h, x]
            row = (first + x * actions + choice) * columns
            for i in range(row, row + columns):
                there[which, successors[i]] += here[which, x] * probability[i]


@jit
def solve_along(drift, model, rho, episodes, mixture, out):
    """Solve the models of increasing ``episodes`` one after the other into ``out`` (n,3); the inductions it took."""
    inductions, warm = 0, False
    for i in range(len(episodes)):
        mix(drift, episodes[i], model)
        value, utility, multiplier, _, took = solve(model, rho, mixture, warm)
        out[i, 0], out[i, 1], out[i, 2] = value, utility, multiplier
        inductions += took
        warm = multiplier > 0.0 and not np.isnan(value)
    return inductions


@jit
def refer_along(drift, model, episodes, choice, uniform, values, out):
    """V and W of the best policy without a constraint and V of the uniform one, at ``episodes``, into ``out`` (n,3)."""
    for i in range(len(episodes)):
        mix(drift, episodes[i], model)
        out[i, 0], out[i, 1] = greedy(model, 1.0, 0.0, choice, values)
        out[i, 2], _ = expect(model, uniform, values)


def constrained(cmdp: CMDP) -> Optimum:
    """The constrained optimum of one episode; raises :class:`Infeasible`."""
    model, pair = model_of(cmdp), mixture(cmdp.H, cmdp.S)
    value, utility, multiplier, share, _ = solve(model, cmdp.rho, pair, False)
    if np.isnan(value):
        raise _infeasible(cmdp.rho, utility)
    policy = np.zeros((cmdp.H, cmdp.S, cmdp.A))
    write_policy(model, pair, share, np.empty((2, 2, cmdp.S)), policy)
    return Optimum(value, utility, multiplier, policy)


def along(env: DriftingCMDP, episodes: Sequence[int] | NDArray[np.int64]) -> Array:
    """(n,3): value, utility and multiplier of the optimum at increasing episodes of a path."""
    asked = np.asarray(episodes, dtype=np.int64)
    out = np.empty((len(asked), 3))
    solve_along(drift_of(env), empty_model(env), env.rho, asked, mixture(env.H, env.S), out)
    if (unsolved := np.flatnonzero(np.isnan(out[:, 0]))).size:
        raise _infeasible(env.rho, out[unsolved[0], 1], f" in episode {asked[unsolved[0]]}")
    return out


def references(env: DriftingCMDP, episodes: Sequence[int] | NDArray[np.int64]) -> Array:
    """(n,3): the best value without the constraint, its policy's utility, and the uniform policy's value."""
    asked = np.asarray(episodes, dtype=np.int64)
    model, out = empty_model(env), np.empty((len(asked), 3))
    uniform = np.full_like(empty_policy(model), 1 / env.A)
    choice, values = np.zeros((env.H, env.S), np.int32), np.empty((2, env.S, 2))
    refer_along(drift_of(env), model, asked, choice, uniform, values, out)
    return out


def best_utility(cmdp: CMDP) -> float:
    """max_pi W in plain numpy: what a constraint can ask for at most."""
    later = np.zeros(cmdp.S)
    for h in range(cmdp.H - 1, -1, -1):
        layer = h if cmdp.layers > 1 else 0
        ahead = (cmdp.probability[layer] * later[cmdp.successors[layer]]).sum(axis=2)
        later = (cmdp.utility[layer] + ahead).max(axis=1)
    return float(cmdp.mu0 @ later)


def value_bounds(env: DriftingCMDP) -> Array:
    """(H,): no policy has a larger V_h in a state that step h can reach, in any episode of a path.

    U_h(x) = max over anchors and actions of r + P U_{h+1} bounds V_h(x) of every mixture of anchors, which is
    a mean of what is maximised.
    """
    layer = [h if env.layers > 1 else 0 for h in range(env.H)]
    reached = np.zeros((env.H, env.S), dtype=bool)  # by some policy, in some episode
    reached[0] = env.mu0 > 0
    for h in range(env.H - 1):
        possible = env.probability[:, layer[h]].max(axis=0)[reached[h]] > 0
        reached[h + 1, env.successors[layer[h]][reached[h]][possible]] = True
    bounds, later = np.empty(env.H), np.zeros(env.S)
    for h in range(env.H - 1, -1, -1):
        ahead = (env.probability[:, layer[h]] * later[env.successors[layer[h]]]).sum(axis=3)
        later = (env.reward[:, layer[h]] + ahead).max(axis=(0, 2))
        bounds[h] = later[reached[h]].max()
    return bounds


def require_feasible(cmdp: CMDP, tightening: float = 0.0) -> None:
    """Raise :class:`Infeasible` where no policy keeps the constraint."""
    best, rho = best_utility(cmdp), cmdp.rho + tightening
    if best < rho - FEASIBLE * (1.0 + abs(rho)):
        raise _infeasible(rho, best)


def _infeasible(rho: float, best: float, where: str = "") -> Infeasible:
    return Infeasible(
        f"no policy has a utility of {rho:.12g}{where}: the best attainable is {best:.12g}"
    )


def occupancy(cmdp: CMDP, policy: Array) -> Array:
    """q_h(x,a): the probability of being at x and playing a at step h."""
    q = np.empty((cmdp.H, cmdp.S, cmdp.A))
    here = cmdp.mu0
    for h in range(cmdp.H):
        layer = h if cmdp.layers > 1 else 0
        q[h] = here[:, None] * policy[h]
        flow = q[h][:, :, None] * cmdp.probability[layer]
        here = np.bincount(cmdp.successors[layer].ravel(), flow.ravel(), minlength=cmdp.S)
    return q


def linear_program(cmdp: CMDP, tightening: float = 0.0) -> Optimum:
    """The same optimum by HiGHS, or that of the problem with rho + tightening; raises :class:`Infeasible`."""
    from scipy.optimize import linprog  # half a second that a worker which never asks for it saves

    precise = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    solution = linprog(**as_linear_program(cmdp, tightening), method="highs", options=precise)
    if solution.status == 2:
        raise _infeasible(cmdp.rho + tightening, best_utility(cmdp))
    if solution.status == 4:  # HiGHS calls some infeasible programs numerically difficult
        require_feasible(cmdp, tightening)
    if solution.status != 0:
        raise RuntimeError(f"HiGHS stopped with: {solution.message}")
    q = np.maximum(solution.x, 0.0).reshape(cmdp.H, cmdp.S, cmdp.A)
    reached = q.sum(axis=2, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        policy = np.where(reached > 0, q / reached, 1.0 / cmdp.A)
    multiplier = max(0.0, -float(solution.ineqlin.marginals[0]))
    return Optimum(-float(solution.fun), float((q * cmdp.g).sum()), multiplier, policy)


def as_linear_program(cmdp: CMDP, tightening: float = 0.0) -> dict[str, Any]:
    """Over occupancy measures, as scipy.optimize.linprog takes it: c, A_ub, b_ub, A_eq, b_eq."""
    return {
        "c": -cmdp.r.ravel(),
        "A_ub": -cmdp.g.reshape(1, -1),
        "b_ub": [-(cmdp.rho + tightening)],
        "A_eq": _flow(cmdp),
        "b_eq": np.concatenate([cmdp.mu0, np.zeros((cmdp.H - 1) * cmdp.S)]),
    }


def _flow(cmdp: CMDP) -> "scipy.sparse.csr_matrix":
    """Rows (h,y): what leaves state y at step h, less what arrives there."""
    import scipy.sparse

    H, S, A = cmdp.H, cmdp.S, cmdp.A
    variables = np.arange(H * S * A).reshape(H, S, A)
    leaving_rows = np.repeat(np.arange(H * S), A)
    columns = np.broadcast_to(cmdp.successors, (H, *cmdp.successors.shape[1:]))[: H - 1]
    probability = np.broadcast_to(cmdp.probability, (H, *cmdp.probability.shape[1:]))[: H - 1]
    arriving_rows = (np.arange(1, H)[:, None, None, None] * S + columns).ravel()
    arriving_variables = np.repeat(variables[: H - 1].ravel(), cmdp.columns)
    data = np.concatenate([np.ones(H * S * A), -probability.ravel()])
    rows = np.concatenate([leaving_rows, arriving_rows])
    cols = np.concatenate([variables.ravel(), arriving_variables])
    return scipy.sparse.csr_matrix((data, (rows, cols)), shape=(H * S, H * S * A))
