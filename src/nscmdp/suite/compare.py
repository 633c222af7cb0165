"""A learner of one's own beside those of the suite: its runs are made here, the others' are read from a table."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd

from nscmdp import files
from nscmdp.suite import ranking, runs, scores
from nscmdp.suite.definition import KEPT, SCALE, Suite

REFERENCE = KEPT / "suite_runs.csv"


def reference(
    file: Path, environments: list[str] | None, instances: int | None, seeds: int | None
) -> pd.DataFrame:
    """The runs of a table, or of its first instances and seeds."""
    if not file.is_file():
        raise ValueError(
            f"{file} does not exist: expected a table suite_runs.csv of a run of the suite"
        )
    found = files.load(file)
    missing = [name for name in environments or [] if name not in set(found["environment"])]
    if missing:
        raise ValueError(
            f"{file} has no environment {missing[0]!r}: it has {', '.join(found['environment'].unique())}"
        )
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
    places = list(_places(beside))
    rows = []
    for done, (environment, instance, seed, unit) in enumerate(places):
        progress(done, len(places))
        rows.append(
            runs.of_learner(learner, setting, suite.by_name[environment], instance, seed, unit)
        )
    return pd.DataFrame(rows)


def _places(beside: pd.DataFrame) -> Iterator[tuple[str, int, int, float]]:
    uniform = beside[beside["learner"] == SCALE]
    units = uniform.groupby(["environment", "instance"])["gap"].mean()
    for row in uniform.itertuples():
        yield (
            str(row.environment),
            int(row.instance),
            int(row.seed),
            float(units[row.environment, row.instance]),
        )


def joined(
    suite: Suite, learner: str, mine: pd.DataFrame, beside: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The ranking with this learner in it, and its scores by environment beside the others'."""
    together = pd.concat([beside[beside["learner"] != learner], mine], ignore_index=True)
    normalised = scores.normalised(together)
    ranked = ranking.table(scores.Cube.of(normalised, [*dict.fromkeys([*suite.learners, learner])]))
    return ranked, scores.table(normalised)
