# What a run that was cut short has left behind, and what has been damaged since, is repaired before the next one.
import fcntl
import shutil

LOCKS = Path(".snakemake/locks")
held = []


def alone():
    """The lock of this folder, or None while a run has it. It is free again when that run ends, however it ends."""
    LOCKS.parent.mkdir(exist_ok=True)
    lock = open(LOCKS.with_name("run.lock"), "w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        return None
    return lock


def recover():
    """Lift the lock of a run that was cut short, remove its leftovers and what is damaged; never beside a live run."""
    lock = alone()
    if lock is None:
        logger.warning("A run is going on in this folder.")
        return
    if LOCKS.is_dir() and any(LOCKS.iterdir()):
        logger.warning("An earlier run was cut short: its lock is lifted.")
        shutil.rmtree(LOCKS)
    from nscmdp.runs import integrity, kernels

    for done in integrity.repair(plan, Path(RESULTS)):
        logger.warning(done)
    kernels.announce(plan, Path(RESULTS))
    lock.close()


def begin():
    """Hold the lock until this process ends."""
    lock = alone()
    if lock is None:
        raise WorkflowError(
            "Another run is going on in this folder: wait for its end, or stop it."
        )
    held.append(lock)
    from nscmdp.runs import integrity

    integrity.start(plan, Path(RESULTS))


# Where only the rules are looked at, as by --lint, Snakemake checks no variables either.
if (
    workflow.is_main_process
    and workflow.check_envvars
    and not workflow.output_settings.dryrun
):
    recover()
