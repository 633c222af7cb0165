"""A real Slurm on this one machine: a controller and two nodes on the loopback, without systemd, cgroups or accounting.

Slurm's job steps forget a private SLURM_CONF, so the configuration goes where Slurm looks for it; one that was there
is put back at the end. Every daemon is ended by the process id that it wrote down.
"""

import contextlib
import os
import re
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import psutil

AS_ROOT = [] if os.geteuid() == 0 else ["sudo", "--non-interactive"]
CONFIGURATION = Path("/etc/slurm/slurm.conf")
SET_ASIDE = CONFIGURATION.with_suffix(".conf.set-aside")
NODES = ("n1", "n2")
SETTINGS = """\
ClusterName=nscmdp
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
AuthType=auth/munge
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/none
SlurmdParameters=config_overrides
ReturnToService=2
SlurmdTimeout=20
KillWait=5
MinJobAge=3600
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdSpoolDir={folder}/spool.%n
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmdLogFile={folder}/slurmd.%n.log
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=2 RealMemory=8000
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=2 RealMemory=8000
PartitionName=main Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
"""


class Job(NamedTuple):
    id: str
    node: str
    comment: str  # the plugin names the rule and its wildcards here


def run(*command: object, check: bool = True) -> str:
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, check=False
    )
    if check and done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stdout}{done.stderr}")
    return done.stdout


def wait_until(happened: Callable[[], bool], what: str, seconds: float = 60) -> None:
    last = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > last:
            raise TimeoutError(f"not within {seconds:.0f} s: {what}")
        time.sleep(0.2)


class Cluster:
    """Use as a context; nodes can be killed and revived meanwhile."""

    def __enter__(self) -> "Cluster":
        self._end_what_an_aborted_test_left()
        if subprocess.run(["scontrol", "ping"], capture_output=True, check=False).returncode == 0:
            raise RuntimeError("a Slurm already runs on this machine: these tests need one without")
        self.folder = Path(tempfile.mkdtemp(prefix="slurm-"))
        self.folder.chmod(0o755)
        try:
            self._start_munge()
            self._configure()
            run(*AS_ROOT, "slurmctld", "-i", "-f", CONFIGURATION)
            for node in NODES:
                self.revive(node)
            wait_until(self.idle, "both nodes idle")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        run("scancel", "--me", check=False)
        with contextlib.suppress(TimeoutError):
            wait_until(lambda: not self.jobs(), "no job left", 30)
        for daemon in ("slurmd.n1", "slurmd.n2", "slurmctld"):
            _end(self.folder / f"{daemon}.pid")
        left = [one.pid for one in psutil.process_iter() if _is_of_a_job(one)]
        if left:
            run(*AS_ROOT, "kill", "-KILL", *left, check=False)
        if (self.folder / "own_munge").exists():
            _end(Path("/run/munge/munged.pid"))
        if CONFIGURATION.exists() and str(self.folder) in CONFIGURATION.read_text():
            run(*AS_ROOT, "rm", CONFIGURATION)
        if SET_ASIDE.exists():
            run(*AS_ROOT, "mv", SET_ASIDE, CONFIGURATION)
        run(*AS_ROOT, "rm", "-rf", self.folder)

    def jobs(self, state: str = "PENDING,RUNNING,COMPLETING") -> list[Job]:
        """The jobs in a state."""
        said = run(
            "squeue", "--array", "--noheader", f"--states={state}", "--format=%A|%N|%k", check=False
        )
        return [Job(*line.split("|", 2)) for line in said.splitlines()]

    def seconds(self, job: Job) -> float:
        """From the start of a job that has ended to its end."""
        shown = run("scontrol", "show", "job", job.id)
        times = (re.findall(f"{name}=(\\S+)", shown)[0] for name in ("StartTime", "EndTime"))
        begin, end = map(datetime.fromisoformat, times)
        return (end - begin).total_seconds()

    def idle(self) -> bool:
        return run("sinfo", "--noheader", "--Node", "--format=%t", check=False).split() == [
            "idle"
        ] * len(NODES)

    def revive(self, node: str) -> None:
        run(*AS_ROOT, "slurmd", "-N", node, "-f", CONFIGURATION)

    def kill(self, node: str) -> None:
        """As when the power fails: the node's daemon and all that its jobs started end at once."""
        jobs = {job.id for job in self.jobs("RUNNING") if job.node == node}
        steps = [
            one
            for one in psutil.process_iter()
            if one.name() == "slurmstepd" and _job_of(one) in jobs
        ]
        below = [child.pid for step in steps for child in step.children(recursive=True)]
        daemon = _daemon(self.folder / f"slurmd.{node}.pid")
        assert daemon
        run(
            *AS_ROOT,
            "kill",
            "-KILL",
            daemon.pid,
            *(step.pid for step in steps),
            *below,
            check=False,
        )

    def _end_what_an_aborted_test_left(self) -> None:
        text = CONFIGURATION.read_text() if CONFIGURATION.exists() else ""
        left = re.search("ClusterName=nscmdp\n(?:.*\n)*StateSaveLocation=(.*)/state", text)
        if left:
            self.folder = Path(left[1])
            self.__exit__()

    def _start_munge(self) -> None:
        if (
            subprocess.run(["munge", "--no-input"], capture_output=True, check=False).returncode
            == 0
        ):
            return
        run(*AS_ROOT, "install", "-d", "-o", "munge", "-g", "munge", "-m", "755", "/run/munge")
        as_munge = [*AS_ROOT, "setpriv", "--reuid=munge", "--regid=munge", "--clear-groups"]
        run(*as_munge, "munged")
        (self.folder / "own_munge").touch()

    def _configure(self) -> None:
        ports = [_free_port() for _ in range(3)]
        host = socket.gethostname().split(".")[0]
        text = SETTINGS.format(host=host, folder=self.folder, ports=ports)
        (self.folder / "slurm.conf").write_text(text)
        if CONFIGURATION.exists() and not SET_ASIDE.exists():
            run(*AS_ROOT, "mv", CONFIGURATION, SET_ASIDE)
        run(*AS_ROOT, "install", "-D", "-m", "644", self.folder / "slurm.conf", CONFIGURATION)


def _daemon(written_down: Path) -> psutil.Process | None:
    """The daemon whose process id is in a file, if it runs."""
    try:
        found = psutil.Process(int(run(*AS_ROOT, "cat", written_down)))
        return found if found.name() == written_down.name.split(".")[0] else None
    except (RuntimeError, ValueError, psutil.NoSuchProcess):
        return None


def _end(written_down: Path) -> None:
    daemon = _daemon(written_down)
    if daemon:
        run(*AS_ROOT, "kill", daemon.pid, check=False)
        wait_until(lambda: _has_ended(daemon), f"{written_down.stem} ended")


def _has_ended(process: psutil.Process) -> bool:
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def _is_of_a_job(process: psutil.Process) -> bool:
    """Without cgroups a step that Slurm ends for its time limit may leave processes behind."""
    try:
        return process.environ().get("SLURM_CLUSTER_NAME") == "nscmdp"
    except psutil.Error:
        return False


def _job_of(step: psutil.Process) -> str | None:
    """A step's daemon shows its job in its title: slurmstepd: [12.batch]."""
    found = re.search(r"\[(\d+)\.", " ".join(step.cmdline()))
    return found and found[1]


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]
