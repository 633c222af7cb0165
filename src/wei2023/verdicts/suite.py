"""The runs of the suite's experiments, and the tables that :mod:`nscmdp.suite` makes of them."""

from pathlib import Path

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
    found = runs_of(plan, folder)
    ranked = [*plan.suite.learners, *(plan.config.suite.learners if plan.config.suite else [])]
    reported = found["choice"].isin(runs.REPORTED)
    made = {
        "suite_runs.csv": found[reported].drop(columns="choice"),
        "suite_searches.csv": found.loc[~reported, [*runs.KEYS, "gap"]],
        **suite_tables.tables(found, ranked, plan.suite.hypotheses, FIRST),
    }
    for name, table in made.items():
        write_csv(folder / layout.table(name), table)


def runs_of(plan: Plan, folder: Path) -> pd.DataFrame:
    """Of all experiments of the suite."""
    return pd.concat(
        [_of_one(folder, name) for name in plan.roles.get(ROLE, [])], ignore_index=True
    )


def _of_one(folder: Path, experiment: str) -> pd.DataFrame:
    file = folder / layout.table("exact.parquet", experiment)
    exact, summary = tables.load(file), tables.load(file.with_name("summary.csv"))
    bytes_of = summary.set_index(["reading", "learner"])["state_bytes"]
    rows = []
    for case in tables.cases(file):
        reading, env = case[0], tables.environment(file, *case)
        mine = exact[exact["reading"] == reading]
        unit = measures(mine[mine["algorithm"] == SCALE])["gap"]
        for (learner, seed), run in mine.groupby(["learner", "seed"], sort=False):
            row = {
                "environment": experiment.removeprefix(f"{ROLE}_"),
                "instance": int(reading.removeprefix("seed=")),
                "seed": seed,
                "learner": run["algorithm"].iloc[0],
                "choice": _choice(str(learner)),
                **measures(run),
                "adaptation": adaptation(
                    run["episode"], run["gap"] / unit, switches(env), env.episodes
                ),
                "rho": run["rho"].iloc[0],
                "state_bytes": bytes_of[reading, learner],
            }
            rows.append(row)
    return pd.DataFrame(rows)


def _choice(learner: str) -> str:
    """Of "triple_q.choice=main" it is main; a learner that is not tuned has none."""
    return learner.partition(".choice=")[2]
