"""To run: one learner in one environment."""

import argparse
import sys
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nscmdp.cli.commands import Commands, add_drift, environment, named, setting_of
from nscmdp.progress import Line, duration

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from nscmdp.cmdp import Array
    from nscmdp.drift import DriftingCMDP
    from nscmdp.simulate import Run

PATIENCE, PAUSE = 2.0, 0.5  # seconds until progress is shown, and until it is shown again
EVALUATED = 1000  # episodes, unless told otherwise
STEPS = 120  # of a curve


def add(commands: Commands) -> None:
    sub = commands.add(
        "run",
        run,
        "one learner in one environment: its regret, violation and gap",
        "nscmdp run triple_q menu --episodes 5000 --option legs=2",
    )
    sub.add_argument("algorithm", help="nscmdp list shows them")
    sub.add_argument("environment")
    add_drift(sub)
    sub.add_argument("--setting", help="of its constants; default: scaled, where there is one")
    sub.add_argument(
        "--factor", action="append", default=[], metavar="NAME=VALUE", help="of the setting scaled"
    )
    sub.add_argument(
        "--variant", action="append", default=[], metavar="NAME=VALUE", help="of the algorithm"
    )
    sub.add_argument("--seed", type=int, default=0, help="default: 0")
    sub.add_argument(
        "--evaluate-every",
        type=int,
        metavar="N",
        help=f"evaluate one of N episodes; default: {EVALUATED} in all",
    )
    sub.add_argument(
        "--output", type=Path, metavar="FILE", help="evaluated episodes, .parquet or .csv"
    )


def run(chosen: argparse.Namespace) -> None:
    from nscmdp.cli import single

    if chosen.output:
        single.check_format(chosen.output)
    env = environment(chosen.environment, chosen)
    every = (
        max(1, env.episodes // EVALUATED)
        if chosen.evaluate_every is None
        else chosen.evaluate_every
    )
    learner = {
        "algorithm": chosen.algorithm,
        "setting": setting_of(chosen.algorithm, chosen),
        "factors": _numbers(named("--factor", chosen.factor)),
        "variants": named("--variant", chosen.variant),
        "seed": chosen.seed,
        "evaluate_every": every,
    }
    done = _simulate(env, learner)
    print(summary(done, env, learner["setting"]))
    if chosen.output:
        from nscmdp import algorithms
        from nscmdp.kernels.sources import digest

        sources = digest("nscmdp.simulate", algorithms.module(chosen.algorithm).__name__)
        named_so = {"environment": chosen.environment, "options": named("--option", chosen.option)}
        decided = {**learner, **named_so, "episodes": env.episodes, "sources": sources}
        single.write(chosen.output, done, env, decided)
        print(f"\n{len(done.episode):,} evaluated episodes written to {chosen.output}")


def _simulate(env: "DriftingCMDP", learner: dict[str, Any]) -> "Run":
    """What the library warns of is said in one line."""
    from nscmdp import simulate

    progress = Progress(env.episodes)
    try:
        with warnings.catch_warnings(record=True) as warned:
            return simulate.run(env, **learner, progress=progress)
    finally:
        progress.line.clear()
        for one in warned:
            print(f"nscmdp: {one.message}", file=sys.stderr)


def _numbers(factors: dict[str, object]) -> dict[str, float]:
    for name, value in factors.items():
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise ValueError(f"--factor {name}={value}: expected a number")
    return {name: float(value) for name, value in factors.items()}  # type: ignore[arg-type]


def summary(run: "Run", env: "DriftingCMDP", setting: str) -> str:
    """Means over the run, and the way there."""
    from nscmdp import budget
    from nscmdp.cli import screen

    braille = screen.shows(sys.stdout, "⣿│")
    lines = [f"{env}, variation budget {budget.variation(env).total:.4g}, setting {setting}"]
    for name, total in (("regret", run.regret), ("violation", run.violation), ("gap", run.gap)):
        lines += ["", f"{name} per episode: {_rounded(total[-1] / env.episodes):.4f} in the mean"]
        lines += [screen.curve(_rounded(means(total, run.weight)), braille=braille)]
    last = f"{env.episodes:,}"
    return "\n".join([*lines, f"{'episode':>10}  1{last:>{screen.WIDTH - 1}}"])


def means(total: "Array", weight: "NDArray[np.int64]") -> "Array":
    """Per episode over stretches of a run, of a cumulative sum."""
    import numpy as np

    ends = np.unique(np.linspace(0, len(total), min(STEPS, len(total)) + 1).astype(int))[1:] - 1
    return np.diff(total[ends], prepend=0.0) / np.diff(np.cumsum(weight)[ends], prepend=0)


def _rounded(values: Any) -> Any:
    """Without the last bits, which would make a curve of their own where all else is zero."""
    return values.round(9) + 0.0


class Progress:
    """Tells a terminal how far a long run is."""

    def __init__(self, episodes: int) -> None:
        self.line, self.episodes, self.began = Line(sys.stderr), episodes, time.monotonic()
        self.due = self.began + PATIENCE

    def __call__(self, episode: int) -> None:
        now = time.monotonic()
        if self.line.on_terminal and now > self.due:
            self.due = now + PAUSE
            self.line.show(self._text(episode, now - self.began))

    def _text(self, episode: int, passed: float) -> str:
        if episode == self.episodes:
            return "all episodes are played; solving the optimum of those that are evaluated"
        left = duration(passed * (self.episodes / episode - 1))
        return f"episode {episode:,} of {self.episodes:,} ({episode / self.episodes:.0%}), about {left} left"
