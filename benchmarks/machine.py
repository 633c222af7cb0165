"""What the figures were measured on."""

import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks import c_loop


def describe() -> dict[str, Any]:
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "caches": caches(),
        "system": platform.platform(),
        "compiler": said_by(c_loop.compiler(), "--version"),
        "flags": " ".join(c_loop.FLAGS),
        "python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "numba", "llvmlite", "scipy", "snakemake")},
    }


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(
            line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")
        )
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def caches() -> dict[str, str]:
    """Sizes by level and type, as Linux tells them."""
    found = {}
    for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = (
            (folder / name).read_text().strip() for name in ("level", "type", "size")
        )
        found[f"L{level} {kind.lower()}"] = size
    return found


def said_by(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[
        0
    ]
