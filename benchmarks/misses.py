"""How often the loop misses the caches, counted by valgrind, as the number of states grows.

What is watched is the loop in C, which reads and writes as our kernel does: a program on its own starts at once under
valgrind, Python with its compiled kernels in minutes. Counted are a data cache of 32 KiB and one of 512 KiB
behind it; what starting and reading cost is taken off by playing twice, half as many episodes the second time.
"""

import ctypes
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks import c_loop
from benchmarks.cases import Case
from benchmarks.loops import Loop
from nscmdp import simulate

CACHES = ("--D1=32768,8,64", "--LL=524288,8,64")
ALIGN = 64


class Misses(NamedTuple):
    world: str
    states: int
    accesses: float  # of data, a step
    misses_32k: float
    misses_512k: float


def available() -> bool:
    return shutil.which("valgrind") is not None


def count(cases: list[tuple[str, Case]]) -> Iterator[Misses]:
    with tempfile.TemporaryDirectory() as folder:
        program, image = Path(folder) / "play_image", Path(folder) / "image"
        c_loop.compile_c(
            program, str(c_loop.SOURCES / "main/play_image.c"), str(c_loop.SOURCES / "triple_q.c")
        )
        for world, case in cases:
            loop = Loop(case)
            write_image(loop, image)
            half, all_of_it = (watched(program, image, n) for n in (loop.chunk // 2, loop.chunk))
            steps = (loop.chunk - loop.chunk // 2) * loop.env.H
            yield Misses(world, loop.env.S, *((all_of_it - half) / steps).tolist())


def watched(program: Path, image: Path, episodes: int) -> np.ndarray:
    """Accesses to data, and misses of the first and of the second cache."""
    command = [
        "valgrind",
        "--tool=cachegrind",
        "--cache-sim=yes",
        "--cachegrind-out-file=/dev/null",
        *CACHES,
    ]
    done = subprocess.run(
        [*command, str(program), str(image), str(episodes)],
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [
        re.search(rf"{name}:\s+([\d,]+)", done.stderr)
        for name in ("D\\s+refs", "D1\\s+misses", "LLd misses")
    ]
    return np.array([int(line[1].replace(",", "")) for line in lines if line])


def in_all() -> simulate.Record:
    """Room for what all episodes together earn; no policy is evaluated."""
    return simulate.Record(*np.zeros((3, 1)), np.empty(0, np.int64), np.empty((0, 2)))


def write_image(loop: Loop, file: Path) -> None:
    """The game and the learner, with all arrays that they point to, as ``play_image.c`` reads them."""
    side = c_loop.InC(loop.tables, loop.case.learner(loop.problem))
    content, places = bytearray(), list[int]()

    def append(data: bytes) -> int:
        content.extend(bytes(-len(content) % ALIGN))
        content.extend(data)
        return len(content) - len(data)

    def place(structure: ctypes.Structure) -> int:
        start = append(bytes(structure))
        point(structure, start)
        return start

    def point(structure: ctypes.Structure, start: int) -> None:
        for name, kind in structure._fields_:  # type: ignore[misc]
            where, value = start + getattr(type(structure), name).offset, structure.alive[name]  # type: ignore[attr-defined]
            if kind is ctypes.c_void_p:
                content[where : where + 8] = append(np.asarray(value).tobytes()).to_bytes(
                    8, "little"
                )
                places.append(where)
            elif isinstance(value, ctypes.Structure):
                point(value, where)

    game = place(side.game(1, loop.draws[0], in_all()))
    learner = place(side.state)
    content.extend(bytes(-len(content) % ALIGN))
    header = np.array([len(content), len(places), game, learner, *places], np.int64)
    file.write_bytes(header.tobytes() + bytes(content))
