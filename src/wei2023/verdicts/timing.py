"""How long episodes took on this machine, exact evaluation included: what the jobs' logs say."""

from pathlib import Path

import pandas as pd

from nscmdp.files import write_csv
from wei2023.runs import simulations
from wei2023.study import layout
from wei2023.study.plan import Plan


def write(plan: Plan, folder: Path) -> None:
    """A table by experiment and learner."""
    rows = [
        (experiment, *run)
        for experiment in plan.experiments
        for run in simulations.finished(folder / "logs/simulations" / experiment)
    ]
    runs = pd.DataFrame(rows, columns=["experiment", "learner", "episodes", "seconds"])
    total = runs.groupby(["experiment", "learner"], sort=False).sum()
    table = (total["seconds"] / total["episodes"]).rename("seconds_per_episode").reset_index()
    write_csv(folder / layout.TIMING, table)
