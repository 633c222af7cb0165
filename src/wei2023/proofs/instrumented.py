"""Algorithm 1 as listed with all its tables in sight, many runs at once; drifting CMDPs to run it on.

    a_h = argmax_a Q_h(x_h,a) + (Z/eta) C_h(x_h,a),       t = N_h(x_h,a_h) <- N_h(x_h,a_h) + 1
    Q_h(x_h,a_h) <- (1-alpha_t) Q_h + alpha_t (r_{k,h} + V_{h+1}(x_{h+1}) + b_t + 2 H b~)
    C_h(x_h,a_h) <- (1-alpha_t) C_h + alpha_t (g_{k,h} + W_{h+1}(x_{h+1}) + b_t + 2 H b~)
    V_h(x_h) <- Q_h(x_h,a'),  W_h(x_h) <- C_h(x_h,a'),  a' = argmax_a Q_h(x_h,a) + (Z/eta) C_h(x_h,a)
    Cbar <- Cbar + C_1(x_1,a_1)                           after the update, as in the listing
    every L episodes:  Q = C = V = W <- H,  N <- 0,  Z <- (Z + rho + eps - Cbar/L)^+,  Cbar <- 0

    alpha_t = (chi+1)/(chi+t),      b_t = (1/4) sqrt(H^2 iota (chi+1)/(chi+t))

Two readings: V and W are H wherever a frame has not visited yet, which the listing leaves out, and an
action among ties is drawn uniformly (V and W are then the mean over the ties). Arrays have the runs
first; h = 0 is the first step.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nscmdp import budget, optimum
from nscmdp.algorithms._triple_q import iota_of
from nscmdp.cmdp import CMDP, Array
from nscmdp.drift import DriftingCMDP
from nscmdp.problem import Problem
from wei2023.proofs.findings import Given


def learning_rate(t: Array, chi: float) -> Array:
    """alpha_t = (chi+1)/(chi+t)"""
    return (chi + 1) / (chi + t)


class Sizes(NamedTuple):
    S: int
    A: int
    H: int
    K: int
    B: float


class Constants(NamedTuple):
    chi: float
    eta: float
    eps: float
    btilde: float
    frame: int  # L
    iota: float
    share: float = 1.0  # of b_t that is paid; less than 1 shows how much of it is needed


def literal(sizes: Sizes | Problem) -> Constants:
    """Line 2 of the listing; L is a whole number from 1 to K, b~ the most that b~ K/L <= B allows."""
    S, A, H, K, B = sizes.S, sizes.A, sizes.H, sizes.K, sizes.B
    iota = float(iota_of(sizes))  # type: ignore[arg-type]  # which asks for S, A, H and K
    return Constants(
        chi=K**0.2,
        eta=K**0.2 * B ** (1 / 3),
        eps=float(8 * np.sqrt(S * A * H**6 * iota**3) * B ** (1 / 3) / K**0.2),
        btilde=B ** (1 / 3) * K**-0.4,
        frame=int(min(max(K**0.6 / B ** (2 / 3), 1), K)),
        iota=iota,
    )


def bonus(t: Array, horizon: int, constants: Constants) -> Array:
    """b_t = (1/4) sqrt(H^2 iota (chi+1)/(chi+t)), or the share of it that is paid."""
    share, chi = constants.share, constants.chi
    return share * np.sqrt(horizon**2 * constants.iota * (chi + 1) / (chi + t)) / 4


def drift_bonus(horizon: int, constants: Constants) -> float:
    """2 H b~"""
    return 2 * horizon * constants.btilde


def accumulated(terms: Array, chi: float) -> Array:
    """sum_i alpha_t^i terms_i for t = 1, 2, ..: what the updates make of what they are given."""
    out, total = np.empty(len(terms)), 0.0
    rates = learning_rate(np.arange(1.0, len(terms) + 1), chi)
    for i, (rate, term) in enumerate(zip(rates, terms, strict=True)):
        total = (1 - rate) * total + rate * term
        out[i] = total
    return out


def weights(chi: float, t: int) -> Array:
    """alpha_t^i = alpha_i prod_{j>i} (1-alpha_j) for i = 1..t"""
    alpha = learning_rate(np.arange(1.0, t + 1), chi)
    return alpha * np.append(np.cumprod((1 - alpha)[:0:-1])[::-1], 1.0)


class Model(NamedTuple):
    """What an episode is played in."""

    P: Array  # (H, S, A, S)
    r: Any  # (H, S, A)
    g: Any
    mu0: Array = np.ones(1)  # (S,)


@dataclass
class Bernoulli:
    """What is read from it is 0 or 1 with these means, drawn at every reading."""

    mean: Array
    rng: np.random.Generator

    def __getitem__(self, at: Any) -> Array:
        return (self.rng.random(self.mean[at].shape) < self.mean[at]).astype(float)


class RandomRewards(NamedTuple):
    """The models of a drifting CMDP with rewards and utilities of 0 or 1 that have its means."""

    env: DriftingCMDP
    rng: np.random.Generator

    def at(self, k: int) -> Model:
        model = self.env.at(k)
        drawn = Bernoulli(model.r, self.rng), Bernoulli(model.g, self.rng)
        return Model(model.P, *drawn, model.mu0)


class Values(NamedTuple):
    Q: Array  # (..., H, S, A)
    C: Array
    V: Array  # (..., H+1, S)
    W: Array


def evaluate(model: CMDP | Model, policy: Array) -> Values:
    """Q^pi, C^pi, V^pi, W^pi of policies (..., H, S, A) by backward induction."""
    H, S, A = model.r.shape
    Q, C = np.empty((2, *policy.shape), model.P.dtype)
    V, W = np.zeros((2, *policy.shape[:-3], H + 1, S), model.P.dtype)
    for h in reversed(range(H)):
        kernel = model.P[h].reshape(S * A, S).T
        for table, value, paid in ((Q, V, model.r), (C, W, model.g)):
            ahead = (value[..., h + 1, :] @ kernel).reshape(*policy.shape[:-3], S, A)
            table[..., h, :, :] = paid[h] + ahead
            value[..., h, :] = (policy[..., h, :, :] * table[..., h, :, :]).sum(axis=-1)
    return Values(Q, C, V, W)


def greedy(Q: Array, C: Array, weight: Array) -> Array:
    """Uniform over the actions that maximise Q + weight C, the last axis of both; ``weight`` (n,) is the runs'."""
    F = Q + weight.reshape(-1, *[1] * (Q.ndim - 1)) * C
    ties = F.max(axis=-1, keepdims=True) == F
    return ties / ties.sum(axis=-1, keepdims=True)


class State(NamedTuple):
    """At the beginning of episode k, before acting. Arrays change with the next episode: copy what is kept."""

    k: int  # from 1 to K+1
    Q: Array  # (n, H, S, A)
    C: Array
    V: Array  # (n, H+1, S)
    W: Array
    N: NDArray[np.int64]  # (n, H, S, A)
    Z: Array  # (n,)
    cbar: Array  # (n,): the sum of C_1 over the episodes of this frame so far, after their updates
    constants: Constants

    def policy(self) -> Array:
        """pi_k (n, H, S, A): uniform over the argmax of Q + (Z/eta) C."""
        return greedy(self.Q, self.C, self.Z / self.constants.eta)


def episodes(
    env: DriftingCMDP,
    constants: Constants,
    runs: int,
    rng: np.random.Generator,
    path: RandomRewards | None = None,
) -> Iterator[State]:
    """The state before every episode, and once more after the last one (k = K+1).

    An episode takes ``rng.random((1 + 2 H, runs))``: the first state, then an action among ties
    and a successor per h. It is played in ``path``, which may draw its rewards; else in ``env``.
    """
    played, H = path or env, env.H
    Q, C = np.full((2, runs, H, env.S, env.A), float(H))
    V, W = np.full((2, runs, H + 1, env.S), float(H))
    V[:, H] = W[:, H] = 0.0
    N = np.zeros(Q.shape, dtype=np.int64)
    Z, cbar = np.zeros((2, runs))
    for k in range(1, env.episodes + 1):
        state = State(k, Q, C, V, W, N, Z, cbar, constants)
        yield state
        play(state, played.at(k), rng.random((1 + 2 * H, runs)))
        if k % constants.frame == 0:
            Z[:] = np.maximum(Z + env.rho + constants.eps - cbar / constants.frame, 0.0)
            cbar[:] = 0.0
            restart(Q, C, V, W, N)
    yield state._replace(k=k + 1)


def restart(Q: Array, C: Array, V: Array, W: Array, N: NDArray[np.int64]) -> None:
    """A frame's end, in place: every table back to H, every count to 0."""
    H = Q.shape[1]
    Q[:], C[:], V[:, :H], W[:, :H], N[:] = H, H, H, H, 0


def play(state: State, model: CMDP | Model, u: Array) -> None:
    """One episode of every run, with uniform numbers (1+2H, n)."""
    constants, H, run = state.constants, state.Q.shape[1], np.arange(len(state.Z))
    weight, P, r, g = state.Z / constants.eta, model.P, model.r, model.g
    x = draw(np.broadcast_to(model.mu0, (len(run), len(model.mu0))), u[0])
    for h in range(H):
        a = draw(greedy(state.Q[run, h, x], state.C[run, h, x], weight), u[1 + 2 * h])
        y = draw(P[h, x, a], u[2 + 2 * h])
        state.N[run, h, x, a] += 1
        t = state.N[run, h, x, a].astype(float)
        alpha = learning_rate(t, constants.chi)
        more = bonus(t, H, constants) + drift_bonus(H, constants)
        for table, value, paid in ((state.Q, state.V, r), (state.C, state.W, g)):
            target = paid[h, x, a] + value[run, h + 1, y] + more
            table[run, h, x, a] = (1 - alpha) * table[run, h, x, a] + alpha * target
        chosen = greedy(state.Q[run, h, x], state.C[run, h, x], weight)
        state.V[run, h, x] = (chosen * state.Q[run, h, x]).sum(axis=1)
        state.W[run, h, x] = (chosen * state.C[run, h, x]).sum(axis=1)
        if h == 0:
            state.cbar[:] += state.C[run, 0, x, a]
        x = y


def draw(probability: Array, u: Array) -> NDArray[np.int64]:
    """One column of every row (n, m) of probabilities, by uniform numbers (n,); never one of probability 0."""
    above = probability.cumsum(axis=1) > u[:, None]
    last = probability.shape[1] - 1 - (probability[:, ::-1] > 0).argmax(axis=1)
    return np.where(above.any(axis=1), above.argmax(axis=1), last)


class Case(NamedTuple):
    """A drifting CMDP, its sizes with a budget of at least 1, and policies fixed beforehand."""

    name: str
    env: DriftingCMDP
    sizes: Sizes
    policies: Array  # (m, H, S, A)

    @property
    def constants(self) -> Constants:
        return literal(self.sizes)


def case(name: str, env: DriftingCMDP, rng: np.random.Generator) -> Case:
    """With a random, a deterministic and the uniform policy."""
    drawn = rng.dirichlet(np.ones(env.A), size=(env.H, env.S))
    sure = np.eye(env.A)[rng.integers(env.A, size=(env.H, env.S))]
    sizes = Sizes(env.S, env.A, env.H, env.episodes, max(1.0, budget.variation(env).total))
    return Case(name, env, sizes, np.stack([drawn, sure, np.full(drawn.shape, 1 / env.A)]))


def cases(given: Given, claim: str) -> Iterator[Case]:
    """Random drifting CMDPs of varied sizes."""
    for number in range(given.problems):
        rng = given.rng(claim, number)
        H, S, A = 1 + number % 4, 1 + (number // 4) % 4, 1 + (number // 2) % 3
        env = drifting(rng, H, S, A, int(rng.integers(60, 140)), float(rng.uniform(0.1, 1.0)))
        yield case(f"random {number}", env, rng)


def drifting(
    rng: np.random.Generator, H: int, S: int, A: int, K: int, share: float
) -> DriftingCMDP:
    """From a random model a ``share`` of the way to another, at one speed, always feasible."""
    P = rng.dirichlet(np.full(S, 0.5), size=(2, H, S, A))
    r, g = rng.random((2, 2, H, S, A))
    mu0 = rng.dirichlet(np.ones(S))
    P[1], r[1], g[1] = ((1 - share) * first + share * last for first, last in (P, r, g))
    rho = min(optimum.best_utility(CMDP(*ends, 0.0, mu0)) for ends in zip(P, r, g, strict=True)) / 2
    anchors = [CMDP(*ends, rho, mu0) for ends in zip(P, r, g, strict=True)]
    return DriftingCMDP(anchors, [1, K], name="drifting")


def arms(r: ArrayLike, g: ArrayLike, rho: float, H: int = 1) -> CMDP:
    """One state, whose actions pay the same at each of H steps."""
    paid, utility = (np.ones((H, 1, 1)) * np.array(one, dtype=float) for one in (r, g))
    return CMDP(P=np.ones((H, 1, paid.shape[2], 1)), r=paid, g=utility, rho=rho, mu0=[1.0])


def tightened(cmdp: CMDP, eps: float) -> CMDP:
    return CMDP(P=cmdp.P, r=cmdp.r, g=cmdp.g, rho=cmdp.rho + eps, mu0=cmdp.mu0)


def ladder(H: int, K: int) -> DriftingCMDP:
    """From start m the paying chain, state 0, is entered at step m.

    Where the starts are H, H-1, .., 1 in this order, Q is the largest that it can be.
    """
    P, r = np.zeros((H, H + 1, 1, H + 1)), np.ones((H, H + 1, 1))
    for h, m in np.ndindex(H, H + 1):
        P[h, m, 0, 0 if h + 2 >= m else m] = 1.0
    mu0 = [1 / H, 0.0, *(H - 1) * [1 / H]]
    return DriftingCMDP([CMDP(P, r, r, 0.5, mu0)], [1], episodes=K, name="ladder")


def falling(H: int, K: int, kernel: bool) -> DriftingCMDP:
    """All rewards fall from 1 to 0; or the first step's kernel leaves the one state that pays."""
    P, r = np.tile(np.eye(2)[:, None], (2, H, 1, 2, 1)), np.ones((2, H, 2, 2))
    if kernel:
        P[:, 0] = np.eye(2)[:, None, None]
        r[:, 0] = r[:, :, 1] = 0
    else:
        r[1] = 0
    anchors = [CMDP(*end, np.ones((H, 2, 2)), 0.0, [1.0, 0.0]) for end in zip(P, r, strict=True)]
    return DriftingCMDP(anchors, [1, K], name="falling")
