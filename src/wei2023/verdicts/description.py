"""The environments to be shown: one row each, and rows along the path of each."""

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from nscmdp import environments, files
from nscmdp.files import write_csv
from nscmdp.suite.description import along, describe
from wei2023.study import layout
from wei2023.study.plan import Plan


def label(options: dict[str, Any]) -> str:
    """An environment's options in words."""
    return ", ".join(
        f"{key} {value}" for key, value in options.items() if key not in ("name", "episodes")
    )


def write(plan: Plan, folder: Path) -> None:
    shown = [environments.make(**one) for one in plan.shown]
    paths = [along(env) for env in shown]
    table = pd.DataFrame(map(describe, shown, paths))
    table.insert(1, "options", [label(one) for one in plan.shown])
    summary, drift = (folder / layout.table(name) for name in layout.SHOWN)
    write_csv(summary, table)
    rows = pd.concat(paths, keys=range(len(paths)), names=["number", None]).reset_index("number")
    made = pa.Table.from_pandas(rows, preserve_index=False).replace_schema_metadata(None)
    files.write(drift, made, {"shown": plan.shown})
