"""Result files are whole or refused, and equal results are equal bytes."""

import os

import pyarrow as pa
import pytest

from nscmdp import results

TABLE = pa.table({"seed": [0, 1], "value": [[0.5, 1.5], [2.5]], "name": ["a", "b"]})
FACTS = {"specification": {"K": 10}}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "runs" / "seeds=0-1.parquet"
    results.write(path, TABLE, FACTS)
    return path


def test_what_is_written_is_read_back_with_its_facts(file):
    table, facts = results.read(file)
    assert table.to_pylist() == TABLE.to_pylist()
    assert facts == FACTS


def test_equal_results_are_equal_bytes(file, tmp_path):
    results.write(tmp_path / "again.parquet", TABLE, FACTS)
    assert (tmp_path / "again.parquet").read_bytes() == file.read_bytes()


def test_a_truncated_file_is_refused_by_name(file):
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(results.Damaged, match=r"seeds=0-1\.parquet is damaged.*Delete it"):
        results.read(file)


def test_any_flipped_byte_is_harmless_or_refused(file):
    """A flipped byte either does not reach the content or is noticed; it never yields other numbers."""
    sound = file.read_bytes()
    noticed = 0
    for position in range(4, len(sound), 7):
        file.write_bytes(sound[:position] + bytes([sound[position] ^ 0x10]) + sound[position + 1 :])
        try:
            table, facts = results.read(file)
        except results.Damaged:
            noticed += 1
        else:
            assert (table.to_pylist(), facts) == (TABLE.to_pylist(), FACTS), position
    assert noticed > 0


def test_a_changed_value_or_fact_changes_the_checksum():
    other = TABLE.set_column(1, "value", [[[0.5, 1.5], [2.5000001]]])
    moved = TABLE.set_column(1, "value", [[[0.5], [1.5, 2.5]]])
    checksums = [results.checksum(table, FACTS) for table in (TABLE, other, moved)]
    checksums.append(results.checksum(TABLE, {"specification": {"K": 11}}))
    assert len(set(checksums)) == 4


def test_a_file_of_someone_else_is_refused(tmp_path):
    pa.parquet.write_table(TABLE, tmp_path / "foreign.parquet")
    with pytest.raises(results.Damaged, match="not made by this package"):
        results.read(tmp_path / "foreign.parquet")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(results.Damaged, match=r"absent\.parquet.*does not exist"):
        results.read(tmp_path / "absent.parquet")


def test_a_failing_writer_leaves_the_old_file_and_no_litter(file):
    before = file.read_bytes()

    def fail(temporary):
        temporary.write_bytes(b"half")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        results.in_one_piece(file, fail)
    assert file.read_bytes() == before
    assert os.listdir(file.parent) == [file.name]
