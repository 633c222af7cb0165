"""Algorithm 3 as its listing prints it: every episode starts from all data of its frame.

Lambda_h is summed up and inverted anew, the targets r + V_{h+1}(x') of all past steps are formed anew, and Q follows
for every state and action.
"""

import numpy as np

from benchmarks.python_agents import draw


class DirectLSVIAgent:
    def __init__(self, learner, env):
        self.constants, self.phi = learner, env.features  # (S, A, d)
        self.horizon, self.states, self.episode, self.Y = env.H, env.S, 0, 0.0
        self.chances = np.empty((env.H, env.S, env.A))

    def begin_episode(self, u):
        constants, frame = self.constants, int(self.constants.now[0].frame)
        if self.episode == 0 or (frame and self.episode % frame == 0):
            self.data = [[] for _ in range(self.horizon)]
        V_r, V_g = np.zeros(self.states), np.zeros(self.states)
        for h in reversed(range(self.horizon)):
            Lambda = constants.ridge * np.eye(self.phi.shape[2])
            on_reward, on_utility = np.zeros((2, self.phi.shape[2]))
            for x, a, r, g, y in self.data[h]:
                phi = self.phi[x, a]
                Lambda += np.outer(phi, phi)
                on_reward += phi * (r + V_r[y])
                on_utility += phi * (g + V_g[y])
            inverse = np.linalg.inv(Lambda)
            uncertainty = np.einsum("xai,ij,xaj->xa", self.phi, inverse, self.phi)
            bonus = constants.beta * np.sqrt(np.maximum(uncertainty, 0.0))
            Q_r = np.minimum(self.phi @ (inverse @ on_reward) + bonus, self.horizon)
            Q_g = np.minimum(self.phi @ (inverse @ on_utility) + bonus, self.horizon)
            preference = constants.alpha * (Q_r + self.Y * Q_g)
            weights = np.exp(preference - preference.max(axis=1, keepdims=True))
            self.chances[h] = weights / weights.sum(axis=1, keepdims=True)
            V_r, V_g = (self.chances[h] * Q_r).sum(axis=1), (self.chances[h] * Q_g).sum(axis=1)
        self.V_g = V_g

    def act(self, h, x, u):
        if h == 0:
            self.start = x
        return draw(self.chances[h, x], u)

    def learn(self, h, x, a, r, g, y):
        self.data[h].append((x, a, r, g, y))

    def end_of_episode(self):
        constants = self.constants
        violation = constants.now[0].target - self.V_g[self.start]
        self.Y = min(max(self.Y + constants.eta * violation, 0.0), constants.xi)
        self.episode += 1
