"""Which sources decide a result, and a hash of them.

A module's result depends on its own file and on those of the package that it imports, directly or not. So an edit in
one algorithm's file changes the hash of that algorithm's simulations and of nothing else. Files count by their syntax
trees: comments and docstrings decide nothing. Compiled kernels, which every process looks for, count by bytes. A
plug-in is a root of its own beside the package: a file, or a package elsewhere.
"""

import ast
import hashlib
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
# By top-level module: the folder of another package that is built on this one, ...
OTHERS: dict[str, Path] = {}
PLUGINS: dict[str, Path] = {}  # ... and of a plug-in's package, or its file
KERNELS = ("simulate.py", "learner.py", "optimum.py", "kernels/*.py", "algorithms/*.py")


@cache
def digest(*modules: str, beside: str | tuple[str, ...] = ()) -> str:
    """A hash of these modules ("nscmdp.simulate"), of all that they import from the package, and of some beside them.

    Those count by themselves: what they import of files and folders decides no number.
    """
    content, named = hashlib.sha256(), (beside,) if isinstance(beside, str) else beside
    alone = {file for module in named if (file := _file(module)) is not None}
    for file in sorted({file for module in modules for file in closure(module)} | alone):
        content.update(f"{_label(file)}\0{_code(file)}\0".encode())
    return content.hexdigest()[:16]


def kernel_digest() -> str:
    """Decides every compiled kernel."""
    content = hashlib.sha256()
    for file in sorted(file for pattern in KERNELS for file in PACKAGE.glob(pattern)):
        content.update(f"{file.relative_to(PACKAGE).as_posix()}\0".encode() + file.read_bytes())
    return content.hexdigest()[:16]


def plugin_digest(module: str) -> str | None:
    """Decides, beside :func:`kernel_digest`, the kernels of a plug-in's module; None of what is no plug-in."""
    if module.partition(".")[0] not in PLUGINS:
        return None
    content = hashlib.sha256()
    for file in sorted(file for file in closure(module) if not file.is_relative_to(PACKAGE)):
        content.update(f"{_label(file)}\0".encode() + file.read_bytes())
    return content.hexdigest()[:16]


def closure(module: str) -> frozenset[Path]:
    """The files that a module of the package needs, its own included."""
    found: set[Path] = set()
    waiting = [module]
    while waiting:
        file = _file(waiting.pop())
        if file is not None and file not in found:
            found.add(file)
            waiting += imports(file)
    return frozenset(found)


def imports(file: Path) -> list[str]:
    """The names of the package or a plug-in that a file imports, wherever in it: modules, or what stands in them."""
    return [
        name
        for name in _imported(file)
        if name.partition(".")[0] in {PACKAGE.name, *OTHERS, *PLUGINS}
    ]


@cache
def _imported(file: Path) -> list[str]:
    names: list[str] = []
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return names


def _file(module: str) -> Path | None:
    top, *parts = module.split(".")
    root = PACKAGE if top == PACKAGE.name else OTHERS.get(top, PLUGINS.get(top))
    if root is None or root.is_file():
        return root
    for candidate in (
        root.joinpath(*parts).with_suffix(".py"),
        root.joinpath(*parts, "__init__.py"),
    ):
        if (parts or root != PACKAGE) and candidate.is_file():
            return candidate
    return None


def _label(file: Path) -> str:
    """Where a file stands below its root: not where that is on this machine."""
    roots = {PACKAGE.name: PACKAGE, **OTHERS, **PLUGINS}
    for name, root in roots.items():
        if root != file and file.is_relative_to(root):
            return f"{name}/{file.relative_to(root).as_posix()}"
    return file.name


@cache
def _code(file: Path) -> str:
    """The syntax tree without docstrings, as text."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(
            node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        ) and ast.get_docstring(node, clean=False):
            node.body = node.body[1:]
    return ast.dump(tree)
