"""The simulator's loop in plain Python; its learners are in ``python_agents.py`` and ``direct.py``."""

from benchmarks import python_agents as agents
from benchmarks.direct import DirectLSVIAgent
from nscmdp.algorithms._bandit_over_bandit import BanditOverBandit
from nscmdp.algorithms._lsvi import LSVI, CountingLSVI
from nscmdp.algorithms._triple_q import TripleQ
from nscmdp.algorithms.exact_model_primal_dual import ExactModelQueue
from nscmdp.algorithms.oracle import Oracle
from nscmdp.algorithms.propd_ppo import Propd
from nscmdp.algorithms.restart_q_ucb import RestartQ
from nscmdp.algorithms.sliding_window_opt_cmdp import OptCMDP
from nscmdp.algorithms.uniform import Uniform

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
    """A learner's loop in Python, from its first episode on; it evaluates no policy."""

    def __init__(self, tables, learner):
        self.env, self.sampler = tables.env, tables.sampler
        self.agent = AGENTS[type(learner)](learner, tables.env)

    def play(self, first, draws, record):
        for k in range(first, first + len(draws.learner)):
            reward, utility = self.episode(k, draws.environment[k - first], draws.learner[k - first])
            window = (k - 1) * len(record.reward) // self.env.episodes
            record.reward[window] += reward
            record.utility[window] += utility

    def episode(self, k, environment_draws, learner_draws):
        agent, horizon = self.agent, self.env.H
        agent.begin_episode(learner_draws[0])
        start, end, weight = self.env.leg(k)
        x = self.start_state(environment_draws[0])
        a, _, _ = agent.act(0, x, learner_draws[1])
        earned, useful = 0.0, 0.0
        for h in range(horizon):
            anchor = end if environment_draws[1 + 2 * h] < weight else start
            r, g, y = self.step(anchor, h if self.env.layers > 1 else 0, x, a, environment_draws[2 + 2 * h])
            earned, useful = earned + r, useful + g
            a_next, v, w = agent.act(h + 1, y, learner_draws[2 + h]) if h + 1 < horizon else (0, 0.0, 0.0)
            agent.learn(h, x, a, r, g, y, v, w)
            x, a = y, a_next
        agent.end_of_episode()
        return earned, useful

    def start_state(self, u):
        place = u * self.env.S
        x = int(place)
        return x if place - x < self.sampler.start_threshold[x] else self.sampler.start_alias[x]

    def step(self, anchor, layer, x, a, u):
        place = u * self.sampler.outcomes.shape[-1]
        column = int(place)
        outcome = self.sampler.outcomes[anchor, layer, x, a, column].item()
        threshold, reward, utility, alias_reward, alias_utility, state, alias_state = outcome
        if place - column < threshold:
            return reward, utility, state
        return alias_reward, alias_utility, alias_state
