"""Runs of Algorithm 1 that show the virtual queue, frame by frame, for the checks in ``queue``.

A world where the reward and the utility pull apart, an even drift, and three sets of constants: scaled so that eps is
at most delta/2 and Z moves, with Lemma 4's range of C in force (sqrt(iota) >= 1); printed but for eps; printed.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from nscmdp import budget, optimum
from nscmdp.analysis.claims.findings import Given
from nscmdp.analysis.claims.instrumented import Constants, Listing, Path, State, episodes, greedy, literal, play
from nscmdp.analysis.claims.learning_rates import tightened
from nscmdp.cmdp import CMDP, Array
from nscmdp.drift import DriftingCMDP
from nscmdp.problem import Problem

EXACT = 1e-9  # rounding of sums over a frame
EPISODES, FRAME = 3000, 150
BINS = 6  # of the values of Z that a conditional mean is taken over
SURE = 4.0  # standard errors
SCALED, EPS_SCALED, AS_PRINTED = "scaled", "printed, eps = delta/4", "printed"


class Seen(NamedTuple):
    """What runs of Algorithm 1 show, by frame T and run."""

    constants: Constants
    S: int
    A: int
    H: int
    K: int
    B: float
    rho: float
    delta: float
    Z: Array  # (frames + 1, n)
    y: Array  # (frames, n): rho + eps - Cbar/L, Cbar as the listing adds it up
    before: Array  # (frames, n): mean_k of E_x[rho + eps - C_k(x,a_k)], C_k as at the beginning of the episode
    lemma: Array  # (frames, n): what Lemma 10 allows, without D, with scaled constants; else nan
    greedy: float  # min over k, x and runs of F_k(x,a_k) - sum_a F_k q
    apart: float  # max |Q_1 - C_1|
    reset: bool  # all tables are at H when a frame begins

    @property
    def drift(self) -> Array:
        return np.diff(self.Z**2, axis=0) / 2

    @property
    def updated(self) -> bool:
        """Z_{T+1} = (Z_T + y)^+ in every frame of every run."""
        off = np.abs(self.Z[1:] - np.maximum(self.Z[:-1] + self.y, 0))
        return bool((off <= EXACT * (1 + np.abs(self.y) + self.Z[1:])).all())

    @property
    def failures(self) -> float:
        """f = (eta + K^{1-alpha}) H^2 B^c / (eta K)"""
        eta = self.constants.eta
        return (eta + self.K**0.4) * self.H**2 * self.B ** (2 / 3) / (eta * self.K)


def world() -> DriftingCMDP:
    """H = 2, S = 2, A = 2: the first action pays a reward, the second a utility; the Slater gap is 0.4."""
    rng = Given().rng("C8", "world")
    P, mu0 = rng.dirichlet(np.ones(2), (2, 2, 2)), np.array([0.5, 0.5])
    anchors = []
    for _ in range(3):
        r = np.array([0.8, 0.0]) + 0.2 * rng.random((2, 2, 2))
        anchors.append(CMDP(P=0.9 * P + 0.1 * rng.dirichlet(np.ones(2), (2, 2, 2)), r=r, g=1 - r, rho=0.0, mu0=mu0))
    rho = min(optimum.best_utility(anchor) for anchor in anchors) - 0.4
    return DriftingCMDP([tightened(anchor, rho) for anchor in anchors], [1, EPISODES // 2, EPISODES], name="queue")


def settings(env: DriftingCMDP) -> dict[str, Constants]:
    printed, quarter = literal(Problem.of(env)), slater_gap(env) / 4
    local = float(budget.frame_variations(env, FRAME).sum(axis=1).max())
    return {
        SCALED: Constants(chi=1.0, eta=3.0, eps=quarter, btilde=local, frame=FRAME, iota=1.0),
        EPS_SCALED: printed._replace(eps=quarter),
        AS_PRINTED: printed,
    }


def slater_gap(env: DriftingCMDP) -> float:
    return min(optimum.best_utility(env.at(k)) for k in range(1, env.episodes + 1, 10)) - env.rho


@lru_cache(maxsize=16)
def observe(setting: str, runs: int, listing: Listing) -> Seen:
    env = world()
    constants, delta, path = settings(env)[setting], slater_gap(env), Path(env)
    rng, twin = (Given().rng("C8", setting) for _ in range(2))  # the same numbers twice: to play a frame's end by hand
    L, rho, eps = constants.frame, env.rho, constants.eps
    frames = env.episodes // L
    Z, y, before, lemma = np.zeros((frames + 1, runs)), *np.zeros((3, frames, runs))
    least, apart, reset = math.inf, 0.0, True
    for state in episodes(env, constants, runs, rng, listing):
        T, first = state.frame - 1, (state.k - 1) % L == 0
        if first:
            Z[T] = state.Z
            reset &= bool((state.C == env.H).all() and (state.N == 0).all())
        if frames == T:
            break
        u = twin.random((1 + 2 * env.H, runs))
        choice = greedy(state.Q[:, 0], state.C[:, 0], state.Z / constants.eta)
        Q, C = ((choice * table[:, 0]).sum(axis=2) for table in (state.Q, state.C))
        apart = max(apart, float(np.abs(state.Q[:, 0] - state.C[:, 0]).max()))
        before[T] += (rho + eps - C @ env.mu0) / L
        if setting == SCALED:
            allowed, gap = _allowed(env, state, Q, C)
            lemma[T] += allowed / L
            least = min(least, gap)
        if state.k % L == 0:
            y[T] = rho + eps - _played_on(state, path, u, listing).cbar / L
    lemma = lemma if setting == SCALED else np.full_like(lemma, np.nan)
    sizes = env.S, env.A, env.H, env.episodes, Problem.of(env).B
    return Seen(constants, *sizes, rho, delta, Z, y, before, lemma, least, apart, reset)


def _allowed(env: DriftingCMDP, state: State, Q: Array, C: Array) -> tuple[Array, float]:
    """The right-hand side of Lemma 10 at episode k without D, given the tables; the least F_k(x,a_k) - sum_a F_k q."""
    solved, z, eta = optimum.constrained(tightened(env.at(state.k), state.constants.eps)), state.Z, state.constants.eta
    q = solved.policy[0]
    Q_of_q, C_of_q = ((q * table[:, 0]).sum(axis=2) for table in (state.Q, state.C))
    gap = Q - Q_of_q + (z / eta)[:, None] * (C - C_of_q)
    allowed = -eta * (Q_of_q - Q) @ env.mu0 + z * (solved.utility - C_of_q @ env.mu0)
    return allowed, float(gap.min())


def _played_on(state: State, path: Path, u: Array, listing: Listing) -> State:
    """A copy of the state after the episode, before the frame's end."""
    copy = state._replace(**{name: getattr(state, name).copy() for name in ("Q", "C", "V", "W", "N", "Z", "cbar")})
    play(copy, path.at(state.k), u, listing)
    return copy


class Conditional(NamedTuple):
    """Means of a quantity given Z, over bins of Z."""

    z: Array
    mean: Array
    high: Array  # the upper end of its interval


def given_z(seen: Seen, quantity: Array) -> Conditional:
    z, values = seen.Z[:-1].ravel(), quantity.ravel()
    edges = np.unique(np.quantile(z, np.linspace(0, 1, BINS + 1)))
    bins = np.searchsorted(edges[1:-1], z, side="left")
    held = [values[bins == i] for i in range(len(edges)) if (bins == i).any()]
    centres = [z[bins == i].mean() for i in range(len(edges)) if (bins == i).any()]
    mean = np.array([part.mean() for part in held])
    error = np.array([part.std() / math.sqrt(len(part)) for part in held])
    return Conditional(np.array(centres), mean, mean + SURE * error)


@lru_cache(maxsize=16)
def from_levels(levels: tuple[float, ...], runs: int, listing: Listing) -> Array:
    """(len(levels), runs): L_{T+1} - L_T over the first frame with scaled constants, had Z begun at these levels."""
    env = world()
    constants, rng = settings(env)[SCALED], Given().rng("C9", "levels")
    z = np.repeat(np.array(levels), runs)
    Q, C = np.full((2, len(z), env.H, env.S, env.A), float(env.H))
    V, W = np.full((2, len(z), env.H + 1, env.S), float(env.H))
    V[:, env.H], W[:, env.H] = 0.0, 0.0
    state = State(1, 1, Q, C, V, W, np.zeros(Q.shape, np.int64), z, np.zeros(len(z)), constants)
    for k in range(1, constants.frame + 1):
        play(state, Path(env).at(k), rng.random((1 + 2 * env.H, len(z))), listing)
    after = np.maximum(z + env.rho + constants.eps - state.cbar / constants.frame, 0.0)
    return ((after**2 - z**2) / 2).reshape(len(levels), runs)
