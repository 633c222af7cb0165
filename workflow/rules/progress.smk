# How far the whole run is: one line on a terminal, a plain line now and then in a log. Snakemake's own count of jobs
# says little, as they differ a thousandfold: here they are weighed by the estimates that also ask a cluster for time.
import signal
import sys
import threading

from nscmdp import progress

START = 2.0  # seconds: the fixed price of a job, and all that the last steps take
LONGER = {
    "judge": 20.0,
    "kernels": 12.0,
    "notebook": 8.0,
}  # seconds of those that take longer, by the rule's first word
GENEROUS = 10  # a cluster is asked for so much more than most jobs take
ROUTINE = {"job_info", "job_started", "job_finished", "progress", "shellcmd"}
ROUND = "Select jobs to execute..."
STOPPED = "Stopped. All that is finished is kept: the same command goes on from there."


class Watch:
    """Sees whatever Snakemake says before it is shown. A terminal is spared what the line says better."""

    def __init__(self, meter, stream):
        self.meter, self.line = meter, progress.Line(stream)
        self.ended = threading.Event()
        threading.Thread(target=self._show, daemon=True).start()

    def _show(self):
        while True:
            self.line.show(f"Progress: {self.meter}")
            if self.ended.wait(1 if self.line.on_terminal else 30):
                return

    def admits(self, record):
        try:
            return self._admits(record)
        except (
            Exception
        ):  # another Snakemake may say other things: then it says them itself
            self.end()
            return True

    def _admits(self, record):
        event = str(getattr(record, "event", None))
        if event == "job_info":
            self.meter.start(record.jobid, record.rule_msg or record.rule_name)
        elif event == "job_finished":
            self.meter.finish(record.job_id)
        elif event == "job_error":
            self.meter.stop(record.jobid)
        routine = event in ROUTINE or record.msg == ROUND
        if self.line.on_terminal and routine and not self.ended.is_set():
            return False
        self.line.clear()
        return True

    def end(self):
        self.ended.set()
        self.line.clear()


def seconds(job):
    """An estimate, for a weight among others."""
    if job.rule.name in REQUESTS:
        request = REQUESTS[job.rule.name](job.wildcards, 1)
        return START + request.seconds / GENEROUS
    return LONGER.get(job.rule.name.partition("_")[0], START)


def screens():
    """What Snakemake writes to a terminal or a log with; none where a logger of the user's choice does that."""
    return [one for one in logger.handlers if one.name == "DefaultStreamHandler"]


watches = []


def watch():
    """From now on the line is shown, unless Snakemake is asked to say less, or more."""
    if workflow.output_settings.quiet or workflow.output_settings.verbose:
        return
    weights = {job.jobid: seconds(job) for job in workflow.dag.needrun_jobs()}
    for screen in screens():
        meter = progress.Meter(weights, workflow.resource_settings.cores or 1)
        watches.append(Watch(meter, screen.stream))
        screen.addFilter(watches[-1].admits)


def end_watch():
    for one in watches:
        one.end()


def on_interrupt(number, frame):
    """One sentence instead of every stopped job's complaint, which the complete log still has."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    end_watch()
    for screen in screens():
        screen.addFilter(lambda record: False)
    print(STOPPED, file=sys.stderr, flush=True)
    raise KeyboardInterrupt


def on_uncaught(kind, error, trace):
    """An interrupt that Snakemake does not catch, before its first job, needs no traceback."""
    if not issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)


if (
    workflow.is_main_process
    and not workflow.output_settings.dryrun
    and signal.getsignal(signal.SIGINT) is signal.default_int_handler
):
    signal.signal(signal.SIGINT, on_interrupt)
    sys.excepthook = on_uncaught
