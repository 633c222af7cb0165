"""A cluster for all tests of this folder, and a project to run on it."""

import pytest
from cluster import Cluster, run, wait_until
from project import WALK, Project


@pytest.fixture(scope="session")
def cluster():
    with Cluster() as started:
        yield started


@pytest.fixture
def project(cluster, tmp_path):
    """A folder of its own and an idle cluster; what still runs when the test is over is ended."""
    wait_until(lambda: cluster.idle() and not cluster.jobs(), "an idle cluster", 120)
    made = Project(tmp_path)
    yield made
    made.kill()
    run("scancel", "--me", check=False)


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory):
    """What the disturbed runs must come to: the same, made on this machine without a cluster."""
    made = Project(tmp_path_factory.mktemp("local"))
    made.start(*WALK, "--cores", "2")
    made.finish()
    return made.hashes("simulations", "tables")
