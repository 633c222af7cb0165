"""What is kept of a run: one row of a result file, arrays in its cells.

``keep: episodes`` keeps V_k and W_k of every evaluated episode; tables compare them with the optimum. ``keep: windows``
compares every episode as the run is made, and keeps means over windows.
"""

from typing import Any

import pyarrow as pa

from nscmdp import algorithms, budget, metrics
from nscmdp.drift import DriftingCMDP
from nscmdp.metrics import Array
from nscmdp.simulate import Run

FLOATS = pa.list_(pa.float64())
WHOLE = pa.list_(pa.int64())
TRACES = pa.list_(pa.struct({"name": pa.string(), "columns": pa.int64(), "values": FLOATS}))
EVERY_RUN = {
    "case": pa.string(),
    "learner": pa.string(),
    "seed": pa.int64(),
    "key": pa.string(),  # a hash of everything that decides this run but its seed
    "B": pa.float64(),
    "horizon": pa.int64(),
    "rho": pa.float64(),
    "window_episodes": WHOLE,
    "reward": FLOATS,
    "utility": FLOATS,
    "dual": FLOATS,
    "state_bytes": pa.int64(),
    "traces": TRACES,
    "weight": WHOLE,
    "value": FLOATS,
    "utility_value": FLOATS,
}
COMPARED = (*metrics.OPTIMAL, *metrics.MEASURES)
SCHEMAS = {
    "episodes": pa.schema({**EVERY_RUN, "episode": WHOLE}),
    "windows": pa.schema(
        {**EVERY_RUN, "episode": FLOATS, "least_gap": FLOATS} | dict.fromkeys(COMPARED, FLOATS)
    ),
}


def record(run: Run, env: DriftingCMDP, keep: str, optimum: Array | None) -> dict[str, Any]:
    """The row of a run; ``optimum`` (K,3) is needed where windows are kept."""
    row = {
        "B": budget.variation(env).total,
        "horizon": env.H,
        "rho": env.rho,
        "window_episodes": run.window_episodes,
        "reward": run.reward,
        "utility": run.utility,
        "dual": run.dual,
        "state_bytes": algorithms.state_bytes(run.learner),
        "traces": [
            {"name": name, "columns": trace.shape[1], "values": trace.ravel()}
            for name, trace in getattr(run.learner, "traces", {}).items()
        ],
    }
    if keep == "episodes":
        exact = {"value": run.value, "utility_value": run.utility_value}
        return row | {"episode": run.episode, "weight": run.weight, **exact}
    if optimum is None:
        raise ValueError("a run that is kept by windows needs the optimum of every episode")
    return row | by_window(run, optimum)


def by_window(run: Run, optimum: Array) -> dict[str, Any]:
    """Means over windows of a run that was evaluated in every episode."""
    compared = metrics.compare(run.value, run.utility_value, optimum, run.rho)
    exact = {"value": run.value, "utility_value": run.utility_value, **compared}
    length = run.window_episodes
    return {
        "episode": metrics.window_middle(length),
        "weight": length,
        "least_gap": metrics.window_least(length, compared["gap"]),
        **metrics.window_means(length, exact),
    }
