"""``loop.c``, compiled on the spot by the system's compiler and called with the arrays of our learners."""

import ctypes
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path as File
from typing import Any

import numpy as np

from nscmdp.algorithms._triple_q import FRAME, TripleQ
from nscmdp.algorithms.restart_q_ucb import RestartQ

SOURCE = File(__file__).with_name("loop.c")
# Fused multiply-adds would round differently and let the two sides play different episodes.
FLAGS = ("-O3", "-march=native", "-ffp-contract=off", "-std=c11", "-shared", "-fPIC", "-Wall", "-Wextra")

pointer, whole, real, flag = ctypes.c_void_p, ctypes.c_int64, ctypes.c_double, ctypes.c_bool


def _structure(name: str, **groups: tuple[Any, str]) -> type[ctypes.Structure]:
    fields = [(field, kind) for kind, names in groups.values() for field in names.split()]
    return type(name, (ctypes.Structure,), {"_fields_": fields})


Game = _structure(
    "Game",
    tables=(pointer, "outcomes start_threshold start_alias knots route luck whims reward utility"),
    sizes=(whole, "layers S A M H stops first n episodes windows"),
)
CTripleQ = _structure(
    "CTripleQ",
    tables=(pointer, "table initial rate bonus_q bonus_c memory"),
    constants=(real, "eta target offset bump cap_q cap_c decay floor"),
    sizes=(whole, "H S A frame decay_every rule"),
    flags=(flag, "keep_c before"),
    weight=(real, "weight"),
)
CRestartQ = _structure(
    "CRestartQ",
    tables=(pointer, "table initial stage_ends bonus drift clock"),
    sizes=(whole, "H S A epoch"),
)
LEARNERS = {TripleQ: ("play_triple_q", CTripleQ), RestartQ: ("play_restart_q", CRestartQ)}


class NoCompiler(RuntimeError):
    """There is nothing to compile loop.c with."""


def compiler() -> str:
    for name in (os.environ.get("CC"), "cc", "gcc", "clang"):
        if name and shutil.which(name):
            return name
    raise NoCompiler("no C compiler found: install gcc or clang, or name one in the variable CC")


def build() -> ctypes.CDLL:
    """The loop as a library; its file is gone when this returns, the loaded code stays."""
    with tempfile.TemporaryDirectory() as folder:
        library = File(folder) / "loop.so"
        command = [compiler(), *FLAGS, str(SOURCE), "-o", str(library), "-lm"]
        made = subprocess.run(command, capture_output=True, text=True, check=False)
        if made.returncode:
            raise RuntimeError(f"{' '.join(command)} failed:\n{made.stderr}")
        return ctypes.CDLL(str(library))


def player(library: ctypes.CDLL) -> Callable[..., None]:
    """A function with the arguments of ``nscmdp.simulate.play`` that plays in C; it evaluates no policy."""

    def play(drift, sampler, learner, model, first, luck, whims, asked, episodes, reward, utility, values, scratch):
        if len(asked):
            raise ValueError("the C loop plays, it does not evaluate policies")
        _, layers, states, actions, columns = sampler.outcomes.shape
        game = _filled(
            Game,
            {**sampler._asdict(), "knots": drift.knots, "route": drift.route, "luck": luck, "whims": whims},
            {"reward": reward, "utility": utility, "layers": layers, "S": states, "A": actions, "M": columns},
            {"H": whims.shape[1] - 1, "stops": len(drift.knots), "first": first, "n": len(luck)},
            {"episodes": episodes, "windows": len(reward)},
        )
        name, structure = LEARNERS[type(learner)]
        horizon, states, _, actions = learner.table.shape
        sizes = {"H": horizon, "S": states, "A": actions}
        state = _filled(structure, learner._asdict(), sizes, _constants(learner))
        getattr(library, name)(ctypes.byref(game), ctypes.byref(state))

    return play


def _constants(learner: TripleQ | RestartQ) -> dict[str, Any]:
    if isinstance(learner, RestartQ):
        return {}
    frame, eta, target, offset = learner.memory[FRAME:]
    return {"frame": int(frame), "eta": eta, "target": target, "offset": offset, "weight": 0.0}


def _filled(structure: type[ctypes.Structure], *parts: dict[str, Any]) -> ctypes.Structure:
    values = {name: value for part in parts for name, value in part.items()}
    filled = structure()
    for name, _ in structure._fields_:  # type: ignore[misc]
        value = values[name]
        setattr(filled, name, _address(name, value) if isinstance(value, np.ndarray) else value)
    return filled


def _address(name: str, array: np.ndarray) -> int:
    if not array.flags.c_contiguous:
        raise ValueError(f"{name} is not contiguous")
    return array.ctypes.data
