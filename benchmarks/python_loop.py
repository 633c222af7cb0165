"""Learners in plain Python, which are in ``python_agents.py`` and ``direct.py``, and what the loop around one costs."""

import numpy as np

from benchmarks import python_agents as agents
from benchmarks.direct import DirectLSVIAgent
from benchmarks.loops import SAME
from benchmarks.timing import compared, in_turns
from nscmdp import simulate
from nscmdp.algorithms._bandit_over_bandit import BanditOverBandit
from nscmdp.algorithms._lsvi_counts import CountingLSVI
from nscmdp.algorithms._lsvi_features import LSVI
from nscmdp.algorithms._triple_q import TripleQ
from nscmdp.algorithms.exact_model_primal_dual import ExactModelQueue
from nscmdp.algorithms.oracle import Oracle
from nscmdp.algorithms.propd_ppo import Propd
from nscmdp.algorithms.restart_q_ucb import RestartQ
from nscmdp.algorithms.sliding_window_opt_cmdp import OptCMDP
from nscmdp.algorithms.uniform import Uniform
from nscmdp.kernels.sampling import sampler_of
from nscmdp.plain import Player
from nscmdp.randomness import stream

AGENTS = {
    TripleQ: agents.TripleQAgent,
    BanditOverBandit: agents.DoubleRestartAgent,
    RestartQ: agents.RestartQAgent,
    Propd: agents.PropdAgent,
    CountingLSVI: agents.CountingLSVIAgent,
    OptCMDP: agents.OptCMDPAgent,
    ExactModelQueue: agents.ExactModelAgent,
    Oracle: agents.OracleAgent,
    Uniform: agents.UniformAgent,
    LSVI: DirectLSVIAgent,
}


class InPython:
    """A learner in plain Python, from its first episode on; it evaluates no policy."""

    def __init__(self, tables, learner):
        self.tables, self.agent = tables, AGENTS[type(learner)](learner, tables.env)
        self.player = Player(tables.env, tables.sampler, self.agent)

    def play(self, first, draws, record):
        world = simulate.World(self.tables.drift, self.tables.sampler)
        self.player(world, self.agent, draws, record, None, first, self.tables.env.episodes)


class Greedy:
    """Epsilon-greedy Q-learning with lists: as little as a learner in Python can cost."""

    def __init__(self, env, epsilon=0.1, alpha=0.2):
        self.Q = np.zeros((env.H + 1, env.S, env.A)).tolist()
        self.epsilon, self.alpha, self.actions = epsilon, alpha, env.A

    def act(self, h, x, u):
        if u < self.epsilon:
            return int(u / self.epsilon * self.actions)
        return self.Q[h][x].index(max(self.Q[h][x]))

    def learn(self, h, x, a, r, g, y):
        q = self.Q[h][x]
        q[a] += self.alpha * (r + max(self.Q[h + 1][y]) - q[a])


def by_hand(env, learner, seed):
    """What such a learner earns in all, in a loop of one's own over the sampler's tables."""
    sampler, H = sampler_of(env), env.H
    environment = stream("environment", env.name, env.seed, seed).random((env.episodes, 1 + 2 * H))
    learners = stream("learner", type(learner).__name__, seed).random((env.episodes, 1 + H))
    earned = 0.0
    for k, (draws, own) in enumerate(zip(environment, learners, strict=True), 1):
        start, end, weight = env.leg(k)
        place = draws[0] * env.S
        x = int(place)
        if place - x >= sampler.start_threshold[x]:
            x = int(sampler.start_alias[x])
        for h in range(H):
            a = learner.act(h, x, own[1 + h])
            anchor = end if draws[1 + 2 * h] < weight else start
            place = draws[2 + 2 * h] * sampler.outcomes.shape[-1]
            outcome = sampler.outcomes[anchor, h if env.layers > 1 else 0, x, a, int(place)].item()
            threshold, reward, utility, alias_reward, alias_utility, state, alias_state = outcome
            if place - int(place) < threshold:
                r, g, y = reward, utility, state
            else:
                r, g, y = alias_reward, alias_utility, alias_state
            learner.learn(h, x, a, r, g, y)
            earned, x = earned + r, y
    return earned


def beside_a_loop_of_ones_own(world, episodes, repeats):
    """``simulate.run`` with a plain learner beside such a loop."""
    env = world.env(episodes)
    earned = {}

    def ours():
        run = simulate.run(env, Greedy(env), evaluate_every=None)
        earned["ours"] = run.reward @ run.window_episodes

    def theirs():
        earned["theirs"] = by_hand(env, Greedy(env), 0)

    ours()  # loads the kernels that fill the sampler's tables
    taken = [np.divide(in_turns([ours], [theirs]), episodes * env.H) for _ in range(repeats)]
    if not np.isclose(earned["ours"], earned["theirs"], rtol=SAME):
        raise AssertionError(f"a plain learner on {world.name} earns {earned}")
    return compared(f"plain learner {world.name}", "by hand", taken)
