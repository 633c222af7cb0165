"""Algorithm 3 as the project runs it, with all that the lemmas of linear CMDPs speak of.

Learner and environments are those of the study (algorithms/lsvi_primal_dual.py and
environments/linear.py), small enough for every episode to be evaluated exactly. Changes of mu are
measured by total variation,

    ||mu - mu'|| = ( sum_i ( sum_x |mu_i(x) - mu'_i(x)| )^2 )^(1/2),

so that |int V d(mu - mu')| <= H ||mu - mu'|| for 0 <= V <= H.
"""

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np

from nscmdp import environments
from nscmdp.algorithms import lsvi_primal_dual
from nscmdp.algorithms._lsvi import Constants, lsvi
from nscmdp.cmdp import Array
from nscmdp.drift import DriftingCMDP
from nscmdp.learner import act, begin_episode, end_of_episode, learn
from nscmdp.problem import Problem
from nscmdp.randomness import stream
from wei2023.proofs.instrumented import Model, draw, evaluate

SIZES = {"states": 8, "actions": 3, "dimension": 3, "horizon": 2, "slater": 0.3}
CASES = ((0.0, 1), (1.0, 1), (20.0, 8))  # B by the definition of section 7, frames
BONUSES = (1.0, 0.1, 0.01)  # what the printed beta is multiplied by
EPISODES = 1600


class Run(NamedTuple):
    """Of K episodes; |phi| is the norm of Lambda^-1, and a maximum is over h, x and a."""

    constants: Constants
    bonus: float  # what the printed beta is multiplied by
    sizes: tuple[int, int, int, int]  # A, d, H, K
    local: Array  # (K, 3): B_r, B_g and B_p of the frame
    dual: Array  # (K,): Y_k
    drive: Array  # (K,): x_k = rho - V_g,1^k(x_1)
    weight: Array  # (K,): the largest |w_j,h^k|
    used: Array  # (K,): the largest |<phi,w> - r_k - P_k V^k| / (beta |phi|)
    residual: Array  # (K, 2): the largest |<phi,w> - r_k - P_k V^k| - beta |phi|
    short: Array  # (K,): the largest r_k + P_k V^k - Q^k
    optimism: Array  # (K, H): the largest max_pi V_h^{pi,Y_k} - V_h^k
    over: Array  # (K, 2, S): V_j,1^k - V_j,1^{pi_k}
    explored: Array  # (K, S): the mean under pi_k of sum_h |phi(x_h,a_h)|

    @property
    def played(self) -> tuple[Array, Array, float, float]:
        """x_k, Y_k, eta and xi"""
        return self.drive, self.dual, self.constants.eta, self.constants.xi


def local_budgets(env: DriftingCMDP, D: int) -> Array:
    """(K, 3): B_r, B_g and B_p of the frame of each episode; the step into a frame is in none."""
    phi = np.reshape(np.asarray(env.features), (env.S * env.A, -1))
    inverse = np.linalg.pinv(phi)  # phi has full rank, so that theta and mu follow from r, g and P
    moved, before = np.zeros((env.episodes, 3)), None
    for k in range(env.episodes):
        model = env.at(k + 1)
        r_g_P = model.r, model.g, model.P
        theta_mu = [inverse @ one.reshape(env.H, len(phi), -1) for one in r_g_P]
        if before is not None and k % D:
            for j, (now, then) in enumerate(zip(theta_mu, before, strict=True)):
                moved[k, j] = np.linalg.norm(np.abs(now - then).sum(axis=2), axis=1).sum()
        before = theta_mu
    return np.add.reduceat(moved, np.arange(0, env.episodes, D))[np.arange(env.episodes) // D]


def play(env: DriftingCMDP, constants: Constants, rng: np.random.Generator) -> Iterator[tuple]:
    """Learner, model and first state of every episode, once it is planned, before it is played."""
    learner = lsvi(Problem.of(env), [constants])
    for k in range(1, env.episodes + 1):
        begin_episode(learner, 0.5)
        model, u = env.at(k), rng.random((2 * env.H + 1, 1))
        x = int(draw(model.mu0[None], u[0])[0])
        yield learner, model, x
        for h in range(env.H):
            a = act(learner, h, x, u[1 + 2 * h, 0])
            y = int(draw(model.P[h, x, a][None], u[2 + 2 * h])[0])
            learn(learner, h, x, a, model.r[h, x, a], model.g[h, x, a], y)
            x = y
        end_of_episode(learner)


def run(env: DriftingCMDP, constants: Constants, bonus: float, rng: np.random.Generator) -> Run:
    phi, H, K, found = np.asarray(env.features), env.H, env.episodes, []
    for learner, model, x in play(env, constants, rng):
        P, r, g = model.P, model.r, model.g
        Y, pi, V = float(learner.now[0].Y), learner.chances, learner.values.transpose(0, 2, 1)
        norms = np.sqrt(learner.uncertainty).reshape(H, env.S, env.A)
        bare = np.einsum("xai,hji->hjxa", phi, learner.weights)
        target = np.stack([r, g], axis=1) + np.einsum("hxay,hjy->hjxa", P, V[1:])
        allowed = constants.beta * norms[:, None]
        off, Q = np.abs(bare - target), np.minimum(bare + allowed, H)
        exact = evaluate(model, pi)
        best, optimism = np.zeros(env.S), np.zeros(H)
        for h in reversed(range(H)):
            best = (r[h] + Y * g[h] + P[h] @ best).max(axis=1)
            optimism[h] = (best - V[h, 0] - Y * V[h, 1]).max()
        weight, drive = np.linalg.norm(learner.weights, axis=2).max(), env.rho - V[0, 1, x]
        most = (off / allowed).max(), (off - allowed).max(axis=(0, 2, 3)), (target - Q).max()
        over = V[0] - np.stack([exact.V[0], exact.W[0]])
        explored = evaluate(Model(P, norms, norms, model.mu0), pi).V[0]
        found.append((Y, drive, weight, *most, optimism, over, explored))
    parts = (np.array(part) for part in zip(*found, strict=True))
    sizes = env.A, phi.shape[2], H, K
    return Run(constants, bonus, sizes, local_budgets(env, constants.D), *parts)


@cache
def runs(problems: int) -> tuple[Run, ...]:
    """With the printed bonus and smaller ones, at rest, under drift, and with restarts."""
    found = []
    for seed in range(max(1, problems // 20)):
        for budget, frames in CASES:
            env = environments.make("linear", EPISODES, seed=seed, budget=budget, **SIZES)
            variants = lsvi_primal_dual.Variants(restart=False)
            printed = lsvi_primal_dual.literal(Problem.of(env), variants)
            for bonus in BONUSES:
                constants = printed._replace(D=EPISODES // frames, beta=bonus * printed.beta)
                rng = stream("claims", "C15", "run", seed, budget, bonus)
                found.append(run(env, constants, bonus, rng))
    return tuple(found)
