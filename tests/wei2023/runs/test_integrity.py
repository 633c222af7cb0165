"""An audit finds every way in which a results folder is not what was planned, and says how to repair it."""

import hashlib
import json
import shutil

import pytest

from nscmdp import files
from nscmdp.suite import optima
from wei2023 import cli
from wei2023.runs import integrity, simulations, specifications
from wei2023.study import plan

CONFIG = {
    "results": "my results",
    "experiments": [
        {
            "name": "small",
            "environment": {"name": "menu"},
            "episodes": [8],
            "seeds": 2,
            "batch": 1,
            "learners": [{"algorithm": "uniform", "setting": "literal"}],
        }
    ],
}
RUNS = "simulations/small/uniform.literal"
FIRST, SECOND = f"{RUNS}/seeds=0-0.parquet", f"{RUNS}/seeds=1-1.parquet"


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("audit") / "my results"
    planned = plan.make(CONFIG)
    integrity.start(planned, folder)
    optima.solve(specifications.optimum(planned, "small"), folder / "environments/small.parquet")
    for learner, seeds, name in planned.run_files("small"):
        simulations.simulate_batch(
            specifications.simulation(planned, "small", learner), seeds, folder / name
        )
    for name in (
        planned.files()
    ):  # tables, notebooks and pages: an audit knows them by their checksums alone
        if not (folder / name).exists():
            files.write_text(folder / name, f"made for the audit: {name}")
    files.write_text(folder / "logs/page.log", "written today")
    integrity.write(planned, folder)
    return folder


@pytest.fixture
def folder(finished, tmp_path):
    return shutil.copytree(finished, tmp_path / "my results")


def flip(file):
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def test_a_finished_run_is_sound(folder, capsys):
    assert cli.main(["check", str(folder)]) == 0
    number = len(plan.make(CONFIG).files())
    assert (
        capsys.readouterr().out == f"my results: {number} files, all there, sound and as planned\n"
    )


def test_the_checksums_are_those_of_other_tools(folder):
    expected = {
        hashlib.sha256((folder / name).read_bytes()).hexdigest(): name
        for name in (FIRST, "index.html")
    }
    lines = (folder / integrity.CHECKSUMS).read_text().splitlines()
    assert {f"{checksum}  {name}" for checksum, name in expected.items()} < set(lines)
    assert {line.partition("  ")[2] for line in lines} == set(plan.make(CONFIG).files())


def test_a_run_that_lacks_a_file_cannot_be_finished(folder):
    (folder / integrity.CHECKSUMS).unlink()
    (folder / "index.html").unlink()
    with pytest.raises(FileNotFoundError, match=r"index\.html"):
        integrity.write(plan.make(CONFIG), folder)
    assert not (folder / integrity.CHECKSUMS).exists()


def test_what_is_missing_or_changed_is_listed_with_the_command_that_redoes_it(folder, capsys):
    (folder / FIRST).unlink()
    flip(folder / "index.html")
    with pytest.raises(SystemExit, match="1"):
        cli.main(["check", str(folder)])
    said = capsys.readouterr().out.splitlines()
    assert f"my results/{FIRST}: missing" in said
    assert "my results/index.html: is damaged: it is not what the run has written" in said
    assert said[-1] == (
        "  snakemake --cores all --rerun-incomplete --configfile 'my results/config.json' "
        f"--forcerun 'my results/index.html' 'my results/{FIRST}'"
    )


def test_what_does_not_belong_there_is_listed_with_the_command_that_removes_it(folder):
    shutil.copy(folder / FIRST, folder / RUNS / "seeds=7-7.parquet")
    (folder / f".host.123.{integrity.CHECKSUMS}").write_text("half")
    found = integrity.check(folder)
    assert found.redo == {}
    assert found.remove == {
        f"{RUNS}/seeds=7-7.parquet": "not of this run",
        ".host.123.checksums.txt": "a temporary file",
    }
    assert str(found).endswith(
        f"rm 'my results/.host.123.checksums.txt' 'my results/{RUNS}/seeds=7-7.parquet'"
    )
    assert not found.sound


def test_results_of_other_sources_or_another_version_are_found(folder, monkeypatch):
    monkeypatch.setattr(specifications, "run_digest", lambda algorithm: "edited")
    another = "does not belong here: it was made from another"
    assert integrity.check(folder).redo == dict.fromkeys(
        [FIRST, SECOND], f"{another} specification (sources)"
    )
    monkeypatch.undo()
    monkeypatch.setattr(files, "__version__", "9.9.9")
    assert integrity.check(folder).redo == dict.fromkeys(
        [FIRST, SECOND, "environments/small.parquet"], f"{another} version (0.1.0)"
    )


def test_runs_of_other_seeds_are_found(folder):
    shutil.copy(folder / FIRST, folder / SECOND)
    integrity.write(plan.make(CONFIG), folder)
    assert integrity.check(folder).redo == {
        SECOND: "does not belong here: it holds other runs than "
        "('default/K=8', 'uniform.literal', 1) to ('default/K=8', 'uniform.literal', 1)"
    }


def test_an_unfinished_run_is_not_sound(folder):
    integrity.start(plan.make(CONFIG), folder)
    found = integrity.check(folder)
    assert (found.redo, found.remove, found.sound) == ({}, {}, False)
    assert "the run has not come to its end" in str(found)


def test_a_folder_without_a_run_is_named(tmp_path, capsys):
    assert cli.main(["check", str(tmp_path)]) == 1
    assert "no run has been started" in capsys.readouterr().err


def test_repairing_a_sound_folder_changes_nothing(folder):
    before = sorted(file.stat().st_mtime_ns for file in folder.rglob("*"))
    assert integrity.repair(plan.make(CONFIG), folder) == []
    assert sorted(file.stat().st_mtime_ns for file in folder.rglob("*")) == before


@pytest.mark.parametrize("finished_before", [True, False])
def test_repairing_removes_what_is_damaged_and_nothing_else(folder, finished_before):
    if not finished_before:
        integrity.start(plan.make(CONFIG), folder)
    (folder / SECOND).write_bytes((folder / SECOND).read_bytes()[:-10])
    (said,) = integrity.repair(plan.make(CONFIG), folder)
    assert said.startswith(f"{folder / SECOND} is damaged: ")
    there = [
        (folder / name).exists() for name in (FIRST, SECOND, "index.html", integrity.CHECKSUMS)
    ]
    assert there == [True, False, True, False]


def test_the_noted_configuration_makes_the_same_plan(folder):
    noted = plan.make(json.loads((folder / integrity.CONFIG).read_text()))
    assert noted.config == plan.make(CONFIG).config


def test_a_job_takes_runs_from_files_that_hold_its_seeds_and_reads_no_others(
    folder, monkeypatch, capsys
):
    planned = plan.make(CONFIG)
    (folder / RUNS / "seeds=mine.parquet").write_text("not a name of ours")
    read = []
    monkeypatch.setattr(
        simulations.files,
        "read",
        lambda file, read_it=files.read: read.append(file) or read_it(file),
    )
    simulations.simulate_batch(
        specifications.simulation(planned, "small", "uniform.literal"),
        [1, 2],
        folder / RUNS / "seeds=1-2.parquet",
    )
    assert read == [folder / SECOND]
    said = capsys.readouterr().err
    assert "seed 1: taken from seeds=1-1.parquet" in said
    assert "seed 2: episode 8 of 8" in said
