"""The runs of the suite's experiments, and the tables that :mod:`nscmdp.suite` makes of them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from nscmdp.files import write_csv
from nscmdp.suite import runs
from nscmdp.suite import tables as suite_tables
from nscmdp.suite.definition import ROLE, SCALE
from nscmdp.suite.runs import adaptation, measures, switches
from wei2023.study import layout
from wei2023.study.catalogue import FIRST
from wei2023.study.plan import Plan
from wei2023.verdicts import tables


def write(plan: Plan, folder: Path) -> None:
    found = pd.DataFrame([row for name in plan.roles.get(ROLE, []) for row in _runs(folder, name)])
    ranked = [*plan.suite.learners, *(plan.config.suite.learners if plan.config.suite else [])]
    reported = found["choice"].isin(runs.REPORTED)
    made = {
        "suite_runs.csv": found[reported].drop(columns="choice"),
        "suite_searches.csv": found.loc[~reported, [*runs.KEYS, "gap"]],
        **suite_tables.tables(found, ranked, plan.suite.hypotheses, FIRST),
    }
    for name, table in made.items():
        write_csv(folder / layout.table(name), table)


def _runs(folder: Path, experiment: str) -> Iterator[dict[str, Any]]:
    """The runs of one experiment of the suite, by the algorithm and the choice of its constants.

    The choice of "triple_q.choice=main" is main; a learner that is not tuned has none.
    """
    file = folder / layout.table("exact.parquet", experiment)
    exact, summary = tables.load(file), tables.load(file.with_name("summary.csv"))
    bytes_of = summary.set_index(["reading", "learner"])["state_bytes"]
    for case in tables.cases(file):
        reading, env = case[0], tables.environment(file, *case)
        mine = exact[exact["reading"] == reading]
        unit = measures(mine[mine["algorithm"] == SCALE])["gap"]
        for (learner, seed), run in mine.groupby(["learner", "seed"], sort=False):
            episode, gap = run["episode"], run["gap"] / unit
            yield {
                "environment": experiment.removeprefix(f"{ROLE}_"),
                "instance": int(reading.removeprefix("seed=")),
                "seed": seed,
                "learner": run["algorithm"].iloc[0],
                "choice": str(learner).partition(".choice=")[2],
                **measures(run),
                "adaptation": adaptation(episode, gap, switches(env), env.episodes),
                "rho": run["rho"].iloc[0],
                "state_bytes": bytes_of[reading, learner],
            }
