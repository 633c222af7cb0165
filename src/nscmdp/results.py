"""Result files: Parquet with its provenance and a checksum inside, written in one piece, checked when read.

What decides the content is stored with it (the run's specification, the hash of the sources, the environment's
fingerprint); what does not (a clock, a path, a machine, a batch size) is not, so equal results are equal bytes.
"""

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

KEY = b"nscmdp"


class Damaged(Exception):
    """A result file that cannot be trusted."""

    def __init__(self, file: Path, reason: str) -> None:
        super().__init__(f"{file} is damaged: {reason}. Delete it and run the same command again to make it anew.")
        self.file = file


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
        raise Damaged(file, "it carries no provenance, so it was not made by this package") from None
    except (pa.ArrowException, OSError, ValueError) as error:
        raise Damaged(file, str(error).splitlines()[0].rstrip(".")) from None
    if checksum(table, facts) != expected:
        raise Damaged(file, "its content does not match its checksum")
    return table, facts


def cells(table: pa.Table, name: str) -> list[np.ndarray]:
    """The lists of a column, as arrays."""
    return [cell.values.to_numpy() for cell in table.column(name)]


def checksum(table: pa.Table, facts: dict[str, Any]) -> str:
    """A hash of all values and facts, whatever the layout on disk."""
    content = hashlib.sha256(json.dumps(facts, sort_keys=True).encode())
    for name in table.column_names:
        column = table.column(name).combine_chunks()
        content.update(f"\0{name} {len(column)}\0".encode())
        _hash_values(column, content)
    return content.hexdigest()


def _hash_values(column: pa.Array, content: Any) -> None:
    content.update(str(column.type.id).encode())
    if pa.types.is_list(column.type):
        content.update(column.value_lengths().to_numpy(zero_copy_only=False).tobytes())
        _hash_values(column.flatten(), content)
    elif pa.types.is_primitive(column.type):
        content.update(column.to_numpy(zero_copy_only=False).tobytes())
    else:
        content.update(json.dumps(column.to_pylist()).encode())


def in_one_piece(file: Path, save: Callable[[Path], object]) -> None:
    """Let ``save`` write a temporary file in the same folder, sync it, and give it its name."""
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_name(f".{os.getpid()}.{file.name}")  # the suffix stays: some writers look at it
    try:
        save(temporary)
        with open(temporary, "rb") as written:
            os.fsync(written.fileno())
        os.replace(temporary, file)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(file: Path, text: str) -> None:
    in_one_piece(file, lambda temporary: temporary.write_text(text, encoding="utf-8"))
