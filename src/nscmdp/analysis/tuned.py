"""What tuning tried: all candidates of all tunings in one table."""

from pathlib import Path

import pandas as pd

from nscmdp.analysis.tables import write_csv
from nscmdp.runs import integrity, tuning
from nscmdp.study import layout
from nscmdp.study.plan import Plan

FIRST = ["tuning", "algorithm", "episodes", "decides"]


def table(plan: Plan, folder: Path) -> pd.DataFrame:
    """One row per candidate; ``decides``: at the number of episodes whose choice is used."""
    frames = []
    found = integrity.read_all(folder, integrity.tunings(plan))
    for (name, algorithm, episodes, _), rows in zip(plan.tuning_files(), found, strict=True):
        keys = (name, algorithm, episodes, episodes == plan.tuning(name).episodes)
        frames.append(tuning.summary(rows.to_pandas()).assign(**dict(zip(FIRST, keys, strict=True))))
    whole = pd.concat(frames, ignore_index=True)
    return whole[[*FIRST, *whole.columns.drop(FIRST)]]


def write(plan: Plan, folder: Path) -> None:
    write_csv(folder / layout.table("tuned.csv"), table(plan, folder))
