"""A learner of one's own beside those of the suite: its runs are made here, the others' are read from a table."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from nscmdp import files
from nscmdp.suite import runs, scores
from nscmdp.suite.definition import KEPT, SCALE, Suite

REFERENCE = KEPT / "suite_runs.csv"


def reference(
    file: Path, environments: list[str] | None, instances: int | None, seeds: int | None
) -> pd.DataFrame:
    """The runs of a table, or of its first instances and seeds."""
    if not file.is_file():
        expected = "a table suite_runs.csv of a run of the suite"
        raise ValueError(f"{file} does not exist: expected {expected}")
    found = files.load(file)
    missing = [name for name in environments or [] if name not in set(found["environment"])]
    if missing:
        known = ", ".join(found["environment"].unique())
        raise ValueError(f"{file} has no environment {missing[0]!r}: it has {known}")
    for column, number in (("instance", instances), ("seed", seeds)):
        found = found[found[column].isin(sorted(found[column].unique())[:number])]
    return found if environments is None else found[found["environment"].isin(environments)]


def simulated(
    suite: Suite,
    learner: str,
    setting: str,
    beside: pd.DataFrame,
    progress: Callable[[int, int], None],
) -> pd.DataFrame:
    """The runs of a learner in all instances and with all seeds of a table."""
    uniform = beside[beside["learner"] == SCALE]
    units = uniform.groupby(["environment", "instance"])["gap"].mean()
    rows = []
    for done, row in enumerate(uniform.to_dict("records")):
        progress(done, len(uniform))
        frozen, instance = suite.by_name[row["environment"]], int(row["instance"])
        unit = float(units[frozen.name, instance])
        rows.append(runs.of_learner(learner, setting, frozen, instance, int(row["seed"]), unit))
    return pd.DataFrame(rows)


def joined(
    suite: Suite, learner: str, mine: pd.DataFrame, beside: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The ranking with this learner in it, and its scores by environment beside the others'."""
    together = pd.concat([beside[beside["learner"] != learner], mine], ignore_index=True)
    normalised = scores.normalised(together)
    learners = [*dict.fromkeys([*suite.learners, learner])]
    return scores.ranking(scores.Cube.of(normalised, learners)), scores.table(normalised)
