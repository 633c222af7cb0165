"""Hashes of sources change with what decides a number and with nothing else: in a package made up here, and in ours."""

import ast
import functools
import textwrap

import pytest

from nscmdp import algorithms
from nscmdp.kernels import sources
from wei2023.runs.specifications import run_digest

PACKAGE = {
    "__init__.py": "",
    "main.py": """
        import fake.plainly
        from fake import beside
        from fake.sub import inner
        from fake.values import SIZE
        from typing import TYPE_CHECKING
        import numpy as np

        if TYPE_CHECKING:
            from fake.typing_only import Kind

        def work():
            import fake.in_a_function
            try:
                from fake.sub.deep import thing
            except ImportError:
                pass
        """,
    "plainly.py": "from fake import further",
    "further.py": "import fake.main  # and round again",
    "beside.py": "",
    "sub/deep.py": "thing = 1",
    "values.py": "SIZE = 3",
    "typing_only.py": "class Kind: ...",
    "unused.py": "from fake import of_the_unused",
}
EMPTY = "sub/__init__ sub/inner in_a_function of_the_unused simulate optimum kernels/one"
PACKAGE |= {f"{name}.py": "" for name in f"{EMPTY} algorithms/two".split()}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Makes a package with some files changed the one at hand; every version has a folder of its own."""
    versions = iter(range(1000))

    def make(**changed):
        folder = tmp_path / str(next(versions)) / "fake"
        changed = {key.replace("__", "/") + ".py": text for key, text in changed.items()}
        for name, text in (PACKAGE | changed).items():
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(dedented(text), encoding="utf-8")
        monkeypatch.setattr(sources, "PACKAGE", folder)
        sources.digest.cache_clear()
        return folder

    yield make
    sources.digest.cache_clear()


def dedented(text):
    return textwrap.dedent(text.strip("\n")) + "\n"


def files_of(module):
    return {file.relative_to(sources.PACKAGE).as_posix() for file in sources.closure(module)}


def test_a_module_needs_what_it_imports_wherever_it_does_and_what_that_imports(package):
    package()
    names = "main plainly further beside sub/__init__ sub/inner sub/deep values"
    names += " typing_only in_a_function"
    assert files_of("fake.main") == {f"{name}.py" for name in names.split()}
    assert files_of("fake.further") == files_of("fake.main")  # in a circle
    assert files_of("fake.unused") == {"unused.py", "of_the_unused.py"}
    assert files_of("fake.sub") == {"sub/__init__.py"}


def test_what_is_no_module_of_the_package_needs_nothing(package):
    package()
    assert files_of("fake.absent") == set()
    assert files_of("numpy") == set()


CODE = '''
    """A module."""

    import math


    class Kind:
        """A class."""

        size = 3


    def area(r, factor=2.0):
        """A function."""
        label = "area"
        return factor * math.pi * r**2


    async def later():
        """Another one."""
        return 1
    '''
SAME = {
    "a comment": ("import math", "import math  # of circles"),
    "a module's docstring": ("A module.", "Something else."),
    "a class's docstring": ("A class.", "Something else."),
    "a function's docstring": ("A function.", "Something else."),
    "a docstring of several lines": ("A function.", "A function.\n\n        of a circle\n        "),
    "no docstring": ('        """A function."""\n', ""),
    "a coroutine's docstring": ("Another one.", "Something else."),
    "layout": (
        "return factor * math.pi * r**2",
        "return (\n            factor * math.pi\n            * r ** 2\n        )",
    ),
    "quotes": ('"area"', "'area'"),
    "an empty line": ("import math\n", "import math\n\n\n\n"),
}
OTHER = {
    "a number": ("r**2", "r**3"),
    "an operator": ("factor * math", "factor / math"),
    "a name": ("size = 3", "sizes = 3"),
    "a default": ("factor=2.0", "factor=2.5"),
    "a text that is no docstring": ('"area"', '"Area"'),
    "an import": ("import math", "import math, cmath"),
    "a decorator": ("    def area", "    @staticmethod\n    def area"),
    "a text after the docstring": (
        '"""A class."""\n',
        '"""A class."""\n\n        "another text"\n',
    ),
    "a value of another type": ("size = 3", "size = 3.0"),
}


@pytest.mark.parametrize("change", [*SAME, *OTHER])
def test_code_decides_and_comments_docstrings_and_layout_do_not(package, change):
    old, new = (SAME | OTHER)[change]
    assert old in CODE
    digests = []
    for text in (CODE, CODE.replace(old, new)):
        package(values=text)
        digests.append(sources.digest("fake.main"))
    assert (digests[0] == digests[1]) is (change in SAME)


@pytest.mark.parametrize("file", [name for name in PACKAGE if name != "__init__.py"])
def test_the_hash_changes_with_every_file_that_is_needed_and_with_no_other(package, file):
    digests = []
    for text in (PACKAGE[file], PACKAGE[file] + "\nnew = 1\n"):
        folder = package()
        (folder / file).write_text(dedented(PACKAGE[file]) + text.removeprefix(PACKAGE[file]))
        needed = file in files_of("fake.main")
        digests.append(sources.digest("fake.main"))
    assert (digests[0] != digests[1]) is needed


def test_a_module_beside_counts_by_itself(package):
    digests, another = [], {"unused": "from fake import of_the_unused\nnew = 1"}
    for changed in ({}, another, {"of_the_unused": "new = 1"}):
        package(**changed)
        digests.append(sources.digest("fake.main", beside="fake.unused"))
    assert digests[0] == digests[2] != digests[1]
    assert sources.digest("fake.main") not in digests


def test_code_that_moves_to_another_file_changes_the_hash(package):
    digests = []
    for changed in ({"beside": "moved = 1"}, {"values": "SIZE = 3\nmoved = 1"}):
        package(**changed)
        digests.append(sources.digest("fake.main"))
    assert digests[0] != digests[1]


def test_compiled_kernels_count_by_every_byte(package):
    package()
    before = sources.kernel_digest()
    kernels = ("simulate", "optimum", "kernels__one", "algorithms__two")
    for file in (*kernels, "main", "values"):
        package(**{file: PACKAGE[file.replace("__", "/") + ".py"] + "\n# a comment"})
        assert (sources.kernel_digest() != before) is (file in kernels), file


def test_an_algorithm_needs_the_simulator_and_its_own_files_and_no_other_algorithm():
    simulator = files_of("nscmdp.simulate")
    shared = {"_triple_q.py", "_tables.py", "_frame_ends.py"}
    shared |= {"_bandit_over_bandit.py", "_inner.py", "_exp3.py"}
    names = "simulate optimum metrics cmdp drift randomness learner"
    names += " kernels/jit kernels/induction kernels/sampling"
    assert {f"{name}.py" for name in names.split()} <= simulator
    mine = files_of("nscmdp.algorithms.double_restart_triple_q") - simulator
    names = {"double_restart_triple_q.py", "nonstationary_triple_q.py", *shared}
    assert mine == {f"algorithms/{name}" for name in names}
    for algorithm in algorithms.OWN:
        needed = simulator | files_of(f"nscmdp.algorithms.{algorithm}")
        above = ("study/", "runs/", "analysis/", "report/", "cli")
        assert not [name for name in needed if name.startswith(above)]


def test_every_algorithm_has_a_hash_of_its_own():
    digests = {name: run_digest(name) for name in algorithms.OWN}
    assert len(set(digests.values())) == len(digests)


@functools.cache
def parsed():
    files = sorted(sources.PACKAGE.rglob("*.py"))
    return {file: ast.parse(file.read_text(encoding="utf-8")) for file in files}


def imported_from(tree):
    return [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]


def names_in(node):
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def test_imports_are_written_in_full():
    """A relative one would not be followed."""
    for file, tree in parsed().items():
        assert [node.lineno for node in imported_from(tree) if node.level > 0] == [], file


KERNEL_FILES = {file for pattern in sources.KERNELS for file in sources.PACKAGE.glob(pattern)}
COMPILES = {"jit", "inlined", "expanded", "operation", "default", "Kernel", "overloaded"}


def decorated(tree):
    """The functions of a file that are compiled."""
    for node in ast.walk(tree):
        decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else ()
        if any(names_in(one) & COMPILES for one in decorators):
            yield node


def test_every_file_that_is_compiled_is_among_the_sources_of_kernels():
    compiled = {file for file, tree in parsed().items() if any(decorated(tree))}
    importing = {
        file
        for file, tree in parsed().items()
        for node in imported_from(tree)
        if {alias.name for alias in node.names} & COMPILES
    }
    assert len(compiled) > 10
    assert compiled | importing <= KERNEL_FILES


def file_of(module, name):
    """Where a name that a module imports from another comes from: it may be a module itself."""
    stem = sources.PACKAGE.joinpath(*module.split(".")[1:])
    candidates = ((stem / name).with_suffix(".py"), stem.with_suffix(".py"), stem / "__init__.py")
    return next(file for file in candidates if file.is_file())


def test_compiled_functions_use_nothing_of_the_package_from_elsewhere():
    """A constant of another file would be compiled in, and its change would not be noticed."""
    elsewhere, looked_at = [], 0
    for file, tree in parsed().items():
        origin = {
            alias.asname or alias.name: file_of(node.module, alias.name)
            for node in imported_from(tree)
            if (node.module or "").partition(".")[0] == "nscmdp"
            for alias in node.names
        }
        for function in decorated(tree):
            used = names_in(function) & origin.keys()
            looked_at += len(used)
            foreign = [name for name in used if origin[name] not in KERNEL_FILES]
            elsewhere += [(file.name, function.name, name) for name in foreign]
    assert looked_at > 50
    assert elsewhere == []
