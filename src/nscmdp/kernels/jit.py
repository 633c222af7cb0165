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
from contextvars import ContextVar
from functools import cache, cached_property, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from nscmdp.kernels.sources import PACKAGE, kernel_digest, plugin_digest

_IN_PYTHON = ContextVar("_IN_PYTHON", default=False)


@contextmanager
def in_python() -> Iterator[None]:
    """Kernels that are called in this context run as they are written, for a debugger to step through."""
    before = _IN_PYTHON.set(True)
    try:
        yield
    finally:
        _IN_PYTHON.reset(before)


class Kernel:
    """A function that numba compiles when it is first called; kernels may call each other."""

    def __init__(self, function: Callable, **options: Any) -> None:
        self.py_func, self.options = function, options
        self.__doc__, self.__name__, self.__module__ = (
            function.__doc__,
            function.__name__,
            function.__module__,
        )

    @cached_property
    def dispatcher(self) -> Any:
        # error_model="numpy" leaves out the check for division by zero: no kernel divides by a number that can be zero.
        with kept_with(self.__module__):
            return numba_module().njit(cache=True, error_model="numpy", **self.options)(
                self.py_func
            )

    def __call__(self, *arguments: Any) -> Any:
        return (self.py_func if _IN_PYTHON.get() else self.dispatcher)(*arguments)

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
    """In kernels, ``operation(learner, ...)`` is what ``choose`` finds for the learner's class, written in its place.

    As numba.extending.overload does it, but for the compiling of each operation by itself, which nobody calls: that is
    a third of the time that kernels take.
    """
    from numba import njit, types
    from numba.core.typing.templates import infer, infer_global, make_overload_template

    def implementation(learner: Any, *_: Any) -> Callable | None:
        return choose(getattr(learner, "instance_class", None))

    def uncompiled(function: Callable) -> Any:
        dispatcher: Any = njit(function)
        dispatcher._can_compile = False
        return dispatcher

    template = make_overload_template(operation, implementation, {}, strict=False, inline="always")
    template._get_jit_decorator = lambda self: lambda **options: uncompiled
    infer(template)
    infer_global(operation, types.Function(template))


OPERATIONS: list[
    Callable[[], None]
] = []  # what declares the operations of learners, when numba is there


def numba_module() -> Any:
    numba = _prepared()
    while OPERATIONS:
        OPERATIONS.pop()()
    return numba


@cache
def _prepared() -> Any:
    import numba
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

        def load(self, key):
            return super(CheckedCacheFile, file).load(key) if (file := self._for(key)) else None

        def save(self, key, data):
            if file := self._for(key):
                super(CheckedCacheFile, file).save(key, data)

        def _for(self, key):
            """The cache for some types of arguments: learners of plug-ins have theirs, others from outside none.

            It holds nothing else: of two processes that add to one index, each could be given the other's kernel.
            """
            digests = [plugin_digest(module) for module in sorted(outside(key[0]))]
            if None in digests:
                return None
            usual, types = (
                Path(self._cache_path),
                hashlib.sha256(repr(key).encode()).hexdigest()[:16],
            )
            folder = (
                usual.parent.with_name("-".join([usual.parent.name, *map(str, digests)]))
                / usual.name
            )
            folder.mkdir(parents=True, exist_ok=True)
            return CheckedCacheFile(
                str(folder), f"{self._index_name.removesuffix('.nbi')}-{types}", self._source_stamp
            )

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
            return (
                folder.name
                if folder.is_relative_to(PACKAGE)
                else super().get_suitable_cache_subpath(py_file)
            )

    numba.config.CACHE_DIR = str(folder())  # type: ignore[attr-defined]
    caching.IndexDataCacheFile = CheckedCacheFile  # type: ignore[misc]
    caching.CacheImpl._locator_classes.insert(0, Locator)
    return numba


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
    try:
        content = Path(file).read_bytes()
    except FileNotFoundError:
        return True
    sound = hashlib.sha256(content[:-32]).digest() == content[-32:]
    if not sound:
        print(
            f"nscmdp: the compiled kernel {file} is damaged: compiling it again",
            file=sys.stderr,
            flush=True,
        )
    return sound
