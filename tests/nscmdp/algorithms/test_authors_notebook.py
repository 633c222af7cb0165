"""Triple-Q with the setting `authors` does what the authors' notebook does, on the notebook's own world.

The loop below is written from the notebook's rules, not from the package: two tables, the update of a whole episode
after it has been played, V and W of the actions that were taken, the frame's end at the head of the next episode. The
world is the notebook's: 18 x 18 cells, moves that always succeed, 100 at the destination and the distance that has been
gained elsewhere, 25 steps, at least 20 of them off the obstacles. Rewards are divided by 100, as in the package.
"""

import math

import numpy as np
import pytest

from nscmdp import CMDP, environments, simulate
from nscmdp.environments.grid_world import GOAL, MOVES, OBSTACLE, START, WALL, read_map
from nscmdp.randomness import stream

H, RHO, UNIT = 25, 20.0, 100.0
GRID = read_map("18x18")
CELLS = [tuple(cell) for cell in np.argwhere(GRID != WALL)]
GOAL_CELL, START_CELL = (tuple(np.argwhere(GRID == mark)[0]) for mark in (GOAL, START))  # noqa: SIM300


def distance(one, other):
    return math.dist(one, other)


MOST = distance((18, 1), GOAL_CELL)


def move(cell, action):
    there = cell[0] + MOVES[action][0], cell[1] + MOVES[action][1]
    return cell if GRID[there] == WALL else there


def reward(cell):
    return (100.0 if cell == GOAL_CELL else MOST - distance(cell, GOAL_CELL)) / UNIT


def utility(cell):
    return 0.0 if GRID[cell] == OBSTACLE else 1.0


def world(episodes):
    """The same as a model of the package."""
    S, number = len(CELLS), {cell: i for i, cell in enumerate(CELLS)}
    successors = np.array(
        [[[number[move(cell, a)]] for a in range(4)] for cell in CELLS], np.uint32
    )[None]
    paid = [
        [[[pay(CELLS[y])] for (y,) in row] for row in successors[0]] for pay in (reward, utility)
    ]
    r, g = (np.array(table)[None] for table in paid)
    mu0 = np.eye(S)[number[START_CELL]]
    model = CMDP.sparse(successors, np.ones(successors.shape), r, g, H, RHO, mu0)
    return environments.path([model], [1], episodes=episodes, name="notebook")


class Notebook:
    """The notebook's agent. It keeps Z and both tables over a frame's end, where Q gains a little."""

    def __init__(self, K, seed):
        self.K, self.draws = K, stream("learner", "triple_q", seed)
        self.Q = {(h, cell): [800 / UNIT] * 4 for h in range(H) for cell in CELLS}
        self.C = {(h, cell): [25.0] * 4 for h in range(H) for cell in CELLS}
        self.N = {key: [0] * 4 for key in self.Q}
        self.Z, self.cbar, self.epsilon, self.trial = 0.0, 0.0, 1.0, 0
        self.frame = int(K**0.6)
        self.eta = UNIT * 0.0001 * K**0.2 * math.sqrt(4 * len(CELLS) * H**4)
        self.chi = K**0.2

    def choose(self, h, cell, u):
        """Random with probability epsilon; of the rest, 3 in 100 are random too; else the best, ties at random."""
        explore = 1 - (1 - self.epsilon) * (1 - 0.03)
        if u < explore:
            return int(u / explore * 4)
        f = [
            q + self.Z / self.eta * c for q, c in zip(self.Q[h, cell], self.C[h, cell], strict=True)
        ]
        best = [a for a in range(4) if f[a] == max(f)]
        return best[int((u - explore) / (1 - explore) * len(best))]

    def begin_frame(self):
        for key, q in self.Q.items():
            for a in range(4):
                q[a] += 3 / UNIT
                if q[a] > 850 / UNIT or self.C[key][a] > 25:
                    q[a] = 800 / UNIT
            self.N[key] = [0] * 4
        self.Z = max(self.Z + RHO + 0.5 - self.cbar / self.frame, 0.0)
        self.cbar = 0.0

    def play_episode(self):
        """The cells that were reached."""
        if self.trial % self.frame == 0 and self.trial != 0:
            self.begin_frame()
        u, cells, actions = self.draws.random((1, 1 + H))[0], [START_CELL], []
        for h in range(H):
            actions.append(self.choose(h, cells[-1], u[1 + h]))
            cells.append(move(cells[-1], actions[-1]))
        self.learn(cells, actions)
        if self.trial % 20 == 0:
            self.epsilon *= 0.95
        self.cbar += self.C[0, START_CELL][actions[0]]
        self.trial += 1
        return cells[1:]

    def learn(self, cells, actions):
        taken = [
            (self.Q[h, cells[h]][actions[h]], self.C[h, cells[h]][actions[h]]) for h in range(H)
        ]
        for h, ((v, w), a) in enumerate(zip([*taken[1:], (0.0, 0.0)], actions, strict=True)):
            q, c, n = self.Q[h, cells[h]], self.C[h, cells[h]], self.N[h, cells[h]]
            n[a] += 1
            alpha = (self.chi + 1) / (self.chi + n[a])
            b = np.sqrt(np.log(self.K) / n[a])  # 0.2 b on the scale of Q, 0.01 of that on C's
            q[a] = (1 - alpha) * q[a] + alpha * (reward(cells[h + 1]) + v + 0.2 / UNIT * b)
            c[a] = (1 - alpha) * c[a] + alpha * (utility(cells[h + 1]) + w + 0.01 * 0.2 * b)


def played(K, seed):
    agent = Notebook(K, seed)
    paths = [agent.play_episode() for _ in range(K)]
    return [
        (sum(map(reward, path)), sum(map(utility, path))) for path in paths
    ], agent.Z / agent.eta


def test_the_world_is_the_notebooks():
    env = world(5)
    assert (env.S, env.A, env.H, env.rho) == (324, 4, 25, 20.0)
    assert round(MOST, 2) == 22.67
    assert (GRID == OBSTACLE).sum() == 105


@pytest.mark.usefixtures("a_window_for_each_episode")
@pytest.mark.parametrize(
    ("K", "queued"), [(2000, False), pytest.param(20_000, True, marks=pytest.mark.slow)]
)
def test_every_episode_is_the_notebooks(K, queued):
    """Over more than ten frames, exploration from 100% to 3%; at first the queue is empty, and later not."""
    expected, weight = played(K, seed=0)
    run = simulate.run(world(K), "triple_q", "authors", 0, evaluate_every=None)
    np.testing.assert_allclose(np.column_stack([run.reward, run.utility]), expected, rtol=1e-9)
    assert run.dual[-1] == pytest.approx(weight, rel=1e-9)
    assert K // int(K**0.6) >= 10
    assert (weight > 0) == queued


@pytest.mark.usefixtures("a_window_for_each_episode")
def test_the_backup_of_the_greedy_action_plays_other_episodes():
    """So the test above sees which action is backed up."""
    runs = [
        simulate.run(
            world(300), "triple_q", "authors", 0, evaluate_every=None, variants={"backup": backup}
        )
        for backup in ("own", "taken", "greedy")
    ]
    assert np.array_equal(runs[0].reward, runs[1].reward)
    assert not np.array_equal(runs[0].reward, runs[2].reward)


def test_the_cost_of_the_second_half_is_what_the_notebook_ends_with():
    """K = 80,000, as it runs: its own code ends between 4.7 and 5.5; with the greedy action's backup it is 4.5."""

    def cost(backup):
        runs = [
            simulate.run(
                world(80_000),
                "triple_q",
                "authors",
                seed,
                None,
                variants={"backup": backup},
                windows=2,
            )
            for seed in range(8)
        ]
        return H - np.array([run.utility[1] for run in runs])

    taken, greedy = cost("taken"), cost("greedy")
    assert 4.8 < taken.mean() < 5.5
    assert greedy.mean() < 4.7
