"""A run tells how far it is, a terminal otherwise than a log, and Ctrl-C ends it with one sentence."""

import io
import os
import pty
import re
import signal
import subprocess
import sys
import time

import pytest

from nscmdp.progress import Line, Meter, duration
from small_project import command, hashes, project, said, start, to_the_end

STOPPED = "Stopped. All that is finished is kept: the same command goes on from there.\n"
LONG = (
    "run",
    "nonstationary_triple_q",
    "grid_world",
    "--episodes",
    "100000000",
    "--evaluate-every",
    "100000",
)


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_parts_count_by_their_estimates_and_the_pace_is_learnt():
    clock = Clock()
    meter = Meter({"long": 900.0, "short": 100.0}, workers=2, clock=clock)
    assert meter.left() == pytest.approx(500)  # nothing is known but the estimates and the workers
    meter.start("short", "the short one")
    clock.now = 10_000.0
    assert meter.done() == pytest.approx(95)  # it takes longer than expected, but is not done
    meter.finish("short")
    assert str(meter).startswith("10% done, about ")
    assert meter.left() == pytest.approx(900 * 10_000 / 100, rel=0.5)
    meter.start("long", "the long one")
    assert str(meter).endswith("left: the long one")
    meter.stop("long")
    assert meter.waiting == {"long": 900.0}
    meter.start("long", "again")
    meter.finish("long")
    assert str(meter) == "100% done, about 0 s left"


def test_what_was_not_foreseen_does_not_count():
    meter = Meter({}, workers=1)
    meter.start("unknown", "it")
    meter.finish("unknown")
    assert str(meter) == "100% done, about 0 s left"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (59, "59 s"), (60, "1 min"), (3599, "1 h 0 min"), (9000, "2 h 30 min")],
)
def test_durations_are_short(seconds, text):
    assert duration(seconds) == text


def test_a_line_is_plain_where_there_is_no_terminal():
    out = io.StringIO()
    line = Line(out)
    line.show("half")
    line.clear()
    line.show("all")
    assert out.getvalue() == "half\nall\n"


def on_a_terminal(**called):
    """Start a program on a terminal of its own; the program, and a function that reads until it has said something."""
    here, there = pty.openpty()
    run = subprocess.Popen(
        **called, stdin=there, stdout=there, stderr=there, start_new_session=True
    )
    os.close(there)
    shown = ""

    def read_until(pattern, seconds=120):
        nonlocal shown
        until = time.monotonic() + seconds
        while not (pattern and re.search(pattern, shown)):
            assert time.monotonic() < until, shown[-1000:]
            try:
                shown += os.read(here, 4096).decode(errors="replace")
            except OSError:  # it has ended
                assert pattern is None, shown[-1000:]
                break
        return shown

    return run, read_until


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """A run into a file."""
    folder = project(tmp_path_factory.mktemp("progress") / "undisturbed")
    to_the_end(folder)
    return folder


def test_a_log_has_plain_lines_beside_those_of_snakemake(undisturbed):
    text = said(undisturbed)
    assert re.search(r"^Progress: 0% done, about \d+ s left", text, re.M)
    taken = re.search(r"Elapsed time: (\d+):(\d+):(\d+)", text).groups()
    seconds = sum(int(part) * 60**i for i, part in enumerate(reversed(taken)))
    assert text.count("Progress: ") <= 2 + seconds / 30
    assert "10 of 10 steps (100%) done" in text
    assert not {"\r", "\x1b"} & set(text)


def test_a_terminal_has_one_line_that_is_written_over(undisturbed, tmp_path):
    folder = project(tmp_path / "terminal")
    run, read_until = on_a_terminal(**command(folder))
    text = read_until(None)
    assert run.wait() == 0
    lines = re.findall(r"\r\x1b\[KProgress: (\d+)% done, about [^\r\n]*left[^\r\n]*", text)
    assert len(lines) > 2
    assert sorted(map(int, lines)) == list(map(int, lines))
    assert "Simulating uniform.literal on small, seeds " in text
    assert "steps (" not in text
    assert hashes(folder / "results") == hashes(undisturbed / "results")


@pytest.mark.parametrize("interrupt", [os.kill, os.killpg])
def test_ctrl_c_ends_with_one_sentence_and_the_next_run_completes(undisturbed, tmp_path, interrupt):
    """Sent to all processes, as a terminal does, or to the main one alone."""
    folder = project(tmp_path / "interrupted")
    run = start(folder)
    while not list(folder.glob("results/environments/*.parquet")):
        assert run.poll() is None, said(folder)
        time.sleep(0.05)
    interrupt(run.pid, signal.SIGINT)
    assert run.wait(timeout=60) != 0
    text = said(folder)
    assert text.count(STOPPED) == 1
    assert text.endswith(STOPPED)
    assert "Traceback" not in text
    assert "Error" not in text
    to_the_end(folder)
    assert hashes(folder / "results") == hashes(undisturbed / "results")


def test_ctrl_c_before_the_first_job_needs_no_traceback(tmp_path):
    folder = project(tmp_path / "early")
    run = start(folder)
    while "Building DAG" not in said(folder):
        assert run.poll() is None, said(folder)
        time.sleep(0.01)
    os.killpg(run.pid, signal.SIGINT)
    assert run.wait(timeout=60) != 0
    before, stopped, _ = said(folder).partition(
        STOPPED
    )  # asyncio, cut off as it starts, may have a last word
    assert stopped
    assert "Traceback" not in before


def test_a_long_run_shows_how_far_it_is_and_is_stopped_by_ctrl_c():
    run, read_until = on_a_terminal(args=[sys.executable, "-m", "nscmdp", *LONG])
    read_until(r"\r\x1b\[Kepisode [\d,]+ of 100,000,000 \(\d+%\), about \d+ (s|min|h)")
    run.send_signal(signal.SIGINT)
    text = read_until(None)
    assert run.wait() == 130
    assert text.rstrip().endswith(
        "nscmdp: stopped; nothing half-written is left, the same command starts it again"
    )
    assert "Traceback" not in text
