"""library <- study <- runs <- analysis <- report <- command line: no room looks into one above it."""

import subprocess
import sys

from nscmdp.kernels import sources

ROOMS = ("library", "study", "runs", "analysis", "report", "cli")
PLANNING = """
import sys
from pathlib import Path
from nscmdp.study import plan
planned = plan.load(Path("config.yaml"))
for experiment in planned.config.experiments:
    for unit in experiment.units:
        planned.run_spec(experiment.name, unit)
planned.files()
print(*sys.modules)
"""


def room(module):
    """Of "nscmdp.study.plan" it is study; whatever stands beside the rooms is the library."""
    second = module.split(".")[1] if "." in module else ""
    return ROOMS.index(second) if second in ROOMS else 0


def test_imports_point_down():
    """Also those inside functions and for type checking."""
    for file in sources.PACKAGE.rglob("*.py"):
        if file.name == "__main__.py":
            continue
        here = "nscmdp." + ".".join(file.relative_to(sources.PACKAGE).with_suffix("").parts)
        assert [name for name in sources.imports(file) if room(name) > room(here)] == [], file


def test_planning_a_study_loads_neither_numba_nor_pandas():
    done = subprocess.run([sys.executable, "-c", PLANNING], capture_output=True, text=True, check=True)
    assert {"numba", "pandas", "pyarrow", "scipy"} & set(done.stdout.split()) == set()
