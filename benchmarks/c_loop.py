"""The loops in ``c/``, compiled on the spot by the system's compiler and called with the constants of our learners.

A learner in C owns its state, laid out as suits C; what it shares with ours are constants and tables that neither side
changes. The structures below mirror those of the C files, field by field.
"""

import ctypes
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.cases import Tables
from nscmdp import optimum, simulate
from nscmdp.algorithms._bandit_over_bandit import BanditOverBandit
from nscmdp.algorithms._lsvi_counts import CountingLSVI
from nscmdp.algorithms._lsvi_features import LSVI
from nscmdp.algorithms._triple_q import TripleQ
from nscmdp.algorithms.exact_model_primal_dual import ExactModelQueue
from nscmdp.algorithms.oracle import Oracle
from nscmdp.algorithms.propd_ppo import Propd
from nscmdp.algorithms.restart_q_ucb import RestartQ
from nscmdp.algorithms.sliding_window_opt_cmdp import OptCMDP
from nscmdp.algorithms.uniform import Uniform
from nscmdp.drift import DriftingCMDP
from nscmdp.kernels.induction import Model, drift_of, empty_model

SOURCES = Path(__file__).with_name("c")
# Fused multiply-adds would round differently and let the two sides play different episodes.
FLAGS = ("-O3", "-march=native", "-ffp-contract=off", "-std=c11", "-Wall", "-Wextra")


class NoCompiler(RuntimeError):
    """There is nothing to compile the loops with."""


def compiler() -> str:
    for name in (os.environ.get("CC"), "cc", "gcc", "clang"):
        if name and shutil.which(name):
            return name
    raise NoCompiler("no C compiler found: install gcc or clang, or name one in the variable CC")


def compile_c(output: Path, *options: str) -> None:
    command = [compiler(), *FLAGS, *options, "-o", str(output), "-lm"]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if made.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{made.stderr}")


@cache
def library() -> ctypes.CDLL:
    """All loops as a library; its file is gone when this returns, the loaded code stays."""
    with tempfile.TemporaryDirectory() as folder:
        compile_c(
            Path(folder) / "loops.so", "-shared", "-fPIC", *map(str, sorted(SOURCES.glob("*.c")))
        )
        return ctypes.CDLL(str(Path(folder) / "loops.so"))


def structure(
    *, parts: str = "", pointers: str = "", reals: str = "", wholes: str = ""
) -> type[ctypes.Structure]:
    """Other structures, pointers, doubles and int64, in the order in which the C files have them."""
    fields: list[tuple[str, Any]] = [(name, PARTS[name]) for name in parts.split()]
    for names, kind in (
        (pointers, ctypes.c_void_p),
        (reals, ctypes.c_double),
        (wholes, ctypes.c_int64),
    ):
        fields += [(name, kind) for name in names.split()]
    return type("Structure", (ctypes.Structure,), {"_fields_": fields})


def filled(kind: type[ctypes.Structure], values: dict[str, Any]) -> ctypes.Structure:
    """A structure with these values; it keeps alive the arrays that it points to."""
    made = kind()
    made.alive = values  # type: ignore[attr-defined]
    for name, _ in kind._fields_:  # type: ignore[misc]
        value = values[name]
        if isinstance(value, np.ndarray):
            if not value.flags.c_contiguous:
                raise ValueError(f"{name} is not contiguous")
            value = value.ctypes.data
        setattr(made, name, value)
    return made


PARTS: dict[str, type[ctypes.Structure]] = {}
PARTS["model"] = structure(
    pointers="successors probability reward utility mu0 states steps spans",
    wholes="stretches layers S A M H",
)
PARTS["drift"] = structure(pointers="probability reward utility knots route", wholes="stops")
PARTS["mixture"] = structure(pointers="falling rising trial values others")
GAME = structure(
    parts="model drift",
    pointers="outcomes start_threshold start_alias environment_draws learner_draws asked values reward utility "
    "chances scratch",
    wholes="first n evaluations episodes windows",
)
TRIPLE_Q = structure(
    pointers="table initial rate bonus_q bonus_c arms",
    reals="z cbar explore decayed stamp weight frame eta target offset bump cap_q cap_c decay floor",
    wholes="H S A episode decay_every rule keep_c forget carry before",
)
BANDIT = structure(
    pointers="log_weights probabilities",
    reals="gamma weight step y reward utility rho",
    wholes="arms arm episode block episodes horizon dual",
)
RESTART_Q = structure(
    pointers="table initial stage_ends bonus drift",
    reals="on_reward on_utility",
    wholes="H S A epoch episode epochs",
)
PROPD = structure(
    pointers="rows used entries successors values",
    reals="y alpha beta eta shrink most rho",
    wholes="H S A M R episode start window restart",
)
OPT_CMDP = structure(
    parts="mixture",
    pointers="rows used states order path actions paid entries successors mu0 rising occupancy",
    reals="bonus rho",
    wholes="H S A M R window episode solved due refresh",
)
EXACT_MODEL = structure(
    parts="model drift",
    pointers="choice values",
    reals="z cbar eta target",
    wholes="episode frame forget",
)
ORACLE = structure(
    parts="model drift mixture", pointers="rising occupancy", reals="rho", wholes="episode warm"
)
UNIFORM = structure(wholes="A")
PARTS["lsvi"] = LSVI_OF_BOTH = structure(
    pointers="q chances values arms",
    reals="y drive target alpha beta eta xi ridge",
    wholes="H S A episode frame realised carry",
)
COUNTING = structure(
    parts="lsvi", pointers="met known visits sums reached successors counts", wholes="M"
)
FEATURED = structure(
    parts="lsvi", pointers="phi gram inverse sums moves uncertainty room", wholes="d"
)


def model(tables: Model) -> ctypes.Structure:
    layers, states, actions, columns = tables.successors.shape
    sizes = {"layers": layers, "S": states, "A": actions, "M": columns, "H": tables.horizon}
    reach = {**tables.reach._asdict(), "stretches": len(tables.reach.spans)}
    return filled(PARTS["model"], {**tables._asdict(), **reach, **sizes})


def drift(env: DriftingCMDP) -> ctypes.Structure:
    walked = drift_of(env)
    return filled(PARTS["drift"], {**walked._asdict(), "stops": len(walked.knots)})


def mixture(horizon: int, states: int) -> ctypes.Structure:
    return filled(PARTS["mixture"], optimum.mixture(horizon, states)._asdict())


def fresh(learner: Any, *names: str) -> dict[str, Any]:
    """Arrays of C's own like those of ours, which hold nothing but zeros before the first episode."""
    arrays = {name: getattr(learner, name) for name in names}
    return {name: np.zeros(array.shape, array.dtype) for name, array in arrays.items()}


def triple_q(learner: TripleQ, env: DriftingCMDP) -> ctypes.Structure:
    stamp, values, visits = (
        np.ones(env.H),
        np.repeat(learner.initial, env.A, axis=1),
        np.zeros((env.H, env.A)),
    )
    row, now = np.column_stack([stamp, values, visits]), learner.now[0]
    own = {
        "table": np.repeat(row[:, None], env.S, axis=1),
        "z": 0.0,
        "cbar": 0.0,
        "explore": now.explore,
        "decayed": now.decayed,
        "stamp": 1.0,
        "weight": 0.0,
        "frame": now.frame,
        "eta": now.eta,
        "target": now.target,
        "offset": now.offset,
        "episode": 0,
    }
    return filled(TRIPLE_Q, {**learner._asdict(), **learner.end._asdict(), **sizes(env), **own})


def in_bandit(learner: BanditOverBandit, env: DriftingCMDP) -> ctypes.Structure:
    """The inner learner, then the bandit."""
    inner, arms = (
        LEARNERS[type(learner.inner)].state(learner.inner, env),
        len(learner.bandit.log_weights),
    )
    own = {
        "log_weights": np.zeros(arms),
        "probabilities": np.zeros(arms),
        "gamma": learner.bandit.gamma,
        "y": 0.0,
        "reward": 0.0,
        "utility": 0.0,
        "arms": arms,
        "arm": 0,
        "episode": 0,
    }
    outer = filled(BANDIT, {**learner._asdict(), **learner.rule._asdict(), **own})
    both = type(
        "Structure", (ctypes.Structure,), {"_fields_": [("inner", type(inner)), ("outer", BANDIT)]}
    )
    return filled(both, {"inner": inner, "outer": outer})


def restart_q(learner: RestartQ, env: DriftingCMDP) -> ctypes.Structure:
    own = {"table": np.zeros((env.H, env.S, 1 + 4 * env.A)), "episode": 0, "epochs": 1}
    return filled(RESTART_Q, {**learner._asdict(), **sizes(env), **own})


def propd(learner: Propd, env: DriftingCMDP) -> ctypes.Structure:
    own = {
        **fresh(learner, "rows", "values"),
        "used": np.ones(env.H + 1, np.int64),
        "entries": learner.entries.copy(),
        "successors": np.zeros((*learner.successors.shape, 2)),
        "y": 0.0,
        "R": learner.entries.shape[1],
        "M": learner.successors.shape[3],
        "episode": 0,
        "start": 0,
    }
    return filled(PROPD, {**learner._asdict(), **sizes(env), **own})


def opt_cmdp(learner: OptCMDP, env: DriftingCMDP) -> ctypes.Structure:
    rows, columns = learner.mu0.shape[0], learner.successors.shape[3]
    own = {
        "mixture": mixture(env.H, rows),
        **fresh(
            learner,
            "rows",
            "states",
            "order",
            "path",
            "actions",
            "paid",
            "mu0",
            "entries",
            "rising",
            "occupancy",
        ),
        "used": np.ones(env.H + 1, np.int64),
        "successors": np.zeros((*learner.successors.shape, 2)),
        "R": rows,
        "M": columns,
        "window": len(learner.path),
        "episode": 0,
        "solved": 0,
        "due": 0,
    }
    return filled(OPT_CMDP, {**learner._asdict(), **sizes(env), **own})


def exact_model(learner: ExactModelQueue, env: DriftingCMDP) -> ctypes.Structure:
    own = {
        "model": model(empty_model(env)),
        "drift": drift(env),
        "choice": np.zeros((env.H, env.S), np.int32),
        "values": np.zeros((2, env.S, 2)),
        "z": 0.0,
        "cbar": 0.0,
        "episode": 0,
    }
    return filled(EXACT_MODEL, {**learner._asdict(), **own})


def oracle(learner: Oracle, env: DriftingCMDP) -> ctypes.Structure:
    own = {
        "model": model(empty_model(env)),
        "drift": drift(env),
        "mixture": mixture(env.H, env.S),
        "rising": np.zeros((env.H, env.S)),
        "occupancy": np.zeros((2, 2, env.S)),
        "rho": learner.rho,
        "episode": 0,
        "warm": 0,
    }
    return filled(ORACLE, own)


def uniform(learner: Uniform, env: DriftingCMDP) -> ctypes.Structure:
    return filled(UNIFORM, {"A": env.A})


def lsvi(learner: LSVI | CountingLSVI, env: DriftingCMDP) -> ctypes.Structure:
    """What LSVI keeps with features and without."""
    own = {
        **fresh(learner, "q", "chances", "values"),
        "y": 0.0,
        "drive": 0.0,
        "target": learner.now[0].target,
        "episode": 0,
        "frame": learner.now[0].frame,
    }
    return filled(LSVI_OF_BOTH, {**learner._asdict(), **sizes(env), **own})


def counting(learner: CountingLSVI, env: DriftingCMDP) -> ctypes.Structure:
    own = {
        **fresh(learner, "visits", "sums", "reached", "successors", "counts"),
        "met": learner.met.copy(),
        "known": learner.known.copy(),
        "M": learner.successors.shape[3],
    }
    return filled(COUNTING, {"lsvi": lsvi(learner, env), **own})


def featured(learner: LSVI, env: DriftingCMDP) -> ctypes.Structure:
    d, rows = learner.phi.shape
    own = {
        **fresh(learner, "gram", "inverse", "sums", "moves", "uncertainty"),
        "room": np.empty(4 * d + d * d + rows),
        "d": d,
    }
    return filled(FEATURED, {"lsvi": lsvi(learner, env), "phi": learner.phi, **own})


def sizes(env: DriftingCMDP) -> dict[str, int]:
    return {"H": env.H, "S": env.S, "A": env.A}


class InLibrary(NamedTuple):
    """How a kind of learner is played."""

    play: str
    state: Callable[[Any, DriftingCMDP], ctypes.Structure]
    play_in_bandit: str = ""  # the same inside a bandit


LEARNERS: dict[type, InLibrary] = {
    TripleQ: InLibrary("play_triple_q", triple_q, "play_double_restart_triple_q"),
    RestartQ: InLibrary("play_restart_q_ucb", restart_q),
    Propd: InLibrary("play_propd_ppo", propd),
    OptCMDP: InLibrary("play_sliding_window_opt_cmdp", opt_cmdp),
    ExactModelQueue: InLibrary("play_exact_model_primal_dual", exact_model),
    Oracle: InLibrary("play_oracle", oracle),
    Uniform: InLibrary("play_uniform", uniform),
    CountingLSVI: InLibrary("play_counting_lsvi", counting, "play_counting_lsvi_in_bandit"),
    LSVI: InLibrary("play_featured_lsvi", featured, "play_featured_lsvi_in_bandit"),
}


def played(learner: Any, env: DriftingCMDP) -> tuple[Any, ctypes.Structure]:
    """The function that plays a learner, and its state."""
    if isinstance(learner, BanditOverBandit):
        return getattr(library(), LEARNERS[type(learner.inner)].play_in_bandit), in_bandit(
            learner, env
        )
    found = LEARNERS[type(learner)]
    return getattr(library(), found.play), found.state(learner, env)


class InC:
    """A learner's loop in C, from its first episode on."""

    def __init__(self, tables: Tables, learner: Any) -> None:
        env = tables.env
        self.function, self.state = played(learner, env)
        self.fixed = {
            **tables.sampler._asdict(),
            "model": model(empty_model(env)),
            "drift": drift(env),
            "episodes": env.episodes,
            "chances": np.empty(env.A),
            "scratch": np.empty((2, env.S, 2)),
        }

    def game(self, first: int, draws: simulate.Draws, record: simulate.Record) -> ctypes.Structure:
        drawn = {"environment_draws": draws.environment, "learner_draws": draws.learner}
        counted = {
            "n": len(draws.learner),
            "evaluations": len(record.asked),
            "windows": len(record.reward),
        }
        return filled(GAME, {**self.fixed, **drawn, **record._asdict(), **counted, "first": first})

    def play(self, first: int, draws: simulate.Draws, record: simulate.Record) -> None:
        self.function(ctypes.byref(self.game(first, draws, record)), ctypes.byref(self.state))
