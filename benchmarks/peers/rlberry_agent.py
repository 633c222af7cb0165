"""rlberry's Q-learning in its own finite MDP: for each line of JSON on standard input, CPU seconds of so many steps."""

import json
import sys
from time import process_time

import numpy as np
from gymnasium.wrappers import TimeLimit
from rlberry.envs.finite_mdp import FiniteMDP
from rlberry_scool.agents.tabular_rl import QLAgent

print("ready", flush=True)
for line in sys.stdin:
    work = json.loads(line)
    arrays = np.load(work["file"])
    env = TimeLimit(FiniteMDP(arrays["R"], arrays["P"]), work["horizon"])
    agent = QLAgent(
        env,
        gamma=1.0,
        alpha=work["step"],
        exploration_type="epsilon",
        exploration_rate=work["explore"],
    )
    begin = process_time()
    agent.fit(work["steps"])
    print(json.dumps({"seconds": process_time() - begin}), flush=True)
