"""Algorithms and environments from outside the package, used by their names like its own.

A file, named under ``plugins`` in the configuration, after ``--plugin`` on the command line, or in :func:`load`:

    my_learner.py with a function ``learner``            is the algorithm my_learner
    my_world.py with a function ``my_world``             is the environment my_world

An installed package, by an entry point NAME = "package.module" for such a module, in one of the groups

    nscmdp.algorithms, nscmdp.environments

What a plug-in's results depend on is its own sources and what it imports of the package: see ``kernels/sources.py``.
"""

import sys
from collections.abc import Iterable
from functools import cache
from importlib import import_module, metadata, util
from pathlib import Path
from types import ModuleType

from nscmdp.kernels import sources

KINDS = ("algorithms", "environments")
PREFIX = "nscmdp_plugin_"  # of a file's module: my_learner.py hides no other module of that name
_FILES: dict[str, tuple[Path, str]] = {}  # by name: the files that were loaded, as they were named
_KINDS: dict[str, str] = {}  # by name: algorithm or environment


class Unusable(ValueError):
    """A plug-in that cannot be used; the message is one line that names it."""


def load(files: Iterable[str | Path]) -> None:
    """Make the algorithms and environments of some files known. What is known already stays as it is."""
    for given in files:
        file, name = Path(given).resolve(), Path(given).stem
        if name in _FILES and _FILES[name][0] == file:
            continue
        if not file.is_file():
            raise Unusable(f"plug-in {given}: there is no such file")
        if not name.isidentifier():
            raise Unusable(
                f"plug-in {given}: expected a file whose name is one of Python's, such as my_learner.py"
            )
        if name in _FILES or any(name in packaged(kind) for kind in KINDS):
            known = _FILES[name][1] if name in _FILES else "an installed package"
            raise Unusable(f"plug-in {given}: {name} is known already, from {known}")
        if any((sources.PACKAGE / kind / f"{name}.py").is_file() for kind in KINDS):
            raise Unusable(
                f"plug-in {given}: {name} is one of the package's own names; rename the file"
            )
        imported = _imported(file, name)
        functions = {"algorithms": "learner", "environments": name}
        kinds = [kind for kind in KINDS if callable(getattr(imported, functions[kind], None))]
        if not kinds:
            raise Unusable(
                f"plug-in {given}: expected a function learner (an algorithm) or {name} (an environment)"
            )
        _KINDS[name], _FILES[name] = kinds[0], (file, str(given))


def _imported(file: Path, name: str) -> ModuleType:
    spec = util.spec_from_file_location(PREFIX + name, file)
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    sys.modules[spec.name] = module
    sources.PLUGINS[spec.name] = file
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[spec.name], sources.PLUGINS[spec.name]
        raise Unusable(
            f"plug-in {file.name} cannot be imported: {type(error).__name__}: {error}"
        ) from error
    return module


def names(kind: str) -> tuple[str, ...]:
    """All plug-ins of a kind, "algorithms" or "environments"."""
    loaded = (name for name, known in _KINDS.items() if known == kind)
    return tuple(sorted({*packaged(kind), *loaded}))


def module(kind: str, name: str) -> ModuleType | None:
    """The module of a plug-in; None where there is none of this name."""
    if _KINDS.get(name) == kind:
        return sys.modules[PREFIX + name]
    target = packaged(kind).get(name)
    if target is None:
        return None
    try:
        found = import_module(target)
    except Exception as error:
        raise Unusable(
            f"plug-in {name} ({target}) cannot be imported: {type(error).__name__}: {error}"
        ) from error
    package = sys.modules[target.partition(".")[0]]
    if package.__file__ is not None:
        file = Path(package.__file__)
        sources.PLUGINS[package.__name__] = file.parent if file.name == "__init__.py" else file
    return found


@cache
def packaged(kind: str) -> dict[str, str]:
    """By name: the modules that installed packages offer."""
    return {one.name: one.value for one in metadata.entry_points(group=f"nscmdp.{kind}")}


def files_of(used: Iterable[str]) -> list[str]:
    """The files behind some names, for another process to load: what is installed it finds by itself."""
    return sorted(_FILES[name][1] for name in {*used} if name in _FILES)


def unknown(word: object, known: Iterable[str], what: str = "unknown") -> str:
    """Says of a name that does not exist the nearest one that does: unknown key, did you mean seeds? (expected ...)"""
    import difflib

    names = list(known)
    near = difflib.get_close_matches(str(word).lower(), names, n=1)
    hint = f", did you mean {near[0]}?" if near else ""
    return f"{what}{hint} (expected {'one of ' + ', '.join(names) if names else 'none'})"
