"""Examples drawn by hypothesis are the same in every run; compiling a kernel may take longer than its deadline."""

import os
import sys

import pytest
from hypothesis import settings

# Tests run beside each other, on matrices so small that threads of the linear algebra only wait for one another.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

settings.register_profile("nscmdp", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("nscmdp")


@pytest.fixture
def a_window_for_each_episode(monkeypatch):
    """Runs keep the realised reward and utility of every single episode."""
    from nscmdp import metrics

    monkeypatch.setattr(metrics, "WINDOWS", 1_000_000)


@pytest.fixture
def known(monkeypatch):
    """Plug-ins that a test makes known are forgotten after it."""
    from nscmdp import learner, plugins
    from nscmdp.kernels import sources

    for module, name in (
        (plugins, "_FILES"),
        (plugins, "_KINDS"),
        (sources, "PLUGINS"),
        (learner, "_CLASSES"),
    ):
        monkeypatch.setattr(module, name, dict(getattr(module, name)))
    yield
    for module in [name for name in sys.modules if name.startswith(plugins.PREFIX)]:
        del sys.modules[module]


def pytest_collection_modifyitems(items):
    """A worker takes a file at a time: the two that run the whole pipeline begin, or all others wait for them."""
    items.sort(key=lambda item: item.path.name not in ("test_pipeline.py", "test_faults.py"))
