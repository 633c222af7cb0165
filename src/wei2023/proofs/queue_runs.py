"""A duel of two actions in which the virtual queue comes near to its bounds, for ``queue``.

One state and no drift: at every step action 1 pays a reward of 1 and a utility of 3/8, action 2 a
utility of 1; rho = 0, delta = H, eps = delta/2. Without noise or drift to be covered the lemmas
apply at b~ = 0 and from iota = 1 on; with action 1 the queue rises by H/8 a frame, until
z 5/8 exceeds eta.
"""

import math
from collections.abc import Iterator
from functools import cache

import numpy as np

from nscmdp.cmdp import CMDP, Array
from nscmdp.drift import DriftingCMDP
from wei2023.proofs.findings import Given
from wei2023.proofs.instrumented import Constants, Sizes, State, episodes, literal

FRAME = 2000


def one_state(H: int, r: Array, g: Array, K: int) -> DriftingCMDP:
    """The same at every step; of so many actions as r and g have entries."""
    paid = {name: np.ones((H, 1, 1)) * value for name, value in (("r", r), ("g", g))}
    one = CMDP(P=np.ones((H, 1, len(r), 1)), **paid, rho=0.0, mu0=[1.0])
    return DriftingCMDP([one], [1], episodes=K, name="one state")


def single_chain(H: int, K: int) -> tuple[float, float]:
    """S = A = 1, r = 1, B = 1, printed constants: Q_1 within H^2 episodes, and X of Lemma 13."""
    env, c = one_state(H, np.ones(1), np.ones(1), H * H), literal(Sizes(1, 1, H, K, 1.0))
    seen = [float(state.Q[0, 0, 0, 0]) for state in episodes(env, c, 1, Given().rng("C9"))]
    return max(seen), H * math.sqrt(c.iota) + 2 * H**2 * c.btilde


def begin(H: int, eta: float, levels: tuple[float, ...]) -> Iterator[State]:
    """A duel of runs with these queues, before every episode of a frame and after the last."""
    env = one_state(H, np.array([1.0, 0.0]), np.array([3 / 8, 1.0]), FRAME)
    constants = Constants(1.0, eta, eps=H / 2, btilde=0.0, frame=FRAME + 1, iota=1.0)
    for state in episodes(env, constants, len(levels), Given().rng("C9", "levels")):
        state.Z[:] = levels
        yield state


@cache
def rises(H: int, eta: float, levels: tuple[float, ...]) -> Array:
    """rho + eps - Cbar/L of a frame that begins with the queue at these levels."""
    *_, last = begin(H, eta, levels)
    return last.constants.eps - last.cbar / FRAME


@cache
def beyond(eta: float, level: float) -> tuple[float, float]:
    """Drift beyond the terms of Lemma 10, H = 1: C_1 in Cbar after its update, or before it.

    q = (4/5, 1/5) has the utility rho + eps = 1/2.
    """
    q, terms, before = np.array([0.8, 0.2]), 0.0, 0.0
    for state in begin(1, eta, (level,)):
        if state.k <= FRAME:
            Q, C, policy = state.Q[0, 0, 0], state.C[0, 0, 0], state.policy()[0, 0, 0]
            terms += (level * (0.5 - q @ C) - eta * (q - policy) @ Q) / FRAME
            before += policy @ C / FRAME
    y = np.array([0.5 - float(state.cbar[0]) / FRAME, 0.5 - before])
    after, ahead = level * y + y**2 / 2 - terms
    return float(after), float(ahead)


def uses_unset_values() -> bool:
    """Whether the listing, which sets V and W of step H+1 alone, backs up what it has not set."""
    frame = begin(2, 1.0, (0.0,))
    state = next(frame)
    state.V[:, :2] = state.W[:, :2] = math.nan
    with np.errstate(invalid="ignore"):
        return bool(np.isnan(next(frame).C).any())
