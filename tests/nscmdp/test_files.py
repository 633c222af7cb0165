"""Result files are whole or refused, and equal results are equal bytes."""

import os
import subprocess
import time

import pyarrow as pa
import pytest

from nscmdp import files

TABLE = pa.table({"seed": [0, 1], "value": [[0.5, 1.5], [2.5]], "name": ["a", "b"]})
FACTS = {"specification": {"K": 10}}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "runs" / "seeds=0-1.parquet"
    files.write(path, TABLE, FACTS)
    return path


def test_what_is_written_is_read_back_with_its_facts(file):
    table, facts = files.read(file)
    assert table.to_pylist() == TABLE.to_pylist()
    assert facts == FACTS


def test_equal_results_are_equal_bytes(file, tmp_path):
    files.write(tmp_path / "again.parquet", TABLE, FACTS)
    assert (tmp_path / "again.parquet").read_bytes() == file.read_bytes()


def test_a_truncated_file_is_refused_by_name(file):
    file.write_bytes(file.read_bytes()[:-20])
    message = r"seeds=0-1\.parquet is damaged.*rm .*seeds=0-1\.parquet; then run"
    with pytest.raises(files.Damaged, match=message):
        files.read(file)


def test_any_flipped_byte_is_harmless_or_refused(file):
    """A flipped byte either does not reach the content or is noticed; it never yields other numbers."""
    sound = file.read_bytes()
    noticed = 0
    for position in range(4, len(sound), 7):
        file.write_bytes(sound[:position] + bytes([sound[position] ^ 0x10]) + sound[position + 1 :])
        try:
            table, facts = files.read(file)
        except files.Damaged:
            noticed += 1
        else:
            assert (table.to_pylist(), facts) == (TABLE.to_pylist(), FACTS), position
    assert noticed > 0


def test_a_changed_value_or_fact_changes_the_checksum():
    other = TABLE.set_column(1, "value", [[[0.5, 1.5], [2.5000001]]])
    moved = TABLE.set_column(1, "value", [[[0.5], [1.5, 2.5]]])
    checksums = [files.checksum(table, FACTS) for table in (TABLE, other, moved)]
    checksums.append(files.checksum(TABLE, {"specification": {"K": 11}}))
    assert len(set(checksums)) == 4


def test_a_file_of_someone_else_or_a_missing_one_is_refused(tmp_path):
    pa.parquet.write_table(TABLE, tmp_path / "foreign.parquet")
    with pytest.raises(files.Damaged, match="not made by this package"):
        files.read(tmp_path / "foreign.parquet")
    with pytest.raises(files.Damaged, match=r"absent\.parquet.*does not exist"):
        files.read(tmp_path / "absent.parquet")


def test_a_failing_writer_leaves_the_old_file_and_no_litter(file):
    before = file.read_bytes()

    def fail(temporary):
        temporary.write_bytes(b"half")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        files.in_one_piece(file, fail)
    assert file.read_bytes() == before
    assert os.listdir(file.parent) == [file.name]


def test_a_temporary_file_is_abandoned_when_its_process_is_gone(tmp_path):
    gone = subprocess.Popen(["true"])
    gone.wait()
    processes = [(files.HOST, os.getpid()), (files.HOST, gone.pid)]
    processes += [("elsewhere", gone.pid), ("elsewhere", gone.pid + 1)]
    mine, dead, young, old = (
        tmp_path / f".{host}.{process}.seeds=0-1.parquet" for host, process in processes
    )
    for file in (mine, dead, young, old, tmp_path / ".hidden", tmp_path / "seeds=0-1.parquet"):
        file.write_text("half")
    os.utime(old, (time.time() - 2 * files.DAY,) * 2)
    found = files.temporaries(tmp_path)
    assert set(found) == {mine, dead, young, old}
    assert {file for file in found if files.is_abandoned(file)} == {dead, old}


def test_facts_that_differ_are_named(file):
    assert files.read_expected(file, {"specification": {"K": 10}}).num_rows == 2
    message = r"does not belong here: .*another specification \(K, legs\).*rm "
    with pytest.raises(files.Foreign, match=message):
        files.read_expected(file, {"specification": {"K": 11, "legs": 1}})
