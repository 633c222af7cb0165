"""The same loop in plain Python and numpy, the way tabular agents are usually written.

One object a learner, one numpy expression an equation, one table each for Q, C, N. It takes the arguments of
``nscmdp.simulate.play`` and its random numbers, and so must earn the same.
"""

import numpy as np

from nscmdp.algorithms._triple_q import BUMP, CBAR, EPISODE, EXPLORE, FULL, TripleQ, Z
from nscmdp.algorithms.restart_q_ucb import RestartQ
from nscmdp.induction import find_leg


def pick(best, u):
    """One of the actions marked in ``best``, uniformly."""
    candidates = np.flatnonzero(best)
    return candidates[int(u * len(candidates))]


class TripleQAgent:
    def __init__(self, learner):
        self.learner, self.memory = learner, learner.memory
        self.Q, self.C, self.N = (learner.table[:, :, row] for row in range(3))

    def act(self, h, x, u):
        f = self.Q[h, x] + self.memory[Z] / self.learner.eta * self.C[h, x]
        best, explore = f == f.max(), self.memory[EXPLORE]
        v, w = self.Q[h, x][best].mean(), self.C[h, x][best].mean()
        if u < explore:
            return int(u / explore * len(f)), v, w
        return pick(best, (u - explore) / (1 - explore)), v, w

    def learn(self, h, x, a, r, g, v, w):
        learner, before = self.learner, self.C[h, x, a]
        self.N[h, x, a] += 1
        t = int(self.N[h, x, a])
        alpha = learner.rate[t]
        self.Q[h, x, a] = (1 - alpha) * self.Q[h, x, a] + alpha * (r + v + learner.bonus_q[t])
        self.C[h, x, a] = (1 - alpha) * self.C[h, x, a] + alpha * (g + w + learner.bonus_c[t])
        if h == 0:
            self.memory[CBAR] += before if learner.before else self.C[h, x, a]

    def end_of_episode(self):
        learner, memory = self.learner, self.memory
        memory[EPISODE] += 1
        if memory[EPISODE] % learner.decay_every == 0:
            memory[EXPLORE] = max(memory[EXPLORE] * learner.decay, learner.floor)
        if memory[EPISODE] % learner.frame == 0:
            memory[Z] = max(0.0, memory[Z] + learner.target - memory[CBAR] / learner.frame)
            memory[CBAR] = 0.0
            self.N[:] = 0
            self.end_frame(*learner.initial.T[:, :, None, None])

    def end_frame(self, q0, c0):
        learner = self.learner
        if learner.rule == FULL:
            self.Q[:], self.C[:] = q0, c0
        elif learner.rule == BUMP:
            self.Q += learner.bump
            highest_q, highest_c = learner.cap_q * q0, learner.cap_c * c0
            high = (highest_q <= self.Q) | (highest_c <= self.C)
            self.Q[:] = np.where(high, q0, self.Q)
            if not learner.keep_c:
                self.C[:] = np.where(high, c0, self.C)


class RestartQAgent:
    def __init__(self, learner):
        self.learner = learner
        self.Q, self.N, self.stage_n, self.stage_sum = (learner.table[:, :, row] for row in range(4))

    def act(self, h, x, u):
        best = self.Q[h, x].max()
        return pick(self.Q[h, x] == best, u), best, 0.0

    def learn(self, h, x, a, r, g, v, w):
        learner = self.learner
        self.N[h, x, a] += 1
        self.stage_n[h, x, a] += 1
        self.stage_sum[h, x, a] += r + v
        if learner.stage_ends[int(self.N[h, x, a])]:
            n, drift = self.stage_n[h, x, a], learner.drift[learner.clock[0] // learner.epoch]
            estimate = self.stage_sum[h, x, a] / n + learner.bonus[int(n)] + drift
            self.Q[h, x, a] = min(self.Q[h, x, a], estimate)
            self.stage_n[h, x, a] = self.stage_sum[h, x, a] = 0

    def end_of_episode(self):
        learner = self.learner
        learner.clock[0] += 1
        if learner.clock[0] % learner.epoch == 0:
            learner.table[:] = 0
            self.Q[:] = learner.initial[:, None, None]


AGENTS = {TripleQ: TripleQAgent, RestartQ: RestartQAgent}


def start_state(sampler, u):
    place = u * len(sampler.start_alias)
    x = int(place)
    return x if place - x < sampler.start_threshold[x] else sampler.start_alias[x]


def step(sampler, anchor, layer, x, a, u):
    place = u * sampler.outcomes.shape[-1]
    column = int(place)
    outcome = sampler.outcomes[anchor, layer, x, a, column].item()
    threshold, reward, utility, alias_reward, alias_utility, state, alias_state = outcome
    if place - column < threshold:
        return reward, utility, state
    return alias_reward, alias_utility, alias_state


def play(drift, sampler, learner, model, first, luck, whims, asked, episodes, reward, utility, values, scratch):
    agent = AGENTS[type(learner)](learner)
    horizon, shared = whims.shape[1] - 1, drift.successors.shape[0] == 1
    for k in range(first, first + len(luck)):
        lucky, whim = luck[k - first], whims[k - first]
        start, end, weight = find_leg(drift, k)
        x = start_state(sampler, lucky[0])
        a, _, _ = agent.act(0, x, whim[1])
        earned, useful = 0.0, 0.0
        for h in range(horizon):
            anchor = end if lucky[1 + 2 * h] < weight else start
            r, g, y = step(sampler, anchor, 0 if shared else h, x, a, lucky[2 + 2 * h])
            earned, useful = earned + r, useful + g
            a_next, v, w = agent.act(h + 1, y, whim[2 + h]) if h + 1 < horizon else (0, 0.0, 0.0)
            agent.learn(h, x, a, r, g, v, w)
            x, a = y, a_next
        agent.end_of_episode()
        window = (k - 1) * len(reward) // episodes
        reward[window] += earned
        utility[window] += useful
