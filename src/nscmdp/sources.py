"""Which source files decide a result, and a hash of them.

A module's result depends on its own file and on those of the package that it imports, directly or not. So an edit in
one algorithm's file changes the hash of that algorithm's simulations and of nothing else.
"""

import hashlib
import re
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent
IMPORT = re.compile(r"^ *(?:from|import) (nscmdp[\w.]*)(?: import (\([^)]*\)|[^#\n]*))?", re.MULTILINE)


@cache
def digest(*modules: str) -> str:
    """A hash of the sources of these modules ("nscmdp.simulate") and of all that they import from the package."""
    files = sorted({file for module in modules for file in closure(module)})
    content = hashlib.sha256()
    for file in files:
        content.update(f"{file.relative_to(PACKAGE).as_posix()}\0".encode())
        content.update(file.read_bytes())
    return content.hexdigest()[:16]


def closure(module: str) -> frozenset[Path]:
    """The files that a module of the package needs, its own included."""
    found: set[Path] = set()
    waiting = [module]
    while waiting:
        file = _file(waiting.pop())
        if file is None or file in found:
            continue
        found.add(file)
        waiting += _imports(file)
    return frozenset(found)


def _file(module: str) -> Path | None:
    parts = module.split(".")[1:]
    for candidate in (PACKAGE.joinpath(*parts).with_suffix(".py"), PACKAGE.joinpath(*parts, "__init__.py")):
        if parts and candidate.is_file():
            return candidate
    return None


@cache
def _imports(file: Path) -> tuple[str, ...]:
    """By pattern: every worker asks, and to parse the sources would take longer than to read the kernels."""
    names = []
    for module, listed in IMPORT.findall(file.read_text()):
        names += [module, *(f"{module}.{name.split()[0]}" for name in listed.strip("()").split(",") if name.strip())]
    return tuple(names)


def run_digest(algorithm: str) -> str:
    """Decides, with the environment and the constants, the numbers of a simulation."""
    return digest("nscmdp.simulate", f"nscmdp.algorithms.{algorithm}")


def tuning_digest(algorithm: str) -> str:
    """Decides, with the environment and the effort, what tuning picks."""
    rule = (PACKAGE / "tuning.py").read_bytes()
    return hashlib.sha256(run_digest(algorithm).encode() + rule).hexdigest()[:16]


def optimum_digest() -> str:
    """Decides, with the environment, the numbers of an optimum."""
    return digest("nscmdp.optimum", "nscmdp.randomness")


def kernel_digest() -> str:
    """Decides every compiled kernel."""
    learners = [f"nscmdp.algorithms.{file.stem}" for file in (PACKAGE / "algorithms").glob("*.py")]
    return digest("nscmdp.simulate", "nscmdp.optimum", *learners)
