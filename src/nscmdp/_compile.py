"""Compiled kernels and where they are kept.

Numba's own cache notices a change in the file of a compiled function, not in the functions that it calls. The cache
folder is therefore keyed by a hash of all sources that kernels are made from: an edit starts a fresh folder.
"""

import hashlib
import os
import sys
from pathlib import Path

import numba
import numpy as np

from nscmdp.sources import kernel_digest


def _key() -> str:
    versions = f"{numba.__version__} {np.__version__} {sys.version} {kernel_digest()}"
    return hashlib.sha256(versions.encode()).hexdigest()[:16]


def cache_folder() -> Path:
    """Where compiled kernels are kept: NSCMDP_CACHE, or the user's cache folder."""
    base = os.environ.get("NSCMDP_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "nscmdp"
    )
    return Path(base) / _key()


numba.config.CACHE_DIR = str(cache_folder())  # type: ignore[attr-defined]

# error_model="numpy" leaves out the check for division by zero: no kernel divides by a number that can be zero.
jit = numba.njit(cache=True, error_model="numpy")

# Small helpers of hot loops: handing arrays to a compiled function counts references, once for every call.
inlined = numba.njit(cache=True, error_model="numpy", inline="always")
