"""Planning in plain Python and numpy: backward induction over states and actions, and the constrained optimum."""

from typing import Any, NamedTuple

import numpy as np

from nscmdp.cmdp import CMDP
from nscmdp.kernels.induction import TIE
from nscmdp.optimum import CLOSED, FEASIBLE


class Model(NamedTuple):
    """One layer stands for all steps where there is but one."""

    successors: Any  # (layers, S, A, M), or (S,) where every state is a successor
    P: Any  # (layers, S, A, M)
    r: Any  # (layers, S, A)
    g: Any
    mu0: Any
    H: int

    def row(self, h, x, a):
        """Successors, their probabilities, reward and utility."""
        layer = h if len(self.P) > 1 else 0
        successors = self.successors if self.successors.ndim == 1 else self.successors[layer, x, a]
        return successors, self.P[layer, x, a], self.r[layer, x, a], self.g[layer, x, a]


def empty_model(H, S, A):
    """Room for a model in which every state may follow every other."""
    return Model(
        np.arange(S),
        np.zeros((H, S, A, S)),
        np.zeros((H, S, A)),
        np.zeros((H, S, A)),
        np.zeros(S),
        H,
    )


class Plan(NamedTuple):
    choice: Any  # (H, S)
    V: float
    W: float
    first_W: Any  # (S,): utilities of the first step


def model_of(cmdp: CMDP) -> Model:
    return Model(cmdp.successors, cmdp.probability, cmdp.reward, cmdp.utility, cmdp.mu0, cmdp.H)


def greedy(model, on_reward, on_utility):
    """Maximise on_reward V + on_utility W; ties go to the utility, or to the reward where on_reward is 0."""
    _, S, A = model.r.shape
    choice = np.zeros((model.H, S), int)
    V, W = np.zeros(S), np.zeros(S)
    for h in reversed(range(model.H)):
        V_next, W_next, V, W = V, W, np.zeros(S), np.zeros(S)
        for x in range(S):
            best, second = -np.inf, -np.inf
            for a in range(A):
                successors, P, r, g = model.row(h, x, a)
                q, c = r + P @ V_next[successors], g + P @ W_next[successors]
                score, tiebreak = on_reward * q + on_utility * c, c if on_reward > 0 else q
                if score > best + TIE or (score > best - TIE and tiebreak > second):
                    best, second, choice[h, x], V[x], W[x] = max(score, best), tiebreak, a, q, c
    return Plan(choice, model.mu0 @ V, model.mu0 @ W, W)


class Mixed:
    """Two deterministic policies, the second followed with probability ``share[h, x]``."""

    def __init__(self, falling, rising, share):
        self.falling, self.rising, self.share = falling, rising, share

    def act(self, h, x, u):
        return (self.rising if u < self.share[h, x] else self.falling)[h, x]


def solve(model, rho):
    """The policy of largest V whose W is rho; of largest W where none reaches it."""
    low = greedy(model, 1.0, 0.0)
    if rho <= low.W:
        return Mixed(low.choice, low.choice, np.zeros(low.choice.shape))
    high = greedy(model, 0.0, 1.0)
    if rho - FEASIBLE * (1 + abs(rho)) > high.W:
        return Mixed(low.choice, high.choice, np.ones(low.choice.shape))
    high = high._replace(W=max(high.W, rho))
    while True:
        multiplier = (low.V - high.V) / (high.W - low.W)
        crossing = low.V + multiplier * (low.W - rho)
        trial = greedy(model, 1.0, multiplier)
        if trial.V + multiplier * (trial.W - rho) <= crossing + CLOSED * (
            1 + abs(crossing) + multiplier
        ):
            return mix(model, low, high, (rho - low.W) / (high.W - low.W))
        if rho > trial.W:
            low = trial
        else:
            high = trial


def mix(model, low, high, share):
    """The Markov policy of the mixed occupancy measure."""
    here = [(1 - share) * model.mu0, share * model.mu0]
    follow = np.zeros(low.choice.shape)
    for h in range(model.H):
        there = [np.zeros(len(model.mu0)), np.zeros(len(model.mu0))]
        for x in range(len(model.mu0)):
            total = here[0][x] + here[1][x]
            follow[h, x] = here[1][x] / total if total > 0 else 0.0
            for which, plan in enumerate((low, high)):
                successors, P, _, _ = model.row(h, x, plan.choice[h, x])
                np.add.at(there[which], successors, here[which][x] * P)
        here = there
    return Mixed(low.choice, high.choice, follow)
