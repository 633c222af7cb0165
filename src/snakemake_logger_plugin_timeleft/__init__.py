"""A logger plugin of Snakemake that tells how long a run will still take: ``snakemake --logger timeleft``.

Snakemake's own count of jobs says little where they differ a thousandfold. Here they are weighed by the seconds that a
workflow expects of each rule's jobs; it tells them as its run starts:

    logger.info("", extra={"expected_seconds": {"simulate": 40.0, "tables": 3.0}, "workers": 8})

On a terminal one line is written over, and the routine messages about single jobs are left out; elsewhere a plain line
is written twice a minute, beside all messages. Without such estimates messages are shown as Snakemake has them.
"""

import logging
import sys
import threading
from collections.abc import Mapping
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from nscmdp import progress

ROUTINE = (
    LogEvent.JOB_INFO,
    LogEvent.JOB_STARTED,
    LogEvent.JOB_FINISHED,
    LogEvent.PROGRESS,
    LogEvent.SHELLCMD,
)
ROUND = "Select jobs to execute..."
INTERRUPTED = "Terminating processes on user request"
STOPPED = "Stopped. All that is finished is kept: the same command goes on from there."


class LogHandler(LogHandlerBase):
    """Writes Snakemake's messages, and the line of progress between them."""

    writes_to_stream = True
    writes_to_file = False
    has_filter = False  # so that --quiet and --verbose mean what they mean elsewhere
    has_formatter = False
    needs_rulegraph = False

    def __post_init__(self) -> None:
        self.stream = sys.stdout if self.common_settings.stdout else sys.stderr
        self.line = progress.Line(self.stream)
        self.meter: progress.Meter | None = None
        self.jobs: Mapping[str, int] = {}  # how many of each rule
        self.parts: dict[int, tuple[str, int]] = {}  # by job: which of its rule's it is
        self.interrupted = False
        self.ended = threading.Event()
        sys.excepthook = self._uncaught

    def emit(self, record: logging.LogRecord) -> None:
        event = getattr(record, "event", None)
        self._count(event, record)
        expected = getattr(record, "expected_seconds", None)
        if expected is not None:
            self._begin(expected, getattr(record, "workers", 1))
        self.interrupted |= str(record.msg).startswith(INTERRUPTED)
        routine = event in ROUTINE or record.msg == ROUND
        text = self.format(record)
        if text and not self.interrupted and not (routine and self.meter and self.line.on_terminal):
            self.line.clear()
            self.stream.write(f"{text}\n")
            self.stream.flush()

    def close(self) -> None:
        self.ended.set()
        self.line.clear()
        if self.interrupted:
            self.interrupted = False
            print(STOPPED, file=self.stream, flush=True)
        super().close()

    def _uncaught(self, kind: type[BaseException], error: BaseException, trace: Any) -> None:
        """Ctrl-C before the first job reaches the top; one sentence says more than its traceback."""
        if issubclass(kind, KeyboardInterrupt):
            self.interrupted = True
            self.close()
        else:
            sys.__excepthook__(kind, error, trace)

    def _count(self, event: object, record: logging.LogRecord) -> None:
        """Follow what runs, as far as records say it."""
        known = record.__dict__
        if event == LogEvent.RUN_INFO:
            self.jobs = {
                rule: number for rule, number in known.get("stats", {}).items() if rule != "total"
            }
        if self.meter is None:
            return
        if event == LogEvent.JOB_INFO and "rule_name" in known:
            rule = known["rule_name"]
            parts = [(rule, number) for number in range(self.jobs.get(rule, 0))]
            part = next((part for part in parts if part in self.meter.waiting), (rule, -1))
            self.parts[known["jobid"]] = part
            self.meter.start(part, known.get("rule_msg") or rule)
        elif event == LogEvent.JOB_FINISHED and known.get("job_id") in self.parts:
            self.meter.finish(self.parts[known["job_id"]])
        elif event == LogEvent.JOB_ERROR and known.get("jobid") in self.parts:
            self.meter.stop(self.parts[known["jobid"]])

    def _begin(self, expected: Mapping[str, float], workers: int) -> None:
        if self.meter is None and not self.common_settings.verbose:
            usual = 1.0  # second, where nothing is expected
            parts = [(rule, number) for rule, jobs in self.jobs.items() for number in range(jobs)]
            self.meter = progress.Meter(
                {part: expected.get(part[0], usual) for part in parts}, workers
            )
            threading.Thread(target=self._show, daemon=True).start()

    def _show(self) -> None:
        while not self.ended.is_set():
            with self.lock:  # type: ignore[union-attr]
                if not self.ended.is_set() and not self.interrupted:
                    self.line.show(f"Progress: {self.meter}")
            self.ended.wait(1 if self.line.on_terminal else 30)
