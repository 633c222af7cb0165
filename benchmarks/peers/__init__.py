"""What a user would pick instead, on the same work: each peer in an environment of its own.

    Gymnasium    Algorithm 1 in plain Python, in a loop over our environment as Gymnasium has it: the same rewards
    rlberry      its tabular Q-learning in its own finite MDP, beside the same Q-learning compiled as a plug-in
    CBC          the linear program of occupancy measures, beside our optimum: the same value

``uv run`` makes such an environment from what its cache or the index has, and keeps it. A peer that cannot be installed
is left out, and said to be.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np
from uv import find_uv_bin

from benchmarks.cases import MIDDLE, ONE, SMALL, World
from benchmarks.loops import SAME
from benchmarks.python_agents import TripleQAgent
from benchmarks.timing import Comparison, compared, in_turns, seconds
from nscmdp import algorithms, optimum, simulate
from nscmdp.gymnasium_envs import DriftingEnv
from nscmdp.learner import learn, operation, policy
from nscmdp.problem import Problem
from nscmdp.randomness import stream

HERE = Path(__file__).parent
STEP, EXPLORE = 0.1, 0.05  # of Q-learning


class NotInstalled(RuntimeError):
    """A peer whose environment could not be made."""


class Peer:
    """A program of this folder in an environment with ``packages``: it answers lines of JSON with lines of JSON."""

    def __init__(self, program: str, *packages: str) -> None:
        wanted = [option for package in packages for option in ("--with", package)]
        command = [
            find_uv_bin(),
            "run",
            "--quiet",
            "--no-project",
            "--python",
            sys.executable,
            *wanted,
        ]
        self.errors = tempfile.TemporaryFile("w+")  # noqa: SIM115
        self.process = subprocess.Popen(
            [*command, "python", str(HERE / program)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
        )
        if self._line() != "ready":
            self.process.wait()
            raise NotInstalled(f"{', '.join(packages)}: {self._said()}")

    def __call__(self, **work: Any) -> dict[str, Any]:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(work) + "\n")
        self.process.stdin.flush()
        line = self._line()
        if not line:
            raise RuntimeError(f"{self.process.args[-1]} stopped: {self._said()}")  # type: ignore[index]
        return json.loads(line)

    def _line(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline().strip()

    def _said(self) -> str:
        self.errors.seek(0)
        return self.errors.read()[-1000:].strip()

    def __enter__(self) -> "Peer":
        return self

    def __exit__(
        self, kind: type | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.communicate()
        self.errors.close()


class QLearner(NamedTuple):
    """Epsilon-greedy Q-learning with a constant step, as rlberry has it but for the horizon, which it does not know."""

    Q: np.ndarray  # (H+1, S, A)


@operation(policy, QLearner)
def _(learner, h, x, probabilities):
    probabilities[:] = EXPLORE / len(probabilities)
    probabilities[np.argmax(learner.Q[h, x])] += 1 - EXPLORE


@operation(learn, QLearner)
def _(learner, h, x, a, r, g, y):
    learner.Q[h, x, a] += STEP * (r + learner.Q[h + 1, y].max() - learner.Q[h, x, a])


def comparisons(quick: bool) -> Iterator[Comparison]:
    repeats = 3 if quick else 5
    for world, episodes in ((SMALL, 200), (MIDDLE, 100)):
        yield beside_gymnasium(world, episodes, repeats)
    worlds = (SMALL,) if quick else (SMALL, MIDDLE)
    for peer, packages, beside in (
        ("rlberry_agent.py", ("rlberry-scool==0.7.3", "setuptools<81"), beside_rlberry),
        ("cbc.py", ("pulp==3.3.0", "numpy"), beside_cbc),
    ):
        try:
            with Peer(peer, *packages) as ready:
                for world in worlds:
                    yield beside(ready, world, repeats)
        except NotInstalled as error:
            print(f"Left out, as it cannot be installed: {error}")


def beside_gymnasium(world: World, episodes: int, repeats: int) -> Comparison:
    """Seconds a step. Both sides meet the same draws and must earn the same in the ``episodes`` that theirs plays."""
    env = world.env(100 * episodes)
    earned = {}

    def ours() -> None:
        every = env.episodes  # windows: each has one episode
        run = simulate.run(env, ONE, "scaled", evaluate_every=None, windows=every, solve=False)
        earned["ours"] = run.reward[:episodes].sum()

    def theirs() -> None:
        agent = TripleQAgent(algorithms.make(ONE, Problem.of(env), "scaled"), env)
        earned["theirs"] = in_gymnasium(agent, DriftingEnv(env), episodes)

    ours()  # loads the kernels
    taken = [
        np.divide(in_turns([ours], [theirs]), (env.episodes * env.H, episodes * env.H))
        for _ in range(repeats)
    ]
    if not np.isclose(earned["ours"], earned["theirs"], rtol=SAME):
        raise AssertionError(f"Gymnasium, {world.name}: {earned}")
    return compared(f"{ONE} {world.name}", "Gymnasium loop", taken)


def in_gymnasium(agent: Any, env: DriftingEnv, episodes: int) -> float:
    """What an agent earns; it learns from a step when it knows what it estimates of the next state."""
    earned, H, draws = 0.0, env.path.H, stream("learner", ONE, 0)
    for k in range(episodes):
        (_, x), _ = env.reset(seed=0) if k == 0 else env.reset()
        seen, own = None, draws.random(1 + H)
        for h in range(H):
            a, v, w = agent.act_and_estimate(h, x, own[1 + h])
            if seen is not None:
                agent.learn_from_estimate(*seen, v, w)
            (_, y), reward, _, _, info = env.step(a)
            seen = h, x, a, reward, info["utility"], y
            earned, x = earned + float(reward), y
        agent.learn_from_estimate(*seen, 0.0, 0.0)
        agent.end_of_episode()
    return earned


def beside_rlberry(peer: Peer, world: World, repeats: int) -> Comparison:
    """Seconds a step. rlberry has no drift: its model is that of the first episode. Its agent draws for itself."""
    episodes = 20_000
    env = world.env(episodes)
    cmdp = env.at(1)
    transitions = np.zeros((env.S, env.A, env.S))
    np.add.at(
        transitions, (*np.ogrid[: env.S, : env.A, :1][:2], cmdp.successors[0]), cmdp.probability[0]
    )
    np.savez(file := Path(tempfile.mkstemp(suffix=".npz")[1]), P=transitions, R=cmdp.r[0])
    work = {
        "file": str(file),
        "step": STEP,
        "explore": EXPLORE,
        "steps": 200 * env.H,
        "horizon": env.H,
    }

    def ours() -> float:
        learner = QLearner(np.zeros((env.H + 1, env.S, env.A)))
        return seconds(partial(simulate.run, env, learner, evaluate_every=None, solve=False)) / (
            episodes * env.H
        )

    ours()
    taken = [(ours(), peer(**work)["seconds"] / work["steps"]) for _ in range(repeats)]
    file.unlink()
    return compared(f"Q-learning {world.name}", "rlberry", taken)


def beside_cbc(peer: Peer, world: World, repeats: int) -> Comparison:
    """Seconds a solve."""
    cmdp = world.env(1_000).at(1)
    program = optimum.as_linear_program(cmdp)
    equalities = program.pop("A_eq").tocoo()
    file = Path(tempfile.mkstemp(suffix=".npz")[1])
    np.savez(file, **program, row=equalities.row, column=equalities.col, entry=equalities.data)
    best = optimum.constrained(cmdp)
    taken = []
    for _ in range(repeats):
        ours = seconds(partial(optimum.constrained, cmdp))
        solved = peer(file=str(file))
        if not np.isclose(best.value, -solved["value"], rtol=1e-6):
            raise AssertionError(
                f"optimum {world.name}: ours is {best.value!r}, that of CBC is {-solved['value']!r}"
            )
        taken.append((ours, solved["seconds"]))
    file.unlink()
    return compared(f"optimum {world.name}", "CBC", taken)
