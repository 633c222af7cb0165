"""What an environment is like: its sizes, its budgets, and how much its constraint binds along the path."""

from typing import Any

import numpy as np
import pandas as pd

from nscmdp import budget, optimum
from nscmdp.cmdp import CMDP
from nscmdp.drift import DriftingCMDP
from nscmdp.kernels.induction import evaluate, greedy, model_of


def along(env: DriftingCMDP, points: int = 101) -> pd.DataFrame:
    """One row for each of some episodes, knots included: variation so far, optimum, Slater gap, reference policies."""
    spread = np.linspace(1, env.episodes, min(points, env.episodes)).round().astype(np.int64)
    episodes = np.unique(np.concatenate([spread, env.knots[env.knots <= env.episodes]]))
    walked = budget.walked(env, episodes)
    best = optimum.along(env, episodes)
    rows = pd.DataFrame(
        np.column_stack([walked, best]),
        columns=[f"{part}_variation" for part in budget.Variation._fields]
        + ["value", "utility", "multiplier"],
    )
    rows.insert(0, "episode", episodes)
    return rows.join(pd.DataFrame([_references(env.at(int(k))) for k in episodes]))


def _references(cmdp: CMDP) -> dict[str, float]:
    uniform = evaluate(cmdp, np.full((cmdp.H, cmdp.S, cmdp.A), 1.0 / cmdp.A))
    choice, values = np.empty((cmdp.H, cmdp.S), np.int32), np.empty((2, cmdp.S, 2))
    best = greedy(model_of(cmdp), 1.0, 0.0, choice, values)
    found = {"slater_gap": optimum.best_utility(cmdp) - cmdp.rho}
    found |= {"unconstrained_value": best[0], "unconstrained_utility": best[1]}
    return found | {"uniform_value": uniform[0], "uniform_utility": uniform[1]}


def describe(env: DriftingCMDP, rows: pd.DataFrame | None = None) -> dict[str, Any]:
    """The environment in one row: sizes, budgets (global, and the largest of a frame of Algorithm 1), ranges."""
    rows = along(env) if rows is None else rows
    measured = budget.variation(env)
    frame = int(np.clip(env.episodes**0.6 / max(1.0, measured.total) ** (2 / 3), 1, env.episodes))
    local = budget.frame_variations(env, frame).sum(axis=1)
    found: dict[str, Any] = {"environment": env.name, "K": env.episodes}
    found |= {"H": env.H, "S": env.S, "A": env.A, "successors": env.successors.shape[-1]}
    found |= {"rho": env.rho, "B_r": measured.reward, "B_g": measured.utility}
    found |= {"B_p": measured.transition, "B": measured.total, "frame": frame}
    found |= {"largest local B": local.max(), "mean local B": local.mean()}
    multiplier = rows["multiplier"]
    found |= {"mean multiplier": multiplier.mean(), "least multiplier": multiplier.min()}
    found |= {"largest multiplier": multiplier.max(), "least Slater gap": rows["slater_gap"].min()}
    means = {"optimum": "value", "unconstrained": "unconstrained_value", "uniform": "uniform_value"}
    return found | {name: rows[column].mean() for name, column in means.items()}
