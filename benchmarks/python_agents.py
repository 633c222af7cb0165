"""The learners in plain Python and numpy, the way tabular agents are usually written (:mod:`nscmdp.plain`).

One object a learner, one table each for Q, C, N, one numpy expression an equation, a loop over states and actions where
one plans. They take their constants from our learners and the random numbers of our loop, and so must earn the same.
"""

import numpy as np

from benchmarks import python_planning as planning
from nscmdp.algorithms._frame_ends import BUMP, FULL


def pick(best, u):
    """One of the actions marked in ``best``, uniformly."""
    candidates = np.flatnonzero(best)
    return candidates[int(u * len(candidates))]


def draw(chances, u):
    """An action by its probability."""
    return min(int(np.searchsorted(np.cumsum(chances), u, side="right")), len(chances) - 1)


def softmax(preferences):
    weights = np.exp(preferences - preferences.max())
    return weights / weights.sum()


class TripleQAgent:
    def __init__(self, learner, env):
        self.constants, self.shape = learner, (env.H, env.S, env.A)
        now = learner.now[0]
        self.frame, self.eta, self.target, self.offset = (
            int(now.frame),
            *map(float, (now.eta, now.target, now.offset)),
        )
        self.Z, self.Cbar, self.episode = 0.0, 0.0, 0
        self.explore, self.decayed = float(now.explore), float(now.decayed)
        self.Q, self.C, self.N = (
            np.empty(self.shape),
            np.empty(self.shape),
            np.zeros(self.shape, int),
        )
        self.Q[:], self.C[:] = learner.initial.T[:, :, None, None]

    def act_and_estimate(self, h, x, u):
        f = self.Q[h, x] + self.Z / self.eta * self.C[h, x]
        best = f == f.max()
        v, w = self.Q[h, x][best].mean(), self.C[h, x][best].mean()
        if u < self.explore:
            return int(u / self.explore * len(f)), v, w
        return pick(best, (u - self.explore) / (1 - self.explore)), v, w

    def learn_from_estimate(self, h, x, a, r, g, y, v, w):
        constants, before = self.constants, self.C[h, x, a]
        self.N[h, x, a] += 1
        t = self.N[h, x, a]
        alpha = constants.rate[t]
        bonus_q, bonus_c = constants.bonus_q[t] + self.offset, constants.bonus_c[t] + self.offset
        self.Q[h, x, a] = (1 - alpha) * self.Q[h, x, a] + alpha * (r + v + bonus_q)
        self.C[h, x, a] = (1 - alpha) * self.C[h, x, a] + alpha * (g + w + bonus_c)
        if h == 0:
            self.Cbar += before if constants.before else self.C[h, x, a]

    def end_of_episode(self):
        constants = self.constants
        self.episode += 1
        if (self.episode - 1) % constants.decay_every == 0:
            self.decayed *= constants.decay
            self.explore = 1 - (1 - constants.floor) * (1 - self.decayed)
        if self.episode % self.frame == 0:
            kept = 0.0 if constants.forget else self.Z
            self.Z = max(0.0, kept + self.target - self.Cbar / self.frame)
            self.Cbar = 0.0
            self.N[:] = 0
            self.end_frame(*constants.initial.T[:, :, None, None])

    def end_frame(self, q0, c0):
        end = self.constants.end
        if end.rule == FULL:
            self.Q[:], self.C[:] = q0, c0
        elif end.rule == BUMP:
            self.Q += end.bump
            high = (end.cap_q * q0 <= self.Q) | (end.cap_c * c0 <= self.C)
            self.Q[:] = np.where(high, q0, self.Q)
            if not end.keep_c:
                self.C[:] = np.where(high, c0, self.C)

    def restart(self, arm):
        frame, self.eta, self.target, self.offset = self.constants.arms[arm]
        self.frame, self.episode, self.Cbar = int(frame), 0, 0.0
        if not self.constants.carry:
            self.Z = 0.0
        self.Q[:], self.C[:] = self.constants.initial.T[:, :, None, None]
        self.N[:] = 0


class DoubleRestartAgent:
    def __init__(self, learner, env):
        self.constants, self.horizon = learner, env.H
        self.inner, self.log_weights = (
            TripleQAgent(learner.inner, env),
            np.zeros(len(learner.bandit.log_weights)),
        )
        self.episode = 0

    def begin_episode(self, u):
        if self.episode % self.constants.block == 0:
            gamma = self.constants.bandit.gamma
            self.p = (1 - gamma) * softmax(self.log_weights) + gamma / len(self.log_weights)
            self.arm, self.R, self.G = draw(self.p, u), 0.0, 0.0
            self.inner.restart(self.arm)

    def act_and_estimate(self, h, x, u):
        return self.inner.act_and_estimate(h, x, u)

    def learn_from_estimate(self, h, x, a, r, g, y, v, w):
        self.R += r
        self.G += g
        self.inner.learn_from_estimate(h, x, a, r, g, y, v, w)

    def end_of_episode(self):
        constants = self.constants
        self.inner.end_of_episode()
        self.episode += 1
        if self.episode % constants.block == 0 or self.episode == constants.episodes:
            length = self.episode - (self.episode - 1) // constants.block * constants.block
            gain = constants.rule.weight * self.G + (
                self.R if length * constants.rho <= self.G else 0.0
            )
            gain /= length * self.horizon * (1 + constants.rule.weight)
            self.log_weights[self.arm] += (
                constants.bandit.gamma * gain / self.p[self.arm] / len(self.log_weights)
            )


class RestartQAgent:
    def __init__(self, learner, env):
        self.constants, self.episode = learner, 0
        self.Q, self.N, self.stage_n, self.stage_sum = np.zeros((4, env.H, env.S, env.A))
        self.Q[:] = learner.initial[:, None, None]

    def act_and_estimate(self, h, x, u):
        best = self.Q[h, x].max()
        return pick(self.Q[h, x] == best, u), best, 0.0

    def learn_from_estimate(self, h, x, a, r, g, y, v, w):
        constants = self.constants
        self.N[h, x, a] += 1
        self.stage_n[h, x, a] += 1
        self.stage_sum[h, x, a] += constants.on_reward * r + constants.on_utility * g + v
        if constants.stage_ends[int(self.N[h, x, a])]:
            n, drift = self.stage_n[h, x, a], constants.drift[self.episode // constants.epoch]
            estimate = self.stage_sum[h, x, a] / n + constants.bonus[int(n)] + drift
            self.Q[h, x, a] = min(self.Q[h, x, a], estimate)
            self.stage_n[h, x, a] = self.stage_sum[h, x, a] = 0

    def end_of_episode(self):
        self.episode += 1
        if self.episode % self.constants.epoch == 0:
            self.N[:] = self.stage_n[:] = self.stage_sum[:] = 0
            self.Q[:] = self.constants.initial[:, None, None]


class CountingAgent:
    """What PROPD-PPO and LSVI by counts have in common: dense counts, and a softmax policy over two Q-tables."""

    def __init__(self, learner, env):
        self.constants, self.episode = learner, 0
        self.H, self.S, self.A = env.H, env.S, env.A
        self.chances = np.full((env.H, env.S, env.A), 1 / env.A)
        self.Q_r, self.Q_g = np.zeros((2, env.H, env.S, env.A))
        self.V_r, self.V_g = np.zeros((2, env.H + 1, env.S))
        self.Y, self.drive = 0.0, 0.0
        self.forget()

    def forget(self):
        self.counts = np.zeros((self.H, self.S, self.A, self.S))
        self.sum_r, self.sum_g, self.n = np.zeros((3, self.H, self.S, self.A))

    def act(self, h, x, u):
        if h == 0:
            self.drive = self.V_g[0, x]
        return draw(self.chances[h, x], u)

    def learn(self, h, x, a, r, g, y):
        self.counts[h, x, a, y] += 1
        self.n[h, x, a] += 1
        self.sum_r[h, x, a] += r
        self.sum_g[h, x, a] += g


class PropdAgent(CountingAgent):
    def begin_episode(self, u):
        constants = self.constants
        if self.episode % constants.window == 0:
            self.forget()
        if self.episode % constants.restart == 0:
            self.preferences = np.zeros((self.H, self.S, self.A))
            self.chances[:] = 1 / self.A
            return
        for h in range(self.H):
            for x in range(self.S):
                self.preferences[h, x] += constants.alpha * (
                    self.Q_r[h, x] + self.Y * self.Q_g[h, x]
                )
                self.chances[h, x] = softmax(self.preferences[h, x])

    def end_of_episode(self):
        constants = self.constants
        step = constants.eta * (constants.rho - self.drive)
        self.Y = min(max(constants.shrink * self.Y + step, 0.0), constants.most)
        self.episode += 1
        for h in reversed(range(self.H)):
            for x in range(self.S):
                for a in range(self.A):
                    n = self.n[h, x, a] + 1
                    bonus, seen = 2 * constants.beta / np.sqrt(n), self.counts[h, x, a]
                    q_r = (self.sum_r[h, x, a] + seen @ self.V_r[h + 1]) / n + bonus
                    q_g = (self.sum_g[h, x, a] + seen @ self.V_g[h + 1]) / n + bonus
                    self.Q_r[h, x, a] = min(max(q_r, 0.0), self.H - h)
                    self.Q_g[h, x, a] = min(max(q_g, 0.0), self.H - h)
                self.V_r[h, x] = self.chances[h, x] @ self.Q_r[h, x]
                self.V_g[h, x] = self.chances[h, x] @ self.Q_g[h, x]


class CountingLSVIAgent(CountingAgent):
    def begin_episode(self, u):
        constants, frame = self.constants, int(self.constants.now[0].frame)
        if frame and self.episode % frame == 0:
            self.forget()
        for h in reversed(range(self.H)):
            for x in range(self.S):
                for a in range(self.A):
                    n = self.n[h, x, a] + constants.ridge
                    bonus, seen = constants.beta / np.sqrt(n), self.counts[h, x, a]
                    q_r = (self.sum_r[h, x, a] + seen @ self.V_r[h + 1]) / n + bonus
                    q_g = (self.sum_g[h, x, a] + seen @ self.V_g[h + 1]) / n + bonus
                    self.Q_r[h, x, a], self.Q_g[h, x, a] = min(q_r, self.H), min(q_g, self.H)
                self.chances[h, x] = softmax(
                    constants.alpha * (self.Q_r[h, x] + self.Y * self.Q_g[h, x])
                )
                self.V_r[h, x] = self.chances[h, x] @ self.Q_r[h, x]
                self.V_g[h, x] = self.chances[h, x] @ self.Q_g[h, x]

    def end_of_episode(self):
        constants = self.constants
        violation = constants.now[0].target - self.drive
        self.Y = min(max(self.Y + constants.eta * violation, 0.0), constants.xi)
        self.episode += 1


class OptCMDPAgent:
    def __init__(self, learner, env):
        self.constants, self.shape = learner, (env.H, env.S, env.A)
        self.window, self.episodes, self.steps = len(learner.path), [], []
        self.solved, self.due = 0, True

    def begin_episode(self, u):
        self.steps = []
        if self.due or len(self.episodes) - self.solved >= self.constants.refresh:
            self.solved, self.due = len(self.episodes), False
            self.plan()

    def plan(self):
        H, S, A = self.shape
        model = planning.empty_model(H, S, A)
        self.n, self.since = np.zeros(self.shape), np.zeros(self.shape)
        recent = self.episodes[-self.window :]
        for episode in recent:
            model.mu0[episode[0][0]] += 1 / len(recent)
            for h, (x, a, r, g, y) in enumerate(episode):
                self.n[h, x, a] += 1
                model.P[h, x, a, y] += 1
                model.r[h, x, a] += r
                model.g[h, x, a] += g
        if not recent:
            model.mu0[:] = 1 / S
        for h in range(H):
            for x in range(S):
                for a in range(A):
                    n = self.n[h, x, a]
                    bonus = self.constants.bonus / np.sqrt(max(n, 1))
                    model.P[h, x, a] = model.P[h, x, a] / n if n else 1 / S
                    model.r[h, x, a] = (model.r[h, x, a] / n if n else 1.0) + bonus
                    model.g[h, x, a] = (model.g[h, x, a] / n if n else 1.0) + bonus
        self.solution = planning.solve(model, self.constants.rho)

    def act(self, h, x, u):
        return self.solution.act(h, x, u)

    def learn(self, h, x, a, r, g, y):
        self.steps.append((x, a, r, g, y))
        self.since[h, x, a] += 1
        self.due = self.due or self.since[h, x, a] >= max(self.n[h, x, a], 1)

    def end_of_episode(self):
        self.episodes.append(self.steps)


class ExactModelAgent:
    def __init__(self, learner, env):
        self.constants, self.env, self.episode = learner, env, 0
        self.Z, self.Cbar = 0.0, 0.0

    def begin_episode(self, u):
        self.episode += 1
        model = planning.model_of(self.env.at(self.episode))
        self.plan = planning.greedy(model, 1.0, self.Z / self.constants.eta)

    def act(self, h, x, u):
        return self.plan.choice[h, x]

    def learn(self, h, x, a, r, g, y):
        if h == 0:
            self.Cbar += self.plan.first_W[x]

    def end_of_episode(self):
        constants = self.constants
        if self.episode % constants.frame == 0:
            kept = 0.0 if constants.forget else self.Z
            self.Z = max(0.0, kept + constants.target - self.Cbar / constants.frame)
            self.Cbar = 0.0


class OracleAgent:
    def __init__(self, learner, env):
        self.env, self.rho, self.episode = env, learner.rho, 0

    def begin_episode(self, u):
        self.episode += 1
        self.solution = planning.solve(planning.model_of(self.env.at(self.episode)), self.rho)

    def act(self, h, x, u):
        return self.solution.act(h, x, u)


class UniformAgent:
    def __init__(self, learner, env):
        self.actions = env.A

    def act(self, h, x, u):
        return int(u * self.actions)
