"""Compiled kernels and where they are kept.

Numba's own cache notices a change in the file of a compiled function, not in the functions that it calls. The cache
folder is therefore keyed by a hash of all sources that kernels are made from: an edit starts a fresh folder. Nor does
it notice that a file of its own has been damaged, so each ends with a checksum; one that does not is compiled again.
"""

import hashlib
import io
import os
import sys
from contextlib import contextmanager
from pathlib import Path

import numba
import numpy as np
from numba.core import caching, cgutils, types
from numba.extending import intrinsic

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


class CheckedCacheFile(caching.IndexDataCacheFile):
    """Numba's cache of a function: an index and a file for each signature, with a checksum after what numba reads."""

    @contextmanager
    def _open_for_write(self, filepath):
        content = io.BytesIO()
        yield content
        try:
            with super()._open_for_write(filepath) as file:
                file.write(content.getvalue() + hashlib.sha256(content.getvalue()).digest())
        except OSError as error:
            error.filename = filepath  # a full disk does not say where
            raise

    def _load_index(self):
        return super()._load_index() if _is_sound(self._index_path) else {}

    def _load_data(self, name):
        if not _is_sound(self._data_path(name)):
            raise OSError("numba compiles what it cannot load")
        return super()._load_data(name)


def _is_sound(file: str) -> bool:
    try:
        content = Path(file).read_bytes()
    except FileNotFoundError:
        return True
    sound = hashlib.sha256(content[:-32]).digest() == content[-32:]
    if not sound:
        print(f"nscmdp: the compiled kernel {file} is damaged: compiling it again", file=sys.stderr, flush=True)
    return sound


numba.config.CACHE_DIR = str(cache_folder())  # type: ignore[attr-defined]
caching.IndexDataCacheFile = CheckedCacheFile  # type: ignore[misc]

# error_model="numpy" leaves out the check for division by zero: no kernel divides by a number that can be zero.
jit = numba.njit(cache=True, error_model="numpy")

# Small helpers of hot loops: handing arrays to a compiled function counts references, once for every call.
inlined = numba.njit(cache=True, error_model="numpy", inline="always")

# The body of a kernel whose arguments are borrowed: expanded in place, so that the compiler sees that they are.
expanded = numba.njit(cache=True, error_model="numpy", forceinline=True)


@intrinsic
def borrowed(typing_context, owned):
    """The same array, or tuple of arrays, without the handles that count references to it.

    Copying an array in a kernel, as handing it to an inlined function does, otherwise costs two atomic additions. The
    caller of the kernel holds the arrays as long as it runs, so nothing else needs to. What is borrowed must not be
    returned or stored, and must be handed to an ``expanded`` function: in the function that borrows, numba would take
    writes to it for dead code.
    """

    def generate(context, builder, signature, arguments):
        return _without_handles(context, builder, owned, arguments[0])

    return owned(owned), generate


def _without_handles(context, builder, kind, value):
    if isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder, value)
        array.meminfo = cgutils.get_null_value(array.meminfo.type)
        array.parent = cgutils.get_null_value(array.parent.type)
        return array._getvalue()
    if isinstance(kind, types.BaseTuple):
        parts = []
        for i, part in enumerate(list(kind)):  # type: ignore[call-overload]
            parts.append(_without_handles(context, builder, part, builder.extract_value(value, i)))
        return context.make_tuple(builder, kind, parts)
    return value
