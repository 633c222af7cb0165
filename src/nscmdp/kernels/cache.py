"""Where compiled kernels are kept.

Numba's own cache notices a change in the file of a compiled function, not in the functions that it calls. The cache
folder is therefore keyed by a hash of all sources that kernels are made from: an edit starts a fresh folder. Kernels of
a plug-in are kept in a folder of their own, keyed by its sources too: an edit there starts a fresh one and leaves the
others alone. Those of learners that are neither the package's nor a plug-in's are not kept.

Nor does numba notice that a file has been damaged, or that two processes add to one index: it runs what it
finds, and returns wrong numbers. So each file ends with a checksum, and each combination of argument types has
an index of its own. For this the module stands on two private classes of numba, ``IndexDataCacheFile`` and
``UserProvidedCacheLocator``; where they have changed, nothing is kept and every process compiles its kernels.
"""

import hashlib
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from nscmdp.kernels.sources import PACKAGE, kernel_digest, plugin_digest

# What is overridden of numba's private classes.
OVERRIDDEN = {
    "IndexDataCacheFile": ("load", "save", "_open_for_write", "_load_index", "_load_data"),
    "UserProvidedCacheLocator": ("get_suitable_cache_subpath",),
}


def is_known(caching: Any) -> bool:
    """Has numba's caching what this module stands on?"""
    found = {name: getattr(caching, name, None) for name in OVERRIDDEN}
    overridden = all(hasattr(found[name], one) for name in found for one in OVERRIDDEN[name])
    return overridden and hasattr(getattr(caching, "CacheImpl", None), "_locator_classes")


@cache
def numba_with_our_cache() -> tuple[Any, bool]:
    """Numba, and whether kernels are kept."""
    import numba
    from numba.core import caching

    if not is_known(caching):
        said = f"nscmdp: kernels are not kept: numba {numba.__version__} keeps its own otherwise"
        print(said, file=sys.stderr, flush=True)
        return numba, False

    class CheckedCacheFile(caching.IndexDataCacheFile):
        """Numba's cache of a function: an index and a file for each signature, and a checksum after what it reads."""

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

        def load(self, key):
            return super(CheckedCacheFile, file).load(key) if (file := self._for(key)) else None

        def save(self, key, data):
            if file := self._for(key):
                super(CheckedCacheFile, file).save(key, data)

        def _for(self, key):
            """The cache for some types of arguments: learners of plug-ins have theirs, others from outside none."""
            digests = [plugin_digest(module) for module in sorted(outside(key[0]))]
            if None in digests:
                return None
            usual = Path(self._cache_path)
            folder = usual.parent.with_name("-".join([usual.parent.name, *map(str, digests)]))
            folder /= usual.name
            folder.mkdir(parents=True, exist_ok=True)
            types = hashlib.sha256(repr(key).encode()).hexdigest()[:16]
            name = f"{self._index_name.removesuffix('.nbi')}-{types}"
            return CheckedCacheFile(str(folder), name, self._source_stamp)

        def _load_index(self):
            return super()._load_index() if is_sound(self._index_path) else {}

        def _load_data(self, name):
            if not is_sound(self._data_path(name)):
                raise OSError("numba compiles what it cannot load")
            return super()._load_data(name)

    class Locator(caching.UserProvidedCacheLocator):
        """Where the package lies decides nothing about its kernels: copies of it share them."""

        @classmethod
        def get_suitable_cache_subpath(cls, py_file):
            folder = Path(py_file).parent
            inside = folder.is_relative_to(PACKAGE)
            return folder.name if inside else super().get_suitable_cache_subpath(py_file)

    numba.config.CACHE_DIR = str(folder())  # type: ignore[attr-defined]
    caching.IndexDataCacheFile = CheckedCacheFile  # type: ignore[misc]
    caching.CacheImpl._locator_classes.insert(0, Locator)
    return numba, True


def outside(kinds: Any) -> set[str]:
    """The modules from outside this package that learners among some types are of."""
    found: set[str] = set()
    for kind in getattr(kinds, "args", kinds):
        module = getattr(getattr(kind, "instance_class", None), "__module__", PACKAGE.name)
        if module.partition(".")[0] != PACKAGE.name:
            found.add(module)
        found |= outside(getattr(kind, "types", ()))
    return found


@contextmanager
def kept_with(module: str) -> Iterator[bool]:
    """Kernels declared meanwhile are kept with those of a module, a plug-in's apart; yields whether they are."""
    numba, kept = numba_with_our_cache()
    usual, mine = numba.config.CACHE_DIR, plugin_digest(module)
    if mine is not None:
        numba.config.CACHE_DIR = f"{usual}-{mine}"
    try:
        yield kept
    finally:
        numba.config.CACHE_DIR = usual


def folder(module: str = PACKAGE.name) -> Path:
    """Where the kernels of a module are kept: a plug-in's apart from all others."""
    versions = f"{version('numba')} {version('numpy')} {sys.version} {kernel_digest()}"
    digests = [hashlib.sha256(versions.encode()).hexdigest()[:16], plugin_digest(module)]
    return cache_folder() / "-".join(filter(None, digests))


def cache_folder() -> Path:
    """Where compiled kernels are kept: NSCMDP_CACHE, or the user's cache folder."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(os.environ.get("NSCMDP_CACHE") or os.path.join(base, "nscmdp"))


def is_sound(file: str) -> bool:
    """Does a file end with the checksum of the rest, or is there none?"""
    try:
        content = Path(file).read_bytes()
    except FileNotFoundError:
        return True
    sound = hashlib.sha256(content[:-32]).digest() == content[-32:]
    if not sound:
        said = f"nscmdp: the compiled kernel {file} is damaged: compiling it again"
        print(said, file=sys.stderr, flush=True)
    return sound
