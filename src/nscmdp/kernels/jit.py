"""Kernels: functions that numba compiles when they are first called. Where they are kept: :mod:`nscmdp.kernels.cache`.

Numba is imported with the first kernel that runs: planning a study, which only reads what algorithms declare, does
without.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property, partial
from types import FunctionType
from typing import Any

from nscmdp.kernels.cache import kept_with, numba_with_our_cache

_IN_PYTHON = ContextVar("_IN_PYTHON", default=False)
_OPERATIONS: list[Callable[[], None]] = []  # what tells numba of operations, when it is there


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

    def __init__(self, function: Callable, borrows: bool = False, **options: Any) -> None:
        self.py_func, self.borrows, self.options = function, borrows, options
        self.__doc__, self.__name__ = function.__doc__, function.__name__
        self.__module__ = function.__module__

    @cached_property
    def dispatcher(self) -> Any:
        # error_model="numpy" leaves out the check for division by zero: no kernel divides by a number that can be zero.
        compiled = partial(numba_module().njit, error_model="numpy", **self.options)
        with kept_with(self.__module__) as cached:
            if not self.borrows:
                return compiled(cache=cached)(self.py_func)
            body, code = compiled(forceinline=True)(self.py_func), self.py_func.__code__
            entry = _lend.__code__.replace(
                co_name=self.__name__,
                co_filename=code.co_filename,
                co_firstlineno=code.co_firstlineno,
            )
            known = {"body": body, "borrowed": borrowed, "__name__": self.__module__}
            return compiled(cache=cached)(FunctionType(entry, known, self.__name__))

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

# Kernels that hand a learner on at every step. Copying an array, as handing it to an inlined function does, otherwise
# costs two atomic additions: a step takes four times as long without this, an evaluation nine times.
borrowing = partial(Kernel, borrows=True)


def _lend(*arguments):
    """The entry of a kernel that borrows: in the function that borrows, numba would take writes for dead code."""
    return body(*borrowed(arguments))  # type: ignore[name-defined]  # noqa: F821


class Borrowed:
    """``borrowed(tuple of arrays, or of such tuples)``: the same without the handles that count references to them.

    The caller of the kernel holds the arrays as long as it runs, so nothing else needs to. What is borrowed must not be
    returned or stored.
    """

    def __call__(self, owned: Any) -> Any:
        return owned

    @cached_property
    def _numba_type_(self) -> Any:
        from numba.core.registry import cpu_target
        from numba.extending import intrinsic

        @intrinsic
        def borrow(_, owned):
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


def known_to_numba(operation: Callable, find: Callable[[Any], Callable | None]) -> None:
    """In kernels, ``operation(learner, ...)`` is what ``find`` finds for the learner's class, written in its place.

    This is numba.extending.overload, but for the compiling of each operation by itself, which nobody calls: that is a
    third of the time that kernels take. What it stands on is private to numba; without it the public way is taken.
    """

    def choose(learner: Any, *_: Any) -> Callable | None:
        return find(getattr(learner, "instance_class", None))

    def uncompiled(function: Callable) -> Any:
        dispatcher: Any = numba_module().njit(function)
        dispatcher._can_compile = False
        return dispatcher

    def declare() -> None:
        from numba import extending, types
        from numba.core.typing import templates

        if not hasattr(templates, "make_overload_template"):
            extending.overload(operation, inline="always", strict=False)(choose)
            return
        made = templates.make_overload_template(operation, choose, {}, False, "always")
        made._get_jit_decorator = lambda self: lambda **options: uncompiled
        templates.infer(made)
        templates.infer_global(operation, types.Function(made))

    _OPERATIONS.append(declare)


def numba_module() -> Any:
    numba, _ = numba_with_our_cache()
    while _OPERATIONS:
        _OPERATIONS.pop()()
    return numba
