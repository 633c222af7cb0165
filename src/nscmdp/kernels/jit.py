"""Compiled kernels and where they are kept.

Numba is imported when the first kernel runs: planning a study, which only reads what algorithms declare, does without.

Numba's own cache notices a change in the file of a compiled function, not in the functions that it calls. The cache
folder is therefore keyed by a hash of all sources that kernels are made from: an edit starts a fresh folder. Nor does
it notice that a file of its own has been damaged, so each ends with a checksum; one that does not is compiled again.

Kernels of a plug-in are kept in a folder of their own, keyed by its sources too: an edit there starts a fresh one and
leaves the others alone. Those of learners that are neither the package's nor a plug-in's are not kept.
"""

import hashlib
import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

from nscmdp.kernels.sources import PACKAGE, kernel_digest, plugin_digest


class Kernel:
    """A function that numba compiles when it is first called; kernels may call each other."""

    def __init__(self, function: Callable, *, keep: bool = True, **options: Any) -> None:
        self.py_func, self.keep, self.options = function, keep, options
        self.__doc__, self.__name__, self.__module__ = function.__doc__, function.__name__, function.__module__
        self._dispatchers: dict[str, Any] = {}

    @cached_property
    def dispatcher(self) -> Any:
        return self._made(self.__module__, self.keep)

    def of(self, module: str) -> Any:
        """This kernel for learners whose class is of some module, kept with the kernels of that module."""
        if module.partition(".")[0] == PACKAGE.name:
            return self.dispatcher
        if module not in self._dispatchers:
            self._dispatchers[module] = self._made(module, self.keep and plugin_digest(module) is not None)
        return self._dispatchers[module]

    def _made(self, module: str, keep: bool) -> Any:
        # error_model="numpy" leaves out the check for division by zero: no kernel divides by a number that can be zero.
        with kept_with(module):
            return numba_module().njit(cache=keep, error_model="numpy", **self.options)(self.py_func)

    def __call__(self, *arguments: Any) -> Any:
        return self.dispatcher(*arguments)

    def __getattr__(self, name: str) -> Any:
        """Numba asks a function that it finds in another for its type and options: those of the compiled one."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.dispatcher, name)


jit = Kernel

# Small helpers of hot loops: handing arrays to a compiled function counts references, once for every call.
inlined = partial(Kernel, inline="always")

# The body of a kernel whose arguments are borrowed: expanded in place, so that the compiler sees that they are.
expanded = partial(Kernel, forceinline=True)


class Borrowed:
    """``borrowed(array or tuple of arrays)``: the same without the handles that count references to it.

    Copying an array in a kernel, as handing it to an inlined function does, otherwise costs two atomic additions. The
    caller of the kernel holds the arrays as long as it runs, so nothing else needs to. What is borrowed must not be
    returned or stored, and must be handed to an ``expanded`` function: in the function that borrows, numba would take
    writes to it for dead code.
    """

    def __call__(self, owned: Any) -> Any:
        return owned

    @cached_property
    def _numba_type_(self) -> Any:
        from numba.core.registry import cpu_target
        from numba.extending import intrinsic

        @intrinsic
        def borrow(typing_context, owned):
            def generate(context, builder, signature, arguments):
                return _without_handles(context, builder, owned, arguments[0])

            return owned(owned), generate

        cpu_target.typing_context.refresh()
        return cpu_target.typing_context.resolve_value_type(borrow)


borrowed = Borrowed()


def _without_handles(context, builder, kind, value):
    from numba.core import cgutils, types

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


def overloaded(operation: Callable, choose: Callable[[Any], Callable | None]) -> None:
    """In kernels, ``operation(learner, ...)`` is what ``choose`` finds for the learner's class."""
    from numba.extending import overload

    @overload(operation, strict=False, inline="always")
    def implementation(learner: Any, *_: Any) -> Callable | None:
        return choose(getattr(learner, "instance_class", None))


OPERATIONS: list[Callable[[], None]] = []  # what declares the operations of learners, when numba is there


@cache
def numba_module() -> Any:
    import numba
    import numpy as np
    from numba.core import caching

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

        def _load_index(self):
            return super()._load_index() if is_sound(self._index_path) else {}

        def _load_data(self, name):
            if not is_sound(self._data_path(name)):
                raise OSError("numba compiles what it cannot load")
            return super()._load_data(name)

    versions = f"{numba.__version__} {np.__version__} {sys.version} {kernel_digest()}"
    numba.config.CACHE_DIR = str(cache_folder() / hashlib.sha256(versions.encode()).hexdigest()[:16])  # type: ignore[attr-defined]
    caching.IndexDataCacheFile = CheckedCacheFile  # type: ignore[misc]
    for declare in OPERATIONS:
        declare()
    return numba


@contextmanager
def kept_with(module: str) -> Iterator[None]:
    """Kernels that are declared meanwhile are kept with those of a module: a plug-in's apart from all others."""
    config, mine = numba_module().config, plugin_digest(module)
    usual = config.CACHE_DIR
    if mine is not None:
        config.CACHE_DIR = f"{usual}-{mine}"
    try:
        yield
    finally:
        config.CACHE_DIR = usual


def cache_folder() -> Path:
    """Where compiled kernels are kept: NSCMDP_CACHE, or the user's cache folder."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(os.environ.get("NSCMDP_CACHE") or os.path.join(base, "nscmdp"))


def is_sound(file: str) -> bool:
    try:
        content = Path(file).read_bytes()
    except FileNotFoundError:
        return True
    sound = hashlib.sha256(content[:-32]).digest() == content[-32:]
    if not sound:
        print(f"nscmdp: the compiled kernel {file} is damaged: compiling it again", file=sys.stderr, flush=True)
    return sound
