import pytest

from wei2023.proofs import linear_runs


@pytest.fixture(scope="module")
def short_runs():
    """Runs of Algorithm 3 that take a quarter of the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linear_runs, "EPISODES", 400)
        linear_runs.runs.cache_clear()
        yield
    linear_runs.runs.cache_clear()
