"""Result files: Parquet with its provenance and a checksum inside, written in one piece, checked when read.

What decides the content is stored with it (the run's specification, the hash of the sources, the environment's
fingerprint); what does not (a clock, a path, a machine, a batch size) is not, so equal results are equal bytes.
"""

import errno
import hashlib
import json
import os
import platform
import re
import shlex
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from nscmdp import __version__

if TYPE_CHECKING:
    import pandas as pd

KEY = b"nscmdp"
FULL = {errno.ENOSPC, errno.EDQUOT}
HOST = platform.node().split(".")[0]
TEMPORARY = re.compile(r"\.([^.]+)\.(\d{1,9})\..+")  # .HOST.PROCESS.NAME
DAY = 24 * 3600
# Columns that are text even where they look like something else: a learner may be called "1", or "NA".
TEXTS = ("experiment", "reading", "budget", "learner", "algorithm", "setting")


class Damaged(Exception):
    """A result file that cannot be trusted."""

    kind = "is damaged"

    def __init__(self, file: Path, reason: str) -> None:
        super().__init__(f"{file} {self.kind}: {reason}. {anew([file])}")
        self.file = file
        self.reason = f"{self.kind}: {reason}"


class Foreign(Damaged):
    """A sound file that belongs to another plan."""

    kind = "does not belong here"


class Refused(Exception):
    """Several files that cannot be trusted."""

    def __init__(self, problems: list[Damaged]) -> None:
        listed = "\n".join(f"  {problem.file} {problem.reason}" for problem in problems)
        advice = anew([problem.file for problem in problems])
        super().__init__(f"{len(problems)} files cannot be used:\n{listed}\n{advice}")


class DiskFull(OSError):
    """There is no room for a file."""

    def __init__(self, file: Path) -> None:
        super().__init__(
            f"{file} cannot be written: the disk is full, or your quota is used up. Nothing finished is lost. "
            "Make room, or choose a folder on another disk (results: in config.yaml), and run the same command again."
        )


def anew(files: Iterable[Path]) -> str:
    """How to redo these files and no others."""
    return f"To make only this anew: rm {shlex.join(map(str, files))}; then run the same command again."


def provenance(spec: dict[str, Any]) -> dict[str, Any]:
    """The facts of a result that a specification decides."""
    return {"specification": spec, "version": __version__}


def write(file: Path, table: pa.Table, facts: dict[str, Any]) -> None:
    """Write a table and the facts that decided it."""
    stamped = {**facts, "checksum": checksum(table, facts)}
    table = table.replace_schema_metadata({KEY: json.dumps(stamped, sort_keys=True).encode()})
    in_one_piece(file, lambda temporary: pq.write_table(table, temporary, compression="zstd"))


def read(file: Path) -> tuple[pa.Table, dict[str, Any]]:
    """The table and its facts; raises :class:`Damaged`, naming the file."""
    try:
        table = pq.ParquetFile(file).read()
        facts = json.loads((table.schema.metadata or {})[KEY])
        expected = facts.pop("checksum")
    except FileNotFoundError:
        raise Damaged(file, "it does not exist") from None
    except KeyError:
        reason = "it carries no provenance, so it was not made by this package"
        raise Damaged(file, reason) from None
    except (pa.ArrowException, OSError, ValueError) as error:
        raise Damaged(file, str(error).splitlines()[0].rstrip(".")) from None
    if checksum(table, facts) != expected:
        raise Damaged(file, "its content does not match its checksum")
    return table, facts


def read_expected(file: Path, expected: dict[str, Any]) -> pa.Table:
    """A sound table whose facts are the ones expected; raises :class:`Foreign` if it was made from others."""
    table, facts = read(file)
    for fact, planned in expected.items():
        found = facts.get(fact, {})
        if found != planned:
            parts = [found]
            if isinstance(planned, dict):
                parts = [key for key in planned if found.get(key) != planned[key]]
            raise Foreign(file, f"it was made from another {fact} ({', '.join(parts)})")
    return table


def was_made_from(file: Path, expected: dict[str, Any]) -> bool:
    """Does a file say of itself that these facts decided it? Its content is not looked at."""
    try:
        facts = json.loads((pq.read_schema(file).metadata or {})[KEY])
    except (KeyError, pa.ArrowException, OSError, ValueError):
        return False
    return expected.items() <= facts.items()


def cells(table: pa.Table, name: str) -> list[np.ndarray]:
    """The lists of a column, as arrays."""
    return [cell.values.to_numpy() for cell in table.column(name)]


def checksum(table: pa.Table, facts: dict[str, Any]) -> str:
    """A hash of all values and facts, whatever the layout on disk."""
    content = hashlib.sha256(json.dumps(facts, sort_keys=True).encode())
    for name in table.column_names:
        column = table.column(name).combine_chunks()
        content.update(f"\0{name} {len(column)}\0".encode())
        while pa.types.is_list(column.type):
            content.update(str(column.type.id).encode())
            content.update(column.value_lengths().to_numpy(zero_copy_only=False).tobytes())
            column = column.flatten()
        content.update(str(column.type.id).encode())
        if pa.types.is_primitive(column.type):
            content.update(column.to_numpy(zero_copy_only=False).tobytes())
        else:
            content.update(json.dumps(column.to_pylist()).encode())
    return content.hexdigest()


def in_one_piece(file: Path, save: Callable[[Path], object]) -> None:
    """Let ``save`` write a temporary file in the same folder, sync it, and give it its name."""
    # The suffix stays: some writers look at it.
    temporary = file.with_name(f".{HOST}.{os.getpid()}.{file.name}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        save(temporary)
        with open(temporary, "rb") as written:
            os.fsync(written.fileno())
        os.replace(temporary, file)
    except OSError as error:
        if error.errno in FULL:
            raise DiskFull(file) from None
        raise
    finally:
        temporary.unlink(missing_ok=True)


def write_text(file: Path, text: str) -> None:
    in_one_piece(file, lambda temporary: temporary.write_text(text, encoding="utf-8"))


def write_csv(file: Path, table: "pd.DataFrame") -> None:
    """Six digits: what a table says beyond them, no other machine has to say again."""
    write_text(file, table.to_csv(index=False, float_format="%.6g"))


def load(file: Path) -> "pd.DataFrame":
    """A table that this package wrote, CSV or Parquet."""
    import pandas as pd  # most jobs do without

    if file.suffix != ".csv":
        return read(file)[0].to_pandas()
    return pd.read_csv(file, dtype=dict.fromkeys(TEXTS, str), keep_default_na=False, na_values=[""])


def temporaries(folder: Path) -> list[Path]:
    """The temporary files below a folder, whether somebody still writes them or not."""
    names = ((Path(parent), name) for parent, _, names in os.walk(folder) for name in names)
    return sorted(parent / name for parent, name in names if TEMPORARY.fullmatch(name))


def is_abandoned(temporary: Path) -> bool:
    """Is the process gone that wrote this temporary file? One on another machine is, if the file is a day old."""
    host, process = TEMPORARY.fullmatch(temporary.name).groups()  # type: ignore[union-attr]
    try:
        if host != HOST:
            return time.time() - temporary.stat().st_mtime > DAY
        os.kill(int(process), 0)
    except (ProcessLookupError, FileNotFoundError):
        return True
    except PermissionError:  # it lives, and is somebody else's
        pass
    return False
