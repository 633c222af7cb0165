# Before a run the configuration is checked, what an earlier run left behind or what has been damaged since is repaired,
# and every job's specification is written. A run holds a lock of its own, which is free again when its process ends,
# however it ends: Snakemake's, which a kill leaves behind, is not used (`nolock` in the default profile).
#
# This file alone stands on what Snakemake does not document: three attributes of `workflow`. Where one is missing, the
# process is taken for a run of its own.
import fcntl

MAIN = getattr(workflow, "is_main_process", True)  # else: one that does a job
LOOKS_ONLY = getattr(getattr(workflow, "output_settings", None), "dryrun", False)
READS_RULES = not getattr(workflow, "check_envvars", True)  # as for --lint


def prepare():
    """The lock of this folder, which is held until this process ends; None while a run has it."""
    try:
        plan.check()
    except Unacceptable as error:
        raise WorkflowError(str(error))
    Path(".snakemake").mkdir(exist_ok=True)
    lock = open(".snakemake/run.lock", "w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
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
        raise WorkflowError("Another run goes on in this folder: wait for its end.")
    from wei2023.runs import integrity

    integrity.start(plan, Path(RESULTS))
    try:
        workers = workflow.cores
    except WorkflowError:  # on a cluster there may be none
        workers = 1
    expected = expected_seconds()
    logger.info("", extra={"expected_seconds": expected, "workers": workers})


LOCK = prepare() if MAIN and not READS_RULES else None
