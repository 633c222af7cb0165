"""Kernels are compiled when they are called, kept by a key, and never run from a damaged file."""

import hashlib
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numba.core import event

from nscmdp.kernels import cache, jit
from nscmdp.kernels.jit import borrowed, borrowing, inlined

FACTOR = 1.2345678912345

# Compiles a kernel, flips a bit of the constant in its machine code, and loads it as a new process would.
DAMAGED = f"""
import importlib.util, sys
from pathlib import Path

def load(source):
    specification = importlib.util.spec_from_file_location("kernel", source)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module.scaled

print(load(sys.argv[1])(1.0))
(file,) = Path(sys.argv[2]).rglob("*.nbc")
code, constant = bytearray(file.read_bytes()), bytes.fromhex({struct.pack("<d", FACTOR).hex()!r})
place = code.find(constant)
print(place)
code[place + 6] ^= 4
file.write_bytes(code)
print(load(sys.argv[1])(1.0))
"""


def after_damage(folder, decorator):
    """What a kernel that multiplies returns before its file is damaged and after, and what is said."""
    source, cache = folder / "kernel.py", folder / "cache"
    source.write_text(f"{decorator}\ndef scaled(x):\n    return {FACTOR!r} * x\n")
    variables = {"NUMBA_CACHE_DIR": str(cache), "NSCMDP_CACHE": str(cache)}
    command = [sys.executable, "-c", DAMAGED, str(source), str(cache)]
    done = subprocess.run(
        command, env=os.environ | variables, capture_output=True, text=True, check=True
    )
    before, place, after = map(float, done.stdout.split())
    if place < 0:
        pytest.skip("on this processor the constant does not stand in the code as it is")
    return before, after, done.stderr


def test_numba_alone_runs_a_damaged_kernel_and_returns_wrong_numbers(tmp_path):
    """Why there is a checksum: if this fails, numba has begun to look for itself."""
    before, after, said = after_damage(tmp_path, "import numba\n\n@numba.njit(cache=True)")
    assert before == FACTOR
    assert after != FACTOR
    assert said == ""


def test_a_kernel_of_ours_is_compiled_again(tmp_path):
    before, after, said = after_damage(tmp_path, "from nscmdp.kernels.jit import jit\n\n@jit")
    assert before == after == FACTOR
    assert "is damaged: compiling it again" in said


def test_a_file_is_sound_if_it_ends_with_the_checksum_of_what_stands_before(tmp_path, capsys):
    content = b"machine code"
    sound, damaged, foreign, empty, absent = (
        tmp_path / name for name in ("sound", "damaged", "foreign", "empty", "no")
    )
    sound.write_bytes(content + hashlib.sha256(content).digest())
    damaged.write_bytes(b"Machine code" + hashlib.sha256(content).digest())
    foreign.write_bytes(content)
    empty.write_bytes(b"")
    assert cache.is_sound(str(sound))
    assert cache.is_sound(str(absent))  # there is nothing to distrust
    assert capsys.readouterr().err == ""
    for file in (damaged, foreign, empty):
        assert not cache.is_sound(str(file))
        assert f"{file} is damaged" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"NSCMDP_CACHE": "/mine", "XDG_CACHE_HOME": "/xdg"}, "/mine"),
        ({"XDG_CACHE_HOME": "/xdg"}, "/xdg/nscmdp"),
        ({"NSCMDP_CACHE": "", "XDG_CACHE_HOME": ""}, "/home/somebody/.cache/nscmdp"),
        ({}, "/home/somebody/.cache/nscmdp"),
    ],
)
def test_kernels_are_kept_where_the_user_says(monkeypatch, variables, expected):
    for name in ("NSCMDP_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "/home/somebody", **variables}.items():
        monkeypatch.setenv(name, value)
    assert cache.cache_folder() == Path(expected)


def test_where_numba_keeps_its_own_otherwise_nothing_is_kept(tmp_path):
    script = (
        "from numba.core import caching\n"
        "del caching.IndexDataCacheFile._load_data\n"
        "from nscmdp.kernels.jit import jit\n"
        "print(jit(lambda x: 2 * x)(21))\n"
    )
    command, kept = [sys.executable, "-c", script], {"NSCMDP_CACHE": str(tmp_path)}
    done = subprocess.run(command, env=os.environ | kept, capture_output=True, text=True)
    assert done.stdout == "42\n"
    assert "kernels are not kept" in done.stderr
    assert not any(tmp_path.iterdir())


def test_kernels_lie_in_a_folder_that_the_sources_of_kernels_decide():
    script = (
        "from nscmdp.kernels import cache, jit\n"
        "cache.kernel_digest = lambda: {digest!r}\n"
        "print(jit.numba_module().config.CACHE_DIR)\n"
    )
    folders = []
    for digest in ("one", "one", "another"):
        command = [sys.executable, "-c", script.format(digest=digest)]
        done = subprocess.run(
            command, env=os.environ | {"NSCMDP_CACHE": "/kept"}, capture_output=True, text=True
        )
        folders.append(Path(done.stdout.strip()))
    assert folders[0] == folders[1] != folders[2]
    assert {folder.parent for folder in folders} == {Path("/kept")}


class Counter(NamedTuple):
    steps: np.ndarray


def step(counter, by):
    """An operation, as learners have them."""


def step_of_counter(counter, by):
    counter.steps[0] += by
    return counter.steps[0]


@jit.jit
def two_steps(counter):
    return step(counter, 1) + step(counter, 2)


def test_an_operation_is_compiled_where_it_is_called_and_not_by_itself():
    jit.known_to_numba(step, lambda found: step_of_counter if found is Counter else None)
    jit.numba_module()
    with event.install_recorder("numba:compile") as recorded:
        assert two_steps(Counter(np.zeros(1))) == 1 + 3
    compiled = {str(one.data["dispatcher"]) for _, one in recorded.buffer}
    assert any("two_steps" in name for name in compiled)
    assert not any("step_of_counter" in name for name in compiled)


def test_learners_may_be_imported_after_the_first_kernel_has_run():
    script = (
        "import numpy as np\n"
        "from nscmdp.kernels import induction\n"
        "induction.reach_of(np.zeros((1, 2, 1, 1), np.uint32), np.ones(2), 1)\n"
        "from nscmdp import environments, simulate\n"
        "print(simulate.run(environments.make('menu', 3), 'uniform', solve=False).exact)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "True\n"


# Prints how often a kernel of the package had to be compiled, and where it is kept.
FOLLOWED = """
import numpy as np
from nscmdp.kernels import induction
induction.reach_of(np.zeros((1, 2, 1, 1), np.uint32), np.ones(2), 1)
print(len(induction.follow_all.stats.cache_misses), induction.__file__)
"""


def test_copies_of_the_package_share_their_kernels(tmp_path):
    shutil.copytree(cache.PACKAGE, tmp_path / "copy" / cache.PACKAGE.name)
    said = []
    for folder in (cache.PACKAGE.parent, tmp_path / "copy"):
        variables = {"PYTHONPATH": str(folder), "NSCMDP_CACHE": str(tmp_path / "cache")}
        command = [sys.executable, "-c", FOLLOWED]
        done = subprocess.run(
            command, env=os.environ | variables, capture_output=True, text=True, check=True
        )
        said.append(done.stdout.split())
    assert [misses for misses, _ in said] == ["1", "0"]
    assert said[1][1].startswith(str(tmp_path))


def test_kernels_for_other_arguments_share_no_file(tmp_path, monkeypatch):
    """Numba keeps them in one index: processes that compile at the same time could be given each other's code."""
    monkeypatch.setattr(jit.numba_module().config, "CACHE_DIR", str(tmp_path))
    twice = jit.Kernel(lambda x: 2 * x)

    def kept():
        return {file: file.read_bytes() for file in tmp_path.rglob("*.nb?")}

    assert twice(21) == 42
    of_integers = kept()
    assert twice(1.5) == 3.0
    assert len(of_integers) == 2  # an index and the code
    assert len(kept()) == 4
    assert kept().items() > of_integers.items()


@inlined
def doubled(x):
    return 2.0 * x


@borrowing
def filled(out, x):
    """Fills."""
    for i in range(len(out)):
        out[i] = doubled(x) + i
    return out[0]


def test_kernels_call_each_other_and_write_what_they_borrow():
    out = np.zeros(3)
    assert filled(out, 1.5) == 3.0
    np.testing.assert_array_equal(out, [3.0, 4.0, 5.0])


def test_a_kernel_keeps_its_name_its_text_and_its_python():
    assert (filled.__name__, filled.__doc__, filled.__module__) == ("filled", "Fills.", __name__)
    assert doubled.py_func(4.0) == 8.0
    assert filled.stats.cache_path
    array = np.zeros(1)
    assert borrowed(array) is array
