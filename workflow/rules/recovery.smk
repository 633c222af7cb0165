# What a run that was cut short has left behind, and what has been damaged since, is repaired before the next one; and
# every job's specification is written. A folder's lock says that a run is going on: it is free again when that run
# ends, however it ends, so that Snakemake's own lock, which outlives a kill, is not used (`nolock` in the profiles).
#
# Of Snakemake this stands on three attributes of `workflow`; where one is missing, this process is taken for a run.
import fcntl

MAIN = getattr(workflow, "is_main_process", True)
LOOKS_ONLY = getattr(getattr(workflow, "output_settings", None), "dryrun", False)
READS_RULES = not getattr(workflow, "check_envvars", True)  # as for --lint


def locked():
    """The lock of this folder, or None while a run has it."""
    folder = Path(".snakemake")
    folder.mkdir(exist_ok=True)
    lock = open(folder / "run.lock", "w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        return None
    return lock


def prepare():
    """Repair the results, and write what jobs read; the lock, which is held until this process ends."""
    lock = locked()
    if lock is None:
        logger.warning("A run is going on in this folder.")
        return None
    if not LOOKS_ONLY:
        from wei2023.runs import integrity, kernels as compiled

        for done in integrity.repair(plan, Path(RESULTS)):
            logger.warning(done)
        compiled.announce(plan, Path(RESULTS))
    steps.write(plan, Path(RESULTS))
    return lock


def begin():
    """Note what is going to be made, and tell the logger how long it may take."""
    if LOCK is None:
        raise WorkflowError(
            "Another run is going on in this folder: wait for its end, or stop it."
        )
    from wei2023.runs import integrity

    integrity.start(plan, Path(RESULTS))
    cores = workflow.resource_settings.cores or 1
    logger.info("", extra={"expected_seconds": expected_seconds(), "workers": cores})


LOCK = prepare() if MAIN and not READS_RULES else None
