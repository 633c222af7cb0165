"""The pipeline on a real Slurm: the same bits as without it, whatever happens to jobs, nodes and Snakemake itself."""

import hashlib
import json

from cluster import run, wait_until
from project import TABLE, WALK, Project

PARTS = ("simulations", "tables", "figures")


def job_in_the_middle(cluster, project):
    """Wait until a simulation has got to its episodes, and return a simulation's job."""

    def simulations():
        return [job for job in cluster.jobs("RUNNING") if "rule_simulate" in job.comment]

    wait_until(lambda: project.is_simulating() and simulations(), "a simulation in the middle", 300)
    return simulations()[0]


def test_the_tiny_preset_gives_the_same_bits_as_locally(project, tmp_path, capsys):
    preset = ("--configfile", "workflow/presets/tiny.yaml", "--config", "batch=2")
    local = Project(tmp_path / "local")
    local.start(*preset, "--cores", "2")
    local.finish()
    project.start_on_slurm(*preset)
    project.finish()
    with capsys.disabled():
        for part in PARTS:
            here, there = local.hashes(part), project.hashes(part)
            digests = [
                hashlib.sha256(json.dumps(files).encode()).hexdigest() for files in (here, there)
            ]
            print(f"\n{part}: {len(here)} files\n  local {digests[0]}\n  slurm {digests[1]}")
    assert local.hashes("simulations")
    assert project.hashes(*PARTS) == local.hashes(*PARTS)
    assert "has been submitted with SLURM jobid" in project.said.read_text()


def test_job_arrays_give_the_same_bits(project, undisturbed):
    project.start_on_slurm(*WALK, profile="slurm_arrays")
    project.finish()
    assert "The individual task IDs are 1-4" in project.said.read_text()
    assert project.hashes("simulations", "tables") == undisturbed


def test_a_job_of_five_minutes_spends_little_time_outside_its_simulation(cluster, project, capsys):
    """What a job takes beside its simulation does not depend on how long that lasts: here some seconds.

    Two at once, so that each has a core of its own where there are two.
    """
    earlier = cluster.jobs("COMPLETED")
    project.start_on_slurm(*WALK, "--jobs", "2")
    project.finish()
    jobs = [
        job
        for job in cluster.jobs("COMPLETED")
        if "rule_simulate" in job.comment and job not in earlier
    ]
    assert len(jobs) == 4
    outside = (sum(map(cluster.seconds, jobs)) - project.seconds_of_simulations()) / len(jobs)
    with capsys.disabled():
        print(
            f"\na job spends {outside:.1f} s outside its simulation: {outside / 300:.1%} of five minutes"
        )
    assert 0 < outside <= 0.05 * 300


def test_a_cancelled_job_is_run_again(cluster, project, undisturbed):
    project.start_on_slurm(*WALK)
    job = job_in_the_middle(cluster, project)
    run("scancel", job.id)
    project.finish()
    assert f"SLURM-job '{job.id}' failed, SLURM status is: 'CANCELLED'" in project.said.read_text()
    assert project.hashes("simulations", "tables") == undisturbed


def test_slurm_runs_the_jobs_of_a_node_that_lost_power_again(cluster, project, undisturbed):
    project.start_on_slurm(*WALK)
    job = job_in_the_middle(cluster, project)
    cluster.kill(job.node)
    cluster.revive(job.node)
    project.finish()
    assert "Restarts=1" in run("scontrol", "show", "job", job.id)
    assert project.hashes("simulations", "tables") == undisturbed
    assert project.temporary_files() == []


def test_a_run_ends_without_a_node_that_is_down_for_good(cluster, project, undisturbed):
    """Here Slurm must not run the lost jobs again by itself, as on some clusters: Snakemake does."""
    project.start_on_slurm(*WALK, "--slurm-no-requeue")
    job = job_in_the_middle(cluster, project)
    cluster.kill(job.node)
    try:
        project.finish()
        assert run("sinfo", "--noheader", "--nodes", job.node, "--format=%t").startswith("down")
    finally:
        cluster.revive(job.node)
    assert f"SLURM-job '{job.id}' failed due to a node failure" in project.said.read_text()
    assert project.hashes("simulations", "tables") == undisturbed
    assert project.temporary_files() == []


def test_after_kill_9_of_snakemake_the_same_command_ends_the_run(cluster, project, undisturbed):
    project.start_on_slurm(*WALK)
    job_in_the_middle(cluster, project)
    project.kill()
    assert cluster.jobs("RUNNING")
    assert not (project.folder / TABLE).exists()
    project.start_on_slurm(*WALK)
    project.finish()
    wait_until(lambda: not cluster.jobs(), "no orphan left", 300)
    assert project.hashes("simulations", "tables") == undisturbed
    assert project.temporary_files() == []
