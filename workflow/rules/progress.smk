# How far the whole run is: one line on a terminal, a plain line now and then in a log. It stands beside Snakemake's own
# count of jobs, which differ a thousandfold, and weighs them by the estimates that also ask a cluster for time.
import logging
import signal
import sys
import threading

from nscmdp import progress

START = 2.0  # seconds: the fixed price of a job, and all of what most others take
LONGER = {"judge": 20.0, "notebook": 8.0}  # seconds of the others, by the first word
ROUTINE = {"job_info", "job_started", "job_finished", "progress", "shellcmd"}
STOPPED = "Stopped. All that is finished is kept: the same command goes on from there."


class Watch(logging.Filter):
    """Sees whatever Snakemake says before it is shown. A terminal is spared what the line says better."""

    def __init__(self, meter, stream):
        super().__init__()
        self.meter, self.line = meter, progress.Line(stream)
        self.ended = threading.Event()
        threading.Thread(target=self._show, daemon=True).start()

    def _show(self):
        while True:
            self.line.show(f"Progress: {self.meter}")
            if self.ended.wait(1 if self.line.on_terminal else 30):
                return

    def filter(self, record):
        try:
            return self._seen(record)
        except Exception:  # another Snakemake may say other things: then it says them itself
            self.end()
            return True

    def _seen(self, record):
        event = str(getattr(record, "event", None))
        if event == "job_info":
            self.meter.start(record.jobid, record.rule_msg or record.rule_name)
        elif event == "job_finished":
            self.meter.finish(record.job_id)
        elif event == "job_error":
            self.meter.stop(record.jobid)
        if self.line.on_terminal and (event in ROUTINE or is_round(record)):
            return False
        self.line.clear()
        return True

    def end(self):
        self.ended.set()
        self.line.clear()


class Silence(logging.Filter):
    """After Ctrl-C jobs fail because they were stopped: that is no news."""

    def filter(self, record):
        return False


def is_round(record):
    """Does Snakemake say that it looks for jobs again?"""
    return str(record.msg) == "Select jobs to execute..."


def seconds(job):
    """An estimate, for a weight among others."""
    if job.rule.name in REQUESTS:
        return START + REQUESTS[job.rule.name](job.wildcards, 1).seconds
    return LONGER.get(job.rule.name.partition("_")[0], START)


def screen():
    """What Snakemake writes to; None where a logger of the user's does that, or where quiet is asked for."""
    if workflow.output_settings.quiet or workflow.output_settings.verbose:
        return None
    found = [one for one in logger.handlers if one.name == "DefaultStreamHandler"]
    return found[0] if found else None


watching = []


def watch():
    """From now on the line is shown."""
    handler = screen()
    if handler is None:
        return
    weights = {job.jobid: seconds(job) for job in workflow.dag.needrun_jobs()}
    meter = progress.Meter(weights, workflow.resource_settings.cores or 1)
    watching.append(Watch(meter, handler.stream))
    handler.filters.insert(
        0, watching[0]
    )  # before the one that a choice of --quiet makes


def end_watch():
    for one in watching:
        one.end()


def on_interrupt(number, frame):
    """One sentence instead of every stopped job's complaint."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    end_watch()
    for handler in logger.handlers:
        if handler.name == "DefaultStreamHandler":
            handler.addFilter(Silence())
    print(STOPPED, file=sys.stderr, flush=True)
    raise KeyboardInterrupt


def on_uncaught(kind, error, trace):
    """An interrupt that Snakemake does not catch, before its first job, needs no traceback."""
    if not issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)


if workflow.is_main_process and not workflow.output_settings.dryrun:
    signal.signal(signal.SIGINT, on_interrupt)
    sys.excepthook = on_uncaught
