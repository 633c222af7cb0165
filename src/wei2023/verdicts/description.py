"""environments.csv: the environments that are to be shown, one row each."""

from pathlib import Path
from typing import Any

import pandas as pd

from nscmdp import environments
from nscmdp.files import write_csv
from nscmdp.suite.description import describe
from wei2023.study import layout
from wei2023.study.plan import Plan


def label(options: dict[str, Any]) -> str:
    """An environment's options in words."""
    return ", ".join(
        f"{key} {value}" for key, value in options.items() if key not in ("name", "episodes")
    )


def write(plan: Plan, folder: Path) -> None:
    table = pd.DataFrame([describe(environments.make(**one)) for one in plan.shown])
    table.insert(1, "options", [label(one) for one in plan.shown])
    write_csv(folder / layout.table("environments.csv"), table)
