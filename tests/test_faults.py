"""Runs that are killed, damaged, doubled or out of room say so, lose nothing, and are repaired by the same command.

The pipeline runs here on a configuration of a few seconds, with the compiled kernels of the project itself.
"""

import errno
import importlib.util
import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numba
import pytest
import yaml
from snakemake.api import Workflow

from nscmdp import files
from nscmdp.kernels import cache, jit
from small_project import ROOT, SMALL, TINY, command, hashes, project, said, start, to_the_end
from wei2023.runs import specifications
from wei2023.study import plan
from wei2023.verdicts import tables

WEI2023 = [str(Path(sys.executable).with_name("wei2023"))]
HOSTILE = 'it\'s a "folder"; touch pwned & $(touch pwned) `touch pwned` *'


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """A finished run, in a folder whose name would be a program to a careless shell."""
    folder = project(tmp_path_factory.mktemp("faults") / "undisturbed", results=HOSTILE)
    to_the_end(folder)
    return folder


def seconds(folder):
    """How long the first run of a folder took."""
    written = [
        (folder / name).stat().st_mtime for name in ("config.yaml", f"{HOSTILE}/checksums.txt")
    ]
    return written[1] - written[0]


def test_a_hostile_folder_name_is_carried_and_never_run(undisturbed):
    assert hashes(undisturbed / HOSTILE)
    assert not list(undisturbed.rglob("pwned*"))


def kill_at_random_moments(folder, kills, longest):
    """Kill the main process, or all processes as a power cut does, and start again; a run that ends is begun anew."""
    chance = random.Random(8)
    killed = 0
    while killed < kills:
        run = start(folder)
        try:
            run.wait(timeout=chance.uniform(0, longest))
        except subprocess.TimeoutExpired:
            kill = chance.choice([os.kill, os.killpg])
            kill(run.pid, signal.SIGKILL)
            run.wait()
            killed += 1
        else:
            assert run.returncode == 0, said(folder)
            shutil.rmtree(folder / "results")


def refuses_a_second_run(folder):
    """While a run goes on, its lock stays and another one is turned away."""
    first = start(folder)
    while not list(folder.glob("results/simulations/**/*.parquet")):
        assert first.poll() is None, said(folder)
        time.sleep(0.05)
    assert start(folder).wait() == 1
    assert "Another run goes on in this folder" in said(folder)
    assert first.poll() is None, "the first run ended before the second one"
    first.kill()
    first.wait()


@pytest.mark.parametrize("kills", [2, pytest.param(25, marks=pytest.mark.slow)])
def test_runs_killed_at_random_moments_come_to_the_same_end(undisturbed, tmp_path, kills):
    folder = project(tmp_path / "killed")
    refuses_a_second_run(folder)
    kill_at_random_moments(folder, kills, longest=seconds(undisturbed))
    to_the_end(folder)
    assert hashes(folder / "results") == hashes(undisturbed / HOSTILE)
    assert files.temporaries(folder / "results") == []


def test_what_is_damaged_missing_or_left_over_is_mended_by_the_same_command(undisturbed, tmp_path):
    folder = tmp_path / "damaged"
    shutil.copytree(undisturbed, folder)
    before = hashes(folder / HOSTILE)
    flipped, missing = sorted(folder.glob("*/simulations/**/*.parquet"))[:2]
    content = bytearray(flipped.read_bytes())
    content[len(content) // 2] ^= 1
    flipped.write_bytes(content)
    missing.unlink()
    curves = folder / HOSTILE / "tables/small/curves.parquet"
    curves.write_bytes(curves.read_bytes()[:-100])
    gone = subprocess.Popen(["true"])
    gone.wait()
    left = flipped.with_name(f".{files.HOST}.{gone.pid}.{flipped.name}")
    left.write_text("half")
    audit = subprocess.run(
        **command(folder) | {"args": [*WEI2023, "check", HOSTILE]},
        capture_output=True,
        text=True,
    )
    assert audit.returncode == 1
    for file in (flipped, missing, curves, left):
        assert f"{file.relative_to(folder)}: " in audit.stdout
    text = to_the_end(folder)
    assert f"{flipped.relative_to(folder)} is damaged" in text
    assert f"{curves.relative_to(folder)} is damaged" in text
    assert f"{missing.relative_to(folder)} is missing" in text
    assert f"{left.relative_to(folder)} was left over" in text
    assert hashes(folder / HOSTILE) == before
    assert files.temporaries(folder) == []


def test_more_seeds_run_no_old_seed_again_where_kernels_are_lost(
    undisturbed, tmp_path, monkeypatch
):
    """Only what says that they are compiled is lost here: to compile them again takes longer than all else."""
    shutil.copytree(
        cache.folder(),
        tmp_path / "cache" / cache.folder().name,
        ignore=shutil.ignore_patterns("*.ready"),
    )
    monkeypatch.setenv("NSCMDP_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "more"
    shutil.copytree(undisturbed, folder)
    (announced,) = folder.glob("*/logs/kernels/*.ready")
    announced.unlink()
    (folder / "config.yaml").write_text(
        yaml.safe_dump(TINY | {"results": HOSTILE, "experiments": [SMALL | {"seeds": 4}]})
    )
    before = {file: file.stat().st_mtime_ns for file in folder.glob("*/simulations/**/*.parquet")}
    to_the_end(folder)
    after = {file: file.stat().st_mtime_ns for file in folder.glob("*/simulations/**/*.parquet")}
    assert len(before) == 3
    assert len(after) == 4
    assert before.items() < after.items()


def test_tables_refuse_damaged_and_foreign_files_by_name(undisturbed, tmp_path):
    """All of them at once, and with the command that redoes only them."""
    shutil.copytree(undisturbed / HOSTILE, tmp_path / "results")
    short, alien, lost = sorted((tmp_path / "results/simulations").rglob("*.parquet"))
    short.write_bytes(short.read_bytes()[:-50])
    shutil.copy(lost, alien)
    lost.unlink()
    tables_there = list((tmp_path / "results/tables").rglob("*.*"))
    made = {file: file.stat().st_mtime_ns for file in tables_there}
    with pytest.raises(files.Refused) as refused:
        tables.write(plan.make(TINY), tmp_path / "results", "small")
    message = str(refused.value)
    assert f"{short} is damaged" in message
    assert (
        f"{alien} does not belong here: it holds other runs than ('default/K=64', 'uniform.literal', 1)"
        in message
    )
    assert f"{lost} is damaged: it does not exist" in message
    assert f"rm {short} {alien} {lost}" in message
    assert made == {file: file.stat().st_mtime_ns for file in tables_there}


def test_a_snakemake_that_lacks_what_it_does_not_document_is_taken_for_a_run(tmp_path, monkeypatch):
    """Three attributes of ``workflow``, on which workflow/rules/recovery.smk alone stands."""
    monkeypatch.chdir(tmp_path)
    rules = {file.name: file.read_text() for file in (ROOT / "workflow/rules").glob("*.smk")}
    for name in ("is_main_process", "output_settings", "check_envvars"):
        assert [file for file, text in rules.items() if name in text] == ["recovery.smk"]
        assert hasattr(Workflow, name) or name in Workflow.__dataclass_fields__
    written = []
    given = {"plan": plan.make(TINY), "RESULTS": "results", "Path": Path, "workflow": object()}
    given["steps"] = SimpleNamespace(write=lambda *_: written.append(True))
    exec(rules["recovery.smk"], given)
    assert given["MAIN"] is True
    assert given["LOOKS_ONLY"] is given["READS_RULES"] is False
    assert given["LOCK"] is not None
    assert written


def kernel(file):
    """The compiled function of a file, as a new process would load it."""
    specification = importlib.util.spec_from_file_location("kernel", file)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module.double


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
@pytest.mark.parametrize(
    "damage", [lambda b: b[:-20], lambda b: b[: len(b) // 2] + b[len(b) // 2 + 1 :], lambda b: b""]
)
def test_a_damaged_kernel_is_compiled_again(tmp_path, monkeypatch, capsys, kind, damage):
    """Its index or its code, cut short, a byte lost, or empty: it is said, repaired, and the numbers stay."""
    jit.numba_module()
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    source = tmp_path / "kernel.py"
    source.write_text(
        "from nscmdp.kernels.jit import jit\n\n\n@jit\ndef double(x):\n    return 2 * x\n"
    )
    assert kernel(source)(21) == 42
    (file,) = (tmp_path / "cache").rglob(f"*.{kind}")
    file.write_bytes(damage(file.read_bytes()))
    repaired = kernel(source)
    assert repaired(21) == 42
    assert sum(repaired.stats.cache_misses.values()) == 1
    assert f"{file} is damaged: compiling it again" in capsys.readouterr().err
    again = kernel(source)
    assert again(21) == 42
    assert sum(again.stats.cache_hits.values()) == 1
    assert capsys.readouterr().err == ""


def test_a_kernel_with_any_byte_changed_is_not_run(tmp_path, monkeypatch, capsys):
    jit.numba_module()
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    source = tmp_path / "kernel.py"
    source.write_text(
        "from nscmdp.kernels.jit import jit\n\n\n@jit\ndef double(x):\n    return 2 * x\n"
    )
    kernel(source)(21)
    (file,) = (tmp_path / "cache").rglob("*.nbc")
    sound = file.read_bytes()
    for position in range(0, len(sound), 997):
        file.write_bytes(sound[:position] + bytes([sound[position] ^ 1]) + sound[position + 1 :])
        assert not cache.is_sound(str(file))


def test_a_full_disk_is_named_and_leaves_no_half_file(tmp_path):
    """On a file system of 64 kB, where one may be mounted; the log is on it too."""
    mount = f"mount -t tmpfs -o size=64k full {shlex.quote(str(tmp_path))}"
    namespace = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    if (
        shutil.which("unshare") is None
        or subprocess.run([*namespace, mount], capture_output=True).returncode
    ):
        pytest.skip("no file system can be mounted here")
    longer = SMALL | {"episodes": [20_000]}
    planned = plan.make(TINY | {"experiments": [longer]})
    spec = {"spec.json": specifications.optimum(planned, "small")}
    specifications.write(tmp_path.parent, spec)
    job = [*WEI2023, "job", "optimum", f"{tmp_path.parent}/spec.json"]
    job += ["--output", f"{tmp_path}/optima.parquet"]
    job = shlex.join(job)
    script = (
        f"{mount} && cd {shlex.quote(str(tmp_path))} && {job} 2> log; echo $? && cat log && ls -A"
    )
    done = subprocess.run([*namespace, script], capture_output=True, text=True, check=True)
    code, *log, listed = done.stdout.splitlines()
    assert code == "1"
    assert f"{tmp_path}/optima.parquet cannot be written: the disk is full" in log[-1]
    assert listed == "log"


def test_a_write_that_finds_the_disk_full_leaves_the_old_file(tmp_path):
    """Anywhere: the error that a full disk gives, met after half of the file."""
    file = tmp_path / "page.html"
    files.write_text(file, "old")

    def fill(temporary):
        temporary.write_text("ne")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(
        files.DiskFull,
        match=r"page\.html cannot be written: the disk is full.* run the same command",
    ):
        files.in_one_piece(file, fill)
    assert file.read_text() == "old"
    assert os.listdir(tmp_path) == ["page.html"]
