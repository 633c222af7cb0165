"""To run: one learner in one environment."""

import argparse
import sys
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nscmdp.cli.commands import MANY, Commands, add_drift, environment, named, setting_of
from nscmdp.plugins import unknown
from nscmdp.progress import Line, duration

if TYPE_CHECKING:
    from nscmdp.drift import DriftingCMDP
    from nscmdp.simulate import Run

PATIENCE, PAUSE = 2.0, 0.5  # seconds until progress is shown, and until it is shown again
EVALUATED = 1000  # episodes, unless told otherwise
STEPS = 120  # of a curve
FORMATS = (".parquet", ".csv")


def add(commands: Commands) -> None:
    about = "one learner in one environment: its regret, violation and gap"
    example = "nscmdp run triple_q menu --episodes 5000 --option legs=2"
    option = commands.add("run", run, about, example).add_argument
    option("algorithm", help="nscmdp list shows them")
    option("environment")
    add_drift(option)
    option("--setting", help="of its constants; default: scaled, where there is one")
    option("--factor", **MANY, help="of the setting scaled")
    option("--variant", **MANY, help="of the algorithm")
    option("--seed", type=int, default=0, help="default: 0")
    about = f"evaluate one of N episodes; default: {EVALUATED} in all"
    option("--evaluate-every", type=int, metavar="N", help=about)
    option("--output", type=Path, metavar="FILE", help="evaluated episodes, .parquet or .csv")


def run(chosen: argparse.Namespace) -> None:
    from nscmdp import simulate

    if chosen.output and chosen.output.suffix not in FORMATS:
        what = unknown(chosen.output.suffix, FORMATS, "unknown format")
        raise ValueError(f"{chosen.output}: {what}")
    env, every = environment(chosen.environment, chosen), chosen.evaluate_every
    factors = named("--factor", chosen.factor)
    for name, value in factors.items():
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise ValueError(f"--factor {name}={value}: expected a number")
    learner: dict[str, Any] = {
        "algorithm": chosen.algorithm,
        "setting": setting_of(chosen.algorithm, chosen),
        "factors": {name: float(value) for name, value in factors.items()},
        "variants": named("--variant", chosen.variant),
        "seed": chosen.seed,
        "evaluate_every": max(1, env.episodes // EVALUATED) if every is None else every,
    }
    progress = Progress(env.episodes)
    try:
        with warnings.catch_warnings(record=True) as warned:
            done = simulate.run(env, **learner, progress=progress)
    finally:
        progress.line.clear()
        for one in warned:
            print(f"nscmdp: {one.message}", file=sys.stderr)
    print(summary(done, env, learner["setting"]))
    if chosen.output:
        named_so = {"environment": chosen.environment, "options": named("--option", chosen.option)}
        write(chosen.output, done, env, {**learner, **named_so, "episodes": env.episodes})
        print(f"\n{len(done.episode):,} evaluated episodes written to {chosen.output}")


def write(file: Path, run: "Run", env: "DriftingCMDP", decided: dict[str, Any]) -> None:
    """One row per evaluated episode, which stands for ``weight`` episodes, and what decided them.

    Parquet with its provenance inside, or CSV with its provenance in a first line that begins with "#".
    """
    import json

    import pyarrow as pa
    from pyarrow import csv

    from nscmdp import algorithms, budget, files, metrics
    from nscmdp.kernels.sources import digest

    sources = digest("nscmdp.simulate", algorithms.module(decided["algorithm"]).__name__)
    facts = files.provenance({**decided, "sources": sources}) | {
        "fingerprint": env.fingerprint(),
        "budgets": budget.variation(env)._asdict(),
        "rho": env.rho,
    }
    names = ("episode", "weight", "value", "utility_value")
    columns = {name: getattr(run, name) for name in names}
    columns |= {name: run.measures[name] for name in metrics.OPTIMAL}
    sums = ("regret", "violation", "gap")
    rows = pa.table(columns | {f"cumulative_{name}": getattr(run, name) for name in sums})

    def write_csv(temporary: Path) -> None:
        with open(temporary, "wb") as out:
            out.write(f"# {json.dumps(facts, sort_keys=True)}\n".encode())
            csv.write_csv(rows, out)

    if file.suffix == ".parquet":
        files.write(file, rows, facts)
    else:
        files.in_one_piece(file, write_csv)


def summary(run: "Run", env: "DriftingCMDP", setting: str) -> str:
    """Means over the run, and over stretches of it."""
    import numpy as np

    from nscmdp import budget
    from nscmdp.cli import screen

    def rounded(values: Any) -> Any:  # without last bits, a curve where all else is zero
        return values.round(9) + 0.0

    braille, n = screen.shows(sys.stdout, "⣿│"), len(run.weight)
    ends = np.unique(np.linspace(0, n, min(STEPS, n) + 1).astype(int))[1:] - 1
    episodes = np.diff(np.cumsum(run.weight)[ends], prepend=0)
    lines = [f"{env}, variation budget {budget.variation(env).total:.4g}, setting {setting}"]
    for name, total in (("regret", run.regret), ("violation", run.violation), ("gap", run.gap)):
        lines += ["", f"{name} per episode: {rounded(total[-1] / env.episodes):.4f} in the mean"]
        means = np.diff(total[ends], prepend=0.0) / episodes
        lines += [screen.curve(rounded(means), braille=braille)]
    last = f"{env.episodes:,}"
    return "\n".join([*lines, f"{'episode':>10}  1{last:>{screen.WIDTH - 1}}"])


class Progress:
    """Tells a terminal how far a long run is."""

    def __init__(self, episodes: int) -> None:
        self.line, self.episodes, self.began = Line(sys.stderr), episodes, time.monotonic()
        self.due = self.began + PATIENCE

    def __call__(self, episode: int) -> None:
        now, of = time.monotonic(), self.episodes
        if not self.line.on_terminal or now <= self.due:
            return
        self.due = now + PAUSE
        left = duration((now - self.began) * (of / episode - 1))
        text = f"episode {episode:,} of {of:,} ({episode / of:.0%}), about {left} left"
        if episode == of:
            text = "all episodes are played; solving the optimum of those that are evaluated"
        self.line.show(text)
